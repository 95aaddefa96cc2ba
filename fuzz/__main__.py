"""python -m fuzz [--seconds 60] [--seed 0] [target ...]: run the fuzzers, and say what they found."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from pathlib import Path

from fuzz.worker import SECONDS_PER_CASE, work

NO_TARGETS = ("__init__", "__main__", "crash", "fitted", "mutations", "samples", "worker")
TARGETS = tuple(
    sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NO_TARGETS)
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="for every target (default 60)")
    parser.add_argument("--seed", type=int, default=0, help="of the first case (default 0)")
    parser.add_argument("--cases", type=int, help="how many cases, instead of a time")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}: choose from {', '.join(TARGETS)}")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads for a few rows cost more than they give
    found = [run(name, options) for name in options.targets or TARGETS]
    raise SystemExit(1 if any(found) else 0)


def run(target: str, options: argparse.Namespace) -> int:
    """Run one target, started again after a crash; how many findings there were."""
    begin, seed, findings, counts = time.monotonic(), options.seed, 0, {}
    stop = options.seed + options.cases if options.cases else 2**62
    seconds = 1e9 if options.cases else options.seconds
    while seed < stop and (left := begin + seconds - time.monotonic()) > 0:
        first, kind, counts_now = seed, "", {}
        for at, kind, what in messages(target, first, stop, left):
            seed = at
            if kind == "finding":
                findings += 1
                print(f"{target}: seed {seed}: {what}", flush=True)
            else:
                counts_now = what
        counts = {name: counts.get(name, 0) + counts_now.get(name, 0) for name in {*counts, *counts_now}}
        if kind != "end":
            findings += 1
            print(
                f"{target}: the process died at seed {seed} or soon after ({first} was the first)", flush=True
            )
            seed += 100
    total, took = sum(counts.values()), time.monotonic() - begin
    print(f"{target}: {total} cases in {took:.0f} s, {findings} findings; {counts}", flush=True)
    return findings


def messages(target: str, seed: int, stop: int, seconds: float):
    """What a worker sends until it ends, dies or hangs."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=work, args=(target, seed, stop, seconds, sender))
    worker.start()
    sender.close()
    try:
        while receiver.poll(SECONDS_PER_CASE + 300):
            yield receiver.recv()
    except EOFError:
        pass
    finally:
        worker.kill()
        worker.join()


if __name__ == "__main__":
    main()

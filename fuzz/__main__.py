"""python -m fuzz [--seconds 60] [--seed 0] [target ...]: run the fuzzers, and say what they
found."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections import Counter
from pathlib import Path

from fuzz.worker import work

NO_TARGETS = (
    "__init__",
    "__main__",
    "crash",
    "file_cases",
    "fitted",
    "mutations",
    "samples",
    "soak",
    "typed_tables",
    "worker",
)
TARGETS = tuple(
    sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if path.stem not in NO_TARGETS
    )
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", help=f"of {', '.join(TARGETS)}; all by default"
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="for every target (default 60)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of the first case (default 0)"
    )
    parser.add_argument("--cases", type=int, help="how many seeds, instead of a time")
    parser.add_argument(
        "--log",
        type=Path,
        help="a file of JSON lines for counts and findings; goes on after its last seed",
    )
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(
            f"there is no target {', '.join(sorted(unknown))}: choose from {', '.join(TARGETS)}"
        )
    # threads for a few rows cost more than they give
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = [run(name, options) for name in options.targets or TARGETS]
    raise SystemExit(1 if any(found) else 0)


def run(target: str, options: argparse.Namespace) -> int:
    """Run one target, started again after a crash; how many findings there were."""
    log = Log(options.log, target, options.seed)
    begin, seed = time.monotonic(), log.seed
    stop = seed + options.cases if options.cases else 2**62
    seconds = 1e9 if options.cases else options.seconds
    while seed < stop and (left := begin + seconds - time.monotonic()) > 0:
        first, kind, counts = seed, "", Counter[str]()
        for at, kind, what in messages(target, first, stop, left):
            seed = at
            if kind == "finding":
                log.find(seed, what)
            else:
                log.count(seed, Counter(what) - counts, now=kind == "end")
                counts = Counter(what)
        if kind != "end":
            log.find(
                seed,
                f"the process died at this seed or soon after ({first} was the first)",
            )
            seed += 100
    took = time.monotonic() - begin
    print(
        f"{target}: {log.total.total()} cases in {took:.0f} s, seeds {log.first} to {seed}, "
        f"{log.findings} findings; {dict(log.total)}",
        flush=True,
    )
    return log.findings


class Log:
    """What was found: printed, and kept as lines of JSON in a file from which a later run goes
    on."""

    def __init__(self, path: Path | None, target: str, seed: int) -> None:
        self.path, self.target, self.seed = path, target, seed
        lines = path.read_text().splitlines() if path and path.exists() else []
        for line in map(json.loads, lines):
            if line["target"] == target:
                self.seed = max(self.seed, line.get("stop", 0))
        self.first = self.seed
        self.findings, self.written = 0, time.monotonic()
        self.total, self.new = Counter[str](), Counter[str]()

    def find(self, seed: int, what: str) -> None:
        self.findings += 1
        print(f"{self.target}: seed {seed}: {what}", flush=True)
        self._write({"target": self.target, "seed": seed, "finding": what})

    def count(self, seed: int, counts: Counter[str], now: bool) -> None:
        self.total += counts
        self.new += counts
        if self.new and (now or time.monotonic() - self.written > 30):
            self._write(
                {
                    "target": self.target,
                    "first": self.seed,
                    "stop": seed,
                    "counts": dict(self.new),
                }
            )
            self.seed, self.new, self.written = seed, Counter(), time.monotonic()

    def _write(self, line: dict[str, object]) -> None:
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")


def messages(target: str, seed: int, stop: int, seconds: float):
    """What a worker sends until it ends, dies or hangs."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=work, args=(target, seed, stop, seconds, sender))
    worker.start()
    sender.close()
    try:
        while receiver.poll(3600):
            yield receiver.recv()
    except EOFError:
        pass
    finally:
        worker.kill()
        worker.join()


if __name__ == "__main__":
    main()

"""Lyceum beside an earlier revision of itself: the same workloads, in turns, on this machine.

python benchmarks/revisions.py 799587f               every workload that the revision can run
python benchmarks/revisions.py 799587f ols tree      those whose names contain "ols" or "tree"
python benchmarks/revisions.py 799587f --record      also write REVISIONS.md

The revision is built once, below build/revisions. Each side runs the workloads of its own commit,
as names may have changed, in a process of its own; what is slower by more than 5 % in its best
round is run once more, with three times the rounds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from importlib import import_module
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import outofcore
from report import machine, write_file
from timing import Outcome, failure_noted, timed
from workloads import DATA, WORKLOADS

HERE = Path(__file__).parent
REPOSITORY, BUILDS, RECORD = (
    HERE.parent,
    HERE.parent / "build" / "revisions",
    HERE / "REVISIONS.md",
)
ALLOWED = 1.05  # of the earlier seconds
MOST_ROUNDS = 30
WHY = {  # what a workload does now that earlier revisions did not
    "csv-logistic": (
        "finds separator, encoding, decimal mark and dates, and reads line breaks in quotes"
    )
}
# by their number: names of learners change
OUT_OF_CORE = {
    f"outofcore {name}": number
    for number, (_, name, _) in enumerate(outofcore.LEARNERS.values())
}


def main() -> None:
    from run import (
        clean,
    )  # imports lyceum, which the processes of an earlier one must not have done

    options = parse()
    site = build(options.revision)
    rows, lacking, slower = [], [], []
    names = [*WORKLOADS, *OUT_OF_CORE]
    for name in [
        name
        for name in names
        if not options.only or any(part in name for part in options.only)
    ]:
        for row in compare(name, site, options.scale, options.repeat, options.seconds):
            if row["then"].seconds is None or row["now"].seconds is None:
                lacking.append(row)
            elif ratio(row) > ALLOWED:
                slower.append(name)
            else:
                rows.append(row)
            print(line(row), flush=True)
    for name in dict.fromkeys(slower):
        print(f"{name} again", flush=True)
        for row in compare(
            name, site, options.scale, 3 * options.repeat, 3 * options.seconds
        ):
            rows.append(row)
            print(line(row), flush=True)
    clean()
    if options.record:
        write_file(RECORD, markdown(options.revision, options.scale, rows, lacking))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", help="a commit of this repository")
    parser.add_argument(
        "only", nargs="*", help="run the workloads whose names contain one of these"
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="fraction of the full number of rows"
    )
    parser.add_argument(
        "--repeat", type=int, default=5, help="rounds at least (default 5)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=5.0,
        help="seconds of each side at least (default 5)",
    )
    parser.add_argument("--record", action="store_true", help="write REVISIONS.md")
    return parser.parse_args()


def build(revision: str) -> Path:
    """The folder that the revision is installed in; its dependencies are those of this
    environment."""
    site = BUILDS / git("rev-parse", revision).decode()[:10]
    if not site.exists():
        source = source_of(site)
        fresh = site.with_name(f"{site.name}-new")
        with tarfile.open(fileobj=BytesIO(git("archive", revision))) as archive:
            archive.extractall(source, filter="data")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
        ]
        subprocess.run([*pip, "--target", str(fresh), str(source)], check=True)
        fresh.rename(site)
    return site


def git(*words: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(REPOSITORY), *words], check=True, capture_output=True
    ).stdout


# Two processes
# --------------------------------------------------------------------------------------------


def compare(
    name: str, site: Path, scale: float, repeat: int, seconds: float
) -> list[dict]:
    """A row for each of our contenders: its times then and now, in rounds that begin with either in
    turn."""
    sides = {"then": Side(name, site, scale), "now": Side(name, None, scale)}
    rows = []
    for contender in sides["now"].contenders:
        row = {
            "name": name,
            "contender": contender,
            "then": Outcome(contender),
            "now": Outcome(contender),
        }
        for turn in range(MOST_ROUNDS):
            enough = min(sum(row[when].all_seconds) for when in sides) >= seconds
            failed = any(row[when].note.startswith(("error", "not ")) for when in sides)
            if failed or (turn >= repeat and enough):
                break
            for when in ("then", "now") if turn % 2 else ("now", "then"):
                row[when] = sides[when].run(contender)
        rows.append(row)
    for side in sides.values():
        side.close()
    return rows


class Side:
    """One revision at work on one workload, in a process of its own."""

    def __init__(self, name: str, site: Path | None, scale: float):
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(
            target=serve, args=(other, name, site, scale), daemon=True
        )
        self.process.start()
        other.close()
        self.contenders = self.pipe.recv()

    def run(self, contender: str) -> Outcome:
        try:
            self.pipe.send(contender)
            return self.pipe.recv()
        except (EOFError, BrokenPipeError):
            return Outcome(contender, note="error: the process died")

    def close(self) -> None:
        self.pipe.close()
        self.process.join(10)
        self.process.kill()


def serve(pipe, name: str, site: Path | None, scale: float) -> None:
    """Prepare each contender when it is first asked for; answer with all its times so far."""
    if site is not None:
        use(site)
    try:
        contenders, quality = ours(name, scale)
    except Exception:  # the revision cannot run it
        contenders, quality = {}, None
    pipe.send(list(contenders))
    outcomes: dict[str, Outcome] = {}
    thunks: dict[str, Callable] = {}
    while True:
        try:
            contender = pipe.recv()
        except EOFError:
            return
        outcome = outcomes.setdefault(contender, Outcome(contender))
        with failure_noted(outcome):
            if contender not in thunks:
                thunks[contender] = contenders[contender]()
            result = timed(thunks[contender], outcome)
            outcome.quality = outcome.quality or {
                key: float(value) for key, value in quality(result).items()
            }
        pipe.send(outcome)


def use(site: Path) -> None:
    """Import lyceum from there, whatever this environment has installed, and the workloads of the
    same revision."""
    benchmarks = source_of(site) / "benchmarks"
    for name in ("workloads", "outofcore"):
        sys.modules.pop(name, None)
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if "editable" not in type(finder).__module__
    ]
    left_out = {REPOSITORY / "src", HERE}
    others = [folder for folder in sys.path if Path(folder) not in left_out]
    sys.path[:] = [str(site), str(benchmarks), *others]


def source_of(site: Path) -> Path:
    return site.with_name(f"{site.name}-source")


def ours(name: str, scale: float) -> tuple[dict[str, Callable], Callable]:
    """Our own contenders of a workload, and its measure of quality."""
    if name in OUT_OF_CORE:
        return {name: out_of_core(OUT_OF_CORE[name], scale)}, lambda model: {}
    load_workloads()
    work = import_module("workloads").WORKLOADS[name](scale)
    return {
        key: made for key, made in work.contenders.items() if key.startswith("lyceum")
    }, work.quality


def out_of_core(number: int, scale: float) -> Callable:
    """A contender that learns from a Parquet file of a tenth of the full benchmark's rows, read in
    blocks."""
    outofcore = import_module("outofcore")
    n = outofcore.rows(scale / 10)
    path = DATA / f"rows-{n}.parquet"

    def prepare():
        import lyceum

        module, cls, settings = [*outofcore.LEARNERS.values()][number]
        make = getattr(import_module(module), cls)
        return lambda: make(**settings).fit(lyceum.scan(str(path), target="y"))

    if not path.exists():
        outofcore.generate(path, n)
    outofcore.warm(path)
    return prepare


def load_workloads() -> None:
    """Register every workload, but those that need what this revision lacks."""
    folder = Path(str(import_module("workloads").__file__)).parent
    names = sorted(path.stem for path in folder.glob("*_workloads.py"))
    for module in ["csv_table", *names]:
        with suppress(ImportError):
            import_module(module)


# What is shown
# --------------------------------------------------------------------------------------------


def ratio(row: dict, of: Callable = min) -> float:
    """Seconds now over seconds then."""
    return of(row["now"].all_seconds) / of(row["then"].all_seconds)


def line(row: dict) -> str:
    label = f"{row['name']} [{row['contender']}]"
    for when in ("then", "now"):
        if row[when].seconds is None:
            return f"{label:60s} {when}: {row[when].note}"
    return (
        f"{label:60s} {row['then'].seconds:9.4f} s {row['now'].seconds:9.4f} s  best"
        f" {ratio(row):5.2f}  median"
        f" {ratio(row, median):5.2f}{'  SLOWER' if ratio(row) > ALLOWED else ''}"
    )


def markdown(revision: str, scale: float, rows: list[dict], lacking: list[dict]) -> str:
    from run import commit

    here = machine()
    lines = [
        "# Beside an earlier revision",
        "",
        (
            f"Written by `python benchmarks/revisions.py {revision} --record`: commit {commit()}"
            " beside"
        ),
        (
            f"{revision}, {date.today()}, scale {scale:g}. Both ran in turns on one machine, each"
            " in its own"
        ),
        (
            "process. Ratios are seconds now over seconds then (below 1: quicker now), of the best"
            " rounds and of"
        ),
        (
            "the medians. A workload whose best ratio was above 1.05 was run once more, with three"
            " times the"
        ),
        "rounds; that run is shown.",
        "",
        *(f"- {key}: {here[key]}" for key in here),
        "",
        (
            "| workload | contender | then, seconds | now, seconds | best ratio | median ratio |"
            " rounds |"
        ),
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for row in sorted(rows, key=ratio, reverse=True):
        lines.append(
            f"| {row['name']} | {row['contender']} | {row['then'].seconds:.3g} |"
            f" {row['now'].seconds:.3g} | {ratio(row):.2f} | {ratio(row, median):.2f} |"
            f" {len(row['now'].all_seconds)} |"
        )
    reasons = [
        f"- {row['name']}: now {WHY[row['name']]}."
        for row in rows
        if ratio(row) > ALLOWED and row["name"] in WHY
    ]
    lines += ["", *reasons] if reasons else []
    if lacking:
        names = ", ".join(sorted({row["name"] for row in lacking}))
        lines += ["", f"Not compared, as {revision} cannot run them: {names}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    load_workloads()
    main()

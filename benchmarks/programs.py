"""Programs written for scikit-learn, before and after the switch: the same figures, and how long.

    python benchmarks/programs.py                  all of them
    python benchmarks/programs.py committees       those whose name contains the word
    python benchmarks/programs.py --record         also write PROGRAMS.md

The programs in `programs/` use scikit-learn's interface as its user guide does, and know nothing of
Lyceum. Each prints figures, one per line: `name: value`, or `name: value +- noise` where chance has
a part in it. The switch (`python -m lyceum.dropin`) must not change a value by more than its noise,
which is written into the program, nor any other word; without noise, the figure is the same to its
last printed digit but one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

from report import machine, write_file

HERE = Path(__file__).parent
FOLDER = HERE / "programs"
RECORD = HERE / "PROGRAMS.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
REPORT = """
import atexit, json, os, runpy, sys
import lyceum
lyceum.patch_sklearn()
def write():
    with open(os.environ["PROGRAM_REPORT"], "w") as file:
        json.dump(lyceum.dropin.report().rows, file)
atexit.register(write)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@dataclass
class Run:
    """One run of a program: what it printed, its processor seconds, and who learned."""

    lines: list[str]
    seconds: float
    fits: list[list]
    error: str


def main() -> None:
    options = parse()
    rows = []
    for path in sorted(FOLDER.glob("*.py")):
        if options.words and not any(word in path.stem for word in options.words):
            continue
        plain = run(path, switched=False, rounds=options.rounds)
        switched = run(path, switched=True, rounds=options.rounds)
        differing = differences(plain, switched)
        theirs = sorted(
            {f"{fit[0]} ({fit[2]})" for fit in switched.fits if fit[1] == "theirs"}
        )
        rows.append((path.stem, plain.seconds, switched.seconds, differing, theirs))
        print(
            f"{path.stem:24} {plain.seconds:7.2f} s {switched.seconds:7.2f} s "
            f"{plain.seconds / switched.seconds:6.2f}",
            flush=True,
        )
        for line in [*differing, *theirs]:
            print(f"    {line}", flush=True)
    ratios = [before / after for _, before, after, _, _ in rows]
    print(f"median speed-up: {median(ratios):.2f}")
    if options.record:
        write_file(RECORD, page(rows))
    failed = sum(bool(differing) for _, _, _, differing, _ in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--rounds", type=int, default=1, help="the best of so many")
    parser.add_argument("--record", action="store_true")
    return parser.parse_args()


def run(path: Path, switched: bool, rounds: int) -> Run:
    """The best of some runs, by processor seconds with start and imports."""
    code = (
        REPORT
        if switched
        else "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    return min(
        (_run_once(path, code) for _ in range(rounds)), key=lambda run: run.seconds
    )


def _run_once(path: Path, code: str) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        environment = {
            **os.environ,
            "PROGRAM_REPORT": str(report),
            "PYTHONWARNINGS": "ignore",
            "MPLBACKEND": "Agg",
        }
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            capture_output=True,
            text=True,
            env=environment,
            cwd=folder,
            timeout=1200,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        fits = json.loads(report.read_text()) if report.exists() else []
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    error = done.stderr.strip().splitlines()[-1] if done.returncode else ""
    return Run(done.stdout.splitlines(), seconds, fits, error)


def differences(plain: Run, switched: Run) -> list[str]:
    """What the switch has changed beyond the noise that a program states."""
    lines = [f"before: {plain.error}"] if plain.error else []
    if switched.error:
        lines.append(f"after: {switched.error}")
    if not lines and len(plain.lines) != len(switched.lines):
        lines.append(f"{len(plain.lines)} lines before, {len(switched.lines)} after")
    for before, after in zip(plain.lines, switched.lines, strict=False):
        if not is_same(before, after):
            lines.append(f"{before!r} before, {after!r} after")
    return lines


def is_same(before: str, after: str) -> bool:
    """Whether two lines have the same words, and numbers within their noise."""
    before, _, noise = before.partition(" +- ")
    after = after.partition(" +- ")[0]
    if NUMBER.sub("#", before) != NUMBER.sub("#", after):
        return False
    for first, second in zip(
        NUMBER.findall(before), NUMBER.findall(after), strict=True
    ):
        digits = len(first.partition(".")[2])
        allowed = float(noise) if noise else 0.0
        if digits:  # the last digit is rounded
            allowed = max(allowed, 10.0**-digits)
        if abs(float(first) - float(second)) > allowed * (1 + 1e-9):
            return False
    return True


def page(rows: list[tuple]) -> str:
    """PROGRAMS.md."""
    ratios = [before / after for _, before, after, _, _ in rows]
    lines = [
        "# Programs written for scikit-learn, before and after the switch",
        "",
        f"{date.today()}, {machine()}. `python benchmarks/programs.py --record` writes this page."
        " Seconds are processor time with start and imports; the figures that a program prints are"
        " equal, up to the noise that it states, unless a line says otherwise.",
        "",
        f"Median speed-up: {median(ratios):.2f}.",
        "",
        "| program | scikit-learn s | Lyceum s | times as fast | figures |"
        " scikit-learn's own class, and why |",
        "|---|--:|--:|--:|---|---|",
    ]
    for name, before, after, differing, theirs in rows:
        figures = "<br>".join(differing) if differing else "equal"
        lines.append(
            f"| {name} | {before:.2f} | {after:.2f} | {before / after:.2f} | {figures} | "
            f"{'<br>'.join(theirs)} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

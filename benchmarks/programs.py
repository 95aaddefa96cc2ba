"""Programs written for scikit-learn, before and after the switch: the same figures, and how long.

    python benchmarks/programs.py                  all of them
    python benchmarks/programs.py committees       those whose name contains the word
    python benchmarks/programs.py --keep FILE      go on with the programs that FILE lacks
    python benchmarks/programs.py --record         also write PROGRAMS.md

The programs in `programs/` use scikit-learn's interface as its user guide does, and know nothing of
Lyceum. Each prints figures, one per line: `name: value`, or `name: value +- noise` where chance has
a part in it. The switch (`python -m lyceum.dropin`) must not change a value by more than its noise,
which is written into the program, nor any other word; without noise, the figure is the same to its
last printed digit but one.

Processor seconds are taken twice: of all of the process, and of the program after its imports.
Lyceum's modules are compiled to bytecode first, as pip does with what it installs: without, every
process would compile its source anew where Python is told to write no bytecode.
"""

from __future__ import annotations

import argparse
import compileall
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

import lyceum

HERE = Path(__file__).parent
FOLDER = HERE / "programs"
RECORD = HERE / "PROGRAMS.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
PLAIN = """
import ast, atexit, json, os, sys, time
def fits():
    return []
"""
SWITCHED = (
    PLAIN
    + """
import lyceum
lyceum.patch_sklearn()
def fits():
    return lyceum.dropin.report().rows
"""
)
# the imports first, for themselves: they are no work of the program
RUN = """
program = ast.parse(open(sys.argv[1]).read())
is_import = [isinstance(line, ast.Import | ast.ImportFrom) for line in program.body]
parts = [[], []]
for line, first in zip(program.body, is_import):
    parts[not first].append(line)
space = {"__name__": "__main__"}
imports, work = (
    compile(ast.Module(part, []), sys.argv[1], "exec") for part in parts
)
exec(imports, space)
start = time.process_time()
def write():
    kept = {"work": time.process_time() - start, "fits": fits()}
    with open(os.environ["PROGRAM_REPORT"], "w") as file:
        json.dump(kept, file)
atexit.register(write)
exec(work, space)
"""


@dataclass
class Run:
    """One run of a program: what it printed, its processor seconds in all and after its imports,
    and who learned."""

    lines: list[str]
    seconds: float
    work: float
    fits: list[list]
    error: str


def main() -> None:
    options = parse()
    compileall.compile_dir(Path(lyceum.__file__).parent, quiet=1)
    rows = kept_rows(options.keep)
    for path in sorted(FOLDER.glob("*.py")):
        if options.words and not any(word in path.stem for word in options.words):
            continue
        if path.stem in {row["name"] for row in rows}:
            continue
        plain, switched = run_in_turns(path, options.rounds)
        differing = differences(plain, switched)
        theirs = sorted(
            {f"{fit[0]} ({fit[2]})" for fit in switched.fits if fit[1] == "theirs"}
        )
        row = {
            "name": path.stem,
            "before": [plain.seconds, plain.work],
            "after": [switched.seconds, switched.work],
            "differing": differing,
            "theirs": theirs,
        }
        rows.append(row)
        if options.keep:
            with options.keep.open("a") as file:
                file.write(json.dumps(row) + "\n")
        print(
            f"{path.stem:24} {plain.seconds:7.2f} s {switched.seconds:7.2f} s "
            f"{plain.seconds / switched.seconds:6.2f}, after imports {plain.work:7.2f} s "
            f"{switched.work:7.2f} s {plain.work / switched.work:6.2f}",
            flush=True,
        )
        for line in [*differing, *theirs]:
            print(f"    {line}", flush=True)
    print("median speed-up: {:.2f}, after imports {:.2f}".format(*medians(rows)))
    if options.record:
        write_file(RECORD, page(rows, options.conditions))
    failed = sum(bool(row["differing"]) for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument(
        "--rounds", type=int, default=1, help="the best of so many, in turns"
    )
    parser.add_argument("--keep", type=Path, help="a file of lines, one per program")
    parser.add_argument("--record", action="store_true")
    parser.add_argument(
        "--conditions",
        default="The machine was idle otherwise.",
        help="a sentence for PROGRAMS.md on what else ran, and how often the programs did",
    )
    return parser.parse_args()


def kept_rows(path: Path | None) -> list[dict]:
    """The results that an earlier run has kept."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def run_in_turns(path: Path, rounds: int) -> tuple[Run, Run]:
    """The best of some runs before and after the switch, by processor seconds with start and
    imports: one of each in every round, so that both have the same neighbors on the machine."""
    pairs = [
        (_run_once(path, PLAIN + RUN), _run_once(path, SWITCHED + RUN))
        for _ in range(rounds)
    ]
    plain, switched = zip(*pairs, strict=True)
    return min(plain, key=_seconds), min(switched, key=_seconds)


def _seconds(run: Run) -> float:
    return run.seconds


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
        kept = {"work": float("nan"), "fits": []}
        if report.exists():
            kept = json.loads(report.read_text())
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    error = done.stderr.strip().splitlines()[-1] if done.returncode else ""
    lines = done.stdout.splitlines()
    return Run(lines, seconds, kept["work"], kept["fits"], error)


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


def medians(rows: list[dict]) -> list[float]:
    """The median speed-ups, of all of the process and after the imports."""
    return [median(row["before"][i] / row["after"][i] for row in rows) for i in (0, 1)]


def page(rows: list[dict], conditions: str) -> str:
    """PROGRAMS.md."""
    in_all, at_work = medians(rows)
    here = machine()
    lines = [
        "# Programs written for scikit-learn, before and after the switch",
        "",
        f"{date.today()}, {here['processor']}, {here['memory']}."
        " `python benchmarks/programs.py --record` writes this page."
        " Seconds are processor time, in all with start and imports, and after the"
        " program's imports; the figures that a program prints are"
        " equal, up to the noise that it states, unless a line says otherwise. "
        + conditions,
        "",
        f"{len(rows)} of {len(list(FOLDER.glob('*.py')))} programs were run. Median speed-up:"
        f" {at_work:.2f} after imports, {in_all:.2f} in all.",
        "",
        "| program | scikit-learn s | Lyceum s | times as fast | after imports s | Lyceum s |"
        " times as fast | figures | scikit-learn's own class, and why |",
        "|---|--:|--:|--:|--:|--:|--:|---|---|",
    ]
    for row in sorted(rows, key=lambda row: row["name"]):
        pairs = list(zip(row["before"], row["after"], strict=True))
        times = [f"{b:.2f} | {a:.2f} | {b / a:.2f}" for b, a in pairs]
        figures = "<br>".join(row["differing"]) or "equal"
        theirs = "<br>".join(row["theirs"])
        lines.append(f"| {row['name']} | {' | '.join(times)} | {figures} | {theirs} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

"""Processor seconds to start Python and import: a fresh process each time, page cache warm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from timing import Outcome, failure_noted

from lyceum import catalog

TITLE = (
    "Start and import, processor seconds, page cache warm (ratio: import sklearn.base / this; "
    "a learner is to take 0.2 s more than sklearn.base, lyceum --help 0.25 s)"
)
SCRIPT = Path(sys.executable).with_name("lyceum")


def _code(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def _first_learners() -> dict[str, list[str]]:
    """The import of the first learner of every family."""
    first = {}
    for entry in catalog.learners():
        first.setdefault(entry.package, entry.name)
    codes = [f"from {package} import {name}" for package, name in first.items()]
    return {code: _code(code) for code in codes}


COMMANDS = {
    "python -c pass": _code("pass"),
    "import numpy": _code("import numpy"),
    "import sklearn.base": _code("import sklearn.base"),
    "import lyceum": _code("import lyceum"),
    "lyceum --version": [str(SCRIPT), "--version"],
    "lyceum --help": [str(SCRIPT), "--help"],
    "lyceum predict --help": [str(SCRIPT), "predict", "--help"],
    **_first_learners(),
}


def measure(repeat: int) -> list[Outcome]:
    """Interleaved rounds, the first one untimed to warm the cache."""
    outcomes = {name: Outcome(name) for name in COMMANDS}
    for turn in range(repeat + 1):
        for name, command in COMMANDS.items():
            if outcomes[name].note:
                continue
            with failure_noted(outcomes[name]):
                seconds = run(command)
                if turn:
                    outcomes[name].add(seconds, None)
    return list(outcomes.values())


def run(command: list[str]) -> float:
    """User and system seconds of the process: what other processes do meanwhile counts little."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    for outcome in measure(5):
        print(f"{outcome.seconds or 0.0:.3f}  {outcome.contender}  {outcome.note}")

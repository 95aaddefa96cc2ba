"""Seconds to start Python and import: a fresh process each time, page cache warm."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from timing import Outcome, failure_noted

TITLE = "Start and import, page cache warm (ratio: import sklearn / this; lyceum is to be over 4)"
SCRIPT = Path(sys.executable).with_name("lyceum")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import sklearn": [sys.executable, "-c", "import sklearn"],
    "import lyceum": [sys.executable, "-c", "import lyceum"],
    "lyceum --help": [str(SCRIPT), "--help"],
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
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(last)
    return seconds

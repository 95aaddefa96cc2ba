"""python -m fuzz.soak [--seconds 600]: one process fits, asks, explains, saves and loads every
learner again and again; memory, open files and threads must stay at their level.

The first two rounds fill caches, and are not compared. After them the memory of the process may
grow by 2 % and 20 MB in all, and the number of open files not at all. Pools start their threads
when they first need them: their number may not grow in the second half of the rounds.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.checks.cases import learner_named
from tests.checks.source_laws import cut_short
from tests.checks.tables import data_for, mixed_for

import lyceum
from lyceum import catalog
from lyceum.data import scan
from lyceum.errors import LyceumError

__all__ = ["Level", "main", "soak"]

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
    "explain",
)
N_ROWS = 120
SHARE, BYTES = 0.02, 20 << 20  # how much memory may grow


class Level(NamedTuple):
    """What a process holds."""

    memory: int  # bytes in memory
    files: int
    threads: int

    @classmethod
    def now(cls) -> Level:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        memory = pages * os.sysconf("SC_PAGE_SIZE")
        threads = len(os.listdir("/proc/self/task"))
        return cls(memory, len(os.listdir("/proc/self/fd")), threads)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    levels = soak(parser.parse_args().seconds)
    problems = compare(levels)
    for problem in problems:
        print(problem, flush=True)
    raise SystemExit(1 if problems else 0)


def soak(seconds: float, names: list[str] | None = None) -> list[Level]:
    """The level after every round over the learners, at least four rounds."""
    names = names or [entry.name for entry in catalog.learners()]
    levels: list[Level] = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(levels) < 4 or time.monotonic() - begin < seconds:
            for name in names:
                use(name, Path(folder), seed=len(levels) % 5)
            levels.append(Level.now())
            level = levels[-1]
            print(
                f"round {len(levels)} at {time.monotonic() - begin:.0f} s:"
                f" {level.memory / 2**20:.1f} MB, {level.files} files,"
                f" {level.threads} threads",
                flush=True,
            )
    return levels


def compare(levels: list[Level]) -> list[str]:
    """What has grown, one line each."""
    first, last = levels[1], levels[-1]
    middle = levels[len(levels) // 2]
    problems = []
    if last.memory > first.memory * (1 + SHARE) + BYTES:
        problems.append(f"memory grew from {first.memory} to {last.memory} bytes")
    if last.files > first.files:
        problems.append(f"open files grew from {first.files} to {last.files}")
    if last.threads > middle.threads:
        problems.append(f"threads grew from {middle.threads} to {last.threads}")
    return problems


def use(name: str, folder: Path, seed: int) -> None:
    """The life of one model: on an array, on a table in a file, and through a model file."""
    learner = cut_short(learner_named(name))
    data = data_for(learner, N_ROWS, seed)
    with np.errstate(all="ignore"):
        _live(learner.fit(data.X, data.y), data.X[:20], folder)
        table, y = mixed_for(learner, N_ROWS)
        path = folder / "table.csv"
        target = None if y is None else "target"
        whole = table if y is None else table.assign(target=y)
        whole.to_csv(path, index=False)
        try:
            model = cut_short(learner_named(name))
            model.fit(scan(path, target=target, memory=0))
            _live(model, table[:20], folder)
        except LyceumError:  # of learners that take numbers only
            return


def _live(model: Any, X: Any, folder: Path) -> None:
    path = folder / "model.lyceum"
    _ask(model, X)
    try:
        lyceum.save(model, path, force=True)
    except LyceumError:
        return
    _ask(lyceum.load(path), X)


def _ask(model: Any, X: Any) -> None:
    for method in METHODS:
        if hasattr(model, method):
            try:
                getattr(model, method)(X)
            except LyceumError:
                continue
    model.summary()


if __name__ == "__main__":
    main()

"""Run the tasks of a plan one after another, each stored as it finishes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lyceum.base import complexity
from lyceum.data import Rows
from lyceum.studies._material import Material
from lyceum.studies._pipeline import build, choose_settings, row_predictions, weighted_mean
from lyceum.studies._plan import Plan, Split, Turn
from lyceum.studies._store import Done, Store, as_table

__all__ = ["Budget", "Progress", "run"]

Progress = Callable[[int, int, str], None]  # steps done, steps in all, what is at work


@dataclass(frozen=True, slots=True)
class Budget:
    """When no more work is started."""

    deadline: float | None

    @classmethod
    def of(cls, minutes: float | None) -> Budget:
        return cls(None if minutes is None else time.monotonic() + 60.0 * minutes)

    @property
    def spent(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


def run(plan: Plan, material: Material, store: Store, budget: Budget, say: Callable[[str], None]) -> None:
    """Run what is not done yet, while the budget lasts; the first turn is always run.

    `say` is called when a task begins. A learner that failed once is not tried on further folds.
    """
    splits = plan.splits(material.y)
    done = store.done()
    failed = {turn.name for turn, task in done.items() if task.failed}
    for i, turn in enumerate(plan.turns()):
        if turn in done or turn.name in failed:
            continue
        if i and budget.spent:
            return
        say(f"{plan[turn.name].label}, fold {1 + turn.repeat * plan.folds + turn.fold}")
        task, predictions = _attempt(plan, turn, material, splits[turn.repeat, turn.fold])
        store.finish(task, predictions)
        if task.failed:
            failed.add(turn.name)


def _attempt(plan: Plan, turn: Turn, material: Material, split: Split) -> tuple[Done, Any]:
    """The task with its predictions, or with the reason why there are none."""
    begun, reason, outcome = time.perf_counter(), None, None
    with warnings.catch_warnings(record=True) as heard, _memory() as memory:
        warnings.simplefilter("always")
        try:
            outcome = _fit_and_predict(plan, turn, material, split)
        except Exception as error:  # a learner may fail in any way; the study goes on
            reason = f"{type(error).__name__}: {error}" if not _says_itself(error) else str(error)
    seconds = time.perf_counter() - begun
    said = tuple(dict.fromkeys(" ".join(str(w.message).split()) for w in heard))
    sizes = (len(split.train), len(split.test))
    if outcome is None:
        return Done(turn, reason or "failed", {}, None, *sizes, None, said, seconds, memory()), None
    done = Done(
        turn, None, outcome.settings, outcome.train_loss, *sizes, outcome.complexity, said, seconds, memory()
    )
    return done, outcome.predictions


def _says_itself(error: Exception) -> bool:
    from lyceum.errors import LyceumError

    return isinstance(error, LyceumError | ArithmeticError) and bool(str(error))


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    settings: dict[str, Any]
    train_loss: float
    complexity: int
    predictions: Any


def _fit_and_predict(plan: Plan, turn: Turn, material: Material, split: Split) -> _Outcome:
    candidate, seed = plan[turn.name], plan.seed_of(turn)
    train, test = material.rows.take(split.train), material.rows.take(split.test)
    settings, _ = choose_settings(candidate, train, plan.judge, plan.inner_folds, seed)
    model = build(candidate, settings, seed).fit(train)
    predicted = row_predictions(model, test)
    w = None if material.w is None else material.w[split.test]
    table = as_table(material.numbers[split.test], material.y[split.test], predicted, w)
    return _Outcome(settings, _mean_loss(plan, model, train), complexity(model), table)


def _mean_loss(plan: Plan, model: Any, rows: Rows) -> float:
    y, w = rows.source.y, rows.source.w  # type: ignore[attr-defined]
    return weighted_mean(plan.judge.losses(y, row_predictions(model, rows)), w)


# -- memory --------------------------------------------------------------------------------------------------


@contextmanager
def _memory() -> Iterator[Callable[[], int]]:
    """How far the process grew above where it was, in bytes.

    On Linux the high-water mark is set back before; elsewhere only growth above an earlier peak is seen.
    """
    _reset_peak()
    before = _resident("VmRSS") or _peak()
    yield lambda: max(0, (_resident("VmHWM") or _peak()) - before)


def _reset_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def _resident(name: str) -> int:
    try:
        with open("/proc/self/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith(name + ":"))
    except (OSError, StopIteration):
        return 0


def _peak() -> int:
    try:
        import resource
        import sys
    except ImportError:  # not on Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

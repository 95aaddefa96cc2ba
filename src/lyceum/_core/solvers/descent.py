"""The loop that iterative solvers share: advance, look, record, report, stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lyceum._core.progress import report
from lyceum._core.solvers.problem import Observer, Outcome, Point, is_flat

# the next point, or None where no step lowers the objective; and the step that was tried
Advance = Callable[[Point], tuple[Point | None, Any]]


def descent_loop(
    start: Point,
    advance: Advance,
    is_optimal: Callable[[Point], bool],
    max_iter: int,
    observer: Observer | None,
    ends_flat: Callable[[Point, Any], bool] = is_flat,
) -> Outcome:
    """Advance from `start` until the point is optimal, no step helps, or `max_iter` iterations are
    done.

    `observer` sees the start and every point after it. Where no step lowers the objective any more,
    `ends_flat(point, step)` says whether that is the optimum to the last digit.
    """
    point = start
    history = [start.value]
    if observer:
        observer(point)
    for n_iter in range(1, max_iter + 1):
        next_point, step = advance(point)
        if next_point is None:
            return Outcome(point, n_iter, ends_flat(point, step), history)
        point = next_point
        history.append(point.value)
        if observer:
            observer(point)
        report("iterations", n_iter, max_iter)
        if is_optimal(point):
            return Outcome(point, n_iter, True, history)
    return Outcome(point, max_iter, False, history)

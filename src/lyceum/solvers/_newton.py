"""Newton's method with step halving; for generalised linear models it is iteratively reweighted least
squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lyceum.solvers._problem import Outcome, Point, Problem, Watch, descend, is_flat

__all__ = ["Newton"]


@dataclass(frozen=True, slots=True)
class Newton:
    """θ ← θ - t H⁻¹ g, with t = 1 unless the objective fails to fall. Each pass also sums the Hessian."""

    needs_hessian: ClassVar[bool] = True

    def minimise(
        self, problem: Problem, start: Point, max_iter: int, tol: float, watch: Watch | None = None
    ) -> Outcome:
        here, history = start, [start.value]
        if watch:
            watch(here)
        for n_iter in range(1, max_iter + 1):
            step = problem.newton_step(here)
            there = descend(problem, here, step, self.needs_hessian)
            if there is None:
                return Outcome(here, n_iter, is_flat(here, step), history)
            here = there
            history.append(here.value)
            if watch:
                watch(here)
            if problem.size(here.gradient) <= tol:
                return Outcome(here, n_iter, True, history)
        return Outcome(here, max_iter, False, history)

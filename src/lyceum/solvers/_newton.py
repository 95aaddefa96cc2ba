"""Newton's method with step halving: for generalized linear models, iteratively reweighted least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lyceum.solvers._descent_loop import descent_loop
from lyceum.solvers._problem import Observer, Outcome, Point, Problem, backtrack

__all__ = ["Newton"]


@dataclass(frozen=True, slots=True)
class Newton:
    """θ ← θ - t H⁻¹ g, with t = 1 unless the objective fails to fall. Each pass also sums the Hessian."""

    needs_hessian: ClassVar[bool] = True

    def minimise(
        self, problem: Problem, start: Point, max_iter: int, tol: float, observer: Observer | None = None
    ) -> Outcome:
        """The minimum from `start`, where the gradient's size is at most `tol`."""

        def advance(here: Point) -> tuple[Point | None, np.ndarray]:
            step = problem.newton_step(here)
            return backtrack(problem, here, step, self.needs_hessian), step

        def is_optimal(point: Point) -> bool:
            return problem.size(point.gradient) <= tol * problem.level(point.value)

        return descent_loop(start, advance, is_optimal, max_iter, observer)

"""Newton's method with step halving: for generalized linear models, iteratively reweighted least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lyceum.solvers._descent_loop import descent_loop
from lyceum.solvers._problem import Observer, Outcome, Point, Problem, backtrack, is_flat, lowers

__all__ = ["Newton"]


@dataclass(frozen=True, slots=True)
class Newton:
    """θ ← θ - t H⁻¹ g, with t = 1 unless the objective fails to fall. Each pass also sums the Hessian.

    Attributes
    ----------
    second_start : callable, optional
        Gives another point to begin at, if the first whole step from the start does not lower the objective:
        far out, where posteriors are near 0 and 1, steps are short and many.
    """

    second_start: Callable[[], Point] | None = None
    needs_hessian: ClassVar[bool] = True

    def minimise(
        self, problem: Problem, start: Point, max_iter: int, tol: float, observer: Observer | None = None
    ) -> Outcome:
        """The minimum from `start`, where the gradient's size is at most `tol`."""
        first: tuple[Point, np.ndarray] | None = None
        if self.second_start is not None:
            step = problem.newton_step(start)
            there = problem.evaluate(start.theta + step, self.needs_hessian)
            if lowers(problem, start, there, float(np.vdot(start.gradient, step))):
                first = there, step
            elif not is_flat(start, step):
                start = self.second_start()

        def advance(here: Point) -> tuple[Point | None, np.ndarray]:
            nonlocal first
            if first is not None:
                found, first = first, None
                return found
            step = problem.newton_step(here)
            return backtrack(problem, here, step, self.needs_hessian), step

        def is_optimal(point: Point) -> bool:
            return problem.size(point.gradient) <= tol * problem.level(point.value)

        return descent_loop(start, advance, is_optimal, max_iter, observer)

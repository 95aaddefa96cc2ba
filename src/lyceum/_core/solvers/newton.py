"""Newton's method with step halving: for generalized linear models, iteratively reweighted least
squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lyceum._core.solvers.descent import descent_loop
from lyceum._core.solvers.problem import (
    Observer,
    Outcome,
    Point,
    Problem,
    backtrack,
    gradient_test,
    is_flat,
    lowers,
)


@dataclass(frozen=True, slots=True)
class Newton:
    """θ ← θ - t H⁻¹ g, with t = 1 unless the objective fails to fall. Each pass also sums the
    Hessian.

    Parameters
    ----------
    second_start : callable, optional
        Gives another point to begin at, if the first whole step from the start does not lower the
        objective: where posteriors are near 0 and 1, steps would be short and many.

    Attributes
    ----------
    needs_hessian : bool
        True: points must have second derivatives.

    See Also
    --------
    LevenbergMarquardt : The same steps, damped.
    LBFGS : Steps of the same kind without second derivatives.
    Problem : What is minimized.
    Outcome : What `minimize` returns.

    References
    ----------
    J. Nocedal and S. J. Wright, "Numerical Optimization", Springer, 2006, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import Newton, Point, Problem
    >>> class Bowl(Problem):  # e^x - 2x + (y - 3)², least where x = log 2, y = 3
    ...     def evaluate(self, theta, hessian=False):
    ...         x, y = theta
    ...         g, H = np.array([np.exp(x) - 2, 2 * (y - 3)]), np.diag([np.exp(x), 2.0])
    ...         return Point(theta, np.exp(x) - 2 * x + (y - 3) ** 2, g, H)
    >>> start = Bowl().evaluate(np.array([0.0, 8.0]), hessian=True)
    >>> found = Newton().minimize(Bowl(), start, max_iter=50, tol=1e-9)
    >>> found.point.theta.round(4).tolist(), found.converged
    ([0.6931, 3.0], True)
    """

    second_start: Callable[[], Point] | None = None
    needs_hessian: ClassVar[bool] = True

    def minimize(
        self,
        problem: Problem,
        start: Point,
        max_iter: int,
        tol: float,
        observer: Observer | None = None,
    ) -> Outcome:
        """The minimum from `start`, where the gradient's size is at most `tol`."""
        first: tuple[Point, np.ndarray] | None = None
        if self.second_start is not None:
            step = problem.newton_step(start)
            next_point = problem.evaluate(start.theta + step, self.needs_hessian)
            if lowers(problem, start, next_point, float(np.vdot(start.gradient, step))):
                first = next_point, step
            elif not is_flat(start, step):
                start = self.second_start()

        def advance(point: Point) -> tuple[Point | None, np.ndarray]:
            nonlocal first
            if first is not None:
                point_and_step = first
                first = None
                return point_and_step
            step = problem.newton_step(point)
            return backtrack(problem, point, step, self.needs_hessian), step

        return descent_loop(
            start, advance, gradient_test(problem, tol), max_iter, observer
        )

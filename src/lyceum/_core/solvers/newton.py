"""Newton's method with step halving (for generalized linear models, iteratively reweighted least
squares), and damped until steps lower the objective (Levenberg and Marquardt)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lyceum._core.solvers.problem import (
    Observer,
    Outcome,
    Point,
    Problem,
    backtrack,
    descent_loop,
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
        # The first full step is tried here. Where it is too long the other start is taken, instead
        # of shortening it; else `advance` returns it without another pass.
        first: tuple[Point, np.ndarray] | None = None
        if self.second_start is not None:
            step = problem.newton_step(start)
            next_point = problem.evaluate(start.theta + step, self.needs_hessian)
            slope = float(np.vdot(start.gradient, step))
            if lowers(problem, start, next_point, slope):
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
            start,
            advance,
            gradient_test(problem, tol),
            max_iter,
            observer,
        )


_FACTOR = 10.0
_LEAST = 1e-15
_MOST = 1e15


@dataclass(frozen=True, slots=True)
class LevenbergMarquardt:
    """θ ← θ - (H + μ diag H)⁻¹ g; μ is divided by 10 after a step that lowers the objective, else
    times 10.

    Large μ gives short steps down the gradient, in units of the curvature along every axis; small μ
    gives Newton's steps. A trial is one pass, which also sums the Hessian.

    Parameters
    ----------
    damping : float, default=0.001
        The first μ.

    Attributes
    ----------
    needs_hessian : bool
        True: points must have second derivatives.

    See Also
    --------
    Newton : The steps without damping.
    Problem : What is minimized.
    Outcome : What `minimize` returns.

    References
    ----------
    K. Levenberg, "A method for the solution of certain non-linear problems in least squares",
    Quarterly of Applied Mathematics 2, 1944. D. W. Marquardt, "An algorithm for least-squares
    estimation of nonlinear parameters", Journal of the Society for Industrial and Applied
    Mathematics 11, 1963.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import LevenbergMarquardt, Point, Problem
    >>> class Bowl(Problem):  # e^x - 2x + (y - 3)², least where x = log 2, y = 3
    ...     def evaluate(self, theta, hessian=False):
    ...         x, y = theta
    ...         g, H = np.array([np.exp(x) - 2, 2 * (y - 3)]), np.diag([np.exp(x), 2.0])
    ...         return Point(theta, np.exp(x) - 2 * x + (y - 3) ** 2, g, H)
    >>> start = Bowl().evaluate(np.array([0.0, 8.0]), hessian=True)
    >>> found = LevenbergMarquardt().minimize(Bowl(), start, max_iter=50, tol=1e-9)
    >>> found.point.theta.round(4).tolist(), found.converged
    ([0.6931, 3.0], True)
    """

    damping: float = 1e-3

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
        mu = self.damping

        def advance(point: Point) -> tuple[Point | None, np.ndarray]:
            nonlocal mu
            assert point.hessian is not None
            H = point.hessian.reshape(point.theta.size, -1)
            while True:
                damped = H + mu * np.diag(np.diagonal(H))
                damped = damped.reshape(point.hessian.shape)
                step = problem.newton_step(replace(point, hessian=damped))
                next_point = problem.evaluate(point.theta + step, True)
                slope = float(np.vdot(point.gradient, step))
                if lowers(problem, point, next_point, slope):
                    mu = max(mu / _FACTOR, _LEAST)
                    return next_point, step
                # the step without damping tells whether this is the optimum
                if is_flat(point, step) or mu >= _MOST:
                    return None, problem.newton_step(point)
                mu *= _FACTOR

        return descent_loop(
            start,
            advance,
            gradient_test(problem, tol),
            max_iter,
            observer,
        )

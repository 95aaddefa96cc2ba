"""Levenberg and Marquardt's method: Newton's steps, damped until they lower the objective."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lyceum._core.solvers.descent import descent_loop
from lyceum._core.solvers.problem import (
    Observer,
    Outcome,
    Point,
    Problem,
    gradient_test,
    is_flat,
    lowers,
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
            while True:
                step = problem.newton_step(_damp(point, mu))
                next_point = problem.evaluate(point.theta + step, True)
                if lowers(
                    problem, point, next_point, float(np.vdot(point.gradient, step))
                ):
                    mu = max(mu / _FACTOR, _LEAST)
                    return next_point, step
                if is_flat(point, step) or mu >= _MOST:
                    return None, problem.newton_step(
                        point
                    )  # undamped, to tell whether this is the optimum
                mu *= _FACTOR

        return descent_loop(
            start, advance, gradient_test(problem, tol), max_iter, observer
        )


def _damp(point: Point, mu: float) -> Point:
    assert point.hessian is not None
    H = point.hessian.reshape(point.theta.size, -1)
    return replace(
        point, hessian=(H + mu * np.diag(np.diagonal(H))).reshape(point.hessian.shape)
    )

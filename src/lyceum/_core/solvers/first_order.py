"""Gradient descent and conjugate gradients: first-order methods, to teach and to compare."""

from __future__ import annotations

from dataclasses import dataclass
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
)


@dataclass(frozen=True, slots=True)
class GradientDescent:
    """θ ← θ - t g, with t twice that of the last step, then cut until the objective falls enough.

    The condition number of the problem sets its pace: columns of unit deviation help.

    Attributes
    ----------
    needs_hessian : bool
        False: points need no second derivatives.

    See Also
    --------
    ConjugateGradient : Directions that take account of the last one: fewer iterations.
    Problem : What is minimized.
    Outcome : What `minimize` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import GradientDescent, Point, Problem
    >>> class Bowl(Problem):  # e^x - 2x + (y - 3)², least where x = log 2, y = 3
    ...     def evaluate(self, theta, hessian=False):
    ...         x, y = theta
    ...         g, H = np.array([np.exp(x) - 2, 2 * (y - 3)]), np.diag([np.exp(x), 2.0])
    ...         return Point(theta, np.exp(x) - 2 * x + (y - 3) ** 2, g, H)
    >>> start = Bowl().evaluate(np.array([0.0, 8.0]))
    >>> found = GradientDescent().minimize(Bowl(), start, max_iter=200, tol=1e-6)
    >>> found.point.theta.round(4).tolist(), found.converged
    ([0.6931, 3.0], True)
    """

    needs_hessian: ClassVar[bool] = False

    def minimize(
        self,
        problem: Problem,
        start: Point,
        max_iter: int,
        tol: float,
        observer: Observer | None = None,
    ) -> Outcome:
        """The minimum from `start`, where the gradient's size is at most `tol`."""
        # the first step has length 1
        rate = 1.0 / max(float(np.linalg.norm(start.gradient)), 1e-300)

        def advance(point: Point) -> tuple[Point | None, np.ndarray]:
            nonlocal rate
            step = -rate * point.gradient
            if not step.any():
                return None, step
            next_point = backtrack(problem, point, step, self.needs_hessian)
            # twice the length that was taken: it may grow again after it was cut
            if next_point is not None:
                moved = float(np.linalg.norm(next_point.theta - point.theta))
                rate = 2 * moved / float(np.linalg.norm(point.gradient))
            return next_point, step

        return descent_loop(
            start,
            advance,
            gradient_test(problem, tol),
            max_iter,
            observer,
        )


@dataclass(frozen=True, slots=True)
class ConjugateGradient:
    """Preconditioned nonlinear conjugate gradients (Polak and Ribière, restarted where β < 0).

    With z = M⁻¹ g the direction is p ← -z + β p, β = max(0, z·(g - g_last) / z_last·g_last). A
    secant through the slopes at both ends of the first trial gives the length: two passes per
    iteration at most.

    Attributes
    ----------
    needs_hessian : bool
        False: points need no second derivatives.

    See Also
    --------
    GradientDescent : The gradient alone.
    LBFGS : More memory, usually fewer passes.
    Problem : What is minimized; its `precondition` is M⁻¹.
    Outcome : What `minimize` returns.

    References
    ----------
    E. Polak and G. Ribière, "Note sur la convergence de méthodes de directions conjuguées", Revue
    française d'informatique et de recherche opérationnelle 3, 1969.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import ConjugateGradient, Point, Problem
    >>> class Bowl(Problem):  # e^x - 2x + (y - 3)², least where x = log 2, y = 3
    ...     def evaluate(self, theta, hessian=False):
    ...         x, y = theta
    ...         g, H = np.array([np.exp(x) - 2, 2 * (y - 3)]), np.diag([np.exp(x), 2.0])
    ...         return Point(theta, np.exp(x) - 2 * x + (y - 3) ** 2, g, H)
    >>> start = Bowl().evaluate(np.array([0.0, 8.0]))
    >>> found = ConjugateGradient().minimize(Bowl(), start, max_iter=50, tol=1e-6)
    >>> found.point.theta.round(4).tolist(), found.converged
    ([0.6931, 3.0], True)
    """

    needs_hessian: ClassVar[bool] = False

    def minimize(
        self,
        problem: Problem,
        start: Point,
        max_iter: int,
        tol: float,
        observer: Observer | None = None,
    ) -> Outcome:
        """The minimum from `start`, where the gradient's size is at most `tol`."""
        z = problem.precondition(start.gradient)
        step = -z

        def advance(point: Point) -> tuple[Point | None, np.ndarray]:
            nonlocal z, step
            # a direction that does not lead down starts anew from the preconditioned gradient
            if np.vdot(point.gradient, step) >= 0:
                step = -z
            tried = step
            next_point = self._along(problem, point, step)
            if next_point is not None:
                last = z
                z = problem.precondition(next_point.gradient)
                below = float(np.vdot(last, point.gradient))
                change = float(np.vdot(z, next_point.gradient - point.gradient))
                beta = max(0.0, change / below) if below > 0 else 0.0
                step = -z + beta * step
            return next_point, tried

        return descent_loop(
            start,
            advance,
            gradient_test(problem, tol),
            max_iter,
            observer,
        )

    def _along(self, problem: Problem, point: Point, step: np.ndarray) -> Point | None:
        next_point = backtrack(problem, point, step, self.needs_hessian)
        if next_point is None:
            return None
        # the slope along the step goes from `slope` to `end` over `length`: by the secant it is
        # zero, and the objective least, at `best`
        slope = float(np.vdot(point.gradient, step))
        end = float(np.vdot(next_point.gradient, step))
        moved = next_point.theta - point.theta
        length = float(np.vdot(moved, step)) / float(np.vdot(step, step))
        best = 4 * length
        if slope < end:
            best = length * slope / (slope - end)
        best = float(np.clip(best, 0.1 * length, 4 * length))
        if abs(best - length) < 0.1 * length:
            return next_point
        nearer = problem.evaluate(point.theta + best * step, self.needs_hessian)
        if nearer.value <= next_point.value:
            return nearer
        return next_point

"""Limited-memory BFGS with a fixed preconditioner (Nocedal 1980; Liu and Nocedal 1989)."""

from __future__ import annotations

from collections import deque
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
class LBFGS:
    """Quasi-Newton steps from the last `memory` changes of the gradient, starting from γ M⁻¹
    instead of γ I.

    With an M that resembles the Hessian the condition of the data does not slow it down.

    Parameters
    ----------
    memory : int, default=12
        How many pairs of steps and changes of the gradient are kept.

    Attributes
    ----------
    needs_hessian : bool
        False: points need no second derivatives.

    See Also
    --------
    Newton : With second derivatives, for few parameters.
    ConjugateGradient : With less memory.
    Problem : What is minimized; its `precondition` is M⁻¹.
    Outcome : What `minimize` returns.

    References
    ----------
    D. C. Liu and J. Nocedal, "On the limited memory BFGS method for large scale optimization",
    Mathematical Programming 45, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import LBFGS, Point, Problem
    >>> class Bowl(Problem):  # e^x - 2x + (y - 3)², least where x = log 2, y = 3
    ...     def evaluate(self, theta, hessian=False):
    ...         x, y = theta
    ...         g, H = np.array([np.exp(x) - 2, 2 * (y - 3)]), np.diag([np.exp(x), 2.0])
    ...         return Point(theta, np.exp(x) - 2 * x + (y - 3) ** 2, g, H)
    >>> start = Bowl().evaluate(np.array([0.0, 8.0]))
    >>> found = LBFGS(memory=5).minimize(Bowl(), start, max_iter=50, tol=1e-9)
    >>> found.point.theta.round(4).tolist(), found.converged
    ([0.6931, 3.0], True)
    """

    memory: int = 12
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
        changes: deque[_Change] = deque(maxlen=self.memory)

        def advance(point: Point) -> tuple[Point | None, np.ndarray]:
            step = -_inverse_times(changes, point.gradient, problem)
            next_point = backtrack(problem, point, step, self.needs_hessian)
            # forget the past, follow the preconditioned gradient
            if next_point is None and changes:
                changes.clear()
                step = -problem.precondition(point.gradient)
                next_point = backtrack(problem, point, step, self.needs_hessian)
            if next_point is not None:
                # only s·y > 0 keeps the inverse Hessian positive definite
                change = _Change.between(point, next_point)
                if change.curvature > 0:
                    changes.append(change)
            return next_point, step

        return descent_loop(
            start,
            advance,
            gradient_test(problem, tol),
            max_iter,
            observer,
        )


@dataclass(frozen=True, slots=True)
class _Change:
    """s, y and s·y of one step."""

    step: np.ndarray
    gradient: np.ndarray
    curvature: float

    @classmethod
    def between(cls, point: Point, next_point: Point) -> _Change:
        step = next_point.theta - point.theta
        gradient = next_point.gradient - point.gradient
        return cls(step, gradient, float(np.vdot(step, gradient)))


def _inverse_times(
    changes: deque[_Change],
    gradient: np.ndarray,
    problem: Problem,
) -> np.ndarray:
    """The two-loop recursion: the quasi-Newton inverse Hessian times the gradient."""
    # from the newest change to the oldest: α = s·q / s·y, q ← q - α y
    q = gradient.copy()
    weights = []
    for change in reversed(changes):
        weights.append(float(np.vdot(change.step, q)) / change.curvature)
        q -= weights[-1] * change.gradient
    # γ M⁻¹ q, with γ = s·y / y·M⁻¹y of the newest change, the scale of the curvature there
    q = problem.precondition(q)
    if changes:
        last = changes[-1]
        preconditioned = problem.precondition(last.gradient)
        q *= last.curvature / float(np.vdot(last.gradient, preconditioned))
    # and back: q ← q + (α - y·q / s·y) s
    for change, weight in zip(changes, reversed(weights)):
        beta = float(np.vdot(change.gradient, q)) / change.curvature
        q += (weight - beta) * change.step
    return q

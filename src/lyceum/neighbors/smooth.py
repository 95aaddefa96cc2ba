"""A smooth function as the solvers see it, and its minimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lyceum._core.solvers import LBFGS, Observer, Outcome, Point


@dataclass(frozen=True)
class _Smooth:
    """`function(theta)` gives a value and a gradient."""

    function: Callable[[np.ndarray], tuple[float, np.ndarray]]

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        value, gradient = self.function(theta)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return Point(theta, np.inf, np.zeros_like(theta))
        return Point(theta, value, gradient)

    def newton_step(self, point: Point) -> np.ndarray:
        return -point.gradient

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        return gradient

    def size(self, gradient: np.ndarray) -> float:
        return float(np.abs(gradient).max(initial=0.0))

    def level(self, value: float) -> float:
        return 1.0


def minimize(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    max_iter: int,
    tol: float,
    observer: Observer | None = None,
) -> Outcome:
    """A minimum near `start` by quasi-Newton steps; BLAS in one thread, so that bits stay the same.

    >>> def loss(t):
    ...     return float(((t - 2) ** 2).sum()), 2 * (t - 2)
    >>> descent = minimize(loss, np.zeros(2), 50, 1e-9)
    >>> descent.point.theta.round(6).tolist()
    [2.0, 2.0]
    """
    problem = _Smooth(function)
    return LBFGS().minimize(problem, problem.evaluate(start), max_iter, tol, observer)

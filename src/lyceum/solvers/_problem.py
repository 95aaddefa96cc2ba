"""A smooth convex problem as a solver sees it, and what a solver returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

__all__ = ["Observer", "Outcome", "Point", "Problem", "Solver", "backtrack", "is_flat", "lowers"]


@dataclass(frozen=True, slots=True)
class Point:
    """The objective at some parameters: value, gradient, and Hessian if requested.

    Attributes
    ----------
    theta : array
        The parameters.
    value : float
        The objective there.
    gradient : array
        Its gradient.
    hessian : array or None, default=None
        Its second derivatives, if the solver needs them.
    """

    theta: np.ndarray
    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None = None


Observer = Callable[[Point], None]  # called with every point that a solver visits


class Problem(Protocol):
    """A smooth convex objective; one `evaluate` is one pass over the rows."""

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point: ...

    def newton_step(self, point: Point) -> np.ndarray:
        """-H⁻¹ g from a point with its Hessian."""

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        """M⁻¹ g for a fixed M that resembles the Hessian."""

    def size(self, gradient: np.ndarray) -> float:
        """The size of a gradient free of units, to compare with a tolerance."""

    def level(self, value: float) -> float:
        """What the tolerance is multiplied by at this value: 1, or less where little is left of it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a solver stopped, and its history.

    Attributes
    ----------
    point : Point
        The best point.
    n_iter : int
        The number of iterations.
    converged : bool
        Whether the tolerance was reached.
    history : sequence of float
        The objective at the start and after every iteration.
    """

    point: Point
    n_iter: int
    converged: bool
    history: Sequence[float]


class Solver(Protocol):
    """Minimises a problem from a start (evaluated with the Hessian if needed) until the gradient is small.

    Attributes
    ----------
    needs_hessian : bool
        Whether points must have second derivatives.
    """

    needs_hessian: ClassVar[bool]

    def minimise(
        self, problem: Problem, start: Point, max_iter: int, tol: float, observer: Observer | None = None
    ) -> Outcome: ...


def backtrack(problem: Problem, here: Point, step: np.ndarray, hessian: bool) -> Point | None:
    """Shorten a step until it lowers the objective enough (Armijo's rule); None if no length does.

    Near the optimum the value stops changing in its last digits before the gradient vanishes, so a step that
    keeps the value to rounding is taken if it makes the gradient smaller.
    """
    slope = float(np.vdot(here.gradient, step))
    noise = _noise(here)
    length = 1.0
    while length > 1e-30:
        there = problem.evaluate(here.theta + length * step, hessian)
        if lowers(problem, here, there, length * slope):
            return there
        if abs(length * slope) <= noise:
            return None
        length *= _shorter(here.value, length * slope, there.value)
    return None


def lowers(problem: Problem, here: Point, there: Point, slope: float) -> bool:
    """Whether a step of this slope lowers the objective enough, or, at the same value, the gradient."""
    if there.value <= here.value + 1e-4 * slope:
        return True
    kept = there.value <= here.value + _noise(here)
    return kept and problem.size(there.gradient) < problem.size(here.gradient)


def is_flat(here: Point, step: np.ndarray) -> bool:
    """Whether a step promises less than rounding error: the optimum to the last digit."""
    return abs(float(np.vdot(here.gradient, step))) <= 1e3 * _noise(here)


def _noise(here: Point) -> float:
    return 16 * float(np.finfo(np.float64).eps) * abs(here.value)


def _shorter(value: float, slope: float, trial: float) -> float:
    """The factor to shorten a step by: the minimum of the parabola through the trial, in [0.01, 0.5]."""
    bend = 2 * (trial - value - slope)
    return float(np.clip(-slope / bend, 0.01, 0.5)) if np.isfinite(bend) and bend > 0 else 0.1

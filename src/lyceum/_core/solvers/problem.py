"""A smooth convex problem as a solver sees it, and what a solver returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from lyceum._core.statistics import PositiveFactor
from lyceum.errors import SettingError, undefined


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
    n_undetermined : int
        How many directions have no curvature there, from the Hessian: a Newton step leaves them as
        they are.

    See Also
    --------
    Problem : The objective that makes points.
    Outcome : Where a solver stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import Point
    >>> theta = np.array([3.0, 4.0])
    >>> here = Point(theta, float(theta @ theta) / 2, gradient=theta)  # of |θ|² / 2
    >>> here.value, here.gradient.tolist(), here.hessian is None
    (12.5, [3.0, 4.0], True)
    """

    theta: np.ndarray
    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None = None

    @property
    def n_undetermined(self) -> int:
        """How many directions have no curvature there, from the Hessian."""
        if self.hessian is None:
            raise SettingError(
                "the point was evaluated without its Hessian: evaluate(theta, hessian=True)"
            )
        n = self.theta.size
        return n - PositiveFactor.of(self.hessian.reshape(n, n)).rank


Observer = Callable[[Point], None]  # called with every point that a solver visits


class Problem(Protocol):
    """A smooth convex objective; one `evaluate` is one pass over the rows.

    Any class with these methods is a problem. A subclass needs `evaluate` only: the other methods
    have plain defaults, which a learner replaces where the structure of its problem allows better
    ones.

    See Also
    --------
    Point : The value of `evaluate`.
    Newton, LevenbergMarquardt, LBFGS, ConjugateGradient, GradientDescent : The solvers.
    EMProblem : A model with hidden variables.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import Newton, Point, Problem
    >>> class Bowl(Problem):  # e^x - 2x + (y - 3)², least where x = log 2, y = 3
    ...     def evaluate(self, theta, hessian=False):
    ...         x, y = theta
    ...         g, H = np.array([np.exp(x) - 2, 2 * (y - 3)]), np.diag([np.exp(x), 2.0])
    ...         return Point(theta, np.exp(x) - 2 * x + (y - 3) ** 2, g, H)
    >>> bowl = Bowl()
    >>> start = bowl.evaluate(np.array([0.0, 8.0]), hessian=True)
    >>> found = Newton().minimize(bowl, start, max_iter=50, tol=1e-9)
    >>> found.point.theta.round(4).tolist(), round(float(np.log(2)), 4)
    ([0.6931, 3.0], 0.6931)
    """

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        """The objective and its gradient at some parameters, and the Hessian if requested."""
        raise undefined(self, "evaluate")

    def newton_step(self, point: Point) -> np.ndarray:
        """-H⁻¹ g from a point with its Hessian; directions without curvature are left as they
        are."""
        assert point.hessian is not None
        n = point.theta.size
        step = -PositiveFactor.of(point.hessian.reshape(n, n)).solve(
            point.gradient.ravel()
        )
        return step.reshape(point.theta.shape)

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        """M⁻¹ g for a fixed M that resembles the Hessian; M = I by default."""
        return gradient

    def size(self, gradient: np.ndarray) -> float:
        """The size of a gradient, to compare with a tolerance; its largest absolute entry by
        default."""
        return float(np.abs(gradient).max(initial=0.0))

    def level(self, value: float) -> float:
        """The factor of the tolerance at this value of the objective; 1 by default."""
        return 1.0


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

    See Also
    --------
    Solver : What returns it.
    Point : The objective at some parameters.
    EMOutcome : The same for expectation-maximization.

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
    >>> found = LBFGS().minimize(Bowl(), start, max_iter=50, tol=1e-9)
    >>> round(float(found.point.value), 4), found.converged  # 2 - 2 log 2
    (0.6137, True)
    >>> float(found.history[0])  # 1 + 25
    26.0
    >>> len(found.history) == found.n_iter + 1
    True
    """

    point: Point
    n_iter: int
    converged: bool
    history: Sequence[float]


class Solver(Protocol):
    """Minimizes a problem from a start (evaluated with the Hessian if needed) until the gradient is
    small.

    Attributes
    ----------
    needs_hessian : bool
        Whether points must have second derivatives.

    See Also
    --------
    Newton, LevenbergMarquardt : Solvers that need second derivatives.
    LBFGS, ConjugateGradient, GradientDescent : Solvers that do not.

    Examples
    --------
    A solver with a fixed step, and the minimum of e^x - 2x that it finds:

    >>> import numpy as np
    >>> from lyceum.solvers import Point, Problem, Solver
    >>> from lyceum._core.solvers import descent_loop
    >>> class Slope(Problem):
    ...     def evaluate(self, theta, hessian=False):
    ...         return Point(theta, float(np.exp(theta[0]) - 2 * theta[0]), np.exp(theta) - 2)
    >>> class FixedStep(Solver):
    ...     needs_hessian = False
    ...     def minimize(self, problem, start, max_iter, tol, observer=None):
    ...         def advance(here):
    ...             return problem.evaluate(here.theta - 0.4 * here.gradient), -0.4 * here.gradient
    ...         def is_optimal(point):
    ...             return problem.size(point.gradient) <= tol
    ...         return descent_loop(start, advance, is_optimal, max_iter, observer)
    >>> found = FixedStep().minimize(Slope(), Slope().evaluate(np.zeros(1)), max_iter=100, tol=1e-6)
    >>> found.converged, found.point.theta.round(4).tolist()  # log 2
    (True, [0.6931])
    """

    needs_hessian: ClassVar[bool]

    def minimize(
        self,
        problem: Problem,
        start: Point,
        max_iter: int,
        tol: float,
        observer: Observer | None = None,
    ) -> Outcome: ...


def gradient_test(problem: Problem, tol: float) -> Callable[[Point], bool]:
    """The test of optimality: whether the gradient at a point is within the tolerance of the
    problem."""

    def is_optimal(point: Point) -> bool:
        return problem.size(point.gradient) <= tol * problem.level(point.value)

    return is_optimal


def backtrack(
    problem: Problem, here: Point, step: np.ndarray, hessian: bool
) -> Point | None:
    """Shorten a step until it lowers the objective enough (Armijo's rule); None if no length does.

    Near the optimum the value stops changing in its last digits before the gradient vanishes, so a
    step that keeps the value to rounding is taken if it makes the gradient smaller.
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
    """Whether a step of this slope lowers the objective enough, or, at the same value, the
    gradient."""
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
    """The factor to shorten a step by: the minimum of the parabola through the trial, in [0.01,
    0.5]."""
    bend = 2 * (trial - value - slope)
    if np.isfinite(bend) and bend > 0:
        return float(np.clip(-slope / bend, 0.01, 0.5))
    return 0.1

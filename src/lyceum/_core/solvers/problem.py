"""A smooth convex problem as a solver sees it, what a solver returns, and the loop and line search
that solvers share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from lyceum._core.progress import report
from lyceum._core.report import Shown
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
        factor = PositiveFactor.of(point.hessian.reshape(n, n))
        step = -factor.solve(point.gradient.ravel())
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
class Outcome(Shown):
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
    problem: Problem,
    here: Point,
    step: np.ndarray,
    hessian: bool,
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
        promised = length * slope
        if lowers(problem, here, there, promised):
            return there
        if abs(promised) <= noise:
            return None
        # to the minimum of the parabola through both values and the slope, within bounds
        bend = 2 * (there.value - here.value - promised)
        if np.isfinite(bend) and bend > 0:
            length *= float(np.clip(-promised / bend, 0.01, 0.5))
        else:
            length *= 0.1
    return None


def lowers(problem: Problem, here: Point, there: Point, slope: float) -> bool:
    """Whether a step of this slope lowers the objective enough, or, at the same value, the
    gradient."""
    # Armijo: a ten-thousandth of the fall that the slope promises
    if there.value <= here.value + 1e-4 * slope:
        return True
    is_same = there.value <= here.value + _noise(here)
    return is_same and problem.size(there.gradient) < problem.size(here.gradient)


def is_flat(here: Point, step: np.ndarray) -> bool:
    """Whether a step promises less than rounding error: the optimum to the last digit."""
    return abs(float(np.vdot(here.gradient, step))) <= 1e3 * _noise(here)


def _noise(here: Point) -> float:
    """The rounding of the objective, a sum over many rows."""
    return 16 * float(np.finfo(np.float64).eps) * abs(here.value)


# the next point, or None where no step lowers the objective; and the step that was tried
Advance = Callable[[Point], tuple[Point | None, Any]]


def descent_loop(
    start: Point,
    advance: Advance,
    is_optimal: Callable[[Point], bool],
    max_iter: int,
    observer: Observer | None,
    ends_flat: Callable[[Point, Any], bool] = is_flat,
) -> Outcome:
    """Advance from `start` until the point is optimal, no step helps, or `max_iter` iterations are
    done.

    `observer` sees the start and every point after it. Where no step lowers the objective any more,
    `ends_flat(point, step)` says whether that is the optimum to the last digit.
    """
    point = start
    history = [start.value]
    if observer:
        observer(point)
    for n_iter in range(1, max_iter + 1):
        next_point, step = advance(point)
        if next_point is None:
            return Outcome(point, n_iter, ends_flat(point, step), history)
        point = next_point
        history.append(point.value)
        if observer:
            observer(point)
        report("iterations", n_iter, max_iter)
        if is_optimal(point):
            return Outcome(point, n_iter, True, history)
    return Outcome(point, max_iter, False, history)

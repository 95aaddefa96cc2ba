"""The stationary points of a small problem, one set of binding constraints after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from lyceum._core.progress import report
from lyceum._core.solvers.kkt_system import (
    ConstrainedProblem,
    named_functions,
    variable_names,
)
from lyceum._core.solvers.lagrange import (
    HOLDS,
    UNDECIDED,
    ConstrainedOptima,
    StationaryPoint,
)
from lyceum.errors import SettingError

_MOST_INEQUALITIES = 10  # 2^10 sets of binding constraints
_SAME = 1e-5  # points nearer than this are one
# curvatures smaller than this, relative to the largest number around, are zero
_FLAT = 1e-6
_KINDS = {1: "minimum", -1: "maximum", 0: "saddle point"}


def constrained_optima(
    objective: Callable[..., Any],
    equalities: Any = (),
    inequalities: Any = (),
    *,
    variables: Sequence[str] | None = None,
    box: Any = (-10.0, 10.0),
    n_starts: int = 30,
    random_state: int = 0,
) -> ConstrainedOptima:
    """The stationary points of a function under constraints, with Lagrange multipliers and KKT
    conditions.

    f(x) is stationary subject to h_i(x) = 0 and g_j(x) ≥ 0 where

        ∇f = Σ λ_i ∇h_i + Σ μ_j ∇g_j,    h_i = 0,    g_j ≥ 0,    μ_j g_j = 0,

    with all μ_j ≥ 0 at a minimum and all μ_j ≤ 0 at a maximum. For every set of inequalities that
    may bind, these equations are solved from many starts (SciPy's `root`, then Newton's steps);
    points that meet all conditions are merged, and classified by the curvature of f - Σ λh - Σ μg
    along the constraints. Where equalities leave no direction, as x = 1 does in one variable, the
    point is a minimum (and a maximum: there is no other). Derivatives are differences of sixth
    order.

    It is made to show small problems completely: few variables, up to 10 inequalities. Optima where
    the gradients of binding constraints are dependent have no multipliers and are not found, nor
    are points far outside of the box.

    Parameters
    ----------
    objective : function
        f, with one parameter per variable.
    equalities : function, sequence of functions, or mapping of names to functions
        h, zero where the constraint holds. Names, e.g. "x + y = 6", are what reports and pictures
        say.
    inequalities : the same
        g, at least zero where the constraint holds.
    variables : sequence of str, optional
        The names of the variables; by default those of the parameters of f.
    box : pair of numbers, or one pair per variable, default=(-10, 10)
        Where starts are drawn from.
    n_starts : int, default=30
        How many starts there are per set of binding inequalities.
    random_state : int, default=0
        The seed of the starts.

    Returns
    -------
    ConstrainedOptima
        With `points`, `minima`, `maxima`, `feasible`, `sentences()`, `workings()` and `summary()`.

    See Also
    --------
    lyceum.plot.constrained_optima : The picture for two variables.

    References
    ----------
    Kuhn and Tucker (1951), Nonlinear programming, Second Berkeley Symposium.
    Nocedal and Wright (2006), Numerical Optimization, chapter 12.

    Examples
    --------
    >>> from lyceum.solvers import constrained_optima
    >>> sum_of_six = {"x + y = 6": lambda x, y: x + y - 6}
    >>> print(constrained_optima(lambda x, y: x * y, sum_of_six, n_starts=5))
    Maximum: 9 at x = 3, y = 3.
      x + y = 6 has the multiplier 3: raising its right side by a little ε changes the value by 3 ε.
    """
    names = variable_names(objective, variables)
    problem = _checked_problem(objective, equalities, inequalities, names)
    starts = _starts(box, len(names), n_starts, random_state)
    # the nearest points at which all constraints hold; if none does, there is nothing to look for
    feasible = [problem.nearest_feasible(start) for start in starts]
    nearest = min(feasible, key=problem.violation)
    violation = problem.violation(nearest)
    if violation > HOLDS:
        return ConstrainedOptima(problem, (), False, nearest, violation)
    # every other one from where constraints hold
    starts[1::2] = np.array(feasible)[1::2]
    points = _points(problem, starts)
    points.sort(key=lambda point: (round(point.value, 9), *point.x))
    # the least and the greatest value met tell local optima from global ones
    values = [problem.value(x) for x in feasible if problem.violation(x) <= HOLDS]
    values += [point.value for point in points]
    finite = [value for value in values if np.isfinite(value)]
    reached = min(finite, default=np.inf), max(finite, default=-np.inf)
    return ConstrainedOptima(problem, tuple(points), True, nearest, violation, reached)


def _checked_problem(
    objective: Any,
    equalities: Any,
    inequalities: Any,
    names: Any,
) -> ConstrainedProblem:
    problem = ConstrainedProblem(
        objective,
        named_functions(equalities, "h", len(names)),
        named_functions(inequalities, "g", len(names)),
        names,
    )
    if len(problem.inequalities) > _MOST_INEQUALITIES:
        raise SettingError(
            f"there are {len(problem.inequalities)} inequalities, but all sets of binding ones are"
            f" tried, which is done for up to {_MOST_INEQUALITIES}: use scipy.optimize.minimize"
        )
    if clash := set(problem.equalities) & set(problem.inequalities):
        raise SettingError(
            f"two constraints have the name {sorted(clash)[0]!r}: give each its own"
        )
    return problem


def _starts(box: Any, d: int, n: int, seed: int) -> np.ndarray:
    limits = np.asarray(box, dtype=np.float64)
    low, high = np.broadcast_to(limits, (d, 2)).T
    is_finite = np.isfinite(low) & np.isfinite(high)
    if not (is_finite & (low < high)).all():
        raise SettingError(
            "box is a pair of numbers, the lower first, or one such pair per variable"
        )
    rng = np.random.default_rng(seed)
    drawn = rng.random((max(1, n), d))
    # the first start is the middle of the box
    drawn[0] = 0.5
    return low + drawn * (high - low)


def _points(problem: ConstrainedProblem, starts: np.ndarray) -> list[StationaryPoint]:
    # no more constraints can bind at once, with independent gradients, than there are variables
    n = len(problem.inequalities)
    most = min(n, max(0, starts.shape[1] - len(problem.equalities)))
    sets = [active for k in range(most + 1) for active in combinations(range(n), k)]
    points: list[StationaryPoint] = []
    for done, active in enumerate(sets):
        for start in starts:
            z = problem.solve(start, active)
            point = None if z is None else _judge(problem, z, active)
            if point is not None and not _is_among(points, point.x):
                points.append(point)
        report("sets of binding constraints", done + 1, len(sets))
    return points


def _is_among(points: list[StationaryPoint], x: np.ndarray) -> bool:
    others = (point.x for point in points)
    return any(
        np.abs(x - other).max() <= _SAME * (1.0 + np.abs(other).max())
        for other in others
    )


def _judge(
    problem: ConstrainedProblem,
    z: np.ndarray,
    active: tuple[int, ...],
) -> StationaryPoint | None:
    """The point, if it meets all conditions of a minimum or of a maximum."""
    d = len(problem.variables)
    n_equal = len(problem.equalities)
    x = z[:d] + 0.0
    multipliers = z[d:]
    J, scale, stationarity = _stationarity(problem, x, multipliers, active)
    violation = problem.violation(x)
    holds = HOLDS * (1.0 + np.abs(x).max())
    g = problem.g(x)[list(active)]
    # ∇f = λ ∇h + μ ∇g, and every constraint holds
    is_stationary = stationarity <= 1e-7 * scale and violation <= holds
    # all binding constraints reached, with gradients that determine their multipliers
    is_reached = np.abs(g).max(initial=0.0) <= holds
    if not (is_stationary and is_reached):
        return None
    if np.linalg.matrix_rank(J, tol=1e-6 * scale) < len(J):
        return None
    mu = multipliers[n_equal:].copy()
    mu[np.abs(mu) <= 1e-7 * scale] = 0.0
    if (mu > 0).any() and (mu < 0).any():
        # f falls along one constraint and rises along the other: no optimum
        return None
    residuals = {
        "stationarity": stationarity,
        "feasibility": violation,
        "complementarity": float(np.abs(mu * g).max(initial=0.0)),
    }
    H = problem.hessian(x, multipliers, active)
    kind = _kind(H, J, mu, _FLAT * scale)
    values, binding = _named_multipliers(problem, active, multipliers[:n_equal], mu)
    return StationaryPoint(x, problem.value(x), kind, values, binding, residuals)


def _stationarity(
    problem: ConstrainedProblem,
    x: np.ndarray,
    multipliers: np.ndarray,
    active: tuple[int, ...],
) -> tuple[np.ndarray, float, float]:
    """J, the gradients of the binding constraints; the size of the terms; |∇f - λ ∇h - μ ∇g|."""
    slope = problem.gradient(problem.objective, x)
    J = problem.jacobian(problem.constraints(active), x)
    sizes = [float(np.abs(part).max(initial=0.0)) for part in (slope, multipliers, J)]
    return J, 1.0 + sum(sizes), float(np.abs(slope - multipliers @ J).max())


def _named_multipliers(
    problem: ConstrainedProblem,
    active: tuple[int, ...],
    lambdas: np.ndarray,
    mu: np.ndarray,
) -> tuple[dict[str, float], tuple[str, ...]]:
    """The multiplier of every constraint, 0 where it does not bind, and those that bind."""
    inequalities = list(problem.inequalities)
    active_names = [inequalities[j] for j in active]
    values = dict.fromkeys((*problem.equalities, *inequalities), 0.0)
    values |= dict(zip(problem.equalities, lambdas.tolist()))
    values |= dict(zip(active_names, mu.tolist()))
    binding = [name for name, value in zip(active_names, mu) if value]
    return values, (*problem.equalities, *binding)


def _kind(H: np.ndarray, J: np.ndarray, mu: np.ndarray, flat: float) -> str:
    """By the curvature H of the Lagrangian along the constraints of gradients J, and the signs
    of μ."""
    # only constraints that are strictly active hold the curvature: one of μ = 0 may be left
    strict = [True] * (len(J) - len(mu)) + (mu != 0).tolist()
    J = J[strict]
    # the null space of J; without constraints, all directions
    along = np.eye(len(H))
    if len(J):
        along = np.linalg.svd(J)[2][len(J) :]
    if not len(along) and not mu.any():
        # equalities that fix the point: no other is allowed near it, and none is lower
        return _KINDS[1]
    curvature = np.linalg.eigvalsh(along @ H @ along.T)
    curvature[np.abs(curvature) <= flat] = 0.0
    signs = {int(sign) for sign in np.sign(mu[mu != 0])}
    signs |= {int(sign) for sign in np.sign(curvature)}
    # all signs alike make an optimum, and one that is 0 leaves it open
    if signs == {1} or signs == {-1}:
        return _KINDS[signs.pop()]
    if {1, -1} <= signs:
        return _KINDS[0]
    return UNDECIDED

"""A small problem with constraints: its functions, derivatives, and the equations of Lagrange and
KKT."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import optimize

from lyceum.errors import SettingError

Function = Callable[..., Any]

# central differences of sixth order: exact for polynomials of degree 6
_OFFSETS = (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)
_FACTORS = (-1.0 / 60.0, 9.0 / 60.0, -45.0 / 60.0, 45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)
_STEP = 1e-3
_FORWARD = np.finfo(np.float64).eps ** 0.5  # the step of forward differences
_POLISH = 8  # Newton steps at the end


@dataclass(frozen=True)
class ConstrainedProblem:
    """Find where f is stationary subject to h_i = 0 and g_j ≥ 0.

    Parameters
    ----------
    objective : function of the variables
        f.
    equalities, inequalities : mapping of names to functions of the variables
        h_i, zero where the constraint holds; g_j, at least zero where it holds.
    variables : tuple of str
        The names of the variables.

    See Also
    --------
    constrained_optima : Solves it from many starts.
    ConstrainedOptima : What that finds.

    References
    ----------
    J. Nocedal and S. J. Wright, "Numerical Optimization", Springer, 2006, chapter 12.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.solvers import ConstrainedProblem
    >>> six = {"x + y = 6": lambda x, y: x + y - 6}
    >>> problem = ConstrainedProblem(lambda x, y: x * y, six, inequalities={}, variables=("x", "y"))
    >>> at = np.array([3.0, 3.0])
    >>> problem.value(at), problem.violation(at), problem.multipliers(at, ()).round(6).tolist()
    (9.0, 0.0, [3.0])
    """

    objective: Function
    equalities: Mapping[str, Function]
    inequalities: Mapping[str, Function]
    variables: tuple[str, ...]

    def value(self, x: np.ndarray) -> float:
        return _number(self.objective, x)

    def h(self, x: np.ndarray) -> np.ndarray:
        return np.array([_number(h, x) for h in self.equalities.values()])

    def g(self, x: np.ndarray) -> np.ndarray:
        return np.array([_number(g, x) for g in self.inequalities.values()])

    def violation(self, x: np.ndarray) -> float:
        """The largest amount by which a constraint fails."""
        below = np.maximum(-self.g(x), 0.0)
        failures = np.concatenate([np.abs(self.h(x)), below, [0.0]])
        if not np.isfinite(failures).all():
            return np.inf
        return float(failures.max())

    def constraints(self, active: Sequence[int]) -> list[Function]:
        """All equalities, and the inequalities that are taken as equalities."""
        others = list(self.inequalities.values())
        return [*self.equalities.values(), *(others[j] for j in active)]

    def gradient(self, of: Function, x: np.ndarray) -> np.ndarray:
        point = list(x)
        slopes = np.empty(len(x))
        for j, (values, step) in enumerate(_nearby_values(x)):
            total = 0.0
            for value, factor in zip(values, _FACTORS):
                point[j] = value
                total += factor * _number(of, point)
            point[j] = x[j]
            slopes[j] = total / step
        return slopes

    def jacobian(self, of: Sequence[Function], x: np.ndarray) -> np.ndarray:
        """The gradients of functions as rows, (m, d)."""
        gradients = np.array([self.gradient(function, x) for function in of])
        return gradients.reshape(len(of), len(x))

    def multipliers(self, x: np.ndarray, active: Sequence[int]) -> np.ndarray:
        """The multipliers that bring ∇f nearest to Σ λ ∇h + Σ μ ∇g."""
        J = self.jacobian(self.constraints(active), x)
        return _multipliers(self.gradient(self.objective, x), J)

    def hessian(
        self,
        x: np.ndarray,
        multipliers: np.ndarray,
        active: Sequence[int],
    ) -> np.ndarray:
        """The second derivatives of f - Σ λ h - Σ μ g."""
        of = self.constraints(active)

        def gradient(v: np.ndarray) -> np.ndarray:
            return self.gradient(self.objective, v) - multipliers @ self.jacobian(of, v)

        # differences of gradients, which are differences of values; the mean with the transpose
        # takes out half of their errors
        columns = []
        for j, (values, step) in enumerate(_nearby_values(x)):
            total = np.zeros(len(x))
            moved = x.copy()
            for value, factor in zip(values, _FACTORS):
                moved[j] = value
                total += factor * gradient(moved)
            columns.append(total / step)
        H = np.stack(columns, axis=-1)
        return (H + H.T) / 2.0

    # -- stationary points -------------------------------------------------------------

    def solve(self, start: np.ndarray, active: Sequence[int]) -> np.ndarray | None:
        """A feasible stationary point of the Lagrangian near the start; None if none is found."""
        of = self.constraints(active)
        d = len(start)

        @lru_cache(maxsize=d + 2)  # `root` moves the multipliers alone, too
        def local(x: bytes) -> tuple[np.ndarray, np.ndarray, list[float]]:
            point = np.frombuffer(x)
            slope = self.gradient(self.objective, point)
            J = self.jacobian(of, point)
            return slope, J, [_number(constraint, point) for constraint in of]

        # ∇f - λ ∇h - μ ∇g = 0 and h = g = 0 in z = (x, λ, μ)
        def equations(z: np.ndarray) -> np.ndarray:
            slope, J, values = local(z[:d].tobytes())
            return np.concatenate([slope - z[d:] @ J, values])

        with np.errstate(all="ignore"):
            slope, J, _ = local(start.tobytes())
            if not np.isfinite(J).all():
                return None
            z = np.concatenate([start, _multipliers(slope, J)])
            if not np.isfinite(equations(z)).all():
                return None
            try:
                limit = {"maxfev": 200 * (len(z) + 1)}
                z = optimize.root(equations, z, method="hybr", options=limit).x
            except (ValueError, np.linalg.LinAlgError):
                return None
            z = self._polish(z, equations, active, d)
        if np.isfinite(z).all():
            return z
        return None

    def _polish(
        self,
        z: np.ndarray,
        equations: Function,
        active: Sequence[int],
        d: int,
    ) -> np.ndarray:
        """Newton's steps as long as they help."""
        left = equations(z)
        for _ in range(_POLISH):
            if not left.any() or not np.isfinite(left).all():
                return z
            # the KKT matrix [H -Jᵀ; J 0], the derivative of the equations
            J = self.jacobian(self.constraints(active), z[:d])
            zero = np.zeros((len(J), len(J)))
            H = self.hessian(z[:d], z[d:], active)
            system = np.block([[H, -J.T], [J, zero]])
            if not np.isfinite(system).all():
                return z
            trial = z - np.linalg.lstsq(system, left, rcond=1e-10)[0]
            left_there = equations(trial)
            if not np.linalg.norm(left_there) < np.linalg.norm(left):
                return z
            z = trial
            left = left_there
        return z

    def nearest_feasible(self, start: np.ndarray) -> np.ndarray:
        """A point of least squared violation near the start."""

        def residuals(x: np.ndarray) -> np.ndarray:
            below = np.minimum(self.g(x), 0.0)
            failures = np.concatenate([self.h(x), below])
            return np.nan_to_num(failures, nan=1e6)

        def slopes(x: np.ndarray) -> np.ndarray:
            """Forward differences, as SciPy takes them but without its checks of every call."""
            at_x = residuals(x)
            columns = []
            sizes = np.maximum(1.0, np.abs(x))
            steps = _FORWARD * np.where(x >= 0, 1.0, -1.0) * sizes
            for j in range(len(x)):
                moved = x.copy()
                moved[j] += steps[j]
                change = residuals(moved) - at_x
                # the step as it is after rounding
                columns.append(change / (moved[j] - x[j]))
            return np.stack(columns, axis=-1)

        if not self.equalities and not self.inequalities:
            return start
        with np.errstate(all="ignore"):
            return optimize.least_squares(
                residuals,
                start,
                slopes,
                xtol=1e-12,
                ftol=1e-12,
                gtol=1e-12,
            ).x


def variable_names(
    objective: Function, variables: Sequence[str] | None
) -> tuple[str, ...]:
    """The names given, or those of the function's parameters."""
    names: tuple[str, ...]
    if isinstance(variables, str):
        names = (variables,)
    elif variables is not None:
        names = tuple(map(str, variables))
    else:
        parameters = inspect.signature(objective).parameters.values()
        open_kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if any(parameter.kind in open_kinds for parameter in parameters):
            raise SettingError(
                "the objective takes any number of variables: name them, variables=('x', 'y')"
            )
        names = tuple(parameter.name for parameter in parameters)
    if not names or len(set(names)) < len(names):
        raise SettingError(
            f"variables must be different names, and at least one: they are {names}"
        )
    return names


def named_functions(of: Any, letter: str, n_variables: int) -> dict[str, Function]:
    """Functions by name: a mapping, a sequence (h1, h2, ...) or one function."""
    if callable(of):
        of = [of]
    if isinstance(of, Mapping):
        named = dict(of)
    else:
        named = {f"{letter}{i}": function for i, function in enumerate(of, 1)}
    for name, function in named.items():
        if not callable(function):
            raise SettingError(
                f"the constraint {name!r} is a {type(function).__name__}, not a function"
            )
        try:
            _number(function, np.full(n_variables, 0.5))
        except TypeError as error:
            raise SettingError(
                f"the constraint {name!r} does not take {n_variables} variables: {error}"
            ) from error
        except (ValueError, ArithmeticError):
            pass  # not defined there
    return named


def _multipliers(slope: np.ndarray, J: np.ndarray) -> np.ndarray:
    if len(J):
        return np.linalg.lstsq(J.T, slope, rcond=None)[0]
    return np.zeros(0)


def _number(of: Function, x: Iterable[float]) -> float:
    try:
        return float(of(*x))
    # outside of the domain of math.log and the like
    except (ValueError, ArithmeticError):
        return np.nan


def _nearby_values(x: np.ndarray) -> Iterator[tuple[list[np.float64], float]]:
    """For every variable its values at the places of the differences, and their step."""
    for value in x.tolist():
        step = _STEP * (1.0 + abs(value))
        yield [np.float64(value + offset * step) for offset in _OFFSETS], step

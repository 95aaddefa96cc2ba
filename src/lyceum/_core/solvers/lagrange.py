"""Stationary points under constraints, with their Lagrange multipliers, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.report import Shown, Summary, Table
from lyceum._core.solvers.kkt_system import ConstrainedProblem
from lyceum._core.text import plain, show

HOLDS = 1e-7  # a constraint that fails by less holds
UNDECIDED = "undecided: flat in some direction"


@dataclass(frozen=True)
class StationaryPoint(Shown):
    """Where the Lagrangian f - Σ λ h - Σ μ g is stationary and all constraints hold.

    Parameters
    ----------
    x : array of shape (d,)
        The variables.
    value : float
        f(x).
    kind : {"minimum", "maximum", "saddle point", "undecided: flat in some direction"}
        Among the points near it that satisfy the constraints; "minimum" where there is no other.
    multipliers : mapping of constraint names to float
        λ and μ; 0 where a constraint does not bind. If h(x) = 0 is moved to h(x) = c, for a small
        c, the value changes by λ c.
    binding : tuple of str
        The equalities, and the inequalities that hold as equalities with a multiplier other than 0.
    residuals : mapping of str to float
        How far the conditions of Karush, Kuhn and Tucker are from being met: "stationarity" max |∇f
        - Σ λ∇h - Σ μ∇g|, "feasibility" the largest violation, "complementarity" max |μ g|.

    See Also
    --------
    constrained_optima : Finds them.
    ConstrainedOptima : All that were found.

    References
    ----------
    H. W. Kuhn and A. W. Tucker, "Nonlinear programming", Second Berkeley Symposium on Mathematical
    Statistics and Probability, 1951.

    Examples
    --------
    >>> from lyceum.solvers import constrained_optima
    >>> sum_of_six = {"sum": lambda x, y: x + y - 6}
    >>> (best,) = constrained_optima(lambda x, y: x * y, sum_of_six, n_starts=3).points
    >>> best.kind, best.x.round(6).tolist(), round(best.multipliers["sum"], 6)
    ('maximum', [3.0, 3.0], 3.0)
    >>> max(best.residuals.values()) < 1e-8
    True
    """

    x: np.ndarray
    value: float
    kind: str
    multipliers: Mapping[str, float]
    binding: tuple[str, ...]
    residuals: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(vars(self))


@dataclass(frozen=True)
class ConstrainedOptima:
    """The stationary points that `constrained_optima` found; prints as sentences.

    Parameters
    ----------
    problem : ConstrainedProblem
        What was solved.
    points : tuple of StationaryPoint
        By value, the least first.
    feasible : bool
        Whether any point satisfies all constraints.
    nearest : array of shape (d,)
        If none does, the point that violates them least; else a point that satisfies them.
    violation : float
        The largest violation there.
    reached : pair of floats
        The least and the greatest value found where all constraints hold.

    Attributes
    ----------
    minima, maxima : tuple of StationaryPoint
        The local minima, the least first; the local maxima, the greatest first.

    See Also
    --------
    constrained_optima : Makes it.
    lyceum.plot.constrained_optima : The picture for two variables.

    References
    ----------
    H. W. Kuhn and A. W. Tucker, "Nonlinear programming", Second Berkeley Symposium on Mathematical
    Statistics and Probability, 1951.

    Examples
    --------
    >>> from lyceum.solvers import constrained_optima
    >>> below = {"x ≤ 1": lambda x: 1 - x}
    >>> found = constrained_optima(lambda x: (x - 3) ** 2, inequalities=below, n_starts=3)
    >>> print(found)
    Minimum: 4 at x = 1.
      x ≤ 1 binds, with the multiplier 4.
    >>> len(found.minima), len(found.maxima)
    (1, 0)
    >>> print(*found.workings())
    ∂L/∂x = ∂f/∂x - μ(x ≤ 1) · ∂g/∂x = -4 - 4 · (-1) = 0 at x = 1
    """

    problem: ConstrainedProblem
    points: tuple[StationaryPoint, ...]
    feasible: bool
    nearest: np.ndarray
    violation: float
    reached: tuple[float, float] = (np.inf, -np.inf)

    @property
    def minima(self) -> tuple[StationaryPoint, ...]:
        """The local minima, the least first."""
        return tuple(point for point in self.points if point.kind == "minimum")

    @property
    def maxima(self) -> tuple[StationaryPoint, ...]:
        """The local maxima, the greatest first."""
        falling = reversed(self.points)
        return tuple(point for point in falling if point.kind == "maximum")

    def sentences(self) -> list[str]:
        """What was found, in words."""
        if not self.feasible:
            return [
                (
                    f"No point satisfies all constraints: at {self._place(self.nearest)}, which"
                    f" violates them least, one fails by {show(self.violation)}."
                ),
                *self._failures(),
            ]
        if not self.points:
            return [
                f"The constraints can be satisfied, e.g. at {self._place(self.nearest)}, but no"
                " stationary point was met: the objective may have no bound, or an optimum where"
                " the gradients of constraints are dependent."
            ]
        return [sentence for point in self.points for sentence in self._about(point)]

    def _about(self, point: StationaryPoint) -> Iterator[str]:
        kind = point.kind
        if kind == UNDECIDED:
            kind = f"stationary point ({UNDECIDED})"
        if self._is_beaten(point):
            kind = f"local {kind}"
        yield f"{kind.capitalize()}: {_show(point.value)} at {self._place(point.x)}."
        for name in self.problem.equalities:
            yield (
                f"  {name} has the multiplier {_show(point.multipliers[name])}: raising its right"
                f" side by a little ε changes the value by {_show(point.multipliers[name])} ε."
            )
        for name, g in zip(self.problem.inequalities, self.problem.g(point.x)):
            if name in point.binding:
                yield f"  {name} binds, with the multiplier {_show(point.multipliers[name])}."
            elif g <= HOLDS:
                yield f"  {name} is met with equality but does not bind: its multiplier is 0."
            else:
                yield f"  {name} does not bind: {_show(g)} is left, its multiplier is 0."

    def workings(self) -> list[str]:
        """∂L/∂x = 0 at every point, written out: one line per variable, with the numbers."""
        return [line for point in self.points for line in self._slopes(point)]

    def _slopes(self, point: StationaryPoint) -> Iterator[str]:
        problem = self.problem
        functions = {**problem.equalities, **problem.inequalities}
        terms = {name: functions[name] for name in point.binding}
        slope = problem.gradient(problem.objective, point.x)
        J = problem.jacobian(list(terms.values()), point.x)
        # L = f - Σ λ h - Σ μ g over the constraints that bind
        marks = [
            f"{'λ' if name in problem.equalities else 'μ'}({name})" for name in terms
        ]
        letters = ["h" if name in problem.equalities else "g" for name in terms]
        values = [point.multipliers[name] for name in terms]
        for j, name in enumerate(problem.variables):
            formula = f"∂f/∂{name}" + "".join(
                f" - {mark} · ∂{letter}/∂{name}" for mark, letter in zip(marks, letters)
            )
            numbers = _show(slope[j]) + "".join(
                f" - {_operand(value)} · {_operand(gradient)}"
                for value, gradient in zip(values, J[:, j])
            )
            left = _show(slope[j] - values @ J[:, j])
            yield f"∂L/∂{name} = {formula} = {numbers} = {left} at {self._place(point.x)}"

    def _is_beaten(self, point: StationaryPoint) -> bool:
        """Whether an optimum is one only among the points near it."""
        # less than this is the difference of two searches for the same optimum
        room = 1e-5 * (1.0 + abs(point.value))
        least, greatest = self.reached
        if point.kind == "minimum":
            return point.value > least + room
        return point.kind == "maximum" and point.value < greatest - room

    def _failures(self) -> Iterator[str]:
        for name, h in zip(self.problem.equalities, self.problem.h(self.nearest)):
            if abs(h) > HOLDS:
                yield f"  {name} fails there by {_show(abs(h))}."
        for name, g in zip(self.problem.inequalities, self.problem.g(self.nearest)):
            if g < -HOLDS:
                yield f"  {name} fails there by {_show(-g)}."

    def _place(self, x: np.ndarray) -> str:
        pairs = zip(self.problem.variables, x)
        return ", ".join(f"{name} = {_show(value)}" for name, value in pairs)

    def summary(self) -> Summary:
        """Sentences, and a table of points, multipliers and residuals."""
        names = (*self.problem.equalities, *self.problem.inequalities)
        facts = {
            "feasible": "yes" if self.feasible else "no",
            "stationary points": len(self.points),
            "minima": len(self.minima),
            "maxima": len(self.maxima),
        }
        words = Table("", ("In words",), [(sentence,) for sentence in self.sentences()])
        head = (
            *self.problem.variables,
            "value",
            "kind",
            *(f"multiplier of {name}" for name in names),
            "residual",
        )
        rows = [
            (
                *map(_tidy, point.x),
                _tidy(point.value),
                point.kind,
                *(_tidy(point.multipliers[name]) for name in names),
                max(point.residuals.values()),
            )
            for point in self.points
        ]
        tables = [words]
        if rows:
            tables.append(Table("Stationary points", head, rows))
            lines = [(line,) for line in self.workings()]
            tables.append(
                Table("Where L = f - Σ λ h - Σ μ g is stationary", ("∂L = 0",), lines)
            )
        return Summary("Stationary points under constraints", facts, tables)

    def as_dict(self) -> dict[str, Any]:
        """Points, sentences and feasibility in JSON's own types."""
        return plain(
            {
                "variables": self.problem.variables,
                "feasible": self.feasible,
                "points": self.points,
                "sentences": self.sentences(),
                "workings": self.workings(),
            }
        )

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _tidy(value: float) -> float:
    """The number without the last digits, which are rounding."""
    return float(np.round(value, 9)) + 0.0


def _operand(value: float) -> str:
    """A factor of a product: in brackets if it is below 0."""
    shown = _show(value)
    return f"({shown})" if shown.startswith("-") else shown


def _show(value: float) -> str:
    return show(_tidy(value))

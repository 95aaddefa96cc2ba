"""Whether sets of variables are independent, with the numbers behind the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.report import Table


@dataclass(frozen=True, slots=True, eq=False)
class Independence:
    """Whether P(A, B | C) = P(A | C) P(B | C), with the numbers behind it; as a bool it is `holds`.

    Attributes
    ----------
    statement : str
        The statement that was tested, such as "A ⊥ B | C".
    holds : bool
        Whether the largest difference is within the tolerance.
    variables : tuple of str
        The names of A, B and C, in the order of `rows`.
    rows : list of tuple
        For every combination: the values, P(A, B | C), P(A | C) P(B | C) and their difference.
    difference : float
        The largest difference.

    See Also
    --------
    ProbabilityTable : Its `independent` makes it.
    lyceum.bayesnets.d_separated : Independence that follows from a graph.

    Examples
    --------
    >>> from lyceum.probability import ProbabilityTable
    >>> states = {"rain": ["no", "yes"], "grass": ["dry", "wet"]}
    >>> table = ProbabilityTable(states, [[0.72, 0.08], [0.02, 0.18]])
    >>> verdict = table.independent("rain", "grass")
    >>> print(verdict)
    rain ⊥ grass does not hold
    rain  grass  P(rain, grass)  P(rain) P(grass)  difference
    ────  ─────  ──────────────  ────────────────  ──────────
    no    dry              0.72             0.592       0.128
    no    wet              0.08             0.208      -0.128
    yes   dry              0.02             0.148      -0.128
    yes   wet              0.18             0.052       0.128
    >>> bool(verdict), round(verdict.difference, 3)
    (False, 0.128)
    """

    statement: str
    holds: bool
    variables: tuple[str, ...]
    rows: list[tuple]
    difference: float

    def __bool__(self) -> bool:
        return self.holds

    def as_dict(self) -> dict[str, Any]:
        """The verdict and its numbers by name."""
        return {
            "statement": self.statement,
            "holds": self.holds,
            "difference": self.difference,
            "rows": [list(row) for row in self.rows],
        }

    def table(self) -> Table:
        """One row per combination of values."""
        # "A ⊥ B | C" into A, B and " | C"
        sides, bar, condition = self.statement.partition(" | ")
        given = bar + condition
        left, right = (side.strip() for side in sides.split("⊥"))
        heads = (
            *self.variables,
            f"P({left}, {right}{given})",
            f"P({left}{given}) P({right}{given})",
        )
        verdict = "holds" if self.holds else "does not hold"
        return Table(f"{self.statement} {verdict}", (*heads, "difference"), self.rows)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def compare_products(
    statement: str,
    labels: dict[str, Any],
    joint: np.ndarray,
    product: np.ndarray,
    tol: float,
) -> Independence:
    """The verdict from both sides of the equation; combinations that cannot occur (NaN) are left
    out."""
    differences = joint - product
    rows = []
    for index in np.ndindex(*joint.shape):
        if not np.isnan(differences[index]):
            values = [str(own[i]) for own, i in zip(labels.values(), index)]
            numbers = [float(side[index]) for side in (joint, product, differences)]
            rows.append((*values, *numbers))
    largest = 0.0
    if rows:
        largest = float(np.nanmax(np.abs(differences)))
    return Independence(statement, largest <= tol, tuple(labels), rows, largest)

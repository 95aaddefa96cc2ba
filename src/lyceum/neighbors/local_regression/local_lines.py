"""The line of a local regression at a query: its coefficients, and the rows it goes through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lyceum._core.text import plain
from lyceum.neighbors.local_regression.fits import LocalModel
from lyceum.report import Explanation, Table

_MOST_ROWS = 10  # weights that are shown


@dataclass(frozen=True)
class LocalLineExplanation(Explanation):
    """What every column adds to a prediction, and the local line b0 + b1 x that predicts.

    Parameters
    ----------
    names, contributions, base, predicted, unit, values
        As in `lyceum.report.Explanation`.
    terms : list of str of length d
        The columns of the line; categories are one-of-C columns.
    intercepts : array of shape (n,)
        b0 of every query, at x = 0.
    slopes : array of shape (n, d)
        b1 of every query, in the units of the columns.
    rows : list of n arrays of int
        The stored rows that count, of every query.
    weights : list of n arrays
        Their weights.

    See Also
    --------
    LocallyWeightedRegression : Its `explain` makes it.

    Examples
    --------
    >>> from lyceum.neighbors import LocallyWeightedRegression
    >>> model = LocallyWeightedRegression(n_neighbors=3)
    >>> why = model.fit([[0.0], [1.0], [2.0], [9.0]], [1.0, 3.0, 5.0, 0.0]).explain([[0.9]])
    >>> why.intercepts.round(6).tolist(), why.slopes.round(6).tolist(), why.rows[0].tolist()
    ([1.0], [[2.0]], [1, 0, 2])
    """

    terms: Sequence[str] = ()
    intercepts: np.ndarray = None  # type: ignore[assignment]
    slopes: np.ndarray = None  # type: ignore[assignment]
    rows: list[np.ndarray] = None  # type: ignore[assignment]
    weights: list[np.ndarray] = None  # type: ignore[assignment]

    def line(self, i: int) -> Table:
        """b0, b1 of every column, and the weights of the ten rows that count most."""
        lines = [("b0", float(self.intercepts[i]))]
        for term, slope in zip(self.terms, self.slopes[i].tolist()):
            lines.append((f"b1 of {term}", slope))
        order = np.argsort(-self.weights[i], kind="stable")[:_MOST_ROWS]
        for j in order:
            lines.append(
                (f"weight of row {self.rows[i][j]}", float(self.weights[i][j]))
            )
        return Table(f"Local line of row {i}", ("of", "value"), lines)

    def detail(self, i: int) -> Table:
        """The local line of row i."""
        return self.line(i)

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        line = {
            "b0": self.intercepts[i],
            "b1": dict(zip(self.terms, self.slopes[i].tolist())),
            "rows": self.rows[i],
            "weights": self.weights[i],
        }
        return super()._row_as_dict(i) | plain({"line": line})


def local_lines(
    model: LocalModel, cells: np.ndarray, Q: np.ndarray, scale: np.ndarray
) -> dict[str, Any]:
    """Intercepts, slopes, rows and weights of the lines at queries, given by their cells and, as Q,
    in the units of distances."""
    fit = model.at(Q)
    slopes = fit.gradient / scale
    offsets, rows, kernel, counts = model.lists(Q)
    weights = kernel if counts is None else kernel * counts
    counted = [slice(a, b) for a, b in pairwise(offsets)]
    used = [weights[part] > 0 for part in counted]
    return {
        "intercepts": fit.value - (slopes * cells).sum(axis=1),
        "slopes": slopes,
        "rows": [rows[part][mask] for part, mask in zip(counted, used)],
        "weights": [weights[part][mask] for part, mask in zip(counted, used)],
    }


def lines_table(terms: list[str], cells: np.ndarray, lines: dict[str, Any]) -> Table:
    """Local lines at some values of the only column, or one at the means of all columns."""
    if len(terms) == 1:
        rows = [
            (float(x), float(b0), float(b1), float(b0 + b1 * x), len(counted))
            for x, b0, b1, counted in zip(
                cells[:, 0], lines["intercepts"], lines["slopes"][:, 0], lines["rows"]
            )
        ]
        head = (f"at {terms[0]}", "b0", "b1", "b0 + b1 x", "rows that count")
        return Table("Local lines", head, rows)
    values = [("b0", float(lines["intercepts"][0]))]
    values += [
        (f"b1 of {term}", b1) for term, b1 in zip(terms, lines["slopes"][0].tolist())
    ]
    return Table("Local line at the means", ("of", "value"), values)

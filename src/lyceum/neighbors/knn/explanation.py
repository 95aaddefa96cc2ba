"""Why rows were near: the neighbors that voted, and the columns that made them near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.distances import Gower, Mahalanobis, Metric, ValueDifference
from lyceum._core.text import plain
from lyceum.report import Explanation, Table


@dataclass(frozen=True)
class NeighborExplanation(Explanation):
    """What every column adds to a prediction, and the neighbors that voted.

    A column adds to the prediction in proportion to how much nearer the voters are in it than the
    stored rows on average.

    Parameters
    ----------
    names, contributions, base, predicted, unit, values
        As in `lyceum.report.Explanation`.
    rows : array of int of shape (n, k)
        The stored rows that voted, the nearest first; -1 where there are fewer than k.
    distances : array of shape (n, k)
        Their distances.
    votes : array of shape (n, k)
        Their shares of the vote, which sum to 1.
    targets : array of shape (n, k)
        What they voted for.
    differences : array of shape (n, k, n_columns)
        What every column contributes to the distance of every voter, as a share of its (squared)
        distance.

    Attributes
    ----------
    scores : array of shape (n,)
        The explained scores: base plus contributions.

    See Also
    --------
    KNeighborsClassifier, KNeighborsRegressor : Their `explain` makes it.
    lyceum.report.Explanation : The base class.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.neighbors import KNeighborsClassifier
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 5.0], [8.0, 5.0]])
    >>> model = KNeighborsClassifier(2).fit(X, ["a", "a", "b", "b"])
    >>> why = model.explain([[0.5, 0.0]])
    >>> why.predicted.tolist(), sorted(why.rows[0].tolist()), why.votes[0].tolist()
    (['a'], [0, 1], [0.5, 0.5])
    >>> why.distances[0].round(4).tolist(), why.neighbors(0).columns
    ([0.5, 0.5], ('row', 'target', 'distance', 'vote', 'nearest in'))
    """

    rows: np.ndarray = None  # type: ignore[assignment]
    distances: np.ndarray = None  # type: ignore[assignment]
    votes: np.ndarray = None  # type: ignore[assignment]
    targets: np.ndarray = None  # type: ignore[assignment]
    differences: np.ndarray = None  # type: ignore[assignment]

    def neighbors(self, i: int) -> Table:
        """The stored rows that voted on row i: number, target, distance, vote, and the nearest
        columns."""
        lines = []
        has_voted = (self.rows[i] >= 0) & (self.votes[i] > 0)
        for j in np.flatnonzero(has_voted):
            nearest = np.argsort(self.differences[i, j], kind="stable")[:3]
            line = (
                int(self.rows[i, j]),
                plain(self.targets[i, j]),
                float(self.distances[i, j]),
                float(self.votes[i, j]),
                ", ".join(str(self.names[column]) for column in nearest),
            )
            lines.append(line)
        names = ("row", "target", "distance", "vote", "nearest in")
        return Table(f"Neighbors of row {i}", names, lines)

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        return super()._row_as_dict(i) | {"neighbors": self.neighbors(i).as_dict()}

    def detail(self, i: int) -> Table:
        """The stored rows that voted on row i."""
        return self.neighbors(i)


def column_differences(
    metric: Metric, X: np.ndarray, Y: np.ndarray, source: np.ndarray, n_columns: int
) -> np.ndarray:
    """What every table column adds to the raw distance of pairs of rows, (n, n_columns).

    X and Y hold one row of each pair; `source` is the table column of every column of X.
    """
    parts = _parts(metric, X, Y)
    if isinstance(metric, ValueDifference):
        # a column of the table is several coordinates, as many as one cell gives
        widths = [column.points(np.zeros(1)).size for column in metric.columns]
        source = np.repeat(np.arange(n_columns), widths)
    # directions have a last column that marks rows of zeros
    parts = parts[:, : len(source)]
    out = np.zeros((len(X), n_columns))
    np.add.at(out.T, source, parts.T)
    return out


def _parts(metric: Metric, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """What every coordinate of the points of a metric adds, before the root of the sum if any."""
    if isinstance(metric, Mahalanobis):
        # δ_j (M δ)_j sums to the squared distance
        delta = np.asarray(X, np.float64) - Y
        return delta * (delta @ metric.matrix)
    A = metric.points(np.ascontiguousarray(X))
    B = metric.points(np.ascontiguousarray(Y))
    space = metric.space
    if isinstance(metric, Gower):
        assert space.matched is not None
        assert space.weight is not None
        # categories differ or not; numbers by their share of the range, at most 1
        is_category = space.matched.astype(bool)
        apart = np.where(is_category, A != B, np.minimum(np.abs(A - B), 1.0))
        unknown = np.isnan(A) | np.isnan(B)
        # nothing known is as if far
        parts = np.where(unknown, 1.0, apart) * space.weight
        return parts[:, metric.table_columns]
    difference = np.abs(np.asarray(A, np.float64) - B)
    if space.name in ("mismatches", "sets"):
        return (difference > 0).astype(np.float64)
    if space.name == "powers":
        return difference**space.power
    if space.name == "squares":
        return difference**2.0
    return difference


def column_shares(typical: np.ndarray, voters: np.ndarray) -> np.ndarray:
    """The share of a prediction due to every column, (n, d): where voters are nearer than rows on
    average."""
    nearer = np.maximum(typical - voters, 0.0)
    total = nearer.sum(axis=1, keepdims=True)
    even_share = 1.0 / max(1, nearer.shape[1])
    return np.where(total > 0, nearer / np.where(total > 0, total, 1.0), even_share)

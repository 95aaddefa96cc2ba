"""Fewer stored rows: those that a nearest-neighbor rule needs, without those that mislead it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.distances import (
    Metric,
    NeighborIndex,
    metric as metric_named,
    pairwise,
)
from lyceum._core.types import Data, Target
from lyceum.errors import DataError
from lyceum.neighbors.knn.votes import Tally
from lyceum.progress import report


def condense(X: Data, y: Target, *, metric: str | Metric = "euclidean") -> np.ndarray:
    """Rows that classify all rows right by their nearest one: Hart's condensed nearest neighbors.

    Starts from the first row of every class. Every row that the kept rows misclassify is kept too,
    in repeated passes until none is. The result depends on the order of the rows. Rows that are
    equal but of different classes cannot both be right; all but the first are left aside.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    y : array of shape (n,)
        The classes.
    metric : str or Metric, default="euclidean"
        A metric that is ready to compare rows, see `lyceum.distances.metric`.

    Returns
    -------
    array of int
        The numbers of the rows to keep, ascending.

    See Also
    --------
    edit : leaves out rows that their neighbors misclassify.
    KNeighborsClassifier : has both as settings of `stored`.

    References
    ----------
    Hart, P. E. (1968). The condensed nearest neighbor rule. IEEE Transactions on Information Theory
    14(3).

    Examples
    --------
    >>> from lyceum.neighbors import condense
    >>> condense([[0.0], [1.0], [2.0], [8.0], [9.0]], ["a", "a", "a", "b", "b"]).tolist()
    [0, 3]
    """
    X, y = _check_rows(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    return condensed_rows(X, codes, metric_named(metric))


def edit(
    X: Data, y: Target, *, n_neighbors: int = 3, metric: str | Metric = "euclidean"
) -> np.ndarray:
    """Rows that the vote of their neighbors classifies right: Wilson's editing.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    y : array of shape (n,)
        The classes.
    n_neighbors : int, default=3
        How many other rows vote on every row.
    metric : str or Metric, default="euclidean"
        A metric that is ready to compare rows, see `lyceum.distances.metric`.

    Returns
    -------
    array of int
        The numbers of the rows to keep, ascending.

    See Also
    --------
    condense : leaves out rows that are not needed.
    KNeighborsClassifier : has both as settings of `stored`.

    References
    ----------
    Wilson, D. L. (1972). Asymptotic properties of nearest neighbor rules using edited data. IEEE
    Transactions on Systems, Man, and Cybernetics 2(3).

    Examples
    --------
    >>> from lyceum.neighbors import edit
    >>> X, y = [[0.0], [1.0], [2.0], [0.5], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> edit(X, y, n_neighbors=1).tolist()
    [2, 4, 5]
    """
    X, y = _check_rows(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    return edited_rows(X, codes, metric_named(metric), n_neighbors)


def _check_rows(X: Any, y: Target) -> tuple[Any, np.ndarray]:
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    y = np.asarray(y)
    if X.ndim != 2 or y.shape != X.shape[:1] or not X.shape[0]:
        raise DataError(
            f"X must have shape (n, d) and y shape (n,), but they have {X.shape} and {y.shape}"
        )
    return X, y


def condensed_rows(
    X: Data, codes: np.ndarray, metric: Metric, start: np.ndarray | None = None
) -> np.ndarray:
    """The rows to keep, from those in `start` (by default the first of every class) on."""
    n = len(codes)
    if start is None:
        kept = np.unique(codes, return_index=True)[1]
    else:
        kept = np.asarray(start)
    # of every row the distance to the nearest row kept, and its class
    nearest = np.full(n, np.inf)
    label = np.full(n, -1)
    for row in np.sort(kept):
        _add(X, int(row), codes, metric, nearest, label)
    is_kept = np.zeros(n, dtype=bool)
    is_kept[kept] = True
    first = 0
    # Hart's passes: the next wrong row, round and round, until all rows are classified right; a row
    # at distance 0 of one of another class never is
    while True:
        wrong = (label != codes) & ~is_kept & (nearest > 0)
        ahead = np.flatnonzero(wrong[first:])
        if len(ahead):
            row = first + int(ahead[0])
        elif wrong[:first].any():
            row = int(np.flatnonzero(wrong[:first])[0])
        else:
            break
        is_kept[row] = True
        _add(X, row, codes, metric, nearest, label)
        report("condensing", int(is_kept.sum()), n)
        first = row
    return np.flatnonzero(is_kept)


def _add(
    X: Any,
    row: int,
    codes: np.ndarray,
    metric: Metric,
    nearest: np.ndarray,
    label: np.ndarray,
) -> None:
    """Keep one more row: rows nearer to it than to those before take its class."""
    # strictly nearer: of equally near rows the one kept first decides
    distance = pairwise(X[row : row + 1], X, metric=metric)[0]
    nearer = distance < nearest
    nearest[nearer] = distance[nearer]
    label[nearer] = codes[row]


def edited_rows(X: Data, codes: np.ndarray, metric: Metric, k: int) -> np.ndarray:
    """The rows that their k nearest others classify right; all rows if none is."""
    n = len(codes)
    if n < 2:
        return np.arange(n)
    near = NeighborIndex(X, metric=metric).nearest(None, min(k, n - 1))
    tally = Tally(codes, int(codes.max()) + 1)
    shares = tally.of(near.rows, np.ones(near.rows.shape))
    right = np.flatnonzero(shares.argmax(axis=1) == codes)
    if len(right):
        return right
    return np.arange(n)

"""What HDBSCAN makes of its input before it looks for clusters, as scikit-learn's does: rows with
missing or infinite cells, distances, searches that do not go with a metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.distances import check_finite
from lyceum.errors import DataError, MissingValuesError, SchemaError, SettingError

INFINITE = -2  # the label of a row with an infinite cell
MISSING = -3  # the label of a row with a missing cell
# the metrics of scikit-learn's trees
_OF_BOXES = {"euclidean", "l2", "minkowski", "p", "manhattan", "cityblock", "l1"}
_TREE_METRICS = {
    "kd_tree": {*_OF_BOXES, "chebyshev", "infinity"},
    "ball_tree": {
        *_OF_BOXES,
        "chebyshev",
        "infinity",
        *("braycurtis", "canberra", "dice", "hamming", "haversine", "jaccard"),
        *("mahalanobis", "rogerstanimoto", "russellrao", "seuclidean"),
        *("sokalmichener", "sokalsneath"),
    },
}
_TREE_NAMES = {"kd_tree": "KDTree", "ball_tree": "BallTree"}


def check_search(algorithm: str, metric: Any, X: Any) -> None:
    """Refuse a tree that scikit-learn has not for these rows or this metric."""
    if algorithm not in _TREE_METRICS:
        return
    if sparse.issparse(X) and metric != "precomputed":
        raise SettingError(
            "Sparse data matrices only support algorithm `brute`. Instead, got"
            f" {algorithm}: leave algorithm at 'auto'"
        )
    is_named = isinstance(metric, str)
    if metric == "auto" or (is_named and metric in _TREE_METRICS[algorithm]):
        return
    raise SettingError(
        f"{metric} is not a valid metric for a {_TREE_NAMES[algorithm]}-based algorithm."
        " Please select a different metric."
    )


def unusable_rows(X: Any) -> np.ndarray | None:
    """-3 for rows of numbers with a missing cell, -2 for those with an infinite one, else 0; None
    where there is no such row, or X is no matrix of numbers."""
    if sparse.issparse(X):
        rows = sparse.coo_array(X)
        if np.isfinite(rows.data).all():
            return None
        codes = np.zeros(rows.shape[0], dtype=np.int64)
        codes[rows.row[np.isinf(rows.data)]] = INFINITE
        codes[rows.row[np.isnan(rows.data)]] = MISSING
        return codes
    try:
        given = np.asarray(X)
        if given.dtype.kind == "c":
            return None  # refused by the schema
        cells = given.astype(np.float64, copy=False)
    except (TypeError, ValueError, SchemaError):
        return None  # other columns, a file: read by the schema
    if cells.ndim != 2 or np.isfinite(cells).all():
        return None
    missing = np.isnan(cells).any(axis=1)
    infinite = np.isinf(cells).any(axis=1)
    return np.where(missing, MISSING, np.where(infinite, INFINITE, 0))


def given_distances(X: Any) -> Any:
    """Distances of all pairs; those that are infinite are left out, as in a sparse graph."""
    if sparse.issparse(X):
        check_finite(X.data[None, :].astype(np.float64), "HDBSCAN", False, "a graph")
        return X
    D = np.asarray(X)
    if D.dtype.kind == "c":
        return X  # refused by the schema
    D = D.astype(np.float64, copy=False)
    if D.ndim != 2:
        return X
    if np.isnan(D).any():
        raise MissingValuesError(
            "np.nan values found in precomputed-dense: a distance must be a number, or"
            " infinite where rows are no neighbors"
        )
    if D.shape[0] != D.shape[1]:
        raise DataError(
            "The precomputed distance matrix is expected to be symmetric, however it has"
            f" shape {D.shape}: give the distances of all pairs of rows"
        )
    if not np.allclose(D, D.T):
        raise DataError(
            "The precomputed distance matrix is expected to be symmetric, however its"
            " values appear to be asymmetric: give the distances of all pairs of rows"
        )
    finite = np.isfinite(D)
    if finite.all():
        return X
    rows, columns = np.nonzero(finite)
    return sparse.coo_array((D[finite], (rows, columns)), shape=D.shape).tocsr()

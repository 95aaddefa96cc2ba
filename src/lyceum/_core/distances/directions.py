"""Distances between directions: cosine and correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import as_float
from lyceum._core.distances.metrics import Metric, Space, register_metric
from lyceum._core.types import Data


@register_metric("cosine")
@dataclass(frozen=True)
class Cosine(Metric):
    """The cosine distance, 1 - cos(x, y), from 0 to 2.

    It is taken as |u - v|² / 2 of the rows scaled to length 1, which keeps its digits where rows
    are nearly parallel. A row of zeros has no direction: it is at distance 1 from all others, and 0
    from its like.

    See Also
    --------
    Correlation : of rows about their means.

    Examples
    --------
    >>> from lyceum.distances import Cosine
    >>> Cosine()([1, 0], [0, 2]), Cosine()([1, 1], [2, 2])
    (1.0, 0.0)
    """

    takes_sparse = True

    @property
    def is_metric(self) -> bool:
        """False: the triangle inequality does not hold."""
        return False

    @property
    def space(self) -> Space:
        return Space("squares")

    def points(self, X: Any) -> Any:
        # |u - v|² = 2 (1 - cos) of unit rows u and v. One more column is the direction of the rows
        # of zeros.
        units, zero = unit_rows(X.astype(np.float64, copy=False))
        extra = zero.astype(units.dtype)[:, None]
        if not sparse.issparse(units):
            return np.ascontiguousarray(np.hstack([units, extra]))
        columns = [units, sparse.csr_array(extra)]
        joined = sparse.csr_array(sparse.hstack(columns, format="csr"))
        joined.sort_indices()
        joined.indices = joined.indices.astype(np.int32)
        joined.indptr = joined.indptr.astype(np.int32)
        return joined

    def distances(self, raw: np.ndarray, n_columns: int) -> np.ndarray:
        return np.multiply(raw, 0.5, out=raw)

    def raw(self, distance: float, n_columns: int) -> float:
        return 2.0 * distance


@register_metric("correlation")
@dataclass(frozen=True)
class Correlation(Cosine):
    """The correlation distance, 1 - r(x, y): the cosine distance of rows about their own means,
    from 0 to 2.

    A constant row is at distance 1 from all others, and 0 from its like.

    See Also
    --------
    Cosine : about the origin.

    Examples
    --------
    >>> from lyceum.distances import Correlation
    >>> distance = Correlation()
    >>> round(distance([1, 2, 3], [10, 20, 30]), 12), round(distance([1, 2, 3], [3, 2, 1]), 12)
    (0.0, 2.0)
    """

    takes_sparse = False

    def points(self, X: Data) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        Z = X - X.mean(axis=1, keepdims=True)
        # What is left of a constant row is rounding.
        spread = np.abs(Z).max(axis=1, initial=0.0)
        size = np.abs(X).max(axis=1, initial=0.0)
        Z[spread <= 4 * np.finfo(np.float64).eps * size] = 0.0
        return super().points(Z)


@register_metric("squared_correlation")
@dataclass(frozen=True)
class SquaredCorrelation(Correlation):
    """The distance 1 - r(x, y)², from 0 to 1: near are rows that rise and fall together, or one
    against the other.

    It is |z zᵀ - u uᵀ|² / 2 of rows z and u about their means, scaled to length 1, over the cells
    of these products: d (d + 1) / 2 numbers per row are compared. A constant row is at distance 1
    from all others, and 0 from its like.

    See Also
    --------
    Correlation : 1 - r, where rows that go against each other are far apart.

    Examples
    --------
    >>> from lyceum.distances import SquaredCorrelation
    >>> distance = SquaredCorrelation()
    >>> round(distance([1, 2, 3], [3, 2, 1]), 12), round(distance([1, 2, 3], [1, 0, 1]), 12)
    (0.0, 1.0)
    """

    def points(self, X: Data) -> np.ndarray:
        Z = super().points(X)
        # a cell off the diagonal stands for two
        rows, columns = np.triu_indices(Z.shape[1])
        products = Z[:, rows] * Z[:, columns]
        products[:, rows < columns] *= np.sqrt(2.0)
        return np.ascontiguousarray(products)


def unit_rows(X: Data) -> tuple[Any, np.ndarray]:
    """Rows scaled to length 1, and which of them are zero (those stay).

    Parameters
    ----------
    X : array or CSR array of shape (n, d)

    Returns
    -------
    rows : array or CSR array of shape (n, d)
    zero : array of bool of shape (n,)

    See Also
    --------
    Cosine : the distance of such rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.distances import unit_rows
    >>> rows, zero = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    >>> rows.tolist(), zero.tolist()
    ([[0.6, 0.8], [0.0, 0.0]], [False, True])
    """
    X = as_float(X)
    # By the largest cell first: squares of very small or very large cells are not numbers.
    if sparse.issparse(X):
        return _sparse_unit_rows(sparse.csr_array(X, copy=True))
    largest = np.abs(X).max(axis=1, initial=0.0)[:, None]
    scaled = np.divide(X, largest, out=np.zeros_like(X), where=largest > 0)
    squares = np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64)
    lengths = np.sqrt(squares)[:, None]
    np.divide(scaled, lengths, out=scaled, where=lengths > 0, casting="same_kind")
    return scaled, largest[:, 0] == 0


def _sparse_unit_rows(X: Any) -> tuple[Any, np.ndarray]:
    """Scaled in place."""
    X.sum_duplicates()
    n = X.shape[0]
    row = np.repeat(np.arange(n), np.diff(X.indptr))  # of every stored cell
    largest = np.zeros(n)
    np.maximum.at(largest, row, np.abs(X.data))
    zero = largest == 0
    cells = X.data / np.where(zero, 1.0, largest)[row]
    lengths = np.sqrt(np.bincount(row, cells * cells, n))
    X.data = (cells / np.where(zero, 1.0, lengths)[row]).astype(X.dtype)
    return X, zero

"""Means and scatter of rows: by column, or the full matrix, alone or jointly with a target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from lyceum._core.data import Block, row_weights
from lyceum._core.native import native
from lyceum._core.statistics.memory import check_square_matrices
from lyceum._core.statistics.sparse import SparseCells, canonical


@dataclass(frozen=True, slots=True)
class Moments:
    """Weight, mean, scatter and range of every column; missing cells are left out one by one.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    weight : array of shape (d,)
        The weight of the cells that are not missing.
    mean : array of shape (d,)
        Their mean.
    scatter : array of shape (d,)
        The sum of w (x - mean)².
    low : array of shape (d,)
        The smallest cell; inf when there is none.
    high : array of shape (d,)
        The largest cell; -inf when there is none.
    is_finite : bool
        Whether no sum has overflowed.

    See Also
    --------
    Scatter : With all products of columns.
    ClassMoments : The same for every class.
    Quantiles : Medians and other quantiles.
    describe : Moments, medians and correlations of a table.

    References
    ----------
    T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance:
    analysis and recommendations", The American Statistician 37, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import Moments
    >>> moments = scan(np.array([[1.0], [3.0], [np.nan], [8.0]])).reduce(Moments.of)
    >>> moments.mean.tolist(), moments.scatter.tolist(), moments.weight.tolist()
    ([4.0], [26.0], [3.0])
    >>> moments.variance(ddof=1).tolist()
    [13.0]
    """

    n_rows: int
    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, block: Block) -> Moments:
        if sparse.issparse(block.X):
            return cls._of_sparse(block)
        d = block.X.shape[1]
        weight = np.zeros((1, d))
        mean = np.zeros((1, d))
        scatter = np.zeros((1, d))
        if block.X.dtype.kind == "f":
            X = block.X
        else:
            X = block.X.astype(np.float64)
        native.class_moments(X, None, block.w, weight, mean, scatter)
        # fmin and fmax pass over NaN
        low = np.fmin.reduce(X, axis=0, initial=np.inf).astype(np.float64)
        high = np.fmax.reduce(X, axis=0, initial=-np.inf).astype(np.float64)
        return cls(
            n_rows=len(block),
            weight=weight[0],
            mean=mean[0],
            scatter=scatter[0],
            low=low,
            high=high,
        )

    @classmethod
    def _of_sparse(cls, block: Block) -> Moments:
        X = canonical(block.X)
        n, d = block.X.shape
        indptr = X.indptr.astype(np.int32, copy=False)
        indices = X.indices.astype(np.int32, copy=False)
        data = X.data
        if X.dtype not in (np.float32, np.float64):
            data = data.astype(np.float64)
        # weight, mean, scatter, low and high
        results = np.empty((5, d))
        native.sparse_moments(indptr, indices, data, block.w, *results)
        return cls(n, *results)

    def merge(self, other: Moments) -> Moments:
        # Chan, Golub and LeVeque (1983): the scatter between the two means is added
        weight = self.weight + other.weight
        zeros = np.zeros_like(weight)
        share = np.divide(other.weight, weight, out=zeros, where=weight > 0)
        delta = other.mean - self.mean
        return Moments(
            n_rows=self.n_rows + other.n_rows,
            weight=weight,
            mean=self.mean + share * delta,
            scatter=self.scatter + other.scatter + self.weight * share * delta**2,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
        )

    @property
    def is_finite(self) -> bool:
        """Whether no sum has overflowed."""
        return bool(np.isfinite(self.scatter).all() and np.isfinite(self.mean).all())

    def variance(self, ddof: float = 0.0) -> np.ndarray:
        """The variance of every column, NaN where nothing is left to divide by."""
        left = self.weight - ddof
        missing = np.full_like(left, np.nan)
        return np.divide(self.scatter, left, out=missing, where=left > 0)


@dataclass(frozen=True, slots=True)
class Scatter:
    """Weight, mean and full centered scatter matrix of rows, jointly with the target when there is
    one.

    The Gram statistic of least squares: with Z = [X y] centered, `scatter` is ZᵀWZ, so XᵀX, Xᵀy and
    yᵀy are its blocks.

    Attributes
    ----------
    n_rows : int
        The number of rows with a positive weight.
    weight : float
        The total weight of the rows.
    mean : array of shape (d,) or (d+1,)
        With the target last.
    scatter : array of shape (d, d) or (d+1, d+1)
        The sum of w (z - mean)(z - mean)ᵀ.
    targets : int
        The number of targets, 0 or 1.
    xx, xx_diagonal, xy, yy : arrays of shape (d, d), (d,) and (d,), and float
        The centered XᵀX, its diagonal, Xᵀy and yᵀy.
    x_mean, y_mean : array of shape (d,), and float
        The means of the columns and of the target.
    is_finite : bool
        False when some cell was missing or infinite, or too large to be squared.

    See Also
    --------
    Moments : Without products of columns, and with missing cells.
    ClassScatter : The same for every class.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from functools import partial
    >>> from lyceum.data import scan
    >>> from lyceum.statistics import Scatter
    >>> rows = scan(pa.table({"x": [0.0, 1.0, 2.5], "y": [1.5, 3.25, 5.5]}), target="y")
    >>> moments = rows.reduce(partial(Scatter.of, target=True))
    >>> round(float(moments.xy[0] / moments.xx[0, 0]), 3)  # the slope, cov / var
    1.592
    """

    n_rows: int
    weight: float
    mean: np.ndarray
    scatter: np.ndarray
    targets: int

    @classmethod
    def of(cls, block: Block, target: bool = False) -> Scatter:
        y = None
        if target and block.y is not None:
            y = block.y.astype(np.float64, copy=False)
        if block.w is None:
            n_rows = len(block)
        else:
            n_rows = int(np.count_nonzero(block.w))
        X = block.X
        d = X.shape[1]
        check_square_matrices(d)
        # with more than half of the cells stored, products of dense rows are faster
        if sparse.issparse(X) and X.nnz > 0.5 * X.shape[0] * d:
            X = X.toarray()
        n_targets = 0 if y is None else 1
        if sparse.issparse(X):
            return cls(n_rows, *_sparse_scatter(X, y, block.w), n_targets)
        size = d + n_targets
        mean = np.zeros(size)
        scatter = np.zeros((size, size))
        Y = None if y is None else y[:, None]
        weight = native.scatter(X, Y, block.w, mean, scatter)
        return cls(n_rows, weight, mean, scatter, n_targets)

    def merge(self, other: Scatter) -> Scatter:
        # a fold has no row in most blocks
        if not other.n_rows:
            return self
        if not self.n_rows:
            return other
        weight = self.weight + other.weight
        delta = other.mean - self.mean
        share = other.weight / weight
        between = self.weight * share * np.outer(delta, delta)
        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            weight=weight,
            mean=self.mean + share * delta,
            scatter=self.scatter + other.scatter + between,
        )

    def map_columns(self, matrix: np.ndarray, offset: np.ndarray) -> Scatter:
        """The same rows with other columns, x ↦ matrix x + offset; the target stays."""
        if self.targets:
            matrix = block_diag(matrix, 1.0)
            offset = np.append(offset, 0.0)
        return replace(
            self,
            mean=matrix @ self.mean + offset,
            scatter=matrix @ self.scatter @ matrix.T,
        )

    def scale_columns(self, factors: np.ndarray) -> Scatter:
        """The same rows with every column multiplied by a number; the target stays."""
        factors = np.append(factors, np.ones(self.targets))
        return replace(
            self,
            mean=self.mean * factors,
            scatter=self.scatter * factors * factors[:, None],
        )

    def about_origin(self) -> Scatter:
        """The same with the mean taken as zero: raw products, for models without an intercept."""
        # Σ w x xᵀ = S + N m mᵀ
        raw = self.scatter + self.weight * np.outer(self.mean, self.mean)
        return replace(self, mean=np.zeros_like(self.mean), scatter=raw)

    @property
    def is_finite(self) -> bool:
        """False when some cell was missing or infinite, or too large to be squared."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.scatter).all())

    @property
    def xx(self) -> np.ndarray:
        """Centered XᵀX."""
        d = len(self.mean) - self.targets
        return self.scatter[:d, :d]

    @property
    def xx_diagonal(self) -> np.ndarray:
        """The diagonal of the centered XᵀX."""
        return np.diagonal(self.xx)

    @property
    def xy(self) -> np.ndarray:
        """Centered Xᵀy."""
        return self.scatter[:-1, -1]

    @property
    def yy(self) -> float:
        """Centered yᵀy."""
        return float(self.scatter[-1, -1])

    @property
    def x_mean(self) -> np.ndarray:
        return self.mean[: len(self.mean) - self.targets]

    @property
    def y_mean(self) -> float:
        return float(self.mean[-1])


def _sparse_scatter(
    X: Any,
    y: np.ndarray | None,
    w: np.ndarray | None,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Weight, mean and scatter of a CSR array with a dense target.

    Columns with a cell in every row are shifted near their means first, and so is y; the others
    hold mostly zeros, so that their raw products are already taken about a point close to the mean.
    """
    cells = SparseCells.of(X)
    shift = cells.provisional_mean()
    data = cells.shift_data(shift)
    Z = sparse.csr_array((data, cells.indices, cells.indptr), shape=X.shape)
    v = row_weights(w, X.shape[0])
    weight = float(v.sum())
    d = X.shape[1]
    size = d + (y is not None)
    mean = np.zeros(size)
    scatter = np.zeros((size, size))
    if weight == 0.0:
        return weight, mean, scatter
    # of z = x - shift with mean δ: Σ v (z - δ)(z - δ)ᵀ = Σ v z zᵀ - (Σ v) δ δᵀ
    gram = np.zeros((d, d))
    native.sparse_gram(cells.indptr, cells.indices, data, w, gram)
    delta = (Z.T @ v) / weight
    mean[:d] = shift + delta
    scatter[:d, :d] = gram - weight * np.outer(delta, delta)
    if y is not None:
        mean[d], cross, scatter[d, d] = _target_moments(y, Z, delta, v, weight)
        scatter[:d, d] = cross
        scatter[d, :d] = cross
    # the difference of two sums may miss 0 by rounding, which no variance may
    np.fill_diagonal(scatter, np.maximum(scatter.diagonal(), 0.0))
    return weight, mean, scatter


def _target_moments(
    y: np.ndarray,
    Z: sparse.csr_array,
    delta: np.ndarray,
    v: np.ndarray,
    weight: float,
) -> tuple[np.float64, np.ndarray, float]:
    """ȳ, Σ v (z - δ)(y - ȳ) per column, where δ is the mean of Z, and Σ v (y - ȳ)²."""
    mean = np.float64(y[0] + v @ (y - y[0]) / weight)
    residual = v * (y - mean)
    cross = Z.T @ residual - delta * residual.sum()
    return mean, cross, float(residual @ (y - mean))

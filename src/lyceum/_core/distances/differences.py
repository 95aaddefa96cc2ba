"""Distances from the differences of the cells: Euclidean, Manhattan, Minkowski, Chebyshev,
Mahalanobis."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from lyceum._core.distances.metrics import Metric, Space, as_rows, register_metric
from lyceum._core.statistics import PositiveFactor, Scatter
from lyceum._core.text import show_count
from lyceum.errors import DataError, SettingError


@register_metric("euclidean")
@dataclass(frozen=True)
class Euclidean(Metric):
    """The Euclidean distance, sqrt(Σ_j (x_j - y_j)²).

    Differences are squared and summed in double precision, never taken from products, so that rows
    far from the origin keep their digits.

    See Also
    --------
    SquaredEuclidean : the same without the root.
    Mahalanobis : in units of the spread of the rows.

    Examples
    --------
    >>> from lyceum.distances import Euclidean
    >>> Euclidean()([0, 0], [3, 4])
    5.0
    """

    takes_sparse = True

    @property
    def space(self) -> Space:
        return Space("squares")

    def distances(self, raw: np.ndarray, n_columns: int) -> np.ndarray:
        return np.sqrt(raw, out=raw)

    def raw(self, distance: float, n_columns: int) -> float:
        return distance**2


@register_metric("squared_euclidean")
@dataclass(frozen=True)
class SquaredEuclidean(Metric):
    """The square of the Euclidean distance, Σ_j (x_j - y_j)². It does not obey the triangle
    inequality.

    See Also
    --------
    Euclidean : its root.

    Examples
    --------
    >>> from lyceum.distances import SquaredEuclidean
    >>> SquaredEuclidean()([0, 0], [3, 4])
    25.0
    """

    takes_sparse = True

    @property
    def is_metric(self) -> bool:
        """False: the triangle inequality does not hold."""
        return False

    @property
    def space(self) -> Space:
        return Space("squares")


@register_metric("manhattan")
@dataclass(frozen=True)
class Manhattan(Metric):
    """The Manhattan or city-block distance, Σ_j |x_j - y_j|.

    See Also
    --------
    Minkowski : the distances of all powers.

    Examples
    --------
    >>> from lyceum.distances import Manhattan
    >>> Manhattan()([0, 0], [3, 4])
    7.0
    """

    takes_sparse = True

    @property
    def space(self) -> Space:
        return Space("absolute")


@register_metric("chebyshev")
@dataclass(frozen=True)
class Chebyshev(Metric):
    """The Chebyshev or maximum distance, max_j |x_j - y_j|.

    See Also
    --------
    Minkowski : the distances of all powers.

    Examples
    --------
    >>> from lyceum.distances import Chebyshev
    >>> Chebyshev()([0, 0], [3, 4])
    4.0
    """

    takes_sparse = True

    @property
    def space(self) -> Space:
        return Space("largest")


@register_metric("minkowski")
@dataclass(frozen=True)
class Minkowski(Metric):
    """The Minkowski distance, (Σ_j |x_j - y_j|^p)^(1/p).

    p = 1 is Manhattan, 2 Euclidean and infinity Chebyshev.

    Parameters
    ----------
    p : float, default=2.0
        The power, above 0. Below 1 the triangle inequality does not hold.

    See Also
    --------
    Manhattan, Euclidean, Chebyshev : powers 1, 2 and infinity.

    Examples
    --------
    >>> from lyceum.distances import Minkowski
    >>> round(Minkowski(3)([0, 0], [3, 4]), 4)
    4.4979
    """

    p: float = 2.0
    takes_sparse = True

    def __post_init__(self) -> None:
        if not (isinstance(self.p, Real) and self.p > 0):
            raise SettingError(
                f"the power p of Minkowski must be above 0, but it is {self.p!r}"
            )
        object.__setattr__(self, "p", float(self.p))

    @property
    def is_metric(self) -> bool:
        """Whether p is at least 1."""
        return self.p >= 1

    @property
    def space(self) -> Space:
        named = {1.0: "absolute", 2.0: "squares", np.inf: "largest"}
        return Space(named.get(self.p, "powers"), self.p)

    def distances(self, raw: np.ndarray, n_columns: int) -> np.ndarray:
        if self.p == 2.0:
            return np.sqrt(raw, out=raw)
        if self.p in (1.0, np.inf):
            return raw
        return np.power(raw, 1.0 / self.p, out=raw)

    def raw(self, distance: float, n_columns: int) -> float:
        if self.p in (1.0, np.inf):
            return distance
        return distance**self.p


@register_metric("mahalanobis")
@dataclass(frozen=True, eq=False)
class Mahalanobis(Metric):
    """The Mahalanobis distance, sqrt((x - y)ᵀ M (x - y)), M = S⁻¹ for a covariance matrix S.

    Rows are whitened by the Cholesky factor of S, or by the root of M, about the mean if there is
    one, and then compared as by `Euclidean`. A singular M leaves directions out: rows that differ
    in these alone have the distance 0.

    Parameters
    ----------
    covariance : array of shape (d, d), optional
        S, symmetric and positive definite. `learn(rows)` learns it.
    mean : array of shape (d,), optional
        Subtracted first, which changes no distance but keeps digits; learned with the covariance.
    precision : array of shape (d, d), optional
        M itself instead of a covariance: symmetric, without eigenvalues below 0; it may be
        singular.

    Attributes
    ----------
    is_known : bool
        Whether a covariance or an M was given or learned.
    matrix : array of shape (d, d)
        M.

    See Also
    --------
    Euclidean : with S the identity.

    References
    ----------
    Mahalanobis, P. C. (1936). On the generalized distance in statistics. Proceedings of the
    National Institute of Sciences of India 2(1).

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.distances import Mahalanobis
    >>> Mahalanobis(np.diag([4.0, 1.0]))([0, 0], [4, 0])
    2.0
    >>> rows = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    >>> Mahalanobis().learn(rows).covariance.round(3).tolist()
    [[1.333, 0.0], [0.0, 0.333]]
    >>> Mahalanobis(precision=[[1.0, 1.0], [1.0, 1.0]])([0, 0], [3, -3])  # of the sums alone
    0.0
    """

    covariance: np.ndarray | None = field(default=None)
    mean: np.ndarray | None = field(default=None, repr=False)
    precision: np.ndarray | None = field(default=None)

    @property
    def is_known(self) -> bool:
        """Whether a covariance or an M was given or learned."""
        return self.covariance is not None or self.precision is not None

    @property
    def matrix(self) -> np.ndarray:
        """M."""
        return self._whitener.T @ self._whitener

    def learn(self, rows: Any) -> Mahalanobis:
        """With the mean and the covariance (divided by n - 1) of the rows, in one pass; itself if M
        was given.

        Parameters
        ----------
        rows : Rows, or anything that `lyceum.scan` takes
            Their columns must be numbers.
        """
        if self.precision is not None:
            return self
        rows = as_rows(rows)
        text = [column.name for column in rows.schema if not column.numeric]
        if text:
            raise SettingError(
                f"Mahalanobis needs columns of numbers, but {text[0]!r} holds categories"
            )
        scatter = rows.reduce(Scatter.of)
        if scatter.weight <= 1:
            raise DataError(
                f"a covariance needs more than one row, but their weight is {scatter.weight:g}"
            )
        unfit = np.flatnonzero(~np.isfinite(np.diag(scatter.xx)))
        if len(unfit):
            raise DataError(
                f"column {rows.schema.names[unfit[0]]!r} has missing or infinite cells, of which"
                " Mahalanobis cannot learn a covariance: fill them first, e.g. by"
                " lyceum.prepare.SimpleImputer()"
            )
        return replace(
            self, covariance=scatter.xx / (scatter.weight - 1), mean=scatter.x_mean
        )

    @property
    def space(self) -> Space:
        return Space("squares")

    def points(self, X: Any) -> np.ndarray:
        d = len(self._whitener)
        if X.shape[1] != d:
            raise SettingError(
                f"the matrix of Mahalanobis has {show_count(d, 'column')}, but the rows have"
                f" {X.shape[1]}"
            )
        mean = np.zeros(d)
        if self.mean is not None:
            mean = np.asarray(self.mean, dtype=np.float64)
        if mean.shape != (d,):
            raise SettingError(
                f"the matrix of Mahalanobis has {show_count(d, 'column')}, but the mean has the"
                f" shape {mean.shape}"
            )
        # |L⁻¹ (x - y)|² = (x - y)ᵀ S⁻¹ (x - y); by einsum, as the bits of BLAS depend on the number
        # of rows
        Z = np.asarray(X - mean, np.float64)
        return np.ascontiguousarray(np.einsum("ij,kj->ik", Z, self._whitener))

    def distances(self, raw: np.ndarray, n_columns: int) -> np.ndarray:
        return np.sqrt(raw, out=raw)

    def raw(self, distance: float, n_columns: int) -> float:
        return distance**2

    @cached_property
    def _whitener(self) -> np.ndarray:
        """A matrix A with AᵀA = M: L⁻¹, where S = L Lᵀ, or the root of M."""
        if self.precision is not None:
            return self._root_of_precision(self.precision)
        if self.covariance is None:
            raise SettingError(
                "Mahalanobis has no covariance yet: give one, or call learn(rows)"
            )
        S = _symmetric("covariance", self.covariance)
        factor = PositiveFactor.of(S)
        if factor.lower is None or not np.isfinite(S).all():
            raise DataError(
                "the covariance is not positive definite: drop columns that are constant or sums of"
                " others"
            )
        return solve_triangular(factor.lower, np.diag(factor.scale), lower=True)

    def _root_of_precision(self, precision: np.ndarray) -> np.ndarray:
        if self.covariance is not None:
            raise SettingError(
                "Mahalanobis takes a covariance or a precision, its inverse, not both"
            )
        M = _symmetric("precision", precision)
        if not np.isfinite(M).all():
            raise DataError(
                "the precision of Mahalanobis has a cell that is not finite"
            )
        # M = Q Λ Qᵀ = (√Λ Qᵀ)ᵀ (√Λ Qᵀ); eigenvalues of rounding are 0
        values, Q = np.linalg.eigh((M + M.T) / 2.0)
        rounding = 1e-12 * np.abs(values).max(initial=0.0)
        if values.min(initial=0.0) < -rounding:
            raise DataError(
                f"the precision of Mahalanobis has the eigenvalue {values.min():.3g} below 0, which"
                " gives no distance"
            )
        values = np.where(values > rounding, values, 0.0)
        return np.sqrt(values)[:, None] * Q.T


def _symmetric(name: str, matrix: Any) -> np.ndarray:
    """The matrix in double, if it is symmetric."""
    S = np.asarray(matrix, dtype=np.float64)
    is_symmetric = S.ndim == 2 and S.shape[0] == S.shape[1]
    if is_symmetric:
        # up to rounding, in the units of the columns
        unit = np.sqrt(np.abs(np.diag(S)))
        rounding = 1e-5 * np.outer(unit, unit)
        is_symmetric = bool((np.abs(S - S.T) <= rounding).all())
    if not is_symmetric:
        raise SettingError(
            f"the {name} of Mahalanobis must be a symmetric matrix of numbers"
        )
    return S

"""Kernels of distances, of values that are given, and of functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lyceum._core import data as core_data
from lyceum._core.data import ArraySource, Block, Rows, dense_cells
from lyceum._core.distances import Metric, metric, pairwise
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.kernels.cells import block_of, cells_of, is_frame, numbers_of
from lyceum.kernels.functions.base import Kernel, register_kernel

# distances d of which exp(-γ d) is positive definite for every γ (Schoenberg, 1938)
_CONDITIONALLY_NEGATIVE = (
    "euclidean",
    "squared_euclidean",
    "manhattan",
    "mahalanobis",
    "hamming",
)


@register_kernel("distance")
@dataclass(frozen=True)
class DistanceKernel(Kernel):
    """The kernel k(x, y) = exp(-γ d(x, y)) of a distance d.

    It is a Mercer kernel for every γ only if d is conditionally negative definite, as are the
    Euclidean distance and its square, Manhattan, Mahalanobis and Hamming; for others, such as
    Chebyshev, or Gower with missing cells, some rows have a Gram matrix with a negative eigenvalue:
    see `is_mercer`.

    Parameters
    ----------
    metric : str or Metric, default="euclidean"
        The distance; "gower" compares mixed columns with missing cells. `fitted` learns what it
        needs.
    gamma : float, default=1.0
        The factor γ.

    See Also
    --------
    lyceum.distances.metric : the names of distances.
    is_mercer : whether a Gram matrix can be that of a product.

    References
    ----------
    Schoenberg, I. J. (1938). Metric spaces and positive definite functions. Transactions of the
    American Mathematical Society 44(3).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.kernels import DistanceKernel
    >>> table = pa.table({"age": [20.0, 30.0, 60.0], "sex": ["f", "m", None]})
    >>> DistanceKernel("gower").learn(table).gram(table).round(3).tolist()
    [[1.0, 0.535, 0.368], [0.535, 1.0, 0.472], [0.368, 0.472, 1.0]]
    """

    metric: Any = "euclidean"
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.gamma, Real) or not 0 < float(self.gamma) < np.inf:
            raise SettingError(
                f"gamma of Distance must be a positive number, but it is {self.gamma!r}"
            )
        object.__setattr__(self, "gamma", float(self.gamma))
        if not isinstance(self.metric, Metric):
            object.__setattr__(self, "metric", metric(self.metric))

    @property
    def takes_sparse(self) -> bool:  # type: ignore[override]
        return self.metric.takes_sparse

    @property
    def takes_missing(self) -> bool:  # type: ignore[override]
        return self.metric.takes_missing

    @property
    def takes_categories(self) -> bool:  # type: ignore[override]
        return self.metric.name in ("gower", "value_difference", "hamming")

    @property
    def mercer(self) -> bool | None:
        return True if self.metric.name in _CONDITIONALLY_NEGATIVE else None

    def learn(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ) -> DistanceKernel:
        rows: Any = X
        if isinstance(X, Block):
            rows = Rows(ArraySource.of_block(X))
        elif not isinstance(X, Rows) and not is_frame(X):
            rows = core_data.scan(X if sparse.issparse(X) else np.asarray(X))
        return replace(self, metric=self.metric.learn(rows))

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        A = self._cells(X)
        B = None if Y is None or Y is X else self._cells(Y)
        values = pairwise(A, B, metric=self.metric)
        # in place: no second matrix of all pairs
        values *= values.dtype.type(-self.gamma)
        return np.exp(values, out=values)

    def _cells(self, X: Data) -> Any:
        X = block_of(X, self)
        if isinstance(X, Block):
            self.metric.check_schema(X.schema)
        return cells_of(X, self)

    def diagonal(self, X: Data) -> np.ndarray:
        """k(x, x), 1 where the distance of a row to itself is 0."""
        if self.metric.takes_missing:
            return super().diagonal(X)
        return np.ones(self._cells(X).shape[0])


@register_kernel("precomputed")
@dataclass(frozen=True)
class PrecomputedKernel(Kernel):
    """Kernel values that are given in the place of rows.

    The rows to learn from are a square Gram matrix; rows to predict have one column for each of
    them.

    See Also
    --------
    FunctionKernel : a kernel of a function.

    Examples
    --------
    >>> from lyceum.kernels import PrecomputedKernel
    >>> PrecomputedKernel().gram([[2.0, 1.0], [1.0, 2.0]]).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    takes_sparse = False

    def gram(self, X: Any, Y: Any = None) -> np.ndarray:
        """X itself: its columns stand for the rows of Y."""
        values = cells_of(X, self)
        n_rows = len(values)
        if Y is not None and Y is not X:
            n_rows = len(Y.X if isinstance(Y, Block) else Y)
        if values.shape[1] != n_rows:
            raise DataError(
                f"precomputed kernel values need one column for each of the {n_rows:,} rows, but"
                f" there are {values.shape[1]:,} columns"
            )
        return values.copy()

    def diagonal(self, X: Data) -> np.ndarray:
        return np.diagonal(self.gram(X)).astype(np.float64)

    def sums(self, X: Data, coef: Any, Y: Data) -> np.ndarray:
        """Y @ coef: the columns of Y stand for the rows of X."""
        values = np.asarray(cells_of(Y, self), dtype=np.float64)
        return values @ np.asarray(coef, dtype=np.float64)


@register_kernel("function")
@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """The kernel of a function.

    Parameters
    ----------
    function : callable
        Gets two matrices of rows and gives the matrix of all kernel values, or gets two rows and
        gives one value; which of the two is found out by a call with two rows and one row. Sparse
        rows are handed on as they are to a function of matrices that takes them.

    See Also
    --------
    as_kernel : takes functions too.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.kernels import FunctionKernel
    >>> FunctionKernel(lambda x, y: np.minimum(x, y).sum()).gram([[1.0, 2.0], [3.0, 0.0]]).tolist()
    [[3.0, 1.0], [1.0, 3.0]]
    >>> FunctionKernel(lambda X, Y: X @ Y.T).gram([[1.0, 2.0], [3.0, 0.0]]).tolist()
    [[5.0, 3.0], [3.0, 9.0]]
    """

    function: Callable[[Any, Any], Any]

    takes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise SettingError(
                f"function={self.function!r} cannot be called: give a function of two rows"
            )

    def gram(self, X: Data, Y: Data = None) -> np.ndarray:
        A, B = numbers_of(self, X, Y)
        is_mixed = sparse.issparse(A) != sparse.issparse(B)
        if is_mixed or (sparse.issparse(A) and not self._takes_matrices(A, B)):
            A = dense_cells(A)
            B = dense_cells(B)
        takes_matrices = self._takes_matrices(A, B)
        n_rows = A.shape[0]
        n_others = B.shape[0]
        if takes_matrices:
            values = np.array(dense_cells(self.function(A, B)), dtype=np.float64)
            if values.shape != (n_rows, n_others):
                raise SettingError(
                    f"the kernel function gave an array of shape {values.shape} for {n_rows} and"
                    f" {n_others} rows: it must give one value per pair, {(n_rows, n_others)}"
                )
        else:
            pairs = [[self._value(x, y) for y in B] for x in A]
            values = np.array(pairs, dtype=np.float64)
        values = values.reshape(n_rows, n_others)
        if not np.isfinite(values).all():
            raise SettingError(
                "the kernel function gave NaN or an infinity: it must give a number for all rows"
            )
        return values

    def _value(self, x: np.ndarray, y: np.ndarray) -> float:
        value = self.function(x, y)
        try:
            value = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"the kernel function gave {value!r}: it must give one number"
            ) from error
        if value.size != 1:
            raise SettingError(
                f"the kernel function gave {value.size} values for two rows: it must give one"
            )
        return float(value.reshape(()))

    def _takes_matrices(self, A: Any, B: Any) -> bool:
        if not A.shape[0] or not B.shape[0]:
            return False
        # a trial on two rows and one: a function of matrices gives one value per pair
        try:
            values = self.function(A[[0, -1]], B[:1])
            return np.shape(values) == (2, 1)
        except (TypeError, ValueError, IndexError):
            return False

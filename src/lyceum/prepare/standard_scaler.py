"""Columns to mean 0 and standard deviation 1."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, OnePassLearner
from lyceum._core.constraints import Interval
from lyceum._core.data import Block, Rows, Schema
from lyceum._core.statistics import Moments
from lyceum._core.types import Categories, Data
from lyceum.errors import DataError
from lyceum.prepare.base import Transformer
from lyceum.prepare.steps import Affine
from lyceum.report import Summary, Table


class StandardScaler(Transformer, OnePassLearner):
    """Continuous columns to mean 0 and standard deviation 1; categories stay as they are.

    .. math:: z = (x - \\bar x) / s, \\qquad s^2 = \\frac{\\sum_i w_i (x_i - \\bar x)^2}{\\sum_i
        w_i - \\mathrm{ddof}}

    Missing cells are left out of both and stay missing. A constant column becomes 0. A column with
    nothing but missing cells stays as it is.

    Parameters
    ----------
    with_mean : bool, default=True
        Whether to subtract the mean. Sparse arrays are taken with `with_mean=False`.
    with_std : bool, default=True
        Whether to divide by the standard deviation.
    ddof : {0, 1}, default=0
        What is taken from N in the variance. 1 divides by N - 1, as `PCA` does, whose variances are
        then the eigenvalues of the correlation matrix.
    categorical_features : str, bool, mask, indices, names, dict or Schema, default="from_dtype"
        Columns to leave alone because they hold categories: a mask, indices or names; True for all;
        the kinds of some columns as a dict, or of all as a `Schema`. Columns of text, of category
        types and of true and false are always left alone.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        The mean of every column; 0 for those left alone.
    scale_ : array of shape (n_features,)
        What columns are divided by: the standard deviation; 1 for those left alone and for constant
        columns.
    var_ : array of shape (n_features,)
        The variance of every column; 1 for those left alone.
    n_samples_seen_ : int or array of shape (n_features,)
        The rows with a known cell, by column where their numbers differ; weights count as rows.
    statistic_ : Moments
        The merged moments of the columns, which `partial_fit` adds to.

    See Also
    --------
    MinMaxScaler : columns to a given range.

    Examples
    --------
    >>> from lyceum.prepare import StandardScaler
    >>> StandardScaler().fit_transform([[1.0], [2.0], [3.0]]).ravel().round(4).tolist()
    [-1.2247, 0.0, 1.2247]
    """

    _parameter_constraints: ClassVar[dict] = {
        "with_mean": ["boolean"],
        "with_std": ["boolean"],
        "ddof": [Interval(Integral, 0, 1, closed="both")],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        copy: bool = True,
        with_mean: bool = True,
        with_std: bool = True,
        ddof: int = 0,
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.copy = copy
        self.with_mean = with_mean
        self.with_std = with_std
        self.ddof = ddof
        self.categorical_features = categorical_features

    _takes_text = True

    mean_: Any
    scale_: Any
    var_: Any

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return not self.with_mean

    def _rows(self, X: Data, *target_and_weights: Any) -> Rows:
        self._refuse_sparse(X)
        return super()._rows(X, *target_and_weights)

    def _refuse_sparse(self, X: Data) -> None:
        if self.with_mean and sparse.issparse(X):
            raise DataError(
                "Cannot center sparse matrices: pass `with_mean=False` instead, which leaves zeros"
                " alone"
            )

    def transform(self, X: Data, copy: bool | None = None) -> Any:
        """X in units of standard deviations, in the container that it came in.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        copy : as in scikit-learn
            Without effect: the rows that are given are never changed.
        """
        self._refuse_sparse(X)
        return super().transform(X)

    def inverse_transform(self, X: Data, copy: bool | None = None) -> Any:
        """Back to the units of the columns."""
        check_is_fitted(self)
        self._refuse_sparse(X)
        return self._through(self._affine(inverse=True), X)

    def _statistic(self) -> Callable[[Block], Moments]:
        return _moments

    def _finish(self, moments: Moments) -> None:
        moving = moments.weight > 0
        moving[[column.is_categorical for column in self.schema_]] = False
        # one row has no variance to estimate, and is constant
        variance = np.nan_to_num(moments.variance(self.ddof), nan=1.0)
        variance = np.where(moving, variance, 1.0)
        constant = moving & is_constant(moments)
        self.var_ = np.where(constant, 0.0, variance)
        self.scale_ = np.where(constant, 1.0, np.sqrt(variance))
        # the mean of equal numbers is that number, not what is left after rounding
        mean = np.where(moments.low == moments.high, moments.low, moments.mean)
        self.mean_ = np.where(moving, mean, 0.0)
        self.n_samples_seen_ = _seen(moments.weight)
        # what is not used is None, as in scikit-learn
        if not self.with_std:
            self.var_ = None
            self.scale_ = None
            if not self.with_mean:
                self.mean_ = None

    def _step(self, schema: Schema) -> Affine:
        return self._affine()

    def _affine(self, inverse: bool = False) -> Affine:
        d = self.n_features_in_
        center = self.mean_ if self.with_mean else np.zeros(d)
        scale = self.scale_ if self.with_std else np.ones(d)
        return Affine(center, scale, inverse=inverse)

    def summary(self) -> Summary:
        """The mean and the standard deviation of every continuous column."""
        check_is_fitted(self)
        step = self._affine()
        rows = [
            (self.schema_[int(j)].name, step.center[j], step.scale[j])
            for j in self.schema_.continuous
        ]
        table = Table("Continuous columns", ("column", "center", "scale"), rows)
        facts = {"rows": self.n_rows_, "columns": self.n_features_in_}
        return Summary(self._title(), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        used = {"mean_": self.with_mean, "scale_": self.with_std}
        return {name: (self.n_features_in_,) for name in used if used[name]}


def is_constant(moments: Moments) -> np.ndarray:
    """Columns without spread: all cells equal, or apart by no more than the rounding of their
    mean."""
    # a variance of at most n ε var + (n ε mean)² may be the rounding of equal numbers (Chan, Golub
    # and LeVeque 1983): scikit-learn's bound
    n = moments.weight
    eps = np.finfo(np.float64).eps
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = moments.scatter / n
        is_rounding = variance <= n * eps * variance + (n * moments.mean * eps) ** 2
    return (moments.low >= moments.high) | is_rounding


def _seen(weights: np.ndarray) -> Any:
    """The number of rows behind every column, one number where it is the same for all."""
    counts = weights
    if (weights == np.round(weights)).all():
        counts = weights.astype(np.int64)
    is_same = len(counts) > 0 and (counts == counts[0]).all()
    return counts[0] if is_same else counts


def _moments(block: Block) -> Moments:
    if sparse.issparse(block.X) and np.isnan(block.X.data).any():
        block = block.with_X(block.X.toarray(), block.schema)  # missing cells by column
    return Moments.of(block.without_zero_weights())

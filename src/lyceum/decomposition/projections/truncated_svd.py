"""The singular value decomposition as the best factorization of a given rank."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Learner, NewColumns
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.statistics import Scatter
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.decomposition.components import Components
from lyceum.decomposition.projections.centered_rows import CenteredRows, scatter_or_rows
from lyceum.decomposition.projections.spectrum import (
    Spectrum,
    randomized_spectrum,
    rows_spectrum,
    scatter_spectrum,
    with_signs,
)
from lyceum.errors import SettingError
from lyceum.report import Summary, Table


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, Components, NewColumns, Learner):
    """Rank-r factorization of the rows, X ≈ U diag(s) Vᵀ, by the singular value decomposition.

    Of all matrices of rank r, U diag(s) Vᵀ has the least squared error (Eckart and Young 1936),

        |X - U diag(s) Vᵀ|² = Σ_{j > r} s_j².

    Rows are not centered: with centered columns it is PCA. V and s come from the eigenvectors of
    XᵀX, in one pass over the rows; `transform` gives U diag(s) = X V. A row of weight w counts as w
    rows.

    Parameters
    ----------
    n_components : int, default=2
        The rank r, at most as many as rows or columns.
    algorithm : {"auto", "covariance_eigh", "full", "arpack", "randomized"}, default="auto"
        "covariance_eigh" (and "auto" and "arpack"): eigenvectors of XᵀX, in one pass. "full": of
        the rows, held in memory, which keeps the digits of very small singular values.
        "randomized": a few passes from random directions, without a d × d matrix.
    n_iter : int, default=5
        The iterations of the "randomized" solver, one pass over the rows each.
    n_oversamples : int, default=10
        The random directions of the "randomized" solver beyond the components.

    Attributes
    ----------
    components_ : array of shape (n_components, n_columns)
        Vᵀ, in design columns; the largest entry of every row is positive.
    singular_values_ : array of shape (n_components,)
        s.
    error_ : float
        The Frobenius norm of what is left, sqrt(Σ_{j > r} s_j²).
    relative_error_ : float
        The same divided by the norm of X.
    explained_variance_ : array of shape (n_components,)
        The variance of the scores.
    explained_variance_ratio_ : array of shape (n_components,)
        The same as a proportion of the variances of all columns.
    squares_ratio_ : array of shape (n_components,)
        s_j² as a proportion of the squares of all cells.
    n_components_ : int
        The rank.

    See Also
    --------
    PCA : with centered columns.
    RowSVD : from the rows' inner products, for more columns than rows.

    References
    ----------
    Eckart, C. and Young, G. (1936). The approximation of one matrix by another of lower rank.
    Psychometrika 1.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.decomposition import TruncatedSVD
    >>> X = np.array([[3.0, 0], [0, 4], [0, 0]])
    >>> svd = TruncatedSVD(1).fit(X)
    >>> svd.singular_values_.tolist(), svd.error_
    ([4.0], 3.0)
    >>> svd.reconstruct(X).round(6).tolist()
    [[0.0, 0.0], [0.0, 4.0], [0.0, 0.0]]
    """

    _coding = "one_hot"
    _takes_sparse = True
    _reads_rows = "one pass"
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "algorithm": [
            StrOptions({"auto", "covariance_eigh", "full", "arpack", "randomized"})
        ],
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    _without_effect: ClassVar[dict[str, str]] = {
        "tol": "the singular vectors are exact, but for the randomized solver",
        "power_iteration_normalizer": "every product is made orthonormal by QR",
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "auto",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        tol: float = 0.0,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Find the singular values and vectors.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts.
        """
        rows = self._rows(X, None, sample_weight)
        statistic, spectrum = self._find_spectrum(rows)
        k = int(self.n_components)
        d = len(statistic.mean)
        n_rows = max(statistic.n_rows, int(statistic.weight))
        most = max(1, min(n_rows, d))
        if k > most:
            raise SettingError(
                f"n_components={k} must be between 1 and min(n_samples, n_features)={most}"
            )
        self._finish(statistic, spectrum, k)
        return self

    def _finish(
        self, statistic: Scatter | CenteredRows, spectrum: Spectrum, k: int
    ) -> None:
        self.components_ = with_signs(spectrum.vectors(k))
        d = self.components_.shape[1]
        n_missing = max(0, k - len(spectrum.values))
        values = np.append(spectrum.values, np.zeros(n_missing))[:k]
        # the squared error of the best rank k is the sum of the other squares (Eckart and Young
        # 1936); 0 where it is rounding error of the total
        left = spectrum.total - float(values.sum())
        if not (left > d * np.finfo(float).eps * spectrum.total):
            left = 0.0
        self.singular_values_ = np.sqrt(values)
        self.error_ = float(np.sqrt(left))
        self.relative_error_ = 0.0
        self.squares_ratio_ = np.zeros(k)
        if spectrum.total:
            self.relative_error_ = float(np.sqrt(left / spectrum.total))
            self.squares_ratio_ = values / spectrum.total
        # scores z = V x have the mean V m and the mean square s² / n
        mean = statistic.mean
        variance = values / statistic.weight - (self.components_ @ mean) ** 2
        all_variance = spectrum.total / statistic.weight - float(mean @ mean)
        self.explained_variance_ = np.maximum(variance, 0.0)
        self.explained_variance_ratio_ = np.zeros(k)
        if all_variance > 0:
            self.explained_variance_ratio_ = self.explained_variance_ / all_variance
        self.n_components_ = k

    def _find_spectrum(self, rows: Rows) -> tuple[Scatter | CenteredRows, Spectrum]:
        if self.algorithm == "full":
            block = rows.in_one_block(
                type(self).__name__, "algorithm='covariance_eigh'"
            )
            return rows_spectrum(block, center=False)
        k = int(self.n_components)
        if self.algorithm == "randomized":
            random = check_random_state(self.random_state)
            return randomized_spectrum(
                rows,
                k,
                int(self.n_iter),
                random,
                center=False,
                n_oversamples=int(self.n_oversamples),
            )
        # one centered pass, moved to the origin: sums of raw squares would lose digits
        statistic = rows.reduce(scatter_or_rows)
        return statistic, scatter_spectrum(statistic.about_origin(), k)

    # -- use ---------------------------------------------------------------------------

    def transform(self, X: Data) -> Any:
        """X V, which is U diag(s) for the rows of `fit`.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_components)
        """
        return self._in_new_columns(self._scores, X)

    def _scores(self, block: Block) -> np.ndarray:
        scores = np.asarray(block.X @ self.components_.T)
        return scores.astype(block.X.dtype, copy=False)

    def inverse_transform(self, X: Data) -> Any:
        """The rows of rank r that scores stand for, in design columns.

        Parameters
        ----------
        X : array or Dask array of shape (n_samples, n_components)
            Scores, as `transform` gives them.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        return self._given_scores(X) @ self.components_

    def reconstruct(self, X: Data) -> Any:
        """The rows of rank r nearest to those of X.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        return self.inverse_transform(self._apply(self._scores, X))

    def factors(self, X: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """U, s and Vᵀ of the factorization; columns of U without a singular value are zeros.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
            The rows of `fit`, or others for their coordinates.

        Returns
        -------
        U : array of shape (n_samples, n_components)
        s : array of shape (n_components,)
        Vt : array of shape (n_components, n_columns)
        """
        scores = np.asarray(self._apply(self._scores, X))
        s = self.singular_values_
        zeros = np.zeros_like(scores, dtype=np.float64)
        U = np.divide(scores, s, out=zeros, where=s > 0)
        return U, s, self.components_

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The singular values, what each explains, and the error of the factorization."""
        check_is_fitted(self)
        facts = {
            "columns": self.components_.shape[1],
            "rank": self.n_components_,
            "error": self.error_,
            "relative error": self.relative_error_,
        }
        ratio = self.squares_ratio_
        numbers = range(1, len(ratio) + 1)
        rows = list(zip(numbers, self.singular_values_, ratio, np.cumsum(ratio)))
        head = ("component", "singular value", "proportion", "cumulative")
        return Summary(self._title(), facts, [Table("Singular values", head, rows)])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k = self.n_components_
        d = len(self.design_names)
        return {"components_": (k, d), "singular_values_": (k,)}

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

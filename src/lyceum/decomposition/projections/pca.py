"""Principal component analysis from one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, NewColumns, OnePassLearner
from lyceum._core.constraints import Interval, RealNotInt, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.statistics import Scatter
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.decomposition.components import Components
from lyceum.decomposition.projections.centered_rows import CenteredRows, scatter_or_rows
from lyceum.decomposition.projections.spectrum import (
    Spectrum,
    freedom_of,
    n_components_by_evidence,
    randomized_spectrum,
    rows_spectrum,
    scatter_spectrum,
    with_signs,
)
from lyceum.errors import SettingError
from lyceum.report import Explanation, Summary, Table


class PCA(ClassNamePrefixFeaturesOutMixin, Components, NewColumns, OnePassLearner):
    """Principal component analysis: orthogonal directions of largest variance.

    The components are the unit vectors v_1, v_2, ... of

        S v = λ v,    S = Σ_i w_i (x_i - m)(x_i - m)ᵀ / (N - 1),    λ_1 >= λ_2 >= ...

    with m the mean and N the total weight: a row of weight 2 counts as two rows. S is merged block
    by block, so that streamed rows give the result of one `fit` on all of them. While there are
    fewer than d / 2 rows of d columns, the centered rows R themselves are kept, and v = Rᵀu comes
    from the eigenvectors u of the small matrix R Rᵀ: 50 rows of 20,000 columns never become a
    20,000 × 20,000 matrix. The largest loading of every component is positive.

    With `standardize=True` the columns are first divided by their standard deviations, of the same
    N - 1: S is then the correlation matrix, and its eigenvalues sum to d. `StandardScaler` before
    it divides by N, as in scikit-learn, which makes the eigenvalues larger by N / (N - 1).

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        How many components to keep. An integer: that many, those without variance included, at most
        as many as rows or columns. A number between 0 and 1: the fewest that explain more than this
        proportion of the variance. "mle": the number that Minka's evidence chooses. None: all,
        min(rows, columns), and for "arpack" one less.
    whiten : bool, default=False
        Whether to scale the scores to variance 1. Components without variance give zeros.
    svd_solver : {"auto", "covariance_eigh", "full", "arpack", "randomized"}, default="auto"
        "covariance_eigh" (and "auto" and "arpack"): eigenvectors of S, in one pass. "full":
        singular vectors of the rows, held in memory, which keep the digits of very small variances.
        "randomized": subspace iteration from random directions, a few passes and no d × d matrix,
        for a few components of many columns.
    iterated_power : int or "auto", default="auto"
        The iterations of the "randomized" solver, one pass over the rows each; more give more exact
        directions. "auto": 7 for fewer components than a tenth of rows and columns, else 4.
    n_oversamples : int, default=10
        The random directions of the "randomized" solver beyond the components.
    standardize : bool, default=False
        Whether to take the components of the correlation matrix instead of the covariance matrix:
        every column divided by its standard deviation (N - 1), constant ones left alone. Variances,
        scores and reconstruction errors are then in these units; `inverse_transform` gives those of
        the columns.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_columns)
        The components in design columns (categories expanded), as are the other attributes.
    explained_variance_ : array of shape (n_components_,)
        The variance λ of every component kept.
    explained_variance_ratio_ : array of shape (n_components_,)
        Its proportion of the total variance.
    singular_values_ : array of shape (n_components_,)
        The singular values of the centered and weighted rows, sqrt((N - 1) λ).
    mean_ : array of shape (n_columns,)
        The mean m.
    scale_ : array of shape (n_columns,)
        What every column is divided by: 1, or with `standardize` its standard deviation.
    noise_variance_ : float
        The mean variance of the directions left out: σ² of probabilistic PCA.
    n_components_ : int
        The number of components kept.
    n_samples_ : int
        The number of rows.
    reconstruction_error_ : float
        The mean squared distance of the rows of `fit` from their reconstructions.
    statistic_ : Scatter or CenteredRows
        The merged statistic, which `partial_fit` adds to.

    See Also
    --------
    lyceum.cluster.KMeans : groups instead of directions.
    lyceum.density.GaussianDensity : the Gaussian of all columns.

    References
    ----------
    Tipping, M. E. and Bishop, C. M. (1999). Probabilistic principal component analysis. Journal of
    the Royal Statistical Society B 61(3).

    Minka, T. P. (2000). Automatic choice of dimensionality for PCA. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.decomposition import PCA
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(0.95).fit(X)
    >>> pca.n_components_, pca.explained_variance_ratio_.round(3).tolist()
    (1, [0.992])
    >>> pca.inverse_transform(pca.transform(X[:1])).round(2).tolist()
    [[-1.16, -0.75]]
    """

    _coding = "one_hot"
    _takes_sparse = True
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"mle"}),
            None,
        ],
        "whiten": ["boolean"],
        "svd_solver": [
            StrOptions({"auto", "covariance_eigh", "full", "arpack", "randomized"})
        ],
        "tol": [Interval(Real, 0, None, closed="left")],
        "iterated_power": [
            StrOptions({"auto"}),
            Interval(Integral, 0, None, closed="left"),
        ],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "standardize": ["boolean"],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    _without_effect: ClassVar[dict[str, str]] = {
        "tol": "the eigenvectors are exact, but for the randomized solver",
        "power_iteration_normalizer": "every product is made orthonormal by QR",
    }

    def __init__(
        self,
        n_components: float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        standardize: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.standardize = standardize
        self.random_state = random_state
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def _statistic(self) -> Callable[[Block], Scatter | CenteredRows]:
        return scatter_or_rows

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Learn from all rows of X: one pass, or those of the solver.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts.
        """
        rows = self._rows(X, None, sample_weight)
        if self.svd_solver == "arpack":
            self._refuse_choice_of_number()
        if self.svd_solver == "full":
            block = rows.in_one_block(
                type(self).__name__, "svd_solver='covariance_eigh'"
            )
            self.statistic_, spectrum = rows_spectrum(
                block, standardize=self.standardize
            )
        elif self.svd_solver == "randomized":
            self.statistic_, spectrum = self._randomized(rows)
        else:
            self.statistic_ = rows.reduce(self._statistic())
            self._check_number(self._max_components(self.statistic_))
            self._finish(self.statistic_)
            return self
        self._check_number(self._max_components(self.statistic_))
        self._finish_spectrum(self.statistic_, spectrum)
        return self

    def _refuse_choice_of_number(self) -> None:
        """A solver that finds a few components alone cannot say how many there should be."""
        if isinstance(self.n_components, str):
            raise SettingError(
                f"n_components={self.n_components!r} cannot be a string with"
                f" svd_solver={self.svd_solver!r}: give a number, or svd_solver='full'"
            )
        if isinstance(self.n_components, float):
            raise SettingError(
                f"n_components={self.n_components!r} must be of type int when"
                f" svd_solver={self.svd_solver!r}"
            )

    def _randomized(self, rows: Rows) -> tuple[CenteredRows, Spectrum]:
        self._refuse_choice_of_number()
        d = len(self.design_names)
        n_rows = rows.n_rows or d
        k = self._n_requested or min(d, n_rows)
        n_iterations = self.iterated_power
        if n_iterations == "auto":
            n_iterations = 7 if k < 0.1 * min(d, n_rows) else 4
        return randomized_spectrum(
            rows,
            k,
            int(n_iterations),
            check_random_state(self.random_state),
            standardize=self.standardize,
            n_oversamples=int(self.n_oversamples),
        )

    def _finish(self, statistic: Scatter | CenteredRows) -> None:
        self._check_number(len(statistic.mean))
        spectrum = scatter_spectrum(statistic, self._n_requested, self.standardize)
        self._finish_spectrum(statistic, spectrum)

    def _check_number(self, most: int) -> None:
        k = self._n_requested
        if k is None:
            return
        least = 1 if self.svd_solver in ("arpack", "randomized") else 0
        solver = self.svd_solver
        if solver == "auto":
            solver = "full"
        if not least <= k <= most:
            raise SettingError(
                f"n_components={k} must be between {least} and min(n_samples,"
                f" n_features)={most} with svd_solver={solver!r}"
            )
        if self.svd_solver == "arpack" and k == most:
            raise SettingError(
                f"n_components={k} must be strictly less than min(n_samples,"
                f" n_features)={most} with svd_solver='arpack'"
            )

    @staticmethod
    def _max_components(statistic: Scatter | CenteredRows) -> int:
        """min(rows, columns); a row of weight 2 counts as two."""
        n_rows = max(statistic.n_rows, int(statistic.weight))
        return max(1, min(n_rows, len(statistic.mean)))

    def _finish_spectrum(
        self, statistic: Scatter | CenteredRows, spectrum: Spectrum
    ) -> None:
        d = len(statistic.mean)
        total, values, vectors, self.scale_ = spectrum
        most = self._max_components(statistic)
        n_missing = max(0, most - len(values))
        values = np.append(values, np.zeros(n_missing))
        k = self._n_kept(values, total, most, statistic.n_rows)
        values = values[:k]
        self.components_ = with_signs(vectors(k))
        freedom = freedom_of(statistic, total)
        left = total - float(values.sum())
        self.reconstruction_error_ = 0.0
        if statistic.weight:
            self.reconstruction_error_ = max(left, 0.0) / statistic.weight
        self.mean_ = statistic.mean
        self.n_components_ = k
        self.n_samples_ = statistic.n_rows
        self.singular_values_ = np.sqrt(values)
        self.explained_variance_ = values / freedom
        if total:
            self.explained_variance_ratio_ = values / total
        else:
            self.explained_variance_ratio_ = np.zeros(k)
        # σ² of the probabilistic model: the mean variance of the directions left out, 0 where
        # what is left is rounding error of the total
        self.noise_variance_ = 0.0
        if d > k and left > d * np.finfo(float).eps * total:
            self.noise_variance_ = left / (d - k) / freedom

    @property
    def _n_requested(self) -> int | None:
        """The number of components, if it is a parameter."""
        if isinstance(self.n_components, int | np.integer):
            return int(self.n_components)
        return None

    def _n_kept(
        self,
        values: np.ndarray,
        total: float,
        most: int,
        n_rows: int,
    ) -> int:
        if self._n_requested is not None:
            return self._n_requested
        if self.n_components is None:
            return most - 1 if self.svd_solver == "arpack" and most > 1 else most
        if self.n_components == "mle":
            return n_components_by_evidence(values, n_rows)
        rank = max(1, int(np.count_nonzero(values)))
        if not total:
            return rank
        # the fewest components that explain more than the share n_components
        assert not isinstance(self.n_components, str)
        explained = np.cumsum(values) / total
        fewer = int(np.searchsorted(explained, self.n_components, side="right"))
        return min(fewer + 1, rank)

    # -- use ---------------------------------------------------------------------------

    def transform(self, X: Data) -> Any:
        """The scores: the rows in the coordinates of the components, V (x - m), whitened if
        `whiten` is set.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_components_)
        """
        return self._in_new_columns(partial(_scores, self), X)

    def inverse_transform(self, X: Data) -> Any:
        """The rows reconstructed from scores, m + Vᵀ z, in design columns.

        Parameters
        ----------
        X : array or Dask array of shape (n_samples, n_components_)
            Scores, as `transform` gives them.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        Z = self._given_scores(X) * self._score_scale
        return Z @ (self.components_ * self.scale_) + self.mean_

    def reconstruct(self, X: Data) -> Any:
        """The rows as the components give them back, `inverse_transform(transform(X))`.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        return self.inverse_transform(self._apply(partial(_scores, self), X))

    def reconstruction_error(self, X: Data) -> Any:
        """The squared distance of every row from its reconstruction, |x - x̂|², of standardized
        columns with `standardize`.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(partial(_squared_residuals, self), X)

    @property
    def _score_scale(self) -> np.ndarray:
        """One unit of every score in units of the (standardized) columns."""
        if self.whiten:
            return np.sqrt(self.explained_variance_)
        return np.ones(self.n_components_)

    def get_covariance(self) -> np.ndarray:
        """The covariance of the probabilistic model, Vᵀ diag(λ - σ²) V + σ² I, in the units of the
        columns.

        Returns
        -------
        array of shape (n_columns, n_columns)
        """
        check_is_fitted(self)
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        noise = self.noise_variance_ * np.eye(len(self.mean_))
        covariance = (self.components_.T * excess) @ self.components_ + noise
        return covariance * np.outer(self.scale_, self.scale_)

    def get_precision(self) -> np.ndarray:
        """The inverse of `get_covariance()`, the pseudo-inverse where it is singular.

        Returns
        -------
        array of shape (n_columns, n_columns)
        """
        return linalg.pinvh(self.get_covariance(), check_finite=False)

    def score_samples(self, X: Data) -> Any:
        """The log-likelihood of every row under the probabilistic model, a Gaussian with
        `get_covariance()`.

        Where the covariance is singular it is the density on the subspace of positive variance, and
        -inf elsewhere.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(partial(_log_likelihoods, self), X)

    def score(self, X: Data, y: Target = None) -> float:
        """The mean log-likelihood of the rows.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        return float(np.mean(np.asarray(self.score_samples(X))))

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The variance that every component explains, alone and cumulative, and the loadings."""
        check_is_fitted(self)
        ratio = self.explained_variance_ratio_
        facts = {
            "columns": len(self.mean_),
            "components": self.n_components_,
            "standardized": self.standardize,
            "variance explained": float(ratio.sum()),
            "weight of the rows": self.statistic_.weight,
            "noise variance": self.noise_variance_,
        }
        names = [f"pc{k + 1}" for k in range(self.n_components_)]
        variance = list(zip(names, self.explained_variance_, ratio, np.cumsum(ratio)))
        head = ("component", "variance", "proportion", "cumulative")
        loadings = [
            (name, *column)
            for name, column in zip(self.design_names, self.components_.T)
        ]
        tables = [
            Table("Variance", head, variance),
            Table("Loadings", ("column", *names), loadings),
        ]
        return Summary(self._title(), facts, tables)

    def explain(self, X: Data, component: int = 0) -> Explanation:
        """What every column adds to the score on one component: (x_j - m_j) v_j, whitened if
        `whiten` is set.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        component : int, default=0
            The number of the component, from 0.

        Returns
        -------
        Explanation
        """
        self._check_component(component)
        parts = partial(_score_parts, self, component)
        return self._explain(X, parts, f"score on pc{component + 1}")

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), CenteredRows)

    def _in_type_of_rows(self) -> tuple[str, ...]:
        return ("components_", "mean_")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k = self.n_components_
        d = len(self.design_names)
        return {
            "components_": (k, d),
            "mean_": (d,),
            "scale_": (d,),
            "explained_variance_": (k,),
        }

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


def _scores(pca: PCA, block: Block) -> np.ndarray:
    # sparse rows are not centered, which would fill them: V x - V m
    loadings = pca.components_ / pca.scale_
    if sparse.issparse(block.X):
        Z = block.X @ loadings.T - loadings @ pca.mean_
    else:
        Z = (block.X - pca.mean_) @ loadings.T
    scale = pca._score_scale
    scores = np.divide(Z, scale, out=np.zeros_like(Z), where=scale > 0)
    return scores.astype(block.X.dtype, copy=False)


def _center(pca: PCA, block: Block) -> np.ndarray:
    return (block.dense - pca.mean_) / pca.scale_


def _score_parts(
    pca: PCA,
    component: int,
    block: Block,
) -> np.ndarray:
    """The score on a component, zero, and what every column adds."""
    scale = pca._score_scale[component]
    if scale:
        loadings = pca.components_[component] / scale
    else:
        loadings = 0.0
    added = _center(pca, block) * loadings
    scores = added.sum(axis=1)
    return np.column_stack([scores, np.zeros(len(added)), added])


def _squared_residuals(pca: PCA, block: Block) -> np.ndarray:
    centered = _center(pca, block)
    # |x - m|² - |z|² would cancel where little is left
    residual = centered - (centered @ pca.components_.T) @ pca.components_
    return np.einsum("ij,ij->i", residual, residual)


def _log_likelihoods(pca: PCA, block: Block) -> np.ndarray:
    """-[r log 2π + log |C| + (x - m)ᵀ C⁻¹ (x - m)] / 2, over the r directions of positive
    variance."""
    centered = _center(pca, block)
    has_variance = pca.explained_variance_ > 0
    variance = pca.explained_variance_[has_variance]
    V = pca.components_[has_variance]
    Z = centered @ V.T
    square = (Z**2 / variance).sum(axis=1)
    log_det = np.log(variance).sum()
    rank = len(V)
    residual = centered - Z @ V
    off = np.einsum("ij,ij->i", residual, residual)
    # outside the kept directions the model has the noise variance alone, or no density at all
    # |C| is the product of the kept variances and of σ² for each of the other directions
    if pca.noise_variance_ > 0:
        rank = len(pca.mean_)
        square += off / pca.noise_variance_
        log_det += (rank - len(V)) * np.log(pca.noise_variance_)
    result = -(rank * np.log(2 * np.pi) + log_det + square) / 2
    result -= np.log(pca.scale_).sum()  # the density per unit of the columns themselves
    if rank < len(pca.mean_):
        size = np.einsum("ij,ij->i", centered, centered) + variance.sum()
        mean = pca.mean_ / pca.scale_
        rounding = 1e-12 * size + 1e-28 * (mean @ mean)
        result[off > rounding] = -np.inf
    return result

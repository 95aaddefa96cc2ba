"""Principal component analysis from one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_array, check_is_fitted

from lyceum._threads import single_threaded_blas
from lyceum.base import CATEGORICAL_FEATURES, OnePassLearner
from lyceum.data import Block, is_dask
from lyceum.errors import DataError, SettingError
from lyceum.reduce._centered_rows import CenteredRows, scatter_or_rows
from lyceum.report import Explanation, Summary, Table
from lyceum.statistics import Scatter

__all__ = ["PCA"]


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnePassLearner):
    """Principal component analysis: orthogonal directions of largest variance.

    The components are the unit vectors v_1, v_2, ... of

        S v = λ v,    S = Σ_i w_i (x_i - m)(x_i - m)ᵀ / (N - 1),    λ_1 >= λ_2 >= ...

    with m the mean and N the total weight: a row of weight 2 counts as two rows. S is merged block by block,
    so that streamed rows give the result of one `fit` on all of them. While there are fewer than d / 2 rows
    of d columns, the centred rows R themselves are kept, and v = Rᵀu comes from the eigenvectors u of the
    small matrix R Rᵀ: 50 rows of 20,000 columns never become a 20,000 × 20,000 matrix. The largest loading
    of every component is positive.

    Parameters
    ----------
    n_components : int, float or None, default=None
        How many components to keep. An integer: that many, those without variance included. A number between
        0 and 1: the fewest that explain more than this proportion of the variance. None: all that have
        variance.
    whiten : bool, default=False
        Whether to scale the scores to variance 1. Components without variance give zeros.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each becomes one-of-C columns.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_columns)
        The components in design columns (categories expanded), as are the other attributes.
    explained_variance_ : array of shape (n_components_,)
        The variance λ of every component kept.
    explained_variance_ratio_ : array of shape (n_components_,)
        Its proportion of the total variance.
    singular_values_ : array of shape (n_components_,)
        The singular values of the centred and weighted rows, sqrt((N - 1) λ).
    mean_ : array of shape (n_columns,)
        The mean m.
    noise_variance_ : float
        The mean variance of the directions left out: σ² of probabilistic PCA.
    n_components_ : int
        The number of components kept.
    statistic_ : Scatter or CenteredRows
        The merged statistic, which `partial_fit` adds to.
    schema_ : Schema
        The columns that were learned from.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, if they have names.

    See Also
    --------
    lyceum.cluster.KMeans : groups instead of directions.
    lyceum.density.GaussianDensity : the Gaussian of all columns.

    References
    ----------
    Tipping, M. E. and Bishop, C. M. (1999). Probabilistic principal component analysis. Journal of the Royal
    Statistical Society B 61(3).

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.reduce import PCA
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> pca = PCA(0.95).fit(X)
    >>> pca.n_components_, pca.explained_variance_ratio_.round(3).tolist()
    (1, [0.992])
    >>> pca.inverse_transform(pca.transform(X[:1])).round(2).tolist()
    [[-1.16, -0.75]]
    """

    _coding = "one_of_c"
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "whiten": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        n_components: float | None = None,
        *,
        whiten: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        self.n_components = n_components
        self.whiten = whiten
        self.categorical_features = categorical_features

    # -- fit ------------------------------------------------------------------------------------------------

    def _statistic(self) -> Callable[[Block], Scatter | CenteredRows]:
        return scatter_or_rows

    def _finish(self, statistic: Scatter | CenteredRows) -> None:
        d = len(statistic.mean)
        if self._n_requested is not None and self._n_requested > d:
            raise SettingError(
                f"n_components={self._n_requested} must be between 1 and the number of columns, {d}"
            )
        with single_threaded_blas():
            total, values, vectors = _spectrum(statistic, self._n_requested)
            k = self._n_kept(values, total)
            self.components_ = _with_signs(vectors(k))
        freedom = _freedom(statistic, total)
        self.mean_ = statistic.mean
        self.n_components_ = k
        self.singular_values_ = np.sqrt(values[:k])
        self.explained_variance_ = values[:k] / freedom
        self.explained_variance_ratio_ = values[:k] / total if total else np.zeros(k)
        self.noise_variance_ = _remaining_scatter(total, values[:k], d) / freedom

    @property
    def _n_requested(self) -> int | None:
        """The number of components, if it is a parameter."""
        return int(self.n_components) if isinstance(self.n_components, int | np.integer) else None

    def _n_kept(self, values: np.ndarray, total: float) -> int:
        if self._n_requested is not None:
            return self._n_requested
        rank = max(1, int(np.count_nonzero(values)))
        if self.n_components is None or not total:
            return rank
        explained = np.cumsum(values) / total
        return min(int(np.searchsorted(explained, self.n_components, side="right")) + 1, rank)

    # -- use ------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """The scores: the rows in the coordinates of the components, V (x - m), whitened if `whiten` is set.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        return self._apply(partial(_scores, self), X)

    def inverse_transform(self, X: Any) -> Any:
        """The rows reconstructed from scores, m + Vᵀ z, in design columns.

        Parameters
        ----------
        X : array or Dask array of shape (n_samples, n_components_)
            Scores, as `transform` gives them.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        Z = X if is_dask(X) else check_array(X, dtype=[np.float64, np.float32])
        if Z.shape[1] != self.n_components_:
            raise DataError(f"there are {Z.shape[1]} columns of scores, but {self.n_components_} components")
        return (Z * self._scale) @ self.components_ + self.mean_

    @property
    def _scale(self) -> np.ndarray:
        """One unit of every score in units of the data."""
        return np.sqrt(self.explained_variance_) if self.whiten else np.ones(self.n_components_)

    def get_covariance(self) -> np.ndarray:
        """The covariance of the probabilistic model, Vᵀ diag(λ - σ²) V + σ² I.

        Returns
        -------
        array of shape (n_columns, n_columns)
        """
        check_is_fitted(self)
        excess = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        return (self.components_.T * excess) @ self.components_ + self.noise_variance_ * np.eye(
            len(self.mean_)
        )

    def score_samples(self, X: Any) -> Any:
        """The log-likelihood of every row under the probabilistic model, a Gaussian with `get_covariance()`.

        Where the covariance is singular it is the density on the subspace of positive variance, and -inf
        elsewhere.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(partial(_log_likelihood, self), X)

    def score(self, X: Any, y: Any = None) -> float:
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

    # -- what was learned -----------------------------------------------------------------------------------

    def summary(self) -> Summary:
        """The variance that every component explains, alone and cumulative, and the loadings."""
        check_is_fitted(self)
        ratio = self.explained_variance_ratio_
        facts = {
            "columns": len(self.mean_),
            "components": self.n_components_,
            "variance explained": float(ratio.sum()),
            "weight of the rows": self.statistic_.weight,
            "noise variance": self.noise_variance_,
        }
        names = [f"pc{k + 1}" for k in range(self.n_components_)]
        variance = list(zip(names, self.explained_variance_, ratio, np.cumsum(ratio)))
        head = ("component", "variance", "proportion", "cumulative")
        loadings = [(name, *column) for name, column in zip(self._design_names, self.components_.T)]
        tables = [Table("Variance", head, variance), Table("Loadings", ("column", *names), loadings)]
        return Summary(self._title(), facts, tables)

    def explain(self, X: Any, component: int = 0) -> Explanation:
        """What every column adds to the score on one component: (x_j - m_j) v_j, whitened if `whiten` is set.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        component : int, default=0
            The number of the component, from 0.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        if not 0 <= component < self.n_components_:
            raise SettingError(
                f"component is {component}, but there are {self.n_components_}, counted from 0"
            )
        return self._explain(X, partial(_parts, self, component), f"score on pc{component + 1}")

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), CenteredRows)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k, d = self.n_components_, len(self._design_names)
        return {"components_": (k, d), "mean_": (d,), "explained_variance_": (k,)}

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


Vectors = Callable[[int], np.ndarray]  # the first k eigenvectors, as rows


def _spectrum(statistic: Scatter | CenteredRows, most: int | None) -> tuple[float, np.ndarray, Vectors]:
    """The trace of the scatter, its `most` largest eigenvalues (rounding errors set to 0), their vectors."""
    if isinstance(statistic, CenteredRows):
        product = statistic.factor @ statistic.factor.T
    else:
        product = statistic.xx
    total, n, d = float(np.trace(product)), len(product), len(statistic.mean)
    first = 0 if most is None else max(0, n - most)
    values, columns = linalg.eigh(product, subset_by_index=(first, n - 1), check_finite=False)
    values, rows = values[::-1], columns.T[::-1]
    values = np.where(values > d * np.finfo(float).eps * total, values, 0.0)
    if isinstance(statistic, CenteredRows):
        values = np.append(values, np.zeros(max(0, (most or 1) - n)))
        return total, values, partial(_dual_vectors, statistic.factor, rows)
    return total, values, lambda k: rows[:k]


def _dual_vectors(factor: np.ndarray, U: np.ndarray, k: int) -> np.ndarray:
    """Eigenvectors of RᵀR from those of RRᵀ: Rᵀu, made orthonormal, filled up to k by other directions."""
    V = U[:k] @ factor
    lengths = np.sqrt(np.einsum("ij,ij->i", V, V))
    rank = np.count_nonzero(lengths > len(U) * np.finfo(float).eps * lengths.max(initial=0.0))
    fill = np.random.default_rng(0).standard_normal((k - rank, factor.shape[1]))
    V = np.vstack([V[:rank] / lengths[:rank, None], fill])
    return linalg.qr(V.T, mode="economic", check_finite=False)[0].T


def _freedom(statistic: Scatter | CenteredRows, total: float) -> float:
    if statistic.weight > 1:
        return statistic.weight - 1
    if total:
        raise DataError(
            f"the weights sum to {statistic.weight:.3g}, but the variance divides by their sum less 1: "
            "scale sample_weight to count rows"
        )
    return 1.0  # one row: no variance


def _remaining_scatter(total: float, values: np.ndarray, d: int) -> float:
    """The mean scatter of the directions left out; 0 if it is rounding error of the total."""
    left = total - float(values.sum())
    return left / (d - len(values)) if d > len(values) and left > d * np.finfo(float).eps * total else 0.0


def _with_signs(vectors: np.ndarray) -> np.ndarray:
    """Every vector with the sign that makes its largest entry (the first of equal ones) positive."""
    largest = np.argmax(np.abs(vectors), axis=1)
    signs = np.where(vectors[np.arange(len(vectors)), largest] < 0, -1.0, 1.0)
    return np.ascontiguousarray(vectors * signs[:, None])


def _scores(pca: PCA, block: Block) -> np.ndarray:
    if sparse.issparse(block.X):
        Z = block.X @ pca.components_.T - pca.components_ @ pca.mean_
    else:
        Z = (block.X - pca.mean_) @ pca.components_.T
    scale = pca._scale
    return np.divide(Z, scale, out=np.zeros_like(Z), where=scale > 0).astype(block.X.dtype, copy=False)


def _centered(pca: PCA, block: Block) -> np.ndarray:
    return block.dense - pca.mean_


def _parts(pca: PCA, component: int, block: Block) -> np.ndarray:
    """The score on a component, zero, and what every column adds."""
    scale = pca._scale[component]
    added = _centered(pca, block) * (pca.components_[component] / scale if scale else 0.0)
    return np.column_stack([added.sum(axis=1), np.zeros(len(added)), added])


def _log_likelihood(pca: PCA, block: Block) -> np.ndarray:
    """-[r log 2π + log |C| + (x - m)ᵀ C⁻¹ (x - m)] / 2, over the r directions of positive variance."""
    centered, kept = _centered(pca, block), pca.explained_variance_ > 0
    variance, V = pca.explained_variance_[kept], pca.components_[kept]
    Z = centered @ V.T
    square, log_det, rank = (Z**2 / variance).sum(axis=1), np.log(variance).sum(), len(V)
    residual = centered - Z @ V
    off = np.einsum("ij,ij->i", residual, residual)
    if pca.noise_variance_ > 0:
        rank = len(pca.mean_)
        square += off / pca.noise_variance_
        log_det += (rank - len(V)) * np.log(pca.noise_variance_)
    result = -(rank * np.log(2 * np.pi) + log_det + square) / 2
    if rank < len(pca.mean_):
        size = np.einsum("ij,ij->i", centered, centered) + variance.sum()
        result[off > 1e-12 * size + 1e-28 * (pca.mean_ @ pca.mean_)] = -np.inf
    return result

"""Classical multidimensional scaling: points whose distances are those given."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Coding, Learner, NewColumns
from lyceum._core.constraints import Interval
from lyceum._core.data import Block, Rows
from lyceum._core.distances import (
    METRIC_PARTS,
    Metric,
    distance_coding,
    metric as metric_named,
    pairwise,
)
from lyceum._core.types import Categories, Data, Target
from lyceum.decomposition.projections.spectrum import with_signs
from lyceum.errors import DataError, SettingError
from lyceum.report import Summary, Table

_MIXED = ("gower", "value_difference")


class ClassicalMDS(ClassNamePrefixFeaturesOutMixin, NewColumns, Learner):
    """Classical multidimensional scaling (principal coordinates): points with the distances that
    are given.

    The squared distances D² are centered twice,

        B = -½ J D² J,    J = I - 1 1ᵀ / N,

    which gives the inner products of the points about their mean; with B = V Λ Vᵀ the coordinates
    are V Λ^½, the largest eigenvalues first. Distances that are Euclidean in k dimensions are
    recovered exactly; others have negative eigenvalues, whose share is reported. Similarities S are
    centered as they are, B = J S J, for the distances d_ij² = s_ii + s_jj - 2 s_ij.

    A new row with the distances d to the rows of `fit` is placed at ½ Λ⁻¹ Yᵀ (mean of D² - d²), Y
    the coordinates (Gower 1968).

    Parameters
    ----------
    n_components : int, default=2
        The number of coordinates.
    metric : str or Metric, default="euclidean"
        The distance of rows, by its name or as an object of `lyceum.distances` ("gower" for mixed
        columns); "precomputed" if X is the matrix of distances, "similarity" if it is one of
        similarities.
    metric_params : dict or None, default=None
        Parameters of a metric that is given by its name.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each becomes one-of-C columns, except for metrics of mixed
        columns.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        The coordinates of the rows of `fit`.
    eigenvalues_ : array of shape (n_components,)
        The largest eigenvalues of B, those of the coordinates.
    all_eigenvalues_ : array of shape (n_samples,)
        All eigenvalues of B, the largest first.
    kept_ratio_ : float
        The kept eigenvalues as a proportion of the positive ones.
    negative_ratio_ : float
        The negative eigenvalues as a proportion of all by size: 0 for Euclidean distances.
    stress_ : float
        sqrt(Σ (d_ij - |y_i - y_j|)² / Σ d_ij²).
    rows_ : array of shape (n_samples, n_columns)
        The rows of `fit`; without rows for matrices.
    column_means_ : array of shape (n_samples,)
        The mean of every column of D² (or of S), for new rows.
    metric_ : Metric or None
        The metric as fitted.

    See Also
    --------
    PCA : the same coordinates for Euclidean distances, in one pass.
    lyceum.distances.pairwise : matrices of distances.

    References
    ----------
    Torgerson, W. S. (1952). Multidimensional scaling: theory and method. Psychometrika 17.
    Gower, J. C. (1968). Adding a point to vector diagrams in multivariate analysis. Biometrika 55.

    Examples
    --------
    Three towns on a line, from their distances:

    >>> import numpy as np
    >>> from lyceum.decomposition import ClassicalMDS
    >>> D = np.array([[0.0, 3, 10], [3, 0, 7], [10, 7, 0]])
    >>> mds = ClassicalMDS(1, metric="precomputed").fit(D)
    >>> np.abs(np.diff(mds.embedding_[:, 0])).round(6).tolist()
    [3.0, 7.0]
    """

    _reads_rows = "in memory"
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "metric": [str, Metric],
        "metric_params": [dict, None],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str | Metric = "euclidean",
        metric_params: dict[str, Any] | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.categorical_features = categorical_features

    @property
    def _is_matrix(self) -> bool:
        matrices = ("precomputed", "similarity")
        return isinstance(self.metric, str) and self.metric in matrices

    def _chosen_metric(self) -> Metric:
        if isinstance(self.metric, Metric):
            return self.metric
        return metric_named(self.metric, **(self.metric_params or {}))

    @property
    def _coding(self) -> Coding:  # type: ignore[override]
        if not self._is_matrix and self._chosen_metric().name in _MIXED:
            return "codes"
        return distance_coding(self.metric, self.metric_params)

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return not self._is_matrix and self._chosen_metric().takes_missing

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None):
        """Find the coordinates.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
            Rows, or a symmetric matrix of distances or similarities.
        y : ignored
        """
        rows = self._rows(X)
        block = rows.in_one_block(type(self).__name__, "PCA")
        cells = np.asarray(block.dense, dtype=np.float64)
        n = len(cells)
        self.metric_ = None
        if self._is_matrix:
            self._check_matrix(cells)
            self.rows_ = np.empty((0, cells.shape[1]))
        else:
            self.metric_ = self._chosen_metric().learn(rows)
            self.rows_ = cells.copy()  # the array may be the user's own
        if self.n_components > n:
            raise SettingError(
                f"n_components={self.n_components} must be between 1 and n_samples={n}"
            )
        self._solve(self._matrix(cells))
        return self

    def _matrix(self, cells: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
        """The squared distances times -½, or the similarities: what is centered twice."""
        if self.metric == "similarity":
            return cells
        D = cells
        if not self._is_matrix:
            D = pairwise(cells, among, metric=self.metric_ or "euclidean")
        return -0.5 * np.asarray(D, dtype=np.float64) ** 2

    def _check_matrix(self, M: np.ndarray) -> None:
        if M.shape[0] != M.shape[1]:
            raise DataError(
                f"an array must be 2-dimensional and square to hold {self.metric} values, but its"
                f" shape is {M.shape}"
            )
        rounding = 1e-8 * np.abs(M).max(initial=0.0)
        if not np.allclose(M, M.T, rtol=1e-8, atol=rounding):
            raise DataError(
                "Array must be symmetric: element (i, j) is the distance, or similarity, (j, i)"
            )
        if self.metric == "similarity":
            return
        if (M < 0).any():
            raise DataError(
                "distances must not be negative; for similarities set metric='similarity'"
            )
        if np.abs(np.diag(M)).max(initial=0.0) > rounding:
            raise DataError(
                "the distance of a row from itself must be 0; for similarities set"
                " metric='similarity'"
            )

    def _solve(self, M: np.ndarray) -> None:
        # sums over rows of M must stay finite
        if not np.abs(M).max(initial=0.0) * len(M) < 1e290:
            raise DataError(
                "the squared distances overflow: they are beyond 1e145; rescale them"
            )
        # double centering: B = J M J with J = I - 11ᵀ / n; coordinates are V √λ, largest λ first
        means = M.mean(axis=0)
        B = M - means - means[:, None] + means.mean()
        values, V = linalg.eigh(0.5 * (B + B.T))
        values = values[::-1]
        k = int(self.n_components)
        V = V[:, ::-1][:, :k]
        V = with_signs(V.T).T
        # eigenvalues that are rounding errors of the others are 0; negative ones, of distances
        # that no points can have, are reported but give no coordinate
        size = np.abs(values).sum()
        rounding = len(M) * np.finfo(float).eps * size
        values = np.where(np.abs(values) > rounding, values, 0.0)
        used = np.maximum(values[:k], 0.0)
        self.column_means_ = means
        self.embedding_ = V * np.sqrt(used)
        self.eigenvalues_ = values[:k].copy()
        self.all_eigenvalues_ = values
        positive = np.maximum(values, 0.0).sum()
        if positive:
            self.kept_ratio_ = float(used.sum() / positive)
        else:
            self.kept_ratio_ = 1.0
        self.negative_ratio_ = 0.0
        if size:
            self.negative_ratio_ = float(-np.minimum(values, 0.0).sum() / size)
        self.stress_ = self._stress(M)

    def _stress(self, M: np.ndarray) -> float:
        """Kruskal's stress, √(Σ (d - placed)² / Σ d²); d² = m_ii + m_jj - 2 m_ij, which holds for
        similarities as for -½ d² with zeros on the diagonal."""
        diagonal = np.diag(M)
        squared = diagonal + diagonal[:, None] - 2.0 * M
        wanted = np.sqrt(np.maximum(squared, 0.0))
        placed = pairwise(self.embedding_)
        squares = float((wanted**2).sum())
        if not squares:
            return 0.0
        misfit = float(((wanted - placed) ** 2).sum())
        return float(np.sqrt(misfit / squares))

    # -- use ---------------------------------------------------------------------------

    def fit_transform(self, X: Data, y: Target = None) -> Any:
        """The coordinates of the rows.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
            Rows, or a symmetric matrix of distances or similarities.
        y : ignored

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        self.fit(X)
        if isinstance(X, Rows):
            return self.transform(X)
        return self._contain(self.embedding_, X)

    def transform(self, X: Data) -> Any:
        """Coordinates of new rows among those of `fit`.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            Rows; or their distances (similarities) to the rows of `fit`, one column for each of
            these.

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_components)
        """
        return self._in_new_columns(self._place_rows, X)

    def _place_rows(self, block: Block) -> np.ndarray:
        # Gower's formula for a new point: (m - column means) V / √λ, where V = embedding / √λ.
        # The means of its own row of m cancel, as the coordinates have the mean 0.
        X = np.asarray(block.dense, dtype=np.float64)
        M = self._matrix(X, self.rows_)
        used = np.maximum(self.eigenvalues_, 0.0)
        inverse = np.divide(1.0, used, out=np.zeros_like(used), where=used > 0)
        return (M - self.column_means_) @ self.embedding_ * inverse

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The eigenvalues, and how well the distances are kept."""
        check_is_fitted(self)
        facts = {
            "rows": len(self.embedding_),
            "coordinates": self.embedding_.shape[1],
            "proportion kept": self.kept_ratio_,
            "negative proportion": self.negative_ratio_,
            "stress": self.stress_,
        }
        rows = list(enumerate(self.all_eigenvalues_[:20], start=1))
        table = Table("Eigenvalues", ("coordinate", "eigenvalue"), rows)
        return Summary(self._title(), facts, [table])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), *METRIC_PARTS)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n, k = self.embedding_.shape
        return {
            "embedding_": (n, k),
            "eigenvalues_": (k,),
            "all_eigenvalues_": (n,),
            "column_means_": (n,),
        }

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_matrix
        return tags

"""How far a row is from its nearest rows: unusual rows are far from all others."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, replace_columns, typical_row
from lyceum._core.clustering import NAMED_METRICS, MetricLearner
from lyceum._core.constraints import Interval
from lyceum._core.data import Block
from lyceum._core.distances import (
    check_stored,
    finite_distances,
    float_cells,
    metric,
    queries,
    stored_index,
)
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import DataError
from lyceum.report import Explanation, Summary

_LARGEST = 1e150  # of numbers whose squares are finite


class NeighborAnomalyScore(MetricLearner):
    """The mean distance to the k nearest rows of `fit`, with a minus sign: low where a row is
    unusual.

    .. math:: s(x) = -\\frac{1}{k} \\sum_{j=1}^{k} d(x, x_{(j)})

    With weights, x is compared with the nearest rows until their weight reaches k. Rows with
    missing cells are compared by the cells known in both, so that they are near to many rows: fill
    cells first where many are missing. Under the Euclidean distance columns count by their units,
    under Gower's they do not.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number k of neighbors.
    metric : str or Metric, default="gower"
        How far apart rows are. Gower's distance takes mixed columns and missing cells and does not
        depend on units; "auto" is Gower's where columns hold categories or cells are missing, else
        the Euclidean one. Sparse rows need "auto" or another metric that takes them, such as
        "cosine" or "manhattan".

    Attributes
    ----------
    rows_ : array or sparse array of shape (n, d)
        The rows of `fit`, as the metric compares them.
    weights_ : array of shape (n,)
        Their weights.
    metric_ : Metric
        The metric.
    typical_ : array of shape (d,)
        Mean or commonest cell of the columns of `rows_`; where explanations start.

    See Also
    --------
    AnomalyDetector : A threshold for these scores.
    lyceum.density.NeighborDensity : The density that goes with the distance to the k-th row.

    References
    ----------
    Angiulli and Pizzuti (2002), Fast outlier detection in high dimensional spaces, PKDD.

    Examples
    --------
    >>> model = NeighborAnomalyScore(n_neighbors=2, metric="euclidean")
    >>> model = model.fit([[0.0], [1.0], [3.0], [7.0]])
    >>> model.score_samples([[0.0], [9.0]]).tolist()
    [-0.5, -4.0]
    """

    _needs_scaling = False  # Gower's distance divides numbers by their ranges
    _parameter_constraints: ClassVar[dict] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": NAMED_METRICS,
        "categorical_features": CATEGORICAL_FEATURES,
    }
    _nan_means_none: ClassVar[bool] = True  # in rows with missing cells

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        metric: object = "gower",
        categorical_features: Categories = "from_dtype",
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.categorical_features = categorical_features

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return self.metric == "auto" or metric(self.metric).takes_sparse

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Store the rows of X.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._metric_rows(X, sample_weight)
        block = rows.in_one_block("NeighborAnomalyScore", "GaussianDensity")
        block = block.without_zero_weights()
        self.rows_ = float_cells(block).copy()  # the array may be the user's own
        cells = self.rows_
        if sparse.issparse(self.rows_):
            cells = self.rows_.data
        if np.abs(np.nan_to_num(cells)).max(initial=0.0) > _LARGEST:
            raise DataError(
                "the squared distances overflow: some column is beyond 1e150; rescale it"
            )
        self.weights_ = np.array(block.weights, dtype=np.float64)
        self.typical_ = typical_row(block)
        return self

    # -- scores ------------------------------------------------------------------------

    def score_samples(self, X: Data) -> Any:
        """The scores: the lower, the more unusual."""
        check_is_fitted(self)
        stored_index(self)  # built once, before threads need it
        return self._apply(self._scores, X)

    def _scores(self, block: Block) -> np.ndarray:
        return -self._mean_distances(queries(self, block))

    def _mean_distances(self, X: Any) -> np.ndarray:
        """The mean distance of every row to the nearest stored ones, of weight k."""
        # As many rows are searched as weigh k if each weighs 1; twice as many, again and again, for
        # those whose neighbors weigh less.
        n = len(self.weights_)
        means = np.empty(X.shape[0])
        wanted = min(float(self.n_neighbors), float(self.weights_.sum()))
        searching = np.arange(X.shape[0])
        n_searched = min(n, int(self.n_neighbors))
        while len(searching):
            neighbors = stored_index(self).nearest(X[searching], n_searched)
            w = self.weights_[neighbors.rows]
            # neighbors count with their weights, the last in part, until these sum to k
            before = np.cumsum(w, axis=1) - w
            share = np.clip(wanted - before, 0.0, w)
            reached = before[:, -1] + w[:, -1]
            done = (reached >= wanted * (1 - 1e-12)) | (n_searched == n)
            distances = finite_distances(neighbors.distances, self.metric_)
            mean = (share * distances).sum(axis=1) / share.sum(axis=1)
            means[searching[done]] = mean[done]
            searching = searching[~done]
            n_searched = min(n, 2 * n_searched)
        return means

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the score.

        The base is the score of a row of typical cells (`typical_`), whose columns are replaced by
        the row's own, one after the other, from both ends.
        """
        check_is_fitted(self)
        stored_index(self)
        parts = partial(replace_columns, background=self.typical_, answer=self._scores)
        return self._explain(X, parts, "score")

    def summary(self) -> Summary:
        """How many rows are stored, and how they are compared."""
        head = super().summary()
        facts = {
            "rows": len(self.weights_),
            "neighbors": self.n_neighbors,
            "metric": self.metric_.name,
        }
        return Summary(head.title, {**head.facts, **facts})

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"typical_": (len(self.design_names),)}

    def _check_model(self) -> None:
        super()._check_model()
        if hasattr(self, "rows_"):
            check_stored(self, len(self.weights_))

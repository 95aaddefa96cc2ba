"""Nearest-neighbor density: from the distance to the k-th nearest row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy.special import gammaln
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Density, Learner, replace_columns
from lyceum._core.constraints import Interval
from lyceum._core.data import Block, row_weights
from lyceum._core.distances import NeighborIndex
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.density.boxes import CATEGORIES, weighted_inverse_cdf
from lyceum.errors import DataError, SettingError
from lyceum.report import Explanation, Summary

_LARGEST = 1e150  # of numbers whose squares are finite
_DISTANCES = 1 << 20  # in memory at a time


class NeighborDensity(Density, Learner):
    """Nearest-neighbor density: f(x) = k / (N c_d R_k(x)^d).

    R_k(x) is the Euclidean distance from x to the k-th nearest row, c_d = π^(d/2) / Γ(d/2 + 1) the
    volume of the unit ball and N the weight of all rows. With weights, R_k is where the weight of
    the rows within first reaches k. f is not a proper density: its tails are so heavy that it does
    not integrate to 1, so that it cannot be sampled from, and where k rows are equal it is
    infinite. All rows are kept in memory. Columns should have comparable scales; a column of
    categories becomes one-of-C columns.

    Parameters
    ----------
    n_neighbors : int or None, default=None
        The number of neighbors, k; None takes sqrt(N), rounded.

    Attributes
    ----------
    n_neighbors_ : int
        k as used.
    rows_ : array of shape (n, d)
        The rows.
    weights_ : array of shape (n,)
        Their weights.

    See Also
    --------
    KernelDensity : a density that integrates to 1.
    lyceum.distances.NeighborIndex : the search for neighbors.

    References
    ----------
    Loftsgaarden, D. O. and Quesenberry, C. P. (1965). A nonparametric estimate of a multivariate
    density function. Annals of Mathematical Statistics 36(3).

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.density import NeighborDensity
    >>> model = NeighborDensity(n_neighbors=2).fit([[0.0], [1.0], [3.0], [7.0]])
    >>> np.exp(model.score_samples([[0.0], [5.0]])).round(3).tolist()  # 2 / (4 · 2 · R)
    [0.25, 0.125]
    """

    _reads_rows = "in memory"
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        **CATEGORIES,
    }

    def __init__(
        self,
        *,
        n_neighbors: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_neighbors = n_neighbors
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Store the rows of X.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._rows(X, y, sample_weight)
        block = rows.in_one_block(
            type(self).__name__, "HistogramDensity or GaussianDensity"
        ).without_zero_weights()
        self.rows_ = np.array(block.X, dtype=np.float64)
        if not np.abs(self.rows_).max(initial=0.0) < _LARGEST:
            raise DataError(
                "the squared distances overflow: some column is beyond 1e150; rescale it"
            )
        self.weights_ = row_weights(block.w, len(self.rows_))
        N = self.weights_.sum()
        # up to rounding, as a sum of weights may fall just short of a whole number
        if self.n_neighbors is not None and self.n_neighbors > N * (1 + 1e-12):
            raise SettingError(
                f"n_neighbors is {self.n_neighbors}, but the weight of all rows (samples) is"
                f" {N:g}: choose fewer"
            )
        if self.n_neighbors is None:
            self.n_neighbors_ = max(1, round(np.sqrt(N)))
        else:
            self.n_neighbors_ = int(self.n_neighbors)
        return self

    # -- the density -------------------------------------------------------------------

    def _log_density(self) -> Callable[[Block], np.ndarray]:
        return partial(_log_density, index=NeighborIndex(self.rows_), learner=self)

    def _log_density_at(
        self, X: np.ndarray, index: NeighborIndex, own: np.ndarray | None = None
    ) -> np.ndarray:
        """log f; `own` is the weight of every row of X itself among the stored rows, which is left
        out."""
        d = self.rows_.shape[1]
        if own is None:
            own = np.zeros(len(X))
        N = self.weights_.sum() - own
        # weights below 1 may not reach it
        k = np.minimum(float(self.n_neighbors_), N)
        # the radius that holds the weight k of other rows, a stretch of rows at a time
        radius = np.empty(len(X))
        chunk = max(1, _DISTANCES // (int(self.n_neighbors_) + 1))
        for start in range(0, len(X), chunk):
            rows = slice(start, start + chunk)
            radius[rows] = self._radius(X[rows], index, k[rows] + own[rows])
        # log f = log k - log N - log c_d - d log R, with c_d = π^(d/2) / Γ(d/2 + 1)
        with np.errstate(divide="ignore"):
            log_volume = d * np.log(radius)
        ball = 0.5 * d * np.log(np.pi) - gammaln(0.5 * d + 1.0)
        return np.log(k) - np.log(N) - ball - log_volume

    def _radius(
        self, X: np.ndarray, index: NeighborIndex, wanted: np.ndarray
    ) -> np.ndarray:
        """The smallest distance within which the rows have the weight that is wanted."""
        # As many neighbors as rows of weight 1 would need; twice as many for those rows whose
        # neighbors weigh less, until all are taken.
        n = len(self.rows_)
        out = np.empty(len(X))
        searching = np.arange(len(X))
        n_nearest = min(n, int(np.ceil(wanted.max())))
        while len(searching):
            neighbors = index.nearest(X[searching], n_nearest)
            within = np.cumsum(self.weights_[neighbors.rows], axis=1)
            enough = within >= wanted[searching, None] * (1 - 1e-12)
            if n_nearest == n:
                enough[:, -1] = True
            reached = enough[:, -1]
            first = enough[reached].argmax(axis=1)
            out[searching[reached]] = neighbors.distances[reached, first]
            searching = searching[~reached]
            n_nearest = min(n, 2 * n_nearest)
        return out

    def _threshold(self, quantile: float) -> float:
        # A row's distance 0 from itself would hide how far it is from the other rows.
        if len(self.rows_) < 2:
            raise DataError(
                "anomalies need the density of every row given the others, but there is 1 sample"
            )
        index = NeighborIndex(self.rows_)
        others = self._log_density_at(self.rows_, index, self.weights_)
        return weighted_inverse_cdf(others, self.weights_, quantile)

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the log density.

        The base is the log density at the mean of the rows, whose columns are replaced by the row's
        own, one after the other, from both ends. The density is infinite where k rows are equal: so
        is the term of the column that brings it there.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        mean = np.average(self.rows_, axis=0, weights=self.weights_)
        return self._explain(
            X,
            partial(replace_columns, background=mean, answer=self._log_density()),
            "log density",
        )

    def summary(self) -> Summary:
        """Rows, k, and the median distance to the k-th nearest row."""
        head = super().summary()
        sample = self.rows_[:: max(1, len(self.rows_) // 1000)]
        reach = self._radius(
            sample,
            NeighborIndex(self.rows_),
            np.full(len(sample), float(self.n_neighbors_)),
        )
        facts = {
            "rows": len(self.rows_),
            "weight": float(self.weights_.sum()),
            "neighbors k": self.n_neighbors_,
            "median of R_k at the rows": float(np.median(reach)),
        }
        return Summary(head.title, {**head.facts, **facts})

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = len(self.weights_)
        d = len(self.design_names)
        return {"rows_": (n, d), "weights_": (n,)}


def _log_density(
    block: Block, index: NeighborIndex, learner: NeighborDensity
) -> np.ndarray:
    return learner._log_density_at(np.asarray(block.X, dtype=np.float64), index)

"""k-means by Lloyd's algorithm, Euclidean or on the sphere."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from lyceum._threads import single_threaded_blas
from lyceum.base import Learner
from lyceum.cluster._lloyd_loop import COSINE, EUCLIDEAN, Geometry, Run, UnitRows, descend, fill_empty
from lyceum.cluster._lloyd_sums import LloydSums
from lyceum.cluster._starts import STARTS, start_of
from lyceum.data import Block, Rows, Schema, Step, design_change
from lyceum.distances import nearest, nearest_center, unit_rows
from lyceum.errors import DataError
from lyceum.report import Explanation, Summary, Table
from lyceum.statistics import RowSample

__all__ = ["KMeans"]

_SAMPLE_ROWS = 8192


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Learner):
    """k centres that are each the mean of the rows nearest to it.

    Lloyd's algorithm lowers

        sum_i  w_i  min_k |x_i - c_k|^2

    by turns: every row goes to its nearest centre (the first of a tie), every centre to the weighted mean of
    its rows. It stops when no row changes its centre, when the centres move by at most `tol`, or after
    `max_iter` passes. A cluster left without rows takes the row farthest from its centre. With
    `metric="cosine"` rows are scaled to length 1 and so are the centres (spherical k-means): the sum is that
    of w_i (1 - cos(x_i, c_k)). A row of zeros has no direction: it moves no centre, is at distance 1 from
    all, and is given label 0.

    Starts are chosen on at most max(8192, 64 n_clusters) rows, drawn by a hash of their numbers; when that
    is all of them, neither their order nor repeats written as weights change the result.

    Parameters
    ----------
    n_clusters : int, default=8
    init : {"k-means++", "random", "furthest-first", "hierarchical"}, array or callable, default="k-means++"
        Where to start: rows drawn in proportion to their squared distance to the centres so far (greedy);
        random rows; the row farthest from the mean, then always the one farthest from those chosen; the
        means of clusters cut from Ward's tree of at most max(1024, 4 n_clusters) rows; an array of centres,
        (n_clusters, n_columns); or what `init(rows, n_clusters, random_state=)` gives for the sampled rows.
    n_init : int or "auto", default="auto"
        Runs from different starts, of which the one of lowest inertia is kept. "auto" is 10 for "random" and
        callables, else 1. Starts without chance in them are run once.
    max_iter : int, default=300
    tol : float, default=1e-4
        Stop when the sum of squared moves of the centres is at most tol times the mean variance of the
        columns.
    metric : {"euclidean", "cosine"}, default="euclidean"
    random_state : int, RandomState or None, default=None
    record : bool, default=False
        Keep the centres of every step in `record_`.
    categorical_features : "from_dtype", mask, indices, names or None, default="from_dtype"
        Columns of categories; they become one-of-C columns, so rows that differ in one such column are at
        distance sqrt(2) there (1 when it has two categories).

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_columns)
        In the columns that the method computes with (categories expanded); of length 1 with the cosine
        metric.
    labels_ : array of shape (n_samples,)
        The cluster of every row of `fit`: what `predict` says of it. A lazy Dask array when the rows came
        from Dask. After `partial_fit`, the labels of the last batch.
    inertia_ : float
        The sum that is minimised, at `cluster_centers_`.
    counts_ : array of shape (n_clusters,)
        The weight of the rows of every cluster; `partial_fit` adds to it.
    n_iter_ : int
    history_ : list of float
        The inertia before every move of the centres, and at the end.
    record_ : list of arrays
        With `record=True`, the centres at the start and after every move.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.cluster import KMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> kmeans = KMeans(2, random_state=0).fit(X)
    >>> kmeans.cluster_centers_[kmeans.predict([[0, 0], [12, 3]])].tolist()
    [[1.0, 2.0], [10.0, 2.0]]
    """

    _coding = "one_of_c"
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(STARTS)), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "metric": [StrOptions({"euclidean", "cosine"})],
        "random_state": ["random_state"],
        "record": ["boolean"],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        metric="euclidean",
        random_state=None,
        record=False,
        categorical_features="from_dtype",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    # -- fit ------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Find the centres; `y` is not used."""
        rows = self._rows(X, None, sample_weight)
        runs = (descend(rows, start, self._geometry, self.max_iter, self.tol) for start in self._starts(rows))
        self._finish(min(runs, key=lambda run: run.last.inertia))
        self.labels_ = rows.collect(partial(self._geometry.labels, centers=self.cluster_centers_))
        self._warn_if_empty()
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """One step of streaming k-means on more rows.

        The rows of the batch go to their nearest centres, and every centre becomes the mean of all rows that
        it was ever given, in this and in earlier batches (MacQueen's rule, a batch at a time). The first
        batch chooses the start, so it needs at least `n_clusters` rows; after `fit`, its centres and counts
        are where to go on.
        """
        known = getattr(self, "schema_", None)
        rows = self._more_rows(X, None, sample_weight)
        return self._step(rows, *self._so_far(rows, known))

    def _step(self, rows: Rows, centers: np.ndarray, counts: np.ndarray):
        sums = rows.reduce(partial(LloydSums.of, centers=centers))
        sums = fill_empty(rows, centers, sums, empty=sums.weights + counts == 0)
        total = replace(sums, sums=sums.sums + counts[:, None] * centers, weights=sums.weights + counts)
        self.cluster_centers_ = self._geometry.move(centers, total)
        self.counts_ = total.weights
        self.inertia_ = self._geometry.scale * sums.inertia
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.history_ = [*getattr(self, "history_", []), self.inertia_]
        if self.record:
            self.record_ = [*getattr(self, "record_", [centers]), self.cluster_centers_]
        self.labels_ = rows.collect(partial(self._geometry.labels, centers=self.cluster_centers_))
        return self

    def _so_far(self, rows: Rows, known: Schema | None) -> tuple[np.ndarray, np.ndarray]:
        if known is None or not hasattr(self, "cluster_centers_"):
            return self._starts(rows)[0], np.zeros(self.n_clusters)
        matrix, offset = design_change(known, self._design)
        return self.cluster_centers_ @ matrix.T + offset, self.counts_

    def _starts(self, rows: Rows) -> list[np.ndarray]:
        """The centres to start from, one array a run."""
        if not isinstance(self.init, str) and not callable(self.init):
            return [self._checked(self.init, rows)]
        rng, size = check_random_state(self.random_state), max(_SAMPLE_ROWS, 64 * self.n_clusters)
        seed = int(rng.randint(2**31))
        sample = rows.reduce(partial(RowSample.of, size=size, seed=seed, n_rows=rows.n_rows))
        self._check_rows(sample.n_rows, len(sample))
        start = start_of(self.init)
        with single_threaded_blas():
            starts = [start(sample, self.n_clusters, rng) for _ in range(self._n_runs)]
        return [self._checked(centers, rows) for centers in starts]

    @property
    def _n_runs(self) -> int:
        kind = self.init if isinstance(self.init, str) else "callable" if callable(self.init) else "array"
        if self.n_init == "auto":
            return 10 if kind in ("random", "callable") else 1
        return self.n_init if kind in ("random", "callable", "k-means++") else 1

    def _check_rows(self, n_rows: int, used: float) -> None:
        if n_rows < self.n_clusters:
            raise DataError(f"n_samples={n_rows} should be >= n_clusters={self.n_clusters}")
        if not used:
            raise DataError("every row is zero or has weight zero: there is no direction to find centres in")

    def _checked(self, centers: Any, rows: Rows) -> np.ndarray:
        centers = np.array(centers.toarray() if sparse.issparse(centers) else centers, dtype=np.float64)
        wanted = (self.n_clusters, len(rows.schema))
        if centers.shape != wanted:
            raise DataError(f"the centres to start from have shape {centers.shape}, but {wanted} is needed")
        if not np.isfinite(centers).all():
            raise DataError("the centres to start from hold NaN or infinity")
        return unit_rows(centers)[0] if self.metric == "cosine" else centers

    def _finish(self, run: Run) -> None:
        self._check_rows(run.last.n_rows, run.last.weights.sum())
        self.cluster_centers_ = run.centers
        self.counts_ = run.last.weights
        self.history_ = [self._geometry.scale * inertia for inertia in run.history]
        self.inertia_ = self.history_[-1]
        self.n_iter_ = run.n_iter
        if self.record:
            self.record_ = run.record

    def _warn_if_empty(self) -> None:
        found = int(np.count_nonzero(self.counts_))
        if found < self.n_clusters:
            warnings.warn(
                f"found {found} distinct clusters where n_clusters={self.n_clusters}: there are too few "
                "distinct rows, ask for fewer clusters",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def _geometry(self) -> Geometry:
        return COSINE if self.metric == "cosine" else EUCLIDEAN

    def _steps(self) -> list[Step]:
        return [*super()._steps(), UnitRows()] if self.metric == "cosine" else super()._steps()

    # -- use ------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """The cluster of every row: the nearest centre."""
        check_is_fitted(self)
        return self._apply(partial(self._geometry.labels, centers=self.cluster_centers_), X)

    def transform(self, X: Any) -> Any:
        """The distance of every row to every centre: Euclidean, or 1 - cos."""
        check_is_fitted(self)
        return self._apply(partial(self._geometry.distances, centers=self.cluster_centers_), X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the inertia of the rows."""
        rows = self._rows_to_predict(X)
        if sample_weight is None:
            sums = rows.reduce(partial(LloydSums.of, centers=self.cluster_centers_))
            return -self._geometry.scale * sums.inertia
        squares = np.asarray(rows.collect(partial(_weighted_squares, centers=self.cluster_centers_)))
        weights = _check_sample_weight(sample_weight, squares, dtype=np.float64)
        return -self._geometry.scale * float(weights @ squares)

    # -- what was learned -----------------------------------------------------------------------------------

    def summary(self) -> Summary:
        """Inertia and iterations; size and nearest neighbour of every cluster; the centres."""
        check_is_fitted(self)
        centers, counts = self.cluster_centers_, self.counts_
        facts = {"clusters": len(centers), "columns": centers.shape[1], "inertia": self.inertia_}
        facts |= {"weight of the rows": counts.sum(), "iterations": self.n_iter_}
        apart = self._geometry.distances(Block(centers, None, None, 0, self._design.after), centers)
        np.fill_diagonal(apart, np.inf)
        near = apart.argmin(axis=1)
        sizes = [
            (k, counts[k], counts[k] / counts.sum(), near[k] if len(near) > 1 else "", apart[k, near[k]])
            for k in range(len(centers))
        ]
        names = [f"cluster {k}" for k in range(len(centers))]
        means = [(name, *column) for name, column in zip(self._design_names, centers.T)]
        head = ("cluster", "weight", "share", "nearest other", "distance")
        tables = [Table("Clusters", head, sizes), Table("Centres", ("column", *names), means)]
        return Summary(self._title(), facts, tables)

    def explain(self, X: Any) -> Explanation:
        """Why a row is in its cluster and not in the next: what every column adds to the difference.

        The score is the squared distance to the second nearest centre less that to the nearest (with the
        cosine metric, the difference of the two cosines). With one cluster there is nothing to decide, and
        all is zero.
        """
        check_is_fitted(self)
        centers = self.cluster_centers_
        margins = partial(_margins, centers=centers, scale=self._geometry.scale)
        unit = "squared distance to the next centre, less that to its own"
        unit = "cosine to its own centre, less that to the next" if self.metric == "cosine" else unit
        return self._explain(X, margins, unit, labels=np.arange(len(centers)))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shape = (self.n_clusters, len(self._design_names))
        return {"cluster_centers_": shape, "counts_": shape[:1]}

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


def _weighted_squares(block: Block, centers: np.ndarray) -> np.ndarray:
    squares = nearest_center(block.X, centers)[1]
    return squares if block.w is None else block.w * squares


def _margins(block: Block, centers: np.ndarray, scale: float) -> np.ndarray:
    """The cluster, zero, and for every column scale [(x - c)^2 - (x - b)^2].

    b is the nearest centre, c the second nearest.
    """
    X = np.asarray(block.dense, dtype=np.float64)
    order = nearest(X, min(2, len(centers)), among=centers).rows
    own, other = centers[order[:, 0]], centers[order[:, min(1, len(centers) - 1)]]
    return np.column_stack([order[:, 0], np.zeros(len(X)), scale * ((X - other) ** 2 - (X - own) ** 2)])

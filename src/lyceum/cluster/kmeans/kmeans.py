"""k-means by Lloyd's algorithm: Euclidean, cosine or correlation."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    NewColumns,
    affine_operation,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows, Schema, Step, design_change
from lyceum._core.statistics import RowSample
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.cluster.checks import check_enough_rows, warn_if_fewer
from lyceum.cluster.kmeans.geometry import (
    GEOMETRIES,
    Geometry,
    checked_centers,
    margins,
    weighted_squares,
)
from lyceum.cluster.kmeans.initial_centers import STARTS, choose_starts
from lyceum.cluster.kmeans.loop import Run, descend, fill_empty
from lyceum.cluster.kmeans.sums import LloydSums
from lyceum.cluster.typical_columns import TypicalColumns
from lyceum.errors import DataError, cannot_export
from lyceum.report import Explanation, Summary, Table

_SAMPLE_ROWS = 8192
_ALIASES = {"elkan": "bounds"}


class KMeans(
    ClassNamePrefixFeaturesOutMixin, TypicalColumns, NewColumns, ClusterMixin, Learner
):
    """k-means: k centers, each the mean of the rows nearest to it.

    Lloyd's algorithm lowers the inertia

        Σ_i w_i min_k |x_i - c_k|²

    in alternating steps: every row goes to its nearest center (the first of equally near ones),
    every center to the weighted mean of its rows. It stops when no row changes its center, when the
    centers move by at most `tol`, when few rows change their center (`min_moved`), or after
    `max_iter` passes. A cluster without rows takes the row farthest from its center. With
    `metric="cosine"` rows and centers are scaled to length 1 (spherical k-means), and the inertia
    is Σ_i w_i (1 - cos(x_i, c_k)); "correlation" first takes its mean from every row. A row of
    zeros moves no center, is at distance 1 from all centers, and gets label 0.

    The starting centers are chosen on a sample of at most max(8192, 64 n_clusters) rows, drawn by a
    hash of the row numbers. If that is all rows, neither their order nor weights in place of
    repeated rows change the result.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    init : str, array or callable, default="k-means++"
        The starting centers. "k-means++": rows drawn in proportion to their squared distance to the
        centers so far (greedy). "random": random rows. "furthest-first": the row farthest from the
        mean, then always the one farthest from those chosen. "hierarchical": the means of clusters
        cut from Ward's tree of at most max(1024, 4 n_clusters) rows. "widest-apart": of 4
        n_clusters random rows those widest apart. "space": points drawn evenly from the box around
        the rows. An array of shape (n_clusters, n_columns): these centers. A callable: what
        `init(rows, n_clusters, random_state=)` returns for the sampled rows.
    n_init : int or "auto", default="auto"
        How many runs from different starts; the one of lowest inertia is kept. "auto" is 10 for
        "random", "space", "widest-apart" and callables, else 1. Starts that are not random are run
        once.
    tol : float, default=1e-4
        Stop when the sum of the squared moves of the centers is at most tol times the mean variance
        of the columns.
    min_moved : float, default=0.0
        Stop after a pass in which at most this share of the rows changed their cluster; above 0
        passes are slower, as rows are compared with the centers before too.
    metric : {"euclidean", "cosine", "correlation"}, default="euclidean"
        The distance between rows and centers.
    algorithm : {"auto", "lloyd", "bounds", "elkan"}, default="auto"
        "lloyd" compares every row with all centers in every pass. "bounds" compares only rows that
        may have changed theirs (Hamerly), if they are dense and in memory: the same result, faster
        with many centers of clear clusters. "auto" does so where the centers have 4096 cells, as
        long as it spares enough rows. "elkan", scikit-learn's other choice, is "bounds".
    copy_x : bool, default=True
        Has no effect: the cells given are never changed.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each becomes one-of-C columns, so that rows that differ in
        one such column are at distance sqrt(2) there (1 if it has two categories).

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_columns)
        The centers in design columns (categories expanded); of length 1 unless the metric is
        Euclidean.
    labels_ : array of shape (n_samples,)
        The cluster of every row of `fit`, as `predict` gives it; a lazy Dask array if the rows came
        from Dask. After `partial_fit`, the labels of the last batch.
    inertia_ : float
        The inertia at `cluster_centers_`; after `partial_fit`, that of the last batch before the
        move.
    counts_ : array of shape (n_clusters,)
        The weight of the rows of every cluster; `partial_fit` adds to it.
    n_iter_ : int
        The passes of the run that was kept, or the number of batches of `partial_fit`.
    n_reseeded_ : int
        How many times a cluster without rows was given the row farthest from its center.
    n_compared_ : int
        How many times a row was compared with all centers in the run that was kept.
    history_ : list of float
        The inertia before every move of the centers, and at the end.
    record_ : list of dict
        With `record=True`, for every step its number `step`, the inertia `objective` and the
        `centers`.

    See Also
    --------
    lyceum.density.KernelDensity : a density without the number of clusters.
    lyceum.decomposition.PCA : directions instead of groups.

    References
    ----------
    Lloyd, S. P. (1982). Least squares quantization in PCM. IEEE Transactions on Information Theory
    28(2). Arthur, D. and Vassilvitskii, S. (2007). k-means++: the advantages of careful seeding.
    SODA. Hamerly, G. (2010). Making k-means even faster. SIAM Conference on Data Mining. Gonzalez,
    T. F. (1985). Clustering to minimize the maximum intercluster distance. TCS 38. MacQueen, J.
    (1967). Some methods for classification and analysis of multivariate observations.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.cluster import KMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> kmeans = KMeans(2, random_state=0).fit(X)
    >>> kmeans.cluster_centers_[kmeans.predict([[0, 0], [12, 3]])].tolist()
    [[1.0, 2.0], [10.0, 2.0]]
    """

    _step_kind = StepKind(
        "iteration",
        (
            StepColumn("objective", "SSE", "SSE = Σ w |x − c of its cluster|²"),
            StepColumn(
                "centers",
                "c",
                "c = the mean of the rows nearest to it",
                axes=("cluster", "column"),
                ends_in="cluster_centers_",
            ),
        ),
    )
    _coding = "every_category"
    _takes_sparse = True
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(STARTS)), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "min_moved": [Interval(Real, 0, 1, closed="left")],
        "metric": [StrOptions(set(GEOMETRIES))],
        "algorithm": [StrOptions({"auto", "lloyd", "bounds", "elkan"})],
        "copy_x": ["boolean"],
        "random_state": ["random_state"],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes = ("pass", "inertia")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        min_moved: float = 0.0,
        metric: str = "euclidean",
        algorithm: str = "auto",
        copy_x: bool = True,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.min_moved = min_moved
        self.metric = metric
        self.algorithm = algorithm
        self.copy_x = copy_x
        self.random_state = random_state
        self.record = record
        self.verbose = verbose
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Find the centers.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._rows(X, None, sample_weight)
        algorithm = _ALIASES.get(self.algorithm, self.algorithm)
        if self.algorithm == "elkan" and self.n_clusters == 1:
            warnings.warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
                stacklevel=3,
            )
        limits = (self.max_iter, self.tol, self.min_moved, algorithm)
        runs = (
            descend(rows, start, self._geometry, *limits)
            for start in self._starts(rows)
        )
        self._finish(min(runs, key=lambda run: run.last.inertia))
        self.labels_ = rows.collect(self._nearest_center)
        warn_if_fewer(int(np.count_nonzero(self.counts_)), self.n_clusters)
        return self

    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """One step of streaming k-means on more rows.

        The rows of the batch go to their nearest centers, and every center becomes the mean of all
        rows that it was given in this and in earlier batches (MacQueen's rule, one batch at a
        time). The first batch chooses the starting centers, so it needs at least `n_clusters` rows;
        after `fit`, the steps continue from its centers and counts.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        known = getattr(self, "schema_", None)
        rows = self._more_rows(X, None, sample_weight)
        return self._step(rows, *self._state(rows, known))

    def _step(
        self,
        rows: Rows,
        centers: np.ndarray,
        counts: np.ndarray,
    ):
        sums = rows.reduce(partial(LloydSums.of, centers=centers))
        sums = fill_empty(rows, centers, sums, empty=sums.weights + counts == 0)
        # the rows so far count as `counts` rows at their center: the center is the mean of all
        all_sums = replace(
            sums,
            sums=sums.sums + counts[:, None] * centers,
            weights=sums.weights + counts,
        )
        self.cluster_centers_ = self._geometry.move(centers, all_sums)
        self.counts_ = all_sums.weights
        self.inertia_ = self._geometry.scale * sums.inertia
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.history_ = [*getattr(self, "history_", []), self.inertia_]
        if self.record:
            start = {"step": 0, "objective": self.inertia_, "centers": centers}
            before = getattr(self, "record_", [start])
            step = {
                "step": self.n_iter_,
                "objective": self.inertia_,
                "centers": self.cluster_centers_,
            }
            self.record_ = [*before, step]
        self.labels_ = rows.collect(self._nearest_center)
        return self

    def _state(self, rows: Rows, known: Schema | None) -> tuple[np.ndarray, np.ndarray]:
        """The centers and counts to continue from, in the design columns of all categories seen."""
        if known is None or not hasattr(self, "cluster_centers_"):
            return self._starts(rows)[0], np.zeros(self.n_clusters)
        # new categories add design columns: the centers so far are mapped to them
        matrix, offset = design_change(known, self._design)
        return self.cluster_centers_ @ matrix.T + offset, self.counts_

    def _starts(self, rows: Rows) -> list[np.ndarray]:
        """The centers to start from, one array per run."""
        if not isinstance(self.init, str) and not callable(self.init):
            if not isinstance(self.n_init, str) and self.n_init > 1:
                warnings.warn(
                    "Explicit initial center position passed: performing only one init in"
                    f" {type(self).__name__} instead of n_init={self.n_init}.",
                    RuntimeWarning,
                    stacklevel=4,
                )
            return [self._check_centers(self.init, rows)]
        rng = check_random_state(self.random_state)
        size = max(_SAMPLE_ROWS, 64 * self.n_clusters)
        seed = int(rng.randint(2**31))
        draw = partial(RowSample.of, size=size, seed=seed, n_rows=rows.n_rows)
        sample = rows.reduce(draw)
        self._check_rows(sample.n_rows, len(sample))
        starts = choose_starts(self.init, sample, self.n_clusters, rng, self.n_init)
        return [self._check_centers(centers, rows) for centers in starts]

    def _check_rows(self, n_rows: int, used: float) -> None:
        check_enough_rows(n_rows, self.n_clusters)
        if not used:
            raise DataError(
                "every row is zero or has weight zero: there is no direction to find centers in"
            )

    def _check_centers(self, centers: Any, rows: Rows) -> np.ndarray:
        shape = (self.n_clusters, len(rows.schema))
        return checked_centers(centers, shape, self.metric)

    def _finish(self, run: Run) -> None:
        self._check_rows(run.last.n_rows, run.last.weights.sum())
        self.cluster_centers_ = run.centers
        self.counts_ = run.last.weights
        self.history_ = [self._geometry.scale * inertia for inertia in run.history]
        self.inertia_ = self.history_[-1]
        self.n_iter_ = run.n_iter
        self.n_reseeded_ = run.reseeded
        self.n_compared_ = run.compared
        self.__dict__.pop("record_", None)
        if self.record:
            steps = zip(self.history_, run.record)
            self.record_ = [
                {"step": step, "objective": objective, "centers": centers}
                for step, (objective, centers) in enumerate(steps)
            ]

    @property
    def _geometry(self) -> Geometry:
        return GEOMETRIES[self.metric]

    def _steps(self) -> list[Step]:
        return [*super()._steps(), *self._geometry.steps]

    # -- use ---------------------------------------------------------------------------

    @property
    def _nearest_center(self) -> partial[np.ndarray]:
        """The center nearest to every row of a block; not bound to self, which Dask would
        send."""
        return partial(self._geometry.labels, centers=self.cluster_centers_)

    def predict(self, X: Data) -> Any:
        """The cluster of every row: the nearest center.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self._nearest_center, X)

    def _operations(self) -> list[Operation]:
        """Minus the distances: the largest is that of the nearest center."""
        if self.metric != "euclidean":
            raise cannot_export(self, f"its metric is {self.metric!r}")
        centers = {"rows": self.cluster_centers_.tolist(), "metric": self.metric}
        k = len(self.cluster_centers_)
        negative = affine_operation(np.zeros(k), np.full(k, -1.0))
        return [("distances", centers), negative]

    def transform(self, X: Data) -> Any:
        """The distance of every row to every center: Euclidean, or 1 - cosine or correlation.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_clusters)
        """
        return self._in_new_columns(
            partial(self._geometry.distances, centers=self.cluster_centers_), X
        )

    def score(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ) -> float:
        """The negative inertia of the rows.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        rows = self.rows_to_predict(X)
        if sample_weight is None:
            sums = rows.reduce(partial(LloydSums.of, centers=self.cluster_centers_))
            return -self._geometry.scale * sums.inertia
        measure = partial(weighted_squares, centers=self.cluster_centers_)
        squares = np.asarray(rows.collect(measure))
        weights = _check_sample_weight(sample_weight, squares, dtype=np.float64)
        return -self._geometry.scale * float(weights @ squares)

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """Inertia and iterations; size and nearest neighbor of every cluster; the centers."""
        check_is_fitted(self)
        centers = self.cluster_centers_
        counts = self.counts_
        facts = {
            "clusters": len(centers),
            "columns": centers.shape[1],
            "inertia": self.inertia_,
            "weight of the rows": counts.sum(),
            "iterations": self.n_iter_,
        }
        if getattr(self, "n_reseeded_", 0):
            facts["empty clusters given a row"] = self.n_reseeded_
        block = Block(centers, None, None, 0, self._design.after)
        apart = self._geometry.distances(block, centers)
        np.fill_diagonal(apart, np.inf)
        sizes = []
        for k, neighbor in enumerate(apart.argmin(axis=1)):
            name = neighbor if len(centers) > 1 else ""
            share = counts[k] / counts.sum()
            distance = apart[k, neighbor]
            sizes.append((k, counts[k], share, name, distance))
        names = [f"cluster {k}" for k in range(len(centers))]
        means = [(name, *column) for name, column in zip(self.design_names, centers.T)]
        head = ("cluster", "weight", "share", "nearest other", "distance")
        tables = [
            Table("Clusters", head, sizes),
            Table("Centers", ("column", *names), means),
        ]
        return Summary(self._title(), facts, tables)

    def explain(self, X: Data) -> Explanation:
        """Why a row is in its cluster and not in the next: what every column adds to the
        difference.

        The score is the squared distance to the second nearest center minus that to the nearest
        (with the cosine metric, the difference of the two cosines). With one cluster all
        contributions are zero.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        scale = self._geometry.scale
        parts = partial(margins, centers=self.cluster_centers_, scale=scale)
        unit = "squared distance to the next center minus that to its own"
        if self._geometry.on_sphere:
            unit = f"{self.metric} to its own center minus that to the next"
        return self._explain(X, parts, unit, labels=np.arange(self.n_clusters))

    def _in_type_of_rows(self) -> tuple[str, ...]:
        return ("cluster_centers_",)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k = self.n_clusters
        return {"cluster_centers_": (k, len(self.design_names)), "counts_": (k,)}

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

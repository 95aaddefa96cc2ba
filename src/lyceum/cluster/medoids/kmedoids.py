"""k-medoids: k rows that stand for the rest, under any distance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, NewColumns
from lyceum._core.clustering import METRICS, MetricLearner
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows, dense_cells, stack_rows
from lyceum._core.native import native
from lyceum._core.statistics import RowSample
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.threads import n_threads
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.cluster.checks import check_enough_rows, warn_if_fewer
from lyceum.cluster.explanations import (
    adds_up,
    column_terms,
    margins_to_nearest,
    terms_unit,
)
from lyceum.cluster.kmeans.initial_centers import Points
from lyceum.cluster.medoids.best_swap import best_swaps
from lyceum.errors import DataError, SettingError
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table

_THREADED_ROWS = 4096  # with fewer, a candidate takes less time than waking a thread
_MOST_ROWS = 6144  # whose distances are held at once: 300 MB


class KMedoids(
    ClassNamePrefixFeaturesOutMixin, NewColumns, ClusterMixin, MetricLearner
):
    """k-medoids: the k rows (medoids) with the least sum of distances to the rows nearest to them.

    The loss is Σ_i w_i min_m d(x_i, x_m), for any distance. It is lowered by swapping a medoid for
    another row as soon as that helps (FasterPAM), or by the best of all swaps (PAM), until no swap
    of any medoid and any row does: a local optimum. Medoids are rows of the table, so that
    categories and missing cells are no obstacle (Gower's distance).

    The distances of all pairs are held for up to `max_samples` distinct rows. With more rows, also
    in files larger than memory and on Dask, `n_subsamples` samples of that size are worked on, each
    together with the best medoids so far, and the medoids with the least loss over all rows are
    kept (CLARA).

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    init : {"build", "k-medoids++", "random"} or array of int, (n_clusters,), default="build"
        The first medoids. "build": one after another, each the row that lowers the loss most (not
        random). "k-medoids++": drawn in proportion to the distance to those so far. "random":
        random rows. An array: the numbers of these rows, counted from 0.
    swap : {"first", "best"}, default="first"
        Which swap is made: the first that lowers the loss, so that a round makes many (FasterPAM),
        or of all the one that lowers it most, one per round (PAM: slower, with PAM's own result).
    n_init : int, default=1
        How many runs from different starts; the one with the least loss is kept. With "build" all
        but the first start by "k-medoids++"; with an array there is only one.
    max_iter : int, default=100
        The most rounds, in each of which every row is tried in place of every medoid.
    max_samples : int, default=6144
        The most rows whose distances are held at once.
    n_subsamples : int, default=5
        How many samples are worked on if there are more rows.

    Attributes
    ----------
    medoid_indices_ : array of int of shape (n_clusters,)
        The numbers of the medoids among the rows of `fit`.
    cluster_centers_ : array of shape (n_clusters, n_columns)
        The medoids, as the metric compares rows: coded cells for Gower and Hamming, else columns of
        numbers.
    labels_ : array of shape (n_samples,)
        The cluster of every row of `fit`; a lazy Dask array if the rows came from Dask.
    inertia_ : float
        The loss.
    counts_ : array of shape (n_clusters,)
        The weight of the rows of every cluster.
    n_iter_ : int
        The rounds of swaps of the run that was kept.
    history_ : list of float
        The loss over the sample, or over all rows if there are few, at the start and after every
        round.
    record_ : list of dict
        With `record=True`, for every run its number `step`, its loss `objective` and its `medoids`.
    metric_ : Metric
        The metric in use, with what it learned.

    See Also
    --------
    KMeans : centers that are means, for numbers.
    AgglomerativeClustering : clusters under any distance without choosing their number first.

    References
    ----------
    Kaufman, L. and Rousseeuw, P. J. (1990). Finding Groups in Data. Wiley.
    Schubert, E. and Rousseeuw, P. J. (2021). Fast and eager k-medoids clustering. Information
    Systems 101.

    Examples
    --------
    >>> import pandas as pd
    >>> from lyceum.cluster import KMedoids
    >>> towns = ["Ulm", "Ulm", "Ulm", "Bonn", "Bonn"]
    >>> table = pd.DataFrame({"age": [21, 23, None, 64, 66], "town": towns})
    >>> model = KMedoids(2).fit(table)
    >>> model.labels_.tolist()
    [1, 1, 1, 0, 0]
    """

    _step_kind = StepKind(
        "run",
        (
            StepColumn("objective", "loss", "Σ w min d(x, medoid)", unit="distance"),
            StepColumn(
                "medoids",
                "medoids",
                "the rows that are medoids",
                axes=("cluster",),
                unit="row numbers",
            ),
        ),
    )
    _reads_rows = "many passes"
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": METRICS,
        "init": [StrOptions({"build", "k-medoids++", "random"}), "array-like"],
        "swap": [StrOptions({"first", "best"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 2, None, closed="left")],
        "n_subsamples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes = ("round", "loss")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: object = "auto",
        init: Any = "build",
        swap: str = "first",
        n_init: int = 1,
        max_iter: int = 100,
        max_samples: int = _MOST_ROWS,
        n_subsamples: int = 5,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.init = init
        self.swap = swap
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_samples = max_samples
        self.n_subsamples = n_subsamples
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Find the medoids.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._metric_rows(X, sample_weight)
        rng = check_random_state(self.random_state)
        if self._is_precomputed:
            runs = self._given_runs(rows, rng)
        else:
            runs = self._runs(rows, rng)
        # of runs on different samples the one with the least loss over all rows
        record = []
        best: MedoidRun | None = None
        for step, run in enumerate(runs):
            record.append({"step": step, "objective": run.loss, "medoids": run.numbers})
            if best is None or run.loss < best.loss:
                best = run
        assert best is not None
        self.cluster_centers_ = best.medoids
        self.medoid_indices_ = best.numbers
        self.history_ = best.history
        self.n_iter_ = max(1, len(best.history) - 2)
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_ = record
        self.counts_ = best.sums.weights
        self.inertia_ = best.sums.loss
        if best.labels is not None:
            self.labels_ = best.labels
        else:
            self.labels_ = rows.collect(self._nearest)
        warn_if_fewer(len(self.medoid_indices_), self.n_clusters)
        return self

    def _runs(self, rows: Rows, rng: np.random.RandomState) -> Iterator[MedoidRun]:
        """One run on all rows, or one per sample, each with the best medoids of those before."""
        before: MedoidRun | None = None
        for draw in range(self.n_subsamples):
            report("samples", draw, self.n_subsamples)
            of = partial(
                RowSample.of,
                size=self.max_samples,
                seed=int(rng.randint(2**31)),
                n_rows=rows.n_rows,
            )
            sample = rows.reduce(of)
            self._check_rows(sample.n_rows, len(sample))
            points = Candidates(sample, before)
            # no name for the distances: they are freed before those of the next sample
            descents = self._descents(
                self._distances(points.X), points.w, points.numbers, rng
            )
            for medoids, history in descents:
                chosen = points.X[medoids]
                measure = partial(MedoidSums.of, medoids=chosen, distances=self._to)
                sums = rows.reduce(measure)
                run = MedoidRun(chosen, points.numbers[medoids], history, sums)
                if before is None or run.loss < before.loss:
                    before = run
                yield run
            if np.isinf(sample.limit):  # all rows are in it
                return

    def _given_runs(
        self, rows: Rows, rng: np.random.RandomState
    ) -> Iterator[MedoidRun]:
        block = rows.in_one_block(
            type(self).__name__, "KMedoids with a named metric, which samples"
        )
        D = self._given_distances(block)
        w = block.w
        weight = float(len(D)) if w is None else w.sum()
        self._check_rows(len(D), weight)
        for medoids, history in self._descents(D, w, np.arange(len(D)), rng):
            # not by `_to`, which would check the distances once more
            sums = MedoidSums.of(block, medoids, lambda _, columns: D[:, columns])
            labels = D[:, medoids].argmin(axis=1).astype(np.int32)
            yield MedoidRun(D[medoids], medoids, history, sums, labels)

    def _descents(
        self,
        D: np.ndarray,
        w: np.ndarray | None,
        numbers: np.ndarray,
        rng: np.random.RandomState,
    ) -> Iterator[tuple[np.ndarray, list[float]]]:
        """The medoids, in ascending order, and the history of every run on rows with the
        distances D."""
        is_named = isinstance(self.init, str)
        if len(D) >= _THREADED_ROWS:
            threads = n_threads()
        else:
            threads = 1
        for run in range(self.n_init if is_named else 1):
            init = self.init
            # the greedy start is always the same
            if run > 0 and init == "build":
                init = "k-medoids++"
            medoids = self._start(init, D, w, numbers, rng)
            if self.swap == "best":
                history = best_swaps(D, w, int(self.max_iter), medoids)
            else:
                history = native.medoids_swap(
                    D, w, int(self.max_iter), threads, medoids
                )
            yield np.sort(medoids), history.tolist()

    def _start(
        self,
        init: Any,
        D: np.ndarray,
        w: np.ndarray | None,
        numbers: np.ndarray,
        rng: np.random.RandomState,
    ) -> np.ndarray:
        k = min(self.n_clusters, len(D))
        medoids = np.empty(k, dtype=np.int64)
        if not isinstance(init, str):
            return self._given_start(numbers)
        # PAM's greedy start (Kaufman and Rousseeuw 1990)
        if init == "build":
            native.medoids_build(D, w, n_threads(), medoids)
            return medoids
        # in proportion to the weight, for k-medoids++ times the distance to the nearest medoid so
        # far; a row is drawn once
        if w is None:
            mass = np.ones(len(D))
        else:
            mass = w.copy()
        for m in range(k):
            share = mass
            if init != "random" and m > 0:
                share = mass * D[medoids[:m]].min(axis=0)
            if not share.any():
                share = mass
            chances = share / share.sum()
            medoids[m] = rng.choice(len(D), p=chances)
            mass[medoids[m]] = 0.0
        return medoids

    def _given_start(self, numbers: np.ndarray) -> np.ndarray:
        wanted = np.asarray(self.init)
        if wanted.shape != (self.n_clusters,) or wanted.dtype.kind not in "iu":
            raise SettingError(
                f"init must be {self.n_clusters} row numbers, one per cluster, but it has shape "
                f"{wanted.shape} and type {wanted.dtype}"
            )
        # row numbers of the table to places among the candidates
        index_of = {int(number): i for i, number in enumerate(numbers)}
        differ = len(set(wanted.tolist())) == len(wanted)
        if not differ or not all(int(number) in index_of for number in wanted):
            raise SettingError(
                "init must name different rows, of those whose distances are held: the first of"
                f" equal rows, and at most max_samples={self.max_samples} rows in all"
            )
        return np.array([index_of[int(number)] for number in wanted], dtype=np.int64)

    def _check_rows(self, n_rows: int, used: float) -> None:
        check_enough_rows(n_rows, self.n_clusters)
        if not used:
            raise DataError("every row has weight zero: there is nothing to cluster")

    # -- use ---------------------------------------------------------------------------

    def _to(self, block: Block, medoids: Any) -> np.ndarray:
        """Distances to medoids: rows, or their numbers if distances are given."""
        if self._is_precomputed:
            return self._given_distances(block, square=False)[:, medoids]
        return self._distances(block.X, medoids)

    def _to_medoids(self, block: Block) -> np.ndarray:
        if self._is_precomputed:
            return self._to(block, self.medoid_indices_)
        return self._to(block, self.cluster_centers_)

    def _nearest(self, block: Block) -> np.ndarray:
        return self._to_medoids(block).argmin(axis=1).astype(np.int32)

    def predict(self, X: Data) -> Any:
        """The cluster of every row: its nearest medoid.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self._nearest, X)

    def transform(self, X: Data) -> Any:
        """The distance of every row to every medoid.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_clusters)
        """
        return self._in_new_columns(self._to_medoids, X)

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """Loss and rounds; every cluster with its medoid and its size."""
        check_is_fitted(self)
        weight = self.counts_.sum()
        facts = {
            "clusters": len(self.counts_),
            "metric": "precomputed" if self._is_precomputed else self.metric_.name,
            "loss": self.inertia_,
            "weight of the rows": weight,
            "rounds": self.n_iter_,
        }
        sizes = [
            (k, int(row), count, count / weight)
            for k, (row, count) in enumerate(zip(self.medoid_indices_, self.counts_))
        ]
        heads = ("cluster", "medoid (row)", "weight", "share")
        tables = [Table("Clusters", heads, sizes)]
        if not self._is_precomputed:
            names = [f"cluster {k}" for k in range(len(sizes))]
            cells = [
                (name, *(self._original_cell(name, cell) for cell in column))
                for name, column in zip(self.design_names, self._dense_centers.T)
            ]
            tables.append(Table("Medoids", ("column", *names), cells))
        return Summary(self._title(), facts, tables)

    def _original_cell(self, name: str, cell: float) -> Any:
        """A cell of a medoid as it was in the table."""
        if not self._compares_cells:
            return float(cell)
        if np.isnan(cell):
            return "missing"
        column = self.schema_[name]
        if column.categories is None or column.numeric:
            return float(cell)
        return str(column.categories[int(cell)])

    @property
    def _dense_centers(self) -> np.ndarray:
        return dense_cells(self.cluster_centers_)

    @available_if(adds_up)
    def explain(self, X: Data) -> Explanation:
        """Why a row is in its cluster and not in the next: what every column adds to the
        difference.

        The score is the distance to the second nearest medoid minus that to the nearest; of squared
        distances for the Euclidean metric. With one cluster all contributions are zero. There is
        none for metrics that are no sums over columns (Chebyshev, Mahalanobis, Jaccard, distances
        that were given).

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        unit = terms_unit(self.metric_)
        labels = np.arange(len(self.counts_))
        return self._explain(X, self._margins, unit, labels=labels)

    def _margins(self, block: Block) -> np.ndarray:
        def terms(X: np.ndarray, cluster: np.ndarray) -> np.ndarray:
            return column_terms(self.metric_, X, self._dense_centers[cluster])

        return margins_to_nearest(block, self._to_medoids(block), terms)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k = len(self.counts_)
        shapes: dict[str, tuple[int, ...]] = {
            "counts_": (k,),
            "medoid_indices_": (k,),
        }
        if not self._is_precomputed and not hasattr(self.cluster_centers_, "toarray"):
            shapes["cluster_centers_"] = (k, len(self.design_names))
        return shapes

    _nan_means_none = True

    @property
    def _n_features_out(self) -> int:
        return len(self.counts_)


@dataclass(frozen=True, slots=True)
class MedoidSums:
    """The weight of the rows nearest to every medoid, and the sum of their distances."""

    weights: np.ndarray
    loss: float

    @classmethod
    def of(
        cls,
        block: Block,
        medoids: Any,
        distances: Callable[[Block, Any], np.ndarray],
    ) -> MedoidSums:
        D = distances(block, medoids)
        labels = D.argmin(axis=1)
        w = block.weights
        loss = float(w @ D.min(axis=1).astype(np.float64))
        return cls(np.bincount(labels, w, D.shape[1]), loss)

    def merge(self, other: MedoidSums) -> MedoidSums:
        return MedoidSums(self.weights + other.weights, self.loss + other.loss)


@dataclass(frozen=True, slots=True)
class MedoidRun:
    """Medoids, their row numbers, the losses on the way, the loss over all rows, and labels if
    known."""

    medoids: Any
    numbers: np.ndarray
    history: list[float]
    sums: MedoidSums
    labels: np.ndarray | None = None

    @property
    def loss(self) -> float:
        return self.sums.loss


class Candidates:
    """The distinct rows of a sample, and the medoids of the run before, with weights and row
    numbers."""

    def __init__(self, sample: RowSample, before: MedoidRun | None):
        X = sample.X
        w = sample.weights
        numbers = sample.rows
        # the medoids so far can be chosen again; where the sample has them not, they weigh nothing
        if before is not None:
            X = stack_rows([X, before.medoids])
            w = np.append(w, np.zeros(len(before.numbers)))
            numbers = np.append(numbers, before.numbers)
        points = Points(X, w)
        self.X = points.X
        self.w = points.w
        # of equal rows the least number stands for all
        self.numbers = np.full(len(points), np.iinfo(np.int64).max)
        np.minimum.at(self.numbers, points.groups, numbers)

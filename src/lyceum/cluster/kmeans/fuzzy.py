"""Fuzzy c-means: every row belongs to every cluster, to some degree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Learner, NewColumns, finite_sums
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.distances import pairwise
from lyceum._core.statistics import Moments, RowSample
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.cluster.checks import check_enough_rows
from lyceum.cluster.kmeans.geometry import GEOMETRIES, checked_centers, margins
from lyceum.cluster.kmeans.initial_centers import STARTS, choose_starts
from lyceum.cluster.typical_columns import TypicalColumns
from lyceum.errors import DataError
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table

_SAMPLE_ROWS = 8192


class FuzzyCMeans(
    ClassNamePrefixFeaturesOutMixin, TypicalColumns, NewColumns, ClusterMixin, Learner
):
    """Fuzzy c-means: memberships u_ik of every row in every cluster, which add up to 1.

    The objective Σ_i w_i Σ_k u_ik^m |x_i - c_k|² is lowered in alternating steps: memberships
    u_ik = |x_i - c_k|^(-2/(m-1)) / Σ_j |x_i - c_j|^(-2/(m-1)), and centers that are means weighted
    by u^m. As m falls to 1 it becomes k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    fuzziness : float, default=2.0
        m, above 1: the larger, the more even are memberships.
    init : str or array of shape (n_clusters, n_columns), default="k-means++"
        The starting centers, by a name as in `KMeans`, or given.
    n_init : int or "auto", default="auto"
        How many runs from different starts, as in `KMeans`.
    tol : float, default=1e-5
        Stop when a pass lowers the objective by at most this share.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_columns)
        The centers, in columns of numbers.
    labels_ : array of int of shape (n_samples,)
        The cluster of the largest membership of every row of `fit`.
    objective_ : float
        The objective at `cluster_centers_`.
    counts_ : array of shape (n_clusters,)
        The weight of the rows in every cluster, each counted by its membership.
    n_iter_ : int
        The passes of the run that was kept.
    history_ : list of float
        The objective at every pass.
    record_ : list of dict
        With `record=True`, for every step its number `step`, the `objective` and the `centers`.

    See Also
    --------
    KMeans : every row in one cluster.
    lyceum.mixtures.GaussianMixture : memberships that are probabilities.

    References
    ----------
    Bezdek, J. C. (1981). Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.

    Examples
    --------
    >>> from lyceum.cluster import FuzzyCMeans
    >>> model = FuzzyCMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> sorted(model.predict_proba([[5.0]])[0].round(3).tolist())
    [0.5, 0.5]
    """

    _step_kind = StepKind(
        "iteration",
        (
            StepColumn("objective", "J", "J = Σ u_ik^m |x_i − c_k|²"),
            StepColumn(
                "centers",
                "c",
                "c_k = Σ u_ik^m x_i / Σ u_ik^m",
                axes=("cluster", "column"),
                ends_in="cluster_centers_",
            ),
        ),
    )
    _coding = "every_category"
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "fuzziness": [Interval(Real, 1, None, closed="neither")],
        "init": [StrOptions(set(STARTS)), "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes = ("pass", "objective")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fuzziness: float = 2.0,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_clusters = n_clusters
        self.fuzziness = fuzziness
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Find the centers.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._rows(X, None, sample_weight)
        # a pass that only refuses cells too large to be squared
        finite_sums(rows.reduce(Moments.of))
        runs = [self._descend(rows, start) for start in self._starts(rows)]
        centers, sums, history, record = min(runs, key=lambda run: run[1].objective)
        self.cluster_centers_ = centers
        self.counts_ = sums.memberships
        self.objective_ = sums.objective
        self.history_ = history
        self.n_iter_ = len(history)
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_ = [
                {"step": step, "objective": objective, "centers": step_centers}
                for step, (objective, step_centers) in enumerate(zip(history, record))
            ]
        self.labels_ = rows.collect(self._nearest)
        return self

    def _starts(self, rows: Rows) -> list[np.ndarray]:
        shape = (self.n_clusters, len(rows.schema))
        if not isinstance(self.init, str):
            return [checked_centers(self.init, shape, "euclidean")]
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31))
        size = max(_SAMPLE_ROWS, 64 * self.n_clusters)
        draw = partial(RowSample.of, size=size, seed=seed, n_rows=rows.n_rows)
        sample = rows.reduce(draw)
        check_enough_rows(sample.n_rows, self.n_clusters)
        if not len(sample):
            raise DataError("every row has weight zero: there is nothing to cluster")
        return choose_starts(self.init, sample, self.n_clusters, rng, self.n_init)

    def _descend(
        self, rows: Rows, centers: np.ndarray
    ) -> tuple[np.ndarray, FuzzySums, list[float], list[np.ndarray]]:
        history: list[float] = []
        record = [centers]
        of = partial(FuzzySums.of, fuzziness=self.fuzziness)
        for n_iter in range(self.max_iter):
            report("iterations", n_iter, self.max_iter)
            sums = rows.reduce(partial(of, centers=centers))
            history.append(sums.objective)
            if n_iter and history[-2] - history[-1] <= self.tol * history[-2]:
                break
            # c_k = Σ w u^m x / Σ w u^m; a center without members stays where it is
            weights = sums.weights[:, None]
            centers = np.divide(
                sums.sums, weights, out=centers.copy(), where=weights > 0
            )
            record.append(centers)
        else:
            # the passes ran out after a move: the sums and the objective at the last centers
            sums = rows.reduce(partial(of, centers=centers))
            history.append(sums.objective)
        return centers, sums, history, record

    # -- use ---------------------------------------------------------------------------

    def _memberships(self, block: Block) -> np.ndarray:
        return _memberships(block, self.cluster_centers_, self.fuzziness)[0]

    def _nearest(self, block: Block) -> np.ndarray:
        return GEOMETRIES["euclidean"].labels(block, self.cluster_centers_)

    def predict_proba(self, X: Data) -> Any:
        """The membership of every row in every cluster; each row adds up to 1.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        return self._apply(self._memberships, X)

    def predict(self, X: Data) -> Any:
        """The cluster of the largest membership: the nearest center.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(self._nearest, X)

    def transform(self, X: Data) -> Any:
        """The Euclidean distance of every row to every center.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_clusters)
        """
        distances = GEOMETRIES["euclidean"].distances
        return self._in_new_columns(
            partial(distances, centers=self.cluster_centers_), X
        )

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """Why a row belongs most to its cluster: what every column adds to the difference to the
        next.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        parts = partial(margins, centers=self.cluster_centers_, scale=1.0)
        unit = "squared distance to the next center minus that to its own"
        labels = np.arange(len(self.cluster_centers_))
        return self._explain(X, parts, unit, labels=labels)

    def summary(self) -> Summary:
        """Objective and passes; the weight of every cluster by memberships; the centers."""
        check_is_fitted(self)
        weight = self.counts_.sum()
        sizes = [(k, count, count / weight) for k, count in enumerate(self.counts_)]
        names = [f"cluster {k}" for k in range(len(sizes))]
        means = [
            (name, *column)
            for name, column in zip(self.design_names, self.cluster_centers_.T)
        ]
        facts = {
            "clusters": len(sizes),
            "fuzziness": self.fuzziness,
            "objective": self.objective_,
            "passes": self.n_iter_,
        }
        tables = [
            Table("Clusters", ("cluster", "weight", "share"), sizes),
            Table("Centers", ("column", *names), means),
        ]
        return Summary(self._title(), facts, tables)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shape = (self.n_clusters, len(self.design_names))
        return {"cluster_centers_": shape, "counts_": shape[:1]}

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


@dataclass(frozen=True, slots=True)
class FuzzySums:
    """For every center the sums of w u^m x, w u^m and w u over the rows, and the objective."""

    sums: np.ndarray  # (k, d)
    weights: np.ndarray  # (k,)
    memberships: np.ndarray  # (k,)
    objective: float

    @classmethod
    def of(
        cls,
        block: Block,
        centers: np.ndarray,
        fuzziness: float,
    ) -> FuzzySums:
        u, squares = _memberships(block, centers, fuzziness)
        w = block.weights[:, None]
        share = w * u**fuzziness
        X = np.asarray(block.X, dtype=np.float64)
        return cls(
            sums=share.T @ X,
            weights=share.sum(axis=0),
            memberships=(w * u).sum(axis=0),
            objective=float((share * squares).sum()),
        )

    def merge(self, other: FuzzySums) -> FuzzySums:
        return FuzzySums(
            self.sums + other.sums,
            self.weights + other.weights,
            self.memberships + other.memberships,
            self.objective + other.objective,
        )


def _memberships(
    block: Block, centers: np.ndarray, fuzziness: float
) -> tuple[np.ndarray, np.ndarray]:
    """Memberships and squared distances, (n, k); a row on centers belongs to these alone."""
    X = np.asarray(block.X, dtype=np.float64)
    squares = pairwise(X, centers, metric="squared_euclidean")
    # u_ik ∝ d_ik^(-2/(m-1)), here as powers of (least / d_ik)², which lie in [0, 1]: with m near
    # 1 the powers of 1 / d themselves would overflow
    least = squares.min(axis=1, keepdims=True)
    on_center = squares == 0
    ratio = np.divide(
        least, squares, out=on_center.astype(np.float64), where=~on_center
    )
    power = 1.0 / (fuzziness - 1.0)
    u = np.where(least > 0, ratio**power, on_center)
    return u / u.sum(axis=1, keepdims=True), squares

"""Classification by the nearest of one or a few centroids per class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Coding,
    Learner,
    PosteriorClassifier,
    affine_operation,
    finite_sums,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.distances import (
    METRIC_PARTS,
    Mahalanobis,
    Metric,
    distance_coding,
    metric as metric_named,
    pairwise,
)
from lyceum._core.probability import AGAINST_RUNNER_UP, runner_up
from lyceum._core.statistics import ClassScatter, seed_from
from lyceum._core.types import Categories, Data, Operation
from lyceum.errors import DataError, SettingError, cannot_export, number_setting
from lyceum.neighbors.exemplars import geometric_median, groups, median
from lyceum.neighbors.knn.explanation import column_differences, column_shares
from lyceum.neighbors.stored_rows import (
    are_numbers,
    flat_fact,
    invertible,
    moments_of,
    number_scales,
)
from lyceum.report import Explanation, Summary, Table

_NAMES = {
    "euclidean",
    "manhattan",
    "minkowski",
    "chebyshev",
    "mahalanobis",
    "cosine",
    "correlation",
}


class NearestCentroid(PosteriorClassifier, Learner):
    """The class of the nearest centroid, with one centroid or several per class.

    Centroids are the means, medians or geometric medians of the rows of a class, or of each of its
    clusters (k-means). With d_c the distance to the nearest centroid of class c, the posterior is
    that of spherical Gaussians, P(c | x) ∝ π_c exp(-d_c² / 2 s²), where s² is the mean squared
    distance of rows to the centroid of their own class, divided by the number of columns, and the
    priors π_c are equal unless others are given.

    Parameters
    ----------
    n_clusters : int, default=1
        How many clusters every class has, each with its centroid; fewer where a class has fewer
        distinct rows.
    exemplar : {"auto", "mean", "geometric_mean", "median", "geometric_median"}, default="auto"
        What stands for the rows: their mean; the geometric mean exp(mean of log x) of every column
        of numbers, none of which may be negative, and the mean of indicators of categories; the
        median of every column; or the point of the least sum of Euclidean distances. "auto" is the
        mean, and the median for metric="manhattan", of which it has the least sum.
    metric : str or Metric, default="euclidean"
        "euclidean", "manhattan", "minkowski", "chebyshev", "mahalanobis", "cosine" or
        "correlation", or a `Metric`; "mahalanobis" takes the covariance within the classes.
    covariance : {"class", "centroid"} or None, default=None
        If given, distances are Mahalanobis distances, with the covariance of the rows of the class,
        or of the rows of every centroid. Where there are fewer than d + 2 rows it is that of all
        classes.
    priors : {"uniform", "empirical"} or array of shape (n_classes,), default="uniform"
        Equal priors, the shares of the classes in the rows, or priors in the order of `classes_`.
    shrink_threshold : float or None, default=None
        Move every centroid towards the mean of all rows by so many standard errors in each column,
        but not beyond (Tibshirani and others 2002): columns that do not tell the classes apart no
        longer count.
    standardize : bool or "range", default=False
        Whether columns of numbers are divided by their standard deviation, or range, first.

    Attributes
    ----------
    centroids_ : array of shape (m, d)
        The centroids, in the units of the rows.
    centroid_class_ : array of int of shape (m,)
        The class of every centroid, as a number of `classes_`.
    class_prior_ : array of shape (n_classes,)
        The priors.
    within_class_std_dev_ : array of shape (d,)
        The standard deviation of every column about the centroids of the classes before they are
        shrunken; with one centroid per class.
    deviations_ : array of shape (n_classes, d)
        How far every centroid is from the mean of all rows after shrinking, in standard errors from
        `within_class_std_dev_` plus its median; with one centroid per class.
    covariances_ : array of shape (m, d, d)
        With `covariance`, the covariance of every centroid, in scaled units.
    metric_ : Metric
        The metric as it was learned.
    spread_ : float
        s.
    n_undetermined_ : int
        With learned Mahalanobis distances, the number of directions in which the rows of a
        covariance do not vary, the most of any: a small ridge was added there.
    center_, scale_ : arrays of shape (d,)
        What is subtracted from every column, and what it is divided by.

    See Also
    --------
    KNeighborsClassifier : all rows instead of a few.
    lyceum.bayes.QuadraticDiscriminantAnalysis : a Gaussian per class.

    References
    ----------
    Tibshirani, R. et al. (2002). Diagnosis of multiple cancer types by shrunken centroids of gene
    expression. Proceedings of the National Academy of Sciences 99(10). Weiszfeld, E. (1937). Sur le
    point pour lequel la somme des distances de n points donnés est minimum. Tohoku Mathematical
    Journal 43.

    Examples
    --------
    >>> from lyceum.neighbors import NearestCentroid
    >>> X, y = [[0.0, 0.0], [2.0, 0.0], [8.0, 1.0], [10.0, 1.0]], ["a", "a", "b", "b"]
    >>> model = NearestCentroid().fit(X, y)
    >>> model.centroids_.tolist(), model.predict([[4.0, 0.0], [6.0, 0.0]]).tolist()
    ([[1.0, 0.0], [9.0, 1.0]], ['a', 'b'])
    """

    _needs_scaling = True
    _takes_sparse = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "exemplar": [
            StrOptions({"auto", "mean", "geometric_mean", "median", "geometric_median"})
        ],
        "priors": [StrOptions({"uniform", "empirical"}), "array-like"],
        "shrink_threshold": [Interval(Real, 0, None, closed="neither"), None],
        "metric": [StrOptions(_NAMES), Metric],
        "covariance": [StrOptions({"class", "centroid"}), None],
        "standardize": ["boolean", StrOptions({"range"})],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    centroids_: np.ndarray
    centroid_class_: np.ndarray

    def __init__(
        self,
        metric: Any = "euclidean",
        *,
        shrink_threshold: float | None = None,
        priors: Any = "uniform",
        n_clusters: int = 1,
        exemplar: str = "auto",
        covariance: str | None = None,
        standardize: bool | str = False,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.shrink_threshold = shrink_threshold
        self.priors = priors
        self.n_clusters = n_clusters
        self.exemplar = exemplar
        self.metric = metric
        self.covariance = covariance
        self.standardize = standardize
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def _coding(self) -> Coding:  # type: ignore[override]
        if self.covariance is not None:
            return "reference"
        return distance_coding(self.metric)

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Find the centroids: in passes for one mean per class, else with all rows in memory.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        rows = self._rows(X, y, sample_weight)
        metric = metric_named(self.metric)
        if self.covariance is not None and metric.name != "euclidean":
            raise SettingError(
                f"covariance={self.covariance!r} gives Mahalanobis distances, which"
                f" metric={metric.name!r} is not: leave metric at 'euclidean'"
            )
        self._check_shrinking()
        self._learn_scale(rows)
        scatter = finite_sums(rows.reduce(self._scatter_of))
        freedom = max(1.0, scatter.class_weight.sum() - len(self.classes_))
        within = scatter.scatter.sum(axis=0) / freedom
        self._learn_priors(scatter.class_weight)
        if (
            self.n_clusters == 1
            and self._kind_of_exemplar == "mean"
            and self.covariance != "centroid"
        ):
            self._from_scatter(scatter, within)
        else:
            self._from_rows(rows, within)
        if self.n_clusters == 1:
            self._set_deviations(scatter)
        if isinstance(metric, Mahalanobis) and not metric.is_known:
            pooled = Mahalanobis(within, np.zeros(len(within)))
            metric, self.n_undetermined_ = invertible(pooled)
        self.metric_ = metric
        # s² is the mean square of the distance to the nearest centroid of the own class, per column
        self.spread_ = 1.0
        squares = rows.reduce(partial(_OwnSquares.of, learner=self))
        if len(within):
            mean = squares.total / (squares.weight * len(within))
            if mean > 1e-300:
                self.spread_ = float(np.sqrt(mean))
        return self

    def _scatter_of(self, block: Block) -> ClassScatter:
        X = self._scale_cells(block.dense)
        return ClassScatter.of(block.with_X(X, block.schema))

    @property
    def _kind_of_exemplar(self) -> str:
        if self.exemplar != "auto":
            return self.exemplar
        return "median" if self.metric == "manhattan" else "mean"

    def _check_shrinking(self) -> None:
        if self.shrink_threshold is None:
            return
        if self.n_clusters > 1 or self.covariance is not None:
            raise SettingError(
                f"shrink_threshold={self.shrink_threshold:g} moves the one centroid of every class:"
                " it needs n_clusters=1 and covariance=None"
            )

    def _learn_priors(self, class_weight: np.ndarray) -> None:
        K = len(self.classes_)
        if isinstance(self.priors, str):
            shares = class_weight / class_weight.sum()
            self.class_prior_ = np.full(K, 1.0 / K)
            if self.priors == "empirical":
                self.class_prior_ = shares
            return
        priors = number_setting("priors", self.priors)
        if priors.shape != (K,):
            raise SettingError(
                f"priors has the shape {priors.shape}: give one number for each of the {K} classes"
            )
        if not (priors >= 0).all() or not priors.sum() > 0:
            raise SettingError(
                f"priors must be non-negative and not all 0; they are {priors.tolist()}"
            )
        if not np.isclose(priors.sum(), 1.0):
            warnings.warn(
                "The priors do not sum to 1. Normalizing such that it sums to one.",
                UserWarning,
                stacklevel=4,
            )
        self.class_prior_ = priors / priors.sum()

    def _set_deviations(self, scatter: ClassScatter) -> None:
        """How far centroids are from the mean of all rows; with a threshold they are moved towards
        it (Tibshirani and others 2002)."""
        classes = self.centroid_class_
        n = scatter.class_weight[classes][:, None]
        means = scatter.mean[classes]
        centroids = self._scale_cells(self.centroids_)
        total = n.sum()
        mean = (n * means).sum(axis=0) / total
        # Σ (x - centroid)² = Σ (x - mean)² + n (mean - centroid)² of every class
        about_means = np.einsum("kjj->kj", scatter.scatter[classes])
        squares = (about_means + n * (means - centroids) ** 2).sum(axis=0)
        freedom = max(1.0, total - len(classes))
        raw = np.sqrt(squares / freedom) * self.scale_
        self.within_class_std_dev_ = raw
        unit = (raw + np.median(raw)) / self.scale_
        units = np.sqrt(np.maximum(1.0 / n - 1.0 / total, 0.0)) * unit
        apart = centroids - mean
        self.deviations_ = np.divide(
            apart, units, out=np.zeros_like(apart), where=units > 0
        )
        if self.shrink_threshold is None:
            return
        if not (about_means.any() or (means != mean).any()):
            raise DataError("All features have zero variance. Division by zero.")
        self._shrink(mean, units, centroids)

    def _shrink(
        self, mean: np.ndarray, units: np.ndarray, centroids: np.ndarray
    ) -> None:
        """Centroids nearer to the mean by the threshold, in these units, not beyond it."""
        left = np.maximum(np.abs(self.deviations_) - self.shrink_threshold, 0.0)
        self.deviations_ = np.sign(self.deviations_) * left
        moved = np.where(units > 0, mean + units * self.deviations_, centroids)
        self.centroids_ = moved * self.scale_ + self.center_

    def _scale_cells(self, X: Any) -> np.ndarray:
        if sparse.issparse(X):
            X = X.toarray()
        return (np.asarray(X, dtype=np.float64) - self.center_) / self.scale_

    def _learn_scale(self, rows: Rows) -> None:
        moments = moments_of(rows)
        # distances by angle change when all rows move, and those of a given metric may
        is_given = isinstance(self.metric, Metric)
        needs_origin = is_given or self.metric in ("cosine", "correlation")
        moves = np.isfinite(moments.mean) & (not needs_origin)
        self.center_ = np.where(moves, moments.mean, 0.0)
        self.scale_ = number_scales(
            moments, self.schema_, self._design, self.standardize
        )

    def _from_scatter(self, scatter: ClassScatter, within: np.ndarray) -> None:
        classes = np.flatnonzero(scatter.class_weight > 0)
        self._set(scatter.mean[classes], classes)
        if self.covariance == "class":
            parts = [(scatter.scatter[c], scatter.class_weight[c]) for c in classes]
            self._set_covariances(parts, within)

    def _from_rows(self, rows: Rows, within: np.ndarray) -> None:
        block = rows.in_one_block(
            type(self).__name__, "n_clusters=1 with exemplar='mean'"
        )
        block = block.without_zero_weights()
        cells = block.dense
        X = self._scale_cells(cells)
        w = np.array(block.weights)
        y = block.y
        seed = seed_from(self.random_state)
        assert y is not None
        centroids = []
        classes = []
        parts = []
        for c in np.unique(y):
            of_class = np.flatnonzero(y == c)
            group = groups(X[of_class], w[of_class], int(self.n_clusters), seed)
            for g in np.unique(group):
                of_group = of_class[group == g]
                centroid = self._exemplar(X[of_group], cells[of_group], w[of_group])
                centroids.append(centroid)
                classes.append(c)
                # the rows that the covariance of the centroid comes from
                spread = of_group if self.covariance == "centroid" else of_class
                v = w[spread]
                moved = X[spread] - np.average(X[spread], axis=0, weights=v)
                scatter = (v[:, None] * moved).T @ moved
                parts.append((scatter, float(v.sum())))
        self._set(np.array(centroids), np.array(classes))
        if self.covariance is not None:
            self._set_covariances(parts, within)

    def _exemplar(self, X: np.ndarray, cells: np.ndarray, w: np.ndarray) -> np.ndarray:
        """What stands for weighted rows X; `cells` are the same rows in their own units."""
        kind = self._kind_of_exemplar
        if kind == "median":
            return np.array([median(column, w) for column in X.T])
        if kind == "geometric_median":
            return geometric_median(X, w)
        mean = np.average(X, axis=0, weights=w)
        if kind == "mean":
            return mean
        # geometric means are not those of scaled cells; indicators keep their shares
        is_number = are_numbers(self.schema_, self._design)
        geometric = self._scale_cells(self._geometric_means(cells, w, is_number))
        return np.where(is_number, geometric, mean)

    def _geometric_means(
        self, cells: np.ndarray, w: np.ndarray, is_number: np.ndarray
    ) -> np.ndarray:
        """exp(mean of log x) of the columns of numbers, 0 where a cell is 0; 1 for others."""
        numbers = np.where(is_number, np.asarray(cells, dtype=np.float64), 1.0)
        negative = np.flatnonzero((numbers < 0).any(axis=0))
        if len(negative):
            j = negative[0]
            raise DataError(
                f"column {self.design_names[j]!r} holds {numbers[:, j].min():g}, of which there is"
                " no geometric mean: shift it above 0, or take exemplar='mean' or 'median'"
            )
        logs = np.full(numbers.shape, -np.inf)
        np.log(numbers, out=logs, where=numbers > 0)
        return np.exp(np.average(logs, axis=0, weights=w))

    def _set(self, centroids: np.ndarray, classes: np.ndarray) -> None:
        self.centroids_ = centroids * self.scale_ + self.center_
        self.centroid_class_ = classes.astype(np.int64)
        self.n_undetermined_ = 0
        self.__dict__.pop("covariances_", None)

    def _set_covariances(
        self, parts: list[tuple[np.ndarray, float]], within: np.ndarray
    ) -> None:
        # rows too few for a covariance of their own have the one pooled within all classes
        d = len(within)
        covariances = [S / (n - 1) if n >= d + 2 else within for S, n in parts]
        metrics = [invertible(Mahalanobis(S, np.zeros(d))) for S in covariances]
        self.n_undetermined_ = max(n_flat for _, n_flat in metrics)
        used = [metric.covariance for metric, _ in metrics]
        self.covariances_ = np.array(used, dtype=np.float64).reshape(len(parts), d, d)

    # -- predict -----------------------------------------------------------------------

    def _distances(self, block: Block) -> np.ndarray:
        """The distance to every centroid, (n, m)."""
        Z = np.ascontiguousarray(self._scale_cells(block.X))
        C = np.ascontiguousarray(self._scale_cells(self.centroids_))
        if not hasattr(self, "covariances_"):
            return pairwise(Z, C, metric=self.metric_)
        columns = [
            pairwise(Z, C[i : i + 1], metric=Mahalanobis(S))
            for i, S in enumerate(self.covariances_)
        ]
        return np.hstack(columns)

    def _class_distances(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """The distance to the nearest centroid of every class, (n, K), and which one that is."""
        distances = self._distances(block)
        n = len(block)
        K = len(self.classes_)
        out = np.full((n, K), np.inf)
        which = np.zeros((n, K), dtype=np.int64)
        for c in np.unique(self.centroid_class_):
            indices = np.flatnonzero(self.centroid_class_ == c)
            best = distances[:, indices].argmin(axis=1)
            which[:, c] = indices[best]
            out[:, c] = distances[np.arange(n), which[:, c]]
        return out, which

    def _log_joint(self, block: Block) -> np.ndarray:
        joint = -0.5 * (self._class_distances(block)[0] / self.spread_) ** 2
        return joint + self._log_priors

    @property
    def _log_priors(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _operations(self) -> list[Operation]:
        one_each = np.array_equal(self.centroid_class_, np.arange(len(self.classes_)))
        is_plain = self.metric_.name == "euclidean" and not hasattr(
            self, "covariances_"
        )
        if not (one_each and is_plain):
            raise cannot_export(
                self, "it has another metric, or classes of several centroids"
            )
        K = len(self.classes_)
        units = {
            "centers": self._scale_cells(self.centroids_).tolist(),
            "halves": [0.5 / float(self.spread_) ** 2] * K,
            "constants": self._log_priors.tolist(),
        }
        prepare = affine_operation(self.center_, self.scale_)
        return [prepare, ("radial", units), ("softmax", {})]

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """The log-odds of the nearest class against the runner-up, column by column; the base is
        the log-odds of their priors.

        For distances that are sums of squares a column adds (u_j² - v_j²) / 2 s², v and u the
        differences from the two nearest centroids; for others the log-odds are shared by where the
        first is nearer.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        return self._explain(X, self._column_odds, AGAINST_RUNNER_UP)

    def _column_odds(self, block: Block) -> np.ndarray:
        distances, which = self._class_distances(block)
        distance_odds = -0.5 * (distances / self.spread_) ** 2
        best, second = runner_up(distance_odds + self._log_priors)
        n = len(block)
        rows = np.arange(n)
        to_best = self._parts_of(block, which[rows, best])
        to_second = self._parts_of(block, which[rows, second])
        # squared distances are sums over columns; for other metrics shares divide the odds
        names = ("euclidean", "mahalanobis")
        if hasattr(self, "covariances_") or self.metric_.name in names:
            added = (to_second - to_best) / (2 * self.spread_**2)
        else:
            odds = np.subtract(
                distance_odds[rows, best],
                distance_odds[rows, second],
                out=np.zeros(n),
                where=best != second,
            )
            added = odds[:, None] * column_shares(to_second, to_best)
        added = np.where((best == second)[:, None], 0.0, added)
        log_priors = self._log_priors
        base = np.where(best == second, 0.0, log_priors[best] - log_priors[second])
        return np.column_stack([best, base, added])

    def _parts_of(self, block: Block, which: np.ndarray) -> np.ndarray:
        """What every column adds to the (squared) distance to one centroid per row."""
        Z = self._scale_cells(block.X)
        C = self._scale_cells(self.centroids_)[which]
        d = Z.shape[1]
        if not hasattr(self, "covariances_"):
            return column_differences(self.metric_, Z, C, np.arange(d), d)
        # δ_j (S⁻¹ δ)_j sums to the squared distance
        delta = Z - C
        solved = np.linalg.solve(self.covariances_[which], delta[:, :, None])
        return delta * solved[:, :, 0]

    def summary(self) -> Summary:
        """The centroids, and the distances that they are compared by."""
        head = super().summary()
        if self.covariance is None:
            metric = repr(self.metric_)
        else:
            metric = f"Mahalanobis, by {self.covariance}"
        facts = {
            **head.facts,
            "centroids": len(self.centroids_),
            "exemplar": self._kind_of_exemplar.replace("_", " "),
            "metric": metric,
            "standardize": self.standardize or "columns as they are",
            "spread s": self.spread_,
            **flat_fact(self.n_undetermined_, len(self.design_names)),
        }
        rows = [
            (str(self.classes_[c]), *centroid.tolist())
            for c, centroid in zip(self.centroid_class_, self.centroids_)
        ]
        table = Table("Centroids", ("class", *self.design_names), rows)
        return Summary(head.title, facts, [table])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), *METRIC_PARTS)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        m = len(self.centroid_class_)
        d = len(self.design_names)
        shapes: dict[str, tuple[int, ...]] = {
            "centroids_": (m, d),
            "centroid_class_": (m,),
            "center_": (d,),
            "scale_": (d,),
            "class_prior_": (len(self.classes_),),
        }
        if self.covariance:
            shapes["covariances_"] = (m, d, d)
        return shapes


# -- helpers ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _OwnSquares:
    """The weighted sum of squared distances to the nearest centroid of the own class."""

    total: float
    weight: float

    @classmethod
    def of(cls, block: Block, learner: NearestCentroid) -> _OwnSquares:
        block = block.without_zero_weights()
        if not len(block):
            return cls(0.0, 0.0)
        distances, _ = learner._class_distances(block)
        own = distances[np.arange(len(block)), block.y]
        return cls(float(block.weights @ own**2), block.weight)

    def merge(self, other: _OwnSquares) -> _OwnSquares:
        return _OwnSquares(self.total + other.total, self.weight + other.weight)

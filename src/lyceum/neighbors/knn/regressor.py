"""Regression by the mean of the nearest rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import Regressor, rows_of_outputs, several_outputs
from lyceum._core.data import ArraySource, Block, Column, Rows
from lyceum._core.distances import Metric, ValueDifference
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.neighbors.knn.explanation import NeighborExplanation
from lyceum.neighbors.knn.voter import VOTER_CONSTRAINTS, Voter
from lyceum.neighbors.knn.votes import OutputTallies, Tally
from lyceum.report import Summary

_BINS = 5  # groups of the target that the value difference metric tells apart


class KNeighborsRegressor(Regressor, Voter):
    """k nearest neighbors: the mean target of the k stored rows nearest to x.

        f(x) = Σ_i v(d_i) y_i / Σ_i v(d_i),   i over the k nearest rows,

    with the vote v of a row by its distance d. Rows at equal distances count in the order in which
    they were stored (see `ties`). A row of weight 2 counts as two rows: neighbors are taken until
    their weights reach k, the last one in part. If fewer rows are stored, all vote. Columns are
    compared as they are, unless `standardize` says otherwise. All rows are kept in memory.

    Parameters
    ----------
    n_neighbors : int, "leave_one_out", "validation" or "all", default=5
        How many rows vote. "leave_one_out": the k up to `max_neighbors` of the lowest leave-one-out
        error. "validation": k is raised until the error on held-out rows rises. "all": all rows
        (Shepard's method).
    metric : str, Metric or callable, default="euclidean"
        As in `KNeighborsClassifier`; "value_difference" compares by the shares of five groups of
        the target.
    standardize : bool or "range", default=False
        Whether columns of numbers are divided by their standard deviation, or range, first.

    Attributes
    ----------
    n_neighbors_ : int
        k as used.
    errors_ : array of shape (max_neighbors,)
        Where k is chosen: the mean squared error for k = 1, 2, ...; NaN where it was not tried.
    rows_ : array or CSR array of shape (n, d)
        The stored rows.
    targets_ : array of shape (n,)
        Their targets.
    weights_ : array of shape (n,)
        Their weights.
    mean_ : float
        The mean target.
    metric_ : Metric
        The metric as it was learned.
    n_undetermined_ : int
        With metric="mahalanobis": the number of directions in which the rows do not vary, for which
        a small ridge is added to the covariance.
    center_, scale_ : arrays of shape (d,)
        What is subtracted from every column, and what it is divided by.

    See Also
    --------
    KNeighborsClassifier : classes instead of numbers.
    LocallyWeightedRegression : a line or a parabola through the neighbors.

    References
    ----------
    Shepard, D. (1968). A two-dimensional interpolation function for irregularly-spaced data. ACM.

    Examples
    --------
    >>> from lyceum.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(2, weights="distance")
    >>> model = model.fit([[0.0], [1.0], [3.0]], [1.0, 2.0, 6.0])
    >>> model.predict([[1.0], [2.0], [0.25]]).round(3).tolist()  # a stored row has its own value
    [2.0, 4.0, 1.25]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = VOTER_CONSTRAINTS

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Any = "uniform",
        bandwidth: float | None = None,
        radius: float | None = None,
        ties: str = "first",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: dict[str, Any] | None = None,
        standardize: bool | str = False,
        max_neighbors: int = 50,
        validation_fraction: float = 0.25,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.bandwidth = bandwidth
        self.radius = radius
        self.ties = ties
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.standardize = standardize
        self.max_neighbors = max_neighbors
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        *,
        validation: object = None,
    ):
        """Store the rows.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        validation : (X, y), (X, y, weights) or scanned rows, optional
            The rows that n_neighbors="validation" chooses k by; by default a share of those given
            to store.
        """
        outputs = several_outputs(self, y)
        if outputs is not None:
            rows = rows_of_outputs(self, X, outputs, sample_weight)
            self._check_settings()
            self._keep_outputs(rows, outputs)
            self.mean_: Any = np.average(self.targets_, axis=0, weights=self.weights_)
            return self
        rows = self._rows(X, y, sample_weight)
        self._check_settings()
        self._keep(self._gather(rows))
        return self._finish(validation)

    def partial_fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Store more rows; the result is that of one `fit` on all rows.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        known = getattr(self, "schema_", None)
        rows = self._more_rows(X, y, sample_weight)
        self._check_settings()
        self._keep_more(self._gather(rows), known)
        return self._finish()

    def _alternative(self) -> str:
        return (
            "lyceum.trees.DecisionTreeRegressor, or lyceum.distances.nearest(X, k, among=rows),"
            " which streams the rows"
        )

    def _finish(self, validation: object = None):
        self.mean_ = float(np.average(self.targets_, weights=self.weights_))
        self._choose(validation)
        return self

    def _tally(self) -> Any:
        if self.targets_.ndim == 1:
            return Tally(self.targets_, 0)
        return OutputTallies([Tally(targets, 0) for targets in self.targets_.T])

    def _fit_value_difference(self, metric: ValueDifference, rows: Rows) -> Metric:
        """Fitted to groups of the target: fifths of the rows."""
        source = rows.source
        assert isinstance(source, ArraySource)
        cuts = np.unique(np.quantile(self.targets_, np.arange(1, _BINS) / _BINS))
        groups = np.searchsorted(cuts, self.targets_, side="right").astype(np.int32)
        labels = np.arange(len(cuts) + 1)
        target = Column("group", "categorical", labels, "fifths of the target")
        schema = replace(source.schema, target=target)
        return metric.learn(Rows(replace(source, y=groups, schema=schema)))

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The mean target of the neighbors of every row.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`, (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        n_listed = getattr(self, "n_neighbors_", 1)
        return self._apply_to_all(self._mean_targets, X, n_listed)

    def _mean_targets(self, block: Block) -> np.ndarray:
        means = self._shares(block)
        return means if self.targets_.ndim == 2 else means[:, 0]

    def _operations(self) -> list[Operation]:
        return self._vote_operations()

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> NeighborExplanation:
        """Why these numbers: what every column adds to the mean target, and the neighbors that
        voted.

        The prediction is the mean target of all rows plus what the columns add, each in proportion
        to how much nearer the voters are in it than the stored rows on average. `neighbors(i)`
        lists the rows that voted on row i with their distances, votes and nearest columns.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        NeighborExplanation
        """
        schema = getattr(self, "schema_", None)
        unit = "y" if schema is None else schema.target_name
        base = np.array([getattr(self, "mean_", 0.0)])
        return self._explain_votes(X, unit, base)

    def summary(self) -> Summary:
        """Stored rows, metric, votes, k and how it was chosen, and the mean target."""
        head = super().summary()
        return Summary(head.title, {**head.facts, "mean target": self.mean_})

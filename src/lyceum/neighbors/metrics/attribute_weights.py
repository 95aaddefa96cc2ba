"""One weight per column, chosen by the leave-one-out error of the nearest neighbors."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, schema_with_names
from lyceum._core.constraints import Interval
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.neighbors.knn.votes import Tally
from lyceum.neighbors.supervised_transformer import ScaledSample, SupervisedTransformer
from lyceum.progress import report
from lyceum.report import Summary, Table

_COUNT = Interval(Integral, 1, None, closed="left")


class AttributeWeights(SupervisedTransformer):
    """A factor z_j for every column, which stretches it before distances are taken; 0 removes the
    column.

    z minimizes the leave-one-out error of k nearest neighbors: the mean of (1 - share of the own
    class)² among the k nearest other rows, or the mean squared error of their mean target. Starting
    from 1 for all columns in units of their standard deviations, each is halved, doubled or set to
    0 in turn while that lowers the error; a column that does not lower it is removed. All one-of-C
    columns of a category share one factor.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbors, k.
    max_iter : int, default=5
        The most rounds through all columns.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        The factor of every column of the table, in units of its standard deviation.
    components_ : array of shape (d, d)
        The diagonal matrix that multiplies the rows (categories expanded).
    mean_ : array of shape (d,)
        The mean of the rows, which is subtracted.
    classes_ : array of shape (K,)
        The classes, if the target has classes.
    history_ : list of float
        The leave-one-out error at the start and after every round.
    n_iter_ : int
        The number of rounds.
    record_ : list of dict
        With `record=True`, for every round its number `step`, the error `objective` and the
        `weights`.

    See Also
    --------
    LearnedMetric : also turns the axes.
    KNeighborsClassifier, KNeighborsRegressor : to put behind it in a pipeline.

    References
    ----------
    Moore, A. W. and Lee, M. S. (1994). Efficient algorithms for minimizing cross validation error.
    ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.neighbors import AttributeWeights
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> AttributeWeights().fit(X, X[:, 0] > 0).weights_.tolist()  # the others are noise
    [2.0, 0.0, 0.5]
    """

    _step_kind = StepKind(
        "round",
        (
            StepColumn(
                "objective",
                "error",
                "the mean of (1 − v)², v the share of the row's own class among the votes"
                " of its other neighbors; of numbers the mean squared error of their mean",
            ),
            StepColumn(
                "weights",
                "z",
                "z of a column stretches it",
                axes=("column",),
                ends_in="weights_",
            ),
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [_COUNT],
        "max_iter": [_COUNT],
        "max_samples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes: ClassVar[tuple[str, str]] = ("round", "leave-one-out error")

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        max_iter: int = 5,
        max_samples: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.max_samples = max_samples
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn the factors.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
            Classes, or numbers.
        sample_weight : array of shape (n_samples,), optional
            How much every row counts; zero-weight rows are ignored.
        """
        size = int(self.max_samples)
        sample, self.mean_, unit = self._scaled_sample(
            X, y, sample_weight, size, self.random_state
        )
        search = _WeightSearch(
            sample,
            source=self._design.source,
            n_columns=len(self.schema_),
            k=min(int(self.n_neighbors), len(sample.rows) - 1),
            n_classes=len(self.classes_) if self._learns_classes else 0,
        )
        history, steps = search.run(int(self.max_iter))
        self.weights_ = search.z
        self.components_ = np.diag(search.z[self._design.source] / unit)
        self.history_ = history
        self.n_iter_ = max(1, len(history) - 1)
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_ = steps
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns, with categories expanded."""
        check_is_fitted(self)
        schema = schema_with_names(self, input_features)
        design = replace(self._design, before=schema)
        return np.array(design.after.names, dtype=object)

    def summary(self) -> Summary:
        """The factor of every column, and the errors."""
        head = super().summary()
        facts = {
            **head.facts,
            "neighbors k": self.n_neighbors,
            "removed": int((self.weights_ == 0).sum()),
            "error at the start": self.history_[0],
            "error": self.history_[-1],
        }
        rows = list(zip(self.schema_.names, self.weights_.tolist()))
        table = Table("Columns", ("column", "weight"), rows)
        return Summary(head.title, facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        return {
            "components_": (d, d),
            "mean_": (d,),
            "weights_": (self.n_features_in_,),
        }


class _WeightSearch:
    """Coordinate descent on the factors; squared distances are kept and changed by one column at a
    time."""

    def __init__(
        self,
        sample: ScaledSample,
        source: np.ndarray,
        n_columns: int,
        k: int,
        n_classes: int,
    ):
        self.Z, self.y, self.w = sample
        self.source = source
        self.k = k
        self.n_classes = n_classes
        self.z = np.ones(n_columns)

    def run(self, rounds: int) -> tuple[list[float], list[dict[str, Any]]]:
        error = self._error(self._distances())
        history = [error]
        steps = [{"step": 0, "objective": error, "weights": self.z.copy()}]
        for round_ in range(1, rounds + 1):
            before = self.z.copy()
            error = self._round(error)
            history.append(error)
            steps.append({"step": round_, "objective": error, "weights": self.z.copy()})
            report("attribute weights", round_, rounds)
            if (before == self.z).all():
                break
        return history, steps

    def _round(self, error: float) -> float:
        # D = Σ_j z_j² S_j; one factor at a time is removed, halved or doubled
        D = self._distances()
        for j in range(len(self.z)):
            square = self._column(j)
            rest = D - self.z[j] ** 2 * square
            if self.z[j]:
                tried = [0.0, self.z[j] / 2, self.z[j] * 2]
            else:
                tried = [1.0]
            for value in tried:
                new_error = self._error(rest + value**2 * square)
                # a column that does not help is removed, unless it is the last one
                may_go = value == 0.0 and np.count_nonzero(self.z) > 1
                is_useless = may_go and new_error <= error
                if is_useless or new_error < error - 1e-12:
                    error = new_error
                    self.z[j] = value
            D = rest + self.z[j] ** 2 * square
        return error

    def _column(self, j: int) -> np.ndarray:
        """S_j, the squared differences of all pairs of rows in the design columns of column j."""
        squares = np.zeros((len(self.Z), len(self.Z)))
        for c in np.flatnonzero(self.source == j):
            squares += (self.Z[:, c, None] - self.Z[:, c]) ** 2
        return squares

    def _distances(self) -> np.ndarray:
        D = np.zeros((len(self.Z), len(self.Z)))
        for j in np.flatnonzero(self.z):
            D += self.z[j] ** 2 * self._column(int(j))
        return D

    def _error(self, D: np.ndarray) -> float:
        # a row is no neighbor of its own
        np.fill_diagonal(D, np.inf)
        near = np.argpartition(D, self.k - 1, axis=1)[:, : self.k]
        np.fill_diagonal(D, 0.0)
        shares = Tally(self.y, self.n_classes).share(near, self.w[near])
        # the squared share of votes against the true class, which is smoother than the error rate
        if self.n_classes:
            loss = (1.0 - shares[np.arange(len(shares)), self.y]) ** 2
        else:
            loss = (shares[:, 0] - self.y) ** 2
        return float(np.average(loss, weights=self.w))

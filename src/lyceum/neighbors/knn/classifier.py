"""Classification by the votes of the nearest rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.base import OutputsClassifier, rows_of_outputs, several_outputs
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block
from lyceum._core.distances import check_class_codes
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.neighbors.condensing import condensed_rows, edited_rows
from lyceum.neighbors.knn.explanation import NeighborExplanation
from lyceum.neighbors.knn.voter import VOTER_CONSTRAINTS, Voter
from lyceum.neighbors.knn.votes import OutputTallies, Tally
from lyceum.report import Summary, Table


class KNeighborsClassifier(OutputsClassifier, Voter):
    """k nearest neighbors: the k stored rows nearest to x vote on its class.

        P(c | x) = Σ_i v(d_i) [y_i = c] / Σ_i v(d_i),   i over the k nearest rows,

    with the vote v of a row by its distance d. Rows at equal distances count in the order in which
    they were stored (see `ties`); of classes with equal votes the first in `classes_` wins. A row
    of weight 2 counts as two rows: neighbors are taken until their weights reach k, the last one in
    part. If fewer rows are stored, all vote. Columns are compared as they are, unless `standardize`
    says otherwise. All rows are kept in memory.

    Parameters
    ----------
    n_neighbors : int, "leave_one_out", "validation" or "all", default=5
        How many rows vote. "leave_one_out": the k up to `max_neighbors` of the lowest leave-one-out
        error. "validation": k is raised until the error on held-out rows rises. "all": all rows
        (Shepard's method). With two classes and uniform votes only odd k are considered, which
        cannot tie.
    metric : str, Metric or callable, default="euclidean"
        "euclidean", "manhattan", "minkowski", "chebyshev", "mahalanobis", "cosine", "correlation",
        "hamming" and "jaccard" compare numbers, with categories as one-of-C columns. "gower" and
        "value_difference" compare mixed columns with missing cells. A metric that learns is fitted
        to the rows; or a `Metric`. A function of two rows is called for every pair, which is slow.
    standardize : bool or "range", default=False
        Whether columns of numbers are divided by their standard deviation, or range, first.
    prototypes : {"all", "edited", "condensed", "edited_condensed"}, default="all"
        Which rows are kept. "edited": those that the vote of their 3 nearest others gets right
        (Wilson). "condensed": those that classify all rows right by their nearest one (Hart).
        "edited_condensed": both.

    Attributes
    ----------
    n_neighbors_ : int
        k as used.
    n_outputs_ : int
        The number of targets.
    outputs_2d_ : bool
        Whether there are several targets.
    errors_ : array of shape (max_neighbors,)
        Where k is chosen: the error for k = 1, 2, ...; NaN where it was not tried.
    rows_ : array or CSR array of shape (n, d)
        The stored rows.
    targets_ : array of int of shape (n,)
        Their classes, as numbers of `classes_`.
    weights_ : array of shape (n,)
        Their weights.
    class_prior_ : array of shape (K,)
        The share of every class among the stored rows.
    metric_ : Metric
        The metric as it was learned.
    n_undetermined_ : int
        With metric="mahalanobis": the number of directions in which the rows do not vary, for which
        a small ridge is added to the covariance.
    center_, scale_ : arrays of shape (d,)
        What is subtracted from every column, and what it is divided by.

    See Also
    --------
    KNeighborsRegressor : numbers instead of classes.
    NearestCentroid : one or a few rows per class.
    AttributeWeights, LearnedMetric : learn which columns matter.
    lyceum.distances.nearest : the search, also among rows of files larger than memory.

    References
    ----------
    Cover, T. M. and Hart, P. E. (1967). Nearest neighbor pattern classification. IEEE Transactions
    on Information Theory 13(1). Shepard, D. (1968). A two-dimensional interpolation function for
    irregularly-spaced data. ACM.

    Examples
    --------
    >>> from lyceum.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0]], ["low", "low", "low", "high", "high"]
    >>> model = KNeighborsClassifier(3).fit(X, y)
    >>> model.predict([[1.5], [7.0]]).tolist(), model.predict_proba([[7.0]]).round(3).tolist()
    (['low', 'high'], [[0.667, 0.333]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **VOTER_CONSTRAINTS,
        "prototypes": [StrOptions({"all", "edited", "condensed", "edited_condensed"})],
    }

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
        prototypes: str = "all",
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
        self.prototypes = prototypes
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
            return self
        rows = self._rows(X, y, sample_weight)
        self.n_outputs_ = 1
        self._check_settings()
        self._keep(self._gather(rows))
        self._reduce_prototypes(None)
        self._choose(validation)
        return self

    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ):
        """Store more rows.

        With `prototypes="all"` the result is that of one `fit` on all rows. With "condensed" only
        those of the new rows are kept that are misclassified; with "edited" the rows of old and new
        are edited together.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        classes : array of shape (K,), optional
            Classes that will come, so that they are in `classes_` at once.
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        known = getattr(self, "schema_", None)
        rows = self._more_rows(X, y, sample_weight, classes)
        self.n_outputs_ = 1
        self._check_settings()
        kept = None
        if known is not None:
            kept = np.arange(len(self.weights_))
        self._keep_more(self._gather(rows), known)
        self._reduce_prototypes(kept)
        self._choose()
        return self

    def _reduce_prototypes(self, start: np.ndarray | None) -> None:
        """Leave out rows as `prototypes` says; those in `start` were kept before."""
        points = self._points(self.rows_)
        if "edited" in self.prototypes:
            kept = edited_rows(points, self.targets_, self.metric_, 3)
            self._only(kept)
            points = points[kept]
            start = None
        if "condensed" in self.prototypes:
            self._only(condensed_rows(points, self.targets_, self.metric_, start))
        class_weight = np.bincount(self.targets_, self.weights_, len(self.classes_))
        self.class_prior_ = class_weight / self.weights_.sum()

    def _only(self, kept: np.ndarray) -> None:
        self.rows_ = self.rows_[kept]
        self.targets_ = self.targets_[kept]
        self.weights_ = self.weights_[kept]
        self._set_metric(self.metric_)

    def _tally(self) -> Any:
        if self.n_outputs_ == 1:
            return Tally(self.targets_, len(self.classes_))
        pairs = zip(self.targets_.T, self.n_classes_)
        return OutputTallies([Tally(targets, count) for targets, count in pairs])

    def _odd_only(self) -> bool:
        return len(self.classes_) == 2 and self.weights == "uniform"

    def _codes(self, y: np.ndarray) -> np.ndarray:
        # a class that was never seen is always wrong
        codes = {label: code for code, label in enumerate(self.classes_.tolist())}
        return np.array([codes.get(label, -1) for label in y.tolist()])

    def _labels(self, targets: np.ndarray) -> np.ndarray:
        return self.classes_[targets]

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The class of most votes; of several outputs one column each."""
        return self._predict_classes(X, self._most_probable)

    def _posteriors(self, block: Block) -> np.ndarray:
        return self._shares(block)

    @property
    def outputs_2d_(self) -> bool:
        """Whether there are several targets."""
        return self.n_outputs_ > 1

    def _operations(self) -> list[Operation]:
        return self._vote_operations()

    def _apply(self, function: Any, X: Data) -> Any:
        return self._apply_to_all(function, X, getattr(self, "n_neighbors_", 1))

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> NeighborExplanation:
        """Why these classes: what every column adds to the posterior, and the neighbors that
        voted.

        The posterior is the prior of the class plus what the columns add, each in proportion to how
        much nearer the voters are in it than the stored rows on average. `neighbors(i)` lists the
        rows that voted on row i with their distances, votes and nearest columns.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        NeighborExplanation
        """
        base = getattr(self, "class_prior_", np.zeros(0))
        return self._explain_votes(X, "posterior", base)

    def summary(self) -> Summary:
        """Stored rows, metric, votes, k and how it was chosen, and the classes."""
        head = super().summary()
        counts = np.bincount(self.targets_, minlength=len(self.classes_))
        labels = map(str, self.classes_.tolist())
        rows = list(zip(labels, counts.tolist(), self.class_prior_.tolist()))
        table = Table("Classes", ("class", "stored rows", "prior"), rows)
        facts = {
            **head.facts,
            "rows seen": self.n_rows_,
            "kept": self.prototypes.replace("_", " and "),
        }
        return Summary(head.title, facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = super()._shapes()
        if getattr(self, "n_outputs_", 1) > 1:
            return shapes
        return {**shapes, "class_prior_": (len(self.classes_),)}

    def _check_model(self) -> None:
        super()._check_model()
        if hasattr(self, "rows_") and getattr(self, "n_outputs_", 1) == 1:
            check_class_codes(self, "targets_")

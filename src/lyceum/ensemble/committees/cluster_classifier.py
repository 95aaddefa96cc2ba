"""A classifier per cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lyceum import prepare
from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    check_takes_weights,
    complexity,
    normalize_posteriors,
    step_names,
    takes_missing,
    takes_rows,
    without_names,
)
from lyceum._core.clustering import ClusterBased, PlacedExplanation, clusters_of_rows
from lyceum._core.constraints import HasMethods, Interval
from lyceum._core.data import ArraySource, Block, Rows, Schema
from lyceum._core.members import MemberData
from lyceum._core.types import Categories, Data, Estimator, Target, Weights
from lyceum.cluster import KMeans
from lyceum.errors import ModelFileError
from lyceum.linear import LogisticRegression
from lyceum.progress import report
from lyceum.report import Summary, Table

_CLUSTERS = 4  # of the default clusterer


class ClusterClassifier(Classifier, ClusterBased):
    """A classifier per cluster: rows are clustered, and every cluster has a classifier of its own.

    Simple classifiers that each see a part of the table make one that is as simple everywhere, but
    not the same everywhere. A cluster whose rows weigh less than `min_rows`, or are all of one
    class, is decided by the classifier of all rows.

    Parameters
    ----------
    clusterer : clustering learner with `predict`, optional
        Of any library, or a pipeline that ends in one. By default `KMeans` of 4 clusters on
        standardized columns, missing cells filled.
    classifier : classifier, optional
        What is fitted in every cluster, a copy each; of any library. By default logistic regression
        on standardized columns, missing cells filled. What is not Lyceum's is given numbers, with
        categories as columns of 0 and 1.
    min_rows : float, default=20
        The least weight of the rows of a cluster with a classifier of its own.

    Attributes
    ----------
    clusterer_ : clustering learner
        The fitted one.
    fallback_ : classifier
        The classifier of all rows.
    estimators_ : list of classifiers
        The classifiers of single clusters.
    decides_ : array of int of shape (n_clusters,)
        The place in `estimators_` of every cluster's classifier; -1 for that of all rows.
    counts_ : array of shape (n_clusters, K)
        The weight of the rows of every class in every cluster.
    typical_ : array of shape (n_features_in_,)
        The mean or commonest cell of every column, coded; where explanations start.
    feature_names_in_ : ndarray of str
        Names of the columns, where they have some.

    See Also
    --------
    lyceum.cluster.ClusterLabels : one class per cluster, from few labels.
    MixtureOfExperts : the parts and their classifiers are learned together.

    Examples
    --------
    >>> from lyceum.cluster import KMeans
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> tree = DecisionTreeClassifier(max_depth=1)
    >>> model = ClusterClassifier(KMeans(2, random_state=0), tree, min_rows=2)
    >>> model.fit(X, ["a", "b", "b", "a"]).predict(X).tolist()
    ['a', 'b', 'b', 'a']
    """

    _parameter_constraints: ClassVar[dict] = {
        "clusterer": [HasMethods(["fit", "predict"]), None],
        "classifier": [HasMethods(["fit", "predict"]), None],
        "min_rows": [Interval(Real, 0.0, None, closed="left")],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        clusterer: Any = None,
        classifier: Any = None,
        *,
        min_rows: float = 20,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.clusterer = clusterer
        self.classifier = classifier
        self.min_rows = min_rows
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _default_clusterer(self, n_rows: int | None = None) -> Any:
        n_clusters = self._limit_clusters(_CLUSTERS, n_rows)
        return _on_scaled_columns(KMeans(n_clusters, random_state=self.random_state))

    @property
    def _classifier(self) -> Any:
        if self.classifier is None:
            return _on_scaled_columns(LogisticRegression())
        return self.classifier

    @property
    def _takes_missing(self) -> bool:  # type: ignore[override]
        return takes_missing(self._clusterer) and takes_missing(self._classifier)

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return all(
            get_tags(learner).input_tags.sparse
            for learner in (self._clusterer, self._classifier)
        )

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit the clusterer, the classifier of all rows, and those of the clusters.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,), if the target is not in the scan
            The classes.
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; the classifier must take weights then.
        """
        rows = self._rows(X, y, sample_weight)
        self._fit_clusterer(rows, self._learn_typical(rows, prepare.SimpleImputer()))
        self.counts_ = self._cluster_weights(rows).table[:-1, :-1]
        is_large = self.counts_.sum(axis=1) >= self.min_rows
        is_mixed = (self.counts_ > 0).sum(axis=1) > 1
        has_own = is_large & is_mixed
        # the number of a cluster's classifier: how many clusters before it have one
        self.decides_ = np.where(has_own, np.cumsum(has_own) - 1, -1)
        self.fallback_ = self._fit_member(rows)
        self.estimators_ = []
        clusters = np.flatnonzero(has_own)
        for done, part in enumerate(self._parts_of(rows, clusters), 1):
            self.estimators_.append(self._fit_member(part))
            report("clusters", done, len(clusters))
        return self

    def _parts_of(self, rows: Rows, clusters: np.ndarray) -> Iterator[Rows]:
        """The rows of each of these clusters."""
        if not rows.in_memory:
            yield from (rows.then(_OfCluster(self, c)) for c in clusters.tolist())
            return
        block = rows.in_one_block(type(self).__name__)
        labels = clusters_of_rows(self, block)
        for c in clusters.tolist():
            yield Rows(ArraySource.of_block(block.take(labels == c)))

    def _fit_member(self, rows: Rows) -> Any:
        member = clone(self._classifier)
        if takes_rows(member):
            member.fit(rows)
            if hasattr(self, "feature_names_in_"):
                return member
            return without_names(member)
        coded = rows.then(self._design)
        block = coded.in_one_block(type(self).__name__, "a classifier of Lyceum")
        block = block.without_zero_weights()
        check_takes_weights(member, block.w)
        labels = self.classes_[block.y]
        return MemberData(None, block.X, labels).fit(member, w=block.w)

    # -- predict -----------------------------------------------------------------------

    def predict_proba(self, X: Data) -> Any:
        """The posteriors of the classes, from the classifier of every row's cluster.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        return self._apply(self._posteriors, X)

    def predict(self, X: Data) -> Any:
        """The class of the largest posterior.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        return self._apply(self._predict, X)

    def _predict(self, block: Block) -> np.ndarray:
        return self.classes_[self._posteriors(block).argmax(axis=1)]

    def _posteriors(self, block: Block) -> np.ndarray:
        # the number of every row's classifier: a row outside all clusters has that of all rows
        labels = clusters_of_rows(self, block)
        in_range = (labels >= 0) & (labels < len(self.decides_))
        numbers = np.full(len(labels), -1)
        numbers[in_range] = self.decides_[labels[in_range]]
        is_coded = takes_rows(self._classifier)
        cells = block if is_coded else self._design(block)
        posteriors = np.zeros((len(numbers), len(self.classes_)))
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            part = cells if len(rows) == len(numbers) else cells.take(rows)
            data = MemberData(None, part.X)
            if is_coded:
                schema = Schema(part.schema.columns)
                data = MemberData(ArraySource(part.X, None, None, schema, coded=True))
            member = self.fallback_ if number < 0 else self.estimators_[number]
            posteriors[rows] = data.posteriors(member, self.classes_)
        return normalize_posteriors(posteriors)

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> PlacedExplanation:
        """What every column adds to the posterior of the class that is predicted, and the row's
        cluster.

        The base is the posterior for a row of typical cells (`typical_`), whose columns are
        replaced by the row's own, one after the other, from both ends. A column may move the row
        into another cluster, and so to another classifier; what that changes counts as its own.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        heads = ("classifier", *map(str, self.classes_))
        about = {
            c: Table(f"Cluster {c}, weight by class", heads, [line[2:]])
            for c, line in enumerate(self._lines())
        }
        return self._explain_placed(X, self._posteriors, about)

    def _lines(self) -> list[tuple[Any, ...]]:
        """Number, weight, classifier and weights of the classes of every cluster."""
        weights = self.counts_.sum(axis=1).tolist()
        deciders = np.where(self.decides_ < 0, "that of all rows", "its own").tolist()
        columns = zip(weights, deciders, self.counts_.tolist())
        return [
            (c, weight, decider, *counts)
            for c, (weight, decider, counts) in enumerate(columns)
        ]

    def summary(self) -> Summary:
        """The clusters, the weights of their classes, and which of them have a classifier of their
        own."""
        check_is_fitted(self)
        facts = {
            "clusterer": step_names(self.clusterer_),
            "classifier": step_names(self.fallback_),
            "classifiers of single clusters": len(self.estimators_),
        }
        heads = ("cluster", "weight", "classifier", *map(str, self.classes_))
        table = Table("Clusters and weights of classes", heads, self._lines())
        return Summary(self._title(), facts, [table])

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the clusterer and of all classifiers."""
        check_is_fitted(self)
        learners = (self.clusterer_, self.fallback_, *self.estimators_)
        return sum(map(complexity, learners))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k = len(self.counts_)
        return {
            "counts_": (k, len(self.classes_)),
            "decides_": (k,),
            "typical_": (self.n_features_in_,),
        }

    def _check_model(self) -> None:
        super()._check_model()
        self._check_clusterer("predict")
        if not hasattr(self, "schema_"):
            return
        members = vars(self).get("estimators_")
        numbers = self.decides_
        if not isinstance(members, list) or "fallback_" not in vars(self):
            raise ModelFileError("holds a ClusterClassifier without its classifiers")
        if (
            numbers.dtype.kind != "i"
            or numbers.min(initial=-1) < -1
            or numbers.max(initial=-1) >= len(members)
        ):
            raise ModelFileError(
                "holds a ClusterClassifier whose decides_ are not places of its classifiers"
            )
        for classifier in (self.fallback_, *members):
            if (
                not hasattr(classifier, "predict")
                or not np.isin(classifier.classes_, self.classes_).all()
            ):
                raise ModelFileError(
                    "holds a ClusterClassifier with a classifier of other classes"
                )


def _on_scaled_columns(learner: Estimator) -> Any:
    """The learner on a mixed table in any units: missing cells filled, numbers standardized."""
    from sklearn.pipeline import make_pipeline  # takes long to import

    return make_pipeline(prepare.SimpleImputer(), prepare.StandardScaler(), learner)


@dataclass(frozen=True, slots=True)
class _OfCluster:
    """The rows of one cluster."""

    model: ClusterClassifier
    cluster: int
    drops_rows: ClassVar[bool] = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        return block.take(clusters_of_rows(self.model, block) == self.cluster)

"""Cluster, then label: clusters of all rows, named by the few rows that have a class."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum import prepare
from lyceum._core.base import CATEGORICAL_FEATURES, Classifier, complexity, step_names
from lyceum._core.clustering import ClusterBased, PlacedExplanation, clusters_of_rows
from lyceum._core.constraints import HasMethods, Interval
from lyceum._core.data import Block
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.cluster.kmeans.kmeans import KMeans
from lyceum.errors import DataError
from lyceum.report import Summary, Table

# of the default clusterer, or twice the number of classes if that is more
_CLUSTERS = 8


class ClusterLabels(Classifier, ClusterBased):
    """Cluster, then label: every cluster has the classes of those of its rows that have one.

    The posterior of class k in cluster c, whose labeled rows have the weights :math:`n_{ck}`, is

    .. math:: p(k | c) = (n_{ck} + s\\, p(k)) / (n_c + s)

    with the shares p(k) of the classes in all labeled rows and the smoothing s. A row in no
    cluster, or in one without a label, has the posteriors p(k).

    An unlabeled row has the class None or NaN, or a missing target cell in scanned rows; among
    whole numbers -1 is unlabeled too, as in scikit-learn, unless only one other class occurs.

    Parameters
    ----------
    clusterer : clustering learner with `predict`, optional
        Of any library, or a pipeline that ends in one. By default `KMeans` on standardized columns,
        missing cells filled: 8 clusters, or twice as many as there are classes if that is more. One
        of another library is given numbers, with categories as columns of 0 and 1.
    smoothing : float, default=1.0
        The weight s of the shares of the classes in all labeled rows.

    Attributes
    ----------
    clusterer_ : clustering learner
        The fitted one.
    class_prior_ : array of shape (K,)
        The shares of the classes in all labeled rows.
    counts_ : array of shape (n_clusters, K)
        The weight of the labeled rows of every class in every cluster.
    shares_ : array of shape (n_clusters, K)
        The posteriors of the classes in every cluster.
    unlabeled_ : array of shape (n_clusters,)
        The weight of the rows of every cluster that have no label.
    typical_ : array of shape (n_features_in_,)
        The mean or commonest cell of every column, coded; where explanations start.
    feature_names_in_ : ndarray of str
        Names of the columns, where they have some.

    See Also
    --------
    lyceum.ensemble.ClusterClassifier : a classifier per cluster.
    lyceum.semi_supervised.LabelPropagation : labels that spread from row to row.

    Examples
    --------
    >>> from lyceum.cluster import ClusterLabels, KMeans
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> model = ClusterLabels(KMeans(2, random_state=0)).fit(X, ["a", None, None, None, "b", None])
    >>> model.predict(X).tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    _takes_unlabeled = True
    _parameter_constraints: ClassVar[dict] = {
        "clusterer": [HasMethods(["fit", "predict"]), None],
        "smoothing": [Interval(Real, 0.0, None, closed="neither")],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        clusterer: Any = None,
        *,
        smoothing: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.clusterer = clusterer
        self.smoothing = smoothing
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _default_clusterer(self, n_rows: int | None = None) -> Any:
        from sklearn.pipeline import make_pipeline  # takes long to import

        n_clusters = max(_CLUSTERS, 2 * len(getattr(self, "classes_", ())))
        n_clusters = self._limit_clusters(n_clusters, n_rows)
        means = KMeans(n_clusters, random_state=self.random_state)
        return make_pipeline(prepare.SimpleImputer(), prepare.StandardScaler(), means)

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Cluster all rows, then count the classes of every cluster.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows, with and without a label.
        y : array of shape (n_samples,), if the target is not in the scan; some may be missing
            The classes.
        sample_weight : array of shape (n_samples,), optional
            How often every row counts.
        """
        rows = self._rows(X, y, sample_weight)
        self._fit_clusterer(rows, self._learn_typical(rows, prepare.SimpleImputer()))
        # weights of clusters by classes; the last row is for noise, the last column for rows
        # without a label
        table = self._cluster_weights(rows).table
        labeled = table[:, :-1]
        if not labeled.sum() > 0:
            raise DataError(
                "no row has a label: at least one is needed to name the clusters"
            )
        self.class_prior_ = labeled.sum(axis=0) / labeled.sum()
        self.counts_ = labeled[:-1]
        self.unlabeled_ = table[:-1, -1]
        # (n_ck + smoothing · prior_k) / Σ_k: a cluster without labels has the prior
        shares = self.counts_ + self.smoothing * self.class_prior_
        self.shares_ = shares / shares.sum(axis=1, keepdims=True)
        return self

    def predict_proba(self, X: Data) -> Any:
        """The posteriors of the classes in every row's cluster.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        return self._apply(partial(_posteriors, self), X)

    def predict(self, X: Data) -> Any:
        """The most probable class of every row's cluster.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        return self._apply(partial(_predict, self), X)

    def explain(self, X: Data) -> PlacedExplanation:
        """What every column adds to the posterior of the class that is predicted, and the row's
        cluster.

        The base is the posterior for a row of typical cells (`typical_`), whose columns are
        replaced by the row's own, one after the other, from both ends: a column adds something
        where it moves the row into a cluster of other shares.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self)
        heads = ("class", "weight of labels", "posterior")
        labels = [str(label) for label in self.classes_]
        clusters = zip(self.counts_.tolist(), self.shares_.tolist())
        about = {
            c: Table(f"Cluster {c}", heads, list(zip(labels, counts, shares)))
            for c, (counts, shares) in enumerate(clusters)
        }
        return self._explain_placed(X, partial(_posteriors, self), about)

    def summary(self) -> Summary:
        """The labels and the classes of every cluster."""
        check_is_fitted(self)
        facts = {
            "clusterer": step_names(self.clusterer_),
            "weight of labeled rows": float(self.counts_.sum()),
            "weight of unlabeled rows": float(self.unlabeled_.sum()),
        }
        heads = ("cluster", "labeled", "unlabeled", *map(str, self.classes_))
        labeled = self.counts_.sum(axis=1).tolist()
        unlabeled = self.unlabeled_.tolist()
        lines = [
            (c, labeled[c], unlabeled[c], *shares)
            for c, shares in enumerate(self.shares_.tolist())
        ]
        table = Table("Clusters and posteriors of the classes", heads, lines)
        return Summary(self._title(), facts, [table])

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the clusterer, and the shares."""
        check_is_fitted(self)
        return complexity(self.clusterer_) + self.shares_.size

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k = len(self.shares_)
        K = len(self.classes_)
        return {
            "shares_": (k, K),
            "counts_": (k, K),
            "unlabeled_": (k,),
            "class_prior_": (K,),
            "typical_": (self.n_features_in_,),
        }

    def _check_model(self) -> None:
        super()._check_model()
        self._check_clusterer("predict")


def _posteriors(model: ClusterLabels, block: Block) -> np.ndarray:
    labels = clusters_of_rows(model, block)
    # noise, and a cluster that had no row in fit, has the prior
    placed = (labels >= 0) & (labels < len(model.shares_))
    proba = np.repeat(model.class_prior_[None, :], len(labels), axis=0)
    proba[placed] = model.shares_[labels[placed]]
    return proba


def _predict(model: ClusterLabels, block: Block) -> np.ndarray:
    return model.classes_[_posteriors(model, block).argmax(axis=1)]

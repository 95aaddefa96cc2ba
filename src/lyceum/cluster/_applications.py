"""What clusters are good for: a classifier per cluster, labels from few rows, words of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from lyceum.cluster._cluster_features import check_clusterer
from lyceum.cluster._kmeans import KMeans
from lyceum.errors import DataError, ModelFileError, SettingError
from lyceum.report import Summary, Table

__all__ = ["ClusterClassifier", "ClusterLabels", "top_columns"]


class ClusterClassifier(ClassifierMixin, BaseEstimator):
    """A classifier per cluster: rows are clustered, and every cluster has a classifier of its own.

    A cluster with fewer than `min_rows` rows, or of one class only, uses the classifier of all rows.

    Parameters
    ----------
    clusterer : clustering learner with `predict`, optional
        `KMeans(4)` by default.
    classifier : classifier with `predict_proba`
        What is fitted in every cluster; a copy each.
    min_rows : int, default=20
        The fewest rows of a cluster with a classifier of its own.

    Attributes
    ----------
    clusterer_ : clustering learner
        The fitted one.
    classifiers_ : dict
        The classifier of every cluster that has its own.
    fallback_ : classifier
        The classifier of all rows.
    classes_ : array
        The classes.
    counts_ : array of int of shape (n_clusters,)
        How many rows of `fit` every cluster had.

    See Also
    --------
    ClusterLabels : one class per cluster, from few labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from lyceum.cluster import ClusterClassifier, KMeans
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> model = ClusterClassifier(KMeans(2, random_state=0), DecisionTreeClassifier(max_depth=1), min_rows=2)
    >>> model.fit(X, ["a", "b", "b", "a"]).predict(X).tolist()
    ['a', 'b', 'b', 'a']
    """

    def __init__(self, clusterer: Any = None, classifier: Any = None, *, min_rows: int = 20):
        self.clusterer = clusterer
        self.classifier = classifier
        self.min_rows = min_rows

    def fit(self, X: Any, y: Any):
        """Fit the clusterer, the classifier of all rows, and those of the clusters."""
        if self.classifier is None:
            raise SettingError(
                "ClusterClassifier needs a classifier, e.g. lyceum.linear.LogisticRegression()"
            )
        y = np.asarray(y)
        self.clusterer_ = (KMeans(4) if self.clusterer is None else clone(self.clusterer)).fit(X)
        labels = np.asarray(self.clusterer_.predict(X))
        self.fallback_ = clone(self.classifier).fit(X, y)
        self.classes_ = self.fallback_.classes_
        self.n_features_in_ = self.clusterer_.n_features_in_
        self.counts_ = np.bincount(labels[labels >= 0])
        self.classifiers_ = {}
        for c in np.unique(labels):
            rows = np.flatnonzero(labels == c)
            if len(rows) >= self.min_rows and len(np.unique(y[rows])) > 1:
                self.classifiers_[int(c)] = clone(self.classifier).fit(_taken(X, rows), y[rows])
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Posteriors of the classes, from the classifier of every row's cluster."""
        check_is_fitted(self)
        labels = np.asarray(self.clusterer_.predict(X))
        out = np.zeros((len(labels), len(self.classes_)))
        for c in np.unique(labels):
            rows = np.flatnonzero(labels == c)
            model = self.classifiers_.get(int(c), self.fallback_)
            columns = np.searchsorted(self.classes_, model.classes_)
            out[np.ix_(rows, columns)] = model.predict_proba(_taken(X, rows))
        return out

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def summary(self) -> Summary:
        """The clusters, and which of them have a classifier of their own."""
        check_is_fitted(self)
        facts = {
            "clusterer": type(self.clusterer_).__name__,
            "classifier": type(self.fallback_).__name__,
            "classes": self.classes_.tolist(),
        }
        lines = [
            (c, int(n), "its own" if c in self.classifiers_ else "that of all rows")
            for c, n in enumerate(self.counts_)
        ]
        return Summary(
            "ClusterClassifier", facts, [Table("Clusters", ("cluster", "rows", "classifier"), lines)]
        )

    def check(self) -> None:
        """Raise ModelFileError unless the parts, which came from a model file, fit together."""
        check_clusterer(self, "predict")
        if not hasattr(self, "clusterer_"):
            return
        known = isinstance(self.classes_, np.ndarray) and self.classes_.ndim == 1
        if not known or not isinstance(self.classifiers_, dict):
            raise ModelFileError("holds a ClusterClassifier without classes or classifiers")
        for model in (self.fallback_, *self.classifiers_.values()):
            if not hasattr(model, "predict_proba") or not np.isin(model.classes_, self.classes_).all():
                raise ModelFileError("holds a ClusterClassifier with a classifier of other classes")


class ClusterLabels(ClassifierMixin, BaseEstimator):
    """Cluster, then label: clusters of all rows, each with the class of the few rows that have one.

    Parameters
    ----------
    clusterer : clustering learner with `predict`, optional
        `KMeans()` by default.
    smoothing : float, default=1.0
        Added to the count of every class in a cluster, in proportion to the class's share in all.

    Attributes
    ----------
    clusterer_ : clustering learner
        The fitted one.
    shares_ : array of shape (n_clusters, n_classes)
        The posterior of the classes in every cluster.
    classes_ : array
        The classes.
    n_labeled_ : array of int of shape (n_clusters,)
        How many labels every cluster had.

    See Also
    --------
    ClusterClassifier : a classifier per cluster.

    Examples
    --------
    >>> from lyceum.cluster import ClusterLabels, KMeans
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> model = ClusterLabels(KMeans(2, random_state=0)).fit(X, ["a", None, None, None, "b", None])
    >>> model.predict(X).tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    def __init__(self, clusterer: Any = None, *, smoothing: float = 1.0):
        self.clusterer = clusterer
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any):
        """Cluster all rows; y is None, NaN or -1 (in whole numbers) where the class is not known."""
        y = np.asarray(y, dtype=object)
        known = np.array([label is not None and label == label and not _is_minus_one(label) for label in y])
        if not known.any():
            raise DataError("no row has a label: at least one is needed to name the clusters")
        self.classes_, codes = np.unique(np.array(y[known].tolist()), return_inverse=True)
        self.clusterer_ = (KMeans() if self.clusterer is None else clone(self.clusterer)).fit(X)
        labels = np.asarray(self.clusterer_.predict(X))
        k, K = max(0, int(labels.max())) + 1, len(self.classes_)
        inside = known & (labels >= 0)
        counts = np.bincount(labels[inside] * K + codes[labels[known] >= 0], minlength=k * K).reshape(k, K)
        self.n_labeled_ = counts.sum(axis=1)
        self._prior = np.bincount(codes, minlength=K) / len(codes)
        self.shares_ = counts + self.smoothing * self._prior
        self.shares_ /= self.shares_.sum(axis=1, keepdims=True)
        self.n_features_in_ = self.clusterer_.n_features_in_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The class shares of every row's cluster; those of all labels for noise."""
        check_is_fitted(self)
        labels = np.asarray(self.clusterer_.predict(X))
        return np.where((labels >= 0)[:, None], self.shares_[labels], self._prior)

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row's cluster."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def summary(self) -> Summary:
        """The labels and the classes of every cluster."""
        check_is_fitted(self)
        facts = {"clusterer": type(self.clusterer_).__name__, "labels": int(self.n_labeled_.sum())}
        classes = [str(label) for label in self.classes_]
        lines = [
            (c, int(n), *map(float, row)) for c, (n, row) in enumerate(zip(self.n_labeled_, self.shares_))
        ]
        return Summary("ClusterLabels", facts, [Table("Clusters", ("cluster", "labels", *classes), lines)])

    def check(self) -> None:
        """Raise ModelFileError unless the parts, which came from a model file, fit together."""
        check_clusterer(self, "predict")
        if not hasattr(self, "clusterer_"):
            return
        shares, prior, labels = self.shares_, self._prior, getattr(self.clusterer_, "labels_", None)
        most = -1 if labels is None else int(np.max(np.asarray(labels), initial=-1))
        arrays = all(isinstance(part, np.ndarray) for part in (shares, prior, self.classes_))
        if not arrays or shares.shape != (len(shares), len(self.classes_)) or len(shares) <= most:
            raise ModelFileError("holds ClusterLabels whose shares do not fit its clusters and classes")
        if prior.shape != self.classes_.shape:
            raise ModelFileError("holds ClusterLabels whose prior does not fit its classes")


def top_columns(model: Any, names: Sequence[str] | None = None, most: int = 8) -> list[list[str]]:
    """The columns with the largest values in every centre: for texts, the words of every cluster.

    Parameters
    ----------
    model : learner with `cluster_centers_`
    names : sequence of str, optional
        The columns' names, e.g. words; those of the model by default.
    most : int, default=8
        How many per cluster.

    Returns
    -------
    list of lists of str

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from lyceum.cluster import KMeans, top_columns
    >>> texts = ["red green blue", "green blue blue", "one two three", "two three three"]
    >>> words = TfidfVectorizer()
    >>> model = KMeans(2, metric="cosine", random_state=0).fit(words.fit_transform(texts))
    >>> sorted(top_columns(model, words.get_feature_names_out(), most=1))
    [['blue'], ['three']]
    """
    centers = model.cluster_centers_
    centers = centers.toarray() if sparse.issparse(centers) else np.asarray(centers)
    names = list(model._design_names if names is None else names)
    if len(names) != centers.shape[1]:
        raise SettingError(f"there are {len(names)} names, but the centres have {centers.shape[1]} columns")
    order = np.argsort(-centers, axis=1, kind="stable")[:, :most]
    return [[str(names[j]) for j in row if center[j] > 0] for row, center in zip(order, centers)]


def _taken(X: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, a sparse array or a frame."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def _is_minus_one(label: Any) -> bool:
    return isinstance(label, int | np.integer) and not isinstance(label, bool) and label == -1

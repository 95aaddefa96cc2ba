"""Rows that have several labels at once: one binary problem per label."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Classifier
from lyceum._core.data import ArraySource, is_frame, row_weights, to_arrow
from lyceum._core.members import Ensemble, EstimatorInputs, MemberData
from lyceum._core.text import show_count
from lyceum._core.threads import ordered_map
from lyceum._core.types import Categories, Data, Estimator, Target, Weights
from lyceum.ensemble.multiclass.binary_members import (
    BINARY_CONSTRAINTS,
    BinaryProblem,
    ConstantMember,
    binary_score,
    fit_problems,
    has_posteriors,
    member_weights,
    yes_posterior,
)
from lyceum.errors import DataError
from lyceum.linear import LogisticRegression
from lyceum.report import Summary, Table


class MultiOutputClassifier(Classifier, Ensemble):
    """Any number of labels per row: one binary classifier per label says whether a row has it.

    Labels are learned independently of each other, which is right for the posterior of every label
    alone, and for the least expected number of wrong labels. A label that all rows have, or none,
    is answered without a member.

    Parameters
    ----------
    estimator : classifier, default=None
        None is `LogisticRegression()`. Weights are passed on if its `fit` takes them.

    Attributes
    ----------
    labels_ : array of shape (L,)
        The labels: names of the columns of y, the sorted labels of its sets, or numbers from 0.
    shares_ : array of shape (L,)
        The share of rows, by weight, that have each label.
    cardinality_ : float
        The mean number of labels of a row.
    estimators_ : list of L classifiers
        The members, whose labels are 1 for rows that have the label and 0 for others.

    See Also
    --------
    OneVsRestClassifier : The same machines where every row has exactly one label.

    References
    ----------
    Tsoumakas and Katakis (2007), Multi-label classification: an overview, IJDWM 3.

    Examples
    --------
    >>> from lyceum.ensemble import MultiOutputClassifier
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.9], [0.9, 0.1]]
    >>> y = [[], ["rain"], ["wind"], ["rain", "wind"], ["rain"], ["wind"]]
    >>> model = MultiOutputClassifier().fit(X, y)
    >>> model.predict_labels([[0.1, 0.1], [1.0, 0.9]])
    [(), ('rain', 'wind')]
    """

    _parameter_constraints: ClassVar[dict] = BINARY_CONSTRAINTS
    _alternative: ClassVar[str] = "one LogisticRegression per label"

    labels_: np.ndarray

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_jobs: int | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return LogisticRegression()

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit one copy of the estimator per label.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array, sparse array or frame of shape (n_samples, n_labels), or a sequence of sets
            Which labels every row has: 1 for each that it has and 0 for the others, or the set of
            its labels.
        sample_weight : array of shape (n_samples,), optional
        """
        Y, labels = label_matrix(y)
        data, w = self._cells(X, sample_weight, len(Y))
        self.labels_ = labels
        weights = row_weights(w, len(Y))
        self.shares_ = weights @ Y / weights.sum()
        self.cardinality_ = float(self.shares_.sum())
        rows = None if w is None or w.all() else np.flatnonzero(w)
        sides = np.ascontiguousarray(Y.T, dtype=np.int32)
        problems = [
            BinaryProblem(str(label), side, rows) for label, side in zip(labels, sides)
        ]
        self.estimators_ = fit_problems(
            self._copy, data, problems, member_weights(self._base(), w)
        )
        return self

    def _cells(
        self,
        X: Data,
        w: Weights,
        n: int,
    ) -> tuple[MemberData, np.ndarray | None]:
        """The rows without a target, as members take them, and their weights."""
        self._validate_params()
        rows = _CellInputs(self).for_fit(X, None, w)
        block = rows.in_one_block(type(self).__name__, self._alternative)
        source = ArraySource.of_block(block)
        if source.n_rows != n:
            raise DataError(
                f"X has {show_count(source.n_rows, 'row')}, but y has {n}: give labels for"
                " every row"
            )
        return self._split_by_library(source, X), source.w

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """1 for every label of a row, else 0, (n, L)."""
        return self._apply_to_members(partial(self._member_columns, _predict), X)

    def predict_labels(self, X: Data) -> list[tuple[Any, ...]]:
        """The labels of every row, as a tuple per row."""
        flags = np.asarray(self.predict(X)).astype(bool)
        return [tuple(self.labels_[row].tolist()) for row in flags]

    def decision_function(self, X: Data) -> Any:
        """The score of every label, (n, L): how far its member is for it."""
        return self._apply_to_members(partial(self._member_columns, binary_score), X)

    @available_if(has_posteriors)
    def predict_proba(self, X: Data) -> Any:
        """The posterior of every label, (n, L); rows do not sum to 1, as labels do not exclude each
        other."""
        return self._apply_to_members(partial(self._member_columns, yes_posterior), X)

    def _member_columns(
        self,
        answer: Callable[..., np.ndarray],
        data: MemberData,
    ) -> np.ndarray:
        """The answers of all members, one column each."""
        answers = ordered_map(partial(answer, data=data), self.estimators_)
        return np.column_stack(list(answers))

    def score(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ) -> float:
        """The share of rows all of whose labels are right; `label_scores` has one share per label.

        Parameters
        ----------
        X : array, frame or `scan(...)`
            Test rows.
        y : indicators or sets of labels, as in `fit`
        sample_weight : array of shape (n_samples,), optional
        """
        from sklearn.metrics import accuracy_score  # takes long to import

        right = (np.asarray(self.predict(X)) == self._known_matrix(y)).all(axis=1)
        wanted = np.ones(len(right), bool)
        return float(accuracy_score(wanted, right, sample_weight=sample_weight))

    def label_scores(self, X: Data, y: Target) -> dict[Any, float]:
        """The share of rows that are right of every label; one minus their mean is the Hamming
        loss."""
        right = (np.asarray(self.predict(X)) == self._known_matrix(y)).mean(axis=0)
        return dict(zip(self.labels_.tolist(), right.tolist()))

    def _known_matrix(self, y: Target) -> np.ndarray:
        check_is_fitted(self)
        Y, labels = label_matrix(y)
        # indicators have the columns of `fit`, sets their own labels
        is_matrix = sparse.issparse(y) or is_frame(y) or getattr(y, "ndim", 0) == 2
        if is_matrix and Y.shape[1] == len(self.labels_):
            return Y
        unknown = sorted(set(labels.tolist()) - set(self.labels_.tolist()), key=str)
        if unknown:
            raise DataError(
                f"y has the label {unknown[0]!r}, which was not there in fit"
            )
        # columns in the order of `labels_`; a label that no row of y has is 0
        matrix = np.zeros((len(Y), len(self.labels_)), dtype=Y.dtype)
        index = {label: j for j, label in enumerate(self.labels_.tolist())}
        matrix[:, [index[label] for label in labels.tolist()]] = Y
        return matrix

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The labels, and the share of rows that have each."""
        check_is_fitted(self)
        facts = {
            "labels": len(self.labels_),
            "labels per row": self.cardinality_,
            "members": f"{len(self.estimators_)} × {type(self._base()).__name__}",
        }
        rows = list(zip(map(str, self.labels_), self.shares_.tolist()))
        table = Table("Labels", ("label", "share of rows"), rows)
        return Summary(self._title(), facts, [table])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), ConstantMember)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"shares_": (len(self.estimators_),)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


class _CellInputs(EstimatorInputs):
    """The way in without a target, which is read apart."""

    task: ClassVar = None


def _predict(member: Estimator, data: MemberData) -> np.ndarray:
    if is_regressor(member):
        return (binary_score(member, data) > 0).astype(np.int64)
    return (data.predict_with(member) == 1).astype(np.int64)


def label_matrix(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which labels every row has, (n, L) of 0 and 1, and the labels.

    >>> Y, labels = label_matrix([{"b"}, {"a", "b"}, set()])
    >>> Y.tolist(), labels.tolist()
    ([[0, 1], [1, 1], [0, 0]], ['a', 'b'])
    """
    if y is None:
        raise DataError(
            "MultiOutputClassifier requires y to be passed, but the target y is None"
        )
    if is_frame(y):
        table = to_arrow(y)
        columns = [column.to_numpy() for column in table.columns]
        return _indicators(np.column_stack(columns)), np.array(table.column_names)
    if sparse.issparse(y):
        y = y.toarray()
    if not hasattr(y, "ndim"):
        y = _as_array(y)
    if getattr(y, "ndim", 0) == 2:
        return _indicators(y), np.arange(y.shape[1])
    return _of_sets(y)


def _as_array(y: Any) -> Any:
    """Lists of numbers 0 and 1 of one length are a matrix, other sequences are sets of labels."""
    rows: list[Any] = []
    for row in y:
        if isinstance(row, str | bytes) or not hasattr(row, "__iter__"):
            raise DataError(
                "y has one label per row: for MultiOutputClassifier give 0 and 1 for every label,"
                " or a set of labels per row; OneVsRestClassifier takes one label per row"
            )
        rows.append(row if isinstance(row, set | frozenset) else list(row))
    lengths = {len(row) for row in rows}
    plain = all(isinstance(row, list) and set(row) <= {0, 1} for row in rows)
    if plain and len(lengths) == 1 and lengths != {0}:
        return np.array(rows)
    return rows


def _indicators(Y: np.ndarray) -> np.ndarray:
    if Y.shape[1] == 0 or not np.isin(Y, (0, 1)).all():
        raise DataError(
            "y has cells other than 0 and 1: a column per label says whether a row has it"
        )
    return Y.astype(np.int64)


def _of_sets(y: Any) -> tuple[np.ndarray, np.ndarray]:
    rows = y if isinstance(y, list) else _as_array(list(y))
    if isinstance(rows, np.ndarray):
        return _indicators(rows), np.arange(rows.shape[1])
    labels = sorted({label for row in rows for label in row})
    if not labels:
        raise DataError("no row has any label: there is nothing to learn")
    index = {label: j for j, label in enumerate(labels)}
    Y = np.zeros((len(rows), len(labels)), dtype=np.int64)
    for i, row in enumerate(rows):
        Y[i, [index[label] for label in row]] = 1
    return Y, np.array(labels)

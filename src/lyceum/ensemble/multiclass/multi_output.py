"""Several targets per row: a classifier per column, or per label."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Classifier
from lyceum._core.data import ArraySource, Column, Kind, row_weights
from lyceum._core.members import Ensemble, EstimatorInputs, MemberData
from lyceum._core.routing import Route
from lyceum._core.text import show_count
from lyceum._core.threads import ordered_map
from lyceum._core.types import Categories, Data, Estimator, Target, Weights
from lyceum.ensemble.multiclass.binary_members import (
    BINARY_CONSTRAINTS,
    ConstantMember,
    binary_score,
    has_method,
    member_weights,
)
from lyceum.ensemble.multiclass.binary_parts import begins_to_learn
from lyceum.ensemble.multiclass.label_columns import (
    SIDES,
    LabelColumns,
    target_columns,
)
from lyceum.errors import DataError, ModelFileError
from lyceum.linear import LogisticRegression
from lyceum.progress import report
from lyceum.report import Summary, Table


class MultiOutputClassifier(Classifier, Ensemble):
    """Several targets per row, or any number of labels: one classifier per column of y.

    Columns are learned independently of each other, which is right for the posterior of every
    column alone, and for the least expected number of wrong labels. Sets of labels are a column of
    0 and 1 for every label; one that all rows have, or none, is answered without a member.

    Parameters
    ----------
    estimator : classifier, default=None
        None is `LogisticRegression()`. Weights are passed on if its `fit` takes them.

    Attributes
    ----------
    classes_ : list of arrays
        The classes of every column; 0 and 1 of a label.
    labels_ : array of shape (L,)
        The names of the columns of y, the sorted labels of its sets, or numbers from 0.
    shares_ : array of shape (L,)
        The share of rows, by weight, that have each label; of a column of other classes that of the
        last class.
    cardinality_ : float
        The sum of the shares: the mean number of labels of a row.
    estimators_ : list of L classifiers
        The members, one per column.

    See Also
    --------
    OneVsRestClassifier : Takes labels too, with one column of posteriors per label.

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
    >>> columns = [["dry", 1], ["wet", 1], ["dry", 2], ["wet", 3], ["wet", 1], ["dry", 2]]
    >>> model = MultiOutputClassifier().fit(X, columns)
    >>> model.predict([[0.0, 1.0], [1.0, 0.0]]).tolist()
    [['wet', 1], ['dry', 2]]
    >>> [proba.shape for proba in model.predict_proba(X)]
    [(6, 2), (6, 3)]
    """

    _parameter_constraints: ClassVar[dict] = BINARY_CONSTRAINTS
    _alternative: ClassVar[str] = "one LogisticRegression per label"
    _uses_weights = False
    _has_one_target: ClassVar[bool] = False  # classes_ are those of every column

    labels_: np.ndarray
    classes_: Any

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

    def _routes(self) -> list[Route]:
        methods = (("fit", "fit"), ("partial_fit", "partial_fit"))
        return [Route("estimator", self._base(), methods)]

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit one copy of the estimator per column of y.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array, sparse array, list of lists or frame of shape (n_samples, n_outputs), or a \
sequence of sets or tuples
            The classes of every column; or 1 for each label that a row has and 0 for the others; or
            the set of its labels.
        sample_weight : array of shape (n_samples,), optional
        """
        target = target_columns(y, type(self).__name__)
        data, w = self._cells(X, sample_weight, len(target.cells))
        self._set_columns(target, w)
        weights = member_weights(self._base(), w)
        rows = None if w is None or w.all() else np.flatnonzero(w)
        work = partial(self._fit_column, data, rows, weights)
        columns = zip(target.columns, self.classes_, map(str, target.names))
        members: list[Any] = []
        for member in ordered_map(work, list(columns)):
            members.append(member)
            report("members", len(members), len(target.names))
        self.estimators_ = members
        return self

    def _set_columns(self, target: LabelColumns, w: np.ndarray | None) -> None:
        self.labels_ = target.names
        self.classes_ = target.classes
        weights = row_weights(w, len(target.cells))
        has = [
            column == classes[-1]
            for column, classes in zip(target.columns, self.classes_)
        ]
        self.shares_ = weights @ np.column_stack(has) / weights.sum()
        self.cardinality_ = float(self.shares_.sum())

    def _fit_column(
        self,
        data: MemberData,
        rows: np.ndarray | None,
        w: np.ndarray | None,
        of_column: tuple[np.ndarray, np.ndarray, str],
    ) -> Any:
        """The member of one column."""
        cells, classes, name = of_column
        seen = cells if rows is None else cells[rows]
        if classes is SIDES and (seen == seen[0]).all():
            return ConstantMember(int(seen[0]))
        if w is not None and rows is not None:
            w = w[rows]
        kind: Kind = "binary" if len(classes) == 2 else "categorical"
        column = Column(name, kind, classes, "a column of the target")
        codes = np.searchsorted(classes, cells).astype(np.int32)
        new = data.with_target(codes, column, labels=cells)
        return new.fit(self._copy(), rows, w=w)

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

    @available_if(has_method("partial_fit", of_members=False))
    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: Any = None,
        sample_weight: Weights = None,
    ):
        """Let every member learn from more rows.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        y : array of shape (n_samples, n_outputs)
        classes : list of arrays, default=None
            The classes of every column; in the first call.
        sample_weight : array of shape (n_samples,), optional
        """
        begins = begins_to_learn(self, classes)
        target = target_columns(y, type(self).__name__)
        self._validate_params()
        _CellInputs(self).for_partial_fit(X, None, sample_weight)
        if begins:
            self.framed_ = False
            self._set_columns(target, None)
            self.classes_ = [np.unique(given) for given in classes]
            members = [self._copy() for _ in self.classes_]
        else:
            members = [deepcopy(member) for member in self.estimators_]
        further: dict[str, Any] = dict(self._metadata().get("partial_fit", {}))
        if sample_weight is not None:
            further["sample_weight"] = sample_weight
        for member, cells, known in zip(members, target.columns, self.classes_):
            member.partial_fit(X, cells, classes=known, **further)
        self.estimators_ = members
        return self

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The class of every column, 1 for every label of a row, else 0, (n, L)."""
        return self._apply_to_members(self._member_classes, X)

    def _member_classes(self, data: MemberData) -> np.ndarray:
        columns = list(ordered_map(partial(_classes_of, data=data), self.estimators_))
        if len({column.dtype.kind for column in columns}) == 1:
            return np.column_stack(columns)
        table = np.empty((len(columns[0]), len(columns)), dtype=object)
        for j, column in enumerate(columns):
            table[:, j] = column.tolist()
        return table

    def predict_labels(self, X: Data) -> list[tuple[Any, ...]]:
        """The labels of every row, as a tuple per row."""
        self._check_labels("predict_labels")
        flags = np.asarray(self.predict(X)).astype(bool)
        return [tuple(self.labels_[row].tolist()) for row in flags]

    def _check_labels(self, method: str) -> None:
        check_is_fitted(self)
        if any(len(classes) > 2 for classes in self.classes_):
            raise DataError(
                f"{method} is of labels that a row has or has not, but a column of y has"
                " more than two classes: ask the members, model.estimators_"
            )

    def decision_function(self, X: Data) -> Any:
        """The score of every label, (n, L): how far its member is for it."""
        self._check_labels("decision_function")
        return self._apply_to_members(partial(self._member_columns, binary_score), X)

    @available_if(has_method("predict_proba"))
    def predict_proba(self, X: Data) -> list[Any]:
        """The posteriors of every column, a list of arrays of shape (n, n_classes); those of a
        label are of its absence and its presence."""
        check_is_fitted(self)
        both = np.asarray(self._apply_to_members(self._all_posteriors, X))
        ends = np.cumsum([len(classes) for classes in self.classes_])
        return np.split(both, ends[:-1], axis=1)

    def _all_posteriors(self, data: MemberData) -> np.ndarray:
        """The posteriors of all columns side by side."""
        pairs = zip(self.estimators_, self.classes_)
        return np.hstack([data.posteriors(member, known) for member, known in pairs])

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
        """The share of rows all of whose columns are right; `label_scores` has one share each.

        Parameters
        ----------
        X : array, frame or `scan(...)`
            Test rows.
        y : columns, indicators or sets of labels, as in `fit`
        sample_weight : array of shape (n_samples,), optional
        """
        right = (np.asarray(self.predict(X)) == self._known_matrix(y)).all(axis=1)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(right, weights=weights))

    def label_scores(self, X: Data, y: Target) -> dict[Any, float]:
        """The share of rows that are right of every column; one minus their mean is the Hamming
        loss."""
        right = (np.asarray(self.predict(X)) == self._known_matrix(y)).mean(axis=0)
        return dict(zip(self.labels_.tolist(), right.tolist()))

    def _known_matrix(self, y: Target) -> np.ndarray:
        check_is_fitted(self)
        cells, labels = target_columns(y, type(self).__name__)
        # a matrix has the columns of `fit`, sets their own labels
        is_matrix = not isinstance(y, list) or isinstance(y[0], list)
        if cells.shape[1] == len(self.labels_) and is_matrix:
            return cells
        unknown = sorted(set(labels.tolist()) - set(self.labels_.tolist()), key=str)
        if unknown or (is_matrix and hasattr(y, "ndim")):
            raise DataError(
                f"y has {cells.shape[1]} columns or labels, among them"
                f" {(unknown or labels.tolist())[0]!r}, but {len(self.labels_)} were learned"
                " in fit"
            )
        # columns in the order of `labels_`; a label that no row of y has is 0
        matrix = np.zeros((len(cells), len(self.labels_)), dtype=cells.dtype)
        index = {label: j for j, label in enumerate(self.labels_.tolist())}
        matrix[:, [index[label] for label in labels.tolist()]] = cells
        return matrix

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The columns, their classes, and the share of rows that have each label."""
        check_is_fitted(self)
        facts = {
            "labels": len(self.labels_),
            "labels per row": self.cardinality_,
            "members": f"{len(self.estimators_)} × {type(self._base()).__name__}",
        }
        names = map(str, self.labels_)
        last = [str(classes[-1]) for classes in self.classes_]
        rows = list(zip(names, map(len, self.classes_), last, self.shares_.tolist()))
        head = ("label", "classes", "last class", "share of rows")
        return Summary(self._title(), facts, [Table("Labels", head, rows)])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), ConstantMember)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"shares_": (len(self.estimators_),)}

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "estimators_"):
            return
        sizes = {len(self.classes_), len(self.estimators_), len(self.labels_)}
        if len(sizes) > 1:
            raise ModelFileError(
                "holds a MultiOutputClassifier with other columns than it has members"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


class _CellInputs(EstimatorInputs):
    """The way in without a target, which is read apart."""

    task: ClassVar = None


def _classes_of(member: Estimator, data: MemberData) -> np.ndarray:
    """The class of every row by one member."""
    if is_regressor(member):
        return (binary_score(member, data) > 0).astype(np.int64)
    return data.predict_with(member)

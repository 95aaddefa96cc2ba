"""One machine per class, against all other classes."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import normalize_posteriors
from lyceum._core.constraints import StrOptions
from lyceum._core.members import MemberData
from lyceum._core.routing import routed_through
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.ensemble.multiclass.binary_members import (
    BINARY_CONSTRAINTS,
    ConstantMember,
    has_posteriors,
    log_answers,
    posterior_operations_of,
    yes_posterior,
)
from lyceum.ensemble.multiclass.binary_parts import BinaryParts
from lyceum.ensemble.multiclass.multi_output import MultiOutputClassifier
from lyceum.errors import DataError, cannot_export
from lyceum.report import Explanation, Summary


class OneVsRestClassifier(BinaryParts):
    """One binary classifier per class, which tells its rows from all others; the highest score
    decides.

    .. math:: \\hat y = \\arg\\max_k f_k(x), \\qquad P(k|x) = \\frac{P_k(1|x)}{\\sum_j P_j(1|x)}

    By votes, f_k(x) > 0 is a vote for class k, and a "no" is a vote for every other class:

    .. math:: V_k = [f_k(x) > 0] + \\sum_{j \\ne k} [f_j(x) \\le 0]

    Scores are those of the members' `decision_function`; without one, P(1|x) - P(0|x); without
    posteriors, 1 and -1. Scores of members must be comparable: those of a support vector machine
    are in units of its own margin. With two classes there is one member. Any classifier of any
    library may be the estimator; members are fitted in parallel threads.

    Where y is a matrix of 0 and 1, or a sequence of sets of labels, a row may have any number of
    labels: every member says whether a row has its label, `classes_` are the labels, and
    `predict_proba` has the posterior of every label, which do not sum to 1.

    Parameters
    ----------
    decision : {"scores", "votes"}, default="scores"
        Whether the highest score or most votes decide; among classes of as many votes, the one of
        more rows.

    Attributes
    ----------
    estimators_ : list of K classifiers
        The members in the order of `classes_`; of two classes that of the second alone. Their
        labels are 1 for the class and 0 for the others.
    code_ : array of shape (K, L)
        What every member tells apart: the classes of 1 from those of -1; not of labels.
    multilabel_ : bool
        Whether a row may have any number of labels.
    labels_model_ : MultiOutputClassifier
        The members of labels, with what it knows of these.
    sparse_output_ : bool
        Whether labels were given, and are predicted, as a sparse matrix.

    See Also
    --------
    OneVsOneClassifier : One member per pair of classes.
    OutputCodeClassifier : Any code of the classes.
    MultiOutputClassifier : Rows that have several labels at once.

    References
    ----------
    Rifkin and Klautau (2004), In defense of one-vs-all classification, JMLR 5.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.ensemble import OneVsRestClassifier
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> penguins = load("penguins")
    >>> model = OneVsRestClassifier(DecisionTreeClassifier(max_depth=3)).fit(penguins)
    >>> len(model.estimators_), model.score(penguins) > 0.95
    (3, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **BINARY_CONSTRAINTS,
        "decision": [StrOptions({"scores", "votes"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        decision: str = "scores",
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.decision = decision
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Fit one copy of the estimator per class, or per label.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan; of labels a matrix of 0 \
and 1 (array, sparse array or frame) of shape (n_samples, n_labels), or a sequence of sets
        sample_weight : array of shape (n_samples,), optional
        """
        self.__dict__.pop("labels_model_", None)
        if not _is_of_labels(y):
            return super().fit(X, y, sample_weight)
        self._validate_params()
        model = MultiOutputClassifier(
            self._base(),
            n_jobs=self.n_jobs,
            categorical_features=self.categorical_features,
        )
        with routed_through(self, model):
            model.fit(X, y, sample_weight)
        for label, member in zip(model.labels_, model.estimators_):
            if isinstance(member, ConstantMember):
                said = f"{label}" if member.side else f"not {label}"
                warnings.warn(
                    f"Label {said} is present in all training examples.",
                    UserWarning,
                    stacklevel=3,
                )
        for name in ("schema_", "n_features_in_", "feature_names_in_", "framed_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        for name in ("code_", "class_weight_"):  # of classes, from an earlier fit
            self.__dict__.pop(name, None)
        self.labels_model_ = model
        self.pairwise_indices_ = None
        self.estimators_ = model.estimators_
        self.classes_ = model.labels_
        self.sparse_output_ = sparse.issparse(y)
        return self

    @property
    def _has_one_target(self) -> bool:
        return not self.multilabel_

    @property
    def multilabel_(self) -> bool:
        """Whether a row may have any number of labels."""
        return hasattr(self, "labels_model_")

    def predict(self, X: Data) -> Any:
        """The class that the members decide on; of labels 1 for each that a row has, (n, L)."""
        check_is_fitted(self)
        if not self.multilabel_:
            return super().predict(X)
        flags = self.labels_model_.predict(X)
        if self.sparse_output_:
            return sparse.csr_array(np.asarray(flags))
        return flags

    def decision_function(self, X: Data) -> Any:
        """One number per class, the largest decides, (n, K), or per label; with two classes that of
        the second, (n,)."""
        check_is_fitted(self)
        if self.multilabel_:
            return self.labels_model_.decision_function(X)
        return super().decision_function(X)

    def score(self, X: Data, y: Target = None, sample_weight: Weights = None) -> float:
        """The share of rows that are right, of labels those of which all are.

        Parameters
        ----------
        X : array, frame or `scan(...)`
            Test rows.
        y : classes or labels, as in `fit`
        sample_weight : array of shape (n_samples,), optional
        """
        check_is_fitted(self)
        if self.multilabel_:
            return self.labels_model_.score(X, y, sample_weight)
        return super().score(X, y, sample_weight)

    def summary(self) -> Summary:
        """The binary problems, and the weight of the rows on both sides of each."""
        check_is_fitted(self)
        if not self.multilabel_:
            return super().summary()
        inner = self.labels_model_.summary()
        return Summary(self._title(), inner.facts, inner.tables)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the number that the predicted class is decided by
        (`decision_function`); of labels ask the members.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self.multilabel_:
            raise DataError(
                "every label is explained alone, by model.estimators_[j].explain(X)"
            )
        return super().explain(X)

    def _make_code(self, n_classes: int) -> np.ndarray:
        code = 2 * np.eye(n_classes, dtype=np.int8) - 1
        if n_classes <= 2:
            return code[:, 1:]
        return code

    def _problem_name(self, column: np.ndarray) -> str:
        return f"{self.classes_[int(np.argmax(column))]} or the rest"

    def _class_scores(self, scores: np.ndarray) -> np.ndarray:
        if self.decision == "scores":
            return scores
        # the share of rows of a class, less than half a vote, breaks ties
        share = self.class_weight_ / (self.class_weight_.sum() + 1.0)
        return _votes(scores) + 0.5 * share

    @property
    def _sums_scores(self) -> bool:
        return self.decision == "scores"

    def _weights(self) -> np.ndarray:
        return np.eye(len(self.classes_))

    def votes(self, X: Data) -> Any:
        """The votes V_k of every row, (n, K), whichever way is decided by."""
        return self._apply_to_members(self._member_votes, X)

    def _member_votes(self, data: MemberData) -> np.ndarray:
        if len(self.classes_) > 2:
            return _votes(self._scores(data))
        scores = self._decision_scores(data)
        if len(self.classes_) == 2:
            return (scores > 0).astype(np.float64)
        return scores

    @available_if(has_posteriors)
    def predict_proba(self, X: Data) -> Any:
        """The posteriors of the members for their classes, divided by their sum; equal where all
        are zero. Those of labels are as the members say them, (n, L)."""
        check_is_fitted(self)
        if self.multilabel_:
            columns = self.labels_model_.predict_proba(X)
            return np.column_stack([proba[:, 1] for proba in columns])
        return self._apply_to_members(self._posterior, X)

    @available_if(has_posteriors)
    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of `predict_proba`."""
        return self._apply_to_members(partial(log_answers, of=self._posterior), X)

    def _posterior(self, data: MemberData) -> np.ndarray:
        K = len(self.classes_)
        if K == 1:
            return self._decision_scores(data) + 1.0
        yes = np.column_stack(self._member_answers(yes_posterior, data))
        if K == 2:
            return np.column_stack([1.0 - yes[:, 0], yes[:, 0]])
        nowhere = yes.sum(axis=1) <= 0
        yes[nowhere] = self.class_weight_ > 0
        return normalize_posteriors(yes)

    def _operations(self) -> list[Operation]:
        K = len(self.classes_)
        if self.multilabel_:
            raise cannot_export(self, "it was fitted on labels")
        if K < 2 or self.decision != "scores" or not has_posteriors(self):
            raise cannot_export(self, "it decides by votes, or by scores alone")
        branches = [
            posterior_operations_of(member, self.schema_) for member in self.estimators_
        ]
        operations: list[Operation] = [("branches", {"branches": branches})]
        if K == 2:
            both = {"coef": [[-1.0], [1.0]], "intercept": [1.0, 0.0]}
            return [*operations, ("linear", both)]
        equal = (self.class_weight_ > 0).astype(np.float64)
        otherwise = (equal / equal.sum()).tolist()
        return [*operations, ("shares", {"otherwise": otherwise})]

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), MultiOutputClassifier)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        if self.multilabel_:
            return {}
        return super()._shapes()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _is_of_labels(y: Any) -> bool:
    """Whether a target is a matrix of labels, or a sequence of sets; refuses other matrices."""
    if y is None or isinstance(y, str):
        return False
    if sparse.issparse(y):
        return True
    if isinstance(y, list | tuple):
        first = y[0] if len(y) else 0
        if isinstance(first, set | frozenset):
            return True
        many = isinstance(first, list | tuple | np.ndarray) and len(first) > 1
        if not many:
            return False
    cells = np.asarray(y)
    if cells.ndim != 2 or cells.shape[1] < 2:
        return False
    if not np.isin(cells, (0, 1)).all():
        raise DataError(
            "Multioutput target data is not supported with label binarization: give 0 and 1 for"
            " every label, or take MultiOutputClassifier for columns of several classes"
        )
    return True


def _votes(scores: np.ndarray) -> np.ndarray:
    """A yes is a vote for the class, a no one for every other class."""
    yes = scores > 0
    no = ~yes
    return (yes + no.sum(axis=1, keepdims=True) - no).astype(np.float64)

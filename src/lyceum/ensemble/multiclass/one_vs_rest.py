"""One machine per class, against all other classes."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import normalize_posteriors
from lyceum._core.constraints import StrOptions
from lyceum._core.members import MemberData
from lyceum._core.threads import ordered_map
from lyceum._core.types import Categories, Data, Operation
from lyceum.ensemble.multiclass.binary_members import (
    BINARY_CONSTRAINTS,
    BinaryMembers,
    has_posteriors,
    log_answers,
    posterior_operations_of,
    yes_posterior,
)
from lyceum.errors import cannot_export


class OneVsRestClassifier(BinaryMembers):
    """One binary classifier per class, which tells its rows from all others; the highest score
    decides.

    .. math:: \\hat y = \\arg\\max_k f_k(x), \\qquad P(k|x) = \\frac{P_k(1|x)}{\\sum_j P_j(1|x)}

    By votes, f_k(x) > 0 is a vote for class k, and a "no" is a vote for every other class:

    .. math:: V_k = [f_k(x) > 0] + \\sum_{j \\ne k} [f_j(x) \\le 0]

    Scores are those of the members' `decision_function`; without one, P(1|x) - P(0|x); without
    posteriors, 1 and -1. Scores of members must be comparable: those of a support vector machine
    are in units of its own margin. With two classes there is one member. Any classifier of any
    library may be the estimator; members are fitted in parallel threads.

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
        What every member tells apart: the classes of 1 from those of -1.

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
        are zero."""
        return self._apply_to_members(self._posterior, X)

    @available_if(has_posteriors)
    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of `predict_proba`."""
        return self._apply_to_members(partial(log_answers, of=self._posterior), X)

    def _posterior(self, data: MemberData) -> np.ndarray:
        K = len(self.classes_)
        if K == 1:
            return self._decision_scores(data) + 1.0
        posterior = partial(yes_posterior, data=data)
        yes = np.column_stack(list(ordered_map(posterior, self.estimators_)))
        if K == 2:
            return np.column_stack([1.0 - yes[:, 0], yes[:, 0]])
        nowhere = yes.sum(axis=1) <= 0
        yes[nowhere] = self.class_weight_ > 0
        return normalize_posteriors(yes)

    def _operations(self) -> list[Operation]:
        K = len(self.classes_)
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


def _votes(scores: np.ndarray) -> np.ndarray:
    """A yes is a vote for the class, a no one for every other class."""
    yes = scores > 0
    no = ~yes
    return (yes + no.sum(axis=1, keepdims=True) - no).astype(np.float64)

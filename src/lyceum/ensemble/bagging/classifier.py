"""Bagging and random subspaces of classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Classifier, normalize_posteriors
from lyceum._core.constraints import StrOptions
from lyceum._core.members import (
    MemberData,
    MemberImportances,
    class_operations,
    one_hot,
)
from lyceum._core.statistics import weighted_mean
from lyceum._core.threads import ordered_map
from lyceum._core.trees import Tree, shares
from lyceum._core.types import Categories, Data, Estimator, Operation
from lyceum.ensemble.bagging.base import BAG_CONSTRAINTS, BaggingBase
from lyceum.ensemble.tree_members import are_trees, votes
from lyceum.report import Explanation, Table
from lyceum.trees import DecisionTreeClassifier


def _members_have_scores(self: Any) -> bool:
    return all(
        hasattr(member, "decision_function")
        for member in getattr(self, "estimators_", [self._base()])
    )


class BaggingClassifier(Classifier, MemberImportances, BaggingBase):
    """Bagging: copies of any classifier, each on N' rows drawn from the N, who vote or average
    posteriors.

    .. math:: P(k|x) = \\frac{1}{L} \\sum_{l=1}^{L} P_l(k|x), \\qquad
        \\text{or} \\quad \\frac{1}{L} \\sum_{l=1}^{L} [h_l(x) = k]

    What varies most from sample to sample gains most (Breiman 1996). With `max_features` below 1
    every member also sees its own columns; `bootstrap=False, max_features=0.5` is the random
    subspace method (Ho 1998).

    Everything random follows from the seed and the number of the member, so that the result is the
    same for any number of threads. Rows are drawn with chances ∝ their weights, as in
    scikit-learn, and a row drawn m times weighs m, or is there m times for an estimator whose `fit`
    takes no `sample_weight`. Zero-weight rows are ignored.

    Lyceum's learners (and pipelines of them) take mixed tables, missing cells and scans as they do
    alone. An estimator from elsewhere is given what `fit` was given: an array, or the frame as it
    is.

    Parameters
    ----------
    estimator : classifier, default=None
        What to copy; None is a fully grown `DecisionTreeClassifier`. Every `random_state` in it is
        set.
    voting : {"soft", "hard"}, default="soft"
        Whether posteriors are averaged or votes counted; an estimator without posteriors votes. Of
        classes with equal votes the first is predicted.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted members.
    oob_score_ : float
        The share of rows, by weight, that members which have not seen them classify correctly.
    oob_decision_function_ : array of shape (n, K)
        Their mean posteriors or votes; NaN for rows that are never out of bag.
    oob_errors_ : array of shape (n_estimators,)
        The error of every member alone on the rows that it has not seen.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded, for explanations, if members are not
        trees.

    See Also
    --------
    RandomForestClassifier : Trees that also draw columns at every node.
    AdaBoostClassifier : Members one after the other, on the rows that were misclassified.

    References
    ----------
    Breiman (1996), Bagging predictors, Machine Learning 24.
    Ho (1998), The random subspace method for constructing decision forests, IEEE PAMI 20.

    Examples
    --------
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.datasets import load
    >>> from lyceum.ensemble import BaggingClassifier
    >>> penguins = load("penguins")
    >>> model = BaggingClassifier(NaiveBayes(), oob_score=True, random_state=0).fit(penguins)
    >>> model.oob_score_ > 0.95
    True

    Bags may be given, as row numbers; a row that is named twice is there twice:

    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> model = BaggingClassifier(stump, bags=[[0, 1, 2, 2], [0, 0, 3, 3], [1, 2, 3, 3]])
    >>> model = model.fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> print(model.vote_table([[2.0], [2.6]]))
    Votes
    row  member 1  member 2  member 3  for a  for b  votes
    ───  ────────  ────────  ────────  ─────  ─────  ─────
      0  a         a         a             3      0  a
      1  b         b         b             0      3  b
    """

    _parameter_constraints: ClassVar[dict] = {
        **BAG_CONSTRAINTS,
        "voting": [StrOptions({"soft", "hard"})],
    }
    _alternative: ClassVar[str] = "lyceum.bayes.NaiveBayes or LogisticRegression"
    _loss_name: ClassVar[str] = "error"

    classes_: np.ndarray

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        bootstrap: bool = True,
        max_features: int | float = 1.0,
        bootstrap_features: bool = False,
        bags: Any = None,
        voting: str = "soft",
        oob_score: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.bootstrap_features = bootstrap_features
        self.bags = bags
        self.voting = voting
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return DecisionTreeClassifier()

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The class of the largest mean posterior, or of most votes."""
        return self._predict_largest(self._mean, X)

    def predict_proba(self, X: Data) -> Any:
        """The mean posteriors of the members, or the shares of their votes."""
        return self._apply_to_members(self._mean, X)

    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of `predict_proba`."""
        return self._apply_to_members(self._log_mean, X)

    @available_if(_members_have_scores)
    def decision_function(self, X: Data) -> Any:
        """The mean score of the members: of the second of two classes, (n,), or of K classes, (n,
        K)."""
        return self._apply_to_members(self._mean_scores, X)

    def staged_predict_proba(self, X: Data) -> Iterator[Any]:
        """`predict_proba` of the first member, the first two, ..."""
        yield from self._stages(X)

    def staged_predict(self, X: Data) -> Iterator[Any]:
        """`predict` of the first member, the first two, ..."""
        for proba in self._stages(X):
            yield self.classes_[np.asarray(proba).argmax(axis=1)]

    def vote_sums(self, X: Data) -> Any:
        """How many members vote for each class, (n, K), whatever `voting` says."""
        return self._apply_to_members(self._vote_sums, X)

    def vote_table(self, X: Data) -> Table:
        """What every member says of every row, the sums of their votes, and the class of most
        votes.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        codes = np.asarray(self._apply_to_members(self._member_codes, X))
        sums = np.asarray(self._apply_to_members(self._vote_sums, X))
        labels = self.classes_[codes].tolist()
        winners = self.classes_[sums.argmax(axis=1)].tolist()
        rows = [
            (i, *said, *votes, winner)
            for i, (said, votes, winner) in enumerate(
                zip(labels, sums.tolist(), winners)
            )
        ]
        members = [f"member {i + 1}" for i in range(codes.shape[1])]
        heads = ("row", *members, *(f"for {label}" for label in self.classes_), "votes")
        return Table("Votes", heads, rows)

    # -- answers -----------------------------------------------------------------------

    def _member_codes(self, data: MemberData) -> np.ndarray:
        """The class codes of every member, (n, L)."""
        codes = [
            data.class_codes(member, self.classes_, columns=columns)
            for member, columns in zip(self.estimators_, self._columns)
        ]
        return np.stack(codes, axis=1)

    def _vote_sums(self, data: MemberData) -> np.ndarray:
        codes = self._member_codes(data)
        K = len(self.classes_)
        return np.stack([(codes == k).sum(axis=1) for k in range(K)], axis=1)

    def _mean(self, data: MemberData) -> np.ndarray:
        return normalize_posteriors(super()._mean(data))

    def _operations(self) -> list[Operation]:
        return [*self._mean_operations(), ("shares", {})]

    def _answer_operations(self, member: Estimator, columns: Any) -> list[Operation]:
        vote = self.voting == "hard"
        return class_operations(member, self.classes_, self.schema_, columns, vote)

    def _log_mean(self, data: MemberData) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self._mean(data))

    def _mean_scores(self, data: MemberData) -> np.ndarray:
        L = len(self.estimators_)
        scores: Any = ordered_map(partial(self._member_scores, data=data), range(L))
        mean = sum(scores) / L
        if len(self.classes_) <= 2:
            return mean[:, -1]
        return mean

    def _member_scores(self, i: int, data: MemberData) -> np.ndarray:
        """The scores of all classes, (n, K); a class that a member has not seen has the least of
        its scores."""
        member = self.estimators_[i]
        scores = data.predict_with(
            member, "decision_function", columns=self.draws_.columns(i)
        ).astype(np.float64)
        n_seen = len(member.classes_)
        # scores of two classes are those of the second
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])[:, -n_seen:]
        if n_seen == len(self.classes_):
            return scores
        least = scores.min(axis=1, keepdims=True)
        every = np.repeat(least, len(self.classes_), axis=1)
        every[:, np.searchsorted(self.classes_, member.classes_)] = scores
        return every

    def _stages(self, X: Data) -> Iterator[Any]:
        return map(normalize_posteriors, super()._stages(X))

    @property
    def _width(self) -> int:
        return len(self.classes_)

    def _answer(
        self,
        member: Estimator,
        data: MemberData,
        columns: object,
        rows: Any = None,
    ) -> np.ndarray:
        if self.voting == "hard":
            codes = data.class_codes(member, self.classes_, rows, columns)
            return one_hot(codes, self._width)
        return data.posteriors(member, self.classes_, rows, columns)

    @property
    def _node_values(self) -> Callable[[Tree], np.ndarray]:
        if self.voting == "hard":
            return votes
        return lambda tree: shares(tree.node_values)

    def _losses(self, target: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return (answers.argmax(axis=1) != target).astype(np.float64)

    def _score(
        self,
        target: np.ndarray,
        answers: np.ndarray,
        w: np.ndarray | None,
    ) -> float:
        return 1.0 - weighted_mean(self._losses(target, answers), w)

    def _set_answers(self, answers: np.ndarray) -> None:
        self.oob_decision_function_ = normalize_posteriors(answers)

    @property
    def _oob_error(self) -> float:
        return 1.0 - self.oob_score_

    # -- what was learned --------------------------------------------------------------

    @property
    def _explains_by_replacement(self) -> bool:  # type: ignore[override]
        return not are_trees([self._base()], one_leaf=True)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the mean posterior, or vote, of the class.

        If the members are trees, it is the mean of what the column adds in them. Otherwise the base
        is the answer for rows drawn in `fit` (`background_`) in the mean, whose columns are
        replaced by the row's own in random orders (Shapley's values, sampled).
        """
        check_is_fitted(self)
        unit = "posterior"
        if self.voting == "hard":
            unit = "votes"
        if are_trees(self.estimators_, one_leaf=self._node_values is votes):
            return self._explain_members(self._tree_parts, X, unit)
        return self._explain_by_replacement(self._mean, X, unit)

"""Several classes from binary machines: every column of a code is one problem of some classes
against others.

A code is a matrix of K classes and L columns with entries 1, -1 and 0. Member l tells the classes
of 1 in column l from those of -1; rows of classes of 0 are left out. One-vs-rest, one-vs-one and
output codes differ in the code, and in how the scores of the members make a class.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    takes_rows,
    takes_weights,
    undefined,
)
from lyceum._core.constraints import HasMethods
from lyceum._core.data import ArraySource, Column, Schema
from lyceum._core.members import Ensemble, MemberData, member_operations
from lyceum._core.routing import Route
from lyceum._core.threads import ordered_map
from lyceum._core.types import Data, Estimator, Operation, Target, Weights
from lyceum.errors import SettingError, cannot_export
from lyceum.linear import LogisticRegression
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table

BINARY_CONSTRAINTS: dict[str, Any] = {
    "estimator": [HasMethods(["fit"]), None],
    "categorical_features": CATEGORICAL_FEATURES,
}
_SIDES = np.array([0, 1])  # the labels of every binary problem
_ROUNDING = 1e-6  # how far the sum of an explanation may be from the score
_BOUND = 1.0 / 3.0  # the most that ties are broken by: less than half a vote


class ConstantMember(BaseEstimator):
    """The member of a problem whose rows are all on one side: it answers with that side."""

    def __init__(self, side: int = 0):
        self.side = side

    @property
    def classes_(self) -> np.ndarray:
        """Both sides."""
        return _SIDES

    def predict(self, X: Any) -> np.ndarray:
        """The side, for every row."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.full(n, self.side)

    def predict_proba(self, X: Data) -> np.ndarray:
        """1 for the side."""
        return (self.predict(X)[:, None] == _SIDES).astype(np.float64)

    def complexity(self) -> int:
        """One number."""
        return 1


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """One binary problem: its name, 0 or 1 for every row, the rows to learn from, and the columns
    of a given kernel that are theirs (None for all)."""

    name: str
    sides: np.ndarray
    rows: np.ndarray | None = None
    columns: np.ndarray | None = None


def fit_problems(
    estimator: Callable[[], Any],
    data: MemberData,
    problems: list[BinaryProblem],
    w: np.ndarray | None,
) -> list[Any]:
    """A member for every problem, fitted in threads, in the order of the problems."""
    work = partial(_fit_problem, estimator, data, w)
    members: list[Any] = []
    for member in ordered_map(work, problems):
        members.append(member)
        report("members", len(members), len(problems))
    return members


def _fit_problem(
    estimator: Callable[[], Any],
    data: MemberData,
    w: np.ndarray | None,
    problem: BinaryProblem,
) -> Any:
    sides = problem.sides
    rows = problem.rows
    seen = sides if rows is None else sides[rows]
    if not len(seen):
        return ConstantMember(0)
    if (seen == seen[0]).all():
        return ConstantMember(int(seen[0]))
    if w is not None and rows is not None:
        w = w[rows]
    column = Column(problem.name, "binary", _SIDES, "one side against the other")
    sided = data.with_target(sides, column, labels=sides)
    return sided.fit(estimator(), rows, problem.columns, w)


def member_weights(estimator: Estimator, w: np.ndarray | None) -> np.ndarray | None:
    """Weights that members take; refuses weights that the estimator would not see."""
    if w is None or takes_weights(estimator):
        return w
    if ((w == w.max()) | (w == 0)).all():
        return None  # rows of weight zero are left out, all others weigh the same
    raise SettingError(
        f"{type(estimator).__name__} does not take sample_weight: fit without weights, repeat rows,"
        " or use an estimator whose fit takes them"
    )


# -- what members answer ---------------------------------------------------------------


def binary_score(
    member: Estimator, data: MemberData, columns: np.ndarray | None = None
) -> np.ndarray:
    """How far a member is for 1: its decision function, P(1|x) - P(0|x), twice the number that a
    regressor predicts less 1, or 1 and -1, (n,)."""
    if hasattr(member, "decision_function"):
        scores = data.predict_with(member, "decision_function", columns=columns)
        return scores.reshape(-1).astype(np.float64)
    if hasattr(member, "predict_proba"):
        return 2.0 * yes_posterior(member, data, columns) - 1.0
    if is_regressor(member):  # of the numbers 0 and 1
        return 2.0 * data.numbers(member, columns=columns) - 1.0
    answers = data.predict_with(member, columns=columns)
    return np.where(answers == 1, 1.0, -1.0)


def yes_posterior(
    member: Estimator, data: MemberData, columns: np.ndarray | None = None
) -> np.ndarray:
    """P(1|x), (n,)."""
    proba = data.predict_with(member, "predict_proba", columns=columns)
    return proba.astype(np.float64)[:, 1]


def score_operations_of(member: Any, schema: Schema) -> list[Operation]:
    """`binary_score` for exported models."""
    if isinstance(member, ConstantMember):
        raise cannot_export(member, "a binary problem has rows of one side only")
    operations = member_operations(member, schema)
    difference: Operation = ("linear", {"coef": [[-1.0, 1.0]], "intercept": [0.0]})
    last = operations[-1][0]
    if not hasattr(member, "decision_function"):
        if not hasattr(member, "predict_proba"):
            operations.append(("vote", {}))
        return [*operations, difference]
    # decision functions are log-odds, or f(x)
    if last == "softmax":
        return [*operations[:-1], difference]
    if last == "sides":
        return operations[:-1]
    raise cannot_export(member, "as a member: its scores have no operations")


def posterior_operations_of(member: Any, schema: Schema) -> list[Operation]:
    """`yes_posterior` for exported models."""
    if isinstance(member, ConstantMember):
        raise cannot_export(member, "a binary problem has rows of one side only")
    return [*member_operations(member, schema), ("pick", {"columns": [1]})]


def has_method(name: str, of_members: bool = True) -> Callable[[Any], bool]:
    """A check for `available_if`: whether members, or the estimator, have a method; else
    AttributeError, whose cause is the estimator's."""

    def check(model: Any) -> bool:
        learners = [model._base()]
        if of_members:
            learners = getattr(model, "estimators_", learners)
        for learner in learners:
            getattr(learner, name)
        return True

    return check


def has_posteriors(model: Estimator) -> bool:
    """Whether members give posteriors."""
    return all(
        hasattr(member, "predict_proba")
        for member in getattr(model, "estimators_", [model._base()])
    )


def of_two_classes(answers: np.ndarray) -> np.ndarray:
    """scikit-learn's form of (n, 2) scores that are each other's negative: the second, (n,)."""
    if answers.shape[1] == 2:
        return answers[:, 1]
    return answers


def with_ties_broken(votes: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Votes plus less than half a vote, larger for larger `by`."""
    # x / (|x| + 1) rises from −1 to 1
    return votes + _BOUND * by / (np.abs(by) + 1.0)


# -- the classifiers -------------------------------------------------------------------


class BinaryMembers(Classifier, Ensemble):
    """A classifier of several classes made of binary members: a subclass says by which code, and
    decodes."""

    _parameter_docs: ClassVar[str] = """
    estimator : classifier
        None is `LogisticRegression()`. Weights are passed on if its `fit` takes them.
    """
    _attribute_docs: ClassVar[str] = """
    class_weight_ : array of shape (K,)
        The weight of the rows of every class.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded; where explanations start that are no sums
        of those of the members.
    pairwise_indices_ : list of arrays or None
        The rows that every member has learned from, where the estimator takes a given kernel, of
        which these are its columns, and members leave rows out; else None.
    """
    _explains_by_replacement: ClassVar[bool] = True
    # -inf for a class without rows
    _scores_are_logs: ClassVar[bool] = True
    _needs_scaling = True  # as logistic regressions do
    _alternative: ClassVar[str] = (
        "lyceum.linear.LogisticRegression, which takes several classes directly"
    )

    classes_: np.ndarray
    code_: np.ndarray
    class_weight_: np.ndarray
    pairwise_indices_: list[np.ndarray] | None

    # -- what a subclass says ----------------------------------------------------------

    def _make_code(self, n_classes: int) -> np.ndarray:
        """The code, (K, L), of -1, 0 and 1."""
        raise undefined(self, "_make_code")

    def _class_scores(self, scores: np.ndarray) -> np.ndarray:
        """One number per class, the largest decides, (n, K), from the scores of the members, (n,
        L)."""
        raise undefined(self, "_class_scores")

    @property
    def _sums_scores(self) -> bool:
        """Whether `_class_scores` are sums of scores, `scores @ _weights().T`."""
        return False

    def _weights(self) -> np.ndarray:
        raise undefined(self, "_weights")

    @property
    def _score_unit(self) -> str:
        """What the numbers are that classes are decided by."""
        return "score"

    def _problem_name(self, column: np.ndarray) -> str:
        """What member l tells apart."""
        labels = self.classes_.astype(str)
        return f"{'+'.join(labels[column == 1])} or {'+'.join(labels[column == -1])}"

    # -- fit ---------------------------------------------------------------------------

    def _default(self) -> Any:
        return LogisticRegression()

    _uses_weights = False

    def _routes(self) -> list[Route]:
        return [Route("estimator", self._base(), (("fit", "fit"),))]

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit one copy of the estimator per binary problem.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        data, target, w = self._member_data(X, y, sample_weight)
        K = len(self.classes_)
        self.class_weight_ = np.bincount(target, w, minlength=K).astype(np.float64)
        self.code_ = self._make_code(K)
        problems = [self._problem(column, target, w) for column in self.code_.T]
        self.pairwise_indices_ = None
        if get_tags(self._base()).input_tags.pairwise and (self.code_ == 0).any():
            problems = [replace(one, columns=one.rows) for one in problems]
            self.pairwise_indices_ = [
                np.arange(len(target)) if one.rows is None else one.rows
                for one in problems
            ]
        self.estimators_ = fit_problems(
            self._copy, data, problems, member_weights(self._base(), w)
        )
        return self

    def _problem(
        self,
        column: np.ndarray,
        target: np.ndarray,
        w: np.ndarray | None,
    ) -> BinaryProblem:
        side = column[target]
        taken = side != 0
        if w is not None:
            taken &= w > 0
        return BinaryProblem(
            name=self._problem_name(column),
            sides=(side > 0).astype(target.dtype),
            rows=None if taken.all() else np.flatnonzero(taken),
        )

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The class that the members decide on."""
        return self._predict_largest(self._decision_scores, X)

    def decision_function(self, X: Data) -> Any:
        """One number per class, the largest decides, (n, K); with two classes that of the second,
        (n,)."""
        return self._apply_to_members(self._decision, X)

    def _scores(self, data: MemberData) -> np.ndarray:
        """The scores of all members, (n, L)."""
        return np.column_stack(self._member_answers(binary_score, data))

    def _member_answers(
        self, of: Callable[..., np.ndarray], data: MemberData
    ) -> list[np.ndarray]:
        """`of` every member and the data, of its own columns of a given kernel."""
        columns: list[np.ndarray | None] = [None] * len(self.estimators_)
        if self.pairwise_indices_:
            columns = list(self.pairwise_indices_)

        def answer(pair: tuple[Any, Any]) -> np.ndarray:
            return of(pair[0], data, pair[1])

        return list(ordered_map(answer, list(zip(self.estimators_, columns))))

    def _decision_scores(self, data: MemberData) -> np.ndarray:
        """The class scores, (n, K)."""
        if len(self.classes_) == 1:
            return np.zeros((data.n_rows, 1))
        if len(self.classes_) == 2 and self.code_.shape[1] == 1:
            score = self._scores(data)[:, 0]
            return np.column_stack([-score, score])
        scores = self._class_scores(self._scores(data))
        scores[:, self.class_weight_ == 0] = -np.inf  # a class without rows
        return scores

    def _score_branches(self) -> Operation:
        """The scores of all members, for exported models."""
        if len(self.classes_) < 2 or (self.class_weight_ == 0).any():
            raise cannot_export(self, "there is one class, or a class without rows")
        branches = [
            score_operations_of(member, self.schema_) for member in self.estimators_
        ]
        return "branches", {"branches": branches}

    def _decision(self, data: MemberData) -> np.ndarray:
        return of_two_classes(self._decision_scores(data))

    # -- what was learned --------------------------------------------------------------

    def _facts(self) -> dict[str, Any]:
        return {
            "classes": len(self.classes_),
            "members": f"{len(self.estimators_)} × {type(self._base()).__name__}",
        }

    def summary(self) -> Summary:
        """The binary problems, and the weight of the rows on both sides of each."""
        check_is_fitted(self)
        rows = []
        for column in self.code_.T:
            yes = float(self.class_weight_[column == 1].sum())
            no = float(self.class_weight_[column == -1].sum())
            rows.append((self._problem_name(column), yes, no))
        head = ("problem", "weight of yes", "weight of no")
        return Summary(self._title(), self._facts(), [Table("Problems", head, rows)])

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the number that the predicted class is decided by
        (`decision_function`).

        Where the score of a class is a sum of scores of members that explain themselves, columns
        add what they add to these. Otherwise the base is the score for rows drawn in `fit`
        (`background_`) in the mean, whose columns are replaced by the row's own in random orders
        (Shapley's values, sampled).
        """
        check_is_fitted(self)
        is_sum = self._sums_scores or len(self.estimators_) < 2
        if is_sum and takes_rows(self._base()):
            with suppress(_NotSums):
                # tried on a few rows first: the rows of X can be read only once
                schema = Schema(self.schema_.columns)
                cells = self.background_
                self._score_parts(
                    MemberData(ArraySource(cells, None, None, schema, coded=True))
                )
                return self._explain_members(self._score_parts, X, "score")
        return self._explain_by_replacement(self._decision_scores, X, self._score_unit)

    def _score_parts(self, data: MemberData) -> np.ndarray:
        """The predicted class, the base, and what every column adds to its score."""
        if len(self.classes_) == 1:
            return np.zeros((data.n_rows, 2 + self.n_features_in_))
        # (n, L, 1 + d): base and contributions of every member
        signed = np.stack(
            [_signed_parts(member, data) for member in self.estimators_], axis=1
        )
        if len(self.classes_) == 2 and self.code_.shape[1] == 1:
            weights = np.array([[-1.0], [1.0]])
        else:
            weights = self._weights()
        # the class by the scores themselves: sums of contributions may break ties by rounding
        best = self._decision_scores(data).argmax(axis=1)
        return np.column_stack([best, np.einsum("nl,nlj->nj", weights[best], signed)])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self._base()).input_tags.pairwise
        return tags

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), ConstantMember)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        return super()._shapes() | {
            "code_": (K, len(self.estimators_)),
            "class_weight_": (K,),
        }


class _NotSums(Exception):
    """The scores of a member are not the sums of its explanations, or it has none."""


def _signed_parts(member: Estimator, data: MemberData) -> np.ndarray:
    """Base and contributions to the score of a member for 1, (n, 1 + d); _NotSums where it has
    none."""
    score = binary_score(member, data)
    if isinstance(member, ConstantMember):
        d = len(data.source.schema)  # type: ignore[union-attr]
        return np.column_stack([score, np.zeros((len(score), d))])
    if not hasattr(member, "explain"):
        raise _NotSums
    explanation = member.explain(data.inputs(member))
    parts = np.column_stack([explanation.base, explanation.contributions])
    # without a decision function the score is 2 P(1|x) − 1
    if not hasattr(member, "decision_function"):
        parts *= 2.0
        parts[:, 0] -= 1.0
    # what is explained is the class that the member predicts, or 1: the sign that fits the score
    sums = parts.sum(axis=1)
    sign = np.where(np.abs(sums - score) <= np.abs(sums + score), 1.0, -1.0)
    largest = np.abs(score).max(initial=1.0)
    if not np.allclose(sums * sign, score, rtol=_ROUNDING, atol=_ROUNDING * largest):
        raise _NotSums
    return parts * sign[:, None]


def log_answers(data: MemberData, of: Callable[[MemberData], np.ndarray]) -> np.ndarray:
    """The logarithms of `of` the data, -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(of(data))

"""Voting: any learners, each with its own columns and preparation, fused by a rule."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Classifier, Regressor, normalize_posteriors, undefined
from lyceum._core.constraints import StrOptions
from lyceum._core.members import MemberData
from lyceum._core.probability import check_shares
from lyceum._core.statistics import weighted_mean
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.ensemble.committees.base import (
    NAMED_CONSTRAINTS,
    MemberColumns,
    NamedEnsemble,
    is_dropped,
    member_kind,
)
from lyceum.ensemble.committees.diversity import Diversity, diversity
from lyceum.ensemble.committees.explanation import member_shares
from lyceum.ensemble.committees.fusion import (
    CLASS_RULES,
    NUMBER_RULES,
    fuse,
    simplex_weights,
    weighted_sum,
)
from lyceum.ensemble.committees.pruning import Pruning, prune_ensemble
from lyceum.ensemble.committees.usual_members import (
    usual_classifiers,
    usual_regressors,
)
from lyceum.errors import SettingError
from lyceum.report import Summary, Table

_SMALLEST = 1e-12  # an error of zero would give a weight without bound
_WITHOUT_WEIGHTS = ("median", "minimum", "maximum")
_RULES = {"hard": "vote", "soft": "sum"}  # of scikit-learn's `voting`
_SUMS = ("vote", "sum", "average", "weighted")


class _Voting(MemberColumns, NamedEnsemble):
    """Members that are fused by a rule, whatever they predict."""

    _parameter_docs: ClassVar[str] = """
    cv : int, "leave_one_out" or splitter
        How rows are left out for `weights`.
    """

    rule: Any
    weights: Any
    cv: Any
    weights_: np.ndarray

    def __init__(
        self,
        estimators: Any = None,
        *,
        rule: str | None = None,
        weights: ArrayLike | None = None,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimators = estimators
        self.rule = rule
        self.weights = weights
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    @property
    def _rule(self) -> str:
        """The rule as given, or that of scikit-learn's `voting`."""
        return self.rule or _RULES[getattr(self, "voting", "soft")]

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit every member on all rows, and find its weight.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Every member must take weights then.
        """
        data, target, w = self._member_data(X, y, sample_weight)
        self.__dict__.pop("validation_errors_", None)
        self.weights_ = self._weights(data, target, w)
        self._fit_members(data, w)
        return self

    def _weights(
        self,
        data: MemberData,
        target: np.ndarray,
        w: np.ndarray | None,
    ) -> np.ndarray:
        method = self.weights
        if self._rule == "weighted" and method is None:
            method = "validation"
        if method is not None and self._rule in _WITHOUT_WEIGHTS:
            raise SettingError(
                f"the rule {self._rule!r} takes no weights: leave weights at None"
            )
        if not isinstance(method, str):
            if method is not None:
                method = self._weights_of_members(np.asarray(method))
            return check_shares(method, len(self.names_), "weights", "member")
        # members are judged by their posteriors; weights of votes are learned from votes
        vote = self._rule == "vote" and method == "learned"
        answers = self._out_of_fold(data, target, w, self.cv, vote)
        tested = np.isfinite(answers).all(axis=(0, 2))
        answers = answers[:, tested]
        target = target[tested]
        if w is not None:
            w = w[tested]
        losses = [weighted_mean(self._losses(answer, target), w) for answer in answers]
        self.validation_errors_ = np.array(losses)
        if method == "learned":
            return self._learned_weights(answers, target, w)
        merits = self._merits(method, len(target))
        if not merits.any():
            merits = np.ones(len(answers))
        return check_shares(merits, len(answers), "weights", "member")

    def _weights_of_members(self, weights: np.ndarray) -> np.ndarray:
        """The weights that were given, without those of members that are dropped."""
        given = self.estimators
        if given is None:
            return weights
        if weights.shape != (len(given),):
            raise SettingError(
                "Number of `estimators` and weights must be equal; got"
                f" {len(weights)} weights, {len(given)} estimators"
            )
        return weights[[not is_dropped(member) for member in given]]

    def _losses(self, answers: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The loss of every answer."""
        raise undefined(self, "_losses")

    def _learned_weights(
        self,
        answers: np.ndarray,
        target: np.ndarray,
        w: np.ndarray | None,
    ) -> np.ndarray:
        return simplex_weights(answers, target, w)

    def _merits(self, method: str, n_rows: int) -> np.ndarray:
        """What members are worth by their `validation_errors_`."""
        raise undefined(self, "_merits")

    # -- predict -----------------------------------------------------------------------

    def member_outputs(self, X: Data) -> np.ndarray:
        """The answers of every member: posteriors of shape (L, n, K), or numbers of shape (L,
        n)."""
        check_is_fitted(self)
        answers = np.asarray(self._apply_to_members(self._side_by_side, X))
        shape = (len(answers), len(self.estimators_), -1)
        return answers.reshape(shape).transpose(1, 0, 2)

    def _side_by_side(self, data: MemberData) -> np.ndarray:
        return np.concatenate(list(self._answers(data)), axis=1)

    def _new_cells(self, data: MemberData) -> np.ndarray:
        return self._side_by_side(data)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of `transform`: class, member and number of the answer."""
        check_is_fitted(self)
        return np.array(self._answer_names(1), dtype=object)

    def _fuse_answers(self, data: MemberData) -> np.ndarray:
        vote = self._rule == "vote"
        answers = (
            self._answer(i, member, data, vote=vote)
            for i, member in enumerate(self.estimators_)
        )
        if self._rule in _SUMS:
            # a member at a time: no room for all
            return weighted_sum(answers, self.weights_)
        return self._fuse_stacked(np.stack(list(answers)))

    def _fuse_stacked(self, answers: np.ndarray) -> np.ndarray:
        weights = None
        if self._rule not in _WITHOUT_WEIGHTS:
            weights = self.weights_
        fused = fuse(answers, self._rule, weights)
        may_be_zero = self._rule == "minimum" and self._predicts_classes
        if self._rule != "product" and not may_be_zero:
            return fused
        # where every class has a product or minimum of zero, or next to it, the mean decides
        zero = ~(fused.sum(axis=1) >= np.finfo(np.float64).tiny)
        if zero.any():
            fused[zero] = fuse(answers[:, zero], "sum", weights)
        return fused

    def _fuse_operations(self) -> list[Operation]:
        """The fused answers, for exported models."""
        branches = [
            self._answer_operations(i, member, vote=self._rule == "vote")
            for i, member in enumerate(self.estimators_)
        ]
        rule = "sum" if self._rule in _SUMS else self._rule
        width = len(self.classes_) if self._predicts_classes else 1
        fused = {"rule": rule, "weights": self.weights_.tolist(), "width": width}
        return [("branches", {"branches": branches}), ("fuse", fused)]

    # -- what was learned --------------------------------------------------------------

    def _member_heads(self) -> tuple[list[str], str, tuple[str, np.ndarray] | None]:
        settings = None
        if self._rule not in _WITHOUT_WEIGHTS:
            settings = ("weight", self.weights_)
        unit = f"share in the {self._rule}"
        if self._rule == "product":
            unit = "log-odds against the runner-up"
        return self.names_, unit, settings

    def _member_parts(self, data: MemberData) -> np.ndarray:
        answers = self._answers(data, vote=self._rule == "vote")
        fused = self._fuse_stacked(answers)
        shares = member_shares(answers, fused, self._rule, self.weights_)
        if not self._predicts_classes:
            supports = np.full(shares.shape, np.nan)
            return np.stack([answers[:, :, 0], supports, shares], axis=2).swapaxes(0, 1)
        supports = answers[:, np.arange(len(fused)), fused.argmax(axis=1)]
        parts = np.stack([answers.argmax(axis=2), supports, shares], axis=2)
        return parts.swapaxes(0, 1)

    def prune(
        self,
        X: Data,
        y: Target,
        method: str = "reduce_error",
        **settings: Any,
    ):
        """A fitted ensemble of fewer members, chosen on validation rows; see `prune_ensemble`."""
        answers = self.member_outputs(X)
        target = np.asarray(y)
        if self._predicts_classes:
            target = np.searchsorted(self.classes_, target)
        pruning = prune_ensemble(
            target,
            answers,
            method=method,
            rule=self._rule,
            weights=self.weights_,
            **settings,
        )
        return self._with_members(pruning)

    def _with_members(self, pruning: Pruning) -> Any:
        indices = list(pruning.selected)
        params = self.get_params(deep=False)
        members = params["estimators"]
        if members is None:
            members = self._default_members()
        params["estimators"] = [members[i] for i in indices]
        smaller = type(self)(**params)
        # what was learned stays, of the members that stay; nothing is fitted again
        for name, value in vars(self).items():
            if name.endswith("_"):
                setattr(smaller, name, value)
        for name in ("estimators_", "names_", "columns_"):
            setattr(smaller, name, [getattr(self, name)[i] for i in indices])
        weights = self.weights_[indices]
        smaller.weights_ = check_shares(weights, len(indices), "weights", "member")
        smaller.weights = None
        if self.weights is not None:
            smaller.weights = smaller.weights_
        smaller.__dict__.pop("validation_errors_", None)
        return smaller

    def summary(self) -> Summary:
        """The rule, and every member with its columns and weight."""
        check_is_fitted(self)
        heads = ["member", "learner", "columns", "weight"]
        rows = []
        for i, (name, member) in enumerate(zip(self.names_, self.estimators_)):
            weight = float(self.weights_[i])
            rows.append([name, member_kind(member), self._columns_text(i), weight])
        if hasattr(self, "validation_errors_"):
            loss = "squared error"
            if self._predicts_classes:
                loss = "error"
            heads.append(f"{loss} left out")
            for row, error in zip(rows, self.validation_errors_.tolist()):
                row.append(error)
        facts = {"rule": self._rule, "members": len(rows)}
        return Summary(self._title(), facts, [Table("Members", heads, rows)])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return super()._shapes() | {"weights_": (len(self.estimators_),)}

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of all members, and their weights."""
        return super().complexity() + len(self.weights_)


class VotingClassifier(Classifier, _Voting):
    """A committee of any classifiers, fused by a rule.

    .. math:: P(k|x) \\propto \\sum_l w_l P_l(k|x), \\quad \\prod_l P_l(k|x)^{L w_l}, \\quad
        \\operatorname{median}_l P_l(k|x), \\quad \\min_l P_l(k|x), \\quad \\max_l P_l(k|x)

    Members may be of any library, and each may have its own columns, preparation (a pipeline) and
    settings. `voting="hard"` is the rule "vote" and "soft" the rule "sum"; posteriors of a vote are
    the shares of the votes. The product rule gives the mean where every class has a product of
    zero.

    Parameters
    ----------
    estimators : list of learners, (name, learner) or (name, learner, columns), default=None
        The classifiers; `columns` are names or numbers. None is naive Bayes, logistic regression
        and a decision tree.
    voting : {"hard", "soft"}, default="hard"
        Whether members vote for classes, or their posteriors are averaged; unless `rule` says
        otherwise.
    rule : str or None, default=None
        None goes by `voting`; or "vote", "sum" (or "average"), "weighted" (the sum by validation
        performance, if `weights` is None), "median", "minimum", "maximum" or "product".
    flatten_transform : bool, default=True
        Whether `transform` gives posteriors as (n, L · K), or else as (L, n, K).
    weights : array of shape (L,), {"validation", "log_odds", "learned"} or None, default=None
        What members weigh in votes, sums and products. "validation": by accuracy on rows left out.
        "log_odds": by log((1-ε)/ε) of the left-out error ε, best for a vote of independent members.
        "learned": the weights on the simplex with the largest likelihood on rows left out.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted members.
    weights_ : array of shape (L,)
        What they weigh; the sum is 1.
    validation_errors_ : array of shape (L,)
        The error rate of every member on rows left out, if `weights` needs it.

    See Also
    --------
    VotingRegressor : The same for numbers.
    fuse : The rules alone.
    StackingClassifier : A learner decides how members are combined.
    lyceum.evaluate.majority_vote_error : The error of independent voters.

    References
    ----------
    Kittler, Hatef, Duin and Matas (1998), On combining classifiers, IEEE PAMI 20.
    Kuncheva (2004), Combining pattern classifiers, Wiley.

    Examples
    --------
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.datasets import load
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> penguins = load("penguins")
    >>> bill = ("bill", NaiveBayes(), ["bill_length_mm", "bill_depth_mm"])
    >>> tree = ("tree", DecisionTreeClassifier())
    >>> model = VotingClassifier([bill, tree], rule="product").fit(penguins)
    >>> model.score(penguins) > 0.97
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **NAMED_CONSTRAINTS,
        "voting": [StrOptions({"hard", "soft"})],
        "flatten_transform": ["boolean"],
        "rule": [StrOptions(set(CLASS_RULES)), None],
        "weights": [
            "array-like",
            StrOptions({"validation", "log_odds", "learned"}),
            None,
        ],
        "cv": ["cv_object", StrOptions({"leave_one_out"})],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        voting: str = "hard",
        rule: str | None = None,
        weights: ArrayLike | None = None,
        cv: Any = 5,
        flatten_transform: bool = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        super().__init__(
            estimators,
            rule=rule,
            weights=weights,
            cv=cv,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            categorical_features=categorical_features,
        )
        self.voting = voting
        self.flatten_transform = flatten_transform

    def _default_members(self) -> list[Any]:
        return usual_classifiers()

    def _losses(self, answers: np.ndarray, target: np.ndarray) -> np.ndarray:
        return (answers.argmax(axis=1) != target).astype(np.float64)

    def _merits(self, method: str, n_rows: int) -> np.ndarray:
        errors = self.validation_errors_
        if method == "validation":
            return 1.0 - errors
        # log((1 - ε) / ε), as if at least half a row were wrong; chance counts nothing
        rate = np.clip(errors, 0.5 / (n_rows + 1), 1.0)
        odds = np.log((1.0 - rate) / rate, where=rate < 1.0, out=np.zeros_like(rate))
        return np.maximum(odds, 0.0)

    def predict(self, X: Data) -> Any:
        """The class of the largest fused answer, the first of equal ones."""
        return self._predict_largest(self._fuse_answers, X)

    def predict_proba(self, X: Data) -> Any:
        """The fused answers, divided by their sum."""
        return self._apply_to_members(self._fused_answer, X)

    def _fused_answer(self, data: MemberData) -> np.ndarray:
        return normalize_posteriors(self._fuse_answers(data))

    def transform(self, X: Data) -> Any:
        """The posteriors of every member and class, or with hard voting the class codes of every
        member.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        columns : array or frame of shape (n_samples, n_members * n_classes)
            With `flatten_transform=False` an array of shape (n_members, n_samples, n_classes); of
            votes (n_samples, n_members).
        """
        if self._rule != "vote" and not self.flatten_transform:
            return self.member_outputs(X)
        return super().transform(X)

    def _new_cells(self, data: MemberData) -> np.ndarray:
        if self._rule != "vote":
            return self._side_by_side(data)
        votes = [
            data.class_codes(member, self.classes_, columns=self.columns_[i])
            for i, member in enumerate(self.estimators_)
        ]
        return np.column_stack(votes).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns of `transform`: class, member and, of posteriors, number of the
        class."""
        check_is_fitted(self)
        if self._rule == "vote":
            return super().get_feature_names_out(input_features)
        if not self.flatten_transform:
            raise SettingError(
                "get_feature_names_out is not supported when `voting='soft'` and"
                " `flatten_transform=False`"
            )
        return np.array(self._answer_names(len(self.classes_)), dtype=object)

    def _operations(self) -> list[Operation]:
        return [*self._fuse_operations(), ("shares", {})]

    def diversity(self, X: Data, y: Target) -> Diversity:
        """How differently the members err on test rows."""
        codes = self.member_outputs(X).argmax(axis=2)
        return diversity(np.asarray(y), self.classes_[codes].T, self.names_)


class VotingRegressor(Regressor, _Voting):
    """A committee of any regressors, fused by a rule.

    .. math:: f(x) = \\sum_l w_l f_l(x), \\quad \\operatorname{median}_l f_l(x), \\quad
        \\min_l f_l(x), \\quad \\max_l f_l(x)

    Members may be of any library, and each may have its own columns, preparation (a pipeline) and
    settings.

    Parameters
    ----------
    estimators : list of learners, (name, learner) or (name, learner, columns), default=None
        The regressors; `columns` are names or numbers. None is ridge regression and a regression
        tree.
    rule : str or None, default=None
        None is "sum" (or "average"); or "weighted" (the sum by validation performance, if `weights`
        is None), "median", "minimum" or "maximum". The sum is that of w_l f_l(x), the mean of the
        members.
    weights : array of shape (L,), {"validation", "learned"} or None, default=None
        What members weigh in sums. "validation": by the reciprocal of the mean squared error on
        rows left out. "learned": the weights on the simplex with the least squared error on rows
        left out.

    Attributes
    ----------
    estimators_ : list of regressors
        The fitted members.
    weights_ : array of shape (L,)
        What they weigh; the sum is 1.
    validation_errors_ : array of shape (L,)
        The mean squared error of every member on rows left out, if `weights` needs it.

    See Also
    --------
    VotingClassifier : The same for classes.
    fuse : The rules alone.
    StackingRegressor : A learner decides how members are combined.

    References
    ----------
    Kuncheva (2004), Combining pattern classifiers, Wiley.

    Examples
    --------
    >>> from lyceum.linear import LinearRegression
    >>> from lyceum.trees import DecisionTreeRegressor
    >>> estimators = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=1))]
    >>> model = VotingRegressor(estimators).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0])
    >>> model.predict([[0.0], [3.0]]).round(6).tolist()
    [0.25, 2.75]
    """

    _parameter_constraints: ClassVar[dict] = {
        **NAMED_CONSTRAINTS,
        "rule": [StrOptions(set(NUMBER_RULES)), None],
        "weights": ["array-like", StrOptions({"validation", "learned"}), None],
        "cv": ["cv_object", StrOptions({"leave_one_out"})],
    }

    def _default_members(self) -> list[Any]:
        return usual_regressors()

    def _losses(self, answers: np.ndarray, target: np.ndarray) -> np.ndarray:
        return (answers[:, 0] - target) ** 2

    def _learned_weights(
        self,
        answers: np.ndarray,
        target: np.ndarray,
        w: np.ndarray | None,
    ) -> np.ndarray:
        return simplex_weights(answers[:, :, 0], target, w)

    def _merits(self, method: str, n_rows: int) -> np.ndarray:
        # the best weights of unbiased, uncorrelated members are the inverses of their errors
        errors = self.validation_errors_
        return 1.0 / np.maximum(errors, _SMALLEST * max(float(errors.max()), _SMALLEST))

    def predict(self, X: Data) -> Any:
        """The fused number."""
        return self._apply_to_members(self._fused_answer, X)

    def _fused_answer(self, data: MemberData) -> np.ndarray:
        return self._fuse_answers(data)[:, 0]

    def _operations(self) -> list[Operation]:
        return self._fuse_operations()

    def member_outputs(self, X: Data) -> np.ndarray:
        """The numbers that every member predicts, (L, n)."""
        return super().member_outputs(X)[:, :, 0]

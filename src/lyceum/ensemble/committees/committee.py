"""Committees: any learners, each with its own columns and preparation, fused by a rule."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import normalize_posteriors
from lyceum._core.constraints import StrOptions
from lyceum._core.probability import check_shares
from lyceum._core.statistics import weighted_mean
from lyceum.bayes import NaiveBayes
from lyceum.ensemble.committees.base import COMMITTEE_CONSTRAINTS, CommitteeBase, CommitteeData
from lyceum.ensemble.committees.diversity import Diversity, diversity
from lyceum.ensemble.committees.explanation import member_shares
from lyceum.ensemble.committees.fusion import (
    CLASS_RULES,
    NUMBER_RULES,
    fuse,
    simplex_weights,
    weighted_sum,
)
from lyceum.ensemble.committees.pruning import Pruning, prune_committee
from lyceum.ensemble.members.either_task import EitherTask, has_classes
from lyceum.errors import SettingError
from lyceum.linear import LogisticRegression, Ridge
from lyceum.prepare import SimpleImputer, StandardScaler
from lyceum.report import Summary, Table
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

_SMALLEST = 1e-12  # an error of zero would give a weight without bound


def usual_classifiers() -> list[Any]:
    """Three classifiers of different families that take mixed tables with missing cells."""
    from sklearn.pipeline import make_pipeline  # takes long to import

    return [
        ("bayes", NaiveBayes()),
        ("logistic", make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())),
        ("tree", DecisionTreeClassifier(max_depth=6)),
    ]


def usual_regressors() -> list[Any]:
    """Two regressors of different families that take mixed tables with missing cells."""
    from sklearn.pipeline import make_pipeline  # takes long to import

    return [
        ("linear", make_pipeline(SimpleImputer(), StandardScaler(), Ridge())),
        ("tree", DecisionTreeRegressor(max_depth=6)),
    ]


class Committee(EitherTask, CommitteeBase):
    """A committee of any classifiers, or of any regressors, fused by a rule.

    .. math:: P(k|x) \\propto \\sum_l w_l P_l(k|x), \\quad \\prod_l P_l(k|x)^{L w_l}, \\quad
        \\operatorname{median}_l P_l(k|x), \\quad \\min_l P_l(k|x), \\quad \\max_l P_l(k|x)

    Members may be of any library, and each may have its own columns, preparation (a pipeline) and
    settings. Whether the committee classifies or regresses follows from its members. The product
    rule gives the mean where every class has a product of zero.

    Parameters
    ----------
    members : list of learners, (name, learner) or (name, learner, columns), default=None
        The members; `columns` are names or numbers. None is naive Bayes, logistic regression and a
        decision tree.
    rule : str, default="sum"
        "vote", "sum" (or "average"), "weighted" (the sum by validation performance, if `weights` is
        None), "median", "minimum", "maximum" or "product". Regressors do not vote and have no
        product.
    weights : array of shape (L,), {"validation", "log_odds", "learned"} or None, default=None
        What members weigh in votes, sums and products. "validation": by accuracy, or by the
        reciprocal of the mean squared error, on rows left out. "log_odds": by log((1-ε)/ε) of the
        left-out error ε, best for a vote of independent members. "learned": the weights on the
        simplex with the largest likelihood, or the least squared error, on rows left out.
    cv : int, "leave_one_out" or splitter, default=5
        How rows are left out for `weights`.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of every `random_state` in the members.
    n_jobs : int or None, default=None
        Threads at a time; None: as many as the process is set to, -1: one per processor.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, sorted; of classifiers only.
    estimators_ : list of learners
        The fitted members.
    names_ : list of str
        Their names.
    columns_ : list of arrays
        The places of their columns, None for all.
    weights_ : array of shape (L,)
        What they weigh; the sum is 1.
    validation_errors_ : array of shape (L,)
        The error rate, or mean squared error, of every member on rows left out, if `weights` needs
        it.
    seed_ : int
        The seed that was used.
    framed_ : bool
        Whether members of another library were given a frame.
    typical_ : array of shape (d,)
        The mean or commonest cell of every column, coded; where explanations start.

    See Also
    --------
    fuse : The rules alone.
    StackingClassifier, StackingRegressor : A learner decides how members are combined.
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
    >>> model = Committee([bill, ("tree", DecisionTreeClassifier())], rule="product").fit(penguins)
    >>> model.score(penguins) > 0.97
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **COMMITTEE_CONSTRAINTS,
        "rule": [StrOptions(set(CLASS_RULES))],
        "weights": ["array-like", StrOptions({"validation", "log_odds", "learned"}), None],
        "cv": ["cv_object", StrOptions({"leave_one_out"})],
    }

    def __init__(
        self,
        members: Any = None,
        *,
        rule: str = "sum",
        weights: Any = None,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.members = members
        self.rule = rule
        self.weights = weights
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    _for_classes: ClassVar[str] = (
        "give it classifiers as members, e.g. members=[NaiveBayes(), C45()]"
    )
    _for_numbers: ClassVar[str] = (
        "give it regressors as members, e.g. members=[Ridge(), CARTRegressor()]"
    )

    def _default_members(self) -> list[Any]:
        return usual_classifiers()

    @property
    def _predicts_classes(self) -> bool:
        return has_classes(self)

    def _task_giver(self) -> Any:
        if isinstance(self.members, list | tuple):
            given = self.members
        else:
            given = None
        if given:
            first = given[0]
        else:
            first = None
        if isinstance(first, tuple | list) and len(first) > 1:
            giver = first[1]
        else:
            giver = first
        return giver if hasattr(giver, "fit") else None  # `fit` refuses what is no learner

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Fit every member on all rows, and find its weight.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Every member must take weights then.
        """
        if not self._predicts_classes and self.rule not in NUMBER_RULES:
            raise SettingError(
                f"regressors have no rule {self.rule!r}: choose {', '.join(NUMBER_RULES)}"
            )
        data, target, w = self._committee_data(X, y, sample_weight)
        for name in ("classes_",) if not self._predicts_classes else ():
            self.__dict__.pop(name, None)
        self.__dict__.pop("validation_errors_", None)
        self.weights_ = self._weights(data, target, w)
        self._fit_members(data, w)
        return self

    def _weights(self, data: CommitteeData, target: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        if self.rule == "weighted" and self.weights is None:
            way = "validation"
        else:
            way = self.weights
        if way is not None and self.rule in ("median", "minimum", "maximum"):
            raise SettingError(f"the rule {self.rule!r} takes no weights: leave weights at None")
        if not isinstance(way, str):
            return check_shares(way, len(self.names_), "weights", "member")
        if way == "log_odds" and not self._predicts_classes:
            raise SettingError(
                "weights='log_odds' are for classifiers: choose 'validation' or 'learned'"
            )
        answers = self._out_of_fold(
            data, target, w, self.cv, vote=self.rule == "vote" and way == "learned"
        )
        seen = np.isfinite(answers).all(axis=(0, 2))
        return self._weights_from(
            way, answers[:, seen], target[seen], None if w is None else w[seen]
        )

    def _weights_from(
        self, way: str, answers: np.ndarray, target: np.ndarray, w: np.ndarray | None
    ) -> np.ndarray:
        self.validation_errors_ = np.array(
            [weighted_mean(self._losses(one, target), w) for one in answers]
        )
        errors = self.validation_errors_
        if way == "learned":
            return simplex_weights(
                answers if self._predicts_classes else answers[:, :, 0], target, w
            )
        if not self._predicts_classes:
            goodness = 1.0 / np.maximum(errors, _SMALLEST * max(float(errors.max()), _SMALLEST))
        elif way == "validation":
            goodness = 1.0 - errors
        else:
            rate = np.clip(errors, 0.5 / (len(target) + 1), 1.0)
            goodness = np.maximum(
                np.log((1.0 - rate) / rate, where=rate < 1.0, out=np.zeros_like(rate)), 0.0
            )
        return check_shares(
            goodness if goodness.any() else None, len(goodness), "weights", "member"
        )

    def _losses(self, answers: np.ndarray, target: np.ndarray) -> np.ndarray:
        if self._predicts_classes:
            return (answers.argmax(axis=1) != target).astype(np.float64)
        return (answers[:, 0] - target) ** 2

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """The class of the largest fused answer (the first of equal ones), or the fused number."""
        return self._apply_to_members(partial(_predict, self), X)

    @available_if(has_classes)
    def predict_proba(self, X: Any) -> Any:
        """The fused answers, divided by their sum."""
        return self._apply_to_members(partial(_posteriors, self), X)

    def member_outputs(self, X: Any) -> np.ndarray:
        """The answers of every member: posteriors of shape (L, n, K), or numbers of shape (L,
        n)."""
        check_is_fitted(self)
        answers = np.asarray(self._apply_to_members(partial(_side_by_side, self), X))
        shape = (len(answers), len(self.estimators_), -1)
        outputs = answers.reshape(shape).transpose(1, 0, 2)
        if self._predicts_classes:
            return outputs
        return outputs[:, :, 0]

    def _fuse_answers(self, data: CommitteeData) -> np.ndarray:
        vote = self.rule == "vote"
        answers = (self._answer(i, one, data, vote=vote) for i, one in enumerate(self.estimators_))
        if vote or self.rule in (
            "sum",
            "average",
            "weighted",
        ):  # a member at a time: no room for all answers
            return weighted_sum(answers, self.weights_)
        return self._fused_from(np.stack(list(answers)))

    def _fused_from(self, answers: np.ndarray) -> np.ndarray:
        if self.rule in ("median", "minimum", "maximum"):
            weights = None
        else:
            weights = self.weights_
        fused = fuse(answers, self.rule, weights)
        if self.rule != "product":
            return fused
        none = ~(fused.sum(axis=1) > 0.0)
        if none.any():
            fused[none] = fuse(answers[:, none], "sum", weights)
        else:
            fused[none] = 0.0
        return fused

    def _fused_answer(self, data: CommitteeData) -> np.ndarray:
        fused = self._fuse_answers(data)
        if self._predicts_classes:
            return normalize_posteriors(fused)
        return fused[:, 0]

    # -- what was learned --------------------------------------------------------------

    def _member_heads(self) -> tuple[list[str], str, tuple[str, np.ndarray] | None]:
        if self.rule in ("median", "minimum", "maximum"):
            settings = None
        else:
            settings = ("weight", self.weights_)
        if self.rule == "product":
            unit = "log-odds against the runner-up"
        else:
            unit = f"share in the {self.rule}"
        return self.names_, unit, settings

    def _member_parts(self, data: CommitteeData) -> np.ndarray:
        answers = self._answers(data, vote=self.rule == "vote")
        fused = self._fused_from(answers)
        shares = member_shares(answers, fused, self.rule, self.weights_)
        if not self._predicts_classes:
            return np.stack(
                [answers[:, :, 0], np.full(shares.shape, np.nan), shares], axis=2
            ).swapaxes(0, 1)
        own = answers[:, np.arange(len(fused)), fused.argmax(axis=1)]
        return np.stack([answers.argmax(axis=2), own, shares], axis=2).swapaxes(0, 1)

    def diversity(self, X: Any, y: Any) -> Diversity:
        """How differently the members err on test rows."""
        names = self.names_
        answers = self.member_outputs(X)
        if not self._predicts_classes:
            raise SettingError("diversity is measured for classifiers")
        return diversity(np.asarray(y), self.classes_[answers.argmax(axis=2)].T, names)

    def prune(self, X: Any, y: Any, method: str = "reduce_error", **settings: Any) -> Committee:
        """A fitted committee of fewer members, chosen on validation rows; see `prune_committee`."""
        answers = self.member_outputs(X)
        if self._predicts_classes:
            codes = np.searchsorted(self.classes_, np.asarray(y))
        else:
            codes = np.asarray(y)
        found = prune_committee(
            codes, answers, method=method, rule=self.rule, weights=self.weights_, **settings
        )
        return self._with_members(found)

    def _with_members(self, found: Pruning) -> Committee:
        places = found.selected
        if self.members is None:
            given = self._default_members()
        else:
            given = self.members
        smaller = Committee(
            **{**self.get_params(deep=False), "members": [given[i] for i in places]}
        )
        smaller.__dict__.update(
            {name: value for name, value in vars(self).items() if name.endswith("_")}
        )
        for name in ("estimators_", "names_", "columns_"):
            setattr(smaller, name, [getattr(self, name)[i] for i in places])
        smaller.weights_ = check_shares(
            self.weights_[list(places)], len(places), "weights", "member"
        )
        if self.weights is not None:
            smaller.weights = smaller.weights_
        else:
            smaller.weights = None
        smaller.__dict__.pop("validation_errors_", None)
        return smaller

    def summary(self) -> Summary:
        """The rule, and every member with its columns and weight."""
        check_is_fitted(self)
        errors = getattr(self, "validation_errors_", None)
        heads = ["member", "learner", "columns", "weight"]
        rows = [
            [name, type(one).__name__, self._columns_text(i), float(self.weights_[i])]
            for i, (name, one) in enumerate(zip(self.names_, self.estimators_))
        ]
        if errors is not None:
            heads.append("error left out" if self._predicts_classes else "squared error left out")
            rows = [[*row, float(error)] for row, error in zip(rows, errors)]
        return Summary(
            self._title(),
            {"rule": self.rule, "members": len(rows)},
            [Table("Members", heads, rows)],
        )

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weights_": (len(self.estimators_),), "typical_": (self.n_features_in_,)}

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of all members, and their weights."""
        return super().complexity() + len(self.weights_)


def _posteriors(model: Committee, data: CommitteeData) -> np.ndarray:
    return model._fused_answer(data)


def _predict(model: Committee, data: CommitteeData) -> np.ndarray:
    fused = model._fuse_answers(data)
    if model._predicts_classes:
        return model.classes_[fused.argmax(axis=1)]
    return fused[:, 0]


def _side_by_side(model: Committee, data: CommitteeData) -> np.ndarray:
    return np.concatenate(list(model._answers(data)), axis=1)

"""Boosting across domains: source rows that mislead lose their weight."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    normalize_posteriors,
    takes_weights,
)
from lyceum._core.constraints import HasMethods, Interval
from lyceum._core.data import row_weights
from lyceum._core.members import Ensemble, MemberData, one_hot, set_seeds
from lyceum._core.statistics import seed_from
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table
from lyceum.trees import DecisionTreeClassifier

_LEAST_ERROR = 1e-3  # a member without an error shall not decide alone
_ROUNDING = 1e-9


class TrAdaBoost(Classifier, Ensemble):
    """Boosting across domains (dynamic TrAdaBoost): many rows of another task help with a task of
    few.

    In every round a member is fitted on all rows. Of the rows of the task itself (the target
    domain) those that it gets wrong gain weight, as in AdaBoost; of the rows of the other task (the
    source domain) those that it gets wrong lose weight, by β = 1 / (1 + √(2 ln n_source / N)),
    since they do not fit the task. The rows of the task are then divided by a common number, so
    that they have the weight that they had together before, and source rows that fit the task do
    not fade. Each domain has half of the weight at first; a member that is no better than chance on
    the target domain has no vote, and the weights there begin anew. All others vote.

    Parameters
    ----------
    estimator : classifier, default=None
        Any classifier whose `fit` takes `sample_weight`; None is a `DecisionTreeClassifier` of
        depth 2.
    n_estimators : int, default=20
        The number N of rounds.

    Attributes
    ----------
    estimators_ : list of classifiers
        The members that vote.
    votes_ : array of shape (members,)
        What they weigh: log((1-ε)/ε) + log(K-1) of their error ε on the target domain.
    record_ : list of dict
        `step`, `error` (on the target domain) and `source_weight` (the share of all weight that the
        source rows have) of every round.
    source_weights_ : array of shape (n,)
        The weights of all rows at the end, which sum to 1.
    seed_ : int
        The seed that was used.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded; where explanations start.

    See Also
    --------
    lyceum.ensemble.AdaBoostClassifier : One domain.
    importance_weights : Weights from the rows alone, without labels.

    References
    ----------
    Dai, Yang, Xue and Yu (2007), Boosting for transfer learning, ICML.
    Al-Stouhi and Reddy (2011), Adaptive boosting for transfer learning using dynamic updates, ECML.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(220, 2)); domain = np.arange(220) >= 200  # 20 rows of the task itself
    >>> y = np.where(domain, X[:, 0] > 0, X[:, 0] > 0.5).astype(int)
    >>> model = TrAdaBoost().fit(X, y, domain=domain)
    >>> bool(model.score(X[domain], y[domain]) > 0.9)
    True
    """

    _explains_by_replacement: ClassVar[bool] = True
    _alternative: ClassVar[str] = "NaiveBayes or LogisticRegression"
    _step_kind = StepKind(
        "round",
        (
            StepColumn("error", "ε", "ε = the weighted error on the target domain"),
            StepColumn(
                "source_weight",
                "share",
                "the share of all weight that the source rows have",
            ),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    classes_: np.ndarray

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 20,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return DecisionTreeClassifier(max_depth=2)

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        domain: Any = None,
    ):
        """Boost on the rows of both domains.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
            The rows of both domains in one table.
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        domain : array of bool of shape (n_samples,), optional
            True for the rows of the task itself, False for those of the other task; all True by
            default.
        """
        if not takes_weights(self._base()):
            raise SettingError(
                f"{type(self._base()).__name__} takes no sample_weight, by which it is boosted: set"
                " estimator to a classifier that does, or to a pipeline of Lyceum's own steps"
            )
        data, codes, w = self._member_data(X, y, sample_weight)
        target = self._domain(domain, len(codes))
        weights = row_weights(w, len(codes))
        self.seed_ = seed_from(self.random_state)
        if not weights[target].sum() > 0:
            raise DataError(
                "no row of the target domain has a weight: mark some rows True in domain"
            )
        self._boost(data, codes, target, _halves(weights, target), float(weights.sum()))
        return self

    @staticmethod
    def _domain(domain: Any, n: int) -> np.ndarray:
        if domain is None:
            return np.ones(n, dtype=bool)
        flags = np.asarray(domain)
        if flags.shape != (n,) or flags.dtype.kind not in "biu":
            raise DataError(
                f"domain must be one truth value for each of the {n} rows, not of shape"
                f" {flags.shape}"
            )
        return flags.astype(bool)

    def _boost(
        self,
        data: MemberData,
        codes: np.ndarray,
        target: np.ndarray,
        D: np.ndarray,
        total: float,
    ) -> None:
        N = self.n_estimators
        K = len(self.classes_)
        start = D
        beta = _source_factor(int((~target).sum()), N)
        members = []
        votes = []
        self.record_: list[dict[str, Any]] = []
        for step in range(N):
            member = self._fit_round(step, data, D, total)
            wrong = data.class_codes(member, self.classes_) != codes
            error = float((D * wrong)[target].sum() / D[target].sum())
            self.record_.append(
                {
                    "step": step + 1,
                    "error": error,
                    "source_weight": float(D[~target].sum()),
                }
            )
            report("rounds", step + 1, N)
            if error >= 1.0 - 1.0 / max(K, 2) - _ROUNDING:
                # no better than chance: begin anew with the source as it is now
                D = _halves(np.where(target, start, _shrink(D, wrong, beta)), target)
                continue
            vote = _vote(error, K)
            members.append(member)
            votes.append(vote)
            if error <= _LEAST_ERROR and target.all():
                break
            raised = _raise(D, target, wrong, vote)
            D = _shrink(raised, ~target & wrong, beta)
        self.estimators_ = members or [member]
        self.votes_ = np.array(votes or [1.0])
        self.source_weights_ = D

    def _fit_round(
        self,
        step: int,
        data: MemberData,
        D: np.ndarray,
        total: float,
    ) -> Any:
        """The member of a round, on the rows with a positive weight."""
        rows: Any = np.flatnonzero(D)
        weights = D[rows] * total
        if len(rows) == len(D):
            rows = None
        return data.fit(set_seeds(self._copy(), self.seed_, step), rows, w=weights)

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The class with the largest weighted vote."""
        return self._predict_largest(self._shares, X)

    def predict_proba(self, X: Data) -> Any:
        """The shares of the weighted vote."""
        return self._apply_to_members(self._shares, X)

    def _shares(self, data: MemberData) -> np.ndarray:
        votes: Any = 0.0
        for member, vote in zip(self.estimators_, self.votes_):
            codes = data.class_codes(member, self.classes_)
            votes = votes + vote * one_hot(codes, len(self.classes_))
        return normalize_posteriors(votes)

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the posterior of the class that is predicted.

        The base is the posterior for rows drawn in `fit` (`background_`) in the mean, whose columns
        are replaced by the row's own in random orders (Shapley's values, sampled); in the frame
        itself if a classifier of another library was given one.
        """
        return self._explain_by_replacement(self._shares, X)

    def summary(self) -> Summary:
        """The error and the weight of the source rows in every round."""
        check_is_fitted(self)
        rows = [list(step.values()) for step in self.record_]
        facts = {"rounds": len(rows), "members that vote": len(self.estimators_)}
        heads = ("round", "error on target rows", "weight of source rows")
        return Summary(self._title(), facts, [Table("Rounds", heads, rows)])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return super()._shapes() | {"votes_": (len(self.estimators_),)}


def _halves(weights: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Weights that sum to 1, each domain having half; few rows of the task would otherwise be
    overruled."""
    source = weights[~target].sum()
    if not source > 0:
        return np.where(target, weights, 0.0) / weights[target].sum()
    halves = 0.5 * weights
    return np.where(target, halves / weights[target].sum(), halves / source)


def _source_factor(n_source: int, n_rounds: int) -> float:
    """β = 1 / (1 + √(2 ln n_source / N)), by which source rows that are wrong lose weight."""
    return 1.0 / (1.0 + np.sqrt(2.0 * np.log(max(n_source, 1)) / n_rounds))


def _vote(error: float, n_classes: int) -> float:
    """log((1 − ε)/ε) + log(K − 1), as of SAMME."""
    bounded = max(error, _LEAST_ERROR)
    return float(np.log((1.0 - bounded) / bounded) + np.log(max(n_classes - 1, 1)))


def _raise(
    D: np.ndarray,
    target: np.ndarray,
    wrong: np.ndarray,
    vote: float,
) -> np.ndarray:
    """More weight for the rows of the task that are wrong; the task keeps its weight, else sound
    source rows would lose theirs in every round."""
    # the factor is bounded: a member without error would take all weight to one row
    gained = np.where(target & wrong, D * np.exp(min(vote, 20.0)), D)
    correction = D[target].sum() / gained[target].sum()
    return np.where(target, correction * gained, D)


def _shrink(D: np.ndarray, rows: np.ndarray, factor: float) -> np.ndarray:
    D = np.where(rows, D * factor, D)
    return D / D.sum()

"""AdaBoost.R2: regressors one after the other, each on the rows that the one before missed by
most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import log, log1p
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Regressor, check_same_columns
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import row_weights
from lyceum._core.members import (
    MEMBER_CONSTRAINTS,
    Ensemble,
    MemberData,
    MemberImportances,
    explains_rows,
    member_operations,
)
from lyceum._core.statistics import seed_from
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.threads import ordered_map
from lyceum._core.types import (
    Categories,
    Data,
    Estimator,
    Operation,
    Target,
    Weights,
)
from lyceum.ensemble.boosting.adaboost_members import LearnerFitter, draws_rows
from lyceum.ensemble.boosting.adaboost_rounds import (
    ALL,
    CHANCE,
    PERFECT,
    check_members_left,
)
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table
from lyceum.trees import DecisionTreeRegressor

_LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda share: share,
    "square": np.square,
    "exponential": lambda share: -np.expm1(-share),
}


class AdaBoostRegressor(Regressor, MemberImportances, Ensemble):
    """AdaBoost.R2: weak regressors in turn, each on rows weighted by how far those before were off.

    .. math:: L_i = \\ell\\Big(\\frac{|y_i - h_t(x_i)|}{\\max_j |y_j - h_t(x_j)|}\\Big), \\qquad
        \\epsilon_t = \\sum_i D_i L_i, \\qquad \\beta_t = \\frac{\\epsilon_t}{1 - \\epsilon_t},
        \\qquad D_i \\propto D_i \\, \\beta_t^{\\nu (1 - L_i)}

    The prediction is the weighted median of the members' with weights α_t = ν ln(1/β_t): the
    smallest prediction such that members of at least half of Σ_t α_t predict no more. The loss ℓ(r)
    of a row is r, r² or 1 − e^(−r).

    A member with ε ≥ ½ ends the rounds and is thrown away, unless it is the first. One that is
    right on all rows ends them too: its α is that of an error of half a row, plus the sum of all
    others: it decides.

    Parameters
    ----------
    estimator : regressor, default=None
        None is `DecisionTreeRegressor(max_depth=3)`. Every `random_state` in it is set.
    n_estimators : int, default=50
        The rounds at most.
    learning_rate : float, default=1.0
        ν, the exponent of β.
    loss : {"linear", "square", "exponential"}, default="linear"
        ℓ.
    method : {"reweight", "resample"}, default="reweight"
        Whether members learn from weighted rows or, as in Drucker and scikit-learn, from as many
        rows as there are, drawn with replacement and chances D. Any estimator can resample; to
        reweight, its `fit` must take `sample_weight`. ε is the weighted loss on all rows either
        way.
    warm_start : bool, default=False
        Whether `fit` keeps the members there are and goes on to `n_estimators`: the same as all at
        once.

    Attributes
    ----------
    estimators_ : list of regressors
        The T members.
    feature_importances_ : array of shape (n_features,)
        The mean of the members' importances by α, if they have some, normalized to sum 1.
    errors_, alphas_ : arrays of shape (T,)
        ε and α of every member.
    history_ : list of float
        ε of every round, that of a member thrown away included.
    n_rounds_ : int
        The rounds made.
    stopped_ : {"all rounds", "a member without error", "no better than chance"}
        Why the rounds ended.
    record_ : list of dict
        With `record=True`: step, weights, error, alpha, and whether the member was kept, for every
        round.
    seed_ : int
        The seed that was used.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded, for explanations, if members have none.

    See Also
    --------
    AdaBoostClassifier : The same for classes.
    HistGradientBoostingRegressor : Boosting down the gradient of a loss.

    References
    ----------
    Drucker (1997), Improving regressors using boosting techniques, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import AdaBoostRegressor
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> model = AdaBoostRegressor(n_estimators=30).fit(x, np.sin(x[:, 0]))
    >>> model.score(x, np.sin(x[:, 0])) > 0.97
    True

    """

    history_axes: ClassVar[tuple[str, str]] = ("round", "weighted loss")

    _step_kind = StepKind(
        "round",
        (
            StepColumn(
                "weights",
                "d",
                "d ← d exp (α (L − 1)), over their sum, L = the loss of a row, at most 1",
                axes=("row",),
            ),
            StepColumn("error", "ε", "ε = Σ d L"),
            StepColumn("alpha", "α", "α = ν ln ((1 − ε) / ε), ν the learning rate"),
            StepColumn("kept", "kept", "whether the member votes"),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        **MEMBER_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "loss": [StrOptions(set(_LOSSES))],
        "method": [StrOptions({"reweight", "resample"})],
        "record": ["boolean"],
    }
    _alternative: ClassVar[str] = "HistGradientBoostingRegressor"

    errors_: np.ndarray
    alphas_: np.ndarray
    history_: list[float]

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        learning_rate: float = 1.0,
        loss: str = "linear",
        method: str = "reweight",
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.method = method
        self.warm_start = warm_start
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return DecisionTreeRegressor(max_depth=3)

    # -- fit ---------------------------------------------------------------------------

    def _fit(
        self,
        data: MemberData,
        target: np.ndarray,
        w: np.ndarray | None,
        before: dict[str, Any],
    ) -> None:
        w = row_weights(w, len(target))
        D = w / w.sum()
        warm = self._begin(before)
        fitter = _RegressorFitter(self, data, D, float(w.sum()), draws_rows(self))
        for number in range(self.n_estimators):
            if self.stopped_ != ALL:
                break
            earlier = None
            if number < len(warm):
                earlier = warm[number]
            D = self._round(number, D, target, fitter, earlier)
            report("rounds", number + 1, self.n_estimators)
        self.errors_ = np.array(self.errors_)
        self.alphas_ = np.array(self.alphas_)

    def _begin(self, before: dict[str, Any]) -> list[Any]:
        """Nothing learned yet; returns the members that a warm start goes on with."""
        warm = self.warm_start and "alphas_" in before
        if warm:
            check_same_columns(self, before["schema_"])
            check_members_left(self.n_estimators, len(before["estimators_"]))
            self.seed_ = before["seed_"]
        else:
            self.seed_ = seed_from(self.random_state)
        self.estimators_ = []
        self.n_rounds_ = 0
        self.stopped_ = ALL
        self.history_ = []
        self.errors_ = []  # type: ignore[assignment]
        self.alphas_ = []  # type: ignore[assignment]
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_: list[dict[str, Any]] = []
        if warm:
            return before["estimators_"]
        return []

    def _round(
        self,
        number: int,
        D: np.ndarray,
        y: np.ndarray,
        fitter: LearnerFitter,
        earlier: Any,
    ) -> np.ndarray:
        """One round, whose member may be known; returns the weights of the next one."""
        if earlier:
            member = earlier
            predicted = fitter.predict_rows(earlier)
        else:
            member, predicted = fitter.member(number, D)
        # L_i of every row, and ε = Σ_i D_i L_i
        losses = _losses(np.abs(y - predicted), D > 0, self.loss)
        error = float(D @ losses)
        alpha, is_kept = self._judge(error, fitter.weight)
        self.n_rounds_ = number + 1
        self.history_.append(error)
        if self.record:
            seen = {
                "step": number,
                "weights": D.copy(),
                "error": error,
                "alpha": alpha,
                "kept": is_kept,
            }
            self.record_.append(seen)
        if is_kept:
            self.estimators_.append(member)
            self.errors_.append(error)  # type: ignore[attr-defined]
            self.alphas_.append(alpha)  # type: ignore[attr-defined]
        if self.stopped_ != ALL:
            return D
        D = D * np.exp(alpha * (losses - 1.0))  # β^(ν (1 − L))
        return D / D.sum()

    def _judge(self, error: float, weight: float) -> tuple[float, bool]:
        """α, and whether the member is kept; says why the rounds end."""
        if error <= 0.0:
            self.stopped_ = PERFECT
            # half a row counts as wrong; plus all other α, so that this member decides
            share = 0.5 / max(1.0, weight)
            alpha = self.learning_rate * (log1p(-share) - log(share))
            return alpha + sum(self.alphas_), True
        if error < 0.5:
            # α = ν ln(1/β) = ν ln((1 − ε)/ε)
            return self.learning_rate * (log1p(-error) - log(error)), True
        self.stopped_ = CHANCE
        first = not self.estimators_
        return float(first), first

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The weighted median of the members' predictions."""
        return self._apply_to_members(self._median, X)

    def staged_predict(self, X: Data) -> Iterator[Any]:
        """`predict` of the first member, the first two, ..."""
        check_is_fitted(self)
        for count in range(1, len(self.estimators_) + 1):
            yield self._apply_to_members(partial(self._median, count=count), X)

    def staged_score(
        self,
        X: Data,
        y: Target,
        sample_weight: Weights = None,
    ) -> Iterator[float]:
        """R² of the first member, the first two, ..."""
        from sklearn.metrics import r2_score  # takes long to import

        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The weighted loss and α of every member."""
        check_is_fitted(self)
        facts: dict[str, Any] = {
            "members": f"{len(self.estimators_)} × {type(self.estimators_[0]).__name__}",
            "rounds": f"{self.n_rounds_}; ended by: {self.stopped_}",
            "loss": self.loss,
        }
        pairs = zip(self.errors_.tolist(), self.alphas_.tolist())
        rows = [(t, error, alpha) for t, (error, alpha) in enumerate(pairs, 1)]
        table = Table("Rounds", ("round", "ε", "α"), rows)
        return Summary(self._title(), facts, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        T = len(self.estimators_)
        return super()._shapes() | {"alphas_": (T,), "errors_": (T,)}

    @property
    def _explains_by_replacement(self) -> bool:  # type: ignore[override]
        return not explains_rows(self._base())

    def explain(self, X: Data) -> Explanation:
        """What every column adds in the member whose prediction is the median, for every row its
        own.

        If the members explain nothing themselves, the base is the prediction for rows drawn in
        `fit` (`background_`) in the mean, whose columns are replaced by the row's own in random
        orders (Shapley's values, sampled).
        """
        check_is_fitted(self)
        unit = self.schema_.target_name
        if self._explains_by_replacement:
            return self._explain_by_replacement(self._median, X, unit)
        return self._explain_members(self._median_parts, X, unit)

    # -- the weighted median -----------------------------------------------------------

    def _median_members(
        self,
        data: MemberData,
        count: int | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the first `count` members predict, (T, n), and which one is the weighted median of a
        row."""
        members = self.estimators_[:count]
        answers = np.array(list(ordered_map(data.numbers, members)))
        # of every row, the first member in the order of predictions where α sums to half
        order = np.argsort(answers, axis=0, kind="stable")
        reached = np.cumsum(self.alphas_[order], axis=0)
        # α that sum to half but for rounding reach it
        rank = (reached >= 0.5 * reached[-1] * (1.0 - 1e-12)).argmax(axis=0)
        return answers, order[rank, np.arange(answers.shape[1])]

    def _median(self, data: MemberData, count: int | None = None) -> np.ndarray:
        answers, middle = self._median_members(data, count)
        return answers[middle, np.arange(answers.shape[1])]

    def _operations(self) -> list[Operation]:
        branches = [
            member_operations(member, self.schema_) for member in self.estimators_
        ]
        weights = {"weights": self.alphas_.tolist()}
        return [("branches", {"branches": branches}), ("weighted_median", weights)]

    def _median_parts(self, data: MemberData) -> np.ndarray:
        """The prediction, the base and the contributions of the median member of every row."""
        names = self.schema_.names
        _, middle = self._median_members(data, None)
        parts = np.zeros((len(middle), 2 + len(names)))
        for t in np.unique(middle).tolist():
            rows = np.flatnonzero(middle == t)
            member = self.estimators_[t]
            explanation = member.explain(data.inputs(member, rows))
            parts[rows, 0] = explanation.predicted
            parts[rows, 1] = explanation.base
            columns = np.array([2 + names.index(name) for name in explanation.names])
            parts[np.ix_(rows, columns)] = explanation.contributions
        return parts


class _RegressorFitter(LearnerFitter):
    """Members of any kind that predict numbers."""

    def predict_rows(self, member: Estimator) -> np.ndarray:
        return self.data.numbers(member)


def _losses(distance: np.ndarray, weighted: np.ndarray, loss: str) -> np.ndarray:
    """The loss of every row, between 0 and 1; zero-weight rows are ignored, also for the largest
    distance."""
    largest = distance[weighted].max()
    if not largest > 0.0:
        return np.zeros(len(distance))
    return _LOSSES[loss](np.where(weighted, distance, 0.0) / largest)

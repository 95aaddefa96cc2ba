"""Gradient boosting of any regressor: each member is fitted to the gradient of the loss that is
left."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Classifier,
    Regressor,
    once_per_record,
    takes_weights,
    undefined,
)
from lyceum._core.constraints import Interval
from lyceum._core.data import Column
from lyceum._core.members import (
    MEMBER_CONSTRAINTS,
    Ensemble,
    MemberData,
    MemberImportances,
    explains_rows,
    member_operations,
    set_seeds,
)
from lyceum._core.native import native
from lyceum._core.probability import AGAINST_RUNNER_UP, runner_up
from lyceum._core.statistics import seed_from
from lyceum._core.threads import ordered_map
from lyceum._core.trees import Router, Tree
from lyceum._core.types import Categories, Data, Operation
from lyceum.ensemble.boosting.losses import Loss, Squared, class_loss
from lyceum.ensemble.tree_members import are_trees, cells_of_trees, forest
from lyceum.errors import SettingError
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table
from lyceum.trees import DecisionTreeRegressor

_LEAST_FALL = 1e-10  # of the loss: a round that lowers it by less is the end
_HALVINGS = 30


class _GenericBoosting(Ensemble):
    """The rounds, whatever the loss."""

    _parameter_docs: ClassVar[str] = """
    estimator : regressor
        None is `DecisionTreeRegressor(max_depth=3)`. Every `random_state` in it is set.
    n_estimators : int
        The rounds at most.
    learning_rate : float
        ν.
    """
    _attribute_docs: ClassVar[str] = """
    steps_ : array of shape (T,)
        ν ρ of every round.
    seed_ : int
        The seed that was used.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded, for explanations, if members have none.
    """
    history_axes: ClassVar[tuple[str, str]] = ("round", "mean loss")

    _parameter_constraints: ClassVar[dict] = {
        **{name: of for name, of in MEMBER_CONSTRAINTS.items() if name != "warm_start"},
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
    }

    n_estimators: int
    learning_rate: float
    random_state: int | np.random.RandomState | None

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return DecisionTreeRegressor(max_depth=3)

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        raise undefined(self, "_loss")

    def _curvature(
        self,
        H: np.ndarray,
        P: np.ndarray,
        w: np.ndarray | float,
    ) -> float:
        """The second derivative of the loss along H, (n_scores, n)."""
        raise undefined(self, "_curvature")

    # -- fit ---------------------------------------------------------------------------

    def _fit(
        self,
        data: MemberData,
        target: np.ndarray,
        w: np.ndarray | None,
        before: dict[str, Any],
    ) -> None:
        if w is not None and not takes_weights(self._base()):
            raise SettingError(
                f"{type(self._base()).__name__} does not take sample_weight: boost it without "
                "weights, or boost another estimator"
            )
        self.seed_ = seed_from(self.random_state)
        loss = self._loss(target, w)
        self.init_ = loss.baseline()
        scores = np.repeat(self.init_[:, None], len(loss.y), axis=1)
        self.estimators_ = []
        steps: list[float] = []
        summed = loss.begin(scores)
        self.history_ = [summed / loss.weight]
        while len(steps) < self.n_estimators:
            # F ← F + ν ρ h, with h fitted to the slopes and ρ by a step along h
            members, H, slopes = self._members(data, loss, scores, len(steps))
            step, after = self._step(loss, scores, H, slopes, summed)
            if step == 0.0:
                break
            steps.append(self.learning_rate * step)
            scores += steps[-1] * H
            if self.learning_rate == 1.0:
                summed = after
            else:
                summed = loss.begin(scores)
            self.estimators_ += members
            self.history_.append(summed / loss.weight)
            report("rounds", len(steps), self.n_estimators)
        self.steps_ = np.array(steps)

    def _members(
        self,
        data: MemberData,
        loss: Loss,
        scores: np.ndarray,
        number: int,
    ) -> tuple[list[Any], np.ndarray, np.ndarray]:
        """The members of a round, one for every score, their answers for all rows, and
        −gradients."""
        loss.begin(scores)
        w = loss.w
        members = []
        H = np.empty_like(scores)
        slopes = np.empty_like(scores)
        rows = None
        weights = None
        if w is not None:
            rows = np.flatnonzero(w)
            weights = w[rows]
        for k in range(len(scores)):
            # gradients have the weights in them: members learn from −g / w with weights w
            g = loss.gradients(scores, k)[0]
            if w is None:
                slopes[k] = -g
            else:
                slopes[k] = np.divide(-g, w, out=np.zeros_like(g), where=w > 0)
            copy = set_seeds(self._copy(), self.seed_, number * len(scores) + k)
            column = Column("y", why="what is left to explain")
            residuals = data.with_target(slopes[k], column, labels=slopes[k])
            member = residuals.fit(copy, rows, w=weights)
            members.append(member)
            H[k] = data.numbers(member)
        return members, H, slopes

    def _step(
        self,
        loss: Loss,
        scores: np.ndarray,
        H: np.ndarray,
        slopes: np.ndarray,
        summed: float,
    ) -> tuple[float, float]:
        """ρ, one Newton step along H, halved until the loss falls; and that loss. 0 if it does
        not."""
        w = 1.0 if loss.w is None else loss.w
        curvature = self._curvature(H, self._posteriors(loss, slopes), w)
        slope = float((slopes * H * w).sum())
        if not (slope > 0.0 and curvature > 0.0):
            return 0.0, summed
        # ρ = −L'(0) / L''(0) along H, which for the squared loss is exact
        step = slope / curvature
        for _ in range(_HALVINGS):
            after = loss.begin(scores + step * H)
            if after < summed - _LEAST_FALL * abs(summed):
                return step, after
            step /= 2.0
        return 0.0, summed

    def _posteriors(self, loss: Loss, slopes: np.ndarray) -> np.ndarray:
        """P = [y = k] − slope, of use to losses of classes."""
        # of two classes, y is 0 or 1 and the one score is that of the second
        if len(slopes) == 1:
            return loss.y - slopes
        return (loss.y == np.arange(len(slopes))[:, None]) - slopes

    # -- scores ------------------------------------------------------------------------

    def _round_scores(self, t: int, data: MemberData) -> np.ndarray:
        """What round t adds to the scores, (n, n_scores)."""
        S = len(self.init_)
        members = self.estimators_[t * S : (t + 1) * S]
        answers = [data.numbers(member) for member in members]
        return self.steps_[t] * np.column_stack(answers)

    def _scores(self, data: MemberData) -> np.ndarray:
        """F, (n, n_scores), summed in the order of the rounds."""
        sums = partial(self._sums, data)
        return once_per_record(self, "scores", data.source, sums)

    def _sums(self, data: MemberData) -> np.ndarray:
        F = np.tile(self.init_, (data.n_rows, 1))
        if data.source is not None and are_trees(self.estimators_, one_leaf=True):
            if self.estimators_:
                self._forest().add_values(cells_of_trees(data.source), F)
            return F
        work = partial(self._round_scores, data=data)
        for added in ordered_map(work, range(len(self.steps_))):
            F += added
        return F

    def _forest(self) -> Router:
        """One router for members that are trees, whose nodes add their step."""
        S = len(self.init_)
        n = len(self.estimators_)
        outputs = np.arange(n) % S
        steps = np.repeat(self.steps_, S)
        return forest(self, [None] * n, _node_values, steps, outputs)

    def _score_operations(self) -> list[Operation]:
        """F of a row, for exported models."""
        # members are round by round, in a round score by score
        S = len(self.init_)
        coef = np.zeros((S, len(self.estimators_)))
        for i in range(len(self.estimators_)):
            coef[i % S, i] = self.steps_[i // S]
        branches = [
            member_operations(member, self.schema_) for member in self.estimators_
        ]
        sums = {"coef": coef.tolist(), "intercept": self.init_.tolist()}
        return [("branches", {"branches": branches}), ("linear", sums)]

    def _score_parts(self, data: MemberData) -> np.ndarray:
        """The base and what every column adds, of every score, (n_scores, n, 1 + d)."""
        names = self.schema_.names
        S = len(self.init_)
        parts = np.zeros((S, data.n_rows, 1 + len(names)))
        parts[:, :, 0] = self.init_[:, None]
        for i, member in enumerate(self.estimators_):
            explanation = member.explain(data.inputs(member))
            # members are round by round, in a round score by score
            step = self.steps_[i // S]
            score_parts = parts[i % S]
            score_parts[:, 0] += step * explanation.base
            for name, added in zip(explanation.names, explanation.contributions.T):
                score_parts[:, 1 + names.index(name)] += step * added
        return parts

    # -- what was learned --------------------------------------------------------------

    def _stages(self, X: Data) -> Iterator[Any]:
        """The scores (n, n_scores) after one round, two, ..."""
        check_is_fitted(self)
        F: Any = self.init_
        for t in range(len(self.steps_)):
            F = F + self._apply_to_members(partial(self._round_scores, t), X)
            yield F

    def summary(self) -> Summary:
        """The steps, and the mean loss after every round."""
        check_is_fitted(self)
        facts: dict[str, Any] = {
            "members": f"{len(self.estimators_)} × {type(self._base()).__name__}",
            "rounds": len(self.steps_),
            "mean loss": (
                f"{self.history_[0]:.6g} of the best constant, {self.history_[-1]:.6g} at the end"
            ),
        }
        rows = [
            (t, step, self.history_[t])
            for t, step in enumerate(self.steps_.tolist(), 1)
        ]
        table = Table("Rounds", ("round", "step ν ρ", "mean loss"), rows)
        return Summary(self._title(), facts, [table])

    @property
    def _explains_by_replacement(self) -> bool:  # type: ignore[override]
        return not explains_rows(self._base())

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        S = len(self.init_)
        return super()._shapes() | {
            "steps_": (len(self.estimators_) // S,),
            "init_": (S,),
        }


def _node_values(tree: Tree) -> np.ndarray:
    return tree.node_values


class GenericBoostingRegressor(Regressor, MemberImportances, _GenericBoosting):
    """Gradient boosting of any regressor for the squared loss (L2 boosting).

    .. math:: F_t = F_{t-1} + \\nu \\rho_t h_t, \\qquad h_t \\text{ fitted to } y - F_{t-1}, \\qquad
        \\rho_t = \\frac{\\sum_i w_i (y_i - F_{t-1}(x_i)) h_t(x_i)}{\\sum_i w_i h_t(x_i)^2}

    F_0 is the mean, and ρ_t the best step along h_t: 1 for trees and least squares. Members are
    exact: columns are not binned. With trees this is gradient boosting as Friedman has it, for
    tables in memory. The rounds end early where a round does not lower the loss.

    Attributes
    ----------
    init_ : array of shape (1,)
        F_0.
    estimators_ : list of regressors
        The member of every round.
    history_ : list of float
        The mean loss, ½ (y − F)², of F_0 and after every round.

    See Also
    --------
    HistGradientBoostingRegressor : Boosted trees on binned columns, for tables of any size.
    GenericBoostingClassifier : The same for classes.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine.
    Bühlmann and Yu (2003), Boosting with the L2 loss.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import GenericBoostingRegressor
    >>> from lyceum.neighbors import KNeighborsRegressor
    >>> x = np.linspace(0, 6, 100)[:, None]
    >>> y = np.sin(x[:, 0])
    >>> one = KNeighborsRegressor(n_neighbors=20).fit(x, y).score(x, y)
    >>> GenericBoostingRegressor(KNeighborsRegressor(n_neighbors=20)).fit(x, y).score(x, y) > one
    True
    """

    _alternative: ClassVar[str] = "HistGradientBoostingRegressor"

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        return Squared(np.ascontiguousarray(y, dtype=np.float64), w)

    def _curvature(
        self,
        H: np.ndarray,
        P: np.ndarray,
        w: np.ndarray | float,
    ) -> float:
        return float((w * H**2).sum())

    def predict(self, X: Data) -> Any:
        """F, the sum of all steps."""
        return self._apply_to_members(self._value, X)

    def staged_predict(self, X: Data) -> Iterator[Any]:
        """`predict` after one round, two, ..."""
        for F in self._stages(X):
            yield F[:, 0]

    def _value(self, data: MemberData) -> np.ndarray:
        return self._scores(data)[:, 0]

    def _operations(self) -> list[Operation]:
        return self._score_operations()

    def _parts_of_value(self, data: MemberData) -> np.ndarray:
        parts = self._score_parts(data)[0]
        return np.column_stack([parts.sum(axis=1), parts])

    def explain(self, X: Data) -> Explanation:
        """What every column adds to F in all members together.

        If the members explain nothing themselves, the base is F for rows drawn in `fit`
        (`background_`) in the mean, whose columns are replaced by the row's own in random orders
        (Shapley's values, sampled).
        """
        check_is_fitted(self)
        unit = self.schema_.target_name
        if self._explains_by_replacement:
            return self._explain_by_replacement(self._value, X, unit)
        return self._explain_members(self._parts_of_value, X, unit)


class GenericBoostingClassifier(Classifier, MemberImportances, _GenericBoosting):
    """Gradient boosting of any regressor for the logistic or multinomial loss.

    .. math:: F_t = F_{t-1} + \\nu \\rho_t h_t, \\qquad h_{tk} \\text{ fitted to } [y = k] -
        P_{t-1}(k|x),
        \\qquad P(k|x) = \\frac{e^{F_k(x)}}{\\sum_j e^{F_j(x)}}

    F_0 has the logarithms of the class shares. Two classes have one score F, P = 1/(1 + e^(−F)),
    and one member a round; K > 2 have K of each. ρ_t is one Newton step of −Σ w ln P(y|x) along
    h_t, halved until the loss falls. Where it does not fall the rounds end.

    Attributes
    ----------
    init_ : array of shape (n_scores,)
        F_0; n_scores is 1 for two classes, else K.
    estimators_ : list of regressors
        The members, round by round, and in a round one for every score.
    history_ : list of float
        The mean of −ln P(y|x) for F_0 and after every round.

    See Also
    --------
    HistGradientBoostingClassifier : Boosted trees on binned columns, for tables of any size.
    AdaBoostClassifier : Boosting of any classifier.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import GenericBoostingClassifier
    >>> x = np.arange(1, 11)[:, None] / 10
    >>> y = list("+++----+++")
    >>> "".join(GenericBoostingClassifier().fit(x, y).predict(x))
    '+++----+++'
    """

    _alternative: ClassVar[str] = "HistGradientBoostingClassifier"

    classes_: np.ndarray

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        return class_loss(y, w, len(self.classes_))

    def _curvature(
        self,
        H: np.ndarray,
        P: np.ndarray,
        w: np.ndarray | float,
    ) -> float:
        if len(H) == 1:
            return float((w * P * (1.0 - P) * H**2).sum())
        # Σ_i w_i times the variance of h_k(x_i) over the classes k, with chances P
        mean = (P * H).sum(axis=0)
        variance = (P * H**2).sum(axis=0) - mean**2
        return float((w * variance).sum())

    def predict(self, X: Data) -> Any:
        """The class of the highest score, the first of equals."""
        return self._predict_largest(self._class_scores, X)

    def predict_proba(self, X: Data) -> Any:
        """P(k|x), (n, K)."""
        return self._apply_to_members(self._posterior, X)

    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of `predict_proba`."""
        return self._apply_to_members(self._log_posterior, X)

    def decision_function(self, X: Data) -> Any:
        """F: (n,) for two classes, else (n, K)."""
        return self._apply_to_members(self._decision, X)

    def staged_predict(self, X: Data) -> Iterator[Any]:
        """`predict` after one round, two, ..."""
        for F in self._stages(X):
            scores = self._one_per_class(np.asarray(F))
            yield self.classes_[scores.argmax(axis=1)]

    def _one_per_class(self, scores: np.ndarray) -> np.ndarray:
        """One column per class; of two classes, the first has 0."""
        if scores.shape[1] > 1:
            return np.array(scores, order="C")
        both = np.column_stack([np.zeros(len(scores)), scores])
        return np.ascontiguousarray(both[:, : len(self.classes_)])

    def _class_scores(self, data: MemberData) -> np.ndarray:
        return self._one_per_class(self._scores(data))

    def _posterior(self, data: MemberData) -> np.ndarray:
        joint = self._class_scores(data)
        native.posterior(joint)
        return joint

    def _operations(self) -> list[Operation]:
        operations = self._score_operations()
        if len(self.init_) < len(self.classes_):
            operations.append(("before", {"values": [0.0]}))
        return [*operations, ("softmax", {})]

    def _log_posterior(self, data: MemberData) -> np.ndarray:
        joint = self._class_scores(data)
        native.log_posterior(joint)
        return joint

    def _decision(self, data: MemberData) -> np.ndarray:
        scores = self._scores(data)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores

    def _parts_of_odds(self, data: MemberData) -> np.ndarray:
        parts = self._score_parts(data)
        if len(parts) == 1:
            parts = np.concatenate([np.zeros_like(parts), parts])[: len(self.classes_)]
        # F_best − F_second: parts of scores sum to the scores
        best, second = runner_up(parts.sum(axis=2).T)
        rows = np.arange(parts.shape[1])
        return np.column_stack([best, parts[best, rows] - parts[second, rows]])

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the log-odds against the runner-up, in all members together.

        If the members explain nothing themselves, it is what it adds to the posterior (see
        `background_`).
        """
        check_is_fitted(self)
        if self._explains_by_replacement:
            return self._explain_by_replacement(self._posterior, X)
        return self._explain_members(self._parts_of_odds, X, AGAINST_RUNNER_UP)

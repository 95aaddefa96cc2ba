"""AdaBoost: members one after the other, each on the rows that those before it got wrong."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Classifier, check_same_columns
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import row_weights
from lyceum._core.members import (
    MEMBER_CONSTRAINTS,
    Ensemble,
    MemberData,
    MemberImportances,
    one_hot,
)
from lyceum._core.native import native
from lyceum._core.probability import AGAINST_RUNNER_UP, runner_up
from lyceum._core.statistics import seed_from
from lyceum._core.threads import ordered_map
from lyceum._core.trees import Router, contributions
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.ensemble.boosting.adaboost_members import draws_rows, member_fitter
from lyceum.ensemble.boosting.adaboost_rounds import (
    ALL,
    CHANCE,
    AlphaRule,
    RoundLog,
    RowWeights,
    check_rounds_left,
    replay_rounds,
    run_round,
)
from lyceum.ensemble.tree_members import are_trees, cells_of_trees, forest, votes
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table
from lyceum.trees import DecisionTreeClassifier


class AdaBoostClassifier(Classifier, MemberImportances, Ensemble):
    """AdaBoost: weak classifiers in turn, each on rows weighted by how the ones before erred, who
    then vote.

    .. math:: \\epsilon_t = \\sum_i D_i [h_t(x_i) \\ne y_i], \\qquad
        \\alpha_t = \\tfrac{\\nu}{2} \\Big( \\ln\\frac{1 - \\epsilon_t}{\\epsilon_t} + \\ln(K - 1)
        \\Big), \\qquad D_i \\propto D_i \\, e^{2 \\alpha_t [h_t(x_i) \\ne y_i]}

    .. math:: V_k(x) = \\sum_{t:\\, h_t(x) = k} 2 \\alpha_t, \\qquad H(x) = \\arg\\max_k V_k(x),
    \\qquad
        P(k|x) = \\frac{e^{V_k(x)}}{\\sum_j e^{V_j(x)}}

    α minimizes the exponential loss Σ_i D_i exp(−α y_i h_t(x_i)) of the round: its derivative is
    zero where (1 − ε) e^(−α) = ε e^α, so that α = ½ ln((1 − ε)/ε), the half being due to votes of
    −1 and +1. With two classes this is Freund and Schapire (1997), F = Σ_t α_t h_t has V_1 − V_0 =
    2F, and the posterior is the 1/(1 + e^(−2F)) of Friedman, Hastie and Tibshirani (2000). For more
    classes the term ln(K − 1) is that of SAMME (Zhu et al. 2009), which needs members better than
    chance; without it (`multiclass="m1"`) members must be right on half of the weight.
    scikit-learn's `estimator_weights_` are 2α.

    With two classes, or M1, the training error is at most ∏_t Z_t, Z_t = (1 − ε_t) e^(−α_t) + ε_t
    e^(α_t), which is 2 √(ε_t (1 − ε_t)) if ν = 1.

    A round fails if its member is no better than chance: the round's member is thrown away, and
    `on_failure` says what comes next; if no round succeeds, the first member is kept. A member
    without any error would have an infinite α and ends the rounds: its α is that of an error of
    half a row, plus the sum of all others, so that its vote decides.

    Parameters
    ----------
    estimator : classifier, default=None
        None is a stump, `DecisionTreeClassifier(max_depth=1)`. Every `random_state` in it is set.
    n_estimators : int, default=50
        The rounds at most, failed ones counted.
    learning_rate : float, default=1.0
        ν, by which every α is multiplied.
    method : {"reweight", "resample"}, default="reweight"
        Whether members learn from weighted rows (weights that sum to the weight of all rows), or
        from as many rows as there are, drawn with replacement and chances D. Any estimator can
        resample; to reweight, its `fit` must take `sample_weight`. ε is the weighted error on all
        rows either way.
    multiclass : {"samme", "m1"}, default="samme"
        How more than two classes are taken.
    on_failure : {"stop", "reset"}, default="stop"
        What comes after a round that fails: nothing, or the next round with the weights that the
        first had.
    warm_start : bool, default=False
        Whether `fit` keeps the members there are and goes on to `n_estimators`: the same as all at
        once.

    Attributes
    ----------
    estimators_ : list of classifiers
        The T members that vote.
    feature_importances_ : array of shape (n_features,)
        The mean of the members' importances by α, if they have some, normalized to sum 1.
    errors_, alphas_ : arrays of shape (T,)
        ε and α of every member.
    training_errors_ : array of shape (T,)
        The error on the training rows of the first member, the first two, ...
    history_ : list of float
        The exponential loss after every member: with two classes or M1 a bound on the training
        error.
    failed_rounds_, failed_errors_ : arrays
        The rounds, counted from 0, that failed, and their ε.
    n_rounds_ : int
        The rounds made.
    stopped_ : {"all rounds", "a member without error", "no better than chance"}
        Why the rounds ended.
    record_ : list of dict
        With `record=True`: step, weights, error, alpha, and whether the member was kept, for every
        round.
    seed_ : int
        The seed that was used.
    typical_ : array of shape (d,)
        The mean or commonest cell of every column, coded, for explanations, if members are not
        trees.

    See Also
    --------
    HistGradientBoostingClassifier : Boosting down the gradient of a loss.
    BaggingClassifier : Members that do not depend on each other.

    References
    ----------
    Freund and Schapire (1997), A decision-theoretic generalization of on-line learning and an
    application to boosting. Friedman, Hastie and Tibshirani (2000), Additive logistic regression: a
    statistical view of boosting. Zhu et al. (2009), Multi-class AdaBoost.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import AdaBoostClassifier
    >>> x = np.arange(1, 11)[:, None] / 10
    >>> y = list("+++----+++")
    >>> model = AdaBoostClassifier(n_estimators=3).fit(x, y)
    >>> model.errors_.round(4).tolist()
    [0.3, 0.2143, 0.1818]
    >>> "".join(model.predict(x))
    '+++----+++'

    """

    history_axes: ClassVar[tuple[str, str]] = ("round", "exponential loss")

    _parameter_constraints: ClassVar[dict] = {
        **MEMBER_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "method": [StrOptions({"reweight", "resample"})],
        "multiclass": [StrOptions({"samme", "m1"})],
        "on_failure": [StrOptions({"stop", "reset"})],
        "record": ["boolean"],
    }
    _alternative: ClassVar[str] = "lyceum.bayes.NaiveBayes or LogisticRegression"

    classes_: np.ndarray

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        learning_rate: float = 1.0,
        method: str = "reweight",
        multiclass: str = "samme",
        on_failure: str = "stop",
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.method = method
        self.multiclass = multiclass
        self.on_failure = on_failure
        self.warm_start = warm_start
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return DecisionTreeClassifier(max_depth=1)

    # -- fit ---------------------------------------------------------------------------

    def _fit(
        self,
        data: MemberData,
        target: np.ndarray,
        w: np.ndarray | None,
        before: dict[str, Any],
    ) -> None:
        w = row_weights(w, len(target))
        weights = RowWeights(w / w.sum(), target, len(self.classes_), self._alpha_rule)
        earlier = self._known_rounds(before)
        self.seed_ = before["seed_"] if earlier else seed_from(self.random_state)
        fitter = member_fitter(
            self, data, weights.start, float(w.sum()), draws_rows(self)
        )
        log = RoundLog()
        if earlier:
            replay_rounds(weights, fitter, log, earlier)
        for number in range(log.n_rounds, self.n_estimators):
            if log.stopped:
                break
            run_round(
                weights,
                fitter,
                log,
                number,
                reset=self.on_failure == "reset",
                record=self.record,
            )
            report("rounds", number + 1, self.n_estimators)
        if not log.members:
            # where no member beats chance, the first one decides alone
            codes = fitter.predict_rows(log.first)
            wrong, error = weights.wrong(codes)
            weights.update(codes, wrong, error, 1.0)
            log.add(log.first, log.failed[0], 1.0, weights)
            log.stopped = CHANCE
        self._finish(log)

    @property
    def _alpha_rule(self) -> AlphaRule:
        K = 2
        if self.multiclass == "samme":
            K = len(self.classes_)
        return AlphaRule(max(2, K), self.learning_rate)

    def _known_rounds(self, before: dict[str, Any]) -> RoundLog | None:
        """The rounds that a warm start goes on from."""
        if not self.warm_start or "alphas_" not in before:
            return None
        check_same_columns(self, before["schema_"])
        check_rounds_left(self.n_estimators, before["n_rounds_"])
        failed_rounds = before["failed_rounds_"].tolist()
        failed_errors = before["failed_errors_"].tolist()
        return RoundLog(
            n_rounds=before["n_rounds_"],
            stopped="" if before["stopped_"] == ALL else before["stopped_"],
            members=before["estimators_"],
            errors=before["errors_"].tolist(),
            alphas=before["alphas_"].tolist(),
            failed=dict(zip(failed_rounds, failed_errors)),
            record=before.get("record_", []),
        )

    def _finish(self, log: RoundLog) -> None:
        self.estimators_ = log.members
        self.errors_ = np.array(log.errors)
        self.alphas_ = np.array(log.alphas)
        self.training_errors_ = np.array(log.training)
        self.history_ = log.losses
        self.failed_rounds_ = np.array(list(log.failed), dtype=np.int64)
        self.failed_errors_ = np.array(list(log.failed.values()), dtype=np.float64)
        self.n_rounds_ = log.n_rounds
        self.stopped_ = log.stopped or ALL
        if self.record:
            self.record_ = log.record

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The class with the largest sum of votes, the first of equals."""
        return self._predict_largest(self._votes, X)

    def predict_proba(self, X: Data) -> Any:
        """The softmax of the votes V_k; with two classes 1/(1 + e^(−2F))."""
        return self._apply_to_members(self._posterior, X)

    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of `predict_proba`."""
        return self._apply_to_members(self._log_posterior, X)

    def decision_function(self, X: Data) -> Any:
        """The votes V_k less their mean, (n, K); with two classes F = Σ_t α_t h_t(x), h_t = ±1,
        (n,)."""
        return self._apply_to_members(self._decision, X)

    def staged_decision_function(self, X: Data) -> Iterator[Any]:
        """`decision_function` of the first member, the first two, ..."""
        return map(_centered, self._stages(X))

    def staged_predict_proba(self, X: Data) -> Iterator[Any]:
        """`predict_proba` of the first member, the first two, ..."""
        for votes_so_far in self._stages(X):
            proba = np.array(votes_so_far, order="C")
            native.posterior(proba)
            yield proba

    def staged_predict(self, X: Data) -> Iterator[Any]:
        """`predict` of the first member, the first two, ..."""
        for votes_so_far in self._stages(X):
            yield self.classes_[np.asarray(votes_so_far).argmax(axis=1)]

    def staged_score(
        self,
        X: Data,
        y: Target,
        sample_weight: Weights = None,
    ) -> Iterator[float]:
        """The share of rows that the first member, the first two, ... get right."""
        from sklearn.metrics import accuracy_score  # takes long to import

        for labels in self.staged_predict(X):
            yield accuracy_score(y, labels, sample_weight=sample_weight)

    def _stages(self, X: Data) -> Iterator[Any]:
        """V, (n, K), of the first member, the first two, ..."""
        check_is_fitted(self)
        V: Any = 0.0
        for i in range(len(self.estimators_)):
            V = V + self._apply_to_members(partial(self._vote_of, i), X)
            yield V

    # -- votes -------------------------------------------------------------------------

    def _forest(self) -> Router:
        """One router for members that are trees, whose nodes vote 2α."""
        columns = [None] * len(self.estimators_)
        return forest(self, columns, votes, 2.0 * self.alphas_)

    def _votes(self, data: MemberData) -> np.ndarray:
        """V, (n, K), summed in the order of the members."""
        if data.source is not None and are_trees(self.estimators_, one_leaf=True):
            return self._forest().sums(cells_of_trees(data.source))
        V = np.zeros((data.n_rows, len(self.classes_)))
        rows = np.arange(len(V))
        predict = partial(data.class_codes, classes=self.classes_)
        predicted = ordered_map(predict, self.estimators_)
        for codes, alpha in zip(predicted, self.alphas_.tolist()):
            V[rows, codes] += 2.0 * alpha
        return V

    def _vote_of(self, i: int, data: MemberData) -> np.ndarray:
        """What member i adds to V."""
        codes = data.class_codes(self.estimators_[i], self.classes_)
        return 2.0 * self.alphas_[i] * one_hot(codes, len(self.classes_))

    def _decision(self, data: MemberData) -> np.ndarray:
        return _centered(self._votes(data))

    def _posterior(self, data: MemberData) -> np.ndarray:
        joint = self._votes(data)
        native.posterior(joint)
        return joint

    def _log_posterior(self, data: MemberData) -> np.ndarray:
        joint = self._votes(data)
        native.log_posterior(joint)
        return joint

    def _odds_of_columns(self, data: MemberData) -> np.ndarray:
        """Rows of (predicted class, base, what every column adds) to the difference of V to the
        runner-up."""
        assert data.source is not None
        router = self._forest()
        X = cells_of_trees(data.source)
        # V_best − V_second, column by column: a difference of log-probabilities
        best, second = runner_up(router.sums(X))
        added = contributions(router, X, best) - contributions(router, X, second)
        return np.column_stack([best, added])

    # -- what was learned --------------------------------------------------------------

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        T = len(self.estimators_)
        return super()._shapes() | {"alphas_": (T,), "errors_": (T,)}

    @property
    def _is_bounded(self) -> bool:
        """Whether the exponential loss bounds the training error."""
        return self.multiclass == "m1" or len(self.classes_) <= 2

    def summary(self) -> Summary:
        """The error and α of every round, and how the training error and its bound fell."""
        check_is_fitted(self)
        loss = "exponential loss"
        if self._is_bounded:
            loss = "bound"
        facts: dict[str, Any] = {
            "members": f"{len(self.estimators_)} × {type(self.estimators_[0]).__name__}",
            "rounds": (
                f"{self.n_rounds_}, {len(self.failed_rounds_)} failed; ended by: {self.stopped_}"
            ),
            "training error": float(self.training_errors_[-1]),
            loss: self.history_[-1],
        }
        numbers = np.setdiff1d(np.arange(self.n_rounds_), self.failed_rounds_) + 1
        columns = (
            numbers,
            self.errors_,
            self.alphas_,
            self.training_errors_,
            self.history_,
        )
        rows = [(int(number), *map(float, values)) for number, *values in zip(*columns)]
        table = Table("Rounds", ("round", "ε", "α", "training error", loss), rows)
        return Summary(self._title(), facts, [table])

    @property
    def _explains_by_replacement(self) -> bool:  # type: ignore[override]
        return not are_trees([self._base()], one_leaf=True)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the log-odds against the runner-up; to the posterior, if not of
        trees.

        V_k is a log-probability up to a constant. A tree's vote starts as that of its root; every
        step down that changes it is credited to the column tested. Of stumps the columns'
        contributions are exact: V is a sum of functions of one column each. With other members the
        base is the posterior for a row of typical cells (`typical_`), whose columns are replaced by
        the row's own, one after the other, from both ends.
        """
        check_is_fitted(self)
        if self._explains_by_replacement:
            return self._explain_by_replacement(self._posterior, X)
        return self._explain_members(self._odds_of_columns, X, AGAINST_RUNNER_UP)


def _centered(V: np.ndarray) -> np.ndarray:
    """V less its mean over the classes, or with two classes F."""
    if V.shape[1] == 2:
        return 0.5 * (V[:, 1] - V[:, 0])
    return V - V.mean(axis=1, keepdims=True)

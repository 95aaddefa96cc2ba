"""AdaBoost: members one after the other, each on the rows that those before it got wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Classifier, check_same_columns, once_per_record
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import row_weights
from lyceum._core.members import (
    MEMBER_CONSTRAINTS,
    Ensemble,
    MemberData,
    MemberImportances,
    class_operations,
    one_hot,
    weighted_sum_operations,
)
from lyceum._core.native import native
from lyceum._core.probability import AGAINST_RUNNER_UP, runner_up
from lyceum._core.statistics import seed_from
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.threads import ordered_map
from lyceum._core.trees import Router, contributions
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.ensemble.boosting.adaboost_members import draws_rows, member_fitter
from lyceum.ensemble.boosting.adaboost_rounds import (
    ALL,
    CHANCE,
    UNCHANGED,
    AlphaRule,
    RoundLog,
    RowWeights,
    check_members_left,
    replay_rounds,
    run_round,
)
from lyceum.ensemble.committees.explanation import MemberExplanation
from lyceum.ensemble.tree_members import (
    are_trees,
    cells_of_trees,
    forest,
    tree_operations,
    votes,
)
from lyceum.progress import report
from lyceum.report import Summary, Table
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
    half a row, plus the sum of all others, so that its vote decides. A warning says if all members
    together get less than half of the training rows right: of more than two classes, members may
    be better than chance and yet far too weak, as stumps are that name two classes of many.

    Parameters
    ----------
    estimator : classifier, default=None
        None is a stump, `DecisionTreeClassifier(max_depth=1)`. Every `random_state` in it is set.
    n_estimators : int, default=50
        The members at most; rounds that failed and are made again do not count.
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
        What comes after a round that fails: nothing, or the same round again with the weights that
        the first had, its rows drawn anew. Ten failures in a row end the rounds.
    n_iter_no_change : int or None, default=None
        The rounds end when the training error of all members together has not changed by more than
        `tol` for this many rounds. None: never.
    tol : float, default=1e-4
        See `n_iter_no_change`.
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
        The rounds made, failed ones counted.
    stopped_ : str
        Why the rounds ended: "all rounds", "a member without error", "no better than chance" or
        "the error no longer changes".
    record_ : list of dict
        With `record=True`: step, weights, error, alpha, and whether the member was kept, for every
        round.
    seed_ : int
        The seed that was used.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded, for explanations, if members are not
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

    _step_kind = StepKind(
        "round",
        (
            StepColumn(
                "weights",
                "d",
                "d ← d exp (α) where wrong, d exp (−α) where right, over their sum",
                axes=("row",),
            ),
            StepColumn("error", "ε", "ε = Σ d over the rows that are wrong"),
            StepColumn(
                "alpha",
                "α",
                "α = ½ ν ln ((1 − ε) / ε), by samme of K classes + ½ ν ln (K − 1), ν the "
                "learning rate",
            ),
            StepColumn("kept", "kept", "whether the member votes"),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        **MEMBER_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "method": [StrOptions({"reweight", "resample"})],
        "multiclass": [StrOptions({"samme", "m1"})],
        "on_failure": [StrOptions({"stop", "reset"})],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0.0, None, closed="left")],
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
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
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
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
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
        while len(log.members) < self.n_estimators and not self._is_over(log):
            run_round(
                weights,
                fitter,
                log,
                reset=self.on_failure == "reset",
                record=self.record,
            )
            report("rounds", len(log.members), self.n_estimators)
        if not log.members:
            # where no member beats chance, the first one decides alone
            codes = fitter.predict_rows(log.first)
            wrong, error = weights.wrong(codes)
            weights.update(codes, wrong, error, 1.0)
            log.add(log.first, log.failed[0], 1.0, weights)
            log.stopped = CHANCE
        self._finish(log)
        self._warn_if_weak()

    def _is_over(self, log: RoundLog) -> bool:
        """Whether no further round is made."""
        n = self.n_iter_no_change
        if not log.stopped and n is not None and log.is_unchanged(n, self.tol):
            log.stopped = UNCHANGED
        return bool(log.stopped)

    def _warn_if_weak(self) -> None:
        """Warn where several classes are too much for the members: less than half of the training
        rows are right."""
        K = len(self.classes_)
        right = 1.0 - float(self.training_errors_[-1])
        if K <= 2 or right >= 0.5:
            return
        advice = "take a stronger estimator, more rounds (n_estimators), or OneVsOneClassifier"
        if are_trees(self.estimators_, one_leaf=True):
            leaves = max(member.tree_.n_leaves for member in self.estimators_)
            if leaves < K:
                depth = (K - 1).bit_length()
                advice = (
                    f"a tree of {leaves} leaves names at most {leaves} classes: take"
                    f" estimator=DecisionTreeClassifier(max_depth={depth}), or OneVsOneClassifier"
                )
        warnings.warn(
            f"AdaBoostClassifier gets {right:.2g} of the training rows of {K} classes right after"
            f" {len(self.estimators_)} members, which are too weak: {advice}",
            ConvergenceWarning,
            stacklevel=5,
        )

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
        check_members_left(self.n_estimators, len(before["alphas_"]))
        failed_rounds = before["failed_rounds_"].tolist()
        failed_errors = before["failed_errors_"].tolist()
        return RoundLog(
            n_rounds=before["n_rounds_"],
            stopped=""
            if before["stopped_"] in (ALL, UNCHANGED)
            else before["stopped_"],
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
        sums = partial(self._sums, data)
        return once_per_record(self, "votes", data.source, sums)

    def _sums(self, data: MemberData) -> np.ndarray:
        if data.source is not None and are_trees(self.estimators_, one_leaf=True):
            return self._forest().sums(cells_of_trees(data.source))
        V = np.zeros((data.n_rows, len(self.classes_)))
        rows = np.arange(len(V))
        predict = partial(data.class_codes, classes=self.classes_)
        predicted = ordered_map(predict, self.estimators_)
        for codes, alpha in zip(predicted, self.alphas_.tolist()):
            V[rows, codes] += 2.0 * alpha
        return V

    def _operations(self) -> list[Operation]:
        K = len(self.classes_)
        if are_trees(self.estimators_, one_leaf=True):
            votes_of_trees = tree_operations(self._forest(), self.schema_, [0.0] * K)
            return [*votes_of_trees, ("softmax", {})]
        branches = [
            class_operations(member, self.classes_, self.schema_, vote=True)
            for member in self.estimators_
        ]
        V = weighted_sum_operations(branches, 2.0 * self.alphas_, K)
        return [*V, ("softmax", {})]

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
        return np.column_stack([best, added, self._member_parts(data)])

    def _member_parts(self, data: MemberData) -> np.ndarray:
        """Class code, vote for the predicted class and share of every member, (n, 3 T)."""
        predict = partial(data.class_codes, classes=self.classes_)
        codes = np.column_stack(list(ordered_map(predict, self.estimators_)))
        predicted = self._votes(data).argmax(axis=1)
        is_for = (codes == predicted[:, None]).astype(np.float64)
        # α h, h = ±1, sums to F; 2α of the votes for the predicted class sum to V
        shares = 2.0 * self.alphas_ * is_for
        if len(self.classes_) == 2:
            shares = self.alphas_ * (2.0 * codes - 1.0)
        return np.stack([codes, is_for, shares], axis=2).reshape(len(codes), -1)

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
        columns = (
            self._kept_rounds(),
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

    def explain(self, X: Data) -> MemberExplanation:
        """What every column adds to the log-odds against the runner-up; to the posterior, if not of
        trees. And what every member says and counts for (`detail`).

        V_k is a log-probability up to a constant. A tree's vote starts as that of its root; every
        step down that changes it is credited to the column tested. Of stumps the columns'
        contributions are exact: V is a sum of functions of one column each. With other members the
        base is the posterior for rows drawn in `fit` (`background_`) in the mean, whose columns are
        replaced by the row's own in random orders (Shapley's values, sampled).

        The share of a member is α_t h_t(x) with two classes, h_t(x) being 1 for the second class
        and −1 for the first, so that all shares sum to `decision_function`. With more classes it is
        the 2 α_t that a vote adds to V of the predicted class.
        """
        check_is_fitted(self)
        if self._explains_by_replacement:
            explanation, parts = self._replace_with_more(
                self._posterior, self._member_parts, X, "posterior"
            )
        else:
            of_block = self._block_answer(self._odds_of_columns)
            explanation, parts = self._explain_with_more(X, of_block, AGAINST_RUNNER_UP)
        unit = "2α if for it"
        if len(self.classes_) == 2:
            unit = "α h(x)"
        members = [f"round {number}" for number in self._kept_rounds()]
        return MemberExplanation.of(
            explanation, parts, self.classes_, members, unit, ("α", self.alphas_)
        )

    def _kept_rounds(self) -> list[int]:
        """The rounds of the members, counted from 1."""
        T = len(self.estimators_)
        kept = np.setdiff1d(np.arange(self.n_rounds_), self.failed_rounds_) + 1
        # where all rounds failed, the member is that of the first
        return (kept.tolist() or [1])[:T]


def _centered(V: np.ndarray) -> np.ndarray:
    """V less its mean over the classes, or with two classes F."""
    if V.shape[1] == 2:
        return 0.5 * (V[:, 1] - V[:, 0])
    return V - V.mean(axis=1, keepdims=True)

"""What both gradient boosting learners share: rounds of trees, early stopping, staged
predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    check_same_columns,
    undefined,
    validation_parts,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Inputs, Rows
from lyceum._core.native import native
from lyceum._core.statistics import held_out_rows, row_uniforms, seed_from
from lyceum._core.text import show_count
from lyceum._core.threads import one_thread
from lyceum._core.trees import (
    BinnedRows,
    Bins,
    Router,
    Tree,
    WithTrees,
    cached_router,
    impurity_importances,
)
from lyceum._core.types import Data, Target, Weights
from lyceum.ensemble.boosting.losses import Loss
from lyceum.ensemble.boosting.trees import MOST_LEAVES, TreeGrower
from lyceum.ensemble.tree_members import TreesOfRounds
from lyceum.errors import DataError, SettingError
from lyceum.progress import report
from lyceum.report import Summary, Table

_MANY_ROWS = 10_000  # from which early_stopping="auto" stops early, as in scikit-learn
# up to which threads take longer to wake up than to share the work
_FEW_CELLS = 1 << 15
_NO_LIMIT = 1_000_000  # of the depth
_MIN_HESSIAN = 1e-3  # of a leaf, for a row of weight 1
_ROWS = 101  # what a hash is drawn for
_COLUMNS = 102
_HELD_OUT = 103


class GradientBoosting(TreesOfRounds, WithTrees, Learner):
    """The rounds: trees on gradients, one per output, whose values are added to the scores."""

    _parameter_docs: ClassVar[str] = """
    learning_rate : float
        η: the share of every step that is taken.
    max_iter : int
        The largest number of rounds.
    max_leaf_nodes : int or None
        The largest number of leaves of a tree; None is 32768.
    min_samples_leaf : int or "auto"
        Rows, whatever their weight, that a leaf needs. "auto": 20, of fewer than 220 rows n/10 - 2,
        at least 1.
    l2_regularization : float
        λ.
    categorical_smoothing : float
        s, in rows.
    subsample : float
        The share of the rows, drawn in every round, that trees are grown on.
    max_features : int or float
        Columns, or their share, drawn for every tree.
    max_bins : int
        The largest number of bins per column.
    early_stopping : bool or "auto"
        Whether to stop when the validation loss has not fallen by more than `tol` for
        `n_iter_no_change` rounds; the trees up to its minimum are kept. Without validation rows
        (`validation_fraction=None`) the training loss is used, and all trees are kept. "auto",
        scikit-learn's default, is True for more than 10,000 rows; the default here is False, so
        that no rows are held out unless this is asked for.
    validation_fraction : float or None
        The share of validation rows, chosen by a hash of their numbers, unless `fit` is given some.
    n_iter_no_change : int
        The patience of early stopping, in rounds; without early stopping, as in scikit-learn, it
        has no effect, and `summary` says so.
    tol : float
        The least fall of the loss that counts for early stopping.
    warm_start : bool
        Whether `fit` keeps the trees it has and adds up to `max_iter` rounds.
    """
    _attribute_docs: ClassVar[str] = """
    trees_ : list of Tree
        Round by round, in a round one for every output; their values have η in them.
    estimators_ : ndarray of tree learners, of shape (n_iter_, n_outputs)
        The trees as learners of their own, made on request: for text, rules, paths and drawings.
    baseline_ : ndarray of shape (n_outputs,)
        The best constant scores, to which the trees add.
    n_iter_ : int
        Rounds that were kept.
    do_early_stopping_ : bool
        Whether early stopping was on.
    history_, validation_history_ : lists of float
        The mean loss before the first round and after every round, of the rows learned from and
        judged by.
    train_score_, validation_score_ : ndarrays
        The same with the other sign, as scikit-learn's scores of the loss.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of the fall of the objective that is due to each column.
    record_ : list of dict
        With `record=True`: step (the round), objective (the mean loss), validation_loss, and of
        every tree of the round n_leaves, depth, gain and columns.
    seed_ : int
        The seed that was used.
    """

    _coding = "codes"
    history_axes: ClassVar[tuple[str, str]] = ("round", "mean loss")
    _takes_missing: ClassVar[bool] = True
    _n_values: ClassVar[int] = 1  # trees of boosting give numbers, one tree per class

    _parameter_constraints: ClassVar[dict] = {
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_leaf_nodes": [Interval(Integral, 2, MOST_LEAVES, closed="both"), None],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "categorical_smoothing": [Interval(Real, 0, None, closed="left")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "max_features": [
            Interval(Real, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "early_stopping": ["boolean", StrOptions({"auto"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "record": ["boolean"],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    trees_: list[Tree]
    baseline_: np.ndarray
    history_: list[float]
    validation_history_: list[float]
    seed_: int

    # -- what a subclass says ----------------------------------------------------------

    def _loss(self, y: np.ndarray, w: np.ndarray | None) -> Loss:
        """The loss of some rows."""
        raise undefined(self, "_loss")

    def _codes(self, y: Target) -> np.ndarray:
        """Targets given beside the rows, as `fit` coded its own."""
        raise undefined(self, "_codes")

    def _weights(
        self, y: np.ndarray, w: np.ndarray | None, learning: bool
    ) -> np.ndarray | None:
        """The weights of rows to learn from, or to judge by."""
        return w

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        validation: object = None,
    ):
        """Learn from all rows of X.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        validation : (X, y), (X, y, weights) or scanned rows, optional
            Rows to judge every round by, instead of some that are held out of X.
        """
        if self.warm_start and hasattr(self, "trees_"):
            before = dict(self.__dict__)
        else:
            before = None
        rows = self._rows(X, y, sample_weight)
        if before is None:
            self.seed_ = seed_from(self.random_state)
            self.trees_ = []
            self.history_ = []
            self.validation_history_ = []
            self.record_: list[dict[str, Any]] = []
        else:
            self._resume_from(before)
        bins = Bins.of(rows, self.max_bins)
        binned = BinnedRows.of(rows, bins, by_row=True).positive()
        self.do_early_stopping_ = self._stops_early(len(binned))
        training, judged = self._start_states(rows, binned, bins, validation)
        with one_thread() if len(binned) * len(bins) <= _FEW_CELLS else nullcontext():
            self._rounds(training, judged, len(bins))
        if not self.record:
            del self.record_
        return self

    def _stops_early(self, n_rows: int) -> bool:
        """Whether early stopping is on: "auto" is for more than 10,000 rows."""
        if self.early_stopping == "auto":
            return n_rows > _MANY_ROWS
        return bool(self.early_stopping)

    def _resume_from(self, before: dict[str, Any]) -> None:
        """Refuse other columns or classes; forget what came after the trees that were kept."""
        check_same_columns(self, before["schema_"])
        del self.history_[self.n_iter_ + 1 :]
        del self.validation_history_[self.n_iter_ + 1 :]
        self.record_ = getattr(self, "record_", [])[: self.n_iter_]

    def _start_states(
        self, rows: Rows, binned: BinnedRows, bins: Bins, validation: object
    ) -> tuple[BoostingState, BoostingState | None]:
        """Rows to learn from and rows to judge by, with the scores that they have so far."""
        out = None
        learned = binned
        if validation is None:
            out = self._held_out(len(binned))
        if out is not None:
            learned = binned.take(~out)
        assert learned.y is not None
        loss = self._loss(learned.y, self._weights(learned.y, learned.w, True))
        if not self.trees_:
            self.baseline_ = loss.baseline()
            start = np.repeat(self.baseline_[:, None], len(binned), axis=1)
        else:
            start = _scores_so_far(self, rows)
        rules = self._rules(loss.w, len(learned))
        if out is None:
            training = BoostingState(self, learned, bins, rules, loss, start)
            if validation is None:
                return training, None
            return training, self._validation(
                bins, rules, *validation_parts(validation)
            )
        so_far = np.ascontiguousarray(start[:, ~out])
        training = BoostingState(self, learned, bins, rules, loss, so_far)
        return training, self._judged_state(
            binned.take(out), bins, rules, start[:, out]
        )

    def _judged_state(
        self,
        judged: BinnedRows,
        bins: Bins,
        rules: native.BoostRules,
        start: np.ndarray,
    ) -> BoostingState:
        """The rows held out, with the scores that they have so far."""
        assert judged.y is not None
        judge = self._loss(judged.y, self._weights(judged.y, judged.w, False))
        return BoostingState(
            self, judged, bins, rules, judge, np.ascontiguousarray(start)
        )

    def _held_out(self, n: int) -> np.ndarray | None:
        """Which rows to judge by instead of learning from them."""
        if not self.do_early_stopping_ or self.validation_fraction is None:
            return None
        out = held_out_rows(
            0, n, self.validation_fraction, _seed(self.seed_, _HELD_OUT)
        )
        if not out.any() or out.all():
            raise SettingError(
                f"validation_fraction={self.validation_fraction} of {n} rows leaves none to learn"
                " from or none to judge by: give fit(..., validation=(X, y))"
            )
        return out

    def _validation(
        self,
        bins: Bins,
        rules: native.BoostRules,
        X: Data,
        y: Target,
        w: Weights = None,
    ) -> BoostingState:
        rows = self._prepare_rows(Inputs(self).for_predict(X))
        binned = BinnedRows.of(rows, bins, by_row=True).positive()
        codes = self._codes(y)
        if len(codes) != len(binned):
            raise DataError(
                f"validation has {show_count(len(binned), 'row')} and {len(codes)} targets"
            )
        if w is not None:
            w = np.asarray(w, dtype=np.float64)
        loss = self._loss(codes, self._weights(codes, w, False))
        return BoostingState(
            self, binned, bins, rules, loss, _scores_so_far(self, rows)
        )

    def _rounds(
        self, training: BoostingState, judged: BoostingState | None, d: int
    ) -> None:
        loss = training.loss
        K = training.loss.n_scores
        first = len(self.trees_) // K
        if first == 0:
            self._judge(training, judged)
        else:
            loss.begin(training.scores)
        for number in range(first, self.max_iter):
            if self._should_stop(judged is not None):
                break
            drawn = self._drawn_rows(number, training.n_rows)
            for k in range(K):
                g, h = loss.gradients(training.scores, k)
                grown = training.grower.grow(
                    loss, g, h, drawn, self._drawn_columns(number, k, d)
                )
                tree = training.grower.with_values(grown, loss, g, h, training.scores)
                training.add(tree, grown, k, rest=drawn is not None)
                if judged is not None:
                    judged.add(tree, grown, k)
                self.trees_.append(tree)
            self._judge(training, judged)
            self._record_round(number, K)
            report("rounds", number + 1, self.max_iter)
        self.n_iter_ = len(self.trees_) // K
        self._truncate_to_best(judged is not None, K)

    def _judge(self, training: BoostingState, judged: BoostingState | None) -> None:
        self.history_.append(training.loss.mean(training.scores))
        if judged is not None:
            self.validation_history_.append(judged.loss.mean(judged.scores))

    def _should_stop(self, is_judged: bool) -> bool:
        """Whether the loss has not fallen by more than `tol` below its best for `n_iter_no_change`
        rounds."""
        if not self.do_early_stopping_:
            return False
        if is_judged:
            losses = self.validation_history_
        else:
            losses = self.history_
        recent = losses[-self.n_iter_no_change :]
        past = losses[: -self.n_iter_no_change]
        return bool(past) and min(recent) > min(past) - self.tol

    def _truncate_to_best(self, is_judged: bool, K: int) -> None:
        """With early stopping, the trees up to the round of the least validation loss."""
        if self.do_early_stopping_ and is_judged:
            self.n_iter_ = int(np.argmin(self.validation_history_))
            del self.trees_[self.n_iter_ * K :]

    def _record_round(self, number: int, K: int) -> None:
        if not self.record:
            return
        trees = self.trees_[-K:]
        self.record_.append(
            {
                "step": number + 1,
                "objective": self.history_[-1],
                "validation_loss": (
                    self.validation_history_[-1] if self.validation_history_ else None
                ),
                "n_leaves": [tree.n_leaves for tree in trees],
                "depth": [tree.depth for tree in trees],
                "gain": [float((tree.gain * tree.weight).sum()) for tree in trees],
                "columns": [
                    sorted(set(tree.feature[tree.feature >= 0].tolist()))
                    for tree in trees
                ],
            }
        )

    def _rules(self, w: np.ndarray | None, n_rows: int) -> native.BoostRules:
        """How large a tree may grow, and what its leaves must have."""
        min_rows = self.min_samples_leaf
        if min_rows == "auto":
            min_rows = min(20, max(1, n_rows // 10 - 2))
        mean_weight = 1.0
        if w is not None:
            mean_weight = min(1.0, float(w.mean()))
        rules = native.BoostRules()
        rules.max_leaves = self.max_leaf_nodes or MOST_LEAVES
        rules.max_depth = self.max_depth or _NO_LIMIT
        rules.min_rows = min_rows
        rules.min_hessian = _MIN_HESSIAN * mean_weight
        rules.l2 = float(self.l2_regularization)
        rules.smoothing = float(self.categorical_smoothing)
        return rules

    def _drawn_rows(self, number: int, n: int) -> np.ndarray | None:
        if self.subsample == 1.0:
            return None
        drawn = row_uniforms(0, n, _seed(self.seed_, _ROWS, number))
        rows = np.flatnonzero(drawn <= self.subsample).astype(np.uint32)
        if len(rows):
            return rows
        return np.array([int(drawn.argmin())], dtype=np.uint32)

    def _drawn_columns(self, number: int, k: int, d: int) -> np.ndarray:
        share = isinstance(self.max_features, Real) and not isinstance(
            self.max_features, Integral
        )
        if share:
            count = max(1, round(self.max_features * d))
        else:
            count = min(int(self.max_features), d)
        if count >= d:
            return np.ones(d, dtype=bool)
        in_use = np.zeros(d, dtype=bool)
        drawn = row_uniforms(0, d, _seed(self.seed_, _COLUMNS, number, k))
        in_use[np.argsort(drawn, kind="stable")[:count]] = True
        return in_use

    # -- predict -----------------------------------------------------------------------

    @property
    def _router(self) -> Router:
        return cached_router(self, self.trees_, self._new_router)

    def _new_router(self) -> Router:
        K = len(self.baseline_)
        return Router(
            self.trees_, len(self.schema_), columns=np.arange(len(self.trees_)) % K
        )

    def _scores(self, block: Block) -> np.ndarray:
        """The scores of every output, (n, K)."""
        scores = np.tile(self.baseline_, (len(block), 1))
        if self.trees_:
            self._router.add_values(block.X, scores)
        return scores

    def _stages(
        self, function: Callable[[np.ndarray], np.ndarray], X: Data
    ) -> Iterator[np.ndarray]:
        """`function` of the scores after every round."""
        check_is_fitted(self)
        blocks = list(self.rows_to_predict(X).blocks())
        K = len(self.baseline_)
        scores = [np.tile(self.baseline_, (len(block), 1)) for block in blocks]
        for last in range(K, len(self.trees_) + 1, K):
            for block, score in zip(blocks, scores):
                self._router.add_values(block.X, score, last - K, last)
            yield function(np.concatenate(scores))

    # -- what was learned --------------------------------------------------------------

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of the fall of the objective, over all trees, that is due to each column."""
        check_is_fitted(self)
        if not self.trees_:
            return np.zeros(len(self.schema_))
        falls = impurity_importances(self.trees_, len(self.schema_), normalize=False)
        if falls.sum() > 0:
            return falls / falls.sum()
        return falls

    @property
    def train_score_(self) -> np.ndarray:
        """Minus the mean training loss, before the first round and after every round."""
        return -np.array(self.history_)

    @property
    def validation_score_(self) -> np.ndarray:
        """Minus the mean loss of the validation rows; empty if there are none."""
        return -np.array(self.validation_history_)

    def summary(self) -> Summary:
        """The rounds, the losses, and what the columns brought."""
        check_is_fitted(self)
        leaves = [tree.n_leaves for tree in self.trees_]
        facts: dict[str, Any] = {
            "rounds": self.n_iter_,
            "trees": len(self.trees_),
            "leaves of a tree": float(np.mean(leaves)) if leaves else 0.0,
            "learning rate": self.learning_rate,
            "early stopping": "off",
            "constant": self.baseline_,
            "loss of the constant": self.history_[0],
            "loss of the training rows": self.history_[-1],
        }
        if self.do_early_stopping_:
            facts["early stopping"] = (
                f"after {self.n_iter_no_change} rounds without a gain"
            )
        if self.validation_history_:
            facts["least validation loss"] = min(self.validation_history_)
        order = np.argsort(-self.feature_importances_, kind="stable")
        used = np.zeros(len(self.schema_), dtype=int)
        for tree in self.trees_:
            used += np.bincount(tree.feature[tree.feature >= 0], minlength=len(used))
        rows = [
            [self.schema_.names[j], float(self.feature_importances_[j]), int(used[j])]
            for j in order
        ]
        return Summary(
            self._title(),
            facts,
            [Table("Columns", ["column", "share of gain", "splits"], rows)],
        )

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        raise undefined(self, "_decide")


class BoostingState:
    """Binned rows with their scores so far, (K, n)."""

    def __init__(
        self,
        learner: GradientBoosting,
        binned: BinnedRows,
        bins: Bins,
        rules: native.BoostRules,
        loss: Loss,
        scores: np.ndarray,
    ) -> None:
        self.n_rows = len(binned)
        self.loss = loss
        self.scores = scores
        self.grower = TreeGrower(binned, bins, rules, float(learner.learning_rate))

    def add(self, tree: Tree, grown: Any, k: int, rest: bool | None = None) -> None:
        """Add a tree's values to output k; `rest`: only rows that it was not grown on have to be
        routed."""
        if rest is None or rest:
            self.grower.route(grown, bool(rest))
        self.grower.add_values(tree.value[:, 0], self.scores[k])


def _scores_so_far(learner: GradientBoosting, rows: Rows) -> np.ndarray:
    """The scores, (K, n), by the trees there are, of rows with a positive weight."""
    scores = list(rows.map(partial(_scores_of_block, learner)))
    return np.ascontiguousarray(np.concatenate(scores).T)


def _scores_of_block(learner: GradientBoosting, block: Block) -> np.ndarray:
    scores = learner._scores(block)
    if block.w is None:
        return scores
    return scores[block.w > 0]


def _seed(*numbers: int) -> int:
    """One seed from several numbers."""
    return int(
        np.random.SeedSequence([number % 2**32 for number in numbers]).generate_state(
            1, np.uint64
        )[0]
        >> 1
    )

"""The rounds of histogram gradient boosting: trees on bins, early stopping."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    check_same_columns,
    undefined,
    validation_parts,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Inputs, Rows, Schema
from lyceum._core.native import native
from lyceum._core.statistics import held_out_rows, row_uniforms, seed_from
from lyceum._core.text import show_count
from lyceum._core.threads import one_thread
from lyceum._core.trees import (
    BinnedRows,
    Bins,
)
from lyceum._core.types import Data, Target, Weights
from lyceum.ensemble.boosting.boosted_trees import BoostedTrees
from lyceum.ensemble.boosting.column_rules import (
    column_directions,
    interaction_sets,
    set_flags,
)
from lyceum.ensemble.boosting.scikit_nodes import TreePredictor
from lyceum.ensemble.boosting.scoring import score_of
from lyceum.ensemble.boosting.state import BoostingState, seed_of
from lyceum.ensemble.boosting.trees import MOST_LEAVES, TreeGrower
from lyceum.errors import DataError, SettingError
from lyceum.progress import report

_MANY_ROWS = 10_000  # from which early_stopping="auto" stops early, as in scikit-learn
# up to which threads take longer to wake up than to share the work
_FEW_CELLS = 1 << 15
_NO_LIMIT = 1_000_000  # of the depth
_MIN_HESSIAN = 1e-3  # of a leaf, for a row of weight 1
_ROWS = 101  # what a hash is drawn for
_COLUMNS = 102
_HELD_OUT = 103


class HistBoosting(BoostedTrees):
    """The rounds: trees on gradients, one per output, whose values are added to the scores."""

    _parameter_docs: ClassVar[str] = """
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
        `n_iter_no_change` rounds. Without validation rows (`validation_fraction=None`) the training
        loss is used. "auto",
        scikit-learn's default, is True for more than 10,000 rows; the default here is False, so
        that no rows are held out unless this is asked for.
    keep_best : bool
        Whether only the trees up to the least validation loss are kept, where early stopping judges
        by rows that are not learned from.
    scoring : str, callable or None
        What early stopping judges by: "loss", a scorer of scikit-learn or its name, or None for the
        learner's own score. A scorer sees predictions, not the cells.
    validation_fraction : float or None
        The share of validation rows, chosen by a hash of their numbers, unless `fit` is given some.
    n_iter_no_change : int
        The patience of early stopping, in rounds; without early stopping, as in scikit-learn, it
        has no effect, and `summary` says so.
    tol : float
        The least fall of the loss that counts for early stopping.
    monotonic_cst : array of -1, 0 and 1 of shape (n_features,), dict by column name, or None
        Columns with which the score may only rise (1) or fall (-1), all else being equal.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets of columns, or None
        The columns that may stand together on one path of a tree, by their positions; those that
        are in no set are one more set.
    warm_start : bool
        Whether `fit` keeps the trees it has and adds up to `max_iter` rounds.
    """
    _attribute_docs: ClassVar[str] = """
    trees_ : list of Tree
        Round by round, in a round one for every output; their values have η in them.
    n_iter_ : int
        Rounds that were kept.
    do_early_stopping_ : bool
        Whether early stopping was on.
    train_score_, validation_score_ : ndarrays
        The same with the other sign, as scikit-learn's scores of the loss.
    scores_by_round_ : list of float
        The scores by `scoring`, where early stopping judges by another score than the loss.
    is_categorical_ : ndarray of bool of shape (n_features_in_,) or None
        Which columns hold categories.
    """

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
        "keep_best": ["boolean"],
        "scoring": [str, callable, None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "monotonic_cst": ["array-like", dict, None],
        "interaction_cst": [
            "array-like",
            list,
            tuple,
            StrOptions({"pairwise", "no_interactions"}),
            None,
        ],
        "warm_start": ["boolean"],
        "record": ["boolean"],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    # -- by scikit-learn's private names, for tools that read trees (SHAP) -------------

    @property
    def _predictors(self) -> list[list[TreePredictor]]:
        """The trees, round by round, as arrays of nodes."""
        check_is_fitted(self)
        trees = [TreePredictor.of(tree) for tree in self.trees_]
        K = len(self.baseline_)
        return [trees[first : first + K] for first in range(0, len(trees), K)]

    @property
    def _baseline_prediction(self) -> np.ndarray:
        """`baseline_`, one row."""
        return self.baseline_[None, :]

    # -- what a subclass says ----------------------------------------------------------

    def _codes(self, y: Target) -> np.ndarray:
        """Targets given beside the rows, as `fit` coded its own."""
        raise undefined(self, "_codes")

    def _weights(
        self,
        y: np.ndarray,
        w: np.ndarray | None,
        learning: bool,
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
        *,
        X_val: Data = None,
        y_val: Target = None,
        sample_weight_val: Weights = None,
    ):
        """Learn from all rows of X.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        validation : (X, y), (X, y, weights) or scanned rows, optional
            Rows to judge every round by, instead of some that are held out of X.
        X_val, y_val, sample_weight_val : the same by scikit-learn's names, optional
        """
        if X_val is not None or y_val is not None:
            validation = self._given_validation(X_val, y_val, sample_weight_val)
        warm = self.warm_start and hasattr(self, "trees_")
        schema_before: Any = getattr(self, "schema_", None)
        rows = self._rows(X, y, sample_weight)
        if warm:
            check_same_columns(self, schema_before)
            self._go_on()
        else:
            self.seed_ = seed_from(self.random_state)
            self.trees_ = []
            self.history_ = []
            self.validation_history_ = []
            self.scores_by_round_: list[float] = []
            self.record_ = []
        bins = Bins.of(rows, self.max_bins)
        binned = BinnedRows.of(rows, bins, by_row=True).positive()
        self.do_early_stopping_ = bool(self.early_stopping)
        if self.early_stopping == "auto":
            self.do_early_stopping_ = len(binned) > _MANY_ROWS or X_val is not None
        training, judged = self._start_states(rows, binned, bins, validation)
        is_small = len(binned) * len(bins) <= _FEW_CELLS
        with one_thread() if is_small else nullcontext():
            self._rounds(training, judged, len(bins))
        if not self.record:
            del self.record_
        return self

    def _go_on(self) -> None:
        """Go on after the trees that were kept, and forget what came after them."""
        if self.max_iter < self.n_iter_:
            raise SettingError(
                f"max_iter={self.max_iter} must be larger than or equal to"
                f" n_iter_={self.n_iter_} when warm_start==True"
            )
        del self.history_[self.n_iter_ + 1 :]
        del self.validation_history_[self.n_iter_ + 1 :]
        del self.scores_by_round_[self.n_iter_ + 1 :]
        self.record_ = getattr(self, "record_", [])[: self.n_iter_]

    def _given_validation(self, X: Data, y: Target, w: Weights) -> tuple[Any, ...]:
        """scikit-learn's `X_val`, `y_val` and `sample_weight_val`, checked."""
        if y is None:
            raise DataError("X_val is provided, but y_val was not provided.")
        if X is None:
            raise DataError("y_val is provided, but X_val was not provided.")
        if self.early_stopping is False:
            raise DataError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False."
                " When passing X_val and y_val to fit, early_stopping should be set to either"
                " 'auto' or True; validation=(X, y) judges rounds without stopping early."
            )
        return (X, y, w)

    def _start_states(
        self,
        rows: Rows,
        binned: BinnedRows,
        bins: Bins,
        validation: object,
    ) -> tuple[BoostingState, BoostingState | None]:
        """Rows to learn from and rows to judge by, with the scores that they have so far."""
        # `out` flags the rows that are held out of X to judge by, None if there are none
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
        grower = partial(
            TreeGrower,
            bins=bins,
            rules=self._rules(loss.w, len(learned), rows.schema),
            learning_rate=float(self.learning_rate),
        )
        if out is None:
            training = BoostingState(grower(learned), loss, start)
            if validation is None:
                return training, None
            return training, self._validation(grower, *validation_parts(validation))
        training_start = np.ascontiguousarray(start[:, ~out])
        training = BoostingState(grower(learned), loss, training_start)
        judged = binned.take(out)
        assert judged.y is not None
        judge = self._loss(judged.y, self._weights(judged.y, judged.w, False))
        judged_start = np.ascontiguousarray(start[:, out])
        return training, BoostingState(grower(judged), judge, judged_start)

    def _held_out(self, n: int) -> np.ndarray | None:
        """Which rows to judge by instead of learning from them."""
        if not self.do_early_stopping_ or self.validation_fraction is None:
            return None
        out = held_out_rows(
            0, n, self.validation_fraction, seed_of(self.seed_, _HELD_OUT)
        )
        if not out.any() or out.all():
            raise SettingError(
                f"validation_fraction={self.validation_fraction} of {n} rows leaves none to learn"
                " from or none to judge by: give fit(..., validation=(X, y))"
            )
        return out

    def _validation(
        self,
        grower: partial[TreeGrower],
        X: Data,
        y: Target,
        w: Weights = None,
    ) -> BoostingState:
        """Validation rows that were given, with the scores that they have so far."""
        rows = self._prepare_rows(Inputs(self).for_predict(X))
        bins = grower.keywords["bins"]
        binned = BinnedRows.of(rows, bins, by_row=True).positive()
        codes = self._codes(y)
        if len(codes) != len(binned):
            raise DataError(
                f"validation has {show_count(len(binned), 'row')} and {len(codes)} targets"
            )
        if w is not None:
            w = np.asarray(w, dtype=np.float64)
        loss = self._loss(codes, self._weights(codes, w, False))
        return BoostingState(grower(binned), loss, _scores_so_far(self, rows))

    def _rounds(
        self,
        training: BoostingState,
        judged: BoostingState | None,
        d: int,
    ) -> None:
        loss = training.loss
        scores = training.scores
        grower = training.grower
        K = loss.n_scores
        self._scored = judged or training
        first = len(self.trees_) // K
        if first == 0:
            self._judge(training, judged)
        else:
            loss.begin(scores)
        for number in range(first, self.max_iter):
            # a fit that goes on adds a round at least, as in scikit-learn
            if number > first and self._should_stop(judged is not None):
                break
            drawn = self._drawn_rows(number, grower.n_rows)
            for k in range(K):
                g, h = loss.gradients(scores, k)
                columns = self._drawn_columns(number, k, d)
                grown = grower.grow(loss, g, h, drawn, columns)
                tree = grower.with_values(grown, loss, g, h, scores)
                # growing has left the node of every row that was drawn
                if drawn is not None:
                    grower.route(grown, rest=True)
                training.add(tree, k)
                if judged is not None:
                    judged.grower.route(grown)
                    judged.add(tree, k)
                self.trees_.append(tree)
            self._judge(training, judged)
            self._record_round(number, K)
            report("rounds", number + 1, self.max_iter)
        self.n_iter_ = len(self.trees_) // K
        if self.keep_best and self.do_early_stopping_ and judged is not None:
            self._keep_best(K)
        del self._scored

    def _keep_best(self, K: int) -> None:
        """Keep the trees up to the round of the least validation loss, or the largest score."""
        self.n_iter_ = int(np.argmin(self._judgments(True)))
        del self.trees_[self.n_iter_ * K :]

    def _judge(self, training: BoostingState, judged: BoostingState | None) -> None:
        # the mean of the training loss also begins the next round: gradients are of its scores
        self.history_.append(training.loss.mean(training.scores))
        if judged is not None:
            self.validation_history_.append(judged.loss.mean(judged.scores))
        if self._has_scorer:
            self.scores_by_round_.append(self._score_of(self._scored))

    @property
    def _has_scorer(self) -> bool:
        """Whether early stopping judges by another score than the loss."""
        return self.do_early_stopping_ and self.scoring != "loss"

    def _score_of(self, state: BoostingState) -> float:
        """The score of the predictions for the rows of a state, by `scoring`."""
        scores = np.ascontiguousarray(state.scores.T)
        return score_of(self, scores, self._targets(state.loss.y), state.loss.w)

    def _targets(self, y: np.ndarray) -> np.ndarray:
        """Coded targets as they were given."""
        return y

    def _judgments(self, is_judged: bool) -> list[float]:
        """What early stopping compares, the smaller the better, one per round."""
        if self._has_scorer:
            return [-score for score in self.scores_by_round_]
        return self.validation_history_ if is_judged else self.history_

    def _should_stop(self, is_judged: bool) -> bool:
        """Whether the loss has not fallen by more than `tol` below its best for `n_iter_no_change`
        rounds."""
        if not self.do_early_stopping_:
            return False
        losses = self._judgments(is_judged)
        # the best of the last rounds against the best of all before
        recent = losses[-self.n_iter_no_change :]
        past = losses[: -self.n_iter_no_change]
        return bool(past) and min(recent) > min(past) - self.tol

    def _rules(
        self,
        w: np.ndarray | None,
        n_rows: int,
        schema: Schema,
    ) -> native.BoostRules:
        """How large a tree may grow, and what its leaves must have."""
        min_rows = self.min_samples_leaf
        if min_rows == "auto":
            min_rows = min(20, max(1, n_rows // 10 - 2))
        mean_weight = 1.0
        if w is not None:
            mean_weight = min(1.0, float(w.mean()))
        rules = native.BoostRules()
        # the Hessians of rows that weigh less than 1 are smaller by as much
        rules.max_leaves = self.max_leaf_nodes or MOST_LEAVES
        rules.max_depth = self.max_depth or _NO_LIMIT
        rules.min_rows = min_rows
        rules.min_hessian = _MIN_HESSIAN * mean_weight
        rules.l2 = float(self.l2_regularization)
        rules.smoothing = float(self.categorical_smoothing)
        directions = column_directions(self, schema)
        if directions is not None:
            rules.directions = directions.tolist()
        sets = interaction_sets(self.interaction_cst, len(schema))
        if sets is not None:
            rules.sets = set_flags(sets, len(schema)).ravel().tolist()
        return rules

    def _drawn_rows(self, number: int, n: int) -> np.ndarray | None:
        """The rows of a round, None for all; at least one."""
        if self.subsample == 1.0:
            return None
        uniforms = row_uniforms(0, n, seed_of(self.seed_, _ROWS, number))
        bound = max(self.subsample, uniforms.min())
        return np.flatnonzero(uniforms <= bound).astype(np.uint32)

    def _drawn_columns(
        self,
        number: int,
        k: int,
        d: int,
    ) -> np.ndarray:
        """Which columns the tree of score k may use, (d,)."""
        if isinstance(self.max_features, Integral):
            count = min(int(self.max_features), d)
        else:
            count = max(1, round(self.max_features * d))
        if count >= d:
            return np.ones(d, dtype=bool)
        in_use = np.zeros(d, dtype=bool)
        uniforms = row_uniforms(0, d, seed_of(self.seed_, _COLUMNS, number, k))
        in_use[np.argsort(uniforms, kind="stable")[:count]] = True
        return in_use

    # -- what was learned --------------------------------------------------------------

    @property
    def train_score_(self) -> np.ndarray:
        """Minus the mean training loss, before the first round and after every round; the score
        where early stopping judges the training rows by one."""
        if self._has_scorer and not self.validation_history_:
            return np.array(self.scores_by_round_)
        return -np.array(self.history_)

    @property
    def validation_score_(self) -> np.ndarray:
        """Minus the mean loss of the validation rows, or their score; empty if there are none."""
        if self._has_scorer and self.validation_history_:
            return np.array(self.scores_by_round_)
        return -np.array(self.validation_history_)

    def _stopping_rule(self) -> str:
        if not self.do_early_stopping_:
            return "off"
        return f"after {self.n_iter_no_change} rounds without a gain"

    @property
    def is_categorical_(self) -> np.ndarray | None:
        """Which columns hold categories; None if there are none."""
        check_is_fitted(self)
        flags = np.array([column.is_categorical for column in self.schema_])
        return flags if flags.any() else None


def _scores_so_far(learner: HistBoosting, rows: Rows) -> np.ndarray:
    """The scores, (K, n), by the trees there are, of rows with a positive weight."""
    scores = list(rows.map(partial(_scores_of_block, learner)))
    return np.ascontiguousarray(np.concatenate(scores).T)


def _scores_of_block(learner: HistBoosting, block: Block) -> np.ndarray:
    scores = learner._scores(block)
    return scores if block.w is None else scores[block.w > 0]

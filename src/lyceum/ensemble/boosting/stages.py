"""Gradient boosting on exact trees: the stages of Friedman's algorithm on rows in memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier

from lyceum._core.base import (
    check_same_columns,
    replace_columns,
    takes_rows,
    takes_weights,
    typical_row,
    undefined,
)
from lyceum._core.constraints import HasMethods, Interval, StrOptions
from lyceum._core.data import ArraySource, Block
from lyceum._core.members import MemberData, refuse_codes
from lyceum._core.statistics import row_uniforms, seed_from
from lyceum._core.trees import (
    GROWTH_CONSTRAINTS,
    Columns,
    Growth,
    Router,
    Tree,
    grow,
    growth_rules,
    resolve_max_features,
)
from lyceum._core.types import Data, Operation, Target, Weights
from lyceum.ensemble.boosting.boosted_trees import BoostedTrees
from lyceum.ensemble.boosting.losses import Loss, Squared
from lyceum.ensemble.boosting.state import seed_of
from lyceum.errors import DataError, SettingError, cannot_export
from lyceum.progress import report
from lyceum.report import Explanation
from lyceum.trees import DecisionTreeRegressor, prune_by_complexity

_ROWS = 101  # what a hash is drawn for
_TREE = 102
_LEAST_HESSIAN = 1e-150  # of a row: a leaf of less takes no step

# what stages share with trees
_TREE_SETTINGS = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "min_impurity_decrease",
    "max_features",
    "max_leaf_nodes",
    "ccp_alpha",
)


@dataclass
class StagedRows:
    """Rows to learn from, or to judge by, with their loss and their scores so far."""

    block: Block
    loss: Loss
    scores: np.ndarray  # (K, n)

    def mean_loss(self, rows: np.ndarray | None = None) -> float:
        """Of all rows, or of some."""
        if rows is None:
            rows = np.arange(len(self.block))
        return self.loss.take(rows).mean(np.ascontiguousarray(self.scores[:, rows]))


class ExactBoosting(BoostedTrees):
    """The stages: an exact tree on the negative gradients of every score, with the best constants
    in its leaves."""

    _parameter_docs: ClassVar[str] = """
    n_estimators : int
        The largest number of rounds.
    subsample : float
        The share of the rows, drawn in every round, that trees are grown on.
    criterion : {"deprecated", "squared_error", "friedman_mse"}
        Without effect, as in scikit-learn: both name the same splits.
    max_depth : int or None
        The largest number of splits from the root to a leaf.
    min_impurity_decrease : float
        The smallest gain of a split, times the share of the rows at its node.
    init : "zero", estimator or None
        What the rounds start from: scores of zero, the predictions of an estimator, or None, the
        best constant.
    max_features : int, float, "sqrt", "log2" or None
        Columns drawn at every node, or their share; None: all.
    validation_fraction : float
        The share of the rows held out for early stopping.
    n_iter_no_change : int or None
        Rounds without a gain of the held-out rows after which the rounds end; None: no rows are
        held out.
    tol : float
        The least fall of the held-out loss that counts as a gain.
    ccp_alpha : float
        α of minimal cost-complexity pruning, of every tree.
    warm_start : bool
        Whether `fit` keeps the trees it has and adds up to `n_estimators` rounds.
    """
    _attribute_docs: ClassVar[str] = """
    trees_ : list of Tree
        Round by round, in a round one for every score; the learning rate is not in their values.
    n_estimators_ : int
        Rounds that were made.
    start_ : estimator, "zero" or None
        What the rounds start from: `init`, fitted where it is an estimator; None is the best
        constant.
    init_ : estimator or "zero"
        The fitted estimator that the rounds start from; scikit-learn's dummy of `baseline_` where
        they start from the best constant.
    train_score_ : ndarray of shape (n_estimators_,)
        The mean loss of the rows that every round learned from, in scikit-learn's units: twice
        `history_` for squared error and two classes.
    oob_scores_, oob_improvement_ : ndarrays of shape (n_estimators_,)
        With `subsample` below 1: the mean loss of the rows that a round did not learn from, and its
        fall by the round.
    oob_score_ : float
        The last of `oob_scores_`.
    max_features_ : int
        Columns drawn at every node.
    typical_ : ndarray of shape (n_features_in_,)
        With an estimator as `init`: the row that explanations start from.
    """
    _without_effect: ClassVar[dict[str, str]] = {
        "criterion": "squared error and Friedman's improvement choose the same splits",
    }

    _reads_rows = "in memory"
    _keeps_impurity = True
    _alternative: ClassVar[str]

    _parameter_constraints: ClassVar[dict] = {
        **{
            name: GROWTH_CONSTRAINTS[name]
            for name in (*_TREE_SETTINGS, "random_state", "record")
        },
        "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
        "learning_rate": [Interval(Real, 0.0, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "criterion": [StrOptions({"deprecated", "squared_error", "friedman_mse"})],
        "subsample": [Interval(Real, 0.0, 1.0, closed="right")],
        "init": [StrOptions({"zero"}), None, HasMethods(["fit", "predict"])],
        "warm_start": ["boolean"],
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "categorical_features": GROWTH_CONSTRAINTS["categorical_features"],
    }

    init: Any
    start_: Any  # a fitted estimator, "zero", or None for the best constant
    oob_score_: float

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        monitor: Callable[[int, Any, dict[str, Any]], object] | None = None,
    ):
        """Learn from all rows of X.

        Parameters
        ----------
        X : array, frame or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        monitor : callable, optional
            Called after every round with its number, the learner and a dict of what the round
            knows (`y`, `raw_predictions`, `sample_weight`); the rounds end where it returns
            something true.
        """
        if self.criterion != "deprecated":
            warnings.warn(
                "The parameter `criterion` is deprecated and will be removed in 1.11. It has no"
                " effect. Leave it to its default value to avoid this warning.",
                FutureWarning,
                stacklevel=2,
            )
        is_warm = self.warm_start and hasattr(self, "trees_")
        schema_before: Any = getattr(self, "schema_", None)
        rows = self._rows(X, y, sample_weight)
        block = rows.in_one_block(type(self).__name__, self._alternative)
        self.max_features_ = resolve_max_features(self.max_features, len(rows.schema))
        training, judged = self._held_out(block)
        if is_warm:
            check_same_columns(self, schema_before)
            self._check_more_rounds()
        else:
            self._begin(training)
        self.record_ = getattr(self, "record_", [])
        staged = self._staged(training)
        judging = None if judged is None else self._staged(judged)
        self._stages_on(staged, judging, monitor)
        if not self.record:
            del self.record_
        return self

    def _check_more_rounds(self) -> None:
        if self.n_estimators < len(self):
            raise SettingError(
                f"n_estimators={self.n_estimators} must be larger or equal to"
                f" estimators_.shape[0]={len(self)} when warm_start==True"
            )

    def _held_out(self, block: Block) -> tuple[Block, Block | None]:
        """Rows to learn from, and those held out for early stopping."""
        from sklearn.model_selection import train_test_split  # takes long to import

        if self.n_iter_no_change is None:
            return block, None
        train, held = train_test_split(
            np.arange(len(block)),
            random_state=self.random_state,
            test_size=self.validation_fraction,
            stratify=block.y if is_classifier(self) else None,
        )
        assert block.y is not None
        if is_classifier(self) and len(np.unique(block.y[train])) < len(self.classes_):
            raise DataError(
                "The training data after the early stopping split is missing some classes. Try"
                " using another random seed."
            )
        return block.take(train), block.take(held)

    def _begin(self, block: Block) -> None:
        """What there is before the first round."""
        self.seed_ = seed_from(self.random_state)
        self.trees_ = []
        self.history_ = []
        self.validation_history_ = []
        self.record_ = []
        for name in ("oob_scores_", "oob_improvement_", "oob_score_", "typical_"):
            self.__dict__.pop(name, None)
        assert block.y is not None
        self.baseline_ = self._loss(block.y, block.w).baseline()
        self.start_ = self.init
        if self.init is None:
            return
        self.baseline_ = np.zeros_like(self.baseline_)
        if self.init != "zero":
            self.start_ = self._fitted_init(block)
            self.typical_ = typical_row(block)

    def _fitted_init(self, block: Block) -> Any:
        init = clone(self.init)
        if block.w is not None and not takes_weights(init):
            raise DataError(
                f"The initial estimator {type(init).__name__} does not support sample weights."
            )
        if takes_rows(init):
            named = hasattr(self, "feature_names_in_")
            data = MemberData(ArraySource.of_block(block), named=named)
            return data.fit(init, w=block.w)
        refuse_codes(block.schema)
        labels: Any = block.y
        if is_classifier(self):
            labels = self.classes_[block.y]
        return MemberData(None, block.X, labels).fit(init, w=block.w)

    def _staged(self, block: Block) -> StagedRows:
        assert block.y is not None
        scores = np.ascontiguousarray(self._scores(block).T)
        return StagedRows(block, self._loss(block.y, block.w), scores)

    def _stages_on(
        self,
        training: StagedRows,
        judged: StagedRows | None,
        monitor: Callable[[int, Any, dict[str, Any]], object] | None,
    ) -> None:
        if not self.history_:
            self.history_.append(training.mean_loss())
        columns = Columns.of_cells(training.block.X, training.block.schema)
        growth = self._growth(training)
        first = len(self)
        best = np.full(self.n_iter_no_change or 1, np.inf)
        for number in range(first, self.n_estimators):
            drawn = self._drawn_rows(number, len(training.block))
            out = np.setdiff1d(np.arange(len(training.block)), drawn, True)
            before = training.mean_loss(out) if len(out) else 0.0
            self._add_stage(training, judged, columns, growth, number, drawn)
            self.history_.append(training.mean_loss(drawn))
            if len(out):
                self._note_left_out(training, out, before)
            if judged is not None:
                self.validation_history_.append(judged.mean_loss())
            self._record_round(number, len(self.baseline_))
            report("rounds", number + 1, self.n_estimators)
            if monitor is not None and monitor(number, self, _round_facts(training)):
                break
            if judged is None:
                continue
            # a gain is a loss below that of one of the last rounds
            loss = self._units * self.validation_history_[-1]
            if not (loss + self.tol < best).any():
                break
            best[number % len(best)] = loss

    def _add_stage(
        self,
        training: StagedRows,
        judged: StagedRows | None,
        columns: Columns,
        growth: Growth,
        number: int,
        drawn: np.ndarray,
    ) -> None:
        """One tree for every score, all at the gradients of the scores before."""
        loss = training.loss
        loss.begin(training.scores)
        for k in range(loss.n_scores):
            g, h = loss.gradients(training.scores, k)
            growth = replace(growth, seed=seed_of(self.seed_, _TREE, number, k))
            tree, leaves = self._tree(training, columns, growth, drawn, g, h)
            self.trees_.append(tree)
            step = self.learning_rate * tree.node_values[:, 0]
            training.scores[k] += step[leaves]
            if judged is not None:
                judged.scores[k] += step[_leaves(tree, judged.block.X)]

    def _tree(
        self,
        training: StagedRows,
        columns: Columns,
        growth: Growth,
        drawn: np.ndarray,
        g: np.ndarray,
        h: np.ndarray | None,
    ) -> tuple[Tree, np.ndarray]:
        """The tree of one score, and the leaf of every row."""
        # gradients have the weights in them: trees learn from −g / w with weights w
        w = training.loss.w
        slopes = -g
        if w is not None:
            slopes = np.divide(-g, w, out=np.zeros_like(g), where=w > 0)
            drawn = drawn[w[drawn] > 0]
        rows = None
        if len(drawn) < len(g):
            rows = drawn.astype(np.int32)
        tree = grow(columns, slopes, w, growth, None, rows)
        if self.ccp_alpha:
            tree = prune_by_complexity(tree, self.ccp_alpha)
        leaves = _leaves(tree, training.block.X)
        if isinstance(training.loss, Squared):
            return tree, leaves
        if h is None:
            h = np.ones_like(g) if w is None else w
        values = _leaf_values(tree, training, leaves, drawn, g, h)
        return replace(tree, node_values=values[:, None]), leaves

    def _growth(self, training: StagedRows) -> Growth:
        """The rules of growth: those of a regression tree with these settings."""
        settings = {name: getattr(self, name) for name in _TREE_SETTINGS}
        tree = DecisionTreeRegressor(**settings)
        tree.max_features_ = self.max_features_
        schema = training.block.schema
        n = len(training.block)
        weight = self.subsample * training.loss.weight
        return growth_rules(tree, schema, n, weight, self.seed_)

    def _drawn_rows(self, number: int, n: int) -> np.ndarray:
        """The rows of a round, in rising order."""
        if self.subsample == 1.0:
            return np.arange(n)
        uniforms = row_uniforms(0, n, seed_of(self.seed_, _ROWS, number))
        count = max(1, int(self.subsample * n))
        return np.sort(np.argpartition(uniforms, count - 1)[:count])

    def _note_left_out(
        self, training: StagedRows, out: np.ndarray, before: float
    ) -> None:
        after = self._units * training.mean_loss(out)
        # rounds before the first one that drew rows have zeros
        scores = np.zeros(len(self))
        falls = np.zeros(len(self))
        previous = getattr(self, "oob_scores_", np.empty(0))
        scores[: len(previous)] = previous
        falls[: len(previous)] = getattr(self, "oob_improvement_", previous)
        scores[-1] = after
        falls[-1] = self._units * before if len(self) == 1 else scores[-2]
        falls[-1] -= after
        self.oob_scores_ = scores
        self.oob_improvement_ = falls
        self.oob_score_ = float(after)

    # scikit-learn's losses per ours: its scores of squared error and two classes are not halved
    _units: ClassVar[float] = 1.0

    # -- predict -----------------------------------------------------------------------

    @property
    def _scale(self) -> float:  # type: ignore[override]
        return self.learning_rate

    @property
    def _starts_from_learner(self) -> bool:
        return not (self.start_ is None or isinstance(self.start_, str))

    @property
    def init_(self) -> Any:
        """What the rounds start from."""
        if self.start_ is None:
            return self._constant()
        return self.start_

    def _constant(self) -> Any:
        """scikit-learn's dummy whose answer is the best constant."""
        raise undefined(self, "_constant")

    def _first_scores(self, block: Block) -> np.ndarray:
        if not self._starts_from_learner:
            return super()._first_scores(block)
        is_ours = takes_rows(self.start_)
        data = MemberData.of_block(block, is_ours, not is_ours)
        return self._scores_of_init(data)

    def _scores_of_init(self, data: MemberData) -> np.ndarray:
        """The predictions of `start_` as scores, (n, K)."""
        return data.numbers(self.start_)[:, None]

    def apply(self, X: Data) -> Any:
        """The leaf of every row in every tree: (n_samples, n_estimators_), of a classifier
        (n_samples, n_estimators_, n_scores)."""
        return self._apply(self._leaves, X)

    def _leaves(self, block: Block) -> np.ndarray:
        leaves = self._router.leaves(block.X)
        if is_classifier(self):
            return leaves.reshape(len(leaves), -1, len(self.baseline_))
        return leaves

    # -- what was learned --------------------------------------------------------------

    def _compute_partial_dependence_recursion(
        self, grid: np.ndarray, target_features: np.ndarray
    ) -> np.ndarray:
        if self.init is not None:
            warnings.warn(
                "Using recursion method with a non-constant init predictor will lead to incorrect"
                f" partial dependence values. Got init={self.init}.",
                UserWarning,
                stacklevel=2,
            )
        return super()._compute_partial_dependence_recursion(grid, target_features)

    @property
    def n_estimators_(self) -> int:
        """Rounds that were made."""
        return len(self)

    @property
    def train_score_(self) -> np.ndarray:
        """The mean loss after every round, in scikit-learn's units."""
        return self._units * np.array(self.history_[1:])

    def _stopping_rule(self) -> str:
        if self.n_iter_no_change is None:
            return "off"
        return f"after {self.n_iter_no_change} rounds without a gain"

    @property
    def _nan_means_none(self) -> bool:  # type: ignore[override]
        return self._starts_from_learner  # `typical_` is NaN without a known cell

    def _score_operations(self) -> list[Operation]:
        if self._starts_from_learner:
            raise cannot_export(self, "init is a learner of its own")
        return super()._score_operations()

    def _explain_from_typical(
        self, answer: Callable[[Block], np.ndarray], X: Data, unit: str
    ) -> Explanation:
        """What columns add, from a typical row on: `init` has no parts."""

        def parts(block: Block) -> np.ndarray:
            return replace_columns(block, self.typical_, answer)

        return self._explain(X, parts, unit)


def _leaves(tree: Tree, X: np.ndarray) -> np.ndarray:
    return Router([tree], X.shape[1]).leaves(X)[:, 0]


def _leaf_values(
    tree: Tree,
    training: StagedRows,
    leaves: np.ndarray,
    drawn: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
) -> np.ndarray:
    """The loss's best constants of the leaves, −Σg / Σh where it has none; at inner nodes their
    mean, for explanations."""
    loss = training.loss
    n = tree.n_nodes
    ends = leaves[drawn]
    values = np.zeros(n)
    if type(loss).leaf_value is Loss.leaf_value:
        G = np.bincount(ends, g[drawn], n)
        H = np.bincount(ends, h[drawn], n)
        weight = np.maximum(tree.weight, np.finfo(float).tiny)
        steps = np.abs(H / weight) >= _LEAST_HESSIAN
        values[steps] = -G[steps] / H[steps]
    else:
        order = drawn[np.argsort(ends, kind="stable")]
        starts = np.searchsorted(np.sort(ends), np.arange(n + 1))
        for leaf in np.flatnonzero(tree.n_children == 0).tolist():
            rows = order[starts[leaf] : starts[leaf + 1]]
            if len(rows):
                values[leaf] = loss.leaf_value(rows, training.scores)
    # from the last node to the root: children come after their parents
    for node in np.flatnonzero(tree.n_children)[::-1].tolist():
        below = tree.children(node)
        values[node] = np.average(values[below], weights=tree.weight[below])
    return values


def _round_facts(training: StagedRows) -> dict[str, Any]:
    """What a monitor may ask for, by scikit-learn's names."""
    return {
        "y": training.block.y,
        "raw_predictions": training.scores.T,
        "sample_weight": training.block.w,
    }

"""fit_tree: a tree grown and pruned on rows of any source, by the settings of a learner."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from lyceum._core.data import Block, Rows, Schema
from lyceum._core.probability import class_weight_factors
from lyceum._core.statistics import class_weights, drawn_seed, folds_of
from lyceum._core.trees import (
    BinnedRows,
    Bins,
    Columns,
    Growth,
    Router,
    SplitCandidates,
    Tree,
    class_losses,
    grow_by_levels_with_record,
    grow_with_record,
    growth_rules,
    resolve_max_features,
)
from lyceum._core.types import Estimator
from lyceum.errors import SettingError, SourceError
from lyceum.trees.pruning.bottom_up import (
    NodeCosts,
    collapse,
    prune_by_costs,
    prune_by_loss,
    prune_by_pessimistic_error,
    smoothed_weights,
)
from lyceum.trees.pruning.confidence import prune_by_confidence
from lyceum.trees.pruning.cost_complexity import choose_alpha, prune_by_complexity
from lyceum.trees.reading.record import growth_record

_WITHOUT_ROWS = (
    "max_bins=255, which grows trees from histograms, if it prunes without rows"
)


def fit_tree(learner: Any, rows: Rows, hold_out: bool = True) -> None:
    """Set `tree_` and the other fitted attributes of a tree learner.

    Unless `hold_out`, no rows are set aside for pruning by reduced error, which is then left to the
    caller.
    """
    seed = drawn_seed(learner.random_state)
    if is_classifier(learner):
        learner.loss_matrix_, learner.actions_ = class_losses(
            learner.loss_matrix, learner.classes_
        )
        if (
            learner.default_class is not None
            and learner.default_class not in learner.actions_.tolist()
        ):
            raise SettingError(
                f"default_class={learner.default_class!r} is not among {learner.actions_.tolist()}"
            )
    learner.max_features_ = resolve_max_features(learner.max_features, len(rows.schema))
    if learner.ccp_alpha == "cv" and learner.pruning not in (None, "cost_complexity"):
        raise SettingError(
            f"ccp_alpha='cv' prunes the tree as it was grown, pruning={learner.pruning!r} another"
            " way: set pruning=None, or ccp_alpha to a number"
        )
    if hasattr(learner, "alpha_choice_"):
        del learner.alpha_choice_
    # rows that are not in memory are read once or twice per level; all others are grown at once
    if learner.max_bins is not None and not rows.in_memory:
        grown, tree, candidates = _by_levels(learner, rows, seed)
    else:
        grown, tree, candidates = InMemoryGrowth.on(learner, rows, seed).prune(hold_out)
    learner.tree_ = tree
    if learner.record:
        learner.record_ = growth_record(candidates, grown, tree, rows.schema)
    elif hasattr(learner, "record_"):
        del learner.record_


# -- class factors ---------------------------------------------------------------------


def _factors(
    learner: Estimator, weight: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The factors of the classes by `class_weight`, and those by the loss, which hold in growth
    alone."""
    factors = class_weight_factors(
        learner.class_weight, learner.classes_.tolist(), weight
    )
    if learner.altered_priors == "auto":
        by_loss = learner.pruning != "minimum_loss"
    else:
        by_loss = learner.altered_priors
    if (
        learner.loss_matrix_ is None
        or learner.criterion == "misclassification"
        or not by_loss
    ):
        return factors, None
    prior = learner.loss_matrix_.sum(axis=1)
    if not np.all(prior > 0):
        raise SettingError(
            "every class must have some loss: a row of the loss matrix sums to 0 or less"
        )
    # Altered priors (Breiman et al. 1984): class k counts Σ_a L(k, a) times, scaled so that the
    # total weight stays, which the minimum weights of nodes are compared with.
    class_totals = weight if factors is None else weight * factors
    return factors, prior * (class_totals.sum() / (prior @ class_totals))


def _without_prior(tree: Tree, prior: np.ndarray | None) -> Tree:
    """A tree grown with altered priors, with the class weights of its rows."""
    if prior is None:
        return tree
    return replace(tree, node_values=tree.node_values / prior)


# -- growth in memory ------------------------------------------------------------------


@dataclass(frozen=True)
class InMemoryGrowth:
    """A tree to be grown on rows in memory, and pruned."""

    learner: Any
    columns: Columns
    bins: Bins | None
    sample: Block
    weight: np.ndarray | None  # with the factors of the classes
    prior: np.ndarray | None  # factors of the classes in growth alone
    growth: Growth
    n_classes: int | None
    given: Rows  # those of zero weight too
    used: np.ndarray | None  # which of them have weight; None: all

    @property
    def y(self) -> np.ndarray:
        assert self.sample.y is not None
        return self.sample.y

    @classmethod
    def on(cls, learner: Estimator, rows: Rows, seed: int) -> InMemoryGrowth:
        sample = rows.in_one_block(type(learner).__name__, _WITHOUT_ROWS)
        given = rows
        used = None
        if sample.w is not None and not sample.w.all():
            used = sample.w > 0
            rows = rows.then(PositiveWeight())
            sample = sample.take(used)
        n = len(sample.X)
        if learner.max_bins is None:
            bins = None
            columns = Columns.of_cells(sample.X, rows.schema)
        else:
            bins = Bins.of(rows, learner.max_bins)
            columns = BinnedRows.of(rows, bins, ranges=True).ranked_columns
        n_classes = None
        prior = None
        weight = sample.w
        if is_classifier(learner):
            assert sample.y is not None
            n_classes = len(learner.classes_)
            class_totals = np.bincount(sample.y, sample.w, minlength=n_classes)
            factors, prior = _factors(learner, class_totals.astype(np.float64))
            weight = _times(weight, factors, sample.y)
        total_weight = float(n if weight is None else weight.sum())
        return cls(
            learner=learner,
            columns=columns,
            bins=bins,
            sample=sample,
            weight=weight,
            prior=prior,
            growth=growth_rules(learner, rows.schema, n, total_weight, seed),
            n_classes=n_classes,
            given=given,
            used=used,
        )

    @cached_property
    def grown_weight(self) -> np.ndarray | None:
        return _times(self.weight, self.prior, self.y)

    def grow(
        self, rows: np.ndarray | None = None, record: bool = False
    ) -> tuple[Tree, SplitCandidates]:
        tree, candidates = self._grow(rows, record)
        return _without_prior(tree, self.prior), candidates

    def _grow(
        self, rows: np.ndarray | None, record: bool
    ) -> tuple[Tree, SplitCandidates]:
        tree, candidates = grow_with_record(
            self.columns,
            self.y,
            self.grown_weight,
            replace(self.growth, record=record),
            self.n_classes,
            None if rows is None else rows.astype(np.int32),
        )
        if self.bins is not None:
            tree = self.bins.with_categories(tree)
        return tree, candidates

    def visits(self, tree: Tree, rows: np.ndarray) -> sparse.csr_array:
        X = self.sample.X
        return Router([tree], X.shape[1]).visits(X[rows])

    def prune(self, hold_out: bool = True) -> tuple[Tree, Tree, SplitCandidates]:
        """The tree as it was grown, and pruned; for pruning by reduced error rows are set aside."""
        learner = self.learner
        loss = getattr(learner, "loss_matrix_", None)
        if learner.pruning == "reduced_error" and hold_out:
            train, held = self._held_out_rows()
            tree, candidates = self.grow(train, record=learner.record)
            weight = None if self.weight is None else self.weight[held]
            visited = self.visits(tree, held)
            costs = NodeCosts.of(tree, visited, self.y[held], weight, loss)
            pruned = _by_complexity(prune_by_costs(tree, costs), learner)
            return tree, pruned, candidates
        if _chooses_alpha(learner):
            tree, candidates = self.grow(record=learner.record)
            pruned = self._by_cross_validation(loss) if tree.n_nodes > 1 else tree
            return tree, pruned, candidates
        # C4.5 prunes by the class weights of growth, with altered priors if there are any
        tree, candidates = self._grow(None, learner.record)
        rows = None
        if self.bins is None:
            rows = (self.sample.X, self.y, self.grown_weight)
        return tree, _prune_alone(tree, learner, self.prior, rows), candidates

    def _held_out_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the rows to grow on and of those to prune by, drawn."""
        order = np.random.default_rng(self.growth.seed).permutation(len(self.sample.X))
        held = math.ceil(self.learner.validation_fraction * len(order))
        if held >= len(order):
            raise SettingError(
                f"reduced error pruning sets {held} of {len(order)} rows aside and leaves none to"
                " grow on: lower validation_fraction"
            )
        return np.sort(order[held:]), np.sort(order[:held])

    def _folds(self) -> Any:
        """The fold of every row, drawn; or the rows of every split that was given."""
        cv = self.learner.cv
        n = len(self.sample.X)
        seed = self.growth.seed
        if not isinstance(cv, Integral):
            splits: Any = folds_of(cv, self.given, seed, is_classifier(self.learner))
            used = slice(None) if self.used is None else self.used
            sides = zip(splits.train[:, used], splits.test[:, used])
            return [
                (np.flatnonzero(train), np.flatnonzero(test)) for train, test in sides
            ]
        order = np.random.default_rng(seed).permutation(n)
        folds = np.empty(n, dtype=np.int64)
        folds[order] = np.arange(n) % min(int(cv), n)
        return folds

    def _by_cross_validation(self, loss: np.ndarray | None) -> Tree:
        measure: Any = getattr(self.learner, "ccp_measure", "impurity")
        choice = choose_alpha(
            lambda rows: self.grow(rows)[0],
            self.visits,
            self.y,
            self._folds(),
            self.weight,
            measure=measure,
            loss=loss,
        )
        self.learner.alpha_choice_ = choice
        return choice.tree


def _prune_alone(
    tree: Tree, learner: Estimator, prior: np.ndarray | None, rows: Any = None
) -> Tree:
    """A grown tree, collapsed and pruned by its own counts: the same wherever its rows are.

    Pruning by confidence raises subtrees if `rows` are given, which are those of a tree grown on
    all values (`max_bins=None`). A tree grown on bins is pruned without rows, in memory too, so
    that it is the same tree from files and Dask.
    """
    if getattr(learner, "_release8", False):
        tree = collapse(tree)  # as C4.5 does whether it prunes or not
    if learner.pruning == "confidence":
        impurity = learner.criterion
        if impurity in ("gain_ratio", "log_loss"):
            impurity = "entropy"
        tree = prune_by_confidence(
            tree, learner.confidence, learner.bound, rows=rows, impurity=impurity
        )
    # C4.5's bound is of the weights that the tree was grown on; other prunings are of the rows' own
    tree = _without_prior(tree, prior)
    loss = getattr(learner, "loss_matrix_", None)
    if learner.pruning == "pessimistic":
        tree = prune_by_pessimistic_error(tree, learner.leaf_penalty, loss=loss)
    elif learner.pruning == "minimum_loss":
        tree = prune_by_loss(tree, loss, smoothing="m", m=learner.smoothing)
        tree = replace(
            tree, node_values=smoothed_weights(tree.node_values, learner.smoothing)
        )
    return _by_complexity(tree, learner)


def _by_complexity(tree: Tree, learner: Estimator) -> Tree:
    if tree.n_nodes == 1 or not learner.ccp_alpha or _chooses_alpha(learner):
        return tree
    measure: Any = getattr(learner, "ccp_measure", "impurity")
    loss = getattr(learner, "loss_matrix_", None) if measure == "error" else None
    return prune_by_complexity(tree, learner.ccp_alpha, measure, loss)


def _chooses_alpha(learner: Estimator) -> bool:
    """Whether α is chosen by cross-validation: `ccp_alpha="cv"`, or cost-complexity pruning without
    an α."""
    return learner.ccp_alpha == "cv" or (
        learner.pruning == "cost_complexity" and not learner.ccp_alpha
    )


def prunes_with_rows(learner: Estimator) -> bool:
    """Whether pruning needs the rows, whatever the tree is grown from."""
    return learner.pruning == "reduced_error" or _chooses_alpha(learner)


def _times(
    weight: np.ndarray | None, factors: np.ndarray | None, y: np.ndarray | None
) -> np.ndarray | None:
    if factors is None:
        return weight
    if weight is None:
        return factors[y]
    return weight * factors[y]


# -- growth from histograms ------------------------------------------------------------


def _by_levels(
    learner: Estimator, rows: Rows, seed: int
) -> tuple[Tree, Tree, SplitCandidates]:
    if prunes_with_rows(learner):
        if _chooses_alpha(learner):
            setting = "α by cross-validation"
        else:
            setting = "pruning='reduced_error'"
        raise SourceError(
            f"{setting} needs the rows in memory: give scan(...) more memory, or prune by another"
            " rule"
        )
    n_classes = len(learner.classes_) if is_classifier(learner) else None
    counted = rows.reduce(partial(_RowTotals.of, n_classes=n_classes))
    bins = Bins.of(rows, learner.max_bins)  # of the rows as they are, as in memory
    weight = counted.weight
    prior = None
    if n_classes is not None:
        factors, prior = _factors(learner, counted.classes)
        if factors is not None:
            weight = float(factors @ counted.classes)
        for class_factors in (factors, prior):
            if class_factors is not None:
                rows = rows.then(_ClassFactors(class_factors))
    growth = growth_rules(learner, rows.schema, counted.n_rows, weight, seed)
    grown, candidates = grow_by_levels_with_record(rows, bins, growth, n_classes)
    return grown, _prune_alone(grown, learner, prior), candidates


@dataclass(frozen=True, slots=True)
class PositiveWeight:
    """A step that drops zero-weight rows: thresholds must not depend on them."""

    drops_rows: bool = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Any) -> Any:
        if block.w is None:
            return block
        return block.take(block.w > 0)


@dataclass(frozen=True, slots=True)
class _RowTotals:
    """The number of rows, their weight, and the weights of the classes."""

    n_rows: int
    weight: float
    classes: np.ndarray

    @classmethod
    def of(cls, block: Any, n_classes: int | None) -> _RowTotals:
        n_rows = len(block) if block.w is None else int(np.count_nonzero(block.w))
        if n_classes is None:
            return cls(n_rows, block.weight, np.zeros(0))
        return cls(n_rows, block.weight, class_weights(block, n_classes))

    def merge(self, other: _RowTotals) -> _RowTotals:
        return _RowTotals(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.classes + other.classes,
        )


@dataclass(frozen=True, slots=True)
class _ClassFactors:
    """A step that multiplies weights by the factors of the classes."""

    factors: np.ndarray

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Any) -> Any:
        factors = self.factors[block.y]
        return replace(block, w=factors if block.w is None else block.w * factors)

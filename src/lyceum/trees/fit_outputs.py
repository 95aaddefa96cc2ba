"""fit_outputs: one tree for several targets, grown in memory by the mean fall of their
impurities."""

from __future__ import annotations

from typing import Any

from lyceum._core.base import Outputs
from lyceum._core.data import Rows
from lyceum._core.statistics import drawn_seed
from lyceum._core.trees import (
    BinnedRows,
    Bins,
    Columns,
    check_outputs,
    grow,
    growth_rules,
    resolve_max_features,
    with_class_weights,
)
from lyceum.trees.pruning.cost_complexity import prune_by_complexity


def fit_outputs(learner: Any, rows: Rows, outputs: Outputs) -> None:
    """Set `tree_` and `max_features_` of a tree learner of several outputs."""
    check_outputs(learner)
    seed = drawn_seed(learner.random_state)
    learner.max_features_ = resolve_max_features(learner.max_features, len(rows.schema))
    if learner.max_bins is None:
        block = rows.in_one_block(type(learner).__name__, "set max_bins")
        bins = None
        columns = Columns.of_cells(block.X, rows.schema)
        w = block.w
    else:
        bins = Bins.of(rows, learner.max_bins)
        binned = BinnedRows.of(rows, bins, ranges=True)
        columns = binned.ranked_columns
        w = binned.w
    w = with_class_weights(learner, outputs, w)
    n = len(outputs.values)
    total = float(n if w is None else w.sum())
    growth = growth_rules(learner, rows.schema, n, total, seed)
    tree = grow(columns, outputs.values, w, growth, outputs.n_classes)
    if bins is not None:
        tree = bins.with_categories(tree)
    if learner.ccp_alpha:
        tree = prune_by_complexity(tree, learner.ccp_alpha)
    learner.tree_ = tree

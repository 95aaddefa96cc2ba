"""fit_outputs: one tree for several targets, grown in memory by the mean fall of their
impurities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight

from lyceum._core.base import Outputs
from lyceum._core.data import Rows
from lyceum._core.trees import (
    BinnedRows,
    Bins,
    Columns,
    grow,
    growth_rules,
    resolve_max_features,
)
from lyceum.errors import SettingError
from lyceum.trees.pruning.cost_complexity import prune_by_complexity

_ONE_OUTPUT = ("loss_matrix", "default_class", "max_p_value", "pruning", "record")
_CRITERIA = ("gini", "entropy", "log_loss", "squared_error", "friedman_mse", "poisson")


def fit_outputs(learner: Any, rows: Rows, outputs: Outputs) -> None:
    """Set `tree_` and `max_features_` of a tree learner of several outputs."""
    check_outputs(learner)
    seed = int(check_random_state(learner.random_state).randint(np.iinfo(np.int32).max))
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


def check_outputs(learner: Any) -> None:
    """Raise SettingError where a setting is for one target."""
    if learner.criterion not in _CRITERIA:
        raise SettingError(
            f"criterion={learner.criterion!r} is for one target: choose from"
            f" {', '.join(map(repr, _CRITERIA))}, or fit one tree per column of y"
        )
    used = [name for name in _ONE_OUTPUT if getattr(learner, name, None)]
    if used or getattr(learner, "ccp_alpha", 0.0) == "cv":
        raise SettingError(
            f"{used[0] if used else 'ccp_alpha'} is for one target: leave it out, or fit one tree"
            " per column of y"
        )


def with_class_weights(
    learner: Any, outputs: Outputs, w: np.ndarray | None
) -> np.ndarray | None:
    """The weights of the rows times the factors of their classes, of all outputs."""
    class_weight = getattr(learner, "class_weight", None)
    if class_weight is None:
        return w
    if class_weight == "balanced_subsample":
        class_weight = "balanced"
    if isinstance(class_weight, list) and len(class_weight) != outputs.values.shape[1]:
        raise SettingError(
            "number of elements in class_weight should match number of outputs."
        )
    assert outputs.classes is not None
    columns = zip(outputs.classes, outputs.values.T.astype(np.intp))
    y = np.column_stack([classes[codes] for classes, codes in columns])
    factors = compute_sample_weight(class_weight, y)
    return factors if w is None else w * factors

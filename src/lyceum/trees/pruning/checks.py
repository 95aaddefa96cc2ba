"""What pruning takes: trees, of classes where errors are counted, losses that fit them, and
amounts."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from lyceum._core.trees import Tree
from lyceum._core.types import Loss
from lyceum.errors import DataError, SettingError


def check_tree(tree: Any) -> None:
    """Refuse anything but a `Tree`, such as the learner that has one."""
    if not isinstance(tree, Tree):
        raise SettingError(
            f"pruning takes a Tree, not {type(tree).__name__}: give the tree_ of a fitted learner"
            " of trees, or call its cost_complexity_path() or prune(...)"
        )


def check_classes(tree: Any, method: str) -> None:
    """Refuse a regression tree: its leaves have no classes to be wrong about."""
    check_tree(tree)
    if tree.node_values.shape[1] == 1 and tree.n_nodes > 1:
        raise SettingError(
            f"{method} counts wrong classes, and this is a regression tree: use reduced error or "
            "cost-complexity pruning"
        )


def check_amount(name: str, value: object) -> None:
    """Refuse what is no number of at least 0."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not float(value) >= 0.0
    ):
        raise SettingError(f"{name} must be a number of at least 0, not {value!r}")


def check_codes(tree: Tree, target: np.ndarray) -> None:
    """Refuse class codes that a tree does not have, and numbers for a tree of classes."""
    K = tree.node_values.shape[1]
    if target.dtype.kind not in "iuf":
        raise DataError(
            f"the target has the type {target.dtype}: give class codes, the places of"
            " the labels in classes_, or the numbers of a regression tree"
        )
    if target.dtype.kind == "f" and K > 1:
        raise DataError(
            f"the tree has {K} classes, and the target holds floats: give codes, 0 to {K - 1}"
        )
    if (
        target.dtype.kind in "iu"
        and len(target)
        and not 0 <= target.min() <= target.max() < K
    ):
        raise DataError(
            f"the target holds whole numbers from {target.min()} to {target.max()}, which count as"
            f" class codes, and those of this tree end at {K - 1}: give the numbers of a regression"
            " tree as floats"
        )


def loss_of(tree: Tree, loss: Loss) -> np.ndarray | None:
    """The values of a loss matrix (rows = true class, columns = action) that fits the classes of a
    tree."""
    if loss is None:
        return None
    try:
        values = np.asarray(getattr(loss, "values", loss), dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(f"a loss matrix holds numbers, not {loss!r}") from None
    if values.ndim != 2 or values.shape[0] != tree.node_values.shape[1]:
        raise SettingError(
            f"a loss matrix of shape {values.shape} does not fit a tree of"
            f" {tree.node_values.shape[1]} classes: rows = true class, columns = action"
        )
    if not np.isfinite(values).all():
        raise SettingError(
            "a loss matrix holds finite numbers, and this one has NaN or infinity"
        )
    return values

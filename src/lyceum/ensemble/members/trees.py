"""Members that are Lyceum's trees answer together, by one router for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from lyceum._core.data import ArraySource, CheckCells, Recode
from lyceum._core.trees import Router, Tree, node_decisions
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)


def are_trees(members: Sequence[Any], one_leaf: bool) -> bool:
    """Whether one router can answer for all members.

    `one_leaf` says that a row must end in one leaf: the vote of a tree on a divided row is not the
    mean of the votes of its parts.
    """
    return all(
        isinstance(member, _TREES)
        and getattr(member, "loss_matrix_", getattr(member, "loss_matrix", None)) is None
        and not (one_leaf and member.missing != "learned")
        for member in members
    )


def cells_of_trees(source: ArraySource) -> np.ndarray:
    """Cells as trees take them, checked as trees check them."""
    recode = Recode()
    check = CheckCells("DecisionTreeClassifier", allow_missing=True)
    cells = [check(recode(block)).X for part in source.parts() for block in part.blocks()]
    if len(cells) == 1:
        return cells[0]
    return np.concatenate(cells)


def votes(tree: Tree) -> np.ndarray:
    """1 for the class of a node; of equals the one that the parent prefers."""
    one = np.zeros_like(tree.value)
    one[np.arange(len(one)), node_decisions(tree)] = 1.0
    return one


_forests: WeakKeyDictionary[Any, tuple[list[Tree], Router]] = WeakKeyDictionary()
_lock = threading.Lock()


def forest(
    model: Any, columns: Sequence[Any], value: Callable[[Tree], np.ndarray], scale: Any = 1.0
) -> Router:
    """The router of all members, made when it is first needed; never part of the model's state.

    `columns` are those of every member, None for all, `value` what the nodes of a tree add.
    """
    trees = [member.tree_ for member in model.estimators_]
    with _lock:
        known = _forests.get(model)
        if (
            known is None
            or len(known[0]) != len(trees)
            or any(a is not b for a, b in zip(known[0], trees))
        ):
            placed = [_on_all_columns(tree, some) for tree, some in zip(trees, columns)]
            values = [value(tree) for tree in trees]
            known = trees, Router(placed, model.n_features_in_, values=values, scale=scale)
            _forests[model] = known
        return known[1]


def _on_all_columns(tree: Tree, columns: np.ndarray | None) -> Tree:
    """A tree on some columns as one on all."""
    if columns is None:
        return tree
    feature = np.where(tree.feature >= 0, columns[np.maximum(tree.feature, 0)], -1)
    return replace(tree, feature=feature.astype(np.int32))

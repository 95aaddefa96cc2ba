"""Many trees packed for files and pickles: each kind of array concatenated over all trees.

Hundreds of small trees are thousands of small arrays, each of which would cost more as a file than
it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from lyceum._core.trees.tree import Tree
from lyceum._core.trees.tree_model import TreeModel
from lyceum.errors import ModelFileError

_REALS = ("threshold", "cuts", "value", "weight", "impurity", "gain")
_TYPES: dict[str, Any] = {
    of.name: np.float64 if of.name in _REALS else np.int32 for of in fields(Tree)
} | {
    "kind": np.uint8,
    "n_rows": np.int64,
}
_LENGTH = dict.fromkeys(_TYPES, 0) | {"cuts": 1, "branches": 2}  # the column of `sizes`


def pack_trees(trees: Sequence[Tree]) -> dict[str, np.ndarray]:
    """The arrays of all trees one after the other, narrowed, and how long those of each are."""
    arrays = {
        name: _narrow(np.concatenate([getattr(tree, name) for tree in trees]))
        for name in _TYPES
    }
    sizes = [[tree.n_nodes, len(tree.cuts), len(tree.branches)] for tree in trees]
    return {**arrays, "sizes": np.array(sizes, dtype=np.int64)}


def _narrow(array: np.ndarray) -> np.ndarray:
    """Whole numbers, counts of rows among them, in the fewest bytes that hold them exactly."""
    if not array.size:
        return array
    low = array.min()
    high = array.max()
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            small = array.astype(kind)
            same = np.array_equal(
                small.astype(array.dtype).view(np.uint8), array.view(np.uint8)
            )
            if same and small.itemsize < array.itemsize:
                return small
            return array
    return array


def unpack_trees(arrays: dict[str, np.ndarray]) -> list[Tree]:
    """The trees of `pack_trees`; raises ModelFileError if the lengths of the arrays do not fit."""
    sizes = np.asarray(arrays["sizes"])
    if (
        sizes.ndim != 2
        or sizes.shape[1] != 3
        or sizes.dtype.kind != "i"
        or (sizes < [1, 0, 0]).any()
    ):
        raise ModelFileError("the sizes of packed trees are not those of trees")
    ends = np.cumsum(sizes, axis=0)
    full = {}
    for name, c in _LENGTH.items():
        array = arrays[name]
        if array.ndim != (2 if name == "value" else 1) or len(array) != (
            ends[-1, c] if len(ends) else 0
        ):
            raise ModelFileError(
                f"the array {name!r} of packed trees does not have the length that they need"
            )
        full[name] = array.astype(_TYPES[name])
    return [
        Tree(**{name: full[name][start[c] : end[c]] for name, c in _LENGTH.items()})
        for start, end in zip(ends - sizes, ends)
    ]


class WithTrees(TreeModel):
    """A learner of many trees, `trees_`, which its state holds as one."""

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if state.get("trees_"):
            state["trees_"] = pack_trees(state["trees_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("trees_"), dict):
            state = state | {"trees_": unpack_trees(state["trees_"])}
        super().__setstate__(state)  # type: ignore[misc]

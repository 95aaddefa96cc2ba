"""Many trees, packed for files and pickles: what they share once, all arrays in one of each kind.

Hundreds of small trees are thousands of small arrays, each of which would cost more as a file than it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from lyceum.trees._tree import Tree

__all__ = ["WithTrees", "joined", "pack", "parted", "unpack"]

_REALS = ("threshold", "cuts", "value", "weight", "impurity", "gain")
_TYPES: dict[str, Any] = {of.name: np.float64 if of.name in _REALS else np.int32 for of in fields(Tree)} | {
    "kind": np.uint8,
    "n_rows": np.int64,
}
_LENGTH = dict.fromkeys(_TYPES, 0) | {"cuts": 1, "branches": 2}  # the column of `sizes`


def joined(trees: Sequence[Tree]) -> dict[str, np.ndarray]:
    """The arrays of all trees one after the other, narrowed, and how long those of each are."""
    arrays = {name: _narrow(np.concatenate([getattr(tree, name) for tree in trees])) for name in _TYPES}
    sizes = [[tree.n_nodes, len(tree.cuts), len(tree.branches)] for tree in trees]
    return {**arrays, "sizes": np.array(sizes, dtype=np.int64)}


def _narrow(array: np.ndarray) -> np.ndarray:
    """Whole numbers, counts of rows among them, in the fewest bytes that hold them to the bit."""
    if not array.size:
        return array
    low, high = array.min(), array.max()
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            small = array.astype(kind)
            same = np.array_equal(small.astype(array.dtype).view(np.uint8), array.view(np.uint8))
            return small if same and small.itemsize < array.itemsize else array
    return array


def parted(arrays: dict[str, np.ndarray]) -> list[Tree]:
    """The trees of `joined`; raises ValueError if the arrays do not have the lengths that they say."""
    sizes = np.asarray(arrays["sizes"])
    if sizes.ndim != 2 or sizes.shape[1] != 3 or sizes.dtype.kind != "i" or (sizes < [1, 0, 0]).any():
        raise ValueError("the sizes of packed trees are not those of trees")
    ends = np.cumsum(sizes, axis=0)
    full = {}
    for name, c in _LENGTH.items():
        array = arrays[name]
        if array.ndim != (2 if name == "value" else 1) or len(array) != (ends[-1, c] if len(ends) else 0):
            raise ValueError(f"the array {name!r} of packed trees does not have the length that they need")
        full[name] = array.astype(_TYPES[name])
    return [
        Tree(**{name: full[name][start[c] : end[c]] for name, c in _LENGTH.items()})
        for start, end in zip(ends - sizes, ends)
    ]


class WithTrees:
    """A learner of many trees, `trees_`, which its state holds as one."""

    _trees_in: ClassVar[type] = tuple

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if state.get("trees_"):
            state["trees_"] = joined(state["trees_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("trees_"), dict):
            state = state | {"trees_": self._trees_in(parted(state["trees_"]))}
        super().__setstate__(state)  # type: ignore[misc]


def pack(members: Sequence[Any]) -> dict[str, Any] | None:
    """The state of members that are trees, None of others."""
    kind = type(members[0])
    if not issubclass(kind, DecisionTreeClassifier | DecisionTreeRegressor) or len(members) < 2:
        return None
    names = vars(members[0]).keys()
    if any(type(member) is not kind or vars(member).keys() != names for member in members):
        return None
    values = {name: [vars(member)[name] for member in members] for name in names if name != "tree_"}
    own = {name: _stacked(all_) for name, all_ in values.items() if not _are_same(all_)}
    first = object.__new__(kind)
    first.__dict__.update({name: all_[0] for name, all_ in values.items() if name not in own})
    return {"first": first, "own": own, "trees": joined([member.tree_ for member in members])}


def _are_same(values: list[Any]) -> bool:
    one = values[0]
    if isinstance(one, np.ndarray):
        return all(
            other is one or (one.dtype == other.dtype and np.array_equal(one, other)) for other in values
        )
    plain = isinstance(one, str | int | float | bool | None)
    return all(one is x or (plain and type(x) is type(one) and x == one) for x in values)


def _stacked(values: list[Any]) -> Any:
    """Arrays of one shape as one, numbers too."""
    if all(isinstance(value, np.ndarray) for value in values) and len({v.shape for v in values}) == 1:
        return np.stack(values)
    return values


def unpack(state: dict[str, Any]) -> list[Any]:
    """The members of `pack`."""
    first, own, members = state["first"], state["own"], []
    for i, tree in enumerate(parted(state["trees"])):
        member = object.__new__(type(first))
        member.__dict__.update(first.__dict__)
        member.__dict__.update({name: values[i] for name, values in own.items()})
        member.tree_ = tree
        members.append(member)
    return members

"""Members that are trees, packed for files and pickles: what they share is kept once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lyceum._core.trees import TreeModel, pack_trees, unpack_trees


def pack(members: Sequence[Any]) -> dict[str, Any] | None:
    """The state of members that are trees, None of others."""
    if len(members) < 2:
        return None
    first = members[0]
    kind = type(first)
    names = vars(first).keys()
    if not isinstance(first, TreeModel) or "tree_" not in names:
        return None
    for member in members:
        if type(member) is not kind or vars(member).keys() != names:
            return None
    # `first`, a learner without a tree, has what all members share; `own` has the rest by name
    shared = object.__new__(kind)
    separate = {}
    for name in names:
        if name == "tree_":
            continue
        values: Any = [vars(member)[name] for member in members]
        if all(_is_same(value, values[0]) for value in values):
            shared.__dict__[name] = values[0]
            continue
        are_arrays = all(isinstance(value, np.ndarray) for value in values)
        if are_arrays and len({value.shape for value in values}) == 1:
            values = np.stack(values)
        separate[name] = values
    trees = pack_trees([member.tree_ for member in members])
    return {"first": shared, "own": separate, "trees": trees}


def _is_same(value: Any, first: Any) -> bool:
    """Whether one can stand for both; of objects other than arrays and plain values only itself."""
    if value is first:
        return True
    if type(value) is not type(first):
        return False
    if isinstance(first, np.ndarray):
        return first.dtype == value.dtype and np.array_equal(first, value)
    return isinstance(first, str | int | float | bool) and value == first


def unpack(state: dict[str, Any]) -> list[Any]:
    """The members of `pack`."""
    first = state["first"]
    separate = state["own"]
    members = []
    for i, tree in enumerate(unpack_trees(state["trees"])):
        member = object.__new__(type(first))
        member.__dict__.update(first.__dict__)
        member.__dict__.update({name: values[i] for name, values in separate.items()})
        member.tree_ = tree
        members.append(member)
    return members

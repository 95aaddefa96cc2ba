"""Members that are trees, packed for files and pickles: what they share is kept once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lyceum._core.trees import TreeModel, pack_trees, unpack_trees


def pack(members: Sequence[Any]) -> dict[str, Any] | None:
    """The state of members that are trees, None of others."""
    first = members[0]
    kind = type(first)
    names = vars(first).keys()
    if len(members) < 2 or not isinstance(first, TreeModel) or "tree_" not in names:
        return None
    if any(
        type(member) is not kind or vars(member).keys() != names for member in members
    ):
        return None
    shared = object.__new__(kind)
    separate = {}
    for name in names:
        if name == "tree_":
            continue
        values = [vars(member)[name] for member in members]
        if _are_same(values):
            shared.__dict__[name] = values[0]
        else:
            separate[name] = _stack(values)
    trees = pack_trees([member.tree_ for member in members])
    return {"first": shared, "own": separate, "trees": trees}


def _are_same(values: list[Any]) -> bool:
    first = values[0]
    if isinstance(first, np.ndarray):
        return all(
            other is first
            or (first.dtype == other.dtype and np.array_equal(first, other))
            for other in values
        )
    plain = isinstance(first, str | int | float | bool | None)
    return all(
        first is x or (plain and type(x) is type(first) and x == first) for x in values
    )


def _stack(values: list[Any]) -> Any:
    """Arrays of one shape as one, numbers too."""
    if not all(isinstance(value, np.ndarray) for value in values):
        return values
    if len({value.shape for value in values}) > 1:
        return values
    return np.stack(values)


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

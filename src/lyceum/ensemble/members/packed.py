"""Members that are trees, packed for files and pickles: what they share is kept once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lyceum._core.trees import pack_trees, unpack_trees
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor


def pack(members: Sequence[Any]) -> dict[str, Any] | None:
    """The state of members that are trees, None of others."""
    kind = type(members[0])
    if not issubclass(kind, DecisionTreeClassifier | DecisionTreeRegressor) or len(members) < 2:
        return None
    names = vars(members[0]).keys()
    if any(type(member) is not kind or vars(member).keys() != names for member in members):
        return None
    values = {name: [vars(member)[name] for member in members] for name in names if name != "tree_"}
    own = {name: _stack(all_) for name, all_ in values.items() if not _are_same(all_)}
    first = object.__new__(kind)
    first.__dict__.update({name: all_[0] for name, all_ in values.items() if name not in own})
    return {"first": first, "own": own, "trees": pack_trees([member.tree_ for member in members])}


def _are_same(values: list[Any]) -> bool:
    one = values[0]
    if isinstance(one, np.ndarray):
        return all(
            other is one or (one.dtype == other.dtype and np.array_equal(one, other))
            for other in values
        )
    plain = isinstance(one, str | int | float | bool | None)
    return all(one is x or (plain and type(x) is type(one) and x == one) for x in values)


def _stack(values: list[Any]) -> Any:
    """Arrays of one shape as one, numbers too."""
    if (
        all(isinstance(value, np.ndarray) for value in values)
        and len({v.shape for v in values}) == 1
    ):
        return np.stack(values)
    return values


def unpack(state: dict[str, Any]) -> list[Any]:
    """The members of `pack`."""
    first = state["first"]
    own = state["own"]
    members = []
    for i, tree in enumerate(unpack_trees(state["trees"])):
        member = object.__new__(type(first))
        member.__dict__.update(first.__dict__)
        member.__dict__.update({name: values[i] for name, values in own.items()})
        member.tree_ = tree
        members.append(member)
    return members

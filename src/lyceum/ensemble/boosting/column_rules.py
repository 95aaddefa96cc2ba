"""What columns may do in the trees of histogram boosting: rise or fall only, stand on one path."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum.errors import SettingError


def column_directions(learner: Any, schema: Schema) -> np.ndarray | None:
    """`monotonic_cst`, checked: 1 (rising), -1 (falling) or 0 of every column, None if all are
    free."""
    given = learner.monotonic_cst
    if given is None:
        return None
    if len(getattr(learner, "classes_", ())) > 2:
        raise SettingError(
            "monotonic constraints are not supported for multiclass classification."
        )
    if isinstance(given, Mapping):
        directions = _named_directions(learner, given)
    else:
        directions = np.asarray(given)
    odd = np.setdiff1d(directions, [-1, 0, 1])
    if odd.size:
        raise SettingError(
            "monotonic_cst must be an array-like of -1, 0 or 1. Observed values:"
            f" {odd.tolist()}."
        )
    if directions.shape != (len(schema),):
        raise SettingError(
            f"monotonic_cst has shape {directions.shape} but the input data X has"
            f" {len(schema)} features."
        )
    if not directions.any():
        return None
    categories = [column.is_categorical for column in schema]
    if directions[categories].any():
        raise SettingError("Categorical features cannot have monotonic constraints.")
    return directions.astype(np.int8)


def _named_directions(learner: Any, given: Mapping) -> np.ndarray:
    """The directions of columns that are given by name."""
    names = getattr(learner, "feature_names_in_", None)
    if names is None:
        raise SettingError(
            f"{type(learner).__name__} was not fitted on data with feature names. Pass"
            " monotonic_cst as an integer array instead."
        )
    odd = sorted(set(given) - set(names))
    if odd:
        shown = odd if len(odd) <= 5 else [*odd[:5], "..."]
        raise SettingError(
            f"monotonic_cst contains {len(odd)} unexpected feature names: {shown}."
        )
    for name, direction in given.items():
        if direction not in (-1, 0, 1):
            raise SettingError(
                f"monotonic_cst[{name!r}] must be either -1, 0 or 1. Got {direction!r}."
            )
    return np.array([given.get(name, 0) for name in names])


def interaction_sets(given: Any, d: int) -> list[set[int]] | None:
    """`interaction_cst`, checked: the sets of columns that may stand on one path of a tree; the
    columns that are in no set are one more."""
    if given is None:
        return None
    if isinstance(given, str):
        size = 1 if given == "no_interactions" else 2
        given = combinations(range(d), size)
    try:
        sets = [set(group) for group in given]
    except TypeError:
        raise SettingError(
            f"Interaction constraints must be a sequence of tuples or lists, got: {given!r}."
        ) from None
    for group in sets:
        if not all(isinstance(j, int | np.integer) and 0 <= j < d for j in group):
            raise SettingError(
                "Interaction constraints must consist of integer indices in [0, n_features - 1] ="
                f" [0, {d - 1}], specifying the position of features, got invalid indices:"
                f" {group!r}"
            )
    rest = set(range(d)).difference(*sets)
    if rest:
        return [*sets, rest]
    return sets


def set_flags(sets: list[set[int]], d: int) -> np.ndarray:
    """Whether column j is in set s, (n_sets, d)."""
    flags = np.zeros((len(sets), d), dtype=np.uint8)
    for row, group in zip(flags, sets):
        row[sorted(group)] = 1
    return flags

"""The members of a committee by name, and whether they fit together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from lyceum._core.base import takes_weights
from lyceum.errors import DataError, SettingError


@dataclass(frozen=True, slots=True)
class Member:
    """One learner of a committee: its name, and the columns that it sees (None for all)."""

    name: str
    estimator: Any
    columns: Any = None


def named_members(members: Sequence[Any], what: str = "members") -> list[Member]:
    """The members by name; the class, and a number where one comes twice, names those without."""
    if not len(members):
        raise SettingError(f"there are no {what}: give at least one learner")
    for one in members:
        if isinstance(one, tuple | list) and len(one) not in (2, 3):
            raise SettingError(
                f"{one!r} in {what} is neither (name, learner) nor (name, learner, columns)"
            )
    found = [Member(*one) if isinstance(one, tuple | list) else Member("", one) for one in members]
    kinds = [type(one.estimator).__name__.lower() for one in found]
    named = []
    for i, (one, kind) in enumerate(zip(found, kinds)):
        if kinds.count(kind) > 1:
            again = f"-{kinds[: i + 1].count(kind)}"
        else:
            again = ""
        named.append(Member(one.name or kind + again, one.estimator, one.columns))
    names = [one.name for one in named]
    for one in named:
        if names.count(one.name) > 1:
            raise SettingError(f"two {what} are named {one.name!r}: give each its own name")
        if not hasattr(one.estimator, "fit") or not hasattr(one.estimator, "predict"):
            raise SettingError(f"{one.name!r} in {what} is no learner: it has no fit and predict")
    return named


def check_tasks(members: Sequence[Member], classes: bool, who: str) -> None:
    if classes:
        fits = is_classifier
        word = "classifier"
    else:
        fits = is_regressor
        word = "regressor"
    for one in members:
        if not fits(one.estimator):
            raise SettingError(
                f"{who} here is a committee of {word}s, which {one.name!r} "
                f"({type(one.estimator).__name__}) is not"
            )


def check_weighted(estimators: Sequence[Any], who: str) -> None:
    for one in estimators:
        if not takes_weights(one):
            raise DataError(
                f"sample_weight was given to {who}, but its member {type(one).__name__} takes no"
                " weights: leave it out, or fit without sample_weight"
            )


def column_numbers(columns: Iterable[Any], names: Sequence[str], who: str) -> np.ndarray:
    """The numbers of columns, given by name or number, ascending and each once; `who` begins the
    refusal.

    >>> column_numbers(["b", 0, "b"], ["a", "b"], "this names").tolist()
    [0, 1]
    """
    found = set()
    for one in columns:
        if isinstance(one, str):
            known = one in names
        else:
            known = one in range(len(names))
        if not known:
            raise SettingError(
                f"{who} column {one!r}, which does not exist: the columns are"
                f" {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}"
            )
        found.add(names.index(one) if isinstance(one, str) else int(one))
    return np.array(sorted(found), dtype=np.int64)

"""Every learner by name: what it does, what it takes, how it scales, what to search, and what it
covers.

Each family has a file. Nothing of a family is imported before it is needed: `learners()` and
`find(name)` answer from these files alone; `entry.load()`, and what an entry reads from its class,
such as `entry.missing`, import the class.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType
from typing import Any

from lyceum.catalog.entry import TASKS, Entry, Item, Task
from lyceum.catalog.families import (
    anomaly,
    bayes,
    bayesnets,
    cluster,
    decomposition,
    density,
    ensemble,
    kernels,
    linear,
    mixtures,
    neighbors,
    neural,
    prepare,
    reinforcement,
    semi_supervised,
    transfer,
    trees,
)
from lyceum.catalog.saved_types import types
from lyceum.catalog.tools import ITEMS
from lyceum.errors import LyceumError

__all__ = [
    "TASKS",
    "Entry",
    "Item",
    "Task",
    "find",
    "items",
    "learners",
    "syllabus_entries",
    "types",
]

# in the order in which learners are listed
_FAMILIES = (
    bayes,
    density,
    bayesnets,
    linear,
    neural,
    kernels,
    neighbors,
    trees,
    ensemble,
    cluster,
    mixtures,
    decomposition,
    semi_supervised,
    transfer,
    anomaly,
    reinforcement,
    prepare,
)


def _from_file(file: ModuleType, named: Entry | Item) -> Any:
    """An entry or item with its package: that of the file, unless it says another one."""
    room = file.__name__.rpartition(".")[2]
    return replace(named, package=named.package or f"lyceum.{room}")


_LEARNERS: tuple[Entry, ...] = tuple(
    _from_file(file, entry) for file in _FAMILIES for entry in file.ENTRIES
)
_ITEMS: tuple[Item, ...] = (
    *ITEMS,
    *(_from_file(file, item) for file in _FAMILIES for item in file.ITEMS),
)


def learners(task: Task | None = None) -> tuple[Entry, ...]:
    """The cataloged learners, all or those for one task.

    >>> "KMeans" in [entry.name for entry in learners("clustering")]
    True
    """
    if task is not None and task not in TASKS:
        raise LyceumError(
            f"there is no task {task!r}: choose one of {', '.join(TASKS)}"
        )
    return tuple(entry for entry in _LEARNERS if task in (None, entry.task))


def items() -> tuple[Item, ...]:
    """Public names that cover rows of the syllabus without being learners.

    Examples
    --------
    >>> from lyceum import catalog
    >>> [item.name for item in catalog.items() if "14.7" in item.syllabus][:3]
    ['error_interval', 'hoeffding_bound', 'chebyshev_bound']
    """
    return _ITEMS


def find(name: str) -> Entry:
    """The entry of one learner.

    >>> find("Ridge").package
    'lyceum.linear'
    """
    entries = {entry.name: entry for entry in learners()}
    if name in entries:
        return entries[name]
    first, second, third = nearest_names(name, entries)
    raise LyceumError(
        f"there is no learner {name!r}: did you mean {first}, {second} or {third}?"
        " `lyceum learners` lists all"
    )


def nearest_names(name: str, names: Iterable[str]) -> list[str]:
    """The three names that are written most like one that there is not.

    >>> nearest_names("ridge", ["Lasso", "Ridge", "RidgeCV", "SVC"])
    ['Ridge', 'RidgeCV', 'Lasso']
    """
    plain = re.sub(r"[\W_]", "", name).casefold()

    def likeness(known: str) -> float:
        other = known.casefold()
        is_part = plain in other or other in plain
        return difflib.SequenceMatcher(None, plain, other).ratio() + is_part

    return sorted(names, key=lambda known: -likeness(known))[:3]


def syllabus_entries(row: str) -> tuple[Entry | Item, ...]:
    """What covers a row of the syllabus.

    Examples
    --------
    >>> from lyceum import catalog
    >>> [entry.name for entry in catalog.syllabus_entries("14.1")]
    ['confusion_matrix', 'cobweb']
    """
    everything: tuple[Entry | Item, ...] = (*items(), *learners())
    return tuple(named for named in everything if row in named.syllabus)

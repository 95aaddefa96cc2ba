"""Entries of the catalog: facts on learners and other public names, without importing them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["KINDS", "TASKS", "Entry", "Item", "Scale", "Task"]

Task = Literal["classification", "regression", "clustering", "density", "reduction", "preparation"]
Scale = Literal["one pass", "many passes", "in memory"]
TASKS: tuple[Task, ...] = (
    "classification",
    "regression",
    "clustering",
    "density",
    "reduction",
    "preparation",
)
KINDS = ("binary", "categorical", "continuous")


@dataclass(frozen=True, slots=True)
class Item:
    """A public name that covers rows of the syllabus without being a learner.

    Parameters
    ----------
    name : str
        What it is called.
    package : str
        Where it is imported from.
    syllabus : tuple of str
        The numbers of the rows that it covers.

    See Also
    --------
    Entry : A learner.
    items : All of them.

    Examples
    --------
    >>> from lyceum.catalog import items
    >>> item = next(item for item in items() if item.name == "roc")
    >>> item.package, item.syllabus, item.load().__name__
    ('lyceum.evaluate', ('14.3',), 'roc')
    """

    name: str
    package: str
    syllabus: tuple[str, ...]

    def load(self) -> Any:
        """The object itself."""
        return getattr(importlib.import_module(self.package), self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A learner: what it does and takes, what it costs, and what a study searches.

    Parameters
    ----------
    name : str
        The name of the class.
    package : str
        Where it is imported from.
    task : str
        One of `TASKS`.
    about : str
        What it does, in one sentence.
    scales : {"one pass", "many passes", "in memory"}
        How it reads rows; the first two also run on files larger than memory and on Dask.
    cost : str
        What a fit and a prediction cost: n rows, d columns, K classes.
    syllabus : tuple of str
        The numbers of the rows of the syllabus that it covers.
    kinds : tuple of str
        The kinds of columns that it takes.
    missing, sparse : bool
        Whether it takes missing cells and sparse arrays as they are.
    space : mapping
        For every parameter worth searching a list of choices, or (low, high, "log" or "linear").
    needs_scaling : bool
        Whether a penalty or a distance makes the units of columns matter, so that numbers are standardized
        first.
    in_study : {"searched", "never"}
        Whether a study tries it by default, with its settings searched; never where another learner does the
        same or it gives no posteriors.
    study_rows : int or None
        Rows above which a study leaves it out unless it is named: by default 20,000 for learners in memory,
        and no limit for others.
    study_settings : mapping
        Settings that a study changes from the learner's own defaults, e.g. posteriors that are off.

    See Also
    --------
    learners : All entries, or those for one task.
    find : The entry of one learner.
    Item : A public name that is not a learner.

    Examples
    --------
    >>> from lyceum.catalog import find
    >>> entry = find("Ridge")
    >>> entry.task, entry.scales, entry.missing
    ('regression', 'one pass', False)
    >>> entry.load()
    <class 'lyceum.linear._ridge.Ridge'>
    """

    name: str
    package: str
    task: Task
    about: str
    scales: Scale
    cost: str
    syllabus: tuple[str, ...]
    kinds: tuple[str, ...] = KINDS
    missing: bool = False
    sparse: bool = False
    space: Mapping[str, Any] = field(default_factory=dict, hash=False)
    needs_scaling: bool = False
    in_study: Literal["searched", "never"] = "searched"
    study_rows: int | None = None
    study_settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def load(self) -> type:
        """The class itself."""
        return getattr(importlib.import_module(self.package), self.name)

"""What a method of the theatre is: the table that it takes, its settings, and its scenes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lyceum._core.report import Shown
from lyceum.errors import SettingError
from lyceum.report import Steps
from lyceum.theatre.scene import Scene


@dataclass(frozen=True, slots=True)
class StageTable:
    """A small table: numbers as floats, categories as texts.

    Attributes
    ----------
    title : str
        Where it is from.
    names : tuple of str
        The names of the columns.
    columns : tuple of arrays
        Their cells.
    target_name : str
        The name of the target, "" without one.
    target : array
        Class labels as texts, or numbers; empty without one.
    """

    title: str
    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]
    target_name: str = ""
    target: np.ndarray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, title: str, **columns: Sequence[Any]) -> StageTable:
        """From columns by name, the target last.

        >>> StageTable.of("points", a=[1, 2], y=["no", "yes"]).target_name
        'y'
        """
        *names, target = columns
        cells = tuple(as_cells(columns[name]) for name in names)
        return cls(title, tuple(names), cells, target, as_cells(columns[target]))

    @property
    def X(self) -> np.ndarray:
        """The columns of numbers as a matrix."""
        return np.column_stack(self.columns)

    @property
    def classes(self) -> list[str]:
        """The class labels in their order."""
        return [str(label) for label in np.unique(self.target)]


def as_cells(values: Any) -> np.ndarray:
    """Numbers as floats, everything else as texts."""
    cells = np.asarray(values)
    if cells.dtype.kind in "iuf":
        return cells.astype(np.float64)
    return np.array([str(cell) for cell in values])


@dataclass(frozen=True, slots=True)
class StageSetting(Shown):
    """A setting of a method: its name, its default, which also says its type, and its meaning.

    Parameters
    ----------
    name : str
    default : bool, int, float or str
    about : str
        What it is.
    choices : tuple of str, default=()
        What a text may be.
    low, high : float
        What a number may be.

    See Also
    --------
    TheatreMethod : Has some.

    Examples
    --------
    >>> from lyceum.theatre import StageSetting
    >>> StageSetting("k", 2, "the number of clusters", low=1, high=6).read("3")
    3
    """

    name: str
    default: bool | int | float | str
    about: str
    choices: tuple[str, ...] = ()
    low: float = -1e9
    high: float = 1e9

    def read(self, value: Any) -> Any:
        """The value of this setting, also from text."""
        if isinstance(self.default, bool):
            known = {"true": True, "false": False}
            if str(value).lower() not in known:
                raise SettingError(f"{self.name} is true or false, not {value!r}")
            return known[str(value).lower()]
        if isinstance(self.default, str):
            if self.choices and value not in self.choices:
                listed = ", ".join(self.choices)
                raise SettingError(f"{self.name} is one of {listed}, not {value!r}")
            return str(value)
        kind = type(self.default)
        noun = "whole number" if kind is int else "number"
        try:
            number = kind(value)
        except (TypeError, ValueError):
            raise SettingError(f"{self.name} is a {noun}, not {value!r}") from None
        if not self.low <= number <= self.high:
            raise SettingError(
                f"{self.name} is a {noun} from {self.low:g} to {self.high:g}, not {value!r}"
            )
        return number

    def as_dict(self) -> dict[str, Any]:
        """Name, default, meaning, choices and type."""
        return {
            "name": self.name,
            "default": self.default,
            "about": self.about,
            "choices": list(self.choices),
            "type": type(self.default).__name__,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True)
class Stage:
    """What the scenes of a method are made of: a table, settings and a seed."""

    table: StageTable
    settings: Mapping[str, Any]
    seed: int = 0

    def __getitem__(self, name: str) -> Any:
        return self.settings[name]


@dataclass(frozen=True, slots=True)
class Performance:
    """The scenes of a method, their numbers as a table, and the learner."""

    scenes: list[Scene]
    steps: Steps
    model: Any = None


@dataclass(frozen=True, slots=True)
class TheatreMethod(Shown):
    """A method that can be played.

    Attributes
    ----------
    name : str
        What `play` and `lyceum theatre` call it.
    title : str
        Its name in words.
    about : str
        What it does, in a sentence or two.
    perform : callable
        Makes the scenes of a stage.
    table : StageTable or None
        The textbook's table; None if the method takes no table.
    takes : {"numbers", "any"}
        Which columns of a file it takes.
    columns : (int, int)
        The least and the largest number of columns.
    target : {"class", "two classes", "number"} or None
        The target that it needs.
    most_rows : int
        Of larger tables, so many rows are drawn.
    settings : tuple of StageSetting
        What can be set.

    See Also
    --------
    list_methods : All of them.

    Examples
    --------
    >>> from lyceum.theatre import list_methods
    >>> [method.title for method in list_methods() if method.name == "kmeans"]
    ['k-means']
    """

    name: str
    title: str
    about: str
    perform: Callable[[Stage], Performance]
    table: StageTable | None = None
    takes: Literal["numbers", "any"] = "numbers"
    columns: tuple[int, int] = (2, 2)
    target: Literal["class", "two classes", "number"] | None = None
    most_rows: int = 60
    settings: tuple[StageSetting, ...] = ()

    @property
    def most_classes(self) -> int:
        """The largest number of classes that can be told apart in its pictures."""
        return 2 if self.target == "two classes" else 6

    @property
    def all_settings(self) -> tuple[StageSetting, ...]:
        """Its own settings, and for columns of numbers whether they are standardized."""
        if self.table is None or self.takes == "any":
            return self.settings
        standardize = StageSetting("standardize", False, "standardize the columns")
        return (*self.settings, standardize)

    def as_dict(self) -> dict[str, Any]:
        """What can be chosen, in JSON's own types."""
        table = None if self.table is None else self.table.title
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "table": table,
            "takes": self.takes,
            "columns": list(self.columns),
            "target": self.target,
            "settings": [setting.as_dict() for setting in self.all_settings],
        }

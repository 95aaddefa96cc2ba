"""From the name of a method, a table and settings to a play."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from lyceum._core.data import LoadedTable, read_data
from lyceum._core.text import show_count
from lyceum._core.types import Data
from lyceum.errors import DataError, SettingError
from lyceum.theatre.method import (
    Stage,
    StageTable,
    TheatreMethod,
    as_cells,
)
from lyceum.theatre.scene import Play

# the modules of the scenes, in the order in which a course has them
_MODULES = (
    "perceptron",
    "linear",
    "naive_bayes",
    "bayesnets",
    "trees",
    "pruning",
    "neighbors",
    "svm",
    "backpropagation",
    "committees",
    "kmeans",
    "linkage",
    "mixtures",
    "projections",
    "reinforcement",
)


@cache
def list_methods() -> tuple[TheatreMethod, ...]:
    """The methods that can be played.

    Returns
    -------
    tuple of TheatreMethod

    See Also
    --------
    play : Plays one.

    Examples
    --------
    >>> from lyceum.theatre import list_methods
    >>> "perceptron" in [method.name for method in list_methods()]
    True
    """
    modules = [import_module(f"lyceum.theatre.scenes.{name}") for name in _MODULES]
    return tuple(method for module in modules for method in module.METHODS)


def play(
    method: str,
    data: Data = None,
    *,
    columns: Sequence[str] | None = None,
    target: str | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Play:
    """Play a method step by step, on the textbook's table or on columns of one's own.

    Every number is that of the learner's own record; the calculation of each step is written out.

    Parameters
    ----------
    method : str
        Its name, see `list_methods`.
    data : path, frame or table, optional
        The table; by default the textbook's.
    columns : list of str, optional
        The columns to use; fewer than the method needs are filled up with the first it can take.
    target : str, optional
        The column to predict, where the method needs one; by default the last that can be one.
    settings : mapping, optional
        Settings of the method by name.
    seed : int, default=0
        The seed of what is drawn: rows of a large table, starts, episodes.

    Returns
    -------
    Play

    See Also
    --------
    list_methods : The methods, their tables and settings.
    lyceum.plot.steps : Pictures of a record on paper.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.theatre import play
    >>> shown = play("id3")
    >>> shown.scenes[0].question.text
    'What is the entropy of play in these 14 rows, in bits?'
    >>> own = play("kmeans", datasets.path("old_faithful"), settings={"k": 2})
    >>> own.title
    'k-means on old_faithful.csv, 60 of 272 rows'
    """
    chosen = _method(method)
    table = _table(chosen, data, columns, target, seed)
    known = {setting.name: setting for setting in chosen.all_settings}
    values = {name: setting.default for name, setting in known.items()}
    for name, value in (settings or {}).items():
        if name not in known:
            listed = ", ".join(known) or "none"
            raise SettingError(f"{method} has no setting {name!r}; it has {listed}")
        values[name] = known[name].read(value)
    if values.pop("standardize", False):
        table = _standardized(table)
    performed = chosen.perform(Stage(table, values, seed))
    return Play(
        chosen.name,
        f"{chosen.title} on {table.title}" if table.title else chosen.title,
        chosen.about,
        performed.scenes,
        performed.steps,
        performed.model,
    )


def _method(name: str) -> TheatreMethod:
    methods = {method.name: method for method in list_methods()}
    if name not in methods:
        hint = _near(name, list(methods))
        listed = ", ".join(methods)
        raise SettingError(f"there is no method {name!r}{hint}; choose one of {listed}")
    return methods[name]


def _near(name: str, known: Sequence[str]) -> str:
    """The name that was perhaps meant."""
    near = difflib.get_close_matches(name, known, n=1)
    return f": did you mean {near[0]!r}?" if near else ""


def _standardized(table: StageTable) -> StageTable:
    columns = []
    for cells in table.columns:
        spread = float(cells.std()) or 1.0
        columns.append((cells - cells.mean()) / spread)
    names = tuple(f"{name} (standardized)" for name in table.names)
    return StageTable(
        table.title, names, tuple(columns), table.target_name, table.target
    )


# -- a table of one's own --------------------------------------------------------------


def _table(
    method: TheatreMethod,
    data: Data,
    columns: Sequence[str] | None,
    target: str | None,
    seed: int,
) -> StageTable:
    """The textbook's table, or some columns and rows of one's own."""
    if data is None:
        if columns or target:
            raise SettingError(
                "columns and a target are those of a file: name the file"
            )
        return method.table or StageTable("", (), ())
    if method.table is None:
        raise SettingError(f"{method.name} takes no table: leave it out")
    loaded = data if isinstance(data, LoadedTable) else read_data(data)
    table = loaded.table
    if method.target is None:
        target = None
    elif target is None:
        target = _usual_target(method, table)
    names = _columns(method, table, columns, target)
    wanted = [*names, target] if target else names
    part = table.select(wanted).drop_null()
    n = part.num_rows
    if n < 2:
        raise DataError(
            f"only {show_count(n, 'row')} of {', '.join(wanted)} is complete"
        )
    title = _title(data, n, min(n, method.most_rows))
    if n > method.most_rows:
        # rows without replacement, in their order
        drawn = np.random.default_rng(seed).choice(n, method.most_rows, replace=False)
        part = part.take(np.sort(drawn))
    cells = {name: as_cells(part[name].to_pylist()) for name in wanted}
    _check_columns(method, cells, names, target)
    chosen = tuple(cells[name] for name in names)
    answers = cells[target] if target else np.empty(0)
    return StageTable(title, tuple(names), chosen, target or "", answers)


def _usual_target(method: TheatreMethod, table: Any) -> str:
    """The last column that can be the target."""
    for name in reversed(table.column_names):
        if method.target == "number" and _is_number(table[name]):
            return name
        n_values = len(table[name].drop_null().unique())
        is_text = not _is_number(table[name])
        if (
            method.target != "number"
            and is_text
            and 2 <= n_values <= method.most_classes
        ):
            return name
    raise SettingError(
        f"{method.title} needs a target, and no column is one without doubt: name one of"
        f" {', '.join(table.column_names)}"
    )


def _columns(
    method: TheatreMethod, table: Any, columns: Sequence[str] | None, target: str | None
) -> list[str]:
    """The columns to use: as asked, filled up with the first that the method can take."""
    least, most = method.columns
    chosen = list(columns or ())
    for name in [*chosen, *filter(None, [target])]:
        if name not in table.column_names:
            hint = _near(name, table.column_names)
            raise DataError(f"the table has no column {name!r}{hint}")
    # a picture has two columns of numbers unless three are named; trees take what there is
    wanted = max(least, len(chosen))
    if method.takes == "any" and not chosen:
        wanted = most
    for name in table.column_names:
        if name == target or name in chosen or len(chosen) >= wanted:
            continue
        if method.takes == "any" or _is_number(table[name]):
            chosen.append(name)
    if not least <= len(chosen) <= most:
        count = show_count(least, "column")
        if most > least:
            between = "or" if most == least + 1 else "to"
            count = f"{least} {between} {most} columns"
        kind = " of numbers" if method.takes == "numbers" else ""
        raise SettingError(
            f"{method.title} takes {count}{kind}, not {len(chosen)}"
            f" ({', '.join(chosen) or 'none'})"
        )
    return chosen


def _is_number(column: Any) -> bool:
    kind = str(column.type)
    return kind.startswith(("int", "uint", "float", "double", "decimal"))


def _title(data: Data, n: int, used: int) -> str:
    name = str(data).replace("\\", "/").rpartition("/")[2]
    if not isinstance(data, str) and not hasattr(data, "__fspath__"):
        name = "a table"
    if used < n:
        return f"{name}, {used} of {n:,} rows"
    return name


def _check_columns(
    method: TheatreMethod,
    cells: Mapping[str, np.ndarray],
    names: Sequence[str],
    target: str | None,
) -> None:
    """Refuse kinds of columns that the method cannot show."""
    for name in names:
        is_number = cells[name].dtype.kind == "f"
        if method.takes == "numbers" and not is_number:
            raise DataError(
                f"column {name!r} is text, and {method.title} takes numbers: choose another"
            )
        if is_number and not np.isfinite(cells[name]).all():
            raise DataError(f"column {name!r} has cells that are not finite")
    if target is None:
        return
    is_number = cells[target].dtype.kind == "f"
    if method.target == "number" and not is_number:
        raise DataError(f"the target {target!r} is text, and must be a number")
    if method.target == "number":
        return
    n_classes = len(np.unique(cells[target]))
    most = method.most_classes
    if not 2 <= n_classes <= most:
        wanted = "two classes" if most == 2 else f"two to {most} classes"
        raise DataError(
            f"the target {target!r} has {n_classes} values among these rows, and"
            f" {method.title} takes {wanted}"
        )

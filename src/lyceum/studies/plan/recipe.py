"""The recipe of a study: all its settings, in a TOML file that runs again anywhere."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from lyceum._core.data import FileFormat
from lyceum._core.files import write_file
from lyceum._core.report import Shown
from lyceum._core.toml import parse_toml
from lyceum.decision import LossMatrix
from lyceum.errors import DataError, LyceumError, StudyError
from lyceum.studies.plan.recipe_checks import CHECKS


@dataclass(frozen=True)
class LearnerChoice(Shown):
    """A learner that a recipe asks for, with its settings.

    Attributes
    ----------
    name : str
        As in the catalog.
    settings : dict
        Parameters that are fixed.
    search : dict or None
        For every parameter to search a list of choices, or (low, high, "log" or "linear"). None
        takes the search space of the catalog without the parameters that are fixed; an empty one
        searches nothing.

    See Also
    --------
    Recipe : Has them as `learners`.
    Candidate : The learner as the study builds it.
    lyceum.catalog.find : The learners by name, with their search spaces.

    Examples
    --------
    >>> from lyceum.linear import Ridge
    >>> from lyceum.studies import LearnerChoice
    >>> LearnerChoice.of(Ridge(alpha=3.0)).as_dict()
    {'name': 'Ridge', 'settings': {'alpha': 3.0}}
    >>> LearnerChoice("Ridge", search={"alpha": (0.1, 10.0, "log")}).as_dict()["search"]
    {'alpha': {'low': 0.1, 'high': 10.0, 'scale': 'log'}}
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        settings = {
            key: _value(self.name, key, value) for key, value in self.settings.items()
        }
        object.__setattr__(self, "settings", settings)
        if self.search is not None:
            spaces = {
                key: _space_in(self.name, key, space)
                for key, space in self.search.items()
            }
            object.__setattr__(self, "search", spaces)

    @classmethod
    def of(cls, learner: Any) -> LearnerChoice:
        """A choice from a name, a table of the recipe, a cataloged learner with its settings, or
        itself."""
        if isinstance(learner, LearnerChoice):
            return learner
        if isinstance(learner, str):
            return cls(learner)
        if isinstance(learner, Mapping):
            return cls._of_table(learner)
        if hasattr(learner, "get_params"):
            # compared as texts: values may be arrays, or NaN, which equals nothing
            defaults = type(learner)().get_params(deep=False)
            settings = {
                name: value
                for name, value in learner.get_params(deep=False).items()
                if repr(value) != repr(defaults[name])
            }
            return cls(type(learner).__name__, settings)
        raise StudyError(
            f"learners: cannot take {learner!r}: give names of the catalog, e.g. 'NaiveBayes'"
        )

    @classmethod
    def _of_table(cls, table: Mapping[str, Any]) -> LearnerChoice:
        odd = sorted(set(table) - {"name", "settings", "search"})
        if odd:
            raise StudyError(
                f"learners: there is no key {odd[0]!r}: a learner has name, settings and search"
            )
        name = table.get("name")
        if not isinstance(name, str):
            raise StudyError(
                'learners: a learner needs its name, e.g. name = "NaiveBayes"'
            )
        for key in ("settings", "search"):
            if not isinstance(table.get(key, {}), Mapping | None):
                raise StudyError(f"learners: {key} of {name} is a table of parameters")
        return cls(name, table.get("settings") or {}, table.get("search"))

    def as_dict(self) -> dict[str, Any]:
        """The table of the recipe."""
        table: dict[str, Any] = {"name": self.name}
        if self.settings:
            table["settings"] = dict(self.settings)
        if self.search is not None:
            table["search"] = {
                name: dict(zip(_RANGE, space))
                if isinstance(space, tuple)
                else list(space)
                for name, space in self.search.items()
            }
        return table


@dataclass(frozen=True)
class Recipe:
    """The settings of a study.

    Attributes
    ----------
    data : tuple of str
        Paths of the files. In a recipe file they are relative to its folder.
    target : str
        The column to predict.
    task : {"classification", "regression"} or None
        What the target holds; None: decided by its values.
    kinds : dict of column to "continuous", "categorical" or "binary"
        Declared kinds, where what is inferred is not wanted.
    ignore : tuple of str
        Columns to leave out.
    keep : tuple of str
        Columns to keep although they look like identifiers, constants or free text.
    weight : str or None
        The column of row weights.
    group : str or None
        The column that says which rows belong together: rows of one group are never in training and
        test both. No learner sees it.
    time : str or None
        The column that orders the rows: every fold learns from earlier rows and is tested on later
        ones. No learner sees it unless `keep` names it.
    learners : tuple of LearnerChoice
        Empty: chosen for the task and the size.
    loss : LossMatrix or None
        Rows = true class, columns = action; None is 0/1.
    doubt : float or None
        The cost of rejecting a row.
    metric : str or None
        What learners are ranked by: "cost", "error", "log loss", "auc", "balanced error" or "f1"
        for classes, "rmse", "mae", "r2" or "pinball" ("pinball 0.9" for the quantile 0.9) for
        numbers. None is the cost, which is the error rate without `loss` and `doubt`, or RMSE.
    folds : int or None
        Outer folds; None: 10 below 2,000 rows, else 5; with a budget below a minute 5 from 200 rows
        on.
    repeats, inner_folds : int
        How often the outer folds are drawn, and the folds that settings are chosen by.
    n_settings : int
        The share of every learner: how many of its settings the inner folds of a fold compare at
        most, the defaults first. All begin on one inner fold, and the better third goes on to the
        next.
    calibrate : bool
        Whether posteriors are calibrated inside the folds, where the inner folds show a lower loss
        by it.
    committees : bool
        Whether a committee and stacking of the learners, from their out-of-fold predictions, are
        compared with them.
    holdout : float
        Share of rows that nothing is chosen by.
    bootstrap_632 : bool
        Whether the .632 bootstrap estimate is computed too.
    choose : {"simplest", "best"}
        Which learner is fitted on all rows: "simplest" is the simplest of those behind the best by
        too little to matter (1 %); of classes, of those that are not clearly behind the best by
        their errors (two standard errors of the difference) and have a log loss within 1 % of the
        lowest among these; "best" has the lowest loss.
    seed : int
        The seed of folds, searches and learners.
    budget_minutes : float or None
        The time for all of it, from reading the data to writing the report.
    memory_mb : int
        Files that need more are studied on a sample of their rows.
    dates : bool
        Whether dates are taken apart into year, month, weekday and so on.
    text : bool
        Whether the words of free text are counted; else such columns are left out.
    file_format : lyceum.data.FileFormat or dict
        How the files are written, where that is not to be detected.
    digest : str
        A hash of everything that the results depend on except the data.

    See Also
    --------
    lyceum.study : Runs it.
    LearnerChoice : A learner with settings of its own.
    Study.recipe : That of a study.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> recipe = Recipe(data=("loans.csv",), target="class",
    ...     learners=(LearnerChoice("NaiveBayes"),), folds=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = recipe.write(pathlib.Path(folder) / "recipe.toml")
    ...     Recipe.read(path, relative=False) == recipe
    True
    """

    data: tuple[str, ...]
    target: str
    task: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    learners: tuple[LearnerChoice, ...] = ()
    loss: LossMatrix | None = None
    doubt: float | None = None
    metric: str | None = None
    folds: int | None = None
    repeats: int = 1
    inner_folds: int = 3
    n_settings: int = 12
    calibrate: bool = False
    committees: bool = True
    holdout: float = 0.0
    bootstrap_632: bool = False
    choose: str = "simplest"
    seed: int = 0
    budget_minutes: float | None = None
    memory_mb: int = 512
    dates: bool = True
    text: bool = True
    file_format: FileFormat = field(default_factory=FileFormat)

    def __post_init__(self) -> None:
        # values are stored as they are checked: paths as a tuple of texts, a matrix as a LossMatrix
        for name, check in {**CHECKS, "learners": _learners}.items():
            value = getattr(self, name)
            if not (value is None and name in _OPTIONAL):
                object.__setattr__(self, name, check(name, value))

    # -- files -------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, relative: bool = True) -> Recipe:
        """The recipe in a TOML file; paths of data are made relative to where it is."""
        path = Path(path)
        try:
            table = parse_toml(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise StudyError(f"there is no recipe {path}") from None
        except UnicodeDecodeError as error:
            raise StudyError(f"{path} is not TOML: {error}") from error
        except DataError as error:
            raise StudyError(f"{path} is {error}") from error
        if relative and isinstance(table.get("loss"), str):
            table["loss"] = os.path.join(path.parent, table["loss"])
        try:
            recipe = cls.from_dict(table)
        except LyceumError as error:
            raise StudyError(f"{path}: {error}") from error
        if not relative:
            return recipe
        return recipe._map_paths(
            lambda data: os.path.normpath(os.path.join(path.parent, data))
        )

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the TOML file that `read` reads, whole or not at all."""
        import tomli_w

        path = Path(path)
        text = tomli_w.dumps(self.as_dict())
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise StudyError(
                f"the recipe holds {text[error.start]!a}, half a character, which is no valid"
                " Unicode text: rename what has it"
            ) from error
        write_file(path, data)
        return path

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Recipe:
        """The recipe from the tables of a TOML file."""
        keys = [field.name for field in fields(cls)]
        for name in table:
            if name not in keys:
                hint = f"its keys are {', '.join(keys)}"
                similar = difflib.get_close_matches(name, keys, 1)
                if similar:
                    hint = f"did you mean {similar[0]!r}?"
                raise StudyError(f"a recipe has no key {name!r}: {hint}")
        for name in ("data", "target"):
            if name not in table:
                raise StudyError(f"the recipe does not say {name!r}: add {_SAY[name]}")
        return cls(**table)

    def as_dict(self) -> dict[str, Any]:
        """The tables of the TOML file: what differs from the defaults."""
        table: dict[str, Any] = {"data": list(self.data), "target": self.target}
        for key in fields(self)[2:]:
            value = getattr(self, key.name)
            if value not in ((), {}, None, FileFormat(), key.default):
                table[key.name] = _plain(value)
        # TOML has tables after plain values
        for name in ("kinds", "learners", "loss", "file_format"):
            if name in table:
                table[name] = table.pop(name)
        return table

    def _map_paths(self, how: Callable[[str], str]) -> Recipe:
        return replace(self, data=tuple(map(how, self.data)))

    def relative_to(self, folder: Path) -> Recipe:
        """The same recipe for a file in `folder`."""

        def relative(path: str) -> str:
            try:
                return Path(os.path.relpath(path, folder)).as_posix()
            except ValueError:  # another drive
                return str(Path(path).absolute())

        return self._map_paths(relative)

    @property
    def digest(self) -> str:
        """A hash of all that bears on the results: not where the data are, nor how long it may
        take."""
        table = self.as_dict()
        for name in ("data", "budget_minutes"):
            table.pop(name, None)
        text = json.dumps(table, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


_RANGE = ("low", "high", "scale")
_SAY = {"data": 'data = "file.csv"', "target": 'target = "the column to predict"'}
_OPTIONAL = (
    "task",
    "weight",
    "group",
    "time",
    "loss",
    "doubt",
    "metric",
    "folds",
    "budget_minutes",
)


def _plain(value: object) -> Any:
    if isinstance(value, LossMatrix):
        return value.to_dict()
    if isinstance(value, FileFormat):
        return value.changes()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [
            item.as_dict() if isinstance(item, LearnerChoice) else item
            for item in value
        ]
    return value


def _value(learner: str, name: str, value: object) -> Any:
    """A setting that a TOML file can hold."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_value(learner, name, item) for item in value]
    if isinstance(value, str | bool | int | float):
        return value
    raise StudyError(
        f"learners: {name} = {value!r} of {learner} cannot be written in a recipe: give numbers,"
        " text, true or false, or lists of them"
    )


def _space_in(learner: str, name: str, space: Any) -> Any:
    if isinstance(space, tuple):
        space = dict(zip(_RANGE, space)) if len(space) == 3 else {}
    if isinstance(space, Mapping):
        if set(space) != set(_RANGE) or space["scale"] not in ("log", "linear"):
            raise StudyError(
                f'learners: the range of {name!r} is {{low = ..., high = ..., scale = "log" or'
                ' "linear"}'
            )
        low, high, scale = (space[key] for key in _RANGE)
        are_numbers = all(
            isinstance(end, int | float) and not isinstance(end, bool)
            for end in (low, high)
        )
        if not are_numbers or not low < high:
            raise StudyError(
                f"learners: the range of {name!r} goes from {low!r} to {high!r}: give low < high"
            )
        if scale == "log" and not low > 0:
            raise StudyError(
                f'learners: the range of {name!r} begins at {low!r}, and scale = "log" needs more'
                " than 0"
            )
        return low, high, scale
    if isinstance(space, list) and space:
        return _value(learner, name, space)
    raise StudyError(
        f"learners: search of {name!r} is a list of choices or a range, not {space!r}"
    )


def _learners(name: str, value: object) -> tuple[LearnerChoice, ...]:
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        value = (value,)
    return tuple(map(LearnerChoice.of, value))

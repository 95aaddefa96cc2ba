"""Small real tables and Bayes nets that come with Lyceum, and where each is from."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lyceum.errors import DataError

if TYPE_CHECKING:
    from lyceum._core.data import Rows

__all__ = ["Dataset", "load", "names", "path", "sources"]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A bundled file: its content, its source and its license.

    Attributes
    ----------
    name : str
        The name by which `path` and `load` know it.
    file : str
        The name of its file.
    rows : int or None
        The number of rows; None for a Bayes net.
    target : str or None
        The usual target; None if there is none.
    about : str
        What is in it.
    source : str
        Who made it.
    license : str
        The license of the data.

    See Also
    --------
    sources : All of them.
    load : The rows of one.
    path : The file of one.

    Examples
    --------
    >>> from lyceum import datasets
    >>> weather = datasets.sources()[-1]
    >>> weather.name, weather.rows, weather.target, weather.source
    ('weather', 14, 'play', 'Quinlan (1986)')
    """

    name: str
    file: str
    rows: int | None
    target: str | None
    about: str
    source: str
    license: str


_UCI = "UCI Machine Learning Repository"
_DATASETS = (
    Dataset(
        "alarm", "alarm.bif", None, None,
        "a Bayes net of 37 variables that watches over a patient in intensive care",
        "Beinlich, Suermondt, Chavez and Cooper (1989); Bayesian Network Repository",
        "published figures",
    ),
    Dataset(
        "asia", "asia.bif", None, None,
        "a Bayes net of 8 variables: chest clinic, smoking, a journey to Asia",
        "Lauritzen and Spiegelhalter (1988); Bayesian Network Repository", "published figures",
    ),
    Dataset(
        "cpu", "cpu.csv", 209, "class",
        "six numbers about a computer; the target is its relative performance. "
        "The classic model-tree table",
        f"Computer Hardware, Ein-Dor and Feldmesser, {_UCI}", "CC BY 4.0",
    ),
    Dataset(
        "german_credit", "german_credit.csv", 1000, "class",
        "20 mixed columns about a loan; the target is good or bad. "
        "Its published costs: 5 for a bad customer who is called good,"
        " 1 for a good one who is called bad",
        f"Statlog (German Credit Data), H. Hofmann, {_UCI}", "CC BY 4.0",
    ),
    Dataset(
        "heart_disease", "heart_disease.csv", 303, "diameter narrowing",
        "13 mixed columns about a patient, 6 cells missing; "
        "the target is 1 when an artery is narrowed",
        f"Heart Disease (Cleveland), Janosi, Steinbrunn, Pfisterer and Detrano, {_UCI}",
        "CC BY 4.0",
    ),
    Dataset(
        "old_faithful", "old_faithful.csv", 272, None,
        "how long a geyser erupts and how long it waits: two clusters",
        "Azzalini and Bowman (1990)", "published figures",
    ),
    Dataset(
        "penguins", "penguins.csv", 344, "species",
        "mixed columns about a bird, 19 cells missing; the target is one of three species",
        "Palmer Station penguins, Horst, Hill and Gorman", "CC0",
    ),
    Dataset(
        "weather", "weather.csv", 14, "play",
        "four categories about a day; the target is whether to play. The classic table for ID3",
        "Quinlan (1986)", "published figures",
    ),
)  # fmt: skip


def sources() -> tuple[Dataset, ...]:
    """Every bundled file with its origin and license, by name.

    Examples
    --------
    >>> from lyceum import datasets
    >>> [dataset.name for dataset in datasets.sources()][:3]
    ['alarm', 'asia', 'cpu']
    """
    return _DATASETS


def names() -> tuple[str, ...]:
    """The names that `path` and `load` know.

    >>> names()[:3]
    ('alarm', 'asia', 'cpu')
    """
    return tuple(dataset.name for dataset in _DATASETS)


def path(name: str) -> Path:
    """Where the file of a bundled table or net is.

    >>> path("weather").name
    'weather.csv'
    """
    return Path(__file__).parent / _find(name).file


def load(name: str) -> Rows:
    """The rows of a bundled table, with its target, ready for `fit`.

    >>> rows = load("weather")
    >>> rows.n_rows, rows.schema.target.categories.tolist()
    (14, ['no', 'yes'])
    """
    from lyceum._core.data import scan

    dataset = _find(name)
    if dataset.rows is None:
        raise DataError(
            f"{name!r} is a Bayes net, not a table: its file is lyceum.datasets.path({name!r})"
        )
    return scan(path(name), target=dataset.target)


def _find(name: str) -> Dataset:
    for dataset in _DATASETS:
        if dataset.name == name:
            return dataset
    near = difflib.get_close_matches(name, names(), 1)
    if near:
        hint = f"did you mean {near[0]!r}?"
    else:
        hint = f"there are {', '.join(names())}"
    raise DataError(f"there is no bundled dataset {name!r}: {hint}")

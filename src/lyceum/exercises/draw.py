"""Where the numbers of an exercise come from, and which of them are fair."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeVar

from lyceum.exercises.sheet import Number

Item = TypeVar("Item")


class Unfair(Exception):
    """The numbers drawn make a bad exercise; others are drawn."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Columns with their values, and a target with its classes, first the rarer one."""

    name: str
    row: str
    columns: dict[str, tuple[str, ...]]
    target: str
    classes: tuple[str, str]
    amounts: tuple[str, str]  # two columns of numbers


THEMES = (
    Theme(
        "weather",
        "day",
        {
            "outlook": ("sunny", "overcast", "rainy"),
            "wind": ("weak", "strong"),
            "humidity": ("normal", "high"),
            "temperature": ("cool", "mild", "hot"),
        },
        "play",
        ("no", "yes"),
        ("rain", "wind speed"),
    ),
    Theme(
        "loans",
        "loan",
        {
            "income": ("low", "middle", "high"),
            "history": ("clean", "late"),
            "home": ("rented", "owned"),
            "purpose": ("car", "house", "study"),
        },
        "repaid",
        ("no", "yes"),
        ("income", "debt"),
    ),
    Theme(
        "mushrooms",
        "mushroom",
        {
            "cap": ("flat", "round", "conical"),
            "smell": ("none", "almond"),
            "gills": ("narrow", "broad"),
            "color": ("white", "brown", "red"),
        },
        "edible",
        ("no", "yes"),
        ("height", "width"),
    ),
)


class Draw:
    """A source of small numbers that depends on the name, level, seed and attempt only.

    Only `random.random` is used, whose numbers are the same in all versions of Python.
    """

    def __init__(self, name: str, level: int, seed: int, attempt: int) -> None:
        key = f"{name}/{level}/{seed}/{attempt}"
        digest = hashlib.sha256(key.encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))
        self.level = level
        self.theme = self.choice(THEMES)

    def integer(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self._random.random() * (high - low + 1))

    def nonzero(self, low: int, high: int) -> int:
        """A whole number other than 0."""
        return self.choice([value for value in range(low, high + 1) if value])

    def integers(self, count: int, low: int, high: int) -> list[int]:
        """Whole numbers that may repeat."""
        return [self.integer(low, high) for _ in range(count)]

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.integer(0, len(items) - 1)]

    def choices(self, items: Sequence[Item], count: int) -> list[Item]:
        """Items that may repeat."""
        return [self.choice(items) for _ in range(count)]

    def shuffled(self, items: Iterable[Item]) -> list[Item]:
        """The items in another order."""
        return sorted(items, key=lambda _: self._random.random())

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """Different items."""
        return self.shuffled(items)[:count]

    def points(self, count: int, low: int, high: int) -> list[tuple[int, int]]:
        """Different points of a grid."""
        side = range(low, high + 1)
        return self.sample([(x, y) for x in side for y in side], count)

    def tenths(self, count: int, least: int = 0) -> list[Fraction]:
        """Shares in tenths that sum to 1, each of `least` tenths or more."""
        cuts = sorted(self.choices(range(11), count - 1))
        shares = [Fraction(b - a, 10) for a, b in pairwise([0, *cuts, 10])]
        self.require(min(shares) >= Fraction(least, 10), "a share that is too small")
        return shares

    def require(self, fair: bool, reason: str) -> None:
        """Draw again unless this holds."""
        if not fair:
            raise Unfair(reason)


@dataclass(frozen=True, slots=True)
class CategoryTable:
    """Rows of categories with a class each."""

    theme: Theme
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]

    @property
    def header(self) -> tuple[str, ...]:
        return (self.theme.row, *self.names, self.theme.target)

    @property
    def shown(self) -> list[tuple[Any, ...]]:
        """Rows with their numbers, for a sheet."""
        return [
            (index, *row, label)
            for index, (row, label) in enumerate(zip(self.rows, self.labels), start=1)
        ]

    def column(self, name: str) -> list[str]:
        index = self.names.index(name)
        return [row[index] for row in self.rows]

    def where(self, **values: str) -> CategoryTable:
        """The rows that have these values."""
        kept = [
            (row, label)
            for row, label in zip(self.rows, self.labels)
            if all(
                row[self.names.index(name)] == value for name, value in values.items()
            )
        ]
        rows = tuple(row for row, _ in kept)
        labels = tuple(label for _, label in kept)
        return CategoryTable(self.theme, self.names, rows, labels)

    def counts(self) -> list[int]:
        """Rows of each class, in the order of the theme's classes."""
        return [self.labels.count(label) for label in self.theme.classes]


def category_table(draw: Draw, n_rows: int, n_columns: int) -> CategoryTable:
    """A table whose rows are all different, with both classes in it.

    The class follows a hidden rule in most rows, so that a tree finds something.
    """
    theme = draw.theme
    names = draw.sample(list(theme.columns), n_columns)
    every: list[tuple[str, ...]] = [()]
    for name in names:
        every = [(*row, value) for row in every for value in theme.columns[name]]
    draw.require(len(every) >= n_rows, "more rows than combinations")
    rows = draw.sample(every, n_rows)
    votes = {
        value: draw.integer(0, 2) for name in names for value in theme.columns[name]
    }
    scores = [sum(votes[value] for value in row) for row in rows]
    middle = sorted(scores)[n_rows // 2]
    labels = [theme.classes[score >= middle] for score in scores]
    flipped = draw.integer(0, n_rows - 1)
    labels[flipped] = theme.classes[labels[flipped] == theme.classes[0]]
    draw.require(len(set(labels)) == 2, "only one class")
    return CategoryTable(theme, tuple(names), tuple(rows), tuple(labels))


def no_ties(values: Iterable[Number]) -> bool:
    """Whether all numbers can be told from each other.

    Examples
    --------
    >>> no_ties([0.1, 0.2]), no_ties([0.2, 0.1, 0.2])
    (True, False)
    """
    ordered = sorted(map(float, values))
    return all(high - low > 1e-9 for low, high in pairwise(ordered))


def clear_winner(values: Iterable[Number], margin: float) -> bool:
    """Whether the largest is ahead of the second by a margin that can be seen.

    Examples
    --------
    >>> clear_winner([0.25, 0.15, 0.05], 0.02), clear_winner([0.25, 0.245], 0.02)
    (True, False)
    """
    ordered = sorted(map(float, values), reverse=True)
    return len(ordered) < 2 or ordered[0] - ordered[1] >= margin


def small_denominators(values: Iterable[Number], largest: int) -> bool:
    """Whether all fractions can be written with small denominators.

    Examples
    --------
    >>> from fractions import Fraction
    >>> small_denominators([Fraction(3, 8), 2], 10), small_denominators([Fraction(1, 97)], 10)
    (True, False)
    """
    return all(Fraction(value).denominator <= largest for value in values)


def few_decimals(values: Iterable[Number], decimals: int) -> bool:
    """Whether all numbers end after so many decimals.

    Examples
    --------
    >>> few_decimals([0.5, 2], 1), few_decimals([0.25], 1)
    (True, False)
    """
    return all(
        abs(float(value) - round(float(value), decimals)) < 1e-12 for value in values
    )


def between(count: int, low: int, high: int) -> bool:
    """Whether the work has the right length: rounds, updates, operations.

    Examples
    --------
    >>> between(3, 2, 4), between(7, 2, 4)
    (True, False)
    """
    return low <= count <= high

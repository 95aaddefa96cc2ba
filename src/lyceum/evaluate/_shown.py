"""What every result of this room can do: print as text, show as a table in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from lyceum.report import Summary

__all__ = ["Shown", "ratio"]

Result = TypeVar("Result")


class Shown:
    """A result that is shown by its `summary()`."""

    __slots__ = ()

    def summary(self) -> Summary:
        raise TypeError(f"{type(self).__name__} has no summary")

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def ratio(part: float, whole: float, undefined: float = 0.0) -> float:
    """part / whole, and `undefined` when there is nothing to divide by."""
    return float(part / whole) if whole else float(undefined)


def one_of(name: str, value: Any, table: dict[str, Callable[..., Result]]) -> Callable[..., Result]:
    """The entry of a table of named choices, or an error that lists them."""
    if value not in table:
        raise ValueError(f"{name}={value!r} is not known: choose from {', '.join(map(repr, table))}")
    return table[value]

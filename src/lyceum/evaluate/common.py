"""Division with a given value for a zero denominator, and choices by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lyceum.errors import SettingError

Result = TypeVar("Result")


def ratio(
    part: float,
    total: float,
    undefined: float = 0.0,
) -> float:
    """part / total, or `undefined` when the total is zero."""
    if total:
        return float(part / total)
    return float(undefined)


def named_choice(
    name: str,
    value: object,
    choices: dict[str, Callable[..., Result]],
) -> Callable[..., Result]:
    """The entry of a table of named choices, or an error that lists them."""
    # raised here, so that every setting by name is refused in the same words
    if value not in choices:
        raise SettingError(
            f"{name}={value!r} is not known: choose from {', '.join(map(repr, choices))}"
        )
    return choices[value]

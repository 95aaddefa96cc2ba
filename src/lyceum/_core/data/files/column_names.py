"""Names of columns: no two alike, and which a table lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count

from lyceum.errors import SchemaError


@lru_cache(maxsize=4)
def numbered_names(d: int) -> tuple[str, ...]:
    """x0, x1, ...: the names of columns that have none."""
    return tuple([f"x{j}" for j in range(d)])


def check_names(names: Sequence[str]) -> None:
    """Raise if a name appears twice."""
    if len(set(names)) < len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        raise SchemaError(
            f"column names appear twice: {', '.join(map(repr, twice))}: rename them"
        )


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, those that appeared before with a number behind them.

    >>> unique_names(["a", "a", "a.1", "a"])
    ['a', 'a.2', 'a.1', 'a.3']
    """
    taken = set(names)
    unique = dict[str, None]()
    numbers: dict[str, Iterator[int]] = {}
    for name in names:
        if name in unique:
            following = numbers.setdefault(name, count(1))
            name = next(new for i in following if (new := f"{name}.{i}") not in taken)
            taken.add(name)
        unique[name] = None
    return list(unique)


def renamed_note(names: Sequence[str]) -> str:
    """What `unique_names` changed, for people; empty if nothing."""
    new = [
        f"{name!r} (named {old!r})"
        for old, name in zip(names, unique_names(names))
        if name != old
    ]
    if len(new) > 5:
        more = f" and {len(new) - 5} more"
    else:
        more = ""
    if new:
        return f"column names appear twice: read as {', '.join(new[:5])}{more}"
    return ""


def missing_columns(missing: Sequence[str], names: Sequence[str]) -> SchemaError:
    """The error that names the columns which a table lacks, and those that it has."""
    return SchemaError(
        f"missing column{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}: the columns"
        f" here are {', '.join(map(repr, names)) or 'none'}"
    )

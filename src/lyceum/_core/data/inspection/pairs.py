"""Two columns side by side: how far one tells the other, and what a picture of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lyceum._core.data.files.tables import read_data
from lyceum._core.data.scanner import scan
from lyceum._core.data.schema.column import Column, Kind
from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum._core.types import Data
from lyceum.errors import DataError

_MOST_CATEGORIES = 30  # that are listed; the others are put together
_QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class PairInspection(Shown):
    """Two columns side by side.

    Attributes
    ----------
    x, y : str
        Their names.
    measure : str
        What `strength` is: "correlation", "correlation ratio" (eta²) or "Cramér's V".
    strength : float
        From -1 to 1 for the correlation, else from 0 (unrelated) to 1.
    n_rows : int
        The rows in which neither is missing.
    x_values, y_values : array
        The numbers, or codes of categories, of these rows.
    x_names, y_names : tuple of str
        The categories; empty for numbers.
    counts : tuple of tuples of int
        Of two columns of categories: rows by category of x, then of y.
    quartiles : tuple of tuples of float
        Of numbers by categories: minimum, quartiles and maximum in every category.

    See Also
    --------
    inspect_pair : Makes it.
    inspect : Looks at the columns one by one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"x": [1.5, 2.5, 3.5, 4.25], "club": ["a", "b", "a", "b"]})
    >>> inspect_pair(table, "club", "x").quartiles
    ((1.5, 2.0, 2.5, 3.0, 3.5), (2.5, 2.9375, 3.375, 3.8125, 4.25))
    """

    x: str
    y: str
    measure: str
    strength: float
    n_rows: int
    x_values: np.ndarray
    y_values: np.ndarray
    x_names: tuple[str, ...]
    y_names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...] = ()
    quartiles: tuple[tuple[float, ...], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All fields but the values, in JSON's own types."""
        kept = [each.name for each in fields(self) if not each.name.endswith("_values")]
        return plain({name: getattr(self, name) for name in kept})


def inspect_pair(
    data: Data, x: str, y: str, *, kinds: Mapping[str, Kind] | None = None
) -> PairInspection:
    """Two columns side by side.

    The measure of two columns of numbers is Pearson's correlation, of categories Cramér's
    V = sqrt(χ² / (n (min(r, c) - 1))), of numbers by categories the correlation ratio
    η² = 1 - (squares around the means of the categories) / (squares around the mean).

    Parameters
    ----------
    data : path, glob, list of paths or frame
        The table.
    x, y : str
        The names of two columns.
    kinds : dict, optional
        The kinds of some columns, as for `scan`.

    Returns
    -------
    PairInspection

    See Also
    --------
    inspect : Looks at the columns one by one.

    References
    ----------
    H. Cramér, "Mathematical Methods of Statistics", 1946.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"a": [1.5, 2.5, 3.5, 9.25], "b": [2.0, 4.0, 6.5, 7.25]})
    >>> pair = inspect_pair(table, "a", "b")
    >>> pair.measure, round(pair.strength, 3)
    ('correlation', 0.804)
    """
    loaded = read_data(data) if not hasattr(data, "table") else data
    for name in (x, y):
        if name not in loaded.table.column_names:
            raise DataError(f"there is no column {name!r}")
    names = list(dict.fromkeys((x, y)))
    chosen = loaded.table.select(names)
    wanted = {name: kind for name, kind in (kinds or {}).items() if name in names}
    rows = scan(chosen, kinds=wanted or None)
    cells = rows.in_one_block("inspect_pair", "take fewer rows").X
    columns = [rows.schema[name] for name in (x, y)]
    values = [cells[:, rows.schema.names.index(name)] for name in (x, y)]
    both = np.isfinite(values[0]) & np.isfinite(values[1])
    return _describe(columns, [each[both] for each in values])


def _describe(columns: list[Column], values: list[np.ndarray]) -> PairInspection:
    a, a_names = _fold_rare(values[0], columns[0])
    b, b_names = _fold_rare(values[1], columns[1])
    counts: tuple[tuple[int, ...], ...] = ()
    quartiles: tuple[tuple[float, ...], ...] = ()
    if a_names and b_names:
        table = np.zeros((len(a_names), len(b_names)), dtype=np.int64)
        np.add.at(table, (a.astype(int), b.astype(int)), 1)
        counts = tuple(map(tuple, table.tolist()))
        measure = "Cramér's V"
        strength = _cramer(table)
    elif a_names or b_names:
        codes, numbers = (a, b) if a_names else (b, a)
        groups = [numbers[codes == code] for code in range(len(a_names or b_names))]
        quartiles = tuple(
            tuple(np.quantile(group, _QUARTILES).tolist()) if len(group) else ()
            for group in groups
        )
        measure = "correlation ratio"
        strength = _correlation_ratio(groups)
    else:
        measure = "correlation"
        strength = _correlation(a, b)
    return PairInspection(
        columns[0].name,
        columns[1].name,
        measure,
        strength,
        len(a),
        a,
        b,
        a_names,
        b_names,
        counts,
        quartiles,
    )


def _fold_rare(codes: np.ndarray, column: Column) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes and names of the commonest categories, the others as one; numbers have no names."""
    names: tuple[str, ...] = ()
    if column.categories is not None:
        names = tuple(map(str, column.categories))
    if len(names) <= _MOST_CATEGORIES:
        return codes, names
    counts = np.bincount(codes.astype(int), minlength=len(names))
    common = np.sort(np.argsort(-counts, kind="stable")[: _MOST_CATEGORIES - 1])
    new = np.full(len(names), len(common))
    new[common] = np.arange(len(common))
    kept = (*(names[code] for code in common), "(others)")
    return new[codes.astype(int)].astype(float), kept


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def _correlation_ratio(groups: list[np.ndarray]) -> float:
    numbers = np.concatenate(groups)
    total = float(((numbers - numbers.mean()) ** 2).sum()) if len(numbers) else 0.0
    if total == 0.0:
        return 0.0
    within = sum(float(((g - g.mean()) ** 2).sum()) for g in groups if len(g))
    return 1.0 - within / total


def _cramer(table: np.ndarray) -> float:
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    smaller = min(table.shape) - 1
    if smaller < 1:
        return 0.0
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    chi2 = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi2 / (n * smaller)))

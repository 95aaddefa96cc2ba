"""The value difference metric: categories are as far apart as the classes that go with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from typing import Any, Literal

import numpy as np

from lyceum._core.data import Block, Column, Schema
from lyceum._core.distances.metrics import (
    Metric,
    Space,
    as_rows,
    check_columns,
    moments_of,
    register_metric,
)
from lyceum._core.statistics import Counts
from lyceum._core.text import show_count
from lyceum.errors import SettingError


@register_metric("value_difference")
@dataclass(frozen=True, eq=False)
class ValueDifference(Metric):
    """The value difference metric, (Σ_j Σ_c |P(c | x_j) - P(c | y_j)|^q)^(1/q), over columns j and
    classes c.

    P(c | v) is the share of class c among the rows whose column j has the value v. A missing cell
    is a value of its own; a value that was never seen has the class shares of all rows. Rows that
    differ only in values of the same class shares are at distance 0.

    Parameters
    ----------
    q : {1, 2}, default=2
        The power.
    numbers : {"discretize", "interpolate", "scale"}, default="discretize"
        How columns of numbers are compared. "discretize": by the class shares of bins of equal
        width between the smallest and the largest number (DVDM). "interpolate": by class shares
        interpolated between the middles of these bins (IVDM). "scale": by |x - y| / 4σ instead of
        class shares (as in HVDM).
    n_bins : int, optional
        The bins of a column of numbers, by default the number of classes, but at least 5.
    schema : Schema, optional
        The columns; learned by `learn(rows)`.
    columns : tuple, optional
        The class shares of every column; learned by `learn(rows)`.

    See Also
    --------
    Gower : distances of mixed columns without classes.

    References
    ----------
    Stanfill, C. and Waltz, D. (1986). Toward memory-based reasoning. Communications of the ACM
    29(12). Wilson, D. R. and Martinez, T. R. (1997). Improved heterogeneous distance functions.
    Journal of Artificial Intelligence Research 6.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum import scan
    >>> from lyceum.distances import ValueDifference, pairwise
    >>> sky = pa.table({"sky": ["sun", "sun", "rain", "fog"], "play": ["yes", "no", "no", "no"]})
    >>> rows = scan(sky, target="play")
    >>> pairwise(rows, metric=ValueDifference(q=1).learn(rows))[0].tolist()  # rain is like fog
    [0.0, 0.0, 1.0, 1.0]
    """

    q: int = 2
    numbers: Literal["discretize", "interpolate", "scale"] = "discretize"
    n_bins: int | None = None
    schema: Schema | None = field(default=None, repr=False)
    columns: tuple[Any, ...] = field(default=(), repr=False)
    takes_missing = True
    takes_categories = True

    def __post_init__(self) -> None:
        if self.q not in (1, 2):
            raise SettingError(
                f"q of ValueDifference must be 1 or 2, but it is {self.q!r}"
            )
        if self.numbers not in ("discretize", "interpolate", "scale"):
            raise SettingError(
                "numbers of ValueDifference must be 'discretize', 'interpolate' or 'scale', "
                f"but it is {self.numbers!r}"
            )
        if self.n_bins is not None and not (
            isinstance(self.n_bins, Integral) and self.n_bins >= 1
        ):
            raise SettingError(
                "n_bins of ValueDifference must be a whole number of at least 1, but it is"
                f" {self.n_bins!r}"
            )

    def learn(self, rows: Any) -> ValueDifference:
        """With the class shares of every value: a pass for the ranges of numbers, and one that
        counts.

        Parameters
        ----------
        rows : Rows
            With a target of classes, as `scan(..., target=...)` gives them.
        """
        rows = as_rows(rows)
        target = rows.schema.target
        if target is None or target.categories is None:
            raise SettingError(
                "ValueDifference learns from classes: give scan(..., target=...)"
            )
        moments = moments_of(rows)
        n_bins = self.n_bins or max(5, len(target.categories))
        binned = [
            _Binned.of(column, low, high, n_bins)
            for column, low, high in zip(rows.schema, moments.low, moments.high)
        ]
        counts = rows.reduce(partial(_count, binned=binned))
        spreads = np.sqrt(moments.variance(ddof=1))
        columns: list[_Scaled | _Shares] = []
        for j, bins in enumerate(binned):
            if self.numbers == "scale" and bins.is_number:
                columns.append(_Scaled.of(moments.mean[j], spreads[j]))
                continue
            shares = _Shares.of(
                bins,
                counts=counts.table(str(j)),
                prior=counts.class_weight,
                interpolate=self.numbers == "interpolate",
            )
            columns.append(shares)
        return replace(self, schema=Schema(rows.schema.columns), columns=tuple(columns))

    def check_schema(self, schema: Schema) -> None:
        check_columns("ValueDifference", self.schema, Schema(schema.columns))

    @property
    def space(self) -> Space:
        return Space("squares" if self.q == 2 else "absolute")

    def points(self, X: Any) -> np.ndarray:
        if self.schema is None:
            raise SettingError(
                "ValueDifference knows no class shares yet: call learn(rows)"
            )
        if X.shape[1] != len(self.columns):
            raise SettingError(
                f"ValueDifference was fitted on {show_count(len(self.columns), 'column')}, but the"
                f" rows have {X.shape[1]}"
            )
        parts = [
            column.points(np.asarray(X[:, j], np.float64))
            for j, column in enumerate(self.columns)
        ]
        return np.ascontiguousarray(np.hstack(parts))

    def distances(self, raw: np.ndarray, n_columns: int) -> np.ndarray:
        if self.q == 2:
            return np.sqrt(raw, out=raw)
        return raw

    def raw(self, distance: float, n_columns: int) -> float:
        return distance**self.q


@dataclass(frozen=True)
class _Binned:
    """How the cells of one column become the rows of its table; the last row is for missing
    cells."""

    is_number: bool
    size: int  # of values, without the missing one
    values: np.ndarray | None = None  # of a binary column of numbers, ascending
    low: float = 0.0
    width: float = 1.0

    @classmethod
    def of(cls, column: Column, low: float, high: float, n_bins: int) -> _Binned:
        if column.categories is not None:
            values = None
            if column.numeric:
                # sorted, as they are searched in; categories may be declared in another order
                values = np.sort(np.asarray(column.categories, np.float64))
            return cls(False, len(column.categories), values)
        width = (high - low) / n_bins
        if 0 < width < np.inf:
            return cls(True, n_bins, None, low, width)
        return cls(True, 1, None, low, 1.0)

    def codes(self, cells: np.ndarray) -> np.ndarray:
        """The row of the table of every cell, -1 for a category that is not known."""
        missing = np.isnan(cells)
        filled = np.where(missing, 0.0, cells)
        if self.is_number:
            bins = np.floor((filled - self.low) / self.width)
            codes = np.clip(bins, 0, self.size - 1)
        elif self.values is not None:
            index = np.minimum(np.searchsorted(self.values, filled), self.size - 1)
            codes = np.where(self.values[index] == filled, index, -1)
        else:
            codes = filled
        return np.where(missing, self.size, codes).astype(np.int64)


def _count(block: Block, binned: list[_Binned]) -> Counts:
    """The counts of every column's values and missing cells by class; columns go by their
    numbers."""
    cells = block.dense
    codes = []
    columns = []
    for j, bins in enumerate(binned):
        codes.append(bins.codes(np.asarray(cells[:, j], dtype=np.float64)))
        categories = np.arange(bins.size + 1)
        columns.append(Column(str(j), "categorical", categories, "bins"))
    schema = Schema(tuple(columns), block.schema.target)
    return Counts.of(block.with_X(np.column_stack(codes), schema))


@dataclass(frozen=True)
class _Shares:
    """The class shares of the values of one column, or of a number by interpolation between its
    bins."""

    binned: _Binned
    table: np.ndarray  # (values and the missing one and an unknown one, classes)
    interpolated: bool

    @classmethod
    def of(
        cls, binned: _Binned, counts: np.ndarray, prior: np.ndarray, interpolate: bool
    ) -> _Shares:
        # a value without rows has the shares of all rows, and so has an unknown one
        prior = prior / prior.sum()
        total = counts.sum(axis=1, keepdims=True)
        table = np.where(total > 0, counts / np.where(total > 0, total, 1.0), prior)
        return cls(binned, np.vstack([table, prior]), interpolate and binned.is_number)

    def points(self, cells: np.ndarray) -> np.ndarray:
        codes = self.binned.codes(cells)
        shares = self.table[np.where(codes < 0, len(self.table) - 1, codes)]
        if not self.interpolated:
            return shares
        known = ~np.isnan(cells)
        size = self.binned.size
        middles = self.binned.low + (np.arange(size) + 0.5) * self.binned.width
        for c in range(shares.shape[1]):
            shares[known, c] = np.interp(cells[known], middles, self.table[:size, c])
        return shares


@dataclass(frozen=True)
class _Scaled:
    """A number in units of 4σ about the mean; a missing cell is the mean, one unit apart."""

    mean: float
    unit: float

    @classmethod
    def of(cls, mean: float, spread: float) -> _Scaled:
        return cls(float(mean), 4.0 * float(spread) if spread > 0 else np.inf)

    def points(self, cells: np.ndarray) -> np.ndarray:
        missing = np.isnan(cells)
        scaled = np.where(missing, 0.0, (cells - self.mean) / self.unit)
        return np.column_stack([scaled, missing.astype(np.float64)])


# what is learned of a column
COLUMN_PARTS: tuple[type, ...] = (_Binned, _Shares, _Scaled)

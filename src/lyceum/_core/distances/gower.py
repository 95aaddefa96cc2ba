"""Gower's distance of mixed rows with missing cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.distances.metrics import (
    Metric,
    Space,
    as_rows,
    check_columns,
    moments_of,
    register_metric,
)
from lyceum._core.text import show_count
from lyceum.errors import SettingError


@register_metric("gower")
@dataclass(frozen=True, eq=False)
class Gower(Metric):
    """Gower's distance of mixed rows, the mean over the columns known in both, from 0 to 1.

    d(x, y) = Σ_j w_j δ_j s_j / Σ_j w_j δ_j, where δ_j is 1 if the cell is known in both rows, and
    s_j is |x_j - y_j| / range_j for numbers (at most 1; 0 in a constant column) and 0 or 1 for
    equal or different categories. Categories in an order count as numbers, by their ranks 0, 1, ...
    over the largest. In an asymmetric column of two values, say of symptoms, absence in both rows
    says nothing: δ_j is 0 if both cells are the first value, as in Jaccard's distance. Rows that
    share no known cell are infinitely far apart. With missing cells the triangle inequality does
    not hold.

    Parameters
    ----------
    weights : mapping from column names to numbers, or array of shape (d,), optional
        The weight w_j of every column, 1 for columns that are not named.
    schema : Schema, optional
        The columns; learned by `learn(rows)`.
    low : array of shape (d,), optional
        The smallest number of every column; learned by `learn(rows)`, in one mergeable pass.
    high : array of shape (d,), optional
        The largest number of every column; learned likewise.
    ordered : mapping from column names to sequences of categories, or sequence of names, optional
        The columns whose categories have an order, with all of these from the first to the last; or
        names alone, for the order in which the schema lists categories.
    asymmetric : sequence of str, optional
        The names of columns of two values of which only the second (1, True, "yes" after "no") in
        both rows makes them alike.

    See Also
    --------
    ValueDifference : distances of categories from the classes that go with them.
    Hamming : the share of the columns that differ.

    References
    ----------
    Gower, J. C. (1971). A general coefficient of similarity and some of its properties. Biometrics
    27(4). Kaufman, L. and Rousseeuw, P. J. (1990). Finding Groups in Data. Wiley, section 2.6.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum import scan
    >>> from lyceum.distances import Gower, pairwise
    >>> rows = scan(pa.table({"age": [20.0, 30.0, 60.0], "sex": ["f", "m", None]}))
    >>> pairwise(rows, metric=Gower().learn(rows)).round(3).tolist()
    [[0.0, 0.625, 1.0], [0.625, 0.0, 0.75], [1.0, 0.75, 0.0]]
    >>> shirts = scan(pa.table({"size": ["S", "L", "M"]}))
    >>> by_rank = Gower(ordered={"size": ["S", "M", "L"]}).learn(shirts)
    >>> pairwise(shirts, metric=by_rank)[0].tolist()
    [0.0, 1.0, 0.5]
    """

    weights: Any = None
    schema: Schema | None = field(default=None, repr=False)
    low: np.ndarray | None = field(default=None, repr=False)
    high: np.ndarray | None = field(default=None, repr=False)
    ordered: Any = None
    asymmetric: Any = None
    takes_missing = True
    takes_categories = True

    @property
    def is_metric(self) -> bool:
        """False: with missing cells the triangle inequality does not hold."""
        return False

    def learn(self, rows: Any) -> Gower:
        """With the columns and the ranges of the rows.

        Parameters
        ----------
        rows : Rows, or anything that `lyceum.scan` takes
        """
        rows = as_rows(rows)
        moments = moments_of(rows)
        schema = Schema(rows.schema.columns)
        learned = replace(self, schema=schema, low=moments.low, high=moments.high)
        # wrong names and levels are refused at once
        _ = learned._ranks, learned._absent
        return learned

    def check_schema(self, schema: Schema) -> None:
        check_columns("Gower", self.schema, schema)

    @property
    def space(self) -> Space:
        schema = self._schema
        # categories are equal or not, numbers and ranks differ by a part of their range
        matched = np.array([column.is_categorical for column in schema], dtype=np.uint8)
        matched[list(self._ranks)] = 0
        weights = self._column_weights(schema)
        if not self._absent:
            return Space("known columns", 1.0, weights, matched)
        # the marks of absence in both rows take the weight of their column off again
        marks = self._mark_places
        signed = np.insert(weights, marks, -weights[list(self._absent)])
        return Space("known columns", 1.0, signed, np.insert(matched, marks, 1))

    @property
    def table_columns(self) -> np.ndarray:
        """Which columns of the points are those of the table; the others mark absence."""
        n = len(self._schema)
        is_mark = np.insert(np.zeros(n, dtype=bool), self._mark_places, True)
        return np.flatnonzero(~is_mark)

    @property
    def _mark_places(self) -> list[int]:
        """A mark stands right behind its column, so that weights cancel without rounding."""
        return [j + 1 for j in self._absent]

    @cached_property
    def _ranks(self) -> dict[int, np.ndarray]:
        """The rank of every category over the largest, by the columns that have an order."""
        schema = self._schema
        ordered = self.ordered
        if ordered is None:
            return {}
        if not isinstance(ordered, Mapping):
            ordered = dict.fromkeys(ordered)
        ranks = {}
        for name, levels in ordered.items():
            j = _column_number(schema, name, "ordered")
            known = schema[j].categories
            if known is None:
                raise SettingError(
                    f"ordered names {name!r}, which holds numbers: they have an order already"
                )
            ranks[j] = _level_ranks(name, np.asarray(known).tolist(), levels)
        return ranks

    @cached_property
    def _absent(self) -> dict[int, float]:
        """The cell that stands for absence, by the asymmetric columns, in ascending order."""
        schema = self._schema
        absent = {}
        for name in self.asymmetric or ():
            j = _column_number(schema, name, "asymmetric")
            column = schema[j]
            if j in self._ranks:
                raise SettingError(f"column {name!r} is both ordered and asymmetric")
            if column.is_categorical and len(np.asarray(column.categories)) == 2:
                is_number = column.numeric
                absent[j] = (
                    float(np.asarray(column.categories)[0]) if is_number else 0.0
                )
            elif not column.is_categorical and self._is_zero_one(j):
                absent[j] = 0.0
            else:
                raise SettingError(
                    f"asymmetric names {name!r}, which does not hold two values: 0 and 1, or two"
                    " categories"
                )
        return dict(sorted(absent.items()))

    def _is_zero_one(self, j: int) -> bool:
        """Whether the numbers of a column are from 0 to 1."""
        assert self.low is not None
        assert self.high is not None
        return bool(self.low[j] >= 0.0 and self.high[j] <= 1.0)

    def points(self, X: Any) -> np.ndarray:
        schema = self._schema
        if X.shape[1] != len(schema):
            raise SettingError(
                f"Gower was fitted on {show_count(len(schema), 'column')}, but the rows have"
                f" {X.shape[1]}"
            )
        assert self.low is not None
        assert self.high is not None
        # About the smallest, so that an offset takes no digits. An unknown category (-1) is unlike
        # the known. Constant columns become 0, but missing cells stay missing.
        Z = np.array(X, dtype=np.float64)
        for j, column in enumerate(schema):
            if j in self._ranks:
                Z[:, j] = _rank_cells(Z[:, j], self._ranks[j])
            if column.is_categorical or j in self._absent:
                continue
            span = self.high[j] - self.low[j]
            if 0 < span < np.inf:
                Z[:, j] = (Z[:, j] - self.low[j]) / span
            else:
                Z[:, j] = 0.0 * Z[:, j]
        if not self._absent:
            return Z
        # a mark is known where the value is absent, so that it counts if both are
        columns = list(self._absent)
        is_absent = Z[:, columns] == np.array(list(self._absent.values()))
        marks = np.where(is_absent, 0.0, np.nan)
        return np.insert(Z, self._mark_places, marks, axis=1)

    @property
    def _schema(self) -> Schema:
        if self.schema is None or self.low is None or self.high is None:
            raise SettingError("Gower does not know its columns yet: call learn(rows)")
        return self.schema

    def _column_weights(self, schema: Schema) -> np.ndarray:
        if isinstance(self.weights, Mapping):
            unknown = [name for name in self.weights if name not in schema.names]
            if unknown:
                raise SettingError(
                    f"weights names {unknown[0]!r}, which is no column of the rows"
                )
            given: Any = [self.weights.get(name, 1.0) for name in schema.names]
        elif self.weights is None:
            given = np.ones(len(schema))
        else:
            given = self.weights
        try:
            weights = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise SettingError(
                f"weights must be numbers, one per column, but they are {given!r}"
            ) from None
        if (
            weights.shape != (len(schema),)
            or not ((weights >= 0) & np.isfinite(weights)).all()
        ):
            raise SettingError(
                f"weights must be {len(schema)} numbers of at least 0, one per column"
            )
        if len(weights) and not weights.any():
            raise SettingError(
                "all weights are 0, so that no column is compared: give one column a weight"
            )
        return weights


def _column_number(schema: Schema, name: str, setting: str) -> int:
    if name not in schema.names:
        raise SettingError(f"{setting} names {name!r}, which is no column of the rows")
    return schema.names.index(name)


def _level_ranks(name: str, known: list[Any], levels: Any) -> np.ndarray:
    """The rank of every known category over the largest rank, as the levels say."""
    if levels is None:
        levels = known
    levels = list(levels)
    missing = [value for value in known if value not in levels]
    if missing or len(set(levels)) < len(levels):
        what = f"does not list {missing[0]!r}" if missing else "lists a level twice"
        raise SettingError(
            f"ordered[{name!r}] {what}: give every category once, from the first to the last"
        )
    largest = max(1, len(levels) - 1)
    return np.array([levels.index(value) for value in known]) / largest


def _rank_cells(codes: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Ranks of codes; an unknown category (-1) is as far from all known ones as the ends are."""
    cells = np.where(np.isnan(codes), np.nan, 2.0)
    known = codes >= 0
    cells[known] = ranks[codes[known].astype(np.int64)]
    return cells


def finite_distances(D: np.ndarray, metric: Metric) -> np.ndarray:
    """Gower's distances of rows that share no known cell are the largest there can be, 1."""
    if isinstance(metric, Gower):
        return np.minimum(D, 1.0, out=D)
    return D

"""Tables of categories by class: estimates from counts, and the choice of a conditional for every
column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from lyceum._core.data import Block, Column, Rows, Schema
from lyceum._core.statistics import ClassMoments, Counts
from lyceum.bayes.kernel_columns import ClassValues
from lyceum.errors import SchemaError, SettingError

CONDITIONALS = ("gaussian", "kernel", "histogram")


def estimate_table(
    counts: np.ndarray, estimate: str, m: float, m_prior: str | np.ndarray
) -> np.ndarray:
    """P(category | class) from counts; rows are categories, columns are classes, and columns sum to
    1.

    A class without cells gets the table of all classes.
    """
    table = _ESTIMATES[estimate](counts, m, m_prior)
    class_sums = table.sum(axis=0)
    if (class_sums == 0).any():
        table = np.where(class_sums > 0, table, _marginal(counts))
        class_sums = table.sum(axis=0)
    return table / np.where(class_sums > 0, class_sums, 1.0)


def _m_estimate(counts: np.ndarray, m: float, m_prior: str | np.ndarray) -> np.ndarray:
    """n_v + m p_v: the table is divided by its sum afterwards, so that a given p need not sum to
    1."""
    if not isinstance(m_prior, str):
        return counts + m * m_prior[:, None]
    p = np.ones((len(counts), 1))
    if m_prior == "marginal":
        p = _marginal(counts)
    return counts + m * p / max(p.sum(), 1.0)


def _marginal(counts: np.ndarray) -> np.ndarray:
    """The counts over all classes; equal ones where there are none."""
    marginal = counts.sum(axis=1, keepdims=True)
    if marginal.any():
        return marginal
    return np.ones_like(marginal)


_ESTIMATES: dict[str, Callable[[np.ndarray, float, Any], np.ndarray]] = {
    "raw": lambda counts, m, m_prior: counts,
    "laplace": lambda counts, m, m_prior: counts + 1.0,
    "m": _m_estimate,
}


def column_densities(schema: Schema, given: Any) -> dict[int, str]:
    """The kind of density of every continuous column, by its place."""
    if isinstance(given, str):
        return dict.fromkeys(schema.continuous.tolist(), given)
    chosen = dict.fromkeys(schema.continuous.tolist(), "gaussian")
    for key, kind in given.items():
        if kind not in CONDITIONALS:
            raise SchemaError(
                f"continuous[{key!r}] is {kind!r}: choose one of {', '.join(CONDITIONALS)}"
            )
        if not _has_column(schema, key):
            raise SchemaError(
                f"continuous names the column {key!r}, which does not exist"
            )
        index = schema.names.index(key) if isinstance(key, str) else int(key)
        if schema[index].is_categorical:
            raise SchemaError(
                f"continuous names the column {key!r}, which holds categories and has a table"
            )
        chosen[index] = kind
    return chosen


def kernel_bandwidths(
    schema: Schema, names: Sequence[str], given: object
) -> list[str | float]:
    """The bandwidth of every kernel column: one for all, or by column, "reference" where none is
    given."""
    chosen = keys_by_name(schema, given, "bandwidth")
    if not isinstance(chosen, Mapping):
        return [chosen] * len(names)
    for name, h in chosen.items():
        if name not in names:
            raise SchemaError(
                f"bandwidth names the column {name!r}, which has no kernel density"
            )
        is_number = isinstance(h, Real) and not isinstance(h, bool)
        if h != "reference" and not (is_number and 0 < float(h) < np.inf):
            raise SettingError(
                f"bandwidth[{name!r}] is {h!r}: give a number above 0, or 'reference'"
            )
    return [chosen.get(name, "reference") for name in names]


def table_priors(schema: Schema, given: object) -> dict[str, str | np.ndarray]:
    """p of the m-estimate of every categorical column: a name for all, or the user's own by
    column."""
    columns = {schema[j].name: schema[j] for j in schema.categorical}
    chosen = keys_by_name(schema, given, "m_prior")
    if not isinstance(chosen, Mapping):
        return dict.fromkeys(columns, chosen)
    for name in chosen:
        if name not in columns:
            raise SchemaError(
                f"m_prior names the column {name!r}, which holds no categories"
            )
    return {
        name: _own_prior(column, chosen.get(name, "uniform"))
        for name, column in columns.items()
    }


def _own_prior(column: Column, given: object) -> str | np.ndarray:
    if isinstance(given, str) and given in ("uniform", "marginal"):
        return given
    labels = np.asarray(column.categories).tolist()
    if isinstance(given, Mapping):
        odd = [label for label in given if label not in labels]
        if odd:
            raise SettingError(
                f"m_prior[{column.name!r}] names {odd[0]!r}; the categories are {labels}"
            )
        given = [given.get(label, 0.0) for label in labels]
    if not isinstance(given, str):
        p = np.asarray(given, dtype=np.float64)
    else:
        p = np.empty(0)
    if p.shape != (len(labels),) or not np.isfinite(p).all() or (p < 0).any():
        raise SettingError(
            f"m_prior[{column.name!r}] is {given!r}: give 'uniform', 'marginal', or a probability"
            f" for each of {labels}"
        )
    return p


def keys_by_name(schema: Schema, given: object, parameter: str) -> Any:
    """A mapping whose keys may be places, with names for keys."""
    if not isinstance(given, Mapping):
        return given
    odd = [key for key in given if not _has_column(schema, key)]
    if odd:
        raise SchemaError(
            f"{parameter} names the column {odd[0]!r}, which does not exist"
        )
    return {
        key if isinstance(key, str) else schema.names[int(key)]: value
        for key, value in given.items()
    }


def _has_column(schema: Schema, key: Any) -> bool:
    if isinstance(key, str):
        return key in schema.names
    return isinstance(key, Integral) and 0 <= int(key) < len(schema)


@dataclass(frozen=True, slots=True)
class BinColumns:
    """A step that replaces the cells of some columns by the numbers of their bins.

    Bin b holds edges[b] <= x < edges[b + 1]. The first and the last bin are open: they also
    hold what lies beyond the edges. A missing cell stays missing.

    >>> X = np.array([[-9.0], [0.2], [1.0], [7.0]])
    >>> block = Block(X, None, None, 0, Schema.of_numbers(["x"]))
    >>> BinColumns({"x": np.array([0.0, 0.5, 1.0, 2.0])})(block).X[:, 0].tolist()
    [0.0, 0.0, 2.0, 2.0]
    """

    edges: Mapping[str, np.ndarray]

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=tuple(map(self._column, schema)))

    def _column(self, column: Column) -> Column:
        edges = self.edges.get(column.name)
        if edges is None:
            return column
        return Column(column.name, "categorical", np.arange(len(edges) - 1))

    def __call__(self, block: Block) -> Block:
        if not self.edges:
            return block
        X = block.X.astype(block.X.dtype if block.X.dtype.kind == "f" else np.float64)
        for j, column in enumerate(block.schema):
            if column.name in self.edges:
                # only inner edges divide, so that the outer bins are open
                inner = self.edges[column.name][1:-1]
                x = X[:, j].copy()
                X[:, j] = np.searchsorted(inner, x, side="right")
                X[np.isnan(x), j] = np.nan
        return block.with_X(X, self.schema(block.schema))


def bin_edges(
    rows: Rows, columns: list[str], bins: Any, may_scan: bool = True
) -> dict[str, np.ndarray]:
    """The edges of every column; one pass over the rows where `n_bins` gives only a number of bins.

    Between the smallest and the largest cell lie bins of equal width: as many as wanted, or by
    Sturges' rule ⌈log2 n⌉ + 1, with n the weight of the cells. With `may_scan` false such a pass is
    refused.
    """
    wanted = {
        name: bins.get(name, "sturges") if isinstance(bins, Mapping) else bins
        for name in columns
    }
    undecided = [name for name in columns if isinstance(wanted[name], str | Integral)]
    if undecided and not may_scan:
        raise SettingError(
            f"partial_fit needs the edges of the bins of column {undecided[0]!r}, as later rows "
            f"may lie anywhere: give n_bins={{{undecided[0]!r}: [...]}}, or fit on all rows at once"
        )
    edges = {
        name: _check_edges(name, wanted[name])
        for name in columns
        if name not in undecided
    }
    if undecided:
        indices = [rows.schema.names.index(name) for name in undecided]
        ranges = rows.reduce(partial(ColumnRanges.of, columns=indices))
        edges |= {
            name: ranges.edges(i, wanted[name]) for i, name in enumerate(undecided)
        }
    return {name: edges[name] for name in columns}


def _check_edges(name: str, edges: Any) -> np.ndarray:
    edges = np.asarray(edges, dtype=np.float64)
    if (
        edges.ndim != 1
        or len(edges) < 2
        or not np.isfinite(edges).all()
        or not (np.diff(edges) > 0).all()
    ):
        raise SettingError(
            f"the edges of the bins of column {name!r} must be at least two ascending numbers"
        )
    return edges


@dataclass(frozen=True, slots=True)
class ColumnRanges:
    """The smallest and largest cell of columns and the weight of their cells, over rows that have
    weight."""

    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, block: Block, columns: list[int]) -> ColumnRanges:
        # zero-weight rows must not widen a range
        X = np.asarray(block.X[:, columns], dtype=np.float64)
        w = block.w
        if w is not None:
            X = X[w > 0]
            w = w[w > 0]
        present = ~np.isnan(X)
        if w is None:
            weight = present.sum(axis=0).astype(np.float64)
        else:
            weight = w @ present
        low = np.min(X, axis=0, initial=np.inf, where=present)
        high = np.max(X, axis=0, initial=-np.inf, where=present)
        return cls(low, high, weight)

    def merge(self, other: ColumnRanges) -> ColumnRanges:
        low = np.minimum(self.low, other.low)
        high = np.maximum(self.high, other.high)
        return ColumnRanges(low, high, self.weight + other.weight)

    def edges(self, column: int, bins: str | int) -> np.ndarray:
        low = self.low[column]
        high = self.high[column]
        n = self.weight[column]
        # one bin of width 1 about a constant, or about 0 where all cells are missing (inf > -inf)
        if not low < high:
            return np.array([-0.5, 0.5]) + (low if low == high else 0.0)
        if isinstance(bins, str):
            count = int(np.ceil(np.log2(max(n, 1.0)))) + 1
        else:
            count = int(bins)
        # a range of few representable numbers has fewer distinct edges
        edges = np.linspace(low, high, count + 1)
        return edges[np.append(True, np.diff(edges) > 0)]


@dataclass(frozen=True, slots=True)
class MixedMoments:
    """Counts of the categorical columns of a mixed table and moments of the continuous ones, by
    class.

    Columns at the places `kernel` keep all their values instead of moments.

    >>> from lyceum.data import scan
    >>> import pyarrow as pa
    >>> days = pa.table({"sky": ["sun", "rain", "sun"], "heat": [29.0, 18.5, 24.0],
    ...                  "play": ["no", "yes", "yes"]})
    >>> mixed = scan(days, target="play").reduce(MixedMoments.of)
    >>> mixed.counts.table("sky").tolist(), mixed.moments.mean.tolist()
    ([[0.0, 1.0], [1.0, 1.0]], [[29.0], [21.25]])
    """

    counts: Counts
    moments: ClassMoments
    values: ClassValues | None = None

    @classmethod
    def of(cls, block: Block, kernel: tuple[int, ...] = ()) -> MixedMoments:
        gaussian = np.setdiff1d(
            block.schema.continuous, np.asarray(kernel, dtype=np.intp)
        )
        if kernel:
            values = ClassValues.of(block, np.asarray(kernel))
        else:
            values = None
        return cls(Counts.of(block), ClassMoments.of(block, gaussian), values)

    @property
    def n_rows(self) -> int:
        return self.counts.n_rows

    @property
    def is_finite(self) -> bool:
        """Whether no sum has overflowed."""
        return self.moments.is_finite

    @property
    def classes(self) -> np.ndarray:
        return self.counts.classes

    @property
    def class_weight(self) -> np.ndarray:
        return self.counts.class_weight

    def merge(self, other: MixedMoments) -> MixedMoments:
        values = self.values
        if values is not None and other.values is not None:
            values = values.merge(other.values)
        return MixedMoments(
            self.counts.merge(other.counts), self.moments.merge(other.moments), values
        )

"""What the ways of filling missing cells share: one pass over the rows, and a value for every
column."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import OnePassLearner, undefined
from lyceum._core.data import Block, Column, Schema
from lyceum._core.statistics import ClassMoments, Quantiles
from lyceum.errors import ModelFileError
from lyceum.prepare.base import Transformer
from lyceum.prepare.statistics import MissingCounts, Stats
from lyceum.prepare.steps import Fill
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True)
class FillRules:
    """How missing cells are filled: by kind of column."""

    continuous: str  # "mean", "median", "constant" or "keep"
    categorical: str  # "mode" or "constant"
    number: float = 0.0
    category: Any = "missing"


class FillTransformer(Transformer, OnePassLearner):
    """A value for the missing cells of every column, learned in one pass; a subclass has the rules.

    Free text stays as it is: a missing text has no words.
    """

    _attribute_docs: ClassVar[str] = """
    fill_ : array of shape (n_features,)
        The cells that fill missing cells: numbers, or codes into the categories of
        `filled_schema_`.
    missing_ : array of shape (n_features,)
        The share of every column that was missing.
    flagged_ : list of int
        The columns that have a 0/1 column.
    filled_schema_ : Schema
        The columns after filling.
    statistic_ : Stats
        The merged statistics of the columns, which `partial_fit` adds to.
    """

    _takes_text = True

    def _fill_rules(self) -> FillRules:
        raise undefined(self, "_fill_rules")

    def _is_flagged(self, column: Column) -> bool:
        """Whether a column with missing cells gets a 0/1 column that says where they were."""
        raise undefined(self, "_is_flagged")

    def _statistic(self) -> Callable[[Block], Stats]:
        return partial(column_stats, medians=self._fill_rules().continuous == "median")

    def _finish(self, statistic: Stats) -> None:
        self.filled_schema_, self.fill_ = fill_values(
            self.schema_, statistic, self._fill_rules(), type(self).__name__
        )
        counts = statistic.parts[0]
        self.missing_ = counts.missing / counts.weight
        self.flagged_ = [
            j
            for j, c in enumerate(self.schema_)
            if counts.missing[j] and self._is_flagged(c)
        ]

    def _step(self, schema: Schema) -> Fill:
        return Fill(schema, self.filled_schema_, self.fill_, tuple(self.flagged_))

    def summary(self) -> Summary:
        """How much of every column is missing, and what it is filled with."""
        check_is_fitted(self)
        values = map(cell_value, self.filled_schema_, self.fill_)
        columns = zip(self.schema_, self.missing_.tolist(), values)
        rows = [
            (column.name, column.kind, share, value) for column, share, value in columns
        ]
        table = Table("Columns", ("column", "kind", "missing", "filled with"), rows)
        facts = {"columns": self.n_features_in_, "flagged": len(self.flagged_)}
        return Summary(self._title(), facts, [table])

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), MissingCounts, Stats)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"fill_": (self.n_features_in_,)}

    def _check_model(self) -> None:
        super()._check_model()
        flagged = getattr(self, "flagged_", [])
        numbers = range(len(getattr(self, "schema_", ())))
        if not isinstance(flagged, list) or not set(flagged) <= set(numbers):
            raise ModelFileError(
                f"holds a {type(self).__name__} whose flagged_ are not numbers of its columns"
            )


def column_stats(block: Block, medians: bool) -> Stats:
    """MissingCounts, means and, if they are wanted, quantiles of the columns."""
    block = block.without_zero_weights()
    parts = (MissingCounts.of(block), ClassMoments.of(replace(block, y=None)))
    if not medians:
        return Stats(parts)
    continuous = block.with_X(block.X[:, block.schema.continuous], block.schema)
    return Stats((*parts, Quantiles.of(continuous)))


def fill_values(
    schema: Schema,
    statistic: Stats,
    rules: FillRules,
    caller: str,
) -> tuple[Schema, np.ndarray]:
    """The columns after filling, and the cell that fills each; warns of columns with nothing but
    missing cells."""
    counts, moments = statistic.parts[:2]
    centers = moments.mean[0].copy()
    if rules.continuous == "median" and len(schema.continuous):
        centers[schema.continuous] = statistic.parts[2].median
    columns = []
    values = []
    for j, column in enumerate(schema):
        is_empty = counts.missing[j] >= counts.weight
        filled = column
        value = np.nan
        if column.is_categorical and not column.is_free_text:
            filled, value = _category(column, counts, bool(counts.missing[j]), rules)
        elif not column.is_free_text:
            value = _number(rules, float(centers[j]), is_empty)
        if is_empty and not np.isnan(value):
            warnings.warn(
                f"column {column.name!r} has nothing but missing values: {caller} fills it with "
                f"{cell_value(filled, value)}; leave the column out instead",
                UserWarning,
                stacklevel=2,
            )
        columns.append(filled)
        values.append(value)
    return Schema(tuple(columns)), np.array(values)


def cell_value(column: Column, value: float) -> Any:
    """The value of a cell as people read it."""
    if column.categories is None or np.isnan(value):
        return value
    if column.numeric:
        return column.categories.dtype.type(value)
    return column.categories[int(value)].item()


def _number(rules: FillRules, center: float, empty: bool) -> float:
    if rules.continuous == "keep":
        return np.nan
    if rules.continuous == "constant":
        return rules.number
    return 0.0 if empty else center


def _category(
    column: Column,
    counts: MissingCounts,
    some: bool,
    rules: FillRules,
) -> tuple[Column, float]:
    """The column after filling, and the cell that fills it.

    A category of their own is added only where cells are missing in `fit`: elsewhere nothing could
    be learned of it, and a later missing cell gets the mode.
    """
    # -1: the mode of a column without known cells, or a category that the column does not have
    mode = _code_of(column, counts.mode(column.name))
    if rules.categorical == "mode":
        code = max(mode, 0) if len(column.categories) else -1  # type: ignore[arg-type]
    else:
        code = _code_of(column, rules.category)
        if code < 0 and not some:
            code = mode
    categories = column.categories.tolist()  # type: ignore[union-attr]
    if code >= 0:
        return column, float(categories[code] if column.numeric else code)
    # a category that is new, the last one; numbers become words, whole ones without a point
    words = [
        str(int(value) if isinstance(value, float) and value.is_integer() else value)
        for value in categories
    ]
    words.append(str(rules.category))
    wider = replace(
        column,
        kind="binary" if len(words) == 2 else "categorical",
        categories=np.array(words, dtype=np.str_),
    )
    return wider, float(len(words) - 1)


def _code_of(column: Column, category: Any) -> int:
    """The code of a category, -1 if the column does not have it."""
    categories = column.categories.tolist()  # type: ignore[union-attr]
    return categories.index(category) if category in categories else -1

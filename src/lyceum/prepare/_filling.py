"""What the ways of filling gaps share: one pass that summarises the columns, and a value for each of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum.base import OnePassLearner, undefined
from lyceum.data import Block, Column, Schema
from lyceum.prepare._base import Transformer, with_weight
from lyceum.prepare._statistics import Gaps, Together
from lyceum.prepare._steps import Fill
from lyceum.report import Summary, Table
from lyceum.statistics import ClassMoments, Quantiles

__all__ = ["Filling", "Ways", "filled", "summarised"]


@dataclass(frozen=True, slots=True)
class Ways:
    """How gaps are filled: by kind of column."""

    continuous: str  # "mean", "median", "constant" or "keep"
    categorical: str  # "mode" or "constant"
    number: float = 0.0
    category: Any = "missing"


class Filling(Transformer, OnePassLearner):
    """A value for every column's gaps, learned in one pass; a subclass says how and what is flagged."""

    def _ways(self) -> Ways:
        raise undefined(self, "_ways")

    def _is_flagged(self, column: Column) -> bool:
        """Whether a column with gaps gets a 0/1 column that says where they were."""
        raise undefined(self, "_is_flagged")

    def _statistic(self) -> Callable[[Block], Together]:
        return partial(summarised, medians=self._ways().continuous == "median")

    def _finish(self, statistic: Together) -> None:
        self.filled_schema_, self.fill_ = filled(self.schema_, statistic, self._ways(), type(self).__name__)
        gaps = statistic.parts[0]
        self.missing_ = gaps.missing / gaps.weight
        self.flagged_ = [j for j, c in enumerate(self.schema_) if gaps.missing[j] and self._is_flagged(c)]

    def _step(self, schema: Schema) -> Fill:
        return Fill(schema, self.filled_schema_, self.fill_, tuple(self.flagged_))

    def summary(self) -> Summary:
        """How much of every column is missing, and what it is filled with."""
        check_is_fitted(self)
        values = map(shown, self.filled_schema_, self.fill_)
        columns = zip(self.schema_, self.missing_.tolist(), values)
        rows = [(column.name, column.kind, share, value) for column, share, value in columns]
        table = Table("Columns", ("column", "kind", "missing", "filled with"), rows)
        return Summary(
            self._title(), {"columns": self.n_features_in_, "flagged": len(self.flagged_)}, [table]
        )

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), Gaps, Together)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"fill_": (self.n_features_in_,)}


def summarised(block: Block, medians: bool) -> Together:
    """Gaps, means and, if they are wanted, quantiles of the columns."""
    block = with_weight(block)
    parts = (Gaps.of(block), ClassMoments.of(replace(block, y=None)))
    if not medians:
        return Together(parts)
    return Together((*parts, Quantiles.of(block.with_X(block.X[:, block.schema.continuous], block.schema))))


def filled(schema: Schema, statistic: Together, ways: Ways, who: str) -> tuple[Schema, np.ndarray]:
    """The columns after filling, and the cell that fills each; warns of columns with nothing but gaps."""
    gaps, moments = statistic.parts[:2]
    centers = moments.mean[0].copy()
    if ways.continuous == "median" and len(schema.continuous):
        centers[schema.continuous] = statistic.parts[2].median
    pairs = []
    for j, column in enumerate(schema):
        empty = gaps.missing[j] >= gaps.weight
        if column.is_categorical:
            pairs.append(_category(column, gaps, bool(gaps.missing[j]), ways))
        else:
            pairs.append((column, _number(ways, float(centers[j]), empty)))
        if empty and not np.isnan(pairs[-1][1]):
            warnings.warn(
                f"column {column.name!r} has nothing but missing values: {who} fills it with "
                f"{shown(*pairs[-1])}; leave the column out instead",
                UserWarning,
                stacklevel=2,
            )
    return Schema(tuple(column for column, _ in pairs)), np.array([value for _, value in pairs])


def shown(column: Column, value: float) -> Any:
    """The value of a cell as people read it."""
    if column.categories is None or np.isnan(value):
        return value
    return column.categories.dtype.type(value) if column.numeric else column.categories[int(value)].item()


def _number(ways: Ways, center: float, empty: bool) -> float:
    if ways.continuous == "keep":
        return np.nan
    return ways.number if ways.continuous == "constant" else 0.0 if empty else center


def _category(column: Column, gaps: Gaps, some: bool, ways: Ways) -> tuple[Column, float]:
    """The column after filling, and the cell that fills it.

    A category of their own is added only where there are gaps in `fit`: elsewhere nothing could be learned of
    it, and a later gap gets the mode.
    """
    mode = _place(column, gaps.mode(column.name))
    if ways.categorical == "mode":
        place = max(mode, 0) if len(column.categories) else -1  # type: ignore[arg-type]
    else:
        place = _place(column, ways.category)
        place = mode if place < 0 and not some else place
    if place >= 0:
        return column, _cell(column, place)
    words = np.append(_words(column.categories), str(ways.category))
    wider = replace(column, kind="binary" if len(words) == 2 else "categorical", categories=words)
    return wider, float(len(words) - 1)


def _place(column: Column, category: Any) -> int:
    """The code of a category, -1 if the column does not have it."""
    found = np.flatnonzero([value == category for value in column.categories.tolist()])  # type: ignore[union-attr]
    return int(found[0]) if len(found) else -1


def _cell(column: Column, code: int) -> float:
    return float(column.categories[code]) if column.numeric else float(code)  # type: ignore[index]


def _words(categories: Any) -> np.ndarray:
    """Categories as text: whole numbers without a decimal point."""
    values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in categories.tolist()]
    return np.array([str(value) for value in values], dtype=np.str_)

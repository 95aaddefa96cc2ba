"""Rows with missing cells left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from lyceum._core.base import OnePassLearner, library_of
from lyceum._core.data import ArraySource, Block, Schema, Step, text_array, to_arrow
from lyceum._core.lazy_arrow import is_arrow, pa
from lyceum._core.types import Data, Target, Weights
from lyceum.prepare.base import Transformer
from lyceum.prepare.containers import contain
from lyceum.prepare.statistics import MissingCounts, Stats, of_weighted_rows
from lyceum.prepare.steps import DropMissingRows, missing_cells
from lyceum.report import Summary, Table


class DropMissing(Transformer, OnePassLearner):
    """Drop the rows that have a missing cell.

    .. math:: \\{(x_i, y_i) : x_{ij} \\text{ is known for all } j\\}

    Rows of `scan(...)` lose their target and weight with their cells, and rows without a target are
    dropped too, so pipelines over scans fit. On arrays and frames `transform(X)` gives fewer rows
    than X has, and scikit-learn's pipelines cannot shorten y with it: use `drop(X, y,
    sample_weight)` before the pipeline. Rows to be predicted are dropped as well: predict gives an
    answer for each row that is left.

    Attributes
    ----------
    missing_ : array of shape (n_features,)
        The share of every column that was missing.
    complete_ : float
        The share of the rows without a missing cell.
    statistic_ : MissingCounts
        The merged counts of missing cells, which `partial_fit` adds to.

    See Also
    --------
    SimpleImputer : missing cells filled instead.

    Examples
    --------
    >>> from lyceum.prepare import DropMissing
    >>> X = [[1.0, 2.0], [float("nan"), 3.0], [4.0, 5.0]]
    >>> DropMissing().fit_transform(X).tolist()
    [[1.0, 2.0], [4.0, 5.0]]
    >>> DropMissing().fit(X).drop(X, ["a", "b", "c"])[1]
    ['a', 'c']
    """

    _parameter_constraints: ClassVar[dict] = {}

    def __init__(self) -> None:
        pass

    _keeps_rows = False

    def _statistic(self) -> Callable[[Block], MissingCounts]:
        return partial(of_weighted_rows, statistic=MissingCounts)

    def _finish(self, counts: MissingCounts) -> None:
        self.missing_ = counts.missing / counts.weight
        self.complete_ = counts.complete / counts.weight

    def _step(self, schema: Schema) -> DropMissingRows:
        return DropMissingRows()

    def drop(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ) -> tuple[Any, Any, Any]:
        """X, y and the weights without the rows that miss a cell of X or the target; None stays
        None.

        Parameters
        ----------
        X : array or frame
        y : array of shape (n_samples,), optional
        sample_weight : array of shape (n_samples,), optional
        """
        check_is_fitted(self)
        check_consistent_length(X, y, sample_weight)
        keep = self.rows_to_predict(X).collect(_is_complete)
        if y is not None:
            keep &= ~_is_missing(y)
        return tuple(
            None if part is None else _rows_where(part, keep)
            for part in (X, y, sample_weight)
        )  # type: ignore[return-value]

    def _through_memory(
        self,
        step: Step,
        X: Any,
        library: str | None = None,
    ) -> Any:
        if library_of(X) == "arrow":
            X = to_arrow(X)
        rows = self.rows_to_predict(X)
        source: ArraySource = rows.source  # type: ignore[assignment]
        keep = rows.collect(_is_complete)
        source = replace(source, X=source.X[keep])
        # rows of X itself, not of its codes, wherever X can be indexed
        words = None
        if any(column.is_text for column in source.schema):
            words = text_array(X, needs_text=False)
        if words is not None:
            X = words[keep]
        elif library_of(X) == "array":
            X = source.X
        else:
            X = _rows_where(X, keep)
        if library in (None, library_of(X)):
            return X
        cells = rows.collect(attrgetter("X"))[keep]
        return contain(cells, rows.schema, source, X, library)

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), MissingCounts, Stats)

    def summary(self) -> Summary:
        """How many rows are complete, and how much of every column is missing."""
        check_is_fitted(self)
        rows = [
            (column.name, column.kind, share)
            for column, share in zip(self.schema_, self.missing_.tolist())
        ]
        table = Table("Columns", ("column", "kind", "missing"), rows)
        facts = {"columns": self.n_features_in_, "complete rows": self.complete_}
        return Summary(self._title(), facts, [table])


def _is_complete(block: Block) -> np.ndarray:
    return np.asarray(~missing_cells(block).any(axis=1))


def _is_missing(y: Target) -> np.ndarray:
    """Where a target is None or NaN."""
    values = np.asarray(y)
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([value is None or value != value for value in values], dtype=bool)


def _rows_where(data: Any, keep: np.ndarray) -> Any:
    if is_arrow(data, "Table", "RecordBatch", "Array", "ChunkedArray"):
        return data.filter(pa.array(keep))
    return _safe_indexing(data, np.flatnonzero(keep))

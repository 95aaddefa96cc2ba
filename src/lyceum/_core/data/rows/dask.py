"""Rows on Dask: partitions are summarized where they live and merged as a tree, one compute a
pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data.inputs.arrow import frame_table, is_frame
from lyceum._core.data.rows.block import Block
from lyceum._core.data.rows.block_reduction import merge_all
from lyceum._core.data.rows.row_selection import check_ascending
from lyceum._core.data.rows.sources import ArraySource, BatchPart, Part
from lyceum._core.data.schema.coding import (
    class_codes,
    is_labeled,
    labels,
    target_numbers,
)
from lyceum._core.data.schema.column import Column, categorical_kind
from lyceum._core.data.schema.column_roles import ColumnRoles
from lyceum._core.data.schema.profile import TableProfile
from lyceum._core.data.schema.schema import Schema
from lyceum._core.lazy_arrow import pa
from lyceum._core.progress import is_watched, report
from lyceum._core.text import show_count
from lyceum._core.threads import ordered_map
from lyceum._core.types import Data, Frame, Target, Weights
from lyceum.errors import DataError

_FAN_IN = 8


def is_dask(data: Data) -> bool:
    """Whether data is a Dask array, frame or series; does not import Dask."""
    package = type(data).__module__.split(".")[0]
    return package in ("dask", "dask_expr") and hasattr(data, "__dask_graph__")


@dataclass(frozen=True, slots=True)
class DaskPart:
    """One partition: a frame, or arrays of cells, targets and weights."""

    X: Any
    y: Any
    w: Any
    start: int
    schema: Schema

    def blocks(self) -> Iterator[Block]:
        if is_frame(self.X):
            yield from self._frame_blocks()
            return
        source = ArraySource(self.X, self.y, self.w, self.schema)
        for part in source.parts():
            for block in part.blocks():
                yield replace(block, start=self.start + block.start)

    def as_arrow(self) -> DaskPart:
        """The same rows; a frame becomes a table of Arrow once, not in every pass."""
        if is_frame(self.X):
            return replace(self, X=frame_table(self.X))
        return self

    def _frame_blocks(self) -> Iterator[Block]:
        table = frame_table(self.X)
        for block in BatchPart(table, self.start, self.schema).blocks():
            start = block.start - self.start
            rows = slice(start, start + len(block))
            # targets and weights are columns of the frame, or given beside it
            if self.y is not None:
                block = replace(block, y=self.y[rows])
            if self.w is not None:
                block = replace(block, w=self.w[rows])
            yield block


class DaskSource:
    """A Dask collection of rows. The second reduction keeps the partitions in the workers' memory.

    Where the workers are threads of this process, later reductions go over the kept partitions
    without Dask.
    """

    def __init__(
        self,
        X: Sequence[Any],
        y: Sequence[Any] | None,
        w: Sequence[Any] | None,
        schema: Schema,
        lengths: Sequence[int],
        dtype: np.dtype | None = None,
    ):
        self.X = list(X)
        self.y = y and list(y)
        self.w = w and list(w)
        self.schema = schema
        self.lengths = tuple(lengths)
        self.dtype = dtype
        self._passes = 0
        self._kept: Sequence[DaskPart] | None = None

    @classmethod
    def of_frame(cls, frame: Any, roles: ColumnRoles) -> DaskSource:
        """A Dask frame whose columns are profiled in one pass."""
        import dask

        partitions = frame.to_delayed()
        profiles = dask.compute(
            *[dask.delayed(_profile)(part, roles.in_full) for part in partitions]
        )
        # an empty partition may have other types than the others
        merged = merge_all([profile for profile in profiles if profile.n_rows])
        if merged is None:
            raise DataError("the Dask frame has no rows (0 samples)")
        types = {name: column.holds for name, column in merged.columns.items()}
        schema = replace(roles, types=types).schema(merged)
        lengths = [profile.n_rows for profile in profiles]
        return cls(partitions, None, None, schema, lengths)

    @classmethod
    def of_collections(
        cls,
        X: Any,
        y: Target,
        w: Weights,
        task: str | None,
        kinds: Callable[[list[str], bool], ColumnRoles],
        unlabeled: bool = False,
    ) -> DaskSource:
        """Dask collections given to `fit`: one pass finds the classes and the categories.

        Labels may be missing if `unlabeled`; their codes are -1.
        """
        import dask

        named = hasattr(X, "columns")
        if named:
            names = [str(name) for name in X.columns]
            types = X.dtypes.tolist()
        else:
            names = [f"x{j}" for j in range(X.shape[1])]
            types = [np.dtype(np.float64)] * len(names)
        roles = kinds(names, named)
        parts = as_delayed(X)
        ys = _partitions_like_X(y if task else None, len(parts), "y")
        ws = _partitions_like_X(w, len(parts), "sample_weight")
        look = dask.delayed(_look, pure=False)
        undecided = _undecided_columns(names, types, roles)
        looks = dask.compute(
            *[look(*part, undecided, task, unlabeled) for part in zip(parts, ys, ws)]
        )
        if w is not None and not any(seen.weight for seen in looks):
            raise DataError(
                "sample_weight is zero for every row: there is nothing to learn from"
            )
        schema = _seen_schema(names, roles, looks, task, unlabeled)
        coded = None
        if schema.target is not None:
            work = partial(_coded_target, target=schema.target, unlabeled=unlabeled)
            code = dask.delayed(work, pure=False)
            coded = [code(part_y) for part_y in ys]
        weights = None
        if w is not None:
            weights = [dask.delayed(_weights, pure=False)(part_w) for part_w in ws]
        return cls(parts, coded, weights, schema, [seen.n_rows for seen in looks])

    @property
    def n_rows(self) -> int:
        return sum(self.lengths)

    def take(self, indices: np.ndarray) -> DaskSource:
        """The rows at some ascending places, a partition from every one."""
        import dask

        check_ascending(indices)
        # partition p has the rows from stops[p] - lengths[p] to stops[p]: the indices that are
        # wanted of it lie between two ends, and become row numbers in it
        stops = np.cumsum(self.lengths)
        ends = np.searchsorted(indices, stops)
        starts = [0, *ends]
        rows_by_part = []
        for a, b, stop, n in zip(starts, ends, stops, self.lengths):
            rows_by_part.append(indices[a:b] - (stop - n))
        rows_of = dask.delayed(_rows_at, pure=False)

        def take(parts: Sequence[Any]) -> list[Any]:
            return [rows_of(part, rows) for part, rows in zip(parts, rows_by_part)]

        return DaskSource(
            take(self.X),
            y=self.y and take(self.y),
            w=self.w and take(self.w),
            schema=self.schema,
            lengths=list(map(len, rows_by_part)),
            dtype=self.dtype,
        )

    def parts(self) -> Iterator[Part]:
        """The parts brought here one at a time."""
        if self._kept is not None:
            yield from self._kept
            return
        for part in self._delayed_parts():
            yield part.compute()

    def _delayed_parts(self) -> list[Any]:
        import dask

        starts = [0, *np.cumsum(self.lengths)[:-1].tolist()]
        nothing = [None] * len(self.X)
        # the schema is bound, as Dask would search an argument for other delayed values
        make = dask.delayed(partial(DaskPart, schema=self.schema), pure=False)
        parts = zip(self.X, self.y or nothing, self.w or nothing, starts)
        return [make(*part) for part in parts]

    def _persist(self) -> None:
        import dask

        # in one call, so that what partitions of X, y and w have in common is computed once
        given = [*self.X, *(self.y or []), *(self.w or [])]
        everything = dask.persist(*given)
        n = len(self.X)
        self.X = list(everything[:n])
        if self.y:
            self.y = list(everything[n : 2 * n])
        if self.w:
            self.w = list(everything[-n:])
        # threads of this process share its memory: no scheduler is needed any more
        if _is_local():
            parts = dask.compute(*self._delayed_parts())
            self._kept = [part.as_arrow() for part in parts]

    def reduce(self, fold: Callable[[Part], Any]) -> Any:
        """Fold every partition and merge the results in order, as a tree, in one compute."""
        import dask

        # the first pass may be the only one, for which nothing need be held
        self._passes += 1
        if self._passes == 2:
            self._persist()
        if self._kept is not None:
            return self._reduce_kept(fold)
        # a tree: no worker has to hold the summaries of all partitions
        folded = dask.delayed(fold, pure=False)
        level = [folded(part) for part in self._delayed_parts()]
        rows = dict(zip((task.key for task in level), self.lengths))
        merge = dask.delayed(merge_all, pure=False)
        while len(level) > 1:
            starts = range(0, len(level), _FAN_IN)
            level = [merge(level[i : i + _FAN_IN]) for i in starts]
        with _report_rows(rows):
            return level[0].compute()

    def _reduce_kept(self, fold: Callable[[Part], Any]) -> Any:
        """The same reduction over partitions in memory."""
        assert self._kept is not None
        level = []
        n_done = 0
        for summary, n in zip(ordered_map(fold, self._kept), self.lengths):
            level.append(summary)
            n_done += n
            report("rows", n_done, self.n_rows)
        # merged in the same order as on Dask, so that sums are the same to the last bit
        while len(level) > 1:
            starts = range(0, len(level), _FAN_IN)
            level = [merge_all(level[i : i + _FAN_IN]) for i in starts]
        return level[0]

    def collect(self, function: Callable[[Part], tuple[int, np.ndarray | None]]) -> Any:
        """`function` of every partition as one lazy Dask array."""
        import dask
        import dask.array as da

        # a lazy array has to know its type and shape: those of the answer for no rows
        no_cells = np.empty((0, len(self.schema)), self.dtype)
        like = function(_EmptyPart(no_cells, self.schema))[1]
        assert like is not None
        result = dask.delayed(_result_or, pure=False)
        parts = []
        for part, n in zip(self._delayed_parts(), self.lengths):
            shape = (n, *like.shape[1:])
            rows = result(function, part, like)
            parts.append(da.from_delayed(rows, shape, like.dtype))
        return da.concatenate(parts)


def _is_local() -> bool:
    """Whether Dask's tasks run in threads of this process."""
    from dask.base import get_scheduler

    scheduler = get_scheduler()
    return scheduler is None or getattr(scheduler, "__module__", "") in (
        "dask.threaded",
        "dask.local",
    )


@contextmanager
def _report_rows(rows: Mapping[str, int]) -> Iterator[None]:
    """Report every partition that is done under Dask's own schedulers; on a cluster, the last."""
    if not is_watched():
        yield
        return
    from dask.callbacks import Callback

    n_rows = sum(rows.values())
    left = dict(rows)

    def after(key: Any, *_: Any) -> None:
        if left.pop(key, 0):
            report("rows", n_rows - sum(left.values()), n_rows)

    with Callback(posttask=after):
        yield
    if any(left.values()):
        report("rows", n_rows, n_rows)


def _rows_at(part: Any, indices: np.ndarray) -> Any:
    if hasattr(part, "iloc"):
        return part.iloc[indices]
    return part[indices]


def _result_or(
    function: Callable[[Part], tuple[int, np.ndarray | None]],
    part: Part,
    like: np.ndarray,
) -> np.ndarray:
    result = function(part)[1]
    if result is None:
        return like
    return result


@dataclass(frozen=True, slots=True)
class _EmptyPart:
    """No rows, but of the right width: asks a function for the shape of its answers."""

    X: np.ndarray
    schema: Schema

    def blocks(self) -> Iterator[Block]:
        target = self.schema.target
        y = None
        if target is not None:
            y = np.empty(0, np.int32 if target.is_categorical else np.float64)
        yield Block(self.X, y, None, 0, self.schema)


def _profile(frame: Frame, in_full: Collection[str]) -> TableProfile:
    table = frame_table(frame)
    return TableProfile.of(table, in_full, table.column_names)


@dataclass(frozen=True, slots=True)
class _PartFacts:
    """What one look at a partition found."""

    n_rows: int
    profile: TableProfile | None
    classes: np.ndarray | None
    weight: float


def _look(
    X: Any, y: Any, w: Any, undecided: list[str], task: str | None, unlabeled: bool
) -> _PartFacts:
    for name, data in (("y", y), ("sample_weight", w)):
        if data is not None and len(data) != len(X):
            raise DataError(
                f"a partition of {name} has {show_count(len(data), 'row')} where that of X has"
                f" {len(X)}: partition both alike"
            )
    profile = None
    if undecided and is_frame(X):
        table = frame_table(X).select(undecided)
        profile = TableProfile.of(table, in_full=undecided, ordered=undecided)
    elif undecided:
        # the columns of an array are called x0, x1, ...
        cells = {}
        for name in undecided:
            cells[name] = np.ascontiguousarray(X[:, int(name[1:])])
        profile = TableProfile.of(pa.table(cells), in_full=undecided)
    classes = None
    if task == "classes" and y is not None and len(y):
        if unlabeled:
            y = np.asarray(y)[is_labeled(y)]
        if len(y):
            classes = class_codes(labels(y, "y", " of a partition"))[0]
    weight = 0.0
    if w is not None:
        weight = float(_weights(w).sum())
    return _PartFacts(len(X), profile, classes, weight)


def _weights(w: Weights) -> np.ndarray:
    weights = np.asarray(w, dtype=np.float64)
    all_finite = np.isfinite(weights).all()
    if not all_finite or weights.min(initial=0.0) < 0:
        raise DataError(
            "sample_weight has negative, missing or infinite values: weights are numbers of at"
            " least 0"
        )
    return weights


def _undecided_columns(
    names: list[str], types: list[Any], roles: ColumnRoles
) -> list[str]:
    """The columns whose kind or categories only their cells tell."""
    in_full = roles.in_full
    undecided = []
    for name, dtype in zip(names, types):
        is_number = isinstance(dtype, np.dtype) and dtype.kind in "iuf"
        if name not in roles.columns and (name in in_full or not is_number):
            undecided.append(name)
    return undecided


def _seen_schema(
    names: list[str],
    roles: ColumnRoles,
    looks: Sequence[_PartFacts],
    task: str | None,
    unlabeled: bool,
) -> Schema:
    # columns that no partition had to look at are numbers
    profile = merge_all([seen.profile for seen in looks]) or TableProfile(0, {})
    types = dict.fromkeys(names, "number")
    for name, column in profile.columns.items():
        types[name] = column.holds
    columns = replace(roles, types=types).schema(profile).columns
    if task is None:
        return Schema(columns)
    if task == "numbers":
        return Schema(columns, Column("y", why="y"))
    seen_labels = [seen.classes for seen in looks if seen.classes is not None]
    if not seen_labels:
        what = "label" if unlabeled else "rows (0 samples)"
        raise DataError(f"the Dask collection has no {what}")
    classes = np.unique(np.concatenate(seen_labels))
    if unlabeled and classes.dtype.kind in "if" and (classes != -1).sum() != 1:
        classes = classes[classes != -1]  # as in `fill_unlabeled`
    # imported here, as scan alone does not need scikit-learn
    from sklearn.utils.multiclass import check_classification_targets

    check_classification_targets(classes)
    target = Column("y", categorical_kind(classes), classes, "y")
    return Schema(columns, target)


def _coded_target(y: Any, target: Column, unlabeled: bool) -> np.ndarray:
    if target.categories is None:
        return target_numbers(y, target.name)
    classes = target.categories
    if not unlabeled:
        return np.searchsorted(classes, labels(y, target.name)).astype(np.int32)
    # a label that is no class is -1, which marks a row without a label
    labeled = np.flatnonzero(is_labeled(y))
    codes = np.full(len(y), -1, dtype=np.int32)
    given = labels(np.asarray(y)[labeled], target.name)
    indices = np.minimum(np.searchsorted(classes, given), len(classes) - 1)
    codes[labeled] = np.where(classes[indices] == given, indices, -1)
    return codes


def _partitions_like_X(data: Data, n_parts: int, name: str) -> list[Any]:
    """The delayed partitions of y or the weights, as many as X has."""
    if data is None:
        return [None] * n_parts
    if not is_dask(data):
        raise DataError(
            f"X is a Dask collection but {name} is not: give both as Dask collections"
        )
    parts = as_delayed(data)
    if len(parts) != n_parts:
        raise DataError(
            f"{name} has {len(parts)} partitions where X has {n_parts}: partition both alike"
        )
    return parts


def as_delayed(data: Any) -> list[Any]:
    """The row partitions of a Dask array, frame or series as delayed values."""
    if hasattr(data, "columns") or not hasattr(data, "numblocks"):
        return list(data.to_delayed())
    # blocks of whole rows
    if data.ndim == 2 and data.numblocks[1] > 1:
        data = data.rechunk({1: -1})
    return list(data.to_delayed().ravel())


def row_counts(data: Data) -> list[int]:
    """The number of rows of every partition, computed if Dask does not know it."""
    import dask

    # Dask writes NaN for a length that only a computation would tell
    if hasattr(data, "chunks") and not np.isnan(data.chunks[0]).any():
        return [int(n) for n in data.chunks[0]]
    lengths = [dask.delayed(len)(part) for part in as_delayed(data)]
    return list(dask.compute(*lengths))

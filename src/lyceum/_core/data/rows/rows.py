"""Rows: a replayable source of blocks with one verb, `reduce`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import numpy as np

from lyceum._core.data.inputs.separate_target import check_numbers
from lyceum._core.data.rows.block import Block, stack_rows
from lyceum._core.data.rows.block_reduction import (
    after_steps,
    count_and_fold,
    fold_part,
    gather_part,
    map_part,
    merge_all,
)
from lyceum._core.data.rows.gather import Gathered, labels_as_given, refuse_size
from lyceum._core.data.rows.row_selection import (
    BlockSource,
    TakenSource,
    key_places,
    row_numbers,
)
from lyceum._core.data.rows.sources import ArraySource, Part, Source
from lyceum._core.data.rows.steps import RowCounter
from lyceum._core.data.rows.text import describe, describe_in_html
from lyceum._core.data.schema.schema import Schema
from lyceum._core.progress import is_watched, report
from lyceum._core.threads import ordered_map, single_threaded_blas
from lyceum.errors import DataError

Summary = TypeVar("Summary", bound="Statistic")
_NO_ROWS = "there are no rows (0 samples): check the file, or the step that drops rows"


class Statistic(Protocol):
    """A summary of rows that merges: `one.merge(two)` summarizes the rows of both.

    `Rows.reduce(of)` makes one for every block, by `of(block)`, and merges them in order. Merging
    is associative, and the summaries are immutable.

    See Also
    --------
    Rows.reduce : Folds all rows to one.
    Block : What is summarized.
    lyceum.statistics : Ready ones: moments, counts, histograms.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> @dataclass(frozen=True)
    ... class Largest:
    ...     value: float
    ...     @classmethod
    ...     def of(cls, block):
    ...         return cls(float(block.X.max()))
    ...     def merge(self, other):
    ...         return Largest(max(self.value, other.value))
    >>> scan(np.array([[3.0], [8.0], [5.0]])).reduce(Largest.of)
    Largest(value=8.0)
    """

    def merge(self, other: Any) -> Any: ...


class Step(Protocol):
    """A change to every block on its way to the learner.

    `schema` gives the columns after the step, and a call gives the block after it. A step that
    leaves out rows has `drops_rows = True`.

    See Also
    --------
    Rows.then : The rows after one more step.
    Align, CheckCells, CheckTarget, Design, Recode : Steps that every learner uses.
    lyceum.prepare.Transformer : Learns a step from rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.data import scan
    >>> class Halve:
    ...     def schema(self, schema):
    ...         return schema
    ...     def __call__(self, block):
    ...         return block.with_X(block.X / 2, block.schema)
    >>> rows = scan(np.array([[3.0, 8.0]])).then(Halve())
    >>> np.asarray(rows).tolist()
    [[1.5, 4.0]]
    """

    def schema(self, schema: Schema) -> Schema:
        """The schema after the step."""

    def __call__(self, block: Block) -> Block: ...


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Rows from a source, after some steps, in blocks whose size does not depend on the number of
    threads.

    `reduce(of)` summarizes every block by `of(block)` and merges the summaries in order. Blocks of
    arrays and files are spread over threads; Dask partitions are reduced where they are.

    Attributes
    ----------
    source : Source
        Where the rows come from: an array in memory, files that are read on every pass, or Dask
        partitions.
    steps : tuple of Step
        The changes to every block on its way to the learner.
    name : str
        What `repr` calls them: a path, or the type of the frame.
    schema : Schema
        The columns as they come out of the last step, the target and the weight column.
    n_rows : int or None
        The number of rows, if it is known without reading them all; `len(rows)` counts them.
    shape : (int, int)
        The number of rows, which may have to be counted, and of columns.
    in_memory : bool
        Whether the cells are an array in memory.
    on_dask : bool
        Whether the rows are partitions of a Dask collection.
    y : array or None
        The target of every row as it was given: labels or numbers.
    coded_y : array or None
        The target of every row as class codes (-1 when missing), or numbers.
    sample_weight : array or None
        The weight of every row, None if all are 1.

    See Also
    --------
    scan : Makes rows of a file, frame, array or Dask collection.
    Block : Some of the rows, coded.
    Statistic : What `reduce` makes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> rows = scan(pa.table({"age": [31.0, 45.0, 52.0], "sex": ["f", "m", "f"]}), target="sex")
    >>> rows
    <Rows of a Table: 3 rows × 1 column (1 continuous), target 'sex' (2 classes), in memory>
    >>> len(rows), rows.y.tolist()
    (3, ['f', 'm', 'f'])
    """

    source: Source
    steps: tuple[Step, ...] = ()
    name: str = ""

    @cached_property
    def schema(self) -> Schema:
        """The columns as they come out of the last step, the target and the weight column."""
        schema = self.source.schema
        for step in self.steps:
            schema = step.schema(schema)
        return schema

    # -- how many, and where -----------------------------------------------------------

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known without reading them all."""
        # a count that was made is remembered by the cached property
        if "_row_count" in vars(self):
            return self._row_count
        if self._drops_rows:
            return None
        return self.source.n_rows

    def __len__(self) -> int:
        return self._row_count

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, which may have to be counted, and of columns."""
        return len(self), len(self.schema)

    @cached_property
    def _row_count(self) -> int:
        if self.n_rows is not None:
            return self.n_rows
        counted = self
        if not self._drops_rows:
            counted = replace(self, steps=())
        count = counted._reduce(_Count.of)
        if count is None:
            return 0
        return count.n_rows

    @property
    def in_memory(self) -> bool:
        """Whether the cells are an array in memory, so that another pass or any order costs
        little."""
        return isinstance(self.source, ArraySource)

    @property
    def on_dask(self) -> bool:
        """Whether the rows are partitions of a Dask collection, reduced where they live."""
        return hasattr(self.source, "reduce")

    @property
    def _drops_rows(self) -> bool:
        return any(getattr(step, "drops_rows", False) for step in self.steps)

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return describe_in_html(self)

    # -- targets and weights -----------------------------------------------------------

    @property
    def y(self) -> np.ndarray | None:
        """The target of every row as it was given: labels, or numbers; None without a target.

        Files are read once for it, the target's column alone where the format allows it. A label
        that is missing is None (NaN among numbers).
        """
        return labels_as_given(self._targets.y, self.schema.target)

    @property
    def coded_y(self) -> np.ndarray | None:
        """The target of every row as blocks have it: class codes (-1 when missing), or numbers."""
        return self._targets.y

    @property
    def sample_weight(self) -> np.ndarray | None:
        """The weight of every row, None if all are 1."""
        return self._targets.w

    @cached_property
    def _targets(self) -> Block:
        """The targets and weights of all rows; the cells are left out."""
        if isinstance(self.source, ArraySource) and not self.steps:
            return self.source.block
        rows = self
        if not self.steps and hasattr(self.source, "without_features"):
            rows = replace(self, source=self.source.without_features())
        gathered = rows._reduce(Gathered.of_targets)
        if gathered is None:
            return Gathered.of_targets(self._empty).block
        return gathered.block

    @property
    def _empty(self) -> Block:
        target = self.schema.target
        y = None
        if target is not None:
            y = np.empty(0, np.float64 if target.categories is None else np.int32)
        w = None
        if self.schema.weight is not None:
            w = np.empty(0)
        X = np.empty((0, len(self.schema)))
        return Block(X, y, w, 0, self.schema)

    # -- other rows --------------------------------------------------------------------

    def then(self, step: Step) -> Rows:
        """The same rows after one more step."""
        return type(self)(self.source, (*self.steps, step), self.name)

    def take(self, indices: Any) -> Rows:
        """Some of the rows, by their places: row numbers from 0, or a truth value per row.

        Rows in memory are taken in any order. Rows of files and of Dask collections stay where they
        are and are taken in ascending order; a place may be repeated.

        Parameters
        ----------
        indices : array of int or bool
            The numbers of the rows to take, counted after the steps.

        Examples
        --------
        >>> from lyceum.data import scan
        >>> rows = scan(np.arange(10.0)[:, None]).take([7, 2, 2])
        >>> next(rows.blocks()).X[:, 0].tolist()
        [7.0, 2.0, 2.0]
        """
        indices = row_numbers(indices, self.n_rows)
        if not self._drops_rows:
            if hasattr(self.source, "take"):
                return replace(self, source=self.source.take(indices))
            return replace(self, source=TakenSource.of(self.source, indices))
        # the rows are counted after the steps, which are therefore done first
        source: Source
        if self.in_memory:
            block = self.in_one_block("take", "a source without dropped rows")
            source = ArraySource.of_block(block).take(indices)
        else:
            left = BlockSource(self.blocks, self.schema)
            source = TakenSource.of(left, indices)
        return replace(self, source=source, steps=())

    def __getitem__(self, key: Any) -> Rows:
        """`take` by a slice, row numbers or truth values: so scikit-learn's tools cut rows into
        folds."""
        return self.take(key_places(key, len(self)))

    __iter__ = None  # rows come in blocks: see `blocks`

    def in_one_block(
        self, caller: str, alternative: str | None = None, memory: int | None = None
    ) -> Block:
        """All rows as one block in memory, for a method that cannot work in passes.

        Parameters
        ----------
        caller : str
            The learner that needs all rows at once, for the message when they cannot be held.
        alternative : str, optional
            What to use instead, besides fewer rows, for the same message.
        memory : int, optional
            The largest number of bytes to hold; by default half of the machine's memory.

        Raises
        ------
        SourceError
            If the rows need more than `memory`.

        Examples
        --------
        >>> from lyceum.data import scan
        >>> scan(np.arange(6.0).reshape(3, 2)).in_one_block("A learner", "another one").X.shape
        (3, 2)
        """
        source = self.source
        if isinstance(source, ArraySource) and not self.steps and source.is_coded:
            return source.block
        if not self.in_memory:
            refuse_size(caller, alternative, memory, source.n_rows, len(source.schema))
        # the partitions are computed side by side; their number of rows is known
        if self.on_dask:
            return self.reduce(Gathered.of).block
        gathered = Gathered()
        # the rows of a file may not be known before: what was read so far is compared
        for n_bytes, part in self._gathered_parts():
            gathered = gathered.merge(part)
            if not self.in_memory:
                n_rows = sum(map(len, gathered.blocks))
                refuse_size(caller, alternative, memory, n_rows, n_bytes=n_bytes)
        if not gathered.blocks:
            raise DataError(_NO_ROWS)
        if gathered.unchanged and isinstance(source, ArraySource) and source.is_coded:
            return replace(gathered.targets, X=source.X)
        return gathered.block

    def _gathered_parts(self) -> Iterator[tuple[int, Gathered]]:
        """The blocks of every part, and the bytes that all parts so far take."""
        n_bytes = 0
        with single_threaded_blas():
            for part in self._over_parts(partial(gather_part, steps=self.steps)):
                n_bytes += part.n_bytes
                yield n_bytes, part

    def blocks(self) -> Iterator[Block]:
        """The blocks in order, one at a time."""
        for part in self.source.parts():
            for block in part.blocks():
                yield after_steps(block, self.steps)

    def reduce(self, of: Callable[[Block], Summary]) -> Summary:
        """Summarize every block by `of` and merge the summaries in order."""
        summary = self._reduce(of)
        if summary is None:
            raise DataError(_NO_ROWS)
        return summary

    def _reduce(self, of: Callable[[Block], Summary]) -> Summary | None:
        if hasattr(self.source, "reduce"):
            return self.source.reduce(partial(fold_part, of=of, steps=self.steps))
        fold = partial(count_and_fold, of=of, steps=self.steps)
        # blocks are spread over threads: BLAS with threads of its own would get in their way
        with single_threaded_blas():
            return merge_all(self._over_parts(fold))

    def map(self, function: Callable[[Block], np.ndarray]) -> Iterator[np.ndarray]:
        """`function` of every part's blocks, in order, over threads; what is kept is up to the
        caller."""
        work = partial(map_part, function=function, steps=self.steps)
        with single_threaded_blas():
            for result in self._over_parts(work):
                if result is not None:
                    yield result

    def _over_parts(self, work: Callable[[Part], tuple[int, Any]]) -> Iterator[Any]:
        """The results of `work` on every part, in order; reports the rows done."""
        n_done = 0
        # the number of rows may take a look at every file
        n_rows = None
        if is_watched():
            n_rows = self.source.n_rows
        for n, result in ordered_map(work, self.source.parts()):
            yield result
            n_done += n
            report("rows", n_done, n_rows)
        for step in self.steps:
            if isinstance(step, RowCounter):
                step.complete = True

    def collect(self, function: Callable[[Block], np.ndarray]) -> Any:
        """`function` of all blocks in one array (a lazy one on Dask, unless a step drops rows)."""
        if hasattr(self.source, "collect") and not self._drops_rows:
            return self.source.collect(
                partial(map_part, function=function, steps=self.steps)
            )
        results = list(self.map(function))
        if not results:
            raise DataError(_NO_ROWS)
        return stack_rows(results)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The cells of all rows, as the steps leave them: `np.asarray(pca.transform(rows))`.

        Columns of categories are refused: their codes are no numbers to compute with.
        """
        check_numbers(self.schema)
        return np.asarray(self.collect(attrgetter("dense")), dtype=dtype)


@dataclass(frozen=True, slots=True)
class _Count:
    """The number of rows."""

    n_rows: int

    @classmethod
    def of(cls, block: Block) -> _Count:
        return cls(len(block))

    def merge(self, other: _Count) -> _Count:
        return _Count(self.n_rows + other.n_rows)

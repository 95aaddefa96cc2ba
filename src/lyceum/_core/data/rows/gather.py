"""All rows in one block, and the refusal of rows that memory cannot hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from lyceum._core.data.files.limits import machine_memory
from lyceum._core.data.rows.block import Block, stack_rows
from lyceum._core.data.schema.column import Column
from lyceum.errors import SourceError


@dataclass(frozen=True, slots=True)
class Gathered:
    """Blocks in order, a statistic that merges by putting them next to each other."""

    blocks: tuple[Block, ...] = ()
    unchanged: bool = True  # whether the cells are those of the source

    @classmethod
    def of(cls, block: Block, unchanged: bool = False) -> Gathered:
        return cls((block,), unchanged)

    @classmethod
    def of_targets(cls, block: Block) -> Gathered:
        """The targets and weights of a block alone."""
        nothing = np.empty((len(block), 0))
        return cls((replace(block, X=nothing),))

    def merge(self, other: Gathered) -> Gathered:
        return Gathered(self.blocks + other.blocks, self.unchanged and other.unchanged)

    @property
    def n_bytes(self) -> int:
        n_bytes = 0
        for block in self.blocks:
            X = block.X
            if sparse.issparse(X):
                n_bytes += X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
            else:
                n_bytes += X.nbytes
        return n_bytes

    @property
    def block(self) -> Block:
        """All rows in one block."""
        blocks = _with_one_list_of_texts(self.blocks)
        X = stack_rows([block.X for block in blocks])
        return replace(self.targets, X=X, schema=blocks[0].schema)

    @property
    def targets(self) -> Block:
        """All targets and weights; the cells are those of the first block."""
        first = self.blocks[0]
        y = None
        if first.y is not None:
            y = np.concatenate([block.y for block in self.blocks])
        w = None
        if any(block.w is not None for block in self.blocks):
            w = np.concatenate([block.weights for block in self.blocks])
        return replace(first, y=y, w=w, start=0)


def _with_one_list_of_texts(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The same blocks, whose columns of free text list the texts of all of them."""
    first = blocks[0].schema
    if not first.has_free_text:
        return blocks
    columns = list(first.columns)
    cells = [block.X for block in blocks]
    for j, column in enumerate(first):
        lists = [np.asarray(block.schema[j].categories) for block in blocks]
        if not column.is_free_text or all(texts is lists[0] for texts in lists):
            continue
        # the lists one after the other: the codes of a block begin where its list does
        starts = np.cumsum([0, *map(len, lists[:-1])])
        columns[j] = replace(column, categories=np.concatenate(lists))
        cells = [X.astype(np.float64) for X in cells]
        for X, start in zip(cells, starts):
            X[:, j] += np.where(X[:, j] >= 0, start, 0)  # a missing cell is NaN
    schema = replace(first, columns=tuple(columns))
    changed = []
    for block, X in zip(blocks, cells):
        changed.append(replace(block, X=X, schema=schema))
    return tuple(changed)


def labels_as_given(y: np.ndarray | None, target: Column | None) -> np.ndarray | None:
    """Targets as they were given: class codes become labels, a missing one None, or NaN among
    numbers."""
    if y is None or target is None or target.categories is None:
        return y
    labels = target.categories
    missing = y < 0
    if not missing.any():
        return labels[y]
    if labels.dtype.kind in "iuf":
        return np.where(missing, np.nan, labels[y])
    given = labels.astype(object)[y]
    given[missing] = None
    return given


def refuse_size(
    caller: str,
    alternative: str | None,
    memory: int | None,
    n_rows: int | None = None,
    n_columns: int = 0,
    n_bytes: int = 0,
) -> None:
    """Raise if n_rows rows of n_columns columns, or n_bytes bytes, are more than may be held in
    memory.

    >>> refuse_size("RowSVD", "PCA", 32_000, n_rows=1000, n_columns=5)
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    ...
    lyceum.errors.SourceError: RowSVD keeps every row in memory, but the rows need 40,000 bytes and
    at most 32,000 are allowed: use PCA, or fewer rows, e.g. rows.take(np.arange(800))
    """
    limit = memory
    if limit is None:
        limit = _half_of_memory()
    needed = max(n_bytes, 8 * (n_rows or 0) * n_columns)
    if needed > limit:
        # the rows that would fit, rounded down to their first digit
        fits = (n_rows or 1) * limit // needed
        unit = 10 ** (len(str(fits)) - 1)
        fits = max(1, fits - fits % unit)
        other = ""
        if alternative is not None:
            other = f"{alternative}, or "
        raise SourceError(
            f"{caller} keeps every row in memory, but the rows need {needed:,} bytes and at most"
            f" {limit:,} are allowed: use {other}fewer rows, e.g. rows.take(np.arange({fits:_}))"
        )


def _half_of_memory() -> int:
    return machine_memory() // 2

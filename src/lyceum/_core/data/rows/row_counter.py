"""The number of rows of a learner, counted in the pass that it makes anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._core.data.rows.block import Block
from lyceum._core.data.schema.schema import Schema

if TYPE_CHECKING:
    from lyceum._core.data.rows.rows import Rows


class RowCounter:
    """A step that counts the rows that come by, where only a pass can tell how many there are.

    Parameters
    ----------
    rows : Rows
        What is counted.
    before : int, default=0
        Rows counted in earlier calls of `partial_fit`.

    Attributes
    ----------
    complete : bool
        Whether a pass over all rows has been made; `Rows` says so.
    """

    def __init__(self, rows: Rows, before: int = 0):
        self.rows = rows
        self.before = before
        self.complete = False
        self._lengths: dict[
            int, int
        ] = {}  # by the first row of a block: more passes change nothing

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        self._lengths[block.start] = len(block)
        return block

    def total(self) -> int:
        """The number of rows; takes a pass only if none was made here, as on Dask."""
        return self.before + (
            sum(self._lengths.values()) if self.complete else len(self.rows)
        )

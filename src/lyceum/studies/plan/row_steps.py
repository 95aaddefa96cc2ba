"""Steps between the rows of a file and the rows of a study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lyceum._core.data import Block, Schema


def has_target(y: np.ndarray | None) -> np.ndarray:
    """Whether the target of every row is known: a class, or a finite number."""
    assert y is not None
    if y.dtype.kind == "i":
        return y >= 0
    return np.isfinite(y)


@dataclass(frozen=True, slots=True)
class FiniteCells:
    """Infinite cells as missing ones."""

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        return block.with_X(np.where(np.isinf(block.X), np.nan, block.X), block.schema)


@dataclass(frozen=True, slots=True)
class WithTarget:
    """Only the rows whose target is known."""

    drops_rows: ClassVar[bool] = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        known = has_target(block.y)
        if known.all():
            return block
        return block.take(known)


@dataclass(frozen=True, slots=True, eq=False)
class KnownClasses:
    """Only the rows of some classes, which are numbered anew."""

    kept: np.ndarray  # codes of the classes, ascending
    drops_rows: ClassVar[bool] = True

    def schema(self, schema: Schema) -> Schema:
        target = schema.target
        assert target is not None
        assert target.categories is not None
        kind: Any = "binary" if len(self.kept) == 2 else "categorical"
        categories = target.categories[self.kept]
        return schema.with_target(replace(target, kind=kind, categories=categories))

    def __call__(self, block: Block) -> Block:
        assert block.y is not None
        known = np.isin(block.y, self.kept)
        schema = self.schema(block.schema)
        if not known.all():
            block = block.take(known)
        assert block.y is not None
        codes = np.searchsorted(self.kept, block.y).astype(block.y.dtype)
        return replace(block, y=codes, schema=schema)

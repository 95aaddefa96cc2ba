"""Transformers that keep some of the columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.data import Block, Schema, Step
from lyceum.prepare import Transformer


@dataclass(frozen=True, eq=False)
class KeepColumns:
    """Some columns, in the order of the table."""

    indices: np.ndarray

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=tuple(schema[int(j)] for j in self.indices))

    def __call__(self, block: Block) -> Block:
        X = np.ascontiguousarray(block.X[:, self.indices])
        return block.with_X(X, self.schema(block.schema))


class ColumnSelector(Transformer):
    """A subclass sets `support_`, which columns to keep, and `_target_task` before it reads
    rows."""

    support_: np.ndarray
    _target_task: Any = None

    def _step(self, schema: Schema) -> Step:
        return KeepColumns(np.flatnonzero(self.support_))

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Which columns are kept: a truth value per column, or their indices.

        Parameters
        ----------
        indices : bool, default=False
            Whether to give indices.

        Returns
        -------
        array of bool of shape (n_features,), or array of int
        """
        if indices:
            return np.flatnonzero(self.support_)
        return self.support_

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"support_": (len(self.schema_),)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

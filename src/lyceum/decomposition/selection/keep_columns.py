"""Transformers that keep some of the columns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import Block, Schema, Step
from lyceum._core.types import Data
from lyceum.prepare import Transformer


@dataclass(frozen=True, eq=False)
class KeepColumns:
    """Some columns, in the order of the table."""

    indices: np.ndarray

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=tuple(schema[int(j)] for j in self.indices))

    def __call__(self, block: Block) -> Block:
        X = block.X[:, self.indices]
        if not sparse.issparse(X):
            X = np.ascontiguousarray(X)
        return block.with_X(X, self.schema(block.schema))


class ColumnSelector(Transformer):
    """A subclass sets `support_`, which columns to keep, and `_target_task` before it reads
    rows."""

    support_: np.ndarray
    _target_task: Any = None

    def _step(self, schema: Schema) -> Step:
        return KeepColumns(np.flatnonzero(self.support_))

    def transform(self, X: Data) -> Any:
        """The columns of X that are kept, in the container that it came in.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        """
        check_is_fitted(self)
        if not self.support_.any():
            warnings.warn(
                "No features were selected: the answer has no columns",
                UserWarning,
                stacklevel=3,
            )
        return super().transform(X)

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

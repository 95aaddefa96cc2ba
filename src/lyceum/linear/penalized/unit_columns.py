"""Columns divided by their standard deviations, for penalties that do not depend on units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from lyceum._core.base import finite_sums
from lyceum._core.data import Block, Rows, Schema
from lyceum._core.statistics import Moments


@dataclass(frozen=True, slots=True)
class ScaleColumns:
    """A step that multiplies every column by a number."""

    factors: np.ndarray  # (d,)

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        if sparse.issparse(block.X):
            return block.with_X(
                sparse.csr_array(block.X.multiply(self.factors[None, :])), block.schema
            )
        return block.with_X(block.X * self.factors, block.schema)


def inverse_deviations(scatter: np.ndarray, weight: np.ndarray | float) -> np.ndarray:
    """1 / √(scatter / weight) of every column, 1 where a column never varies."""
    variance = scatter / weight
    return np.divide(
        1.0, np.sqrt(variance), out=np.ones_like(variance), where=variance > 0
    )


def unit_columns(rows: Rows) -> tuple[Rows, np.ndarray]:
    """The rows with columns of unit deviation, and what they were multiplied by: one pass."""
    moments = finite_sums(rows.reduce(Moments.of))
    factors = inverse_deviations(moments.scatter, np.maximum(moments.weight, 1e-300))
    return rows.then(ScaleColumns(factors)), factors

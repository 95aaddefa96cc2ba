"""Tables of categories by class: estimates from counts, and the choice of a conditional for every column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from lyceum.data import Schema
from lyceum.errors import SchemaError

__all__ = ["CONDITIONALS", "by_name", "conditionals", "estimated"]

CONDITIONALS = ("gaussian", "kernel", "histogram")


def estimated(counts: np.ndarray, estimate: str, m: float, m_prior: str) -> np.ndarray:
    """P(category | class) from counts (a row a category, a column a class); columns sum to 1.

    A class without cells gets the table of all classes.
    """
    table = _ESTIMATES[estimate](counts, m, m_prior)
    total = table.sum(axis=0)
    if (total == 0).any():
        table = np.where(total > 0, table, _marginal(counts))
        total = table.sum(axis=0)
    return table / np.where(total > 0, total, 1.0)


def _m_estimate(counts: np.ndarray, m: float, m_prior: str) -> np.ndarray:
    p = _marginal(counts) if m_prior == "marginal" else np.ones((len(counts), 1))
    return counts + m * p / max(p.sum(), 1.0)


def _marginal(counts: np.ndarray) -> np.ndarray:
    marginal = counts.sum(axis=1, keepdims=True)
    return marginal if marginal.any() else np.ones_like(marginal)


_ESTIMATES: dict[str, Callable[[np.ndarray, float, str], np.ndarray]] = {
    "raw": lambda counts, m, m_prior: counts,
    "laplace": lambda counts, m, m_prior: counts + 1.0,
    "m": _m_estimate,
}


def conditionals(schema: Schema, said: Any) -> dict[int, str]:
    """What kind of density every continuous column has, by its place."""
    if isinstance(said, str):
        return dict.fromkeys(schema.continuous.tolist(), said)
    chosen = dict.fromkeys(schema.continuous.tolist(), "gaussian")
    for key, kind in said.items():
        chosen[_place(schema, key, kind)] = kind
    return chosen


def _place(schema: Schema, key: Any, kind: Any) -> int:
    if kind not in CONDITIONALS:
        raise SchemaError(f"continuous[{key!r}] is {kind!r}: choose one of {', '.join(CONDITIONALS)}")
    if not _is_there(schema, key):
        raise SchemaError(f"continuous names the column {key!r}, which is not there")
    place = schema.names.index(key) if isinstance(key, str) else int(key)
    if schema[place].is_categorical:
        raise SchemaError(f"continuous names the column {key!r}, which holds categories: it has a table")
    return place


def by_name(schema: Schema, said: Any) -> Any:
    """A mapping whose keys may be places, with names for keys."""
    if not isinstance(said, Mapping):
        return said
    odd = [key for key in said if not _is_there(schema, key)]
    if odd:
        raise SchemaError(f"bins names the column {odd[0]!r}, which is not there")
    return {key if isinstance(key, str) else schema.names[int(key)]: value for key, value in said.items()}


def _is_there(schema: Schema, key: Any) -> bool:
    if isinstance(key, str):
        return key in schema.names
    return isinstance(key, Integral) and 0 <= int(key) < len(schema)

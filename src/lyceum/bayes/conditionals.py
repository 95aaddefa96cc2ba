"""Tables of categories by class: estimates from counts, and the choice of a conditional for every
column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from lyceum._core.data import Column, Schema
from lyceum.errors import SchemaError, SettingError

CONDITIONALS = ("gaussian", "kernel", "histogram")


def estimate_table(
    counts: np.ndarray, estimate: str, m: float, m_prior: str | np.ndarray
) -> np.ndarray:
    """P(category | class) from counts; rows are categories, columns are classes, and columns sum to
    1.

    A class without cells gets the table of all classes.
    """
    table = _ESTIMATES[estimate](counts, m, m_prior)
    total = table.sum(axis=0)
    if (total == 0).any():
        table = np.where(total > 0, table, _marginal(counts))
        total = table.sum(axis=0)
    return table / np.where(total > 0, total, 1.0)


def _m_estimate(counts: np.ndarray, m: float, m_prior: str | np.ndarray) -> np.ndarray:
    if not isinstance(m_prior, str):
        return (
            counts + m * m_prior[:, None]
        )  # the table is divided by its sum, so p need not sum to 1
    if m_prior == "marginal":
        p = _marginal(counts)
    else:
        p = np.ones((len(counts), 1))
    return counts + m * p / max(p.sum(), 1.0)


def _marginal(counts: np.ndarray) -> np.ndarray:
    marginal = counts.sum(axis=1, keepdims=True)
    if marginal.any():
        return marginal
    return np.ones_like(marginal)


_ESTIMATES: dict[str, Callable[[np.ndarray, float, Any], np.ndarray]] = {
    "raw": lambda counts, m, m_prior: counts,
    "laplace": lambda counts, m, m_prior: counts + 1.0,
    "m": _m_estimate,
}


def column_densities(schema: Schema, given: Any) -> dict[int, str]:
    """The kind of density of every continuous column, by its place."""
    if isinstance(given, str):
        return dict.fromkeys(schema.continuous.tolist(), given)
    chosen = dict.fromkeys(schema.continuous.tolist(), "gaussian")
    for key, kind in given.items():
        chosen[_place(schema, key, kind)] = kind
    return chosen


def _place(schema: Schema, key: Any, kind: Any) -> int:
    if kind not in CONDITIONALS:
        raise SchemaError(
            f"continuous[{key!r}] is {kind!r}: choose one of {', '.join(CONDITIONALS)}"
        )
    if not _has_column(schema, key):
        raise SchemaError(f"continuous names the column {key!r}, which does not exist")
    if isinstance(key, str):
        place = schema.names.index(key)
    else:
        place = int(key)
    if schema[place].is_categorical:
        raise SchemaError(
            f"continuous names the column {key!r}, which holds categories and has a table"
        )
    return place


def kernel_bandwidths(schema: Schema, names: Sequence[str], given: Any) -> list[str | float]:
    """The bandwidth of every kernel column: one for all, or by column, "reference" where none is
    given."""
    chosen = keys_by_name(schema, given, "bandwidth")
    if not isinstance(chosen, Mapping):
        return [chosen] * len(names)
    for name, h in chosen.items():
        if name not in names:
            raise SchemaError(f"bandwidth names the column {name!r}, which has no kernel density")
        is_number = isinstance(h, Real) and not isinstance(h, bool)
        if h != "reference" and not (is_number and 0 < float(h) < np.inf):
            raise SettingError(
                f"bandwidth[{name!r}] is {h!r}: give a number above 0, or 'reference'"
            )
    return [chosen.get(name, "reference") for name in names]


def table_priors(schema: Schema, given: Any) -> dict[str, str | np.ndarray]:
    """p of the m-estimate of every categorical column: a name for all, or the user's own by
    column."""
    columns = {schema[j].name: schema[j] for j in schema.categorical}
    chosen = keys_by_name(schema, given, "m_prior")
    if not isinstance(chosen, Mapping):
        return dict.fromkeys(columns, chosen)
    for name in chosen:
        if name not in columns:
            raise SchemaError(f"m_prior names the column {name!r}, which holds no categories")
    return {
        name: _own_prior(column, chosen.get(name, "uniform")) for name, column in columns.items()
    }


def _own_prior(column: Column, given: Any) -> str | np.ndarray:
    if isinstance(given, str) and given in ("uniform", "marginal"):
        return given
    labels = np.asarray(column.categories).tolist()
    if isinstance(given, Mapping):
        odd = [label for label in given if label not in labels]
        if odd:
            raise SettingError(
                f"m_prior[{column.name!r}] names {odd[0]!r}; the categories are {labels}"
            )
        given = [given.get(label, 0.0) for label in labels]
    if not isinstance(given, str):
        p = np.asarray(given, dtype=np.float64)
    else:
        p = np.empty(0)
    if p.shape != (len(labels),) or not np.isfinite(p).all() or (p < 0).any():
        raise SettingError(
            f"m_prior[{column.name!r}] is {given!r}: give 'uniform', 'marginal', or a probability"
            f" for each of {labels}"
        )
    return p


def keys_by_name(schema: Schema, given: Any, parameter: str) -> Any:
    """A mapping whose keys may be places, with names for keys."""
    if not isinstance(given, Mapping):
        return given
    odd = [key for key in given if not _has_column(schema, key)]
    if odd:
        raise SchemaError(f"{parameter} names the column {odd[0]!r}, which does not exist")
    return {
        key if isinstance(key, str) else schema.names[int(key)]: value
        for key, value in given.items()
    }


def _has_column(schema: Schema, key: Any) -> bool:
    if isinstance(key, str):
        return key in schema.names
    return isinstance(key, Integral) and 0 <= int(key) < len(schema)

"""Tables and contributions of a naive Bayes model, for its summary and its explanations."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._native import native
from lyceum.data import Block
from lyceum.probability import runner_up_odds
from lyceum.report import Table

__all__ = ["column_odds", "summary_tables"]


def summary_tables(model: Any) -> list[Table]:
    """Class priors, Gaussian and kernel columns, and the tables of categories and bins."""
    return [
        _prior_table(model),
        *_gaussian_table(model),
        *_kernel_table(model),
        *_category_tables(model),
        *_histogram_tables(model),
    ]


def _prior_table(model: Any) -> Table:
    rows = list(zip(model.classes_, model.class_count_, model.class_prior_))
    return Table("Classes", ("class", "weight", "prior"), rows)


def _gaussian_table(model: Any) -> list[Table]:
    columns = model._gaussian_columns
    if not len(columns):
        return []
    heads = [f"{what} | {label}" for label in model.classes_ for what in ("mean", "sd")]
    values = np.stack([model.means_, np.sqrt(model.variances_)], axis=1).reshape(-1, len(columns))
    rows = [(model.schema_[j].name, *column) for j, column in zip(columns, values.T)]
    return [Table("Gaussian columns", ("column", *heads), rows)]


def _kernel_table(model: Any) -> list[Table]:
    heads = ("column", *(f"bandwidth | {label}" for label in model.classes_))
    rows = [(name, *widths) for name, widths in model.bandwidths_.items()]
    return [Table("Kernel columns", heads, rows)] if rows else []


def _category_tables(model: Any) -> list[Table]:
    heads = ("value", *(f"P( | {label})" for label in model.classes_))
    return [
        Table(model.schema_[j].name, heads, [(value, *row) for value, row in zip(values, table.T)])
        for j, values, table in zip(model.schema_.categorical, model.categories_, model.tables_)
    ]


def _histogram_tables(model: Any) -> list[Table]:
    heads = ("from", "to", *(f"P( | {label})" for label in model.classes_))
    return [
        Table(name, heads, list(zip(edges, edges[1:], *model.histograms_[name])))
        for name, edges in model.edges_.items()
    ]


def column_odds(model: Any, block: Block) -> np.ndarray:
    """The log-odds of the predicted class against the runner-up, by column; see `runner_up_odds`."""
    n, K = len(block), len(model.classes_)
    terms = np.zeros((n, K, len(model.schema_)))
    for i, j in enumerate(model._gaussian_columns):
        x = block.X[:, j, None].astype(np.float64)
        known = model._peak[i] - model._half_precision[i] * (x - model._mean[i]) ** 2
        terms[:, :, j] = np.where(np.isnan(x), 0.0, known)
    for name, logs in model.kernels_.items():
        j = model.schema_.names.index(name)
        x = block.X[:, j].astype(np.float64)
        terms[:, :, j] = np.stack([log(x) for log in logs], axis=1)
    binned = model._bins(block).X
    for i, j in enumerate(model._table_columns):
        column = np.ascontiguousarray(binned[:, j, None].astype(np.float64))
        out, place = np.zeros((n, K)), model._offsets[i : i + 2]
        table = model._log_table[place[0] : place[1]]
        native.table_log_joint(column, np.zeros(1, np.int32), place - place[0], table, out)
        terms[:, :, j] = out
    return runner_up_odds(terms, model.class_log_prior_)

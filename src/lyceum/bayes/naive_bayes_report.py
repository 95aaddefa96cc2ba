"""Tables and contributions of a naive Bayes model, for its summary and its explanations."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.probability import runner_up_odds
from lyceum._core.types import Estimator
from lyceum.report import Explanation, Table

_MOST_CLASSES = 4  # that a product is shown of


def summary_tables(model: Estimator) -> list[Table]:
    """Class priors, Gaussian and kernel columns, and the tables of categories and bins."""
    labels = model.classes_
    classes = list(zip(labels, model.class_count_, model.class_prior_))
    tables = [Table("Classes", ("class", "weight", "prior"), classes)]
    if len(model._gaussian_columns):
        tables.append(_gaussian_table(model))
    if model.bandwidths_:
        heads = [f"bandwidth | {label}" for label in labels]
        rows = [(name, *widths) for name, widths in model.bandwidths_.items()]
        tables.append(Table("Kernel columns", ("column", *heads), rows))
    heads = [f"P( | {label})" for label in labels]
    names = [model.schema_[j].name for j in model.schema_.categorical]
    for name, values, table in zip(names, model.categories_, model.tables_):
        rows = [(value, *row) for value, row in zip(values, table.T)]
        tables.append(Table(name, ("value", *heads), rows))
    for name, edges in model.edges_.items():
        rows = list(zip(edges, edges[1:], *model.histograms_[name]))
        tables.append(Table(name, ("from", "to", *heads), rows))
    return tables


def _gaussian_table(model: Estimator) -> Table:
    """The rows mean and deviation of every class in turn, as the heads."""
    columns = model._gaussian_columns
    heads = [f"{what} | {label}" for label in model.classes_ for what in ("mean", "sd")]
    pairs = np.stack([model.means_, np.sqrt(model.variances_)], axis=1)
    values = pairs.reshape(-1, len(columns))
    rows = [(model.schema_[j].name, *column) for j, column in zip(columns, values.T)]
    return Table("Gaussian columns", ("column", *heads), rows)


def column_odds_and_factors(model: Estimator, block: Block) -> np.ndarray:
    """The log-odds of the predicted class against the runner-up, by column (see `runner_up_odds`),
    and then the columns of `factors_and_cells`."""
    odds = runner_up_odds(_log_factors(model, block), model.class_log_prior_)
    return np.column_stack([odds, factors_and_cells(model, block)])


def factors_and_cells(model: Estimator, block: Block) -> np.ndarray:
    """Rows of ln p(x_j | k), class by class, and then the cells."""
    terms = _log_factors(model, block)
    flat = terms.reshape(len(block), terms.shape[1] * terms.shape[2])
    return np.column_stack([flat, block.X.astype(np.float64)])


def factor_tables(model: Estimator, products: np.ndarray) -> list[Table]:
    """The product of every row, factor by factor: one table per row, one line per class."""
    K = len(model.classes_)
    d = len(model.schema_)
    # P(k | x) from the logs, relative to the largest; equal where every class is impossible
    logs = products[:, : K * d].reshape(-1, K, d)
    joint = logs.sum(axis=2) + model.class_log_prior_
    top = joint.max(axis=1, keepdims=True)
    share = np.exp(joint - np.where(np.isfinite(top), top, 0.0))
    total = share.sum(axis=1, keepdims=True)
    posterior = np.divide(
        share, total, out=np.full_like(share, 1.0 / K), where=total > 0.0
    )
    tables = []
    for i, cells in enumerate(products[:, K * d :]):
        names = [
            f"P({_cell_text(model.schema_[j], x)} | class)" for j, x in enumerate(cells)
        ]
        values = np.column_stack(
            [model.class_prior_, np.exp(logs[i]), np.exp(joint[i]), posterior[i]]
        )
        rows = [
            (label, *line)
            for label, line in zip(model.classes_.tolist(), values.tolist())
        ]
        tables.append(
            Table(f"row {i}", ("class", "prior", *names, "product", "posterior"), rows)
        )
    return tables


@dataclass(frozen=True)
class ProductExplanation(Explanation):
    """The log-odds that every column adds, and the products of the classes, factor by factor.

    Parameters
    ----------
    names, contributions, base, predicted, unit, values
        As in `lyceum.report.Explanation`.
    model : NaiveBayes
        The model that is explained.
    factors : array
        What `factors_and_cells` gives for the rows.
    """

    model: Any = None
    factors: np.ndarray = None  # type: ignore[assignment]

    @classmethod
    def of(
        cls, explanation: Explanation, model: Any, factors: np.ndarray
    ) -> ProductExplanation:
        parts = {
            field.name: getattr(explanation, field.name)
            for field in fields(Explanation)
        }
        return cls(**parts, model=model, factors=factors)

    def detail(self, i: int) -> Table:
        """The products of row i, one column per class: those of the largest posteriors, if there
        are many."""
        (table,) = factor_tables(self.model, self.factors[i : i + 1])
        lines = sorted(table.rows, key=lambda line: -line[-1])[:_MOST_CLASSES]
        rows = list(zip(table.columns[1:], *(line[1:] for line in lines)))
        return Table(
            f"Products of row {i}", ("factor", *(str(line[0]) for line in lines)), rows
        )

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        return super()._row_as_dict(i) | {"products": self.detail(i).as_dict()}


def _cell_text(column: Any, x: float) -> str:
    """A cell as a reader writes it: name=value."""
    if column.is_categorical:
        text = "missing or unknown"
        if 0 <= x < len(column.categories):
            text = column.categories[int(x)]
    else:
        text = "missing"
        if not np.isnan(x):
            text = f"{x:g}"
    return f"{column.name}={text}"


def _log_factors(model: Estimator, block: Block) -> np.ndarray:
    """ln p(x_j | k), (n, K, d); 0 for a missing or unknown cell."""
    terms = np.zeros((len(block), len(model.classes_), len(model.schema_)))
    for i, j in enumerate(model._gaussian_columns):
        x = block.X[:, j, None].astype(np.float64)
        squares = (x - model._mean[i]) ** 2
        logs = model._peak[i] - model._half_precision[i] * squares
        terms[:, :, j] = np.where(np.isnan(x), 0.0, logs)
    for name, kernels in model.kernels_.items():
        j = model.schema_.names.index(name)
        x = block.X[:, j].astype(np.float64)
        terms[:, :, j] = np.stack([log(x) for log in kernels], axis=1)
    binned = model._bins(block).X
    for i, j in enumerate(model._table_columns):
        terms[:, :, j] = _table_logs(model, i, binned[:, j, None])
    return terms


def _table_logs(model: Estimator, i: int, cells: np.ndarray) -> np.ndarray:
    """ln p(x | k) of cells (n, 1) by the i-th of the tables, (n, K)."""
    # the kernel of the predictions, on one column and its part of the tables
    offsets = model._offsets[i : i + 2]
    table = model._log_table[offsets[0] : offsets[1]]
    logs = np.zeros((len(cells), len(model.classes_)))
    column = np.ascontiguousarray(cells.astype(np.float64))
    first = np.zeros(1, np.int32)
    native.table_log_joint(column, first, offsets - offsets[0], table, logs)
    return logs

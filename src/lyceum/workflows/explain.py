"""Why a model predicts what it does for some rows of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.data import FileFormat
from lyceum._core.files import spool
from lyceum._core.lazy_arrow import pa
from lyceum._core.text import plain, show, show_cell
from lyceum._core.types import Data, Estimator
from lyceum.errors import DataError, LyceumError
from lyceum.report import Explanation, Table
from lyceum.workflows.batches import Batches
from lyceum.workflows.fitted_model import FittedModel


@dataclass(frozen=True, slots=True)
class RowExplanation:
    """What every column adds to one prediction, largest first; base + contributions = score.

    Attributes
    ----------
    row : int
        The row of the file, from 0.
    predicted : label or number
        The prediction.
    unit : str
        The unit of the score, the base and the contributions.
    score, base : float
        The score of the prediction, and that of a typical row.
    contributions : tuple of (column, its cell, what it adds)
        A cell that is missing is None.
    posterior : dict or None
        The probability of every class, if the model has probabilities.
    detail : Table or None
        What else decided the row: the neighbors that voted, or the members of a committee.
    title : str
        The row, its prediction and its score, in a line.

    See Also
    --------
    explain_rows : Computes it.
    lyceum.report.Explanation : Explanations of many rows, as learners return them.

    Examples
    --------
    The pay is 5 + 2 · hours; the mean is 8, at 1.5 hours:

    >>> import pandas as pd
    >>> from lyceum import scan
    >>> from lyceum.workflows import explain_rows
    >>> from lyceum.linear import LinearRegression
    >>> pay = [5.0, 7.0, 9.0, 11.0]
    >>> rows = pd.DataFrame({"hours": [0, 1, 2, 3], "age": [41, 40, 40, 41], "pay": pay})
    >>> model = LinearRegression().fit(scan(rows, target="pay"))
    >>> (explanation,) = explain_rows(model, rows, [3])
    >>> round(explanation.score, 6), round(explanation.base, 6)
    (11.0, 8.0)
    >>> [(name, cell, round(adds, 6) + 0.0) for name, cell, adds in explanation.contributions]
    [('hours', 3, 3.0), ('age', 41, 0.0)]
    """

    row: int
    predicted: Any
    unit: str
    score: float
    base: float
    contributions: tuple[tuple[str, Any, float], ...]
    posterior: dict[str, float] | None = None
    detail: Table | None = None

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        parts = [
            {"column": name, "value": cell, "adds": adds}
            for name, cell, adds in self.contributions
        ]
        return plain(
            {
                "row": self.row,
                "predicted": self.predicted,
                "unit": self.unit,
                "score": self.score,
                "base": self.base,
                "contributions": parts,
                "posterior": self.posterior,
                "detail": None if self.detail is None else self.detail.as_dict(),
            }
        )

    def table(self) -> Table:
        rows: list[Any] = [("(base)", "", self.base)]
        rows += [
            (name, show_cell(cell), adds) for name, cell, adds in self.contributions
        ]
        return Table(self.title, ("column", "value", self.unit), rows)

    @property
    def title(self) -> str:
        chance = ""
        if self.posterior is not None:
            chance = f" ({self.posterior[str(self.predicted)]:.1%})"
        return f"row {self.row}: {show(self.predicted)}{chance}, {self.unit} {show(self.score)}"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._tables()))

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self._tables())

    def _tables(self) -> list[Table]:
        tables = [self.table()]
        if self.detail is not None:
            tables.append(self.detail)
        return tables


def explain_rows(
    model: Estimator,
    data: Data,
    rows: Sequence[int] = (0,),
    *,
    file_format: FileFormat | None = None,
) -> list[RowExplanation]:
    """Why the model predicts what it does in the given rows of a file (from 0; at most once each).

    A file is read no further than the last requested row.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.workflows import explain_rows
    >>> model = NaiveBayes().fit(datasets.load("penguins"))
    >>> (explanation,) = explain_rows(model, datasets.path("penguins"), rows=[100])
    >>> explanation.row, explanation.predicted
    (100, 'Adelie')
    """
    fitted = FittedModel(model)
    if not hasattr(fitted.learner, "explain"):
        raise LyceumError(
            f"{fitted.name} cannot explain a single prediction: see its summary() instead"
        )
    # in the order of the file, which is read once
    wanted = sorted(set(rows))
    if wanted and wanted[0] < 0:
        raise DataError(f"row {wanted[0]}: rows are counted from 0")
    columns = fitted.schema.columns
    with spool(data) as source:
        batches = Batches(source, columns, (), file_format or FileFormat())
        table = _take_rows(batches, wanted)
    explanation = fitted.explain(fitted.rows(table))
    posterior = None
    if fitted.classes is not None and hasattr(fitted.model, "predict_proba"):
        posterior = fitted.posterior(table)
    # the i-th row of the table is the row wanted[i] of the file
    made = {
        row: _explain_row(
            fitted, explanation, table=table, posterior=posterior, i=i, row=row
        )
        for i, row in enumerate(wanted)
    }
    return [made[row] for row in dict.fromkeys(rows)]


def _take_rows(batches: Batches, rows: list[int]) -> pa.Table:
    parts = []
    start = 0
    for batch in batches:
        inside = [row - start for row in rows if start <= row < start + batch.num_rows]
        if inside:
            parts.append(batch.take(inside))
        start += batch.num_rows
        if rows and start > rows[-1]:  # nothing is read beyond the last row
            return pa.concat_tables(parts)
    raise DataError(
        f"there is no row {max(rows, default=0)}: there are {start:,}, counted from 0"
    )


def _explain_row(
    fitted: FittedModel,
    explanation: Any,
    *,
    table: pa.Table,
    posterior: Any,
    i: int,
    row: int,
) -> RowExplanation:
    # the largest contributions first, whatever their sign
    adds = explanation.contributions[i]
    order = np.argsort(-np.abs(adds), kind="stable").tolist()
    parts = tuple(
        (str(explanation.names[j]), _cell(table, explanation, i, j), float(adds[j]))
        for j in order
    )
    chances = None
    if posterior is not None:
        assert fitted.classes is not None
        labels = fitted.classes.tolist()
        chances = {str(label): float(p) for label, p in zip(labels, posterior[i])}
    predicted = explanation.predicted[i]
    # plain values for JSON
    if isinstance(predicted, np.generic):
        predicted = predicted.item()
    # its title counts the rows taken, the person those of the file
    detail = explanation.detail(i)
    if detail is not None:
        detail = replace(detail, title=detail.title.replace(f"row {i}", f"row {row}"))
    return RowExplanation(
        row=row,
        predicted=predicted,
        unit=explanation.unit,
        score=float(explanation.scores[i]),
        base=float(explanation.base[i]),
        contributions=parts,
        posterior=chances,
        detail=detail,
    )


def _cell(table: pa.Table, explanation: Explanation, i: int, j: int) -> Any:
    """The cell of a column of the file, or of one that a preparation made."""
    name = explanation.names[j]
    if name in table.column_names:
        value = table.column(name)[i].as_py()
    else:
        value = explanation.value(i, j)
    if not isinstance(value, str | bool | int | float | None):
        value = str(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value

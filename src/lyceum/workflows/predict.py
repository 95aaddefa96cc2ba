"""Predictions for a file of any size, written in batches."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from lyceum._core.data import Block, FileFormat, decode_dictionary
from lyceum._core.files import replace_file, spool
from lyceum._core.lazy_arrow import csv as pa_csv, pa, pc, pq
from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum._core.types import Data, Estimator, Loss
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.errors import DataError, SettingError
from lyceum.workflows.batches import Batches
from lyceum.workflows.fitted_model import FittedModel
from lyceum.workflows.new_rows import NewRows
from lyceum.workflows.original_columns import original_columns
from lyceum.workflows.xlsx import XlsxWriter

_REJECT = "reject"
# what makes a spreadsheet run a cell, or split it
_FORMULA = r"^([=+\-@\t\r])"


@dataclass(frozen=True, slots=True)
class Predicted(Shown):
    """How many rows were predicted, where they are, and how often each answer was given.

    Attributes
    ----------
    n_rows : int
        The number of rows predicted.
    path : str or None
        Where the predictions were written, None for a stream.
    answers : dict[Any, int]
        How often every class (or action) was predicted; empty for numbers.
    notes : tuple of str
        Sentences on cells that the model has seen nothing like, and on rows that look unlike the
        training rows.
    odd_cells : dict
        The numbers behind them: "unknown_categories" and "out_of_range" by column, and the columns
        that are "unlike".

    See Also
    --------
    predict_file : Writes the predictions and returns it.
    FittedModel : The predictions for a table in memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from lyceum import scan
    >>> from lyceum.workflows import predict_file
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> rows = pd.DataFrame({"size": [1.0, 2.0, 6.0, 7.0], "kind": list("aabb")})
    >>> model = DecisionTreeClassifier().fit(scan(rows, target="kind"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = predict_file(model, pd.DataFrame({"size": [0.0, 5.0, 9.0]}),
    ...         f"{folder}/out.csv")
    ...     pathlib.Path(result.path).read_text().split()
    ['"predicted"', '"a"', '"b"', '"b"']
    >>> result.n_rows, result.answers
    (3, {'a': 1, 'b': 2})
    """

    n_rows: int
    path: str | None
    answers: dict[Any, int]
    notes: tuple[str, ...] = ()
    odd_cells: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        facts = {"predictions": self.path, "rows": self.n_rows, "answers": self.answers}
        return plain({**facts, **self.odd_cells, "notes": self.notes})


def predict_file(
    model: Estimator,
    data: Data,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    proba: bool = False,
    loss: Loss = None,
    doubt: float | None = None,
    keep: Sequence[str] = (),
    everything: bool = False,
    force: bool = False,
    file_format: FileFormat | None = None,
    spreadsheet: bool = False,
) -> Predicted:
    """Predict every row of a file and write the predictions in the same order.

    Neither the rows nor the predictions are ever all in memory. The file is complete before it gets
    its name.

    Parameters
    ----------
    model : fitted learner or pipeline
    data : path, glob, frame, or "-" for CSV from standard input
    out : path ending in .csv, .parquet or .xlsx, or a binary stream that is written as CSV
        The column "predicted"; the new columns of a model that only transforms; the column
        "log_density" of a density, "score" of a detector without a decision (lower is more
        unusual). With `loss` or `doubt` also "risk", the expected cost of what was decided.
    proba : bool, default=False
        Whether a column "P(class)" is written for every class.
    loss : LossMatrix or dict of (true class, action) to cost, optional
        Rows = true class, columns = action: the action of least expected cost is predicted. Without
        loss and doubt, those count that the model was fitted with.
    doubt : float, optional
        The cost of rejecting a row; "reject" is predicted where everything else would cost at least
        as much.
    keep : names, optional
        Columns of the data to write along, in front.
    everything : bool, default=False
        Whether the number of every row, counted as in a spreadsheet, and all columns of the data
        are written too, and of a classifier the "probability" of what was decided and its "doubt":
        the probability that the truth is another class.
    force : bool, default=False
        Whether an existing file is replaced.
    file_format : FileFormat, optional
        How CSV data are written.
    spreadsheet : bool, default=False
        Whether text in a CSV file that a spreadsheet would run as a formula (it begins with =, +,
        -, @, a tab or a carriage return) gets an apostrophe in front, which spreadsheets take for
        text.

    Returns
    -------
    Predicted

    Examples
    --------
    >>> import os, tempfile
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.workflows import predict_file
    >>> model = NaiveBayes().fit(datasets.load("penguins"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = predict_file(model, datasets.path("penguins"), os.path.join(folder, "out.csv"))
    >>> result.n_rows
    344
    """
    fitted = FittedModel(model)
    # new columns take the place of the data
    everything = everything and fitted.gives != "new columns"
    answer = _Answer.of(fitted, proba, *fitted.costs(loss, doubt), surely=everything)
    copies = _Copies.of(keep, answer.names)
    counts = np.zeros(len(answer.labels), dtype=np.int64)
    n_rows = 0
    with ExitStack() as stack:
        data = stack.enter_context(spool(data))
        new = NewRows.of_model(fitted)
        if everything:
            copies = _Copies.of_all(data, file_format, answer.names)
        write = stack.enter_context(_writer(out, force, spreadsheet))
        also = tuple(copies.names)
        for table, output in fitted.outputs(data, also=also, file_format=file_format):
            columns, indices = answer(output)
            new.note(table)
            write(pa.table({**copies(table, n_rows), **columns}))
            counts += np.bincount(indices, minlength=len(counts))
            n_rows += table.num_rows
        if not n_rows:
            raise DataError("the data has column names but no rows (0 samples)")
    path = os.fspath(out) if isinstance(out, str | os.PathLike) else None
    answers = dict(zip(answer.labels, counts.tolist()))
    return Predicted(n_rows, path, answers, tuple(new.sentences()), new.as_dict())


@dataclass(frozen=True)
class _Copies:
    """The columns of the data that are written too, by the names that they get."""

    names: Mapping[str, str]
    first_row: int | None = None  # whose number is written, if any

    @classmethod
    def of(cls, keep: Sequence[str], outputs: Sequence[str]) -> _Copies:
        """The columns to keep; refused where the outputs have the same name."""
        clash = [name for name in keep if name in outputs]
        if clash:
            raise DataError(
                f"column {clash[0]!r} cannot be kept: the predictions have a column of that name"
            )
        return cls({name: name for name in keep})

    @classmethod
    def of_all(
        cls, data: Data, file_format: FileFormat | None, outputs: Sequence[str]
    ) -> _Copies:
        """All columns, under other names where the outputs have the same."""
        batches = Batches(data, (), (), file_format or FileFormat())
        taken = {"row", *outputs}
        names = {
            name: f"{name} (in the data)" if name in taken else name
            for name in batches.all_names
        }
        return cls(names, batches.first_row)

    def __call__(self, table: pa.Table, n_before: int) -> dict[str, Any]:
        """The columns of a batch that begins after some rows."""
        columns = {new: table.column(name) for name, new in self.names.items()}
        if self.first_row is None:
            return columns
        start = self.first_row + n_before
        numbers = pa.array(range(start, start + table.num_rows), pa.int64())
        return {"row": numbers, **columns}


@dataclass(frozen=True)
class _Answer:
    """The columns that are written for some outputs of the model."""

    classes: np.ndarray | None
    labels: tuple[Any, ...]  # the actions, doubt last
    proba: bool
    loss: LossMatrix | None
    doubt: float | None
    outputs: tuple[str, ...] = ("predicted",)
    surely: bool = False  # whether the probability of the decision is written

    @classmethod
    def of(
        cls,
        fitted: FittedModel,
        proba: bool,
        loss: Any,
        doubt: float | None,
        *,
        surely: bool = False,
    ) -> _Answer:
        if fitted.classes is None:
            wishes = {
                "--proba": proba,
                "a loss": loss is not None,
                "doubt": doubt is not None,
            }
            for wish, is_made in wishes.items():
                if is_made:
                    output = f"gives {fitted.gives}"
                    if fitted.gives == "predictions":
                        output = "predicts numbers"
                    raise DataError(
                        f"{fitted.name} {output}, so that {wish} has no meaning here"
                    )
            return cls(None, (), False, None, None, tuple(fitted.output_names))
        matrix = LossMatrix.of(loss, fitted.classes)
        assert matrix.actions is not None
        # one decision at once: losses and doubt that do not fit are refused before any file is read
        K = len(fitted.classes)
        minimum_risk(np.full((1, K), 1 / K), matrix, doubt)
        labels = matrix.actions
        if doubt is not None:
            labels = (*labels, _REJECT)
        decides = loss is not None or doubt is not None
        costs = matrix if decides else None
        return cls(fitted.classes, labels, proba, costs, doubt, surely=surely)

    @property
    def names(self) -> list[str]:
        names = list(self.outputs)
        if self.surely:
            names += ["probability", "doubt"]
        if self.loss is not None:
            names.append("risk")
        if self.proba:
            names += self._posterior_names
        return names

    @property
    def _posterior_names(self) -> list[str]:
        if self.classes is None:
            return []
        return [f"P({label})" for label in self.classes.tolist()]

    def __call__(self, output: Any) -> tuple[dict[str, Any], np.ndarray]:
        """The columns, and the place among `labels` of every answer."""
        if isinstance(output, Block):
            return original_columns(output), np.empty(0, dtype=np.intp)
        if self.classes is None:
            return {self.outputs[0]: pa.array(output)}, np.empty(0, dtype=np.intp)
        decided = minimum_risk(output, self.loss, self.doubt)
        indices = decided.index % len(self.labels)  # doubt, -1, is the last
        # labels of one type as they are, mixed ones as text
        kinds = {type(label) for label in self.labels}
        values = pa.array(self.labels if len(kinds) == 1 else map(str, self.labels))
        columns: dict[str, Any] = {"predicted": values.take(pa.array(indices))}
        if self.surely:
            columns |= self._certainty(output, indices)
        if self.loss is not None:
            columns["risk"] = pa.array(decided.risk)
        if self.proba:
            columns |= {
                name: pa.array(output[:, k])
                for k, name in enumerate(self._posterior_names)
            }
        return columns, indices

    def _certainty(self, posteriors: np.ndarray, indices: np.ndarray) -> dict[str, Any]:
        """The probability of the class that was decided for, and that of any other; none for an
        action that names no class."""
        classes = [str(label) for label in np.asarray(self.classes).tolist()]
        named = [
            classes.index(s) if s in classes else -1 for s in map(str, self.labels)
        ]
        codes = np.array(named)[indices]
        p = np.where(codes >= 0, posteriors[np.arange(len(codes)), codes], np.nan)
        return {
            "probability": pa.array(p, from_pandas=True),
            "doubt": pa.array(1.0 - p, from_pandas=True),
        }


@contextmanager
def _writer(out: Any, force: bool, spreadsheet: bool) -> Iterator[Any]:
    """A function that writes a table; a named file appears when all is written, and only then."""
    if not isinstance(out, str | os.PathLike):
        # a stream, e.g. standard output, is written as it comes
        with _Sink(out, ".csv", spreadsheet) as sink:
            yield sink.write
        return
    path = Path(out)
    if path.suffix.lower() not in _MAKERS:
        raise SettingError(
            f"cannot tell how to write {path}: name it {', '.join(_MAKERS)}"
        )
    if path.exists() and not force:
        raise FileExistsError(
            f"{path} exists: choose another name, or replace it by force=True"
        )
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {path.parent} to write {path.name} into")
    with (
        replace_file(path) as file,
        _Sink(file, path.suffix.lower(), spreadsheet) as sink,
    ):
        yield sink.write


_MAKERS = {
    ".csv": lambda where, schema: pa_csv.CSVWriter(
        where, schema, write_options=pa_csv.WriteOptions(quoting_style="needed")
    ),
    ".parquet": lambda where, schema: pq.ParquetWriter(where, schema),
    ".xlsx": XlsxWriter,
}


class _Sink:
    """A CSV or Parquet writer that is made when the first table shows its columns."""

    def __init__(self, where: Any, suffix: str, spreadsheet: bool):
        self.where = where
        self.suffix = suffix
        self.spreadsheet = spreadsheet
        self.writer: Any = None

    def __enter__(self) -> _Sink:
        return self

    def write(self, table: pa.Table) -> None:
        if self.suffix != ".parquet":
            columns = {
                name: decode_dictionary(table.column(name))
                for name in table.column_names
            }
            if self.spreadsheet and self.suffix == ".csv":
                columns = _without_formulas(columns)
            table = pa.table(columns)
        if self.writer is None:
            self.writer = _MAKERS[self.suffix](self.where, table.schema)
        # batches of a column may differ in their types: the first one decides
        if self.suffix == ".parquet":
            table = table.cast(self.writer.schema)
        self.writer.write_table(table)

    def __exit__(self, *_: Any) -> None:
        if self.writer is not None:
            self.writer.close()


def _without_formulas(
    columns: dict[str, pa.ChunkedArray],
) -> dict[str, pa.ChunkedArray]:
    """Names and texts with an apostrophe in front of what a spreadsheet would run."""
    quoted = {}
    for name, cells in columns.items():
        if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
            cells = pc.replace_substring_regex(cells, _FORMULA, r"'\1")
        quoted[re.sub(_FORMULA, r"'\1", name)] = cells
    return quoted

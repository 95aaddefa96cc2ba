"""Labels for the rows of a file: a person labels those that teach most."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from lyceum._core.data import FileFormat, read_data, warn_about_format
from lyceum._core.files import write_file
from lyceum._core.lazy_arrow import csv, pa
from lyceum._core.report import Shown
from lyceum._core.types import Estimator
from lyceum.bayes import NaiveBayes
from lyceum.errors import DataError, SettingError
from lyceum.semi_supervised import STRATEGIES, active_learning


@dataclass(frozen=True, slots=True)
class Labeled(Shown):
    """The result of labeling the rows of a file.

    Attributes
    ----------
    out : Path
        The CSV file with all rows and labels.
    asked : int
        The number of rows that the person labeled.
    labeled, rows : int
        The rows with a label now, and all rows.
    classes : tuple of str
        The labels that occur.

    See Also
    --------
    label_file : Asks for the labels and returns it.
    lyceum.semi_supervised.active_learning : Chooses the rows to ask about.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from lyceum.workflows import label_file
    >>> def ask(row, cells, posteriors):  # a person, or a rule as here
    ...     return "small" if cells["size"] < 5 else "large"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/rows.csv"
    ...     pd.DataFrame({"size": [1, 2, 8, 9]}).to_csv(path, index=False)
    ...     result = label_file(path, "kind", f"{folder}/labeled.csv", ask)
    ...     result.out.read_text().split()
    ['"size","kind"', '1,"small"', '2,"small"', '8,"large"', '9,"large"']
    >>> result.asked, result.labeled, result.rows, result.classes
    (4, 4, 4, ('large', 'small'))
    """

    out: Path
    asked: int
    labeled: int
    rows: int
    classes: tuple[str, ...]


def label_file(
    data: str,
    target: str,
    out: str | Path,
    ask: Callable[[int, dict[str, Any], dict[str, float]], str | None],
    *,
    strategy: str = "uncertainty",
    n_queries: int = 20,
    learner: Any = None,
    seed: int = 0,
    file_format: FileFormat | None = None,
) -> Labeled:
    """Ask for labels of the rows of a file, the most telling first, and write all rows with their
    labels.

    The file is written after every answer, so that nothing is lost.

    Parameters
    ----------
    data : path
        A file whose column `target` is missing, or empty in some rows.
    target : str
        The column of labels.
    out : path
        The CSV file to write.
    ask : function
        `ask(row_number, cells, posteriors)` gives a label, or None to stop; posteriors are empty at
        first.
    strategy : str, default="uncertainty"
        See `lyceum.semi_supervised.active_learning`.
    n_queries : int, default=20
        The most labels to ask for.
    learner : classifier, default=None
        The classifier whose posteriors choose the rows; None is naive Bayes.
    seed : int, default=0
    file_format : FileFormat, optional

    Returns
    -------
    Labeled

    Examples
    --------
    >>> import os, tempfile
    >>> from lyceum import datasets
    >>> from lyceum.workflows import label_file
    >>> def ask(row, cells, posteriors):
    ...     return "long" if (cells["flipper_length_mm"] or 0) > 200 else "short"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = os.path.join(folder, "labeled.csv")
    ...     result = label_file(datasets.path("penguins"), "length", out, ask, n_queries=4)
    >>> result.labeled
    4
    """
    if strategy not in STRATEGIES:
        raise SettingError(
            f"strategy must be one of {', '.join(STRATEGIES)}, not {strategy!r}"
        )
    if n_queries < 0:
        raise SettingError(f"n_queries={n_queries} is negative: give 0 or more")
    if learner is not None and not is_classifier(learner):
        raise SettingError(
            f"{type(learner).__name__} is no classifier: the rows to label are chosen by one"
        )
    loaded = read_data(data, file_format)
    warn_about_format(loaded.notes, data)
    if learner is None:
        learner = NaiveBayes()
    work = _Work(loaded.table, target, out=Path(out), ask=ask, learner=learner)
    if n_queries > 0 and work.begin(n_queries, seed):
        work.go_on(strategy, n_queries - work.asked, seed)
    return work.result()


class _Work:
    """The table, its labels so far, and the person who labels."""

    def __init__(
        self, table: pa.Table, target: str, *, out: Path, ask: Any, learner: Estimator
    ) -> None:
        self.table = table
        self.target = target
        self.out = out
        self.person = ask
        self.learner = learner
        self.labels: list[str | None] = [None] * table.num_rows
        if target in table.column_names:
            cells = table.column(target).to_pylist()
            # missing: null, an empty text or NaN, which is not equal to itself
            self.labels = [
                None if cell is None or cell == "" or cell != cell else str(cell)
                for cell in cells
            ]
            self.table = table.drop_columns([target])
        if not self.table.num_columns:
            raise DataError(
                f"there is no column but {target!r}: nothing tells the rows apart"
            )
        self.asked = 0
        self.stopped = False

    @property
    def labeled_rows(self) -> list[int]:
        return [i for i, label in enumerate(self.labels) if label is not None]

    @property
    def n_classes(self) -> int:
        return len(set(self.labels) - {None})

    def query(self, row: int, posteriors: dict[str, float] | None = None) -> str | None:
        cells = {
            name: self.table.column(name)[row].as_py()
            for name in self.table.column_names
        }
        answer = self.person(row, cells, posteriors or {})
        if answer is None:
            self.stopped = True
            return None
        self.labels[row] = str(answer)
        self.asked += 1
        self.write()
        return str(answer)

    def begin(self, n_queries: int, seed: int) -> bool:
        """Ask about rows at random until two labels are there; whether there is more to ask."""
        # no model yet, hence no row is more telling than another
        order = np.random.default_rng(seed).permutation(len(self.labels)).tolist()
        for row in order:
            if self.n_classes > 1:
                break
            if self.labels[row] is None and (
                self.asked >= n_queries or self.query(row) is None
            ):
                return False
        return None in self.labels and self.n_classes > 1

    def go_on(self, strategy: str, n_queries: int, seed: int) -> None:
        for step in range(n_queries):
            labeled = self.labeled_rows
            if self.stopped or len(labeled) == len(self.labels):
                return
            # one query at a time; the row is only noted, and the person is asked below, with
            # what the learner thinks
            asked: list[int] = []
            result = active_learning(
                self.learner,
                self.table,
                asked.append,
                strategy=strategy,
                labeled=labeled,
                labels=[self.labels[i] for i in labeled],
                n_queries=1,
                random_state=seed + step,
            )
            (row,) = asked
            model = result.estimator
            proba = np.asarray(model.predict_proba(self.table.slice(row, 1)))[0]
            posteriors = dict(zip(map(str, model.classes_), proba.tolist()))
            if self.query(row, posteriors) is None:
                return

    def write(self) -> None:
        labels = pa.array(self.labels, pa.string())
        whole = self.table.append_column(self.target, labels)
        # the file is replaced as a whole: a stop in between loses no answer
        buffer = io.BytesIO()
        csv.write_csv(whole, buffer)
        write_file(self.out, buffer.getvalue())

    def result(self) -> Labeled:
        self.write()
        labels = [label for label in self.labels if label is not None]
        return Labeled(
            out=self.out,
            asked=self.asked,
            labeled=len(labels),
            rows=len(self.labels),
            classes=tuple(sorted(set(labels))),
        )

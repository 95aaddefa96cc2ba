"""What a model predicts for rows whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.data import Column, Schema, TableCoder
from lyceum.errors import DataError
from lyceum.workflows.fitted_model import FittedModel
from lyceum.workflows.new_rows import NewRows


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The output of a model for every row with a known truth.

    Attributes
    ----------
    truth : array of shape (n,)
        Numbers, or codes into the model's classes; -1 for a class that the model does not know.
    output : array of shape (n, K) or (n,)
        Posteriors, or values.
    n_missing : int
        Rows without a truth, which are left out.
    unknown_classes : tuple
        Some of the classes that the model does not know.
    training_note : str
        Whether the rows are those that the model was fitted on, in a sentence; empty if not.
    """

    truth: np.ndarray
    output: np.ndarray
    n_missing: int
    unknown_classes: tuple[Any, ...]
    training_note: str = ""

    @classmethod
    def of(
        cls, fitted: FittedModel, data: Any, truth: str | None, **options: Any
    ) -> Outcomes:
        target = replace(fitted.target, name=truth or fitted.target.name)
        # classes as codes, -1 if unknown to the model; numbers as they are; NaN if missing
        of_classes = target.is_categorical and fitted.classes is not None
        column = (
            replace(target, kind="categorical") if of_classes else Column(target.name)
        )
        coder = TableCoder(Schema((column,)))
        truths = []
        outputs = []
        new = NewRows.of_model(fitted)
        unknown: dict[Any, None] = {}  # in the order in which they were met
        for table, output in fitted.outputs(data, truth=target.name, **options):
            codes = coder.features(table)[:, 0].astype(np.float64)
            if of_classes:
                for row in np.flatnonzero(codes == -1)[:3].tolist():
                    unknown[table.column(target.name)[row].as_py()] = None
            new.note(table)
            truths.append(codes)
            outputs.append(output)
        if not truths:
            raise DataError(
                "the data has column names but no rows: there is nothing to measure by"
            )
        values = np.concatenate(truths)
        known = ~np.isnan(values)
        if not known.any():
            raise DataError(
                f"column {target.name!r} has no value in any row: there is nothing to measure by"
            )
        values = values[known]
        if fitted.classes is not None:
            values = values.astype(np.intp)
        output = np.concatenate(outputs)[known]
        n_missing = int((~known).sum())
        return cls(values, output, n_missing, tuple(unknown), new.training_note)

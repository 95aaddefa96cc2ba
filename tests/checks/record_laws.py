"""One record is answered as the table of this row is, to the bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from tests.checks.fits import Case
from tests.checks.shared_fits import fitted_to_mixed, fitted_to_numbers
from tests.checks.tables import data_for, mixed_for

from lyceum import decide
from lyceum._core.base import Decision, RecordModel
from lyceum.errors import LyceumError
from lyceum.prepare import MinMaxScaler, SimpleImputer

__all__ = [
    "a_record_goes_through_a_pipeline_as_its_row",
    "a_record_is_answered_as_its_row",
    "a_record_is_explained_as_its_row",
    "records_of",
    "same_answer",
    "same_explanation",
]


def a_record_is_answered_as_its_row(learner: Any, case: Case) -> None:
    """`decide` of a dict and of a tuple, with missing cells and new categories."""
    if not hasattr(learner, "predict"):
        return
    fitted = fitted_to_mixed(learner, case)
    frame, _ = mixed_for(learner)
    rows = _unusual_rows(frame)
    if get_tags(fitted).input_tags.positive_only:
        rows.append(rows[2].assign(age=-1.0))
    for row in rows:
        same_answer(fitted, row)


def a_record_goes_through_a_pipeline_as_its_row(learner: Any, case: Case) -> None:
    """The same after preparations, of cells that are missing or far too large, too."""
    fitted = fitted_to_numbers(learner)
    if not hasattr(fitted, "predict"):
        return
    X = data_for(learner).X
    filled = SimpleImputer().fit(X)
    # the first column keeps its width, so that coefficients above one overflow
    scaled = MinMaxScaler((0.0, np.ptp(X[:, 0]))).fit(filled.transform(X))
    model = make_pipeline(filled, scaled, fitted)
    for cell in (X[0, 0], np.nan, -1.7e308, 1.7e308):
        row = X[:1].copy()
        row[0, 0] = cell
        # whether an overflow warns depends on the kernels of BLAS; what is answered must not
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _same_as_row(model, row, row[0].tolist())


def _unusual_rows(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """Some rows as they are, with a new category, and with missing cells."""
    rows = [frame.iloc[[i]] for i in (0, 1, 2, 57)]
    rows.append(rows[0].assign(town="Rom"))
    rows.append(rows[1].assign(income=np.nan))
    rows.append(rows[1].assign(town=pd.array([None], dtype=object)))
    return rows


def a_record_is_explained_as_its_row(learner: Any, case: Case) -> None:
    """The compiled way of an explanation gives every bit of `explain`, errors too."""
    if not hasattr(learner, "explain"):
        return
    fitted = fitted_to_mixed(learner, case)
    compiled = RecordModel(fitted)
    frame, _ = mixed_for(learner)
    for row in _unusual_rows(frame):
        cells = compiled.coder.cells(records_of(row)[0])
        expected, refused = _answer_or_error(partial(fitted.explain, row))
        found = _answer_or_error(partial(compiled.explain_cells, *cells))
        if refused is not None:
            assert found == (None, refused)
            continue
        if len(expected) != 1:  # rows with missing cells are dropped
            continue
        same_explanation(found[0], expected)


def _answer_or_error(ask: Callable[[], Any]) -> tuple[Any, tuple[type, str] | None]:
    try:
        return ask(), None
    except LyceumError as error:
        return None, (type(error), str(error))


def same_explanation(found: Any, expected: Any) -> None:
    """Both are the same to the bit."""
    assert type(found) is type(expected)
    assert tuple(found.names) == tuple(expected.names)
    assert found.unit == expected.unit
    assert found.predicted.tolist() == expected.predicted.tolist()
    np.testing.assert_array_equal(found.base, expected.base)
    np.testing.assert_array_equal(found.contributions, expected.contributions)
    assert repr(found.values.tolist()) == repr(expected.values.tolist())
    assert str(found.detail(0)) == str(expected.detail(0))


def same_answer(model: Any, row: pd.DataFrame) -> None:
    """`decide` gives what `predict` and `predict_proba` give for the table, errors too."""
    (record,) = records_of(row)
    for given in (record, tuple(record.values())):
        decision = _same_as_row(model, row, given)
        if decision is None:
            continue
        missing = [
            name for name, cell in record.items() if cell is None or cell != cell
        ]
        assert decision.missing == tuple(missing)
        assert decision.unknown == (("town",) if record.get("town") == "Rom" else ())


def _same_as_row(model: Any, row: Any, record: Any) -> Decision | None:
    """The decision about a record, which is that about its row; None if both are refused."""
    expected, refused = _answer_or_error(partial(_answer_to_row, model, row))
    decision, error = _answer_or_error(partial(decide, model, record))
    if refused is not None:
        assert error == refused
        return None
    predicted, posteriors = expected
    if len(predicted) != 1:  # rows with missing cells are dropped
        assert error is not None, "decide takes what predict drops"
        assert "drops rows" in error[1]
        return None
    assert error is None, error
    assert decision.predicted == predicted[0]
    assert type(decision.predicted) is type(predicted[0])
    assert decision.probabilities == posteriors
    return decision


def _answer_to_row(model: Any, row: Any) -> tuple[list[Any], dict[Any, float] | None]:
    predicted = np.asarray(model.predict(row)).tolist()
    if not hasattr(model, "predict_proba") or len(predicted) != 1:
        return predicted, None
    posterior = np.asarray(model.predict_proba(row))[0].tolist()
    labels = getattr(model, "classes_", range(len(posterior)))
    return predicted, dict(zip(labels, posterior))


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as Python's own values."""
    return [
        {name: plain_cell(cell) for name, cell in zip(frame.columns, row)}
        for row in frame.itertuples(index=False)
    ]


def plain_cell(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell

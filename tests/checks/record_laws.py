"""One record is answered as the table of this row is, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import get_tags
from tests.checks.fits import Case
from tests.checks.shared_fits import fitted_to_mixed
from tests.checks.tables import mixed_for

from lyceum.errors import LyceumError

__all__ = ["a_record_is_answered_as_its_row", "records_of", "same_answer"]


def a_record_is_answered_as_its_row(learner: Any, case: Case) -> None:
    """`decide` of a dict and of a tuple, with missing cells and new categories."""
    if not hasattr(learner, "predict"):
        return
    fitted = fitted_to_mixed(learner, case)
    frame, _ = mixed_for(learner)
    rows = [frame.iloc[[i]] for i in (0, 1, 2, 57)]
    rows.append(rows[0].assign(town="Rom"))
    rows.append(rows[1].assign(income=np.nan))
    rows.append(rows[1].assign(town=pd.array([None], dtype=object)))
    if get_tags(fitted).input_tags.positive_only:
        rows.append(rows[2].assign(age=-1.0))
    for row in rows:
        same_answer(fitted, row)


def same_answer(model: Any, row: pd.DataFrame) -> None:
    """`decide` gives what `predict` and `predict_proba` give for the table, errors too."""
    (record,) = records_of(row)
    try:
        expected = np.asarray(model.predict(row)).tolist()
    except LyceumError as error:
        refused = (type(error), str(error))
    else:
        refused = None
    if refused is not None:
        for given in (record, tuple(record.values())):
            assert _error_of(model, given) == refused
        return
    if len(expected) != 1:  # rows with missing cells are dropped
        assert "drops rows" in _error_of(model, record)[1]
        return
    for given in (record, tuple(record.values())):
        decision = model.decide(given)
        assert decision.predicted == expected[0]
        assert type(decision.predicted) is type(expected[0])
        if hasattr(model, "predict_proba"):
            posterior = np.asarray(model.predict_proba(row))[0].tolist()
            labels = getattr(model, "classes_", range(len(posterior)))
            assert decision.probabilities == dict(zip(labels, posterior))
        else:
            assert decision.probabilities is None
    missing = [name for name, cell in record.items() if cell is None or cell != cell]
    assert decision.missing == tuple(missing)
    assert decision.unknown == (("town",) if record.get("town") == "Rom" else ())


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as Python's own values."""
    return [
        {name: plain_cell(cell) for name, cell in zip(frame.columns, row)}
        for row in frame.itertuples(index=False)
    ]


def plain_cell(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def _error_of(model: Any, record: Any) -> tuple[type, str]:
    try:
        model.decide(record)
    except LyceumError as error:
        return type(error), str(error)
    raise AssertionError("decide takes what predict refuses")

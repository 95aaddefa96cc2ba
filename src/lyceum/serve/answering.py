"""From a question to decisions: one record by the compiled way, many by the reader of tables."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lyceum._core.data import Schema, coded_source
from lyceum._core.text import plain
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.errors import DataError
from lyceum.serve.bodies import Question
from lyceum.serve.prediction_log import PredictionLog
from lyceum.serve.shelf import ServedModel


def answer_cells(
    served: ServedModel, X: np.ndarray, schema: Schema, question: Question
) -> dict[str, Any]:
    """The decision for the cells of one record."""
    loss = read_loss(question.loss, served.fitted.classes)
    decision = served.decide_cells(X, schema, loss, question.doubt)
    answer: dict[str, Any] = {"predicted": decision.predicted}
    if decision.probabilities is not None:
        named = decision.probabilities.items()
        answer["probabilities"] = {str(label): share for label, share in named}
    if decision.risk is not None:
        answer["action"] = decision.action
        answer["risk"] = decision.risk
        answer["rejected"] = decision.rejected
    answer["warnings"] = served.warnings(X[0].tolist())
    return answer


def read_loss(loss: Any, classes: np.ndarray | None) -> LossMatrix | None:
    """A loss matrix from JSON: {true class: {action: cost}}, or rows of costs in the order of the
    classes."""
    if loss is None:
        return None
    labels = [] if classes is None else classes.tolist()
    try:
        if not isinstance(loss, dict):
            return LossMatrix(loss, classes=labels)
        actions = sorted({action for costs in loss.values() for action in costs})
        names = {str(label): label for label in labels}
        values = [[loss[name][action] for action in actions] for name in names]
        own = [names.get(action, action) for action in actions]
        return LossMatrix(values, classes=labels, actions=own)
    except KeyError as error:
        raise DataError(
            f"the loss has no cost for {error}: give {{true class: {{action: cost}}}}"
        ) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DataError(
            "the loss is {true class: {action: cost}}, or rows of costs in the order of the"
            f" classes: {error}"
        ) from error


# -- many rows -------------------------------------------------------------------------


def answer_table(
    served: ServedModel, question: Question, log: PredictionLog | None = None
) -> list[dict[str, Any]]:
    """A decision for every row of a table or a CSV file."""
    if question.csv is None:
        return _answer_rows(served, question, question.table, log)
    with tempfile.TemporaryDirectory(prefix="lyceum-") as folder:
        path = Path(folder) / "body.csv"
        path.write_bytes(question.csv)
        return _answer_rows(served, question, str(path), log)


def _answer_rows(
    served: ServedModel, question: Question, data: Any, log: PredictionLog | None
) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    for table, output in served.fitted.outputs(data):
        part = list(_answers(served, question, table, output))
        if log is not None:
            log.note(served, table.to_pylist(), part)
        answers += part
    return answers


def _answers(
    served: ServedModel, question: Question, table: Any, output: np.ndarray
) -> Iterator[dict[str, Any]]:
    fitted = served.fitted
    sent: Any = read_loss(question.loss, fitted.classes)
    loss, doubt = fitted.costs(sent, question.doubt)
    cells = coded_source(table, fitted.schema).X
    served.watch.note_rows(cells)
    warnings = [served.warnings(row) for row in cells.tolist()]
    if fitted.classes is None:
        for value, noted in zip(output.tolist(), warnings):
            yield {"predicted": value, "warnings": noted}
        return
    labels = fitted.classes.tolist()
    decided = None
    if loss is not None or doubt is not None:
        decided = minimum_risk(output, loss, doubt, classes=labels)
    predicted = fitted.predict(table).tolist()
    served.watch.note_posteriors(output)
    for row, posterior in enumerate(output.tolist()):
        answer = {"predicted": predicted[row]}
        if hasattr(fitted.model, "predict_proba"):
            answer["probabilities"] = dict(zip(map(str, labels), posterior))
        if decided is not None:
            answer["action"] = plain(decided.actions[row])
            answer["risk"] = float(decided.risk[row])
            answer["rejected"] = bool(decided.rejected[row])
        answer["warnings"] = warnings[row]
        yield answer

"""From a question to decisions: one record by the compiled way, many by the reader of tables."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lyceum._core.base import Decision
from lyceum._core.text import plain
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.errors import DataError
from lyceum.serve.bodies import Question
from lyceum.serve.shelf import ServedModel


def answer_record(served: ServedModel, question: Question) -> dict[str, Any]:
    """The decision for one record."""
    decision = served.records.decide(question.record)
    if question.loss is not None or question.doubt is not None:
        decision = _under_costs(served, decision, question)
    return decision.as_dict()


def _under_costs(
    served: ServedModel, decision: Decision, question: Question
) -> Decision:
    if decision.probabilities is None:
        raise DataError("costs need posteriors, and this model has none")
    posterior = np.array([list(decision.probabilities.values())])
    decided = minimum_risk(
        posterior,
        read_loss(question.loss, served.fitted.classes),
        question.doubt,
        classes=list(decision.probabilities),
    )
    return replace(
        decision,
        action=plain(decided.actions[0]),
        risk=float(decided.risk[0]),
        rejected=bool(decided.rejected[0]),
    )


def read_loss(loss: Any, classes: np.ndarray | None) -> LossMatrix | None:
    """A loss matrix from JSON: {true class: {action: cost}}, or rows of costs in the order of the
    classes."""
    if loss is None:
        return None
    labels = [] if classes is None else classes.tolist()
    if isinstance(loss, dict):
        actions = sorted({action for costs in loss.values() for action in costs})
        try:
            values = [
                [loss[str(label)][action] for action in actions] for label in labels
            ]
        except (KeyError, TypeError) as error:
            raise DataError(
                f"the loss has no cost for {error}: give {{true class: {{action: cost}}}}"
            ) from error
        return LossMatrix(values, classes=labels, actions=actions)
    return LossMatrix(loss, classes=labels)


def answer_table(served: ServedModel, question: Question) -> Iterator[dict[str, Any]]:
    """A decision for every row of a table or a CSV file."""
    if question.csv is not None:
        with tempfile.TemporaryDirectory(prefix="lyceum-") as folder:
            path = Path(folder) / "body.csv"
            path.write_bytes(question.csv)
            yield from _answers(served, question, str(path))
    else:
        yield from _answers(served, question, question.table)


def _answers(
    served: ServedModel, question: Question, data: Any
) -> Iterator[dict[str, Any]]:
    fitted = served.fitted
    loss, doubt = fitted.costs(read_loss(question.loss, fitted.classes), question.doubt)
    for _, output in fitted.outputs(data):
        if fitted.classes is None:
            for value in output.tolist():
                yield {"predicted": value}
            continue
        labels = fitted.classes.tolist()
        decided = None
        if loss is not None or doubt is not None:
            decided = minimum_risk(output, loss, doubt, classes=labels)
        likeliest = output.argmax(axis=1).tolist()
        for row, posterior in enumerate(output.tolist()):
            answer = {
                "predicted": labels[likeliest[row]],
                "probabilities": dict(zip(map(str, labels), posterior)),
            }
            if decided is not None:
                answer["action"] = plain(decided.actions[row])
                answer["risk"] = float(decided.risk[row])
                answer["rejected"] = bool(decided.rejected[row])
            yield answer

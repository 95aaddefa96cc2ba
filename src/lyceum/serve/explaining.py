"""Why a decision was taken, and the smallest change of the record that would alter it."""

from __future__ import annotations

from typing import Any

from lyceum.serve.answering import read_loss
from lyceum.serve.bodies import Question
from lyceum.serve.shelf import ServedModel
from lyceum.web import Refused
from lyceum.workflows import ask_model


def explain_record(served: ServedModel, question: Question) -> dict[str, Any]:
    """The decision, what every column adds to it, and the smallest change that alters it."""
    coder = served.records.coder
    record = dict(zip(coder.names, coder.values(question.record)))
    loss = read_loss(question.loss, served.fitted.classes)
    (answer,) = ask_model(served, [record], loss=loss, doubt=question.doubt)
    if answer.explanation is None and served.fitted.classes is None:
        raise Refused(422, f"{served.fitted.name} cannot explain a single prediction")
    return answer.as_dict()

"""Question: the target, what mistakes cost, doubt, groups and time; what so few rows can answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from lyceum import catalog
from lyceum.decision import LossMatrix
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.data import inspection_of, repaired_table
from lyceum.workbench.question import StudyQuestion
from lyceum.workbench.question_notes import (
    class_notes,
    cost_sentences,
    group_notes,
    number_notes,
    time_notes,
)


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """The columns to choose from and, once there is a target, what can be asked of it."""
    inspection = inspection_of(desk, address)
    columns = [
        {"name": column.name, "kind": column.kind, "why": column.why}
        for column in inspection.columns
    ]
    if address.text("target") is None:
        return {"columns": columns, "question": None}
    question = StudyQuestion.of(desk, address)
    task: Literal["regression", "classification"] = "regression"
    if question.classes is not None:
        task = "classification"
    costs = question.loss
    if costs is None and question.classes is not None:
        costs = LossMatrix.zero_one(question.classes)
    return {
        "columns": columns,
        "question": {
            "task": task,
            "n_rows": question.n_rows,
            "counts": question.counts,
            "classes": list(question.counts),
            "loss": None if costs is None else costs.values.tolist(),
            "sentences": list(_sentences(question)),
            "notes": list(_notes(desk, question)),
            "learners": [
                {"name": entry.name, "about": entry.about}
                for entry in catalog.learners(task)
            ],
            "out": question.out,
            "action": question.action().as_dict(),
        },
    }


def _sentences(question: StudyQuestion) -> Iterator[str]:
    if question.classes is None:
        return
    loss = question.loss or LossMatrix.zero_one(question.classes)
    if len(question.classes) <= 6:
        yield from cost_sentences(loss, question.address.number("doubt"))


def _notes(desk: Desk, question: StudyQuestion) -> Iterator[str]:
    address = question.address
    if question.classes is None:
        yield from number_notes(question.n_rows)
    else:
        yield from class_notes(question.counts)
    group = address.text("group")
    if group is not None:
        table = repaired_table(desk, address).data.table
        yield from group_notes(group, len(table.column(group).unique()))
    time = address.text("time")
    if time is not None:
        yield from time_notes(time)


PAGE = Page("question", "Question", [answers("/api/question", show)])

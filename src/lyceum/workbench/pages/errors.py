"""Errors: rows that were decided wrongly, the worst group of rows, and learners that disagree."""

from __future__ import annotations

from typing import Any

from lyceum.studies import StudyErrors, explain_error, study_errors
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.study import folder_of, study_of

_LISTED = 25


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """What the learner got wrong, and the call that says so."""
    errors = _errors(desk, address)
    study = errors.study
    action = Action(
        "errors",
        "lyceum.studies.study_errors",
        (folder_of(address),),
        {"learner": address.text("learner")},
        result="errors",
    )
    return {
        **errors.as_dict(address.count("rows", _LISTED), groups=False),
        "learners": [
            {"name": learner.name, "label": learner.label}
            for learner in study.comparison.learners
        ],
        "classes": None if study.classes is None else [str(c) for c in study.classes],
        "action": action.as_dict(),
    }


def groups(desk: Desk, address: Address) -> dict[str, Any]:
    """The groups of rows, the surest bad one first; they take longer than the rows."""
    errors = _errors(desk, address)
    return {
        "worst_group": errors.worst_group,
        "groups": [group.as_dict() for group in errors.groups],
    }


def explain(desk: Desk, address: Address) -> dict[str, Any]:
    """One row with what every column adds, and the call that says so."""
    row = address.count("row", 0)
    example = _errors(desk, address).explain(row)
    action = Action(
        "errors",
        f"lyceum.studies.{explain_error.__name__}",
        (folder_of(address), row),
        {"learner": address.text("learner")},
        positional={1: "--row"},
        result="example",
    )
    return {**example.as_dict(), "action": action.as_dict()}


def _errors(desk: Desk, address: Address) -> StudyErrors:
    study = study_of(desk, address)
    learner = address.text("learner") or study.choice.name
    key = ("errors", stamp(study.results_path), learner)
    return desk.once(key, lambda: study_errors(study, learner))


PAGE = Page(
    "errors",
    "Errors",
    [
        answers("/api/errors", show),
        answers("/api/errors/groups", groups),
        answers("/api/errors/row", explain),
    ],
)

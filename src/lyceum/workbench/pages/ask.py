"""Ask: what a model says to rows that a person types, why, and what would alter its action."""

from __future__ import annotations

from typing import Any

from lyceum.persist import load
from lyceum.web import Refused, decode_json
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workflows import AskableModel, ask_model

_MOST_ROWS = 5


def show_model(desk: Desk, address: Address) -> dict[str, Any]:
    """What the model takes, for the form."""
    return {"file": _model_name(address), **_model(desk, address).as_dict()}


def show_answers(desk: Desk, address: Address) -> dict[str, Any]:
    """What the model says to every row, and the call that says so."""
    rows = _rows(address)
    said = ask_model(_model(desk, address), rows, change=False)
    action = Action(
        "ask",
        "lyceum.workflows.ask_model",
        (_model_name(address),),
        {"rows": tuple(rows) if rows != [{}] else None},
        {"rows": "--row"},
        result="answers",
    )
    answered = [answer.as_dict() for answer in said]
    return {"answers": answered, "action": action.as_dict()}


def show_changes(desk: Desk, address: Address) -> dict[str, Any]:
    """The smallest change of every row that alters the action; it takes longer than the answer."""
    said = ask_model(_model(desk, address), _rows(address))
    return {"changes": [answer.as_dict()["change"] for answer in said]}


def _model_name(address: Address) -> str:
    """The model of the address, or that of the study it is about."""
    name = address.text("model")
    out = address.text("out")
    if name is None and out is not None:
        return f"{out}/model.lyceum"
    return name or ""


def _model(desk: Desk, address: Address) -> AskableModel:
    name = _model_name(address)
    path = desk.path(name)
    if not path.exists() and "model" not in address.parameters:
        raise Refused(404, f"the study {address.text('out')} has no model yet")
    path = desk.file(name)
    return desk.once(("model", stamp(path)), lambda: AskableModel(load(path)))


def _rows(address: Address) -> list[dict[str, Any]]:
    """The cells of every row that are not those of a typical row, `row={"age": 30}`."""
    rows = [decode_json(text.encode()) for text in address.texts("row")] or [{}]
    if not all(isinstance(row, dict) for row in rows):
        raise Refused(422, 'a row is columns and their cells: row={"age": 30}')
    if len(rows) > _MOST_ROWS:
        raise Refused(
            422, f"at most {_MOST_ROWS} rows stand side by side, not {len(rows)}"
        )
    return rows


PAGE = Page(
    "ask",
    "Ask",
    [
        answers("/api/ask", show_answers),
        answers("/api/ask/changes", show_changes),
        answers("/api/ask/model", show_model),
    ],
)

"""Theatre: a method step by step, on the textbook's table or on columns of the open file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from lyceum.theatre import Play, TheatreMethod, list_methods, play
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.data import repair_action, repaired_table


def show_methods(desk: Desk, address: Address) -> dict[str, Any]:
    """The methods, and the columns of the open file."""
    columns: list[str] = []
    if address.file:
        columns = repaired_table(desk, address).data.table.column_names
    return {
        "methods": [method.as_dict() for method in list_methods()],
        "columns": columns,
    }


def show_play(desk: Desk, address: Address) -> dict[str, Any]:
    """The scenes, and the call that makes them."""
    return {
        "play": _play(desk, address).as_dict(),
        "action": _action(address).as_dict(),
    }


def save_page(desk: Desk, address: Address) -> Response:
    """The same scenes as a page that needs no server."""
    made = _play(desk, address)
    name = f"{made.method}.html"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(made.to_html(), media_type="text/html", headers=headers)


def _method(address: Address) -> TheatreMethod:
    name = address.text("method") or list_methods()[0].name
    for method in list_methods():
        if method.name == name:
            return method
    raise Refused(404, f"there is no method {name}")


def _settings(address: Address) -> dict[str, Any]:
    """The settings of the address, `set=k=3`."""
    known = {setting.name: setting for setting in _method(address).all_settings}
    settings: dict[str, Any] = {}
    for text in address.texts("set"):
        name, between, value = text.partition("=")
        if not between or name not in known:
            listed = ", ".join(known) or "none"
            raise Refused(422, f"cannot read set={text}: the settings are {listed}")
        settings[name] = known[name].read(value)
    return settings


def _is_own(address: Address) -> bool:
    """Whether the open file is played, not the textbook's table."""
    return bool(address.file) and address.text("table") == "file"


def _play(desk: Desk, address: Address) -> Play:
    address = address.without("step")
    data = None
    version = None
    target = None
    if _is_own(address):
        data = repaired_table(desk, address).data
        version = stamp(address.path(desk))
        target = address.text("target")

    def make() -> Play:
        return play(
            _method(address).name,
            data,
            columns=list(address.texts("column")) or None,
            target=target,
            settings=_settings(address),
            seed=address.count("seed", 0),
        )

    return desk.once(("play", version, tuple(address.parameters.items())), make)


def _action(address: Address) -> Action:
    """The call that makes the play, after the repair of the table where there is one."""
    arguments: tuple[str, ...] = (_method(address).name,)
    options: dict[str, Any] = {}
    before = None
    if _is_own(address):
        file = address.file
        if address.texts("repair"):
            before = repair_action(address)
            file = before.options["out"]
        arguments = (*arguments, file)
        options["columns"] = list(address.texts("column"))
        if _method(address).target is not None:
            options["target"] = address.text("target")
    options["settings"] = _settings(address)
    options["seed"] = address.count("seed", 0) or None
    action = Action(
        "theatre",
        "lyceum.theatre.play",
        arguments,
        options,
        {"settings": "--set"},
        result="shown",
        before=before,
    )
    table = {"method": arguments[0], "data": list(arguments[1:]), **action.given}
    return replace(action, table=table)


PAGE = Page(
    "theatre",
    "Theatre",
    [
        answers("/api/theatre", show_play),
        answers("/api/theatre/methods", show_methods),
        answers("/api/theatre/page", save_page),
    ],
)

"""Data: what is in a table, cell by cell and column by column, and what looks wrong."""

from __future__ import annotations

from typing import Any

from lyceum._core.data import LoadedTable, inspect, read_data
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers


def table_of(desk: Desk, address: Address) -> LoadedTable:
    """The table of an address, read once."""
    path = address.path(desk)
    return desk.once(("table", stamp(path)), lambda: read_data(str(path)))


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """What `inspect` says, and the call that says so."""
    table = table_of(desk, address)
    target = address.text("target")
    inspection = inspect(table, target, kinds=address.kinds or None)
    action = Action(
        "inspect",
        "lyceum.data.inspect",
        (address.file,),
        {"target": target, "kinds": address.kinds},
        {"kinds": "--kind"},
        result="inspection",
    )
    return {"inspection": inspection.as_dict(), "action": action.as_dict()}


PAGE = Page("data", "Data", [answers("/api/data", show)])

"""Data: what is in a table, cell by cell and column by column, what looks wrong, and repairs."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import numpy as np
from starlette.responses import Response

from lyceum._core.data import (
    Inspection,
    LoadedTable,
    inspect,
    inspect_pair,
    odd_cells,
    read_data,
)
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.blocks import block_answer
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workflows import Repaired, repair_table

_MOST_ROWS = 500  # cells of so many rows are sent at a time
_MOST_POINTS = 1_000_000


def repaired_table(desk: Desk, address: Address) -> Repaired:
    """The table of an address after its repairs, read once."""
    path = address.path(desk)
    steps = address.texts("repair")

    def read() -> LoadedTable:
        return read_data(str(path))

    def make() -> Repaired:
        return repair_table(desk.once(("table", stamp(path)), read), steps)

    return desk.once(("repaired", stamp(path), steps), make)


def inspection_of(desk: Desk, address: Address, *, declared: bool = True) -> Inspection:
    """The inspection of the table of an address; the kinds that were declared can be left out."""
    kinds = address.kinds if declared else {}
    target = address.text("target")
    key = ("inspection", stamp(address.path(desk)), address.texts("repair"), target)

    def make() -> Inspection:
        table = repaired_table(desk, address).data
        return inspect(table, target, kinds=kinds or None)

    return desk.once((*key, tuple(kinds.items())), make)


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """What `inspect` says, the cells that speak against a kind, and the calls that say so."""
    repaired = repaired_table(desk, address)
    inspection = inspection_of(desk, address)
    inferred = inspection
    if address.kinds:
        inferred = inspection_of(desk, address, declared=False)
    odd = desk.once(
        ("odd", stamp(address.path(desk)), repaired.steps),
        lambda: odd_cells(repaired.data),
    )
    return {
        "inspection": inspection.as_dict(),
        "inferred": {
            name: {"kind": inferred[name].kind, "why": inferred[name].why}
            for name in address.kinds
            if name in repaired.data.table.column_names
        },
        "odd": [column.as_dict() for column in odd],
        "repairs": repaired.as_dict(),
        "action": inspect_action(address).as_dict(),
        "repair": repair_action(address).as_dict() if repaired.steps else None,
    }


def rows(desk: Desk, address: Address) -> dict[str, Any]:
    """The cells of some rows, as they are after the repairs."""
    table = repaired_table(desk, address).data.table
    start = address.count("start", 0)
    part = table.slice(start, min(address.count("count", 60), _MOST_ROWS))
    cells = [column.to_pylist() for column in part.columns]
    return {"start": start, "n_rows": table.num_rows, "columns": cells}


def pair(desk: Desk, address: Address) -> dict[str, Any]:
    """Two columns side by side: how far one tells the other."""
    names = _pair(address)
    repaired = repaired_table(desk, address).data
    inspection = inspect_pair(repaired, *names, kinds=address.kinds or None)
    action = Action(
        "inspect",
        "lyceum.data.inspect_pair",
        (address.file, *names),
        {"kinds": address.kinds},
        {"kinds": "--kind"},
        result="pair",
        positional={1: "--pair"},
    )
    return {**inspection.as_dict(), "action": action.as_dict()}


def pair_points(desk: Desk, address: Address) -> Response:
    """The numbers of two columns, for a picture; of very many rows evenly chosen ones."""
    repaired = repaired_table(desk, address).data
    inspection = inspect_pair(repaired, *_pair(address), kinds=address.kinds or None)
    step = -(-max(1, inspection.n_rows) // _MOST_POINTS)
    columns = {"x": inspection.x_values[::step], "y": inspection.y_values[::step]}
    return block_answer({name: np.asarray(each) for name, each in columns.items()})


def save(desk: Desk, address: Address) -> dict[str, Any]:
    """Write the repaired table and its steps into files of their own."""
    action = repair_action(address)
    out = desk.path(action.options["out"])
    repair_table(
        repaired_table(desk, address.without("repair")).data,
        address.texts("repair"),
        out=out,
        force=True,
    )
    out.with_suffix(".toml").write_text(action.as_recipe(), encoding="utf-8")
    desk.events.add("files", {"name": desk.name_of(out)})
    return {"name": desk.name_of(out)}


# -- calls -----------------------------------------------------------------------------


def _pair(address: Address) -> tuple[str, str]:
    return address.text("x") or "", address.text("y") or ""


def inspect_action(address: Address) -> Action:
    return Action(
        "inspect",
        "lyceum.data.inspect",
        (address.file,),
        {"target": address.text("target"), "kinds": address.kinds},
        {"kinds": "--kind"},
        result="inspection",
    )


def repair_action(address: Address) -> Action:
    """The call that writes the repaired table beside the file."""
    path = PurePosixPath(address.file)
    if not path.name:
        raise Refused(422, "the address names no file: choose one")
    out = path.with_name(f"{path.name.partition('.')[0]}-repaired.csv")
    return Action(
        "repair",
        "lyceum.workflows.repair_table",
        (address.file,),
        {"steps": address.texts("repair"), "out": str(out), "force": True},
        {"steps": "--step"},
        result="repaired",
    )


PAGE = Page(
    "data",
    "Data",
    [
        answers("/api/data", show),
        answers("/api/data/rows", rows),
        answers("/api/data/pair", pair),
        answers("/api/data/points", pair_points),
        answers("/api/data/save", save, methods=["POST"]),
    ],
)

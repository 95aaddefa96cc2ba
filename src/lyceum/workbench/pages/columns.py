"""Columns: fewer of them, as principal components, as a projection, or the most informative."""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.responses import Response

from lyceum.web import Refused
from lyceum.workbench.address import Address
from lyceum.workbench.blocks import block_answer
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.clusters import table_action
from lyceum.workbench.pages.data import inspection_of, repaired_table
from lyceum.workflows import Reduction, reduce_table

_METHODS = {
    "pca": "principal components: directions of the largest variance",
    "fisher": "Fisher's projection: directions that part the classes",
    "svd": "a factorization of the table",
    "mds": "places with the same distances (Gower's)",
    "ranking": "the most informative columns, one by one",
    "subset": "the most informative set of columns",
}
_MOST_POINTS = 3000
_MOST_CLASSES = 6


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """What `reduce_table` says of a table, and the call that says so."""
    reduction = _reduction(desk, address)
    target = address.text("target")
    scores = _scores(reduction, target)
    action = table_action(
        "reduce",
        "lyceum.workflows.reduce_table",
        address,
        {"target": target, **_options(address)},
        "reduction",
    )
    return {
        **reduction.as_dict(),
        "scores": scores,
        "classes": _classes(reduction, target)[0],
        "methods": _METHODS,
        "names": [column.name for column in inspection_of(desk, address).columns],
        "action": action.as_dict(),
    }


def points(desk: Desk, address: Address) -> Response:
    """Two new columns of the rows with their classes; of very many rows evenly chosen ones."""
    reduction = _reduction(desk, address)
    target = address.text("target")
    scores = _scores(reduction, target)
    if not scores:
        raise Refused(422, f"method {reduction.method} keeps columns as they are")
    table = reduction.table
    rows = np.unique(np.linspace(0, table.num_rows - 1, _MOST_POINTS).astype(int))
    columns = {"row": rows, "class": _classes(reduction, target)[1][rows]}
    for number, name in enumerate(("x", "y")):
        axis = address.text(name)
        if axis not in scores:
            axis = scores[min(number, len(scores) - 1)]
        columns[name] = table.column(axis).to_numpy()[rows]
    return block_answer(columns)


def _scores(reduction: Reduction, target: str | None) -> list[str]:
    """The new columns, none where columns were chosen."""
    if reduction.method in ("ranking", "subset"):
        return []
    return [name for name in reduction.table.column_names if name != target]


def _classes(reduction: Reduction, target: str | None) -> tuple[list[str], np.ndarray]:
    """The classes of the target, where there are few, and the code of every row."""
    table = reduction.table
    codes = np.zeros(table.num_rows)
    if target is None:
        return [], codes
    labels = np.array([str(value) for value in table.column(target).to_pylist()])
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) > _MOST_CLASSES:
        return [], np.zeros(table.num_rows)
    return names.tolist(), codes


def _options(address: Address) -> dict[str, Any]:
    return {
        "method": address.text("method"),
        "n_components": address.number("components"),
        "keep": address.texts("keep"),
    }


def _reduction(desk: Desk, address: Address) -> Reduction:
    options = {name: value for name, value in _options(address).items() if value}
    target = address.text("target")
    file = (stamp(address.path(desk)), address.texts("repair"))
    table = repaired_table(desk, address).data
    return desk.once(
        ("reduction", *file, target, repr(options)),
        lambda: reduce_table(table, target, **options),
    )


PAGE = Page(
    "columns",
    "Columns",
    [answers("/api/columns", show), answers("/api/columns/points", points)],
)

"""Clusters: how many there are, what each is like, and where its rows lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.responses import Response

from lyceum import catalog
from lyceum.studies import TableClusters, cluster_table
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.blocks import block_answer
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.data import inspection_of, repair_action, repaired_table
from lyceum.workflows import reduce_table

_MOST_POINTS = 3000  # that are drawn
_SCORES = ("first component", "second component")


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """What `cluster_table` says of a table, and the call that says so."""
    options = _options(address)
    clusters = _clusters(desk, address)
    inspection = inspection_of(desk, address)
    numbers = [c.name for c in inspection.columns if c.kind == "continuous"]
    action = table_action(
        "cluster", "lyceum.studies.cluster_table", address, options, "clusters"
    )
    return {
        **clusters.as_dict(),
        "labels": np.unique(clusters.labels).tolist(),
        "axes": [*_SCORES, *numbers],
        "learners": [entry.name for entry in catalog.learners("clustering")],
        "action": action.as_dict(),
    }


def points(desk: Desk, address: Address) -> Response:
    """Two numbers and the cluster of every row, of very many rows evenly chosen ones."""
    labels = _clusters(desk, address).labels
    rows = np.unique(np.linspace(0, len(labels) - 1, _MOST_POINTS).astype(int))
    columns = {"row": rows, "cluster": labels[rows]}
    for name, default in zip(("x", "y"), _SCORES):
        axis = address.text(name) or default
        columns[name] = _axis(desk, address, axis)[rows]
    return block_answer(columns)


def _axis(desk: Desk, address: Address, name: str) -> np.ndarray:
    """The numbers of a column, or the scores of the rows on a principal component."""
    table = repaired_table(desk, address).data
    if name in _SCORES:
        file = (stamp(address.path(desk)), address.texts("repair"))
        scores = desk.once(
            ("scores", *file),
            lambda: reduce_table(table, method="pca", n_components=2).table,
        )
        # a table with a single column has one component
        index = min(_SCORES.index(name), scores.num_columns - 1)
        return scores.column(index).to_numpy()
    if name not in table.table.column_names:
        raise Refused(422, f"there is no column {name}")
    values = table.table.column(name).to_pylist()
    try:
        return np.array([np.nan if v is None else v for v in values], dtype=float)
    except (TypeError, ValueError):
        raise Refused(422, f"{name} holds no numbers: choose another axis") from None


def _options(address: Address) -> dict[str, Any]:
    return {
        "learner": address.text("learner"),
        "clusters": address.count("clusters", 0) or None,
        "kinds": address.kinds,
        "ignore": address.texts("ignore"),
    }


def _clusters(desk: Desk, address: Address) -> TableClusters:
    options = _options(address)
    file = (stamp(address.path(desk)), address.texts("repair"))
    table = repaired_table(desk, address).data
    return desk.once(
        ("clusters", *file, repr(options)), lambda: cluster_table(table, **options)
    )


def table_action(
    command: str, function: str, address: Address, options: dict[str, Any], result: str
) -> Action:
    """A call on the table of an address, after its repairs where there are some."""
    name = address.file
    before = None
    if address.texts("repair"):
        before = repair_action(address)
        name = before.options["out"]
    flags = {"kinds": "--kind", "n_components": "--components"}
    return Action(
        command, function, (name,), options, flags, result=result, before=before
    )


PAGE = Page(
    "clusters",
    "Clusters",
    [answers("/api/clusters", show), answers("/api/clusters/points", points)],
)

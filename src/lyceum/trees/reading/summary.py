"""The summary of a tree: facts, nodes, importances, and the gains of every column considered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.trees import (
    GROUPS,
    INTERVALS,
    LEAF,
    THRESHOLD,
    Tree,
    TreeLabels,
    importance_table,
    number,
)
from lyceum.report import Summary, Table


def summary_of(
    title: str,
    labels: TreeLabels,
    *,
    facts: Mapping[str, Any] | None = None,
    importances: np.ndarray | None = None,
    record: Sequence[Mapping[str, Any]] | None = None,
    choice: Any = None,
    most: int = 40,
) -> Summary:
    """The summary of one tree.

    Parameters
    ----------
    title : str
    labels : TreeLabels
        The tree with the names of its columns, classes and actions.
    facts : dict, optional
        More facts, after those of the tree.
    importances : array of shape (n_columns,), optional
    record : list of dict, optional
        Every column considered at every node: the `record_` of a tree learner.
    choice : AlphaChoice, optional
        How α was chosen by cross-validation.
    most : int, default=40
        The largest number of nodes in the table of nodes, and of tables of gains; `node_table` and
        `gain_tables` give all.
    """
    tree = labels.tree
    schema = labels.schema
    all_facts: dict[str, Any] = {
        "nodes": tree.n_nodes,
        "leaves": tree.n_leaves,
        "depth": tree.depth,
    }
    if labels.criterion is not None:
        all_facts["criterion"] = labels.criterion
    all_facts["rows"] = int(tree.n_rows[0])
    if float(tree.weight[0]) != float(tree.n_rows[0]):
        all_facts["weight"] = float(tree.weight[0])
    if not np.isnan(tree.impurity[0]):
        all_facts["impurity at the root"] = float(tree.impurity[0])
    used = np.unique(tree.feature[tree.kind != LEAF])
    all_facts["columns tested"] = f"{len(used)} of {len(schema)}"
    tables = [node_table(labels, most=most)]
    if importances is not None:
        tables.append(importance_table(importances, schema))
    if choice is not None:
        tables.append(choice.table())
    if record is not None:
        tables += gain_tables(record, tree, schema)[:most]
    return Summary(title, all_facts | dict(facts or {}), tables)


def node_table(labels: TreeLabels, *, most: int | None = None) -> Table:
    """One line per node: how it is reached, how many rows came, its answer and the gain of its
    split."""
    tree = labels.tree
    parents = tree.parent
    depths = tree.depths
    n = tree.n_nodes if most is None else min(most, tree.n_nodes)
    rows = []
    for node in range(n):
        split = ""
        gain = ""
        if not labels.is_leaf(node):
            split = labels.column(node)
            gain = number(float(tree.gain[node]))
        row = (
            node,
            int(depths[node]),
            _reach_text(labels, parents, node),
            float(tree.weight[node]),
            float(tree.impurity[node]),
            split,
            gain,
            labels.answer_text(node),
            labels.distribution(node, 4),
        )
        rows.append(row)
    if n == tree.n_nodes:
        title = "Nodes"
    else:
        title = f"Nodes (the first {n} of {tree.n_nodes:,})"
    columns = ("node", "depth", "reached by", "weight", "impurity", "splits by", "gain")
    return Table(title, (*columns, labels.target, "rows"), rows)


def _reach_text(labels: TreeLabels, parents: np.ndarray, node: int) -> str:
    parent = int(parents[node])
    if parent < 0:
        return "(root)"
    return labels.condition(parent, node - int(labels.tree.child[parent]))


def gain_tables(
    record: Sequence[Mapping[str, Any]], tree: Tree, schema: Schema
) -> list[Table]:
    """One table per node of every column considered there, the best score first; the chosen one is
    marked.

    `record` is the `record_` of a tree learner.
    """
    labels = TreeLabels(tree, schema)
    parents = tree.parent
    index = {name: j for j, name in enumerate(schema.names)}
    tables = []
    for entry in record:
        node = entry["node"]
        ranked = sorted(
            entry["candidates"],
            key=lambda candidate: (-candidate["score"], index[candidate["column"]]),
        )
        rows = []
        for candidate in ranked:
            name = candidate["column"]
            split = _split(labels, node, index[name], candidate["threshold"])
            mark = "chosen" if name == entry["column"] else ""
            rows.append((name, candidate["gain"], candidate["score"], split, mark))
        end = ", not split" if entry["column"] is None else ""
        title = f"Gains at node {node}: {_reach_text(labels, parents, node)}{end}"
        tables.append(Table(title, ("column", "gain", "score", "split", ""), rows))
    return tables


def _split(labels: TreeLabels, node: int, feature: int, threshold: float | None) -> str:
    """A candidate split as text: in full for the one that was made."""
    tree = labels.tree
    made = int(tree.feature[node]) == feature
    if made and tree.kind[node] == INTERVALS:
        first = int(tree.table[node])
        cuts = tree.cuts[first : first + int(tree.n_children[node]) - 1]
        return "at " + ", ".join(number(float(cut)) for cut in cuts)
    if made and tree.kind[node] == GROUPS:
        return " | ".join(
            ", ".join(labels.categories(node, labels.codes(node, b))) for b in (0, 1)
        )
    if made and tree.kind[node] != THRESHOLD:
        return "one branch per category"
    if threshold is None:
        return "categories"
    return f"≤ {number(threshold)}"

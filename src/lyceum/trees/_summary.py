"""What a tree has learned: facts, nodes, importances, and the gains of every column considered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lyceum.data import Schema
from lyceum.report import Summary, Table
from lyceum.tree_core import (
    GROUPS,
    INTERVALS,
    LEAF,
    THRESHOLD,
    Actions,
    Tree,
    TreeLabels,
    importance_table,
    number,
)

__all__ = ["gain_tables", "node_table", "summary_of", "tree_summary"]


def summary_of(
    title: str,
    tree: Tree,
    schema: Schema,
    classes: Sequence[Any] | None = None,
    *,
    criterion: str | None = None,
    actions: Actions | None = None,
    facts: Mapping[str, Any] | None = None,
    importances: np.ndarray | None = None,
    record: Any = None,
    most: int = 40,
) -> Summary:
    """The summary of one tree.

    Parameters
    ----------
    title : str
    tree, schema, classes, criterion, actions
        As in `as_text`.
    facts : dict, optional
        More facts, after those of the tree.
    importances : array of shape (n_columns,), optional
    record : optional
        Every column considered at every node, as `grow` gives it: `node`, `feature`, `gain`, `score`,
        `threshold`.
    most : int, default=40
        Nodes in the table of nodes, and tables of gains; `node_table` and `gain_tables` give all.
    """
    shown: dict[str, Any] = {"nodes": tree.n_nodes, "leaves": tree.n_leaves, "depth": tree.depth}
    if criterion is not None:
        shown["criterion"] = criterion
    shown["rows"] = int(tree.n_rows[0])
    if float(tree.weight[0]) != float(tree.n_rows[0]):
        shown["weight"] = float(tree.weight[0])
    shown["impurity at the root"] = float(tree.impurity[0])
    used = np.unique(tree.feature[tree.kind != LEAF])
    shown["columns tested"] = f"{len(used)} of {len(schema)}"
    tables = [node_table(tree, schema, classes, criterion=criterion, actions=actions, most=most)]
    if importances is not None:
        tables.append(importance_table(importances, schema))
    if record is not None:
        tables += gain_tables(record, tree, schema)[:most]
    return Summary(title, shown | dict(facts or {}), tables)


def tree_summary(learner: Any, facts: Mapping[str, Any] | None = None) -> Summary:
    """The summary of a learner with one tree: its size, nodes, importances and, if kept, every gain."""
    return summary_of(
        learner._title(),
        learner.tree_,
        learner.schema_,
        getattr(learner, "classes_", None),
        criterion=getattr(learner, "criterion", None),
        actions=Actions.of(learner),
        facts=facts,
        importances=getattr(learner, "feature_importances_", None),
        record=getattr(learner, "record_", None),
    )


def node_table(
    tree: Tree,
    schema: Schema,
    classes: Sequence[Any] | None = None,
    *,
    criterion: str | None = None,
    actions: Actions | None = None,
    most: int | None = None,
) -> Table:
    """A row a node: how it is reached, how many rows came, what it says and what its split gained."""
    words = TreeLabels(tree, schema, classes, criterion, actions=actions)
    parents, depths = tree.parent, tree.depths
    n = tree.n_nodes if most is None else min(most, tree.n_nodes)
    rows = []
    for node in range(n):
        reached = _reached(words, parents, node)
        split = "" if words.is_leaf(node) else words.column(node)
        gain = "" if words.is_leaf(node) else number(float(tree.gain[node]))
        said = words.answer_text(node)
        rows.append((node, int(depths[node]), reached, float(tree.weight[node]), float(tree.impurity[node]),
                     split, gain, said, words.distribution(node, 4)))  # fmt: skip
    title = "Nodes" if n == tree.n_nodes else f"Nodes (the first {n} of {tree.n_nodes:,})"
    columns = ("node", "depth", "reached by", "weight", "impurity", "splits by", "gain", words.target, "rows")
    return Table(title, columns, rows)


def _reached(words: TreeLabels, parents: np.ndarray, node: int) -> str:
    parent = int(parents[node])
    return "(root)" if parent < 0 else words.condition(parent, node - int(words.tree.child[parent]))


def gain_tables(record: Any, tree: Tree, schema: Schema) -> list[Table]:
    """A table a node of every column considered there, the best score first; the one chosen is marked.

    `record` has arrays `node`, `feature`, `gain` (the fall of impurity), `score` (what was compared: the gain
    ratio, Gain²/Cost, ...) and `threshold` (NaN for categories).
    """
    words, parents = TreeLabels(tree, schema), tree.parent
    tables = []
    order = np.lexsort((record.feature, -record.score, record.node))
    nodes, starts = np.unique(record.node[order], return_index=True)
    for node, entries in zip(nodes.tolist(), np.split(order, starts[1:])):
        chosen = int(tree.feature[node])
        rows = [
            (
                schema[int(record.feature[e])].name,
                float(record.gain[e]),
                float(record.score[e]),
                _split(words, int(node), int(record.feature[e]), float(record.threshold[e])),
                "chosen" if record.feature[e] == chosen else "",
            )
            for e in entries
        ]
        how = "" if chosen >= 0 else ", not split"
        title = f"Gains at node {node}: {_reached(words, parents, int(node))}{how}"
        tables.append(Table(title, ("column", "gain", "score", "split", ""), rows))
    return tables


def _split(words: TreeLabels, node: int, feature: int, threshold: float) -> str:
    """What a candidate split is: in full for the one that was made."""
    tree = words.tree
    made = int(tree.feature[node]) == feature
    if made and tree.kind[node] == INTERVALS:
        first = int(tree.table[node])
        cuts = tree.cuts[first : first + int(tree.n_children[node]) - 1]
        return "at " + ", ".join(number(float(cut)) for cut in cuts)
    if made and tree.kind[node] == GROUPS:
        return " | ".join(", ".join(words.categories(node, words.codes(node, b))) for b in (0, 1))
    if made and tree.kind[node] != THRESHOLD:
        return "a branch a category"
    return "categories" if np.isnan(threshold) else f"≤ {number(threshold)}"

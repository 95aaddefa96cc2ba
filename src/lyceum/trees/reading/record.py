"""The record of growth: every column considered at every node of the finished tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.trees import LEAF, SplitCandidates, Tree


def growth_record(
    candidates: SplitCandidates, grown: Tree, tree: Tree, schema: Schema
) -> list[dict[str, Any]]:
    """One entry per node of the tree where columns were considered, in the order of the nodes.

    An entry has `step`, its place in the list; `node`; `objective`, the impurity of the node;
    `column`, the one that the node is split by, None at a leaf; and `candidates`, a list of
    `column`, `gain` (the fall of impurity), `score` (the compared number: gain, gain ratio,
    gain²/cost) and `threshold` (None for categories).
    """
    candidates = _renumber(candidates, grown, tree)
    order = np.argsort(candidates.node, kind="stable")
    nodes, starts = np.unique(candidates.node[order], return_index=True)
    runs = np.split(order, starts[1:]) if len(nodes) else []
    entries = []
    for step, (node, run) in enumerate(zip(nodes.tolist(), runs)):
        split = int(tree.feature[node])
        entry = {
            "step": step,
            "node": node,
            "objective": float(tree.impurity[node]),
            "column": None if split < 0 else schema[split].name,
            "candidates": [_candidate(candidates, i, schema) for i in run],
        }
        entries.append(entry)
    return entries


def _candidate(candidates: SplitCandidates, i: int, schema: Schema) -> dict[str, Any]:
    threshold = float(candidates.threshold[i])
    return {
        "column": schema[int(candidates.feature[i])].name,
        "gain": float(candidates.gain[i]),
        "score": float(candidates.score[i]),
        "threshold": None if np.isnan(threshold) else threshold,
    }


def _renumber(candidates: SplitCandidates, grown: Tree, tree: Tree) -> SplitCandidates:
    """The columns considered in growth, by the node numbers of the pruned tree.

    Where another branch was raised to the place of a node, no column was considered for its rows:
    neither that node nor those below it have a record.
    """
    if grown is tree:
        return candidates
    # both trees from the root down together, as long as their splits are the same
    number = np.full(grown.n_nodes, -1, dtype=np.int64)
    pairs = [(0, 0)]
    for old, new in pairs:
        if tree.kind[new] != LEAF and _split(grown, old) != _split(tree, new):
            continue
        number[old] = new
        if tree.kind[new] != LEAF:
            pairs += zip(grown.children(old), tree.children(new))
    node = number[candidates.node]
    remains = node >= 0
    return SplitCandidates(
        node=node[remains].astype(candidates.node.dtype),
        feature=candidates.feature[remains],
        gain=candidates.gain[remains],
        score=candidates.score[remains],
        threshold=candidates.threshold[remains],
    )


def _split(tree: Tree, node: int) -> tuple:
    """Everything that decides where rows go from a node."""
    start = int(tree.table[node])
    count = int(tree.n_children[node])
    if np.isnan(tree.threshold[node]):
        threshold = None
    else:
        threshold = float(tree.threshold[node])
    cuts = branches = ()
    if tree.n_codes[node]:
        branches = tuple(
            tree.branches[start : start + int(tree.n_codes[node])].tolist()
        )
    elif start >= 0:
        cuts = tuple(tree.cuts[start : start + count - 1].tolist())
    return int(tree.feature[node]), count, threshold, branches, cuts

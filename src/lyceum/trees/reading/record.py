"""The record of growth: every column considered at every node of the finished tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.trees import LEAF, SplitCandidates, Tree


def growth_record(
    candidates: SplitCandidates, grown: Tree, tree: Tree, schema: Schema
) -> list[dict[str, Any]]:
    """One entry per node of the tree where columns were candidates, in the order of the nodes.

    An entry has `step`, its place in the list; `node`; `objective`, the impurity of the node;
    `column`, the one that the node is split by, None at a leaf; and `candidates`, a list of
    `column`, `gain` (the fall of impurity), `score` (the compared number: gain, gain ratio,
    gain²/cost) and `threshold` (None for categories).
    """
    candidates = _renumber(candidates, grown, tree)
    order = np.argsort(candidates.node, kind="stable")
    nodes, starts = np.unique(candidates.node[order], return_index=True)
    if len(nodes):
        runs = np.split(order, starts[1:])
    else:
        runs = []
    return [
        _entry(step, int(node), candidates, run, tree, schema)
        for step, (node, run) in enumerate(zip(nodes, runs))
    ]


def _entry(
    step: int,
    node: int,
    candidates: SplitCandidates,
    run: np.ndarray,
    tree: Tree,
    schema: Schema,
) -> dict[str, Any]:
    split = int(tree.feature[node])
    listed = [
        {
            "column": schema[int(candidates.feature[i])].name,
            "gain": float(candidates.gain[i]),
            "score": float(candidates.score[i]),
            "threshold": None
            if np.isnan(candidates.threshold[i])
            else float(candidates.threshold[i]),
        }
        for i in run
    ]
    return {
        "step": step,
        "node": node,
        "objective": float(tree.impurity[node]),
        "column": None if split < 0 else schema[split].name,
        "candidates": listed,
    }


def _renumber(candidates: SplitCandidates, grown: Tree, tree: Tree) -> SplitCandidates:
    """The columns considered in growth, by the node numbers of the pruned tree.

    Where another branch was raised to the place of a node, nothing was candidates for its rows:
    neither that node nor those below it have a record.
    """
    if grown is tree:
        return candidates
    number = np.full(grown.n_nodes, -1, dtype=np.int64)
    pairs = [(0, 0)]
    for old, new in pairs:
        if tree.kind[new] != LEAF and _split(grown, old) != _split(tree, new):
            continue
        number[old] = new
        if tree.kind[new] != LEAF:
            pairs += zip(grown.children(old), tree.children(new))
    node = number[candidates.node]
    left = node >= 0
    return SplitCandidates(
        node[left].astype(candidates.node.dtype),
        candidates.feature[left],
        candidates.gain[left],
        candidates.score[left],
        candidates.threshold[left],
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

"""record_of: what was considered at the nodes of a tree that was pruned after it was grown."""

from __future__ import annotations

import numpy as np

from lyceum.tree_core import LEAF, Considered, Tree

__all__ = ["record_of"]


def record_of(considered: Considered, grown: Tree, tree: Tree) -> Considered:
    """What was considered in growth, by the numbers of the nodes that are left.

    Where another branch was raised to the place of a node, nothing was considered for its rows: neither that
    node nor those below it have a record.
    """
    if grown is tree:
        return considered
    number = np.full(grown.n_nodes, -1, dtype=np.int64)
    pairs = [(0, 0)]
    for old, new in pairs:
        if tree.kind[new] != LEAF and _split(grown, old) != _split(tree, new):
            continue
        number[old] = new
        if tree.kind[new] != LEAF:
            pairs += zip(grown.children(old), tree.children(new))
    node = number[considered.node]
    left = node >= 0
    return Considered(
        node[left].astype(considered.node.dtype),
        considered.feature[left],
        considered.gain[left],
        considered.score[left],
        considered.threshold[left],
    )


def _split(tree: Tree, node: int) -> tuple:
    """All that says where rows go from a node."""
    start, count = int(tree.table[node]), int(tree.n_children[node])
    threshold = None if np.isnan(tree.threshold[node]) else float(tree.threshold[node])
    cuts = branches = ()
    if tree.n_codes[node]:
        branches = tuple(tree.branches[start : start + int(tree.n_codes[node])].tolist())
    elif start >= 0:
        cuts = tuple(tree.cuts[start : start + count - 1].tolist())
    return int(tree.feature[node]), count, threshold, branches, cuts

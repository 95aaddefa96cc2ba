"""Structures that are trees: Chow-Liu, and the tree among the columns of TAN."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lyceum._core.probability import find_labels
from lyceum.bayesnets.structure.coded_data import CodedData, ScoreRule, StreamedData
from lyceum.errors import SettingError

# of the largest weight: edges that differ by less are equal, and the first is taken
_EVEN = 1e-10


def information(
    data: CodedData | StreamedData, variables: Sequence[int], given: Sequence[int] = ()
) -> np.ndarray:
    """The mutual information (in nats) of all pairs of variables, given some others.

    I(u; v | s) = [L(v | s, u) - L(v | s)] / N, with L the log-likelihood of a family.
    """
    # all pairs by one request per variable v: the family of v with every smaller u in turn
    rule = ScoreRule("likelihood", data.weight)
    conditions = list(given)
    alone = data.families([(v, conditions) for v in variables], rule)
    index = {v: i for i, v in enumerate(variables)}
    requests = []
    for v in variables:
        smaller = [u for u in variables if u < v]
        if smaller:
            requests.append((v, conditions, smaller))
    nats = np.zeros((len(variables), len(variables)))
    for (v, _, others), scores in zip(requests, data.scores(requests, rule)):
        i = index[v]
        gains = np.maximum((scores - alone[i]) / data.weight, 0.0)
        columns = [index[u] for u in others]
        nats[i, columns] = gains
        nats[columns, i] = gains
    return nats


def _spanning_tree(weights: np.ndarray, root: int) -> list[int]:
    """The parent of every node in the spanning tree of the largest weight, -1 for the root."""
    n = len(weights)
    even = _EVEN * weights.max(initial=0.0)
    parent = np.full(n, -1)
    best = weights[root].astype(float)
    link = np.full(n, root)
    left = np.ones(n, dtype=bool)
    left[root] = False
    # Prim: the node of the heaviest edge to the tree joins it, and may bring heavier ones
    while left.any():
        heaviest = left & (best >= best[left].max() - even)
        v = int(heaviest.argmax())
        parent[v] = link[v]
        left[v] = False
        closer = left & (weights[v] > best + even)
        best[closer] = weights[v][closer]
        link[closer] = v
    return parent.tolist()


def chow_liu(data: CodedData | StreamedData, root: int = 0) -> list[set[int]]:
    """The tree of the largest likelihood: a spanning tree of the largest mutual information
    (1968)."""
    variables = list(range(len(data.states)))
    tree = _spanning_tree(information(data, variables), root)
    return [set() if p < 0 else {p} for p in tree]


def column_index(names: Sequence[str], root: str | None, target: int) -> int | None:
    """The number of the column that is the root of the tree of TAN, None if none is named."""
    if root is None:
        return None
    index = find_labels([root], names, "tree_root: the column")[0]
    if index == target:
        raise SettingError(
            f"tree_root is {root!r}, which is the class: name one of the columns"
        )
    return index


def tree_augmented(
    data: CodedData | StreamedData, target: int, root: int | None = None
) -> list[set[int]]:
    """TAN: the class is a parent of every column, and columns form a tree of conditional
    information, whose edges point away from `root`: whichever it is, the likelihood is the same.

    N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29,
    1997.
    """
    columns = [v for v in range(len(data.states)) if v != target]
    parents: list[set[int]] = [{target} for _ in data.states]
    parents[target] = set()
    if len(columns) > 1:
        first = 0
        if root is not None:
            first = columns.index(root)
        tree = _spanning_tree(information(data, columns, [target]), first)
        for i, p in enumerate(tree):
            if p >= 0:
                parents[columns[i]].add(columns[p])
    return parents

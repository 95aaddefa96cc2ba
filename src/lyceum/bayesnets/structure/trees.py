"""Structures that are trees: Chow-Liu, and the tree among the columns of TAN."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lyceum.bayesnets.structure.coded_data import CodedData, ScoreRule, StreamedData

_EVEN = 1e-10  # of the largest weight: edges that differ by less are equal, and the first is taken


def information(
    data: CodedData | StreamedData, variables: Sequence[int], given: Sequence[int] = ()
) -> np.ndarray:
    """The mutual information (in nats) of all pairs of variables, given some others.

    I(u; v | s) = [L(v | s, u) - L(v | s)] / N, with L the log-likelihood of a family.
    """
    rule = ScoreRule("likelihood", data.weight)
    requests = [(v, list(given), [u for u in variables if u < v]) for v in variables]
    alone = data.families([(v, list(given)) for v in variables], rule)
    found = np.zeros((len(variables), len(variables)))
    place = {v: i for i, v in enumerate(variables)}
    asked = [request for request in requests if request[2]]
    for (v, _, others), scores in zip(asked, data.scores(asked, rule)):
        gain = np.maximum((scores - alone[place[v]]) / data.weight, 0.0)
        for u, value in zip(others, gain):
            found[place[u], place[v]] = found[place[v], place[u]] = value
    return found


def _spanning_tree(weights: np.ndarray, root: int) -> list[int]:
    """The parent of every node in the spanning tree of the largest weight, -1 for the root."""
    n = len(weights)
    even = _EVEN * weights.max(initial=0.0)
    parent = np.full(n, -1)
    best = weights[root].astype(float)
    link = np.full(n, root)
    left = np.ones(n, dtype=bool)
    left[root] = False
    while left.any():
        v = int((left & (best >= best[left].max() - even)).argmax())
        parent[v], left[v] = link[v], False
        closer = left & (weights[v] > best + even)
        best[closer], link[closer] = weights[v][closer], v
    return parent.tolist()


def chow_liu(data: CodedData | StreamedData, root: int = 0) -> list[set[int]]:
    """The tree of the largest likelihood: a spanning tree of the largest mutual information
    (1968)."""
    variables = list(range(len(data.states)))
    tree = _spanning_tree(information(data, variables), root)
    return [set() if p < 0 else {p} for p in tree]


def tree_augmented(
    data: CodedData | StreamedData, target: int, root: int | None = None
) -> list[set[int]]:
    """TAN: the class is a parent of every column, and columns form a tree of conditional
    information.

    N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29,
    1997.
    """
    columns = [v for v in range(len(data.states)) if v != target]
    parents: list[set[int]] = [set() if v == target else {target} for v in range(len(data.states))]
    if len(columns) > 1:
        if root is not None:
            first = columns.index(root)
        else:
            first = 0
        for i, p in enumerate(_spanning_tree(information(data, columns, [target]), first)):
            if p >= 0:
                parents[columns[i]].add(columns[p])
    return parents

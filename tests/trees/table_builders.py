"""Small tables and trees that the tests of trees share."""

import numpy as np

from lyceum._core.trees import LEAF, THRESHOLD, UNDEFINED, Tree

# outlook (sunny, overcast, rain), temperature (hot, mild, cool), humidity (high, normal), wind
# (weak, strong)
WEATHER = (
    [
        [0, 0, 0, 0],
        [0, 0, 0, 1],
        [1, 0, 0, 0],
        [2, 1, 0, 0],
        [2, 2, 1, 0],
        [2, 2, 1, 1],
        [1, 2, 1, 1],
        [0, 1, 0, 0],
        [0, 2, 1, 0],
        [2, 1, 1, 0],
        [0, 1, 1, 1],
        [1, 1, 0, 1],
        [1, 0, 1, 0],
        [2, 1, 0, 1],
    ],
    [0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0],
)


def from_scikit(model) -> Tree:
    """A fitted decision tree of scikit-learn, its nodes renumbered breadth first."""
    theirs = model.tree_
    order = [0]
    child = []
    for node in order:
        child.append(len(order) if theirs.children_left[node] >= 0 else -1)
        if theirs.children_left[node] >= 0:
            order += [theirs.children_left[node], theirs.children_right[node]]
    inner = theirs.children_left[order] >= 0
    n = len(order)
    value = theirs.value[order, 0, :]
    weight = theirs.weighted_n_node_samples[order]
    if theirs.value.shape[2] > 1:
        value = value * weight[:, None]
    child = np.array(child, dtype=np.int32)
    impurity = theirs.impurity[order]
    gain = np.zeros(n)
    at = np.flatnonzero(inner)
    left, right = child[at], child[at] + 1
    gain[at] = (
        impurity[at]
        - (weight[left] * impurity[left] + weight[right] * impurity[right]) / weight[at]
    )
    return Tree(
        feature=np.where(inner, theirs.feature[order], UNDEFINED).astype(np.int32),
        kind=np.where(inner, THRESHOLD, LEAF).astype(np.uint8),
        child=child,
        n_children=np.where(inner, 2, 0).astype(np.int32),
        threshold=np.where(inner, theirs.threshold[order], UNDEFINED),
        table=np.full(n, -1, dtype=np.int32),
        n_codes=np.zeros(n, dtype=np.int32),
        missing=np.where(inner, 0, -1).astype(np.int32),
        cuts=np.empty(0),
        branches=np.empty(0, dtype=np.int32),
        node_values=value,
        weight=weight,
        n_rows=theirs.n_node_samples[order].astype(np.int64),
        impurity=impurity,
        gain=gain,
    )


def mixed_table(seed, n, gap=0.0):
    """(cells, classes, categories of each column, 3 classes, weights), for the referee.

    A column of four categories, one of numbers, one of three categories; a share `gap` of cells is
    missing.
    """
    rng = np.random.default_rng(seed)
    a, x, b = rng.integers(0, 4, n), rng.normal(size=n).round(1), rng.integers(0, 3, n)
    y = (a + (x > 0) + rng.integers(0, 2, n)) % 3
    gone = rng.uniform(size=(n, 3)) < gap
    cells = [
        [
            None if no else kind(cell)
            for cell, no, kind in zip(row, lost, (int, float, int))
        ]
        for row, lost in zip(zip(a, x, b), gone)
    ]
    weight = rng.choice([0.5, 1.0, 2.0], n)
    return cells, y.tolist(), [4, None, 3], 3, weight.tolist()

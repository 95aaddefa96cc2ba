"""The linear models at the nodes of a tree, which subtrees they replace, and how they are
smoothed."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np
from scipy import sparse

from lyceum._core.data import row_weights
from lyceum._core.native import native
from lyceum._core.threads import n_threads, ordered_map
from lyceum._core.trees import LEAF, Tree

# of the standard deviation of all targets: estimates that differ by less are equal
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class NodeModels:
    """A linear model per node, f(z) = intercept + coef · z, and how well it fits the rows of the
    node."""

    coef: sparse.csr_array  # (n_nodes, p)
    intercept: np.ndarray
    parameters: np.ndarray  # with the intercept
    weight: np.ndarray
    absolute: np.ndarray  # mean |r|
    squared: np.ndarray  # mean r²

    def take(self, nodes: np.ndarray) -> NodeModels:
        """The models of some nodes."""
        return NodeModels(*(getattr(self, name)[nodes] for name in self.__slots__))


def fit_models(
    tree: Tree,
    leaf: np.ndarray,
    Z: np.ndarray,
    y: np.ndarray,
    w: np.ndarray | None,
    columns: np.ndarray,
    rule: str,
) -> NodeModels:
    """Least squares at every node, on the columns where `columns` (n_nodes, p) is true, dropped by
    the rule.

    `leaf` is the leaf of every row. Rows are sorted by leaf, so that those of a node follow each
    other.
    """
    order, begin, end = sort_by_leaf(tree, leaf)
    X = np.ascontiguousarray(Z[order].T)
    target = np.ascontiguousarray(y[order])
    if w is None:
        weight = None
    else:
        weight = np.ascontiguousarray(w[order])
    work = partial(_fit_nodes, X, target, weight, begin, end, columns, rule)
    coef, models = zip(*ordered_map(work, _shares(end - begin)))
    return NodeModels(
        sparse.vstack(coef, format="csr"), *np.concatenate(models).T.copy()
    )


def _fit_nodes(
    X: np.ndarray,
    y: np.ndarray,
    w: np.ndarray | None,
    begin: np.ndarray,
    end: np.ndarray,
    columns: np.ndarray,
    rule: str,
    nodes: np.ndarray,
) -> tuple[sparse.csr_array, np.ndarray]:
    """The coefficients of some nodes, and the five further numbers of each model."""
    mask = columns[nodes]
    start = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
    entries = np.empty(start[-1])
    models = np.empty((len(nodes), 5))
    listed = np.nonzero(mask)[1].astype(np.int32)
    native.node_models(
        X, y, w, begin[nodes], end[nodes], start, listed, rule, entries, models
    )
    return sparse.csr_array((entries, listed, start), shape=mask.shape), models


def _shares(n_rows: np.ndarray) -> list[np.ndarray]:
    """The nodes in runs that hold about as many rows each, a few runs per thread."""
    total = np.cumsum(n_rows)
    if total[-1] > 10_000:
        runs = 8 * n_threads()
    else:
        runs = 1
    cuts = np.searchsorted(total, total[-1] * np.arange(1, runs) / runs)
    return [
        run for run in np.split(np.arange(len(n_rows)), np.unique(cuts)) if len(run)
    ]


def levels(tree: Tree) -> list[np.ndarray]:
    """The nodes of each depth, the root first."""
    by_depth = [np.zeros(1, dtype=np.intp)]
    while True:
        inner = by_depth[-1][tree.kind[by_depth[-1]] != LEAF]
        if not len(inner):
            return by_depth
        counts = tree.n_children[inner]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        by_depth.append(np.repeat(tree.child[inner], counts) + within)


def sort_by_leaf(
    tree: Tree, leaf: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An order of the rows, and where those of every node begin and end in it."""
    size = np.bincount(leaf, minlength=tree.n_nodes).astype(np.int64)
    parent = tree.parent
    by_depth = levels(tree)
    for nodes in by_depth[:0:-1]:
        np.add.at(size, parent[nodes], size[nodes])
    before = np.cumsum(size) - size
    begin = np.zeros(tree.n_nodes, dtype=np.int64)
    for nodes in by_depth[1:]:
        above = parent[nodes]
        begin[nodes] = begin[above] + before[nodes] - before[tree.child[above]]
    return np.argsort(begin[leaf], kind="stable"), begin, begin + size


def columns_below(tree: Tree, tested: np.ndarray, p: int) -> np.ndarray:
    """Which columns are tested at a node or below it, bool (n_nodes, p); `tested` is −1 at
    leaves."""
    below = np.zeros((tree.n_nodes, p), dtype=bool)
    inner = np.flatnonzero(tested >= 0)
    below[inner, tested[inner]] = True
    parent = tree.parent
    for nodes in levels(tree)[:0:-1]:
        np.logical_or.at(below, parent[nodes], below[nodes])
    return below


# -- the form of the tree --------------------------------------------------------------


def breadth_first(tree: Tree) -> Tree:
    """The tree with its nodes numbered level by level, however many threads grew it."""
    order = np.concatenate(levels(tree))
    new = np.empty(len(order), dtype=np.int32)
    new[order] = np.arange(len(order))
    by_node = {
        field.name: getattr(tree, field.name)[order]
        for field in fields(tree)
        if field.name not in ("cuts", "branches")
    }
    by_node["child"] = np.where(by_node["child"] < 0, -1, new[by_node["child"]]).astype(
        np.int32
    )
    return replace(tree, **by_node)


def one_way(tree: Tree) -> Tree:
    """The tree with a child for missing cells at every split: the heaviest where none was
    learned."""
    missing = tree.missing.copy()
    for node in np.flatnonzero((tree.kind != LEAF) & (missing < 0)).tolist():
        missing[node] = int(np.argmax(tree.weight[list(tree.children(node))]))
    return replace(tree, missing=missing)


# -- pruning ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """Which nodes are better off with their model than with their subtree."""

    cut: np.ndarray
    nodes: np.ndarray  # the nodes that the root still reaches


def choose(tree: Tree, models: NodeModels, error: str, sd: float) -> Choice:
    """From the bottom up, a node becomes a leaf where the estimated error of its model is no
    larger.

    "absolute": (n + v) / (n − v) · mean |r|, infinite where n ≤ v, the estimate of a subtree being
    the mean of its leaves' by weight. "squared": (n + 2v) / (n − v) · √(mean r²), a subtree having
    the parameters of all its models and one for every split.
    """
    estimates = {"absolute": _absolute_subtrees, "squared": _squared_subtrees}[error]
    cut = estimates(tree, models, _TIE * sd)
    return Choice(cut, _reachable_nodes(tree, cut))


def _absolute_subtrees(tree: Tree, models: NodeModels, tie: float) -> np.ndarray:
    n = models.weight
    inner = tree.kind != LEAF
    parent = tree.parent
    v = models.parameters
    # the factor's limit: a leaf with no more rows than parameters says nothing about its error
    own = np.divide(
        models.absolute * (n + v), n - v, out=np.full_like(n, np.inf), where=n > v
    )
    below = np.zeros(tree.n_nodes)
    cut = np.zeros(tree.n_nodes, dtype=bool)
    for nodes in reversed(levels(tree)):
        subtree = below[nodes] / n[nodes]
        cut[nodes] = inner[nodes] & (own[nodes] <= subtree + tie)
        here = np.where(inner[nodes] & ~cut[nodes], subtree, own[nodes])
        np.add.at(below, np.maximum(parent[nodes], 0), n[nodes] * here)
    return cut


def _squared_subtrees(tree: Tree, models: NodeModels, tie: float) -> np.ndarray:
    n = models.weight
    inner = tree.kind != LEAF
    parent = tree.parent
    own = np.sqrt(models.squared) * _factor(n, models.parameters)
    squares = np.zeros(tree.n_nodes)
    parameters = np.ones(tree.n_nodes)
    cut = np.zeros(tree.n_nodes, dtype=bool)
    for nodes in reversed(levels(tree)):
        subtree = np.sqrt(squares[nodes] / n[nodes]) * _factor(
            n[nodes], parameters[nodes]
        )
        cut[nodes] = inner[nodes] & (own[nodes] <= subtree + tie)
        stays = inner[nodes] & ~cut[nodes]
        above = np.maximum(parent[nodes], 0)
        np.add.at(
            squares,
            above,
            np.where(stays, squares[nodes], n[nodes] * models.squared[nodes]),
        )
        np.add.at(
            parameters,
            above,
            np.where(stays, parameters[nodes], models.parameters[nodes]),
        )
    return cut


def _factor(n: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n + 2v) / (n − v), or 10, as M5' has it, where there are no more rows than parameters."""
    return np.divide(n + 2.0 * v, n - v, out=np.full_like(n, 10.0), where=n > v)


def _reachable_nodes(tree: Tree, cut: np.ndarray) -> np.ndarray:
    reached = np.ones(tree.n_nodes, dtype=bool)
    parent = tree.parent
    for nodes in levels(tree)[1:]:
        reached[nodes] = reached[parent[nodes]] & ~cut[parent[nodes]]
    return np.flatnonzero(reached)


# -- smoothing -------------------------------------------------------------------------


def smooth_models(
    tree: Tree, coef: np.ndarray, intercept: np.ndarray, weight: np.ndarray, k: float
) -> tuple[np.ndarray, np.ndarray]:
    """One model per node, whose value is that of smoothing along the path from the node to the
    root.

    On the way up from node c, of weight n, to its parent u a prediction p becomes s p + (1 − s)
    f_u(z) with s = n / (n + k). Unrolled, this is P(c) f_c + Σ (1 − s_i) P(parent of i) f_(parent
    of i) over the nodes i on the path below the root, where P(i) is the product of the s from the
    root down to i.
    """
    if k == 0.0:
        return coef, intercept
    share = weight / (weight + k)
    parent = tree.parent
    product = np.ones(len(weight))
    b = np.zeros_like(coef)
    a = np.zeros_like(intercept)
    for nodes in levels(tree)[1:]:
        up = parent[nodes]
        product[nodes] = share[nodes] * product[up]
        rest = (1.0 - share[nodes]) * product[up]
        b[nodes] = b[up] + rest[:, None] * coef[up]
        a[nodes] = a[up] + rest * intercept[up]
    return b + product[:, None] * coef, a + product * intercept


# -- limits ----------------------------------------------------------------------------


def target_limits(
    tree: Tree, leaf: np.ndarray, y: np.ndarray, sd: float, extrapolation: float | None
) -> np.ndarray:
    """The least and the largest prediction of every node, (n_nodes, 2).

    With targets from a to b in a node these are a − e m and b + e m, m = max(b − a, sd): a model
    may go on beyond its rows, but not out of all proportion to what was seen.
    """
    least = np.full(tree.n_nodes, np.inf)
    largest = np.full(tree.n_nodes, -np.inf)
    if extrapolation is None:
        return np.column_stack([largest, least])
    np.minimum.at(least, leaf, y)
    np.maximum.at(largest, leaf, y)
    parent = tree.parent
    for nodes in levels(tree)[:0:-1]:
        np.minimum.at(least, parent[nodes], least[nodes])
        np.maximum.at(largest, parent[nodes], largest[nodes])
    margin = extrapolation * np.maximum(largest - least, sd)
    return np.column_stack([least - margin, largest + margin])


def target_moments(y: np.ndarray, w: np.ndarray | None) -> tuple[float, float]:
    """Mean and standard deviation."""
    weight = row_weights(w, len(y))
    mean = y[0] + float((weight * (y - y[0])).sum() / weight.sum())
    return mean, float(np.sqrt((weight * (y - mean) ** 2).sum() / weight.sum()))

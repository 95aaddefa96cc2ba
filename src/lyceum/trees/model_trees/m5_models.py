"""M5 step by step: growth on ranks, linear models at all nodes, pruning, smoothing, limits.

Wang and Witten (1997), Induction of model trees for predicting continuous classes, with the
letters of `ModelTreeRegressor`: n rows and v parameters at a node, residuals r.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Schema, row_weights
from lyceum._core.native import native
from lyceum._core.threads import n_threads, ordered_map
from lyceum._core.trees import (
    ARRAYS,
    LEAF,
    Columns,
    Growth,
    SplitCandidates,
    Tree,
    grow_with_record,
)
from lyceum.trees.model_trees.m5_columns import StepColumns
from lyceum.trees.pruning.bottom_up import compact
from lyceum.trees.reading.record import growth_record

# of the standard deviation of all targets: estimates that differ by less are equal
_TIE = 1e-9


# -- growth ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GrownRanks:
    """A tree of ranks, not yet pruned, and the columns that were considered at its nodes."""

    tree: Tree
    grown: Tree  # as the nodes of the candidates are numbered
    candidates: SplitCandidates
    columns: StepColumns
    schema: Schema

    @classmethod
    def of(
        cls,
        learner: Any,
        columns: StepColumns,
        X: np.ndarray,
        y: np.ndarray,
        w: np.ndarray | None,
    ) -> GrownRanks:
        """Grow the tree; a node of too little weight is a leaf."""
        growth = Growth(
            criterion="sd",
            missing="learned",
            # rows of weight 2 are two rows: with weights, small nodes are cut below
            min_samples_split=learner.min_samples_split if w is None else 2,
            impurity_floor=learner.sd_fraction * learner.sd_,
            record=learner.record,
        )
        numbers = Schema.of_numbers(learner.schema_.names)
        grown, candidates = grow_with_record(
            Columns.of_cells(columns.rank_cells(X), numbers), y, w, growth
        )
        tree = grown
        if w is not None:
            tree = compact(grown, grown.weight < learner.min_samples_split)
        tree = _one_way(_breadth_first(tree))
        return cls(tree, grown, candidates, columns, learner.schema_)

    def record(self, cut: np.ndarray | None) -> list[dict[str, Any]]:
        """The columns considered at every node that is left after pruning; categories have no
        threshold."""
        tree = self.tree if cut is None else compact(self.tree, cut)
        ranked = {
            self.schema[j].name
            for j, ranks in enumerate(self.columns.ranks)
            if len(ranks)
        }
        entries = growth_record(self.candidates, self.grown, tree, self.schema)
        for entry in entries:
            for candidate in entry["candidates"]:
                if candidate["column"] in ranked:
                    candidate["threshold"] = None
        return entries


def _breadth_first(tree: Tree) -> Tree:
    """The tree with its nodes numbered level by level, however many threads grew it."""
    order = np.concatenate(levels(tree))
    new = np.empty(len(order), dtype=np.int32)
    new[order] = np.arange(len(order))
    by_node = {
        name: getattr(tree, name)[order]
        for name in ARRAYS
        if name not in ("cuts", "branches")
    }
    child = by_node["child"]
    by_node["child"] = np.where(child < 0, -1, new[child]).astype(np.int32)
    return replace(tree, **by_node)


def _one_way(tree: Tree) -> Tree:
    """The tree with a child for missing cells at every split: the heaviest where none was
    learned."""
    missing = tree.missing.copy()
    for node in np.flatnonzero((tree.kind != LEAF) & (missing < 0)).tolist():
        missing[node] = int(np.argmax(tree.weight[list(tree.children(node))]))
    return replace(tree, missing=missing)


# -- models ----------------------------------------------------------------------------


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
    weight = None if w is None else np.ascontiguousarray(w[order])
    # runs of nodes that hold about as many rows each, a few per thread
    rows_up_to = np.cumsum(end - begin)
    n_rows = rows_up_to[-1]
    n_runs = 8 * n_threads() if n_rows > 10_000 else 1
    cuts = np.searchsorted(rows_up_to, n_rows * np.arange(1, n_runs) / n_runs)
    runs = np.split(np.arange(tree.n_nodes), np.unique(cuts))
    work = partial(_fit_nodes, X, target, weight, begin, end, columns, rule)
    coef, models = zip(*ordered_map(work, [run for run in runs if len(run)]))
    numbers = np.concatenate(models).T.copy()
    return NodeModels(sparse.vstack(coef, format="csr"), *numbers)


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
    # the columns of all nodes end to end, as in a sparse array by rows
    n_columns = mask.sum(axis=1)
    start = np.concatenate([[0], np.cumsum(n_columns)]).astype(np.int64)
    column = np.nonzero(mask)[1].astype(np.int32)
    coef = np.empty(start[-1])
    models = np.empty((len(nodes), 5))
    native.node_models(
        X, y, w, begin[nodes], end[nodes], start, column, rule, coef, models
    )
    return sparse.csr_array((coef, column, start), shape=mask.shape), models


def levels(tree: Tree) -> list[np.ndarray]:
    """The nodes of each depth, the root first."""
    by_depth = [np.zeros(1, dtype=np.intp)]
    while True:
        inner = by_depth[-1][tree.kind[by_depth[-1]] != LEAF]
        if not len(inner):
            return by_depth
        counts = tree.n_children[inner]
        # the children of a node follow each other from `child` on
        before = np.cumsum(counts) - counts
        within = np.arange(counts.sum()) - np.repeat(before, counts)
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
    # a node begins where its parent does, after the rows that stay at the parent's own place and
    # those of its earlier siblings, whose numbers follow each other from the first child on
    before = np.cumsum(size) - size
    begin = np.zeros(tree.n_nodes, dtype=np.int64)
    for nodes in by_depth[1:]:
        above = parent[nodes]
        begin[nodes] = begin[above] + before[nodes] - before[tree.child[above]]
    return np.argsort(begin[leaf], kind="stable"), begin, begin + size


def columns_below(tree: Tree, tested: np.ndarray, p: int) -> np.ndarray:
    """Which columns are tested at a node or below it, bool (n_nodes, p); `tested` is −1 at
    leaves."""
    # from the deepest level up: a parent has the columns of all its children
    below = np.zeros((tree.n_nodes, p), dtype=bool)
    inner = np.flatnonzero(tested >= 0)
    below[inner, tested[inner]] = True
    parent = tree.parent
    for nodes in levels(tree)[:0:-1]:
        np.logical_or.at(below, parent[nodes], below[nodes])
    return below


# -- pruning ---------------------------------------------------------------------------


def choose_leaves(tree: Tree, models: NodeModels, error: str, sd: float) -> np.ndarray:
    """Which nodes become leaves: from the bottom up, where the estimated error of the node's model
    is no larger than that of its subtree.

    "absolute": (n + v) / (n − v) · mean |r|, infinite where n ≤ v, the estimate of a subtree being
    the mean of its leaves' by weight. "squared": (n + 2v) / (n − v) · √(mean r²), a subtree having
    the parameters of all its models and one for every split.
    """
    estimates = {"absolute": _absolute_subtrees, "squared": _squared_subtrees}[error]
    return estimates(tree, models, _TIE * sd)


def _absolute_subtrees(tree: Tree, models: NodeModels, tie: float) -> np.ndarray:
    n = models.weight
    inner = tree.kind != LEAF
    parent = tree.parent
    v = models.parameters
    # the factor's limit: a leaf with no more rows than parameters says nothing about its error
    no_estimate = np.full_like(n, np.inf)
    of_model = np.divide(models.absolute * (n + v), n - v, out=no_estimate, where=n > v)
    # below[i]: Σ n · estimate over the children of node i, each by its model or its subtree
    below = np.zeros(tree.n_nodes)
    cut = np.zeros(tree.n_nodes, dtype=bool)
    for nodes in reversed(levels(tree)):
        of_subtree = below[nodes] / n[nodes]
        cut[nodes] = inner[nodes] & (of_model[nodes] <= of_subtree + tie)
        stays = inner[nodes] & ~cut[nodes]
        estimate = np.where(stays, of_subtree, of_model[nodes])
        np.add.at(below, np.maximum(parent[nodes], 0), n[nodes] * estimate)
    return cut


def _squared_subtrees(tree: Tree, models: NodeModels, tie: float) -> np.ndarray:
    n = models.weight
    inner = tree.kind != LEAF
    parent = tree.parent
    of_model = np.sqrt(models.squared) * _factor(n, models.parameters)
    # of a subtree: Σ r² of its leaves, and their parameters with one for each split
    squares = np.zeros(tree.n_nodes)
    parameters = np.ones(tree.n_nodes)
    cut = np.zeros(tree.n_nodes, dtype=bool)
    for nodes in reversed(levels(tree)):
        rms = np.sqrt(squares[nodes] / n[nodes])
        of_subtree = rms * _factor(n[nodes], parameters[nodes])
        cut[nodes] = inner[nodes] & (of_model[nodes] <= of_subtree + tie)
        stays = inner[nodes] & ~cut[nodes]
        node_squares = n[nodes] * models.squared[nodes]
        node_squares = np.where(stays, squares[nodes], node_squares)
        node_parameters = np.where(stays, parameters[nodes], models.parameters[nodes])
        above = np.maximum(parent[nodes], 0)
        np.add.at(squares, above, node_squares)
        np.add.at(parameters, above, node_parameters)
    return cut


def _factor(n: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n + 2v) / (n − v), or 10, as M5' has it, where there are no more rows than parameters."""
    factor = np.full_like(n, 10.0)
    return np.divide(n + 2.0 * v, n - v, out=factor, where=n > v)


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
    # With s_i = n_i / (n_i + k), smoothing from a node to the root weights its own model by the
    # product of s over the path without the root, and that of an ancestor a by (1 − s of the child
    # of a on the path) times the product of s from there up. b and a sum up the ancestors' part.
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


def target_limits(y: np.ndarray, extrapolation: float | None) -> np.ndarray:
    """The least and the largest prediction.

    With targets from a to b these are a − e (b − a) and b + e (b − a): a model may go on beyond its
    rows, but not out of proportion to what was seen.
    """
    if extrapolation is None:
        return np.array([-np.inf, np.inf])
    least = y.min()
    largest = y.max()
    # halved, as the range of targets near ±1e308 is no finite number
    margin = 2.0 * extrapolation * (largest / 2.0 - least / 2.0)
    return np.array([least - margin, largest + margin])


def target_moments(y: np.ndarray, w: np.ndarray | None) -> tuple[float, float]:
    """Mean and standard deviation."""
    # about the first target: sums of raw values would cancel where these are far from 0
    weight = row_weights(w, len(y))
    total = weight.sum()
    mean = y[0] + float((weight * (y - y[0])).sum() / total)
    variance = (weight * (y - mean) ** 2).sum() / total
    return mean, float(np.sqrt(variance))

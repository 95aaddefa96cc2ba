"""Gradient boosting written down slowly, from the formulas, on raw cells: the referee of the fast
one.

Every threshold between neighboring values, every prefix of the ordered categories, and both sides
for the missing cells are tried for every node, and the sums are taken over its rows anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass
class Rules:
    max_leaf_nodes: int = 31
    max_depth: int = 10**6
    min_samples_leaf: int = 1
    l2: float = 0.0
    smoothing: float = 10.0  # in rows
    weight: float | None = None  # of all rows
    min_hessian: float = 1e-3
    categories: tuple[int, ...] = ()


@dataclass(eq=False)
class Leaf:
    rows: np.ndarray
    depth: int
    number: int
    split: Any = None
    children: list[Leaf] = field(default_factory=list)
    value: float = 0.0


def candidates(x, g, h, rules, is_category):
    """Every way to send the rows left, as (mask, description)."""
    gap = np.isnan(x)
    sides = (False, True) if gap.any() else (None,)
    if is_category:
        codes = np.unique(x[~gap])
        rare = tuple(c for c in codes if 2 * (x == c).sum() < rules.min_samples_leaf)
        groups = sorted(
            [(c,) for c in codes if c not in rare] + ([rare] if rare else [])
        )
        ratio = [
            g[np.isin(x, group)].sum() / (h[np.isin(x, group)].sum() + rules.smoothing)
            for group in groups
        ]
        ordered = [groups[i] for i in np.lexsort((np.arange(len(groups)), ratio))]
        parts = [
            ("group", tuple(sorted(sum(ordered[: i + 1], ()))))
            for i in range(len(ordered))
        ]
    else:
        values = np.unique(x[~gap])
        cuts = (values[:-1] + values[1:]) / 2
        parts = [("cut", float(cut)) for cut in [*cuts, np.inf][: len(values)]]
    for gaps_left in sides:
        for kind, what in parts:
            left = np.isin(x, what) if kind == "group" else x <= what
            yield (left | (gap & bool(gaps_left))), (kind, what, gaps_left)


def best_split(X, g, h, rows, rules):
    best, found = 0.0, None
    G, H = g[rows].sum(), h[rows].sum()
    for j in range(X.shape[1]):
        category = j in rules.categories
        l2 = rules.l2 + (rules.smoothing if category else 0.0)
        for left, how in candidates(X[rows, j], g[rows], h[rows], rules, category):
            counts = left.sum(), (~left).sum()
            gl, hl = g[rows][left].sum(), h[rows][left].sum()
            if (
                min(counts) < rules.min_samples_leaf
                or min(hl, H - hl) < rules.min_hessian
            ):
                continue
            top = gl**2 / (hl + l2) + (G - gl) ** 2 / (H - hl + l2)
            gain = 0.5 * (top - G**2 / (H + rules.l2))
            if gain > best + 1e-11 * top:
                best, found = gain, (j, how, left, gain)
    return found


def grow(X, g, h, rules):
    """The root of a tree, grown best first."""
    rules = replace(
        rules, smoothing=rules.smoothing * h.sum() / (rules.weight or len(X))
    )
    root = Leaf(np.arange(len(X)), 0, 0)
    leaves, count = [root], 1
    root.split = best_split(X, g, h, root.rows, rules)
    while len(leaves) < rules.max_leaf_nodes:
        open_ = [
            leaf
            for leaf in leaves
            if leaf.split is not None and leaf.depth < rules.max_depth
        ]
        if not open_:
            break
        most = max(leaf.split[3] for leaf in open_)
        chosen = next(leaf for leaf in open_ if leaf.split[3] >= most * (1 - 1e-9))
        left = chosen.split[2]
        for side in (left, ~left):
            child = Leaf(chosen.rows[side], chosen.depth + 1, count)
            child.split = best_split(X, g, h, child.rows, rules)
            chosen.children.append(child)
            count += 1
        leaves.remove(chosen)
        leaves += chosen.children
        leaves.sort(key=lambda leaf: leaf.number)
    for leaf in leaves:
        leaf.value = -g[leaf.rows].sum() / (h[leaf.rows].sum() + rules.l2)
    return root, leaves


def boost(X, start, gradients, rules, n_rounds, learning_rate):
    """Scores after every round; `gradients(scores)` gives g and h."""
    scores, staged, trees = start.copy(), [], []
    for _ in range(n_rounds):
        root, leaves = grow(X, *gradients(scores), rules)
        for leaf in leaves:
            scores[leaf.rows] += learning_rate * leaf.value
        staged.append(scores.copy())
        trees.append((root, leaves))
    return staged, trees

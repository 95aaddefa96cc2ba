"""Trees made for tests: at random with every kind of node, by hand, and from scikit-learn's."""

from __future__ import annotations

import numpy as np

from lyceum._core.trees import (
    CATEGORIES,
    GROUPS,
    INTERVALS,
    LEAF,
    THRESHOLD,
    UNDEFINED,
    Tree,
)

N_CODES = 6


class Builder:
    """Nodes one by one; children are added together."""

    def __init__(self, n_values: int) -> None:
        self.nodes: list[dict] = []
        self.cuts: list[float] = []
        self.branches: list[int] = []
        self.n_values = n_values
        self.add_leaf()

    def add_leaf(self) -> int:
        self.nodes.append(
            {
                "feature": UNDEFINED,
                "kind": LEAF,
                "child": -1,
                "n_children": 0,
                "threshold": UNDEFINED,
                "table": -1,
                "n_codes": 0,
                "missing": -1,
                "node_values": [0.0] * self.n_values,
                "weight": 1.0,
                "n_rows": 1,
                "impurity": 0.0,
                "gain": 0.0,
            }
        )
        return len(self.nodes) - 1

    def split(
        self,
        node: int,
        feature: int,
        kind: int,
        n_children: int = 2,
        missing: int = 0,
        **more,
    ) -> range:
        first = len(self.nodes)
        for _ in range(n_children):
            self.add_leaf()
        self.nodes[node] |= {
            "feature": feature,
            "kind": kind,
            "child": first,
            "n_children": n_children,
            "missing": missing,
        }
        if kind == THRESHOLD:
            self.nodes[node]["threshold"] = more["threshold"]
        if kind == INTERVALS:
            self.nodes[node]["table"] = len(self.cuts)
            self.cuts += more["cuts"]
        if kind in (CATEGORIES, GROUPS):
            self.nodes[node] |= {
                "table": len(self.branches),
                "n_codes": len(more["branches"]),
            }
            self.branches += more["branches"]
        return range(first, first + n_children)

    def set(self, node: int, **more) -> None:
        self.nodes[node] |= more

    def tree(self) -> Tree:
        types = {
            "feature": np.int32,
            "kind": np.uint8,
            "child": np.int32,
            "n_children": np.int32,
            "threshold": np.float64,
            "table": np.int32,
            "n_codes": np.int32,
            "missing": np.int32,
            "node_values": np.float64,
            "weight": np.float64,
            "n_rows": np.int64,
            "impurity": np.float64,
            "gain": np.float64,
        }
        arrays = {
            name: np.array([node[name] for node in self.nodes], dtype=of)
            for name, of in types.items()
        }
        cuts, branches = (
            np.array(self.cuts, dtype=np.float64),
            np.array(self.branches, dtype=np.int32),
        )
        return Tree(**arrays, cuts=cuts, branches=branches)


def random_tree(
    rng,
    n_splits,
    *,
    kinds=(THRESHOLD, INTERVALS, CATEGORIES, GROUPS),
    missing=(-1, 0, 1),
    n_values=2,
):
    """A tree over columns 0, 1 of numbers, in quarters so that cells meet thresholds, and 2, 3 of
    codes."""
    builder = Builder(n_values)
    open_nodes = [0]
    for _ in range(n_splits):
        node = open_nodes.pop(int(rng.integers(len(open_nodes))))
        kind = int(rng.choice(kinds))
        gap = int(rng.choice(missing))
        if kind == THRESHOLD:
            more = {
                "feature": int(rng.integers(2)),
                "threshold": rng.integers(-8, 9) / 4,
            }
        elif kind == INTERVALS:
            count = int(rng.integers(2, 5))
            cuts = np.sort(rng.choice(np.arange(-8, 9), count - 1, replace=False)) / 4
            more = {
                "feature": int(rng.integers(2)),
                "cuts": cuts.tolist(),
                "n_children": count,
            }
        else:
            count = 2 if kind == GROUPS else int(rng.integers(2, 5))
            branches = rng.integers(
                -1, count, size=int(rng.integers(1, N_CODES + 1))
            ).tolist()
            more = {
                "feature": int(rng.integers(2, 4)),
                "branches": branches,
                "n_children": count,
            }
        open_nodes += builder.split(node, kind=kind, missing=gap, **more)
    for node in range(len(builder.nodes)):
        builder.set(
            node,
            node_values=rng.random(n_values).tolist(),
            weight=float(rng.integers(0, 4)),
        )
    return builder.tree()


def random_rows(rng, n, gaps=0.2, dtype=np.float64):
    """Rows for `random_tree`: numbers in quarters and in between, codes with unknown ones, missing
    cells."""
    X = np.empty((n, 4), dtype=dtype)
    X[:, :2] = rng.integers(-10, 11, size=(n, 2)) / 4 + rng.choice(
        [0.0, 0.1], size=(n, 2)
    )
    X[:, 2:] = rng.integers(-1, N_CODES + 1, size=(n, 2))
    X[rng.random((n, 4)) < gaps] = np.nan
    return X


def parts(
    tree: Tree, row, node: int = 0, share: float = 1.0
) -> list[tuple[int, float, bool]]:
    """Where a row goes, by plain recursion over the definition: (node, share, whether it ends
    there)."""
    if tree.kind[node] == LEAF:
        return [(node, share, True)]
    cell = row[tree.feature[node]]
    children = list(tree.children(node))
    if np.isnan(cell):
        if tree.missing[node] >= 0:
            to = [(children[tree.missing[node]], share)]
        else:
            weights = tree.weight[children]
            weights = (
                weights / weights.sum()
                if weights.sum() > 0
                else np.full(len(children), 1 / len(children))
            )
            to = [(child, share * w) for child, w in zip(children, weights) if w > 0]
        return [(node, share, False)] + [
            p for child, w in to for p in parts(tree, row, child, w)
        ]
    if tree.kind[node] == THRESHOLD:
        number = 0 if float(cell) <= tree.threshold[node] else 1
    elif tree.kind[node] == INTERVALS:
        cuts = tree.cuts[tree.table[node] : tree.table[node] + len(children) - 1]
        number = int((cuts < float(cell)).sum())
    else:
        known = 0 <= cell < tree.n_codes[node]
        number = int(tree.branches[tree.table[node] + int(cell)]) if known else -1
    if number < 0:
        return [(node, share, True)]
    return [(node, share, False), *parts(tree, row, children[number], share)]


def of_sklearn(fitted) -> Tree:
    """The tree of a scikit-learn tree, siblings side by side."""
    t = fitted.tree_
    builder = Builder(t.value.shape[2])
    many = t.value.shape[2] > 1
    waiting = [(0, 0)]
    while waiting:
        theirs, ours = waiting.pop()
        scale = t.weighted_n_node_samples[theirs] if many else 1.0
        builder.set(
            ours,
            node_values=(t.value[theirs, 0] * scale).tolist(),
            weight=float(t.weighted_n_node_samples[theirs]),
            n_rows=int(t.n_node_samples[theirs]),
            impurity=float(t.impurity[theirs]),
        )
        if t.children_left[theirs] >= 0:
            pair = builder.split(
                ours,
                int(t.feature[theirs]),
                THRESHOLD,
                threshold=float(t.threshold[theirs]),
            )
            waiting += [
                (int(t.children_right[theirs]), pair[1]),
                (int(t.children_left[theirs]), pair[0]),
            ]
    return builder.tree()

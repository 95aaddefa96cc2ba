"""M5 and M5' row by row, slow and plain: what `ModelTreeRegressor` is held against.

Written from the definitions of Quinlan (1992) and Wang and Witten (1997), with least squares by
`numpy.linalg.lstsq` at every step, no sums that merge, no updates.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lyceum._core.trees import LEAF, THRESHOLD, Tree


@dataclass(frozen=True)
class Way:
    """The choices in which versions of M5 differ."""

    # a split lowers the root-th root of the variance: 2 is the standard deviation
    root: int = 2
    share: int = 0  # at least n // share + 1 rows on either side, 0 for no such rule
    # M5' as in WEKA: squared errors, Akaike's criterion, (n + 2v) / (n - v)
    squared: bool = False
    split: int = 4
    sd_fraction: float = 0.05
    every_column: bool = False
    prune: bool = True
    k: float = 15.0


WEKA = Way(root=5, share=5, squared=True)


@dataclass
class Node:
    rows: np.ndarray
    feature: int = -1
    threshold: float = np.nan
    children: list[Node] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    coef: np.ndarray | None = None
    intercept: float = 0.0
    estimate: float = 0.0
    squares: float = 0.0
    parameters: int = 1

    def tested(self) -> set[int]:
        below = set().union(*(child.tested() for child in self.children))
        return below | {self.feature} if self.children else below

    def leaves(self) -> list[Node]:
        return (
            [leaf for child in self.children for leaf in child.leaves()]
            if self.children
            else [self]
        )


class Reference:
    def __init__(self, X, y, way):
        self.X, self.y, self.way = np.asarray(X, float), np.asarray(y, float), way
        self.sd = self.y.std()
        self.root = self.grow(np.arange(len(y)))
        self.grown = self.tree()
        self.model(self.root)

    def grow(self, rows):
        node = Node(rows)
        y = self.y[rows]
        if len(rows) < self.way.split or y.std() <= self.way.sd_fraction * self.sd:
            return node
        best = -np.inf
        for j in range(self.X.shape[1]):
            x = self.X[rows, j]
            values = np.unique(x)
            for threshold in (values[1:] + values[:-1]) / 2:
                left = x <= threshold
                gain = self.gain(y, left)
                if gain > best + 1e-9 * self.sd:
                    best, node.feature, node.threshold = gain, j, threshold
        if node.feature >= 0:
            left = self.X[rows, node.feature] <= node.threshold
            node.children = [self.grow(rows[left]), self.grow(rows[~left])]
        return node

    def gain(self, y, left):
        n, a = len(y), left.sum()
        if self.way.share and min(a, n - a) <= max(1, n // self.way.share):
            return -np.inf
        of = lambda values: values.var() ** (1 / self.way.root)  # noqa: E731
        return of(y) - a / n * of(y[left]) - (n - a) / n * of(y[~left])

    # -- models ------------------------------------------------------------------------

    def fitted(self, node, columns):
        A = self.X[np.ix_(node.rows, columns)]
        y = self.y[node.rows]
        coef = np.linalg.lstsq(A - A.mean(axis=0), y - y.mean(), rcond=None)[0]
        intercept = y.mean() - A.mean(axis=0) @ coef
        return coef, intercept, y - intercept - A @ coef

    def estimated(self, node, residual, parameters):
        n = len(node.rows)
        size = (
            np.sqrt(np.mean(residual**2))
            if self.way.squared
            else np.mean(np.abs(residual))
        )
        if n <= parameters:
            return 10 * size if self.way.squared else np.inf
        return (
            size * (n + (2 if self.way.squared else 1) * parameters) / (n - parameters)
        )

    def simplified(self, node, columns):
        """Drop columns one by one while the criterion does not get worse."""
        if np.ptp(self.y[node.rows]) == 0:
            return []
        columns = self.independent(node, columns)
        if self.way.squared:
            return self.by_akaike(node, columns)
        estimate = self.estimated(node, self.fitted(node, columns)[2], 1 + len(columns))
        while columns:
            fewer = min(
                ([c for c in columns if c != out] for out in columns),
                key=lambda some: np.sum(self.fitted(node, some)[2] ** 2),
            )
            less = self.estimated(node, self.fitted(node, fewer)[2], 1 + len(fewer))
            if less > estimate + 1e-9 * self.y[node.rows].std():
                break
            columns, estimate = fewer, less
        return columns

    def independent(self, node, columns):
        kept: list[int] = []
        for column in columns:
            A = self.X[np.ix_(node.rows, [*kept, column])]
            A = A - A.mean(axis=0)
            size = np.linalg.norm(A, axis=0)
            if size[-1] > 0 and np.linalg.matrix_rank(A / size, tol=1e-6) == A.shape[1]:
                kept.append(column)
        return kept

    def standardized(self, node, columns):
        A, y = self.X[np.ix_(node.rows, columns)], self.y[node.rows]
        return np.abs(self.fitted(node, columns)[0]) * A.std(axis=0) / y.std()

    def share_left(self, node, columns):
        y = self.y[node.rows]
        return max(
            np.sum(self.fitted(node, columns)[2] ** 2) / np.sum((y - y.mean()) ** 2),
            1e-14,
        )

    def by_akaike(self, node, columns):
        n = len(node.rows)
        while columns and self.standardized(node, columns).max() > 1.5:
            columns = [
                c
                for c in columns
                if c != columns[self.standardized(node, columns).argmax()]
            ]
        while columns and 1 + len(columns) >= n:
            columns = [
                c
                for c in columns
                if c != columns[self.standardized(node, columns).argmin()]
            ]
        full = self.share_left(node, columns)
        v = 1 + len(columns)
        best = n - v + 2 * v
        while columns:
            fewer = [
                c
                for c in columns
                if c != columns[self.standardized(node, columns).argmin()]
            ]
            score = self.share_left(node, fewer) / full * (n - v) + 2 * (1 + len(fewer))
            if score >= best:
                break
            columns, best = fewer, score
        return columns

    def model(self, node):
        every = (
            range(self.X.shape[1]) if self.way.every_column else sorted(node.tested())
        )
        for child in node.children:
            self.model(child)
        node.columns = self.simplified(node, list(every))
        node.coef, node.intercept, residual = self.fitted(node, node.columns)
        own, own_squares = (
            self.estimated(node, residual, 1 + len(node.columns)),
            np.sum(residual**2),
        )
        node.estimate, node.squares, node.parameters = (
            own,
            own_squares,
            1 + len(node.columns),
        )
        if not node.children:
            return
        squares = sum(child.squares for child in node.children)
        parameters = 1 + sum(child.parameters for child in node.children)
        if self.way.squared:
            tree = self.estimated(node, np.sqrt(squares / len(node.rows)), parameters)
        else:
            tree = sum(
                len(child.rows) * child.estimate for child in node.children
            ) / len(node.rows)
        if self.way.prune and own <= tree + 1e-9 * self.sd:
            node.children = []
        else:
            node.estimate, node.squares, node.parameters = tree, squares, parameters

    # -- predictions, smoothed along the path ------------------------------------------

    def at(self, node, x):
        return node.intercept + x[node.columns] @ node.coef

    def path(self, x):
        path = [self.root]
        while path[-1].children:
            node = path[-1]
            path.append(node.children[int(x[node.feature] > node.threshold)])
        return path

    def predict(self, X):
        out = []
        for x in np.asarray(X, float):
            path = self.path(x)
            p = self.at(path[-1], x)
            for above, below in zip(path[-2::-1], path[:0:-1]):
                n = len(below.rows)
                p = (n * p + self.way.k * self.at(above, x)) / (n + self.way.k)
            out.append(p)
        return np.array(out)

    def tree(self) -> Tree:
        """The tree as arrays, breadth first."""
        nodes, child = [self.root], []
        for node in nodes:
            child.append(len(nodes) if node.children else -1)
            nodes += node.children
        inner = np.array([bool(node.children) for node in nodes])
        n = len(nodes)
        return Tree(
            feature=np.array(
                [node.feature if node.children else -1 for node in nodes],
                dtype=np.int32,
            ),
            kind=np.where(inner, THRESHOLD, LEAF).astype(np.uint8),
            child=np.array(child, dtype=np.int32),
            n_children=np.where(inner, 2, 0).astype(np.int32),
            threshold=np.array([node.threshold for node in nodes]),
            table=np.full(n, -1, dtype=np.int32),
            n_codes=np.zeros(n, dtype=np.int32),
            missing=np.where(inner, 0, -1).astype(np.int32),
            cuts=np.empty(0),
            branches=np.empty(0, dtype=np.int32),
            node_values=np.array([[self.y[node.rows].mean()] for node in nodes]),
            weight=np.array([float(len(node.rows)) for node in nodes]),
            n_rows=np.array([len(node.rows) for node in nodes]),
            impurity=np.array([self.y[node.rows].std() for node in nodes]),
            gain=np.zeros(n),
        )

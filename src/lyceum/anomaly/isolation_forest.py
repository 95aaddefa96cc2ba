"""Isolation forest: rows that random cuts separate soon are unusual."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Learner
from lyceum._core.constraints import Interval
from lyceum._core.data import Block
from lyceum._core.statistics import seed_from
from lyceum._core.trees import LEAF, THRESHOLD, Router, Tree, contributions, native_tree
from lyceum.errors import ModelFileError
from lyceum.report import Explanation, Summary

_EULER = 0.5772156649015329
_DRAWS = 4  # of a column for a node, before all of its columns are looked at


def mean_depth(n: Any) -> np.ndarray:
    """c(n), the mean depth of a row in a random binary search tree of n rows.

    >>> mean_depth([1, 2, 256]).round(3).tolist()
    [0.0, 1.0, 10.245]
    """
    n = np.asarray(n, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = 2.0 * (np.log(n - 1.0) + _EULER) - 2.0 * (n - 1.0) / n
    return np.where(n > 2, depth, np.where(n == 2, 1.0, 0.0))


class IsolationForest(Learner):
    """Isolation forest: trees cut at random; the shorter the way to a leaf, the more unusual a row.

    .. math:: s(x) = -2^{-E[h(x)] / c(\\psi)}

    h is the depth of the leaf, plus c of the rows that are still together there; c(ψ) the mean
    depth in a random tree of ψ rows. Scores are from -1 (unusual) to 0; -0.5 is usual. Columns are
    drawn, so that their units do not matter. A missing cell goes with most of the rows, so that it
    does not make a row unusual.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    max_samples : int, default=256
        The rows ψ that a tree is grown on.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int or None, default=None
        Threads at a time; None: as many as the process is set to, -1: one per processor.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Columns to code one-of-C.

    Attributes
    ----------
    trees_ : list of Tree
        The trees; the value of a node is the depth of a row that ends there.
    n_drawn_ : int
        The rows that every tree was grown on.
    seed_ : int
        The seed that was used.

    See Also
    --------
    AnomalyDetector : A threshold for these scores.

    References
    ----------
    Liu, Ting and Zhou (2008), Isolation forest, ICDM.

    Examples
    --------
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(200, 2)), [[9.0, 9.0]]])
    >>> int(IsolationForest(random_state=0).fit(X).score_samples(X).argmin())
    200
    """

    _reads_rows = "in memory"
    _takes_missing: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    trees_: list[Tree]

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: int = 256,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the trees.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Rows are drawn with chances in proportion to it.
        """
        rows = self._rows(X, None, sample_weight)
        block = rows.in_one_block("IsolationForest", "GaussianDensity").without_zero_weights()
        X = np.asarray(block.dense, dtype=np.float64)
        self.seed_ = seed_from(self.random_state)
        self.n_drawn_ = min(self.max_samples, len(X))
        if block.w is None:
            p = None
        else:
            p = block.w / block.w.sum()
        most = max(1, int(np.ceil(np.log2(max(self.n_drawn_, 2)))))
        rng = np.random.default_rng(self.seed_)
        drawn = np.stack(
            [
                rng.choice(len(X), self.n_drawn_, replace=False, p=p)
                for _ in range(self.n_estimators)
            ]
        )
        self.trees_ = _grow(X, drawn, most, rng)
        return self

    def score_samples(self, X: Any) -> Any:
        """The scores: the lower, the more unusual."""
        check_is_fitted(self)
        router = Router(self.trees_, len(self.design_names))
        return self._apply(partial(_scores, self, router), X)

    def depths(self, X: Any) -> Any:
        """The mean depth E[h(x)] of every row."""
        check_is_fitted(self)
        router = Router(self.trees_, len(self.design_names))
        return self._apply(partial(_depths, self, router), X)

    def explain(self, X: Any) -> Explanation:
        """What every column adds to the mean depth of a row: the less, the more it sets the row
        apart.

        A cut adds what it changes in the depth that is expected of the rows on its side; the base
        is c(ψ).
        """
        check_is_fitted(self)
        router = Router(self.trees_, len(self.design_names), scale=1.0 / len(self.trees_))
        return self._explain(X, partial(_depth_parts, router), "mean depth")

    def summary(self) -> Summary:
        """The size of the forest."""
        head = super().summary()
        nodes = sum(tree.n_nodes for tree in self.trees_)
        facts = {"trees": len(self.trees_), "rows per tree": self.n_drawn_, "nodes": nodes}
        return Summary(head.title, {**head.facts, **facts})

    def complexity(self) -> int:
        """How many numbers a prediction needs: three per node."""
        check_is_fitted(self)
        return 3 * sum(tree.n_nodes for tree in self.trees_)

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), Tree)

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "schema_"):
            return
        if not isinstance(self.n_drawn_, int) or self.n_drawn_ < 1:
            raise ModelFileError("holds an IsolationForest without the number of its rows")
        for tree in self.trees_:
            tree.check()
            native_tree(tree, len(self.design_names))


def _grow(X: np.ndarray, drawn: np.ndarray, most: int, rng: np.random.Generator) -> list[Tree]:
    """Trees whose nodes cut a random column at a random place; one level of all trees at a time.

    `drawn` has the rows of every tree, (trees, ψ).
    """
    T, size = drawn.shape
    rows = drawn.ravel()
    node = np.repeat(np.arange(T), size)
    tree = [np.arange(T)]
    feature = [np.full(T, -1)]
    threshold = [np.full(T, np.nan)]
    child = [np.full(T, -1)]
    depth = [np.zeros(T, dtype=int)]
    count = [np.full(T, size)]
    open_rows = np.arange(T * size)
    n_nodes = T
    for level in range(1, most + 1):
        open_rows = open_rows[np.argsort(node[open_rows], kind="stable")]
        at, starts = np.unique(node[open_rows], return_index=True)
        if not len(at):
            break
        here = rows[open_rows]
        j, low, high = _draw_columns(X, here, starts, rng)
        cut = low + rng.random(len(at)) * (high - low)
        cut = np.where(cut < high, cut, low)  # rounding
        splits = high > low
        k = np.arange(len(at))
        first = n_nodes + 2 * (np.cumsum(splits) - 1)
        group = np.repeat(k, np.diff(np.append(starts, len(open_rows))))
        moves = splits[group]
        own = X[here, j[group]]
        right = own > cut[group]
        missing = np.isnan(own)
        if missing.any():  # with most of the rows that are known
            sides = np.bincount(2 * group[~missing] + right[~missing], minlength=2 * len(at))
            right[missing] = (sides[1::2] > sides[::2])[group[missing]]
        open_rows = open_rows[moves]
        landed = (first[group] + right)[moves]
        node[open_rows] = landed
        _set(feature, at[splits], j[splits])
        _set(threshold, at[splits], cut[splits])
        _set(child, at[splits], first[splits])
        new = 2 * int(splits.sum())
        sizes = np.bincount(landed - n_nodes, minlength=new)
        owner = np.concatenate(tree)[at[splits]]
        tree.append(np.repeat(owner, 2))
        for held, value in ((feature, -1), (threshold, np.nan), (child, -1), (depth, level)):
            held.append(np.full(new, value))
        count.append(sizes)
        open_rows = open_rows[sizes[landed - n_nodes] > 1]
        n_nodes += new
    parts = [np.concatenate(held) for held in (feature, threshold, child, depth, count)]
    return _trees(np.concatenate(tree), T, parts)


def _draw_columns(
    X: np.ndarray, rows: np.ndarray, starts: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every node a column drawn from those in which its rows differ, with their least and
    largest cell.

    The rows of a node stand together, from `starts` on. A column in which they do not differ is
    drawn again; after a few draws all columns of the nodes that are left are looked at. Equal ends:
    no column differs.
    """
    n_nodes = len(starts)
    sizes = np.diff(np.append(starts, len(rows)))
    j = np.zeros(n_nodes, dtype=int)
    low = np.zeros(n_nodes)
    high = np.zeros(n_nodes)
    left = np.arange(n_nodes)
    cells = rows
    for draw in range(_DRAWS + 1):
        first = np.append(0, np.cumsum(sizes[left])[:-1])
        if draw < _DRAWS:
            pick = (rng.random(len(left)) * X.shape[1]).astype(int)
            own = X[cells, np.repeat(pick, sizes[left])]
            least = np.fmin.reduceat(own, first)
            most = np.fmax.reduceat(own, first)
        else:
            every = X[cells]
            lows = np.fmin.reduceat(every, first)
            highs = np.fmax.reduceat(every, first)
            varies = highs > lows
            place = (rng.random(len(left)) * varies.sum(axis=1)).astype(int)
            pick = (np.cumsum(varies, axis=1) > place[:, None]).argmax(axis=1)
            least = lows[np.arange(len(left)), pick]
            most = highs[np.arange(len(left)), pick]
        found = most > least
        done = left[found]
        j[done], low[done], high[done] = pick[found], least[found], most[found]
        cells = cells[np.repeat(~found, sizes[left])]
        left = left[~found]
        if not len(left):
            break
    return j, low, high


def _set(held: list[np.ndarray], nodes: np.ndarray, values: np.ndarray) -> None:
    """Set values of nodes of the newest level, which is the last array of the list."""
    if len(nodes):
        held[-1][nodes - sum(map(len, held[:-1]))] = values


def _trees(owner: np.ndarray, n_trees: int, parts: list[np.ndarray]) -> list[Tree]:
    """One tree for each owner; nodes keep their order, so that children follow each other."""
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner, minlength=n_trees))
    local = np.empty(len(owner), dtype=np.int64)
    local[order] = np.arange(len(owner)) - np.repeat(
        np.append(0, ends[:-1]), np.diff(np.append(0, ends))
    )
    feature, threshold, child, depth, count = parts
    child = np.where(child >= 0, local[np.maximum(child, 0)], -1)
    found = []
    for nodes in np.split(order, ends[:-1]):
        found.append(_tree(*(part[nodes] for part in (feature, threshold, child, depth, count))))
    return found


def _tree(
    feature: np.ndarray,
    threshold: np.ndarray,
    child: np.ndarray,
    depth: np.ndarray,
    count: np.ndarray,
) -> Tree:
    n = len(feature)
    leaf = feature < 0
    first = np.maximum(child, 0)
    bigger = np.where(leaf, -1, (count[np.minimum(first + 1, n - 1)] > count[first]).astype(int))
    return Tree(
        feature=feature.astype(np.int32),
        kind=np.where(leaf, LEAF, THRESHOLD).astype(np.uint8),
        child=child.astype(np.int32),
        n_children=np.where(leaf, 0, 2).astype(np.int32),
        threshold=threshold,
        table=np.full(n, -1, dtype=np.int32),
        n_codes=np.zeros(n, dtype=np.int32),
        missing=bigger.astype(np.int32),
        cuts=np.empty(0),
        branches=np.empty(0, dtype=np.int32),
        value=(depth + mean_depth(count))[:, None].astype(np.float64),
        weight=count.astype(np.float64),
        n_rows=count.astype(np.int64),
        impurity=np.zeros(n),
        gain=np.zeros(n),
    )


def _depth_parts(router: Router, block: Block) -> np.ndarray:
    parts = contributions(router, np.ascontiguousarray(block.dense, dtype=np.float64))
    return np.column_stack([parts.sum(axis=1), parts])


def _depths(model: IsolationForest, router: Router, block: Block) -> np.ndarray:
    X = np.ascontiguousarray(block.dense, dtype=np.float64)
    return router.sums(X)[:, 0] / len(model.trees_)


def _scores(model: IsolationForest, router: Router, block: Block) -> np.ndarray:
    usual = float(mean_depth(model.n_drawn_))
    return -(2.0 ** (-_depths(model, router, block) / (usual if usual > 0 else 1.0)))

"""Isolation forest: rows that random cuts separate soon are unusual."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Learner, check_same_columns
from lyceum._core.constraints import Interval, RealNotInt, StrOptions
from lyceum._core.data import Block, Column, Schema
from lyceum._core.statistics import seed_from
from lyceum._core.trees import (
    LEAF,
    THRESHOLD,
    UNDEFINED,
    Router,
    Tree,
    contributions,
    native_tree,
    resolve_max_features,
)
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import ModelFileError, SettingError
from lyceum.report import Explanation, Summary
from lyceum.trees import DecisionTreeRegressor

_EULER = 0.5772156649015329
_DRAWS = 4  # of a column for a node, before all of its columns are looked at


def mean_depth(n: Any) -> np.ndarray:
    """c(n), the mean depth of a row in a random binary search tree of n rows.

    >>> mean_depth([1, 2, 256]).round(3).tolist()
    [0.0, 1.0, 10.245]
    """
    n = np.asarray(n, dtype=np.float64)
    # c(n) = 2 H(n − 1) − 2 (n − 1) / n, with H(i) ≈ ln i + Euler's constant
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = 2.0 * (np.log(n - 1.0) + _EULER) - 2.0 * (n - 1.0) / n
    return np.where(n > 2, depth, np.where(n == 2, 1.0, 0.0))


class IsolationForest(OutlierMixin, Learner):
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
    max_samples : "auto", int or float, default="auto"
        The rows ψ that a tree is grown on, or their share; "auto" is 256, or all if they are fewer.
    contamination : "auto" or float, default="auto"
        The share of the rows of `fit` that `predict` calls anomalies; "auto" calls those so whose
        score is below -0.5.
    max_features : int or float, default=1.0
        Columns drawn for every tree, or their share.
    bootstrap : bool, default=False
        Whether rows are drawn with replacement.
    warm_start : bool, default=False
        Whether `fit` keeps the trees that it has and adds up to `n_estimators`.

    Attributes
    ----------
    trees_ : list of Tree
        The trees; the value of a node is the depth of a row that ends there.
    n_drawn_ : int
        The rows that every tree was grown on.
    max_samples_ : int
        The same, by scikit-learn's name.
    estimators_ : list of DecisionTreeRegressor
        The trees as learners of their own, which predict depths.
    estimators_features_ : list of arrays
        The columns of each: all, as trees number the columns of the table.
    offset_ : float
        The score below which a row is an anomaly.
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
    _takes_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "max_features": [
            Integral,
            Interval(Real, 0, 1, closed="right"),
        ],
        "bootstrap": ["boolean"],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    trees_: list[Tree]

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: Any = "auto",
        contamination: Any = "auto",
        max_features: int | float = 1.0,
        bootstrap: bool = False,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Grow the trees.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Rows are drawn with chances in proportion to it.
        """
        known = self._known_trees()
        before = getattr(self, "schema_", None)
        rows = self._rows(X, None, sample_weight)
        if known and before is not None:
            check_same_columns(self, before)
        block = rows.in_one_block("IsolationForest", "GaussianDensity")
        block = block.without_zero_weights()
        cells = np.asarray(block.dense, dtype=np.float64)
        if not known:
            self.seed_ = seed_from(self.random_state)
        self.n_drawn_ = self._n_drawn(len(cells))
        p = None
        if block.w is not None:
            p = block.w / block.w.sum()
        n_new = self.n_estimators - len(known)
        self.trees_ = known + self._new_trees(cells, p, n_new, len(known))
        if self.contamination == "auto":
            self.offset_ = -0.5
        else:
            scores = self._scores(self._router(), block)
            self.offset_ = float(np.percentile(scores, 100.0 * self.contamination))
        return self

    def _known_trees(self) -> list[Tree]:
        trees: list[Tree] = []
        if self.warm_start:
            trees = list(getattr(self, "trees_", []))
        if len(trees) > self.n_estimators:
            raise SettingError(
                f"n_estimators={self.n_estimators} must be larger or equal to"
                f" len(estimators_)={len(trees)} when warm_start==True"
            )
        if trees and len(trees) == self.n_estimators:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=4,
            )
        return trees

    def _n_drawn(self, n_rows: int) -> int:
        """How many rows are drawn for a tree."""
        if self.max_samples == "auto":
            return min(256, n_rows)
        if not isinstance(self.max_samples, Integral):
            return max(1, int(self.max_samples * n_rows))
        if int(self.max_samples) > n_rows:
            warnings.warn(
                f"max_samples ({self.max_samples}) is greater than the total number of samples"
                f" ({n_rows}). max_samples will be set to n_samples for estimation.",
                stacklevel=4,
            )
        return min(int(self.max_samples), n_rows)

    def _new_trees(
        self, X: np.ndarray, p: np.ndarray | None, n_trees: int, n_known: int
    ) -> list[Tree]:
        if n_trees == 0:
            return []
        most = _most_depth(self.n_drawn_)
        rng = np.random.default_rng([self.seed_, n_known] if n_known else self.seed_)
        samples = [
            rng.choice(len(X), self.n_drawn_, replace=self.bootstrap, p=p)
            for _ in range(n_trees)
        ]
        count = resolve_max_features(self.max_features, X.shape[1])
        if count == X.shape[1]:
            return _grow(X, np.stack(samples), most, rng)
        trees = []
        for sample in samples:
            columns = rng.choice(X.shape[1], count, replace=False)
            (tree,) = _grow(X[:, columns], sample[None], most, rng)
            inner = tree.feature >= 0
            feature = tree.feature.copy()
            feature[inner] = columns[feature[inner]]
            trees.append(replace(tree, feature=feature, n_features=X.shape[1]))
        return trees

    @property
    def estimators_(self) -> list[DecisionTreeRegressor]:
        """The trees as learners of their own, which predict depths."""
        check_is_fitted(self)
        names = self.design_names
        columns = tuple(Column(name) for name in names)
        schema = Schema(columns, target=Column("depth"))
        most = _most_depth(self.n_drawn_)
        learners = []
        for tree in self.trees_:
            learner: Any = DecisionTreeRegressor(splitter="random", max_depth=most)
            learner.schema_ = schema
            learner.n_features_in_ = len(names)
            learner.n_outputs_ = 1
            learner.max_features_ = len(names)
            learner.tree_ = tree
            learners.append(learner)
        return learners

    @property
    def estimators_features_(self) -> list[np.ndarray]:
        """The columns that the trees are told of: all, also where a tree was grown on some."""
        check_is_fitted(self)
        return [np.arange(len(self.design_names)) for _ in self.trees_]

    @property
    def max_samples_(self) -> int:
        """The rows that every tree was grown on."""
        check_is_fitted(self)
        return self.n_drawn_

    def decision_function(self, X: Data) -> Any:
        """Scores above `offset_`: negative for anomalies."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Data) -> Any:
        """1 for usual rows, -1 for anomalies."""
        unusual = self.decision_function(X) < 0
        return 1 - 2 * unusual.astype(int)

    def score_samples(self, X: Data) -> Any:
        """The scores: the lower, the more unusual."""
        check_is_fitted(self)
        return self._apply(partial(self._scores, self._router()), X)

    def depths(self, X: Data) -> Any:
        """The mean depth E[h(x)] of every row."""
        check_is_fitted(self)
        return self._apply(partial(self._depths, self._router()), X)

    def _router(self, scale: float = 1.0) -> Router:
        return Router(self.trees_, len(self.design_names), scale=scale)

    def _depths(self, router: Router, block: Block) -> np.ndarray:
        X = np.ascontiguousarray(block.dense, dtype=np.float64)
        return router.sums(X)[:, 0] / len(self.trees_)

    def _scores(self, router: Router, block: Block) -> np.ndarray:
        usual = float(mean_depth(self.n_drawn_)) or 1.0
        return -(2.0 ** (-self._depths(router, block) / usual))

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the mean depth of a row: the less, the more it sets the row
        apart.

        A cut adds what it changes in the depth that is expected of the rows on its side; the base
        is c(ψ).
        """
        check_is_fitted(self)
        router = self._router(scale=1.0 / len(self.trees_))
        return self._explain(X, partial(_depth_parts, router), "mean depth")

    def summary(self) -> Summary:
        """The size of the forest."""
        head = super().summary()
        nodes = sum(tree.n_nodes for tree in self.trees_)
        facts = {
            "trees": len(self.trees_),
            "rows per tree": self.n_drawn_,
            "nodes": nodes,
        }
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
            raise ModelFileError(
                "holds an IsolationForest without the number of its rows"
            )
        for tree in self.trees_:
            tree.check()
            native_tree(tree, len(self.design_names))


def _most_depth(n_drawn: int) -> int:
    """⌈log2 ψ⌉, about the mean height of a tree of ψ rows: what ends deeper is usual anyway."""
    return max(1, int(np.ceil(np.log2(max(n_drawn, 2)))))


@dataclass
class _Levels:
    """The nodes of all trees, level by level."""

    tree: list[np.ndarray]
    feature: list[np.ndarray]
    threshold: list[np.ndarray]
    child: list[np.ndarray]
    depth: list[np.ndarray]
    count: list[np.ndarray]

    @classmethod
    def of_roots(cls, n_trees: int, n_rows: int) -> _Levels:
        levels = cls([], [], [], [], [], [])
        levels.add(np.arange(n_trees), 0, np.full(n_trees, n_rows))
        return levels

    def add(
        self,
        tree: np.ndarray,
        depth: int,
        count: np.ndarray,
    ) -> None:
        """A level of leaves."""
        n = len(tree)
        self.tree.append(tree)
        self.feature.append(np.full(n, -1))
        self.threshold.append(np.full(n, np.nan))
        self.child.append(np.full(n, -1))
        self.depth.append(np.full(n, depth))
        self.count.append(count)

    @property
    def n_nodes(self) -> int:
        return sum(map(len, self.tree))

    def owners(self, nodes: np.ndarray) -> np.ndarray:
        """The trees of some nodes of the last level."""
        return self.tree[-1][nodes - sum(map(len, self.tree[:-1]))]

    def split(
        self,
        nodes: np.ndarray,
        feature: np.ndarray,
        threshold: np.ndarray,
        child: np.ndarray,
    ) -> None:
        """Give nodes of the last level, by their numbers in all levels, a cut and children."""
        last = nodes - sum(map(len, self.tree[:-1]))
        self.feature[-1][last] = feature
        self.threshold[-1][last] = threshold
        self.child[-1][last] = child

    def trees(self) -> list[Tree]:
        """One tree for each root; nodes keep their order, so that children follow each other."""
        # nodes tree by tree; `local` is the number of a node within its tree
        owner = np.concatenate(self.tree)
        order = np.argsort(owner, kind="stable")
        sizes = np.bincount(owner)
        ends = np.cumsum(sizes)
        local = np.empty(len(owner), dtype=np.int64)
        local[order] = np.arange(len(owner)) - np.repeat(ends - sizes, sizes)
        child = np.concatenate(self.child)
        child[child >= 0] = local[child[child >= 0]]
        levels = (self.feature, self.threshold, self.depth, self.count)
        columns = [child, *map(np.concatenate, levels)]
        return [
            _tree(*(column[nodes] for column in columns))
            for nodes in np.split(order, ends[:-1])
        ]


def _grow(
    X: np.ndarray,
    drawn: np.ndarray,
    most: int,
    rng: np.random.Generator,
) -> list[Tree]:
    """Trees whose nodes cut a random column at a random value; one level of all trees at a time.

    `drawn` has the rows of every tree, (trees, ψ).
    """
    # `node` is where every drawn row is now, numbered over all trees; rows that are alone in one,
    # or in one that does not split, are no longer open
    n_trees, size = drawn.shape
    rows = drawn.ravel()
    node = np.repeat(np.arange(n_trees), size)
    levels = _Levels.of_roots(n_trees, size)
    open_rows = np.arange(drawn.size)
    for level in range(1, most + 1):
        if not len(open_rows):
            break
        # rows node by node: the nodes, where the rows of each start, and which one a row is in
        open_rows = open_rows[np.argsort(node[open_rows], kind="stable")]
        nodes, starts, group = np.unique(
            node[open_rows], return_index=True, return_inverse=True
        )
        cells = rows[open_rows]
        j, cut, splits = _draw_cuts(X, cells, starts, rng)
        right = _right_side(X[cells, j[group]], cut, group)

        # both children of every node that splits, one after the other, and the rows in them
        first = levels.n_nodes + 2 * (np.cumsum(splits) - 1)
        node[open_rows] = first[group] + right
        open_rows = open_rows[splits[group]]
        child = node[open_rows] - levels.n_nodes
        count = np.bincount(child, minlength=2 * int(splits.sum()))
        levels.split(nodes[splits], j[splits], cut[splits], first[splits])
        levels.add(np.repeat(levels.owners(nodes[splits]), 2), level, count)
        open_rows = open_rows[count[child] > 1]
    return levels.trees()


def _draw_cuts(
    X: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every node a column, a cut that is uniform between the least and the largest cell of its
    rows, and whether there is such a cut."""
    j, low, high = _draw_columns(X, rows, starts, rng)
    cut = low + rng.random(len(starts)) * (high - low)
    return j, np.where(cut < high, cut, low), high > low  # rounding


def _right_side(cells: np.ndarray, cut: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Whether a row is beyond the cut of its node; where its cell is missing, with most others."""
    # known cells per node and side are counted, and missing ones go with the larger count
    right = cells > cut[group]
    missing = np.isnan(cells)
    if missing.any():
        codes = 2 * group[~missing] + right[~missing]
        sides = np.bincount(codes, minlength=2 * len(cut))
        right[missing] = (sides[1::2] > sides[::2])[group[missing]]
    return right


def _draw_columns(
    X: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every node a column drawn from those in which its rows differ, with their least and
    largest cell.

    The rows of a node stand together, from `starts` on. A column in which they do not differ is
    drawn again; after a few draws all columns of the nodes that are left are looked at. Equal ends:
    no column differs.
    """
    # `left` are the nodes without a column yet, `rows` the rows of these alone
    n_nodes = len(starts)
    sizes = np.diff(np.append(starts, len(rows)))
    j = np.zeros(n_nodes, dtype=int)
    low = np.zeros(n_nodes)
    high = np.zeros(n_nodes)
    left = np.arange(n_nodes)
    for draw in range(_DRAWS + 1):
        first = np.append(0, np.cumsum(sizes[left])[:-1])
        if draw < _DRAWS:
            pick = (rng.random(len(left)) * X.shape[1]).astype(int)
            least, most = _ends(X[rows, np.repeat(pick, sizes[left])], first)
        else:
            pick, least, most = _draw_from_all(X[rows], first, rng)
        differs = most > least
        done = left[differs]
        j[done] = pick[differs]
        low[done] = least[differs]
        high[done] = most[differs]
        rows = rows[np.repeat(~differs, sizes[left])]
        left = left[~differs]
        if not len(left):
            break
    return j, low, high


def _ends(cells: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest of the known cells from each of `first` on to the next."""
    return np.fmin.reduceat(cells, first), np.fmax.reduceat(cells, first)


def _draw_from_all(
    cells: np.ndarray,
    first: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every node one of the columns that differ, the first where none does, and its ends."""
    lows, highs = _ends(cells, first)
    # the rank of the column among those that differ, and the first column with more before it
    varies = highs > lows
    rank = (rng.random(len(first)) * varies.sum(axis=1)).astype(int)
    pick = (np.cumsum(varies, axis=1) > rank[:, None]).argmax(axis=1)
    nodes = np.arange(len(first))
    return pick, lows[nodes, pick], highs[nodes, pick]


def _tree(
    child: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    depth: np.ndarray,
    count: np.ndarray,
) -> Tree:
    n = len(feature)
    leaf = feature < 0
    # missing cells go with most of the rows
    missing = np.full(n, -1, dtype=np.int32)
    left = child[~leaf]
    missing[~leaf] = count[left + 1] > count[left]
    return Tree(
        feature=np.where(leaf, UNDEFINED, feature).astype(np.int32),
        kind=np.where(leaf, LEAF, THRESHOLD).astype(np.uint8),
        child=child.astype(np.int32),
        n_children=np.where(leaf, 0, 2).astype(np.int32),
        threshold=np.where(leaf, UNDEFINED, threshold),
        table=np.full(n, -1, dtype=np.int32),
        n_codes=np.zeros(n, dtype=np.int32),
        missing=missing,
        cuts=np.empty(0),
        branches=np.empty(0, dtype=np.int32),
        node_values=(depth + mean_depth(count))[:, None].astype(np.float64),
        weight=count.astype(np.float64),
        n_rows=count.astype(np.int64),
        impurity=np.zeros(n),
        gain=np.zeros(n),
    )


def _depth_parts(router: Router, block: Block) -> np.ndarray:
    parts = contributions(router, np.ascontiguousarray(block.dense, dtype=np.float64))
    return np.column_stack([parts.sum(axis=1), parts])

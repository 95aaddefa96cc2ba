"""grow: one tree from ranked columns, by the native core."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from lyceum._core.native import native
from lyceum._core.threads import n_threads, ordered_map
from lyceum._core.trees.ranked_columns import LARGE, Columns
from lyceum._core.trees.tree import Tree
from lyceum.errors import DataError

# scikit-learn: the core
_NATIVE_CRITERIA = {
    "squared_error": "variance",
    # the fall of squared error is Friedman's n_l n_r / n (difference of means)²
    "friedman_mse": "variance",
    "log_loss": "entropy",
}


@dataclass(frozen=True)
class Growth:
    """How a tree is grown: what `DecisionTreeClassifier` and `DecisionTreeRegressor` document."""

    criterion: str = "gini"
    categorical: str = "groups"  # or "multiway", "one_vs_rest"
    continuous: str = "two_way"  # or "multi_way"
    max_branches: int = 4
    missing: str = "learned"  # or "fractions"
    cut: str = "midpoint"  # or "observed"
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    max_p_value: float | None = None
    impurity_floor: float = 0.0
    max_features: int | None = None
    splitter: str = "best"  # or "random"
    needs_gain: bool = False  # a split that gains nothing is not made
    release8: bool = False  # C4.5's penalty and minimum for continuous columns
    costs: np.ndarray | None = None
    loss: np.ndarray | None = None
    monotonic: np.ndarray | None = None  # of every column: 1 rising, −1 falling, 0 free
    seed: int = 0
    record: bool = False

    @property
    def native(self) -> Any:
        """The rules as the kernels take them."""
        rules = native.TreeRules()
        rules.criterion = _NATIVE_CRITERIA.get(self.criterion, self.criterion)
        rules.categorical = self.categorical
        rules.multi_way = self.continuous == "multi_way"
        rules.max_branches = self.max_branches
        rules.fractions = self.missing == "fractions"
        rules.observed = self.cut == "observed"
        if self.max_depth is not None:
            rules.max_depth = self.max_depth
        rules.min_split = self.min_samples_split
        rules.min_leaf = self.min_samples_leaf
        rules.min_weight = self.min_weight_leaf
        rules.max_leaves = self.max_leaf_nodes or 0
        rules.min_decrease = self.min_impurity_decrease
        rules.max_p = 1.0 if self.max_p_value is None else self.max_p_value
        rules.floor = self.impurity_floor
        rules.max_features = self.max_features or 0
        rules.random = self.splitter == "random"
        rules.needs_gain = self.needs_gain
        rules.release8 = self.release8
        rules.record = self.record
        rules.seed = self.seed
        if self.costs is not None:
            rules.cost = np.asarray(self.costs, dtype=np.float64).tolist()
        if self.monotonic is not None:
            rules.direction = np.asarray(self.monotonic, dtype=np.int8).tolist()
        if self.loss is not None:
            rules.criterion = "loss"
            rules.loss = np.asarray(self.loss, dtype=np.float64).ravel().tolist()
            rules.actions = self.loss.shape[1]
        return rules


@cache
def _criterion_rules(criterion: str) -> Any:
    return Growth(criterion=criterion).native


def class_impurities(weights: np.ndarray, criterion: str = "gini") -> np.ndarray:
    """The impurity of every row of class weights (n, K), by "gini", "entropy" or
    "misclassification".

    >>> class_impurities(np.array([[1.0, 1.0], [0.0, 3.0]])).tolist()
    [0.5, 0.0]
    """
    out = np.empty(len(weights))
    sums = np.ascontiguousarray(weights, dtype=np.float64)
    native.node_impurities(_criterion_rules(criterion), weights.shape[1], sums, out)
    return out


@dataclass(frozen=True, slots=True)
class SplitCandidates:
    """Every column that was considered at every node: what splitting by it would have gained."""

    node: np.ndarray
    feature: np.ndarray
    gain: np.ndarray
    score: np.ndarray
    threshold: np.ndarray  # NaN for categories


def grow(
    columns: Columns,
    target: np.ndarray,
    weight: np.ndarray | None,
    growth: Growth,
    n_classes: int | tuple[int, ...] | None = None,
    rows: np.ndarray | None = None,
) -> Tree:
    """The tree of all rows, or of those numbered `rows`.

    `target` has class codes (int32) where `n_classes` is given, else numbers. Of several outputs it
    is (n, Q) of float64, and `n_classes` a tuple, which is empty for numbers.
    """
    return grow_with_record(columns, target, weight, growth, n_classes, rows)[0]


def grow_with_record(
    columns: Columns,
    target: np.ndarray,
    weight: np.ndarray | None,
    growth: Growth,
    n_classes: int | tuple[int, ...] | None = None,
    rows: np.ndarray | None = None,
) -> tuple[Tree, SplitCandidates]:
    """The tree, and with `growth.record` every column considered."""
    if isinstance(n_classes, tuple) or growth.criterion == "poisson":
        target, n_classes, center = _side_by_side(target, n_classes, growth)
        grower = native.TreeGrower(
            columns.native, target, list(n_classes), weight, growth.native, rows
        )
    elif n_classes is None:
        grower = native.TreeGrower(columns.native, target, weight, growth.native, rows)
    else:
        grower = native.TreeGrower(
            columns.native, target, n_classes, weight, growth.native, rows
        )
    d = len(columns.n_codes)
    if columns.codes.size < LARGE:
        grower.sort(0, d)
    else:
        _over_columns(grower.sort, d)
    # Best-first growth compares all open nodes, and drawn columns are searched one after the other
    # until enough of them can be split: both are work for one thread. Else large nodes are split by
    # all threads together, then small ones apart.
    if n_threads() > 1 and not growth.max_leaf_nodes and not growth.max_features:
        _split_large_nodes(grower, d)
    for _ in ordered_map(grower.finish, range(len(grower.open))):
        pass
    arrays = grower.result()
    candidates = _candidates(arrays.pop("considered"), arrays.pop("merits"))
    if n_classes == ():
        arrays["node_values"] = center + _means(arrays["node_values"])
        n_classes = (1,) * len(center)
    elif not isinstance(n_classes, tuple):
        n_classes = (n_classes or 1,)
    return Tree(**arrays, n_features=d, n_classes=n_classes), candidates


def _candidates(considered: np.ndarray, merits: np.ndarray) -> SplitCandidates:
    return SplitCandidates(
        node=considered[:, 0],
        feature=considered[:, 1],
        gain=merits[:, 0],
        score=merits[:, 1],
        threshold=merits[:, 2],
    )


def _side_by_side(
    target: np.ndarray, n_classes: Any, growth: Growth
) -> tuple[np.ndarray, tuple[int, ...], np.ndarray]:
    """Targets (n, Q), the classes of each, and what numbers were centered by: squares lose digits
    far from zero."""
    target = np.ascontiguousarray(target, dtype=np.float64)
    if target.ndim == 1:
        target = target[:, None]
    if growth.criterion == "poisson" and (target < 0).any():
        raise DataError(
            "Some value(s) of y are negative which is not allowed for Poisson regression."
        )
    if growth.criterion == "poisson" and not (target.sum(axis=0) > 0).all():
        raise DataError(
            "Sum of y is not positive which is necessary for Poisson regression."
        )
    center = np.zeros(target.shape[1])
    if not n_classes and growth.criterion != "poisson":
        center = target.mean(axis=0)
        target = target - center
    return target, n_classes or (), center


def _means(sums: np.ndarray) -> np.ndarray:
    """The means of every output from the weight, sums and squares of nodes."""
    return sums[:, 1::2] / sums[:, :1]


def _split_large_nodes(grower: Any, d: int) -> None:
    """Split nodes, each by all threads, until there is enough to do for every thread alone."""
    while True:
        rows = grower.open
        if not rows:  # a root of columns of one value
            return
        largest = int(np.argmax(rows))
        if rows[largest] * d < LARGE or rows[largest] * 4 * n_threads() < sum(rows):
            return
        # columns are searched, and their rows dealt to the children, by all threads
        grower.prepare(largest)
        _over_columns(partial(grower.search, largest), d)
        children = grower.split(largest)
        if children:
            _over_columns(partial(grower.deal, largest, children), d)


def _over_columns(work: Callable[[int, int], None], d: int) -> None:
    """`work` on the columns in about four shares per thread."""
    step = max(1, math.ceil(d / (4 * n_threads())))

    def work_from(start: int) -> None:
        work(start, min(d, start + step))

    for _ in ordered_map(work_from, range(0, d, step)):
        pass

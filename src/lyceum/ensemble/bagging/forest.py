"""What random forests and extremely randomized trees share: trees, each on rows and columns drawn
for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Learner,
    Outputs,
    check_one_output,
    check_same_columns,
    rows_of_outputs,
    several_outputs,
    undefined,
)
from lyceum._core.constraints import Interval, RealNotInt, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.probability import class_weight_factors
from lyceum._core.statistics import drawn_seed, midpoints
from lyceum._core.threads import ordered_map
from lyceum._core.trees import (
    GROWTH_CONSTRAINTS,
    THRESHOLD,
    BinnedRows,
    Bins,
    Columns,
    Growth,
    Router,
    Tree,
    WithTrees,
    cached_router,
    check_outputs,
    column_directions,
    explain_trees,
    grow,
    importance_table,
    impurity_importances,
    resolve_max_features,
    resolve_row_count,
    with_class_weights,
)
from lyceum._core.types import Data, Target, Weights
from lyceum.ensemble.bagging.draws import OutOfBag, TreeDraws
from lyceum.ensemble.tree_members import seed_of_tree, tree_of_forest, unfitted_tree
from lyceum.errors import SettingError
from lyceum.progress import report
from lyceum.report import Explanation, Summary, Table
from lyceum.trees import prune_by_complexity

_SHARED = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "max_features",
    "missing",
    "max_bins",
    "random_state",
    "categorical_features",
)

FOREST: dict[str, Any] = {
    **{name: GROWTH_CONSTRAINTS[name] for name in _SHARED},
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "categorical_split": [StrOptions({"groups", "one_vs_rest"})],
    "bootstrap": ["boolean"],
    "max_samples": [
        None,
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0, None, closed="neither"),
    ],
    "oob_score": ["boolean", callable],
    "ccp_alpha": [Interval(Real, 0, None, closed="left")],
    "monotonic_cst": ["array-like", None],
    "warm_start": ["boolean"],
}


class Forest(WithTrees, Learner):
    """Trees whose predictions are averaged; what a tree draws follows from the seed and its number
    alone."""

    _parameter_docs: ClassVar[str] = """
    n_estimators : int
        The number of trees.
    categorical_split : {"groups", "one_vs_rest"}
        Categories in two groups, or one category against the rest.
    missing : {"learned", "fractions"}
        Rows with a missing cell go to the side learned in `fit` ("learned"), or to all sides by
        their shares ("fractions").
    oob_score : bool or callable
        Whether to compute the out-of-bag score: every row is predicted by the trees that did not
        draw it. A function of targets and predictions gives another score.
    ccp_alpha : float
        Every tree is pruned to the subtree of smallest impurity + α · leaves.
    monotonic_cst : array of -1, 0 and 1 of shape (n_features,), or None
        Whether predictions (of two classes: the posterior of the second) may only rise with a
        column, 1, only fall, −1, or are free, 0.
    warm_start : bool
        Whether `fit` adds trees up to `n_estimators`; the forest is then the same as one grown at
        once.
    min_impurity_decrease : float
        The least fall of impurity, weighted by the share of the rows at the node, that a split
        needs.
    max_features : int, float, "sqrt", "log2" or None
        Columns for which a threshold is drawn at every node, or their share; None: all.
    bootstrap : bool
        Whether every tree is grown on rows drawn with replacement; else on all rows.
    max_samples : int, float or None
        Rows drawn for a tree, or their share; None: as many as there are. Needs bootstrap=True.
    max_bins : int or None
        Cells are kept in at most this many bins per column, one byte each; None: thresholds between
        all values.
    """
    _attribute_docs: ClassVar[str] = """
    trees_ : list of Tree
        The trees.
    feature_importances_ : ndarray of shape (n_features,)
        The fall of impurity by every column, the mean over the trees;
        `lyceum.trees.permutation_importance` does not favor columns of many values.
    estimators_ : list of tree learners
        The trees as learners of their own, made on request: for text, rules, paths and drawings.
    estimator_ : tree learner
        A tree with the settings of the forest's, not fitted.
    estimators_samples_ : list of ndarray
        The rows that every tree was drawn, as often as it was; drawn anew on request from `draws_`.
    draws_ : TreeDraws
        How rows are drawn.
    seed_ : int
        The seed that was used.
    max_features_ : int
        Columns drawn at every node.
    n_outputs_ : int
        The number of targets.
    """

    _coding = "codes"
    _takes_missing: ClassVar[bool] = True
    _splitter: ClassVar[str] = "best"

    # parameters, set by the learners
    n_estimators: int
    criterion: str
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    max_features: Any
    categorical_split: str
    missing: str
    bootstrap: bool
    max_samples: Any
    oob_score: Any
    ccp_alpha: float
    monotonic_cst: Any
    max_bins: int | None
    warm_start: bool
    random_state: int | np.random.RandomState | None

    class_weight: Any  # of classifiers

    trees_: list[Tree]
    classes_: np.ndarray
    seed_: int
    draws_: TreeDraws
    oob_score_: float

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Grow the trees on all rows of X; with `warm_start`, add to the trees of the last fit.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
            Kept in memory, one byte per cell (as it is with `max_bins=None`).
        y : array of shape (n_samples,), if the target is not in the scan
            Or (n_samples, n_outputs), for several targets at once.
        sample_weight : array of shape (n_samples,), optional
            Rows are drawn alike and count by their weights.
        """
        if self.oob_score and not self.bootstrap:
            raise SettingError(
                "Out of bag estimation only available if bootstrap=True: without it every tree sees"
                " all rows"
            )
        if self.max_samples is not None and not self.bootstrap:
            raise SettingError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to"
                " `bootstrap=True` or set `max_sample=None`."
            )
        # what a tree draws follows from the seed and its number: with the seed of the first fit,
        # added trees are those that one fit would have grown
        earlier = self._known_trees()
        before = getattr(self, "schema_", None)
        outputs = several_outputs(self, y)
        if outputs is None:
            rows = self._rows(X, y, sample_weight)
            self.n_outputs_ = 1
        else:
            rows = rows_of_outputs(self, X, outputs, sample_weight)
        if earlier and before is not None:
            check_same_columns(self, before)
        if not earlier:
            self.seed_ = drawn_seed(self.random_state)
        data = ForestData.on(self, rows, outputs)
        self.draws_ = data.draws
        trees = list(earlier)
        for tree in ordered_map(data.grow_tree, range(len(earlier), self.n_estimators)):
            trees.append(tree)
            report("trees", len(trees), self.n_estimators)
        self.trees_ = trees
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)
        if self.oob_score:
            self._predict_out_of_bag(data)
        return self

    def _known_trees(self) -> list[Tree]:
        trees: list[Tree] = []
        if self.warm_start:
            trees = getattr(self, "trees_", [])
        if len(trees) > self.n_estimators:
            raise SettingError(
                f"n_estimators={self.n_estimators} must be larger or equal to"
                f" len(estimators_)={len(trees)} when warm_start==True: it only adds"
            )
        if trees and len(trees) == self.n_estimators:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=3,
            )
        return trees

    def _predict_out_of_bag(self, data: ForestData) -> None:
        """Set the out-of-bag predictions."""
        answers = OutOfBag.start(len(data.y), self.trees_[0].node_values.shape[1])
        work = partial(data.out_of_bag, self.trees_)
        for rows, votes in ordered_map(work, range(len(self.trees_))):
            answers.add(rows, votes)
        if not answers.times.all():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used to"
                " compute any reliable OOB estimates.",
                stacklevel=3,
            )
        self._set_out_of_bag(answers, data)

    def _set_out_of_bag(self, answers: OutOfBag, data: ForestData) -> None:
        raise undefined(self, "_set_out_of_bag")

    # -- predictions -------------------------------------------------------------------

    @property
    def _router(self) -> Router:
        return cached_router(self, self.trees_, self._new_router)

    def _new_router(self) -> Router:
        values: Any = "shares" if is_classifier(self) else None
        return Router(
            self.trees_,
            self.n_features_in_,
            values=values,
            scale=1.0 / len(self.trees_),
        )

    @property
    def estimators_(self) -> list[Any]:
        """The trees as learners of their own: for text, rules, paths and drawings."""
        check_is_fitted(self)
        return [self[number] for number in range(len(self.trees_))]

    def __len__(self) -> int:
        return len(getattr(self, "trees_", ()))

    def __bool__(self) -> bool:
        return True  # a forest without trees is a forest too

    def __getitem__(self, number: int) -> Any:
        """One tree as a learner of its own."""
        check_is_fitted(self)
        index = range(len(self.trees_))[number]
        return tree_of_forest(
            self, self.trees_[number], seed_of_tree(self.seed_, index)
        )

    @property
    def feature_importances_(self) -> np.ndarray:
        """The mean of the falls of impurity by every column, normalized to sum 1."""
        check_is_fitted(self)
        return impurity_importances(self.trees_, self.n_features_in_)

    @property
    def estimator_(self) -> Any:
        """A tree with the settings of the forest's, not fitted."""
        return unfitted_tree(self)

    @property
    def estimator(self) -> Any:
        """`estimator_`, by the name that it has in scikit-learn before `fit`."""
        return unfitted_tree(self)

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows that every tree was drawn, as often as it was; drawn anew from the seed."""
        check_is_fitted(self)
        return self.draws_.samples(len(self.trees_))

    def apply(self, X: Data) -> Any:
        """The node of every tree where every row ends, (n_samples, n_estimators)."""
        return self._apply(self._leaves, X)

    def decision_path(self, X: Data) -> tuple[sparse.csr_matrix, np.ndarray]:
        """The nodes of all trees that every row comes to, sparse (n_samples, nodes), and where the
        nodes of each tree begin."""
        visits = self._apply(self._visits, X)
        sizes = [tree.n_nodes for tree in self.trees_]
        return sparse.csr_matrix(visits), np.concatenate([[0], np.cumsum(sizes)])

    def _visits(self, block: Block) -> Any:
        router = self._router
        parts = [router.visits(block.X, number) for number in range(len(self.trees_))]
        return sparse.hstack(parts, format="csr")

    def _leaves(self, block: Block) -> np.ndarray:
        return self._router.leaves(block.X)

    def _means(self, block: Block) -> np.ndarray:
        """The mean answer of the trees, (n, width): the router scales every tree by 1 / trees."""
        return self._router.sums(block.X)

    def _stages(self, X: Data) -> Iterator[np.ndarray]:
        """The mean predictions of the first tree, the first two, and so on."""
        check_is_fitted(self)
        T = len(self.trees_)
        scaled: Any = 0.0
        for number in range(T):
            scaled = scaled + np.asarray(self._apply(partial(self._answer, number), X))
            # answers are scaled by 1 / T, and their mean is over number + 1 trees
            yield scaled * (T / (number + 1))

    def _answer(self, number: int, block: Block) -> np.ndarray:
        """The answer of one tree, over the number of trees."""
        return self._router.sums(block.X, number, number + 1)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the predictions, step by step down the trees, averaged over
        them."""
        check_one_output(self, "an explanation")
        return explain_trees(self, X)

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The size of the trees, the out-of-bag score, and the importances."""
        check_is_fitted(self)
        sizes = np.array(
            [[tree.n_nodes, tree.n_leaves, tree.depth] for tree in self.trees_]
        )
        facts: dict[str, Any] = {
            "trees": len(self.trees_),
            "rows": self.n_rows_,
            "columns drawn at a node": f"{self.max_features_} of {self.n_features_in_}",
        }
        if hasattr(self, "oob_score_"):
            facts["out-of-bag score"] = self.oob_score_
        rows = [
            (name, float(column.mean()), int(column.min()), int(column.max()))
            for name, column in zip(("nodes", "leaves", "depth"), sizes.T)
        ]
        sizes_table = Table("Trees", ("", "mean", "least", "most"), rows)
        importances = importance_table(self.feature_importances_, self.schema_)
        return Summary(self._title(), facts, [sizes_table, importances])

    max_features_: int

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), TreeDraws)


@dataclass(frozen=True)
class ForestData:
    """Rows in memory, and how every tree is grown on them."""

    columns: Columns
    binned: BinnedRows | None
    y: np.ndarray
    w: np.ndarray | None
    factors: np.ndarray | None  # of the classes
    growth: Growth
    n_classes: Any  # None for a number, a tuple for several outputs
    draws: TreeDraws
    balance: bool  # whether every tree has the factors of the classes in its sample
    ccp_alpha: float

    @classmethod
    def on(
        cls, forest: Forest, rows: Rows, outputs: Outputs | None = None
    ) -> ForestData:
        columns, binned, y, w = _ranked(forest, rows)
        n_classes: Any = None
        if outputs is not None:
            check_outputs(forest)
            y = outputs.values
            w = with_class_weights(forest, outputs, w)
            n_classes = outputs.n_classes
        assert y is not None
        forest.max_features_ = resolve_max_features(
            forest.max_features, len(rows.schema)
        )
        factors = None
        balance = False
        weight = float(len(y) if w is None else w.sum())
        if is_classifier(forest) and outputs is None:
            n_classes = len(forest.classes_)
            totals = np.bincount(y, w, minlength=n_classes).astype(np.float64)
            factors, balance = _class_factors(forest, totals)
            if factors is not None:
                weight = float(factors @ totals)
        growth = _growth(forest, len(y), weight)
        growth = replace(growth, monotonic=column_directions(forest, rows.schema))
        return cls(
            columns=columns,
            binned=binned,
            y=y,
            w=w,
            factors=factors,
            growth=growth,
            n_classes=n_classes,
            draws=_tree_draws(forest, len(y), w),
            balance=balance,
            ccp_alpha=forest.ccp_alpha,
        )

    def grow_tree(self, number: int) -> Tree:
        """Grow one tree."""
        # a row weighs: its weight, times its draws, times the factor of its class
        weight = self.w
        if self.draws.bootstrap:
            times = self.draws.counts(number).astype(np.float64)
            weight = times if weight is None else weight * times
        factors = self.factors
        if self.balance:
            assert self.n_classes is not None
            totals = np.bincount(self.y, weight, self.n_classes).astype(np.float64)
            codes = list(range(self.n_classes))
            factors = class_weight_factors("balanced", codes, totals)
        if factors is not None:
            row_factors = factors[self.y]
            weight = row_factors if weight is None else weight * row_factors
        seed = drawn_seed(seed_of_tree(self.draws.seed, number))
        growth = replace(self.growth, seed=seed)
        tree = grow(self.columns, self.y, weight, growth, self.n_classes)
        if self.ccp_alpha and tree.n_nodes > 1:
            tree = prune_by_complexity(tree, self.ccp_alpha)
        if self.binned is None:
            return tree
        return self.binned.bins.with_categories(self._between_bins(tree))

    def out_of_bag(
        self,
        trees: Sequence[Tree],
        number: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rows that a tree did not draw, and its predictions for them."""
        is_out = self.draws.counts(number) == 0
        if self.w is not None:
            is_out &= self.w > 0
        rows = np.flatnonzero(is_out)
        # rows are kept as codes, of which the last is that of a missing cell
        tree = self._of_codes(trees[number])
        values = tree.posteriors if self.n_classes else tree.node_values
        cells = self.columns.codes[:, rows].T.astype(np.float64)
        cells[cells == self.columns.n_codes] = np.nan
        return rows, Router([tree], cells.shape[1], values=[values]).sums(cells)

    def _between_bins(self, tree: Tree) -> Tree:
        """The tree with no threshold inside a bin: it may be there where no row of the node is in
        that bin.

        A row that was not drawn may be: so it goes the same way by its cell and by its bin.
        """
        threshold = tree.threshold.copy()
        for j, nodes in _by_column(tree):
            upper = self.columns.upper[j]
            # an empty bin starts where the next one does
            lower = np.minimum.accumulate(self.columns.lower[j][::-1])[::-1]
            thresholds = threshold[nodes]
            # the bin of the values just above the threshold, which may begin below it
            code = np.searchsorted(upper, thresholds, side="right")
            inside = thresholds >= lower[code]
            code = code[inside]
            # to the nearer end of that bin: below it, or below the next one
            cut = thresholds[inside]
            code += cut - lower[code] >= upper[code] - cut
            thresholds[inside] = midpoints(upper[code - 1], lower[code])
            threshold[nodes] = thresholds
        return replace(tree, threshold=threshold)

    def _of_codes(self, tree: Tree) -> Tree:
        """The tree for cells that are codes: a code goes left if all its values do."""
        threshold = tree.threshold.copy()
        for j, nodes in _by_column(tree):
            upper = self.columns.upper[j]
            first_right = np.searchsorted(upper, threshold[nodes], side="right")
            threshold[nodes] = first_right - 0.5
        if self.binned is None or not (tree.n_codes > 0).any():
            return replace(tree, threshold=threshold)
        return replace(self.binned.bins.with_bins(tree), threshold=threshold)


def _ranked(
    forest: Forest, rows: Rows
) -> tuple[Columns, BinnedRows | None, np.ndarray | None, np.ndarray | None]:
    """The cells themselves, ranked, or their bins, which both are columns of codes to the growth;
    targets and weights."""
    if forest.max_bins is None:
        alternative = "max_bins=255, which holds one byte per cell"
        block = rows.in_one_block(type(forest).__name__, alternative)
        return Columns.of_cells(block.X, rows.schema), None, block.y, block.w
    binned = BinnedRows.of(rows, Bins.of(rows, forest.max_bins), ranges=True)
    return binned.ranked_columns, binned, binned.y, binned.w


def _class_factors(
    forest: Forest, totals: np.ndarray
) -> tuple[np.ndarray | None, bool]:
    """Factors of the classes of all rows, or whether they are found anew for every sample
    ("balanced_subsample" of trees that have samples)."""
    balance = forest.class_weight == "balanced_subsample" and forest.bootstrap
    class_weight = None if balance else forest.class_weight
    classes = forest.classes_.tolist()
    return class_weight_factors(class_weight, classes, totals), balance


def _by_column(tree: Tree) -> Iterator[tuple[int, np.ndarray]]:
    """The columns that are cut in two, and the nodes that cut them at a number."""
    nodes = np.flatnonzero((tree.kind == THRESHOLD) & np.isfinite(tree.threshold))
    for j in np.unique(tree.feature[nodes]):
        yield int(j), nodes[tree.feature[nodes] == j]


def _growth(forest: Forest, n_rows: int, weight: float) -> Growth:
    """The rules of growth on rows of this number and weight."""
    return Growth(
        criterion=forest.criterion,
        categorical=forest.categorical_split,
        missing=forest.missing,
        max_depth=forest.max_depth,
        min_samples_split=max(2, resolve_row_count(forest.min_samples_split, n_rows)),
        min_samples_leaf=resolve_row_count(forest.min_samples_leaf, n_rows),
        min_weight_leaf=forest.min_weight_fraction_leaf * weight,
        max_leaf_nodes=forest.max_leaf_nodes,
        min_impurity_decrease=forest.min_impurity_decrease,
        max_features=forest.max_features_,
        splitter=forest._splitter,
    )


def _tree_draws(forest: Forest, n_rows: int, w: np.ndarray | None) -> TreeDraws:
    """The rows of every tree, drawn from those with a positive weight."""
    weighted = None
    n_drawn = n_rows
    if w is not None and not w.all():
        weighted = np.flatnonzero(w)
        n_drawn = len(weighted)
    if forest.max_samples is not None:
        n_drawn = resolve_row_count(forest.max_samples, n_drawn)
    return TreeDraws.of(forest.seed_, n_rows, n_drawn, forest.bootstrap, weighted)

"""How the members of AdaBoost learn from weighted rows: any learner; trees, on columns ranked
once."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from lyceum._core.base import takes_weights
from lyceum._core.members import Ensemble, MemberData, member_seeds, set_seeds
from lyceum._core.native import native
from lyceum._core.statistics import midpoints
from lyceum._core.threads import n_threads, ordered_map
from lyceum._core.trees import (
    LEAF,
    THRESHOLD,
    UNDEFINED,
    Columns,
    Router,
    Tree,
    class_impurities,
    grow,
    growth_rules,
    node_decisions,
)
from lyceum._core.types import Estimator
from lyceum.ensemble.boosting.adaboost_rounds import MemberFitter
from lyceum.ensemble.tree_members import cells_of_trees
from lyceum.errors import SettingError
from lyceum.trees import DecisionTreeClassifier

_LEAST_GAIN = 1e-8  # less may be rounding
_DRAW = 3  # the stream of chance that rows are drawn from
_ROWS_PER_TASK = 1 << 14


def draws_rows(learner: Estimator) -> bool:
    """Whether members are fitted on rows drawn by their weights; otherwise the base must take
    weights."""
    if learner.method == "resample":
        return True
    if not takes_weights(learner._base()):
        raise SettingError(
            f"{type(learner._base()).__name__} doesn't support sample_weight, which AdaBoost by"
            ' reweighting needs: use method="resample"'
        )
    return False


def member_fitter(
    model: Ensemble,
    data: MemberData,
    start: np.ndarray,
    weight: float,
    resample: bool,
) -> MemberFitter:
    """The quickest way to the members that the estimator's own `fit` would give."""
    base = model._base()
    if (
        type(base) is not DecisionTreeClassifier
        or data.container is not None
        or not _grows_only(base)
    ):
        return LearnerFitter(model, data, start, weight, resample)
    trees = TreeFitter(model, data, start, weight, resample)
    if not resample and _is_plain_stump(base) and trees.is_plain:
        return StumpFitter(trees)
    return trees


class LearnerFitter:
    """Members of any kind, on weights or on rows drawn by them."""

    def __init__(
        self,
        model: Ensemble,
        data: MemberData,
        start: np.ndarray,
        weight: float,
        resample: bool,
    ) -> None:
        self.model = model
        self.data = data
        self.start = start
        self.weight = weight
        self.resample = resample

    def member(self, number: int, weights: np.ndarray) -> tuple[Any, np.ndarray]:
        member = set_seeds(clone(self.model._base()), self.model.seed_, number)
        w = self.weights_of(number, weights)
        if not self.resample:
            self.data.fit(member, w=w)
        elif takes_weights(member):
            rows = np.flatnonzero(w)
            self.data.fit(member, rows, w=w[rows])
        else:
            self.data.fit(member, np.repeat(np.arange(len(w)), w.astype(np.int64)))
        return member, self.predict_rows(member)

    def weights_of(self, number: int, weights: np.ndarray) -> np.ndarray:
        """The weights of the rows for the member of a round: D times the weight of all, or their
        draws."""
        if not self.resample:
            return weights * self.weight
        chance = np.random.default_rng((self.model.seed_, number, _DRAW))
        n_drawn = int(np.count_nonzero(self.start))
        drawn = chance.choice(len(weights), n_drawn, p=weights)
        return np.bincount(drawn, minlength=len(weights)).astype(np.float64)

    def predict_rows(self, member: Estimator) -> np.ndarray:
        return self.data.class_codes(member, self.model.classes_)


# -- trees -----------------------------------------------------------------------------


def _grows_only(base: DecisionTreeClassifier) -> bool:
    """Whether nothing is done to a tree before or after it is grown on all rows."""
    plain = ("pruning", "class_weight", "loss_matrix", "max_bins")
    return (
        all(getattr(base, name) is None for name in plain)
        and base.ccp_alpha == 0
        and not base.record
    )


class TreeFitter(LearnerFitter):
    """Trees that are grown on columns ranked once."""

    def __init__(
        self,
        model: Ensemble,
        data: MemberData,
        start: np.ndarray,
        weight: float,
        resample: bool,
    ) -> None:
        super().__init__(model, data, start, weight, resample)
        source = data.source
        assert source is not None
        assert source.y is not None
        self.X = cells_of_trees(source)
        self.target = source.y
        self.schema = source.schema
        self.columns = Columns.of_cells(self.X, self.schema)
        self.K = len(model.classes_)
        # what `fit` sets besides the tree, from a fit on two rows
        two_rows = np.flatnonzero(start)[:2]
        weights = np.ones(len(two_rows))
        self.example = data.fit(clone(model._base()), two_rows, w=weights)

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers and no cell is missing."""
        columns = self.columns
        return not columns.is_category.any() and all(
            codes.max(initial=0) < count
            for codes, count in zip(columns.codes, columns.n_codes.tolist())
        )

    def member(self, number: int, weights: np.ndarray) -> tuple[Any, np.ndarray]:
        tree = self.grow_tree(number, self.weights_of(number, weights))
        return self.member_of_tree(number, tree)

    def member_of_tree(
        self,
        number: int,
        tree: Tree,
        codes: np.ndarray | None = None,
    ) -> tuple[Any, np.ndarray]:
        """The learner that has this tree, and the class codes of the rows."""
        # no __init__ and no fit: all but the tree and the seed is as in the example
        member = object.__new__(type(self.example))
        member.__dict__.update(self.example.__dict__)
        (member.random_state,) = member_seeds(self.model.seed_, number)
        member.tree_ = tree
        if codes is None:
            codes = self.predict_rows(member)
        return member, codes

    def grow_tree(self, number: int, w: np.ndarray) -> Tree:
        # as the learner's own `fit` draws the seed of a tree
        (random_state,) = member_seeds(self.model.seed_, number)
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        growth = growth_rules(
            self.example, self.schema, int(np.count_nonzero(w)), float(w.sum()), seed
        )
        return grow(self.columns, self.target, w, growth, self.K)

    def predict_rows(self, member: Estimator) -> np.ndarray:
        X = self.X
        router = Router([member.tree_], X.shape[1])
        starts = range(0, len(X), _ROWS_PER_TASK)
        slices = [X[start : start + _ROWS_PER_TASK] for start in starts]
        return np.concatenate(list(ordered_map(router.decisions, slices)))


# -- stumps ----------------------------------------------------------------------------


def _is_plain_stump(base: DecisionTreeClassifier) -> bool:
    """Whether the estimator is the default one but for what does not matter to a stump on
    numbers."""
    usual = DecisionTreeClassifier(max_depth=1).get_params()
    params = base.get_params()
    free = ("random_state", "categorical_features", "categorical_split", "max_branches")
    return all(
        params[name] == value for name, value in usual.items() if name not in free
    )


class StumpFitter:
    """Trees of one threshold, found with the order of the rows in every column known: one pass per
    round.

    Where there is nothing to gain, the trees' own way decides what becomes of the node.
    """

    def __init__(self, trees: TreeFitter) -> None:
        self.trees = trees
        self.weight = trees.weight
        # the rows with a positive weight, None for all
        self.weighted = None
        if not trees.start.all():
            self.weighted = np.flatnonzero(trees.start)
        self.codes = trees.columns.codes
        self.target = self._weighted_rows(trees.target)
        self.weight_of_class = np.where(
            self.target == np.arange(trees.K)[:, None], trees.weight, 0.0
        )
        # (K, n), the weights of one round
        self.by_class = np.empty_like(self.weight_of_class)
        # The kernel keeps the rows in the order of every column, and columns in groups of four:
        # `gains` and `ends` (the rank of the last row on the left) are of groups.
        weighted_codes = self._weighted_rows(self.codes)
        self.order = native.StumpOrder(np.ascontiguousarray(weighted_codes))
        self.gains = np.zeros((self.order.groups, 4))
        self.ends = np.zeros((self.order.groups, 4), dtype=np.int64)

    def _weighted_rows(self, rows: np.ndarray) -> np.ndarray:
        """The rows with a positive weight."""
        if self.weighted is None:
            return rows
        return rows[..., self.weighted]

    def predict_rows(self, member: Estimator) -> np.ndarray:
        return self.trees.predict_rows(member)

    def member(self, number: int, weights: np.ndarray) -> tuple[Any, np.ndarray]:
        w = self._weighted_rows(weights)
        np.multiply(self.weight_of_class, w, out=self.by_class)
        totals = self.by_class.sum(axis=1)
        # of two classes, signed weights say both sums; of more, every row has its class
        if self.trees.K == 2:
            self._search(self.by_class[1] - self.by_class[0], totals, None)
        else:
            self._search(w * self.weight, totals, self.target)
        # gains within rounding count as equal; of equal columns the first is taken
        gains = self.gains.ravel()[: self.order.columns]
        best = gains.max(initial=0.0)
        if not best > _LEAST_GAIN:
            return self.trees.member(number, weights)
        column = int(np.argmax(gains >= best * (1.0 - 1e-10)))  # the first of equals
        # `ends`: how many rows of the column's order are on the left, less one
        return self._stump(number, totals, column, int(self.ends.ravel()[column]))

    def _search(
        self,
        w: np.ndarray,
        totals: np.ndarray,
        classes: np.ndarray | None,
    ) -> None:
        """The best gain of every column and where it is, one share of the columns per thread."""
        # every thread has groups of its own, and writes to its own part of `gains` and `ends`
        count = self.order.groups
        step = -(-count // n_threads())
        ranges = [(first, min(first + step, count)) for first in range(0, count, step)]
        for _ in ordered_map(partial(self._search_groups, w, totals, classes), ranges):
            pass

    def _search_groups(
        self,
        w: np.ndarray,
        totals: np.ndarray,
        classes: Any,
        groups: tuple[int, int],
    ) -> None:
        self.order.gains(w, totals, classes, *groups, self.gains, self.ends)

    def _stump(
        self,
        number: int,
        totals: np.ndarray,
        column: int,
        end: int,
    ) -> tuple[Any, np.ndarray]:
        # the threshold, halfway between the values of the last row left and the first row right
        columns = self.trees.columns
        code = self._code(column, end)
        after = self._code(column, end + 1)
        below = columns.upper[column][code : code + 1]
        above = columns.lower[column][after : after + 1]
        threshold = float(midpoints(below, above)[0])
        # the weight of every class on both sides
        right = self.codes[column] > code
        beyond = self._weighted_rows(right).astype(np.float64)
        sides = np.array([self.by_class @ side for side in (1.0 - beyond, beyond)])
        tree = _stump(column, threshold, totals, sides, (len(beyond), end + 1))
        first, second = node_decisions(tree)[1:].tolist()
        codes = first + (second - first) * right.astype(np.intp)
        return self.trees.member_of_tree(number, tree, codes)

    def _code(self, column: int, rank: int) -> int:
        """The code of the row with this rank in the order of a column."""
        row = self.order.row(column, rank)
        if self.weighted is not None:
            row = self.weighted[row]
        return int(self.codes[column, row])


def _stump(
    column: int,
    threshold: float,
    totals: np.ndarray,
    sides: np.ndarray,
    n_rows: tuple[int, int],
) -> Tree:
    """A root with two leaves; `n_rows` are those of the root and of the left leaf."""
    value = np.vstack([totals, sides])
    weight = value.sum(axis=1)
    impurity = class_impurities(value, "gini")
    gain = impurity[0] - (weight[1:] @ impurity[1:]) / weight[0]
    heavier_side = int(weight[2] > weight[1])
    nowhere = np.full(3, -1, dtype=np.int32)
    return Tree(
        feature=np.array([column, UNDEFINED, UNDEFINED], dtype=np.int32),
        kind=np.array([THRESHOLD, LEAF, LEAF], dtype=np.uint8),
        child=np.array([1, -1, -1], dtype=np.int32),
        n_children=np.array([2, 0, 0], dtype=np.int32),
        threshold=np.array([threshold, UNDEFINED, UNDEFINED]),
        table=nowhere,
        n_codes=np.zeros(3, dtype=np.int32),
        missing=np.array([heavier_side, -1, -1], dtype=np.int32),
        cuts=np.empty(0),
        branches=np.empty(0, dtype=np.int32),
        node_values=value,
        weight=weight,
        n_rows=np.array([n_rows[0], n_rows[1], n_rows[0] - n_rows[1]], dtype=np.int64),
        impurity=impurity,
        gain=np.array([gain, 0.0, 0.0]),
    )

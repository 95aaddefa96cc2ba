"""Members that are trees: one router answers for all of them, and each is a learner of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import ArraySource, CheckCells, Column, Dense, Recode, Schema
from lyceum._core.trees import (
    UNDEFINED,
    Router,
    Tree,
    node_decisions,
)
from lyceum._core.types import Estimator, Operation
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
# of boosting and of its trees, with one meaning
_SHARED_SETTINGS = ("max_depth", "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha")


def are_trees(members: Sequence[Any], one_leaf: bool) -> bool:
    """Whether one router can answer for all members.

    `one_leaf` says that a row must end in one leaf: the vote of a tree on a divided row is not the
    mean of the votes of its parts.
    """
    for member in members:
        if not isinstance(member, _TREES):
            return False
        # of a fitted member `loss_matrix_`; regressors have neither
        losses = getattr(member, "loss_matrix", None)
        if getattr(member, "loss_matrix_", losses) is not None:
            return False
        if one_leaf and member.missing != "learned":
            return False
    return True


def cells_of_trees(source: ArraySource) -> np.ndarray:
    """Cells as trees take them, checked as trees check them."""
    dense = Dense()
    recode = Recode()
    check = CheckCells("DecisionTreeClassifier", allow_missing=True)
    blocks = (block for part in source.parts() for block in part.blocks())
    cells = [check(recode(dense(block))).X for block in blocks]
    return cells[0] if len(cells) == 1 else np.concatenate(cells)


def tree_operations(
    router: Router, schema: Schema, start: Sequence[float]
) -> list[Operation]:
    """What `cells_of_trees` and the sums of a router do, for exported models."""
    check = CheckCells("DecisionTreeClassifier", allow_missing=True)
    return [
        *Recode().operations(schema),
        *check.operations(schema),
        *router.operations(start),
    ]


def votes(tree: Tree) -> np.ndarray:
    """1 for the class of a node; of equals the one that the parent prefers."""
    shares = np.zeros_like(tree.node_values)
    shares[np.arange(len(shares)), node_decisions(tree)] = 1.0
    return shares


# Routers by model, so that files and copies of a model do not have them; the lock, as threads may
# predict with one model.
_forests: WeakKeyDictionary[Any, tuple[list[Tree], Router]] = WeakKeyDictionary()
_lock = threading.Lock()


def forest(
    model: Estimator,
    columns: Sequence[Any],
    value: Callable[[Tree], np.ndarray],
    scale: Any = 1.0,
    outputs: Any = None,
) -> Router:
    """The router of all members, made when it is first needed; never part of the model's state.

    `columns` are those of every member, None for all, `value` what the nodes of a tree add,
    `outputs` the score that every member adds to, None for all of them.
    """
    trees = [member.tree_ for member in model.estimators_]
    with _lock:
        routed, router = _forests.get(model, ([], None))
        # a model that was fitted again, or has more members, has other trees
        if router is not None and list(map(id, routed)) == list(map(id, trees)):
            return router
        on_all_columns = []
        for tree, numbers in zip(trees, columns):
            if numbers is not None:
                is_inner = tree.feature >= 0
                feature = np.full_like(tree.feature, UNDEFINED)
                feature[is_inner] = numbers[tree.feature[is_inner]]
                tree = replace(tree, feature=feature)
            on_all_columns.append(tree)
        values = [value(tree) for tree in trees]
        router = Router(
            on_all_columns,
            model.n_features_in_,
            values=values,
            scale=scale,
            columns=outputs,
        )
        _forests[model] = (trees, router)
        return router


# -- trees as learners, for text, rules, paths and drawings ----------------------------


def unfitted_tree(forest: Any) -> Any:
    """A tree learner with the settings that it shares with a forest."""
    kind: Any = DecisionTreeRegressor
    if is_classifier(forest):
        kind = DecisionTreeClassifier
    tree = kind(splitter=forest._splitter)
    own = tree.get_params(deep=False)
    settings = forest.get_params(deep=False)
    shared = {name: settings[name] for name in own if name in settings}
    for alone in ("random_state", "class_weight", "categorical_features"):
        shared.pop(alone, None)
    return tree.set_params(**shared)


def seed_of_tree(seed: int, number: int) -> int:
    """The `random_state` with which a tree draws what the tree of a forest has drawn at its nodes;
    rows are drawn from a stream of their own."""
    chance = np.random.default_rng([seed, number, 1])
    return int(chance.integers(np.iinfo(np.int32).max))


def tree_of_forest(forest: Any, tree: Tree, random_state: int) -> Any:
    """A tree that answers as the forest does, with classes or numbers."""
    member = unfitted_tree(forest)
    member.random_state = random_state
    if is_classifier(forest):
        member.classes_ = forest.classes_
        member.actions_ = forest.classes_
        member.loss_matrix_ = None
    member.n_outputs_ = forest.n_outputs_
    return _with_tree(member, forest, tree, forest.schema_, forest.max_features_)


def _tree_of_scores(boosting: Any, tree: Tree, score: str) -> Any:
    """A tree that adds to a score, which is what it predicts; its gains are of the loss, not of
    variances."""
    if not boosting._keeps_impurity:
        tree = replace(tree, impurity=np.full(tree.n_nodes, np.nan))
    known = boosting.get_params(deep=False)
    settings = {name: known[name] for name in _SHARED_SETTINGS if name in known}
    member = DecisionTreeRegressor(**settings)
    schema = replace(boosting.schema_, target=Column(score))
    member.n_outputs_ = 1
    return _with_tree(member, boosting, tree, schema, boosting.n_features_in_)


def _with_tree(
    member: Any,
    owner: Any,
    tree: Tree,
    schema: Any,
    max_features: int,
) -> Any:
    member.schema_ = schema
    member.n_features_in_ = owner.n_features_in_
    if hasattr(owner, "feature_names_in_"):
        member.feature_names_in_ = owner.feature_names_in_
    member.tree_ = tree
    member.max_features_ = max_features
    return member


class TreesOfRounds:
    """The trees of boosting, round by round, as learners."""

    trees_: list[Tree]
    baseline_: np.ndarray
    schema_: Schema
    # histogram boosting keeps its objective as impurity, which is no variance
    _keeps_impurity: ClassVar[bool] = False

    @property
    def estimators_(self) -> np.ndarray:
        """The trees as learners of their own, (rounds, outputs): for text, rules, paths and
        drawings."""
        check_is_fitted(self)
        scores = self._score_names()
        K = len(self.baseline_)
        learners = np.empty(len(self.trees_), dtype=object)
        for i, tree in enumerate(self.trees_):
            learners[i] = _tree_of_scores(self, tree, scores[i % K])
        return learners.reshape(-1, K)

    def _score_names(self) -> list[str]:
        """What the trees of every output add to."""
        assert self.schema_.target is not None
        return [self.schema_.target.name]

    def __len__(self) -> int:
        n_trees = len(getattr(self, "trees_", ()))
        n_outputs = len(getattr(self, "baseline_", ()))
        return n_trees // max(1, n_outputs)

    def __bool__(self) -> bool:
        return True  # a model without trees is one too

    def __getitem__(self, number: Any) -> Any:
        """The trees of a round, by its number."""
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

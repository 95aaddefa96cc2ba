"""Trees of an ensemble as learners of their own: for text, rules, paths and drawings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import Column, Schema
from lyceum._core.trees import Tree, impurity_importances
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor


def tree_of_forest(forest: Any, tree: Tree) -> Any:
    """A tree that answers as the forest does, with classes or numbers."""
    kind: Any = DecisionTreeClassifier if is_classifier(forest) else DecisionTreeRegressor
    member = kind(
        criterion=forest.criterion,
        max_depth=forest.max_depth,
        missing=forest.missing,
        max_bins=forest.max_bins,
    )
    if is_classifier(forest):
        member.classes_ = member.actions_ = forest.classes_
        member.loss_matrix_ = None
    return _with_tree(member, forest, tree, forest.schema_, forest.max_features_)


def _tree_of_scores(boosting: Any, tree: Tree, score: str) -> Any:
    """A tree that adds to a score, which is what it predicts; its gains are of the loss, not of
    variances."""
    tree = replace(tree, impurity=np.full(tree.n_nodes, np.nan))
    member = DecisionTreeRegressor(
        max_depth=boosting.max_depth, max_leaf_nodes=boosting.max_leaf_nodes
    )
    schema = replace(boosting.schema_, target=Column(score))
    return _with_tree(member, boosting, tree, schema, boosting.n_features_in_)


def _with_tree(member: Any, owner: Any, tree: Tree, schema: Any, max_features: int) -> Any:
    member.schema_ = schema
    member.n_features_in_ = owner.n_features_in_
    if hasattr(owner, "feature_names_in_"):
        member.feature_names_in_ = owner.feature_names_in_
    member.tree_ = tree
    member.max_features_ = max_features
    member.feature_importances_ = impurity_importances(tree, owner.n_features_in_)
    return member


class TreesOfRounds:
    """The trees of boosting, round by round, as learners."""

    trees_: list[Tree]
    baseline_: np.ndarray
    schema_: Schema

    @property
    def estimators_(self) -> np.ndarray:
        """The trees as learners of their own, (rounds, outputs): for text, rules, paths and
        drawings."""
        check_is_fitted(self)
        scores = self._score_names()
        K = len(self.baseline_)
        trees = [_tree_of_scores(self, tree, scores[i % K]) for i, tree in enumerate(self.trees_)]
        found = np.empty(len(trees), dtype=object)
        found[:] = trees
        return found.reshape(-1, K)

    def _score_names(self) -> list[str]:
        """What the trees of every output add to."""
        assert self.schema_.target is not None
        return [self.schema_.target.name]

    def __len__(self) -> int:
        return len(getattr(self, "trees_", ())) // max(1, len(getattr(self, "baseline_", ())))

    def __bool__(self) -> bool:
        return True  # a model without trees is one too

    def __getitem__(self, number: Any) -> Any:
        """The trees of a round, by its number."""
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

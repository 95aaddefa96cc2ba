"""The stated complexity of trees and of ensembles of trees."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris

from lyceum.base import complexity
from lyceum.ensemble import AdaBoostClassifier, RandomForestClassifier
from lyceum.trees import DecisionTreeClassifier


def test_a_tree_needs_its_splits_and_the_values_of_its_leaves():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=3).fit(X, y)
    assert complexity(tree) == 2 * 2 + 3 * 3


def test_an_ensemble_needs_what_all_its_trees_need():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=4, random_state=0).fit(X, y)
    assert complexity(forest) == sum(tree.n_numbers for tree in forest.trees_) > 100
    boosted = AdaBoostClassifier(n_estimators=5, random_state=0).fit(
        X[y < 2] + np.arange(4), y[y < 2]
    )
    assert complexity(boosted) >= 2 + 2 * 2

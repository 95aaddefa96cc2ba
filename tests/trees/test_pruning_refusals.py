"""Pruning says what it cannot prune, or prune by, and what to give instead."""

import numpy as np
import pytest

from lyceum.errors import DataError, SettingError
from lyceum.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    cost_complexity_path,
    prune_by_complexity,
    prune_by_confidence,
    prune_by_error,
    prune_by_loss,
    prune_by_pessimistic_error,
)

X = np.arange(12.0)[:, None]
MODEL = DecisionTreeClassifier().fit(X, list("aaabbbaabbbb"))
CODES = np.array([0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1])
TREE, VISITED = MODEL.tree_, MODEL.decision_path(X)
NUMBERS = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0])


@pytest.mark.parametrize(
    "prune",
    [
        cost_complexity_path,
        prune_by_confidence,
        prune_by_loss,
        prune_by_pessimistic_error,
        lambda tree: prune_by_complexity(tree, 0.1),
        lambda tree: prune_by_error(tree, VISITED, CODES),
    ],
)
def test_the_learner_is_not_its_tree(prune):
    with pytest.raises(
        SettingError, match="takes a Tree, not DecisionTreeClassifier: give the tree_"
    ):
        prune(MODEL)


@pytest.mark.parametrize(
    ("prune", "message"),
    [
        (
            lambda: prune_by_loss(TREE, smoothing="Laplace"),
            "smoothing='Laplace' is not known: choose from",
        ),
        (
            lambda: prune_by_loss(TREE, smoothing="m", m=-1.0),
            "m must be a number of at least 0, not -1.0",
        ),
        (
            lambda: prune_by_loss(TREE, smoothing="m", prior=[0.2, 0.3, 0.5]),
            "prior must be 2 numbers",
        ),
        (
            lambda: prune_by_loss(TREE, [[0, np.nan], [1, 0]]),
            "a loss matrix holds finite numbers",
        ),
        (
            lambda: prune_by_loss(TREE, "dear"),
            "a loss matrix holds numbers, not 'dear'",
        ),
        (
            lambda: prune_by_complexity(TREE, np.nan),
            "alpha must be a number of at least 0, not nan",
        ),
        (
            lambda: MODEL.cost_complexity_path().at("auto"),
            "alpha must be a number of at least 0, not 'auto'",
        ),
        (
            lambda: prune_by_pessimistic_error(TREE, -0.5),
            "penalty must be a number of at least 0",
        ),
        (
            lambda: prune_by_confidence(TREE, "high"),
            "confidence='high' must be above 0 and at most 0.5",
        ),
    ],
)
def test_what_no_pruning_goes_by_is_named(prune, message):
    with pytest.raises(SettingError, match=message):
        prune()


@pytest.mark.parametrize(
    ("prune", "message"),
    [
        (
            lambda: prune_by_error(TREE, VISITED, np.array(list("abababababab"))),
            "give class codes",
        ),
        (
            lambda: prune_by_error(TREE, VISITED, CODES + 1),
            "whole numbers from 1 to 2, which count as class",
        ),
        (
            lambda: prune_by_error(TREE, VISITED, CODES.astype(float)),
            "has 2 classes, and the target holds float",
        ),
        (
            lambda: prune_by_error(TREE, VISITED, CODES[:5]),
            r"visited has the shape \(12, 7\), and 5 targets",
        ),
        (
            lambda: prune_by_error(
                NUMBERS.tree_, NUMBERS.decision_path(X), np.arange(12)
            ),
            "as floats",
        ),
        (
            lambda: prune_by_error(TREE, NUMBERS.decision_path(X[:5]), CODES[:5]),
            r"visited has the shape \(5, 3\), and 5 targets",
        ),
    ],
)
def test_costs_are_of_the_classes_and_nodes_of_the_tree(prune, message):
    with pytest.raises(DataError, match=message):
        prune()


def test_visits_may_be_a_dense_array():
    dense = prune_by_error(TREE, VISITED.toarray(), CODES)
    np.testing.assert_array_equal(dense.kind, prune_by_error(TREE, VISITED, CODES).kind)

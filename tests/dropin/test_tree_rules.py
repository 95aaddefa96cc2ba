"""Rules for columns of trees, and partial dependence, as scikit-learn's parameters ask for them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree
from sklearn.inspection import partial_dependence

import lyceum
from lyceum.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from lyceum.errors import SettingError
from lyceum.trees import DecisionTreeRegressor


def waves(n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that rise with the first column and fall with the second, but for waves."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(n, 4))
    y = 5 * X[:, 0] + np.sin(10 * np.pi * X[:, 0]) - 5 * X[:, 1]
    return X, y - np.cos(10 * np.pi * X[:, 1]) + 3 * X[:, 0] * X[:, 2]


def steps(model, X: np.ndarray, column: int) -> np.ndarray:
    """The differences of predictions along a column, from the place of every row."""
    grid = np.linspace(-0.1, 1.1, 61)
    answers = []
    for cell in grid:
        moved = X.copy()
        moved[:, column] = cell
        answers.append(model.predict(moved))
    return np.diff(answers, axis=0)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(),
        DecisionTreeRegressor(splitter="random", random_state=1),
        DecisionTreeRegressor(max_leaf_nodes=30),
        RandomForestRegressor(5, random_state=0),
        ExtraTreesRegressor(5, random_state=0),
    ],
    ids=lambda model: str(model),
)
def test_trees_are_monotone_where_asked(model, criterion):
    X, y = waves(300)
    model.set_params(criterion=criterion, monotonic_cst=[1, -1, 0, 0]).fit(X, y)
    assert (steps(model, X[:50], 0) >= 0).all()
    assert (steps(model, X[:50], 1) <= 0).all()
    model.set_params(monotonic_cst=None).fit(X, y)
    assert (steps(model, X[:50], 0) < 0).any()


def test_drawn_thresholds_by_medians():
    # one split: a threshold between two values, the leaves the medians of both sides
    X, y = waves(101)
    X = X[:, :1]
    thresholds = set()
    for seed in range(10):
        model = DecisionTreeRegressor(
            criterion="absolute_error",
            splitter="random",
            max_depth=1,
            random_state=seed,
        ).fit(X, y)
        (threshold,) = model.tree_.threshold[model.tree_.feature == 0]
        thresholds.add(float(threshold))
        left = X[:, 0] <= threshold
        assert model.predict(X[left][:1]) == pytest.approx(np.median(y[left]))
        assert model.predict(X[~left][:1]) == pytest.approx(np.median(y[~left]))
    assert len(thresholds) == 10


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "quantile", "poisson"]
)
def test_boosting_is_monotone_where_asked(loss):
    X, y = waves()
    X[::7, 0] = np.nan
    model = HistGradientBoostingRegressor(
        loss=loss, monotonic_cst=[1, -1, 0, 0], max_iter=40
    ).fit(X, np.abs(y))
    assert (steps(model, X[:100], 0) >= 0).all()
    assert (steps(model, X[:100], 1) <= 0).all()
    free = HistGradientBoostingRegressor(loss=loss, max_iter=40).fit(X, np.abs(y))
    assert (steps(free, X[:100], 0) < 0).any()


def test_classes_of_boosting_are_monotone_where_asked():
    X, y = waves()
    model = HistGradientBoostingClassifier(monotonic_cst=[1, -1, 0, 0]).fit(X, y > 1)
    model.predict = lambda rows: model.predict_proba(rows)[:, 1]
    assert (steps(model, X[:50], 0) >= 0).all()
    assert (steps(model, X[:50], 1) <= 0).all()


def test_rules_that_forbid_nothing_change_nothing():
    X, y = waves()
    usual = HistGradientBoostingRegressor().fit(X, y).predict(X)
    for rules in (
        {"monotonic_cst": [0, 0, 0, 0]},
        {"interaction_cst": [{0, 1, 2, 3}]},
        {"interaction_cst": [range(4), {1}]},
    ):
        model = HistGradientBoostingRegressor(**rules).fit(X, y)
        assert (model.predict(X) == usual).all()


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ([{0, 1}], [{0, 1}, {2, 3}]),
        ([{0, 1}, {1, 2, 3}], [{0, 1}, {1, 2, 3}]),
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ("pairwise", [{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}]),
    ],
)
def test_columns_of_a_path_are_in_one_set(given, allowed):
    X, y = waves()
    y = y + 20 * X[:, 0] * X[:, 1] * X[:, 2] * X[:, 3]
    model = HistGradientBoostingRegressor(interaction_cst=given, max_iter=20).fit(X, y)
    largest = 0
    for tree in model.trees_:
        columns = [set() for _ in range(tree.n_nodes)]
        for node, parent in enumerate(tree.parent.tolist()):
            if parent >= 0:
                columns[node] = columns[parent] | {int(tree.feature[parent])}
        assert all(any(path <= group for group in allowed) for path in columns)
        largest = max(largest, *map(len, columns))
    assert largest == max(map(len, allowed))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"monotonic_cst": [1]}, r"shape \(1,\) but the input data X has 4"),
        ({"monotonic_cst": [1, 2, 0, 0]}, "Observed values: "),
        ({"monotonic_cst": {"a": 1}}, "was not fitted on data with feature names"),
        ({"interaction_cst": [{7}]}, r"invalid indices: \{7\}"),
        ({"interaction_cst": [0]}, "sequence of tuples or lists, got: "),
        (
            {"monotonic_cst": [1, 0, 0, 0], "categorical_features": [0]},
            "Categorical features cannot have monotonic constraints",
        ),
    ],
)
def test_odd_rules_are_refused(rules, message):
    X, y = waves()
    X = np.floor(5 * X)
    with pytest.raises(SettingError, match=message):
        HistGradientBoostingRegressor(**rules).fit(X, y)


@pytest.mark.parametrize("name", ["DecisionTreeRegressor", "GradientBoostingRegressor"])
def test_partial_dependence_by_recursion_is_that_of_scikit_learn(name):
    X, y = waves()
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    family = sklearn.tree if name.startswith("Decision") else sklearn.ensemble
    ours = {
        "DecisionTreeRegressor": DecisionTreeRegressor,
        "GradientBoostingRegressor": GradientBoostingRegressor,
    }[name](max_depth=4, min_samples_leaf=20).fit(X, y, sample_weight=w)
    # leaves of many rows: no two columns part a node alike, which would be a tie
    theirs = getattr(family, name)(max_depth=4, min_samples_leaf=20, random_state=0)
    theirs.fit(X, y, sample_weight=w)
    grid = np.random.default_rng(1).uniform(size=(40, 2))
    for columns in ([0, 1], [2, 0]):
        found = ours._compute_partial_dependence_recursion(grid, np.array(columns))
        wanted = theirs._compute_partial_dependence_recursion(grid, np.array(columns))
        assert np.allclose(found, wanted, rtol=1e-6)


def test_the_switch_takes_partial_dependence_from_the_trees():
    lyceum.patch_sklearn()
    try:
        from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    finally:
        lyceum.unpatch_sklearn()
    X, y = waves()
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    answer = partial_dependence(forest, X, [0], method="recursion", kind="average")
    trees = [
        tree._compute_partial_dependence_recursion(
            answer["grid_values"][0][:, None], np.array([0])
        )
        for tree in forest.estimators_
    ]
    assert np.allclose(answer["average"], np.mean(trees, axis=0))
    started = GradientBoostingRegressor(n_estimators=5, init=forest).fit(X, y)
    with pytest.warns(UserWarning, match="with a non-constant init predictor"):
        partial_dependence(started, X, [0], method="recursion", kind="average")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        partial_dependence(forest, X, [0], kind="average")

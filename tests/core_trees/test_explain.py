"""Contributions add up to the prediction, step by step."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.trees.tree_builders import (
    N_CODES,
    Builder,
    of_sklearn,
    parts,
    random_rows,
    random_tree,
)

from lyceum._core.trees import THRESHOLD, Router, contributions, shares
from lyceum.data import Schema
from lyceum.errors import DataError
from lyceum.trees import (
    C45,
    CART,
    ID3,
    DecisionTreeClassifier as TreeClassifier,
    DecisionTreeRegressor,
    ModelTreeRegressor,
)


@pytest.mark.parametrize("seed", range(4))
def test_base_and_contributions_are_the_prediction(seed):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, 15, n_values=3) for _ in range(5)]
    X = random_rows(rng, 200, gaps=0.3)
    router = Router(
        trees, 4, values=[shares(tree.node_values) for tree in trees], scale=0.2
    )
    pick = rng.integers(0, 3, size=200)
    found = contributions(router, X, pick)
    np.testing.assert_allclose(
        found.sum(axis=1), router.sums(X)[np.arange(200), pick], rtol=1e-12
    )


def test_every_step_is_credited_to_the_column_tested():
    rng = np.random.default_rng(9)
    tree = random_tree(rng, 15, n_values=1)
    X = random_rows(rng, 100, gaps=0.3)
    wanted = np.zeros((100, 4))
    parents = tree.parent
    for i, row in enumerate(X):
        for node, share, _ in parts(tree, row)[1:]:
            change = tree.node_values[node, 0] - tree.node_values[parents[node], 0]
            wanted[i, tree.feature[parents[node]]] += share * change
    found = contributions(Router([tree], 4), X)
    np.testing.assert_allclose(found[:, 1:], wanted, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(found[:, 0], np.full(100, tree.node_values[0, 0]))


def test_trees_of_one_class_each_explain_their_class_alone():
    rng = np.random.default_rng(2)
    trees = [random_tree(rng, 8, n_values=1) for _ in range(6)]
    X = random_rows(rng, 60)
    router = Router(trees, 4, columns=[0, 1, 2] * 2, scale=0.1)
    for k in range(3):
        alone = Router(trees[k::3], 4, scale=0.1)
        np.testing.assert_allclose(
            contributions(router, X, np.full(60, k)),
            contributions(alone, X),
            rtol=1e-12,
        )


@pytest.mark.syllabus("11.3")
def test_a_forest_of_sklearn_is_explained_exactly():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    trees = [of_sklearn(tree) for tree in forest.estimators_]
    router = Router(
        trees, 4, values=[shares(tree.node_values) for tree in trees], scale=1 / 10
    )
    X = X.astype(np.float32)
    proba = forest.predict_proba(X)
    pick = proba.argmax(axis=1)
    np.testing.assert_allclose(
        contributions(router, X, pick).sum(axis=1), proba.max(axis=1), atol=1e-12
    )


@pytest.mark.syllabus("6.8.2")
def test_the_path_of_a_row_reads_as_it_goes():
    iris = load_iris()
    X, y = iris.data, iris.target
    tree = of_sklearn(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y))
    schema = Schema.of_numbers(["sl", "sw", "pl", "pw"])
    path = tree.path(X[60], schema, iris.target_names)
    assert path.steps[0].node == 0
    assert path.steps[-1].value == pytest.approx(49 / 54)
    assert path.prediction == pytest.approx(49 / 54)
    assert path.output == "P(y = versicolor)"
    assert "(root)" in str(path)
    assert "<table>" in path._repr_html_()
    assert json.loads(json.dumps(path.as_dict())) == path.as_dict()


def test_the_path_of_a_row_with_a_missing_cell_goes_several_ways():
    builder = Builder(1)
    for node, weight, value in zip(
        builder.split(0, 0, THRESHOLD, missing=-1, threshold=0.0), (1, 3), (4.0, 8.0)
    ):
        builder.set(node, weight=float(weight), node_values=[value])
    builder.set(0, node_values=[7.0], weight=4.0)
    path = builder.tree().path([np.nan])
    assert [
        (step.node, step.question, step.cell, step.share) for step in path.steps[1:]
    ] == [
        (1, "x0 ≤ 0", None, 0.25),
        (2, "x0 > 0", None, 0.75),
    ]
    assert "missing" in str(path)
    assert path.prediction == pytest.approx(0.25 * 4 + 0.75 * 8)


def test_the_path_of_unknown_categories_has_every_node():
    rng = np.random.default_rng(11)
    tree = random_tree(rng, 12)
    codes = [f"c{k}" for k in range(N_CODES)]
    schema = Schema.declare(
        {"a": "continuous", "b": "continuous", "c": codes, "d": codes}
    )
    for row in random_rows(rng, 40, gaps=0.1):
        assert len(tree.path(row, schema, ["u", "v"]).steps) == len(parts(tree, row))


@pytest.mark.parametrize(
    "make", [ID3, C45, CART, TreeClassifier, DecisionTreeRegressor, ModelTreeRegressor]
)
def test_the_path_of_every_tree_learner_ends_at_its_prediction(make):
    rng = np.random.default_rng(4)
    color = rng.choice(["red", "green", "blue"], 300)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=300),
            "color": pd.Categorical(color),
            "age": rng.normal(size=300),
        }
    )
    score = 2 * X["size"] + 3 * (color == "red") * X["age"]
    X.loc[::7, "size"] = np.nan
    is_number = make in (DecisionTreeRegressor, ModelTreeRegressor)
    model = make().fit(X, score if is_number else np.where(score > 0, "up", "down"))
    predicted = model.predict(X) if is_number else model.predict_proba(X).max(axis=1)
    for row in (0, 3, 200, 280):
        path = model.path(X, row)
        assert path.prediction == pytest.approx(predicted[row], rel=1e-9)
        assert path.steps[0].question == ""
        for step in path.steps[1:]:
            name = next(name for name in X if name in step.question)
            cell = X.loc[row, name]
            assert (step.cell is None) == pd.isna(cell)
            assert pd.isna(cell) or step.cell == cell
    with pytest.raises(
        DataError,
        match="there is no row 300: rows are numbered from 0, and there are 300",
    ):
        model.path(X, 300)


def test_with_a_loss_matrix_the_path_follows_the_expected_loss_of_the_action():
    X, y = load_iris(return_X_y=True)
    loss = np.array([[0, 1, 5], [1, 0, 5], [2, 2, 0]])
    model = TreeClassifier(max_depth=2, loss_matrix=loss).fit(X, y)
    path = model.path(X, 70)
    assert path.output == f"expected loss of {model.predict(X)[70]}"
    assert path.prediction == pytest.approx(
        (model.predict_proba(X[70:71]) @ loss).min()
    )


def test_a_path_takes_one_row_by_name():
    frame = pd.DataFrame(
        {"size": [1.0, 2.0, 3.0, 4.0] * 5, "color": ["red", "blue", "red", "green"] * 5}
    )
    for model in (
        TreeClassifier().fit(frame, ["up", "up", "down", "up"] * 5),
        ModelTreeRegressor(min_samples_split=4).fit(frame, [1.0, 2.0, 7.0, 4.0] * 5),
    ):
        for row in range(4):
            expected = model.path(frame, row).as_dict()
            assert model.path(frame.iloc[row]).as_dict() == expected
            assert model.path(frame.iloc[row].to_dict()).as_dict() == expected
    bare = TreeClassifier().fit(
        frame[["size"]].to_numpy(), ["up", "up", "down", "up"] * 5
    )
    assert bare.path(pd.Series([3.0])).as_dict() == bare.path([[3.0]]).as_dict()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"size": 1.0},
            "one row of coded cells, all of them numbers, and not this dict: path",
        ),
        (pd.Series(["red", 1.0]), "not this Series"),
        (pd.DataFrame({"color": ["red"]}), "not this DataFrame"),
        (np.zeros((2, 3)), r"one row, but the cells have the shape \(2, 3\)"),
        ([], "the row has 0 cells, but the tree needs 1"),
    ],
)
def test_a_bare_tree_refuses_what_is_no_row_of_numbers(row, message):
    tree = TreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    assert tree.path(pd.Series([1.0])).steps == tree.path([1.0]).steps
    with pytest.raises(DataError, match=message):
        tree.path(row)
    with pytest.raises(DataError, match="the row has 3 cells for 1 column"):
        tree.path([1.0, 2.0, 3.0], Schema.of_numbers(["size"]))

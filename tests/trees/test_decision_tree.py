"""Decision trees: scikit-learn's where the settings coincide, and every other parameter."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from sklearn import tree as theirs
from tests.trees.decision_tree_cases import noisy, numbers
from tests.trees.table_builders import from_scikit

from lyceum import datasets
from lyceum._core.trees import CATEGORIES, GROUPS, INTERVALS, LEAF
from lyceum.errors import SettingError
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor


def assert_is_scikits(ours, model):
    want, got = from_scikit(model), ours.tree_
    np.testing.assert_array_equal(got.feature, want.feature)
    np.testing.assert_array_equal(got.child, want.child)
    np.testing.assert_array_equal(got.n_rows, want.n_rows)
    for name in ("threshold", "value", "weight", "impurity"):
        np.testing.assert_allclose(
            getattr(got, name), getattr(want, name), rtol=1e-9, atol=1e-9
        )


SHARED = [
    {"max_depth": 4, "min_samples_leaf": 8},
    {"min_samples_split": 60, "min_samples_leaf": 6},
    {"min_samples_split": 0.2, "min_samples_leaf": 0.04},
    {"max_leaf_nodes": 9, "min_samples_leaf": 6},
    {"min_impurity_decrease": 0.02, "min_samples_leaf": 6},
    {"min_weight_fraction_leaf": 0.0625, "max_depth": 3},
    {"ccp_alpha": 0.01, "min_samples_leaf": 6},
]


@pytest.mark.syllabus("6.1.2", "6.5.1")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(
    "options",
    [
        *SHARED,
        {"max_depth": 4, "min_samples_leaf": 8, "class_weight": {"a": 3.0, "b": 0.5}},
    ],
)
def test_the_tree_of_classes_is_scikit_learns(options, criterion, weighted):
    X, y, _, w = numbers()
    w = w if weighted else None
    ours = DecisionTreeClassifier(criterion=criterion, **options).fit(X, y, w)
    model = theirs.DecisionTreeClassifier(
        criterion=criterion, random_state=0, **options
    ).fit(X, y, w)
    assert ours.get_n_leaves() > 2
    assert_is_scikits(ours, model)
    np.testing.assert_allclose(
        ours.predict_proba(X), model.predict_proba(X), atol=1e-12
    )
    untied = (
        np.ptp(np.sort(ours.predict_proba(X))[:, -2:], axis=1) > 1e-9
    )  # scikit-learn: the first class
    assert (ours.predict(X) == model.predict(X))[untied].all()
    np.testing.assert_allclose(
        ours.feature_importances_, model.feature_importances_, atol=1e-9
    )


def test_balanced_classes_weigh_alike_and_their_weights_count():
    X, y, _, w = numbers()
    options = {"max_depth": 4, "min_samples_leaf": 8, "class_weight": "balanced"}
    ours = DecisionTreeClassifier(**options).fit(X, y)
    assert_is_scikits(
        ours, theirs.DecisionTreeClassifier(random_state=0, **options).fit(X, y)
    )
    # scikit-learn counts rows here
    weighted = DecisionTreeClassifier(**options).fit(X, y, w)
    np.testing.assert_allclose(weighted.tree_.node_values[0], np.full(3, w.sum() / 3))


@pytest.mark.syllabus("6.7.1")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("criterion", "scikits"),
    [("squared_error", "squared_error"), ("absolute_error", "absolute_error")],
)
@pytest.mark.parametrize("options", SHARED)
def test_the_tree_of_numbers_is_scikit_learns(options, criterion, scikits, weighted):
    X, _, y, w = numbers(120)
    w = w if weighted else None
    if "min_impurity_decrease" in options or "ccp_alpha" in options:
        options = {
            name: 0.3 if type(value) is float else value
            for name, value in options.items()
        }
    ours = DecisionTreeRegressor(criterion=criterion, **options).fit(X, y, w)
    model = theirs.DecisionTreeRegressor(
        criterion=scikits, random_state=0, **options
    ).fit(X, y, w)
    assert ours.get_n_leaves() > 2
    assert_is_scikits(ours, model)
    np.testing.assert_allclose(ours.predict(X), model.predict(X), rtol=1e-9)


# -- settings that stop growth ---------------------------------------------------------


def exclusive_or():
    return np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 1, 1, 0]


def test_a_split_that_gains_nothing_is_made_unless_gain_is_required():
    X, y = exclusive_or()
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0
    assert DecisionTreeClassifier(require_gain=True).fit(X, y).get_n_leaves() == 1
    assert DecisionTreeRegressor().fit(X, y).score(X, y) == 1.0
    assert DecisionTreeRegressor(require_gain=True).fit(X, y).get_n_leaves() == 1


@pytest.mark.syllabus("6.5.2")
def test_every_split_passes_the_chi_square_test():
    X, y, _, _ = numbers()
    level = 0.01
    model = DecisionTreeClassifier(max_p_value=level, min_samples_leaf=5).fit(X, y)
    free = DecisionTreeClassifier(min_samples_leaf=5).fit(X, y)
    assert 1 < model.get_n_leaves() < free.get_n_leaves()
    for node in np.flatnonzero(model.tree_.kind != LEAF):
        table = model.tree_.node_values[list(model.tree_.children(node))]
        assert (
            chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False).pvalue
            <= level
        )


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_drawn_thresholds_and_columns_depend_on_the_seed_alone(kind):
    X, labels, score, _ = numbers()
    y = labels if kind is DecisionTreeClassifier else score
    best = kind(max_depth=3).fit(X, y).tree_
    for options in ({"splitter": "random"}, {"max_features": 1}):
        trees = [
            kind(max_depth=3, random_state=seed, **options).fit(X, y).tree_
            for seed in (0, 0, 1)
        ]
        np.testing.assert_array_equal(trees[0].threshold, trees[1].threshold)
        assert not np.array_equal(trees[0].threshold, trees[2].threshold)
        assert not np.array_equal(trees[0].threshold, best.threshold)


@pytest.mark.parametrize(
    ("given", "count"),
    [(None, 9), (4, 4), (50, 9), (0.5, 4), (0.01, 1), ("sqrt", 3), ("log2", 3)],
)
def test_how_many_columns_are_drawn(given, count):
    rng = np.random.default_rng(0)
    model = DecisionTreeClassifier(max_features=given, random_state=0, record=True)
    model.fit(rng.normal(size=(60, 9)), rng.integers(0, 2, 60))
    assert model.max_features_ == count
    assert len(model.record_[0]["candidates"]) == count


# -- forms of splits -------------------------------------------------------------------


@pytest.mark.syllabus("6.2.2")
def test_thresholds_are_midway_or_observed():
    x, y = np.array([[1.0], [2.0], [4.0], [7.0]]), [0, 0, 1, 1]
    assert DecisionTreeClassifier().fit(x, y).tree_.threshold[0] == 3.0
    assert DecisionTreeClassifier(cut="observed").fit(x, y).tree_.threshold[0] == 2.0


@pytest.mark.syllabus("6.2.1")
def test_categories_are_grouped_branched_or_set_apart():
    color = np.repeat(["red", "green", "blue", "gray"], 5)
    y = np.isin(color, ["red", "blue"])
    frame = pd.DataFrame({"color": pd.Categorical(color)})
    leaves = {}
    for form, kind in (
        ("groups", GROUPS),
        ("multiway", CATEGORIES),
        ("one_vs_rest", GROUPS),
    ):
        model = DecisionTreeClassifier(categorical_split=form).fit(frame, y)
        assert model.tree_.kind[0] == kind
        assert model.score(frame, y) == 1.0
        leaves[form] = model.get_n_leaves()
    assert leaves == {"groups": 2, "multiway": 4, "one_vs_rest": 3}


@pytest.mark.syllabus("6.2.2")
def test_a_continuous_column_is_cut_into_up_to_max_branches_intervals():
    x = np.arange(60.0)[:, None]
    y = x[:, 0] // 10
    for most in (2, 3, 4, 6, 9):
        model = DecisionTreeRegressor(
            continuous_split="multi_way", max_branches=most, max_depth=1
        ).fit(x, y)
        assert model.tree_.n_children[0] == min(most, 6)
        assert model.tree_.kind[0] == INTERVALS
    assert model.score(x, y) == 1.0
    np.testing.assert_array_equal(model.tree_.cuts, [9.5, 19.5, 29.5, 39.5, 49.5])


@pytest.mark.syllabus("6.1", "6.3.1", "6.8.3")
def test_the_record_has_the_gains_of_the_weather_table():
    model = DecisionTreeClassifier(
        criterion="entropy", categorical_split="multiway", record=True
    )
    model.fit(datasets.load("weather"))
    root = model.record_[0]
    assert (root["step"], root["node"], root["column"]) == (0, 0, "outlook")
    assert root["objective"] == pytest.approx(0.9403, abs=5e-5)
    gains = {one["column"]: one["gain"] for one in root["candidates"]}
    wanted = {
        "outlook": 0.2467,
        "temperature": 0.0292,
        "humidity": 0.1518,
        "windy": 0.0481,
    }
    assert gains == pytest.approx(wanted, abs=5e-5)
    assert not hasattr(
        model.set_params(record=False).fit(datasets.load("weather")), "record_"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"pruning": "reduced_error"},
        {"pruning": "pessimistic"},
        {"pruning": "confidence"},
        {"ccp_alpha": "cv"},
        {"pruning": "minimum_loss", "loss_matrix": [[0, 3], [1, 0]]},
    ],
)
def test_the_record_of_a_pruned_tree_goes_by_its_nodes(options):
    X, y = noisy(seed=1)
    model = DecisionTreeClassifier(record=True, random_state=0, **options).fit(X, y)
    tree, record = model.tree_, model.record_
    assert [entry["step"] for entry in record] == list(range(len(record)))
    by_node = {entry["node"]: entry for entry in record}
    assert max(by_node) < tree.n_nodes
    raised = 0
    for node in np.flatnonzero(tree.kind != LEAF):
        if node not in by_node:
            raised += 1
            continue
        gains = {one["column"]: one["gain"] for one in by_node[node]["candidates"]}
        assert by_node[node]["column"] == model.schema_[int(tree.feature[node])].name
        assert gains[by_node[node]["column"]] == pytest.approx(
            tree.gain[node], abs=1e-9
        )
        assert max(gains.values()) == pytest.approx(tree.gain[node], abs=1e-9)
    # which raises branches
    assert (raised > 0) == (options == {"pruning": "confidence"})
    assert "Gains at node 0" in str(model.summary())


@pytest.mark.syllabus("6.3.2", "6.7")
def test_costs_turn_a_gain_into_its_square_over_the_cost():
    weather = datasets.load("weather")
    options = {"criterion": "entropy", "categorical_split": "multiway", "max_depth": 1}
    by_name = DecisionTreeClassifier(attribute_costs={"outlook": 2.0}, **options).fit(
        weather
    )
    by_place = DecisionTreeClassifier(attribute_costs=[2.0, 1, 1, 1], **options).fit(
        weather
    )
    dear = DecisionTreeClassifier(attribute_costs=[3.0, 1, 1, 1], **options).fit(
        weather
    )
    # .2467²/2 = .0304 and .2467²/3 = .0203 against .1518² = .0230
    assert [
        m.schema_[int(m.tree_.feature[0])].name for m in (by_name, by_place, dear)
    ] == [
        "outlook",
        "outlook",
        "humidity",
    ]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"outlok": 2.0}, "attribute_costs names the column 'outlok'.*outlook"),
        ([1.0, 2.0], "attribute_costs must be 4 positive numbers"),
        ([1.0, 2.0, 0.0, 1.0], "attribute_costs must be 4 positive numbers"),
        ({"windy": -1.0}, "attribute_costs must be 4 positive numbers"),
        ([1.0, 2.0, np.nan, 1.0], "attribute_costs must be 4 positive numbers"),
    ],
)
def test_costs_that_are_none_are_refused(costs, message):
    with pytest.raises(SettingError, match=message):
        DecisionTreeClassifier(attribute_costs=costs).fit(datasets.load("weather"))

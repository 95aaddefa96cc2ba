"""Decision trees: losses, missing cells, pruning and bins as options of the learner."""

import numpy as np
import pandas as pd
import pytest
from tests.trees.decision_tree_cases import noisy, numbers

from lyceum._core.trees import Router
from lyceum.decision import LossMatrix
from lyceum.errors import LyceumError, SettingError
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from lyceum.trees.pruning.bottom_up import (
    NodeCosts,
    prune_by_costs,
    prune_by_pessimistic_error,
)

# -- losses ----------------------------------------------------------------------------


def unequal(n=600, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 1, "ill", "well")


@pytest.mark.syllabus("6.7")
@pytest.mark.parametrize("criterion", ["gini", "misclassification"])
def test_posteriors_are_those_of_the_rows_whatever_the_loss(criterion):
    X, y = unequal()
    model = DecisionTreeClassifier(
        criterion=criterion, max_depth=3, loss_matrix=[[0, 10], [1, 0]]
    ).fit(X, y)
    leaf, proba = model.apply(X), model.predict_proba(X)
    for node in np.unique(leaf):
        share = np.mean(y[leaf == node] == "ill")
        np.testing.assert_allclose(proba[leaf == node, 0], share, atol=1e-12)
    # ill is said where ten times its posterior is more than that of well
    assert (
        model.predict(X) == np.where(10 * proba[:, 0] >= proba[:, 1], "ill", "well")
    ).all()


@pytest.mark.syllabus("6.7")
def test_altered_priors_change_the_splits():
    X, y = unequal()
    plain = DecisionTreeClassifier(max_depth=3).fit(X, y)
    dear = DecisionTreeClassifier(max_depth=3, loss_matrix=[[0, 10], [1, 0]]).fit(X, y)
    as_weights = DecisionTreeClassifier(
        max_depth=3, class_weight={"ill": 10.0, "well": 1.0}
    ).fit(X, y)
    np.testing.assert_array_equal(dear.tree_.threshold, as_weights.tree_.threshold)
    assert not np.array_equal(dear.tree_.threshold, plain.tree_.threshold)


def test_a_loss_matrix_is_read_by_its_labels_and_may_reject():
    X, y = unequal()
    options = {"max_depth": 3, "criterion": "misclassification"}
    array = DecisionTreeClassifier(loss_matrix=[[0, 10], [1, 0]], **options).fit(X, y)
    turned = LossMatrix([[0, 1], [10, 0]], classes=["well", "ill"])
    named = DecisionTreeClassifier(loss_matrix=turned, **options).fit(X, y)
    priced = DecisionTreeClassifier(
        loss_matrix={("ill", "well"): 10, ("well", "ill"): 1}, **options
    )
    assert (
        priced.fit(X, y).loss_matrix_.tolist()
        == array.loss_matrix_.tolist()
        == [[0, 10], [1, 0]]
    )
    assert (array.predict(X) == named.predict(X)).all()
    doubt = LossMatrix(
        [[0, 1, 0.2], [1, 0, 0.2]],
        classes=["ill", "well"],
        actions=["ill", "well", "ask"],
    )
    careful = DecisionTreeClassifier(loss_matrix=doubt, **options).fit(X, y)
    said, proba = careful.predict(X), careful.predict_proba(X)
    assert ((said == "ask") == (proba.max(axis=1) < 0.8)).all()
    assert set(said) == {"ill", "well", "ask"}
    assert careful.actions_.tolist() == ["ill", "well", "ask"]


def test_losses_of_the_wrong_shape_or_of_no_loss_are_refused():
    X, y = unequal(50)
    with pytest.raises(
        SettingError,
        match=r"loss_matrix has shape \(3, 3\), but there are 2 cl.*LossMatrix",
    ):
        DecisionTreeClassifier(loss_matrix=np.ones((3, 3))).fit(X, y)
    with pytest.raises(SettingError, match="every class must have some loss"):
        DecisionTreeClassifier(loss_matrix=[[0, 0], [1, 0]]).fit(X, y)
    with pytest.raises(LyceumError, match="class_weight names the class 'sick'"):
        DecisionTreeClassifier(class_weight={"sick": 2.0}).fit(X, y)


# -- missing cells and unknown categories ----------------------------------------------


@pytest.mark.syllabus("6.4.3")
def test_missing_cells_in_fit_are_sent_where_the_split_is_best_or_in_fractions():
    x = np.array([0.0, 1, 2, 3, np.nan, np.nan])[:, None]
    y = [0, 0, 1, 1, 1, 1]
    learned = DecisionTreeClassifier(missing="learned").fit(x, y)
    assert learned.get_n_leaves() == 2
    assert learned.score(x, y) == 1.0
    shared = DecisionTreeClassifier(missing="fractions", max_depth=1).fit(x, y)
    # half of either missing row goes to the leaf of class 0: 2 against 1; the other leaf has class
    # 1 alone
    np.testing.assert_allclose(shared.predict_proba(x)[-1], [1 / 3, 2 / 3])
    np.testing.assert_allclose(shared.decision_path(x).toarray()[-1], [1, 0.5, 0.5])


@pytest.mark.syllabus("6.4.3")
def test_a_cell_missing_only_at_prediction_goes_to_the_heaviest_child_or_all():
    x, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 1, 1]
    gap = np.array([[np.nan]])
    assert DecisionTreeClassifier().fit(x, y).predict_proba(gap).tolist() == [[0, 1]]
    shared = DecisionTreeClassifier(missing="fractions").fit(x, y)
    np.testing.assert_allclose(shared.predict_proba(gap), [[1 / 3, 2 / 3]])


@pytest.mark.parametrize("form", ["groups", "multiway", "one_vs_rest"])
def test_a_category_that_no_row_had_stays_at_the_node(form):
    frame = pd.DataFrame(
        {"color": pd.Categorical(["red"] * 3 + ["green"] * 2, ["red", "green", "blue"])}
    )
    model = DecisionTreeClassifier(categorical_split=form).fit(frame, [1, 1, 1, 0, 0])
    new = pd.DataFrame({"color": pd.Categorical(["blue", "violet", "red"])})
    np.testing.assert_allclose(
        model.predict_proba(new), [[0.4, 0.6], [0.4, 0.6], [0, 1]]
    )
    assert model.apply(new).tolist()[:2] == [0, 0]


@pytest.mark.syllabus("6.6.2")
@pytest.mark.parametrize(
    "options",
    [
        {"pruning": "reduced_error"},
        {"pruning": "pessimistic"},
        {"pruning": "confidence"},
        {"pruning": "minimum_loss"},
        {"pruning": "cost_complexity", "ccp_alpha": 0.01},
        {"ccp_alpha": 0.01},
        {"ccp_alpha": "cv"},
    ],
)
def test_every_pruning_makes_the_tree_smaller_and_better_on_new_rows(options):
    X, y = noisy()
    new, truth = noisy(4000, 3)
    full = DecisionTreeClassifier().fit(X, y)
    model = DecisionTreeClassifier(random_state=0, **options).fit(X, y)
    assert 1 < model.get_n_leaves() < full.get_n_leaves()
    assert model.score(new, truth) > full.score(new, truth)


@pytest.mark.parametrize(
    ("name", "values", "options"),
    [
        ("leaf_penalty", (0.1, 3.0), {"pruning": "pessimistic"}),
        ("confidence", (0.5, 0.01), {"pruning": "confidence"}),
        ("ccp_alpha", (0.001, 0.01), {}),
        ("ccp_alpha", (0.0, 0.03), {"pruning": "reduced_error", "random_state": 0}),
        ("ccp_alpha", (0.0, 0.03), {"pruning": "confidence"}),
        ("ccp_alpha", (0.0, 0.03), {"pruning": "pessimistic"}),
    ],
)
def test_the_strength_of_pruning_has_an_effect(name, values, options):
    X, y = noisy()
    leaves = [
        DecisionTreeClassifier(**options, **{name: v}).fit(X, y).get_n_leaves()
        for v in values
    ]
    assert leaves[0] > leaves[1]


def test_rows_held_out_are_not_grown_on():
    X, y = noisy()
    for share in (0.1, 0.7):
        model = DecisionTreeClassifier(
            pruning="reduced_error", validation_fraction=share, random_state=0
        )
        assert model.fit(X, y).tree_.n_rows[0] == len(y) - np.ceil(share * len(y))


def test_pruning_by_rows_held_out_counts_their_losses_once():
    X, y = noisy()
    loss = np.array([[0, 1.0], [6, 0]])
    model = DecisionTreeClassifier(
        pruning="reduced_error", loss_matrix=loss, random_state=0
    ).fit(X, y)
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    order = np.random.default_rng(seed).permutation(len(y))
    held, train = np.sort(order[:75]), np.sort(order[75:])
    grown = (
        DecisionTreeClassifier(loss_matrix=loss, random_state=0)
        .fit(X[train], y[train])
        .tree_
    )
    costs = NodeCosts.of(grown, Router([grown], 3).visits(X[held]), y[held], None, loss)
    np.testing.assert_array_equal(
        model.tree_.threshold, prune_by_costs(grown, costs).threshold
    )


def test_pessimistic_pruning_goes_by_the_loss():
    X, y = noisy()
    loss = np.array([[0, 1.0], [6, 0]])
    model = DecisionTreeClassifier(
        pruning="pessimistic", leaf_penalty=2.0, loss_matrix=loss
    ).fit(X, y)
    grown = DecisionTreeClassifier(loss_matrix=loss).fit(X, y).tree_
    np.testing.assert_array_equal(
        model.tree_.threshold,
        prune_by_pessimistic_error(grown, 2.0, loss=loss).threshold,
    )


def test_prunings_of_numbers():
    X, _, y, _ = numbers()
    y = y + np.random.default_rng(5).normal(scale=20, size=len(y))
    full = DecisionTreeRegressor().fit(X, y).get_n_leaves()
    for options in (
        {"pruning": "reduced_error"},
        {"ccp_alpha": 5.0},
        {"ccp_alpha": "cv"},
    ):
        assert (
            DecisionTreeRegressor(random_state=0, **options).fit(X, y).get_n_leaves()
            < full
        )


def test_what_cross_validation_chose_is_kept_and_forgotten():
    X, y = noisy()
    model = DecisionTreeClassifier(ccp_alpha="cv", random_state=0).fit(X, y)
    assert model.alpha_choice_.alpha > 0
    assert not hasattr(model.set_params(ccp_alpha=0.0).fit(X, y), "alpha_choice_")


def test_prunings_that_exclude_each_other_or_need_rows_are_refused():
    X, y = noisy(40)
    with pytest.raises(
        SettingError, match=r"ccp_alpha='cv'.*pruning='confidence'.*set pruning=None"
    ):
        DecisionTreeClassifier(pruning="confidence", ccp_alpha="cv").fit(X, y)
    with pytest.raises(
        SettingError, match="leaves none to grow on: lower validation_fraction"
    ):
        DecisionTreeClassifier(pruning="reduced_error", validation_fraction=0.9).fit(
            X[:2], [0, 1]
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("criterion", "ginny"),
        ("categorical_split", "pairs"),
        ("missing", "drop"),
        ("max_depth", 0),
        ("min_samples_leaf", 0),
        ("min_samples_split", 1),
        ("max_branches", 1),
        ("max_p_value", 1.5),
        ("confidence", 0.7),
        ("validation_fraction", 1.0),
        ("max_bins", 300),
        ("ccp_alpha", "best"),
        ("pruning", "bonsai"),
    ],
)
def test_a_setting_that_is_none_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        DecisionTreeClassifier(**{name: value}).fit([[0.0], [1.0]], [0, 1])


# -- bins ------------------------------------------------------------------------------


def test_bins_bound_the_thresholds_there_are():
    X, _, y, _ = numbers()
    exact, binned = (
        DecisionTreeRegressor().fit(X, y),
        DecisionTreeRegressor(max_bins=4).fit(X, y),
    )
    assert len(np.unique(exact.tree_.threshold[exact.tree_.feature == 0])) > 3
    assert len(np.unique(binned.tree_.threshold[binned.tree_.feature == 0])) <= 3
    few = DecisionTreeRegressor(max_bins=255).fit(
        X // 8, y
    )  # fewer values than bins: nothing is lost
    np.testing.assert_array_equal(
        few.tree_.threshold, DecisionTreeRegressor().fit(X // 8, y).tree_.threshold
    )


@pytest.mark.parametrize("max_bins", [None, 255, 16])
def test_a_column_of_300_categories_is_split(max_bins):
    rng = np.random.default_rng(4)
    code = rng.integers(0, 300, 3000)
    names = np.array([f"c{i:03d}" for i in range(300)])
    frame = pd.DataFrame(
        {"town": pd.Categorical(names[code], names), "size": rng.normal(size=3000)}
    )
    y = (code % 7 < 3).astype(int)
    model = DecisionTreeClassifier(max_bins=max_bins, max_depth=4).fit(frame, y)
    assert model.tree_.n_codes[0] == 300
    if max_bins is None:
        assert model.get_n_leaves() == 2
        assert model.score(frame, y) == 1.0
    else:
        assert model.score(frame, y) > (0.8 if max_bins == 255 else 0.57)
    unseen = pd.DataFrame({"town": pd.Categorical(["elsewhere"]), "size": [0.0]})
    assert model.predict_proba(unseen).shape == (1, 2)

"""ID3, C4.5 and CART: settings of one tree that cannot be changed, and the parameters that can."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lyceum import datasets
from lyceum._core.trees import CATEGORIES, GROUPS, LEAF, THRESHOLD
from lyceum.errors import SettingError
from lyceum.trees import (
    C45,
    CART,
    ID3,
    CARTRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

PRESETS = [ID3, C45, CART]


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.normal(size=n), "c": pd.Categorical(rng.choice(list("pqrs"), n))}
    )
    return frame, ((frame.x > 0) ^ (frame.c == "p") ^ (rng.random(n) < 0.15)).astype(
        int
    ).to_numpy()


def assert_same(ours, other):
    for name in ("feature", "threshold", "child", "branches", "value"):
        np.testing.assert_array_equal(
            getattr(ours.tree_, name), getattr(other.tree_, name)
        )


@pytest.mark.syllabus("6.1.1")
def test_id3_is_multiway_entropy_until_nothing_is_gained():
    frame, y = table()
    settings = {
        "criterion": "entropy",
        "categorical_split": "multiway",
        "missing": "fractions",
    }
    same = DecisionTreeClassifier(require_gain=True, **settings)
    assert_same(ID3().fit(frame, y), same.fit(frame, y))
    weather = datasets.load("weather")
    assert_same(
        ID3().fit(weather),
        DecisionTreeClassifier(require_gain=True, **settings).fit(weather),
    )
    exclusive_or = pd.DataFrame({"a": list("ffss"), "b": list("fsfs")})
    assert (
        ID3(categorical_features=True).fit(exclusive_or, [0, 1, 1, 0]).get_n_leaves()
        == 1
    )


@pytest.mark.syllabus("6.5")
def test_id3_stops_by_the_chi_square_test():
    weather = datasets.load("weather")
    assert ID3(max_p_value=0.18).fit(weather).get_n_leaves() == 5
    assert ID3(max_p_value=0.16).fit(weather).get_n_leaves() == 1


@pytest.mark.syllabus("6.1.1")
def test_c45_branches_by_category_cuts_at_observed_values_and_prunes():
    frame, y = table()
    model = C45().fit(frame, y)
    kinds, tree = set(model.tree_.kind.tolist()), model.tree_
    assert kinds == {LEAF, THRESHOLD, CATEGORIES}
    cuts = tree.threshold[tree.kind == THRESHOLD]
    assert np.isin(cuts, frame.x).all()
    grown = C45(pruning=None).fit(frame, y)
    assert grown.get_n_leaves() >= model.get_n_leaves()
    assert C45(confidence=1e-6).fit(frame, y).get_n_leaves() < model.get_n_leaves()
    # two branches of every split have the least weight
    for least in (2.0, 30.0):
        tree = C45(pruning=None, min_weight_leaf=least).fit(frame, y).tree_
        for node in np.flatnonzero(tree.kind != LEAF):
            assert np.sort(tree.weight[list(tree.children(node))])[-2] >= least


@pytest.mark.syllabus("6.1.1")
def test_cart_is_binary_and_pruned_by_cross_validation():
    frame, y = table()
    model = CART(random_state=0).fit(frame, y)
    assert set(model.tree_.kind.tolist()) <= {LEAF, THRESHOLD, GROUPS}
    full = CART(ccp_alpha=0.0).fit(frame, y)
    assert 1 < model.get_n_leaves() < full.get_n_leaves()
    assert_same(full, DecisionTreeClassifier().fit(frame, y))
    assert_same(
        CART(ccp_alpha=model.alpha_choice_.alpha).fit(frame, y), model
    )  # the tree of all rows, at the alpha that was chosen
    assert_same(
        CART(criterion="entropy", ccp_alpha=0.0).fit(frame, y),
        DecisionTreeClassifier(criterion="entropy").fit(frame, y),
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_parameters_are_got_set_and_cloned(preset):
    learner = preset(max_depth=3, max_bins=64)
    assert learner.get_params()["max_depth"] == 3
    other = clone(learner)
    assert type(other) is preset
    assert other.get_params() == learner.get_params()
    assert other.set_params(max_depth=1).get_params()["max_depth"] == 1
    frame, y = table()
    assert other.fit(frame, y).get_depth() == 1
    assert repr(learner).startswith(f"{preset.__name__}(")
    assert "max_depth=3" in repr(learner)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "name", ["splitter", "categorical_split", "missing", "cut", "require_gain"]
)
def test_what_is_fixed_is_no_parameter(preset, name):
    assert name not in preset().get_params()
    with pytest.raises(TypeError, match=name):
        preset(**{name: DecisionTreeClassifier().get_params()[name]})
    with pytest.raises(ValueError, match=name):
        preset().set_params(**{name: DecisionTreeClassifier().get_params()[name]})


@pytest.mark.parametrize("preset", PRESETS)
def test_every_parameter_is_checked(preset):
    assert set(preset._parameter_constraints) == set(preset().get_params())
    with pytest.raises(ValueError, match="'max_depth' parameter"):
        preset(max_depth=-1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(SettingError, match="attribute_costs"):
        preset(attribute_costs=[1.0, 2.0]).fit([[0.0], [1.0]], [0, 1])


def test_settings_of_one_preset_are_not_those_of_another():
    with pytest.raises(ValueError, match="'pruning' parameter"):
        C45(pruning="pessimistic").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="'criterion' parameter"):
        CART(criterion="gain_ratio").fit([[0.0], [1.0]], [0, 1])
    assert (ID3.criterion, C45.criterion, DecisionTreeClassifier().criterion) == (
        "entropy",
        "gain_ratio",
        "gini",
    )


@pytest.mark.syllabus("6.7")
def test_cart_for_numbers_is_the_regression_tree_pruned_by_cross_validation():
    cpu = datasets.load("cpu")
    model = CARTRegressor(random_state=0, record=True).fit(cpu)
    whole = DecisionTreeRegressor(ccp_alpha="cv", random_state=0).fit(cpu)
    np.testing.assert_array_equal(model.predict(cpu), whole.predict(cpu))
    assert 1 < model.get_n_leaves() < DecisionTreeRegressor().fit(cpu).get_n_leaves()
    assert model.alpha_choice_.alpha > 0
    assert model.dot().startswith("digraph")
    assert model.text().count("\n") >= 2
    assert model.record_[0]["column"] is not None

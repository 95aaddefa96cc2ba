"""ModelTreeRegressor: what it learns, against a plain M5, least squares and the truth behind the
data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import LinearRegression
from tests.checks.laws import check
from tests.trees.m5_reference import Reference, Way

from lyceum._core.trees import GROUPS, LEAF
from lyceum.data import scan
from lyceum.errors import SourceError
from lyceum.trees import ModelTreeRegressor


def wavy(n, d=4, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, d))
    return X, np.where(
        X[:, 0] < 0.3, 3 * X[:, 1], 5 - 2 * X[:, 1] + X[:, 2]
    ) + noise * rng.normal(size=n)


# -- against a plain M5 ----------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(5, 90),
    st.sampled_from(["absolute", "squared"]),
    st.sampled_from(["tested", "all"]),
    st.sampled_from(["estimated_error", None]),
)
@pytest.mark.syllabus("6.7")
def test_predictions_are_those_of_a_plain_m5(seed, n, error, attributes, pruning):
    X, y = wavy(n, 3, seed)
    model = ModelTreeRegressor(
        error=error, attributes=attributes, pruning=pruning, extrapolation=None
    ).fit(X, y)
    squared = error == "squared"
    plain = Reference(
        X,
        y,
        Way(
            squared=squared, every_column=attributes == "all", prune=pruning is not None
        ),
    )
    assert model.n_rules_ == len(plain.root.leaves())
    new = wavy(50, 3, seed + 1)[0]
    np.testing.assert_allclose(
        model.predict(new), plain.predict(new), rtol=1e-4, atol=1e-4
    )


def test_nodes_of_the_tree_hold_the_rows_that_a_plain_m5_sends_there():
    X, y = wavy(80)
    model = ModelTreeRegressor(error="absolute", sd_fraction=0.2).fit(X, y)
    plain = Reference(X, y, Way(sd_fraction=0.2))
    ends = model.apply(X)
    for leaf in plain.root.leaves():
        assert len(set(ends[leaf.rows])) == 1
        assert model.tree_.weight[ends[leaf.rows[0]]] == len(leaf.rows)
        assert model.tree_.kind[ends[leaf.rows[0]]] == LEAF


# -- what must be found ----------------------------------------------------------------


@pytest.mark.parametrize("error", ["absolute", "squared"])
def test_a_plane_is_one_model_and_that_of_least_squares(error):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X @ [2.0, -1.0, 0.5, 3.0, 1.0] + 7 + 0.05 * rng.normal(size=300)
    model = ModelTreeRegressor(error=error, extrapolation=None).fit(X, y)
    line = LinearRegression().fit(X, y)
    assert model.n_rules_ == 1
    np.testing.assert_allclose(model.coef_[0], line.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), line.predict(X), rtol=1e-9)


@pytest.mark.parametrize("error", ["absolute", "squared"])
def test_a_broken_line_is_two_models_cut_at_the_break(error):
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0, 10, 400))
    y = np.where(x < 4, 3 * x, 60 - 2 * x) + 0.01 * rng.normal(size=400)
    model = ModelTreeRegressor(error=error, smoothing=0).fit(x[:, None], y)
    assert model.tree_.threshold[0] == pytest.approx(4, abs=0.1)
    assert model.n_rules_ == 2
    slopes = model.coef_[list(model.tree_.children(0)), 0]
    np.testing.assert_allclose(slopes, [3, -2], atol=0.01)


def test_smoothing_pulls_a_leaf_toward_the_models_above_it():
    X, y = wavy(200)
    rough, smooth = (ModelTreeRegressor(smoothing=k).fit(X, y) for k in (0, 15))
    np.testing.assert_array_equal(rough.coef_, rough.node_coef_)
    np.testing.assert_array_equal(smooth.node_coef_, rough.node_coef_)
    children = list(smooth.tree_.children(0))
    n = smooth.tree_.weight[children][:, None]
    expected = (n * smooth.node_coef_[children] + 15 * smooth.node_coef_[0]) / (n + 15)
    np.testing.assert_allclose(smooth.coef_[children], expected, rtol=1e-12)
    np.testing.assert_array_equal(smooth.coef_[0], smooth.node_coef_[0])


def test_constant_models_are_the_means_of_a_regression_tree():
    X, y = wavy(150)
    model = ModelTreeRegressor(model="constant", smoothing=0, pruning=None).fit(X, y)
    ends = model.apply(X)
    for end in set(ends):
        np.testing.assert_allclose(
            model.predict(X[ends == end]), y[ends == end].mean(), rtol=1e-12
        )
    assert not model.coef_.any()
    assert (model.node_parameters_ == 1).all()


def test_growth_stops_where_targets_vary_little_or_rows_are_few():
    X, y = wavy(200)
    model = ModelTreeRegressor(sd_fraction=0.3, min_samples_split=10, pruning=None).fit(
        X, y
    )
    split = model.tree_.kind != LEAF
    assert (model.tree_.weight[split] >= 10).all()
    assert (model.tree_.impurity[split] > 0.3 * y.std()).all()
    assert ModelTreeRegressor(min_samples_split=201).fit(X, y).tree_.n_nodes == 1
    w = np.full(200, 2.0)
    assert ModelTreeRegressor(min_samples_split=201).fit(X, y, w).tree_.n_nodes > 1


def test_pruning_makes_trees_smaller_and_squared_errors_smaller_still():
    X, y = wavy(400, noise=1.0)
    sizes = [
        ModelTreeRegressor(**how).fit(X, y).n_rules_
        for how in ({"pruning": None}, {"error": "absolute"}, {})
    ]
    assert sizes[0] > sizes[1] > sizes[2]


# -- awkward tables --------------------------------------------------------------------


def test_a_constant_target_and_one_row():
    for n in (1, 2, 10):
        model = ModelTreeRegressor().fit(
            np.arange(n, dtype=float)[:, None], np.full(n, 0.3)
        )
        assert model.predict([[5.0]]).tolist() == pytest.approx([0.3])
        assert model.n_rules_ == 1
        assert "error" in str(model.summary())


def test_columns_that_repeat_each_other_or_do_not_vary_do_no_harm():
    X, y = wavy(150, 3)
    more = np.column_stack([X, X[:, 1], 2 * X[:, 0] - X[:, 1], np.full(150, 3.0)])
    model = ModelTreeRegressor(attributes="all").fit(more, y)
    assert np.abs(model.coef_).max() < 1e3
    assert np.corrcoef(model.predict(more), y)[0, 1] > 0.95


def test_missing_cells_are_learned_from_and_at_the_mean_in_the_models():
    X, y = wavy(300)
    X = np.where(np.random.default_rng(3).random(X.shape) < 0.2, np.nan, X)
    model = ModelTreeRegressor().fit(X, y)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.75
    gone = np.full((1, 4), np.nan)
    end = model.apply(gone)[0]
    assert model.tree_.kind[end] == LEAF
    assert model.predict(gone)[0] == pytest.approx(model.intercept_[end])
    np.testing.assert_allclose(model.columns_.center, np.nanmean(X, axis=0))


def test_a_missing_cell_goes_with_more_weight_where_fit_saw_none():
    x = np.r_[np.zeros(30), np.ones(10)]
    model = ModelTreeRegressor().fit(x[:, None], 10 * x)
    heavy = model.apply([[0.0]])[0]
    assert model.apply([[np.nan]])[0] == heavy


def towns(n=300, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.choice(["Bonn", "Köln", "Rom", "Ulm"], n)
    size = rng.uniform(0, 10, n)
    price = np.where(np.isin(town, ["Rom", "Köln"]), 50 + 4 * size, 10 - size)
    return pd.DataFrame({"town": town, "size": size}), price + 0.1 * rng.normal(size=n)


def test_categories_are_split_in_two_groups_by_mean_target():
    frame, y = towns()
    model = ModelTreeRegressor(smoothing=0).fit(frame, y)
    assert model.tree_.kind[0] == GROUPS
    branch = model.tree_.branches[model.tree_.table[0] :][:4].tolist()
    assert branch == [0, 1, 1, 0]
    assert model.n_rules_ == 2
    np.testing.assert_allclose(sorted(model.coef_[1:, -1]), [-1, 4], atol=0.02)
    assert {str(rule.conditions[0]) for rule in model.rules()} == {
        "town in {Bonn, Ulm}",
        "town in {Köln, Rom}",
    }


def test_an_unknown_category_stays_and_is_predicted_by_the_node_that_asks_for_it():
    frame, y = towns()
    model = ModelTreeRegressor().fit(frame, y)
    new = pd.DataFrame({"town": ["Prag"], "size": [model.columns_.center[-1]]})
    assert model.apply(new).tolist() == [0]
    assert model.predict(new)[0] == pytest.approx(model.node_intercept_[0])


def test_a_dask_collection_that_memory_cannot_hold_is_refused_by_naming_another_way(
    monkeypatch,
):
    import dask.array as da

    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    X, y = wavy(50)
    with pytest.raises(
        SourceError, match=r"keeps every row in memory.* use DecisionTreeRegressor"
    ):
        ModelTreeRegressor().fit(da.from_array(X), da.from_array(y))


# -- what it says of itself ------------------------------------------------------------


def test_contributions_and_base_add_up_to_the_prediction():
    frame, y = towns()
    model = ModelTreeRegressor().fit(frame, y)
    told = model.explain(frame)
    np.testing.assert_allclose(told.scores, model.predict(frame), rtol=1e-10)
    assert list(told.names) == ["town", "size"]
    end = model.apply(frame)
    slope = model.coef_[end, -1] * (frame["size"] - frame["size"].mean())
    np.testing.assert_allclose(told.contributions[:, 1], slope, atol=1e-10)


@pytest.mark.syllabus("6.7", "6.8")
def test_the_summary_has_the_tree_its_models_rows_and_errors():
    x = np.arange(40.0)
    table = pd.DataFrame({"age": x, "pay": np.where(x < 20, 2 * x, 100 - x)})
    model = ModelTreeRegressor(smoothing=0).fit(
        scan(table, "pay", kinds={"age": "continuous"})
    )
    text = str(model.summary())
    assert "ModelTreeRegressor of pay" in text
    assert "age ≤ 19.5  LM1        20" in text
    assert "LM1    pay = 2 age" in text
    assert "LM2    pay = - 1 age + 100" in text
    assert [str(rule) for rule in model.rules()] == [
        "IF age ≤ 19.5 THEN pay = 2 age + 0 (20 rows, error 0.000% of sd)",
        "IF age > 19.5 THEN pay = - 1 age + 100 (20 rows, error 0.000% of sd)",
    ]
    assert model.text().splitlines()[:2] == [
        "age ≤ 19.5: LM1 (20/0.000%)",
        "age > 19.5: LM2 (20/0.000%)",
    ]


def test_errors_are_root_mean_squares_in_standard_deviations():
    X, y = wavy(120)
    model = ModelTreeRegressor(smoothing=0, extrapolation=None).fit(X, y)
    end = model.apply(X)
    r = y - model.predict(X)
    for node in set(end):
        expected = np.sqrt(np.mean(r[end == node] ** 2)) / y.std()
        assert model.node_error_[node] == pytest.approx(expected, abs=1e-12)


# -- laws ------------------------------------------------------------------------------


def test_absolute_errors_obey_the_laws():
    check(ModelTreeRegressor(error="absolute"))


@pytest.mark.parametrize(
    "wrong",
    [{"smoothing": -1}, {"error": "mae"}, {"min_samples_split": 1}, {"sd_fraction": 2}],
)
def test_parameters_out_of_range_are_refused(wrong):
    X, y = wavy(20)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ModelTreeRegressor(**wrong).fit(X, y)

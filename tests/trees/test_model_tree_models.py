"""The models at the nodes, their pruning and smoothing, against least squares row by row."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from tests.trees.m5_reference import Reference, Way

from lyceum._core.native import native
from lyceum._core.trees import GROUPS, Router
from lyceum.data import scan
from lyceum.trees.model_trees.m5_columns import StepColumns
from lyceum.trees.model_trees.m5_models import columns_below, fit_models, smooth_models


def models_of(X, y, columns, rule="all", w=None):
    """One node that holds all rows."""
    start = np.array([0, len(columns)], dtype=np.int64)
    coef, found = np.zeros(len(columns)), np.zeros((1, 5))
    ends = np.array([0], dtype=np.int64), np.array([len(y)], dtype=np.int64)
    XT = np.ascontiguousarray(np.asarray(X, float).T)
    native.node_models(
        XT,
        np.asarray(y, float),
        w,
        *ends,
        start,
        np.array(columns, np.int32),
        rule,
        coef,
        found,
    )
    return coef, dict(
        zip(("intercept", "parameters", "weight", "absolute", "squared"), found[0])
    )


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5)) + 10
    return X, X @ [1.0, 0.0, -2.0, 0.0, 0.5] + rng.normal(size=60)


def test_all_columns_give_least_squares(table):
    X, y = table
    A = np.column_stack([X, np.ones(len(y))])
    b = np.linalg.lstsq(A, y, rcond=None)[0]
    coef, found = models_of(X, y, range(5))
    np.testing.assert_allclose(coef, b[:5], rtol=1e-9)
    assert found["intercept"] == pytest.approx(b[5], rel=1e-9)
    r = y - A @ b
    assert found["absolute"] == pytest.approx(np.abs(r).mean())
    assert found["squared"] == pytest.approx((r**2).mean())
    assert (found["parameters"], found["weight"]) == (6, 60)


@pytest.mark.parametrize("rule", ["all", "m5", "m5p"])
def test_weight_two_equals_repeated_row(table, rule):
    X, y = table
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    times = np.repeat(np.arange(len(y)), w.astype(int))
    weighted, a = models_of(X, y, range(5), rule, w)
    repeated, b = models_of(X[times], y[times], range(5), rule)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8, atol=1e-12)
    assert a == pytest.approx(b)


@pytest.mark.parametrize("rule", ["all", "m5", "m5p"])
def test_a_million_away_is_the_same_slope(table, rule):
    X, y = table
    near, far = (
        models_of(X, y, range(5), rule),
        models_of(X + 1e6, y + 1e6, range(5), rule),
    )
    np.testing.assert_allclose(far[0], near[0], rtol=1e-6)
    assert far[1]["squared"] == pytest.approx(near[1]["squared"], rel=1e-6)


@pytest.mark.parametrize("rule", ["m5", "m5p"])
def test_a_column_of_noise_is_dropped_and_one_that_tells_stays(table, rule):
    X = table[0]
    coef, _ = models_of(X, X @ [0.0, 3.0, 0.0, 0.0, 0.0], range(5), rule)
    np.testing.assert_allclose(coef, [0, 3, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize("rule", ["all", "m5"])
def test_columns_that_depend_on_others_are_left_out(table, rule):
    X, y = table
    X = np.column_stack(
        [X[:, 0], 2 * X[:, 0] + 3, X[:, 1], X[:, 0] - X[:, 1], np.full(60, 7.0)]
    )
    coef, found = models_of(X, y, range(5), rule)
    assert coef[[1, 3, 4]].tolist() == [0, 0, 0]
    b = np.linalg.lstsq(np.column_stack([X, np.ones(60)]), y, rcond=None)[0]
    if rule == "all":
        r = y - np.column_stack([X, np.ones(60)]) @ b
        assert found["squared"] == pytest.approx((r**2).mean())


@pytest.mark.parametrize("rule", ["m5", "m5p"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_a_model_has_fewer_parameters_than_rows(table, rule, n):
    X, y = table
    _, found = models_of(X[:n], y[:n], range(5), rule)
    assert found["parameters"] < n or found["parameters"] == 1


@pytest.mark.parametrize("rule", ["all", "m5", "m5p"])
def test_a_constant_target_is_a_constant(table, rule):
    coef, found = models_of(table[0], np.full(60, 0.1), range(5), rule)
    assert coef.tolist() == [0] * 5
    assert found["intercept"] == pytest.approx(0.1)
    assert found["absolute"] == pytest.approx(0.0, abs=1e-15)


def test_bad_shapes_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="columns must lie in"):
        models_of(X, y, [5])
    with pytest.raises(ValueError, match="rule must be"):
        models_of(X, y, [0], "m6")
    with pytest.raises(ValueError, match="y has shape"):
        models_of(X, y[:-1], [0])


# -- trees -----------------------------------------------------------------------------


def fitted(reference, rule):
    tree = reference.grown
    leaf = Router([tree], reference.X.shape[1]).leaves(reference.X)[:, 0]
    below = columns_below(tree, tree.feature, reference.X.shape[1])
    return fit_models(tree, leaf, reference.X, reference.y, None, below, rule)


def test_every_node_is_fitted_on_its_own_rows_and_the_columns_tested_below(table):
    reference = Reference(*table, Way(prune=False))
    models = fitted(reference, "all")
    coef = models.coef.toarray()
    nodes = [reference.root]
    for i, node in enumerate(nodes):
        nodes += node.children
        columns = sorted(node.tested())
        assert models.weight[i] == len(node.rows)
        assert set(np.flatnonzero(coef[i])) <= set(columns)
        if len(node.rows) > 2 * len(columns) + 2:
            expected, _, residual = reference.fitted(node, columns)
            np.testing.assert_allclose(coef[i, columns], expected, rtol=1e-6, atol=1e-9)
            assert models.squared[i] == pytest.approx(
                np.mean(residual**2), rel=1e-6, abs=1e-12
            )


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 50.0))
def test_models_folded_by_smoothing_predict_as_smoothing_along_the_path(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = X @ rng.normal(size=3) + np.abs(X[:, 0]) + rng.normal(size=40)
    reference = Reference(X, y, Way(k=k))
    tree = reference.tree()
    nodes = [reference.root]
    for node in nodes:
        nodes += node.children
    coef = np.zeros((len(nodes), 3))
    for i, node in enumerate(nodes):
        coef[i, node.columns] = node.coef
    b, a = smooth_models(
        tree, coef, np.array([node.intercept for node in nodes]), tree.weight, k
    )
    new = rng.normal(size=(20, 3))
    leaf = Router([tree], 3).leaves(new)[:, 0]
    np.testing.assert_allclose(
        a[leaf] + (new * b[leaf]).sum(axis=1), reference.predict(new), atol=1e-9
    )


# -- columns ---------------------------------------------------------------------------


def steps_of(frame, y, w=None):
    rows = scan(frame)
    (block,) = list(rows.blocks())
    return (
        StepColumns.of(block.X, np.asarray(y, float), w, rows.schema),
        block.X,
        rows.schema,
    )


def test_categories_become_steps_in_the_order_of_their_mean_target():
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0, 4.0, 6.0], "town": ["a", "b", "c", "b", "a"]}
    )
    # means: a 7, b 1.5, c 3
    columns, X, schema = steps_of(frame, [5.0, 1.0, 3.0, 2.0, 9.0])
    assert columns.names(schema) == ["x", "town=a,c", "town=a"]
    Z = columns.center_cells(X) + columns.center
    np.testing.assert_array_equal(Z[:, 0], frame["x"])
    np.testing.assert_array_equal(Z[:, 1:], [[1, 1], [0, 0], [1, 0], [0, 0], [1, 1]])


def test_missing_and_unknown_cells_are_at_the_mean():
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0, 5.0], "town": ["a", None, "b", "b"]})
    columns, X, _ = steps_of(frame, [1.0, 2.0, 3.0, 4.0])
    assert columns.center.tolist() == pytest.approx([3.0, 2 / 3])
    assert columns.center_cells(X)[1].tolist() == [0.0, 0.0]
    X[0, 1] = -1.0
    assert columns.center_cells(X)[0].tolist() == [-2.0, 0.0]


def test_a_threshold_between_ranks_is_two_groups_of_categories():
    frame = pd.DataFrame({"town": ["a", "b", "c", "d"] * 3})
    y = np.tile([4.0, 1.0, 3.0, 9.0], 3)  # b c a d
    columns, X, _ = steps_of(frame, y)
    reference = Reference(columns.rank_cells(X), y, Way())
    tree = columns.to_groups(reference.grown)
    assert tree.kind[0] == GROUPS
    assert tree.branches[tree.table[0] : tree.table[0] + 4].tolist() == [0, 0, 0, 1]
    ranks = Router([reference.grown], 1).leaves(columns.rank_cells(X))
    np.testing.assert_array_equal(Router([tree], 1).leaves(X), ranks)


def test_some_columns_are_those_of_all():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "t": rng.choice(list("abcdef"), 50),
            "x": rng.normal(size=50),
            "u": ["k", "l"] * 25,
        }
    )
    frame.loc[::7, ["t", "x"]] = None
    columns, X, _ = steps_of(frame, rng.normal(size=50), rng.uniform(size=50))
    every = columns.center_cells(X)
    for only in ([0], [1, 4, 6], [5], [0, 1, 2, 3, 4, 5, 6]):
        np.testing.assert_array_equal(
            columns.center_cells(X, np.array(only)), every[:, only]
        )
    np.testing.assert_array_equal(columns.source, [0, 0, 0, 0, 0, 1, 2])

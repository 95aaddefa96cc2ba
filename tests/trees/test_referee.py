"""The brute-force referee against hand-solved gains and scikit-learn; the fast grower against the
referee."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.trees.growth_reference import Disagreement, follow, visited
from tests.trees.table_builders import WEATHER, from_scikit, mixed_table
from tests.trees.tree_reference import Referee
from tests.trees.tree_reference_parts import Rules

from lyceum._core.trees import (
    CATEGORIES,
    LEAF,
    THRESHOLD,
    Columns,
    Growth,
    grow,
    grow_with_record,
)
from lyceum.data import Schema
from lyceum.trees.pruning.bottom_up import compact


def test_entropy_and_gains_of_64_rows():
    classes = [1] * 29 + [0] * 35
    first = [0] * 21 + [1] * 8 + [0] * 5 + [1] * 30
    second = [0] * 18 + [1] * 11 + [0] * 33 + [1] * 2
    referee = Referee(
        zip(first, second),
        classes,
        [2, 2],
        2,
        criterion="entropy",
        categorical="multiway",
    )
    assert referee.impurity(referee.root()) == pytest.approx(0.9937, abs=5e-5)
    gains = [split.gain for split in referee.candidates(referee.root())]
    assert gains == pytest.approx([0.2659, 0.1214], abs=5e-5)


def test_gains_of_the_weather_table():
    cells, play = WEATHER
    referee = Referee(
        cells, play, [3, 3, 2, 2], 2, criterion="entropy", categorical="multiway"
    )
    gains = [split.gain for split in referee.candidates(referee.root())]
    assert gains == pytest.approx([0.2467, 0.0292, 0.1518, 0.0481], abs=5e-5)
    tree = referee.tree()
    assert tree.feature.tolist() == [0, 2, -2, 3, -2, -2, -2, -2]
    assert tree.n_leaves == 5


def test_gain_ratio_of_a_column_with_a_gap():
    # Quinlan's example: outlook of the sixth row unknown; gain 13/14 × .214 = .199, split
    # information 1.809
    cells, play = WEATHER
    cells = [list(row) for row in cells]
    cells[11][0] = None
    rules = {
        "criterion": "gain_ratio",
        "categorical": "multiway",
        "missing": "fractions",
    }
    referee = Referee(cells, play, [3, 3, 2, 2], 2, **rules)
    (form,) = referee.forms(referee.root(), 0)
    assert referee.gain(form, referee.root()) == pytest.approx(0.199, abs=1e-3)
    assert referee.split_information(form, referee.root()) == pytest.approx(
        1.809, abs=1e-3
    )


def test_a_divided_row_goes_to_all_children_by_their_share():
    referee = Referee(
        [[0.0], [1.0], [1.0], [None]], [0, 1, 1, 1], [None], 2, missing="fractions"
    )
    (split,) = referee.candidates(referee.root())
    left, right = referee.send(split, referee.root())
    assert left == [(0, 1.0), (3, pytest.approx(1 / 3))]
    assert right[-1] == (3, pytest.approx(2 / 3))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("seed", range(3))
def test_the_referee_grows_scikit_learns_classification_tree(criterion, seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.normal(size=(80, 3)), rng.integers(0, 3, 80), rng.uniform(0.5, 2, 80)
    theirs = DecisionTreeClassifier(
        criterion=criterion, max_depth=4, min_samples_leaf=5
    ).fit(X, y, w)
    rules = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 5}
    ours = Referee(X.tolist(), y.tolist(), [None] * 3, 3, w, **rules).tree()
    _assert_same(ours, from_scikit(theirs))


@pytest.mark.parametrize(
    ("criterion", "theirs"),
    [("squared_error", "squared_error"), ("absolute_error", "absolute_error")],
)
def test_the_referee_grows_scikit_learns_regression_tree(criterion, theirs):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    model = DecisionTreeRegressor(
        criterion=theirs, max_depth=3, min_samples_leaf=3, random_state=0
    ).fit(X, y)
    ours = Referee(
        X.tolist(),
        y.tolist(),
        [None] * 2,
        criterion=criterion,
        max_depth=3,
        min_samples_leaf=3,
    ).tree()
    _assert_same(ours, from_scikit(model))


def _assert_same(ours, theirs):
    assert ours.feature.tolist() == theirs.feature.tolist()
    np.testing.assert_allclose(ours.threshold, theirs.threshold, rtol=1e-6)
    np.testing.assert_allclose(ours.impurity, theirs.impurity, atol=1e-9)
    np.testing.assert_allclose(
        ours.node_values, theirs.node_values, rtol=1e-9, atol=1e-12
    )
    assert ours.n_rows.tolist() == theirs.n_rows.tolist()


def test_rows_follow_a_mixed_tree_to_the_nodes_they_grew():
    cells = [[0, 1.0], [1, 2.0], [2, None], [0, 4.0], [1, 5.0], [None, 6.0]]
    referee = Referee(
        cells,
        [0, 1, 2, 1, 0, 2],
        [3, None],
        3,
        criterion="entropy",
        categorical="multiway",
    )
    tree = referee.tree()
    assert {CATEGORIES, THRESHOLD} & set(tree.kind.tolist())
    np.testing.assert_allclose(visited(tree, cells).sum(axis=0), tree.weight)


# -- the fast grower -------------------------------------------------------------------

CLASSES = ["entropy", "gain_ratio", "gini", "misclassification"]
NUMBERS = ["squared_error", "absolute_error", "sd"]
LOSS = ((0.0, 1.0, 5.0), (2.0, 0.0, 1.0), (1.0, 3.0, 0.0))


DRAWN = st.tuples(
    st.integers(1, 24),  # rows
    st.lists(
        st.sampled_from([None, None, 2, 3, 5]), min_size=1, max_size=4
    ),  # categories of every column
    st.sampled_from([0.0, 0.0, 0.2, 0.6]),  # the share that is missing
    st.integers(0, 2**32),
    st.sampled_from([0, 1, 8]),  # digits: many equal numbers, some, none
    st.sampled_from([0.1, 1.0]),  # noise
    st.sampled_from([1, 8]),  # digits of the target
    st.sampled_from([0.0, 1000.0]),  # its offset
    st.sampled_from([[1.0], [0.0, 1.0, 2.0], [0.3, 1.0, 2.7]]),  # weights
)


def tables(n_classes):
    """A small mixed table: cells, target, categories of every column, weights."""
    return DRAWN.map(lambda drawn: table_of(n_classes, *drawn))


def table_of(
    n_classes, n, kinds, gap, seed, digits, noise, target_digits, offset, weights
):
    rng = np.random.default_rng(seed)
    columns = [
        rng.normal(size=n).round(digits) if k is None else rng.integers(0, k, n)
        for k in kinds
    ]
    signal = sum(np.sin(3 * c) for c in columns) + noise * rng.normal(size=n)
    gone = rng.uniform(size=(n, len(kinds))) < gap
    cells = [
        [None if no else float(c[i]) for c, no in zip(columns, gone[i])]
        for i in range(n)
    ]
    if n_classes is None:
        target = signal.round(target_digits) + offset
    else:
        target = np.floor(signal * 1.5).astype(int) % n_classes
    weight = rng.choice(weights, n)
    weight[0] = 1.0
    return cells, target.tolist(), kinds, n_classes, weight.tolist()


two_or_three_classes = tables(2) | tables(3)


def core_tree(table, **rules):
    """The tree of the core, from the same table and rules."""
    cells, target, kinds, n_classes, weight = table
    X = np.array(
        [[np.nan if c is None else c for c in row] for row in cells], dtype=np.float64
    )
    X = X.reshape(len(cells), len(kinds))
    names = {
        f"x{j}": "continuous" if k is None else [f"c{c}" for c in range(k)]
        for j, k in enumerate(kinds)
    }
    columns = Columns.of_cells(X, Schema.declare(names))
    for name in ("costs", "loss"):
        if rules.get(name) is not None:
            rules[name] = np.array(rules[name])
    y = np.array(target, dtype=np.float64 if n_classes is None else np.int32)
    return grow(columns, y, np.array(weight), Growth(**rules), n_classes)


def compare(table, **rules):
    """Both growers on one table; how many splits were the only best ones."""
    return follow(Referee(*table, rules=Rules(**rules)), core_tree(table, **rules))


ways = st.fixed_dictionaries(
    {
        "categorical": st.sampled_from(["multiway", "groups", "one_vs_rest"]),
        "missing": st.sampled_from(["fractions", "learned"]),
        "needs_gain": st.booleans(),
    }
)
limits = st.fixed_dictionaries(
    {},
    optional={
        "max_depth": st.integers(1, 3),
        "min_samples_split": st.integers(2, 10),
        "min_samples_leaf": st.integers(1, 5),
        "min_weight_leaf": st.sampled_from([0.5, 2.0]),
        "min_impurity_decrease": st.sampled_from([0.01, 0.1]),
        "costs": st.just((1.0, 3.0, 0.5, 2.0)),
    },
)


@pytest.mark.syllabus("6.2", "6.3", "6.4")
@pytest.mark.parametrize("criterion", CLASSES)
@settings(max_examples=40)
@given(table=two_or_three_classes, way=ways)
def test_every_split_of_classes_is_a_best_one(criterion, table, way):
    compare(table, criterion=criterion, **way)


@pytest.mark.syllabus("6.5")
@pytest.mark.parametrize("criterion", CLASSES)
@settings(max_examples=40)
@given(
    table=two_or_three_classes,
    way=ways,
    limit=limits,
    p=st.sampled_from([None, 0.5, 0.1]),
)
def test_every_split_of_classes_is_within_its_limits(criterion, table, way, limit, p):
    limit = _fitting(table, limit)
    compare(table, criterion=criterion, max_p_value=p, **way, **limit)


@pytest.mark.syllabus("6.3")
@settings(max_examples=40)
@given(table=tables(3), way=ways)
def test_every_split_by_a_loss_matrix_is_a_best_one(table, way):
    compare(table, criterion="misclassification", loss=LOSS, **way)


@pytest.mark.syllabus("6.7")
@pytest.mark.parametrize("criterion", NUMBERS)
@settings(max_examples=40)
@given(table=tables(None), way=ways, limit=limits)
def test_every_split_of_numbers_is_a_best_one(criterion, table, way, limit):
    compare(table, criterion=criterion, **way, **_fitting(table, limit))


@pytest.mark.syllabus("6.2")
@pytest.mark.parametrize("criterion", ["entropy", "squared_error", "absolute_error"])
@given(
    data=st.data(),
    branches=st.integers(2, 5),
    missing=st.sampled_from(["fractions", "learned"]),
)
def test_intervals_are_cut_one_after_the_other_where_that_gains_most(
    criterion, data, branches, missing
):
    table = data.draw(tables(3 if criterion == "entropy" else None))
    # different weights, so that no two cuts gain the same
    weight = (
        np.random.default_rng(len(table[0])).uniform(0.5, 2, len(table[0])).tolist()
    )
    limit = {"min_samples_leaf": data.draw(st.integers(1, 3))}
    rules = {
        "continuous": "multi_way",
        "max_branches": branches,
        "missing": missing,
        **limit,
    }
    compare(
        (*table[:4], weight),
        criterion=criterion,
        categorical="multiway",
        needs_gain=True,
        **rules,
    )


@pytest.mark.syllabus("6.1")
@given(table=two_or_three_classes, least=st.sampled_from([0.0, 2.0]))
def test_the_penalty_and_minimum_of_release_8(table, least):
    rules = {
        "release8": True,
        "min_weight_leaf": least,
        "needs_gain": True,
        "missing": "fractions",
    }
    compare(table, criterion="gain_ratio", categorical="multiway", **rules)


def test_the_penalty_where_only_missing_cells_make_a_side_heavy_enough():
    table = ([[0.0], [0.0], [1.0], [None]], [2, 0, 0, 0], [None], 3, [1.0] * 4)
    rules = {"release8": True, "min_weight_leaf": 2.0, "missing": "learned"}
    assert compare(table, criterion="gain_ratio", **rules) == 1


@given(table=tables(2))
def test_thresholds_that_are_observed_are_values_of_the_column(table):
    compare(table, criterion="gini", cut="observed")


@pytest.mark.parametrize("change", ["gain", "threshold", "node_values", "leaf"])
def test_the_referee_sees_what_is_wrong(change):
    table = mixed_table(12, 40)
    tree = core_tree(table, criterion="entropy", categorical="multiway")
    referee = Referee(*table, rules=Rules(criterion="entropy", categorical="multiway"))
    assert follow(referee, tree) > 3
    at = int(np.flatnonzero(tree.kind == THRESHOLD)[0])
    if change == "leaf":
        tree = compact(tree, np.arange(tree.n_nodes) == at)
    else:
        getattr(tree, change)[at] += 0.05
    with pytest.raises(Disagreement, match=f"node {at}"):
        follow(referee, tree)


def test_another_criterion_gives_another_tree():
    table = mixed_table(12, 40)
    with pytest.raises(Disagreement):
        follow(
            Referee(*table, rules=Rules(criterion="gini")),
            core_tree(table, criterion="misclassification"),
        )


def _fitting(table, limit):
    """Limits with a cost for every column that there is."""
    return (
        limit | {"costs": limit["costs"][: len(table[2])]}
        if "costs" in limit
        else limit
    )


@pytest.mark.parametrize("criterion", ["gini", "gain_ratio"])
@pytest.mark.parametrize("missing", ["fractions", "learned"])
def test_columns_of_many_values_are_split_as_those_of_few(criterion, missing):
    rng = np.random.default_rng(7)
    n = 90  # above 64 distinct values rows are kept sorted
    x, z, a = rng.normal(size=n), rng.normal(size=n), rng.integers(0, 4, n)
    y = ((x > 0) + (z > 0.5) + rng.integers(0, 2, n)) % 3
    gone = rng.uniform(size=(n, 3)) < 0.1
    cells = [
        [None if g else float(c) for c, g in zip(row, no)]
        for row, no in zip(zip(x, z, a), gone)
    ]
    table = (
        cells,
        y.tolist(),
        [None, None, 4],
        3,
        rng.choice([0.5, 1.0, 3.0], n).tolist(),
    )
    assert (
        compare(
            table, criterion=criterion, missing=missing, max_depth=3, min_samples_leaf=4
        )
        >= 3
    )


def test_of_equal_columns_the_first_and_of_equal_thresholds_the_smallest_is_taken():
    cells = [[x, x, 5 - x] for x in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)]
    tree = core_tree((cells, [0, 1, 0, 1, 0, 1], [None] * 3, 2, [1.0] * 6), max_depth=1)
    assert (tree.feature[0], tree.threshold[0]) == (0, 0.5)  # 0.5 and 4.5 gain the same


def test_a_row_of_weight_two_is_a_row_twice():
    table = mixed_table(3, 30, 0.2)
    cells, target, kinds, K, _ = table
    weight = [1.0 + i % 2 for i in range(30)]
    twice = [i for i in range(30) for _ in range(int(weight[i]))]
    repeated = (
        [cells[i] for i in twice],
        [target[i] for i in twice],
        kinds,
        K,
        [1.0] * len(twice),
    )
    for missing in ("fractions", "learned"):
        one = core_tree(
            (cells, target, kinds, K, weight), criterion="entropy", missing=missing
        )
        two = core_tree(repeated, criterion="entropy", missing=missing)
        assert one.feature.tolist() == two.feature.tolist()
        np.testing.assert_allclose(one.node_values, two.node_values, rtol=1e-12)
        np.testing.assert_allclose(one.gain, two.gain, rtol=1e-9, atol=1e-12)


def test_what_was_considered_is_the_best_of_every_column():
    cells, target, kinds, K, weight = mixed_table(6, 25)
    X = np.array(cells, dtype=float)
    schema = Schema.declare({"a": list("abcd"), "x": "continuous", "b": list("abc")})
    growth = Growth(criterion="entropy", categorical="multiway", record=True)
    columns, y = Columns.of_cells(X, schema), np.array(target, dtype=np.int32)
    tree, seen = grow_with_record(columns, y, np.array(weight), growth, K)
    referee = Referee(
        cells,
        target,
        kinds,
        K,
        weight,
        rules=Rules(criterion="entropy", categorical="multiway"),
    )
    parts = visited(tree, cells) * np.array(weight)[:, None]
    assert set(np.flatnonzero(tree.kind != LEAF)) <= set(seen.node.tolist())
    for node, column, gain in zip(seen.node, seen.feature, seen.gain):
        rows = [(i, w) for i, w in enumerate(parts[:, node]) if w > 0]
        best = max(s.gain for s in referee.candidates(rows) if s.column == column)
        assert gain == pytest.approx(best, abs=1e-9)

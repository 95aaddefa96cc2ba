"""Trees grown by levels: against the referee, the exact core, scikit-learn, and however the rows
come."""

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.trees.binned_reference import (
    assert_same,
    mixed_frame,
    rows_of,
    scanned,
    tree_of_the_core,
    walked,
)
from tests.trees.growth_reference import follow
from tests.trees.table_builders import from_scikit
from tests.trees.test_referee import (
    CLASSES,
    LOSS,
    limits,
    tables,
    two_or_three_classes,
    ways,
)
from tests.trees.tree_reference import Referee
from tests.trees.tree_reference_parts import Rules
from threadpoolctl import threadpool_limits

from lyceum._core.data.files import csv as _csv
from lyceum._core.data.rows import file_sources as _sources
from lyceum._core.trees import (
    GROUPS,
    LEAF,
    THRESHOLD,
    Bins,
    Growth,
    grow_by_levels,
    grow_by_levels_with_record,
)
from lyceum._core.trees.growth import by_levels as _level_growth
from lyceum.errors import SourceError

dd = pytest.importorskip("dask.dataframe")

forms = st.builds(
    Growth,
    criterion=st.sampled_from(CLASSES),
    categorical=st.sampled_from(["groups", "multiway", "one_vs_rest"]),
    continuous=st.sampled_from(["two_way", "two_way", "multi_way"]),
    missing=st.sampled_from(["learned", "fractions"]),
    cut=st.sampled_from(["midpoint", "observed"]),
    max_depth=st.sampled_from([None, 1, 3]),
    min_samples_leaf=st.integers(1, 4),
    min_samples_split=st.integers(2, 8),
    max_leaf_nodes=st.sampled_from([None, None, 2, 5, 12]),
    min_impurity_decrease=st.sampled_from([0.0, 0.0, 0.01]),
    max_features=st.sampled_from([None, None, 2]),
    splitter=st.sampled_from(["best", "best", "random"]),
    seed=st.integers(0, 99),
)


def growing(**changes):
    return {"max_depth": 5, "min_samples_leaf": 5, **changes}


# -- the referee -----------------------------------------------------------------------


def followed(table, **rules):
    """Check the tree grown by levels with the referee; how many splits were the only best ones."""
    cells, target, kinds, n_classes, weight = table
    X = np.array([[np.nan if c is None else c for c in row] for row in cells]).reshape(
        len(cells), len(kinds)
    )
    rows = rows_of(X, target, weight, kinds, n_classes, at=(3, 4, 11))
    arrays = {
        name: np.array(rules[name])
        for name in ("costs", "loss")
        if rules.get(name) is not None
    }
    tree = grow_by_levels(rows, Bins.of(rows), Growth(**{**rules, **arrays}), n_classes)
    return follow(Referee(*table, rules=Rules(**rules)), tree)


@pytest.mark.syllabus("6.2", "6.3", "6.4", "6.5")
@pytest.mark.parametrize("criterion", CLASSES)
@settings(max_examples=20)
@given(table=two_or_three_classes, way=ways, p=st.sampled_from([None, 0.5]))
def test_every_split_of_classes_is_a_best_one(criterion, table, way, p):
    followed(table, criterion=criterion, max_p_value=p, **way)


@settings(max_examples=20)
@given(table=tables(3), way=ways)
def test_every_split_by_a_loss_matrix_is_a_best_one(table, way):
    followed(table, criterion="misclassification", loss=LOSS, **way)


@pytest.mark.syllabus("6.7")
@pytest.mark.parametrize("criterion", ["squared_error", "sd"])
@settings(max_examples=20)
@given(table=tables(None), way=ways, limit=limits)
def test_every_split_of_numbers_is_a_best_one(criterion, table, way, limit):
    if "costs" in limit:
        limit = {**limit, "costs": limit["costs"][: len(table[2])]}
    followed(table, criterion=criterion, **way, **limit)


# -- the exact core --------------------------------------------------------------------


@settings(max_examples=25)
@given(
    forms,
    st.integers(0, 2**32),
    st.integers(7, 40),
    st.booleans(),
    st.sampled_from([1, 1 << 16, 1 << 28]),
)
def test_the_tree_is_that_of_the_core_on_the_same_bins(
    growth, seed, max_bins, weighted, budget
):
    rows = scanned(mixed_frame(seed, 200), "w" if weighted else None)
    bins = Bins.of(rows, max_bins)
    tree = grow_by_levels(rows, bins, growth, 3, budget)
    assert_same(tree, tree_of_the_core(rows, bins, growth, 3))


@settings(max_examples=20)
@given(
    st.sampled_from(["squared_error", "sd"]),
    st.integers(0, 2**32),
    st.integers(7, 40),
    st.booleans(),
)
def test_the_tree_of_numbers_is_that_of_the_core_on_the_same_bins(
    criterion, seed, max_bins, fractions
):
    rows = scanned(mixed_frame(seed, 200, number=True), "w")
    bins = Bins.of(rows, max_bins)
    missing = "fractions" if fractions else "learned"
    growth = Growth(criterion=criterion, missing=missing, min_samples_leaf=3)
    tree = grow_by_levels(rows, bins, growth)
    # the square root of a variance that is nothing but rounding, 1e-16, is 1e-8
    assert_same(tree, tree_of_the_core(rows, bins, growth), rtol=1e-8, atol=1e-7)


def test_what_was_considered_is_what_the_core_considers():
    rows = scanned(mixed_frame(3))
    bins = Bins.of(rows)
    growth = Growth(record=True, **growing())
    tree, mine = grow_by_levels_with_record(rows, bins, growth, 3)
    other = tree_of_the_core(rows, bins, growth, 3)
    assert_same(tree, other)
    best = [
        mine.gain[mine.node == node].max() for node in np.flatnonzero(tree.kind != LEAF)
    ]
    np.testing.assert_allclose(best, tree.gain[tree.kind != LEAF])
    at_root = mine.node == 0
    assert mine.feature[at_root].tolist() == [0, 1, 2, 3]
    assert np.isnan(mine.threshold[at_root]).tolist() == [False, False, True, True]


def test_nothing_is_recorded_unless_it_is_asked_for():
    rows = scanned(mixed_frame(3))
    _, none = grow_by_levels_with_record(rows, Bins.of(rows), Growth(), 3)
    assert len(none.node) == 0


# -- scikit-learn ----------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("most", [None, 13])
@pytest.mark.parametrize("seed", range(3))
def test_classes_of_few_distinct_values_give_scikit_learns_tree(criterion, most, seed):
    rng = np.random.default_rng(seed)
    X, w = rng.integers(0, 200, (700, 4)) / 8, rng.uniform(0.5, 2, 700)
    y = np.floor(X[:, 0] + 2 * np.sin(X[:, 1]) + rng.normal(size=700)).astype(int) % 3
    # ties are of few rows
    limit = {"max_leaf_nodes": most, "max_depth": 6, "min_samples_leaf": 12}
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0, **limit).fit(
        X, y, w
    )
    rows = rows_of(X, y, w, n_classes=3, at=(100, 101, 450))
    ours = grow_by_levels(rows, Bins.of(rows), Growth(criterion=criterion, **limit), 3)
    scikit(ours, from_scikit(theirs))


@pytest.mark.parametrize("most", [None, 13])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_numbers_of_few_distinct_values_give_scikit_learns_tree(most, offset):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 200, (700, 4)) / 8
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=700)
    limit = {"max_leaf_nodes": most, "max_depth": 6, "min_samples_leaf": 4}
    theirs = DecisionTreeRegressor(random_state=0, **limit).fit(X, y)
    rows = rows_of(X, y + offset, at=(100, 101, 450))
    ours = grow_by_levels(
        rows, Bins.of(rows), Growth(criterion="squared_error", **limit)
    )
    scikit(ours, from_scikit(theirs), offset)


def scikit(ours, theirs, offset=0.0):
    first, second = walked(ours), walked(theirs)
    assert ours.feature[first].tolist() == theirs.feature[second].tolist()
    assert ours.n_rows[first].tolist() == theirs.n_rows[second].tolist()
    np.testing.assert_allclose(
        ours.threshold[first], theirs.threshold[second], rtol=1e-6
    )
    np.testing.assert_allclose(
        ours.node_values[first] - offset,
        theirs.node_values[second],
        rtol=1e-8,
        atol=1e-8,
    )
    np.testing.assert_allclose(
        ours.impurity[first], theirs.impurity[second], rtol=1e-7, atol=1e-9
    )


# -- however the rows come -------------------------------------------------------------


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(_sources, "_PART_ROWS", 64)
    monkeypatch.setattr(_csv, "_STREAM_BYTES", 1024)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("number", [False, True])
@pytest.mark.parametrize("missing", ["learned", "fractions"])
def test_memory_files_and_dask_give_one_tree(tmp_path, number, missing):
    table = mixed_frame(11, 500, number=number)
    pq.write_table(table, tmp_path / "table.parquet", row_group_size=50)
    pc.write_csv(table, tmp_path / "table.csv")
    frame = dd.from_pandas(table.to_pandas(), npartitions=4, sort=False)
    growth = Growth(
        criterion="squared_error" if number else "gini", missing=missing, **growing()
    )
    n_classes = None if number else 3
    sources = [table, tmp_path / "table.parquet", tmp_path / "table.csv", frame]
    trees = []
    for source in sources:
        rows = scanned(
            source,
            "w",
            **({"memory": 0} if source is not frame and source is not table else {}),
        )
        trees.append(grow_by_levels(rows, Bins.of(rows), growth, n_classes))
    for tree in trees[1:]:
        assert_same(trees[0], tree)


@given(st.lists(st.integers(1, 399), max_size=8))
def test_any_cut_of_the_rows_gives_the_tree_to_the_bit(places):
    rng = np.random.default_rng(2)
    X, y, w = (
        rng.integers(0, 40, (400, 3)),
        rng.integers(0, 3, 400),
        rng.integers(0, 4, 400),
    )
    trees = [
        grow_by_levels(rows, Bins.of(rows), Growth(**growing()), 3)
        for rows in (
            rows_of(X, y, w, n_classes=3),
            rows_of(X, y, w, n_classes=3, at=places),
        )
    ]
    for name in type(trees[0]).__dataclass_fields__:
        np.testing.assert_array_equal(*(getattr(tree, name) for tree in trees))


@pytest.mark.parametrize("number", [False, True])
def test_weight_two_equals_a_repeated_row(number):
    rng = np.random.default_rng(4)
    X, w = rng.integers(0, 30, (300, 3)).astype(float), rng.integers(0, 4, 300)
    y = rng.normal(size=300) if number else rng.integers(0, 3, 300)
    n_classes, criterion = (None, "squared_error") if number else (3, "entropy")
    growth = Growth(criterion=criterion, max_depth=6)
    weighted = rows_of(X, y, w, n_classes=n_classes)
    repeated = rows_of(np.repeat(X, w, axis=0), np.repeat(y, w), n_classes=n_classes)
    one = grow_by_levels(weighted, Bins.of(weighted), growth, n_classes)
    two = grow_by_levels(repeated, Bins.of(repeated), growth, n_classes)
    first, second = walked(one), walked(two)
    for name in ("feature", "threshold", "weight"):
        np.testing.assert_allclose(
            getattr(one, name)[first], getattr(two, name)[second]
        )
    np.testing.assert_allclose(
        one.node_values[first], two.node_values[second], rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("number", [False, True])
def test_one_thread_and_two_give_the_tree_to_the_bit(tmp_path, monkeypatch, number):
    monkeypatch.setattr(_sources, "_PART_ROWS", 64)
    monkeypatch.setattr(_level_growth, "_FEW", 0)
    table = mixed_frame(8, 500, number=number)
    pq.write_table(table, tmp_path / "table.parquet", row_group_size=64)
    growth = Growth(
        criterion="squared_error" if number else "entropy",
        missing="fractions",
        **growing(),
    )
    trees = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            rows = scanned(tmp_path / "table.parquet", "w", memory=0)
            trees.append(
                grow_by_levels(rows, Bins.of(rows), growth, None if number else 3)
            )
    for name in type(trees[0]).__dataclass_fields__:
        np.testing.assert_array_equal(*(getattr(tree, name) for tree in trees))


# -- passes ----------------------------------------------------------------------------


class Counted:
    """Rows that count their passes."""

    def __init__(self, rows):
        self.rows, self.passes = rows, 0

    def __getattr__(self, name):
        return getattr(self.rows, name)

    def reduce(self, of):
        self.passes += 1
        return self.rows.reduce(of)


def test_a_level_is_a_pass():
    rows = Counted(scanned(mixed_frame(5)))
    tree = grow_by_levels(
        rows, Bins.of(rows.rows), Growth(max_depth=4, min_samples_leaf=2), 3
    )
    assert tree.depth == 4
    assert rows.passes == 4


def test_best_first_takes_about_as_many_passes_as_levels():
    rows = Counted(scanned(mixed_frame(5)))
    tree = grow_by_levels(rows, Bins.of(rows.rows), Growth(max_leaf_nodes=30), 3)
    assert tree.n_leaves == 30
    assert rows.passes <= tree.depth + 1


def test_a_small_budget_costs_passes_and_changes_nothing():
    plain, small = (Counted(scanned(mixed_frame(5))) for _ in range(2))
    bins = Bins.of(plain.rows)
    one = grow_by_levels(plain, bins, Growth(**growing()), 3)
    two = grow_by_levels(small, bins, Growth(**growing()), 3, budget=1)
    assert small.passes > 2 * plain.passes
    assert_same(one, two, rtol=0, atol=0)


# -- awkward tables --------------------------------------------------------------------


def test_one_row_and_one_class_are_a_leaf():
    rows = rows_of([[1.0, 2.0]], [1], n_classes=2)
    tree = grow_by_levels(rows, Bins.of(rows), Growth(), 2)
    assert (tree.n_nodes, tree.node_values.tolist(), tree.impurity.tolist()) == (
        1,
        [[0.0, 1.0]],
        [0.0],
    )
    rows = rows_of(np.arange(20.0)[:, None], np.ones(20), n_classes=2)
    assert grow_by_levels(rows, Bins.of(rows), Growth(), 2).n_nodes == 1


def test_constant_and_missing_columns_are_never_split():
    X = np.column_stack([np.full(60, 3.0), np.full(60, np.nan), np.arange(60.0)])
    rows = rows_of(X, np.arange(60) % 5 > 2, n_classes=2)
    tree = grow_by_levels(rows, Bins.of(rows), Growth(), 2)
    assert set(tree.feature[tree.kind != LEAF].tolist()) == {2}
    assert np.all(tree.impurity[tree.kind == LEAF] == 0)


@pytest.mark.parametrize("criterion", ["squared_error", "sd"])
def test_equal_numbers_far_from_zero_are_not_split(criterion):
    y = np.repeat([1e6 + 0.1, 1e6 + 0.3, 1e6 + 0.7], 50)
    rows = rows_of(np.arange(150.0)[:, None], y, at=(20, 70))
    tree = grow_by_levels(rows, Bins.of(rows), Growth(criterion=criterion))
    assert tree.n_leaves == 3
    assert sorted(tree.node_values[tree.kind == LEAF, 0].tolist()) == pytest.approx(
        [*y[::50]], rel=1e-15
    )


def test_categories_past_the_last_bin_share_it():
    rng = np.random.default_rng(0)
    heavy, light = rng.integers(0, 4, 500), rng.integers(4, 12, 60)
    cells = np.concatenate([heavy, light]).astype(float)
    rows = rows_of(cells[:, None], cells >= 4, n_categories=[12], n_classes=2)
    bins = Bins.of(rows, max_bins=5)
    tree = grow_by_levels(rows, bins, Growth(), 2)
    assert tree.kind.tolist() == [GROUPS, LEAF, LEAF]
    assert tree.branches.tolist() == [0] * 4 + [1] * 8


def test_a_threshold_is_midway_between_the_values_on_its_sides_even_across_empty_bins():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [4.0]])
    rows = rows_of(X, [0, 0, 1, 1, 0], [1, 1, 1, 1, 0], n_classes=2)
    tree = grow_by_levels(rows, Bins.of(rows), Growth(), 2)
    assert tree.threshold[0] == 5.5
    assert tree.kind.tolist() == [THRESHOLD, LEAF, LEAF]


def test_single_precision_cells_give_the_tree_of_their_values():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2)).astype(np.float32)
    y = X[:, 0] > X[:, 1]
    trees = []
    for cells in (X, X.astype(np.float64)):
        rows = rows_of(X, y, n_classes=2)
        object.__setattr__(rows.source.block, "X", cells)
        trees.append(grow_by_levels(rows, Bins.of(rows), Growth(max_depth=4), 2))
    assert_same(*trees)


def test_the_absolute_error_is_refused_with_what_to_do():
    rows = rows_of([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(
        SourceError, match="criterion='squared_error', or leave out max_bins"
    ):
        grow_by_levels(rows, Bins.of(rows), Growth(criterion="absolute_error"))

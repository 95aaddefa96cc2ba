"""Counts of categories by class: definitions, and the laws of merging."""

from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from lyceum.data import Block, Column, Schema, scan
from lyceum.statistics import Counts

LEVELS = ["a", "b", "c", "d"]
CLASSES = ["no", "perhaps", "yes"]


def block_of(rows, weights=None):
    """A block that knows only the categories and classes of its own rows; None is a missing
    cell."""
    columns, cells = [], np.empty((len(rows), 2))
    for j in range(2):
        seen = sorted({row[j] for row in rows if row[j] is not None})
        columns.append(Column("uv"[j], "categorical", np.array(seen, dtype=object)))
        cells[:, j] = [np.nan if row[j] is None else seen.index(row[j]) for row in rows]
    classes = sorted({row[2] for row in rows})
    y = np.array([classes.index(row[2]) for row in rows], dtype=np.int32)
    target = Column("y", "categorical", np.array(classes, dtype=object))
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    return Block(cells, y, w, 0, Schema(tuple(columns), target))


def same(one, two):
    assert one.n_rows == two.n_rows
    assert one.classes.tolist() == two.classes.tolist()
    assert [labels.tolist() for labels in one.categories] == [
        labels.tolist() for labels in two.categories
    ]
    np.testing.assert_allclose(one.counts, two.counts, rtol=1e-12)
    np.testing.assert_allclose(one.class_weight, two.class_weight, rtol=1e-12)


cell = st.one_of(st.none(), st.sampled_from(LEVELS))
row = st.tuples(cell, cell, st.sampled_from(CLASSES))
some_rows = st.lists(row, min_size=1, max_size=12)


@given(some_rows)
def test_a_count_is_the_weight_of_the_rows_with_the_value_and_the_class(rows):
    weights = [1.0 + i % 3 for i in range(len(rows))]
    counts = Counts.of(block_of(rows, weights))
    for j, name in enumerate("uv"):
        for v, value in enumerate(counts.categories[j]):
            for k, label in enumerate(counts.classes):
                wanted = sum(
                    w
                    for row, w in zip(rows, weights)
                    if row[j] == value and row[2] == label
                )
                assert counts.table(name)[v, k] == wanted


@given(some_rows, some_rows)
def test_merge_is_commutative_and_equals_one_block(one, two):
    a, b = Counts.of(block_of(one)), Counts.of(block_of(two))
    same(a.merge(b), b.merge(a))
    same(a.merge(b), Counts.of(block_of(one + two)))


@given(some_rows, some_rows, some_rows)
def test_merge_is_associative(one, two, three):
    a, b, c = (Counts.of(block_of(rows)) for rows in (one, two, three))
    same(a.merge(b).merge(c), a.merge(b.merge(c)))


@given(st.lists(st.tuples(row, st.integers(1, 4)), min_size=1, max_size=10))
def test_whole_weights_equal_repeated_rows(weighted):
    rows, weights = zip(*weighted)
    repeated = [row for row, times in weighted for _ in range(times)]
    one, two = Counts.of(block_of(rows, weights)), Counts.of(block_of(repeated))
    np.testing.assert_array_equal(one.counts, two.counts)
    np.testing.assert_array_equal(one.class_weight, two.class_weight)


def test_without_a_target_the_tables_are_the_marginal_ones():
    table = pa.table({"u": ["a", "b", "a", None], "v": ["x", "x", "y", "x"]})
    counts = scan(table).reduce(Counts.of)
    assert counts.table("u").ravel().tolist() == [2.0, 1.0]
    assert counts.table("v").ravel().tolist() == [3.0, 1.0]
    assert counts.class_weight.tolist() == [4.0]


def test_whole_numbers_are_counted_without_a_copy(monkeypatch):
    from lyceum._core.statistics.counts import counts as _counts

    X = np.array([[0, 2], [1, 0], [1, 2]])
    schema = Schema(tuple(Column(n, "categorical", np.arange(3)) for n in "uv"))
    seen = []

    class Kernels:
        @staticmethod
        def class_counts(cells, *others):
            seen.append(np.shares_memory(cells, X))
            return _counts_kernel(cells, *others)

    _counts_kernel = _counts.native.class_counts
    monkeypatch.setattr(_counts, "native", Kernels)
    counts = Counts.of(Block(X, None, None, 0, schema))
    assert seen == [True]
    assert counts.counts.ravel().tolist() == [1, 2, 0, 1, 0, 2]


@pytest.mark.parametrize(
    "kind",
    [
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float32",
    ],
)
def test_the_type_of_the_codes_does_not_matter(kind):
    X = np.array([[0, 2], [1, 0], [1, 2]])
    schema = Schema(tuple(Column(n, "categorical", np.arange(3)) for n in "uv"))
    wanted = Counts.of(Block(X, None, None, 0, schema))
    same(Counts.of(Block(X.astype(kind), None, None, 0, schema)), wanted)


def test_cells_that_a_sparse_block_does_not_store_have_the_first_category():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(50, 2)).astype(float)
    schema = Schema(tuple(Column(n, "categorical", np.arange(3)) for n in "uv"))
    dense = Counts.of(Block(X, None, None, 0, schema))
    same(Counts.of(Block(sparse.csr_array(X), None, None, 0, schema)), dense)


def test_unknown_codes_are_not_counted():
    schema = Schema((Column("u", "categorical", np.array(["a", "b"])),))
    counts = Counts.of(
        Block(np.array([[0.0], [-1.0], [7.0], [1.0]]), None, None, 0, schema)
    )
    assert counts.counts.ravel().tolist() == [1.0, 1.0]


def test_arranging_moves_counts_with_their_labels():
    counts = Counts.of(
        block_of([("a", "d", "no"), ("c", "d", "no"), ("c", "d", "yes")])
    )
    wider = counts.arrange(
        [np.array(["c", "b", "a"], dtype=object), np.array(["d"], dtype=object)]
    )
    assert wider.table("u").tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match="do not hold all"):
        counts.arrange(
            [np.array(["a", "b"], dtype=object), np.array(["d"], dtype=object)]
        )


def test_counts_of_other_columns_cannot_be_merged():
    one = Counts.of(
        Block(
            np.zeros((1, 1)),
            None,
            None,
            0,
            Schema((Column("u", "categorical", np.arange(1)),)),
        )
    )
    two = Counts.of(
        Block(
            np.zeros((1, 1)),
            None,
            None,
            0,
            Schema((Column("v", "categorical", np.arange(1)),)),
        )
    )
    with pytest.raises(ValueError, match="cannot be merged"):
        one.merge(two)


def test_a_fold_over_random_blocks_equals_one_block():
    rng = np.random.default_rng(1)
    levels = [*LEVELS, None]
    rows = [
        (*(levels[i] for i in rng.integers(0, 5, 2)), CLASSES[rng.integers(3)])
        for _ in range(200)
    ]
    cuts = np.sort(rng.choice(np.arange(1, 200), 9, replace=False))
    parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, 200])]
    same(
        reduce(Counts.merge, (Counts.of(block_of(part)) for part in parts)),
        Counts.of(block_of(rows)),
    )

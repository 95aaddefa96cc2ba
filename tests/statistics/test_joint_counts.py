"""Counts over sets of columns: brute force, missing cells by set, and the laws of merging."""

from functools import partial
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from lyceum.data import Block, Column, Schema, scan
from lyceum.errors import SchemaError
from lyceum.statistics import JointCounts

SETS = (("a", "b"), ("c",), ("b", "a", "c"), ("a", "y"), ())
LABELS = {
    "a": ("p", "q", "r"),
    "b": (0, 1),
    "c": ("u", "v", "w", "z"),
    "y": ("no", "yes"),
}


def coded_block(seed, n, w=None, labels=LABELS):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, len(labels[name]), n) for name in "abc"]
    ).astype(float)
    X[rng.random(X.shape) < 0.15] = np.nan
    X[rng.random(n) < 0.1, 2] = -1.0
    columns = tuple(
        Column(name, "categorical", np.array(labels[name])) for name in "abc"
    )
    target = Column("y", "binary", np.array(labels["y"]))
    y = rng.integers(-1, 2, n).astype(np.int32)
    return Block(X, y, w, 0, Schema(columns).with_target(target))


def brute(block, names):
    """The weight of every combination of codes, one at a time."""
    cells = {name: block.X[:, "abc".index(name)] for name in names if name != "y"} | {
        "y": block.y
    }
    w = np.ones(len(block)) if block.w is None else block.w
    out = np.zeros([len(LABELS[name]) for name in names])
    for codes in product(*(range(n) for n in out.shape)):
        here = np.ones(len(block), dtype=bool)
        for name, code in zip(names, codes):
            here &= cells[name] == code
        out[codes] = w[here].sum()
    return out


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_are_counts_of_complete_combinations(weighted):
    w = np.random.default_rng(9).random(400) if weighted else None
    block = coded_block(0, 400, w)
    found = JointCounts.of(block, SETS)
    for names in SETS:
        np.testing.assert_allclose(found.table(*names), brute(block, names), rtol=1e-12)
    assert found.n_rows == 400
    assert found.weight == pytest.approx(400 if w is None else w.sum())


def test_a_missing_cell_leaves_only_the_sets_it_is_in():
    X = np.array([[0.0, np.nan], [1.0, 1.0]])
    columns = (
        Column("a", "categorical", np.array(["p", "q"])),
        Column("b", "binary", np.array([0, 1])),
    )
    found = JointCounts.of(
        Block(X, None, None, 0, Schema(columns)), [("a",), ("b",), ("a", "b")]
    )
    assert found.table("a").tolist() == [1.0, 1.0]
    assert found.table("b").tolist() == [0.0, 1.0]
    assert found.table("a", "b").tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_axes_come_in_the_order_that_is_wanted():
    block = coded_block(1, 100)
    found = JointCounts.of(block, [("a", "b")])
    np.testing.assert_array_equal(found.table("b", "a"), found.table("a", "b").T)
    with pytest.raises(KeyError, match="no set has exactly"):
        found.table("a")
    assert found.states("b", "a") == {"b": (0, 1), "a": ("p", "q", "r")}


def test_merge_is_commutative_associative_and_equals_one_block():
    block = coded_block(
        2, 300, np.random.default_rng(1).integers(0, 5, 300).astype(float)
    )
    of = partial(JointCounts.of, sets=SETS)
    place = np.arange(300)
    a, b, c = (
        of(block.take(some))
        for some in (place < 7, (place >= 7) & (place < 200), place >= 200)
    )
    for one in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
        assert one.n_rows == 300
        for table, whole in zip(one.tables, of(block).tables):
            np.testing.assert_array_equal(table, whole)


def test_categories_are_merged_by_label():
    def counts(a, b):
        rows = scan(pa.table({"a": a, "b": b}))
        return rows.reduce(partial(JointCounts.of, sets=[("a", "b")]))

    merged = counts(["q", "p"], ["x", "x"]).merge(
        counts(["r", "q", "q"], ["x", "y", "x"])
    )
    assert merged.states("a", "b") == {"a": ("p", "q", "r"), "b": ("x", "y")}
    assert merged.table("a", "b").tolist() == [[1.0, 0.0], [2.0, 1.0], [1.0, 0.0]]
    swapped = counts(["r", "q", "q"], ["x", "y", "x"]).merge(
        counts(["q", "p"], ["x", "x"])
    )
    np.testing.assert_array_equal(swapped.table("a", "b"), merged.table("a", "b"))


def test_weight_two_equals_a_repeated_row():
    block = coded_block(
        3, 80, np.random.default_rng(2).integers(0, 3, 80).astype(float)
    )
    twice = block.take(np.repeat(np.arange(80), block.w.astype(int)))
    repeated = Block(twice.X, twice.y, None, 0, block.schema)
    one, two = JointCounts.of(block, SETS), JointCounts.of(repeated, SETS)
    for a, b in zip(one.tables, two.tables):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_codes_of_any_type_give_the_same_counts(dtype):
    block = coded_block(4, 60)
    X = np.nan_to_num(block.X, nan=-1.0)
    blocks = [
        Block(cells, block.y, None, 0, block.schema) for cells in (X, X.astype(dtype))
    ]
    one, two = (JointCounts.of(some, SETS) for some in blocks)
    for a, b in zip(one.tables, two.tables):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("a", "nothing"), "no column 'nothing'"),
        (("x",), "holds numbers"),
        (("two",), "the cell 2.5, which is no code of its 2 categories: recode"),
    ],
)
def test_what_cannot_be_counted_is_refused(names, text):
    rows = scan(
        pa.table({"a": ["p", "q", "p"], "x": [1.5, 2.5, 3.5], "two": [1.0, 2.5, 1.0]}),
        kinds={"two": "binary"},
    )
    with pytest.raises(SchemaError, match=text):
        rows.reduce(partial(JointCounts.of, sets=[names]))


def test_counts_of_other_sets_do_not_merge():
    block = coded_block(5, 10)
    with pytest.raises(ValueError, match="cannot be merged"):
        JointCounts.of(block, [("a",)]).merge(JointCounts.of(block, [("b",)]))

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.statistics.cut import block_of, cut, fold

from lyceum._core.trees import BinRanges, Frontier, NodeHistograms

RNG = np.random.default_rng(0)
N = 600
CODES = np.column_stack(
    [RNG.integers(0, 6, N), RNG.integers(0, 4, N), RNG.integers(0, 300, N)]
)
W = RNG.integers(0, 4, N).astype(float)
K = 3
CLASSES = RNG.integers(0, K, N).astype(np.int32)
NUMBERS = RNG.normal(size=N)
N_CELLS = [6, 4, 301]  # the last of each is for missing cells


class Cells:
    """The cells are codes."""

    def code(self, block):
        return block.X.astype(np.uint16)


def tree(slots=(-1, 0, -1, -1, 1, 2), missing=-2):
    """Column 0 three ways, missing cells (code 5) to all; then one child by column 1, missing
    second."""
    return Frontier(
        offsets=np.array([0, 6, 10, 311]),
        feature=np.array([0, -1, 1, -1, -1, -1], dtype=np.int32),
        table=np.array([0, 0, 6, 0, 0, 0]),
        branches=np.array([1, 2, 2, 3, -1, missing, 4, 5, 4, 5], dtype=np.int32),
        child=np.array([1, -1, 4, -1, -1, -1], dtype=np.int32),
        n_children=np.array([3, 0, 2, 0, 0, 0], dtype=np.int32),
        share=np.array([1, 0.5, 0.25, 0.25, 0.4, 0.6]),
        slot=np.array(slots, dtype=np.int32),
    )


def arrivals(row, frontier, node=0, weight=1.0):
    """(slot, weight) of every part of a row, by the definition."""
    if frontier.feature[node] < 0:
        return [(frontier.slot[node], weight)] if frontier.slot[node] >= 0 else []
    to = frontier.branches[frontier.table[node] + int(row[frontier.feature[node]])]
    if to >= 0:
        return arrivals(row, frontier, to, weight)
    children = range(
        frontier.child[node], frontier.child[node] + frontier.n_children[node]
    )
    parts = (
        [arrivals(row, frontier, c, weight * frontier.share[c]) for c in children]
        if to == -2
        else []
    )
    return [part for found in parts for part in found]


def brute(frontier, y, w, n_classes=None, center=0.0):
    """(slots, cells, K + 1) or (slots, cells, 4)."""
    out = np.zeros(
        (frontier.n_slots, frontier.n_cells, 4 if n_classes is None else n_classes + 1)
    )
    for row, target, weight in zip(CODES, y, w):
        for slot, part in arrivals(row, frontier, weight=weight):
            cells = frontier.offsets[:-1] + row
            if weight and n_classes is None:
                z = target - center
                out[slot, cells] += [part, part * z, part * z * z, 1.0]
            elif weight:
                out[slot, cells, target] += part
                out[slot, cells, -1] += 1.0
    return out


def blocks(y, w=None, at=()):
    return [
        replace(block, y=y[block.start : block.start + len(block)])
        for block in cut(CODES.astype(float), w, at)
    ]


def histograms(y, w=None, at=(), frontier=None, **settings):
    frontier = tree() if frontier is None else frontier
    return fold(
        partial(NodeHistograms.of, coder=Cells(), frontier=frontier, **settings),
        blocks(y, w, at),
    )


def test_class_weights_are_those_of_the_definition():
    got = histograms(CLASSES, W, n_classes=K).tables
    np.testing.assert_allclose(got, brute(tree(), CLASSES, W, K), rtol=1e-12)


def test_sums_of_numbers_are_those_of_the_definition():
    got = histograms(NUMBERS, W, center=np.full(3, 0.25)).tables
    np.testing.assert_allclose(
        got, brute(tree(), NUMBERS, W, center=0.25), rtol=1e-10, atol=1e-12
    )


def test_rows_without_weights_are_counted_once():
    whole = tree(missing=2)
    plain = histograms(CLASSES, n_classes=K, frontier=whole).tables
    assert plain.shape[2] == K  # the weights are the counts
    np.testing.assert_array_equal(plain, brute(whole, CLASSES, np.ones(N), K)[..., :K])


def test_rows_at_nodes_without_a_slot_are_left_out():
    few = tree(slots=(-1, -1, -1, -1, 0, -1))
    got = histograms(CLASSES, W, n_classes=K, frontier=few).tables
    np.testing.assert_array_equal(got[0], histograms(CLASSES, W, n_classes=K).tables[1])


@given(st.lists(st.integers(1, N - 1), max_size=6))
def test_any_cut_gives_the_same_weights_to_the_bit(places):
    whole = tree(missing=2)  # with fractions of rows, to rounding
    one = histograms(CLASSES, W, n_classes=K, frontier=whole).tables
    np.testing.assert_array_equal(
        histograms(CLASSES, W, places, whole, n_classes=K).tables, one
    )


@given(st.lists(st.integers(1, N - 1), max_size=6))
def test_any_cut_gives_the_same_sums_whatever_the_first_center(places):
    got = histograms(NUMBERS + 1e6, W, places)
    moved = brute(tree(), NUMBERS + 1e6, W, center=got.center[0])
    np.testing.assert_allclose(got.tables, moved, rtol=1e-9, atol=1e-9)


def test_merge_is_associative_and_commutative():
    a, b, c = map(
        partial(NodeHistograms.of, coder=Cells(), frontier=tree(), center=np.zeros(3)),
        blocks(NUMBERS, W, [150, 400]),
    )
    left, right = a.merge(b).merge(c).tables, a.merge(b.merge(c)).tables
    np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        a.merge(b).tables, b.merge(a).tables, rtol=1e-12, atol=1e-12
    )


def test_weight_two_equals_a_repeated_row():
    whole = tree(missing=2)
    of = partial(NodeHistograms.of, coder=Cells(), frontier=whole, n_classes=K)
    weighted = histograms(CLASSES, W, n_classes=K, frontier=whole).tables
    often = W.astype(int)
    block = replace(
        block_of(np.repeat(CODES.astype(float), often, axis=0)),
        y=np.repeat(CLASSES, often),
    )
    np.testing.assert_array_equal(of(block).tables, weighted[..., :K])


def test_weighted_and_plain_blocks_merge_into_counted_ones():
    of = partial(
        NodeHistograms.of, coder=Cells(), frontier=tree(missing=2), n_classes=K
    )
    one, two = blocks(CLASSES, None, [300])
    weighted = replace(two, w=np.full(300, 2.0))
    expected = brute(tree(missing=2), CLASSES, np.repeat([1.0, 2.0], 300), K)
    np.testing.assert_array_equal(of(one).merge(of(weighted)).tables, expected)
    np.testing.assert_array_equal(of(weighted).merge(of(one)).tables, expected)


def test_rows_wait_until_they_are_worth_the_tables():
    one = histograms(CLASSES, n_classes=K, frontier=Frontier.of_root(N_CELLS))
    assert one.summed is None
    three = one.merge(one).merge(one)
    assert three.summed is not None
    np.testing.assert_array_equal(three.tables, 3 * one.tables)


def test_a_code_that_its_column_does_not_have_is_refused():
    narrow = replace(tree(missing=2), offsets=np.array([0, 6, 10, 300]))
    with pytest.raises(ValueError, match="has the code 299, but 290 cells"):
        histograms(CLASSES, n_classes=K, frontier=narrow).tables  # noqa: B018


def test_ranges_are_the_smallest_and_largest_values_of_every_bin():
    X = RNG.normal(size=(300, 2)).astype(np.float32)
    X[::7, 0] = np.nan
    w = RNG.integers(0, 2, 300).astype(float)

    class Signs:
        def code(self, block):
            return np.where(np.isnan(block.X), 2, block.X > 0).astype(np.uint8)

    of = partial(BinRanges.of, coder=Signs(), offsets=np.array([0, 3, 6]))
    got = fold(of, cut(X, w, [40, 200]))
    for j in range(2):
        x = X[w > 0, j].astype(float)
        for code, part in enumerate([x[x <= 0], x[x > 0]]):
            assert (got.low[3 * j + code], got.high[3 * j + code]) == (
                part.min(),
                part.max(),
            )
        assert got.low[3 * j + 2] == np.inf

from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from tests.statistics.cut import block_of, cut, fold, repeated

from lyceum.statistics import Histogram, JointHistogram

EDGES = [np.linspace(-2, 2, 9), np.array([-1.0, 0.0, 3.0])]
X = np.random.default_rng(0).standard_normal((500, 2)) * 1.5
W = np.random.default_rng(1).integers(0, 4, 500).astype(float)
of = partial(Histogram.of, edges=EDGES)


def equal(one, two):
    return all(
        np.allclose(a, b, rtol=1e-12)
        for a, b in zip(
            (*one.counts, one.below, one.above, one.missing),
            (*two.counts, two.below, two.above, two.missing),
        )
    )


def test_counts_are_numpys():
    h = of(block_of(X, W))
    for j in range(2):
        np.testing.assert_allclose(
            h.counts[j], np.histogram(X[:, j], EDGES[j], weights=W)[0]
        )
        assert h.below[j] == W[X[:, j] < EDGES[j][0]].sum()
        assert h.above[j] == W[X[:, j] > EDGES[j][-1]].sum()


def test_the_last_bin_holds_its_upper_edge_and_the_others_their_lower():
    h = Histogram.of(block_of(np.array([[0.0], [1.0], [2.0]])), edges=[0.0, 1.0, 2.0])
    assert h.counts[0].tolist() == [1.0, 2.0]
    assert h.above.tolist() == [0.0]


def test_missing_cells_are_counted_apart_and_infinities_are_outside():
    h = Histogram.of(
        block_of(np.array([[np.nan], [np.inf], [-np.inf], [0.5]])), edges=[0.0, 1.0]
    )
    assert (h.missing[0], h.above[0], h.below[0], h.counts[0][0]) == (1, 1, 1, 1)


@pytest.mark.parametrize("column", [0, 1])
def test_density_integrates_to_one(column):
    h = of(block_of(X, W))
    assert h.density(column) @ np.diff(EDGES[column]) == pytest.approx(1.0)


def test_weights_equal_repeated_rows():
    assert equal(of(block_of(X, W)), of(block_of(repeated(X, W))))


@given(st.lists(st.integers(1, 499), max_size=6))
def test_any_cut_gives_the_same_histogram(places):
    assert equal(fold(of, cut(X, W, places)), of(block_of(X, W)))


def test_merge_is_commutative():
    a, b = map(of, cut(X, W, [100]))
    assert equal(a.merge(b), b.merge(a))


def test_float32_and_sparse_rows_count_alike():
    single = X.astype(np.float32)
    assert equal(of(block_of(single)), of(block_of(single.astype(float))))
    assert equal(of(block_of(sparse.csr_array(X))), of(block_of(X)))


def test_joint_histogram_is_numpys_and_integrates_to_one():
    h = fold(partial(JointHistogram.of, edges=EDGES), cut(X, W, [120, 300]))
    table = np.histogramdd(X, EDGES, weights=W)[0]
    np.testing.assert_allclose(h.counts, table)
    assert h.outside == pytest.approx(W.sum() - table.sum())
    volume = np.outer(np.diff(EDGES[0]), np.diff(EDGES[1]))
    assert (h.density * volume).sum() == pytest.approx(1.0)


def test_edges_must_ascend():
    with pytest.raises(ValueError, match="ascending"):
        Histogram.of(block_of(X), edges=[0.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="3 columns, but 2"):
        Histogram.of(block_of(X), edges=[EDGES[0]] * 3)

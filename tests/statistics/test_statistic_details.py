"""Corners of statistics: nothing there, whole numbers, one column, merged parts."""

import warnings

import numpy as np
import pytest
from scipy import sparse, stats
from tests.statistics.cut import block_of

from lyceum._core.statistics import PositiveFactor
from lyceum._core.statistics.moments.classes import place_classes
from lyceum._core.statistics.sparse import SparseCells, canonical
from lyceum.statistics import Histogram, Moments, Scatter, independence_test


def test_the_smallest_part_of_a_deficient_matrix_is_at_most_one():
    # R has the values 2 and 0: of the columns themselves nothing is left, of R at most all
    found = PositiveFactor.of(np.ones((2, 2)))
    assert (found.rank, found.smallest) == (1, 1.0)
    assert PositiveFactor.of(np.zeros((2, 2))).smallest == 1.0
    np.testing.assert_allclose(found.solve(np.array([1.0, 1.0])), [0.5, 0.5])
    one = PositiveFactor.of(np.array([[4.0]]))
    assert (one.rank, one.solve(np.array([8.0])).tolist()) == (1, [2.0])


def test_no_rows_have_no_weight():
    scatter = Scatter.of(block_of(np.zeros((0, 3))))
    assert (scatter.n_rows, scatter.weight) == (0, 0.0)
    weighted = block_of(np.ones((2, 3)), w=np.zeros(2))
    assert Scatter.of(weighted).weight == 0.0


def test_merged_histograms_count_everything():
    cells = np.array([[-1.0], [0.5], [0.7], [1.5], [9.0], [np.nan], [np.nan], [np.nan]])
    edges = [np.array([0.0, 1.0, 2.0])]
    whole = Histogram.of(block_of(cells), edges)
    parts = Histogram.of(block_of(cells[:6]), edges).merge(
        Histogram.of(block_of(cells[6:]), edges)
    )
    for found in (whole, parts):
        assert found.counts[0].tolist() == [2, 1]
        assert (found.below.tolist(), found.above.tolist()) == ([1], [1])
        assert (found.missing.tolist(), found.n_rows) == ([3], 8)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32, bool])
def test_moments_of_other_number_types_are_those_of_doubles(kind):
    X = np.array([[1, 0], [0, 1], [1, 1]]).astype(kind)
    found = Moments.of(block_of(X))
    np.testing.assert_allclose(found.mean, [2 / 3, 2 / 3])
    np.testing.assert_allclose(found.scatter, [2 / 3, 2 / 3])
    assert (found.low.tolist(), found.high.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_the_provisional_mean_is_that_of_full_columns():
    X = np.array([[5.0, 1.0, 0.0], [7.0, 0.0, 0.0], [9.0, 3.0, 2.0]])
    cells = SparseCells.of(sparse.csr_array(X))
    assert cells.full.tolist() == [True, False, False]
    assert cells.provisional_mean().tolist() == [7.0, 0.0, 0.0]
    shifted = cells.shift_data(np.array([7.0, 7.0, 7.0]))
    assert shifted.tolist() == [-2.0, 1.0, 0.0, 2.0, 3.0, 2.0]
    nothing = SparseCells.of(sparse.csr_array((0, 3)))
    assert nothing.provisional_mean().tolist() == [0.0, 0.0, 0.0]
    huge = SparseCells.of(sparse.csr_array([[1e308], [-1e308]]))
    with np.errstate(over="ignore"):
        assert huge.provisional_mean().tolist() == [0.0]


def test_cells_that_appear_twice_are_one():
    twice = sparse.csr_array(
        (np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1)
    )
    assert canonical(twice).data.tolist() == [3.0]
    assert twice.data.tolist() == [1.0, 2.0]
    plain = sparse.csr_array([[1.0, 2.0]])
    assert canonical(plain) is plain


def test_classes_are_put_to_their_places():
    values = np.array([[1.0], [2.0]])
    assert place_classes(values, np.array([0, 1]), 2) is values
    assert place_classes(values, np.array([1, 0]), 2).tolist() == [[2.0], [1.0]]
    assert place_classes(values, np.array([0, 2]), 3).tolist() == [[1.0], [0.0], [2.0]]


def test_a_table_without_rows_tells_nothing_about_independence():
    table = np.array([[10.0, 3.0], [4.0, 12.0]])
    counts = np.stack([table, np.zeros((2, 2))], axis=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = independence_test(counts, kind="chi2", correction=False)
    alone = stats.chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(alone.statistic)
    assert found.p_value == pytest.approx(alone.pvalue)

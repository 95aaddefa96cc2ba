"""Least squares from rows against NumPy, and what they do where columns depend on each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lyceum._core.solvers import ranked_squares


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.normal(size=(n, 2))


def test_independent_columns_have_the_coefficients_of_numpy():
    M, Y = table(30, 4)
    found = ranked_squares(M, Y)
    assert found.rank == 4
    assert_allclose(found.coef, np.linalg.lstsq(M, Y, rcond=None)[0], rtol=1e-10)
    assert_allclose(ranked_squares(M, Y[:, 0]).coef, found.coef[:, 0], rtol=1e-12)


def test_fewer_rows_than_columns_are_met_exactly():
    M, Y = table(3, 8)
    found = ranked_squares(M, Y)
    assert found.rank == 3
    assert_allclose(M @ found.coef, Y, atol=1e-10)


def test_equal_columns_share_a_coefficient_and_constant_zeros_have_none():
    M, Y = table(20, 2)
    found = ranked_squares(np.column_stack([M, M[:, 0], np.zeros(20)]), Y)
    assert found.rank == 2
    assert_allclose(found.coef[0], found.coef[2], rtol=1e-10)
    assert_allclose(
        found.coef[0] + found.coef[2],
        np.linalg.lstsq(M, Y, rcond=None)[0][0],
        rtol=1e-10,
    )
    assert_array_equal(found.coef[3], 0.0)


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
def test_neither_units_of_columns_nor_the_scale_of_rows_matter(scale):
    M, Y = table(20, 3)
    M = np.column_stack([M, M[:, 0] + 1e-7 * M[:, 1]])
    units = np.array([1.0, scale, 1.0, 1.0])
    plain, scaled = ranked_squares(M, Y), ranked_squares(M * units, Y)
    assert plain.rank == scaled.rank == 3
    assert_allclose(scaled.coef * units[:, None], plain.coef, rtol=1e-8)
    assert_allclose(ranked_squares(scale * M, scale * Y).coef, plain.coef, rtol=1e-8)


def test_no_rows_have_no_coefficients():
    found = ranked_squares(np.zeros((0, 3)), np.zeros((0, 2)))
    assert found.rank == 0
    assert_array_equal(found.coef, np.zeros((3, 2)))

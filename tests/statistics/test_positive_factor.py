"""Positive semidefinite solves against NumPy's pseudo-inverse."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lyceum._core.statistics import UNEXPLAINED, PositiveFactor


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(0, 6))
def test_solve_is_multiplication_by_the_pseudo_inverse(seed, d, lost):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(d, max(0, d - lost))) * np.exp(rng.normal(size=d))[:, None]
    A = B @ B.T
    factor = PositiveFactor.of(A)
    want = np.linalg.pinv(A, rcond=1e-11, hermitian=True)
    assert factor.rank == max(0, d - lost)
    assert_allclose(
        factor.inverse(), want, rtol=1e-5, atol=1e-6 * np.abs(want).max(initial=1e-300)
    )
    b = A @ rng.normal(size=d)
    assert_allclose(
        A @ factor.solve(b), b, rtol=1e-8, atol=1e-8 * np.abs(b).max(initial=0)
    )


def test_units_of_columns_do_not_matter():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 4))
    units = 10.0 ** np.array([-80, -3, 0, 90])
    plain, scaled = (
        PositiveFactor.of(X.T @ X),
        PositiveFactor.of((X * units).T @ (X * units)),
    )
    assert scaled.rank == 4
    assert_allclose(
        scaled.inverse() * np.outer(units, units), plain.inverse(), rtol=1e-10
    )


def test_dependent_columns_are_found_and_others_not():
    X = np.random.default_rng(2).normal(size=(40, 5))
    X[:, 3] = X[:, 0] - 2 * X[:, 1]
    X[:, 2] = 0
    factor = PositiveFactor.of(X.T @ X)
    assert_array_equal(factor.dependent, [0, 1, 2, 3])
    assert factor.rank == 3


@pytest.mark.parametrize("size", [0, 3])
def test_nothing_is_solved_by_nothing(size):
    factor = PositiveFactor.of(np.zeros((size, size)))
    assert factor.rank == 0
    assert_array_equal(factor.solve(np.zeros(size)), np.zeros(size))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_what_is_nearly_dependent_is_null_at_a_higher_level(scale):
    X = np.random.default_rng(3).normal(size=(40, 3))
    X[:, 2] = X[:, 0] + 1e-6 * X[:, 2]
    A = scale * (X.T @ X)
    assert PositiveFactor.of(A).rank == 3
    factor = PositiveFactor.of(A, level=UNEXPLAINED)
    assert factor.rank == 2
    want = PositiveFactor.of(X.T @ X, level=UNEXPLAINED).inverse()
    assert_allclose(scale * factor.inverse(), want, rtol=1e-9, atol=1e-12)

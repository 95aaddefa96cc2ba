"""One Lloyd pass against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.native.draws import counts, generators, weighted


def lloyd(native, X, centers, w=None):
    k, d = centers.shape
    sums, weights = np.zeros((k, d)), np.zeros(k)
    labels, distances = np.full(len(X), -1, np.int32), np.zeros(len(X))
    inertia = native.lloyd(X, centers, w, sums, weights, labels, distances)
    return inertia, sums, weights, labels, distances


@settings(max_examples=60)
@given(
    rng=generators,
    n=counts(0, 500),
    d=counts(1, 40),
    k=counts(1, 70),
    offset=st.sampled_from([0, 1e6]),
    weighted=weighted,
)
def test_rows_go_to_their_nearest_center(native, dtype, rng, n, d, k, offset, weighted):
    X = (rng.normal(size=(n, d)) * (1 if offset == 0 else 100) + offset).astype(dtype)
    centers = (rng.normal(size=(k, d)) * (1 if offset == 0 else 100) + offset).astype(
        dtype
    )
    w = rng.random(n) if weighted else None
    v = np.ones(n) if w is None else w
    inertia, sums, weights, labels, distances = lloyd(native, X, centers, w)
    D = ((X[:, None].astype(np.float64) - centers[None].astype(np.float64)) ** 2).sum(
        axis=2
    )
    nearest, chosen = D.min(axis=1), D[np.arange(n), labels]
    assert_allclose(chosen, nearest, rtol=1e-4 if dtype == np.float32 else 1e-9)
    assert_allclose(distances, chosen, rtol=1e-12)
    assert_allclose(inertia, (v * chosen).sum(), rtol=1e-12)
    weighted_rows = v[:, None] * X.astype(np.float64)
    assert_allclose(weights, [v[labels == c].sum() for c in range(k)], rtol=1e-12)
    assert_allclose(
        sums,
        [weighted_rows[labels == c].sum(axis=0) for c in range(k)],
        rtol=1e-12,
        atol=1e-12,
    )


def test_the_lowest_of_equal_centers_wins(native, dtype, rng):
    X = rng.normal(size=(300, 5)).astype(dtype)
    centers = np.repeat(rng.normal(size=(1, 5)).astype(dtype), 20, axis=0)
    assert_array_equal(lloyd(native, X, centers)[3], 0)


def test_labels_and_distances_are_optional(native, dtype, rng):
    X, centers = (
        rng.normal(size=(200, 4)).astype(dtype),
        rng.normal(size=(6, 4)).astype(dtype),
    )
    sums, weights = np.zeros((6, 4)), np.zeros(6)
    inertia = native.lloyd(X, centers, None, sums, weights)
    full = lloyd(native, X, centers)
    assert inertia == full[0]
    assert_array_equal(sums, full[1])


def test_wrong_arguments_are_named(native):
    X = np.ones((4, 3))
    with pytest.raises(
        ValueError, match=r"centers has shape \(2, 2\), expected \(2, 3\)"
    ):
        lloyd(native, X, np.ones((2, 2)))
    with pytest.raises(ValueError, match="centers must have at least one row"):
        lloyd(native, X, np.ones((0, 3)))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        lloyd(native, X, np.ones((2, 3), np.float32))

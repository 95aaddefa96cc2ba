"""Log losses over dense and sparse blocks: the same numbers, and gradients by finite
differences."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from lyceum._core.statistics import LogisticLoss, SoftmaxCurvature, SoftmaxLoss
from lyceum.data import Block, Column, Schema


def setting(K, seed, n=60, d=4, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    X[:, -1] = 1e4 + rng.normal(size=n)  # a column without a gap, far from zero
    X = X.astype(dtype)
    coef = rng.normal(size=d + 1) if K == 2 else rng.normal(size=(K, d + 1))
    schema = Schema.of_numbers([f"x{j}" for j in range(d)]).with_target(
        Column("y", "categorical", np.arange(K))
    )
    y, w = rng.integers(0, K, n).astype(np.int32), rng.uniform(0, 2, n)
    return (
        Block(X, y, w, 0, schema),
        coef,
        X.mean(axis=0, dtype=np.float64),
        rng.uniform(0.5, 2, K),
    )


def loss_of(K):
    return LogisticLoss if K == 2 else SoftmaxLoss


@given(st.integers(0, 10_000), st.sampled_from([2, 3, 5]), st.booleans())
def test_gradient_and_hessian_are_the_slopes(seed, K, is_sparse):
    block, coef, shift, class_weight = setting(K, seed)
    block = (
        block.with_X(sparse.csr_array(block.X), block.schema) if is_sparse else block
    )
    at = lambda c, hessian=False: loss_of(K).of(block, c, shift, hessian, class_weight)  # noqa: E731
    found, step = (
        at(coef, hessian=True),
        np.random.default_rng(seed).normal(size=coef.shape),
    )
    h = 1e-5
    up, down = at(coef + h * step), at(coef - h * step)
    assert_allclose(
        (up.value - down.value) / (2 * h),
        np.vdot(found.gradient, step),
        rtol=1e-5,
        atol=1e-5,
    )
    bend = ((up.gradient - down.gradient) / (2 * h)).ravel()
    assert_allclose(bend, found.hessian @ step.ravel(), rtol=1e-5, atol=1e-5)
    assert_allclose(found.hessian, found.hessian.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("hessian", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_blocks_give_what_dense_ones_give(K, hessian, dtype):
    block, coef, shift, class_weight = setting(K, 1, dtype=dtype)
    thin = block.with_X(sparse.csr_array(block.X), block.schema)
    one = loss_of(K).of(block, coef, shift, hessian, class_weight)
    two = loss_of(K).of(thin, coef, shift, hessian, class_weight)
    assert_allclose(two.value, one.value, rtol=1e-10)
    assert_allclose(two.gradient, one.gradient, rtol=1e-8, atol=1e-8)
    assert (two.hessian is None) == (not hessian)
    if hessian:
        assert_allclose(two.hessian, one.hessian, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_curvature_of_chosen_coefficients_is_the_corner_of_the_hessian(is_sparse):
    block, coef, shift, class_weight = setting(4, 3)
    block = (
        block.with_X(sparse.csr_array(block.X), block.schema) if is_sparse else block
    )
    chosen = np.array([0, 3, 7, 8, 14, 4, 9])
    whole = SoftmaxLoss.of(block, coef, shift, True, class_weight).hessian
    first = np.arange(len(block)) < 23
    parts = [
        SoftmaxCurvature.of(block.take(keep), coef, shift, chosen, class_weight)
        for keep in (first, ~first)
    ]
    found = parts[0].merge(parts[1]).hessian
    scale = np.sqrt(np.diagonal(whole)[chosen])
    assert_allclose(
        (found - whole[np.ix_(chosen, chosen)]) / np.outer(scale, scale), 0, atol=3e-6
    )


@pytest.mark.parametrize("K", [2, 3])
def test_merging_parts_gives_the_whole(K):
    block, coef, shift, _ = setting(K, 2)
    first = np.arange(len(block)) < 23
    whole = loss_of(K).of(block, coef, shift, True)
    parts = [
        loss_of(K).of(block.take(keep), coef, shift, True) for keep in (first, ~first)
    ]
    for merged in (parts[0].merge(parts[1]), parts[1].merge(parts[0])):
        assert_allclose(merged.value, whole.value, rtol=1e-12)
        assert_allclose(merged.gradient, whole.gradient, rtol=1e-10, atol=1e-10)
        assert_allclose(merged.hessian, whole.hessian, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("K", [2, 3])
def test_second_derivatives_are_summed_only_if_they_are_wanted(K):
    block, coef, shift, _ = setting(K, 0)
    assert loss_of(K).of(block, coef, shift).hessian is None

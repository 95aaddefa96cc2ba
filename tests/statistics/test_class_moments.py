"""Moments by class: definitions, and the laws of merging."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from lyceum.data import Block, Column, Schema
from lyceum.statistics import ClassMoments, ClassScatter


def block_of(X, labels, w=None):
    """A block that knows only the classes of its own rows."""
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    schema = Schema.of_numbers([f"x{j}" for j in range(X.shape[1])])
    target = Column("y", "categorical", classes)
    return Block(
        X,
        codes.astype(np.int32),
        None if w is None else np.asarray(w, float),
        0,
        schema.with_target(target),
    )


def random_block(seed, n, offset=0.0, missing=0.0, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + offset
    X[rng.random(X.shape) < missing] = np.nan
    return X, rng.integers(0, classes, n), rng.integers(0, 4, n).astype(float)


def close(one, two, scale=1.0):
    assert one.n_rows == two.n_rows
    np.testing.assert_array_equal(one.classes, two.classes)
    np.testing.assert_allclose(one.class_weight, two.class_weight, rtol=1e-13)
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(one.scatter, two.scatter, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_moments_by_class_are_those_of_the_cells_that_are_there(offset):
    X, y, w = random_block(0, 80, offset, missing=0.2)
    found = ClassMoments.of(block_of(X, y, w))
    for k in range(3):
        for j in range(3):
            there = (y == k) & ~np.isnan(X[:, j])
            mean = np.average(X[there, j], weights=w[there])
            assert found.weight[k, j] == w[there].sum()
            assert found.mean[k, j] == pytest.approx(mean, rel=1e-14)
            assert found.scatter[k, j] == pytest.approx(
                (w[there] * (X[there, j] - mean) ** 2).sum(), rel=1e-8
            )


STATISTICS = {
    "diagonal": ClassMoments.of,
    "full": ClassScatter.of,
    "pooled": lambda block: ClassScatter.of(block, pooled=True),
}


@pytest.fixture(params=STATISTICS)
def of(request):
    return STATISTICS[request.param]


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_merge_is_commutative_associative_and_equals_one_block(of, offset):
    parts = [
        random_block(seed, n, offset, classes=c)
        for seed, n, c in ((1, 30, 3), (2, 7, 1), (3, 12, 4))
    ]
    a, b, c = (of(block_of(*part)) for part in parts)
    whole = of(block_of(*(np.concatenate(values) for values in zip(*parts))))
    close(a.merge(b), b.merge(a))
    close(a.merge(b).merge(c), a.merge(b.merge(c)))
    close(a.merge(b).merge(c), whole)


def test_whole_weights_equal_repeated_rows(of):
    X, y, w = random_block(4, 40)
    times = w.astype(int)
    one, two = (
        of(block_of(X, y, w)),
        of(block_of(np.repeat(X, times, axis=0), np.repeat(y, times))),
    )
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-12)
    np.testing.assert_allclose(one.scatter, two.scatter, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(one.class_weight, two.class_weight)


def test_float32_rows_are_summed_in_float64(of):
    X, y, w = random_block(5, 500)
    X32 = X.astype(np.float32)
    close(of(block_of(X32, y, w)), of(block_of(X32.astype(np.float64), y, w)))


def test_a_sparse_block_equals_the_dense_one(of):
    X, y, w = random_block(6, 40)
    X[np.abs(X) < 0.7] = 0.0
    close(of(block_of(sparse.csr_array(X), y, w)), of(block_of(X, y, w)))


def test_over_classes_forgets_the_classes(of):
    X, y, w = random_block(7, 60, offset=1e6)
    weight, mean, scatter = of(block_of(X, y, w)).over_classes()
    np.testing.assert_allclose(weight, w.sum())
    np.testing.assert_allclose(mean, np.average(X, axis=0, weights=w), rtol=1e-14)
    np.testing.assert_allclose(
        scatter,
        (w[:, None] * (X - np.average(X, axis=0, weights=w)) ** 2).sum(axis=0),
        rtol=1e-8,
    )


@given(st.floats(-1e9, 1e9), st.integers(2, 60))
def test_a_constant_column_has_no_scatter_at_all(value, n):
    X = np.full((n, 1), value)
    y = np.arange(n) % 3
    for of in STATISTICS.values():
        whole = of(block_of(X[: n // 2], y[: n // 2])).merge(
            of(block_of(X[n // 2 :], y[n // 2 :]))
        )
        assert not whole.scatter.any()
        assert not whole.over_classes()[2].any()


def test_classes_in_another_order_are_merged_by_label():
    X = np.array([[1.0], [2.0], [5.0]])
    schema = Schema.of_numbers(["x"])
    one = Block(
        X,
        np.array([0, 0, 1], np.int32),
        None,
        0,
        schema.with_target(Column("y", "binary", np.array(["a", "b"]))),
    )
    two = Block(
        X,
        np.array([1, 1, 0], np.int32),
        None,
        0,
        schema.with_target(Column("y", "binary", np.array(["b", "a"]))),
    )
    merged = ClassMoments.of(one).merge(ClassMoments.of(two))
    assert merged.classes.tolist() == ["a", "b"]
    assert merged.mean.ravel().tolist() == [1.5, 5.0]
    assert merged.class_weight.tolist() == [4.0, 2.0]


def test_a_class_without_weight_in_either_block_merges_to_no_weight():
    X, labels, _ = random_block(0, 12)
    labels[:3] = [0, 1, 2]
    w = np.where(labels == 2, 0.0, 1.0)
    block = block_of(X, labels, w)
    merged = ClassScatter.of(block).merge(ClassScatter.of(block))
    assert merged.weight[2] == 0.0
    assert merged.is_finite

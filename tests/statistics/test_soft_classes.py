"""Moments, scatters and counts weighted by responsibilities: brute force, and the laws of
merging."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from lyceum.data import Block, Column, Schema
from lyceum.statistics import ClassMoments, ClassScatter, Counts


def block_of(X, w=None, y=None, classes=3):
    schema = Schema.of_numbers([f"x{j}" for j in range(X.shape[1])])
    if y is not None:
        schema = schema.with_target(Column("y", "categorical", np.arange(classes)))
    return Block(X, y, w, 0, schema)


def random_rows(seed, n, K=3, d=4, offset=0.0, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + offset
    X[rng.random(X.shape) < missing] = np.nan
    return X, rng.dirichlet(np.ones(K), n), rng.integers(0, 4, n).astype(float)


def brute_scatter(X, v):
    mean = (v[:, None] * X).sum(axis=0) / v.sum()
    return v.sum(), mean, (v[:, None] * (X - mean)).T @ (X - mean)


STATISTICS = {
    "diagonal": ClassMoments.of,
    "full": ClassScatter.of,
    "pooled": lambda block, responsibilities: ClassScatter.of(
        block, True, responsibilities
    ),
}


@pytest.fixture(params=STATISTICS)
def of(request):
    return STATISTICS[request.param]


def close(one, two, scale=1.0):
    assert one.n_rows == two.n_rows
    np.testing.assert_array_equal(one.classes, two.classes)
    np.testing.assert_allclose(one.class_weight, two.class_weight, rtol=1e-12)
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.scatter, two.scatter, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("weighted", [False, True])
def test_scatter_is_that_of_rows_weighted_by_their_responsibilities(
    dtype, offset, weighted
):
    X, R, w = random_rows(0, 300, offset=offset)
    X, w = X.astype(dtype), w if weighted else None
    full = ClassScatter.of(block_of(X, w), responsibilities=R)
    pooled = ClassScatter.of(block_of(X, w), pooled=True, responsibilities=R)
    diagonal = ClassMoments.of(block_of(X, w), responsibilities=R)
    total = np.zeros((4, 4))
    for k in range(3):
        v = R[:, k] if w is None else w * R[:, k]
        weight, mean, S = brute_scatter(X.astype(np.float64), v)
        total += S
        assert full.weight[k] == pytest.approx(weight, rel=1e-13)
        np.testing.assert_allclose(full.mean[k], mean, rtol=1e-13)
        np.testing.assert_allclose(
            full.scatter[k], S, rtol=1e-9, atol=1e-9 * np.trace(S)
        )
        np.testing.assert_allclose(diagonal.mean[k], mean, rtol=1e-13)
        np.testing.assert_allclose(diagonal.scatter[k], np.diag(S), rtol=1e-9)
    np.testing.assert_allclose(
        pooled.scatter[0], total, rtol=1e-9, atol=1e-9 * np.trace(total)
    )


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_merge_is_commutative_associative_and_equals_one_block(of, offset):
    parts = [
        random_rows(seed, n, offset=offset) for seed, n in ((1, 30), (2, 1), (3, 140))
    ]
    a, b, c = (of(block_of(X, w), responsibilities=R) for X, R, w in parts)
    X, R, w = (np.concatenate(values) for values in zip(*parts))
    close(a.merge(b), b.merge(a))
    close(a.merge(b).merge(c), a.merge(b.merge(c)))
    close(a.merge(b).merge(c), of(block_of(X, w), responsibilities=R))


def test_hard_responsibilities_are_classes(of):
    X, _, w = random_rows(4, 200)
    y = np.random.default_rng(5).integers(0, 3, 200).astype(np.int32)
    hard = of(block_of(X, w), responsibilities=np.eye(3)[y])
    if of is STATISTICS["pooled"]:
        classes = ClassScatter.of(block_of(X, w, y), pooled=True)
    else:
        classes = (ClassMoments if of == ClassMoments.of else ClassScatter).of(
            block_of(X, w, y)
        )
    close(hard, classes)


def test_whole_weights_equal_repeated_rows(of):
    X, R, w = random_rows(6, 60)
    times = w.astype(int)
    one = of(block_of(X, w), responsibilities=R)
    two = of(
        block_of(np.repeat(X, times, axis=0)),
        responsibilities=np.repeat(R, times, axis=0),
    )
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-12)
    np.testing.assert_allclose(one.scatter, two.scatter, rtol=1e-10, atol=1e-12)


def test_responsibilities_of_one_component_are_all_rows(of):
    X, _, w = random_rows(7, 80)
    found = of(block_of(X, w), responsibilities=np.ones((80, 1)))
    weight, mean, S = brute_scatter(X, w)
    assert found.class_weight[0] == pytest.approx(weight)
    np.testing.assert_allclose(found.mean[0], mean)
    expected = np.diag(S) if found.scatter.ndim == 2 else S
    np.testing.assert_allclose(found.scatter[0], expected, rtol=1e-9, atol=1e-9)


def test_a_component_without_rows_weighs_nothing(of):
    X, R, w = random_rows(8, 50)
    R[:, 1] = 0.0
    found = of(block_of(X, w), responsibilities=R)
    assert found.class_weight[1] == 0.0
    assert not found.mean[1].any()
    if len(found.scatter) > 1:
        assert not found.scatter[1].any()


def test_missing_cells_are_left_out_one_by_one():
    X, R, w = random_rows(9, 200, missing=0.3)
    found = ClassMoments.of(block_of(X, w), responsibilities=R)
    for k in range(3):
        for j in range(4):
            there = ~np.isnan(X[:, j])
            weight, mean, S = brute_scatter(X[there, j, None], (w * R[:, k])[there])
            assert found.weight[k, j] == pytest.approx(weight)
            assert found.mean[k, j] == pytest.approx(mean[0])
            assert found.scatter[k, j] == pytest.approx(S[0, 0])


def test_a_sparse_block_equals_the_dense_one(of):
    X, R, w = random_rows(10, 40)
    X[np.abs(X) < 0.7] = 0.0
    sparse_one = of(block_of(sparse.csr_array(X), w), responsibilities=R)
    close(sparse_one, of(block_of(X, w), responsibilities=R))


@given(st.floats(-1e9, 1e9), st.integers(2, 60))
@settings(deadline=None)
def test_a_constant_column_has_no_scatter_at_all(value, n):
    X, R = np.full((n, 1), value), np.random.default_rng(n).dirichlet([1, 1], n)
    for of in STATISTICS.values():
        halves = (slice(n // 2), slice(n // 2, n))
        one, two = (of(block_of(X[some]), responsibilities=R[some]) for some in halves)
        assert not one.merge(two).scatter.any()


def test_responsibilities_of_other_rows_are_refused(of):
    X, R, _ = random_rows(11, 20)
    with pytest.raises(ValueError, match="one row per row"):
        of(block_of(X), responsibilities=R[:10])


# -- counts ----------------------------------------------------------------------------


def coded_block(seed, n, w=None):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 3, n), rng.normal(size=n), rng.integers(0, 2, n)]
    ).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[rng.random(n) < 0.1, 0] = -1.0
    columns = (
        Column("a", "categorical", np.array(["p", "q", "r"])),
        Column("x", "continuous"),
        Column("b", "binary", np.array([False, True])),
    )
    return Block(X, None, w, 0, Schema(columns))


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_sums_of_responsibilities(weighted):
    rng = np.random.default_rng(0)
    w = rng.random(500) if weighted else None
    block, R = coded_block(1, 500, w), rng.dirichlet(np.ones(4), 500)
    found = Counts.of(block, responsibilities=R)
    v = R if w is None else w[:, None] * R
    np.testing.assert_allclose(found.class_weight, v.sum(axis=0))
    for name, place, values in (("a", 0, 3), ("b", 2, 2)):
        expected = [
            v[block.X[:, place] == value].sum(axis=0) for value in range(values)
        ]
        np.testing.assert_allclose(found.table(name), expected, rtol=1e-12)


def test_counts_merge_and_hard_responsibilities_are_classes():
    rng = np.random.default_rng(2)
    block, y = coded_block(3, 300), rng.integers(0, 3, 300).astype(np.int32)
    R = np.eye(3)[y]
    whole = Counts.of(block, responsibilities=R)
    first, rest = np.arange(300) < 110, np.arange(300) >= 110
    parts = [
        Counts.of(block.take(some), responsibilities=R[some]) for some in (first, rest)
    ]
    np.testing.assert_array_equal(parts[0].merge(parts[1]).counts, whole.counts)
    target = block.schema.with_target(Column("y", "categorical", np.arange(3)))
    hard = Counts.of(Block(block.X, y, None, 0, target))
    np.testing.assert_array_equal(hard.counts, whole.counts)

"""Moments and scatter against their definitions, and the laws of merging."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lyceum.data import Block, Column, Schema
from lyceum.statistics import Moments, Scatter


def block(X, y=None, w=None):
    schema = Schema.of_numbers([f"x{j}" for j in range(X.shape[1])])
    return Block(X, y, w, 0, schema if y is None else schema.with_target(Column("y")))


def some_rows(seed, n=60, d=3, offset=0.0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(offset, 1, (n, d)), rng.normal(offset, 2, n)
    return X, y, rng.uniform(0, 2, n) * (rng.random(n) < 0.8)


def parts(seed, X, y, w, n_parts=4):
    """The same rows in pieces, one of them empty of weight."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(X) + 1, n_parts - 1))
    pieces = [p for p in np.split(np.arange(len(X)), cuts) if len(p)]
    return [block(X[p], y[p], w[p]) for p in pieces] + [
        block(X[:2], y[:2], np.zeros(2))
    ]


def defined_scatter(X, y, w):
    Z = np.column_stack([X, y])
    mean = np.average(Z, axis=0, weights=w)
    return mean, ((Z - mean) * w[:, None]).T @ (Z - mean)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1e6]))
def test_scatter_follows_the_definition_however_the_rows_are_cut(seed, offset):
    X, y, w = some_rows(seed, offset=offset)
    summaries = [Scatter.of(part, target=True) for part in parts(seed, X, y, w)]
    forth, back = summaries[0], summaries[-1]
    for other in summaries[1:]:
        forth = forth.merge(other)
    for other in reversed(summaries[:-1]):
        back = back.merge(other)
    mean, scatter = defined_scatter(X, y, w)
    for found in (Scatter.of(block(X, y, w), target=True), forth, back):
        assert found.n_rows == np.count_nonzero(w)
        assert_allclose(found.weight, w.sum(), rtol=1e-13)
        assert_allclose(found.mean, mean, rtol=1e-13, atol=1e-13)
        assert_allclose(found.scatter, scatter, rtol=1e-8, atol=1e-8)
    assert_allclose(forth.xx, scatter[:3, :3], rtol=1e-8, atol=1e-8)
    assert_allclose(forth.xy, scatter[:3, 3], rtol=1e-8, atol=1e-8)
    assert_allclose([forth.yy, forth.y_mean], [scatter[3, 3], mean[3]], rtol=1e-8)


@pytest.mark.parametrize("density", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_scatter_and_moments_are_those_of_the_dense_rows(
    density, kind, weighted
):
    rng = np.random.default_rng(3)
    thin = sparse.random_array((200, 6), density=density, random_state=rng, dtype=kind)
    full = 1e6 + rng.integers(-5, 5, (200, 1)).astype(kind)
    X = sparse.csr_array(sparse.hstack([thin, full, np.full((200, 1), 0.3, kind)]))
    y, w = rng.normal(1e5, 1, 200), rng.uniform(0, 2, 200) if weighted else None
    mean, scatter = defined_scatter(
        X.toarray().astype(np.float64), y, np.ones(200) if w is None else w
    )
    found = Scatter.of(block(X, y, w), target=True)
    assert_allclose(found.mean, mean, rtol=1e-12)
    assert_allclose(found.scatter, scatter, rtol=1e-7, atol=1e-7)
    assert found.scatter[7, 7] == 0.0
    here, there = Moments.of(block(X, w=w)), Moments.of(block(X.toarray(), w=w))
    for name in ("weight", "mean", "low", "high"):
        assert_allclose(
            getattr(here, name), getattr(there, name), rtol=1e-12, atol=1e-15
        )
    assert_allclose(here.scatter, there.scatter, rtol=1e-7, atol=1e-9)


def test_cells_stored_twice_are_added():
    twice = sparse.csr_array(
        (np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])),
        shape=(2, 9),
    )
    once = sparse.csr_array(twice.toarray())
    assert_array_equal(
        Scatter.of(block(twice)).scatter, Scatter.of(block(once)).scatter
    )


@given(st.integers(0, 10_000))
def test_sparse_moments_leave_missing_cells_out(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < [0.0, 0.2, 0.5, 1.0, 1.0])
    X[rng.random(X.shape) < 0.1] = np.nan
    w = rng.uniform(0, 2, 40)
    here, there = Moments.of(block(sparse.csr_array(X), w=w)), Moments.of(block(X, w=w))
    for name in ("weight", "mean", "scatter", "low", "high"):
        assert_allclose(
            getattr(here, name), getattr(there, name), rtol=1e-10, atol=1e-12
        )


def test_constant_column_has_no_scatter_at_all():
    X = np.full((1000, 1), 1e6 / 3)
    found = Scatter.of(block(X[:300])).merge(Scatter.of(block(X[300:])))
    assert found.scatter[0, 0] == 0.0


@given(st.integers(0, 10_000))
def test_other_columns_by_a_linear_map(seed):
    X, y, w = some_rows(seed)
    rng = np.random.default_rng(seed)
    matrix, offset = rng.normal(size=(4, 3)), rng.normal(size=4)
    for target in (True, False):
        moved = Scatter.of(block(X, y, w), target).map_columns(matrix, offset)
        want = Scatter.of(block(X @ matrix.T + offset, y, w), target)
        assert_allclose(moved.mean, want.mean, rtol=1e-10, atol=1e-12)
        assert_allclose(moved.scatter, want.scatter, rtol=1e-9, atol=1e-9)


def test_about_the_origin_it_is_the_raw_gram_matrix():
    X, y, w = some_rows(4, offset=3.0)
    raw = Scatter.of(block(X, y, w), target=True).about_origin()
    Z = np.column_stack([X, y])
    assert_allclose(raw.scatter, (Z * w[:, None]).T @ Z, rtol=1e-11)
    assert not raw.mean.any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("place", [(0, 0), (150, 4)])
def test_bad_cell_shows_in_the_sums(bad, form, place):
    X = np.zeros((200, 6))
    X[:, 0] = 1.0
    X[place] = bad
    with np.errstate(invalid="ignore"):
        assert not Scatter.of(block(form(X))).is_finite
    assert Scatter.of(block(form(np.eye(6)))).is_finite


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1e6]))
def test_moments_leave_missing_cells_out_however_the_rows_are_cut(seed, offset):
    X, y, w = some_rows(seed, offset=offset)
    X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
    summaries = [Moments.of(part) for part in parts(seed, X, y, w)]
    merged = summaries[0]
    for other in summaries[1:]:
        merged = merged.merge(other)
    for j, x in enumerate(X.T):
        there = ~np.isnan(x)
        v = w[there]
        mean = np.average(x[there], weights=v)
        assert_allclose(
            [merged.weight[j], merged.mean[j]], [v.sum(), mean], rtol=1e-12, atol=1e-13
        )
        assert_allclose(
            merged.scatter[j], v @ (x[there] - mean) ** 2, rtol=1e-7, atol=1e-8
        )
        assert (merged.low[j], merged.high[j]) == (x[there].min(), x[there].max())
    assert_allclose(
        merged.variance(1.0), merged.scatter / (merged.weight - 1), rtol=1e-12
    )


def test_a_sparse_block_without_rows_adds_nothing():
    some = block(
        sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]])), y=np.array([1.0, 2.0])
    )
    none = block(sparse.csr_array(np.empty((0, 2))), y=np.empty(0))
    whole = Scatter.of(some, target=True)
    for merged in (
        whole.merge(Scatter.of(none, target=True)),
        Scatter.of(none, target=True).merge(whole),
    ):
        assert_allclose(merged.mean, whole.mean)
        assert_allclose(merged.scatter, whole.scatter)

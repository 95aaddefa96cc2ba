from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from tests.statistics.cut import block_of, cut, fold

from lyceum.statistics import RowSample

X = np.arange(600.0).reshape(300, 2)


def sampler(size=40, seed=3):
    return lambda block: RowSample.of(block, size=size, seed=seed)


def same(one, two):
    cells = [s.X.toarray() if sparse.issparse(s.X) else s.X for s in (one, two)]
    return (
        np.array_equal(*cells)
        and np.array_equal(one.rows, two.rows)
        and np.array_equal(one.keys, two.keys)
        and one.limit == two.limit
        and one.n_rows == two.n_rows
    )


@given(st.lists(st.integers(1, 299), max_size=8), st.booleans())
def test_any_cut_draws_the_same_rows(places, weighted):
    w = np.linspace(0.1, 3, 300) if weighted else None
    assert same(fold(sampler(), cut(X, w)), fold(sampler(), cut(X, w, places)))


@given(st.lists(st.integers(1, 299), min_size=2, max_size=2, unique=True))
def test_merge_is_associative_and_commutative(places):
    parts = [sampler()(block) for block in cut(X, None, places)]
    a, b, c = parts
    assert same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert same(a.merge(b), b.merge(a))


@pytest.mark.parametrize("size", [1, 40, 299, 300])
def test_knowing_the_number_of_rows_changes_nothing(size):
    many = np.arange(3000.0)[:, None]
    for data in (X, many):
        knows = partial(RowSample.of, size=size, seed=3, n_rows=len(data))
        knowing = fold(knows, cut(data, None, [9]))
        assert same(knowing, fold(sampler(size=size), cut(data)))


def test_sparse_rows_draw_as_dense_ones():
    dense = fold(sampler(), cut(X, None, [100]))
    assert same(fold(sampler(), cut(sparse.csr_array(X), None, [100])), dense)


def test_rows_of_weight_zero_are_never_drawn():
    w = np.where(np.arange(300) % 3 == 0, 0.0, 1.0)
    sample = fold(sampler(size=250), cut(X, w, [50, 170]))
    assert len(sample) == 200
    assert (sample.rows % 3 != 0).all()


def test_cells_targets_weights_and_numbers_stay_together():
    y, w = np.arange(300.0), np.linspace(1, 2, 300)
    sample = RowSample.of(block_of(X, w, start=1000, y=y), size=20, seed=0)
    places = sample.rows - 1000
    np.testing.assert_array_equal(sample.X, X[places])
    np.testing.assert_array_equal(sample.y, y[places])
    np.testing.assert_array_equal(sample.w, w[places])


def test_head_is_the_sample_of_a_smaller_size():
    blocks = cut(X, None, [77, 200])
    assert same(fold(sampler(size=40), blocks).head(15), fold(sampler(size=15), blocks))


def test_all_rows_are_kept_with_their_own_weights_when_they_fit():
    w = np.linspace(0.5, 2, 300)
    sample = fold(sampler(size=300), cut(X, w, [10]))
    assert sample.limit == np.inf
    np.testing.assert_array_equal(sample.weights, w[sample.rows])


@pytest.mark.parametrize("weighted", [False, True])
def test_weighted_sums_over_the_sample_are_unbiased(weighted):
    w = np.random.default_rng(0).exponential(size=300) if weighted else None
    truth = (np.ones(300) if w is None else w) @ X[:, 0]
    estimates = []
    for seed in range(600):
        sample = RowSample.of(block_of(X, w), size=40, seed=seed)
        estimates.append(sample.weights @ sample.X[:, 0])
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - truth) < 4 * error


def test_chances_follow_the_weights():
    w = np.array([1.0, 3.0, 0.0])
    first = [
        RowSample.of(block_of(X[:3], w), size=1, seed=seed).rows[0]
        for seed in range(4000)
    ]
    # p = 3/4, standard deviation of the proportion sqrt(p q / n) = 0.0068
    assert abs(np.mean(np.array(first) == 1) - 0.75) < 4 * 0.0068


def test_seeds_draw_different_rows():
    assert not np.array_equal(
        sampler(seed=1)(block_of(X)).rows, sampler(seed=2)(block_of(X)).rows
    )

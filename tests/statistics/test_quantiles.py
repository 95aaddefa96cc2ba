from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from tests.statistics.cut import block_of, cut, fold, repeated

from lyceum._core.statistics import midpoints, quantile_cuts
from lyceum.statistics import Quantiles

Q = np.array([0.0, 0.01, 0.1, 0.25, 0.5, 0.7, 0.99, 1.0])
cells = st.floats(-100, 100).map(lambda x: round(x, 1))
numbers = arrays(float, st.tuples(st.integers(1, 60), st.just(1)), elements=cells)


def rank_errors(sketch, x, w, q=Q):
    """By how much the rank of every answer is off, as a fraction of the weight."""
    order = np.argsort(x)
    x, reached = x[order], np.cumsum(w[order]) / w.sum()
    answers = sketch.quantile(q)[:, 0]
    above = np.append(0.0, reached)[np.searchsorted(x, answers, side="left")]
    below = np.append(0.0, reached)[np.searchsorted(x, answers, side="right")]
    return np.maximum(np.maximum(above - q, q - below), 0.0)


@given(numbers)
def test_few_rows_give_the_exact_quantiles(X):
    expected = np.quantile(X, Q, axis=0, method="averaged_inverted_cdf")
    np.testing.assert_allclose(
        Quantiles.of(block_of(X)).quantile(Q), expected, atol=1e-12
    )


@given(numbers, st.integers(0, 5))
def test_weights_equal_repeated_rows(X, seed):
    w = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
    w[0] = 1.0
    one, two = Quantiles.of(block_of(X, w)), Quantiles.of(block_of(repeated(X, w)))
    np.testing.assert_array_equal(one.quantile(Q), two.quantile(Q))
    np.testing.assert_array_equal(one.weight, two.weight)


@given(st.lists(st.integers(1, 9999), max_size=30), st.booleans())
def test_ranks_are_wrong_by_at_most_the_stated_error(places, weighted):
    rng = np.random.default_rng(len(places))
    X = rng.standard_normal((10000, 1)) ** 3
    w = rng.exponential(size=10000) if weighted else np.ones(10000)
    sketch = fold(
        partial(Quantiles.of, size=128), cut(X, w if weighted else None, places)
    )
    assert 0 < sketch.error[0] < (0.1 if weighted else 0.06)
    assert (
        rank_errors(sketch, X[:, 0], w, np.linspace(0, 1, 101)).max()
        <= sketch.error[0] + 1e-9
    )
    assert len(sketch.columns[0].values) <= 128 * 15


def test_the_error_of_equal_weights_is_the_documented_one():
    X = np.random.default_rng(0).random((1 << 17, 1))
    sketch = fold(
        partial(Quantiles.of, size=256), cut(X, None, range(0, 1 << 17, 8192))
    )
    assert sketch.error[0] <= 1.2 * np.log2(len(X) / 256) / (2 * 256)


def test_sorted_and_constant_and_few_valued_columns():
    n = 20000
    X = np.column_stack(
        [np.arange(n), np.full(n, 7.0), np.arange(n) % 5, -np.arange(n)]
    ).astype(float)
    sketch = fold(partial(Quantiles.of, size=64), cut(X, None, range(0, n, 1000)))
    assert sketch.median[1:3].tolist() == [7.0, 2.0]
    assert sketch.error[1:3].tolist() == [0.0, 0.0]
    assert abs(sketch.median[0] / n - 0.5) <= sketch.error[0]
    assert abs(sketch.median[3] / n + 0.5) <= sketch.error[3]


def test_merge_is_commutative():
    X = np.random.default_rng(2).standard_normal((5000, 2))
    a, b = map(partial(Quantiles.of, size=64), cut(X, None, [1700]))
    np.testing.assert_array_equal(a.merge(b).quantile(Q), b.merge(a).quantile(Q))


def test_merge_is_associative_within_the_stated_error():
    X = np.random.default_rng(3).standard_normal((9000, 1))
    a, b, c = map(partial(Quantiles.of, size=64), cut(X, None, [2000, 5000]))
    for sketch in (a.merge(b).merge(c), a.merge(b.merge(c))):
        assert rank_errors(sketch, X[:, 0], np.ones(9000)).max() <= sketch.error[0]


def test_missing_cells_are_left_out_column_by_column():
    X = np.array([[np.nan, 1.0, np.nan], [2.0, np.nan, np.nan], [4.0, 3.0, np.nan]])
    sketch = Quantiles.of(block_of(X))
    np.testing.assert_array_equal(sketch.median, [3.0, 2.0, np.nan])
    assert sketch.weight.tolist() == [2.0, 2.0, 0.0]


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_columns_count_their_zeros(weighted):
    X = np.random.default_rng(4).standard_normal((400, 3)) * (
        np.random.default_rng(5).random((400, 3)) < 0.4
    )
    X[:, 2] = 1.0
    w = np.random.default_rng(6).integers(0, 3, 400).astype(float) if weighted else None
    one, two = (
        Quantiles.of(block_of(sparse.csr_array(X), w)),
        Quantiles.of(block_of(X, w)),
    )
    np.testing.assert_array_equal(one.quantile(Q), two.quantile(Q))


def test_an_offset_of_a_million_moves_the_answers_by_it():
    X = np.random.default_rng(7).integers(0, 1000, (3000, 1)) / 8
    of = partial(Quantiles.of, size=64)
    np.testing.assert_array_equal(
        of(block_of(X + 1e6)).quantile(Q), of(block_of(X)).quantile(Q) + 1e6
    )


def test_infinities_have_their_place():
    X = np.array([[-np.inf], [0.0], [np.inf]])
    assert Quantiles.of(block_of(X)).quantile([0.0, 0.5, 1.0]).ravel().tolist() == [
        -np.inf,
        0.0,
        np.inf,
    ]


def test_a_quantile_beyond_one_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        Quantiles.of(block_of(np.ones((2, 1)))).quantile(1.5)


def test_a_midpoint_is_never_rounded_up_to_the_larger_one():
    low = np.array([1.0, 1.0, 0.0, -1e308, 2.0, np.inf])
    high = np.array([2.0, np.nextafter(1.0, 2.0), 5e-324, 1e308, 2.0, np.inf])
    assert midpoints(low, high).tolist() == [1.5, 1.0, 0.0, 0.0, 2.0, np.inf]
    assert midpoints(low.reshape(2, 3), high.reshape(2, 3)).shape == (2, 3)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_quantiles_do_not_depend_on_the_unit_of_the_weights(scale):
    X = np.arange(100.0)[:, None]
    q = np.arange(101) / 100
    one = Quantiles.of(block_of(X, np.ones(100))).quantile(q)
    other = Quantiles.of(block_of(X, np.full(100, scale))).quantile(q)
    np.testing.assert_array_equal(one, other)


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(2, 6))
def test_a_cut_is_where_the_weight_so_far_is_nearest_to_its_share(seed, n, n_bins):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=n))
    weights = rng.uniform(0.1, 1, n)
    so_far = np.cumsum(weights)[:-1]
    wanted = weights.sum() * np.arange(1, n_bins) / n_bins
    after = {int(np.abs(so_far - share).argmin()) for share in wanted}
    middle = (values[1:] + values[:-1]) / 2
    cuts = quantile_cuts(values, weights, n_bins)
    np.testing.assert_allclose(cuts, middle[sorted(after)])


def test_a_single_value_is_not_cut():
    assert quantile_cuts(np.array([1.0]), np.array([3.0]), 4).tolist() == []

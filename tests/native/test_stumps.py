"""StumpOrder: the best gain of a threshold on every column."""

import numpy as np
import pytest


def gini_gain(left, w, y, K):
    def impurity(rows):
        share = np.bincount(y[rows], w[rows], minlength=K) / w[rows].sum()
        return 1.0 - (share**2).sum()

    L = w[left].sum() / w.sum()
    return impurity(slice(None)) - L * impurity(left) - (1.0 - L) * impurity(~left)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize(("columns", "K"), [(1, 2), (4, 2), (9, 2), (5, 3)])
def test_gains_are_the_best_of_all_thresholds(native, rng, dtype, columns, K):
    codes = rng.integers(0, 12, (columns, 60)).astype(dtype)
    y, w = rng.integers(0, K, 60).astype(np.int32), rng.random(60)
    order = native.StumpOrder(codes)
    assert (order.columns, order.groups) == (columns, -(-columns // 4))
    gains, ends = (
        np.zeros((order.groups, 4)),
        np.zeros((order.groups, 4), dtype=np.int64),
    )
    totals = np.bincount(y, w, minlength=K)
    for group in range(order.groups):
        if K == 2:
            order.gains(
                np.where(y == 1, w, -w), totals, None, group, group + 1, gains, ends
            )
        else:
            order.gains(w, totals, y, group, group + 1, gains, ends)
    for j in range(columns):
        cuts = range(codes[j].max())
        best = max(
            gini_gain(codes[j] <= cut, w, y, K)
            for cut in cuts
            if (codes[j] <= cut).any()
        )
        assert gains.flat[j] == pytest.approx(best, rel=1e-10)
        row = order.row(j, int(ends.flat[j]))
        assert gini_gain(codes[j] <= codes[j, row], w, y, K) == pytest.approx(
            best, rel=1e-10
        )
        assert np.sum(codes[j] <= codes[j, row]) == ends.flat[j] + 1


def test_of_equal_gains_the_first_counts(native):
    codes = np.arange(10, dtype=np.uint16)[None]
    sign = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, 1.0]) * 0.1
    gains, ends = np.zeros((1, 4)), np.zeros((1, 4), dtype=np.int64)
    native.StumpOrder(codes).gains(sign, np.array([0.4, 0.6]), None, 0, 1, gains, ends)
    assert ends[0, 0] == 2


def test_shapes_are_checked(native):
    order = native.StumpOrder(np.zeros((5, 3), dtype=np.uint8))
    gains, ends, totals = np.zeros((2, 4)), np.zeros((2, 4), dtype=np.int64), np.ones(2)
    with pytest.raises(ValueError, match="weights has shape"):
        order.gains(np.ones(4), totals, None, 0, 2, gains, ends)
    with pytest.raises(ValueError, match="there are 2 groups"):
        order.gains(np.ones(3), totals, None, 0, 3, gains, ends)
    with pytest.raises(ValueError, match="a class code has no total"):
        order.gains(
            np.ones(3), totals, np.array([0, 1, 2], dtype=np.int32), 0, 2, gains, ends
        )
    with pytest.raises(ValueError, match="need two totals"):
        order.gains(np.ones(3), np.ones(3), None, 0, 2, gains, ends)
    with pytest.raises(ValueError, match="no such column"):
        order.row(5, 0)

"""class_counts, table_log_joint, expand and integer_presence against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from tests.native.draws import counts, generators, weighted

TYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64]


def coded(rng, n, kind):
    """Three columns of codes, with unseen, negative and missing cells where the type has them."""
    X = rng.integers(0, 6, (n, 3)).astype(kind)
    if kind != np.uint8:
        X[rng.random((n, 3)) < 0.1] = -1
    if np.issubdtype(kind, np.floating):
        X[rng.random((n, 3)) < 0.1] = np.nan
    return X


COLUMNS = np.array([2, 0], np.int32)
OFFSETS = np.array([0, 4, 9])


def level(X, j):
    x = X[:, COLUMNS[j]].astype(np.float64)
    return np.where((x >= 0) & (x < OFFSETS[j + 1] - OFFSETS[j]), x, -1).astype(int)


@pytest.mark.parametrize("kind", TYPES)
@given(rng=generators, n=counts(0, 5000), weighted=weighted)
def test_class_counts_follow_the_definition(native, rng, kind, n, weighted):
    X, codes = coded(rng, n, kind), rng.integers(-1, 3, n).astype(np.int32)
    w = rng.random(n) if weighted else None
    counts, want = np.zeros((9, 4)), np.zeros((9, 4))
    native.class_counts(X, codes, w, COLUMNS, OFFSETS, counts)
    for j in range(2):
        x = level(X, j)
        here = (x >= 0) & (codes >= 0)
        np.add.at(
            want, (OFFSETS[j] + x[here], codes[here]), 1.0 if w is None else w[here]
        )
    assert_allclose(counts, want, rtol=1e-12)


def test_counts_add_to_what_is_there(native):
    counts = np.full((2, 1), 5.0)
    for n in (3, 300):
        X = np.zeros((n, 1), np.int64)
        native.class_counts(
            X,
            np.zeros(n, np.int32),
            None,
            np.zeros(1, np.int32),
            np.array([0, 2]),
            counts,
        )
    assert_array_equal(counts, [[308], [5]])


@pytest.mark.parametrize("kind", TYPES)
@given(rng=generators, n=counts(0, 700), K=counts(1, 20))
def test_table_log_joint_follows_the_definition(native, rng, kind, n, K):
    X, table = coded(rng, n, kind), rng.normal(size=(9, K))
    out = rng.normal(size=(n, K))
    want = out.copy()
    native.table_log_joint(X, COLUMNS, OFFSETS, table, out)
    for j in range(2):
        x = level(X, j)
        want[x >= 0] += table[OFFSETS[j] + x[x >= 0]]
    assert_allclose(out, want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", TYPES)
def test_expand_writes_one_of_c(native, dtype, rng, kind):
    X = coded(rng, 400, kind)
    start, size, first = (
        np.array(a, np.int32) for a in ([5, 4, 0], [6, 0, 4], [0, 0, 1])
    )
    out = np.full((400, 11), 7, dtype)
    native.expand(X, start, size, first, out)
    want = np.empty((400, 11))
    want[:, 4] = X[:, 1]
    for j in (0, 2):
        levels = np.arange(first[j], first[j] + size[j])
        block = (X[:, [j]].astype(np.float64) == levels).astype(np.float64)
        block[np.isnan(X[:, j].astype(np.float64))] = np.nan
        want[:, start[j] : start[j] + size[j]] = block
    assert_array_equal(out, want.astype(dtype))


@pytest.mark.parametrize("kind", TYPES)
def test_integer_presence_marks_what_occurs(native, rng, kind):
    X = rng.integers(0, 6, (3000, 3)).astype(kind)
    X[:, 1] = 9
    X[2000, 2] = 100
    if np.issubdtype(kind, np.floating):
        X[5, 0] = np.nan
    seen, regular = np.zeros((3, 10), np.uint8), np.full(3, 9, np.uint8)
    native.integer_presence(X, np.arange(3, dtype=np.int32), seen, regular)
    assert_array_equal(regular, [1, 1, 0])
    assert_array_equal(seen[0], [1] * 6 + [0] * 4)
    assert_array_equal(seen[1], [0] * 9 + [1])


@pytest.mark.parametrize("bad", [0.5, -1.0, 10.0, np.inf, -np.inf, 1e300])
def test_a_cell_that_is_no_code_makes_a_column_irregular(native, bad):
    X = np.array([[1.0], [bad], [np.nan]])
    seen, regular = np.zeros((1, 10), np.uint8), np.ones(1, np.uint8)
    native.integer_presence(X, np.zeros(1, np.int32), seen, regular)
    assert not regular[0]


def test_wrong_arguments_are_named(native):
    X, codes = np.zeros((3, 2), np.int64), np.zeros(3, np.int32)
    with pytest.raises(ValueError, match=r"columns\[0\] is 2, but X has 2 columns"):
        native.class_counts(X, codes, None, COLUMNS, OFFSETS, np.zeros((9, 1)))
    with pytest.raises(ValueError, match=r"offsets has shape \(2,\), expected \(3,\)"):
        native.class_counts(
            X, codes, None, np.array([0, 1], np.int32), OFFSETS[:2], np.zeros((9, 1))
        )
    with pytest.raises(
        ValueError, match=r"counts has shape \(8, 1\), expected \(9, 1\)"
    ):
        native.class_counts(
            X, codes, None, np.array([0, 1], np.int32), OFFSETS, np.zeros((8, 1))
        )
    with pytest.raises(
        ValueError, match=r"codes\[0\] is 0, but there are only 0 classes"
    ):
        native.class_counts(
            X, codes, None, np.array([0, 1], np.int32), OFFSETS, np.zeros((9, 0))
        )
    wide = np.array([3, 3], np.int32)
    with pytest.raises(ValueError, match="column 1 does not fit in out"):
        native.expand(X, np.array([0, 3], np.int32), wide, wide * 0, np.zeros((3, 5)))

"""Raw values of pairs and nearest rows, in every build."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

DEFINITIONS = {
    "squares": lambda T: (T**2).sum(axis=2),
    "absolute": lambda T: np.abs(T).sum(axis=2),
    "largest": lambda T: np.abs(T).max(axis=2),
    "powers": lambda T: (np.abs(T) ** 2.5).sum(axis=2),
    "mismatches": lambda T: (T != 0).sum(axis=2),
}


def pairwise(native, space, X, Y, weight=None, matched=None):
    out = np.empty((len(X), len(Y)))
    native.pairwise(space, 2.5, weight, matched, X, Y, out)
    return out


def nearest(native, space, X, Y, k, skip=None, first=0):
    raw, rows = np.empty((len(X), k)), np.empty((len(X), k), np.int64)
    native.nearest(space, 2.5, None, None, X, Y, skip, first, raw, rows)
    return raw, rows


@pytest.mark.parametrize("space", DEFINITIONS)
@pytest.mark.parametrize("size", [(0, 4, 2), (3, 0, 2), (29, 101, 5), (7, 700, 40)])
def test_raw_values_are_their_definition(native, dtype, rng, space, size):
    n, m, d = size
    X, Y = (
        rng.integers(-3, 3, (n, d)).astype(dtype),
        rng.integers(-3, 3, (m, d)).astype(dtype),
    )
    want = (
        DEFINITIONS[space](X[:, None].astype(float) - Y[None].astype(float))
        if n and m
        else np.empty((n, m))
    )
    found = pairwise(native, space, X, Y)
    assert_allclose(found, want, rtol=1e-13)
    raw, rows = nearest(native, space, X, Y, 3)
    order = np.argsort(found, axis=1, kind="stable")[:, :3]
    assert_array_equal(rows[:, : order.shape[1]], order)
    assert_array_equal(
        raw[:, : order.shape[1]], np.take_along_axis(found, order, axis=1)
    )
    assert_array_equal(rows[:, order.shape[1] :], -1)


@pytest.mark.parametrize("offset", [0, 1e4])
def test_filter_and_tree_give_the_bits_of_all_pairs(native, dtype, rng, offset):
    X, Y = ((rng.normal(size=(n, 4)) + offset).astype(dtype) for n in (100, 3000))
    found = pairwise(native, "squares", X, Y)
    order = np.argsort(found, axis=1, kind="stable")[:, :6]
    want = np.take_along_axis(found, order, axis=1)
    raw, rows = nearest(native, "squares", X, Y, 6)
    assert_array_equal(rows, order)
    assert_array_equal(raw, want)
    Z, places = Y.astype(float), np.empty(len(Y), np.int64)
    native.leaf_order(Z, native.leaf_rows, places)
    tree = native.LeafTree(np.ascontiguousarray(Z[places]), places)
    tree.nearest("squares", 2.0, X.astype(float), None, raw, rows)
    assert_array_equal(rows, order)
    assert_array_equal(raw, want)
    counts = np.empty(len(X), np.int64)
    values, numbers = tree.within("squares", 2.0, X.astype(float), 0.5, counts)
    assert_array_equal(counts, (found <= 0.5).sum(axis=1))
    assert_array_equal(values, found[np.repeat(np.arange(len(X)), counts), numbers])


def test_rows_are_numbered_and_skipped(native, dtype):
    X = np.array([[0], [0], [4]], dtype)
    _, rows = nearest(native, "squares", X, X, 2, skip=np.array([7, 8, 9]), first=7)
    assert_array_equal(rows, [[8, 9], [7, 9], [7, 8]])


def test_wrong_arguments_are_named(native):
    X = np.ones((4, 3))
    with pytest.raises(ValueError, match=r"Y has shape \(2, 2\), expected \(2, 3\)"):
        pairwise(native, "squares", X, np.ones((2, 2)))
    with pytest.raises(ValueError, match="no space 'cubes'"):
        pairwise(native, "cubes", X, X)
    with pytest.raises(ValueError, match="need weight and matched"):
        pairwise(native, "known columns", X, X)
    with pytest.raises(ValueError, match="at least one neighbor"):
        nearest(native, "squares", X, X, 0)
    with pytest.raises(ValueError, match=r"skip has shape \(1,\), expected \(4,\)"):
        nearest(native, "squares", X, X, 1, skip=np.zeros(1, np.int64))
    with pytest.raises(ValueError, match=r"numbers has shape \(2,\), expected \(4,\)"):
        native.LeafTree(X, np.zeros(2, np.int64))
    indptr, empty = np.array([0, 9], np.int32), np.zeros(0, np.int32)
    with pytest.raises(ValueError, match="outside of data"):
        native.sparse_pairwise(
            "squares",
            2.0,
            indptr,
            empty,
            np.zeros(0),
            indptr,
            empty,
            np.zeros(0),
            np.zeros((1, 1)),
        )

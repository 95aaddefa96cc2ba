"""Sums by class: the definition, sparse rows, merging."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from lyceum.data import Block, Column, Schema
from lyceum.statistics import ClassSums


def block(X, y, w=None, labels=("a", "b", "c")):
    target = Column("y", "categorical", np.array(labels))
    names = [f"x{j}" for j in range(X.shape[1])]
    return Block(
        X, np.asarray(y, np.int32), w, 0, Schema.of_numbers(names).with_target(target)
    )


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("above", [None, 0.0, 1.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_follow_the_definition(make, above, weighted):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (50, 4)).astype(float), rng.integers(-1, 3, 50)
    w = rng.random(50) if weighted else None
    found = ClassSums.of(block(make(X), y, w), above=above)
    cells, v = (
        X if above is None else np.greater(X, above),
        np.ones(50) if w is None else w,
    )
    np.testing.assert_allclose(
        found.sums, [(v[:, None] * cells)[y == k].sum(axis=0) for k in range(3)]
    )
    np.testing.assert_allclose(found.class_weight, [v[y == k].sum() for k in range(3)])
    assert found.n_rows == 50


@given(st.lists(st.integers(0, 2), min_size=3, max_size=30), st.data())
def test_merge_is_the_summary_of_all_rows_in_any_grouping(y, data):
    X = np.arange(2.0 * len(y)).reshape(-1, 2)
    a = data.draw(st.integers(1, len(y) - 2))
    b = data.draw(st.integers(a + 1, len(y) - 1))
    parts = [
        ClassSums.of(block(X[s], y[s]))
        for s in (slice(0, a), slice(a, b), slice(b, None))
    ]
    whole = ClassSums.of(block(X, y))
    for merged in (
        parts[0].merge(parts[1]).merge(parts[2]),
        parts[0].merge(parts[1].merge(parts[2])),
        parts[2].merge(parts[0]).merge(parts[1]),
    ):
        np.testing.assert_allclose(merged.sums, whole.sums)
        np.testing.assert_allclose(merged.class_weight, whole.class_weight)
        assert merged.n_rows == whole.n_rows


def test_classes_are_joined_by_their_labels():
    one = ClassSums.of(block(np.array([[1.0]]), [0], labels=("b", "c")))
    two = ClassSums.of(block(np.array([[5.0]]), [0], labels=("a", "c")))
    both = one.merge(two)
    assert both.classes.tolist() == ["a", "b", "c"]
    assert both.sums.ravel().tolist() == [5.0, 1.0, 0.0]


def test_mapped_is_the_summary_of_mapped_rows():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    matrix, offset = rng.normal(size=(2, 3)), rng.normal(size=2)
    found = ClassSums.of(block(X, y)).map_columns(matrix, offset)
    np.testing.assert_allclose(
        found.sums, ClassSums.of(block(X @ matrix.T + offset, y)).sums
    )

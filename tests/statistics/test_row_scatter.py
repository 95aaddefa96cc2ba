"""Few rows of many columns: the same as the full matrix of products, by other means."""

import numpy as np
import pyarrow as pa
import pytest
from tests.statistics.cut import block_of

from lyceum._core.statistics import (
    ClassRowScatter,
    RowScatter,
    RowSpace,
    is_wide,
)
from lyceum.data import Block, Schema, scan
from lyceum.statistics import ClassScatter, Scatter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(9, 4)) + np.array([0.0, 5.0, -1e6, 2.0])
Y = RNG.normal(size=9) + 3.0
W = np.array([1.0, 2.0, 0.0, 0.5, 1.0, 3.0, 0.0, 1.0, 2.0])
CODES = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2], dtype=np.int32)


def labeled(X, y, w, labels="abc", start=0):
    schema = Schema.of_numbers([f"x{j}" for j in range(X.shape[1])])
    table = {"x": [0.0] * len(labels), "y": list(labels)}
    target = scan(pa.table(table), target="y").schema.target
    return Block(X, y, w, start, schema.with_target(target))


def check_scatter(found, expected):
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-13)
    matrix = found.rows.T @ found.rows
    np.testing.assert_allclose(matrix, expected.scatter, rtol=1e-9, atol=1e-8)
    assert (found.n_rows, found.targets) == (expected.n_rows, expected.targets)
    assert found.weight == pytest.approx(expected.weight)


@pytest.mark.parametrize("w", [None, W])
@pytest.mark.parametrize("target", [False, True])
def test_rows_have_the_scatter_of_the_full_matrix(w, target):
    found = RowScatter.of(block_of(X, w, y=Y), target=target)
    expected = Scatter.of(block_of(X, w, y=Y), target=target)
    check_scatter(found, expected)
    assert found.rows.shape == (9 if w is None else 7, 4 + target)
    assert found.is_finite
    np.testing.assert_allclose(found.x_mean, expected.x_mean)
    np.testing.assert_allclose(found.xx_diagonal, expected.xx_diagonal, rtol=1e-9)
    assert found.x_rows.shape[1] == 4
    if target:
        np.testing.assert_allclose(found.xy, expected.xy, rtol=1e-9)
        assert (found.yy, found.y_mean) == pytest.approx((expected.yy, expected.y_mean))


def test_a_target_that_is_not_there_is_left_out():
    assert RowScatter.of(block_of(X), target=True).targets == 0
    assert Scatter.of(block_of(X), target=True).targets == 0


@pytest.mark.parametrize("target", [False, True])
def test_merged_rows_are_those_of_all(target):
    def of(part):
        block = block_of(X[part], W[part], y=Y[part])
        return RowScatter.of(block, target=target)

    parts = [of(slice(0, 2)), of(slice(2, 5)), of(slice(5, 9))]
    whole = Scatter.of(block_of(X, W, y=Y), target=target)
    merged = parts[0].merge(parts[1]).merge(parts[2])
    check_scatter(merged, whole)
    # one row more for each merge, and none for rows without weight
    assert len(merged.rows) == 7 + 2
    nothing = of(slice(2, 3))
    assert (nothing.n_rows, nothing.weight, len(nothing.rows)) == (0, 0.0, 0)
    assert nothing.mean.tolist() == [0.0] * (4 + target)
    assert nothing.merge(parts[0]) is parts[0]
    assert parts[0].merge(nothing) is parts[0]


def test_mapped_columns_are_those_of_mapped_rows():
    matrix = RNG.normal(size=(2, 4))
    offset = np.array([1.0, -2.0])
    for target in (False, True):
        found = RowScatter.of(block_of(X, W, y=Y), target=target)
        mapped = block_of(X @ matrix.T + offset, W, y=Y)
        check_scatter(
            found.map_columns(matrix, offset), Scatter.of(mapped, target=target)
        )


def test_about_the_origin_are_raw_products():
    found = RowScatter.of(block_of(X, W)).about_origin()
    raw = X.T @ (W[:, None] * X)
    np.testing.assert_allclose(found.rows.T @ found.rows, raw, rtol=1e-9)
    assert found.mean.tolist() == [0.0] * 4
    full = Scatter.of(block_of(X, W)).about_origin()
    np.testing.assert_allclose(full.scatter, raw, rtol=1e-9)
    assert full.mean.tolist() == [0.0] * 4


@pytest.mark.parametrize("cell", [np.nan, np.inf, 1e200])
def test_what_cannot_be_squared_is_not_finite(cell):
    cells = X.copy()
    cells[3, 1] = cell
    with np.errstate(all="ignore"):
        assert not RowScatter.of(block_of(cells)).is_finite
        assert not ClassRowScatter.of(labeled(cells, CODES, None)).is_finite
    assert ClassRowScatter.of(labeled(X, CODES, None)).is_finite


@pytest.mark.parametrize("w", [None, W])
def test_classes_have_the_scatter_of_full_matrices(w):
    found = ClassRowScatter.of(labeled(X, CODES, w))
    expected = ClassScatter.of(labeled(X, CODES, w))
    np.testing.assert_allclose(found.class_weight, expected.class_weight)
    np.testing.assert_allclose(found.mean, expected.mean)
    for part, scatter in zip(found.parts, expected.scatter):
        np.testing.assert_allclose(part.rows.T @ part.rows, scatter, atol=1e-8)
    pooled = found.pooled_rows()
    np.testing.assert_allclose(pooled.T @ pooled, expected.scatter.sum(0), atol=1e-7)
    for one, other in zip(found.over_classes(), expected.over_classes()):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_classes_are_merged_by_their_labels():
    first = labeled(X[:4], np.array([0, 1, 1, 0], np.int32), W[:4], "bc")
    second = labeled(X[4:], np.array([1, 0, 1, 0, 0], np.int32), W[4:], "ab", start=4)
    for kind in (ClassRowScatter, ClassScatter):
        merged = kind.of(first).merge(kind.of(second))
        whole = kind.of(
            labeled(X, np.array([1, 2, 2, 1, 1, 0, 1, 0, 0], np.int32), W, "abc")
        )
        assert merged.classes.tolist() == list("abc")
        assert merged.n_rows == 9
        np.testing.assert_allclose(merged.class_weight, whole.class_weight)
        np.testing.assert_allclose(merged.mean, whole.mean)
        for one, other in zip(merged.over_classes(), whole.over_classes()):
            np.testing.assert_allclose(one, other, rtol=1e-9)
    matrix = RNG.normal(size=(2, 4))
    mapped = ClassRowScatter.of(first).map_columns(matrix, np.ones(2))
    np.testing.assert_allclose(
        mapped.mean, ClassRowScatter.of(first).mean @ matrix.T + 1.0
    )


def test_a_space_holds_the_distances_of_the_rows():
    cells = np.zeros((4, 9))
    cells[:, :3] = RNG.normal(size=(4, 3))
    cells[:, 4] = 7.0
    for centered in (True, False):
        space = RowSpace.of(scan(cells), "a test", centered=centered)
        turned = space.rows.in_one_block("a test", "nothing").X
        back = turned @ space.basis.T + space.mean
        np.testing.assert_allclose(back, cells, atol=1e-12)
        rank = 3 if centered else 4
        assert space.basis.shape == (9, rank)
        np.testing.assert_allclose(space.basis.T @ space.basis, np.eye(rank), atol=1e-9)
        # of three varying columns, and one that is constant but not about 0
        assert space.beyond == 0
    assert (space.mean == 0).all()
    plane = np.outer([0.0, 1.0, 2.0], [1.0, 2.0, 0.0, 4.0])
    line = RowSpace.of(scan(plane), "a test")
    assert (line.basis.shape, line.beyond) == ((4, 1), 2)
    np.testing.assert_allclose(line.mean, [1.0, 2.0, 0.0, 4.0])
    directions = np.array([[1.0], [-2.0]])
    np.testing.assert_allclose(line.columns_of(directions), directions @ line.basis.T)


@pytest.mark.parametrize(
    ("shape", "wide"),
    [
        ((5, 1001), True),
        ((5, 1000), False),
        ((1001, 1001), False),
        ((1000, 1001), True),
    ],
)
def test_wide_tables_have_over_a_thousand_columns_and_fewer_rows(shape, wide):
    assert is_wide(scan(np.ones(shape))) is wide


def test_blocks_without_weight_are_merged_without_dividing_by_it():
    nothing = np.zeros(4)
    parts = [labeled(X[:4], CODES[:4], nothing), labeled(X[4:8], CODES[4:8], nothing)]
    merged = Scatter.of(parts[0]).merge(Scatter.of(parts[1]))
    # rows that weigh nothing are not counted
    assert (merged.n_rows, merged.weight) == (0, 0.0)
    assert np.isfinite(merged.mean).all()
    rest = Scatter.of(labeled(X, CODES, W))
    for both in (merged.merge(rest), rest.merge(merged)):
        np.testing.assert_array_equal(both.mean, rest.mean)
        np.testing.assert_array_equal(both.scatter, rest.scatter)

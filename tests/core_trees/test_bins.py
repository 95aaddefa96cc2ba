"""Bins: the same bytes from any source, and edges that mean what they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lyceum._core.data import ArraySource, Recode
from lyceum._core.trees import BinnedRows, Bins, UniformRowSample
from lyceum.data import Rows, scan


def rows_of(X, w=None, y=None):
    source = scan(X).source
    return Rows(ArraySource(np.asarray(X), y, w, source.schema)).then(Recode())


def binned_by_row(rows, bins):
    return BinnedRows.of(rows, bins, by_row=True).positive()


def expected_bins(x, edges):
    return np.array(
        [
            sum(e < value for e in edges) if value == value else len(edges) + 1
            for value in x
        ]
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_a_bin_is_the_number_of_edges_below(dtype, max_bins):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(700, 3)) * [1, 50, 1e3] + [1e6, 0, 0]).astype(dtype)
    if dtype != np.int32:
        X[rng.random(X.shape) < 0.1] = np.nan
    bins = Bins.of(rows_of(X), max_bins)
    codes = binned_by_row(rows_of(X), bins).by_row
    for j in range(3):
        assert bins.n_bins[j] == len(bins.edges[j]) + 1 <= max_bins
        assert (np.diff(bins.edges[j]) > 0).all()
        np.testing.assert_array_equal(
            codes[:, j], expected_bins(X[:, j].astype(float), bins.edges[j])
        )


def test_few_distinct_values_have_a_bin_each_with_edges_midway():
    x = np.repeat([3.0, -1.0, 7.5], [4, 1, 9])
    bins = Bins.of(rows_of(x[:, None]), max_bins=3)
    assert bins.edges[0].tolist() == [1.0, 5.25]


def test_neighboring_numbers_are_kept_apart():
    low = np.float64(1.0)
    X = np.array(
        [[low], [np.nextafter(low, 2)], [np.nextafter(np.nextafter(low, 2), 2)]]
    )
    codes = binned_by_row(rows_of(X), Bins.of(rows_of(X))).by_row
    assert codes.ravel().tolist() == [0, 1, 2]


def test_a_heavy_value_leaves_bins_for_the_others():
    rng = np.random.default_rng(1)
    x = np.where(rng.random(20_000) < 0.7, 0.0, rng.normal(size=20_000))
    bins = Bins.of(rows_of(x[:, None]), max_bins=64)
    assert bins.n_bins[0] >= 60
    sizes = np.bincount(binned_by_row(rows_of(x[:, None]), bins).by_row.ravel())
    assert np.sort(sizes)[:-1].max() < 2.2 * 0.3 * 20_000 / 63


def test_weight_two_equals_repeated_row():
    rng = np.random.default_rng(2)
    X, w = rng.normal(size=(3000, 2)), rng.integers(0, 4, 3000).astype(float)
    weighted, repeated = (
        Bins.of(rows_of(X, w), 32),
        Bins.of(rows_of(np.repeat(X, w.astype(int), axis=0)), 32),
    )
    for one, two in zip(weighted.edges, repeated.edges):
        np.testing.assert_allclose(one, two)


def test_rows_of_no_weight_are_left_out():
    X, w = np.arange(6.0)[:, None], np.array([1.0, 0, 1, 0, 2, 0])
    bins = Bins.of(rows_of(X, w))
    binned = binned_by_row(rows_of(X, w), bins)
    assert bins.edges[0].tolist() == [1.0, 3.0]
    assert binned.by_row.ravel().tolist() == [0, 1, 2]
    assert binned.w.tolist() == [1, 1, 2]


def test_the_heaviest_categories_keep_a_bin_and_the_others_share_one():
    rng = np.random.default_rng(3)
    town = rng.choice(
        [f"t{i:03d}" for i in range(300)],
        5000,
        p=np.arange(1, 301) / np.arange(1, 301).sum(),
    )
    rows = scan(pd.DataFrame({"town": town})).then(Recode())
    bins = Bins.of(rows, 20)
    assert bins.n_bins.tolist() == [20]
    counts = pd.Series(town).value_counts()
    categories = rows.schema["town"].categories
    own = {categories[i] for i in np.flatnonzero(bins.tables[0] < 19)}
    assert min(counts[t] for t in own) >= max(
        counts[t] for t in categories if t not in own
    )


def test_a_missing_cell_and_an_unknown_category_have_the_bin_after_the_last():
    frame = pd.DataFrame(
        {"town": ["Ulm", None, "Bonn", "Ulm"], "age": [1.0, 2.0, np.nan, 1.0]}
    )
    rows = scan(frame, kinds={"town": "categorical", "age": "continuous"}).then(
        Recode()
    )
    bins = Bins.of(rows)
    assert binned_by_row(rows, bins).by_row.tolist() == [[1, 0], [2, 1], [0, 2], [1, 0]]
    block = next(rows.blocks())
    unknown = block.with_X(np.array([[-1.0, 5.0]]), block.schema)
    assert bins.code(unknown).tolist() == [[2, 1]]


def test_a_column_of_missing_cells_alone_has_one_bin_that_nothing_is_in():
    X = np.full((5, 1), np.nan)
    bins = Bins.of(rows_of(X))
    assert bins.n_bins.tolist() == [1]
    assert binned_by_row(rows_of(X), bins).by_row.ravel().tolist() == [1] * 5


def test_files_and_dask_have_the_bytes_of_the_array(tmp_path):
    import dask.dataframe as dd

    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(3000, 3)), columns=list("abc"))
    frame["y"] = rng.normal(size=3000)
    pq.write_table(
        pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=700
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    sources = [
        scan(frame, "y"),
        scan(tmp_path / "t.parquet", "y", memory=0),
        scan(tmp_path / "t.csv", "y", memory=0),
        scan(dd.from_pandas(frame, npartitions=4), "y"),
    ]
    expected = None
    for rows in sources:
        bins = Bins.of(rows, 40)
        binned = binned_by_row(rows, bins)
        found = (
            *map(np.asarray, bins.edges),
            binned.by_row,
            binned.columns.T,
            binned.y,
        )
        expected = expected or found
        for one, two in zip(expected, found):
            np.testing.assert_allclose(one, two, rtol=1e-12)


def test_the_sample_does_not_depend_on_blocks_or_their_order():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50_000, 1))
    blocks = list(scan(X).blocks())
    parts = [UniformRowSample.of(block, size=1000) for block in blocks]
    forward = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    backward = parts[3].merge(parts[1].merge(parts[0]).merge(parts[2]))
    known = scan(X).reduce(
        lambda block: UniformRowSample.of(block, size=1000, n_rows=len(X))
    )
    assert 400 < len(forward.cells()[0]) <= 1000
    for other in (backward, known):
        np.testing.assert_array_equal(
            np.sort(forward.cells()[0].ravel()), np.sort(other.cells()[0].ravel())
        )


def test_bins_may_be_written_column_by_column():
    X = np.random.default_rng(6).normal(size=(130, 5))
    rows = rows_of(X)
    bins = Bins.of(rows, 16)
    block = next(rows.blocks())
    columns, both = (
        np.empty((5, 130), dtype=np.uint8),
        np.empty((5, 130), dtype=np.uint8),
    )
    bins.code(block, columns.T, both)
    np.testing.assert_array_equal(columns.T, bins.code(block))
    np.testing.assert_array_equal(columns, both)

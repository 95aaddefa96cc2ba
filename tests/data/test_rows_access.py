"""Rows as an object: how many, how they print, their targets and weights, some of them, all of
them."""

import html
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from lyceum import scan
from lyceum._core.data import ArraySource
from lyceum._core.data.rows import file_sources as _files, sources as _sources
from lyceum._core.data.rows.gather import Gathered
from lyceum.data import Column, Rows, Schema
from lyceum.errors import DataError, SourceError
from lyceum.prepare import DropMissing

pytestmark = pytest.mark.usefixtures("small_parts")

N = 3000
SOURCES = ("memory", "parquet", "csv", "dask")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    a = rng.normal(size=N)
    a[::7] = np.nan
    return pd.DataFrame(
        {
            "a": a,
            "g": rng.choice(list("uvw"), N),
            "t": rng.choice(list("pqr"), N),
            "w": rng.uniform(1, 2, N),
        }
    )


@pytest.fixture(params=SOURCES)
def rows(request, frame, tmp_path):
    return scan(
        *written(request.param, frame, tmp_path),
        target="t",
        weight="w",
        memory=memory(request),
    )


def memory(request):
    return 1 << 30 if request.param == "memory" else 0


def written(name, frame, folder):
    if name == "memory":
        return (frame,)
    if name == "dask":
        return (
            pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=4),
        )
    path = folder / f"t.{name}"
    if name == "csv":
        frame.to_csv(path, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=300)
    return (path,)


def cells(rows):
    block = rows.reduce(Gathered.of).block
    return block.X, rows.y, rows.sample_weight


# -- how many, how they print ----------------------------------------------------------


def test_rows_have_a_length(rows, frame):
    assert len(rows) == N


def test_rows_that_a_step_drops_are_not_counted(rows, frame):
    kept = DropMissing().fit(rows).transform(rows)
    assert kept.n_rows is None
    assert len(kept) == frame.a.notna().sum()


def test_rows_print_as_one_line_without_cells(rows):
    text = repr(rows)
    assert "3,000 rows × 2 columns (1 categorical, 1 continuous)" in text
    assert "target 't' (3 classes)" in text
    assert "weight 'w'" in text
    assert "array" not in text
    assert "\n" not in text
    assert len(text) - len(rows.name) < 150


def test_a_file_is_named_when_its_rows_print(frame, tmp_path):
    (path,) = written("csv", frame, tmp_path)
    assert f"<Rows of {path}: " in repr(scan(path, memory=0))
    assert "read on every pass" in repr(scan(path, memory=0))
    assert "in memory" in repr(scan(path))


def test_rows_without_a_name_say_what_they_are():
    schema = Schema.declare(
        {"x": "continuous"}, Column("t", "categorical", np.array(["a"]))
    )
    rows = Rows(ArraySource(np.array([[1.0]]), np.array([0], np.int32), None, schema))
    said = "1 row × 1 column (1 continuous), target 't' (1 class), in memory"
    assert repr(rows) == f"<Rows: {said}>"
    assert rows._repr_html_().startswith(f"<p><b>Rows</b>: {html.escape(said)}</p>")


def test_rows_show_their_columns_in_a_notebook(rows):
    page = rows._repr_html_()
    left = '<td style="text-align:left">'
    assert f"{left}g</td>{left}categorical</td>" in page
    assert "3,000 rows" in page


def test_only_arrays_are_in_memory(rows):
    assert rows.in_memory == (not rows.on_dask and "every pass" not in repr(rows))


# -- targets and weights ---------------------------------------------------------------


def test_targets_are_labels_and_weights_are_numbers(rows, frame):
    assert rows.y.tolist() == frame.t.tolist()
    np.testing.assert_allclose(rows.sample_weight, frame.w, rtol=1e-14)


def test_numeric_targets_are_numbers(frame, tmp_path):
    for name in SOURCES:
        found = scan(
            *written(name, frame, tmp_path),
            target="w",
            memory=0 if name != "memory" else 1 << 30,
        )
        np.testing.assert_allclose(found.y, frame.w, rtol=1e-14)
        assert found.sample_weight is None


def test_rows_without_a_target_have_none(frame):
    assert scan(frame).y is None


def test_a_missing_label_is_none_among_text_and_nan_among_numbers():
    text = scan(pa.table({"x": [1.0, 2.0, 3.0], "t": ["a", None, "b"]}), target="t")
    assert text.y.tolist() == ["a", None, "b"]
    numbers = scan(pa.table({"x": [1.0, 2.0, 3.0], "t": [4, None, 5]}), target="t")
    np.testing.assert_array_equal(numbers.y, [4, np.nan, 5])


def test_targets_of_a_parquet_file_are_read_alone(frame, tmp_path, monkeypatch):
    (path,) = written("parquet", frame, tmp_path)
    rows, read = scan(path, target="t", memory=0), []
    plain = _files.ParquetPart.batches
    monkeypatch.setattr(
        _files.ParquetPart,
        "batches",
        lambda part, names: read.append(names) or plain(part, names),
    )
    assert rows.y.tolist() == frame.t.tolist()
    assert rows.y.tolist() == frame.t.tolist()
    assert set(map(tuple, read)) == {("t",)}
    assert len(read) == len(list(rows.source.parts()))  # once


# -- some rows -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_taken_rows_are_the_rows_at_those_places(rows, seed):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(N, rng.integers(1, N), replace=True))
    taken = rows.take(places)
    assert taken.n_rows == len(taken) == len(places)
    for some, every in zip(cells(taken), cells(rows)):
        np.testing.assert_array_equal(some, every[places])
    starts = [block.start for block in taken.blocks() if len(block)]
    sizes = [len(block) for block in taken.blocks() if len(block)]
    assert starts == np.cumsum([0, *sizes[:-1]]).tolist()


def test_rows_can_be_taken_from_taken_rows_and_by_a_mask(rows):
    odd = np.arange(N) % 2 == 1
    few = rows.take(odd).take(np.arange(0, 1000, 100))
    np.testing.assert_array_equal(few.y, rows.y[1:2001:200])


def test_rows_are_taken_after_a_step_dropped_some(rows, frame):
    kept = DropMissing().fit(rows).transform(rows)
    expected = frame.t[frame.a.notna()].to_numpy()[[3, 500, 500, 2000]]
    assert kept.take([3, 500, 500, 2000]).y.tolist() == expected.tolist()


def test_rows_in_memory_are_taken_in_any_order(frame):
    assert (
        scan(frame, target="t").take([7, 2, 2]).y.tolist()
        == frame.t[[7, 2, 2]].tolist()
    )


def test_other_orders_of_streams_are_refused_with_the_remedy(rows):
    if not rows.in_memory:
        with pytest.raises(
            SourceError,
            match="place 2 comes after 7: sort the places, or hold the rows in",
        ):
            rows.take([7, 2])


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([N], "no row 3000 of 3,000"),
        ([-1], "no row -1"),
        ([True], "1 truth values"),
        ([0.5], "row numbers"),
    ],
)
def test_places_that_are_none_are_refused(rows, places, message):
    with pytest.raises(DataError, match=message):
        rows.take(places)


def test_parts_without_a_taken_row_are_not_read(frame, tmp_path, monkeypatch):
    (path,) = written("parquet", frame, tmp_path)
    rows, read = scan(path, memory=0), []
    plain = _files.ParquetPart.batches
    monkeypatch.setattr(
        _files.ParquetPart,
        "batches",
        lambda part, names: read.append(part.start) or plain(part, names),
    )
    assert len(rows.take([10, 2900]).reduce(Gathered.of).block) == 2
    assert len(read) == 2


# -- all rows --------------------------------------------------------------------------


def test_no_rows_have_no_targets_and_no_weights(rows):
    none, some = rows.take([]), rows.take([0])
    for values, like in ((none.y, some.y), (none.coded_y, some.coded_y)):
        assert values.shape == (0,)
        assert values.dtype == like.dtype
    assert none.sample_weight.shape == (0,)


def test_the_rows_that_a_refusal_suggests_can_be_held(rows):
    if rows.in_memory:
        return
    with pytest.raises(SourceError, match="use fewer rows") as error:
        rows.in_one_block("A learner", memory=10_000)
    found = re.search(r"np\.arange\(([\d_]+)\)", str(error.value))
    n = int(found[1].replace("_", ""))
    assert (
        len(rows.take(np.arange(n)).in_one_block("A learner", memory=10_000)) == n > 100
    )


def test_gathered_rows_are_all_rows_in_one_block(rows, frame):
    block = rows.in_one_block("A learner", "another")
    np.testing.assert_array_equal(block.X[:, 0], frame.a)
    np.testing.assert_array_equal(np.array(list("pqr"))[block.y], frame.t)
    np.testing.assert_allclose(block.w, frame.w, rtol=1e-14)
    assert (block.start, len(block)) == (0, N)


def test_a_stream_larger_than_the_memory_allowed_is_refused(rows):
    if not rows.in_memory:
        with pytest.raises(
            SourceError, match=r"A learner .* need [0-9,]+ bytes and at most 1,000 "
        ):
            rows.in_one_block("A learner", "another", memory=1000)


def test_a_stream_of_unknown_length_is_refused_once_it_is_too_large(frame, tmp_path):
    (path,) = written("csv", frame, tmp_path)
    rows = scan(path, memory=0)
    unknown = replace(rows, source=replace(rows.source, n_rows=None))
    assert unknown.n_rows is None
    assert len(unknown) == N
    with pytest.raises(SourceError, match="at most 1,000"):
        unknown.in_one_block("A learner", "another", memory=1000)


def test_sparse_rows_stay_sparse(frame):
    X = sparse.random_array((5000, 300), density=0.01, format="csr", random_state=0)
    schema = scan(np.zeros((2, 300))).schema
    block = Rows(_sources.ArraySource(X, None, None, schema)).in_one_block(
        "A learner", "another"
    )
    assert sparse.issparse(block.X)
    assert (block.X != X).nnz == 0


def test_an_array_that_no_step_changes_is_not_copied():
    X = np.random.default_rng(0).normal(size=(40_000, 3))
    schema = scan(X[:2]).schema
    source = _sources.ArraySource(X, None, None, schema, coded=True)
    assert Rows(source).in_one_block("A learner", "another").X is X
    assert Rows(source).then(Unchanged()).in_one_block("A learner", "another").X is X


def test_categories_of_an_array_are_gathered_as_codes():
    X = np.array([[3.0, 1.5], [7.0, 2.5], [3.0, 0.5]])
    schema = Schema.declare({"a": [3.0, 7.0, 9.0], "b": "continuous"})
    rows = Rows(_sources.ArraySource(X, None, None, schema))
    for some in (rows, rows.then(Unchanged())):
        assert some.in_one_block("A learner", "another").X[:, 0].tolist() == [0, 1, 0]
    assert X[:, 0].tolist() == [3, 7, 3]


class Unchanged:
    def schema(self, schema):
        return schema

    def __call__(self, block):
        return block

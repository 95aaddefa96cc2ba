"""Parquet, Arrow and Feather files that point out of their memory, or hold what has no value:
refused by file, column and row, before a buffer is followed."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from lyceum._core.data import read_data
from lyceum.data import inspect, scan
from lyceum.errors import DataError, SchemaError

N = 6
LETTERS = b"abcdef"


def texts(offsets):
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(LETTERS)]
    return pa.Array.from_buffers(pa.string(), N, buffers)


def codes(indices):
    levels = pa.array(["red", "blue"])
    cells = pa.array(np.array(indices, np.int32))
    return pa.DictionaryArray.from_arrays(cells, levels, safe=False)


DAMAGED = {
    "an offset beyond the text": texts([0, 1, 2, 2**30, 4, 5, 6]),
    "a negative offset": texts([0, 1, 2, -5, 4, 5, 6]),
    "offsets that fall": texts([0, 1, 2, 6, 4, 5, 6]),
    "a code beyond the levels": codes([0, 1, 0, 2**30, 0, 1]),
    "a negative code": codes([0, 1, 0, -(2**31), 0, 1]),
    "bytes that are no text": pa.array([b"a"] * 5 + [b"\xff"]).view(pa.string()),
}


def write_stream(table, path):
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)


def write_file(table, path):
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def write_packed(table, path):
    feather.write_feather(table, str(path), compression="lz4")


WRITERS = {
    "stream.arrow": write_stream,
    "file.ipc": write_file,
    "t.feather": write_packed,
}


def view_of_nowhere():
    """Views of text, of which that of a missing cell has a negative length."""
    cells = pa.array(["a text"] * 3, pa.string_view())
    _, views, *texts = cells.buffers()
    changed = np.frombuffer(views, np.int32)[:12].reshape(3, 4).copy()
    changed[1] = [-(2**31), 0, 0, 0]
    validity = pa.py_buffer(bytes([0b101]))
    buffers = [validity, pa.py_buffer(changed), *texts]
    return pa.Array.from_buffers(pa.string_view(), 3, buffers)


VIEWS = """
import sys
from lyceum._core.data import read_data
cells = read_data(sys.argv[1]).table["c"].to_pylist()
assert cells == ["a text", None, "a text"], cells
"""


@pytest.mark.parametrize("count", [2**31 - 1, 2**28, 5, -1, 2**62])
def test_more_buffers_of_views_than_there_are_end_before_arrow_takes_memory(
    tmp_path, count
):
    # versions of Arrow before 24 make room for as many as are declared, and end the process
    table = pa.table({"s": pa.array(["x" * 40, "short", "y" * 50], pa.string_view())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content = sink.getvalue().to_pybytes()
    one = (1).to_bytes(8, "little")
    assert content.count(one) == 1
    path = tmp_path / "t.arrow"
    path.write_bytes(content.replace(one, count.to_bytes(8, "little", signed=True)))
    with pytest.raises(
        DataError, match=r"t\.arrow is damaged: its batches are cut off"
    ):
        scan(path)


def test_views_of_missing_cells_are_not_followed(tmp_path):
    path = tmp_path / "t.arrow"
    write_stream(pa.table({"y": [1.0, 2.0, 3.5], "c": view_of_nowhere()}), path)
    done = subprocess.run(
        [sys.executable, "-c", VIEWS, str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


# in a process of its own: a reader that follows the buffers dies, and the tests with it
READ = """
import sys
from lyceum._core.data import read_data
from lyceum.data import inspect, scan
from lyceum.errors import DataError
from lyceum._core.data import read_data
from lyceum.workflows.batches import Batches
from lyceum._core.data import Column
def batches(path):
    return list(Batches(path, (Column("y"),), ("c",)))
for path in sys.argv[1:]:
    for read in (scan, inspect, read_data, batches):
        try:
            read(path)
        except DataError as error:
            assert path in str(error) and "column 'c'" in str(error), error
        else:
            raise AssertionError(f"{path} was read")
"""  # fmt: skip


def test_buffers_that_point_out_of_the_file_are_refused_by_file_and_column(tmp_path):
    paths = []
    for number, cells in enumerate(DAMAGED.values()):
        for name, write in WRITERS.items():
            path = tmp_path / f"{number}_{name}"
            write(pa.table({"y": np.arange(N) * 1.5, "c": cells}), path)
            paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-c", READ, *paths], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def put(folder, cells, kind="parquet"):
    path = folder / f"t.{kind}"
    table = pa.table({"y": np.arange(len(cells)) * 1.5, "c": cells})
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=2)
    else:
        feather.write_feather(table, str(path))
    return path


@pytest.mark.parametrize("memory", [0, 1 << 30])
def test_bytes_that_are_no_text_are_refused_with_the_row(tmp_path, memory):
    path = put(tmp_path, DAMAGED["bytes that are no text"])
    with pytest.raises(DataError, match=r"t\.parquet is damaged: column 'c'"):
        list(scan(path, memory=memory).blocks())
    with pytest.raises(DataError, match="column 'c', row 5"):
        inspect(put(tmp_path, DAMAGED["bytes that are no text"], "feather"))


FAR = {
    "days": (pa.array([2**31 - 1, -(2**31), 1], pa.date32()), 86400.0),
    "seconds": (pa.array([2**62, -(2**62), 1], pa.timestamp("s")), 1.0),
    "milliseconds": (pa.array([2**62, -(2**62), 1], pa.timestamp("ms")), 1e-3),
    "microseconds": (pa.array([2**62, -(2**62), 1], pa.timestamp("us")), 1e-6),
    "a span": (pa.array([2**62, -(2**62), 1], pa.duration("s")), 1.0),
}


@pytest.mark.parametrize("what", FAR)
def test_dates_beyond_all_calendars_are_their_seconds(tmp_path, what):
    cells, unit = FAR[what]
    whole = np.array([value.value for value in cells], dtype=np.float64)
    path = put(tmp_path, cells, "feather")
    np.testing.assert_allclose(scan(path).source.X[:, 1], whole * unit, rtol=1e-15)
    assert "c" in str(inspect(path))


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_views_of_text_are_read_as_text(tmp_path, kind):
    path = put(tmp_path, pa.array(["a", "b", "a"], pa.string_view()), kind)
    for memory in (0, 1 << 30):
        rows = scan(path, memory=memory)
        cells = np.concatenate([block.X[:, 1] for block in rows.blocks()])
        assert cells.tolist() == [0, 1, 0]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_two_columns_of_one_name_are_refused_by_file_and_name(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    table = pa.table([pa.array([1, 2]), pa.array([3, 4])], ["a", "a"])
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    for read in (scan, inspect):
        with pytest.raises(SchemaError, match=rf"t\.{kind}.*'a'"):
            read(path)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_decimals_beyond_floats_are_no_labels(tmp_path, kind):
    path = put(tmp_path, pa.array([10**30, 10**30 + 1, 5], pa.decimal128(38, 0)), kind)
    assert scan(path).source.X[2, 1] == 5
    with pytest.raises(SchemaError, match="'c' holds 1000000000000000000000000000000"):
        scan(path, target="c", task="classification")
    with pytest.raises(SchemaError, match="give it as text"):
        scan(path, kinds={"c": "categorical"})


def test_a_file_that_is_cut_off_is_refused_by_name(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0]}), path, compression="none")
    path.write_bytes(path.read_bytes()[:-20])
    for read in (scan, inspect):
        with pytest.raises(DataError, match=r"t\.parquet is damaged"):
            read(path)


def test_a_folder_named_as_a_partition_adds_no_column(tmp_path):
    folder = tmp_path / "year=2024"
    folder.mkdir()
    path = put(folder, pa.array([1.0, 2.0]))
    for memory in (0, 1 << 30):
        assert scan(path, memory=memory).schema.names == ("y", "c")


@pytest.mark.parametrize("memory", [0, 1 << 30])
def test_levels_that_are_listed_twice_or_missing_are_one_category_or_none(
    tmp_path, memory
):
    levels = pa.array(["b", "a", "a", None])
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None, 0]), levels)
    path = tmp_path / "t.arrow"
    write_stream(pa.table({"y": np.arange(6) * 1.5, "c": cells}), path)
    rows = scan(path, memory=memory)
    assert sorted(rows.schema["c"].categories.tolist()) == ["a", "b"]
    codes = np.concatenate([block.X[:, 1] for block in rows.blocks()])
    listed = rows.schema["c"].categories.tolist()
    a, b = listed.index("a"), listed.index("b")
    np.testing.assert_array_equal(codes, [b, a, a, np.nan, np.nan, b])
    assert inspect(path)["c"].n_missing == 2


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("target", [None, "c"])
def test_levels_beyond_floats_keep_their_value(tmp_path, count, target):
    levels = [2**53 + j for j in range(count)]
    cells = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, count - 1]), pa.array(levels)
    )
    path = tmp_path / "t.arrow"
    write_stream(pa.table({"y": [1.0, 2.0, 3.5], "c": cells}), path)
    rows = scan(path, target=target, kinds={"c": "categorical"})
    column = rows.schema.target if target else rows.schema["c"]
    assert column.categories.tolist() == levels
    codes = rows.y if target else rows.source.X[:, 1]
    expected = [0, 1, count - 1]
    if target:
        expected = [levels[code] for code in expected]
    assert codes.tolist() == expected


def codes_below_missing(levels, code):
    buffers = [
        pa.py_buffer(bytes([0b101])),
        pa.py_buffer(np.array([0, code, 1], np.int32)),
    ]
    indices = pa.Array.from_buffers(pa.int32(), 3, buffers)
    return pa.DictionaryArray.from_arrays(indices, pa.array(levels), safe=False)


CODES = """
import sys
from lyceum._core.data import read_data
from lyceum.data import inspect, scan
for path in sys.argv[1:]:
    rows = scan(path)
    codes = rows.source.X[[0, 2, 3, 5], 1]
    names = [str(rows.schema["c"].categories[int(code)]) for code in codes]
    assert names == ["a", "b", "c", "a"], names
    assert inspect(path)["c"].n_missing == 2
"""


def test_codes_below_missing_cells_are_not_followed(tmp_path):
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("y", pa.float64()), ("c", kind)])
    paths = []
    for code in (2**31 - 1, -(2**31), 10**8):
        path = tmp_path / f"{code}.arrow"
        with pa.ipc.new_stream(str(path), schema) as writer:
            for levels in (["a", "b"], ["c", "a"]):
                cells = [pa.array([1.0, 2.0, 3.5]), codes_below_missing(levels, code)]
                writer.write_batch(pa.record_batch(cells, schema=schema))
        paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-c", CODES, *paths], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
def test_packed_batches_of_old_versions_are_refused_as_arrow_misreads_them(
    tmp_path, writer
):
    table = pa.table({"a": [1.0, 2.0, 3.0]})
    path = str(tmp_path / "t.arrow")
    for version in (pa.ipc.MetadataVersion.V4, pa.ipc.MetadataVersion.V5):
        options = pa.ipc.IpcWriteOptions(compression="zstd", metadata_version=version)
        with writer(path, table.schema, options=options) as sink:
            sink.write_table(table)
        if version == pa.ipc.MetadataVersion.V4:
            with pytest.raises(
                DataError, match=r"t\.arrow has packed batches .* before 1\.0"
            ):
                read_data(path)
    assert read_data(path).table == table

"""A study reads every byte of its file once before the final fit, and its hash notices a changed
file."""

import bz2
import gzip
import os
import shutil
import sqlite3
import sys
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import lyceum
from lyceum import scan
from lyceum._core.data import fits_memory, read_data, reading_once
from lyceum._core.data.files import csv as csv_module
from lyceum._core.data.rows import sources as _sources
from lyceum._core.threads import limit_threads
from lyceum.data import inspect
from lyceum.studies import Recipe
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.row_order import without_order_columns
from lyceum.studies.plan.study_data import StudyData

COUNTS = Path("/proc/self/io")
N = 20_000  # more than a megabyte of text
ORDER = {"group": "who", "time": "day"}
PACKERS = {
    ".gz": lambda data: gzip.compress(data, 1, mtime=0),
    ".bz2": lambda data: bz2.compress(data, 1),
}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
TEXT = [
    "t.csv",
    "quoted.csv",
    "breaks.csv",
    "latin.csv",
    "t.csv.gz",
    "t.csv.bz2",
    "t.csv.zst",
    "t.csv.lz4",
]
TYPED = ["t.parquet", "t.feather", "plain.arrow", "stream.arrow"]
OTHERS = ["t.arff", "t.jsonl", "t.json", "t.jsonl.gz", "t.xlsx", "t.sqlite", "t.duckdb"]

needs_counts = pytest.mark.skipif(
    not COUNTS.is_file(), reason="needs Linux's count of the bytes read"
)


@cache
def table(n=N):
    """Numbers, groups, days and classes."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n).round(6) for j in range(4)}
    day = np.datetime64("2020-01-01") + np.arange(n) // 50
    who = pa.array([f"p{i % 300}" for i in range(n)])
    return pa.table({**columns, "who": who, "day": day.astype(str), "y": rng.choice(["a", "b"], n)})


@pytest.fixture(scope="module")
def file_of(tmp_path_factory):
    """Files of the table, made once, that tests only read."""
    folder = tmp_path_factory.mktemp("files")

    @cache
    def make(name, n=N):
        (folder / str(n)).mkdir(exist_ok=True)
        return write(folder / str(n) / name, table(n))

    return make


# -- files -----------------------------------------------------------------------------


def write(path, data):
    """The table in the kind of file that the name asks for."""
    name, packed = (path.stem, path.suffix) if path.suffix in PACKED else (path.name, None)
    content = WRITERS[Path(name).suffix](path, name, data)
    if packed in PACKERS:
        path.write_bytes(PACKERS[packed](content))
    elif packed is not None:
        with pa.CompressedOutputStream(str(path), PACKED[packed]) as file:
            file.write(content)
    elif content is not None:
        path.write_bytes(content)
    return str(path)


def _csv(path, name, data):
    if "breaks" in name:
        data = data.set_column(
            4, "who", pa.array([f"{who}\nof" for who in data["who"].to_pylist()])
        )
    if "latin" in name:  # the first megabyte is ASCII
        data = data.set_column(4, "who", pa.array([*data["who"].to_pylist()[:-1], "Zoë"]))
    style = "needed" if "quoted" in name or "breaks" in name else "none"
    sink = pa.BufferOutputStream()
    sink.write(",".join(data.column_names).encode() + b"\n")
    pa.csv.write_csv(data, sink, pa.csv.WriteOptions(include_header=False, quoting_style=style))
    content = sink.getvalue().to_pybytes()
    return content.decode().encode("latin-1") if "latin" in name else content


def _arrow(path, name, data):
    if "stream" in name:
        with pa.ipc.new_stream(str(path), data.schema) as writer:
            writer.write_table(data)
    else:
        pa.feather.write_feather(
            data, path, compression="uncompressed" if "plain" in name else "lz4"
        )


def _arff(path, name, data):
    kinds = {"who": "string", "day": "date yyyy-MM-dd", "y": "{a,b}"}
    lines = [f"@attribute {column} {kinds.get(column, 'numeric')}" for column in data.column_names]
    rows = _csv(path, "t.csv", data).split(b"\n", 1)[1]
    return "\n".join(["@relation t", *lines, "@data\n"]).encode() + rows


def _json(path, name, data):
    lines = data.to_pandas().to_json(orient="records", lines=name.endswith("l"))
    return lines.encode()


def _workbook(path, name, data):
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    rows = [data.column_names, *(list(row.values()) for row in data.to_pylist())]
    cells = ("".join(map(_cell, row)) for row in rows)
    sheet = "".join(f"<row>{row}</row>" for row in cells)
    relation = '<Relationship Id="r1" Target="worksheets/s.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{relation}</Relationships>")
        sheets = '<sheets><sheet name="s" r:id="r1"/></sheets>'
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}">{sheets}</workbook>'
        )
        archive.writestr(
            "xl/worksheets/s.xml",
            f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>',
        )


def _cell(value):
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value!r}</v></c>"


def _sqlite(path, name, data):
    path.unlink(missing_ok=True)
    names = ", ".join(data.column_names)
    marks = ", ".join("?" * data.num_columns)
    connection = sqlite3.connect(path)
    connection.execute(f"create table t ({names})")
    connection.executemany(f"insert into t values ({marks})", zip(*data.to_pydict().values()))
    connection.commit()
    connection.close()


def _duckdb(path, name, data):
    duckdb = pytest.importorskip("duckdb")
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t as select * from data")


WRITERS = {
    ".csv": _csv,
    ".parquet": lambda path, name, data: pq.write_table(data, path, row_group_size=10_000),
    ".feather": _arrow,
    ".arrow": _arrow,
    ".arff": _arff,
    ".jsonl": _json,
    ".json": _json,
    ".xlsx": _workbook,
    ".sqlite": _sqlite,
    ".duckdb": _duckdb,
}


# -- counts ----------------------------------------------------------------------------


OPENED: list[str] = []
sys.addaudithook(lambda event, values: event == "open" and OPENED.append(str(values[0])))


def reads_of(path, work):
    """How often a file is read by its bytes, and how often it is opened."""
    found = _reads_in_one_run(path, work)
    # what is imported on the way is read too, and not in a second run
    return found if found[0] < 1.01 else _reads_in_one_run(path, work)


def _reads_in_one_run(path, work):
    OPENED.clear()
    before = _count()
    work()
    return (_count() - before) / os.path.getsize(path), OPENED.count(path)


def _count():
    return int(COUNTS.read_text(encoding="utf-8").split()[1])


def studied(path, memory_mb=512, **options):
    recipe = Recipe(
        data=(path,), target="y", memory_mb=memory_mb, learners=("NaiveBayes",), **options
    )
    data = StudyData.of(without_order_columns(recipe)).check_rows()
    Plan.of(recipe, data)
    return data


@needs_counts
@pytest.mark.parametrize("name", [*TEXT, *TYPED, *OTHERS])
def test_a_file_that_fits_into_memory_is_read_once(name, file_of):
    path = file_of(name, 4_000 if name == "t.xlsx" else 12_000 if name in OTHERS else N)
    times, opened = reads_of(path, lambda: studied(path, **ORDER))
    assert times < 1.02
    assert (
        opened == 1
    )  # a database opens its own file once more, behind our look at its first bytes


@needs_counts
@pytest.mark.parametrize("name", ["t.csv", "quoted.csv", "t.csv.zst", "t.parquet"])
def test_a_larger_file_is_read_once_before_the_final_fit(name, file_of, monkeypatch):
    monkeypatch.setattr(csv_module, "_STREAM_BYTES", 1 << 18)  # the first look is at twice as many
    monkeypatch.setattr(_sources, "_PART_ROWS", 1 << 13)
    path = file_of(name)
    assert path.endswith(("zst", "parquet")) or os.path.getsize(path) > 1 << 20
    assert reads_of(path, lambda: studied(path, 1, **ORDER))[0] < 1.01
    assert studied(path, 1).is_sample


@needs_counts
def test_names_that_appear_twice_are_found_in_the_one_read(tmp_path):
    data = table()
    path = write(tmp_path / "t.csv", data.rename_columns(["x", "x", *data.column_names[2:]]))
    for memory_mb in (1, 512):
        assert reads_of(path, lambda mb=memory_mb: studied(path, mb))[0] < 1.02
    assert studied(path).schema.names[:2] == ("x", "x.1")


@needs_counts
def test_written_numbers_are_described_from_the_one_read(tmp_path):
    data = table()
    prices = pa.array([f"$ {i % 997}.50" for i in range(len(data))])
    path = write(tmp_path / "t.csv", data.set_column(0, "price", prices))
    assert reads_of(path, lambda: studied(path, 1))[0] < 1.02
    assert any("'price'" in note for note in studied(path, 1).notes)


@needs_counts
@pytest.mark.parametrize(
    "name", ["t.csv", "quoted.csv", "t.csv.gz", "t.jsonl", "t.arrow", "t.arff"]
)
def test_scan_reads_a_file_once(name, file_of):
    path = file_of(name)
    assert reads_of(path, lambda: scan(path, "y"))[0] < 1.02


@needs_counts
@pytest.mark.parametrize("look", [inspect, scan])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_a_larger_file_is_looked_at_once(name, look, file_of):
    path = file_of(name)
    assert reads_of(path, lambda: look(path, "y", memory=1 << 20))[0] < 1.02


@needs_counts
@pytest.mark.usefixtures("no_pictures")
def test_a_whole_study_and_its_resumption_each_read_the_file_once(file_of, tmp_path):
    path, out = file_of("t.csv", 600), tmp_path / "study"
    asked = {
        "learners": ["NaiveBayes"],
        "folds": 2,
        "group": "who",
        "loss": lambda classes: 1 - np.eye(2),
    }
    for _ in range(2):
        OPENED.clear()
        lyceum.study(path, "y", out=out, **asked)
        assert OPENED.count(path) == 1


# -- hashes ----------------------------------------------------------------------------


@pytest.mark.parametrize("memory_mb", [1, 512])
@pytest.mark.parametrize("name", ["t.csv", "quoted.csv", "t.csv.gz", "t.parquet"])
def test_a_changed_cell_is_noticed(name, memory_mb, file_of, tmp_path):
    one = file_of(name)
    two = shutil.copy(one, tmp_path / name)
    with limit_threads(1):
        alone = studied(str(two), memory_mb).digest
    digest = studied(one, memory_mb).digest
    assert digest == studied(one, memory_mb).digest == alone
    assert digest != studied(write(two, _with_another_cell(table())), memory_mb).digest


def _with_another_cell(data):
    x0 = data["x0"].to_numpy().copy()
    place = len(x0) * 2 // 3
    x0[place] = -x0[place]
    return data.set_column(0, "x0", pa.array(x0))


@pytest.mark.parametrize("name", [*TYPED[1:], *OTHERS])
def test_a_changed_cell_is_noticed_in_files_of_every_kind(name, tmp_path):
    path, data = tmp_path / name, table(500)
    digests = []
    for each in (data, data, _with_another_cell(data)):
        digests.append(studied(write(path, each)).digest)
    assert digests[0] == digests[1] != digests[2]


def test_a_file_hashes_alike_streamed_and_in_memory(file_of):
    path = file_of("t.csv")
    streamed = studied(path, 1)
    assert streamed.is_sample
    assert streamed.digest == studied(path).digest


@pytest.mark.parametrize("name", ["t.sqlite", "t.duckdb"])
def test_a_database_is_hashed_by_the_rows_that_are_read(name, tmp_path):
    path = tmp_path / name
    before = studied(write(path, table(500)), form={"table": "t"}).digest
    if name == "t.sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("create table other (z)")
    else:
        with pytest.importorskip("duckdb").connect(str(path)) as connection:
            connection.execute("create table other (z integer)")
    assert studied(str(path), form={"table": "t"}).digest == before


# -- what is held ----------------------------------------------------------------------


def test_bytes_are_let_go_after_reading(tmp_path):
    path = write(tmp_path / "t.csv", table(500))
    with reading_once() as reads:
        assert fits_memory(path, 1 << 30)
        assert reads.head(path, 4) == b"x0,x"
        read_data(path)
        assert not reads._bytes
        assert not reads._open


def test_a_stream_begins_with_the_bytes_that_are_held(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(bytes(range(100)))
    with reading_once(hashed=True) as reads:
        assert reads.head(str(path), 10) == bytes(range(10))
        assert reads.end(str(path), 5) == bytes(range(95, 100))
        stream = reads.stream(str(path))
        pieces = [stream.read(7) for _ in range(16)]
        assert b"".join(pieces) == bytes(range(100))
        assert [len(piece) for piece in pieces] == [7] * 14 + [2, 0]
        digest = reads.digest([str(path)])
        assert bytes(reads.whole(str(path))) == bytes(range(100))
        assert reads.digest([str(path)]) == digest


def test_a_file_that_is_written_again_is_read_again(tmp_path):
    path = write(tmp_path / "t.csv", table(500))
    assert len(scan(path, "y")) == 500
    write(Path(path), table(700))
    assert len(scan(path, "y")) == 700

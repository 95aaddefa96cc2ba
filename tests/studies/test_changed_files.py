"""The hash of a study's data notices a changed cell, in files of every kind."""

import gzip
import shutil
import sqlite3
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from lyceum import scan
from lyceum._core.threads import limit_threads
from lyceum.data import FileFormat
from lyceum.studies import Recipe
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.row_order import without_order_columns
from lyceum.studies.plan.study_data import StudyData

N = 20_000
TYPED = ["t.parquet", "t.feather", "plain.arrow", "stream.arrow"]
OTHERS = ["t.arff", "t.jsonl", "t.json", "t.jsonl.gz", "t.xlsx", "t.sqlite", "t.duckdb"]


@cache
def table(n=N):
    """Numbers, groups, days and classes."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n).round(6) for j in range(4)}
    day = np.datetime64("2020-01-01") + np.arange(n) // 50
    who = pa.array([f"p{i % 300}" for i in range(n)])
    return pa.table(
        {**columns, "who": who, "day": day.astype(str), "y": rng.choice(["a", "b"], n)}
    )


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
    name = path.name.removesuffix(".gz")
    content = WRITERS[Path(name).suffix](path, name, data)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content, 1, mtime=0))
    elif content is not None:
        path.write_bytes(content)
    return str(path)


def _csv(path, name, data):
    style = "needed" if "quoted" in name else "none"
    sink = pa.BufferOutputStream()
    sink.write(",".join(data.column_names).encode() + b"\n")
    pa.csv.write_csv(
        data, sink, pa.csv.WriteOptions(include_header=False, quoting_style=style)
    )
    return sink.getvalue().to_pybytes()


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
    lines = [
        f"@attribute {column} {kinds.get(column, 'numeric')}"
        for column in data.column_names
    ]
    rows = _csv(path, "t.csv", data).split(b"\n", 1)[1]
    return "\n".join(["@relation t", *lines, "@data\n"]).encode() + rows


def _json(path, name, data):
    lines = data.to_pandas().to_json(orient="records", lines=name.endswith("l"))
    return lines.encode()


def _workbook(path, name, data):
    workbook = pytest.importorskip("openpyxl").Workbook(write_only=True)
    sheet = workbook.create_sheet("s")
    for row in [data.column_names, *(list(row.values()) for row in data.to_pylist())]:
        sheet.append(row)
    workbook.save(path)


def _sqlite(path, name, data):
    path.unlink(missing_ok=True)
    names = ", ".join(data.column_names)
    marks = ", ".join("?" * data.num_columns)
    connection = sqlite3.connect(path)
    connection.execute(f"create table t ({names})")
    connection.executemany(
        f"insert into t values ({marks})", zip(*data.to_pydict().values())
    )
    connection.commit()
    connection.close()


def _duckdb(path, name, data):
    duckdb = pytest.importorskip("duckdb")
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t as select * from data")


WRITERS = {
    ".csv": _csv,
    ".parquet": lambda path, name, data: pq.write_table(
        data, path, row_group_size=10_000
    ),
    ".feather": _arrow,
    ".arrow": _arrow,
    ".arff": _arff,
    ".jsonl": _json,
    ".json": _json,
    ".xlsx": _workbook,
    ".sqlite": _sqlite,
    ".duckdb": _duckdb,
}


def studied(path, memory_mb=512, **options):
    recipe = Recipe(
        data=(path,),
        target="y",
        memory_mb=memory_mb,
        learners=("NaiveBayes",),
        **options,
    )
    data = StudyData.of(without_order_columns(recipe)).check_rows()
    Plan.of(recipe, data)
    return data


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
    digest = studied(write(path, data)).digest
    assert studied(str(path)).digest == digest
    assert studied(write(path, _with_another_cell(data))).digest != digest


def test_a_file_hashes_alike_streamed_and_in_memory(file_of):
    path = file_of("t.csv")
    streamed = studied(path, 1)
    assert streamed.is_sample
    assert streamed.digest == studied(path).digest


@pytest.mark.parametrize("name", ["t.sqlite", "t.duckdb"])
def test_a_database_is_hashed_by_the_rows_that_are_read(name, tmp_path):
    path = tmp_path / name
    before = studied(write(path, table(500)), file_format=FileFormat(table="t")).digest
    if name == "t.sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("create table other (z)")
    else:
        with pytest.importorskip("duckdb").connect(str(path)) as connection:
            connection.execute("create table other (z integer)")
    assert studied(str(path), file_format=FileFormat(table="t")).digest == before


def test_a_file_that_is_written_again_is_read_again(tmp_path):
    path = write(tmp_path / "t.csv", table(500))
    assert len(scan(path, "y")) == 500
    write(Path(path), table(700))
    assert len(scan(path, "y")) == 700

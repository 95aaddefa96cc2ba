"""Files that ask for memory in ways that their usual signs do not show: refused before it is taken.

Each of these took gigabytes, or ended the process, when it was first tried.
"""

import io
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from fuzz import workbooks
from lyceum import scan
from lyceum._core.data import read_data, reading_limits
from lyceum._core.data.files.typed_files import read_parquet_file
from lyceum.data import FileFormat, inspect
from lyceum.errors import DataError, DataWarning
from lyceum.workflows.batches import Batches

FAR = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
NEAR = '<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c></row>'
CELL = '<c s="0"><v>1</v></c>'
SHEET = "xl/worksheets/s0.xml"
RELATIONS = "xl/_rels/workbook.xml.rels"


def sheet(rows):
    main = workbooks.NAMESPACES[False][0]
    opening = f'<worksheet xmlns="{main}" xmlns:x="{main}">'
    return f"{opening}<sheetData>{rows}</sheetData></worksheet>"


def book(rows, parts=(), rename=(), relations=""):
    """A workbook of these rows: parts are added, the sheet gets another name, relations change."""
    cells = {(0, 0): ("whole", 1), (1, 0): ("whole", 2)}
    content = workbooks.Book(cells, tuple(cells)).write()
    names = dict(rename)
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            text = old.read(name).decode()
            if name == SHEET:
                text = sheet(rows)
            if name == RELATIONS and relations:
                text = text.replace("</Relationships>", f"{relations}</Relationships>")
            new.writestr(names.get(name, name), text)
        for name, text in parts:
            new.writestr(name, text)
    return stream.getvalue()


def relation(target, identifier="r0", before=""):
    kind = f"{workbooks.NAMESPACES[False][1]}/relationships/worksheet"
    return f'<Relationship {before}Id="{identifier}" Type="{kind}" Target="{target}"/>'


BOOKS = {
    "a name in capitals": book(FAR, rename=[(SHEET, "xl/worksheets/S0.XML")]),
    "a path that is not resolved": book(
        NEAR,
        parts=[("xl/a/../far.xml", sheet(FAR)), ("xl/far.xml", sheet(NEAR))],
        relations=relation("a/../far.xml"),
    ),
    "a relation in a comment": book(
        FAR,
        parts=[("xl/worksheets/near.xml", sheet(NEAR))],
        relations=f"<!--{relation('worksheets/near.xml')}-->",
    ),
    "rows without addresses": book(
        '<row a="1"/>' * 100_000 + f'<row a="1">{CELL * 9000}</row>'
    ),
    "rows with a prefix": book(
        "<x:row/>" * 100_000 + f"<x:row>{'<x:c><x:v>1</x:v></x:c>' * 9000}</x:row>"
    ),
    "leading zeros": book(FAR.replace("1048576", "0000001048576")),
}


@pytest.mark.parametrize("name", BOOKS)
def test_a_sheet_is_measured_however_it_is_named_and_written(tmp_path, name):
    path = tmp_path / "t.xlsx"
    path.write_bytes(BOOKS[name])
    refused = pytest.raises(DataError, match=r"t\.xlsx")
    with reading_limits(memory=64 << 20), refused:
        read_data(path)


def test_two_parts_of_one_name_are_refused(tmp_path):
    path = tmp_path / "t.xlsx"
    with pytest.warns(UserWarning, match="Duplicate"):
        path.write_bytes(book(NEAR, parts=[(SHEET, sheet(FAR))]))
    with pytest.raises(DataError, match=r"two parts of the name xl/worksheets/s0\.xml"):
        read_data(path)


def test_a_sheet_beside_one_that_reaches_far_is_read(tmp_path):
    cells = {(0, 0): ("whole", 1), (1, 0): ("whole", 2)}
    content = workbooks.Book(cells, tuple(cells), n_sheets=2).write()
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(stream, "w") as new,
    ):
        for name in old.namelist():
            far = name == "xl/worksheets/s1.xml"
            new.writestr(name, sheet(FAR) if far else old.read(name))
    path = tmp_path / "t.xlsx"
    path.write_bytes(stream.getvalue())
    with reading_limits(memory=64 << 20):
        assert read_data(path, FileFormat(table="s0")).table.to_pydict() == {"1": [2]}


def test_a_long_text_that_many_cells_share_is_counted(tmp_path):
    main = workbooks.NAMESPACES[False][0]
    strings = f'<sst xmlns="{main}"><si><t>{"x" * 100_000}</t></si></sst>'
    cells = (f'<c r="A{i}" t="s"><v>0</v></c>' for i in range(1, 1001))
    rows = "".join(f'<row r="{i}">{cell}</row>' for i, cell in enumerate(cells, 1))
    path = tmp_path / "t.xlsx"
    name = "xl/sharedStrings.xml"
    path.write_bytes(book(rows, parts=[(name, strings)], rename=[(name, "old.xml")]))
    refused = pytest.raises(DataError, match="texts of its cells take about 100 MB")
    with reading_limits(memory=64 << 20), refused:
        read_data(path)


@pytest.mark.parametrize(
    "count",
    [
        'uniqueCount="4000000000"',
        f'uniqueCount="{"0" * 40}4000000000"',
        'uniqueCount="+4000000000"',
        """a=">" b='<t>"' uniqueCount = '4000000000' c="</t>" """,
    ],
)
def test_a_count_of_texts_that_are_not_there_is_refused(tmp_path, count):
    main = workbooks.NAMESPACES[False][0]
    strings = f'<x:sst xmlns:x="{main}" {count}></x:sst>'
    path = tmp_path / "t.xlsx"
    name = "xl/sharedStrings.xml"
    path.write_bytes(book(NEAR, [("xl/SHAREDSTRINGS.XML", strings)], [(name, "o.xml")]))
    with pytest.raises(DataError, match="the 4,000,000,000 texts that it declares"):
        read_data(path)


def test_a_text_that_looks_like_a_count_of_texts_is_a_text(tmp_path):
    main = workbooks.NAMESPACES[False][0]
    text = 'uniqueCount="9999999999"'
    strings = f'<sst xmlns="{main}"><si><t>a</t></si><si><t>{text}</t></si></sst>'
    rows = "".join(
        f'<row r="{i + 1}"><c r="A{i + 1}" t="s"><v>{i}</v></c></row>' for i in (0, 1)
    )
    path = tmp_path / "t.xlsx"
    name = "xl/sharedStrings.xml"
    path.write_bytes(book(rows, [(name, strings)], [(name, "old.xml")]))
    assert read_data(path).table.to_pydict() == {"a": [text]}


def repeated_text(n_rows=3000):
    codes = pa.array(np.zeros(n_rows, np.int32))
    text = pa.array(["x" * 1_000_000])
    return pa.table({"a": pa.DictionaryArray.from_arrays(codes, text)})


def feather_bytes(table, packing):
    sink = io.BytesIO()
    feather.write_feather(table, sink, compression=packing)
    return sink.getvalue()


def parquet_bytes(table, store_schema):
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=store_schema)
    return sink.getvalue()


def stream_bytes(table, packing=None):
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=packing)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


ZEROS = pa.table({"a": np.zeros(10_000_000)})
TYPED = {
    "zeros.feather": feather_bytes(ZEROS, "zstd"),
    "zeros.arrow": stream_bytes(ZEROS, "lz4"),
    "nothing.arrow": stream_bytes(pa.table({"a": pa.nulls(2_000_000_000)})),
    "texts.arrow": stream_bytes(repeated_text()),
    "texts.parquet": parquet_bytes(repeated_text(), True),
    "plain.parquet": parquet_bytes(repeated_text(), False),
}


@pytest.mark.parametrize("read", [scan, inspect, read_data])
@pytest.mark.parametrize("name", TYPED)
def test_what_a_typed_file_is_unpacked_to_is_known_before(tmp_path, name, read):
    path = tmp_path / name
    path.write_bytes(TYPED[name])
    assert len(TYPED[name]) < 2 << 20
    refused = pytest.raises(DataError, match=f"{name} cannot be read.* of memory")
    before = pa.total_allocated_bytes()
    with reading_limits(memory=50 << 20), refused:
        read(path)
    assert pa.total_allocated_bytes() - before < 1 << 24


def test_texts_of_batches_are_known_before_they_are_written_out(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet_bytes(repeated_text(), False))
    columns = scan(pa.table({"a": ["x", "y"]})).schema.columns
    refused = pytest.raises(DataError, match="the texts of column 'a' take about 3 GB")
    before = pa.total_allocated_bytes()
    with reading_limits(memory=50 << 20), refused:
        list(Batches(str(path), tuple(columns)))
    assert pa.total_allocated_bytes() - before < 1 << 24


def growing_texts(n_rows, length):
    """Every text repeats the one before, in a file of a few kilobytes."""
    texts = [f"{'x' * length}{i % 3}" for i in range(n_rows)]
    table = pa.table({"a": texts, "b": np.arange(n_rows, dtype=float)})
    sink = io.BytesIO()
    options = {"use_dictionary": False, "row_group_size": n_rows // 2}
    coding = {"a": "DELTA_BYTE_ARRAY", "b": "PLAIN"}
    pq.write_table(table, sink, column_encoding=coding, **options)
    return table, sink.getvalue()


def test_texts_that_repeat_the_one_before_are_read(tmp_path):
    path = tmp_path / "t.parquet"
    table, content = growing_texts(n_rows=100, length=5)
    path.write_bytes(content)
    assert read_data(path).table.to_pydict() == table.to_pydict()
    columns = ["b", "a"]
    assert read_parquet_file(str(path), columns).column_names == columns
    assert inspect(path).n_rows == 100
    whole = [block.X for block in scan(path).blocks()]
    parts = [block.X for block in scan(path, memory=0).blocks()]
    np.testing.assert_array_equal(np.vstack(parts), np.vstack(whole))
    batches = list(Batches(str(path), tuple(scan(path).schema.columns)))
    assert pa.concat_tables(batches).to_pydict() == table.to_pydict()


def test_texts_that_repeat_a_long_one_before_end_at_the_memory_that_is_allowed(
    tmp_path,
):
    path = tmp_path / "t.parquet"
    path.write_bytes(growing_texts(n_rows=3000, length=100_000)[1])
    assert path.stat().st_size < 1 << 21
    refused = pytest.raises(DataError, match="the texts of its first rows take about")
    with reading_limits(memory=20 << 20), refused:
        read_data(path)


@pytest.mark.parametrize("packing", [None, "lz4", "zstd"])
@pytest.mark.parametrize("form", ["file", "stream"])
def test_packed_batches_within_memory_are_read(tmp_path, form, packing):
    table = pa.table({"a": [1.5, None, 2.5] * 99, "b": ["x", "y", None] * 99})
    path = tmp_path / "t.arrow"
    if form == "file":
        path.write_bytes(feather_bytes(table, packing or "uncompressed"))
    else:
        path.write_bytes(stream_bytes(table, packing))
    with reading_limits(memory=1 << 16):
        assert read_data(path).table.to_pydict() == table.to_pydict()


def test_bytes_behind_a_stream_are_refused(tmp_path):
    path = tmp_path / "t.arrow"
    whole = stream_bytes(pa.table({"a": [1, 2, 3]}))
    path.write_bytes(whole + whole)
    with pytest.raises(DataError, match=f"{len(whole)} bytes behind the end"):
        read_data(path)


@pytest.mark.parametrize("form", ["'", "''", "x", "%"])
def test_a_date_without_parts_is_refused(tmp_path, form):
    # an empty form made Arrow read before its beginning
    path = tmp_path / "t.arff"
    path.write_text(f'@relation r\n@attribute a date "{form}"\n@data\nx\n')
    with pytest.raises(DataError, match=r"t\.arff: attribute 'a' .* without a part"):
        read_data(path)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}\n', '[{"b": 1}, {"a": 1, "a": 2}]'])
def test_a_key_that_appears_twice_is_refused(tmp_path, text):
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=r"t\.jsonl.* line 1: .* the key 'a' twice"):
        read_data(path)


def test_json_in_another_encoding_says_so(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes('{"a": "Köln"}\n{"a": "Wien"}\n'.encode("latin-1"))
    with pytest.warns(DataWarning, match="not UTF-8 text: read as cp1252") as warned:
        rows = scan(path)
    # the warning points to this file, not to one that called it
    assert warned[0].filename == __file__
    assert rows.schema["a"].categories.tolist() == ["Köln", "Wien"]


# the number of its tables of sectors, the power of two of a sector, the number of mini sectors
@pytest.mark.parametrize(("offset", "value"), [(30, 63)])
def test_sizes_that_an_old_workbook_declares_end_no_process(tmp_path, offset, value):
    content = bytearray((Path(__file__).parent / "files" / "kinds.xls").read_bytes())
    content[offset : offset + 4] = value.to_bytes(4, "little")
    path = tmp_path / "t.xls"
    path.write_bytes(content)
    refused = pytest.raises(DataError, match=r"t\.xls is damaged")
    with reading_limits(memory=256 << 20, seconds=30.0), refused:
        read_data(path, FileFormat(table="kinds"))


def test_an_opendocument_file_that_is_not_well_formed_is_refused(tmp_path):
    old = Path(__file__).parent / "files" / "kinds.ods"
    path = tmp_path / "t.ods"
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "content.xml":
                content = content.replace(b"</table:table-row>", b"")
            target.writestr(name, content)
    # calamine looked for the end of the row for ever
    with pytest.raises(DataError, match=r"t\.ods is damaged.* mismatched tag"):
        read_data(path, FileFormat(table="kinds"))

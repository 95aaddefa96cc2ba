"""CSV and ARFF files, plain and packed, with bytes, characters and numbers that readers dislike:
read, or refused by file and place."""

import gzip

import numpy as np
import pyarrow as pa
import pytest

from lyceum.data import inspect, scan
from lyceum.errors import DataError, LyceumError, SchemaError

ARFF = """@relation r
@attribute a numeric
@attribute s string
@attribute d date 'yyyy-MM-dd'
@data
"""


def put(folder, content, name):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


BAD = {
    "text for numbers": (ARFF + "x,'y',2020-01-01\n", "attribute 'a'"),
    "a date that is none": (ARFF + "1,'y',2020-13-01\n", "attribute 'd'"),
    "a cell too few": (ARFF + "1,'y'\n", "row 0"),
    "bytes that are no text": (ARFF.encode() + b"1,'\xff\xfe',2020-01-01\n", ""),
    "an index that is none": (ARFF + "{9999999999999999999999 1}\n", "row 0"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("what", BAD)
def test_arff_that_cannot_be_read_is_refused_by_file_and_place(tmp_path, what):
    content, place = BAD[what]
    path = put(tmp_path, content, "t.arff")
    for read in (scan, inspect):
        with pytest.raises(DataError, match=r"t\.arff") as caught:
            read(str(path), **({"encoding": "utf8"} if read is scan else {}))
        assert place in str(caught.value)
        if what == "bytes that are no text":
            break  # without an encoding one is guessed, and the file is read


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst", "lz4"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "arff"])
def test_packed_files_that_are_cut_off_or_no_archive_are_refused_by_name(
    tmp_path, suffix, kind
):
    text = {"csv": "a,b\n1,2\n3,4\n", "jsonl": '{"a": 1}\n', "arff": ARFF + "1,'y',?\n"}
    name = {"gz": "gzip", "zst": "zstd"}.get(suffix, suffix)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, name) as stream:
        stream.write((text[kind] * 50).encode())
    whole = sink.getvalue().to_pybytes()
    for content in (whole[: len(whole) // 2], b"no archive at all", b""):
        path = put(tmp_path, content, f"t.{kind}.{suffix}")
        for read in (scan, inspect):
            with pytest.raises(LyceumError, match=rf"t\.{kind}\.{suffix}"):
                read(path)


def test_a_zero_character_is_no_part_of_a_category(tmp_path):
    table = pa.table({"c": ["a", "a\0", "b"], "x": [1.0, 2.0, 3.5]})
    with pytest.raises(SchemaError, match=r"column 'c' holds the text 'a\\x00'"):
        scan(table)
    path = put(
        tmp_path, gzip.compress(b'{"c": "a\\u0000"}\n{"c": "a"}\n'), "t.jsonl.gz"
    )
    with pytest.raises(SchemaError, match=r"column 'c' holds the text 'a\\x00'"):
        scan(path)


def test_late_bytes_that_are_no_text_do_not_change_the_rows(tmp_path):
    path = put(tmp_path, b"a,b\n" + b"1,x\n" * 500_000 + b"2,\xff\n", "t.csv")
    for memory in (0, 1 << 30):
        with pytest.warns(Warning, match="not UTF-8"):
            rows = scan(path, memory=memory)
        assert sum(len(block.X) for block in rows.blocks()) == 500_001
        with pytest.raises(DataError, match=r"t\.csv is not UTF8 text"):
            scan(path, memory=memory, encoding="utf8")


def test_long_whole_numbers_beside_written_numbers_stay_text(tmp_path):
    cells = ["$1", "$2"] * 1000 + ["12345678901234567890"]
    path = put(tmp_path, "a;b\n" + "".join(f"{cell};1\n" for cell in cells), "t.csv")
    for memory in (0, 1 << 30):
        rows = scan(path, memory=memory)
        assert rows.schema["a"].categories.tolist() == sorted(set(cells))
        assert np.concatenate([block.X for block in rows.blocks()])[-1, 0] == 2.0

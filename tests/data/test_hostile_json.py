"""JSON that would crash a reader, or that it would round: refused by file and line, or exact."""

import json
import subprocess
import sys

import pytest

from lyceum._core.data import read_data
from lyceum._core.data.files import json_lines
from lyceum.data import inspect, scan
from lyceum.errors import DataError


def put(folder, content, name="t.jsonl"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


DEEP = {
    "lists in a line": '{"a": 1}\n{"a": ' + "[" * 20_000 + "]" * 20_000 + "}\n",
    "objects in a line": '{"a": 1}\n' + '{"a":' * 20_000 + "1" + "}" * 20_000 + "\n",
    "never closed": '{"a": 1}\n{"a": ' + "[" * 20_000 + "\n",
    "a bracket per line": '{"a": 1}\n{"a":\n' + "[\n" * 20_000 + "]\n" * 20_000 + "}\n",
    "closing brackets in text": '{"a": 1}\n{"b": "'
    + "]" * 20_000
    + '", "a": '
    + "[" * 20_000
    + "}\n",
}

# a process of its own, which may die
READ = """
import sys
from lyceum.data import inspect, scan
from lyceum.errors import DataError
for path in sys.argv[1:]:
    for read in (scan, inspect):
        try:
            read(path)
        except DataError as error:
            assert f"{path}, line 2" in str(error) and "nested" in str(error), error
        else:
            raise AssertionError(path)
"""


def test_deep_values_are_refused_with_file_and_line(tmp_path):
    paths = [
        str(put(tmp_path, text, f"{number}.jsonl"))
        for number, text in enumerate(DEEP.values())
    ]
    done = subprocess.run(
        [sys.executable, "-c", READ, *paths], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_line_that_is_too_long_is_refused_with_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "_LONGEST", 1 << 20)
    long = json.dumps({"a": "x" * (2 << 20)})
    path = put(tmp_path, f'{{"a": "y"}}\n{long}\n')
    with pytest.raises(DataError, match=r"t\.jsonl, line 2 is longer than 1 MiB"):
        scan(path)


BIG = [2**63, 2**63 + 1, -(2**63) - 1, 10**30, 10**30 + 1]


@pytest.mark.parametrize("first", [[], [1, 2], [None], [0.5]])
@pytest.mark.parametrize("form", ["lines", "list"])
def test_whole_numbers_beyond_64_bits_keep_their_digits(tmp_path, first, form):
    objects = [{"a": cell, "b": 1} for cell in first + BIG]
    text = json.dumps(objects)
    if form == "lines":
        text = "\n".join(map(json.dumps, objects))
    cells = read_data(put(tmp_path, text)).table["a"].to_pylist()
    assert cells == [None if cell is None else str(cell) for cell in first + BIG]
    rows = scan(put(tmp_path, text), target="a", task="classification")
    expected = {str(cell) for cell in first + BIG if cell is not None}
    assert set(rows.schema.target.categories) == expected


def test_large_numbers_that_are_written_as_floats_stay_numbers(tmp_path):
    path = put(tmp_path, '{"a": 1e300}\n{"a": 3}\n')
    assert read_data(path).table["a"].to_pylist() == [1e300, 3.0]


def test_large_whole_numbers_beside_decimals_are_numbers_as_in_csv_files(tmp_path):
    # the second is left to Python's reader, as a column mixes types
    for last in ('{"a": 0.5, "b": 2}', '{"a": 0.5, "b": "x"}'):
        text = f'{{"a": 9007199254740993, "b": 1}}\n{last}\n'
        cells = read_data(put(tmp_path, text)).table["a"].to_pylist()
        assert cells == [2.0**53, 0.5]


def test_digits_that_python_refuses_for_their_number_are_text(tmp_path):
    path = put(tmp_path, '{"a": %s}\n{"a": 1}\n' % ("9" * 5000))
    assert read_data(path).table["a"].to_pylist() == ["9" * 5000, "1"]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": "\\ud800"}\n{"a": "x"}\n', "column 'a'"),
        ('{"\\ud800": 1}\n{"\\ud800": 2}\n', "the name of a column"),
    ],
)
def test_half_a_character_is_refused_by_place(tmp_path, text, where):
    for read in (scan, inspect):
        with pytest.raises(DataError, match=rf"t\.jsonl: {where} holds .*\\ud800"):
            read(put(tmp_path, text))


def test_bytes_that_are_no_text_are_refused_with_the_line(tmp_path):
    path = put(tmp_path, b'{"a": "x"}\n{"a": "\xff"}\n')
    with pytest.raises(DataError, match=r"t\.jsonl, line 2 is not UTF8 text"):
        scan(path, encoding="utf8")


def test_an_object_may_stand_on_several_lines(tmp_path):
    path = put(tmp_path, '{\n"a": 1\n}\n{"a": 2}\n')
    assert read_data(path).table["a"].to_pylist() == [1, 2]


def test_what_is_no_json_is_named_with_its_line(tmp_path):
    path = put(tmp_path, '{"a": 1}\n{"a": }\n')
    with pytest.raises(DataError, match=r"t\.jsonl is not .*: line 2"):
        scan(path)

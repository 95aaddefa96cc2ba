"""What a file asks for is known before it is read: memory for its columns and its unpacked
bytes."""

import bz2
import gzip
import io
import time

import numpy as np
import pytest

from lyceum import cli, scan
from lyceum._core.data import machine_memory, read_data, reading_limits
from lyceum.data import inspect
from lyceum.errors import DataError, SettingError


def test_half_of_the_machine_is_allowed_by_default(tmp_path):
    from lyceum._core.data.files.limits import memory_limit

    assert memory_limit() == machine_memory() // 2


def test_a_container_has_the_memory_that_it_was_given(tmp_path, monkeypatch):
    from lyceum._core.data.files import limits

    (tmp_path / "memory.max").write_text("1000000\n")
    monkeypatch.setattr(limits, "_CGROUP", tmp_path / "memory.max")
    assert machine_memory() == 1_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert machine_memory() > 1_000_000


@pytest.mark.parametrize("limits", [{"memory": 0}, {"memory": -1}, {"seconds": 0.0}])
def test_a_limit_of_nothing_is_refused(limits):
    refused = pytest.raises(SettingError, match="give a number above 0")
    with refused, reading_limits(**limits):
        pass


@pytest.mark.parametrize("n_columns", [20_000, 400_000])
@pytest.mark.parametrize("read", [scan, inspect, read_data])
def test_columns_beyond_memory_are_refused_before_they_are_read(
    tmp_path, read, n_columns
):
    # the names of 400,000 columns are more than the first megabyte of the file
    path = tmp_path / "wide.csv"
    names = ",".join(f"c{j}" for j in range(n_columns))
    cells = ",".join("1" * n_columns)
    path.write_text(f"{names}\n{cells}\n{cells}\n")
    start = time.monotonic()
    refused = pytest.raises(DataError, match=f"wide.csv.* its {n_columns:,} columns")
    with reading_limits(memory=100 << 20), refused:
        read(path)
    assert time.monotonic() - start < 5.0


@pytest.mark.parametrize("name", ["zeros.csv.gz", "zeros.csv.bz2", "zeros.jsonl.gz"])
def test_a_packed_file_ends_at_the_memory_that_is_allowed(tmp_path, name):
    packed = io.BytesIO()
    pack = gzip.open if name.endswith("gz") else bz2.open
    with pack(packed, "wb") as file:
        if "csv" in name:
            file.write(b"a\n")
            text = b"1" + b"\n" * ((1 << 20) - 1)
        else:
            text = b'{"a": 1}\n' * (1 << 17)
        for _ in range(200):
            file.write(text)
    path = tmp_path / name
    path.write_bytes(packed.getvalue())
    refused = pytest.raises(DataError, match=rf"{name}.* unpacked, take about 3\d MB")
    with reading_limits(memory=30 << 20), refused:
        read_data(path)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "arff"])
@pytest.mark.parametrize("damage", ["cut off", "changed", "not packed"])
def test_a_damaged_packed_file_is_refused_by_name(tmp_path, kind, damage):
    text = b"".join(b'{"a": %d}\n' % (i * i) for i in range(999))
    content = gzip.compress(text)
    if damage == "cut off":
        content = content[:500]
    elif damage == "changed":
        content = content[:500] + bytes(100) + content[600:]
    else:
        content = text
    path = tmp_path / f"t.{kind}.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"t\.{kind}\.gz"):
        read_data(path)


@pytest.mark.parametrize("suffix", ["arff", "jsonl", "feather", "xlsx"])
def test_a_file_that_is_larger_than_memory_is_refused_before_it_is_read(
    tmp_path, suffix
):
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(b"{} " * (700 << 10))
    refused = pytest.raises(DataError, match=r"its bytes take about 2.2 MB")
    with reading_limits(memory=1 << 20), refused:
        read_data(path)


@pytest.mark.parametrize(
    "line", ["inspect wide.csv", "fit wide.csv --target c0 --learner Ridge"]
)
def test_a_command_says_what_it_may_take_and_takes_more(
    tmp_path, monkeypatch, capfd, line
):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 3000)).round(2).tolist()
    names = ",".join(f"c{j}" for j in range(3000))
    lines = [names, *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "wide.csv").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)

    def run(*options):
        monkeypatch.setattr("sys.argv", ["lyceum", *line.split(), *options])
        with pytest.raises(SystemExit) as done:
            cli.main()
        return done.value.code, capfd.readouterr().err

    code, said = run("--memory", "10")
    assert code == 2
    assert "wide.csv cannot be read: its 3,000 columns take about 27 MB" in said
    assert "more than the 10 MB that are allowed" in said
    assert run("--memory", "500", "--limit", "5")[0] == 0


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;", "\ufeffsep=;"])
@pytest.mark.parametrize("memory", [1 << 30, 0])
def test_the_line_by_which_excel_names_the_separator_is_no_header(
    tmp_path, first, memory
):
    path = tmp_path / "t.csv"
    path.write_text(f"{first}\na;b,c\n1;2\n3;4\n", encoding="utf8")
    rows = scan(path, memory=memory)
    assert rows.schema.names == ("a", "b,c")
    assert np.concatenate([block.X for block in rows.blocks()]).tolist() == [
        [1.0, 2.0],
        [3.0, 4.0],
    ]


def test_a_declared_separator_stands_before_names_that_appear_twice(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=\t\na\ta\n1\t2\n3\t4\n")
    with pytest.warns(UserWarning, match="appear twice"):
        assert scan(path).schema.names == ("a", "a.1")


def test_a_declared_separator_stands_before_rows_without_a_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=|\n1|2\n3|4\n5|6\n")
    rows = scan(path, header=False)
    assert rows.schema.names == ("x0", "x1")
    assert len(rows) == 3

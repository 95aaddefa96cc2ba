"""A study reads its file once before the final fit, and its hash notices a changed file."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from lyceum import scan
from lyceum._threads import limit_threads
from lyceum.data import fits_memory, read_data, reading_once
from lyceum.studies import Recipe
from lyceum.studies._study_data import StudyData

COUNTS = Path("/proc/self/io")
N = 60_000


def table(n=N):
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n).round(6) for j in range(6)}
    return pa.table({**columns, "town": rng.choice(["Bonn", "Ulm"], n), "y": rng.choice(["a", "b"], n)})


def write(path, data):
    if path.suffix == ".parquet":
        pq.write_table(data, path, row_group_size=10_000)
    else:
        style = "needed" if "quoted" in path.name else "none"
        with path.open("wb") as file:
            file.write(",".join(data.column_names).encode() + b"\n")
            options = pa.csv.WriteOptions(include_header=False, quoting_style=style)
            pa.csv.write_csv(data, file, options)
    return str(path)


def bytes_read(work):
    """How many bytes this process reads meanwhile, from any file."""
    before = _count()
    work()
    return _count() - before


def _count():
    return int(COUNTS.read_text().split()[1])


def studied(path, memory_mb=512):
    return StudyData.of(Recipe(data=(path,), target="y", memory_mb=memory_mb))


@pytest.mark.skipif(not COUNTS.is_file(), reason="needs Linux's count of the bytes read")
@pytest.mark.parametrize("name", ["t.csv", "quoted.csv", "t.parquet"])
def test_a_file_that_fits_into_memory_is_read_once(name, tmp_path):
    path = write(tmp_path / name, table())
    studied(path)  # what is imported on the way
    assert bytes_read(lambda: studied(path)) < 1.1 * os.path.getsize(path) + (1 << 17)


@pytest.mark.skipif(not COUNTS.is_file(), reason="needs Linux's count of the bytes read")
@pytest.mark.parametrize("name", ["t.csv", "quoted.csv"])
def test_scan_reads_a_csv_file_once(name, tmp_path):
    path = write(tmp_path / name, table())
    scan(path, "y")
    assert bytes_read(lambda: scan(path, "y")) < 1.1 * os.path.getsize(path) + (1 << 17)


@pytest.mark.skipif(not COUNTS.is_file(), reason="needs Linux's count of the bytes read")
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_larger_file_is_read_once_before_the_final_fit(name, tmp_path):
    """But for its first rows, which say how it is written."""
    path = write(tmp_path / name, pa.concat_tables([table()] * 8))
    heads = 20 << 20 if name.endswith("csv") else 1 << 20
    studied(path, 1)
    assert bytes_read(lambda: studied(path, 1)) < 1.1 * os.path.getsize(path) + heads


@pytest.mark.parametrize("memory_mb", [1, 512])
@pytest.mark.parametrize("name", ["t.csv", "quoted.csv", "t.parquet"])
def test_a_changed_byte_is_noticed(name, memory_mb, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    data = table()
    one, two = write(tmp_path / "a" / name, data), write(tmp_path / "b" / name, data)
    with limit_threads(1):
        alone = studied(two, memory_mb).digest
    assert studied(one, memory_mb).digest == studied(one, memory_mb).digest == alone
    x0 = data["x0"].to_numpy().copy()
    x0[41_234] = -x0[41_234]
    write(Path(two), data.set_column(0, "x0", pa.array(x0)))
    assert studied(one, memory_mb).digest != studied(two, memory_mb).digest


def test_files_of_other_kinds_are_hashed_too(tmp_path):
    path = tmp_path / "t.arrow"
    digests = set()
    for n in (500, 500, 501):
        pa.feather.write_feather(table(n), path)
        digests.add(studied(str(path)).digest)
    assert len(digests) == 2


def test_bytes_are_let_go_after_reading(tmp_path):
    path = write(tmp_path / "t.csv", table(500))
    with reading_once() as reads:
        assert fits_memory(path, 1 << 30)
        assert reads.head(path, 4) == b"x0,x"
        read_data(path)
        assert not reads._bytes
        assert not reads._open


def test_a_file_that_is_written_again_is_read_again(tmp_path):
    path = write(tmp_path / "t.csv", table(500))
    assert len(scan(path, "y")) == 500
    write(Path(path), table(700))
    assert len(scan(path, "y")) == 700

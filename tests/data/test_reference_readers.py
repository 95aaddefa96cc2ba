"""Generated tables with awkward values are read as the reference readers read them.

`LYCEUM_TABLES=500` reads that many tables per format; docs/reliability.md has the last such run.
"""

import csv
import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from fuzz.file_cases import as_cells, check_cells, draw_cells, scanned_cells

from fuzz import json_files, packed_csv_files, typed_tables
from lyceum._core.data.files import csv as csv_module

N_TABLES = int(os.environ.get("LYCEUM_TABLES", "12"))
SEEDS = range(N_TABLES)
pytestmark = pytest.mark.filterwarnings("ignore::lyceum.errors.DataWarning")


def by_both_ways(path, expected, reader):
    check_cells(scanned_cells(str(path)), expected, reader)
    check_cells(scanned_cells(str(path), memory=0), expected, f"{reader}, in parts")


@pytest.mark.parametrize("seed", SEEDS)
def test_parquet_as_pyarrow(tmp_path, seed):
    rng = np.random.default_rng([seed, 1])
    table = typed_tables.draw_table(rng)
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, row_group_size=int(rng.integers(1, 30)))
    expected = typed_tables.reference_cells(pq.read_table(path))
    by_both_ways(path, expected, "pyarrow")


@pytest.mark.parametrize("seed", SEEDS)
def test_feather_as_pyarrow(tmp_path, seed):
    rng = np.random.default_rng([seed, 2])
    table = typed_tables.draw_table(rng)
    path = tmp_path / "t.feather"
    feather.write_feather(table, str(path), chunksize=int(rng.integers(1, 30)))
    expected = typed_tables.reference_cells(feather.read_table(str(path)))
    by_both_ways(path, expected, "pyarrow")


@pytest.mark.parametrize("seed", SEEDS)
def test_json_lines_as_json(tmp_path, seed):
    rng = np.random.default_rng([seed, 3])
    columns = json_files.draw_columns(rng)
    path = tmp_path / "t.jsonl"
    path.write_text(json_files.written(columns, rng), encoding="utf-8", newline="")
    text = path.read_text(encoding="utf-8")
    if text.startswith("["):
        objects = json.loads(text)
    else:
        objects = [json.loads(line) for line in text.splitlines()]
    names = dict.fromkeys(name for item in objects for name in item)
    expected = {
        name: json_files.expected_cells([item.get(name) for item in objects])
        for name in names
    }
    by_both_ways(path, expected, "json")


@pytest.mark.parametrize("seed", SEEDS)
def test_csv_as_the_csv_module_and_pandas(tmp_path, seed, monkeypatch):
    monkeypatch.setattr(csv_module, "_STREAM_BYTES", 1 << 10)
    monkeypatch.setattr(csv_module, "_READ_BYTES", 1 << 10)
    rng = np.random.default_rng([seed, 4])
    columns = packed_csv_files.draw_columns(rng)
    separator = str(rng.choice([",", ";", "\t", "|"]))
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    path = tmp_path / ("t.tsv" if separator == "\t" else "t.csv")
    with path.open("w", encoding=encoding, newline="") as file:
        quoting = [csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC][
            rng.integers(3)
        ]
        writer = csv.writer(file, delimiter=separator, quoting=quoting)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))
    with path.open(encoding=encoding, newline="") as file:
        names, *rows = csv.reader(file, delimiter=separator)
    expected = {}
    for name, texts in zip(names, zip(*rows)):
        expected[name] = read_texts(texts, columns[name])
    options = {"dtype": str, "keep_default_na": False, "sep": separator}
    frame = pd.read_csv(path, encoding=encoding, skip_blank_lines=False, **options)
    assert list(frame.columns) == names
    assert [list(row) for row in frame.itertuples(index=False)] == rows
    by_both_ways(path, expected, "csv")


def read_texts(texts, written):
    """Numbers where numbers that fit into 64 bits were written, else the texts."""
    is_text = any(isinstance(cell, str) for cell in written)
    is_long = any(
        type(cell) is int and not -(2**63) <= cell < 2**63 for cell in written
    )
    if is_text or is_long:
        return [text or None for text in texts]
    return as_cells([float(text) if text else None for text in texts])


def test_a_difference_is_noticed(tmp_path):
    path = tmp_path / "t.parquet"
    cells = draw_cells(np.random.default_rng(0), "number", 10, missing=0.0)
    pq.write_table(pa.table({"a": cells}), path)
    cells[3] += 1.0
    with pytest.raises(AssertionError, match="column 'a', row 3"):
        by_both_ways(path, {"a": cells}, "nobody")

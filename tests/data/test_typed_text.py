"""Numbers written as text in typed sources, and written in another way further down a file."""

import csv

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from lyceum._core.data import LoadedTable, with_parsed_text
from lyceum._core.data.files import csv as csv_module
from lyceum.data import inspect
from lyceum.errors import DataError
from lyceum.studies import Recipe
from lyceum.studies.plan.study_data import StudyData
from lyceum.workflows import fit_file, predict_file

VALUES = np.random.default_rng(0).normal(1000.0, 300.0, 60).round(1)


def table():
    german = [f"{v:,.1f}".translate(str.maketrans(",.", ".,")) for v in VALUES]
    return pa.table({
        "price": [f"${v:,.2f}" for v in VALUES],
        "german": german,
        "share": [f"{v / 100:.1f}%" for v in VALUES],
        "code": [str(i % 7) for i in range(60)],
        "y": ["yes" if v > 1000 else "no" for v in VALUES],
    })  # fmt: skip


@pytest.mark.parametrize("write", [pq.write_table, feather.write_feather])
def test_a_study_reads_numbers_written_as_text_in_typed_files_and_says_so(
    tmp_path, write
):
    path = tmp_path / ("t.parquet" if write is pq.write_table else "t.feather")
    write(table(), str(path))
    data = StudyData.of(Recipe(data=str(path), target="y"))
    kinds = {column.name: column.kind for column in data.schema}
    assert kinds == dict.fromkeys(("price", "german", "share"), "continuous") | {
        "code": "categorical"
    }
    assert data.rows.source.X[:, 1] == pytest.approx(VALUES)
    assert any("'$" in note and "read as numbers" in note for note in data.notes)


def test_inspection_of_a_frame_flags_them_with_the_remedy():
    found = inspect(table().to_pandas(), "y")
    for name in ("price", "german", "share"):
        [flag] = [flag for flag in found[name].flags if flag.code == "numbers_as_text"]
        assert "convert it" in flag.text
    plain = LoadedTable(table().select(["code"]), True, "codes")
    assert with_parsed_text(plain).table.schema == plain.table.schema


def test_a_model_predicts_typed_files_with_numbers_as_text(tmp_path):
    fit = tmp_path / "fit.csv"
    fit.write_text(
        "price,y\n" + "\n".join(f"{v},{'yes' if v > 1000 else 'no'}" for v in VALUES)
    )
    model = fit_file(fit, "y", "NaiveBayes")
    pq.write_table(table(), tmp_path / "t.parquet")
    predict_file(model, tmp_path / "t.parquet", tmp_path / "text.csv")
    predict_file(model, fit, tmp_path / "plain.csv")
    assert last_cells(tmp_path / "text.csv") == last_cells(tmp_path / "plain.csv")


def last_cells(path):
    with open(path, newline="") as file:
        return [row[-1] for row in csv.reader(file)]


def test_a_way_of_writing_that_begins_late_in_a_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_module, "_STREAM_BYTES", 1 << 10)
    fit, late = tmp_path / "fit.csv", tmp_path / "late.csv"
    cells = [f"{v}" for v in np.tile(VALUES, 20)]
    fit.write_text(
        "x,y\n" + "\n".join(f"{v},{'yes' if float(v) > 1000 else 'no'}" for v in cells)
    )
    model = fit_file(fit, "y", "NaiveBayes")
    odd = [*cells[:-2], '"$1,900.50"', '"1,000,000"']
    late.write_text("x\n" + "\n".join(odd))
    predict_file(model, late, tmp_path / "late_out.csv")
    predict_file(model, fit, tmp_path / "out.csv")
    answers, before = (
        last_cells(tmp_path / "late_out.csv"),
        last_cells(tmp_path / "out.csv"),
    )
    assert len(answers) == len(cells) + 1
    assert answers[1:-2] == before[1:-2]
    assert answers[-2] == "yes"
    late.write_text("x\n" + "\n".join([*cells[:-1], "none of these"]))
    with pytest.raises(DataError, match="none of these"):
        predict_file(model, late, tmp_path / "refused.csv")

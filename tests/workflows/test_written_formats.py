"""A model remembers how days, months and decimals were written, and reads new rows so."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from lyceum import load, save, scan
from lyceum.data import Column, Schema
from lyceum.errors import DataWarning, ModelFileError, SchemaError
from lyceum.linear import LinearRegression
from lyceum.workflows import predict_file

LEARNED = [
    ("13/02/2024", "1.234,50 €", 3.0),
    ("03/04/2024", "999 €", 5.0),
    ("25/12/2024", "10,5 €", 9.0),
]
NEW = {
    "day": ["03/02/2024", "11/12/2024"],
    "price": ["1.234 €", "2.000 €"],
}  # days up to 12, thousands only
MEANT = {"day": ["2024-02-03", "2024-12-11"], "price": [1234.0, 2000.0]}


def table(path, cells):
    lines = ["day;price", *map(";".join, zip(*(map(str, column) for column in cells)))]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module", params=[1 << 20, 0], ids=["in memory", "streamed"])
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    path = folder / "learned.csv"
    lines = ["day;price;y", *(f"{day};{price};{y}" for day, price, y in LEARNED)]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.warns(DataWarning):
        rows = scan(
            str(path), target="y", kinds={"y": "continuous"}, memory=request.param
        )
    save(LinearRegression().fit(rows), folder / "model.lyceum")
    return load(folder / "model.lyceum")


def answers(model, data, tmp_path):
    predict_file(model, data, tmp_path / "out.csv", force=True)
    return pa.csv.read_csv(tmp_path / "out.csv").column("predicted").to_numpy()


def test_the_schema_remembers_formats_and_decimal_marks(model):
    assert model.schema_.text_formats == {"day": "%d/%m/%Y", "price": ","}


@pytest.mark.filterwarnings("ignore:.*read as:lyceum.errors.DataWarning")
@pytest.mark.filterwarnings("ignore:.*decimal commas:lyceum.errors.DataWarning")
def test_new_rows_are_read_as_the_model_learned_them(model, tmp_path):
    expected = answers(model, table(tmp_path / "meant.csv", MEANT.values()), tmp_path)
    lines = tmp_path / "new.jsonl"
    lines.write_text(
        "\n".join(json.dumps(dict(zip(NEW, row))) for row in zip(*NEW.values()))
    )
    for data in (table(tmp_path / "new.csv", NEW.values()), str(lines), pa.table(NEW)):
        np.testing.assert_allclose(answers(model, data, tmp_path), expected, rtol=1e-12)
    path = table(tmp_path / "new.csv", NEW.values())
    for memory in (1 << 20, 0):
        rows = scan(path, kinds=Schema(model.schema_.columns), memory=memory)
        np.testing.assert_allclose(model.predict(rows), expected, rtol=1e-12)
    days = pa.table({"day": NEW["day"], "price": MEANT["price"]})
    np.testing.assert_allclose(model.predict(days), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*read as:lyceum.errors.DataWarning")
def test_a_style_that_does_not_fit_is_not_taken(model, tmp_path):
    expected = answers(model, table(tmp_path / "meant.csv", MEANT.values()), tmp_path)
    other = {"day": ["3 Feb 2024", "11 Dec 2024"], "price": ["$1,234.00", "$2,000.00"]}
    np.testing.assert_allclose(
        answers(model, table(tmp_path / "other.csv", other.values()), tmp_path),
        expected,
        rtol=1e-12,
    )


def test_text_dates_of_a_frame_are_refused_where_no_order_is_known():
    frame = pa.table(
        {
            "day": pa.array([0, 86400, 86400 * 50], pa.timestamp("s")),
            "y": [1.0, 2.0, 4.0],
        }
    )
    model = LinearRegression().fit(scan(frame, target="y", kinds={"y": "continuous"}))
    with pytest.raises(SchemaError, match="day and month cannot be told apart"):
        model.predict(pa.table({"day": NEW["day"]}))


def test_columns_of_older_files_have_no_format_and_foreign_formats_are_refused():
    column = Column.__new__(Column)
    column.__setstate__(["day", "continuous", None, "times, in seconds"])
    assert column.text_format == ""
    with pytest.raises(ModelFileError, match="written as '%n%n'"):
        Column("day", text_format="%n%n").check()

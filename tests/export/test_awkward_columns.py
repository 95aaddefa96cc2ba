"""Columns whose names and cells mean something else in the language of an exported model."""

import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest

import lyceum
from lyceum.bayes import NaiveBayes
from lyceum.errors import ExportError
from lyceum.export import Program, export_model
from lyceum.export.sql_code import write_sql
from lyceum.kernels import SVC
from lyceum.linear import LogisticRegression
from lyceum.neighbors import KNeighborsClassifier
from lyceum.trees import CART


def frame_of(levels):
    """Rows whose class hangs on one level of a column."""
    rng = np.random.default_rng(0)
    index = rng.integers(len(levels), size=200)
    cells = [levels[i] for i in index]
    y = np.where(index == 0, "a", "b")
    y[::9] = "b"
    return pd.DataFrame({"c": cells, "x": rng.normal(size=200), "y": y})


def tree_of(frame):
    rows = lyceum.scan(frame, target="y", kinds={"c": "categorical"})
    return CART().fit(rows)


def answers_of_sqlite(query, rows):
    lite = sqlite3.connect(":memory:")
    rows.to_sql("rows_to_predict", lite, index=False)
    try:
        return pd.read_sql(query.rstrip().rstrip(";"), lite)["predicted"].tolist()
    finally:
        lite.close()


@pytest.mark.parametrize(
    "levels",
    [
        ["0", "00", "1"],
        ["1000", "1e3", "2"],
        ["nan", "1"],
        ["1_0", "2"],
        [True, False],
        [2**53 + 1, 2**53, 5],
        [0.5, 1.5, -2.0],
    ],
)
def test_categories_are_told_apart_in_every_language(levels, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    frame = frame_of(levels)
    rows = frame.drop(columns="y")
    model = tree_of(frame)
    expected = model.predict(rows).tolist()
    export_model(model, tmp_path / "model.py")
    program = {}
    exec((tmp_path / "model.py").read_text(), program)
    records = rows.to_dict("records")
    assert [program["decide"](each)["predicted"] for each in records] == expected
    export_model(model, tmp_path / "model.sql")
    query = (tmp_path / "model.sql").read_text()
    assert answers_of_sqlite(query, rows) == expected
    connection = duckdb.connect()
    connection.register("rows_to_predict", rows)
    assert connection.execute(query).df()["predicted"].tolist() == expected


def test_a_query_asks_for_columns_not_for_texts():
    """SQLite takes a quoted name that is no column for a text, and would answer."""
    frame = frame_of(["u", "v"])
    query = write_sql(Program.of(tree_of(frame)))
    rows = frame[["c"]].rename(columns={"c": "C2"}).assign(x=frame["x"])
    with pytest.raises(pd.errors.DatabaseError, match="no such column"):
        answers_of_sqlite(query, rows)


def test_names_that_are_one_in_sql_are_refused():
    frame = frame_of(["u", "v"]).rename(columns={"c": "X"})
    model = CART().fit(lyceum.scan(frame, target="y"))
    with pytest.raises(ExportError, match="'X' and 'x' are one in SQL"):
        write_sql(Program.of(model))


def test_carriage_returns_are_refused_in_sql():
    with pytest.raises(ExportError, match="carriage return"):
        write_sql(Program.of(tree_of(frame_of(["u\r\nv", "w"]))))


@pytest.mark.parametrize(
    "learner",
    [
        NaiveBayes(),
        KNeighborsClassifier(3),
        SVC(kernel="poly", degree=5, gamma=1.0),
        LogisticRegression(),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_far_cells_are_answered_or_refused_as_the_model_does(learner, tmp_path):
    frame = frame_of(["u", "v"]).assign(z=np.arange(200.0) / 100)
    model = learner.fit(frame[["x", "z"]], frame["y"])
    export_model(model, tmp_path / "model.py")
    program = {}
    exec((tmp_path / "model.py").read_text(), program)
    for far in (1e200, -1e300, 1.7e308):
        record = {"x": far, "z": 3.0}
        try:
            expected = lyceum.decide(model, record).predicted
        except ValueError:
            with pytest.raises(ValueError, match=r"number|overflow|finite"):
                program["decide"](record)
            continue
        assert program["decide"](record)["predicted"] == expected


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler here")
def test_c_without_texts_and_with_comments_in_names_has_no_warnings(tmp_path):
    frame = frame_of(["u", "v"]).assign(z=np.arange(200.0))
    rows = frame[["x", "z"]].rename(columns={"x": "/* x */ /*"})
    export_model(CART().fit(rows, frame["y"]), tmp_path / "model.c")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    subprocess.run(["gcc", *flags, str(tmp_path / "model.c")], check=True)

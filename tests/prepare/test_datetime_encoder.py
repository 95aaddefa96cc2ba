"""Dates taken apart, in any container, in streams, in model files and in studies."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from tests.studies.conftest import study_with_and_without

import lyceum
from lyceum import scan, workflows as apply
from lyceum.errors import ModelFileError, SchemaError, SettingError
from lyceum.linear import LogisticRegression
from lyceum.prepare import DatetimeEncoder, SimpleImputer

pytestmark = pytest.mark.syllabus("1.2")


@pytest.mark.syllabus("1.2.4")
def test_the_parts_are_those_of_the_calendar():
    start = datetime(1899, 2, 27, 5)
    times = [start + timedelta(hours=37.5 * i) for i in range(2000)] + [
        datetime(2400, 2, 29, 23, 59)
    ]
    found = DatetimeEncoder().fit_transform(pd.DataFrame({"when": times}))
    for i, when in enumerate(times):
        row = found.iloc[i]
        assert (row["when year"], row["when day"], row["when hour"]) == (
            when.year,
            when.day,
            when.hour,
        )
        assert (row["when month"], row["when weekday"]) == (
            when.strftime("%B"),
            when.strftime("%A"),
        )
        assert row["when days"] == pytest.approx(
            (when - start).total_seconds() / 86_400
        )


def test_what_does_not_vary_is_left_out_and_the_rest_stays():
    table = pa.table(
        {
            "x": [1.0, 2.0, 3.0],
            "when": [date(2024, 3, 1), None, date(2024, 3, 9)],
            "c": ["a", "b", "a"],
        }
    )
    found = DatetimeEncoder().fit(table)
    assert found.get_feature_names_out().tolist() == [
        "x",
        "when day",
        "when weekday",
        "when days",
        "c",
    ]
    assert found.column_sources().tolist() == [0, 1, 1, 1, 2]
    assert found.transform(table).to_pydict()["when days"] == [0.0, None, 8.0]
    same = pa.table({"when": [date(2024, 3, 1)] * 3})
    assert DatetimeEncoder().fit(same).get_feature_names_out().tolist() == ["when days"]


def test_a_table_without_dates_is_given_back():
    X = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(DatetimeEncoder().fit_transform(X), X)


@pytest.fixture
def file(tmp_path):
    lines = [
        f"{date(2023, 1, 1) + timedelta(days=i)},{i % 5},{'yes' if i % 7 < 2 else 'no'}"
        for i in range(140)
    ]
    path = tmp_path / "t.csv"
    path.write_text("when,x,y\n" + "\n".join(lines) + "\n")
    return path


def test_streams_and_model_files_give_what_memory_gives(file, tmp_path):
    model = make_pipeline(DatetimeEncoder(), SimpleImputer(), LogisticRegression())
    whole, stream = scan(file, target="y"), scan(file, target="y", memory=0)
    expected = model.fit(whole).predict_proba(whole)
    np.testing.assert_allclose(
        model.fit(stream).predict_proba(stream), expected, atol=1e-8
    )
    lyceum.save(model, tmp_path / "m.lyceum")
    loaded = lyceum.load(tmp_path / "m.lyceum")
    np.testing.assert_allclose(loaded.predict_proba(whole), expected, atol=1e-8)
    # a month that fit has not seen
    late = pa.table({"when": [date(2031, 12, 24)], "x": [1]})
    assert np.isfinite(loaded.predict_proba(late)).all()


def test_weekdays_are_learned_from_a_file_unless_dates_are_declared_numbers(file):
    model = apply.fit_file(file, "y", "LogisticRegression")
    assert type(model[0]).__name__ == "DatetimeEncoder"
    assert model.score(scan(file, target="y")) == 1.0
    plain = apply.fit_file(
        file, "y", "LogisticRegression", kinds={"when": "continuous"}
    )
    assert "DatetimeEncoder" not in [type(step).__name__ for _, step in plain.steps]


def test_a_study_takes_dates_apart_unless_told_not_to(file, tmp_path, monkeypatch):
    tree = {"learners": ["DecisionTreeClassifier"]}
    found, without = study_with_and_without(
        "dates", file, tmp_path, monkeypatch, **tree
    )
    assert type(found.model[0]).__name__ == "DatetimeEncoder"
    assert found.best.error < 0.05
    assert without.best.error > 0.1


def test_an_unknown_part_is_refused():
    with pytest.raises(
        SettingError, match="parts has 'century': choose from year, month"
    ):
        DatetimeEncoder(parts=["century"]).fit(pa.table({"when": [date(2024, 3, 1)]}))


def test_parts_of_a_changed_model_file_are_refused():
    model = DatetimeEncoder().fit(
        pa.table({"when": [date(2024, 3, 1), date(2024, 4, 1)]})
    )
    model.parts_[0]["month"] = [1, 99]
    with pytest.raises(ModelFileError, match="DatetimeEncoder"):
        model._check_model()


def test_dates_as_text_are_read_when_predicting_from_a_frame():
    days = pd.date_range("2021-01-01", periods=40, freq="17D")
    step = DatetimeEncoder().fit(pd.DataFrame({"day": days}))
    want = step.transform(pd.DataFrame({"day": days}))
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%d %b %Y"):
        pd.testing.assert_frame_equal(
            step.transform(pd.DataFrame({"day": days.strftime(form)})), want
        )
    with pytest.raises(SchemaError, match="where dates were learned"):
        step.transform(pd.DataFrame({"day": ["soon", "late"]}))
    with pytest.raises(SchemaError, match="day and month cannot be told apart"):
        step.transform(pd.DataFrame({"day": ["01/02/2021", "03/04/2021"]}))

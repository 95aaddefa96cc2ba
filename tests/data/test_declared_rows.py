"""What `categorical_features` declares holds for scanned rows as it holds for a frame."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from tests.data.tiny import MissingTaker

from lyceum import scan
from lyceum.bayes import NaiveBayes
from lyceum.data import Schema
from lyceum.ensemble import BaggingClassifier, RandomForestClassifier
from lyceum.errors import SchemaError
from lyceum.linear import LogisticRegression
from lyceum.trees import DecisionTreeClassifier

N = 240
LEARNERS = {
    "bagging of some columns": BaggingClassifier(
        DecisionTreeClassifier(categorical_features=["rooms"]),
        n_estimators=5,
        max_features=0.5,
        random_state=0,
    ),
    "forest": RandomForestClassifier(n_estimators=5, random_state=0),
    "logistic regression": LogisticRegression(),
    "naive Bayes": NaiveBayes(),
    "tree": DecisionTreeClassifier(),
}
DECLARED = {
    "kinds": {"rooms": "categorical"},
    "names": ["rooms"],
    "places": [1],
    "a mask": np.array([False, True, False]),
    "a schema": Schema.declare(
        {"age": "continuous", "rooms": [1.0, 2.0, 5.0], "town": ["Ulm", "Bonn", "Rome"]}
    ),
}


def table():
    rng = np.random.default_rng(0)
    rooms = rng.choice([1.0, 2.0, 5.0], N)
    age = rng.normal(40.0, 9.0, N).round(3)
    town = rng.choice(["Bonn", "Rome", "Ulm"], N)
    y = np.where((rooms == 2) ^ (rng.random(N) < 0.15), "yes", "no")
    return pd.DataFrame({"age": age, "rooms": rooms, "town": town, "y": y})


def in_memory(frame, folder):
    return scan(frame, "y")


def of_csv(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    return scan(folder / "t.csv", "y")


def of_streamed_csv(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    return scan(folder / "t.csv", "y", memory=0)


def of_streamed_parquet(frame, folder):
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False),
        folder / "t.parquet",
        row_group_size=50,
    )
    return scan(folder / "t.parquet", "y", memory=0)


def of_dask(frame, folder):
    dd = pytest.importorskip("dask.dataframe")
    return scan(dd.from_pandas(frame, npartitions=3, sort=False), "y")


SOURCES = [in_memory, of_csv, of_streamed_csv, of_streamed_parquet, of_dask]


@cache
def fitted_to_the_frame(name):
    """A learner that declares categories, with its posteriors."""
    frame, learner = table(), clone(LEARNERS[name])
    if name != "bagging of some columns":  # there, it is the estimator that declares
        learner.set_params(categorical_features=DECLARED["kinds"])
    learner.fit(frame.drop(columns="y"), frame["y"])
    return learner, learner.predict_proba(frame.drop(columns="y"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", LEARNERS)
def test_declared_kinds_win_over_those_of_rows(name, source, tmp_path):
    frame, (direct, posteriors) = table(), fitted_to_the_frame(name)
    scanned = clone(direct).fit(source(frame, tmp_path))
    assert direct.schema_["rooms"].kind == "categorical"
    assert direct.schema_.same_as(scanned.schema_), direct.schema_.difference(
        scanned.schema_
    )
    np.testing.assert_allclose(
        posteriors, scanned.predict_proba(frame.drop(columns="y")), rtol=1e-6
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("form", DECLARED)
def test_rows_take_every_form_of_a_declaration(form, source, tmp_path):
    frame = table()
    X = frame.drop(columns="y")
    learner = NaiveBayes(categorical_features=DECLARED[form])
    direct, scanned = (
        clone(learner).fit(X, frame["y"]),
        learner.fit(source(frame, tmp_path)),
    )
    assert direct.schema_.same_as(scanned.schema_), direct.schema_.difference(
        scanned.schema_
    )
    np.testing.assert_allclose(
        direct.predict_proba(X), scanned.predict_proba(X), rtol=1e-9
    )


def test_partial_fit_obeys_the_declaration_too():
    frame = table()
    learner = NaiveBayes(categorical_features=["rooms"])
    for start in (0, 120):
        learner.partial_fit(
            scan(frame.iloc[start : start + 120], "y"), classes=["no", "yes"]
        )
    whole = NaiveBayes(categorical_features=["rooms"]).fit(
        frame.drop(columns="y"), frame["y"]
    )
    np.testing.assert_allclose(
        learner.predict_proba(frame[["age", "rooms", "town"]]),
        whole.predict_proba(frame[["age", "rooms", "town"]]),
        rtol=1e-9,
    )


def test_categories_of_numbers_become_numbers_again():
    frame = table()
    rows = scan(frame, "y", kinds={"rooms": "categorical"})
    found = MissingTaker(categorical_features={"rooms": "continuous"}).fit(rows)
    assert found.schema_["rooms"].kind == "continuous"
    np.testing.assert_array_equal(found.cells(rows)[:, 1], frame["rooms"])


def test_missing_cells_are_no_category():
    frame = table()
    frame.loc[3, "rooms"] = np.nan
    found = MissingTaker(categorical_features=["rooms"]).fit(scan(frame, "y"))
    assert found.schema_["rooms"].categories.tolist() == [1, 2, 5]
    assert np.isnan(found.cells(scan(frame, "y"))[3, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"town": "continuous"},
            "column 'town' of the rows is categorical (text with 3 values), and",
        ),
        ({"town": "continuous"}, "scan(..., kinds={'town': 'continuous'})"),
        ({"town": "text"}, "scan(..., kinds={'town': 'text'})"),
        ({"rooms": "binary"}, "column 'rooms' is declared binary but has 3 values"),
        (
            {"roooms": "categorical"},
            "categorical_features names the column 'roooms', which",
        ),
        (None, "column 'town' holds categories, but categorical_features is None"),
    ],
)
def test_declarations_that_rows_cannot_follow_are_refused(given, message):
    with pytest.raises(SchemaError, match=re.escape(message)):
        NaiveBayes(categorical_features=given).fit(scan(table(), "y"))


def test_whole_numbers_that_rows_have_rounded_are_refused():
    frame = pd.DataFrame(
        {"id": [2**53 + 1, 2**53 + 2, 7, 8], "z": list("abab"), "y": list("abab")}
    )
    with pytest.raises(
        SchemaError, match=r"'id' of the rows .* scan\(\.\.\., kinds=\{'id': 'categ"
    ):
        NaiveBayes(categorical_features=["id"]).fit(scan(frame, "y"))


def test_a_listed_category_that_is_missing_from_the_schema_is_refused():
    schema = Schema.declare(
        {"age": "continuous", "rooms": [1.0, 2.0], "town": ["Ulm", "Bonn", "Rome"]}
    )
    with pytest.raises(SchemaError, match="column 'rooms' has a category in row"):
        NaiveBayes(categorical_features=schema).fit(scan(table(), "y"))


@pytest.mark.parametrize("how", ["in fit, scanned", "in fit, frame", "in scan"])
def test_categories_of_whole_numbers_read_as_whole_numbers(how):
    """1, not 1.0, in names, texts and cells."""
    frame = table()
    X, y = frame.drop(columns="y"), frame["y"]
    given = {
        "in fit, scanned": (scan(frame, "y"),),
        "in fit, frame": (X, y),
        "in scan": (scan(frame, "y", kinds={"rooms": "categorical"}),),
    }[how]
    settings = (
        {} if how == "in scan" else {"categorical_features": {"rooms": "categorical"}}
    )
    linear = LogisticRegression(**settings).fit(*given)
    assert [name for name in linear.design_names if "rooms" in name] == [
        "rooms=2",
        "rooms=5",
    ]
    assert "rooms=2 " in str(linear.summary())
    assert linear.explain(given[0]).values[:, 1].tolist() == frame["rooms"].tolist()
    assert {type(cell) for cell in linear.explain(given[0]).values[:, 1]} == {int}
    tree = DecisionTreeClassifier(max_depth=6, **settings).fit(*given)
    assert re.search(r"rooms (=|in \{)", tree.text())
    assert not re.search(r"\d\.0", "".join(re.findall(r"rooms [^\[:]*", tree.text())))

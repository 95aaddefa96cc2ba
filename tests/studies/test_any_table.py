"""Tables that people bring: targets that could be classes or numbers, rare classes, few rows, odd
columns."""

import numpy as np
import pyarrow as pa
import pytest

import lyceum
from lyceum.data import scan
from lyceum.errors import LyceumError, SchemaError
from lyceum.studies import LearnerChoice

pytestmark = pytest.mark.usefixtures("no_pictures")
QUICK = {"learners": [LearnerChoice("NaiveBayes", {}, {})], "folds": 2}
NUMBERS = {"learners": [LearnerChoice("Ridge", {}, {})], "folds": 2}
N = 60
WEATHER = (
    "sunny hot high no no;sunny hot high yes no;overcast hot high no yes;rain mild high no yes;rain"
    " cool normal no yes;rain cool normal yes no;overcast cool normal yes yes;sunny mild high no"
    " no;sunny cool normal no yes;rain mild normal no yes;sunny mild normal yes yes;overcast mild"
    " high yes yes;overcast hot normal no yes;rain mild high yes no"
)


def table(n=N, **columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = np.where(x + rng.normal(size=n) > 0, "yes", "no")
    return pa.table({"x": x, "z": rng.normal(size=n), "y": y, **columns})


def weather():
    rows = zip(*(row.split() for row in WEATHER.split(";")))
    return pa.table(
        dict(
            zip(
                ("outlook", "temperature", "humidity", "windy", "play"), map(list, rows)
            )
        )
    )


@pytest.fixture
def out(tmp_path):
    return tmp_path / "study"


# -- classes or numbers ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "are_classes"),
    [
        ([0, 1] * 3, True),
        ([0, 1], True),  # two numbers are classes, however few rows
        ([1, 2, 3] * 3, True),
        ([1, 2, 3] * 2, False),  # two rows to a value
        (list(range(20)) * 3, True),
        (list(range(21)) * 30, False),
        ([1] * 20 + [2] * 20 + [3], False),  # one value in three has a single row
        ([*range(10)] * 9 + [10], True),  # one in eleven has
        ([0.5, 1.5, 2.5] * 9, False),
        (
            [
                42,
                37,
                37,
                28,
                18,
                18,
                19,
                20,
                15,
                14,
                14,
                13,
                11,
                12,
                8,
                7,
                8,
                8,
                9,
                15,
                15,
            ],
            False,
        ),
    ],
)
def test_values_their_rows_and_single_rows_decide_whether_a_target_is_a_class(
    values, are_classes
):
    rows = scan(pa.table({"x": np.arange(len(values), dtype=float), "y": values}), "y")
    assert rows.schema.target.is_categorical == are_classes


def test_the_task_settles_what_a_target_is():
    frame = pa.table({"x": np.arange(9.0), "y": [1, 2, 3] * 3})
    assert scan(frame, "y").schema.target.is_categorical
    assert not scan(frame, "y", task="regression").schema.target.is_categorical
    one_each = frame.set_column(1, "y", [list(range(9))])
    assert not scan(one_each, "y").schema.target.is_categorical
    assert len(scan(one_each, "y", task="classification").schema.target.categories) == 9


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ({"task": "guess"}, "choose one of classification, regression"),
        ({"task": "regression", "kinds": {"y": "categorical"}}, "drop one"),
    ],
)
def test_a_task_that_cannot_be(ask, message):
    with pytest.raises(SchemaError, match=message):
        scan(table(), "y", **ask)


def test_whole_numbers_of_nearly_every_row_are_studied_as_numbers_and_that_is_said(out):
    mileage = np.round(20 + 3 * table()["x"].to_numpy()).astype(int)
    found = lyceum.study(table(y=mileage).slice(0, 30), "y", out=out, **NUMBERS)
    assert found.task == "regression"
    assert "'y' is predicted as a number (" in found.question
    assert (
        "taken as numbers; --task classification takes it otherwise" in found.question
    )


def test_a_study_obeys_the_task(out):
    found = lyceum.study(
        table(y=[1, 2, 3] * 20), "y", task="regression", out=out, **NUMBERS
    )
    assert found.task == "regression"
    assert found.question == "'y' is predicted as a number (declared)."
    assert lyceum.studies.Recipe.read(out / "recipe.toml").task == "regression"


# -- rare classes ----------------------------------------------------------------------


def test_a_class_with_a_single_row_is_left_out_and_said(out):
    labels = ["a"] * 10 + ["c"] + ["a"] * 19 + ["b"] * 30
    found = lyceum.study(table(y=labels), "y", out=out, **QUICK)
    assert found.classes == ("a", "b")
    assert found.n_rows == 59
    said = "The class with a single row ('c') was left out"
    assert any(
        said in text and "such rows, 1.7 % of all" in text
        for text in found.comparison.statements
    )
    sample = found.out_of_sample(found.best.name)
    assert 10 not in sample.rows
    assert [found.classes[code] for code in sample.y] == [
        labels[row] for row in sample.rows
    ]
    assert set(found.model.predict(table().drop(["y"]))) <= {"a", "b"}


def test_a_cost_for_a_class_that_was_left_out_does_no_harm(out):
    labels = ["a"] * 30 + ["b"] * 29 + ["c"]
    costs = {(one, two): 5.0 for one in "abc" for two in "abc" if one != two}
    found = lyceum.study(table(y=labels), "y", loss=costs, out=out, **QUICK)
    assert found.loss.classes == ("a", "b")


def test_a_class_of_two_rows_stays_and_the_folds_are_not_fewer(out):
    found = lyceum.study(
        table(y=["a"] * 30 + ["b"] * 28 + ["c"] * 2),
        "y",
        out=out,
        **{**QUICK, "folds": 5},
    )
    assert found.classes == ("a", "b", "c")
    assert found.folds == 5
    assert any(
        "The smallest class has 2 rows" in text for text in found.comparison.statements
    )


def test_a_target_that_names_the_rows_is_refused_in_a_sentence(out):
    with pytest.raises(
        LyceumError,
        match="every class of the target 'y' has a single row: it names the rows",
    ):
        lyceum.study(table(y=[f"n{i}" for i in range(N)]), "y", out=out, **QUICK)


# -- few rows --------------------------------------------------------------------------


def test_the_weather_table_is_studied_and_how_little_it_supports_is_said(out):
    found = lyceum.study(weather(), "play", learners=QUICK["learners"], out=out)
    assert (found.folds, found.repeats) == (5, 3)
    assert any("There are only 14 rows" in text for text in found.comparison.statements)
    assert found.report_path.is_file()


@pytest.mark.parametrize("n", [6, 9])
def test_even_six_rows_are_studied(out, n):
    labels = (["a", "b"] * 5)[:n]
    found = lyceum.study(
        table(y=["a", "b"] * 30).slice(0, n), "y", out=out, learners=QUICK["learners"]
    )
    assert found.folds == 3
    assert sorted(set(labels)) == list(found.classes)


def test_fewer_rows_are_refused_in_a_sentence(out):
    for n in (1, 3, 5):
        with pytest.raises(
            LyceumError, match=r"there (is 1 row|are \d rows) with a target: too few"
        ):
            lyceum.study(table(y=["a", "b"] * 30).slice(0, n), "y", out=out)


@pytest.mark.parametrize(("scale", "size"), [(1e300, "large"), (1e-300, "small")])
def test_a_target_whose_squares_are_no_numbers_is_refused_in_a_sentence(
    out, scale, size
):
    with pytest.raises(
        LyceumError,
        match=f"values so {size} .* study it in another unit, or its logarithm",
    ):
        lyceum.study(
            table(y=scale * np.linspace(-1.0, 1.0, N)), "y", out=out, **NUMBERS
        )


# -- columns ---------------------------------------------------------------------------


def test_a_table_with_nothing_but_a_counter_keeps_it_and_flags_it(out):
    frame = pa.table({"i": np.arange(N), "y": np.sin(np.arange(N) / 9.0)})
    found = lyceum.study(frame, "y", out=out, **NUMBERS)
    assert [(s.column, s.code, s.left_out) for s in found.suspects] == [
        ("i", "identifier", False)
    ]
    said = "Column 'i' counts the rows. It was kept because no other column is left"
    assert any(said in text for text in found.comparison.statements)


def test_infinite_cells_are_taken_as_missing_and_that_is_said(out):
    cells = np.where(np.arange(N) % 10 == 3, np.inf, np.arange(N) % 7)
    found = lyceum.study(table(f=cells), "y", out=out, **QUICK)
    assert any(
        "6 infinite cells were taken as missing in column 'f'" in t
        for t in found.comparison.statements
    )
    assert found.n_missing == 6


def test_rows_with_an_infinite_target_are_left_out(out):
    cells = np.where(np.arange(N) == 7, np.inf, np.linspace(0, 1, N))
    found = lyceum.study(table(y=cells), "y", out=out, **NUMBERS)
    assert found.n_rows == N - 1
    assert any(
        "1 row with an infinite target was left out" in text
        for text in found.comparison.statements
    )

"""Plays as a whole: data for JSON, tables, settings, files of one's own, pages without a server."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

from lyceum import datasets
from lyceum.errors import LyceumError
from lyceum.theatre import SceneQuestion, list_methods, play, player_html

NAMES = [method.name for method in list_methods()]


@pytest.fixture(scope="module")
def plays():
    return {name: play(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_has_words_a_picture_and_a_row_of_the_table(plays, name):
    shown = plays[name]
    assert len(shown.scenes) == len(shown.steps) >= 3
    for scene in shown.scenes:
        assert scene.title
        assert all(scene.lines)
        assert scene.pictures
        assert all(picture["marks"] for picture in scene.pictures)
    assert sum(scene.question is not None for scene in shown.scenes) >= 2
    data = shown.as_dict()
    text = json.dumps(data, allow_nan=False)  # no NaN, no infinity, no array
    assert json.loads(text)["scenes"][0]["title"] == shown.scenes[0].title
    assert len(data["table"]["rows"]) == len(data["scenes"])


@pytest.mark.parametrize("name", NAMES)
def test_the_asked_number_is_said_in_the_scene(plays, name):
    """Who looks the answer up finds its figures there, in the words or in a table."""
    for scene in plays[name].scenes:
        if scene.question is None:
            continue
        data = scene.as_dict()
        cells = [
            cell for table in data["tables"] for row in table["rows"] for cell in row
        ]
        words = " ".join([*data["lines"], *cells])
        assert data["question"]["shown"] in words, (scene.title, data["question"])


@pytest.mark.parametrize("name", NAMES)
def test_steps_render_in_three_forms_with_the_formula_of_every_column(plays, name):
    steps = plays[name].steps
    text, html, latex = str(steps), steps.to_html(), steps.to_latex()
    for column in steps.columns:
        assert f"{column.symbol}: {column.formula}" in text
        assert rf"${column.latex}$" in latex
    assert html.count("<li>") == len(steps.columns)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_play(plays, name):
    assert play(name).as_dict() == plays[name].as_dict()


def test_a_question_takes_three_digits_and_knows_mistakes():
    question = SceneQuestion("H?", 0.940286, [(0.651757, "natural"), (0.94029, "no")])
    assert question.is_right(0.94)
    assert question.is_right(0.9403)
    assert not question.is_right(0.93)
    assert not question.is_right(0.95)
    assert SceneQuestion("SSE?", 123.456).is_right(123.5)
    assert not SceneQuestion("SSE?", 123.456).is_right(123.0)
    # a mistake that would be right is none
    assert [each["text"] for each in question.as_dict()["mistakes"]] == ["natural"]


def test_columns_of_a_file_are_drawn_by_the_seed():
    path = datasets.path("penguins")
    options = {"columns": ["flipper_length_mm", "body_mass_g"], "settings": {"k": "3"}}
    shown = play("kmeans", path, **options)
    assert shown.title == "k-means on penguins.csv, 60 of 342 rows"
    assert shown.model.n_clusters == 3
    other = play("kmeans", path, **options, seed=1)
    assert other.as_dict() != shown.as_dict()


def test_columns_and_a_target_are_chosen_where_none_are_named():
    path = datasets.path("penguins")
    shown = play("perceptron", path)
    assert shown.scenes[0].lines[0] == "y = +1 is sex = male, y = −1 is female."
    picture = shown.scenes[0].pictures[0]
    assert [picture["x_label"], picture["y_label"]] == [
        "bill_length_mm",
        "bill_depth_mm",
    ]
    picture = play("kmeans", path, columns=["body_mass_g"]).scenes[0].pictures[0]
    assert [picture["x_label"], picture["y_label"]] == ["body_mass_g", "bill_length_mm"]


def test_standardized_columns_have_mean_zero_and_deviation_one():
    shown = play("kmeans", settings={"standardize": True})
    marks = shown.scenes[0].pictures[0]["marks"][0]
    for axis in ("x", "y"):
        assert np.mean(marks[axis]) == pytest.approx(0, abs=1e-12)
        assert np.std(marks[axis]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kmean",), "did you mean 'kmeans'"),
        (("kmeans", None, {"settings": {"kk": 2}}), "has no setting 'kk'"),
        (
            ("kmeans", None, {"settings": {"k": "two"}}),
            "k is a whole number, not 'two'",
        ),
        (("kmeans", None, {"settings": {"k": 9}}), "from 1 to 6"),
        (("kmeans", None, {"settings": {"start": "x"}}), "one of first rows"),
        (("kmeans", None, {"columns": ["a"]}), "name the file"),
        (("kmeans", "weather", {}), "takes 2 or 3 columns of numbers, not 0"),
        (("kmeans", "penguins", {"columns": ["sex", "island"]}), "'sex' is text"),
        (("kmeans", "penguins", {"columns": ["sexx", "island"]}), "did you mean 'sex'"),
        (("perceptron", "cpu", {}), "needs a target, and no column is one"),
        (("perceptron", "penguins", {"target": "species"}), "takes two classes"),
    ],
)
def test_a_wrong_request_is_a_sentence(arguments, words):
    name, data, options = (*arguments, None, {})[:3]
    with pytest.raises(LyceumError, match=re.escape(words)):
        play(name, data and datasets.path(data), **options)


def test_rows_with_missing_cells_are_left_out():
    table = pa.table({"a": [1.0, None, 3.0, 4.0], "b": [1.0, 2.0, 2.0, 9.0]})
    shown = play("kmeans", table)
    assert len(shown.scenes[0].pictures[0]["marks"][0]["x"]) == 3


def test_a_page_needs_nothing_from_elsewhere():
    page = play("perceptron").to_html()
    assert not re.search(r"""(src|href)=["'](?!#)""", page)
    assert "import " not in player_html().partition("<script>")[2].replace(
        "import(", ""
    )
    part = play("kmeans").to_html(alone=False)
    assert "<style>" not in part
    assert part.count("</script>") == 1
    # without the script the table is there to read
    assert "<table>" in part


def test_cells_cannot_end_the_data_of_a_page():
    table = pa.table({"a": [1.0, 2.0, 3.0], "</script><b>": [1.0, 5.0, 2.0]})
    page = play("kmeans", table).to_html(alone=False)
    assert page.count("</script>") == 1

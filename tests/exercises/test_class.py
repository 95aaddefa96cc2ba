"""Sheets for a class, the key, the form for answers, and their check."""

import csv
import time

import pytest

from lyceum.errors import DataError, SettingError
from lyceum.exercises import check_answers, make_exercise, student_seed, write_class
from lyceum.exercises.files import FORMATS


def _rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_everyone_gets_numbers_of_their_own_whoever_else_is_there(tmp_path):
    write_class("kmeans", ["ann", "bob"], tmp_path / "two", seed=3)
    write_class("kmeans", ["cid", "bob"], tmp_path / "others", seed=3)
    two, others = (
        (tmp_path / folder / "bob.md").read_text(encoding="utf-8")
        for folder in ("two", "others")
    )
    assert two == others
    assert (tmp_path / "two" / "ann.md").read_text(encoding="utf-8") != two


def test_key_is_right_everywhere_and_the_empty_form_nowhere(tmp_path):
    write_class("id3", ["ann", "bob"], tmp_path, level=2)
    marks = check_answers(tmp_path / "key.csv")
    assert all(mark.correct for mark in marks)
    assert marks.points() == {"ann": (6, 6), "bob": (6, 6)}
    empty = check_answers(tmp_path / "answers.csv")
    assert not any(mark.correct for mark in empty)
    assert "no answer" in str(empty)


def test_solutions_stand_beside_the_sheets(tmp_path):
    written = write_class("pca", ["ann"], tmp_path, format="html", solution=True)
    assert [path.name for path in written[:2]] == ["ann.html", "ann-solution.html"]


def test_one_quiz_for_all_in_moodle(tmp_path):
    written = write_class("roc", ["ann", "bob"], tmp_path, format="moodle")
    assert [path.name for path in written] == ["roc.xml", "key.csv", "answers.csv"]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        # those that take longest to draw, in the format that takes longest to write
        ("lagrange", "pdf"),
        ("bagging-votes", "pdf"),
        *(("adaboost", format) for format in FORMATS),
    ],
)
def test_a_thousand_students_take_less_than_a_minute(tmp_path, name, format):
    write_class(name, ["first"], tmp_path / "first", format=format, solution=True)
    students = [f"student {i}" for i in range(20)]
    start = time.process_time()
    write_class(name, students, tmp_path / "all", level=3, format=format, solution=True)
    assert time.process_time() - start < 60.0 * len(students) / 1000


def _answer(text, key="a", name="id3", seed=7):
    return {
        "student": "ann",
        "exercise": name,
        "seed": seed,
        "level": 1,
        "question": key,
        "answer": text,
    }


@pytest.mark.parametrize("text", ["{:.3f}", "{:.5f}", " {:.3f} ", "{:.4g}"])
def test_digits_asked_for_are_enough(text):
    value = make_exercise("id3", 7).questions[0].answer
    assert check_answers([_answer(text.format(value))])[0].correct


def test_fractions_commas_and_minus_signs_are_numbers():
    mean = make_exercise("bayesian-mean", 2)
    exact = mean.questions[0].answer
    comma = f"{exact:.3f}".replace(".", ",")
    assert check_answers([_answer(comma, name="bayesian-mean", seed=2)])[0].correct
    gini = make_exercise("cart", 4).questions[0]
    shown = gini.shown.split("{")
    fraction = f"{shown[1].split('}')[0]}/{shown[2].split('}')[0]}"
    assert check_answers([_answer(fraction, name="cart", seed=4)])[0].correct


def test_natural_logarithm_is_diagnosed():
    value = make_exercise("id3", 7).questions[0].answer * 0.693147
    mark = check_answers([_answer(f"{value:.3f}")])[0]
    assert mark.diagnosis == "the natural logarithm instead of the binary one"
    assert "natural logarithm" in str(check_answers([_answer(f"{value:.3f}")]))


def test_words_are_no_numbers():
    mark = check_answers([_answer("about one")])[0]
    assert (mark.correct, mark.diagnosis) == (False, "not a number")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": "seven"}, "row 2: seed is 'seven', which is no whole number"),
        ({"level": None}, "the column 'level' is missing"),
        ({"question": "z"}, "has no question 'z': a, b"),
        ({"exercise": "id4"}, "there is no exercise 'id4'; did you mean id3"),
        ({"level": 9}, "level 1, 2 or 3"),
    ],
)
def test_bad_rows_are_named(change, words):
    with pytest.raises((DataError, SettingError), match=words):
        check_answers([{**_answer("1"), **change}])


def test_students_are_named_once_and_nothing_is_replaced(tmp_path):
    with pytest.raises(DataError, match="'ann' twice"):
        write_class("id3", ["ann", "ann"], tmp_path)
    with pytest.raises(DataError, match="no student"):
        write_class("id3", [], tmp_path)
    write_class("id3", ["ann"], tmp_path)
    with pytest.raises(SettingError, match=r"key\.csv is there already"):
        write_class("id3", ["ann"], tmp_path)


def test_names_cannot_leave_the_folder(tmp_path):
    written = write_class("id3", ["../../evil"], tmp_path / "in")
    assert all(path.parent == tmp_path / "in" for path in written)
    assert not (tmp_path.parent / "evil.md").exists()


def test_seeds_of_students_are_spread():
    seeds = {student_seed("id3", f"s{i}", 0) for i in range(1000)}
    assert len(seeds) == 1000

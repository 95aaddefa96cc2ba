"""`lyceum exercise`."""

import json

from lyceum.exercises import list_exercises, make_exercise, render_exercise


def test_list_has_a_name_and_a_title_per_line(command):
    code, out, _ = command("exercise", "--list")
    assert code == 0
    lines = out.splitlines()
    assert len(lines) == len(list_exercises())
    assert lines[0].split(maxsplit=1)[0] == "bayes-theorem"


def test_exercise_is_what_python_gives(command):
    code, out, _ = command(
        "exercise", "id3", "--seed", "7", "--level", "2", "--solution"
    )
    assert code == 0
    assert out == render_exercise(make_exercise("id3", 7, 2), "md", solution=True)


def test_json_holds_the_answers(command):
    code, out, _ = command("exercise", "kmeans", "--json")
    assert code == 0
    assert json.loads(out)["questions"][0]["key"] == "a"


def test_sheets_for_a_class_then_their_check(command, tmp_path):
    listed = tmp_path / "class.csv"
    listed.write_text("student,mail\nann,a@x\nbob,b@x\n", encoding="utf-8")
    folder = tmp_path / "sheets"
    code, out, _ = command(
        "exercise", "roc", "--students", str(listed), "-o", str(folder)
    )
    assert (code, out.strip()) == (0, f"4 files for 2 students in {folder}")
    code, out, _ = command("exercise", "--check", str(folder / "key.csv"))
    assert code == 0
    assert out.endswith("ann: 3 of 3\nbob: 3 of 3\n")


def test_file_is_not_replaced(command, tmp_path):
    target = tmp_path / "sheet.html"
    arguments = ("exercise", "pca", "--format", "html", "-o", str(target))
    assert command(*arguments)[0] == 0
    code, _, err = command(*arguments)
    assert code == 2
    assert "exists" in err


def test_no_name_and_no_students_are_sentences(command, tmp_path):
    code, _, err = command("exercise")
    assert code == 2
    assert "--list shows all" in err
    empty = tmp_path / "class.csv"
    empty.write_text("student\n", encoding="utf-8")
    code, _, err = command("exercise", "id3", "--students", str(empty))
    assert code == 2
    assert "names no student" in err

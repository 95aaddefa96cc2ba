"""A term of the course: every chapter's exercise for a class, from the command line."""

import re
from pathlib import Path

import pytest

from lyceum.exercises import check_answers

CHAPTERS = sorted((Path(__file__).parents[2] / "docs" / "chapters").glob("*.md"))
STUDENTS = [f"student {number}" for number in range(1, 11)]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_all_students_have_sheets_solutions_and_a_key(chapter, tmp_path, command):
    text = chapter.read_text(encoding="utf-8")
    name, _, level = re.findall(r"\{\{exercise (\S+) (\d+) (\d)\}\}", text)[0]
    listed = tmp_path / "class.csv"
    listed.write_text("name\n" + "\n".join(STUDENTS) + "\n", encoding="utf-8")
    out = tmp_path / "sheets"
    wish = ["exercise", name, "--level", level, "--students", str(listed)]
    code, _, _ = command(*wish, "--format", "pdf", "--solution", "--out", str(out))
    assert code == 0
    sheets = {path.read_bytes() for path in out.glob("*.pdf")}
    assert len(list(out.glob("*.pdf"))) == 2 * len(STUDENTS)
    # nearly everyone has numbers of their own: small exercises may be drawn twice
    assert len(sheets) >= 17
    marks = check_answers(out / "key.csv")
    assert {mark.student for mark in marks} == set(STUDENTS)
    assert all(mark.correct for mark in marks)
    code, said, _ = command("exercise", "--check", str(out / "key.csv"))
    assert code == 0
    assert "wrong" not in said

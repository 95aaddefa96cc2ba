"""The chapters of the course: one per chapter of the syllabus, each with its exercise."""

import re
from pathlib import Path

import pytest

from lyceum.exercises import make_exercise
from lyceum.syllabus import SECTIONS, rows

CHAPTERS = sorted((Path(__file__).parents[2] / "docs" / "chapters").glob("*.md"))
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in CHAPTERS}


def test_every_chapter_of_the_syllabus_has_a_page():
    titles = [text.splitlines()[0] for text in TEXTS.values()]
    assert titles == [f"# {number} {title}" for number, title in SECTIONS.items()]


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_chapter_asks_calculates_and_shows(name):
    headings = re.findall(r"^## (.*)$", TEXTS[name], re.M)
    assert headings[0] == "On paper"
    assert headings[1] == "The same in Lyceum"
    assert headings[-1] == "What the literature calls it"
    assert "**The question.**" in TEXTS[name]


def test_exercises_of_a_chapter_belong_to_it():
    for name, text in TEXTS.items():
        own = {row.number for row in rows() if row.section == int(name[:2])}
        for kind, seed, level in re.findall(
            r"\{\{exercise ([\w-]+) (\d+) (\d)\}\}", text
        ):
            exercise = make_exercise(kind, int(seed), int(level))
            assert own & set(exercise.syllabus), (name, kind)

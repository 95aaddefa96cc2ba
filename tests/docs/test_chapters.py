"""The chapters of the course: one per chapter of the syllabus, complete, with sums that are right.

Their code runs when the site is built (`make site`, also in CI).
"""

import re
from pathlib import Path

import pytest
from clauses import chapter_end
from paper import check_line, wrong_lines
from running import numbers_from_nowhere

from lyceum.exercises import make_exercise
from lyceum.exercises.formats.mathml import as_mathml
from lyceum.syllabus import SECTIONS, rows

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "docs" / "chapters").glob("*.md"))
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in CHAPTERS}
HEADINGS = [
    "On paper",
    "The same in Lyceum",
    "A real table",
    "The picture",
    "What to look at in `summary`",
    "The exercise",
    "What the literature calls it",
    "Limits and costs",
    "Sources",
]


def test_every_chapter_of_the_syllabus_has_a_page():
    titles = [text.splitlines()[0] for text in TEXTS.values()]
    assert titles == [f"# {number} {title}" for number, title in SECTIONS.items()]


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_chapter_has_all_its_parts(name):
    assert re.findall(r"^## (.*)$", TEXTS[name], re.M) == HEADINGS
    assert "**The question.**" in TEXTS[name]


@pytest.mark.parametrize("name", list(TEXTS))
def test_sums_on_paper_are_right(name):
    names = {}
    blocks = re.findall(r"```paper\n(.*?)```", TEXTS[name], re.S)
    assert blocks
    assert [line for block in blocks for line in wrong_lines(block, names)] == []


@pytest.mark.parametrize("name", list(TEXTS))
def test_formulas_can_be_drawn(name):
    for display, inline in re.findall(
        r"\$\$(.+?)\$\$|\$([^$\n]+)\$", TEXTS[name], re.S
    ):
        as_mathml(display or inline, bool(display))


@pytest.mark.parametrize(
    "line",
    ["H = −1/2·log2(1/2) = 0.6", "a = 1/3 = 0.34", "(1, 2) + (1, 1) = (2, 2)"],
)
def test_a_wrong_sum_is_found(line):
    with pytest.raises(ValueError, match="is not"):
        check_line(line, {})


def test_what_cannot_be_calculated_is_found():
    with pytest.raises(ValueError, match="cannot be calculated"):
        check_line("gain = H − rest = 0.5", {})


def test_a_number_without_code_is_found():
    assert numbers_from_nowhere("An error of 0.31 or 12 %.", "0.3142 0.1203") == []
    assert numbers_from_nowhere("An error of 0.32, 45 rows.", "0.3142") == [
        "0.32",
        "45",
    ]


def test_exercises_of_a_chapter_belong_to_it():
    for name, text in TEXTS.items():
        own = {row.number for row in rows() if row.section == int(name[:2])}
        for kind, seed, level in re.findall(
            r"\{\{exercise ([\w-]+) (\d+) (\d)\}\}", text
        ):
            exercise = make_exercise(kind, int(seed), int(level))
            assert own & set(exercise.syllabus), (name, kind)


def test_every_clause_is_linked_from_its_chapter():
    for number in SECTIONS:
        end = chapter_end(number)
        for row in rows():
            if row.section != number:
                continue
            for clause in row.clauses:
                # a name without a page in the reference raises
                assert f"id='clause-{clause.number}'" in end
                assert all(f"{{doc}}`{name} <" in end for name in clause.where)

"""The pages of a PDF hold the whole exercise, inside their margins."""

import re
import zlib

import pytest

from lyceum.errors import SettingError
from lyceum.exercises import list_exercises, make_exercise, render_exercise
from lyceum.exercises.formats.boxes import beside, formula, inline, lines, words
from lyceum.exercises.formats.fonts import ROMAN, SYMBOL
from lyceum.exercises.formats.pdf import HEIGHT, MARGIN, WIDTH

KINDS = [kind.name for kind in list_exercises()]
# text and where it begins; rules have no text
MARK = re.compile(
    rb"BT /F(\d) ([\d.]+) Tf 1 0 0 [\d.]+ (-?[\d.]+) (-?[\d.]+) Tm \((.*?)\) Tj ET\n",
    re.S,
)


def pages_of(content):
    """The operators of every page."""
    streams = re.findall(rb"stream\n(.*?)\nendstream", content, re.S)
    return [zlib.decompress(stream) for stream in streams]


def letters_of(content):
    """What stands on all pages, without spaces; symbols are left out."""
    runs = [run for page in pages_of(content) for run in MARK.findall(page)]
    shown = b"".join(text for font, _, _, _, text in runs if font != b"3")
    plain = re.sub(rb"\\([\\()])", rb"\1", shown).decode("cp1252")
    return plain.replace(" ", "")


@pytest.mark.parametrize("name", KINDS)
def test_every_word_of_every_level_is_there_and_inside_the_margins(name):
    for level in (1, 2, 3):
        exercise = make_exercise(name, 1, level)
        content = render_exercise(exercise, "pdf", solution=True)
        letters = letters_of(content)
        for question in exercise.questions:
            for word in re.findall(
                r"\b[a-z]{3,}\b", re.sub(r"\$.*?\$", "", question.text)
            ):
                assert word in letters
            for mistake in question.mistakes:
                first = re.split(r"[$`*\u2212-]", mistake.words)[0].replace(" ", "")
                assert first in letters
        for page in pages_of(content):
            for _font, size, x, y, _text in MARK.findall(page):
                assert MARGIN - 1 <= float(x) <= WIDTH - MARGIN + 1
                assert MARGIN - float(size) <= float(y) <= HEIGHT - MARGIN


@pytest.mark.parametrize("name", ["fisher", "kernel-trick", "mds", "regression-tree"])
def test_places_of_objects_are_where_the_file_says(name):
    content = render_exercise(make_exercise(name, 1, 3), "pdf", solution=True)
    assert content.startswith(b"%PDF-1.4")
    assert len(pages_of(content)) >= 2
    places = re.findall(rb"(\d{10}) 00000 n ", content)
    for number, place in enumerate(places, start=1):
        assert content[int(place) :].startswith(b"%d 0 obj\n" % number)
    start = int(re.search(rb"startxref\n(\d+)", content)[1])
    assert content[start:].startswith(b"xref\n0 %d\n" % (len(places) + 1))


def test_sheet_without_solution_does_not_tell_the_answer():
    exercise = make_exercise("two-gaussians", 3)
    answer = f"{exercise.questions[-1].answer:.3f}"
    assert answer not in letters_of(render_exercise(exercise, "pdf"))
    assert answer in letters_of(render_exercise(exercise, "pdf", solution=True))


def test_widths_are_those_of_the_fonts():
    # Adobe's metrics of Times: A has 722, b 500 thousandths of the size
    assert words("Ab", 10.0).width == pytest.approx(12.22)
    # of Symbol: alpha has 631; symbols inside a text change the font
    box = words("bαb", 10.0)
    assert box.width == pytest.approx(5.0 + 6.31 + 5.0)
    assert [mark.font for mark in box.marks] == [ROMAN, SYMBOL, ROMAN]
    assert [mark.x for mark in box.marks] == pytest.approx([0.0, 5.0, 11.31])


def test_fraction_stands_above_and_below_the_line():
    box = formula(r"\frac{12}{345}", 10.0)
    above, bar, below = box.marks
    assert above.y > bar.y > below.y
    assert bar.width > 3 * 0.5 * above.size
    # both are in the middle of the bar
    middles = [above.x + above.size * 0.5, below.x + below.size * 0.75]
    assert middles == pytest.approx([bar.x + bar.width / 2] * 2)


def test_brackets_are_as_high_as_the_matrix():
    small, large = (
        formula(rf"\begin{{pmatrix}} {cells} \end{{pmatrix}}", 10.0)
        for cells in ("1 & 2", r"1 & 2 \\ 3 & 4 \\ 5 & 6")
    )
    assert small.marks[0].codes == large.marks[0].codes == b"("
    assert large.marks[0].stretch > 2 * small.marks[0].stretch


def test_lines_are_no_wider_than_asked_and_hold_all_words():
    text = "several words and $x_1 = 2$, then more of them"
    broken = lines(text, 10.0, 80.0)
    assert len(broken) > 2
    assert max(line.width for line in broken) <= 80.0
    codes = [m.codes for m in beside(broken).marks]
    whole = [m.codes for m in inline(text, 10.0).marks]
    assert codes == whole


def test_character_without_glyph_is_named():
    with pytest.raises(SettingError, match=r"no '漢'.*html or tex"):
        words("漢", 10.0)

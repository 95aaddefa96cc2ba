"""Formats: each is what its reader expects, and holds the same numbers."""

import io
import json
import xml.etree.ElementTree as ET
import zipfile

import numpy as np
import pytest

from lyceum.errors import SettingError
from lyceum.exercises import list_exercises, make_exercise, render_exercise
from lyceum.exercises.formats.html import blocks_as_html
from lyceum.exercises.formats.mathml import as_mathml
from lyceum.exercises.formats.moodle import as_moodle
from lyceum.exercises.sheet import CellTable

KINDS = [kind.name for kind in list_exercises()]
QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_in_every_quick_format(name):
    exercise = make_exercise(name, 5, 3)
    for form in ("md", "html", "tex", "ipynb", "moodle", "qti"):
        assert render_exercise(exercise, form, solution=True)
    # a bar in a cell would begin another column of a table in Markdown
    blocks = [*exercise.given, *exercise.solution]
    tables = [block for block in blocks if isinstance(block, CellTable)]
    for table in tables:
        assert not any(
            "|" in cell for row in (table.columns, *table.rows) for cell in row
        )
    # all mathematics of the page was understood, and the markup is closed
    ET.fromstring(f"<div>{blocks_as_html(blocks)}</div>")


def test_sheet_without_solution_does_not_tell_the_answer():
    exercise = make_exercise("two-gaussians", 3)
    answer = f"{exercise.questions[-1].answer:.3f}"
    for form in ("md", "html", "tex", "ipynb"):
        assert answer not in render_exercise(exercise, form)
        assert answer in render_exercise(exercise, form, solution=True)


@pytest.mark.parametrize(
    ("tex", "mathml"),
    [
        ("x_1^2", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"),
        (r"\sqrt{2}", "<msqrt><mn>2</mn></msqrt>"),
        (r"-\alpha", "<mrow><mo>−</mo><mi>α</mi></mrow>"),
        (r"\mathrm{say\ a}", "<mtext>say a</mtext>"),
        (
            "(x)^2",
            '<mrow><mo stretchy="false">(</mo><mi>x</mi>'
            '<msup><mo stretchy="false">)</mo><mn>2</mn></msup></mrow>',
        ),
        (
            r"\left(x\right)^2",
            "<msup><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow><mn>2</mn></msup>",
        ),
        (
            r"\log_2 4",
            "<mrow><msub><mi>log</mi><mn>2</mn></msub>"
            '<mspace width="0.17em"/><mn>4</mn></mrow>',
        ),
        (r"\bar x", "<mover><mi>x</mi><mo>¯</mo></mover>"),
        (
            r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
            "<mrow><mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr>"
            "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo></mrow>",
        ),
    ],
)
def test_latex_becomes_mathml(tex, mathml):
    assert as_mathml(tex) == f"<math>{mathml}</math>"


def test_unknown_latex_is_refused():
    with pytest.raises(ValueError, match="mystery"):
        as_mathml(r"\mystery{x}")


def test_moodle_has_answers_with_tolerance_and_feedback():
    exercise = make_exercise("id3", 7, 2)
    quiz = ET.fromstring(render_exercise(exercise, "moodle").encode())
    questions = quiz.findall("question")
    assert len(questions) == len(exercise.questions)
    kinds = [element.get("type") for element in questions]
    assert kinds == ["numerical"] * 4 + ["multichoice"] * 2
    for element, question in zip(questions, exercise.questions):
        right = [a for a in element.findall("answer") if a.get("fraction") == "100"]
        assert len(right) == 1
        if question.choices:
            assert right[0].findtext("text") == question.answer
            continue
        assert float(right[0].findtext("text")) == pytest.approx(question.answer)
        assert float(right[0].findtext("tolerance")) == pytest.approx(
            question.tolerance
        )
        feedback = [a.findtext("feedback/text") for a in element.findall("answer")[1:]]
        assert len(feedback) == len(question.mistakes)


def test_qti_package_accepts_what_the_exercise_accepts():
    exercise = make_exercise("knn", 2, 1)
    content = render_exercise(exercise, "qti")
    assert content == render_exercise(exercise, "qti")
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        names = package.namelist()
        manifest = ET.fromstring(package.read("imsmanifest.xml"))
        item = ET.fromstring(package.read(names[1]))
    hrefs = [e.get("href") for e in manifest.iter() if e.tag.endswith("}resource")]
    assert hrefs == names[1:]
    declared = item.findall(f"{QTI}responseDeclaration")
    used = [
        e.get("responseIdentifier") for e in item.iter() if e.get("responseIdentifier")
    ]
    assert [e.get("identifier") for e in declared] == used
    conditions = item.findall(f"{QTI}responseProcessing/{QTI}responseCondition")
    assert len(conditions) == len(declared) == len(exercise.questions)
    numbers = [q for q in exercise.questions if not q.choices]
    for sign, tag in ((-1, "gte"), (1, "lte")):
        bounds = [float(e.findtext(f"{QTI}baseValue")) for e in item.iter(QTI + tag)]
        expected = [q.answer + sign * q.tolerance for q in numbers]
        assert bounds == pytest.approx(expected)


def test_notebook_has_a_cell_for_every_answer():
    exercise = make_exercise("pca", 1)
    notebook = json.loads(render_exercise(exercise, "ipynb"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(codes) == len(exercise.questions)


def test_unknown_format_is_named():
    with pytest.raises(SettingError, match=r"'docx'.*md, html, pdf"):
        render_exercise(make_exercise("knn"), "docx")


@pytest.mark.parametrize("name", ["id3", "svm", "knn-ties", "sample-statistics"])
def test_a_notebook_is_one_by_its_schema(name):
    nbformat = pytest.importorskip("nbformat", reason="no nbformat: lyceum-ml[test]")
    page = render_exercise(make_exercise(name, seed=3), "ipynb", solution=True)
    notebook = nbformat.reads(page, as_version=4)
    nbformat.validate(notebook)
    notebook.cells[0].cell_type = "picture"
    with pytest.raises(nbformat.ValidationError):
        nbformat.validate(notebook)


def only(parent, tag):
    """The one child with this tag."""
    children = parent.findall(tag)
    assert len(children) == 1, (parent.tag, tag)
    return children[0]


def text_of(parent, tag):
    """What stands in the <text> of the one child with this tag."""
    child = only(parent, tag)
    assert child.get("format", "html") == "html"
    return only(child, "text").text or ""


def check_moodle_answer(answer, kind):
    """An answer with its share of the mark in percent and its feedback."""
    assert set(answer.attrib) == {"fraction", "format"}
    assert answer.get("format") in {"html", "moodle_auto_format"}
    tags = {"text", "feedback"} | ({"tolerance"} if kind == "numerical" else set())
    assert {child.tag for child in answer} == tags
    assert len(answer) == len(tags)
    text_of(answer, "feedback")
    text = only(answer, "text").text
    if kind == "numerical":
        assert float(only(answer, "tolerance").text) > 0
        assert np.isfinite(float(text))
    return text


def check_moodle_question(question):
    """What the page "Moodle XML format" of docs.moodle.org says of the two types that are used.

    A name and a text are required by all types; an answer of a number has a tolerance; choices
    say whether one answer is right (`single`); shares of the mark are percents, and one answer
    has all of it.
    """
    kind = question.get("type")
    own = {
        "numerical": set(),
        "multichoice": {"single", "shuffleanswers", "answernumbering"},
    }
    common = {"name", "questiontext", "generalfeedback", "defaultgrade"}
    children = [child.tag for child in question if child.tag != "answer"]
    assert sorted(children) == sorted(common | own[kind])
    assert 0 < len(text_of(question, "name")) <= 255
    for tag in ("questiontext", "generalfeedback"):
        assert text_of(question, tag).startswith("<")
    assert float(only(question, "defaultgrade").text) == 1
    if kind == "multichoice":
        assert only(question, "single").text in {"true", "false"}
        assert only(question, "shuffleanswers").text in {"true", "false", "0", "1"}
        assert only(question, "answernumbering").text in {"abc", "ABCD", "123", "none"}
    answers = question.findall("answer")
    texts = [check_moodle_answer(answer, kind) for answer in answers]
    assert all(texts)
    assert len(set(texts)) == len(texts)
    shares = [float(answer.get("fraction")) for answer in answers]
    assert sorted(shares) == [0.0] * (len(shares) - 1) + [100.0]
    assert len(answers) > 1 or kind == "numerical"


@pytest.mark.parametrize("name", KINDS)
def test_moodle_files_have_the_published_structure(name):
    page = render_exercise(make_exercise(name, 5, 3), "moodle")
    # the file is read as UTF-8, from its first character on
    assert page.splitlines()[0] == "<?xml version='1.0' encoding='utf-8'?>"
    quiz = ET.fromstring(page.encode())
    assert quiz.tag == "quiz"
    assert len(quiz)
    for question in quiz:
        assert question.tag == "question"
        check_moodle_question(question)


def test_a_category_comes_before_its_questions():
    exercises = [make_exercise("knn", seed) for seed in (1, 2)]
    quiz = ET.fromstring(as_moodle(exercises, "course/nearest").encode())
    assert [element.get("type") == "category" for element in quiz] == [True] + [
        False
    ] * (len(quiz) - 1)
    assert text_of(quiz[0], "category") == "$course$/top/course/nearest"


@pytest.mark.parametrize(
    "damage",
    [
        lambda question: question.remove(question.find("name")),
        lambda question: question.find("answer").remove(
            question.find("answer/tolerance")
        ),
        lambda question: question.find("answer").set("fraction", "50"),
        lambda question: question.append(question.find("answer")),
    ],
    ids=["no name", "no tolerance", "no full mark", "twice"],
)
def test_a_damaged_moodle_question_is_found(damage):
    page = render_exercise(make_exercise("id3", 7, 2), "moodle")
    question = ET.fromstring(page.encode()).find("question")
    check_moodle_question(question)
    damage(question)
    with pytest.raises((AssertionError, TypeError)):
        check_moodle_question(question)

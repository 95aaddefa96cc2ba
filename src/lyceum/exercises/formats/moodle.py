"""Exercises as Moodle XML: numbers with tolerances, choices, and feedback to known mistakes."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from lyceum.exercises.exercise import Exercise
from lyceum.exercises.formats.html import blocks_as_html, inline
from lyceum.exercises.formats.markdown import question_text
from lyceum.exercises.sheet import ExerciseQuestion


def as_moodle(exercises: Iterable[Exercise], category: str | None = None) -> str:
    """A quiz to import; every question repeats the table it needs, as Moodle may mix them."""
    quiz = ET.Element("quiz")
    if category is not None:
        entry = ET.SubElement(quiz, "question", type="category")
        ET.SubElement(
            ET.SubElement(entry, "category"), "text"
        ).text = f"$course$/top/{category}"
    for exercise in exercises:
        for question in exercise.questions:
            quiz.append(_question(exercise, question))
    ET.indent(quiz)
    return ET.tostring(quiz, encoding="unicode", xml_declaration=True) + "\n"


def _question(exercise: Exercise, question: ExerciseQuestion) -> ET.Element:
    kind = "multichoice" if question.choices else "numerical"
    element = ET.Element("question", type=kind)
    name = f"{exercise.name} {exercise.seed} ({question.key})"
    ET.SubElement(ET.SubElement(element, "name"), "text").text = name
    asked = (
        f"{blocks_as_html(exercise.given)}\n<p>{inline(question_text(question))}</p>"
    )
    _html(element, "questiontext", asked)
    _html(element, "generalfeedback", blocks_as_html(exercise.solution))
    ET.SubElement(element, "defaultgrade").text = "1"
    if question.choices:
        ET.SubElement(element, "single").text = "true"
        ET.SubElement(element, "shuffleanswers").text = "true"
        ET.SubElement(element, "answernumbering").text = "abc"
    for value, share, words in _answers(question):
        answer = ET.SubElement(
            element, "answer", fraction=share, format="moodle_auto_format"
        )
        ET.SubElement(answer, "text").text = value
        if not question.choices:
            ET.SubElement(answer, "tolerance").text = f"{question.tolerance:.9g}"
        _html(answer, "feedback", inline(words))
    return element


def _answers(question: ExerciseQuestion) -> list[tuple[str, str, str]]:
    """Values with their share of the mark and what is said about them."""
    words = {mistake.value: mistake.words for mistake in question.mistakes}
    if question.choices:
        return [
            (choice, "100" if choice == question.answer else "0", words.get(choice, ""))
            for choice in question.choices
        ]
    wrong = [(f"{value:.9g}", "0", text) for value, text in words.items()]
    return [(f"{question.answer:.9g}", "100", ""), *wrong]


def _html(parent: ET.Element, tag: str, content: str) -> None:
    element = ET.SubElement(parent, tag, format="html")
    ET.SubElement(element, "text").text = content

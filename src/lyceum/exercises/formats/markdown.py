"""Exercises as Markdown, with LaTeX between dollar signs (GitHub, Jupyter, Pandoc)."""

from __future__ import annotations

from collections.abc import Iterable

from lyceum.exercises.exercise import Exercise
from lyceum.exercises.sheet import Block, CellTable, ExerciseQuestion, Formula, Text


def as_markdown(exercise: Exercise, solution: bool) -> str:
    """Title, text and questions; with the solution and the answers below them if asked for."""
    parts = [f"# {exercise.title}", blocks_as_markdown(exercise.given)]
    parts += [f"**({q.key})** {question_text(q)}" for q in exercise.questions]
    if solution:
        parts += ["## Solution", blocks_as_markdown(exercise.solution), "## Answers"]
        parts += [f"**({q.key})** {q.shown}" for q in exercise.questions]
        parts += _mistakes(exercise.questions)
    return "\n\n".join(parts) + "\n"


def question_text(question: ExerciseQuestion) -> str:
    """What is asked, with the words to choose from or the digits that are wanted."""
    if question.choices:
        return f"{question.text} ({', '.join(question.choices)})"
    if question.decimals == 0:
        return question.text
    return f"{question.text} ({question.decimals} decimals)"


def _mistakes(questions: Iterable[ExerciseQuestion]) -> list[str]:
    lines = [
        f"- ({question.key}) {mistake_value(question, mistake.value)}: {mistake.words}"
        for question in questions
        for mistake in question.mistakes
    ]
    return ["## Wrong answers and what they show", "\n".join(lines)] if lines else []


def mistake_value(question: ExerciseQuestion, value: float | str) -> str:
    """A wrong answer with as many digits as the right one."""
    return value if isinstance(value, str) else f"{value:.{question.decimals}f}"


def blocks_as_markdown(blocks: Iterable[Block]) -> str:
    """Paragraphs, formulas and pipe tables."""
    return "\n\n".join(map(_block, blocks))


def _block(block: Block) -> str:
    match block:
        case Text(words):
            return words
        case Formula(tex):
            return f"$${tex}$$"
        case CellTable(columns, rows):
            marks = [
                "--:" if block.is_numeric(index) else ":--"
                for index in range(len(columns))
            ]
            lines = [columns, marks, *rows]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)

"""Exercises as a Jupyter notebook (format 4.5): a cell to calculate in below every question."""

from __future__ import annotations

import json
from typing import Any

from lyceum.exercises.exercise import Exercise
from lyceum.exercises.formats.markdown import (
    as_markdown,
    blocks_as_markdown,
    question_text,
)


def as_notebook(exercise: Exercise, solution: bool) -> str:
    """The notebook as JSON; the solution is its last cell if asked for."""
    texts = [f"# {exercise.title}\n\n{blocks_as_markdown(exercise.given)}"]
    cells = [_cell("markdown", texts[0], "given")]
    for question in exercise.questions:
        asked = f"**({question.key})** {question_text(question)}"
        cells.append(_cell("markdown", asked, f"question-{question.key}"))
        cells.append(_cell("code", "", f"answer-{question.key}"))
    if solution:
        whole = as_markdown(exercise, solution=True)
        worked = whole[whole.index("## Solution") :]
        cells.append(_cell("markdown", worked, "solution"))
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, text: str, name: str) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": name,
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell

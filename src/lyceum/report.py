"""Summaries, tables, steps and explanations of learners, as text and as tables in a notebook."""

from lyceum._core.report import Explanation, Summary, Table
from lyceum._core.steps import StepColumn, Steps

__all__ = ["Explanation", "StepColumn", "Steps", "Summary", "Table"]

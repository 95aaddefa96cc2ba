"""Summaries, tables and explanations of learners, as text and as tables in a notebook."""

from lyceum._core.report import Explanation, Summary, Table

__all__ = ["Explanation", "Summary", "Table"]

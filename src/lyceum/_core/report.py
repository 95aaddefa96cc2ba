"""Summaries, tables and explanations of learners, as text and as tables in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np

from lyceum._core.text import plain, show, show_count

# characters that LaTeX would not show as they are
_LATEX_CHARACTERS = {
    **{character: f"\\{character}" for character in "{}%$&#_"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}

_FEW = 8  # values of a list that stand in one line
_MOST_LINES = 200  # of a long list that is shown in a notebook

Extended = TypeVar("Extended", bound="Explanation")


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; `rows` hold raw values, formatted only when shown.

    Parameters
    ----------
    title : str
    columns : sequence of str
        The heads of the columns.
    rows : sequence of sequences
        The cells of every row.

    See Also
    --------
    Summary : Facts and tables under one title.

    Examples
    --------
    >>> print(Table("Means", ("class", "age"), [("a", 31.25), ("b", 7)]))
    Means
    class    age
    ─────  ─────
    a      31.25
    b          7
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __str__(self) -> str:
        cells = [list(self.columns), *(list(map(show, row)) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells)]
        # numbers to the right, text to the left
        sides = [
            ">" if self.is_number_column(j) else "<" for j in range(len(self.columns))
        ]
        lines = []
        for row in cells:
            aligned = [f"{c:{side}{w}}" for c, side, w in zip(row, sides, widths)]
            lines.append("  ".join(aligned).rstrip())
        lines.insert(1, "  ".join("─" * width for width in widths))
        if self.title:
            lines.insert(0, self.title)
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Title, columns and rows in JSON's own types."""
        return {
            "title": self.title,
            "columns": plain(self.columns),
            "rows": plain(self.rows),
        }

    def is_number_column(self, j: int) -> bool:
        """Whether all cells of column number j are numbers."""
        return bool(self.rows) and all(
            isinstance(row[j], int | float | np.number) for row in self.rows
        )

    def to_latex(self) -> str:
        """The table in LaTeX, with the rules of the package booktabs.

        >>> print(Table("", ("class", "age"), [("a_1", 31.25)]).to_latex())
        \\begin{tabular}{lr}
        \\toprule
        class & age \\\\
        \\midrule
        a\\_1 & 31.25 \\\\
        \\bottomrule
        \\end{tabular}
        """
        sides = ["lr"[self.is_number_column(j)] for j in range(len(self.columns))]
        lines = [rf"\begin{{tabular}}{{{''.join(sides)}}}", r"\toprule"]
        for row in (self.columns, *self.rows):
            cells = " & ".join(latex_text(show(cell)) for cell in row)
            lines.append(rf"{cells} \\")
        lines.insert(3, r"\midrule")
        lines += [r"\bottomrule", r"\end{tabular}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        # words to the left, figures to the right, whatever the page does with cells
        sides = [
            "right" if self.is_number_column(j) else "left"
            for j in range(len(self.columns))
        ]
        head = _html_cells("th", self.columns, sides)
        body = ""
        for row in self.rows:
            body += f"<tr>{_html_cells('td', map(show, row), sides)}</tr>"
        caption = ""
        if self.title:
            caption = f"<caption>{html.escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cells(tag: str, cells: Iterable[str], sides: Sequence[str]) -> str:
    """The cells of one line of a table, each to its side."""
    return "".join(
        f'<{tag} style="text-align:{side}">{html.escape(str(cell))}</{tag}>'
        for cell, side in zip(cells, sides)
    )


def latex_text(text: str) -> str:
    """Text as LaTeX shows it as it is.

    >>> latex_text("50 % of x_1")
    '50 \\\\% of x\\\\_1'
    """
    return "".join(_LATEX_CHARACTERS.get(character, character) for character in text)


class Shown:
    """A result that a notebook shows as tables: by its `summary()`, its `table()`, or its values.

    A subclass with a picture of its own defines `_repr_html_` itself.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        for name in ("summary", "table"):
            described: Any = getattr(self, name, None)
            if callable(described):
                described = described()
            if isinstance(described, Summary | Table):
                return described._repr_html_()
        return _values_summary(self)._repr_html_()


def _values_summary(result: Any) -> Summary:
    """The values of a result: single ones as facts, lists of records and long lists as tables."""
    if hasattr(result, "as_dict"):
        values = result.as_dict()
    else:
        values = {field.name: getattr(result, field.name) for field in fields(result)}
    facts: dict[str, Any] = {}
    tables = []
    for name, value in values.items():
        records = value if isinstance(value, list) else []
        if records and all(isinstance(record, dict) for record in records):
            heads = list(records[0])
            lines = [[record.get(head) for head in heads] for record in records]
            tables.append(Table(name, heads, lines))
        elif isinstance(value, dict):
            tables.append(Table(name, ("name", "value"), list(value.items())))
        elif np.size(value) <= _FEW:
            facts[name] = value
        else:
            lines = [[i, item] for i, item in enumerate(np.asarray(value, object))]
            tables.append(Table(name, ("number", "value"), lines[:_MOST_LINES]))
    return Summary(type(result).__name__, facts, tables)


def weights_table(
    names: Sequence[str], intercept: np.ndarray, coef: np.ndarray, titles: Sequence[str]
) -> Table:
    """The weights of linear scores: a line per column of the design, a column per score.

    Parameters
    ----------
    names : sequence of str
        The d columns.
    intercept : array of shape (n_scores,)
    coef : array of shape (n_scores, d)
    titles : sequence of str
        What every score is for.

    Returns
    -------
    Table
    """
    values = np.column_stack([intercept, coef]).T.tolist()
    lines = [(name, *row) for name, row in zip(("(intercept)", *names), values)]
    return Table("Weights", ("column", *titles), lines)


@dataclass(frozen=True, slots=True)
class Summary:
    """What was learned: a title, facts by name, and tables.

    Parameters
    ----------
    title : str
        What the summary is of.
    facts : mapping of str to values, default={}
        Single values by their names.
    tables : sequence of Table, default=()
        Further values, in rows and columns.

    See Also
    --------
    lyceum.base.Learner.summary : The summary of what a learner has learned.
    Table : One table of it.
    Explanation : Single predictions, column by column.

    Examples
    --------
    >>> table = Table("Means", ("class", "age"), [("a", 31.25), ("b", 7)])
    >>> summary = Summary("A small model", {"rows": 12, "log loss": 0.123456}, [table])
    >>> print(summary)
    A small model
    <BLANKLINE>
      rows      12
      log loss  0.1235
    <BLANKLINE>
    Means
    class    age
    ─────  ─────
    a      31.25
    b          7
    >>> summary.as_dict()["facts"]
    {'rows': 12, 'log loss': 0.123456}
    """

    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[Table] = ()

    def __str__(self) -> str:
        width = max(map(len, self.facts), default=0)
        lines = [
            f"  {name:<{width}}  {show(value)}" for name, value in self.facts.items()
        ]
        parts = [self.title, "\n".join(lines), *map(str, self.tables)]
        return "\n\n".join(part for part in parts if part)

    def as_dict(self) -> dict[str, Any]:
        """Title, facts and tables in JSON's own types."""
        return {
            "title": self.title,
            "facts": plain(self.facts),
            "tables": plain(self.tables),
        }

    def _repr_html_(self) -> str:
        if self.facts:
            facts = Table("", ("", ""), list(self.facts.items()))._repr_html_()
        else:
            facts = ""
        tables = "".join(table._repr_html_() for table in self.tables)
        return f"<h4>{html.escape(self.title)}</h4>{facts}{tables}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """How much every column adds to a prediction: a score is a base plus one contribution per
    column.

    Parameters
    ----------
    names : sequence of str
        The columns of the table.
    contributions : array of shape (n_rows, n_columns)
        What every column adds; the base plus their sum is the score.
    base : array of shape (n_rows,)
        The score before any column adds to it.
    predicted : array of shape (n_rows,)
        The predictions: classes or numbers.
    unit : str
        What the contributions are measured in, e.g. "log-odds".
    values : array of shape (n_rows, n_columns), optional
        The cells that were explained: numbers, or categories as they were written; None where
        missing.

    Attributes
    ----------
    scores : array of shape (n_rows,)
        The explained scores: base plus contributions.

    See Also
    --------
    Table : What `row` gives for one row.
    Summary : The model as a whole.

    Examples
    --------
    >>> from lyceum.linear import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])  # y = 1 + 2 x
    >>> explanation = model.explain([[4.0]])
    >>> print(explanation.row(0))
    Row 0: 9, y 9
    column  value  y
    ──────  ─────  ─
    (base)         3
    x0      4      6
    """

    names: Sequence[str]
    contributions: np.ndarray
    base: np.ndarray
    predicted: np.ndarray
    unit: str
    values: np.ndarray | None = None

    def extend(self, kind: type[Extended], **more: Any) -> Extended:
        """The same explanation as one of a subclass, with further fields."""
        values = {f.name: getattr(self, f.name) for f in fields(Explanation)}
        return kind(**values, **more)

    @property
    def scores(self) -> np.ndarray:
        """The explained scores: base plus contributions."""
        return self.base + self.contributions.sum(axis=1)

    def _score(self, i: int) -> float:
        """The score of row i alone: the sum over all rows would make a loop over rows quadratic."""
        return float(self.base[i] + self.contributions[i].sum())

    def row(self, i: int) -> Table:
        """The contributions to one prediction, largest first."""
        order = np.argsort(-np.abs(self.contributions[i]), kind="stable")
        rows: list[tuple[str, Any, float]] = [("(base)", "", float(self.base[i]))]
        for j in order:
            cell = self.value(i, j)
            if cell is None:
                cell = "missing"
            rows.append((self.names[j], cell, float(self.contributions[i, j])))
        score = f"{self.unit} {show(self._score(i))}"
        title = f"Row {i}: {show(self.predicted[i])}, {score}"
        return Table(title, ("column", "value", self.unit), rows)

    def detail(self, i: int) -> Table | None:
        """What else decided row i: the neighbors that voted, or a committee's members; None for
        most."""
        return None

    def value(self, i: int, j: int) -> Any:
        """The cell of row i and column j: None if it is missing, "" if cells are not known."""
        if self.values is None:
            return ""
        return self.values[i, j]

    def as_dict(self) -> dict[str, Any]:
        """The unit, and for every row its prediction, base and contributions, in JSON's own
        types."""
        return {
            "unit": self.unit,
            "rows": [self._row_as_dict(i) for i in range(len(self))],
        }

    def _row_as_dict(self, i: int) -> dict[str, Any]:
        columns = [
            {
                "column": name,
                "value": self.value(i, j),
                "contribution": self.contributions[i, j],
            }
            for j, name in enumerate(self.names)
        ]
        head = {
            "predicted": self.predicted[i],
            "score": self._score(i),
            "base": self.base[i],
        }
        return plain(head | {"columns": columns})

    def __len__(self) -> int:
        return len(self.predicted)

    def _first_tables(self) -> list[Table]:
        """The tables of the first rows, each with its detail."""
        tables = []
        for i in range(min(3, len(self))):
            tables.append(self.row(i))
            detail = self.detail(i)
            if detail is not None:
                tables.append(detail)
        return tables

    def __str__(self) -> str:
        shown = [str(table) for table in self._first_tables()]
        if len(self) > 3:
            shown.append(f"… and {show_count(len(self) - 3, 'more row')}")
        return "\n\n".join(shown)

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self._first_tables())

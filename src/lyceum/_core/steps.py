"""The record of a learner as a table of steps: what every column is, by which formula, in what
unit.

A learner that keeps a `record_` says once, in `_step_kind`, what a step is called and what its
values are; text, HTML, LaTeX and JSON follow from that.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from lyceum._core.report import Shown, Table, latex_text
from lyceum._core.text import plain, show, show_count
from lyceum.errors import SettingError

_WIDEST = 12  # cells of an array that have a column of the table each
_ENDS = 10  # steps that are shown at the beginning and at the end of a long record

# symbols of formulas, and what LaTeX calls them
_LATEX = {
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "←": r"\leftarrow ",
    "·": r"\cdot ",
    "−": "-",
    "½": r"\tfrac12 ",
    "²": "^2",
    "ᵀ": r"^\top ",
    "₀": "_0",
    "∈": r"\in ",
    "≠": r"\ne ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "√": r"\surd ",
    "∂": r"\partial ",
    "ŷ": r"\hat y ",
    "α": r"\alpha ",
    "γ": r"\gamma ",
    "ε": r"\varepsilon ",
    "η": r"\eta ",
    "θ": r"\theta ",
    "λ": r"\lambda ",
    "μ": r"\mu ",
    "ν": r"\nu ",
    "π": r"\pi ",
    "ρ": r"\rho ",
    "σ": r"\sigma ",
    "ln ": r"\ln ",
    "log ": r"\log ",
    "max ": r"\max ",
    "min ": r"\min ",
}


_WORDS = r"(?<!\w)[a-z]{2,}(?:[ -][a-z]{2,})*(?!\w)"


def _as_text(words: re.Match[str]) -> str:
    """Words of a formula for LaTeX, functions as they are."""
    if words[0] in ("ln", "log", "max", "min"):
        return words[0]
    return rf"\text{{{words[0]}}}"


@dataclass(frozen=True, slots=True)
class StepColumn(Shown):
    """One value of every step of a record.

    Parameters
    ----------
    name : str
        Its key in `record_`.
    symbol : str
        What it is called in formulas, e.g. "w".
    formula : str
        How it is computed.
    unit : str, default=""
        What it is measured in.
    axes : tuple of str, default=()
        What the axes of an array stand for, e.g. ("cluster", "column").
    ends_in : str, default=""
        The fitted attribute that has the value of the last step.

    See Also
    --------
    Steps : The table of all steps.

    Examples
    --------
    >>> from lyceum.report import StepColumn
    >>> StepColumn("alpha", "α", "α = ½ ln ((1 − ε) / ε)").latex
    '\\\\alpha = \\\\tfrac12 \\\\ln ((1 - \\\\varepsilon ) / \\\\varepsilon )'
    """

    name: str
    symbol: str
    formula: str
    unit: str = ""
    axes: tuple[str, ...] = ()
    ends_in: str = ""

    @property
    def latex(self) -> str:
        """The formula in LaTeX."""
        # words stay words
        text = re.sub(_WORDS, _as_text, self.formula)
        for symbol, command in _LATEX.items():
            text = text.replace(symbol, command)
        # a command ends in a space of its own
        return re.sub(" +", " ", text).strip()

    def as_dict(self) -> dict[str, Any]:
        """What it is, in JSON's own types."""
        return {
            "name": self.name,
            "symbol": self.symbol,
            "formula": self.formula,
            "latex": self.latex,
            "unit": self.unit,
            "axes": list(self.axes),
        }


@dataclass(frozen=True, slots=True)
class StepKind:
    """What a step of a learner is called, and its values."""

    noun: str
    columns: tuple[StepColumn, ...]


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a fit as a table: one line per step, one column per value, and its formula.

    Parameters
    ----------
    title : str
        Of what the steps are.
    noun : str
        What a step is called, e.g. "pass" or "round".
    columns : sequence of StepColumn
        The values of a step.
    records : sequence of mappings
        The steps, as in `record_`.
    labels : mapping of str to sequences of str
        The names along every kind of axis, e.g. {"column": ["age", "income"]}.

    See Also
    --------
    lyceum.base.Learner.steps : Makes it of a fitted learner with a record.
    lyceum.plot.steps : The same as pictures.

    Examples
    --------
    >>> from lyceum.linear import Perceptron
    >>> model = Perceptron(shuffle=False, record=True).fit([[2.0], [-1.0]], [1, 0])
    >>> print(model.steps())
    Steps of Perceptron of y
    pass  w x0  b  mistakes
    ────  ────  ─  ────────
       1     2  1         1
       2     2  1         0
    <BLANKLINE>
    w: w ← w + η y x for every row that is wrong
    b: b ← b + η y for every row that is wrong, about the means if centered
    mistakes: rows with y (w·x + b) ≤ 0, in rows
    """

    title: str
    noun: str
    columns: Sequence[StepColumn]
    records: Sequence[Mapping[str, Any]]
    labels: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.records)

    def table(self, most: int | None = None) -> Table:
        """The steps as one table; arrays of up to twelve numbers have a column per number.

        Parameters
        ----------
        most : int, optional
            The most steps to list, half of them from the beginning; by default all.

        Returns
        -------
        Table
        """
        spread = [self._spread(column) for column in self.columns]
        heads = [self.noun, *(head for heads, _ in spread for head in heads)]
        lines = []
        for i, record in enumerate(self.records):
            cells = [cell for _, values in spread for cell in values[i]]
            lines.append([record.get("step", i), *cells])
        if most is not None and len(lines) > most:
            half = most // 2
            gap = ["…"] * len(heads)
            lines = [*lines[:half], gap, *lines[-half:]]
        return Table(self.title, heads, lines)

    def detail(self, i: int) -> list[Table]:
        """The values of one step that are tables themselves, e.g. the gains at a node."""
        tables = []
        for column in self.columns:
            value: Any = self.records[i].get(column.name)
            if _is_listed(value):
                heads = [
                    head
                    for head in value[0]
                    if any(line[head] is not None for line in value)
                ]
                lines = [[_short(line[head]) for head in heads] for line in value]
                title = f"{column.name} of {self.noun} {self.records[i].get('step', i)}"
                tables.append(Table(title, heads, lines))
        return tables

    def formulas(self) -> list[str]:
        """A line per column: what it is, and in which unit."""
        lines = []
        for column in self.columns:
            unit = f", in {column.unit}" if column.unit else ""
            lines.append(f"{column.symbol}: {column.formula}{unit}")
        return lines

    def __str__(self) -> str:
        parts = [str(self.table(2 * _ENDS)), "\n".join(self.formulas())]
        for i in range(min(len(self), _ENDS)):
            parts += map(str, self.detail(i))
        return "\n\n".join(parts)

    def to_html(self) -> str:
        """The table, the tables of its steps and the formulas in HTML, as a notebook shows them."""
        formulas = "".join(f"<li>{html.escape(line)}</li>" for line in self.formulas())
        details = [table for i in range(len(self)) for table in self.detail(i)]
        tables = [self.table(), *details]
        text = "".join(table._repr_html_() for table in tables)
        return f"{text}<ul>{formulas}</ul>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self) -> str:
        """The table in LaTeX (package booktabs), and the formulas below it."""
        lines = [self.table().to_latex(), r"\begin{description}"]
        for column in self.columns:
            unit = latex_text(f", in {column.unit}") if column.unit else ""
            name = latex_text(column.name)
            lines.append(rf"\item[{name}] ${column.latex}${unit}")
        lines.append(r"\end{description}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Title, columns with their formulas, labels and all steps in JSON's own types."""
        return {
            "title": self.title,
            "step": self.noun,
            "columns": [column.as_dict() for column in self.columns],
            "labels": plain(self.labels),
            "steps": plain(self.records),
        }

    # -- arrays -------------------------------------------------------------------------

    def _spread(self, column: StepColumn) -> tuple[list[str], list[list[Any]]]:
        """The heads that a column has in the table, and its cells in every step."""
        values: list[Any] = [record.get(column.name) for record in self.records]
        shapes = {np.shape(value) for value in values if isinstance(value, np.ndarray)}
        one_shape = len(shapes) == 1 and all(
            isinstance(value, np.ndarray) for value in values
        )
        if not one_shape or np.prod(next(iter(shapes))) > _WIDEST:
            return [column.symbol], [[_short(value)] for value in values]
        shape = next(iter(shapes))
        names = [self._names(column, k, n) for k, n in enumerate(shape)]
        heads = [" ".join([column.symbol, *filter(None, at)]) for at in product(*names)]
        return heads, [np.ravel(value).tolist() for value in values]

    def _names(self, column: StepColumn, k: int, n: int) -> list[str]:
        """The names along axis k of an array; a single class, cluster or row needs none."""
        axis = column.axes[k] if k < len(column.axes) else ""
        if n == 1 and axis != "column":
            return [""]
        names = self.labels.get(axis, ())
        if len(names) == n:
            return list(names)
        return [f"{axis} {i}".strip() for i in range(n)]


def steps_of(learner: Any, title: str) -> Steps:
    """The steps of a fitted learner."""
    kind: StepKind = learner._step_kind
    records = learner._step_records()
    if records is None:
        raise SettingError(
            f"{type(learner).__name__} kept no record of its steps: fit it with record=True"
        )
    present = {name for record in records for name in record}
    columns = [column for column in kind.columns if column.name in present]
    labels = {"column": [str(name) for name in learner.design_names]}
    if hasattr(learner, "classes_"):
        labels["class"] = [str(label) for label in np.asarray(learner.classes_)]
    return Steps(f"Steps of {title}", kind.noun, columns, records, labels)


def _is_listed(value: Any) -> bool:
    """Whether a value is a list of records."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _short(value: Any) -> Any:
    """A value as one cell: long arrays and lists by their sizes."""
    if value is None:
        return ""
    if _is_listed(value):
        return show_count(len(value), "line")
    if isinstance(value, list | np.ndarray) and np.size(value) > _WIDEST:
        return f"{' × '.join(map(str, np.shape(value)))} numbers"
    if isinstance(value, list | np.ndarray):
        return show(np.ravel(value).tolist())
    return value

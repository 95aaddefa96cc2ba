"""The report of a study: one HTML page that needs nothing else, for people who were not there."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum.report import Table, show
from lyceum.studies._figures import Figure, figures_of
from lyceum.studies._files import write_whole
from lyceum.studies._problems import Problems
from lyceum.studies._words import amount, number, percent, sentence

if TYPE_CHECKING:
    import jinja2

    from lyceum.studies._results import Candidate, Comparison, Example, Standing, Study

__all__ = ["Scale", "aligned", "render", "write_report"]

_ROWS_SHOWN = 12  # of a long table, before the rest is folded away
# A long table is sorted by the first of these columns that it has.
_STRENGTHS = {"z": "surest", "t": "surest", "per standard deviation": "largest", "coefficient": "largest"}
_CONTRIBUTIONS = 8
_CATEGORIES = 6
_BAR = 100.0  # units of a drawn bar
_FAR = 4.0  # times the worst learner: from there on the constant guess is off the axis


def write_report(study: Study, path: str | os.PathLike[str] | None = None) -> Path:
    """Write the report, whole or not at all; by default to report.html in the folder of the study."""
    path = study.report_path if path is None else Path(path)
    write_whole(path, render(study).encode())
    return path


def render(study: Study, problems: Problems | None = None) -> str:
    """The report as a page of HTML that needs no network and no scripts.

    A section, figure or table that cannot be made is named under "What to know" and in `problems`.
    """
    problems = Problems() if problems is None else problems
    names = {"page": _Page(study, problems), "study": study, "comparison": study.comparison}
    names["choice"] = study.choice
    sections = {name: _section(name, names, problems) for name in _SECTIONS if name != "know"}
    named = dict.fromkeys((*study.problems, *problems))
    sections["know"] = _section("know", {**names, "problems": list(named)}, problems)
    return _templates().get_template("report.html").render(**names, sections=sections)


_SECTIONS = {
    "header": "header",
    "ranking": "ranking",
    "know": "list of what to know",
    "evidence": "evidence",
    "learned": "part on what was learned",
    "examples": "list of examples",
    "asked": "part on what was asked",
    "columns": "table of columns",
    "again": "part on how to use it",
}  # template to what people call it


def _section(name: str, names: Mapping[str, Any], problems: Problems) -> Any:
    """One section of the page, or a sentence in its place."""
    from markupsafe import Markup, escape

    template = _templates().get_template(f"sections/{name}.html")
    before = len(list(problems))
    text = problems.attempt(_SECTIONS[name], lambda: template.render(**names))
    if text is None:
        sentence_ = list(problems)[before:][-1]
        text = f'<section id="{name}"><p class="warning">{escape(sentence_)}</p></section>'
    return Markup(text)


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    room = jinja2.Environment(
        loader=jinja2.PackageLoader("lyceum.studies"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    room.filters |= {"show": _shown, "percent": _percent, "number": number, "seconds": _seconds, "p": _p}
    room.filters |= {"bytes": _bytes, "tie": _tied}
    return room


# -- what the template asks for ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Page:
    """The parts of a report, ready to be written down."""

    study: Study
    problems: Problems

    @property
    def title(self) -> str:
        return f"What predicts “{self.study.recipe.target}”?"

    @property
    def source(self) -> str:
        """The names of the data files."""
        names = [Path(path).name for path in self.study.recipe.data]
        return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

    def amount(self, value: float | None) -> str:
        """A loss in its own unit."""
        return "" if value is None else _tied(amount(self.study.comparison.criterion, value))

    def aligned(self, value: float | None) -> str:
        return "" if value is None else _tied(aligned(self.study.comparison, value))

    @property
    def figures(self) -> list[Figure]:
        return figures_of(self.study, self.problems)

    @property
    def key_figures(self) -> Iterator[tuple[str, str, str]]:
        """(name, value, remark) of the numbers to remember."""
        study, choice = self.study, self.study.choice
        low, high = (self.aligned(end) for end in choice.interval)
        told = f"95\u00a0% interval {low} to {high}"
        yield sentence(study.comparison.criterion), self.aligned(choice.loss), told
        baseline = study.comparison.baseline
        if baseline is not None and not choice.is_baseline:
            yield "Constant guess", self.aligned(baseline.loss), "what any model has to beat"
        yield from self._further(choice)
        yield "Rows tested", f"{study.comparison.n_rows:,}", f"{study.comparison.n_folds} folds, each unseen"

    def _further(self, choice: Standing) -> Iterator[tuple[str, str, str]]:
        if choice.r2 is not None:
            yield "Variance explained", _percent(max(0.0, choice.r2)), "R² on unseen rows"
        elif choice.auc is not None:
            yield "AUC", f"{choice.auc:.3f}", "1 is perfect, 0.5 is guessing"
        if choice.error is not None and self.study.comparison.criterion != "error rate":
            yield "Error rate", _percent(choice.error), "if the likeliest class were named"

    # -- the ranking -------------------------------------------------------------------------------------

    @property
    def scale(self) -> Scale:
        return Scale.of(self.study.comparison.standings)

    @property
    def has_classes(self) -> bool:
        return self.study.classes is not None

    @property
    def ranked_by_cost(self) -> bool:
        return self.has_classes and self.study.comparison.criterion != "error rate"

    # -- what was asked ----------------------------------------------------------------------------------

    @property
    def class_shares(self) -> list[tuple[str, int, str]]:
        """(class, rows tested, share)."""
        counts = np.asarray(self.study.choice.confusion, dtype=np.float64).sum(axis=1)
        shares = counts / max(counts.sum(), 1e-300)
        rows = zip(self.study.classes or (), counts.tolist(), shares.tolist())
        return [(str(label), round(n / self._repeats), _percent(share)) for label, n, share in rows]

    @property
    def _repeats(self) -> int:
        return max(1, self.study.recipe.repeats)

    @property
    def losses(self) -> list[tuple[str, list[str]]]:
        """The rows of the loss matrix."""
        loss = self.study.loss
        assert loss is not None
        return [(str(label), [f"{v:g}" for v in row]) for label, row in zip(loss.classes or (), loss.values)]

    # -- what was learned --------------------------------------------------------------------------------

    @property
    def learned(self) -> _Learned:
        summary = self.study.learned()
        tables = [
            self.problems.attempt(f"table {table.title!r}", partial(_Cells.of, table))
            for table in summary.tables
        ]
        return _Learned(summary.title, summary.facts, [cells for cells in tables if cells is not None])

    @property
    def examples(self) -> list[_Told]:
        return [_Told(example, self.study) for example in self.study.examples]

    # -- columns and methods -----------------------------------------------------------------------------

    @property
    def columns(self) -> Iterator[tuple[str, str, str, str, list[str]]]:
        """(name, kind, values, why, remarks) of every column, those left out last."""
        remarks: dict[str, list[str]] = {}
        for suspect in self.study.suspects:
            left_out = " It was left out." if suspect.left_out else ""
            remarks.setdefault(suspect.column, []).append(f"{suspect.text.rstrip('.')}.{left_out}")
        for column in self.study.schema:
            values = "" if column.categories is None else _listed(column.categories.tolist())
            yield column.name, column.kind, values, column.why, remarks.pop(column.name, [])
        for name, texts in remarks.items():
            yield name, "left out", "", "", texts

    @property
    def built(self) -> list[tuple[Candidate, Standing | None]]:
        """Every candidate with its standing, if it has one."""
        standings = {standing.name: standing for standing in self.study.comparison.standings}
        return [(candidate, standings.get(candidate.name)) for candidate in self.study.candidates]

    def settings(self, standing: Standing) -> str:
        chosen = ", ".join(f"{name} = {_shown(value)}" for name, value in standing.params.items())
        return chosen or "the defaults"

    @property
    def recipe(self) -> str:
        """The recipe as its file has it."""
        path = self.study.folder / "recipe.toml"
        if path.is_file():
            return path.read_text(encoding="utf-8")
        import tomli_w

        return tomli_w.dumps(self.study.recipe.as_dict())


def aligned(comparison: Comparison, value: float) -> str:
    """A loss with as many decimals as the others in its column: three digits for the least."""
    if comparison.criterion == "error rate":
        return f"{100 * value:.1f} %"
    least = min((abs(s.loss) for s in comparison.standings if s.loss), default=1.0)
    return f"{value:,.{max(0, 2 - math.floor(math.log10(least)))}f}"


@dataclass(frozen=True, slots=True)
class Scale:
    """The axis of the drawn intervals."""

    low: float
    high: float

    @classmethod
    def of(cls, standings: Sequence[Standing]) -> Scale:
        learners = [s for s in standings if not s.is_baseline]
        low, high = _span(learners or standings)
        ends = _span(standings)
        # a constant guess far off would leave no room to tell the learners apart
        low, high = ends if ends[1] <= _FAR * high else (low, 1.15 * high)
        low = 0.0 if 0.0 <= low < 0.2 * high else low
        return cls(low, high if high > low else low + 1.0)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def at(self, value: float) -> float:
        """The place of a value along the bar."""
        return round(_BAR * min(1.0, max(0.0, (value - self.low) / (self.high - self.low))), 2)


def _span(standings: Sequence[Standing]) -> tuple[float, float]:
    ends = [end for s in standings for end in (*s.interval, s.loss) if math.isfinite(end)]
    return min(ends, default=0.0), max(ends, default=1.0)


@dataclass(frozen=True, slots=True)
class _Cells:
    """A table as text, numbers marked, the end of a long one apart."""

    title: str
    heads: list[str]
    numeric: list[bool]
    rows: list[list[str]]
    rest: list[list[str]]

    @classmethod
    def of(cls, table: Table) -> _Cells:
        table = _without_blanks(table)
        heads, title, given = list(table.columns), table.title, list(table.rows)
        numeric = [table._is_number(j) for j in range(len(heads))]
        long = len(given) > _ROWS_SHOWN + 3
        by = next((head for head in _STRENGTHS if head in heads and numeric[heads.index(head)]), None)
        if long and by is not None:
            place = heads.index(by)
            given.sort(key=lambda row: -abs(row[place]) if math.isfinite(row[place]) else 0.0)
            title = ", ".join(part for part in (title, f"{_STRENGTHS[by]} first") if part)
        rows = [
            [_p(cell) if head == "p" else _shown(cell) for head, cell in zip(heads, row)] for row in given
        ]
        end = _ROWS_SHOWN if long else len(rows)
        return cls(title, heads, numeric, rows[:end], rows[end:])


def _without_blanks(table: Table) -> Table:
    """The table without columns of numbers that hold none."""
    blank = {
        j
        for j in range(len(table.columns))
        if table._is_number(j) and all(math.isnan(row[j]) for row in table.rows)
    }
    if not blank:
        return table
    kept = [j for j in range(len(table.columns)) if j not in blank]
    return Table(
        table.title, [table.columns[j] for j in kept], [[row[j] for j in kept] for row in table.rows]
    )


@dataclass(frozen=True, slots=True)
class _Learned:
    title: str
    facts: Mapping[str, Any]
    tables: list[_Cells]


@dataclass(frozen=True, eq=False)
class _Told:
    """One row explained."""

    example: Example
    study: Study

    @property
    def right(self) -> bool | None:
        """Whether a class is named and is the true one; None for numbers and rejections."""
        if self.study.classes is None or str(self.example.decided) not in map(str, self.study.classes):
            return None
        return str(self.example.decided) == str(self.example.truth)

    @property
    def chances(self) -> list[tuple[str, str]]:
        pairs = zip(self.study.classes or (), self.example.posterior or ())
        likeliest = sorted(pairs, key=lambda pair: -pair[1])
        return [(str(label), f"{100 * p:.1f}\u00a0%") for label, p in likeliest[:3]]

    @property
    def bars(self) -> list[tuple[str, str, str, float, float]]:
        """(column, value, what it adds, left end, width) of the largest contributions and of the rest."""
        told = self.example.explanation
        if told is None:
            return []
        adds = np.asarray(told.contributions)[0]
        order = np.argsort(-np.abs(adds), kind="stable")
        parts = [(str(told.names[j]), self._cell(str(told.names[j])), float(adds[j])) for j in order]
        if len(parts) > _CONTRIBUTIONS + 1:
            rest = sum(part[2] for part in parts[_CONTRIBUTIONS:])
            parts = [*parts[:_CONTRIBUTIONS], (f"{len(parts) - _CONTRIBUTIONS} other columns", "", rest)]
        most = max((abs(part[2]) for part in parts), default=0.0) or 1.0
        return [(name, value, _signed(add), *_two_sided(add / most)) for name, value, add in parts]

    def _cell(self, name: str) -> str:
        if name not in self.example.cells:
            return ""
        value = self.example.cells[name]
        return "missing" if value is None else _shown(value)

    @property
    def base(self) -> str:
        told = self.example.explanation
        return "" if told is None else f"{float(np.asarray(told.base)[0]):.3g}"

    @property
    def score(self) -> str:
        told = self.example.explanation
        return "" if told is None else f"{float(told.scores[0]):.3g}"


def _two_sided(share: float) -> tuple[float, float]:
    """Left end and width of a bar from the middle."""
    width = round(_BAR / 2 * abs(share), 2)
    return (_BAR / 2 - width if share < 0 else _BAR / 2), width


# -- as people read it ---------------------------------------------------------------------------------------


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    return show(value)


def _listed(values: Sequence[Any]) -> str:
    more = len(values) - _CATEGORIES
    shown = ", ".join(map(_shown, values[:_CATEGORIES]))
    return f"{shown} and {more:,} more" if more > 0 else shown


def _tied(text: str) -> str:
    """The text with its percent signs on the line of their numbers."""
    return text.replace(" %", "\u00a0%")


def _percent(share: float) -> str:
    return _tied(percent(share))


def _signed(value: float) -> str:
    return f"{value:+#.3g}".rstrip(".") if abs(value) < 1e4 else f"{value:+,.0f}"


def _p(p: float | None) -> str:
    return (
        ""
        if p is None or math.isnan(p)
        else "< 0.001"
        if p < 0.001
        else f"{p:.3f}"
        if p < 0.1
        else f"{p:.2f}"
    )


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 0.1 else f"{1000 * seconds:.0f} ms"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _bytes(size: int) -> str:
    return f"{size / 2**20:.0f} MB" if size >= 2**20 else f"{size / 2**10:.0f} kB"

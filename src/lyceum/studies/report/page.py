"""The report of a study: one HTML page that needs nothing else, for people who were not there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.files import write_file
from lyceum._core.packages import EXTRAS, check_installed
from lyceum._core.text import plain, show_count
from lyceum.report import Summary
from lyceum.studies.report import format as _format
from lyceum.studies.report.effect_figures import effect_figures
from lyceum.studies.report.figures import figures_of
from lyceum.studies.report.format import (
    aligned_interval,
    aligned_loss,
    by_count,
    capitalize,
    in_sentence,
    keep_units,
    loss_text,
    more_is_better,
    percent_cell,
    score_text,
    show_cell,
    show_values,
    subject,
)
from lyceum.studies.report.glossary import glossary, mark_terms
from lyceum.studies.report.model_form import ModelForm
from lyceum.studies.report.parts import (
    ExampleView,
    LearnedView,
    TableCells,
)
from lyceum.studies.report.svg import Figure
from lyceum.studies.run.problems import Problems

if TYPE_CHECKING:
    import jinja2

    from lyceum.studies.compare.comparison import RankedLearner
    from lyceum.studies.plan.candidate import Candidate
    from lyceum.studies.result import Study


def write_report(study: Study, path: str | os.PathLike[str] | None = None) -> Path:
    """Write the report, whole or not at all; by default to report.html in the folder of the
    study.

    Examples
    --------
    >>> import os, tempfile
    >>> from lyceum import datasets
    >>> from lyceum.studies import study, write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = datasets.path("weather")
    ...     result = study(path, "play", learners=["NaiveBayes"], out=os.path.join(folder, "study"))
    ...     page = write_report(result, os.path.join(folder, "weather.html"))
    ...     written = page.read_text(encoding="utf-8").startswith("<!doctype html>")
    >>> written
    True
    """
    path = study.report_path if path is None else Path(path)
    write_file(path, render(study).encode())
    return path


def render(
    study: Study,
    problems: Problems | None = None,
    content: dict[str, Any] | None = None,
) -> str:
    """The report as a page of HTML that needs no network; a script in it runs the model.

    Parameters
    ----------
    study : Study
        What is reported.
    problems : Problems, optional
        Where a section, figure or table that cannot be made is named; the page names it too.
    content : dict, optional
        Filled with all that the page shows, in JSON's own types.
    """
    check_installed("the report of a study", *EXTRAS["report"])
    if problems is None:
        problems = Problems()
    page = _Page(study, problems)
    names = {
        "page": page,
        "study": study,
        "comparison": study.comparison,
        "choice": study.choice,
    }
    sections = {
        name: _section(name, names, problems)
        for name in _SECTIONS
        if name not in ("know", "glossary")
    }
    # the list of what to know names the sections that failed, so that it is made last
    named = dict.fromkeys((*study.problems, *problems))
    sections["know"] = _section("know", {**names, "problems": list(named)}, problems)
    terms = glossary(" ".join(map(str, sections.values())))
    sections["glossary"] = _section("glossary", {**names, "terms": terms}, problems)
    if content is not None:
        content.update(problems.attempt("copy of the report as JSON", page.as_dict, {}))
    return templates().get_template("report.html").render(**names, sections=sections)


_SECTIONS = {
    "header": "header",
    "ranking": "ranking",
    "know": "list of what to know",
    "evidence": "evidence",
    "effects": "part on what the columns do",
    "learned": "part on what was learned",
    "examples": "list of examples",
    "try": "form to try the model",
    "question": "part on the question",
    "columns": "table of columns",
    "again": "part on how to use it",
    "glossary": "glossary",
}  # template to what people call it


def _section(name: str, names: Mapping[str, Any], problems: Problems) -> Any:
    """One section of the page, or a sentence in its place."""
    from markupsafe import Markup, escape

    template = templates().get_template(f"sections/{name}.html")
    before = len(list(problems))
    text = problems.attempt(_SECTIONS[name], lambda: template.render(**names))
    if text is None:
        problem = escape(list(problems)[before:][-1])
        text = f'<section id="{name}"><p class="warning">{problem}</p></section>'
    return Markup(text)


@cache
def templates() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("lyceum.studies"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "show": show_cell,
        "percent": percent_cell,
        "number": _format.number_text,
        "score": score_text,
        "seconds": _format.duration,
        "p": _format.p_cell,
        "bytes": _format.size_text,
        "tie": lambda text: mark_terms(keep_units(text)),
        "breakable": _breakable,
    }
    return environment


def _rows_held_out(n: int) -> str:
    return f"{n:,} {by_count(n, 'row that was', 'rows that were')}"


def _breakable(name: str) -> Any:
    """The name of a column as HTML whose lines may end after an underscore."""
    from markupsafe import Markup, escape

    return Markup(escape(name).replace("_", Markup("_<wbr>")))


# -- what the template asks for --------------------------------------------------------


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
        if len(names) == 1:
            return names[0]
        return f"{names[0]} and {len(names) - 1} more"

    def amount(self, value: float | None) -> str:
        """A loss in its own unit."""
        if value is None:
            return ""
        return keep_units(loss_text(self.study.comparison.criterion, value))

    def aligned_amount(self, value: float | None) -> str:
        if value is None:
            return ""
        return keep_units(aligned_loss(self.study.comparison, value))

    def interval(self, span: tuple[float, float]) -> str:
        low, high = aligned_interval(self.study.comparison, span)
        return keep_units(f"{low} to {high}")

    @property
    def more_is_better(self) -> bool:
        return more_is_better(self.study.comparison.criterion)

    @property
    def subject(self) -> str:
        """The choice at the beginning of a sentence."""
        return subject(self.study.choice.label)

    @property
    def choice(self) -> str:
        """The choice inside a sentence."""
        return in_sentence(self.study.choice.label)

    @cached_property
    def trial(self) -> ModelForm:
        return ModelForm.of(self.study)

    @cached_property
    def figures(self) -> list[tuple[Figure, TableCells | None]]:
        figures = figures_of(self.study, self.problems)
        return [self._with_numbers(figure) for figure in figures]

    @cached_property
    def effect_figures(self) -> list[tuple[Figure, TableCells | None]]:
        figures = effect_figures(self.study, self.problems)
        return [self._with_numbers(figure) for figure in figures]

    def _with_numbers(self, figure: Figure) -> tuple[Figure, TableCells | None]:
        if figure.table is None:
            return figure, None
        make = partial(TableCells.of, figure.table, folded=False)
        return figure, self.problems.attempt("table of the numbers of a picture", make)

    @property
    def key_figures(self) -> Iterator[tuple[str, str, str]]:
        """(name, value, remark) of the numbers to remember."""
        comparison = self.study.comparison
        choice = self.study.choice
        metric = capitalize(comparison.metric)
        remark = f"95\u00a0% interval {self.interval(choice.interval)}"
        yield metric, self.aligned_amount(choice.loss), remark
        held_out = comparison.holdout
        if held_out is not None:
            span = self.interval(held_out.interval)
            rows = _rows_held_out(held_out.n_rows)
            remark = f"{rows} not used for any choice; 95\u00a0% interval {span}"
            yield "On rows held out", self.aligned_amount(held_out.loss), remark
        baseline = comparison.baseline
        if baseline is not None and not choice.is_baseline:
            loss = self.aligned_amount(baseline.loss)
            yield "Constant guess", loss, "what any model has to beat"
        yield from self._further(choice)
        folds = show_count(comparison.n_folds, "fold")
        remark = f"in {folds}, by models that had not seen them"
        yield "Rows tested", f"{comparison.n_rows:,}", remark

    def _further(self, choice: RankedLearner) -> Iterator[tuple[str, str, str]]:
        if choice.error is not None and self.study.comparison.criterion != "error rate":
            remark = "by the decisions made"
            if choice.reject_rate:
                remark = "of the rows that are not rejected"
            yield "Decided wrong", percent_cell(choice.error), remark
        if choice.reject_rate:
            share = percent_cell(choice.reject_rate)
            yield "Rejected", share, "of the rows, left to a person"
        metric = self.study.comparison.metric
        if choice.r2 is not None and metric != "R²":
            explained = percent_cell(choice.r2) if choice.r2 > 0 else "none"
            yield "Variance explained", explained, "R² on unseen rows"
        elif choice.auc is not None and metric != "AUC":
            yield "AUC", score_text(choice.auc), "1 is perfect, 0.5 is guessing"

    def rate(self, share: float | None, interval: Any) -> str:
        """A rate with its interval, short enough for a table."""
        if share is None:
            return "–"
        low, high = (f"{100 * end:.0f}" for end in interval)
        return f"{percent_cell(share)} ({low} to {high})"

    @property
    def held_out(self) -> str:
        """The result on the rows held out."""
        held_out = self.study.comparison.holdout
        assert held_out is not None
        span = f"95\u00a0% interval {self.interval(held_out.interval)}"
        rows = _rows_held_out(held_out.n_rows)
        loss = self.aligned_amount(held_out.loss)
        return f"{rows} not used for any choice: {loss} ({span})"

    # -- the ranking -------------------------------------------------------------------

    @property
    def has_classes(self) -> bool:
        return self.study.classes is not None

    @property
    def ranked_by_cost(self) -> bool:
        return self.has_classes and self.study.comparison.criterion != "error rate"

    # -- the question ------------------------------------------------------------------

    @property
    def class_shares(self) -> list[tuple[str, int, str]]:
        """(class, rows tested, share of the rows or of their weight)."""
        sample = self.study.out_of_sample(self.study.choice.name)
        classes = self.study.classes or ()
        # a row is tested in every repeat
        _, first = np.unique(sample.rows, return_index=True)
        w = row_weights(sample.weight, len(sample.rows))[first]
        counts = np.bincount(sample.y[first], minlength=len(classes))
        shares = np.bincount(sample.y[first], w, minlength=len(classes)) / w.sum()
        rows = zip(classes, counts.tolist(), shares.tolist())
        return [(str(label), n, percent_cell(share)) for label, n, share in rows]

    @property
    def folds(self) -> str:
        """How the folds were made."""
        is_stratified = self.has_classes and self.study.recipe.time is None
        kind = "stratified " if is_stratified else ""
        n = self.study.comparison.n_folds
        return f"{n} {kind}{by_count(n, 'fold', 'folds')} compared"

    @property
    def data(self) -> str:
        """How many rows, columns and missing cells there are."""
        study = self.study
        missing = "no missing cells"
        if study.n_missing:
            missing = show_count(study.n_missing, "missing cell")
        rows = show_count(study.n_rows, "row")
        columns = f"{show_count(len(study.schema), 'column')} used"
        left_out = ""
        if study.n_without_target:
            left_out = f"; {show_count(study.n_without_target, 'row')} without a target left out"
        return f"{self.source}: {rows}, {columns}, {missing}{left_out}"

    @property
    def fitted_on(self) -> str:
        """The rows that the final model was fitted on."""
        n = self.study.n_fitted
        n_rows = self.study.n_rows
        if n in (None, n_rows):
            return f"all {n_rows:,} rows"
        return f"{n:,} of the {n_rows:,} rows"

    @property
    def skipped(self) -> list[str]:
        """The labels of the learners that were not compared, as the time was over."""
        return [c.label for c in self.study.candidates if c.name in self.study.skipped]

    @property
    def losses(self) -> list[tuple[str, list[str]]]:
        """The rows of the loss matrix."""
        loss = self.study.loss
        assert loss is not None
        return [
            (str(label), [f"{v:g}" for v in row])
            for label, row in zip(loss.classes or (), loss.values)
        ]

    # -- what was learned --------------------------------------------------------------

    @cached_property
    def learned(self) -> LearnedView:
        summary = self.summary
        tables = []
        for table in summary.tables:
            make = partial(TableCells.of, table)
            cells = self.problems.attempt(f"table {table.title!r}", make)
            if cells is not None:
                tables.append(cells)
        return LearnedView(summary.title, summary.facts, tables)

    @cached_property
    def summary(self) -> Summary:
        return self.study.model_summary()

    @property
    def examples(self) -> list[ExampleView]:
        return [ExampleView(example, self.study) for example in self.study.examples]

    # -- columns and methods -----------------------------------------------------------

    @property
    def columns(self) -> Iterator[tuple[str, str, str, str, list[str]]]:
        """(name, kind, values, why, remarks) of every column, those left out last."""
        remarks: dict[str, list[str]] = {}
        left_out = {s.column for s in self.study.suspects if s.left_out}
        for suspect in self.study.suspects:
            # what is left out cannot leak
            if suspect.code == "leak" and suspect.column in left_out:
                continue
            text = suspect.text
            if suspect.left_out:
                text = f"{text.rstrip('.?')}. It was left out."
            elif text[-1] not in ".?":
                text = f"{text}."
            remarks.setdefault(suspect.column, []).append(text)
        for column in self.study.schema:
            values = ""
            if column.categories is not None:
                values = show_values(column.categories.tolist())
            texts = remarks.pop(column.name, [])
            yield column.name, column.kind, values, column.why, texts
        for name, texts in remarks.items():
            kind = "target" if name == self.study.recipe.target else "left out"
            yield name, kind, "", "", texts

    @property
    def pipelines(self) -> list[tuple[Candidate, RankedLearner | None]]:
        """Every candidate with its learner, if it has one."""
        learners = {learner.name: learner for learner in self.study.comparison.learners}
        return [
            (candidate, learners.get(candidate.name))
            for candidate in self.study.candidates
        ]

    def settings_tried(self, learner: RankedLearner) -> str:
        """How many settings were tried, and in how many folds if not in all."""
        tried = f"{learner.settings_tried:,}"
        if learner.is_tuned:
            return tried
        if not learner.folds_searched:
            return "1, its defaults"
        return f"{tried} in {learner.folds_searched} of {learner.folds_done} folds"

    def settings(self, learner: RankedLearner) -> str:
        chosen = ", ".join(
            f"{name} = {show_cell(value)}" for name, value in learner.params.items()
        )
        return chosen or "the defaults"

    @property
    def recipe(self) -> str:
        """The recipe as its file has it."""
        path = self.study.folder / "recipe.toml"
        if path.is_file():
            return path.read_text(encoding="utf-8")
        import tomli_w

        return tomli_w.dumps(self.study.recipe.as_dict())

    # -- the copy for programs ---------------------------------------------------------

    def as_dict(self) -> dict[str, Any]:
        """All that the page shows, in JSON's own types."""
        study = self.study
        figures = [
            figure.as_dict() for figure, _ in (*self.figures, *self.effect_figures)
        ]
        columns = [
            dict(zip(("name", "kind", "values", "why", "remarks"), column))
            for column in self.columns
        ]
        key_figures = [
            dict(zip(("name", "value", "remark"), figure))
            for figure in self.key_figures
        ]
        top = {"title": self.title, "data": self.source, "question": study.question}
        return plain(
            {
                **top,
                "key_figures": key_figures,
                **study.as_dict(),
                "figures": figures,
                "learned": self.summary,
                "columns": columns,
            }
        )

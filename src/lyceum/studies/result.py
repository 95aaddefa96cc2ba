"""What a study found: the facts that it began with, the comparison, the examples, and where the
files are."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.text import plain
from lyceum.errors import StudyError
from lyceum.report import Summary, Table
from lyceum.studies.compare.comparison import Comparison, RankedLearner
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.plan.candidate import Failure
from lyceum.studies.plan.facts import StudyPlanRecord
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.report.example import Example
from lyceum.studies.report.format import (
    keep_units,
    metric_interval,
    metric_value,
    subject,
)
from lyceum.studies.report.model_effects import ModelEffects
from lyceum.studies.run.problems import Problems

if TYPE_CHECKING:
    from lyceum.studies.compare.metrics import ClassRates


_WIDTH = 80  # characters of a line
_TIMINGS = ("seconds", "search_seconds", "memory")  # differ from run to run


@dataclass(frozen=True, eq=False, kw_only=True)
class Conclusions:
    """What a study found; `Study` describes every field."""

    comparison: Comparison
    examples: tuple[Example, ...]
    effects: ModelEffects | None
    failures: tuple[Failure, ...]
    skipped: tuple[str, ...]
    finished: bool
    n_fitted: int | None
    seconds: float
    problems: tuple[str, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(StudyPlanRecord, Conclusions):
    """A study: the question, the comparison and the results.

    Made by `lyceum.study(...)`; `Study.open(folder)` opens one that was made before. Everything is
    read from the study folder, so that a study can be shown and reported again without its data.

    Attributes
    ----------
    folder : Path
        Where the files of the study are.
    recipe : Recipe
        The request.
    task : {"classification", "regression"}
        What the target asks for.
    schema : Schema
        The columns that the learners saw, with the target.
    classes : tuple of labels, or None
        None for regression.
    loss : LossMatrix or None
        The requested costs, rows in the order of `classes`; None is the error rate.
    doubt : float or None
        The cost of rejecting a row.
    metric : str or None
        What learners are ranked by, if the recipe says so.
    variance : float
        Of the target, by which R² is measured; 1 without it.
    n_rows : int
        Rows of the data with a target.
    n_studied : int
        Rows compared on; fewer than `n_rows` when the file is larger than memory or rows are held
        out.
    n_without_target : int
        Rows that were left out because their target is missing.
    n_missing : int
        Missing cells in the columns studied.
    folds, repeats : int
        Outer folds, and how often they are drawn.
    candidates : tuple of Candidate
        The learners, the baseline first.
    suspects : tuple of Suspect
        Columns that look wrong.
    notes : tuple of str
        Sentences about the data and the plan.
    left_out : tuple of str
        Sentences on learners that were not tried, because there are too many rows for them.
    versions : dict of str to str
        Versions of Lyceum, Python and the packages that results depend on.
    comparison : Comparison
        The learners against each other.
    examples : tuple of Example
        Some rows, explained.
    failures : tuple of Failure
        Learners that failed.
    skipped : tuple of str
        Candidates that the time budget did not reach.
    effects : ModelEffects or None
        Importance of the columns for the choice and their effects, on rows that it has not seen;
        None for a constant guess, and when the budget did not reach.
    problems : tuple of str
        Sentences on the figures, statements, tables and models that could not be made.
    seconds : float
        The time of all tasks, over all sessions.
    finished : bool
        Whether every planned fold was run.
    n_fitted : int or None
        Rows that the final model was fitted on, fewer than `n_rows` when the budget did not reach;
        None where the fit failed.
    best, choice : RankedLearner
        The learner with the smallest loss, and the one that was fitted on all rows.
    model : learner or pipeline
        The choice, fitted on all rows, from its model file.
    ranking : lyceum.report.Table
        The learners, best first.
    headline, question, answer, choice_sentence : str
        How good the predictions are in plain words, what is predicted, what predicts it best and
        how well, and which learner was chosen and why.
    actions : tuple
        The possible decisions, in the order of the columns of `RankedLearner.confusion`; doubt is
        last.
    class_rates : list of ClassRates
        Precision and recall of every class for the choice; empty for regression.
    rule : LossRule
        The loss of the study: what every decision costs.
    report_path, content_path, results_path, model_path : Path
        The report as HTML, all that it shows as JSON, the results as JSON, and the model file.

    See Also
    --------
    lyceum.study : Runs a study.
    lyceum.studies.Comparison : The learners against each other.
    lyceum.studies.write_report : Writes the report again.

    Examples
    --------
    >>> import tempfile
    >>> import lyceum
    >>> import pandas as pd
    >>> pay = [5.0 + 2 * h + (-1) ** h for h in range(20)]
    >>> rows = pd.DataFrame({"hours": range(20), "pay": pay})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = f"{folder}/study"
    ...     made = lyceum.study(rows, "pay", learners=["LinearRegression"], folds=2, out=out)
    ...     opened = lyceum.studies.Study.open(made.folder)
    ...     y, predicted = opened.out_of_sample("LinearRegression")
    ...     new = pd.DataFrame({"hours": [30]})
    ...     opened.model.predict(new).round(2).tolist()  # 24 + (2 - 10/665) · 20.5
    [64.69]
    >>> opened.choice.name, opened.comparison.baseline.name, len(predicted)
    ('LinearRegression', 'MeanRegressor', 20)
    >>> bool(abs(opened.best.rmse**2 - ((y - predicted) ** 2).mean()) < 1e-9)
    True
    """

    folder: Path
    recipe: Recipe

    @classmethod
    def open(cls, folder: Any) -> Study:
        """Open the study in a folder that `lyceum.study` or `lyceum study` wrote.

        Parameters
        ----------
        folder : path
            The folder of the study.
        """
        from lyceum.studies.run.store import Store

        folder = Path(folder)
        with Store.read(folder) as store:
            plan = store.get(StudyPlanRecord)
            conclusions = store.get(Conclusions)
        if plan is None or conclusions is None:
            raise StudyError(
                f"the study in {folder} is not finished: run it again to continue it"
            )
        recipe = Recipe.read(folder / "recipe.toml")
        return cls(**vars(plan), **vars(conclusions), folder=folder, recipe=recipe)

    # -- results -----------------------------------------------------------------------

    @property
    def choice_sentence(self) -> str:
        """Which learner was chosen, and why."""
        reason = self.comparison.choice_reason.rstrip(".")
        return f"{subject(self.choice.label)} was chosen: {reason}."

    @property
    def best(self) -> RankedLearner:
        """The learner with the smallest loss."""
        return self.comparison[self.comparison.best]

    @property
    def choice(self) -> RankedLearner:
        """The learner that was fitted on all rows: the simplest that is level with the best."""
        return self.comparison[self.comparison.choice]

    @property
    def actions(self) -> tuple[Any, ...]:
        """The possible decisions, in the order of the columns of `RankedLearner.confusion`; doubt
        is last."""
        if self.classes is None:
            return ()
        if self.loss is None:
            named = self.classes
        else:
            named = tuple(self.loss.actions or self.classes)
        if self.doubt is None:
            return named
        return (*named, "reject")

    @property
    def model(self) -> Any:
        """The choice, fitted on all rows, from its model file."""
        from lyceum.persist import load

        return load(self.model_path)

    @cached_property
    def loaded_model(self) -> Any:
        """The same, read from its file once: reports ask for it several times."""
        return self.model

    def model_summary(self) -> Summary:
        """The summary of the choice, in its own quantities."""
        from lyceum.workflows import FittedModel

        return FittedModel(self.loaded_model).learner.summary()

    @property
    def ranking(self) -> Table:
        """The learners, best first."""
        comparison = self.comparison
        criterion = comparison.criterion
        rows = []
        for learner in comparison.learners:
            value = metric_value(criterion, learner.loss)
            low, high = metric_interval(criterion, learner.interval)
            interval = f"{low:.4g} – {high:.4g}"
            rows.append(
                (
                    learner.label,
                    value,
                    interval,
                    comparison.gap_cell(learner),
                    learner.seconds,
                )
            )
        columns = (
            "learner",
            comparison.metric,
            "95 % interval",
            "behind by",
            "seconds",
        )
        return Table(f"Ranking by {comparison.metric}", columns, rows)

    @property
    def class_rates(self) -> list[ClassRates]:
        """Precision and recall of every class for the choice; empty for regression."""
        from lyceum.studies.compare.metrics import class_rates, n_independent

        if self.classes is None or self.choice.confusion is None:
            return []
        actions = np.arange(len(self.actions))
        if self.doubt is not None:
            actions[-1] = -1
        named = self.rule.named_class(actions)
        table = np.asarray(self.choice.confusion)
        sample = self.out_of_sample(self.choice.name)
        # a row is tested in every repeat
        n_times = len(sample.rows) / len(np.unique(sample.rows))
        independent = n_times * (n_independent(sample) / float(table.sum()))
        return class_rates(table / n_times, self.classes, named.tolist(), independent)

    def out_of_sample(self, name: str) -> OutOfSample:
        """The out-of-sample predictions of one learner, on the folds that were compared.

        Parameters
        ----------
        name : str
            The name of a candidate.
        """
        from lyceum.studies.compare.trials import pooled_predictions
        from lyceum.studies.run.store import Store

        with Store.read(self.folder) as store:
            return pooled_predictions(store, name, self.comparison.n_folds)

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types, as in results.json; what differs between runs is in
        "timings"."""
        # two runs of the same study differ in nothing but their timings
        comparison = self.comparison.as_dict()
        learners = {
            learner["name"]: {key: learner.pop(key) for key in _TIMINGS}
            for learner in comparison["learners"]
        }
        return {
            "format": 2,
            "headline": Problems().attempt("headline", lambda: self.headline),
            "answer": Problems().attempt("answer", lambda: self.answer),
            "target": self.recipe.target,
            **super().as_dict(),
            "actions": plain(self.actions),
            "comparison": comparison,
            "examples": plain(self.examples),
            "effects": plain(self.effects),
            "class_rates": plain(self.class_rates),
            "failures": plain(self.failures),
            "skipped": plain(self.skipped),
            "problems": plain(self.problems),
            "finished": self.finished,
            "recipe": plain(self.recipe.relative_to(self.folder).as_dict()),
            "timings": {"seconds": self.seconds, "learners": learners},
        }

    # -- files -------------------------------------------------------------------------

    @property
    def report_path(self) -> Path:
        """The report, one HTML page."""
        return self.folder / "report.html"

    @property
    def content_path(self) -> Path:
        """All that the report shows, with the numbers of its pictures, as JSON."""
        return self.folder / "report.json"

    @property
    def results_path(self) -> Path:
        """The results as JSON."""
        return self.folder / "results.json"

    @property
    def model_path(self) -> Path:
        """The model file of the choice."""
        return self.folder / "model.lyceum"

    # -- text --------------------------------------------------------------------------

    @property
    def answer(self) -> str:
        """What predicts the target best, how well, and what that is worth, in a few sentences."""
        from lyceum.studies.report.statements import answer

        return answer(self)

    @property
    def headline(self) -> str:
        """How good the predictions are, in words for people who know no statistics."""
        from lyceum.studies.report.headline import headline

        return headline(self)

    def summary(self) -> Summary:
        """The answer, the ranking and what to know about it."""
        facts = {
            "target": self.recipe.target,
            "rows": self.n_studied,
            "choice": self.choice_sentence,
            "folder": str(self.folder),
        }
        sentences = (*self.comparison.statements, *self.problems)
        notes = Table("What to know", ("",), [(sentence,) for sentence in sentences])
        return Summary(self.answer, facts, (self.ranking, notes))

    def __str__(self) -> str:
        """The summary in lines of at most 80 characters."""
        sentences = (*self.comparison.statements, *self.problems)
        parts = [
            _lines(self.headline),
            _lines(self.answer),
            _lines(self.choice_sentence),
            str(self.ranking),
            "What to know",
            *(_lines(text, "- ", "  ") for text in sentences),
            f"Folder: {self.folder}",
        ]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _lines(text: str, first: str = "", rest: str = "") -> str:
    """The text in lines that begin so; a number stays on the line of its percent sign."""
    lines = textwrap.fill(
        keep_units(text), _WIDTH, initial_indent=first, subsequent_indent=rest
    )
    return lines.replace("\u00a0", " ")

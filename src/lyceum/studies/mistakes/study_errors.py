"""The mistakes of a learner of a study, from the stored out-of-sample predictions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lyceum._core.report import Shown
from lyceum._core.text import plain, show_count
from lyceum._core.threads import one_thread
from lyceum.errors import SettingError, StudyError
from lyceum.report import Summary, Table
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.metrics import loss_and_interval
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.trials import by_row
from lyceum.studies.mistakes.group_losses import GroupLoss, group_losses
from lyceum.studies.plan.plan import Plan, Task
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.report.example import Example
from lyceum.studies.result import Study
from lyceum.studies.run.conclusions import cell_values, explain_row
from lyceum.studies.run.pipelines import build_pipeline, few_threads
from lyceum.studies.run.store import Store

_LISTED = 50  # rows of each kind


@dataclass(frozen=True, slots=True)
class ErrorRow(Shown):
    """A row that was decided wrongly, or that learners do not agree on.

    Attributes
    ----------
    row : int
        Its number in the data.
    truth, decided : label or float
        The true target, and what the learner decided without having seen the row.
    probability : float or None
        The posterior of the true class; None for numbers.
    loss : float
        What the decision costs.
    decisions : dict of str to label or float
        What every learner decided, by the name of the learner.
    cells : dict of column to value
        The cells of the row.

    See Also
    --------
    StudyErrors : Lists them.

    Examples
    --------
    >>> from lyceum.studies import ErrorRow
    >>> row = ErrorRow(7, "bad", "good", 0.2, 5.0, {"NaiveBayes": "good"}, {"age": 31})
    >>> row.as_dict()["decided"]
    'good'
    """

    row: int
    truth: Any
    decided: Any
    probability: float | None
    loss: float
    decisions: Mapping[str, Any]
    cells: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))


@dataclass(eq=False)
class StudyErrors(Shown):
    """Where a learner of a study is wrong: which rows, which group of rows, and who disagrees.

    Everything is counted on rows that the learner had not seen; of several repeats, rows are those
    of the first, and losses of groups are means over all.

    Attributes
    ----------
    study : Study
        The study.
    learner : str
        The name of the learner.
    sample : OutOfSample
        Its out-of-sample predictions.
    loss : float
        Its mean cost, error rate or RMSE on all rows.
    n_rows, n_wrong, n_disputed : int
        Rows; rows with a wrong decision (for numbers, all); rows that learners do not agree on.
    groups : list of GroupLoss
        The groups of one column each that have 20 rows or more, the surest bad one first.
    worst_group : str
        The worst group in a sentence, and whether it is worse than the rest beyond chance.

    See Also
    --------
    study_errors : Makes it.
    lyceum.workflows.explain_rows : Explains rows of a file.

    Examples
    --------
    >>> import tempfile
    >>> import lyceum
    >>> from lyceum.studies import study_errors
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = lyceum.study(
    ...         lyceum.datasets.path("weather"), "play", learners=["NaiveBayes"], folds=2,
    ...         committees=False, out=f"{folder}/study")
    ...     errors = study_errors(made)
    ...     row = errors.wrong_rows(1)[0]
    ...     example = errors.explain(row.row)
    >>> errors.n_rows, row.truth != row.decided, example.explanation is not None
    (14, True, True)
    """

    study: Study
    learner: str
    sample: OutOfSample

    @cached_property
    def _rule(self) -> LossRule:
        """What the decisions cost, by whatever metric learners are ranked."""
        rule = self.study.rule
        if rule.n_classes is None:
            return rule
        return LossRule(rule.n_classes, rule.loss, rule.doubt)

    @cached_property
    def _losses(self) -> np.ndarray:
        sample = self.sample
        return self._rule.losses(sample.y, sample.predicted, sample.weight)

    @cached_property
    def _data(self) -> StudyData:
        return StudyData.of(self.study.recipe)

    @cached_property
    def _first(self) -> np.ndarray:
        """The predictions of the first repeat, one per row."""
        return np.flatnonzero(self.sample.repeats == self.sample.repeats.min())

    @cached_property
    def _decisions(self) -> dict[str, np.ndarray]:
        """What every learner decided at the rows of the first repeat: actions, or numbers."""
        rows = self.sample.rows[self._first]
        decisions = {}
        for ranked in self.study.comparison.learners:
            if ranked.is_baseline:
                continue
            sample = self.sample
            if ranked.name != self.learner:
                sample = self.study.out_of_sample(ranked.name)
            first = sample.repeats == self.sample.repeats.min()
            predicted = sample.predicted[first]
            if self._rule.n_classes is not None:
                predicted = self._rule.decide(predicted)
            if np.array_equal(sample.rows[first], rows):
                decisions[ranked.name] = predicted
        return decisions

    @cached_property
    def _wrong(self) -> np.ndarray:
        """The wrong rows among those of the first repeat, the dearest and surest mistakes first."""
        first = self._first
        y = self.sample.y[first]
        losses = self._losses[first]
        if self._rule.n_classes is None:
            return np.argsort(-losses, kind="stable")
        named = self._rule.named_class(self._decisions_of(self.learner))
        wrong = np.flatnonzero((named >= 0) & (named != y))
        of_truth = self.sample.predicted[first][wrong, y[wrong]]
        return wrong[np.lexsort((of_truth, -losses[wrong]))]

    def _decisions_of(self, name: str) -> np.ndarray:
        if name in self._decisions:
            return self._decisions[name]
        predicted = self.sample.predicted[self._first]  # the constant guess
        return (
            predicted if self._rule.n_classes is None else self._rule.decide(predicted)
        )

    @cached_property
    def _disputed(self) -> np.ndarray:
        """The rows that learners do not agree on, the most disputed first."""
        decided = np.array(list(self._decisions.values()))
        if len(decided) < 2:
            return np.zeros(0, dtype=np.intp)
        if self._rule.n_classes is None:
            spread = decided.std(axis=0)
        else:
            votes = [np.count_nonzero(decided == a, axis=0) for a in np.unique(decided)]
            spread = 1.0 - np.max(votes, axis=0) / len(decided)
        order = np.lexsort((-self._losses[self._first], -spread))
        return order[spread[order] > 0]

    @cached_property
    def loss(self) -> float:
        """The mean cost, error rate or RMSE on all rows."""
        return loss_and_interval(self._rule, self.sample, self._losses)[0]

    @property
    def n_rows(self) -> int:
        """Rows that were predicted."""
        return len(self._first)

    @property
    def n_wrong(self) -> int:
        """Rows with a wrong decision; for numbers, all."""
        return len(self._wrong)

    @property
    def n_disputed(self) -> int:
        """Rows that learners do not agree on."""
        return len(self._disputed)

    @cached_property
    def groups(self) -> list[GroupLoss]:
        """The groups of one column each, the surest bad one first."""
        data = self._data
        cells = np.concatenate([np.asarray(block.X) for block in data.rows.blocks()])
        losses, _ = by_row(self.sample, self._losses)
        _, first = np.unique(self.sample.rows, return_index=True)
        sample = self.sample.take(first)
        index = np.searchsorted(data.numbers, sample.rows)
        columns = {column: cells[index, j] for j, column in enumerate(data.schema)}
        with one_thread():  # short sums: waking threads would cost more
            return group_losses(sample, losses, self._rule, columns)

    @property
    def worst_group(self) -> str:
        """The worst group in a sentence, and whether it is worse beyond chance."""
        n_groups = len(self.groups)
        if not n_groups:
            return "No group of one column has enough rows to be judged."
        worst = self.groups[0]
        searched = f"of {show_count(n_groups, 'group')} searched"
        facts = (
            f"{worst.loss:.4g} on {worst.n_rows:,} rows, {worst.rest:.4g} on the others"
        )
        interval = f"{worst.low:.4g} to {worst.high:.4g}, corrected for the search"
        verdict = "which may be chance"
        if worst.low > worst.rest:
            verdict = "which is more than chance"
        return (
            f"{worst.name} is the worst {searched}: {self._rule.criterion} {facts}"
            f" (95 % interval {interval}), {verdict}."
        )

    # -- rows --------------------------------------------------------------------------

    def wrong_rows(self, n_rows: int = _LISTED) -> list[ErrorRow]:
        """The dearest mistakes, the surest first among equals; for numbers the largest errors."""
        return [self._row(index) for index in self._wrong[:n_rows].tolist()]

    def disputed_rows(self, n_rows: int = _LISTED) -> list[ErrorRow]:
        """The rows that learners agree least on."""
        return [self._row(index) for index in self._disputed[:n_rows].tolist()]

    def _row(self, index: int) -> ErrorRow:
        sample_index = self._first[index]
        y = self.sample.y[sample_index]
        row = int(self.sample.rows[sample_index])
        truth: Any = float(y)
        probability = None
        if self.study.classes is not None:
            truth = self.study.classes[int(y)]
            probability = float(self.sample.predicted[sample_index, int(y)])
        return ErrorRow(
            row=row,
            truth=truth,
            decided=self._name(self._decisions_of(self.learner)[index]),
            probability=probability,
            loss=float(self._losses[sample_index]),
            decisions={n: self._name(d[index]) for n, d in self._decisions.items()},
            cells=cell_values(self._data, row),
        )

    def _name(self, decided: Any) -> Any:
        """The label of an action, or a number as it is."""
        if self._rule.n_classes is None:
            return float(decided)
        return self.study.actions[int(decided)]  # doubt, -1, is the last

    def explain(self, row: int) -> Example:
        """A row with what every column adds to its prediction, by the model of its fold.

        The learner is fitted again on the rows of that fold, with the settings that were stored, so
        that the model has not seen the row. A committee or stack is not: if it is the choice of the
        study, its model file explains, which has learned from the row.
        """
        matches = np.flatnonzero(self.sample.rows[self._first] == row)
        if not len(matches):
            raise SettingError(f"row {row} was not predicted in this study")
        sample_index = int(self._first[matches[0]])
        data = self._data
        task = Task(
            self.learner,
            int(self.sample.repeats[sample_index]),
            int(self.sample.folds[sample_index]),
        )
        model, by = self._fold_model(task)
        example = explain_row(model, data, self.study, row, by)
        decided = self._name(self._decisions_of(self.learner)[matches[0]])
        posterior = None
        if self.study.classes is not None:
            posterior = tuple(self.sample.predicted[sample_index].tolist())
        return replace(example, decided=decided, posterior=posterior)

    def _fold_model(self, task: Task) -> tuple[Any, str]:
        """The model that predicted a fold, and what it is in words."""
        plan = Plan.of(self.study.recipe, self._data)
        candidate = next((c for c in plan.candidates if c.name == task.name), None)
        if candidate is None:
            if task.name == self.study.choice.name and self.study.model_path.is_file():
                return self.study.model, "by the model file, which has learned from it"
            raise StudyError(
                f"{task.name} is made of other learners, and the study has no model of it: explain"
                " one of its members"
            )
        with Store.read(self.study.folder) as store:
            result = store.finished_tasks()[task]
        pipeline = build_pipeline(candidate, result.settings, plan.seed_of(task))
        split = plan.splits(self._data.y)[task.repeat, task.fold]
        rows = self._data.rows.take(split.train)
        with few_threads(rows):
            return pipeline.fit(rows), "by the model of its fold, which has not seen it"

    # -- shown -------------------------------------------------------------------------

    def summary(self, n_rows: int = _LISTED) -> Summary:
        """The counts, the groups and the dearest mistakes."""
        facts = {
            "rows": self.n_rows,
            "wrong": self.n_wrong,
            "disputed": self.n_disputed,
            self._rule.criterion: self.loss,
            "worst group": self.worst_group,
        }
        groups = [
            (g.name, g.n_rows, g.loss, g.low, g.high, g.rest) for g in self.groups[:10]
        ]
        wrong = [
            (row.row, row.truth, row.decided, row.probability, row.loss)
            for row in self.wrong_rows(n_rows)
        ]
        disputed = [
            (row.row, row.truth, _votes(row)) for row in self.disputed_rows(n_rows)
        ]
        of_groups = ("group", "rows", "loss", "from", "to", "elsewhere")
        of_rows = ("row", "truth", "decided", "posterior of the truth", "loss")
        tables = (
            Table("Groups, the surest bad one first", of_groups, groups),
            Table("Wrong rows", of_rows, wrong),
            Table("Disputed rows", ("row", "truth", "decisions"), disputed),
        )
        label = self.study.comparison[self.learner].label
        return Summary(f"Mistakes of {label}", facts, tables)

    def as_dict(self, n_rows: int = _LISTED, *, groups: bool = True) -> dict[str, Any]:
        """Counts, rows and, unless they are left out, groups, in JSON's own types."""
        searched = {}
        if groups:
            searched = {
                "worst_group": self.worst_group,
                "groups": [group.as_dict() for group in self.groups],
            }
        return plain(
            {
                "learner": self.learner,
                "label": self.study.comparison[self.learner].label,
                "criterion": self._rule.criterion,
                "loss": self.loss,
                "n_rows": self.n_rows,
                "n_wrong": self.n_wrong,
                "n_disputed": self.n_disputed,
                **searched,
                "wrong": [row.as_dict() for row in self.wrong_rows(n_rows)],
                "disputed": [row.as_dict() for row in self.disputed_rows(n_rows)],
            }
        )


def _votes(row: ErrorRow) -> str:
    """Decisions with the number of learners that made them."""
    counts = Counter(map(str, row.decisions.values())).most_common()
    return ", ".join(f"{decided} ({count})" for decided, count in counts)


def study_errors(
    study: Study | str | os.PathLike[str], learner: str | None = None
) -> StudyErrors:
    """Where a learner of a study is wrong, from its stored out-of-sample predictions.

    Parameters
    ----------
    study : Study or path
        A study that has results, or its folder. Its data must still be where they were.
    learner : str, optional
        The learner; by default the one that was chosen.

    Returns
    -------
    StudyErrors

    Examples
    --------
    >>> from lyceum.studies import study_errors
    >>> study_errors("no_such_folder")
    Traceback (most recent call last):
        ...
    lyceum.errors.StudyError: there is no study in no_such_folder: run one first, lyceum study ... \
--out no_such_folder
    """
    if not isinstance(study, Study):
        study = Study.open(study)
    names = [ranked.name for ranked in study.comparison.learners]
    learner = learner or study.choice.name
    if learner not in names:
        raise SettingError(
            f"learner={learner!r} was not compared: choose one of {', '.join(names)}"
        )
    return StudyErrors(study, learner, study.out_of_sample(learner))


def explain_error(
    study: Study | str | os.PathLike[str], row: int, learner: str | None = None
) -> Example:
    """What every column adds to the prediction of one row, by a model that has not seen it.

    Parameters
    ----------
    study : Study or path
        A study that has results, or its folder.
    row : int
        The number of the row in the data, from 0.
    learner : str, optional
        The learner; by default the one that was chosen.

    Returns
    -------
    Example

    See Also
    --------
    study_errors : Finds rows worth explaining.
    StudyErrors.explain : The same of errors that are at hand.

    Examples
    --------
    >>> import tempfile
    >>> import lyceum
    >>> from lyceum.studies import explain_error
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = lyceum.study(
    ...         lyceum.datasets.path("weather"), "play", learners=["NaiveBayes"], folds=2,
    ...         committees=False, out=f"{folder}/study")
    ...     example = explain_error(made, 3)
    >>> example.row, example.truth
    (3, 'yes')
    """
    return study_errors(study, learner).explain(row)

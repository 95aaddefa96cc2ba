"""One session of a study: its folder prepared, its tasks run, its conclusions drawn, its results
written.

What happens in which order, and in which file:

    main.study                 arguments and recipe to one Request
    plan/study_data, plan/plan the rows; the candidates, folds and tasks
    run/store                  the folder: every task and record is kept as soon as it is finished
    run/tasks, run/workers     every learner on every fold, here and in other processes
      run/settings_search        settings by inner folds
      run/pipelines              a candidate as a pipeline
    compare/committees         committees from the stored predictions
    compare/ranking            the learners against each other, and the choice: a Comparison
    run/conclusions            .632, final model, holdout and curve; report/effects: the columns
    report/statements          what a careful reader should know
    result.Study               all of it, read back from the folder
    report/page                report.html and report.json

`_Session.conclude` has the steps after the folds; `run/deadline` is asked wherever time matters.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import lyceum
from lyceum import progress
from lyceum._core.files import write_file
from lyceum._core.packages import EXTRAS, lacking_sentence
from lyceum.errors import StudyError
from lyceum.evaluate import LearningCurve
from lyceum.studies.compare.committees import (
    CommitteeWeights,
    fit_seconds as committee_seconds,
    run_committees,
)
from lyceum.studies.compare.comparison import Comparison, HoldoutResult, RankedLearner
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.ranking import compare_learners
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.compare.trials import pooled_predictions
from lyceum.studies.disk import explain_disk_errors
from lyceum.studies.plan.facts import StudyPlanRecord
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.plan.row_order import without_order_columns
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.plan.table_notes import only_classes_text
from lyceum.studies.report.effects import model_effects
from lyceum.studies.report.example import Example
from lyceum.studies.report.model_effects import ModelEffects
from lyceum.studies.report.statements import statements
from lyceum.studies.result import Conclusions, Study
from lyceum.studies.run import conclusions as _conclusions
from lyceum.studies.run.conclusions import BootstrapError, FinalModel
from lyceum.studies.run.deadline import Deadline, OutOfTime
from lyceum.studies.run.pipelines import few_threads
from lyceum.studies.run.problems import Problems
from lyceum.studies.run.records import R
from lyceum.studies.run.store import DATABASE_FILE, Store, StudyKey
from lyceum.studies.run.tasks import run_tasks

DATA_FILE = "data.parquet"


@dataclass(frozen=True, eq=False)
class Request:
    """A recipe whose data can be read, and the bytes of the data if they came as a frame.

    `make_loss` makes the losses from the classes, which are known once the data are read.
    """

    recipe: Recipe
    frame: bytes | None = None
    make_loss: Callable[[list[Any]], Any] | None = None

    def with_loss(self, data: StudyData) -> Request:
        """The same request with the losses for the classes of the data."""
        if self.make_loss is None:
            return self
        target = data.schema.target
        assert target is not None
        if target.categories is None:
            raise StudyError(only_classes_text("loss", target.name))
        loss = self.make_loss([*target.categories.tolist(), *data.rare_classes])
        return replace(self, recipe=replace(self.recipe, loss=loss), make_loss=None)


def run_study(
    request: Request, folder: Path, force: bool, began: float | None = None
) -> Study:
    """Run a study in a folder, or the rest of it, and write the report and results.json."""
    deadline = Deadline.in_minutes(request.recipe.budget_minutes, began)
    # nothing is written before all of this is known to be good
    data = StudyData.of(without_order_columns(request.recipe)).check_rows()
    request = request.with_loss(data)
    recipe = request.recipe
    key = StudyKey(recipe.digest, data.digest, lyceum.__version__)
    plan = Plan.of(_with_stored_folds(recipe, folder, key, force), data)
    try:
        with Store.create(folder, key, force=force) as store:
            _begin(request, folder, store, plan, data)
            run_tasks(plan, data, store, deadline)
            run_committees(plan, store, deadline.for_report)
            session = _Session(plan, data, store, recipe, deadline)
            session.conclude()
        with explain_disk_errors(folder):
            study = Study.open(folder)
            if session.fitted:
                # as its file would give it, which takes time to read and to check
                vars(study)["loaded_model"] = session.fitted[-1]
            return _write_results(study)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; finished tasks are kept in {folder}: run the same study again to continue it"
        ) from None


def _with_stored_folds(
    recipe: Recipe, folder: Path, key: StudyKey, force: bool
) -> Recipe:
    """The recipe with as many folds as the same study in that folder has: by default they go by the
    budget too, which may be another when it goes on. Those of groups and times do not."""
    is_fixed = any((recipe.folds, recipe.group, recipe.time, force))
    if is_fixed or not (folder / DATABASE_FILE).is_file():
        return recipe
    try:
        with Store.read(folder) as store:
            record = store.get(StudyPlanRecord)
            if record is None or store.get(StudyKey) != key:
                return recipe
            return replace(recipe, folds=record.folds)
    except (StudyError, OSError):
        return recipe  # Store.create says what is wrong with the folder


def _begin(
    request: Request, folder: Path, store: Store, plan: Plan, data: StudyData
) -> None:
    """Write what the study is of: the recipe, a frame as a file, the losses and the plan."""
    recipe = request.recipe
    if request.frame is not None:
        write_file(folder / DATA_FILE, request.frame)
        recipe = replace(recipe, data=(DATA_FILE,))
    else:
        recipe = recipe.relative_to(folder)
    recipe.write(folder / "recipe.toml")
    if plan.rule.loss is not None:
        plan.rule.loss.write(folder / "loss.csv", force=True)
    packages = ("numpy", "scipy", "scikit-learn", "pyarrow")
    record = StudyPlanRecord(
        task=data.task,
        schema=data.schema,
        classes=plan.classes,
        loss=plan.rule.loss,
        metric=None if plan.rule.metric is None else str(plan.rule.metric),
        variance=plan.rule.variance,
        doubt=plan.rule.doubt,
        n_rows=data.n_rows,
        n_studied=len(plan.compared),
        n_without_target=data.n_without_target,
        n_missing=data.n_missing,
        folds=plan.folds,
        repeats=plan.repeats,
        candidates=(*plan.candidates, *plan.committees),
        suspects=data.suspects,
        notes=(*data.notes, *plan.notes, *plan.left_out),
        left_out=plan.left_out,
        versions={
            "lyceum": lyceum.__version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in packages},
        },
    )
    store.put(record)


@dataclass(frozen=True)
class _ConclusionBasis:
    """What the conclusions in the store rest on."""

    n_searched: int  # tasks whose settings were searched
    in_time: bool  # whether none was left out or made in haste


@dataclass(frozen=True)
class _ModelFile:
    """The choice that the model file is of."""

    learner: str
    n_folds: int


@dataclass(frozen=True, eq=False)
class _Session:
    """The steps after the folds; each record is stored under the learner and the folds it rests
    on."""

    plan: Plan
    data: StudyData
    store: Store
    recipe: Recipe
    deadline: Deadline
    fitted: list[Any] = field(default_factory=list)  # the choice, if it was fitted now

    def conclude(self) -> None:
        """Draw and store the conclusions."""
        store = self.store
        record = store.get(StudyPlanRecord)
        assert record is not None
        problems = Problems()
        self._drop_rushed_results()
        table = TaskTable.of(record.candidates, store, record.folds, record.repeats)
        estimates = self._bootstrap_errors(table)
        comparison = compare_learners(
            store, table, record.rule, self.recipe.choose, estimates, problems
        )
        sample = pooled_predictions(store, comparison.choice, comparison.n_folds)
        progress.report("conclusions", 0, 3)
        # the model is made whatever the time; what follows is left out where there is none
        final = self._final_model(comparison, sample)
        progress.report("conclusions", 1, 3)
        holdout = self._holdout(comparison)
        effects = self._effects(comparison)
        progress.report("conclusions", 2, 3)
        curve = self._curve(comparison)
        comparison = replace(comparison, learning_curve=curve, holdout=holdout)
        sentences = statements(
            comparison,
            sample,
            record.rule,
            classes=record.classes,
            suspects=record.suspects,
            failures=table.failures,
            skipped=[c.label for c in record.candidates if c.name in table.skipped],
            notes=record.notes,
            finished=table.finished,
            folds_planned=len(table.order),
            not_made=list(self._missing_conclusions(comparison, final)),
            problems=problems,
        )
        comparison = replace(comparison, statements=sentences)
        self._name_failures(record, comparison, problems)
        store.put(self._conclusions(table, comparison, final, effects, problems))
        progress.report("conclusions", 3, 3)

    def _conclusions(
        self,
        table: TaskTable,
        comparison: Comparison,
        final: FinalModel | None,
        effects: ModelEffects | None,
        problems: Problems,
    ) -> Conclusions:
        examples: tuple[Example, ...] = ()
        n_fitted = None
        if final is not None:
            problems.extend(final.problems)
            examples = final.examples
            n_fitted = final.n_rows or self.data.n_rows
        return Conclusions(
            comparison=comparison,
            examples=examples,
            effects=effects,
            failures=table.failures,
            skipped=table.skipped,
            finished=table.finished,
            n_fitted=n_fitted,
            seconds=self.store.total_seconds(),
            problems=tuple(problems),
        )

    # -- time --------------------------------------------------------------------------

    def _drop_rushed_results(self) -> None:
        """Drop what an earlier session made with fewer folds searched or too little time."""
        n_searched = self._n_searched()
        is_late = self.deadline.for_folds.is_over
        before = self.store.get(_ConclusionBasis)
        if before is not None:
            # the same folds, and a session that is late itself could make nothing better
            if before.n_searched == n_searched and (before.in_time or is_late):
                return
            self.store.drop(
                BootstrapError, FinalModel, HoldoutResult, LearningCurve, ModelEffects
            )
        self.store.put(_ConclusionBasis(n_searched, in_time=not is_late))

    def _note_time_limit(self) -> None:
        """Note that something is left out or made in haste: a session with more time makes it
        again."""
        self.store.put(_ConclusionBasis(self._n_searched(), in_time=False))

    def _n_searched(self) -> int:
        return sum(
            not result.in_haste for result in self.store.finished_tasks().values()
        )

    def _make(
        self, kind: type[R], learner: str, n_folds: int, make: Callable[[], R]
    ) -> R | None:
        """A record, from the store if it was made before; None where it fails or time is over."""
        # what failed is in the store too, and is not tried again
        if not self.store.has(kind, learner, n_folds):
            try:
                deadline = self.deadline.for_report
                if deadline.is_over:
                    raise OutOfTime
                with deadline.limit():
                    _conclusions.make_record(self.store, kind, learner, n_folds, make)
            except OutOfTime:
                self._note_time_limit()
        return self.store.get(kind, learner, n_folds)

    # -- the conclusions ---------------------------------------------------------------

    def _bootstrap_errors(self, table: TaskTable) -> dict[str, float]:
        """The requested .632 estimates, as far as the time goes."""
        estimates: dict[str, float] = {}
        if not self.recipe.bootstrap_632 or not table.folds:
            return estimates
        for candidate in table.compared:
            if self.deadline.for_folds.is_over:
                break
            if candidate.members:
                continue
            name = candidate.name
            settings = table.params(candidate)
            make = partial(
                _conclusions.bootstrap_error, self.plan, self.data, settings, name
            )
            estimate = self._make(BootstrapError, name, len(table.folds), make)
            if estimate is not None:
                estimates[name] = estimate.error
        return estimates

    def _final_model(
        self, comparison: Comparison, sample: OutOfSample
    ) -> FinalModel | None:
        store = self.store
        key = (comparison.choice, comparison.n_folds)
        model_file = _ModelFile(*key)
        # the model file may be gone or damaged, or be of what was the choice after fewer folds
        path = store.folder / _conclusions.MODEL_FILE
        is_whole = store.is_as_written(path)
        is_of_choice = store.get(_ModelFile) == model_file
        if not (is_whole and is_of_choice and store.has(FinalModel, *key)):
            _conclusions.make_record(
                store, FinalModel, *key, partial(self._fit_final, comparison, sample)
            )
            store.put(model_file)
            if path.is_file():
                store.keep_digest(path)
        return store.get(FinalModel, *key)

    def _fit_final(self, comparison: Comparison, sample: OutOfSample) -> FinalModel:
        choice = comparison[comparison.choice]
        final = _conclusions.fit_choice(
            self.plan,
            self.data,
            self.store,
            choice.name,
            usual_settings=choice.params,
            deadline=self.deadline.for_report,
            expected_seconds=self._longest_task(choice.name),
            fit_seconds=self._fit_seconds(choice.name),
        )
        self.fitted.append(final.model)
        deadline = self.deadline.for_report
        with few_threads(self.data.rows):
            saved = _conclusions.save_final_model(
                final, self.plan, self.data, self.store, sample, deadline
            )
        if not final.in_time or deadline.is_over:
            self._note_time_limit()
        return saved

    def _longest_task(self, name: str) -> float:
        """Seconds of the longest task of a learner: a search on all rows takes about as long.

        Without end where no fold had time for a search.
        """
        tasks = self.store.finished_tasks().values()
        own = [done for done in tasks if done.task.name == name]
        if all(done.in_haste and done.settings_tried == 0 for done in own):
            return math.inf
        return max(done.seconds for done in own)

    def _fit_seconds(self, name: str) -> float:
        """Seconds of a fit on all rows, by those of the folds; of a committee, of its members."""
        done = self.store.finished_tasks()
        committee = self.store.get(CommitteeWeights, name)
        if committee is not None:
            return committee_seconds(self.plan[name], committee.weights, done)
        own = [d for d in done.values() if d.task.name == name and not d.failed]
        seconds = sum((d.seconds - d.search_seconds) / d.n_train for d in own)
        return len(self.data.rows) * seconds / max(1, len(own))

    def _holdout(self, comparison: Comparison) -> HoldoutResult | None:
        if not len(self.plan.held_out):
            return None
        choice = comparison[comparison.choice]
        is_late = self.deadline.for_folds.is_over
        make = partial(
            _conclusions.measure_holdout,
            self.plan,
            self.data,
            choice.name,
            self.store,
            settings=choice.params if is_late else None,
        )
        return self._make(HoldoutResult, choice.name, comparison.n_folds, make)

    def _effects(self, comparison: Comparison) -> ModelEffects | None:
        choice = comparison[comparison.choice]
        if choice.is_baseline:
            return None
        make = partial(model_effects, self.plan, self.data, choice, self.store)
        with few_threads(self.data.rows):
            return self._make(ModelEffects, choice.name, comparison.n_folds, make)

    def _curve(self, comparison: Comparison) -> LearningCurve | None:
        choice = comparison[comparison.choice]
        if not self._has_curve(choice):
            return None
        make = partial(
            _conclusions.choice_curve, self.plan, self.data, choice, comparison.baseline
        )
        return self._make(LearningCurve, choice.name, comparison.n_folds, make)

    def _has_curve(self, choice: RankedLearner) -> bool:
        is_committee = bool(self.plan[choice.name].members)
        return self.plan.rule.is_cost and not choice.is_baseline and not is_committee

    # -- what is missing ---------------------------------------------------------------

    def _missing_conclusions(
        self, comparison: Comparison, final: FinalModel | None
    ) -> Iterator[str]:
        """The conclusions on the choice that there was no time for."""
        choice = comparison[comparison.choice]
        if self.recipe.budget_minutes is None or choice.is_baseline:
            return
        has = partial(self.store.has, learner=choice.name, n_folds=comparison.n_folds)
        if self._has_curve(choice) and not has(LearningCurve):
            yield "the learning curve"
        if not has(ModelEffects):
            yield "the importance of the columns"
        if self.recipe.holdout > 0 and not has(HoldoutResult):
            yield "the test on the rows held out"
        if final is not None and not final.examples:
            yield "explained examples"
        if final is not None and final.n_rows is not None:
            yield f"the fit of the final model on more than {final.n_rows:,} rows"

    def _name_failures(
        self, record: StudyPlanRecord, comparison: Comparison, problems: Problems
    ) -> None:
        """Name the conclusions that failed."""
        choice = comparison.choice
        label = comparison[choice].label
        parts: list[tuple[str, type, str]] = [
            (f"final model ({label})", FinalModel, choice),
            (f"importance of columns for {label}", ModelEffects, choice),
            (f"learning curve of {label}", LearningCurve, choice),
            (f"test of {label} on the rows held out", HoldoutResult, choice),
        ]
        for c in record.candidates:
            parts.append((f".632 estimate of {c.label}", BootstrapError, c.name))
        for part, kind, learner in parts:
            reason = self.store.failure(kind, learner, comparison.n_folds)
            if reason is not None:
                problems.add(part, reason)


# -- the results as files --------------------------------------------------------------


def _write_results(study: Study) -> Study:
    """Write the report and results.json; the study with the problems met on the way."""
    problems = Problems(study.problems)
    lacking = lacking_sentence("it", *EXTRAS["report"])
    if lacking is None:
        # Matplotlib is not needed before
        from lyceum.studies.report import page as _report

        content: dict[str, Any] = {}
        page = _report.render(study, problems, content)
        write_file(study.report_path, page.encode())
        write_file(study.content_path, _json(content))
    else:
        again = "the same study, run again, writes it"
        problems.extend([f"The report was left out, as {lacking}; {again}."])
    study = replace(study, problems=tuple(problems))
    # a study that is opened later names the problems of its report too
    conclusions = {item.name: getattr(study, item.name) for item in fields(Conclusions)}
    with Store.read(study.folder) as store:
        store.put(Conclusions(**conclusions))
    write_file(study.results_path, _json(study.as_dict()))
    return study


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False).encode()

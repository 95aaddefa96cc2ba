"""One session of a study: its folder prepared, its tasks run, its conclusions drawn, its results
written."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import lyceum
from lyceum import progress
from lyceum._core.packages import EXTRAS, lacking_sentence
from lyceum.errors import Cancelled, StudyError
from lyceum.files import write_file
from lyceum.studies.compare.committees import run_committees
from lyceum.studies.compare.comparison import Comparison
from lyceum.studies.compare.ranking import compare_learners
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.compare.trials import pooled_predictions
from lyceum.studies.disk import explain_disk_errors
from lyceum.studies.open import open_study
from lyceum.studies.plan.facts import StudyPlanRecord
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.plan.row_order import without_order_columns
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.plan.table_notes import only_classes_text
from lyceum.studies.report.effects import effect_values
from lyceum.studies.result import Study
from lyceum.studies.run import conclusions as _conclusions
from lyceum.studies.run.problems import Problems
from lyceum.studies.run.store import Store
from lyceum.studies.run.tasks import Budget, run_tasks

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


def run_study(request: Request, folder: Path, force: bool) -> Study:
    """Run a study in a folder, or the rest of it, and write the report and results.json."""
    # nothing is written before all of this is known to be good
    data = StudyData.of(without_order_columns(request.recipe)).check_rows()
    request = request.with_loss(data)
    recipe = request.recipe
    plan = Plan.of(recipe, data)
    budget = Budget.of(recipe.budget_minutes)  # the time to read the data does not count
    key = {"recipe": recipe.digest, "data": data.digest, "lyceum": lyceum.__version__}
    try:
        with Store.create(folder, key, force=force) as store:
            _begin(request, folder, store, plan, data)
            run_tasks(plan, data, store, budget)
            run_committees(plan, store)
            _Session(plan, data, store, recipe, budget).conclude()
            store.forget("report_problems")
        with explain_disk_errors(folder):
            return _write_results(open_study(folder))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; finished tasks are kept in {folder}: run the same study again to continue it"
        ) from None


def _begin(request: Request, folder: Path, store: Store, plan: Plan, data: StudyData) -> None:
    recipe = request.recipe
    if request.frame is not None:
        write_file(folder / DATA_FILE, request.frame)
        recipe = replace(recipe, data=(DATA_FILE,))
    else:
        recipe = recipe.relative_to(folder)
    recipe.write(folder / "recipe.toml")
    if plan.rule.loss is not None:
        plan.rule.loss.write(folder / "loss.csv", force=True)
    store.put("facts", _facts(plan, data).as_dict())


def _facts(plan: Plan, data: StudyData) -> StudyPlanRecord:
    return StudyPlanRecord(
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
        versions=dict(_versions()),
    )


@cache
def _versions() -> Mapping[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "pyarrow")
    return {
        "lyceum": lyceum.__version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }


@dataclass(frozen=True, eq=False)
class _Session:
    """What the steps after the folds need; each result is stored under the choice and folds it
    rests on."""

    plan: Plan
    data: StudyData
    store: Store
    recipe: Recipe
    budget: Budget

    def conclude(self) -> None:
        """Draw and store the conclusions."""
        plan = self.plan
        store = self.store
        self._forget_hasty()
        every = (*plan.candidates, *plan.committees)
        table = TaskTable.of(every, store, plan.folds, plan.repeats)
        estimates = self._bootstrap_errors(table)
        comparison = compare_learners(store, table, plan.rule, self.recipe.choose, estimates)
        at = f"{comparison.choice}/{comparison.n_folds}"
        store.put("choice", {"choose": self.recipe.choose, "at": at, "error_632": estimates})
        progress.report("conclusions", 0, 3)
        self._final_model(comparison, at)
        progress.report("conclusions", 1, 3)
        self._holdout(comparison)
        self._effects(comparison, at)
        progress.report("conclusions", 2, 3)
        self._curve(comparison, at)
        progress.report("conclusions", 3, 3)

    def _in_time(self, name: str, work: Callable[[], Any]) -> Any:
        """The stored result of some work, None where the time allowed does not suffice for it."""
        if self.budget.is_over and self.store.get(name) is None:
            return self._hurry()
        try:
            with progress.watch(deadline=self.budget.deadline):
                return _conclusions.stored_result(self.store, name, work)
        except Cancelled:
            if not self.budget.is_over:
                raise
            return self._hurry()

    def _hurry(self) -> None:
        """Note that conclusions are left out or hasty: a session with more time makes them
        again."""
        self.store.put("conclusions", [self._n_searched(), False])

    def _n_searched(self) -> int:
        return sum(not result.is_first for result in self.store.finished_tasks().values())

    def _bootstrap_errors(self, table: TaskTable) -> dict[str, float]:
        """The requested .632 estimates, as far as the budget goes."""
        found: dict[str, float] = {}
        for candidate in table.compared if self.recipe.bootstrap_632 and table.folds else ():
            if self.budget.is_spent:
                break
            if candidate.members:
                continue
            params = table.params(candidate)
            settings = {name: params[name] for name in params if name not in candidate.settings}
            work = partial(
                _conclusions.bootstrap_error, self.plan, self.data, settings, candidate.name
            )
            name = f"632/{candidate.name}/{len(table.folds)}"
            error = self._in_time(name, work)
            if error is not None and _conclusions.failure_of(error) is None:
                found[candidate.name] = error
        return found

    def _curve(self, comparison: Comparison, at: str) -> None:
        choice = comparison[comparison.choice]
        baseline = comparison.baseline
        if choice.is_baseline or self.plan[choice.name].members or not self.plan.rule.is_cost:
            return
        if baseline:
            loss = baseline.loss
        else:
            loss = choice.loss
        if self.plan.classes is None:
            loss = loss**2
        work = partial(_conclusions.curve_values, self.plan, self.data, choice, loss)
        self._in_time(f"curve/{at}", work)

    def _effects(self, comparison: Comparison, at: str) -> None:
        choice = comparison[comparison.choice]
        if not choice.is_baseline:
            work = partial(effect_values, self.plan, self.data, choice, self.store)
            self._in_time(f"effects/{at}", work)

    def _forget_hasty(self) -> None:
        """Forget the conclusions of an earlier session with fewer folds searched or too little
        time."""
        searched = self._n_searched()
        before = self.store.get("conclusions")
        if before == [searched, True] or (before == [searched, False] and self.budget.is_spent):
            return
        if before is not None:
            self.store.forget_all("curve/", "effects/", "holdout/", "final/", "632/")
        self.store.put("conclusions", [searched, not self.budget.is_spent])

    def _settings(self, comparison: Comparison) -> dict[str, Any]:
        """The settings chosen most often, for where no time is left to search."""
        fixed = self.plan[comparison.choice].settings
        params = comparison[comparison.choice].params
        return {name: value for name, value in params.items() if name not in fixed}

    def _holdout(self, comparison: Comparison) -> None:
        choice = comparison.choice
        if len(self.plan.held_out):
            if self.budget.is_spent:
                settings = self._settings(comparison)
            else:
                settings = None
            work = partial(
                _conclusions.holdout_values, self.plan, self.data, choice, self.store, settings
            )
            self._in_time(f"holdout/{choice}", work)

    def _final_model(self, comparison: Comparison, at: str) -> None:
        store = self.store
        if not (store.folder / "model.lyceum").is_file() or store.get("model") != at:
            store.forget(f"final/{at}")
        sample = pooled_predictions(store, comparison.choice, comparison.n_folds)
        fit = _conclusions.FinalFit(
            self.plan, self.data, store, comparison.choice, self._settings(comparison), self.budget.deadline,
            self.budget.is_spent, self._hurry,
        )  # fmt: skip
        _conclusions.stored_result(
            store, f"final/{at}", partial(_conclusions.fit_choice, fit, sample)
        )
        store.put("model", at)


def _write_results(found: Study) -> Study:
    """Write the report and results.json; the study with the problems met on the way."""
    problems = Problems()
    lacking = lacking_sentence("it", *EXTRAS["report"])
    if lacking is None:
        _write_report(found, problems)
    else:
        problems.extend(
            [f"The report was left out, as {lacking}; the same study, run again, writes it."]
        )
    with Store.read(found.folder) as store:
        store.put("report_problems", list(problems))
    found = replace(found, problems=tuple(dict.fromkeys((*found.problems, *problems))))
    write_file(found.results_path, _json(found.as_dict()))
    return found


def _write_report(found: Study, problems: Problems) -> None:
    """Write the page, and all that it shows as JSON."""
    from lyceum.studies.report import page as _report  # Matplotlib is not needed before

    content: dict[str, Any] = {}
    page = _report.render(found, problems, content)
    write_file(found.report_path, page.encode())
    write_file(found.content_path, _json(content))


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False).encode()

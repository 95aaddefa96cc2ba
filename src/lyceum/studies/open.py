"""A study read back from its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from lyceum.errors import LyceumError, StudyError
from lyceum.studies.compare.comparison import Comparison
from lyceum.studies.compare.ranking import compare_learners
from lyceum.studies.compare.task_table import TaskTable
from lyceum.studies.compare.trials import pooled_predictions
from lyceum.studies.disk import damage_error
from lyceum.studies.plan.candidate import Failure
from lyceum.studies.plan.facts import StudyPlanRecord
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.report.example import Example
from lyceum.studies.report.model_effects import ModelEffects
from lyceum.studies.report.statements import statements
from lyceum.studies.result import Study
from lyceum.studies.run import conclusions as _conclusions
from lyceum.studies.run.problems import Problems
from lyceum.studies.run.store import Store


def open_study(folder: str | os.PathLike[str]) -> Study:
    """The study in a folder; raises StudyError if it is not finished."""
    folder = Path(folder)
    with Store.read(folder) as store:
        if store.get("model") is None:
            raise StudyError(f"the study in {folder} is not finished: run it again to continue it")
        try:
            return _read_study(store, folder)
        except LyceumError:
            raise
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise damage_error(folder, error) from error


def _read_study(store: Store, folder: Path) -> Study:
    facts = StudyPlanRecord.from_dict(store.get("facts"))
    chosen = store.get("choice")
    problems = Problems()
    table = TaskTable.of(facts.candidates, store, facts.folds, facts.repeats)
    comparison = compare_learners(
        store, table, facts.rule, chosen["choose"], chosen["error_632"], problems
    )
    failures = tuple(_failures(table))
    recipe = Recipe.read(folder / "recipe.toml")
    if recipe.budget_minutes is None:
        not_made = []
    else:
        not_made = list(_missing_conclusions(store, facts, comparison, recipe.holdout > 0))
    comparison = _with_statements(comparison, store, facts, table, failures, not_made, problems)
    final = store.get(f"final/{chosen['at']}") or {}
    _add_failures(store, facts, comparison, final, problems)
    if _conclusions.failure_of(final):
        n_fitted = None
    else:
        n_fitted = final.get("n_rows", facts.n_rows)
    return Study(
        **{each.name: getattr(facts, each.name) for each in fields(facts)},
        folder=folder,
        recipe=recipe,
        comparison=comparison,
        examples=tuple(map(Example.from_dict, final.get("examples", ()))),
        effects=_effects(store.get(f"effects/{chosen['at']}")),
        failures=failures,
        skipped=table.skipped,
        seconds=sum(result.seconds for result in table.done.values()) + store.extra_seconds(),
        finished=table.finished,
        n_fitted=n_fitted,
        problems=(*problems, *store.get("report_problems", ())),
    )


def _effects(stored: Mapping[str, Any] | None) -> ModelEffects | None:
    if stored is None or _conclusions.failure_of(stored) is not None:
        return None
    return ModelEffects.from_dict(stored)


def _missing_conclusions(
    store: Store, facts: StudyPlanRecord, comparison: Comparison, held_out: bool
) -> Iterator[str]:
    """The conclusions on the choice that are still missing."""
    choice = comparison[comparison.choice]
    at = f"{comparison.choice}/{comparison.n_folds}"
    if choice.is_baseline:
        return
    members = next(c.members for c in facts.candidates if c.name == choice.name)
    if facts.rule.is_cost and not members and store.get(f"curve/{at}") is None:
        yield "the learning curve"
    if store.get(f"effects/{at}") is None:
        yield "the importance of the columns"
    if held_out and store.get(f"holdout/{choice.name}") is None:
        yield "the test on the rows held out"
    n_rows = (store.get(f"final/{at}") or {}).get("n_rows")
    if n_rows is not None:
        yield f"the fit of the final model on more than {n_rows:,} rows"


def _failures(table: TaskTable) -> Iterator[Failure]:
    labels = {candidate.name: candidate.label for candidate in table.candidates}
    for result in table.failures:
        task = result.task
        yield Failure(task.name, labels[task.name], task.repeat, task.fold, result.reason or "")


def _with_statements(
    comparison: Comparison,
    store: Store,
    facts: StudyPlanRecord,
    table: TaskTable,
    failures: tuple[Failure, ...],
    not_made: list[str],
    problems: Problems,
) -> Comparison:
    """The comparison with the learning curve, the holdout and its statements."""
    choice = comparison.choice
    curve = store.get(f"curve/{choice}/{comparison.n_folds}")
    comparison = replace(
        comparison,
        learning_curve=_conclusions.as_curve(curve, comparison.criterion),
        holdout=_conclusions.as_holdout(store.get(f"holdout/{choice}")),
    )
    sentences = statements(
        comparison,
        pooled_predictions(store, choice, comparison.n_folds),
        facts.rule,
        classes=facts.classes,
        suspects=facts.suspects,
        failures=failures,
        skipped=[c.label for c in facts.candidates if c.name in table.skipped],
        notes=facts.notes,
        finished=table.finished,
        folds_planned=len(table.order),
        not_made=not_made,
        problems=problems,
    )
    return replace(comparison, statements=sentences)


def _add_failures(
    store: Store,
    facts: StudyPlanRecord,
    comparison: Comparison,
    final: Mapping[str, Any],
    problems: Problems,
) -> None:
    """Name the conclusions that failed."""
    label = comparison[comparison.choice].label
    at = f"{comparison.choice}/{comparison.n_folds}"
    parts = {
        f"final model ({label})": final,
        f"importance of columns for {label}": store.get(f"effects/{at}"),
        f"learning curve of {label}": store.get(f"curve/{at}"),
        f"test of {label} on the rows held out": store.get(f"holdout/{comparison.choice}"),
    }
    for candidate in facts.candidates:
        estimate = store.get(f"632/{candidate.name}/{comparison.n_folds}")
        parts[f".632 estimate of {candidate.label}"] = estimate
    for part, stored in parts.items():
        reason = _conclusions.failure_of(stored)
        if reason is not None:
            problems.add(part, reason)
    problems.extend(final.get("problems", ()))

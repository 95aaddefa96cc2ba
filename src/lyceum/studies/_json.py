"""Studies as plain values: what the store keeps of a plan, and results.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from lyceum.data import Column, Schema
from lyceum.decision import LossMatrix
from lyceum.report import Explanation, plain
from lyceum.studies._pipeline import Judge
from lyceum.studies._results import Candidate, Example, Standing, Study, Suspect, Task

__all__ = ["Facts", "as_example", "as_results"]

_TIMINGS = ("seconds", "memory")


@dataclass(frozen=True)
class Facts:
    """What is known of a study before its tasks are run, as the store keeps it."""

    task: Task
    schema: dict[str, Any]
    classes: list[Any] | None
    loss: dict[str, Any] | None
    doubt: float | None
    n_rows: int
    n_studied: int
    n_without_target: int
    n_missing: int
    folds: int
    repeats: int
    candidates: list[dict[str, Any]]
    suspects: list[dict[str, Any]]
    notes: list[str]
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Facts:
        return cls(**{each.name: kept[each.name] for each in fields(cls)})

    def as_dict(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def all_candidates(self) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(**{**kept, "steps": tuple(kept["steps"]), "search": tuple(kept["search"])})
            for kept in self.candidates
        )

    @property
    def all_suspects(self) -> tuple[Suspect, ...]:
        return tuple(Suspect(**kept) for kept in self.suspects)

    @property
    def loss_matrix(self) -> LossMatrix | None:
        return None if self.loss is None else LossMatrix.from_dict(self.loss)

    @property
    def judge(self) -> Judge:
        return Judge(None if self.classes is None else len(self.classes), self.loss_matrix, self.doubt)

    @property
    def whole_schema(self) -> Schema:
        target = self.schema["target"]
        columns = tuple(map(_column, self.schema["columns"]))
        return Schema(columns, None if target is None else _column(target), self.schema["weight"])


def schema_as_dict(schema: Schema) -> dict[str, Any]:
    """A schema as plain values."""
    target = None if schema.target is None else _column_as_dict(schema.target)
    return {"columns": [_column_as_dict(c) for c in schema], "target": target, "weight": schema.weight}


def _column_as_dict(column: Column) -> dict[str, Any]:
    values = None if column.categories is None else column.categories.tolist()
    return {"name": column.name, "kind": column.kind, "categories": values, "why": column.why}


def _column(kept: Mapping[str, Any]) -> Column:
    values = kept["categories"]
    return Column(kept["name"], kept["kind"], None if values is None else np.asarray(values), kept["why"])


def candidate_as_dict(candidate: Candidate) -> dict[str, Any]:
    return plain(asdict(candidate))


def as_example(kept: Mapping[str, Any]) -> Example:
    """An example out of the store."""
    told = kept.get("explanation")
    explanation = None
    if told is not None:
        explanation = Explanation(
            told["names"],
            np.array([told["contributions"]]),
            np.array([told["base"]]),
            np.array([told["predicted"]]),
            told["unit"],
        )
    posterior = kept.get("posterior")
    return Example(
        kept["row"],
        kept["cells"],
        kept["truth"],
        kept["decided"],
        None if posterior is None else tuple(posterior),
        explanation,
        kept["picked"],
    )


def as_results(study: Study) -> dict[str, Any]:
    """Everything machine-readable; all that differs from run to run is in "timings"."""
    comparison, curve = study.comparison, study.comparison.learning_curve
    recipe = study.recipe.relative_to(study.folder).as_dict()
    return plain(
        {
            "format": 1,
            "answer": study.answer,
            "task": study.task,
            "target": study.recipe.target,
            "classes": study.classes,
            "actions": study.actions,
            "rows": {
                "with_target": study.n_rows,
                "studied": study.n_studied,
                "without_target": study.n_without_target,
                "tested": comparison.n_rows,
            },
            "missing_cells": study.n_missing,
            "criterion": comparison.criterion,
            "best": comparison.best,
            "choice": comparison.choice,
            "choice_reason": comparison.choice_reason,
            "finished": study.finished,
            "folds_compared": comparison.n_folds,
            "hoeffding": comparison.hoeffding,
            "standings": [_without_timings(standing) for standing in comparison.standings],
            "statements": comparison.statements,
            "problems": study.problems,
            "learning_curve": None if curve is None else _curve(curve),
            "holdout": None if comparison.holdout is None else asdict(comparison.holdout),
            "loss": None if study.loss is None else study.loss.to_dict(),
            "doubt": study.doubt,
            "suspects": [asdict(suspect) for suspect in study.suspects],
            "failures": [asdict(failure) for failure in study.failures],
            "skipped": study.skipped,
            "candidates": [asdict(candidate) for candidate in study.candidates],
            "schema": schema_as_dict(study.schema),
            "examples": [_example(example) for example in study.examples],
            "recipe": recipe,
            "versions": study.versions,
            "timings": {
                "seconds": study.seconds,
                "learners": {s.name: {k: getattr(s, k) for k in _TIMINGS} for s in comparison.standings},
            },
        }
    )


def _without_timings(standing: Standing) -> dict[str, Any]:
    return {key: value for key, value in asdict(standing).items() if key not in _TIMINGS}


def _curve(curve: Any) -> dict[str, Any]:
    return {
        "sizes": curve.sizes,
        "train": curve.train_mean,
        "test": curve.test_mean,
        "test_standard_error": curve.test_error,
        "baseline": curve.baseline,
        "loss": curve.loss_name,
        "verdict": curve.verdict.word,
        "more_rows_help": curve.more_rows_help,
    }


def _example(example: Example) -> dict[str, Any]:
    told = example.explanation
    kept = {
        name: getattr(example, name) for name in ("row", "picked", "cells", "truth", "decided", "posterior")
    }
    if told is not None:
        kept["explanation"] = {
            "unit": told.unit,
            "base": float(told.base[0]),
            "contributions": dict(zip(map(str, told.names), told.contributions[0].tolist())),
        }
    return kept

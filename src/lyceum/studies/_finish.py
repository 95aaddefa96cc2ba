"""What follows the comparison: .632 estimates, the learning curve, the holdout, the final model, examples."""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from lyceum.data import Rows
from lyceum.decision import MinimumRiskClassifier
from lyceum.errors import Cancelled
from lyceum.evaluate import LearningCurve, StratifiedFolds, bootstrap_632, learning_curve
from lyceum.persist import save
from lyceum.studies._compare import loss_and_interval
from lyceum.studies._material import Material
from lyceum.studies._pipeline import Judge, build, choose_settings, explained, row_predictions, seed_of
from lyceum.studies._plan import Plan
from lyceum.studies._problems import Problems, reason_of
from lyceum.studies._results import Candidate, Comparison, Holdout, OutOfSample, Standing
from lyceum.studies._store import Store

__all__ = ["bootstrap_errors", "curve_of", "fit_choice", "held_out", "kept"]

_ROUNDS = 100
_CURVE_FOLDS = 5


def kept(store: Store, name: str, work: Callable[[], Any]) -> Any:
    """What `work` gives, from the store if it was done before; its seconds are kept too.

    If it fails, {"failed": reason}. A disk that is full or a request to stop ends the study instead.
    """
    found = store.get(name)
    if found is None:
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _attempted(work)
        store.put(f"seconds/{name}", time.perf_counter() - begun)
        store.put(name, found)
    return found


def _attempted(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except (Cancelled, OSError, sqlite3.Error):
        raise
    except Exception as error:  # few rows can make any learner fail, and the folds are worth keeping
        return {"failed": reason_of(error)}


def failure_of(kept: Any) -> str | None:
    """Why what `kept` returned could not be made, if so."""
    return kept["failed"] if isinstance(kept, dict) and "failed" in kept else None


# -- candidates behind scikit-learn's interface, over places of rows -----------------------------------------


class _ByPlace(BaseEstimator):
    """A pipeline whose X is a column of places: it fits and predicts the rows there.

    The rows carry their own weights, which `sample_weight` repeats for those who judge.
    """

    def __init__(self, candidate: Candidate, settings: dict[str, Any], rows: Rows, judge: Judge, seed: int):
        self.candidate = candidate
        self.settings = settings
        self.rows = rows
        self.judge = judge
        self.seed = seed

    def __sklearn_clone__(self):
        return type(self)(self.candidate, self.settings, self.rows, self.judge, self.seed)

    def fit(self, X: np.ndarray, y: Any = None, sample_weight: Any = None):
        self.model_ = build(self.candidate, self.settings, self.seed).fit(self.rows.take(X[:, 0]))
        return self

    def _predicted(self, X: np.ndarray) -> np.ndarray:
        return row_predictions(self.model_, self.rows.take(X[:, 0]))


class _Decides(ClassifierMixin, _ByPlace):
    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.judge.decided(self._predicted(X))


class _Values(RegressorMixin, _ByPlace):
    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._predicted(X)


def _squared(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y - predicted) ** 2


def _as_estimator(plan: Plan, name: str, settings: dict[str, Any], rows: Rows) -> tuple[Any, Any]:
    """The estimator and the loss of a row."""
    of = _Values if plan.judge.n_classes is None else _Decides
    model = of(plan[name], settings, rows, plan.judge, seed_of(plan.seed, name))
    return model, _squared if plan.judge.n_classes is None else plan.judge.paid


def _compared(plan: Plan, material: Material) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Places, targets and weights of the rows compared on."""
    w = None if material.w is None else material.w[plan.compared]
    return plan.compared[:, None], material.y[plan.compared], w


# -- after the folds -----------------------------------------------------------------------------------------


def bootstrap_errors(plan: Plan, material: Material, settings: dict[str, Any], name: str) -> float | None:
    """The .632 estimate of one learner with fixed settings; a root mean square for regression."""
    model, loss = _as_estimator(plan, name, settings, material.rows)
    places, y, w = _compared(plan, material)
    result = bootstrap_632(
        model,
        places,
        y,
        n_rounds=_ROUNDS,
        loss=loss,
        sample_weight=w,
        random_state=seed_of(plan.seed, name, "632"),
    )
    return float(np.sqrt(result.error)) if plan.judge.n_classes is None else float(result.error)


def curve_of(plan: Plan, material: Material, choice: Standing, baseline: float) -> dict[str, Any]:
    """The learning curve of a learner with the settings chosen most often, as plain lists."""
    fixed = plan[choice.name].settings
    settings = {key: value for key, value in choice.params.items() if key not in fixed}
    model, loss = _as_estimator(plan, choice.name, settings, material.rows)
    places, y, w = _compared(plan, material)
    smallest = len(y) if plan.classes is None else int(np.bincount(y)[np.unique(y)].min())
    folds = StratifiedFolds(
        max(2, min(_CURVE_FOLDS, smallest)),
        stratify=plan.classes is not None,
        random_state=seed_of(plan.seed, "curve"),
    )
    curve = learning_curve(
        model,
        places,
        y,
        cv=folds,
        loss=loss,
        sample_weight=w,
        random_state=seed_of(plan.seed, "curve"),
    )
    return {
        "sizes": curve.sizes.tolist(),
        "train": curve.train_losses.tolist(),
        "test": curve.test_losses.tolist(),
        "baseline": baseline,
    }


def as_curve(kept: dict[str, Any] | None, criterion: str) -> LearningCurve | None:
    """The curve that `curve_of` made."""
    if not kept or failure_of(kept):
        return None
    return LearningCurve(
        np.array(kept["sizes"]),
        np.array(kept["train"]),
        np.array(kept["test"]),
        kept["baseline"],
        "squared error" if criterion == "RMSE" else criterion,
    )


def held_out(plan: Plan, material: Material, name: str) -> dict[str, Any]:
    """The choice, fitted on the rows compared on, judged on those held out."""
    model, _ = _fitted(plan, name, material.rows.take(plan.compared))
    places = plan.held_out
    w = None if material.w is None else material.w[places]
    predicted = row_predictions(model, material.rows.take(places))
    zeros = np.zeros(len(places), dtype=np.int64)
    sample = OutOfSample(material.numbers[places], zeros, zeros, material.y[places], predicted, w)
    loss, interval, _ = loss_and_interval(plan.judge, sample, plan.judge.losses(sample.y, predicted))
    return {"n_rows": len(places), "loss": loss, "interval": list(interval)}


def as_holdout(kept: dict[str, Any] | None) -> Holdout | None:
    return (
        None
        if kept is None or failure_of(kept)
        else Holdout(kept["n_rows"], kept["loss"], tuple(kept["interval"]))
    )


def _fitted(plan: Plan, name: str, rows: Rows, every: Rows | None = None) -> tuple[Any, dict[str, Any]]:
    """The candidate with settings chosen on `rows`, fitted on these or on `every` row."""
    seed = seed_of(plan.seed, name, "final")
    settings, _ = choose_settings(plan[name], rows, plan.judge, plan.inner_folds, seed)
    model: Any = build(plan[name], settings, seed)
    decides = plan.judge.loss is not None or plan.judge.doubt is not None
    if decides and hasattr(model, "predict_proba"):
        model = MinimumRiskClassifier(model, plan.judge.loss, doubt=plan.judge.doubt)
    return model.fit(rows if every is None else every), settings


def fit_choice(
    plan: Plan, material: Material, comparison: Comparison, sample: OutOfSample, store: Store
) -> dict[str, Any]:
    """Fit the choice on all rows, write the model file, and explain a few rows; plain values."""
    model, settings = _fitted(plan, comparison.choice, material.rows, material.every)
    save(model, store.folder / "model.lyceum", force=True)
    problems = Problems()
    picked = problems.attempt("choice of examples", lambda: _picked(sample, plan.judge), [])
    shown = [
        problems.attempt(f"example of row {row:,}", partial(_example, model, material, plan, row, why))
        for row, why in picked
    ]
    examples = [example for example in shown if example is not None]
    return {"settings": settings, "examples": examples, "problems": list(problems)}


# -- examples ------------------------------------------------------------------------------------------------


def _picked(sample: OutOfSample, judge: Judge) -> list[tuple[int, str]]:
    """Rows that tell most, by their out-of-sample predictions, and why each."""
    first = np.flatnonzero(sample.repeats == 0)
    y, predicted, rows = sample.y[first], sample.predicted[first], sample.rows[first]
    if judge.n_classes is None:
        off = np.abs(y - predicted)
        picks = [(int(off.argmin()), "closest"), (int(off.argmax()), "largest error")]
        picks.insert(1, (int(np.argsort(predicted, kind="stable")[len(y) // 2]), "a middling row"))
    else:
        top, sure = predicted.argmax(axis=1), predicted.max(axis=1)
        right = top == y
        picks = []
        if right.any():
            picks.append((int(np.where(right, sure, -1.0).argmax()), "surest and right"))
        if not right.all():
            picks.append((int(np.where(right, -1.0, sure).argmax()), "surest mistake"))
        picks.append((int(sure.argmin()), "least sure"))
    unique: dict[int, str] = {}
    for place, why in picks:
        unique.setdefault(int(rows[place]), why)
    return list(unique.items())


def _example(model: Any, material: Material, plan: Plan, row: int, why: str) -> dict[str, Any]:
    place = int(np.searchsorted(material.numbers, row))
    rows = material.rows.take(np.array([place]))
    X, y = rows.source.X[0], material.y[place]  # type: ignore[attr-defined]
    cells = {column.name: _cell(column, value) for column, value in zip(material.schema, X.tolist())}
    shown: dict[str, Any] = {"row": row, "cells": cells, "picked": why}
    decided = np.asarray(model.predict(rows))[0]
    truth = float(y) if plan.classes is None else plan.classes[int(y)]
    shown |= {"truth": truth, "decided": decided.item() if hasattr(decided, "item") else decided}
    if plan.classes is not None:
        shown["posterior"] = row_predictions(model, rows)[0].tolist()
    told = explained(model, rows)
    if told is not None:
        shown["explanation"] = {
            "names": [str(name) for name in told.names],
            "contributions": np.asarray(told.contributions)[0].tolist(),
            "base": float(np.asarray(told.base)[0]),
            "predicted": np.asarray(told.predicted)[0].item(),
            "unit": told.unit,
        }
    return shown


def _cell(column: Any, value: float) -> Any:
    """A cell as people read it."""
    if np.isnan(value):
        return None
    if not column.numeric:
        return column.categories[int(value)].item() if value >= 0 else None
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else float(value)

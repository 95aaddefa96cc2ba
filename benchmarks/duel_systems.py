"""The systems of the duel, each run in an environment of its own:

    python duel_systems.py SYSTEM FOLDER TARGET classes|numbers SECONDS

learns from FOLDER/train.csv, predicts FOLDER/test.csv into FOLDER/predictions.npz, and prints one
line of JSON: seconds of learning and of predicting, the version, and the peak of memory in MiB.
Nothing but the standard library is imported before a system is asked for.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

THREADS = 2
BEGAN = time.monotonic()  # the seconds are those of the whole process
# AutoGluon's models of trees; the others are networks, neighbors and linear models
TREES = ("GBM", "CAT", "XGB", "RF", "XT")


@dataclass(frozen=True)
class Question:
    """The files, the target and the time of one measurement."""

    folder: Path
    target: str
    has_classes: bool
    seconds: float

    def train(self) -> Any:
        import pandas as pd

        frame = pd.read_csv(self.folder / "train.csv")
        if self.has_classes:
            frame[self.target] = frame[self.target].astype(str)
        return frame

    def test(self) -> Any:
        import pandas as pd

        return pd.read_csv(self.folder / "test.csv")


# what a system returns: a function that predicts the test rows, and the classes or None
Fitted = tuple[Callable[[], Any], Any]


def lyceum(question: Question) -> Fitted:
    """The command, as a person would give it."""
    import lyceum

    # the study keeps its model and its report in a folder of its own
    out = tempfile.mkdtemp(dir=question.folder)
    task = "classification" if question.has_classes else "regression"
    lyceum.study(
        question.folder / "train.csv",
        question.target,
        task=task,
        budget=question.seconds / 60.0,
        out=f"{out}/study",
        began=BEGAN,
    )
    model = lyceum.load(f"{out}/study/model.lyceum")
    # read as `lyceum predict` reads it: times of day, for one, are times again
    rows = lyceum.scan(question.folder / "test.csv")
    if question.has_classes:
        # pandas writes a class of whole numbers as 1.0 where the column has missing cells
        texts = question.train()[question.target].unique()
        as_written = {text.removesuffix(".0"): text for text in texts}
        classes = [as_written[str(k).removesuffix(".0")] for k in model.classes_]
        return lambda: model.predict_proba(rows), classes
    return lambda: model.predict(rows), None


def autogluon(question: Question, preset: str) -> Fitted:
    from autogluon.tabular import TabularPredictor

    kind = "regression"
    metric = "root_mean_squared_error"
    if question.has_classes:
        many = question.train()[question.target].nunique() > 2
        kind = "multiclass" if many else "binary"
        metric = "log_loss"
    predictor = TabularPredictor(
        question.target,
        problem_type=kind,
        eval_metric=metric,
        path=tempfile.mkdtemp(dir=question.folder),
        verbosity=0,
    )
    predictor.fit(
        question.train(),
        presets=preset,
        time_limit=question.seconds,
        hyperparameters={name: {} for name in TREES},
        num_cpus=THREADS,
        num_gpus=0,
    )
    if question.has_classes:
        return lambda: predictor.predict_proba(question.test()), predictor.class_labels
    return lambda: predictor.predict(question.test()), None


def flaml(question: Question) -> Fitted:
    from flaml import AutoML

    train = question.train()
    model = AutoML()
    model.fit(
        train.drop(columns=question.target),
        train[question.target],
        task="classification" if question.has_classes else "regression",
        metric="log_loss" if question.has_classes else "rmse",
        time_budget=question.seconds,
        n_jobs=THREADS,
        verbose=0,
    )
    if question.has_classes:
        return lambda: model.predict_proba(question.test()), model.classes_
    return lambda: model.predict(question.test()), None


def catboost(question: Question) -> Fitted:
    from catboost import CatBoostClassifier, CatBoostRegressor

    def with_text(frame: Any) -> Any:
        # a missing cell is a category too, as it takes none among categories
        return frame.assign(**{name: [str(c) for c in frame[name]] for name in text})

    train = question.train()
    columns = train.drop(columns=question.target)
    text = list(columns.select_dtypes(exclude="number"))
    kind = CatBoostClassifier if question.has_classes else CatBoostRegressor
    model = kind(thread_count=THREADS, verbose=False, allow_writing_files=False)
    model.fit(with_text(columns), train[question.target], cat_features=text)
    if question.has_classes:
        return lambda: model.predict_proba(with_text(question.test())), model.classes_
    return lambda: model.predict(with_text(question.test())), None


def hist(question: Question) -> Fitted:
    """Text as whole numbers, in the order of the training rows; unknown ones are missing."""
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    train = question.train()
    columns = train.drop(columns=question.target)
    kind = HistGradientBoostingRegressor
    if question.has_classes:
        kind = HistGradientBoostingClassifier
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=float("nan")
    )
    text = list(columns.select_dtypes(exclude="number"))
    from sklearn.compose import make_column_transformer

    coded = make_column_transformer((encoder, text), remainder="passthrough")
    model = make_pipeline(coded, kind(random_state=0))
    model.fit(columns, train[question.target])
    if question.has_classes:
        return lambda: model.predict_proba(question.test()), model.classes_
    return lambda: model.predict(question.test()), None


@dataclass(frozen=True)
class System:
    """What is installed, the first being what is measured, and how it learns."""

    packages: tuple[str, ...]
    learn: Callable[[Question], Fitted]


_AUTOGLUON = (
    "autogluon.tabular",
    "lightgbm",
    "xgboost",
    "catboost",
)
SYSTEMS = {
    "lyceum": System(("lyceum", "pandas", "matplotlib", "jinja2"), lyceum),
    "autogluon-medium": System(_AUTOGLUON, lambda q: autogluon(q, "medium_quality")),
    "autogluon-best": System(_AUTOGLUON, lambda q: autogluon(q, "best_quality")),
    "flaml": System(("flaml[automl]", "pandas"), flaml),
    "catboost": System(("catboost", "pandas"), catboost),
    "hist": System(("scikit-learn", "pandas"), hist),
}
_DISTRIBUTIONS = {"lyceum": "lyceum-ml"}  # where the package is called otherwise


def main() -> None:
    import numpy as np

    name, folder, target, task, seconds = sys.argv[1:]
    question = Question(Path(folder), target, task == "classes", float(seconds))
    start = time.perf_counter()
    predict, classes = SYSTEMS[name].learn(question)
    fitted = time.perf_counter()
    answers = np.asarray(predict(), dtype=float)
    predicted = time.perf_counter()
    values = {"values": answers}
    if classes is not None:
        labels = np.array([str(label) for label in classes])
        values = {"posteriors": answers, "classes": labels}
    np.savez(question.folder / "predictions.npz", **values)
    package = _DISTRIBUTIONS.get(name, SYSTEMS[name].packages[0].partition("[")[0])
    record = {
        "fit_seconds": round(fitted - start, 2),
        "predict_seconds": round(predicted - fitted, 3),
        "version": metadata.version(package),
        "memory_mb": _peak_mb(),
    }
    print(json.dumps(record))


def _peak_mb() -> int:
    """Of this process and of those that it started and waited for."""
    import resource

    peaks = [
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return max(peaks) // 1024


if __name__ == "__main__":
    main()

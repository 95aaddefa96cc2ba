"""`study`: from a table and a question to a comparison, a report and a model file."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from lyceum._core.data import FileFormat, Rows, is_frame, scan, to_arrow
from lyceum._core.files import write_file
from lyceum._core.types import Data, Frame, Loss
from lyceum.errors import DataError, StudyError
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.result import Study
from lyceum.studies.run.session import DATA_FILE, Request, run_study


def study(
    data: Data = None,
    target: str | None = None,
    *,
    task: str | None = None,
    recipe: Recipe | str | os.PathLike[str] | None = None,
    learners: Sequence[Any] | None = None,
    loss: Loss = None,
    doubt: float | None = None,
    metric: str | None = None,
    kinds: Mapping[str, str] | None = None,
    ignore: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    folds: int | None = None,
    repeats: int | None = None,
    inner_folds: int | None = None,
    n_settings: int | None = None,
    calibrate: bool | None = None,
    committees: bool | None = None,
    holdout: float | None = None,
    bootstrap_632: bool | None = None,
    choose: str | None = None,
    seed: int | None = None,
    budget: float | None = None,
    began: float | None = None,
    memory_mb: int | None = None,
    dates: bool | None = None,
    text: bool | None = None,
    file_format: FileFormat | None = None,
    out: str | os.PathLike[str] = "study",
    force: bool = False,
) -> Study:
    """Compare learners on a table honestly, and fit the one to use.

    Every learner is built with only the preparation that it needs, its settings are chosen by inner
    folds, and all are judged on the same outer folds. Each finished fold is stored: the same call
    goes on where a killed one was. The simplest learner that is level with the best is fitted on
    all rows and saved; a report and results.json say what was found.

    Parameters
    ----------
    data : path, glob, list of paths, or frame
        A frame is written into the study's folder.
    target : str
        The column to predict: classes or numbers.
    task : {"classification", "regression"}, optional
        What the target holds; by default its values decide, and the study says how.
    recipe : Recipe or path of a TOML file, optional
        Other arguments of the call take precedence over it.
    learners : sequence, optional
        Names of the catalog, learners with settings (`Ridge(alpha=3.0)`), or `LearnerChoice`
        objects; by default those that suit the task and the number of rows.
    loss : LossMatrix, array, dict of (true class, action) to cost, path, or callable, optional
        Rows = true class, columns = action; 0/1 by default. A callable makes one of the others from
        the list of the classes, once the data are read.
    doubt : float, optional
        The cost of rejecting a row.
    metric : str, optional
        What learners are ranked by: "cost", "error", "log loss", "auc", "balanced error" or "f1"
        for classes; "rmse", "mae", "r2" or "pinball" ("pinball 0.9" for the quantile 0.9) for
        numbers.
    kinds, ignore, keep, weight
        Declared kinds, columns to leave out, suspicious columns to keep, the column of row weights.
    group : str, optional
        The column whose equal values mark rows that belong together: none is trained and tested
        with.
    time : str, optional
        The column that orders the rows: folds learn from earlier rows and are tested on later ones.
    folds, repeats, inner_folds : int, optional
        Outer folds (10 below 2,000 rows, else 5; with a budget below a minute 5 from 200 rows on),
        how often they are drawn (1), inner folds (3).
    n_settings : int, optional
        How many settings of every learner are compared by the inner folds of a fold at most (12).
    calibrate : bool, optional
        Whether posteriors are calibrated inside the folds (temperature, sigmoid or isotonic), for
        every learner and fold where the inner folds show a lower loss by it (no).
    committees : bool, optional
        Whether a committee and stacking of the learners are compared with them (yes).
    holdout : float, optional
        Share of rows that nothing is chosen by.
    bootstrap_632 : bool, optional
        Whether the .632 estimate is computed too.
    choose : {"simplest", "best"}, optional
    seed : int, optional
    budget : float, optional
        Minutes for all of it, from reading the data to writing the report: what is finished then is
        compared, and the report says what was left out.
    began : float, optional
        When the budget began, on the clock of `time.monotonic`; by default when this is called. The
        command counts its own start too.
    memory_mb : int, optional
        Larger files are compared on a sample of their rows.
    dates : bool, optional
        Whether dates are split into year, month, weekday and so on, as by default.
    text : bool, optional
        Whether the words of free text are counted, as by default; else such columns are left out.
    file_format : FileFormat, optional
        How the files are written; by default that is found out.
    out : path, default="study"
        The folder of the study.
    force : bool, default=False
        Whether another study in that folder is replaced.

    Returns
    -------
    Study

    Examples
    --------
    >>> import tempfile, lyceum
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     geyser, out = lyceum.datasets.path("old_faithful"), f"{folder}/study"
    ...     result = lyceum.study(
    ...         geyser, "waiting", learners=["LinearRegression"], folds=3, out=out)
    ...     result.best.name, round(result.best.r2, 2)
    ...     result.model.predict(result.examples[0].frame()).shape
    ('LinearRegression', 0.81)
    (1,)
    """
    options = {
        "target": target,
        "task": task,
        "learners": learners,
        "loss": loss,
        "doubt": doubt,
        "metric": metric,
        "kinds": kinds,
        "ignore": ignore,
        "keep": keep,
        "weight": weight,
        "group": group,
        "time": time,
        "folds": folds,
        "repeats": repeats,
        "inner_folds": inner_folds,
        "n_settings": n_settings,
        "calibrate": calibrate,
        "committees": committees,
        "holdout": holdout,
        "bootstrap_632": bootstrap_632,
        "choose": choose,
        "seed": seed,
        "budget_minutes": budget,
        "memory_mb": memory_mb,
        "dates": dates,
        "text": text,
        "file_format": file_format,
    }
    options = {name: value for name, value in options.items() if value is not None}
    with ExitStack() as stack:
        request = _request(data, recipe, options, stack)
        return run_study(request, Path(out), force, began)


# -- the request -----------------------------------------------------------------------


def _request(
    data: Any, recipe: Any, options: dict[str, Any], stack: ExitStack
) -> Request:
    """The recipe with what is given besides it; a frame is written to a temporary file."""
    base = recipe
    if isinstance(recipe, str | os.PathLike):
        base = Recipe.read(recipe)
    if base is not None and not isinstance(base, Recipe):
        raise StudyError(
            f"recipe: cannot take a {type(recipe).__name__}: give a Recipe, or the path of one"
        )
    if data is None and base is None:
        raise StudyError("there are no data: give a path or a frame, or a recipe")
    if isinstance(data, Rows):
        raise StudyError(
            "these are rows already: give study the file or the frame itself"
        )
    frame = None
    if data is not None and (is_frame(data) or isinstance(data, np.ndarray)):
        frame = _as_parquet(data)
        # until the folder of the study is known to be good
        folder = tempfile.TemporaryDirectory(prefix="lyceum-")
        data = os.path.join(stack.enter_context(folder), DATA_FILE)
        write_file(data, frame)
    if "target" not in options and base is None:
        columns = _column_names(data, options.get("file_format"))
        raise StudyError(f"say which column to predict, target=...{columns}")
    make_loss = None
    if callable(options.get("loss")):
        make_loss = options["loss"]
        options = {**options, "loss": None}
    if data is not None:
        options = {**options, "data": data}
    if base is None:
        return Request(Recipe(**options), frame, make_loss)
    of_recipe = {field.name: getattr(base, field.name) for field in fields(base)}
    return Request(Recipe(**{**of_recipe, **options}), frame, make_loss)


def _column_names(data: Data, file_format: FileFormat | None) -> str:
    """The columns to choose from, if the data can be read."""
    options = (file_format or FileFormat()).options()
    try:
        names = scan(data, **options).schema.names
    except DataError:
        return ""
    listed = ", ".join(map(repr, names[:20]))
    if len(names) > 20:
        listed += ", ..."
    return f": the columns are {listed}"


def _as_parquet(frame: Frame) -> bytes:
    from lyceum._core.lazy_arrow import pq

    if isinstance(frame, np.ndarray):
        raise StudyError(
            "an array has no names for its columns: give a frame, e.g. pandas.DataFrame(X)"
        )
    buffer = io.BytesIO()
    pq.write_table(to_arrow(frame), buffer)
    return buffer.getvalue()

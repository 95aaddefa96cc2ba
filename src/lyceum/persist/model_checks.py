"""Whether a model that came from a file is sound: what prediction indexes exists and fits, and it
answers."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from lyceum._core.base import Learner, pipeline_steps
from lyceum._core.data import ArraySource, Rows, Schema
from lyceum._core.text import show_count
from lyceum._core.types import Estimator
from lyceum.errors import LyceumError, ModelFileError
from lyceum.persist.foreign_models import check_foreign, foreign_row

_LEAVES = frozenset({type(None), bool, int, float, str, bytes, np.float64, np.int64})
_ANSWERS = (
    "transform",
    "predict",
    "predict_proba",
    "decision_function",
    "score_samples",
    "anomalies",
    "explain",
)
_SLOW = ("anomalies", "explain")


def check_model(model: Estimator) -> None:
    """Raise unless the model is a learner, or is made of them, and its parts fit together."""
    # a network is a model too, although it learns nothing itself
    kept_alone = getattr(type(model), "_kept_in_files", False)
    if not isinstance(model, BaseEstimator) and not kept_alone:
        raise ModelFileError(f"holds a {type(model).__name__}, not a learner")
    for part in _parts(model):
        if isinstance(part, BaseEstimator):
            # an attribute must not stand in the place of a method
            for name in vars(part):
                if callable(getattr(type(part), name, None)):
                    raise ModelFileError(
                        f"holds a {type(part).__name__} whose method {name!r} is replaced by data"
                    )
            check_foreign(part)
        if isinstance(part, Learner):
            part._check_model()
        elif type(part).__module__.startswith("lyceum.") and hasattr(
            type(part), "check"
        ):
            part.check()
        elif sparse.issparse(part):
            part.check_format(full_check=True)


def without_caches(model: Estimator) -> Any:
    """The model with no folder (`memory=` of a pipeline) that fitting it again would write to."""
    for part in _parts(model):
        if isinstance(part, Pipeline):
            part.memory = None
    return model


def rehearse(model: Estimator) -> None:
    """Raise unless the model answers for two rows made from its schema, and for one.

    The checks before it keep kernels within their arrays; this finds what else does not fit
    together: widths, types and settings that no single part can know. It sums itself up, and draws
    two rows of numbers, where it can. A refusal by name is an answer.
    """
    steps = pipeline_steps(model)
    # one row for a learner of scikit-learn, which has no schema
    samples: list[Any] = [foreign_row(model)]
    if samples[0] is None:
        are_ours = (isinstance(step, Learner) for step in steps)
        if not all(are_ours) or not all(hasattr(step, "schema_") for step in steps):
            return
        two = _two_rows(steps[0].schema_)
        # one row too: an array in the place of a number may fit two rows by chance
        samples = [two, two.take(np.arange(1))]
    name = type(steps[-1]).__name__
    for method, rows in itertools.product(_ANSWERS, samples):
        # the threshold of a mixture is found by many draws, and a committee is explained by
        # predicting many rows: once is enough
        is_asked = method in _SLOW and rows is not samples[0]
        if is_asked or not _has_method(model, method):
            continue
        answer = _answer(name, model, method, rows)
        per_row = isinstance(rows, Rows) and isinstance(answer, np.ndarray)
        if per_row and len(answer) != len(rows):
            raise ModelFileError(
                f"holds a {name} whose {method} gives {len(answer)} answers for"
                f" {show_count(len(rows), 'row')}"
            )
    for part in steps:
        if isinstance(part, Learner):
            _rehearse_alone(part)


def _rehearse_alone(learner: Learner) -> None:
    """Raise unless the learner sums itself up, and draws rows of numbers if it is a density."""
    name = type(learner).__name__
    summary = _answer(name, learner, "summary")
    if summary is not None:
        _answer(name, summary, "as_dict")
    if not _has_method(learner, "sample"):
        return
    drawn = _answer(name, learner, "sample", 2, random_state=0)
    rows = drawn[0] if isinstance(drawn, tuple) else drawn
    if isinstance(rows, np.ndarray) and not np.isfinite(rows).all():
        raise ModelFileError(f"holds a {name} that draws rows with missing numbers")


def _has_method(model: Any, method: str) -> bool:
    try:
        return hasattr(model, method)
    except Exception as error:
        raise ModelFileError(
            f"holds a {type(model).__name__} that does not answer: {method} ends in {error!r}"
        ) from error


def _answer(name: str, model: Any, method: str, *data: Any, **named: Any) -> Any:
    """What the method answers, None where it refuses by name; any other error is of the file."""
    try:
        # made-up rows may be far from any that the model has seen
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answer = getattr(model, method)(*data, **named)
            if isinstance(answer, Rows):  # of a transformer, lazy
                list(answer.blocks())
            return answer
    except LyceumError:
        return None
    except Exception as error:
        raise ModelFileError(
            f"holds a {name} that does not answer: {method} ends in {error!r}"
        ) from error


def _two_rows(schema: Schema) -> Rows:
    """A row of zeros and first categories, and one of ones and last categories."""
    cells = np.empty((2, len(schema)))
    for j, column in enumerate(schema):
        values = column.categories
        if values is None or not len(values):
            cells[:, j] = (0.0, 1.0)
        elif column.numeric:
            cells[:, j] = (float(values[0]), float(values[-1]))
        else:
            cells[:, j] = (0.0, len(values) - 1.0)
    source = ArraySource(cells, None, None, Schema(schema.columns), coded=True)
    return Rows(source)


def _parts(model: Estimator) -> Iterator[Any]:
    """The model and everything that it is made of, apart from numbers, texts and arrays of them."""
    # without recursion, and each part once: parts refer to each other
    waiting = [model]
    seen = set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        kind = type(part)
        if kind in _LEAVES or (kind is np.ndarray and part.dtype != object):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel() if part.dtype == object else ())
        # slots have no __dict__
        elif is_dataclass(part) and not isinstance(part, type):
            waiting.extend(getattr(part, field.name) for field in fields(part))
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            waiting.extend(vars(part).values())

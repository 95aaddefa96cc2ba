"""What an estimator of any library takes: rows, missing cells, free text, weights."""

from __future__ import annotations

from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from lyceum._core.base.learner import Learner
from lyceum._core.base.model_parts import is_pipeline, pipeline_steps
from lyceum._core.types import Estimator, Weights
from lyceum.errors import DataError


def takes_rows(estimator: Estimator) -> bool:
    """Whether an estimator is Lyceum's own, or a pipeline of such.

    >>> from lyceum.linear import Ridge
    >>> from sklearn.linear_model import LinearRegression
    >>> takes_rows(Ridge()), takes_rows(LinearRegression())
    (True, False)
    """
    if isinstance(estimator, Learner):
        return True
    if is_pipeline(estimator):
        return all(
            step in (None, "passthrough") or takes_rows(step)
            for _, step in estimator.steps
        )
    inner = getattr(estimator, "estimator", None)
    return type(estimator).__module__.startswith("lyceum.") and (
        inner is None or takes_rows(inner)
    )


def takes_missing(estimator: Estimator) -> bool:
    """Whether an estimator takes missing cells: of a pipeline, its first step."""
    return bool(get_tags(_first_step(estimator)).input_tags.allow_nan)


def takes_text(estimator: Estimator) -> bool:
    """Whether an estimator takes columns of free text: of a pipeline, its first step.

    >>> from lyceum.linear import Ridge
    >>> from lyceum.prepare import TextVectorizer
    >>> from sklearn.pipeline import Pipeline
    >>> takes_text(Pipeline([("words", TextVectorizer()), ("ridge", Ridge())])), takes_text(Ridge())
    (True, False)
    """
    return bool(getattr(_first_step(estimator), "_takes_text", False))


def _first_step(estimator: Estimator) -> Any:
    if not is_pipeline(estimator):
        return estimator
    return next(
        (step for _, step in estimator.steps if step not in (None, "passthrough")),
        estimator,
    )


def takes_weights(estimator: Estimator) -> bool:
    """Whether an estimator learns from weighted rows; in a pipeline of rows every step sees the
    weights."""
    if is_pipeline(estimator):
        return takes_rows(estimator) and takes_weights(estimator.steps[-1][1])
    return has_fit_parameter(estimator, "sample_weight")


def check_takes_weights(estimator: Estimator, w: Weights) -> None:
    """Raise DataError if there are weights, but the estimator does not learn from weighted rows."""
    if w is not None and not takes_weights(estimator):
        raise DataError(
            f"{type(estimator).__name__} takes no sample_weight: leave it out"
        )


def without_names(member: Estimator) -> Any:
    """A fitted member that, like the learner which it is part of, may predict on arrays."""
    for part in pipeline_steps(member):
        if isinstance(part, Learner):
            part.__dict__.pop("feature_names_in_", None)
    return member


def step_names(estimator: Estimator) -> str:
    """The class of an estimator; of a pipeline, those of its steps."""
    return ", ".join(
        type(step).__name__
        for step in pipeline_steps(estimator)
        if step not in (None, "passthrough")
    )

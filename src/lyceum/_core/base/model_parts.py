"""What a fitted learner is made of: its size, and whether the parts that came from a file fit
together."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.types import Estimator
from lyceum.errors import ModelFileError


def is_pipeline(model: Estimator) -> bool:
    """Whether this is a pipeline of scikit-learn, whose module takes long: who has one has imported
    it."""
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(model, module.Pipeline)


def pipeline_steps(model: Estimator) -> list[Any]:
    """The steps of a pipeline, or the model itself as the only step."""
    if is_pipeline(model):
        return [step for _, step in model.steps]
    return [model]


def complexity(model: Estimator) -> int:
    """How many numbers a prediction of a learner, or of the last step of a pipeline, needs.

    Scales of columns could be part of what follows them and do not count; tables with a number for
    every category, which a step says it looks up by `_looks_up`, do.

    >>> from lyceum.linear import Ridge
    >>> complexity(Ridge().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [1.0, 2.0, 3.0]))
    3
    """
    # a learner around another one; an ensemble has a template beside its members
    if not hasattr(model, "estimators_"):
        model = getattr(model, "estimator_", model)
    *before, learner = pipeline_steps(model)
    looked_up = sum(step.complexity() for step in before if hasattr(step, "_looks_up"))
    if hasattr(learner, "complexity"):
        return looked_up + learner.complexity()
    return looked_up + n_fitted_numbers(learner)


def n_fitted_numbers(learner: Estimator) -> int:
    """The size of all fitted arrays of numbers."""
    arrays = (
        value
        for name, value in vars(learner).items()
        if name.endswith("_") and name != "classes_"
    )
    return sum(
        value.size
        for value in arrays
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    )


def check_learner(learner: Estimator) -> None:
    """Raise ModelFileError unless schema, classes and arrays agree.

    -inf, the logarithm of zero, may be in an array; NaN and inf only where the class says so.
    """
    class_name = type(learner).__name__
    learner.get_params(deep=False)
    if not hasattr(learner, "schema_"):
        if fitted := sorted(name for name in vars(learner) if name.endswith("_")):
            raise ModelFileError(
                f"holds a {class_name} with {fitted[0]}, but without the schema that it was fitted"
                " on"
            )
        return
    schema = learner.schema_
    if not isinstance(schema, Schema) or learner.n_features_in_ != len(schema):
        raise ModelFileError(
            f"holds a {class_name} whose schema does not have its n_features_in_ columns"
        )
    names = getattr(learner, "feature_names_in_", None)
    if names is not None and list(names) != list(schema.names):
        raise ModelFileError(
            f"holds a {class_name} whose feature_names_in_ are not the names of its schema"
        )
    if hasattr(learner, "classes_") and getattr(learner, "_has_one_target", True):
        labels = None if schema.target is None else schema.target.categories
        if labels is None or not np.array_equal(learner.classes_, labels):
            raise ModelFileError(
                f"holds a {class_name} whose classes_ are not those of its target"
            )
    # predictions index these arrays, in kernels too: shapes and types must be right
    learner._validate_params()
    for name, shape in learner._shapes().items():
        value = getattr(learner, name, None)
        array = _numbers(f"{class_name}.{name}", value, tuple(shape))
        if not learner._nan_means_none and not (array < np.inf).all():
            raise ModelFileError(
                f"has missing or infinite numbers in {class_name}.{name}"
            )


def _numbers(name: str, array: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The array, if it is one of numbers and of this shape."""
    if (
        not isinstance(array, np.ndarray)
        or array.dtype.kind not in "biuf"
        or not array.dtype.isnative
    ):
        raise ModelFileError(f"has no array of numbers in the place of {name}")
    if array.shape != shape:
        raise ModelFileError(
            f"has an array of shape {array.shape} in the place of {name}, which needs {shape}"
        )
    return array

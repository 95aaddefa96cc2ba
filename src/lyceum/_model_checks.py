"""Whether a model that came from a file is sound: what prediction will index exists and fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from lyceum.base import Learner
from lyceum.data import Column, Schema
from lyceum.errors import ModelFileError
from lyceum.prepare import Transformer
from lyceum.tree_core import Tree, native_tree

__all__ = ["check_model"]

_REALS = ("threshold", "cuts", "value", "weight", "impurity", "gain")


def check_model(model: Any) -> None:
    """Raise unless the model is a learner, or is made of them, and its parts fit together."""
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"holds a {type(model).__name__}, not a learner")
    checks = {Learner: _check_learner, Column: _check_column, Schema: _check_schema, Tree: _check_tree}
    for part in _parts(model):
        for kind, check in checks.items():
            if isinstance(part, kind):
                check(part)
        if isinstance(part, BaseEstimator):
            _check_attributes(part)
        if sparse.issparse(part):
            part.check_format(full_check=True)


def _parts(model: Any) -> Iterator[Any]:
    """The model and everything that it is made of."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel() if part.dtype == object else ())
        elif is_dataclass(part) and not isinstance(part, type):
            waiting.extend(getattr(part, field.name) for field in fields(part))
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            waiting.extend(vars(part).values())


def _check_attributes(estimator: Any) -> None:
    """Refuse an attribute in the place of a method."""
    for name in vars(estimator):
        if callable(getattr(type(estimator), name, None)):
            raise ModelFileError(
                f"holds a {type(estimator).__name__} whose method {name!r} is replaced by data"
            )


def _check_column(column: Any) -> None:
    fits = isinstance(column.name, str) and isinstance(column.why, str)
    values = column.categories
    if values is not None:
        fits = fits and isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biufUSO"
    if not fits:
        raise ModelFileError(f"holds a column {column.name!r} whose categories are not a list of values")
    column.__post_init__()


def _check_schema(schema: Any) -> None:
    columns = schema.columns
    if not isinstance(columns, tuple) or not all(isinstance(column, Column) for column in columns):
        raise ModelFileError("holds a schema that is not made of columns")
    if not isinstance(schema.target, Column | None) or not isinstance(schema.weight, str | None):
        raise ModelFileError("holds a schema whose target or weight is not a column")
    schema.__post_init__()


def _check_tree(tree: Any) -> None:
    """Every node leads to nodes, cuts and branches that are there, and has a value."""
    for field in fields(tree):
        array, kinds = getattr(tree, field.name), "f" if field.name in _REALS else "iu"
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or not array.dtype.isnative:
            raise ModelFileError(f"holds a tree without an array of numbers in the place of {field.name!r}")
    n = len(tree.feature)
    if tree.value.ndim != 2 or len(tree.value) != n or not n:
        raise ModelFileError("holds a tree whose nodes have no values")
    if any(getattr(tree, name).shape != (n,) for name in ("n_rows", "impurity", "gain")):
        raise ModelFileError("holds a tree whose nodes and their numbers are not as many")
    try:
        native_tree(tree, int(tree.feature.max()) + 1)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"holds a tree that leads nowhere: {error}") from error


def _check_columns_of_trees(learner: Any) -> None:
    """The columns that trees test are those of the learner."""
    one = getattr(learner, "tree_", None)
    for tree in [*getattr(learner, "trees_", ()), *([] if one is None else [one])]:
        if not isinstance(tree, Tree) or not tree.feature.max(initial=-1) < learner.n_features_in_:
            raise ModelFileError(
                f"holds a {type(learner).__name__} whose trees test columns that are not there"
            )


def _check_learner(learner: Any) -> None:
    """Schema, classes and arrays agree; -inf, the logarithm of zero, may be in an array, NaN and inf not."""
    who = type(learner).__name__
    learner.get_params(deep=False)
    if not hasattr(learner, "schema_"):
        return
    schema = learner.schema_
    if not isinstance(schema, Schema) or learner.n_features_in_ != len(schema):
        raise ModelFileError(f"holds a {who} whose schema does not have its n_features_in_ columns")
    names = getattr(learner, "feature_names_in_", None)
    if names is not None and list(names) != list(schema.names):
        raise ModelFileError(f"holds a {who} whose feature_names_in_ are not the names of its schema")
    if hasattr(learner, "classes_"):
        known = None if schema.target is None else schema.target.categories
        if known is None or not np.array_equal(learner.classes_, known):
            raise ModelFileError(f"holds a {who} whose classes_ are not those of its target")
    learner._validate_params()
    _check_columns_of_trees(learner)
    for name, shape in learner._shapes().items():
        array = _numbers(f"{who}.{name}", getattr(learner, name, None), tuple(shape))
        # In a preparation NaN stands for "no value", e.g. the range of a column of categories.
        if not isinstance(learner, Transformer) and not (array < np.inf).all():
            raise ModelFileError(f"has missing or infinite numbers in {who}.{name}")


def _numbers(name: str, array: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The array, if it is one of numbers and of this shape."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf" or not array.dtype.isnative:
        raise ModelFileError(f"has no array of numbers in the place of {name}")
    if array.shape != shape:
        raise ModelFileError(
            f"has an array of shape {array.shape} in the place of {name}, which needs {shape}"
        )
    return array

"""Whether a model that came from a file is sound: what prediction will index exists and fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from lyceum.base import Learner
from lyceum.errors import ModelFileError

__all__ = ["check_model"]


def check_model(model: Any) -> None:
    """Raise unless the model is a learner, or is made of them, and its parts fit together."""
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(f"holds a {type(model).__name__}, not a learner")
    for part in _parts(model):
        if isinstance(part, BaseEstimator):
            _check_attributes(part)
        if isinstance(part, Learner):
            part._check_model()
        elif type(part).__module__.startswith("lyceum.") and hasattr(type(part), "check"):
            part.check()
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

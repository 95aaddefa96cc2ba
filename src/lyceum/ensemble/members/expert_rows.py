"""The rows that the experts of a mixture learn from again and again, with other weights every
time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from lyceum._core.base import Learner, is_pipeline, takes_weights
from lyceum._core.data import ArraySource, Rows, Schema
from lyceum.ensemble.members.data import MemberData


def weight_parameters(expert: Any) -> list[str]:
    """The parameters of `fit` that take weights: in a pipeline, one for every step that does."""
    if not is_pipeline(expert):
        if takes_weights(expert):
            return ["sample_weight"]
        return []
    return [
        f"{name}__{parameter}"
        for name, step in expert.steps
        for parameter in weight_parameters(step)
    ]


class ExpertRows:
    """Rows as experts take them: an array, which Lyceum's own learners check and code only once.

    The first of them that is fitted decides the schema; the others, and all predictions, are given
    rows of this schema.

    Attributes
    ----------
    Z : array of shape (n, d)
        The cells.
    y : array of shape (n,)
        The targets: labels, or numbers.
    inputs : array or Rows
        The cells, to predict from.
    """

    def __init__(self, Z: np.ndarray, y: np.ndarray) -> None:
        self.Z = Z
        self.y = y
        self.inputs: Any = Z
        self._data = MemberData(None, Z, y)

    def fit(self, expert: Any, w: np.ndarray) -> Any:
        """A copy of the expert, fitted with these weights."""
        if is_pipeline(expert):
            return clone(expert).fit(self.Z, self.y, **dict.fromkeys(weight_parameters(expert), w))
        fitted = self._data.fit(clone(expert), w=w)
        if self._data.container is not None and isinstance(fitted, Learner):
            self._adopt_schema(fitted)
        return fitted

    def _adopt_schema(self, expert: Any) -> None:
        y = self.y
        schema = expert.schema_
        if schema.target is None:
            return
        if schema.target.is_categorical:
            classes = schema.target.categories
            y = np.minimum(np.searchsorted(classes, self.y), len(classes) - 1).astype(np.int32)
            if (classes[y] != self.y).any():  # to this learner some label means that there is none
                return
        self._data = MemberData(ArraySource(self.Z, y, None, schema), named=False)
        self.inputs = Rows(ArraySource(self.Z, None, None, Schema(schema.columns)))

"""SupervisedTransformer: a change of the columns that is learned from classes or numbers to predict."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from lyceum.base import Learner, NewColumns
from lyceum.data import Block, target_task
from lyceum.errors import DataError
from lyceum.statistics import row_uniforms

__all__ = ["SupervisedTransformer"]


class SupervisedTransformer(NewColumns, Learner):
    """Rows are (x - mean_) @ components_.T after the transformation; a subclass learns `components_`."""

    mean_: np.ndarray
    components_: np.ndarray
    classes_: np.ndarray
    _target_task: Literal["classes", "numbers"]

    def _sampled(self, X: Any, y: Any, sample_weight: Any, size: int, seed: int) -> Block:
        """Rows to learn from, at most `size` of them, drawn by their numbers."""
        self._target_task = target_task(X, y, type(self).__name__)
        self.__dict__.pop("classes_", None)
        rows = self._rows(X, y, sample_weight)
        block = rows.gathered(type(self).__name__, "fit on a sample of the rows").without_zero_weights()
        if len(block) < 2:
            raise DataError(f"{type(self).__name__} compares rows, but there is only 1 sample of any weight")
        if len(block) > size:
            drawn = np.argsort(row_uniforms(0, len(block), seed), kind="stable")[:size]
            block = block.take(np.sort(drawn))
        return block

    @property
    def _learns_classes(self) -> bool:
        return self._target_task == "classes"

    def transform(self, X: Any) -> Any:
        """The rows in the columns that distances are to be taken in.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_columns)
        """
        return self._in_new_columns(partial(_project, mean=self.mean_, components=self.components_), X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _project(block: Block, mean: np.ndarray, components: np.ndarray) -> np.ndarray:
    # einsum, not BLAS, whose bits depend on the number of rows
    return np.einsum("ij,kj->ik", np.asarray(block.X, np.float64) - mean, components)

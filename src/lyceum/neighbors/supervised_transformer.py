"""SupervisedTransformer: a change of the columns that is learned from classes or numbers to
predict."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from lyceum._core.base import Learner, NewColumns
from lyceum._core.data import Block, target_task
from lyceum._core.statistics import row_uniforms, seed_from
from lyceum._core.types import Data, Seed, Target, Weights
from lyceum.errors import DataError


class ScaledSample(NamedTuple):
    """Rows to learn from."""

    rows: np.ndarray  # (n, d)
    y: np.ndarray  # class codes or numbers
    w: np.ndarray


class SupervisedTransformer(NewColumns, Learner):
    """Rows are (x - mean_) @ components_.T after the transformation; a subclass learns
    `components_`."""

    _parameter_docs: ClassVar[str] = """
    max_samples : int
        The most rows to learn from; more are sampled.
    """

    _reads_rows = "in memory"
    _coding = "every_category"

    mean_: np.ndarray
    components_: np.ndarray
    classes_: np.ndarray
    _target_task: Literal["classes", "numbers"]

    def _sample_rows(
        self, X: Data, y: Target, sample_weight: Weights, size: int, seed: int
    ) -> Block:
        """Rows to learn from, at most `size` of them, drawn by their numbers."""
        self._target_task = target_task(X, y, type(self).__name__)
        self.__dict__.pop("classes_", None)
        rows = self._rows(X, y, sample_weight)
        block = rows.in_one_block(type(self).__name__).without_zero_weights()
        if len(block) < 2:
            raise DataError(
                f"{type(self).__name__} compares rows, but there is only 1 sample of any weight"
            )
        if len(block) > size:
            drawn = np.argsort(row_uniforms(0, len(block), seed), kind="stable")[:size]
            block = block.take(np.sort(drawn))
        return block

    def _scaled_sample(
        self, X: Data, y: Target, sample_weight: Weights, size: int, random_state: Seed
    ) -> tuple[ScaledSample, np.ndarray, np.ndarray]:
        """Rows to learn from with columns of mean 0 and variance 1, and their means and
        deviations."""
        block = self._sample_rows(X, y, sample_weight, size, seed_from(random_state))
        rows = np.asarray(block.X, dtype=np.float64)
        w = np.array(block.weights)
        assert block.y is not None
        mean = np.average(rows, axis=0, weights=w)
        spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=w))
        unit = np.where(spread > 0, spread, 1.0)
        return ScaledSample((rows - mean) / unit, block.y, w), mean, unit

    @property
    def _learns_classes(self) -> bool:
        return self._target_task == "classes"

    def transform(self, X: Data) -> Any:
        """The rows in the columns that distances are to be taken in.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array, frame or rows, as X is, of shape (n_samples, n_columns)
        """
        return self._in_new_columns(
            partial(_project, mean=self.mean_, components=self.components_), X
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _project(block: Block, mean: np.ndarray, components: np.ndarray) -> np.ndarray:
    # einsum, not BLAS, whose bits depend on the number of rows
    return np.einsum("ij,kj->ik", np.asarray(block.X, np.float64) - mean, components)

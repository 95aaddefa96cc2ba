"""Where the EM of a mixture starts: clusters of k-means, outliers apart or not, or given
centers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.data import Block, Rows, Schema
from lyceum._core.distances import nearest_center
from lyceum._core.statistics import Quantiles
from lyceum._core.types import Data
from lyceum.cluster import KMeans
from lyceum.errors import DataError, SettingError, number_setting

# how far apart the quartiles of a Gaussian are, in standard deviations
_QUARTILES = 1.349
_FENCE = 6.0  # standard deviations
START_NAMES = ("kmeans", "k-means++", "random_from_data")


@dataclass(frozen=True, eq=False)
class ScaledCells:
    """(x - center) / scale in float64, 0 where a cell is missing; sparse rows stay as they are.

    Cells beyond the fence count as missing.
    """

    center: np.ndarray
    scale: np.ndarray
    fence: np.ndarray | float = np.inf

    @classmethod
    def of(cls, mean: np.ndarray, variance: np.ndarray) -> ScaledCells:
        varies = np.nan_to_num(variance) > 0
        return cls(np.nan_to_num(mean), np.sqrt(np.where(varies, variance, 1.0)))

    @classmethod
    def robust(cls, rows: Rows, plain: ScaledCells) -> ScaledCells:
        """By median and quartiles, with a fence; columns whose quartiles are equal stay as they
        are."""
        low, middle, high = rows.reduce(Quantiles.of).quantile([0.25, 0.5, 0.75])
        varies = high > low
        return cls(
            np.where(varies, middle, plain.center),
            np.where(varies, (high - low) / _QUARTILES, plain.scale),
            np.where(varies, _FENCE, np.inf),
        )

    def schema(self, schema: Schema) -> Schema:
        return schema

    def cells(self, X: Data) -> Any:
        if sparse.issparse(X):
            return X
        return np.nan_to_num(self._standardize(X), copy=False, nan=0.0)

    def _standardize(self, X: Data) -> np.ndarray:
        out = (np.asarray(X, dtype=np.float64) - self.center) / self.scale
        if np.isfinite(self.fence).any():
            out[np.abs(out) > self.fence] = np.nan
        return out

    def missing(self, X: np.ndarray) -> np.ndarray:
        """Which cells are missing or beyond the fence."""
        return np.isnan(self._standardize(X) if np.isfinite(self.fence).any() else X)

    def fences_off(self, low: np.ndarray, high: np.ndarray) -> bool:
        """Whether a cell is beyond the fence, given the smallest and largest cell of every
        column."""
        far = np.maximum(high - self.center, self.center - low)
        return bool((far > self.fence * self.scale).any())

    def __call__(self, block: Block) -> Block:
        return block.with_X(self.cells(block.X), block.schema)


@dataclass(frozen=True, eq=False)
class StartLabels:
    """Every row to its nearest center; missing cells are filled with those of the center."""

    centers: np.ndarray  # (K, d) in the units of `scaling`
    scaling: ScaledCells

    def responsibilities(self, block: Block) -> np.ndarray:
        """1 for the nearest center, 0 for the others."""
        labels, _ = nearest_center(self.scaling.cells(block.X), self.centers)
        return np.eye(len(self.centers))[labels]

    def fill(self, block: Block, R: np.ndarray) -> Block:
        """The block without missing cells."""
        if sparse.issparse(block.X):
            return block
        rows, columns = np.nonzero(self.scaling.missing(block.X))
        if not len(rows):
            return block
        # centers are in the units of the scaling, cells in their own
        X = np.array(block.X, dtype=np.float64)
        own = self.centers[R.argmax(axis=1)[rows], columns]
        scale = self.scaling.scale[columns]
        X[rows, columns] = own * scale + self.scaling.center[columns]
        return block.with_X(X, block.schema)


def starts_of(
    rows: Rows,
    how: str,
    K: int,
    n_init: int,
    random: np.random.RandomState,
    scaling: ScaledCells,
) -> list[StartLabels]:
    """One start per run, each from centers of k-means in columns of variance 1."""
    # k-means until it converges, or one iteration from the centers that were drawn
    settings: dict[str, Any] = {"init": "k-means++", "n_init": 1, "max_iter": 1}
    if how == "kmeans":
        settings.update(n_init=3, max_iter=300)
    elif how == "random_from_data":
        settings["init"] = "random"
    starts = []
    scaled = rows.then(scaling)
    for _ in range(n_init):
        kmeans = KMeans(K, **settings, random_state=random.randint(2**31))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                centers = kmeans.fit(scaled).cluster_centers_
            except DataError as error:
                message = str(error).replace("n_clusters", "n_components")
                raise DataError(message) from error
        starts.append(StartLabels(centers, scaling))
    return starts


def given_array(name: str, values: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """A parameter that is an array, with its shape and cells checked."""
    array = np.array(number_setting(name, values))
    if array.shape != shape:
        raise SettingError(f"{name} has the shape {array.shape}, but {shape} is needed")
    if not np.isfinite(array).all():
        raise SettingError(f"{name} holds NaN or infinity")
    return array


def given_weights(values: ArrayLike, K: int) -> np.ndarray:
    weights = given_array("weights_init", values, (K,))
    if (weights < 0).any() or not np.isclose(weights.sum(), 1.0):
        raise SettingError(
            "weights_init must not be negative and must sum to 1, but they sum to"
            f" {weights.sum():g}"
        )
    return weights / weights.sum()

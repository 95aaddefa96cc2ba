"""Where the EM of a mixture starts: clusters of k-means, outliers apart or not, or given
centers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.data import ArraySource, Block, Rows, Schema
from lyceum._core.distances import nearest_center
from lyceum._core.statistics import Quantiles, RowSample, Scatter
from lyceum._core.types import Data
from lyceum.cluster import KMeans
from lyceum.errors import DataError, SettingError, number_setting

# how far apart the quartiles of a Gaussian are, in standard deviations
_QUARTILES = 1.349
_FENCE = 6.0  # standard deviations
# of the variances along principal directions: the largest is so many times the least
_SIMILAR = 2.0
_FLAT = 1e-8  # of the largest variance: directions that are dependent but for rounding
START_NAMES = ("kmeans", "k-means++", "random", "random_from_data")


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

    def original(self, Z: np.ndarray) -> np.ndarray:
        """Scaled rows in the units of the table."""
        return Z * self.scale + self.center

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
class WhitenedCells(ScaledCells):
    """Rows in directions that are uncorrelated and have variance 1, V Λ^-½ of the correlations.

    Clusters that are long and lie side by side are apart in a direction of little variance, which
    k-means overlooks in columns of equal variance.
    """

    rotation: np.ndarray = field(kw_only=True)  # (d, d)
    inverse: np.ndarray = field(kw_only=True)  # (d, d)

    @classmethod
    def learn(cls, rows: Rows, plain: ScaledCells) -> WhitenedCells | None:
        """None where columns are so little correlated that whitening changes hardly anything."""
        scatter = rows.then(plain).reduce(Scatter.of)
        values, vectors = np.linalg.eigh(scatter.xx / scatter.weight)
        varies = values > _FLAT * values[-1]
        if values[-1] < _SIMILAR * values[varies].min(initial=np.inf):
            return None
        roots = np.sqrt(np.where(varies, values, 0.0))
        inverse_roots = np.divide(1.0, roots, out=np.zeros_like(roots), where=varies)
        return cls(
            plain.center,
            plain.scale,
            rotation=vectors * inverse_roots,
            inverse=(vectors * roots).T,
        )

    def original(self, Z: np.ndarray) -> np.ndarray:
        return super().original(Z @ self.inverse)

    def cells(self, X: Data) -> Any:
        return super().cells(X) @ self.rotation


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
        centers = self.scaling.original(self.centers)
        X[rows, columns] = centers[R.argmax(axis=1)[rows], columns]
        return block.with_X(X, block.schema)


@dataclass(frozen=True, eq=False)
class RandomMemberships(StartLabels):
    """Every row to all components, in shares that are drawn by the number of the row; missing cells
    are filled with the means of the columns, which all centers are."""

    seed: int

    def responsibilities(self, block: Block) -> np.ndarray:
        """Uniform numbers, divided by their sums."""
        # a counter of the generator gives four numbers: blocks draw what all rows at once would
        K = len(self.centers)
        n_counts = -(-K // 4)
        generator = np.random.Philox(key=self.seed, counter=block.start * n_counts)
        R = np.random.Generator(generator).random((len(block), 4 * n_counts))[:, :K]
        return R / R.sum(axis=1, keepdims=True)


def starts_of(
    rows: Rows,
    how: str,
    K: int,
    n_init: int,
    random: np.random.RandomState,
    scaling: ScaledCells,
) -> list[StartLabels]:
    """One start per run, each from centers of k-means in columns of variance 1, or at random."""
    if how == "random":
        same = np.zeros((K, len(scaling.center)))
        seeds = random.randint(2**31, size=n_init).tolist()
        return [RandomMemberships(same, scaling, seed) for seed in seeds]
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
                if "should be >=" in message:
                    message = f"Expected n_samples >= n_components: {message}"
                raise DataError(message) from error
        starts.append(StartLabels(centers, scaling))
    return starts


def sample_rows(rows: Rows, size: int) -> Rows:
    """At most `size` rows, always the same, with weights that stand for all rows."""
    if rows.n_rows is not None and rows.n_rows <= size:
        return rows
    of = partial(RowSample.of, size=size, seed=0, n_rows=rows.n_rows)
    sample = rows.reduce(of)
    schema = Schema(rows.schema.columns)
    source = ArraySource(sample.X, None, sample.weights, schema, coded=True)
    return Rows(source)


def given_array(
    name: str, values: ArrayLike, shape: tuple[int, ...], label: str = ""
) -> np.ndarray:
    """A parameter that is an array, with its shape and cells checked; `label` is what errors call
    its values."""
    array = np.array(number_setting(name, values))
    if array.shape != shape:
        label = label or name.removesuffix("_init")
        raise SettingError(
            f"The parameter {label!r} should have the shape of {shape}, but got {array.shape}:"
            f" set {name}"
        )
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

"""Metrics that NumPy and SciPy compute for many pairs at once: those of scikit-learn's names that
have no kernel of their own, and its `DistanceMetric` objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from lyceum._core.data import Schema
from lyceum._core.distances.metrics import (
    Metric,
    Space,
    as_rows,
    moments_of,
    register_metric,
)
from lyceum.errors import DataError, SettingError, undefined


@dataclass(frozen=True)
class ArraySpace:
    """A comparison of many pairs by array operations: `function(A, B)` is (n, m)."""

    function: Callable[[np.ndarray, np.ndarray], np.ndarray]
    name = "function"
    has_boxes = False

    def set(self, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        """Set out (n, m) to the distances of all pairs."""
        out[:] = self.function(A, B)

    def __iter__(self) -> Iterator[Any]:
        raise SettingError(
            "this method compares rows by compiled kernels, which the metric has not: take"
            " 'euclidean' or another metric of lyceum.distances, or metric='precomputed' where"
            " it is offered, with lyceum.distances.pairwise(X, metric=...)"
        )


class ArrayMetric(Metric):
    """The base of metrics that give the distances of all pairs of two matrices of rows."""

    def _between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        raise undefined(self, "_between")

    @property
    def space(self) -> ArraySpace:  # type: ignore[override]
        return ArraySpace(self._between)


@register_metric("canberra")
@dataclass(frozen=True)
class Canberra(ArrayMetric):
    """The Canberra distance, Σ_j |x_j - y_j| / (|x_j| + |y_j|), where 0 / 0 is 0.

    See Also
    --------
    Manhattan : the same without the denominator.

    Examples
    --------
    >>> from lyceum.distances import Canberra
    >>> Canberra()([1, 0, 2], [3, 0, 2])
    0.5
    """

    def _between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return cdist(A, B, "canberra")


@register_metric("braycurtis")
@dataclass(frozen=True)
class BrayCurtis(ArrayMetric):
    """The Bray-Curtis dissimilarity, Σ_j |x_j - y_j| / Σ_j |x_j + y_j|; of amounts, the share that
    the rows do not have in common. It does not obey the triangle inequality.

    See Also
    --------
    Canberra : divided column by column.

    Examples
    --------
    >>> from lyceum.distances import BrayCurtis
    >>> BrayCurtis()([1, 3], [3, 1])
    0.5
    """

    @property
    def is_metric(self) -> bool:
        """False: the triangle inequality does not hold."""
        return False

    def _between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        distances = cdist(A, B, "braycurtis")
        distances[np.isnan(distances)] = 0.0  # of two rows of zeros
        return distances


@register_metric("haversine")
@dataclass(frozen=True)
class Haversine(ArrayMetric):
    """The length of the shortest way between two points of a sphere of radius 1, given as latitude
    and longitude in radians.

    .. math:: 2 \\arcsin \\sqrt{\\sin^2 \\frac{x_1 - y_1}{2} +
        \\cos x_1 \\cos y_1 \\sin^2 \\frac{x_2 - y_2}{2}}

    See Also
    --------
    Euclidean : on a plane.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.distances import Haversine
    >>> round(Haversine()([0.0, 0.0], [0.0, np.pi / 2]), 4)
    1.5708
    """

    def _between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        if A.shape[1] != 2:
            raise DataError(
                "Haversine distance only valid in 2 dimensions, latitude and longitude in"
                f" radians, but the rows have {A.shape[1]} columns"
            )
        halves = np.sin((A[:, None, :] - B) / 2.0) ** 2
        crossing = np.cos(A[:, None, 0]) * np.cos(B[:, 0])
        chord = halves[:, :, 0] + crossing * halves[:, :, 1]
        return 2.0 * np.arcsin(np.sqrt(np.minimum(chord, 1.0)))


@register_metric("nan_euclidean")
@dataclass(frozen=True)
class NanEuclidean(ArrayMetric):
    """The Euclidean distance of the columns that both rows have, scaled up to all columns.

    .. math:: \\sqrt{\\frac{d}{|K|} \\sum_{j \\in K} (x_j - y_j)^2}

    of the columns K that are known in both; of two rows without such a column it is infinite, where
    scikit-learn's is NaN.

    See Also
    --------
    Gower : divided by the ranges of the columns; takes categories too.

    Examples
    --------
    >>> from lyceum.distances import NanEuclidean
    >>> round(NanEuclidean()([0.0, float("nan")], [3.0, 1.0]), 4)
    4.2426
    """

    takes_missing = True

    @property
    def is_metric(self) -> bool:
        """False: the triangle inequality does not hold."""
        return False

    def _between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        known_a = ~np.isnan(A)
        known_b = ~np.isnan(B)
        cells_a = np.where(known_a, A, 0.0)
        squares = np.zeros((len(A), len(B)))
        for j in range(A.shape[1]):  # differences, not products: digits are kept
            difference = cells_a[:, j, None] - np.nan_to_num(B[:, j])
            both = known_a[:, j, None] & known_b[:, j]
            squares += np.where(both, difference, 0.0) ** 2
        shared = known_a.astype(np.float64) @ known_b.T
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = squares * (A.shape[1] / shared)
        return np.sqrt(np.where(shared > 0, scaled, np.inf))


@register_metric("seuclidean")
@dataclass(frozen=True)
class StandardizedEuclidean(Metric):
    """The Euclidean distance in units of the columns, sqrt(Σ_j (x_j - y_j)² / V_j).

    Parameters
    ----------
    V : array of shape (d,), optional
        The variance of every column; `learn(rows)` learns it.

    See Also
    --------
    Mahalanobis : in units of all directions.

    Examples
    --------
    >>> from lyceum.distances import StandardizedEuclidean
    >>> StandardizedEuclidean([4.0, 1.0])([0, 0], [4, 0])
    2.0
    """

    V: Any = field(default=None)

    @property
    def is_known(self) -> bool:
        """Whether the variances were given or learned."""
        return self.V is not None

    def learn(self, rows: Any) -> StandardizedEuclidean:
        """With the variances (divided by n - 1) of the rows."""
        if self.V is not None:
            return self
        moments = moments_of(as_rows(rows))
        return replace(self, V=moments.scatter / np.maximum(1.0, moments.weight - 1.0))

    @property
    def space(self) -> Space:
        return Space("squares")

    def points(self, X: Any) -> Any:
        if self.V is None:
            raise SettingError(
                "the metric 'seuclidean' needs V, the variances of the columns: give"
                " metric_params={'V': ...}, or learn them by StandardizedEuclidean().learn(rows)"
            )
        variances = np.asarray(self.V, dtype=np.float64)
        n_columns = X.shape[1]
        if variances.shape != (n_columns,) or not (variances >= 0).all():
            raise SettingError(
                f"V must have {n_columns} numbers of at least 0, one per column, but it has the"
                f" shape {variances.shape}"
            )
        # a column without variance has no differences
        return X / np.sqrt(np.where(variances > 0, variances, 1.0))

    def distances(self, raw: np.ndarray, n_columns: int) -> np.ndarray:
        return np.sqrt(raw, out=raw)

    def raw(self, distance: float, n_columns: int) -> float:
        return distance**2


@dataclass(frozen=True)
class TruthMetric(ArrayMetric):
    """The base of metrics of true and false cells: cells other than 0 are true.

    A subclass defines `_of_counts` of the number of columns that are true in both rows, and of
    those in which the rows differ.

    See Also
    --------
    Jaccard : the same where columns that are false in both do not count.

    Examples
    --------
    >>> from lyceum.distances import metric
    >>> x, y = [1, 1, 0, 0], [1, 0, 0, 0]
    >>> names = "dice", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath"
    >>> [round(metric(name)(x, y), 3) for name in names]
    [0.333, 0.4, 0.75, 0.4, 0.667]
    """

    def _of_counts(
        self, both: np.ndarray, unequal: np.ndarray, n_columns: int
    ) -> np.ndarray:
        raise undefined(self, "_of_counts")

    def _between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        true_a = (A != 0).astype(np.float64)
        true_b = (B != 0).astype(np.float64)
        both = true_a @ true_b.T
        unequal = true_a.sum(axis=1)[:, None] + true_b.sum(axis=1) - 2.0 * both
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = self._of_counts(both, unequal, A.shape[1])
        return np.where(unequal + both > 0, distances, self._of_nothing)

    # the distance of two rows without a true cell
    _of_nothing: ClassVar[float] = 0.0


@register_metric("dice")
@dataclass(frozen=True)
class Dice(TruthMetric):
    """The Dice dissimilarity: columns that differ, over these and twice those true in both.

    See Also
    --------
    Jaccard : where columns true in both count once.

    Examples
    --------
    >>> from lyceum.distances import Dice
    >>> Dice()([1, 1, 1, 0], [1, 1, 0, 0])
    0.2
    """

    @property
    def is_metric(self) -> bool:
        """False: the triangle inequality does not hold."""
        return False

    def _of_counts(
        self, both: np.ndarray, unequal: np.ndarray, n_columns: int
    ) -> np.ndarray:
        return unequal / (2.0 * both + unequal)


@register_metric("rogerstanimoto")
@dataclass(frozen=True)
class RogersTanimoto(TruthMetric):
    """The Rogers-Tanimoto distance: columns that differ count twice, above and below.

    See Also
    --------
    Hamming : where they count once.

    Examples
    --------
    >>> from lyceum.distances import RogersTanimoto
    >>> RogersTanimoto()([1, 1, 0, 0], [1, 0, 0, 0])
    0.4
    """

    def _of_counts(
        self, both: np.ndarray, unequal: np.ndarray, n_columns: int
    ) -> np.ndarray:
        return 2.0 * unequal / (n_columns + unequal)


@register_metric("sokalmichener")
@dataclass(frozen=True)
class SokalMichener(RogersTanimoto):
    """What SciPy and scikit-learn call the Sokal-Michener distance: that of Rogers and Tanimoto.

    See Also
    --------
    RogersTanimoto : the same.

    Examples
    --------
    >>> from lyceum.distances import SokalMichener
    >>> SokalMichener()([1, 1, 0, 0], [1, 0, 0, 0])
    0.4
    """


@register_metric("russellrao")
@dataclass(frozen=True)
class RussellRao(TruthMetric):
    """The Russell-Rao dissimilarity: the share of the columns that are not true in both.

    See Also
    --------
    Hamming : the share of the columns that differ.

    Examples
    --------
    >>> from lyceum.distances import RussellRao
    >>> RussellRao()([1, 1, 0, 0], [1, 0, 0, 0])
    0.75
    """

    _of_nothing = 1.0

    @property
    def is_metric(self) -> bool:
        """False: a row need not be at distance 0 from itself."""
        return False

    def _of_counts(
        self, both: np.ndarray, unequal: np.ndarray, n_columns: int
    ) -> np.ndarray:
        return (n_columns - both) / n_columns


@register_metric("sokalsneath")
@dataclass(frozen=True)
class SokalSneath(TruthMetric):
    """The Sokal-Sneath distance: Jaccard's with columns that differ counted twice.

    See Also
    --------
    Jaccard : where they count once.

    Examples
    --------
    >>> from lyceum.distances import SokalSneath
    >>> round(SokalSneath()([1, 1, 0], [1, 0, 0]), 4)
    0.6667
    """

    def _of_counts(
        self, both: np.ndarray, unequal: np.ndarray, n_columns: int
    ) -> np.ndarray:
        return 2.0 * unequal / (both + 2.0 * unequal)


@dataclass(frozen=True)
class ForeignMetric(ArrayMetric):
    """An object with `pairwise(X, Y)`, such as scikit-learn's `DistanceMetric`.

    Parameters
    ----------
    of : object
        Its `pairwise` gives the distances of all pairs of two matrices of rows.

    Examples
    --------
    >>> from sklearn.metrics import DistanceMetric
    >>> from lyceum.distances import metric
    >>> metric(DistanceMetric.get_metric("manhattan"))([0, 0], [3, 4])
    7.0
    """

    of: Any
    name = "foreign"

    @property
    def is_metric(self) -> bool:
        """False: nothing is known of it."""
        return False

    def check_schema(self, schema: Schema) -> None:
        """Any columns."""

    def _between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        # objects for float32 say so in the name of their class, and take nothing else
        kind = np.float32 if type(self.of).__name__.endswith("32") else np.float64
        left = np.ascontiguousarray(A, dtype=kind)
        return self.of.pairwise(left, np.ascontiguousarray(B, dtype=kind))


ARRAY_METRICS: tuple[type[Metric], ...] = (
    BrayCurtis,
    Canberra,
    Dice,
    Haversine,
    NanEuclidean,
    RogersTanimoto,
    RussellRao,
    SokalMichener,
    SokalSneath,
    StandardizedEuclidean,
)

"""Kernel densities of naive Bayes: the values of every class, and their log density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.data import Block
from lyceum._core.statistics import align_labels, classes_of

_JOIN_ABOVE = 4096  # distinct values
_JOIN = 64.0  # parts of a bandwidth in which values are joined
_STEP = 16.0  # nodes of the table in a bandwidth
_NODES = 1 << 16
_NEAR = 4.0  # bandwidths: the table serves cells that have a value as near as this
_CHUNK = 256
_LOG_TOLERANCE = np.log(1e10)


@dataclass(frozen=True, slots=True)
class ClassValues:
    """All cells of some columns, with their classes and weights."""

    classes: np.ndarray
    y: np.ndarray  # (n,) places in `classes`
    X: np.ndarray  # (n, m) float64
    w: np.ndarray  # (n,) positive

    @classmethod
    def of(cls, block: Block, columns: np.ndarray) -> ClassValues:
        assert block.y is not None
        w = block.weights
        used = (w > 0) & (block.y >= 0)
        X = np.asarray(block.X[:, columns], dtype=np.float64)
        return cls(classes_of(block), block.y[used], X[used], w[used])

    def merge(self, other: ClassValues) -> ClassValues:
        classes, here, there = align_labels(self.classes, other.classes)
        y = np.concatenate([here[self.y], there[other.y]]).astype(np.int32)
        return ClassValues(
            classes,
            y,
            np.concatenate([self.X, other.X]),
            np.concatenate([self.w, other.w]),
        )

    def cells(self, column: int, label: object = None) -> tuple[np.ndarray, np.ndarray]:
        """The distinct values of a column in a class, or in all, in order, and their weights."""
        x = self.X[:, column]
        present = ~np.isnan(x)
        if label is not None:
            present &= self.y == np.flatnonzero(self.classes == label)[0]
        values, indices = np.unique(x[present], return_inverse=True)
        return values, np.bincount(indices, self.w[present], len(values))


@dataclass(frozen=True, slots=True)
class KernelLog:
    """The log of a Gaussian kernel density in one dimension, Σ_i w_i N(x; v_i, h²) / Σ_i w_i.

    Near the values it is read from a table by cubic interpolation, elsewhere summed over all values
    whose terms matter. Of more than 4096 distinct values, those within h/64 are replaced by their
    mean. Both change the log density by less than 1e-3 (1e-4 if no values are replaced), and by
    less than 1e-5 of itself where no value is closer than 4 h.
    """

    values: np.ndarray  # (n,) ascending
    weights: np.ndarray  # (n,)
    h: float
    # (2, nodes): log density and its slope times the step, NaN far from the values
    table: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, weights: np.ndarray, h: float) -> KernelLog:
        # from 4 h below the first value to 4 h above the last, unless that takes too many nodes
        values, weights = _join_close_values(values, weights, h)
        bare = cls(values, weights, h, np.empty((2, 0)))
        count = (values[-1] - values[0]) / h * _STEP + 2 * _NEAR * _STEP + 2
        if count > _NODES:
            return bare
        return cls(values, weights, h, bare._make_table(int(count)))

    @property
    def _start(self) -> float:
        return float(self.values[0] - _NEAR * self.h)

    def _make_table(self, count: int) -> np.ndarray:
        x = self._start + np.arange(count) * (self.h / _STEP)
        log, slope = self._sum_terms(x)
        nodes = np.stack([log, slope * (self.h / _STEP)])
        # one node beyond the distance that the table serves, as the last interval needs its end
        far = self._nearest(x) > (_NEAR + 1.0 / _STEP) * self.h
        return np.where(far, np.nan, nodes)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The log density at every x; 0 where x is missing."""
        out = self._interpolate(x)
        rest = np.flatnonzero(np.isnan(out) & ~np.isnan(x))
        if len(rest):
            out[rest] = self._sum_terms(x[rest])[0]
        out[np.isnan(x)] = 0.0
        return out

    def _interpolate(self, x: np.ndarray) -> np.ndarray:
        """Hermite's cubic between the nodes, NaN where the table does not serve."""
        last = self.table.shape[1] - 2
        if last < 0:
            return np.full(len(x), np.nan)
        position = (x - self._start) * (_STEP / self.h)
        inside = (position >= 0) & (position < last + 1)  # not for NaN
        position = np.where(inside, position, 0.0)
        node = position.astype(np.intp)
        t = position - node
        # f, g: value and slope at the node before x; u, v: at the node after it; t from 0 to 1
        f, g = self.table[:, node]
        u, v = self.table[:, node + 1]
        rise = u - f
        second = 3 * rise - 2 * g - v
        third = g + v - 2 * rise
        cubic = f + t * (g + t * (second + t * third))
        return np.where(inside, cubic, np.nan)

    def _nearest(self, x: np.ndarray) -> np.ndarray:
        """The distance to the closest value."""
        index = np.searchsorted(self.values, x)
        below = np.maximum(index - 1, 0)
        above = np.minimum(index, len(self.values) - 1)
        to_left = np.abs(x - self.values[below])
        to_right = np.abs(self.values[above] - x)
        return np.minimum(to_left, to_right)

    def _sum_terms(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log density and slope by sums, for the x in order a few at a time.

        Values farther away than r, r² = nearest² + 2 h² log(1e10 W / min w), add less than 1e-10 of
        the sum.
        """
        order = np.argsort(x, kind="stable")
        ordered = x[order]
        W = self.weights.sum()
        beyond = 2.0 * self.h**2 * (_LOG_TOLERANCE + np.log(W / self.weights.min()))
        reach = np.sqrt(self._nearest(ordered) ** 2 + beyond)
        out = np.empty((2, len(x)))
        # neighbors in order need about the same values: one range of them for a chunk
        for start in range(0, len(x), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            least = np.min(ordered[chunk] - reach[chunk])
            most = np.max(ordered[chunk] + reach[chunk])
            low = np.searchsorted(self.values, least)
            high = np.searchsorted(self.values, most, side="right")
            out[:, order[chunk]] = self._sums(ordered[chunk], slice(low, high))
        out[0] -= np.log(W * self.h * np.sqrt(2.0 * np.pi))
        return out[0], out[1]

    def _sums(self, x: np.ndarray, near: slice) -> np.ndarray:
        """ln Σ_i w_i exp(-u_i²/2) over the values that are near, and its slope
        -Σ_i w_i u_i exp(-u_i²/2) / (h Σ_i ...), both relative to the largest term."""
        u = (x[:, None] - self.values[near]) / self.h
        terms = np.log(self.weights[near]) - 0.5 * u * u
        top = terms.max(axis=1)
        np.exp(terms - top[:, None], out=terms)
        total = terms.sum(axis=1)
        slope = -(terms * u).sum(axis=1) / (total * self.h)
        return np.stack([top + np.log(total), slope])


def kernel_logs(
    values: ClassValues, column: int, classes: np.ndarray, bandwidth: str | float
) -> list[KernelLog] | None:
    """The log densities of a column in every class; None for a column that is constant over all
    rows.

    The reference bandwidth is 1.06 σ n^(-1/5), with σ the standard deviation in the class (that
    over all rows where it is 0) and n the weight. A class without cells has the density of all
    rows.
    """
    all_cells = values.cells(column)
    spread = _deviation(*all_cells)
    if spread == 0.0:
        return None
    densities = []
    for label in classes:
        cells, weights = all_cells
        if label in values.classes:
            cells, weights = values.cells(column, label)
        if not len(cells):
            cells, weights = all_cells
        if isinstance(bandwidth, str):
            sigma = _deviation(cells, weights) or spread
            h = 1.06 * sigma * weights.sum() ** -0.2
        else:
            h = float(bandwidth)
        densities.append(KernelLog.of(cells, weights, h))
    return densities


def _deviation(values: np.ndarray, weights: np.ndarray) -> float:
    """The standard deviation with n - 1; 0 when there are not two values."""
    n = weights.sum()
    if len(values) < 2:
        return 0.0
    # sums, not products of vectors: those of a threaded BLAS depend on the number of threads
    centered = values - values[0]
    centered = centered - (weights * centered).sum() / n
    scatter = (weights * centered**2).sum()
    return float(np.sqrt(scatter / (n - 1.0 if n > 1.0 else n)))


def _join_close_values(
    values: np.ndarray, weights: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """Values in cells of h/64 at their mean, if there are many."""
    if len(values) <= _JOIN_ABOVE:
        return values, weights
    # the values ascend, so that those of a cell follow each other
    centered = values - values[0]
    cell = np.floor(centered * (_JOIN / h))
    first = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
    together = np.add.reduceat(weights, first)
    return values[0] + np.add.reduceat(weights * centered, first) / together, together

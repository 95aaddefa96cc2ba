"""Divisions of clusters into two: by two means, or by a splinter group."""

from __future__ import annotations

import numpy as np

from lyceum._core.data import ArraySource, Block, Rows, Schema
from lyceum._core.distances import nearest_center
from lyceum.cluster.kmeans.geometry import GEOMETRIES
from lyceum.cluster.kmeans.loop import descend
from lyceum.progress import report


class Division:
    """Clusters as arrays of row numbers, and the divisions that made them: by 2-means, or with the
    distances D of all pairs by splinter groups."""

    def __init__(self, block: Block, D: np.ndarray | None):
        self.w = block.weights
        self.schema = block.schema
        self.D = D
        self.X = np.empty((len(block), 0))
        if D is None:
            self.X = np.asarray(block.dense, dtype=np.float64)
        # clusters are known by the identity of their arrays, which live as long as `_parts`
        every_row = np.arange(len(block))
        self.clusters = [every_row]
        self.widths = [self._width_of(every_row)]
        self.heights: list[float] = []
        self.centers: list[np.ndarray] = []
        # the two parts of every division
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        # the division of every array of rows that was divided
        self._divided: dict[int, int] = {}

    def run(self, k: int) -> None:
        """Divide the widest cluster until there are k, or none can be divided."""
        while len(self.clusters) < k and max(self.widths) > 0:
            report("clusters", len(self.clusters), k)
            widest = int(np.argmax(self.widths))
            rows = self.clusters[widest]
            parts = self._divide(rows)
            if parts is None:
                self.widths[widest] = 0.0
                continue
            height = self.widths[widest]
            widths = [self._width_of(part) for part in parts]
            # Ward's height: a merge adds height² / 2 to the sum of squares
            if self.D is None:
                height = np.sqrt(2 * max(0.0, height - sum(widths)))
            self.heights.append(float(height))
            self._divided[id(rows)] = len(self._parts)
            self._parts.append(parts)
            self.clusters[widest : widest + 1] = parts
            self.widths[widest : widest + 1] = widths

    def _width_of(self, rows: np.ndarray) -> float:
        """The sum of squares of some rows, or their diameter."""
        if self.D is not None:
            return float(self.D[np.ix_(rows, rows)].max())
        X = self.X[rows]
        w = self.w[rows]
        mean = w @ X / w.sum()
        return float(w @ ((X - mean) ** 2).sum(axis=1))

    def _divide(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        if self.D is not None:
            # DIANA (Kaufman and Rousseeuw 1990)
            D = self.D[np.ix_(rows, rows)]
            second = splinter(D, self.w[rows])
            return rows[~second], rows[second]
        centers = two_means(self.X[rows], self.w[rows], self.schema)
        if centers is None:
            return None
        # by the centers themselves, so that `predict` divides alike
        second = nearest_center(self.X[rows], centers)[0] == 1
        if second.all() or not second.any():
            return None
        self.centers.append(centers)
        return rows[~second], rows[second]

    def parts(self, number: dict[int, int]) -> np.ndarray:
        """For every division its two parts: a later division, or the cluster c as -1 - c."""
        numbers = []
        for pair in self._parts:
            for part in pair:
                if id(part) in number:
                    numbers.append(-1 - number[id(part)])
                else:
                    numbers.append(self._divided[id(part)])
        return np.array(numbers, dtype=np.int64).reshape(-1, 2)


def two_means(
    X: np.ndarray,
    w: np.ndarray,
    schema: Schema,
) -> np.ndarray | None:
    """The centers of the two halves by 2-means, started on both sides of the mean; None for equal
    rows.

    The start lies one standard deviation along the principal axis, so that chance plays no part.
    """
    mean = w @ X / w.sum()
    roots = np.sqrt(w / w.sum())
    Z = (X - mean) * roots[:, None]
    variance, axis = _principal_axis(Z)
    # equal rows: their variance is at most rounding of the mean
    size = max(1.0, float(np.abs(mean).max()))
    if not variance > 1e-28 * size**2:
        return None
    # an axis has two directions: the one whose largest entry is positive
    largest = axis[np.argmax(np.abs(axis))]
    step = np.sqrt(variance) * axis * np.sign(largest)
    source = ArraySource(np.ascontiguousarray(X), None, np.ascontiguousarray(w), schema)
    run = descend(
        rows=Rows(source),
        centers=np.stack([mean - step, mean + step]),
        geometry=GEOMETRIES["euclidean"],
        max_iter=100,
        tol=1e-8,
    )
    if (run.last.weights > 0).all():
        return run.centers
    return None


def _principal_axis(Z: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest eigenvalue of ZᵀZ and its eigenvector, by the smaller of ZᵀZ and ZZᵀ.

    >>> _principal_axis(np.array([[3.0, 0.0, 4.0]]))              # ZZᵀ is 25
    (25.0, array([0.6, 0. , 0.8]))
    """
    n, d = Z.shape
    if d <= n:
        values, axes = np.linalg.eigh(Z.T @ Z)
        return float(values[-1]), axes[:, -1]
    values, axes = np.linalg.eigh(Z @ Z.T)
    axis = Z.T @ axes[:, -1]
    length = float(np.linalg.norm(axis))
    return float(values[-1]), axis / length if length else axis


def splinter(D: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Which rows leave a cluster with the distances D (Macnaughton-Smith and others 1964).

    The row with the largest mean distance to the others leaves first; then, one after another, the
    row that is on average nearer to those that left than to those that stay, by the largest
    difference.

    >>> splinter(np.abs(np.subtract.outer([0.0, 1.0, 7.0], [0.0, 1.0, 7.0])), np.ones(3)).tolist()
    [False, False, True]
    """
    n = len(D)
    left = np.zeros(n, dtype=bool)
    # weighted sums of the distances of every row to those that stay and those that left; a row
    # leaves if its mean distance to the former exceeds that to the latter, the largest gain first
    to_stay = D @ w
    to_left = np.zeros(n)
    stay_weight = float(w.sum())
    left_weight = 0.0
    while (~left).sum() > 1:
        others = np.maximum(stay_weight - w, 1e-300)
        gain = np.where(left, -np.inf, to_stay / others)
        if left_weight:
            gain = gain - to_left / left_weight
        row = int(np.argmax(gain))
        if left_weight and not gain[row] > 0:
            break
        left[row] = True
        to_stay = to_stay - w[row] * D[row]
        to_left = to_left + w[row] * D[row]
        stay_weight = stay_weight - w[row]
        left_weight = left_weight + w[row]
    return left

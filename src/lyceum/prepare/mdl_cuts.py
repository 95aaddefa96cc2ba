"""Where to cut numbers: by the minimum description length of the classes, by width, by
frequency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.data import Block
from lyceum._core.statistics import entropy


@dataclass(frozen=True, slots=True)
class ClassBins:
    """The weight of every class between neighboring cuts of some columns; merges.

    Attributes
    ----------
    counts : tuple of arrays of shape (cuts + 1, classes)
        For every column; missing cells are left out.
    """

    counts: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls, block: Block, columns: tuple[int, ...], cuts: tuple[np.ndarray, ...]
    ) -> ClassBins:
        """The counts of a block.

        Parameters
        ----------
        block : Block
            Its target has classes.
        columns : places of columns
        cuts : ascending arrays, one per column
        """
        K = block.n_classes
        y = block.y
        assert y is not None
        tables = []
        for j, edges in zip(columns, cuts):
            x = np.asarray(block.X[:, j], dtype=np.float64)
            keep = ~np.isnan(x) & (y >= 0)
            cells = np.searchsorted(edges, x[keep], side="left") * K + y[keep]
            if block.w is None:
                w = None
            else:
                w = block.w[keep]
            tables.append(
                np.bincount(cells, w, (len(edges) + 1) * K)
                .astype(np.float64)
                .reshape(-1, K)
            )
        return cls(tuple(tables))

    def merge(self, other: ClassBins) -> ClassBins:
        return ClassBins(
            tuple(one + two for one, two in zip(self.counts, other.counts))
        )


def mdl_cuts(edges: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The cuts that shorten the description of the classes (Fayyad and Irani 1993).

    A stretch S of N rows is cut at T, the place of the least class entropy, if the information gain
    is more than [log₂(N - 1) + log₂(3^k - 2) - k H(S) + k₁ H(S₁) + k₂ H(S₂)] / N, where k is the
    number of classes in a stretch; then both parts are cut in the same way.

    Parameters
    ----------
    edges : ascending array of shape (m,)
        Where a cut is possible.
    counts : array of shape (m + 1, classes)
        The weight of every class between them.

    Examples
    --------
    >>> counts = np.array([[9.0, 0.0], [9.0, 1.0], [0.0, 9.0], [1.0, 9.0]])
    >>> mdl_cuts(np.array([1.0, 2.0, 3.0]), counts).tolist()
    [2.0]
    """
    sums = np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    cuts: list[int] = []
    waiting = [(0, len(counts))]
    while waiting:
        start, stop = waiting.pop()
        at = _best_cut(sums, start, stop)
        if at is not None:
            cuts.append(at)
            waiting += [(start, at), (at, stop)]
    return edges[np.sort(np.array(cuts, dtype=int)) - 1]


def _best_cut(sums: np.ndarray, start: int, stop: int) -> int | None:
    """The place of the best cut of a stretch of bins, None if it does not pay."""
    if stop - start < 2:
        return None
    whole = sums[stop] - sums[start]
    left = sums[start + 1 : stop] - sums[start]
    right = whole - left
    N = whole.sum()
    n_left = left.sum(axis=1)
    n_right = right.sum(axis=1)
    if not N > 1:
        return None
    bits = n_left * entropy(left) + n_right * entropy(right)
    bits[(n_left <= 0) | (n_right <= 0)] = np.inf
    at = int(bits.argmin())
    if not np.isfinite(bits[at]):
        return None
    H = entropy(whole)
    gain = H - bits[at] / N
    k, k1, k2 = (int((part > 0).sum()) for part in (whole, left[at], right[at]))
    pieces = k1 * entropy(left[at]) + k2 * entropy(right[at])
    delta = k * np.log2(3.0) + np.log2(1 - 2 * 3.0**-k) - (k * H - pieces)
    if gain > (np.log2(N - 1) + delta) / N:
        return start + 1 + at
    return None


def width_cuts(low: float, high: float, n_bins: int) -> np.ndarray:
    """n_bins - 1 cuts at equal distances."""
    if high > low:
        return np.linspace(low, high, n_bins + 1)[1:-1]
    return np.empty(0)

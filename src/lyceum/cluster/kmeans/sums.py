"""One pass of k-means: sums of the rows nearest to every center, and the rows farthest from
theirs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from lyceum._core.data import Block, dense_cells
from lyceum._core.distances import nearest_center
from lyceum._core.native import native
from lyceum.cluster.kmeans.bounds import LloydBounds


@dataclass(frozen=True, slots=True)
class LloydSums:
    """For every center the weight and the sum of its rows, and the weighted squared distances of
    all rows.

    A row belongs to its nearest center, the first of equally near ones.

    >>> from lyceum.cluster.kmeans.sums import LloydSums
    >>> from lyceum.data import scan
    >>> import numpy as np
    >>> rows = scan(np.array([[0.0], [1.0], [9.0]]))
    >>> pass_ = rows.reduce(lambda block: LloydSums.of(block, centers=np.array([[0.0], [10.0]])))
    >>> pass_.weights.tolist(), pass_.sums.ravel().tolist(), pass_.inertia
    ([2.0, 1.0], [1.0, 9.0], 2.0)
    """

    n_rows: int
    sums: np.ndarray  # (k, d)
    weights: np.ndarray  # (k,)
    inertia: float  # sum of w |x - nearest center|^2
    # the weight of the rows that had another nearest center before, if requested
    moved: float = 0.0
    compared: int = 0  # how many rows were compared with all centers

    @classmethod
    def of(
        cls,
        block: Block,
        centers: np.ndarray,
        before: np.ndarray | None = None,
        bounds: LloydBounds | None = None,
    ) -> LloydSums:
        """The sums of one block; with the centers of the pass `before`, the weight of rows that
        moved too."""
        if sparse.issparse(block.X):
            sums = cls._of_sparse(block, centers)
        else:
            sums = cls._of_dense(block, centers, bounds)
        # the rest is a second search for the nearest centers, asked for where it may end the loop
        if before is None:
            return sums
        labels = nearest_center(block.X, centers)[0]
        labels_before = nearest_center(block.X, before)[0]
        moved = block.weights[labels != labels_before].sum()
        return replace(sums, moved=float(moved))

    @classmethod
    def _of_dense(
        cls, block: Block, centers: np.ndarray, bounds: LloydBounds | None
    ) -> LloydSums:
        sums = np.zeros(centers.shape)
        weights = np.zeros(len(centers))
        X = block.X
        centers = centers.astype(X.dtype, copy=False)
        if bounds is None:
            inertia = native.lloyd(X, centers, block.w, sums, weights)
            return cls(len(block), sums, weights, inertia, compared=len(block))
        # slices are views: the kernel writes the labels and bounds of these rows for the next pass
        rows = slice(block.start, block.start + len(block))
        state = (bounds.labels[rows], bounds.lower[rows], bounds.moves)
        inertia, compared = native.bounded_lloyd(
            X, centers, block.w, *state, sums, weights
        )
        return cls(len(block), sums, weights, inertia, compared=compared)

    @classmethod
    def _of_sparse(cls, block: Block, centers: np.ndarray) -> LloydSums:
        labels, squares = nearest_center(block.X, centers)
        w = block.weights
        # member[k, i] is the weight of row i if k is its center
        cells = (w, (labels, np.arange(len(w))))
        member = sparse.csr_array(cells, shape=(len(centers), len(w)))
        X = block.X.astype(np.float64, copy=False)
        sums = (member @ X).toarray()
        weights = np.bincount(labels, w, len(centers))
        inertia = float(w @ squares)
        return cls(len(block), sums, weights, inertia, compared=len(block))

    def merge(self, other: LloydSums) -> LloydSums:
        return LloydSums(
            self.n_rows + other.n_rows,
            self.sums + other.sums,
            self.weights + other.weights,
            self.inertia + other.inertia,
            self.moved + other.moved,
            self.compared + other.compared,
        )

    def has_same_sums(self, other: LloydSums | None) -> bool:
        """Whether sums and weights are those of another pass, bit by bit."""
        if other is None or not np.array_equal(self.sums, other.sums):
            return False
        return np.array_equal(self.weights, other.weights)

    def has_few_moved(self, share: float) -> bool:
        """Whether at most this share of the rows changed their cluster."""
        return bool(self.moved <= share * self.weights.sum())

    def with_rows_moved(self, farthest: FarthestRows, empty: np.ndarray) -> LloydSums:
        """Each of the `empty` clusters takes one of the farthest rows from the cluster that it is
        in."""
        sums = self.sums.copy()
        weights = self.weights.copy()
        rows = zip(farthest.X, farthest.weights, farthest.labels)
        for k, (x, w, label) in zip(empty, rows):
            sums[label] -= w * x
            weights[label] -= w
            sums[k] = w * x
            weights[k] = w
        return replace(self, sums=sums, weights=weights)


@dataclass(frozen=True, slots=True)
class FarthestRows:
    """The `size` distinct rows farthest from their nearest centers, with the weight of all rows
    like them.

    Rows on a center and rows with zero weight are ignored. Equal distances are ordered by the
    cells.

    >>> from lyceum.cluster.kmeans.sums import FarthestRows
    >>> from lyceum.data import scan
    >>> import numpy as np
    >>> rows = scan(np.array([[0.0], [5.0], [3.0], [5.0]]))
    >>> far = rows.reduce(lambda block: FarthestRows.of(block, centers=np.zeros((1, 1)), size=2))
    >>> far.X.ravel().tolist(), far.squares.tolist(), far.weights.tolist()
    ([5.0, 3.0], [25.0, 9.0], [2.0, 1.0])
    """

    size: int
    X: np.ndarray  # (m, d) float64
    squares: np.ndarray  # (m,) squared distances, descending
    weights: np.ndarray  # (m,)
    labels: np.ndarray  # (m,) the nearest center

    @classmethod
    def of(
        cls,
        block: Block,
        centers: np.ndarray,
        size: int,
    ) -> FarthestRows:
        labels, squares = nearest_center(block.X, centers)
        w = block.weights
        candidates = np.flatnonzero((w > 0) & (squares > 0))
        # Equal rows have equal distances: cut at the size-th distinct distance.
        distinct = np.unique(squares[candidates])
        if len(distinct) > size:
            candidates = candidates[squares[candidates] >= distinct[-size]]
        cells = np.asarray(dense_cells(block.X[candidates]), dtype=np.float64)
        values = (squares[candidates], w[candidates], labels[candidates])
        return cls(size, *_first_distinct(size, cells, *values))

    def merge(self, other: FarthestRows) -> FarthestRows:
        pairs = zip(self._values(), other._values())
        both = (np.concatenate(pair) for pair in pairs)
        return FarthestRows(self.size, *_first_distinct(self.size, *both))

    def _values(self) -> tuple[np.ndarray, ...]:
        return self.X, self.squares, self.weights, self.labels

    def __len__(self) -> int:
        return len(self.squares)


def _first_distinct(
    size: int,
    X: np.ndarray,
    squares: np.ndarray,
    weights: np.ndarray,
    labels: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """The first `size` distinct rows by descending distance, with the summed weights of equal
    rows."""
    # ties of distance in the order of the cells, so that equal rows stand together
    order = np.lexsort((*X.T[::-1], -squares))
    X = X[order]
    squares = squares[order]
    weights = weights[order]
    labels = labels[order]
    if not len(X):
        return X, squares, weights, labels
    differs = (X[1:] != X[:-1]).any(axis=1)
    first = np.flatnonzero(np.append(True, differs))
    weights = np.add.reduceat(weights, first)
    first = first[:size]
    return X[first], squares[first], weights[:size], labels[first]

"""The starting centers of k-means, chosen on a sample of the rows that does not depend on the
blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise as pairwise_items
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import dense_cells
from lyceum._core.distances import Euclidean, pairwise
from lyceum._core.statistics import RowSample
from lyceum._core.types import Data
from lyceum.cluster.hierarchy.linkage import cut_merges, link_rows


class Points:
    """Distinct rows in the order of their cells, with their summed weights.

    A row of weight 2 is the same as two equal rows, and the order of the rows does not matter.
    """

    def __init__(self, X: Any, w: np.ndarray):
        first, groups = distinct_rows(X)
        self.X = X[first]
        self.w = np.bincount(groups, w)
        self.groups = groups  # the point of every row
        self.cells = self.X.astype(np.float64)

    @classmethod
    def of(cls, sample: RowSample | Points) -> Points:
        if isinstance(sample, Points):
            return sample
        return cls(sample.X, sample.weights)

    def __len__(self) -> int:
        return len(self.w)

    def squares(self, chosen: np.ndarray) -> np.ndarray:
        """Squared distances from the chosen points to all, (len(chosen), n)."""
        return self.squares_from(self.cells[chosen])

    def squares_from(self, rows: Any) -> np.ndarray:
        """Squared distances from other rows to all points, (len(rows), n)."""
        return pairwise(rows, self.cells, metric="squared_euclidean")

    @property
    def mean(self) -> np.ndarray:
        return self.w @ self.cells / self.w.sum()

    def rows(self, chosen: Any) -> np.ndarray:
        return dense_cells(self.cells[chosen])

    def means(self, labels: np.ndarray, k: int) -> np.ndarray:
        """The weighted mean of the points of every label."""
        cells = (self.w, (labels, np.arange(len(self))))
        member = sparse.csr_array(cells, shape=(k, len(self)))
        sums = dense_cells(member @ self.cells)
        return sums / np.bincount(labels, self.w, k)[:, None]


def canonical_ranks(X: Data) -> np.ndarray:
    """The rank of every row in the order of the cells; equal rows have equal ranks."""
    return distinct_rows(X)[1]


def distinct_rows(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The number of one row of each kind, in the order of their cells, and the kind of every
    row."""
    if sparse.issparse(X):
        order, is_new = _sort_sparse(X)
    else:
        order, is_new = _sort_dense(X)
    groups = np.empty(len(order), dtype=np.intp)
    groups[order] = np.cumsum(is_new) - 1
    return order[is_new], groups


def _sort_dense(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows in lexicographic order, and which of them differ from the one before."""
    # + 0.0: a negative zero is a zero
    bits = np.ascontiguousarray(X + 0.0, dtype=np.float64).view(np.int64)
    # Bytes compare like numbers once the sign is flipped, and all bits of the negative ones; the
    # largest byte first.
    sign = np.int64(-(2**63))
    flipped = np.where(bits < 0, ~bits, bits ^ sign).astype(">i8")
    keys = np.ascontiguousarray(flipped).view(f"V{8 * X.shape[1]}").ravel()
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    return order, np.append(True, keys[1:] != keys[:-1])


def _sort_sparse(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows in the lexicographic order of all their cells, stored or not, and which differ from
    the one before."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    # A cell at column j decides against a zero: a positive one the more upward the smaller j is, a
    # negative one downward. With ±(d - j) before every cell, and 0 behind the last, lists compare
    # like dense rows.
    turns = np.sign(X.data) * (X.shape[1] - X.indices)
    pairs = np.column_stack([turns, X.data]).ravel()
    cells = [
        [*pairs[2 * begin : 2 * end].tolist(), 0.0]
        for begin, end in pairwise_items(X.indptr.tolist())
    ]
    order = sorted(range(len(cells)), key=cells.__getitem__)
    changes = [cells[i] != cells[j] for i, j in pairwise_items(order)]
    return np.array(order, dtype=np.intp), np.array([True, *changes])


# of a sample, or of its points
Start = Callable[[Any, int, np.random.RandomState], np.ndarray]


def _draw(
    mass: np.ndarray,
    rng: np.random.RandomState,
    count: int,
) -> np.ndarray:
    """Positions drawn with probabilities in proportion to `mass`."""
    # the inverse of the cumulative distribution; rounding may lead one past its end
    cumulative = np.cumsum(mass)
    drawn = rng.random_sample(count) * cumulative[-1]
    positions = np.searchsorted(cumulative, drawn, side="right")
    return np.minimum(positions, len(mass) - 1)


def _repeat_to(chosen: list[int], k: int) -> np.ndarray:
    """k positions; with fewer distinct points than clusters, some are repeated."""
    return np.resize(np.array(chosen, dtype=np.intp), k)


def random_rows(
    sample: RowSample,
    k: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Distinct rows, drawn one after another with probabilities in proportion to their weights."""
    points = Points.of(sample)
    mass = points.w.copy()
    chosen = []
    for _ in range(min(k, len(points))):
        chosen.append(int(_draw(mass, rng, 1)[0]))
        mass[chosen[-1]] = 0.0
    return points.rows(_repeat_to(chosen, k))


def plus_plus(
    sample: RowSample,
    k: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Greedy k-means++ (Arthur and Vassilvitskii 2007).

    Each next center is drawn in proportion to the squared distance to the nearest one so far; of 2
    + ln k candidates the one is taken that lowers the sum of squared distances most.
    """
    points = Points.of(sample)
    # as in scikit-learn
    trials = 2 + int(np.log(k))
    chosen = [int(_draw(points.w, rng, 1)[0])]
    nearest = points.squares(np.array(chosen))[0]
    while len(chosen) < min(k, len(points)):
        # no mass is left where every point is a center
        mass = points.w * nearest
        if not mass.any():
            break
        drawn = _draw(mass, rng, trials)
        after = np.minimum(points.squares(drawn), nearest)
        best = int(np.argmin(after @ points.w))
        chosen.append(int(drawn[best]))
        nearest = after[best]
    return points.rows(_repeat_to(chosen, k))


def furthest_first(
    sample: RowSample,
    k: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """The row farthest from the mean, then always the one farthest from those chosen (Gonzalez
    1985)."""
    points = Points.of(sample)
    from_mean = points.squares_from(points.mean[None])[0]
    chosen = [int(np.argmax(from_mean))]
    nearest = points.squares(np.array(chosen))[0]
    while len(chosen) < min(k, len(points)) and nearest.any():
        chosen.append(int(np.argmax(nearest)))
        to_last = points.squares(np.array(chosen[-1:]))[0]
        nearest = np.minimum(nearest, to_last)
    return points.rows(_repeat_to(chosen, k))


_TREE_ROWS = 1024


def hierarchical(
    sample: RowSample,
    k: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """The means of k clusters cut from Ward's tree of at most max(1024, 4 k) rows; not random."""
    size = max(_TREE_ROWS, 4 * k)
    points = Points.of(sample)
    if len(points) > size:
        points = Points.of(sample.head(size))
    if len(points) <= k:
        return points.rows(_repeat_to(list(range(len(points))), k))
    merges = link_rows(points.cells, "ward", Euclidean(), points.w)
    # n - k of the n - 1 merges leave k clusters
    labels = cut_merges(merges, np.arange(len(merges)) < len(points) - k)
    return points.means(labels, k)


def widest_apart(
    sample: RowSample,
    k: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Four times as many random rows, and of these the k widest apart, chosen as by
    `furthest_first`."""
    points = Points.of(sample)
    drawn = np.unique(_draw(points.w, rng, 4 * k))
    squares = points.squares(drawn)[:, drawn]
    # first the row farthest from all others together
    chosen = [int(np.argmax(squares.sum(axis=1)))]
    nearest = squares[chosen[0]]
    while len(chosen) < min(k, len(drawn)):
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, squares[chosen[-1]])
    return points.rows(drawn[_repeat_to(chosen, k)])


def in_space(
    sample: RowSample,
    k: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Points drawn evenly from the smallest box around the rows."""
    points = Points.of(sample)
    cells = points.cells
    ends = (cells.min(axis=0), cells.max(axis=0))
    low, high = (np.asarray(dense_cells(end)).ravel() for end in ends)
    return low + rng.random_sample((k, len(low))) * (high - low)


STARTS: dict[str, Start] = {
    "k-means++": plus_plus,
    "random": random_rows,
    "furthest-first": furthest_first,
    "hierarchical": hierarchical,
    "widest-apart": widest_apart,
    "space": in_space,
}
_NOT_RANDOM = {"furthest-first", "hierarchical"}


def n_runs(init: Any, n_init: int | str) -> int:
    """How many starts: 10 by default where one alone is often bad, and one where chance plays no
    part."""
    if not isinstance(init, str) and not callable(init):
        return 1
    if n_init == "auto":
        often_bad = callable(init) or init in ("random", "space", "widest-apart")
        return 10 if often_bad else 1
    if init in _NOT_RANDOM:
        return 1
    return int(n_init)


def from_callable(
    init: Callable,
    sample: RowSample,
    k: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """The user's function of the sampled rows, in their original order."""
    # samples are held in the order of their keys
    order = np.argsort(sample.rows)
    centers = init(sample.X[order], k, random_state=rng)
    return np.asarray(centers, dtype=np.float64)


def choose_starts(
    init: str | Callable,
    sample: RowSample,
    k: int,
    rng: np.random.RandomState,
    n_init: int | str,
) -> list[np.ndarray]:
    """The centers of every run; the points of the sample are found once for all."""
    if isinstance(init, str):
        start = STARTS[init]
    else:
        start = partial(from_callable, init)
    takes_sample = callable(init) or init in _NOT_RANDOM
    source: Any = sample if takes_sample else Points.of(sample)
    return [start(source, k, rng) for _ in range(n_runs(init, n_init))]

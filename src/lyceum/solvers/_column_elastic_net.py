"""The elastic net on columns in memory, for more columns than a Gram matrix should have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from lyceum._native import native
from lyceum._threads import ordered_map
from lyceum.solvers._gram_elastic_net import (
    GramElasticNet,
    RoundObserver,
    Solution,
    gap_of,
    newton_on_support,
)

__all__ = ["ColumnElasticNet", "ColumnStore", "DenseColumns", "SparseColumns"]

_EPS = float(np.finfo(np.float64).eps)
_SMALL = 2000  # columns whose Gram matrix is cheap whatever the number of rows
_EPOCHS = 100  # epochs of coordinate descent from one Newton step on the support to the next


@dataclass(frozen=True)
class DenseColumns:
    """Centred columns as the rows of a (d, n) array, with the Gram matrix of those that were ever chosen.

    Attributes
    ----------
    XT : array
        The design, transposed.
    mean : array
        Zeros: the columns are centred in place.
    norms : array
        The lengths of the centred columns.
    gram : _GrowingGram
        Products of columns that were needed so far.
    """

    XT: np.ndarray
    mean: np.ndarray
    norms: np.ndarray
    gram: _GrowingGram = field(default_factory=lambda: _GrowingGram())

    def products(self, chosen: np.ndarray, u: np.ndarray, c: float, out: np.ndarray) -> None:
        native.dense_column_products(self.XT, self.mean, chosen, u, c, out)

    def residual(self, y: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
        on = np.flatnonzero(b)
        return y - b[on] @ self.XT[on], 0.0

    def descend(self, problem: ColumnElasticNet, chosen, b, *how) -> tuple[int, float]:
        u, c = self.residual(problem.y, b)
        return native.dense_column_descent(self.XT, self.mean, self.norms, problem.y, chosen, u, c, b, *how)[
            :2
        ]

    def corner(self, on: np.ndarray) -> np.ndarray:
        X = self.XT[on]
        return X @ X.T


class _GrowingGram:
    """Products of the columns chosen so far; a new choice adds its own."""

    def __init__(self) -> None:
        self.members = np.empty(0, np.int32)
        self.Q = np.empty((0, 0))

    def of(self, XT: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        new = np.setdiff1d(chosen, self.members)
        if len(new) + len(self.members) > 2 * len(chosen) + 64:  # more of the past than of the present
            self.members, new = self.members[:0], chosen
        if len(new):
            self._add(XT, new)
        return self.members, self.Q

    def _add(self, XT: np.ndarray, new: np.ndarray) -> None:
        m, size = len(self.members), len(self.members) + len(new)
        Q = np.empty((size, size))
        Q[:m, :m] = self.Q[:m, :m]
        self.members = np.concatenate([self.members, new])
        fresh = XT[new]
        for at, part in ordered_map(lambda at: (at, XT[self.members[at]] @ fresh.T), _slices(size, 256)):
            Q[at, m:] = part
        Q[m:, :m] = Q[:m, m:].T
        self.Q = Q


@dataclass(frozen=True)
class SparseColumns:
    """CSC columns x_j, which stand for x_j - mean_j s without its zeros filled in.

    Attributes
    ----------
    start : array
        Where every column starts, as in a CSC array.
    index : array
        The row of every stored cell.
    data : array
        The cells.
    s : array of shape (n,)
        Roots of the weights, of length one; zeros without an intercept.
    mean : array
        The means of the columns.
    norms : array
        The lengths of the centred columns.
    """

    start: np.ndarray
    index: np.ndarray
    data: np.ndarray
    s: np.ndarray
    mean: np.ndarray
    norms: np.ndarray

    def products(self, chosen: np.ndarray, u: np.ndarray, c: float, out: np.ndarray) -> None:
        native.sparse_column_products(self.start, self.index, self.data, self.mean, chosen, u, c, out)

    def residual(self, y: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
        on = np.flatnonzero(b)
        lengths = np.diff(self.start)[on]
        before = np.cumsum(lengths) - lengths
        cells = np.arange(lengths.sum()) + np.repeat(self.start[on] - before, lengths)
        fitted = np.bincount(self.index[cells], self.data[cells] * np.repeat(b[on], lengths), len(y))
        u = y - fitted
        return u, -float(self.s @ u)

    def descend(self, problem: ColumnElasticNet, chosen, b, *how) -> tuple[int, float]:
        u, c = self.residual(problem.y, b)
        return native.sparse_column_descent(
            self.start, self.index, self.data, self.mean, self.norms, problem.y, chosen, u, c, b, *how
        )[:2]

    def corner(self, on: np.ndarray) -> np.ndarray:
        shape = (len(self.s), len(self.norms))
        X = sparse.csc_array((self.data, self.index, self.start), shape=shape)[:, on]
        return (X.T @ X).toarray() - np.outer(self.mean[on], self.mean[on])


ColumnStore = DenseColumns | SparseColumns


@dataclass(frozen=True)
class ColumnElasticNet:
    """The problem on columns: working sets within a growing choice, certified by the gap over all columns.

    A round solves the problem on the chosen columns alone, then looks at all others. The first choice is that
    of the strong rule (Tibshirani et al., 2012): columns whose gradient at the last solution comes within
    l1 - (l1_last - l1) of the bound. Columns of the largest violations join it, at most as many as there are.
    Columns that the gap proves to be zero (Ndiaye, Fercoq, Gramfort and Salmon, 2017) are not looked at again
    for this penalty.

    Attributes
    ----------
    columns : ColumnStore
        The design, column by column.
    y : array
        The target, centred.
    yy : float
        Its sum of squares.
    """

    columns: ColumnStore
    y: np.ndarray
    yy: float

    @cached_property
    def last(self) -> _Last:
        return _Last(np.zeros(len(self.xy)), self.xy.copy())

    @cached_property
    def xy(self) -> np.ndarray:
        everything = np.flatnonzero(self.columns.norms > 0).astype(np.int32)
        out = np.zeros(len(self.columns.norms))
        out[everything] = self._products(everything, self.y, 0.0)
        return out

    def corner(self, on: np.ndarray) -> np.ndarray:
        """XᵀX of some columns."""
        return self.columns.corner(on)

    def squares(self, coef: np.ndarray) -> float:
        u, c = self.columns.residual(self.y, coef)
        return max(0.0, float(u @ u) - c * c)

    def solve(
        self,
        l1: float,
        l2: float,
        start: np.ndarray,
        tolerance: float,
        max_iter: int,
        observer: RoundObserver | None = None,
    ) -> Solution:
        b = np.array(start, dtype=np.float64)
        live = np.flatnonzero(self.columns.norms > 0).astype(np.int32)
        if b.any() and not np.array_equal(b, self.last.coef):
            self._look(live, b, l1, l2)
        elif not b.any():
            self.last.coef, self.last.gradient = b.copy(), self.xy.copy()
        chosen, gap = self._first_choice(live, b, l1, l2), np.inf
        epochs, history, inner = 0, [], 0.3 * tolerance
        while gap > tolerance and epochs < max_iter:
            epochs += self._descend(chosen, b, l1, l2, inner, max_iter - epochs)
            before, state = gap, self._look(live, b, l1, l2)
            gap = state.gap
            history.append(gap)
            if observer:
                observer(b, gap, epochs)
            live = self._screened(state, b, l1, l2)
            grown = self._grow_set(chosen, state, l1)
            if len(grown) == len(chosen):
                if gap >= before and gap <= 64 * _EPS * self.yy:
                    break  # rounding hides the rest
                inner = max(0.1 * inner, _EPS * self.yy)
            chosen = grown
        return Solution(b, gap, epochs, history, gap <= max(tolerance, 64 * _EPS * self.yy))

    def _descend(
        self, chosen: np.ndarray, b: np.ndarray, l1: float, l2: float, tolerance: float, most: int
    ) -> int:
        """Solve over the chosen columns: on their Gram matrix while that is small, else on the columns.

        There too Newton steps on the support help when coordinate descent is slow.
        """
        columns = self.columns
        if isinstance(columns, DenseColumns) and len(chosen) <= max(2 * len(self.y), _SMALL):
            members, Q = columns.gram.of(columns.XT, chosen)
            found = GramElasticNet(Q, self.xy[members], self.yy).solve(l1, l2, b[members], tolerance, most)
            b[members] = found.coef
            return found.n_iter
        epochs, gap = 0, np.inf
        while epochs < most and gap > tolerance:
            if epochs and np.count_nonzero(b) <= _SMALL:
                newton_on_support(columns.corner, self.xy, b, l1, l2)
            done, gap = columns.descend(self, chosen, b, l1, l2, tolerance, min(_EPOCHS, most - epochs))
            epochs += done
            if done < _EPOCHS:
                break
        return epochs

    def _look(self, live: np.ndarray, b: np.ndarray, l1: float, l2: float) -> _Look:
        u, c = self.columns.residual(self.y, b)
        g = self._products(live, u, c)
        self.last.coef, self.last.gradient[live] = b.copy(), g
        g = g - l2 * b[live]
        steepest = float(np.abs(g).max(initial=0.0))
        gap, scale = gap_of(float(u @ u) - c * c, float(self.y @ u), b, steepest, l1, l2)
        return _Look(live, g, gap, scale)

    def _first_choice(self, live: np.ndarray, b: np.ndarray, l1: float, l2: float) -> np.ndarray:
        size = np.abs(self.last.gradient[live] - l2 * b[live])
        near = size >= 2 * l1 - max(float(size.max(initial=0.0)), l1)
        return _union(np.flatnonzero(b), live[near], size[near], max(64, int(np.count_nonzero(b))))

    def _grow_set(self, chosen: np.ndarray, state: _Look, l1: float) -> np.ndarray:
        size = np.abs(state.g)
        outside = (size > l1) & ~np.isin(state.live, chosen)
        return _union(chosen, state.live[outside], size[outside], max(64, len(chosen)))

    def _screened(self, state: _Look, b: np.ndarray, l1: float, l2: float) -> np.ndarray:
        """The columns that may not be zero: s |x·r| + |x| √(2 gap) ≥ l1, with s r the dual point."""
        lengths = np.sqrt(self.columns.norms[state.live] + l2)
        reach = abs(state.scale) * np.abs(state.g) + lengths * np.sqrt(2 * state.gap)
        return state.live[(reach >= l1 * (1 - 1e-12)) | (b[state.live] != 0)]

    def _products(self, chosen: np.ndarray, u: np.ndarray, c: float) -> np.ndarray:
        out = np.empty(len(chosen))

        def part(at: slice) -> None:
            self.columns.products(chosen[at], u, c, out[at])

        for _ in ordered_map(part, _slices(len(chosen), max(512, -(-len(chosen) // 8)))):
            pass
        return out


@dataclass(frozen=True, slots=True)
class _Look:
    """Gradients Xᵀr - l2 b of the columns not proven zero, the gap, and the scale of the dual point."""

    live: np.ndarray
    g: np.ndarray
    gap: float
    scale: float


@dataclass(slots=True)
class _Last:
    """Where the last look was, and Xᵀr there: as it was at an earlier look for columns proven zero since."""

    coef: np.ndarray
    gradient: np.ndarray


def _union(chosen: np.ndarray, more: np.ndarray, size: np.ndarray, most: int) -> np.ndarray:
    """The chosen columns and, of the others, at most so many of the largest."""
    if len(more) > most:
        more = more[np.argsort(-size, kind="stable")[:most]]
    return np.union1d(chosen, more).astype(np.int32)


def _slices(count: int, size: int) -> Iterator[slice]:
    return (slice(at, min(at + size, count)) for at in range(0, count, size))

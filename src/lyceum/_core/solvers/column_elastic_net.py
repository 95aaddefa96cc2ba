"""The elastic net on columns in memory, for more columns than a Gram matrix should have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.native import native
from lyceum._core.solvers.gram_elastic_net import (
    GramElasticNet,
    RoundObserver,
    Solution,
    gap_of,
    newton_on_support,
)
from lyceum._core.threads import ordered_map
from lyceum.errors import DataError

_EPS = float(np.finfo(np.float64).eps)
_SMALL = 2000  # columns whose Gram matrix is cheap for any number of rows
# epochs of coordinate descent from one Newton step on the support to the next
_EPOCHS = 100


@dataclass(frozen=True)
class DenseColumns:
    """Centered columns as the rows of a (d, n) array, with the Gram matrix of those chosen so far.

    Parameters
    ----------
    XT : array of shape (d, n)
        The design, transposed.
    mean : array of shape (d,)
        Zeros: the columns are centered in place.
    norms : array of shape (d,)
        The squared lengths of the centered columns; 0 for columns that never vary.
    gram : optional
        The products of the columns that were needed so far; none at the start.

    See Also
    --------
    SparseColumns : The same for sparse rows.
    ColumnElasticNet : The problem on them.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.solvers import DenseColumns
    >>> XT = np.array([[-1.0, 1.0, 0.0], [1.0, 1.0, -2.0]])
    >>> columns = DenseColumns(XT, np.zeros(2), norms=(XT**2).sum(axis=1))
    >>> y = np.array([-2.0, 2.0, 0.0])
    >>> columns.residual(y, b=np.array([1.5, 0.0]))[0].tolist()  # y - X b
    [-0.5, 0.5, 0.0]
    >>> columns.corner(np.array([0, 1])).tolist()  # XᵀX
    [[2.0, 0.0], [0.0, 6.0]]
    """

    XT: np.ndarray
    mean: np.ndarray
    norms: np.ndarray
    gram: _GrowingGram = field(default_factory=lambda: _GrowingGram())

    def products(
        self,
        chosen: np.ndarray,
        u: np.ndarray,
        c: float,
        out: np.ndarray,
    ) -> None:
        native.dense_column_products(self.XT, self.mean, chosen, u, c, out)

    def residual(self, y: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
        on = np.flatnonzero(b)
        return y - b[on] @ self.XT[on], 0.0

    def descend(
        self,
        problem: ColumnElasticNet,
        chosen: np.ndarray,
        b: np.ndarray,
        *how: Any,
    ) -> tuple[int, float]:
        u, c = self.residual(problem.y, b)
        return native.dense_column_descent(
            self.XT,
            self.mean,
            self.norms,
            problem.y,
            chosen,
            u,
            c,
            b,
            *how,
        )[:2]

    def corner(self, on: np.ndarray) -> np.ndarray:
        X = self.XT[on]
        return X @ X.T


class _GrowingGram:
    """Products of the columns chosen so far; a new choice adds its own."""

    def __init__(self) -> None:
        self.members = np.empty(0, np.int32)
        self.Q = np.empty((0, 0))

    def of(self, XT: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # start anew where more of the past would be held than of the present
        new = np.setdiff1d(chosen, self.members)
        if len(new) + len(self.members) > 2 * len(chosen) + 64:
            self.members = self.members[:0]
            new = chosen
        if len(new):
            self._add(XT, new)
        return self.members, self.Q

    def _add(self, XT: np.ndarray, new: np.ndarray) -> None:
        # the old products stay; threads add those of all members with the new columns
        m = len(self.members)
        size = len(self.members) + len(new)
        Q = np.empty((size, size))
        Q[:m, :m] = self.Q[:m, :m]
        self.members = np.concatenate([self.members, new])
        new_columns = XT[new]

        def fill(rows: slice) -> None:
            Q[rows, m:] = XT[self.members[rows]] @ new_columns.T

        for _ in ordered_map(fill, _slices(size, 256)):
            pass
        Q[m:, :m] = Q[:m, m:].T
        self.Q = Q


@dataclass(frozen=True)
class SparseColumns:
    """CSC columns x_j that stand for x_j - mean_j s, whose zeros are not stored.

    Parameters
    ----------
    start : array
        Where every column starts, as in a CSC array.
    index : array
        The row of every stored cell.
    data : array
        The cells.
    s : array of shape (n,)
        The square roots of the weights, with sum of squares 1; zeros without an intercept.
    mean : array
        sᵀx_j of every column; zeros without an intercept.
    norms : array
        The squared lengths of the centered columns; 0 for columns that never vary.

    See Also
    --------
    DenseColumns : The same for dense rows.
    ColumnElasticNet : The problem on them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from lyceum._core.solvers import SparseColumns
    >>> s = np.full(4, 0.5)  # four rows of equal weight
    >>> X = sparse.csc_array(np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0], [0.0, 0.0]]) * 0.5)
    >>> mean = X.T @ s
    >>> norms = np.array([1.0, 4.0]) - mean**2
    >>> columns = SparseColumns(X.indptr, X.indices, X.data, s, mean, norms=norms)
    >>> columns.corner(np.array([0, 1])).tolist()  # the covariance of the columns
    [[0.75, -0.5], [-0.5, 3.0]]
    """

    start: np.ndarray
    index: np.ndarray
    data: np.ndarray
    s: np.ndarray
    mean: np.ndarray
    norms: np.ndarray

    def __post_init__(self) -> None:
        low = self.index.min(initial=0)
        high = self.index.max(initial=-1)
        n = len(self.s)
        if low < 0 or high >= n:
            raise DataError(
                f"index has rows from {low} to {high}, but there are {n} rows: 0 to {n - 1}"
            )

    def products(
        self,
        chosen: np.ndarray,
        u: np.ndarray,
        c: float,
        out: np.ndarray,
    ) -> None:
        native.sparse_column_products(
            self.start,
            self.index,
            self.data,
            self.mean,
            chosen,
            u,
            c,
            out,
        )

    def residual(self, y: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
        """u and c of the residual r = u + c s: the means, s times a number, are not filled in."""
        # the stored cells of the columns in use, one column after the other
        on = np.flatnonzero(b)
        lengths = np.diff(self.start)[on]
        before = np.cumsum(lengths) - lengths
        cells = np.arange(lengths.sum()) + np.repeat(self.start[on] - before, lengths)
        products = self.data[cells] * np.repeat(b[on], lengths)
        u = y - np.bincount(self.index[cells], products, len(y))
        # r is orthogonal to s, which has length 1: c = -s·u
        return u, -float(self.s @ u)

    def descend(
        self,
        problem: ColumnElasticNet,
        chosen: np.ndarray,
        b: np.ndarray,
        *how: Any,
    ) -> tuple[int, float]:
        u, c = self.residual(problem.y, b)
        return native.sparse_column_descent(
            self.start,
            self.index,
            self.data,
            self.mean,
            self.norms,
            problem.y,
            chosen,
            u,
            c,
            b,
            *how,
        )[:2]

    def corner(self, on: np.ndarray) -> np.ndarray:
        # (x_i - m_i s)·(x_j - m_j s) = x_i·x_j - m_i m_j, as m = s·x and |s| = 1
        shape = (len(self.s), len(self.norms))
        X = sparse.csc_array((self.data, self.index, self.start), shape=shape)
        X = X[:, on]
        mean = self.mean[on]
        return (X.T @ X).toarray() - np.outer(mean, mean)


ColumnStore = DenseColumns | SparseColumns


@dataclass(frozen=True)
class ColumnElasticNet:
    """The problem on columns: working sets within a growing choice, certified by the gap over all
    columns.

    A round solves the problem on the chosen columns alone, then looks at all others. The first
    choice is that of the strong rule: columns whose gradient at the last solution is at least 2 l1
    - l1_last. The columns with the largest violations are added, at most as many as were chosen
    before. Columns whose coefficients the gap proves to be zero are not looked at again for this
    penalty.

    Parameters
    ----------
    columns : DenseColumns or SparseColumns
        The design, column by column.
    y : array of shape (n,)
        The target, centered.
    yy : float
        Its sum of squares.

    Attributes
    ----------
    xy : array of shape (d,)
        Xᵀy.
    last : object
        The last coefficients and the gradient there, for a warm start.

    See Also
    --------
    GramElasticNet : For fewer columns, from one pass over the rows.
    Solution : What `solve` returns.
    lyceum.linear.Lasso : A learner with this solver.

    References
    ----------
    R. Tibshirani, J. Bien, J. Friedman, T. Hastie, N. Simon, J. Taylor and R. J. Tibshirani,
    "Strong rules for discarding predictors in lasso-type problems", Journal of the Royal
    Statistical Society B 74, 2012. E. Ndiaye, O. Fercoq, A. Gramfort and J. Salmon, "Gap safe
    screening rules for sparsity enforcing penalties", Journal of Machine Learning Research 18,
    2017.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.solvers import ColumnElasticNet, DenseColumns
    >>> XT = np.array([[1.0, 0.0], [0.0, 1.0]])  # orthonormal columns
    >>> y = np.array([2.0, 0.3])
    >>> problem = ColumnElasticNet(DenseColumns(XT, np.zeros(2), np.ones(2)), y, float(y @ y))
    >>> problem.solve(0.5, 0.0, start=np.zeros(2), tol=1e-9, max_iter=100).coef.round(6).tolist()
    [1.5, 0.0]
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
        tol: float,
        max_iter: int,
        observer: RoundObserver | None = None,
    ) -> Solution:
        b = np.array(start, dtype=np.float64)
        live = np.flatnonzero(self.columns.norms > 0).astype(np.int32)
        self._set_last(live, b, l1, l2)
        # in turn: descend on the chosen columns, look at all that may not be zero, choose more
        chosen = self._first_choice(live, b, l1, l2)
        gap = np.inf
        epochs = 0
        history = []
        inner = 0.3 * tol
        rounding = 64 * _EPS * self.yy
        while gap > tol and epochs < max_iter:
            epochs += self._descend(chosen, b, l1, l2, inner, max_iter - epochs)
            before = gap
            state = self._look(live, b, l1, l2)
            gap = state.gap
            history.append(gap)
            if observer:
                observer(b, gap, epochs)
            # for good: the others are zero
            live = self._unscreened_columns(state, b, l1, l2)
            grown = self._grow_set(chosen, state, l1)
            # no column is missing: the descent must be more exact, unless rounding hides the rest
            if len(grown) == len(chosen):
                if gap >= before and gap <= rounding:
                    break
                inner = max(0.1 * inner, _EPS * self.yy)
            chosen = grown
        return Solution(b, gap, epochs, history, converged=gap <= max(tol, rounding))

    def _set_last(self, live: np.ndarray, b: np.ndarray, l1: float, l2: float) -> None:
        """Xᵀr at the start, from a look at the columns unless it is known."""
        if not b.any():
            self.last.coef = b.copy()
            self.last.gradient = self.xy.copy()
        elif not np.array_equal(b, self.last.coef):
            self._look(live, b, l1, l2)

    def _descend(
        self,
        chosen: np.ndarray,
        b: np.ndarray,
        l1: float,
        l2: float,
        tol: float,
        most: int,
    ) -> int:
        """Solve over the chosen columns: on their Gram matrix while that is small, else on the
        columns.

        There too Newton steps on the support help when coordinate descent is slow.
        """
        columns = self.columns
        largest = max(2 * len(self.y), _SMALL)
        if isinstance(columns, DenseColumns) and len(chosen) <= largest:
            members, Q = columns.gram.of(columns.XT, chosen)
            small = GramElasticNet(Q, self.xy[members], self.yy)
            solution = small.solve(l1, l2, b[members], tol, most)
            b[members] = solution.coef
            return solution.n_iter
        # too many columns for a Gram matrix: epochs on the columns, a Newton step between
        epochs = 0
        gap = np.inf
        while epochs < most and gap > tol:
            if epochs and np.count_nonzero(b) <= _SMALL:
                newton_on_support(columns.corner, self.xy, b, l1, l2)
            at_most = min(_EPOCHS, most - epochs)
            done, gap = columns.descend(self, chosen, b, l1, l2, tol, at_most)
            epochs += done
            if done < _EPOCHS:
                break
        return epochs

    def _look(self, live: np.ndarray, b: np.ndarray, l1: float, l2: float) -> _Look:
        u, c = self.columns.residual(self.y, b)
        g = self._products(live, u, c)
        self.last.coef = b.copy()
        self.last.gradient[live] = g
        # the dual point is s r: scaled until no column has more than l1 against it
        g = g - l2 * b[live]
        # |r|² = |u|² - c², and y·r = y·u as y is centered
        gap, scale = gap_of(
            rr=float(u @ u) - c * c,
            yr=float(self.y @ u),
            b=b,
            steepest=float(np.abs(g).max(initial=0.0)),
            l1=l1,
            l2=l2,
        )
        return _Look(live, g, gap, scale)

    def _first_choice(
        self,
        live: np.ndarray,
        b: np.ndarray,
        l1: float,
        l2: float,
    ) -> np.ndarray:
        size = np.abs(self.last.gradient[live] - l2 * b[live])
        # the strong rule: a gradient moves by no more than the penalty fell since all b were zero
        last_l1 = max(float(size.max(initial=0.0)), l1)
        is_strong = size >= 2 * l1 - last_l1
        most = max(64, int(np.count_nonzero(b)))
        return _union(np.flatnonzero(b), live[is_strong], size[is_strong], most)

    def _grow_set(self, chosen: np.ndarray, state: _Look, l1: float) -> np.ndarray:
        size = np.abs(state.g)
        outside = (size > l1) & ~np.isin(state.live, chosen)
        most = max(64, len(chosen))
        return _union(chosen, state.live[outside], size[outside], most)

    def _unscreened_columns(
        self,
        state: _Look,
        b: np.ndarray,
        l1: float,
        l2: float,
    ) -> np.ndarray:
        """The columns that may not be zero: s |x·r| + |x| √(2 gap) ≥ l1, with s r the dual
        point."""
        # gap-safe screening: the dual optimum is within √(2 gap) of s r (Ndiaye et al., 2017)
        lengths = np.sqrt(self.columns.norms[state.live] + l2)
        radius = np.sqrt(2 * state.gap)
        reach = abs(state.scale) * np.abs(state.g) + lengths * radius
        may_leave_zero = reach >= l1 * (1 - 1e-12)
        return state.live[may_leave_zero | (b[state.live] != 0)]

    def _products(self, chosen: np.ndarray, u: np.ndarray, c: float) -> np.ndarray:
        out = np.empty(len(chosen))

        def part(columns: slice) -> None:
            self.columns.products(chosen[columns], u, c, out[columns])

        size = max(512, -(-len(chosen) // 8))
        for _ in ordered_map(part, _slices(len(chosen), size)):
            pass
        return out


@dataclass(frozen=True, slots=True)
class _Look:
    """Gradients Xᵀr - l2 b of the columns not proven zero, the gap, and the scale of the dual
    point."""

    live: np.ndarray
    g: np.ndarray
    gap: float
    scale: float


@dataclass(slots=True)
class _Last:
    """The last coefficients, and Xᵀr there; that of an earlier look for columns proven zero
    since."""

    coef: np.ndarray
    gradient: np.ndarray


def _union(
    chosen: np.ndarray,
    more: np.ndarray,
    size: np.ndarray,
    most: int,
) -> np.ndarray:
    """The chosen columns, and those of `more` with the largest `size`, at most `most` of them."""
    if len(more) > most:
        more = more[np.argsort(-size, kind="stable")[:most]]
    return np.union1d(chosen, more).astype(np.int32)


def _slices(count: int, size: int) -> Iterator[slice]:
    return (slice(first, min(first + size, count)) for first in range(0, count, size))

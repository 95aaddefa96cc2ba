"""The elastic net from a Gram matrix, and what both ways of solving it share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from lyceum._core.native import native
from lyceum._core.statistics import PositiveFactor, Scatter

_EPS = float(np.finfo(np.float64).eps)
# epochs of coordinate descent from one Newton step on the support to the next
_EPOCHS = 40

# coefficients, duality gap, epochs so far
RoundObserver = Callable[[np.ndarray, float, int], None]

_STEPS = 3  # Newton steps in a row, each until a coefficient is zero


@dataclass(frozen=True, slots=True)
class Solution:
    """Coefficients at one penalty, with the certificate: the objective is at most `gap` above its
    minimum.

    Attributes
    ----------
    coef : array
        The coefficients.
    gap : float
        A bound on how far the objective is above its minimum.
    n_iter : int
        Epochs of coordinate descent.
    history : sequence of float
        Duality gap after every round.
    converged : bool
        Whether the gap is within the tolerance.

    See Also
    --------
    GramElasticNet, ColumnElasticNet : Their `solve` returns it.
    lyceum.linear.ElasticNet : The learner.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.solvers import GramElasticNet
    >>> problem = GramElasticNet(np.eye(2), np.array([2.0, 0.3]), 5.0)
    >>> found = problem.solve(l1=0.5, l2=0.0, start=np.zeros(2), tol=1e-9, max_iter=100)
    >>> found.coef.round(6).tolist(), found.converged, found.gap <= 1e-9  # 2 - 0.5, and |0.3| < 0.5
    ([1.5, 0.0], True, True)
    """

    coef: np.ndarray
    gap: float
    n_iter: int
    history: Sequence[float]
    converged: bool


class ElasticNetProblem(Protocol):
    """1/2 |y - X b|² + l1 |b|₁ + l2/2 |b|², with X and y centered and divided by the root of the
    weight.

    Attributes
    ----------
    yy : float
        |y|².
    xy : array of shape (d,)
        Xᵀy.

    See Also
    --------
    GramElasticNet : From XᵀX.
    ColumnElasticNet : From columns in memory.
    Solution : What `solve` returns.

    References
    ----------
    H. Zou and T. Hastie, "Regularization and variable selection via the elastic net", Journal of
    the Royal Statistical Society B 67, 2005.

    Examples
    --------
    For orthonormal columns every coefficient has its own solution:

    >>> import numpy as np
    >>> from lyceum._core.solvers import ElasticNetProblem, Solution
    >>> class Orthonormal(ElasticNetProblem):
    ...     yy, xy = 5.0, np.array([2.0, 0.3])
    ...     def corner(self, on):
    ...         return np.eye(len(on))
    ...     def squares(self, coef):
    ...         return self.yy - 2 * coef @ self.xy + coef @ coef
    ...     def solve(self, l1, l2, start, tol, max_iter, observer=None):
    ...         coef = np.sign(self.xy) * np.maximum(np.abs(self.xy) - l1, 0.0) / (1 + l2)
    ...         return Solution(coef, 0.0, 1, [0.0], True)
    >>> problem = Orthonormal()
    >>> found = problem.solve(0.5, 0.0, np.zeros(2), 1e-9, 100)
    >>> found.coef.tolist(), float(problem.squares(found.coef))  # 5 - 6 + 2.25
    ([1.5, 0.0], 1.25)
    """

    @property
    def yy(self) -> float:
        """|y|²"""

    @property
    def xy(self) -> np.ndarray:
        """Xᵀy: the least l1 at which every coefficient is zero is its largest absolute entry."""

    def corner(self, on: np.ndarray) -> np.ndarray:
        """XᵀX of the columns `on`."""

    def squares(self, coef: np.ndarray) -> float:
        """|y - X b|²."""

    def solve(
        self,
        l1: float,
        l2: float,
        start: np.ndarray,
        tol: float,
        max_iter: int,
        observer: RoundObserver | None = None,
    ) -> Solution:
        """The minimum, from a start, up to a duality gap of `tol`; `observer` sees every
        round."""


def gap_of(
    rr: float,
    yr: float,
    b: np.ndarray,
    steepest: float,
    l1: float,
    l2: float,
) -> tuple[float, float]:
    """The duality gap at b with residuals r, and the dual point's scale s.

    rr = |r|², yr = y·r, steepest = |Xᵀr - l2 b|∞. For the problem with rows √l2 I below X, s r is
    dual feasible when s · steepest ≤ l1, and its value is s y·r - s²/2 (|r|² + l2 |b|²).

    >>> gap_of(4.0, 4.0, np.zeros(2), steepest=1.0, l1=1.0, l2=0.0)  # zero is the solution
    (0.0, 1.0)
    """
    below = max(rr, 0.0) + l2 * float(b @ b)
    most = l1 / steepest if steepest > 0 else 1.0
    # the s of largest dual value, y·r / (|r|² + l2 |b|²), within what is feasible
    s = float(np.clip(yr / below, -most, most)) if below > 0 else 0.0
    primal = below / 2 + l1 * float(np.abs(b).sum())
    return max(0.0, primal - s * yr + s * s * below / 2), s


@dataclass(frozen=True)
class GramElasticNet:
    """The problem as Q = XᵀX, q = Xᵀy and |y|²: any number of penalties from one pass over the
    rows.

    Coordinate descent settles which coefficients are zero; when it is slow, a Newton step on the
    others, cut short where the first of them would change its sign, takes it to the solution for
    these signs (feature sign search).

    Attributes
    ----------
    Q : array of shape (d, d)
        XᵀX; zero for columns that never vary.
    q : array
        The products Xᵀy.
    yy : float
        The sum of squares of y.
    xy : array
        The same as q.

    See Also
    --------
    ColumnElasticNet : For more columns than a Gram matrix should have.
    Solution : What `solve` returns.
    lyceum.linear.ElasticNet : The learner.

    References
    ----------
    H. Lee, A. Battle, R. Raina and A. Y. Ng, "Efficient sparse coding algorithms", Advances in
    Neural Information Processing Systems 19, 2007.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum._core.solvers import GramElasticNet
    >>> from lyceum.statistics import Scatter
    >>> table = pa.table({"x": [-1.0, -1.0, 1.0, 1.0], "y": [-3.5, -2.5, 2.5, 3.5]})
    >>> rows = scan(table, target="y")
    >>> problem = GramElasticNet.of(rows.reduce(partial(Scatter.of, target=True)))
    >>> problem.Q.tolist(), problem.q.tolist()
    ([[1.0]], [3.0])
    >>> solutions = [problem.solve(l1, 0.0, np.zeros(1), 1e-12, 100) for l1 in (0.0, 1.0, 3.0)]
    >>> [solution.coef.round(6).tolist() for solution in solutions]
    [[3.0], [2.0], [0.0]]
    """

    Q: np.ndarray
    q: np.ndarray
    yy: float

    @classmethod
    def of(cls, moments: Scatter) -> GramElasticNet:
        """From moments about the means, or about the origin for a model without an intercept."""
        weight = moments.weight if moments.weight > 0 else 1.0
        # a column whose spread is the rounding of its mean is constant: it gets no coefficient
        floor = moments.weight * (4 * _EPS * moments.x_mean) ** 2
        varies = np.diagonal(moments.xx) > floor
        xx = np.where(varies[:, None] & varies, moments.xx, 0.0)
        xy = np.where(varies, moments.xy, 0.0)
        Q = np.ascontiguousarray(xx) / weight
        return cls(Q, xy / weight, moments.yy / weight)

    @property
    def xy(self) -> np.ndarray:
        return self.q

    def corner(self, on: np.ndarray) -> np.ndarray:
        """XᵀX of some columns."""
        return self.Q[on[:, None], on]

    def squares(self, coef: np.ndarray) -> float:
        fitted = float(coef @ self.Q @ coef)
        return max(0.0, self.yy - 2 * float(coef @ self.q) + fitted)

    def solve(
        self,
        l1: float,
        l2: float,
        start: np.ndarray,
        tol: float,
        max_iter: int,
        observer: RoundObserver | None = None,
    ) -> Solution:
        if l1 == 0.0:
            solution = self._ridge(l2)
            if observer:
                observer(solution.coef, solution.gap, 1)
            return solution
        # in turn: epochs of coordinate descent, which find the zeros, and Newton steps on the rest
        rounding = 64 * _EPS * self.yy
        b = np.array(start, dtype=np.float64)
        g = self.q - self.Q @ b
        epochs = 0
        gap = np.inf
        history: list[float] = []
        while epochs < max_iter and gap > tol:
            if history:
                newton_on_support(self.corner, self.q, b, l1, l2)
                np.subtract(self.q, self.Q @ b, out=g)
            most = min(_EPOCHS, max_iter - epochs)
            done, gap = native.gram_descent(
                self.Q,
                self.q,
                g,
                b,
                l1,
                l2,
                self.yy,
                tol,
                most,
            )
            epochs += max(1, done)
            history.append(gap)
            if observer:
                observer(b, gap, epochs)
            # rounding hides the rest
            if len(history) > 2 and gap >= history[-2] and gap <= rounding:
                break
        return Solution(b, gap, epochs, history, converged=gap <= max(tol, rounding))

    def _ridge(self, l2: float) -> Solution:
        """Without l1 the solution is that of a linear system, and half the Newton decrement is its
        error."""
        factor = PositiveFactor.of(self.Q + l2 * np.eye(len(self.q)))
        b = factor.solve(self.q)
        rest = self.q - self.Q @ b - l2 * b
        gap = 0.5 * float(rest @ factor.solve(rest))
        return Solution(b, gap, 1, [gap], True)


def newton_on_support(
    gram: Callable[[np.ndarray], np.ndarray],
    q: np.ndarray,
    b: np.ndarray,
    l1: float,
    l2: float,
) -> None:
    """Move the nonzero entries of b toward (Q + l2 I)⁻¹ (q - l1 sign b) until the first one is
    zero.

    `gram(on)` gives a fresh copy of the rows and columns `on` of Q. Nothing moves when that is
    singular.
    """
    for _ in range(_STEPS):
        on = np.flatnonzero(b)
        if not len(on):
            return
        A = gram(on)
        A.flat[:: len(on) + 1] += l2
        right = q[on] - l1 * np.sign(b[on])
        factor, solution, failed = lapack.dposv(A, right)
        if failed:
            return
        pivots = np.diagonal(factor)
        if pivots.min() < 1e-6 * pivots.max():
            return
        step = solution - b[on]
        # the share of the step at which a coefficient changes its sign: there it stays at zero
        crosses = b[on] * (b[on] + step) < 0
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(crosses, -b[on] / step, np.inf)
        first = int(np.argmin(reach))
        if reach[first] >= 1.0:
            b[on] += step
            return
        b[on] += reach[first] * step
        b[on[first]] = 0.0

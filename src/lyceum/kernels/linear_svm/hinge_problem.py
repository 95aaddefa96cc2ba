"""The primal problem of linear support vector machines, as sums over rows.

    minimize  ½ |w|² + ½ (b/s)² + Σ C_i L(1 - y_i f(x_i)),   f(x) = w·x + b

with L(u) = max(0, u) or max(0, u)², and s the scaling of the intercept, which is free for s = inf.

The squared hinge is solved by Newton's method. The hinge by the method of multipliers (Hestenes
1969, Powell 1969): every row has a multiplier α_i; in turn the smooth function whose slope along u
is clip(α + σu, 0, C) is minimized by Newton's method and α set to that slope. At the end α solves
the dual problem and w = Σ α y x. Only rows with 0 < α + σu < C enter the Hessian, and these become
few.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import Block, Rows, dense_cells
from lyceum._core.solvers import Point
from lyceum._core.statistics import PositiveFactor


@dataclass(frozen=True)
class Multipliers:
    """α of every row, and the penalty σ on u."""

    alpha: np.ndarray
    sigma: float


@dataclass(frozen=True, slots=True)
class HingeSums:
    """Σ of a loss, its gradient (d + 1,) and its Hessian (d + 1, d + 1), the intercept last."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None

    @classmethod
    def of(
        cls,
        block: Block,
        problem: HingeProblem,
        theta: np.ndarray,
        hessian: bool,
    ) -> HingeSums:
        signs = problem.signs(block)
        bound = problem.bound(block)
        u = 1.0 - signs * problem.scores(block, theta)
        if problem.multipliers is None:
            # C max(0, u)²: slope 2 C max(0, u), curvature 2 C where u > 0
            short = np.maximum(u, 0.0)
            pull = 2.0 * bound * short
            bend = 2.0 * bound * (u > 0)
            value = float(bound @ short**2)
        else:
            # slope clip(α + σu, 0, C), curvature σ where it is not clipped
            alpha = problem.multipliers.alpha[block.start : block.start + len(block)]
            sigma = problem.multipliers.sigma
            moved = alpha + sigma * u
            pull = np.clip(moved, 0.0, bound)
            bend = sigma * ((moved > 0) & (moved < bound))
            change = pull - alpha
            value = float(pull @ u - change @ change / (2.0 * sigma))
        # Σ slope (x - shift) = Xᵀ slope - shift Σ slope: the cells stay as they are, also sparse
        slope = -signs * pull
        X = problem.cells(block)
        total = slope.sum()
        of_columns = np.asarray(X.T @ slope).ravel() - total * problem.shift
        gradient = np.append(of_columns, total)
        if not hessian:
            return cls(value, gradient, None)
        return cls(value, gradient, _hessian(X, problem.shift, bend))

    def merge(self, other: HingeSums) -> HingeSums:
        value = self.value + other.value
        gradient = self.gradient + other.gradient
        hessian = None if self.hessian is None else self.hessian + other.hessian
        return HingeSums(value, gradient, hessian)


def _hessian(X: Any, shift: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """Σ bend z zᵀ over the rows that have a bend, z = (x - shift, 1)."""
    bent = np.flatnonzero(bend)
    Z = dense_cells(X[bent])
    root = np.sqrt(bend[bent])
    Z = np.column_stack([(Z - shift) * root[:, None], root])
    return Z.T @ Z


@dataclass(frozen=True)
class HingeProblem:
    """One machine over rows: class `favored` against class `against`, or against all others
    (-1)."""

    rows: Rows
    favored: int
    C: float
    factors: np.ndarray | None  # of the classes
    shift: np.ndarray  # where the intercept is taken
    fit_intercept: bool
    intercept_scaling: float  # s
    weight: float
    scale: np.ndarray  # of the columns, to make a gradient free of units
    multipliers: Multipliers | None = None
    columns: np.ndarray | None = None  # only these columns
    l2: float = 1.0  # 0 under an L1 penalty, which the proximal solver adds

    @property
    def has_free_intercept(self) -> bool:
        return self.fit_intercept and bool(np.isinf(self.intercept_scaling))

    @property
    def shape(self) -> tuple[int]:
        return (len(self.shift) + 1,)

    def signs(self, block: Block) -> np.ndarray:
        return np.where(block.y == self.favored, 1.0, -1.0)

    def bound(self, block: Block) -> np.ndarray:
        """C_i of the rows."""
        assert block.y is not None
        bound = self.C * block.weights
        if self.factors is None:
            return bound
        return bound * self.factors[block.y]

    def cells(self, block: Block) -> Any:
        if self.columns is None:
            return block.X
        return block.X[:, self.columns]

    def scores(self, block: Block, theta: np.ndarray) -> np.ndarray:
        w = theta[:-1]
        intercept = theta[-1] - w @ self.shift
        return np.asarray(self.cells(block) @ w) + intercept

    def new_multipliers(self, theta: np.ndarray) -> np.ndarray:
        """clip(α + σu, 0, C) of every row."""
        return np.asarray(self.rows.collect(partial(_clip, self, theta)))

    @property
    def _penalties(self) -> np.ndarray:
        of_intercept = self.intercept_scaling**-2.0
        return self.l2 * np.append(np.ones(len(self.shift)), of_intercept)

    @property
    def _free(self) -> slice:
        return slice(None) if self.fit_intercept else slice(-1)

    # -- what solvers ask for ----------------------------------------------------------

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        of = partial(HingeSums.of, problem=self, theta=theta, hessian=hessian)
        sums = self.rows.reduce(of)
        gradient = sums.gradient + self._penalties * theta
        if not self.fit_intercept:
            gradient[-1] = 0.0
        value = sums.value + 0.5 * float(self._penalties @ theta**2)
        H = None if sums.hessian is None else sums.hessian + np.diag(self._penalties)
        return Point(theta, value, gradient, H)

    def newton_step(self, point: Point) -> np.ndarray:
        assert point.hessian is not None
        step = np.zeros(self.shape)
        free = self._free
        H = point.hessian
        # no row bends: as if one did, so that the intercept can move to where some do
        if not H[-1, -1] > 0:
            H = H.copy()
            H[-1, -1] = 2.0 * self.C
            if self.multipliers is not None:
                H[-1, -1] = self.multipliers.sigma
        factor = PositiveFactor.of(H[free, free])
        step[free] = -factor.solve(point.gradient[free])
        return step

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        # the diagonal of the Hessian as if every row bent: 2 C Σ w x_j² + 1
        squares = np.append(self.scale**2, 1.0)
        curvature = 2.0 * self.C * self.weight * squares + 1.0
        return gradient / curvature

    def level(self, value: float) -> float:
        """The factor of the tolerance: 1, as it is absolute."""
        return 1.0

    def size(self, gradient: np.ndarray) -> float:
        """The largest mean pull along a column of unit spread, against a slack of 1."""
        pulls = np.abs(gradient / np.append(self.scale, 1.0))
        return float(pulls.max() / (self.C * self.weight))


def _clip(problem: HingeProblem, theta: np.ndarray, block: Block) -> np.ndarray:
    assert problem.multipliers is not None
    alpha = problem.multipliers.alpha[block.start : block.start + len(block)]
    u = 1.0 - problem.signs(block) * problem.scores(block, theta)
    moved = alpha + problem.multipliers.sigma * u
    return np.clip(moved, 0.0, problem.bound(block))

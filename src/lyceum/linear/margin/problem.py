"""The penalized sum of margin losses as a problem for the solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from lyceum._core.data import Block, Rows, dense_cells
from lyceum._core.solvers import Point
from lyceum._core.statistics import PositiveFactor
from lyceum._core.types import Data


@dataclass(frozen=True, slots=True)
class MarginSums:
    """Σ w L(y f(x)) over rows and outputs, its gradient (outputs, d+1) and Hessians (outputs, d+1,
    d+1)."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None

    @classmethod
    def of(
        cls,
        block: Block,
        theta: np.ndarray,
        shift: np.ndarray,
        loss: Any,
        hessian: bool,
    ) -> MarginSums:
        Y, margins = _margins(block, theta, shift)
        w = block.weights
        value = _loss_sum(loss, margins, w)
        # the gradient Σ w y L'(m) z, z = (x - shift, 1), without centering the cells of X:
        # Σ p (x - shift) = Xᵀp - shift Σ p with p = w y L'
        with np.errstate(over="ignore", invalid="ignore"):
            pull = w[:, None] * Y * loss.slope(margins)
        totals = pull.sum(axis=0)
        of_columns = (block.X.T @ pull).T - np.outer(totals, shift)
        gradient = np.column_stack([of_columns, totals])
        if not hessian:
            return cls(value, gradient, None)
        H = _hessian(block.X, shift, w, loss.curvature(margins))
        return cls(value, gradient, H)

    def merge(self, other: MarginSums) -> MarginSums:
        value = self.value + other.value
        gradient = self.gradient + other.gradient
        if self.hessian is None:
            return MarginSums(value, gradient, None)
        return MarginSums(value, gradient, self.hessian + other.hessian)


@dataclass(frozen=True, slots=True)
class SolutionSums:
    """Σ w L(y f(x)) of several losses, and Σ w L'' z zᵀ of one of them for every output.

    L'' is continuous there: it does not jump with the last bit of a margin.
    """

    values: np.ndarray  # one per loss
    curvature: np.ndarray | None

    @classmethod
    def of(
        cls,
        block: Block,
        theta: np.ndarray,
        shift: np.ndarray,
        losses: Sequence[Any],
        curved: Any = None,
    ) -> SolutionSums:
        margins = _margins(block, theta, shift)[1]
        w = block.weights
        values = np.array([_loss_sum(loss, margins, w) for loss in losses])
        if curved is None:
            return cls(values, None)
        curvature = curved.continuous_curvature(margins)
        return cls(values, _hessian(block.X, shift, w, curvature))

    def merge(self, other: SolutionSums) -> SolutionSums:
        values = self.values + other.values
        if self.curvature is None:
            return SolutionSums(values, None)
        return SolutionSums(values, self.curvature + other.curvature)


def _loss_sum(loss: Any, margins: np.ndarray, w: np.ndarray) -> float:
    """Σ w L over rows and outputs; zero-weight rows are ignored."""
    with np.errstate(over="ignore", invalid="ignore"):
        # not 0 · inf = NaN where an exponential overflows
        losses = np.where(w[:, None] > 0, loss.value(margins), 0.0)
        return float(w @ losses.sum(axis=1))


def _margins(
    block: Block,
    theta: np.ndarray,
    shift: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """y of -1 and 1, and y f(x), for every row and output."""
    assert block.y is not None
    # one output stands for the second class, K outputs for theirs
    classes = np.arange(len(theta))
    if len(theta) == 1:
        classes = np.array([1])
    Y = np.where(block.y[:, None] == classes, 1.0, -1.0)
    coef = theta[:, :-1]
    intercept = theta[:, -1] - coef @ shift
    return Y, Y * (block.X @ coef.T + intercept)


def _hessian(
    X: Data,
    shift: np.ndarray,
    w: np.ndarray,
    curvature: np.ndarray,
) -> np.ndarray:
    """Σ w L'' z zᵀ for every output, z = (x - shift, 1)."""
    X = dense_cells(X)
    Z = np.column_stack([X - shift, np.ones(len(X))])
    weights = (w[:, None] * curvature).T
    return np.stack([(Z * of_output[:, None]).T @ Z for of_output in weights])


@dataclass(frozen=True, slots=True)
class SeenRows:
    """The objective over rows that are gone: a parabola about its minimum."""

    theta: np.ndarray  # (outputs, d + 1)
    curvature: np.ndarray  # (outputs, d + 1, d + 1), the penalty included

    def add_to(self, point: Point) -> Point:
        # ½ (θ - θ*)ᵀH(θ - θ*) in every output
        away = point.theta - self.theta
        pull = np.einsum("kij,kj->ki", self.curvature, away)
        value = point.value + 0.5 * float((pull * away).sum())
        H = None if point.hessian is None else point.hessian + self.curvature
        return Point(point.theta, value, point.gradient + pull, H)


@dataclass(frozen=True)
class MarginProblem:
    """Σ w L(y f(x)) + penalty/2 Σ b², one linear f per output, the intercept last, taken at
    `shift`.

    With one output y is 1 for the second class; with K, output k has y = 1 for class k and -1 for
    all others.
    """

    rows: Rows
    outputs: int
    weight: float
    shift: np.ndarray
    scatter: np.ndarray  # (d, d), or its diagonal for wide tables
    loss: Any
    penalty: float
    fit_intercept: bool
    seen: SeenRows | None = None  # has the penalty in it

    @property
    def shape(self) -> tuple[int, int]:
        return self.outputs, len(self.shift) + 1

    @cached_property
    def _penalties(self) -> np.ndarray:
        penalty = self.penalty if self.seen is None else 0.0
        return np.append(np.full(len(self.shift), penalty), 0.0)

    @cached_property
    def _unit(self) -> np.ndarray:
        """Σ w times the spread of every column, 1 for the intercept."""
        scatter = self.scatter
        if scatter.ndim == 2:
            scatter = np.diagonal(scatter)
        variance = np.maximum(scatter / self.weight, 0.0)
        spread = np.where(variance > 0, np.sqrt(variance), 1.0)
        return self.weight * np.append(spread, 1.0)

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        of = partial(
            MarginSums.of,
            theta=theta,
            shift=self.shift,
            loss=self.loss,
            hessian=hessian,
        )
        sums = self.rows.reduce(of)
        gradient = sums.gradient + self._penalties * theta
        squares = float((self._penalties * theta**2).sum())
        value = sums.value + 0.5 * squares
        # a line search turns back from infinity; NaN would compare as neither more nor less
        if not np.isfinite(value):
            value = np.inf
        H = None
        if sums.hessian is not None:
            H = sums.hessian + np.diag(self._penalties)
        point = Point(theta, value, gradient, H)
        if self.seen is not None:
            point = self.seen.add_to(point)
        if not self.fit_intercept:
            point.gradient[:, -1] = 0.0
        return point

    def solution_sums(
        self,
        theta: np.ndarray,
        losses: Sequence[Any],
        curvature: bool,
    ) -> SolutionSums:
        """The sums of several losses and, with `curvature`, that of the loss of this problem, in
        one pass."""
        of = partial(
            SolutionSums.of,
            theta=theta,
            shift=self.shift,
            losses=losses,
            curved=self.loss if curvature else None,
        )
        return self.rows.reduce(of)

    def total_curvature(self, curvature: np.ndarray) -> np.ndarray:
        """The curvature of these rows with that of the rows before, or else of the penalty."""
        if self.seen is None:
            return curvature + np.diag(self._penalties)
        return curvature + self.seen.curvature

    def newton_step(self, point: Point) -> np.ndarray:
        """-H_k⁻¹ g_k: outputs do not meet in any loss, and each has its own system."""
        assert point.hessian is not None
        step = np.zeros(self.shape)
        free = slice(None) if self.fit_intercept else slice(-1)
        for k, H in enumerate(point.hessian):
            factor = PositiveFactor.of(H[free, free])
            step[k, free] = -factor.solve(point.gradient[k, free])
        return step

    @cached_property
    def _factor(self) -> PositiveFactor | np.ndarray:
        if self.scatter.ndim == 1:
            diagonal = self.scatter + self.penalty
            zeros = np.zeros_like(diagonal)
            return np.divide(1.0, diagonal, out=zeros, where=diagonal > 0)
        ridge = self.penalty * np.eye(len(self.shift))
        return PositiveFactor.of(self.scatter + ridge)

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        """(S + penalty I)⁻¹ g, as if L'' were 1 in all rows; S is the scatter of the columns."""
        b = gradient[:, :-1]
        out = gradient / self.weight
        factor = self._factor
        if isinstance(factor, PositiveFactor):
            out[:, :-1] = factor.solve(b.T).T
        else:
            out[:, :-1] = b * factor
        return out

    def level(self, value: float) -> float:
        """1: the tolerance is the same for every value."""
        return 1.0

    def size(self, gradient: np.ndarray) -> float:
        """The largest Σ w L' y z / Σ w over columns of unit spread."""
        return float(np.abs(gradient / self._unit).max())

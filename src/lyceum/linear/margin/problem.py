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
        with np.errstate(over="ignore", invalid="ignore"):
            pull = w[:, None] * Y * loss.slope(margins)
        totals = pull.sum(axis=0)
        gradient = np.column_stack(
            [(block.X.T @ pull).T - np.outer(totals, shift), totals]
        )
        return cls(
            value,
            gradient,
            _hessian(block.X, shift, w, loss.curvature(margins)) if hessian else None,
        )

    def merge(self, other: MarginSums) -> MarginSums:
        if self.hessian is None:
            hessian = None
        else:
            hessian = self.hessian + other.hessian
        return MarginSums(
            self.value + other.value, self.gradient + other.gradient, hessian
        )


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
        return cls(
            values, _hessian(block.X, shift, w, curved.continuous_curvature(margins))
        )

    def merge(self, other: SolutionSums) -> SolutionSums:
        if self.curvature is None:
            curvature = None
        else:
            curvature = self.curvature + other.curvature
        return SolutionSums(self.values + other.values, curvature)


def _loss_sum(loss: Any, margins: np.ndarray, w: np.ndarray) -> float:
    """Σ w L over rows and outputs; zero-weight rows are ignored."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(w @ np.where(w[:, None] > 0, loss.value(margins), 0.0).sum(axis=1))


def _margins(
    block: Block, theta: np.ndarray, shift: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """y of -1 and 1, and y f(x), for every row and output."""
    assert block.y is not None
    if len(theta) > 1:
        classes = np.arange(len(theta))
    else:
        classes = np.array([1])
    Y = np.where(block.y[:, None] == classes, 1.0, -1.0)
    return Y, Y * (block.X @ theta[:, :-1].T + (theta[:, -1] - theta[:, :-1] @ shift))


def _hessian(
    X: Data, shift: np.ndarray, w: np.ndarray, curvature: np.ndarray
) -> np.ndarray:
    """Σ w L'' z zᵀ for every output, z = (x - shift, 1)."""
    X = dense_cells(X)
    Z = np.column_stack([X - shift, np.ones(len(X))])
    return np.stack([(Z * (w * c)[:, None]).T @ Z for c in curvature.T])


@dataclass(frozen=True, slots=True)
class SeenRows:
    """The objective over rows that are gone: a parabola about its minimum."""

    theta: np.ndarray  # (outputs, d + 1)
    curvature: np.ndarray  # (outputs, d + 1, d + 1), the penalty included

    def add_to(self, point: Point) -> Point:
        away = point.theta - self.theta
        pull = np.einsum("kij,kj->ki", self.curvature, away)
        value = point.value + 0.5 * float((pull * away).sum())
        H = point.hessian
        return Point(
            point.theta,
            value,
            point.gradient + pull,
            None if H is None else H + self.curvature,
        )


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
        return np.append(
            np.full(len(self.shift), self.penalty if self.seen is None else 0.0), 0.0
        )

    @cached_property
    def _unit(self) -> np.ndarray:
        variance = (
            self.scatter if self.scatter.ndim == 1 else np.diagonal(self.scatter)
        ) / self.weight
        return self.weight * np.append(
            np.where(variance > 0, np.sqrt(np.maximum(variance, 0.0)), 1.0), 1.0
        )

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        sums = self.rows.reduce(
            partial(
                MarginSums.of,
                theta=theta,
                shift=self.shift,
                loss=self.loss,
                hessian=hessian,
            )
        )
        gradient = sums.gradient + self._penalties * theta
        value = sums.value + 0.5 * float((self._penalties * theta**2).sum())
        if sums.hessian is None:
            H = None
        else:
            H = sums.hessian + np.diag(self._penalties)
        point = Point(theta, value if np.isfinite(value) else np.inf, gradient, H)
        if self.seen is not None:
            point = self.seen.add_to(point)
        if not self.fit_intercept:
            point.gradient[:, -1] = 0.0
        return point

    def solution_sums(
        self, theta: np.ndarray, losses: Sequence[Any], curvature: bool
    ) -> SolutionSums:
        """The sums of several losses and, with `curvature`, that of the loss of this problem, in
        one pass."""
        if curvature:
            curved = self.loss
        else:
            curved = None
        return self.rows.reduce(
            partial(
                SolutionSums.of,
                theta=theta,
                shift=self.shift,
                losses=losses,
                curved=curved,
            )
        )

    def total_curvature(self, curvature: np.ndarray) -> np.ndarray:
        """The curvature of these rows with that of the rows before, or else of the penalty."""
        return curvature + (
            np.diag(self._penalties) if self.seen is None else self.seen.curvature
        )

    def newton_step(self, point: Point) -> np.ndarray:
        assert point.hessian is not None
        step = np.zeros(self.shape)
        if self.fit_intercept:
            free = slice(None)
        else:
            free = slice(-1)
        for k, H in enumerate(point.hessian):
            step[k, free] = -PositiveFactor.of(H[free, free]).solve(
                point.gradient[k, free]
            )
        return step

    @cached_property
    def _factor(self) -> PositiveFactor | np.ndarray:
        if self.scatter.ndim == 1:
            diagonal = self.scatter + self.penalty
            return np.divide(
                1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0
            )
        return PositiveFactor.of(self.scatter + self.penalty * np.eye(len(self.shift)))

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
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

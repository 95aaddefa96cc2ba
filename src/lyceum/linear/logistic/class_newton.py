"""Many classes by L-BFGS, started from the Newton step of every class by itself.

A bound that is a sum over the classes has one curvature per class, n·d²·K in all where the Hessian
of the softmax has n·d²·K². They are summed in passes 1, 2, 4, 8, ... and factored, and the steps
that they give precondition L-BFGS in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Self

import numpy as np

from lyceum._core.solvers import Point
from lyceum._core.statistics import PositiveFactor
from lyceum.linear.logistic.log_loss import LogLoss

MOST_CURVATURES = 1 << 24  # numbers in the curvatures of all classes up to which they are summed


@dataclass(frozen=True, slots=True)
class ClassCurvatures:
    """A loss, its gradient (outputs, d + 1) and, if wanted, the curvature of every class by
    itself."""

    value: float
    gradient: np.ndarray
    curvature: np.ndarray | None  # (outputs, d + 1, d + 1)

    def merge(self, other: Self) -> Self:
        both = self.curvature is not None and other.curvature is not None
        curvature = self.curvature + other.curvature if both else None  # type: ignore[operator]
        return type(self)(self.value + other.value, self.gradient + other.gradient, curvature)


@dataclass
class _NewtonState:
    """The curvature of every class, factored, and how many passes there have been."""

    passes: int = 0
    factors: list[PositiveFactor] = field(default_factory=list)


@dataclass(frozen=True)
class ClassNewtonLoss(LogLoss):
    """A problem for L-BFGS whose preconditioner is the Newton step of every class by itself."""

    state: _NewtonState = field(default_factory=_NewtonState)

    @classmethod
    def of(cls, problem: LogLoss) -> Self:
        """The bound of a problem."""
        return cls(**{one.name: getattr(problem, one.name) for one in fields(problem)})

    @property
    def n_curvatures(self) -> int:
        """Numbers in the curvatures of all classes."""
        outputs, size = self.shape
        return outputs * size * size

    def _evaluate_sums(self, of: Callable[..., ClassCurvatures], theta: np.ndarray) -> Point:
        """The point at θ from one pass over the rows; `of` sums a block at `coef`."""
        self.state.passes += 1
        wanted = (
            self.state.passes & (self.state.passes - 1) == 0
            and self.n_curvatures <= MOST_CURVATURES
        )
        sums = self.rows.reduce(
            partial(
                of, coef=theta, shift=self.shift, class_weight=self.class_weight, curvature=wanted
            )
        )
        if sums.curvature is not None:
            inner = np.diag(self._penalties)
            free = np.ix_(self._free, self._free)
            self.state.factors = [PositiveFactor.of((H + inner)[free]) for H in sums.curvature]
        return self._point(theta, sums.value, sums.gradient, None)

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        """The Newton steps of the classes, less what all have in common."""
        if not self.state.factors:
            return super().precondition(gradient)
        step = np.zeros_like(gradient)
        for k, factor in enumerate(self.state.factors):
            step[k, self._free] = factor.solve(gradient[k, self._free])
        return self.basis @ (self.basis.T @ step)

"""The upper bound by sigmoids of the softmax loss, for many classes.

For any number a, Σ_k exp z_k ≤ e^a Π_k (1 + exp(z_k - a)), so that (Bouchard, 2007)

    log Σ_k exp z_k ≤ a + Σ_k log(1 + exp(z_k - a)).

Given the a of every row, the right side is a sum over the classes: each is a logistic regression of its own
with offsets -a, and a step down is a weighted least squares of its own, with weights s_k (1 - s_k). The best
a makes the sigmoids s_k = 1 / (1 + exp(a - z_k)) add up to one, and with it the bound is a convex function of
the coefficients with gradient Σ w (s_k - 1[y = k]) x in those of class k.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache, partial

import numpy as np
from scipy.optimize import brentq

from lyceum._native import native
from lyceum.data import Block
from lyceum.linear._log_loss import LogLoss
from lyceum.linear._row_passes import dense_parts
from lyceum.solvers import LBFGS, Observer, Outcome, Point, PositiveFactor

__all__ = ["BoundLoss", "SigmoidBound", "minimise_bound"]

_MOST = 1 << 24  # numbers in the curvatures of all classes up to which they are summed


@dataclass(frozen=True, slots=True)
class SigmoidBound:
    """Σ w [a + Σ_k log(1 + exp(z_k - a)) - z_y] at the best a of every row, with its gradient (K, d + 1) and,
    if asked for, Σ w s_k (1 - s_k) x̃x̃ᵀ of every class (and a hundredth of a bound on it), (K, d + 1, d +
    1); x̃ = (x - shift, 1).
    """

    value: float
    gradient: np.ndarray
    curvature: np.ndarray | None

    @classmethod
    def of(
        cls,
        block: Block,
        coef: np.ndarray,
        shift: np.ndarray,
        curvature: bool = False,
        class_weight: np.ndarray | None = None,
    ) -> SigmoidBound:
        value, gradient = 0.0, np.zeros(coef.shape)
        H = np.zeros((*coef.shape, coef.shape[1])) if curvature else None
        for part in dense_parts(block):
            codes = np.ascontiguousarray(part.y, dtype=np.int32)
            w = part.w
            if class_weight is not None:
                w = class_weight[codes] if w is None else w * class_weight[codes]
            value += native.separable_bound(part.X, codes, w, coef, gradient, H, shift)
        return cls(value, gradient, H)

    def merge(self, other: SigmoidBound) -> SigmoidBound:
        both = self.curvature is not None and other.curvature is not None
        curvature = self.curvature + other.curvature if both else None  # type: ignore[operator]
        return SigmoidBound(self.value + other.value, self.gradient + other.gradient, curvature)


@dataclass
class _Separate:
    """The curvature of every class by itself, factored, and how many passes there have been."""

    passes: int = 0
    factors: list[PositiveFactor] | None = None


@dataclass(frozen=True)
class BoundLoss(LogLoss):
    """The bound in place of the log loss, as a problem for L-BFGS.

    A pass costs n·d·K products and some five exponentials a score. In passes 1, 2, 4, 8, ... the curvature of
    every class is summed as well, n·d²·K/2 (the Hessian of the softmax would be n·d²·K²/4), and L-BFGS starts
    from the K separate weighted least squares that it gives; above 2²⁴ numbers in all it starts from class
    shares ⊗ scatter.
    """

    separate: _Separate = field(default_factory=_Separate)

    @classmethod
    def above(cls, problem: LogLoss) -> BoundLoss:
        """The bound of a problem."""
        return cls(**{one.name: getattr(problem, one.name) for one in fields(problem)})

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        """The bound at θ: one pass over the rows."""
        state, (K, p) = self.separate, self.shape
        state.passes += 1
        wanted = state.passes & (state.passes - 1) == 0 and K * p * p <= _MOST
        of = partial(
            SigmoidBound.of,
            coef=np.ascontiguousarray(theta),
            shift=self.shift,
            class_weight=self.class_weight,
        )
        sums = self.rows.reduce(partial(of, curvature=wanted))
        if sums.curvature is not None:
            inner, free = np.diag(self._penalties), np.ix_(self._free, self._free)
            state.factors = [PositiveFactor.of((H + inner)[free]) for H in sums.curvature]
        return self._point(theta, sums.value, sums.gradient, None)

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        """The steps of the K weighted least squares, less what all classes have in common."""
        if self.separate.factors is None:
            return super().precondition(gradient)
        out = np.zeros_like(gradient)
        for k, factor in enumerate(self.separate.factors):
            out[k, self._free] = factor.solve(gradient[k, self._free])
        return self.basis @ (self.basis.T @ out)


def minimise_bound(
    problem: LogLoss, theta: np.ndarray, max_iter: int, tol: float, observer: Observer | None = None
) -> tuple[Outcome, float]:
    """The least bound, and the factor on all scores that then gives the least log loss.

    At its least the bound has the scores too far apart (twice as far for two classes, hardly for many). One
    number puts this right: the t at which the loss itself is least along t·θ, some six passes. The outcome's
    history is that of the bound, its point that of the loss at t·θ.
    """
    bound = BoundLoss.above(problem)
    outcome = LBFGS().minimise(bound, bound.evaluate(theta), max_iter, tol, observer)
    best = outcome.point.theta
    t = _best_scale(problem, best)
    return Outcome(problem.evaluate(t * best), outcome.n_iter, outcome.converged, outcome.history), t


def _best_scale(problem: LogLoss, theta: np.ndarray) -> float:
    """The t > 0 at which the loss is least along t·θ, to a thousandth."""
    if not theta.any():
        return 1.0

    @cache
    def slope(t: float) -> float:
        return float(np.vdot(problem.evaluate(t * theta).gradient, theta))

    high = 1.0
    while slope(high) < 0 and high < 64.0:
        high *= 2.0
    low = 0.5 * high if high > 1.0 else 0.0
    if slope(low) >= 0 or slope(high) <= 0:
        return 1.0
    return float(brentq(slope, low, high, xtol=1e-3))

"""The upper bound by sigmoids of the softmax loss, for many classes.

For any number a, Σ_k exp z_k ≤ e^a Π_k (1 + exp(z_k - a)), so that (Bouchard, 2007)

    log Σ_k exp z_k ≤ a + Σ_k log(1 + exp(z_k - a)).

Given the a of every row, the right side is a sum over the classes: each is a logistic regression of
its own with offsets -a, and a step down is a weighted least squares of its own, with weights s_k (1
- s_k). The best a makes the sigmoids s_k = 1 / (1 + exp(a - z_k)) add up to one, and with it the
bound is a convex function of the coefficients with gradient Σ w (s_k - 1[y = k]) x in those of
class k.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.solvers import LBFGS, Observer, Outcome, Point
from lyceum.linear.logistic.class_newton import ClassCurvatures, ClassNewtonLoss
from lyceum.linear.logistic.log_loss import LogLoss
from lyceum.linear.row_passes import dense_parts


@dataclass(frozen=True, slots=True)
class SigmoidBound(ClassCurvatures):
    """Σ w [a + Σ_k log(1 + exp(z_k - a)) - z_y] at the best a of every row, with its gradient (K, d
    + 1) and, on request, Σ w s_k (1 - s_k) x̃x̃ᵀ of every class (and a hundredth of a bound on it),
    (K, d + 1, d + 1); x̃ = (x - shift, 1).
    """

    @classmethod
    def of(
        cls,
        block: Block,
        coef: np.ndarray,
        shift: np.ndarray,
        curvature: bool = False,
        class_weight: np.ndarray | None = None,
    ) -> SigmoidBound:
        value = 0.0
        gradient = np.zeros(coef.shape)
        if curvature:
            H = np.zeros((*coef.shape, coef.shape[1]))
        else:
            H = None
        for part in dense_parts(block):
            codes = np.ascontiguousarray(part.y, dtype=np.int32)
            w = part.w
            if class_weight is not None:
                if w is None:
                    w = class_weight[codes]
                else:
                    w = w * class_weight[codes]
            value += native.separable_bound(part.X, codes, w, coef, gradient, H, shift)
        return cls(value, gradient, H)


@dataclass(frozen=True)
class BoundLoss(ClassNewtonLoss):
    """The bound in place of the log loss, as a problem for L-BFGS.

    A pass costs n·d·K products and some five exponentials a score. In passes 1, 2, 4, 8, ... the
    curvature of every class is summed as well, n·d²·K/2 (the Hessian of the softmax would be
    n·d²·K²/4), and L-BFGS starts from the K separate weighted least squares that it gives; above
    2²⁴ numbers in all it starts from class shares ⊗ scatter.
    """

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        """The bound at θ: one pass over the rows."""
        return self._evaluate_sums(SigmoidBound.of, np.ascontiguousarray(theta))


def minimize_bound(
    problem: LogLoss, theta: np.ndarray, max_iter: int, tol: float, observer: Observer | None = None
) -> tuple[Outcome, float]:
    """The least bound, and the factor on all scores that then gives the least log loss.

    At its least the bound has the scores too far apart (twice as far for two classes, hardly for
    many). One number puts this right: the t at which the loss itself is least along t·θ, some six
    passes. The outcome's history is that of the bound, its point that of the loss at t·θ.
    """
    bound = BoundLoss.of(problem)
    outcome = LBFGS().minimize(bound, bound.evaluate(theta), max_iter, tol, observer)
    best = outcome.point.theta
    t = _best_scale(problem, best)
    return Outcome(
        problem.evaluate(t * best), outcome.n_iter, outcome.converged, outcome.history
    ), t


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
    if high > 1.0:
        low = 0.5 * high
    else:
        low = 0.0
    if slope(low) >= 0 or slope(high) <= 0:
        return 1.0
    return float(brentq(slope, low, high, xtol=1e-3))

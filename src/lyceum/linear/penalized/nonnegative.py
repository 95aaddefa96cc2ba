"""The elastic net with coefficients that may not be negative."""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from lyceum._core.solvers import GramElasticNet, RoundObserver, Solution

_JITTER = 1e-12  # of the mean variance, where columns depend on each other


class NonNegativeElasticNet(GramElasticNet):
    """½ bᵀQb - q·b + l1 Σ b + l2/2 |b|² over b >= 0.

    As b >= 0, the penalty l1 |b|₁ is linear: with A = Q + l2 I = LLᵀ the problem is min |Lᵀb -
    L⁻¹(q - l1)|², which the active-set method of Lawson and Hanson solves exactly.
    """

    def solve(
        self,
        l1: float,
        l2: float,
        start: np.ndarray,
        tol: float,
        max_iter: int,
        observer: RoundObserver | None = None,
    ) -> Solution:
        d = len(self.q)
        q = self.q - l1
        A = self.Q + l2 * np.eye(d)
        unit = float(np.trace(A)) / max(d, 1) or 1.0
        try:
            factor = cholesky(A, lower=True, check_finite=False)
        except LinAlgError:
            factor = cholesky(A + _JITTER * unit * np.eye(d), lower=True)
        target = solve_triangular(factor, q, lower=True, check_finite=False)
        coef = optimize.nnls(factor.T, target)[0]
        # f(b) - f(b*) <= g·b - g·b* with the gradient g, and b* of about the size of b
        gradient = A @ coef - q
        below = max(0.0, -float(gradient.min(initial=0.0)))
        gap = max(0.0, float(coef @ gradient) + below * float(coef.sum()))
        if observer is not None:
            observer(coef, gap, 1)
        return Solution(coef, gap, 1, [gap], True)

"""Upper bounds of the softmax loss that are sums over the classes, and training by them.

A bound that is a sum over the classes has one curvature per class, n·d²·K in all where the Hessian
of the softmax has n·d²·K². Two are used, with z_k the score of class k:

    ln u ≤ λu - ln λ - 1 of u = Σ_k exp z_k, for any λ > 0, equal at λ = 1/u;
    ln Σ_k exp z_k ≤ a + Σ_k log(1 + exp(z_k - a)), for any a (Bouchard, 2007).

Given λ or a of every row, every class is a weighted least squares of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize
from scipy.special import logsumexp, xlogy

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.solvers import LBFGS, Observer, Outcome, Point
from lyceum._core.statistics import PositiveFactor
from lyceum.errors import SettingError
from lyceum.linear.logistic.log_loss import LogLoss
from lyceum.linear.row_passes import dense_parts

# numbers in the curvatures of all classes up to which they are summed
_MOST_CURVATURES = 1 << 24


def log_bound(u: Any, slope: Any) -> np.ndarray:
    """The upper bound λu - ln λ - 1 of ln u, for any slope λ > 0; equal to it at λ = 1/u.

    Parameters
    ----------
    u : array
    slope : array
        λ.

    Returns
    -------
    array

    Examples
    --------
    >>> log_bound([1.0, 2.0], 1.0).tolist()  # ln 1 = 0, ln 2 = 0.69
    [0.0, 1.0]
    """
    slope = _checked_slope(slope, np.inf)
    return slope * np.asarray(u, dtype=np.float64) - np.log(slope) - 1.0


def sigmoid_bound(x: ArrayLike, slope: Any) -> np.ndarray:
    """The upper bound exp(λx - H(λ)) of 1 / (1 + exp(-x)), for any slope λ in (0, 1).

    H(λ) = -λ ln λ - (1 - λ) ln(1 - λ); bound and sigmoid are equal at λ = 1 / (1 + exp(x)).

    Parameters
    ----------
    x : array
    slope : array
        λ.

    Returns
    -------
    array

    References
    ----------
    Jaakkola and Jordan (2000), Bayesian parameter estimation via variational methods. Statistics
    and Computing 10.

    Examples
    --------
    >>> float(sigmoid_bound(0.0, 0.5).round(12))
    0.5
    """
    slope = _checked_slope(slope, 1.0)
    entropy = -xlogy(slope, slope) - xlogy(1.0 - slope, 1.0 - slope)
    return np.exp(slope * np.asarray(x, dtype=np.float64) - entropy)


def _checked_slope(slope: Any, below: float) -> np.ndarray:
    values = np.asarray(slope, dtype=np.float64)
    if not ((values > 0) & (values < below)).all():
        raise SettingError(
            f"the slope of the bound must be above 0 and below {below:g}; it is {slope}"
        )
    return values


# -- sums over rows --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BoundSums:
    """A loss, its gradient (outputs, d + 1) and, if wanted, the curvature of every class by
    itself."""

    value: float
    gradient: np.ndarray
    curvature: np.ndarray | None  # (outputs, d + 1, d + 1)

    def merge(self, other: BoundSums) -> BoundSums:
        curvature = None
        if self.curvature is not None and other.curvature is not None:
            curvature = self.curvature + other.curvature
        return BoundSums(
            self.value + other.value, self.gradient + other.gradient, curvature
        )


def separable_sums(
    block: Block,
    coef: np.ndarray,
    shift: np.ndarray,
    curvature: bool,
    class_weight: np.ndarray | None,
) -> BoundSums:
    """Σ w [ln u - z_y], with its gradient and, if wanted, Σ w p_k x̃x̃ᵀ of every class.

    That is the bound at λ = 1/u, where it equals the loss; x̃ = (x - shift, 1).
    """
    outputs = len(coef)
    value = 0.0
    gradient = np.zeros(coef.shape)
    H = np.zeros((*coef.shape, coef.shape[1])) if curvature else None
    for part in dense_parts(block):
        if not len(part):
            continue
        X = np.asarray(part.X, dtype=np.float64)
        cells = np.column_stack([X - shift, np.ones(len(part))])
        # two classes have one output, that of the second: the last columns of the pulls
        loss, expected, residual = _class_pulls(part, cells @ coef.T, class_weight)
        value += loss
        gradient += residual[:, -outputs:].T @ cells
        if H is not None:
            for k, weights in enumerate(expected[:, -outputs:].T):
                H[k] += (cells * weights[:, None]).T @ cells
    return BoundSums(value, gradient, H)


def _class_pulls(
    block: Block,
    scores: np.ndarray,
    class_weight: np.ndarray | None,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Σ w [ln u - z_y], w λ exp z_k = w p_k of every row and class, and w (p_k - 1[y = k])."""
    assert block.y is not None
    w = np.asarray(block.weights, dtype=np.float64)
    if class_weight is not None:
        w = w * class_weight[block.y]
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(block)), scores])
    log_u = logsumexp(scores, axis=1)
    true_class = np.arange(len(block)), block.y
    loss = float(w @ (log_u - scores[true_class]))
    expected = w[:, None] * np.exp(scores - log_u[:, None])
    residual = expected.copy()
    residual[true_class] -= w
    return loss, expected, residual


def sigmoid_sums(
    block: Block,
    coef: np.ndarray,
    shift: np.ndarray,
    curvature: bool,
    class_weight: np.ndarray | None,
) -> BoundSums:
    """Σ w [a + Σ_k log(1 + exp(z_k - a)) - z_y] at the best a of every row, with its gradient
    Σ w (s_k - 1[y = k]) x̃ and, if wanted, Σ w s_k (1 - s_k) x̃x̃ᵀ of every class (and a hundredth
    of a bound on it).

    The best a makes the sigmoids s_k = 1 / (1 + exp(a - z_k)) add up to one. A pass costs n·d·K
    products and some five exponentials per score, the curvature n·d²·K/2.
    """
    value = 0.0
    gradient = np.zeros(coef.shape)
    H = np.zeros((*coef.shape, coef.shape[1])) if curvature else None
    for part in dense_parts(block):
        codes = np.ascontiguousarray(part.y, dtype=np.int32)
        w = part.w
        if class_weight is not None:
            w = class_weight[codes] if w is None else w * class_weight[codes]
        value += native.separable_bound(part.X, codes, w, coef, gradient, H, shift)
    return BoundSums(value, gradient, H)


# -- solvers ---------------------------------------------------------------------------


@dataclass
class SeparateClasses:
    """A loss of `sums` for L-BFGS, preconditioned by the Newton step of every class by itself.

    Curvatures are summed in passes 1, 2, 4, 8, ... and factored; above 2²⁴ numbers in all the
    preconditioner is that of the problem, class shares ⊗ scatter.
    """

    problem: LogLoss
    sums: Callable[..., BoundSums]
    passes: int = 0
    factors: list[PositiveFactor] = field(default_factory=list)

    @property
    def n_curvatures(self) -> int:
        outputs, size = self.problem.shape
        return outputs * size * size

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        """The point at θ: one pass over the rows."""
        problem = self.problem
        self.passes += 1
        is_power_of_two = self.passes & (self.passes - 1) == 0
        of = partial(
            self.sums,
            coef=np.ascontiguousarray(theta),
            shift=problem.shift,
            class_weight=problem.class_weight,
            curvature=is_power_of_two and self.n_curvatures <= _MOST_CURVATURES,
        )
        sums = problem.rows.reduce(of)
        if sums.curvature is not None:
            ridge = np.diag(problem.penalties)
            free = np.ix_(problem.free, problem.free)
            self.factors = [
                PositiveFactor.of((H + ridge)[free]) for H in sums.curvature
            ]
        return problem.penalized_point(theta, sums.value, sums.gradient, None)

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        """The Newton steps of the classes, less what all have in common."""
        if not self.factors:
            return self.problem.precondition(gradient)
        # BBᵀ, with B the basis of the outputs that matter, takes out what all have in common
        free = self.problem.free
        basis = self.problem.basis
        step = np.zeros_like(gradient)
        for k, factor in enumerate(self.factors):
            step[k, free] = factor.solve(gradient[k, free])
        return basis @ (basis.T @ step)

    def size(self, gradient: np.ndarray) -> float:
        return self.problem.size(gradient)

    def level(self, value: float) -> float:
        return self.problem.level(value)

    def minimize(
        self,
        theta: np.ndarray,
        max_iter: int,
        tol: float,
        observer: Observer | None,
    ) -> Outcome:
        """The minimum by L-BFGS, from θ."""
        start = self.evaluate(theta)
        return LBFGS().minimize(self, start, max_iter, tol, observer)  # type: ignore[arg-type]


def minimize_by_turns(
    problem: LogLoss,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    observer: Observer | None = None,
) -> Outcome:
    """λ_n = 1/u_n of every row and one Newton step in every class, in turn, from θ.

    Turns alone approach the optimum slowly where p_k is near 1, as they take p_k for p_k (1 - p_k);
    quasi-Newton changes of the steps make up for it. The loss falls with every turn.
    """
    separable = SeparateClasses(problem, separable_sums)
    if separable.n_curvatures > _MOST_CURVATURES:
        outputs, size = problem.shape
        raise SettingError(
            f"solver='bound' holds a matrix of {size} x {size} for each of {outputs} classes, which"
            " is too much: give solver='lbfgs'"
        )
    return separable.minimize(theta, max_iter, tol, observer)


def minimize_sigmoid_bound(
    problem: LogLoss,
    theta: np.ndarray,
    max_iter: int,
    tol: float,
    observer: Observer | None = None,
) -> tuple[Outcome, float]:
    """The least bound by sigmoids, and the factor on all scores that then gives the least log loss.

    At its least the bound has the scores too far apart (twice as far for two classes, hardly for
    many). One number puts this right: the t at which the loss itself is least along t·θ, some six
    passes. The outcome's history is that of the bound, its point that of the loss at t·θ.
    """
    bound = SeparateClasses(problem, sigmoid_sums)
    outcome = bound.minimize(theta, max_iter, tol, observer)
    least = outcome.point.theta
    t = _best_scale(problem, least)
    point = problem.evaluate(t * least)
    return Outcome(point, outcome.n_iter, outcome.converged, outcome.history), t


def _best_scale(problem: LogLoss, theta: np.ndarray) -> float:
    """The t > 0 at which the loss is least along t·θ, to a thousandth."""
    if not theta.any():
        return 1.0

    @cache
    def slope(t: float) -> float:
        return float(np.vdot(problem.evaluate(t * theta).gradient, theta))

    # the loss is convex along t: its slope changes sign between low and high
    high = 1.0
    while slope(high) < 0 and high < 64.0:
        high *= 2.0
    low = 0.5 * high if high > 1.0 else 0.0
    if slope(low) >= 0 or slope(high) <= 0:
        return 1.0
    return float(optimize.brentq(slope, low, high, xtol=1e-3))

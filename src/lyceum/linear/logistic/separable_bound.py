"""Large-K training by a separable bound: λ of every row, and one problem per class, in turn.

ln u ≤ λu - ln λ - 1 for every λ > 0, equal at λ = 1/u. With u = Σ_k exp z_k (1 + Σ_k exp z_k beside
a reference class) and λ_n fixed, the loss of all rows is below a sum over classes, that of class k
least where

    Σ_n w_n [y_nk z_nk - λ_n exp z_nk] - penalty/2 ‖b_k‖²

is largest, by itself. A turn sets λ_n = 1/u_n, at which bound and loss are equal, and takes one
Newton step in every class, with the curvature Σ w λ exp(z_k) x̃x̃ᵀ = Σ w p_k x̃x̃ᵀ: K weighted
least squares, n·d²·K in all. Steps are shortened until the loss falls, so that turns are monotone;
their limit is the softmax optimum.

Turns alone approach it slowly where p_k is near 1, as they take p_k for p_k (1 - p_k). Quasi-Newton
changes of the steps (L-BFGS, started from the K least squares) make up for it; curvatures are
summed in turns 1, 2, 4, 8, ...
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp, xlogy

from lyceum._core.data import Block
from lyceum._core.solvers import LBFGS, Observer, Outcome, Point
from lyceum.errors import SettingError
from lyceum.linear.logistic.class_newton import MOST_CURVATURES, ClassCurvatures, ClassNewtonLoss
from lyceum.linear.logistic.log_loss import LogLoss
from lyceum.linear.row_passes import dense_parts


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
    slope = _slope(slope, np.inf)
    return slope * np.asarray(u, dtype=np.float64) - np.log(slope) - 1.0


def sigmoid_bound(x: Any, slope: Any) -> np.ndarray:
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
    slope = _slope(slope, 1.0)
    entropy = -xlogy(slope, slope) - xlogy(1.0 - slope, 1.0 - slope)
    return np.exp(slope * np.asarray(x, dtype=np.float64) - entropy)


def _slope(slope: Any, below: float) -> np.ndarray:
    found = np.asarray(slope, dtype=np.float64)
    if not ((found > 0) & (found < below)).all():
        raise SettingError(
            f"the slope of the bound must be above 0 and below {below:g}; it is {slope}"
        )
    return found


@dataclass(frozen=True, slots=True)
class ClassProblems(ClassCurvatures):
    """The loss Σ w [ln u - z_y], its gradient (outputs, d + 1) and, if wanted, Σ w p_k x̃x̃ᵀ of
    each."""

    @classmethod
    def of(
        cls,
        block: Block,
        coef: np.ndarray,
        shift: np.ndarray,
        curvature: bool = False,
        class_weight: np.ndarray | None = None,
    ) -> ClassProblems:
        value = 0.0
        gradient = np.zeros(coef.shape)
        if curvature:
            H = np.zeros((*coef.shape, coef.shape[1]))
        else:
            H = None
        for part in dense_parts(block):
            if not len(part):
                continue
            assert part.y is not None
            w = np.asarray(part.weights, dtype=np.float64)
            if class_weight is not None:
                w = w * class_weight[part.y]
            cells = np.column_stack(
                [np.asarray(part.X, dtype=np.float64) - shift, np.ones(len(part))]
            )
            scores = cells @ coef.T
            if len(coef) == 1:
                scores = np.column_stack([np.zeros(len(part)), scores])
            log_u = logsumexp(scores, axis=1)
            own = np.arange(len(part)), part.y
            value += float(w @ (log_u - scores[own]))
            expected = w[:, None] * np.exp(scores - log_u[:, None])  # w λ exp z
            residual = expected.copy()
            residual[own] -= w
            gradient += residual[:, -len(coef) :].T @ cells
            for k, weights in enumerate(expected[:, -len(coef) :].T if H is not None else ()):
                H[k] += (cells * weights[:, None]).T @ cells  # type: ignore[index]
        return cls(value, gradient, H)


@dataclass(frozen=True)
class SeparableLoss(ClassNewtonLoss):
    """The log loss, whose preconditioner is the Newton step of every class by itself under the
    bound."""

    @classmethod
    def of(cls, problem: LogLoss) -> Self:
        """The bound of a problem."""
        found = super().of(problem)
        if found.n_curvatures > MOST_CURVATURES:
            outputs, size = problem.shape
            raise SettingError(
                f"solver='bound' holds a matrix of {size} x {size} for each of {outputs} classes,"
                " which is too much: give solver='lbfgs'"
            )
        return found

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        """The loss at θ, which is the bound at its best λ: one pass over the rows."""
        return self._evaluate_sums(ClassProblems.of, theta)


def alternate(
    problem: LogLoss, theta: np.ndarray, max_iter: int, tol: float, observer: Observer | None = None
) -> Outcome:
    """The turns from θ until the gradient of the loss is small; the objective falls with every
    turn."""
    separable = SeparableLoss.of(problem)
    return LBFGS().minimize(separable, separable.evaluate(theta), max_iter, tol, observer)

"""Least squares by orthogonal triangles and by gradient descent, beside normal equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.linalg import qr, solve_triangular

from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum._core.solvers import GradientDescent, Point
from lyceum._core.statistics import PositiveFactor, Scatter
from lyceum.errors import SettingError
from lyceum.linear.least_squares.base import Fit
from lyceum.linear.least_squares.steps_by_hand import (
    Descent,
    Step,
    StepSetting,
    batch_steps,
    row_steps,
)
from lyceum.linear.row_passes import Residuals, dense_blocks


@dataclass(frozen=True, slots=True)
class Triangle:
    """R of the QR decomposition of √w [(x - x₀) scale, y - y₀]: two are merged by that of both
    together.

    R holds what least squares needs, and unlike XᵀWX it does not square the condition.
    """

    R: np.ndarray  # (d + 1, d + 1), or fewer rows

    @classmethod
    def of(cls, block: Block, x0: np.ndarray, y0: float, scale: np.ndarray) -> Triangle:
        assert block.y is not None
        Z = np.column_stack([(_cells(block) - x0) * scale, np.asarray(block.y - y0)])
        if block.w is not None:
            Z *= np.sqrt(block.w)[:, None]
        return cls(_triangle(Z))

    def merge(self, other: Triangle) -> Triangle:
        return Triangle(_triangle(np.vstack([self.R, other.R])))


def _triangle(Z: np.ndarray) -> np.ndarray:
    return qr(Z, mode="r", check_finite=False)[0][: Z.shape[1]]


def by_qr(rows: Rows, fit: Fit, setting: StepSetting) -> Descent:
    """Scaled columns as Q R; b from R₁₁ b = r₁₂, and what is left is r₂₂. Least norm is left as it
    is."""
    moments = fit.moments
    scale = fit.factor.scale
    d = len(fit.coef)
    if fit.factor.lower is None or not d:
        return Descent(fit.refine(rows, setting.fit_intercept))
    of = partial(Triangle.of, x0=moments.x_mean, y0=moments.y_mean, scale=scale)
    R = rows.reduce(of).R
    if len(R) < d:
        return Descent(fit)
    inner = R[:d, :d]
    right = R[:d, d]
    coef = scale * solve_triangular(inner, right, check_finite=False)
    smallest = float((np.diagonal(inner) ** 2).min())
    factor = PositiveFactor(
        scale, np.ascontiguousarray(inner.T), None, np.zeros(d), d, smallest
    )
    return Descent(
        replace(
            fit,
            factor=factor,
            coef=coef,
            residual=float(R[d, d] ** 2) if len(R) > d else 0.0,
        )
    )


def by_gradient_descent(rows: Rows, fit: Fit, setting: StepSetting) -> Descent:
    """Steps down the gradient over all rows, their length given or searched for on columns of unit
    spread."""
    if setting.learning_rate is not None:
        return batch_steps(rows, fit, setting)
    if setting.coef_init is not None or not setting.standardize:
        raise SettingError(
            "coef_init and standardize=False are for steps of a given length: give"
            " solver='gradient_descent' a learning_rate"
        )
    problem = _Squares(rows, fit)
    start = problem.evaluate(np.zeros(len(fit.coef)))
    steps: list[Step] = []

    def observer(point: Point) -> None:
        coef = problem.unit * point.theta
        steps.append(
            (coef, float(fit.moments.y_mean - fit.moments.x_mean @ coef), None)
        )

    outcome = GradientDescent().minimize(
        problem, start, setting.max_iter, setting.tol, observer
    )
    at = outcome.point
    done = replace(fit, coef=problem.unit * at.theta, residual=2 * at.value)
    return Descent(
        done,
        outcome.n_iter,
        outcome.converged,
        [2 * value for value in outcome.history],
        steps,
    )


@dataclass(frozen=True)
class _Squares:
    """½ Σ w r² as a problem in u = b / unit."""

    rows: Rows
    fit: Fit

    @property
    def unit(self) -> np.ndarray:
        return self.fit.factor.scale * np.sqrt(self.fit.moments.weight)

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        moments = self.fit.moments
        of = partial(
            Residuals.of, coef=self.unit * theta, x0=moments.x_mean, y0=moments.y_mean
        )
        sums = self.rows.reduce(of)
        return Point(theta, sums.squares / 2, -self.unit * sums.gradient)

    def newton_step(self, point: Point) -> np.ndarray:
        return -point.gradient

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        return gradient

    def level(self, value: float) -> float:
        """1: the tolerance is the same for every value."""
        return 1.0

    def size(self, gradient: np.ndarray) -> float:
        """The largest correlation of a column with what is left."""
        moments = self.fit.moments
        spread = np.sqrt(max(moments.weight * moments.yy, 1e-300))
        return float(np.abs(gradient).max(initial=0.0)) / spread


def by_recursion(rows: Rows, fit: Fit) -> Fit:
    """The solution at alpha > 0 by one row after the other: P ← P - g P x xᵀP, b ← b + g (y - b·x)
    P x with g = w / (1 + w xᵀP x), from b = 0 and P = I / alpha; x and y are about their means.
    """
    moments = fit.moments
    d = len(fit.coef)
    assert isinstance(moments, Scatter)
    b = np.zeros(d + 1)
    P = np.diag(np.append(1.0 / np.broadcast_to(fit.alpha, d), 0.0))
    for block in dense_blocks(rows):
        assert block.y is not None
        native.recursive_squares(
            block.X, block.y - moments.y_mean, block.w, moments.x_mean, b, P
        )
    coef = b[:-1]
    residual = (
        moments.yy - 2 * float(coef @ moments.xy) + float(coef @ moments.xx @ coef)
    )
    return replace(fit, coef=coef, residual=max(residual, 0.0))


def _cells(block: Block) -> np.ndarray:
    return block.dense


SOLVERS: dict[str, Callable[[Rows, Fit, StepSetting], Descent]] = {
    "qr": by_qr,
    "gradient_descent": by_gradient_descent,
    "lms": row_steps,
}

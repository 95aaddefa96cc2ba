"""Least squares beside the normal equations: by orthogonal triangles, by gradient descent, row
after row, and by steps of a given length, as on paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum._core.solvers import GradientDescent, Point
from lyceum._core.statistics import PositiveFactor, Scatter
from lyceum.errors import SettingError
from lyceum.linear.least_squares.base import Fit
from lyceum.linear.row_passes import Residuals, dense_blocks

# coefficients, the intercept at x = 0, and both after every row
Step = tuple[np.ndarray, float, np.ndarray | None]


@dataclass(frozen=True, slots=True)
class Descent:
    """A fit and how it was reached."""

    fit: Fit
    n_iter: int = 1
    converged: bool = True
    history: list[float] = field(default_factory=list)  # Σ w r² per pass
    steps: list[Step] = field(default_factory=list)  # at the start and after every pass


@dataclass(frozen=True, slots=True)
class StepSetting:
    """The settings of solvers that go by steps."""

    fit_intercept: bool
    max_iter: int
    tol: float
    learning_rate: float | None
    decay: bool = True
    standardize: bool = True
    coef_init: Any = None  # coefficients, and the intercept at x = 0
    record: bool = False


@dataclass(frozen=True, slots=True)
class StepFrame:
    """Where steps are taken: columns less `shift`, times `unit`, and the target less `level`."""

    shift: np.ndarray
    unit: np.ndarray
    level: float

    @classmethod
    def of(cls, fit: Fit, scaled: bool) -> StepFrame:
        moments = fit.moments
        if scaled:
            return cls(
                moments.x_mean,
                fit.factor.scale * np.sqrt(moments.weight),
                moments.y_mean,
            )
        d = len(fit.coef)
        return cls(np.zeros(d), np.ones(d), 0.0)

    def inside(self, coef_init: Any, fit_intercept: bool) -> np.ndarray:
        """Coefficients, and the intercept last, of a point at x = 0."""
        d = len(self.unit)
        if coef_init is None:
            return np.zeros(d + 1)
        try:
            coef, intercept = coef_init
            coef = np.asarray(coef, dtype=np.float64).reshape(d)
            theta = np.append(coef, float(intercept) if fit_intercept else 0.0)
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"coef_init must be (coef, intercept) with {d} coefficients, one per design column;"
                f" it is {coef_init!r}"
            ) from error
        # x·b + b₀ - level = ((x - shift) unit)·(b / unit) + (b₀ + shift·b - level)
        theta[-1] += coef @ self.shift - (self.level if fit_intercept else 0.0)
        theta[:-1] /= self.unit
        return theta

    def outside(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients and the intercept at x = 0."""
        coef = self.unit * theta[:-1]
        return coef, float(self.level + theta[-1] - coef @ self.shift)

    def residuals(self, rows: Rows, theta: np.ndarray) -> Residuals:
        of = partial(
            Residuals.of,
            coef=self.unit * theta[:-1],
            x0=self.shift,
            y0=self.level + float(theta[-1]),
        )
        return rows.reduce(of)


def batch_steps(rows: Rows, fit: Fit, setting: StepSetting) -> Descent:
    """θ ← θ - η ∂J/∂θ with J = Σ w (y - h)² / 2Σw, over all rows at once."""
    assert setting.learning_rate is not None
    frame = StepFrame.of(fit, setting.standardize)
    way = _Way(rows, fit, setting)
    theta = frame.inside(setting.coef_init, setting.fit_intercept)
    sums = way.look(frame, theta)
    rate = setting.learning_rate / fit.moments.weight
    # the pull Σ w r z of a column of unit spread is at most √(Σw · Σwr²) (Cauchy and Schwarz)
    largest = np.sqrt(max(fit.moments.weight * fit.moments.yy, 1e-300))
    small = setting.tol * largest
    for _ in range(setting.max_iter):
        theta[:-1] += rate * frame.unit * sums.gradient
        if setting.fit_intercept:
            theta[-1] += rate * sums.total
        sums = way.look(frame, theta)
        of_intercept = sums.total * setting.fit_intercept
        pulls = np.append(frame.unit * sums.gradient, of_intercept)
        if np.abs(pulls).max() <= small:
            return way.finish(frame, theta, True)
    return way.finish(frame, theta, False)


def row_steps(rows: Rows, fit: Fit, setting: StepSetting) -> Descent:
    """The rule of Widrow and Hoff, θ ← θ + η w (y - h) x, row after row.

    η falls with the passes if it decays, η / k in pass k, so that the weights come to rest (Robbins
    and Monro, 1951). It stops when a pass lowers the squares by less than a share `tol`.
    """
    frame = StepFrame.of(fit, setting.standardize)
    way = _Way(rows, fit, setting)
    theta = frame.inside(setting.coef_init, setting.fit_intercept)
    before = way.look(frame, theta).squares
    rate = 0.01 if setting.learning_rate is None else setting.learning_rate
    for k in range(1, setting.max_iter + 1):
        rate_of_pass = rate / k if setting.decay else rate
        trail = _pass(rows, frame, theta, rate_of_pass, setting)
        squares = way.look(frame, theta, trail).squares
        if abs(before - squares) <= setting.tol * fit.moments.yy:
            return way.finish(frame, theta, True)
        before = squares
    return way.finish(frame, theta, False)


def _pass(
    rows: Rows,
    frame: StepFrame,
    theta: np.ndarray,
    rate: float,
    setting: StepSetting,
) -> np.ndarray | None:
    """One pass over the rows; with a record, coefficients and intercept after every row."""
    trail = []
    for block in dense_blocks(rows):
        assert block.y is not None
        y = np.asarray(block.y - frame.level, dtype=np.float64)
        # the whole block at once, or row by row to see θ after each
        size = 1 if setting.record else max(1, len(block))
        for first in range(0, len(block), size):
            part = slice(first, first + size)
            native.lms_pass(
                block.X[part],
                y[part],
                None if block.w is None else block.w[part],
                frame.shift,
                frame.unit,
                rate,
                setting.fit_intercept,
                theta,
            )
            if setting.record:
                trail.append(np.append(*frame.outside(theta)))
    if setting.record:
        return np.array(trail)
    return None


@dataclass
class _Way:
    """The squares and the coefficients on the way."""

    rows: Rows
    fit: Fit
    setting: StepSetting
    history: list[float] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def look(
        self,
        frame: StepFrame,
        theta: np.ndarray,
        trail: np.ndarray | None = None,
    ) -> Residuals:
        if not np.abs(theta).max() < 1e100:
            advice = ", or scale the columns (standardize=True)"
            if self.setting.standardize:
                advice = ""
            raise SettingError(
                f"learning_rate={self.setting.learning_rate} is too large: the weights diverge;"
                f" lower it{advice}"
            )
        sums = frame.residuals(self.rows, theta)
        self.history.append(sums.squares)
        self.steps.append((*frame.outside(theta), trail))
        return sums

    def finish(self, frame: StepFrame, theta: np.ndarray, converged: bool) -> Descent:
        coef, intercept = frame.outside(theta)
        moments = self.fit.moments
        mean = np.append(moments.x_mean, intercept + moments.x_mean @ coef)
        fit = replace(
            self.fit,
            moments=replace(moments, mean=mean),
            coef=coef,
            residual=self.history[-1],
        )
        return Descent(fit, len(self.history) - 1, converged, self.history, self.steps)


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
        cells = (block.dense - x0) * scale
        Z = np.column_stack([cells, np.asarray(block.y - y0)])
        if block.w is not None:
            Z *= np.sqrt(block.w)[:, None]
        return cls(_triangle(Z))

    def merge(self, other: Triangle) -> Triangle:
        return Triangle(_triangle(np.vstack([self.R, other.R])))


def _triangle(Z: np.ndarray) -> np.ndarray:
    R = qr(Z, mode="r", check_finite=False)[0]
    return R[: Z.shape[1]]


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
    # R₁₁ᵀR₁₁ is the scaled XᵀWX, so that R₁₁ᵀ is its lower Cholesky factor
    factor = PositiveFactor(
        scale,
        lower=np.ascontiguousarray(inner.T),
        root=None,
        loads=np.zeros(d),
        rank=d,
        smallest=float((np.diagonal(inner) ** 2).min()),
    )
    residual = float(R[d, d] ** 2) if len(R) > d else 0.0
    return Descent(replace(fit, factor=factor, coef=coef, residual=residual))


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
        intercept = float(fit.moments.y_mean - fit.moments.x_mean @ coef)
        steps.append((coef, intercept, None))

    outcome = GradientDescent().minimize(
        problem,
        start,
        setting.max_iter,
        setting.tol,
        observer,
    )
    # the objective of the solver is half of the squares
    end = outcome.point
    return Descent(
        replace(fit, coef=problem.unit * end.theta, residual=2 * end.value),
        n_iter=outcome.n_iter,
        converged=outcome.converged,
        history=[2 * value for value in outcome.history],
        steps=steps,
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

    # on columns of unit spread the plain gradient is the step, with no curvature to divide by
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
    variances = 1.0 / np.broadcast_to(fit.alpha, d)
    P = np.diag(np.append(variances, 0.0))
    for block in dense_blocks(rows):
        assert block.y is not None
        native.recursive_squares(
            block.X,
            block.y - moments.y_mean,
            block.w,
            moments.x_mean,
            b,
            P,
        )
    # yy - 2 b·xy + bᵀ xx b, from the products of the first pass
    coef = b[:-1]
    fitted = float(coef @ moments.xx @ coef)
    residual = moments.yy - 2 * float(coef @ moments.xy) + fitted
    return replace(fit, coef=coef, residual=max(residual, 0.0))


SOLVERS: dict[str, Callable[[Rows, Fit, StepSetting], Descent]] = {
    "qr": by_qr,
    "gradient_descent": by_gradient_descent,
    "lms": row_steps,
}

"""Least squares by steps of a given length, on the columns as they are or of unit spread, as on
paper."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import Rows
from lyceum._core.native import native
from lyceum.errors import SettingError
from lyceum.linear.least_squares.base import Fit
from lyceum.linear.row_passes import Residuals, dense_blocks

Step = tuple[
    np.ndarray, float, np.ndarray | None
]  # coefficients, the intercept at x = 0, after every row


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
        return cls(np.zeros_like(moments.x_mean), np.ones(len(fit.coef)), 0.0)

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
    for _ in range(setting.max_iter):
        rate = setting.learning_rate / fit.moments.weight
        theta[:-1] += rate * frame.unit * sums.gradient
        if setting.fit_intercept:
            theta[-1] += rate * sums.total
        sums = way.look(frame, theta)
        largest = np.abs(
            np.append(frame.unit * sums.gradient, sums.total * setting.fit_intercept)
        ).max()
        if largest <= setting.tol * np.sqrt(
            max(fit.moments.weight * fit.moments.yy, 1e-300)
        ):
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
    for k in range(1, setting.max_iter + 1):
        if setting.learning_rate is None:
            rate = 0.01
        else:
            rate = setting.learning_rate
        trail = _pass(rows, frame, theta, rate / k if setting.decay else rate, setting)
        squares = way.look(frame, theta, trail).squares
        if abs(before - squares) <= setting.tol * fit.moments.yy:
            return way.finish(frame, theta, True)
        before = squares
    return way.finish(frame, theta, False)


def _pass(
    rows: Rows, frame: StepFrame, theta: np.ndarray, rate: float, setting: StepSetting
) -> np.ndarray | None:
    """One pass over the rows; with a record, coefficients and intercept after every row."""
    trail = []
    for block in dense_blocks(rows):
        assert block.y is not None
        y = np.asarray(block.y - frame.level, dtype=np.float64)
        if setting.record:
            size = 1
        else:
            size = max(1, len(block))
        for some in (slice(at, at + size) for at in range(0, len(block), size)):
            if block.w is None:
                w = None
            else:
                w = block.w[some]
            native.lms_pass(
                block.X[some],
                y[some],
                w,
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
        self, frame: StepFrame, theta: np.ndarray, trail: np.ndarray | None = None
    ) -> Residuals:
        if not np.abs(theta).max() < 1e100:
            raise SettingError(
                f"learning_rate={self.setting.learning_rate} is too large: the weights diverge;"
                " lower it"
                + (
                    ""
                    if self.setting.standardize
                    else ", or scale the columns (standardize=True)"
                )
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

"""Regression on one column, by its formulas."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum._core.types import Target, Weights
from lyceum.errors import DataError, number_setting


@dataclass(frozen=True)
class SimpleRegression(Shown):
    """The line y = intercept + slope · x, with its standard errors and the test of its slope.

    Attributes
    ----------
    slope : float
        The slope b of y = a + b x.
    intercept : float
        The intercept a.
    r : float
        Pearson's correlation of x and y.
    r2 : float
        r², the share of the variance of y that the line explains.
    slope_error : float
        The standard error of the slope.
    intercept_error : float
        The standard error of the intercept.
    sigma : float
        The residual standard error, with n - 2 degrees of freedom.
    t : float
        The slope divided by its standard error.
    p : float
        The two-sided p-value of a slope of zero, by Student's t with n - 2 degrees of freedom.
    n_rows : int
        The number of rows of positive weight.

    See Also
    --------
    simple_regression : Fits the line.
    LinearRegression : Least squares on any number of columns.

    Examples
    --------
    >>> from lyceum.linear import simple_regression
    >>> line = simple_regression([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 5.0, 8.0])
    >>> round(line.r2, 4), round(line.sigma, 4), round(line.t, 3)
    (0.9627, 0.5916, 7.181)
    >>> line.predict([5.0]).round(3).tolist()
    [9.5]
    """

    slope: float
    intercept: float
    r: float
    slope_error: float
    intercept_error: float
    sigma: float
    t: float
    p: float
    n_rows: int

    @property
    def r2(self) -> float:
        return self.r**2

    def as_dict(self) -> dict[str, Any]:
        """The line and its errors, in JSON's own types."""
        return plain({**asdict(self), "r2": self.r2})

    def predict(self, x: ArrayLike) -> np.ndarray:
        """The values of the line."""
        return self.intercept + self.slope * np.asarray(x, dtype=np.float64)


def simple_regression(
    x: ArrayLike,
    y: Target,
    sample_weight: Weights = None,
) -> SimpleRegression:
    """Least squares of y on one column x, by the textbook formulas.

        slope = cov(x, y) / var(x)                  intercept = ȳ - slope · x̄
        σ² = Σ w r² / (n - 2)                       r = cov(x, y) / sqrt(var(x) var(y))
        se(slope)² = σ² / Σ w (x - x̄)² se(intercept)² = σ² [1/Σw + x̄² / Σ w (x - x̄)²]

    `LinearRegression` on that one column gives the same numbers, from any source of rows.

    Parameters
    ----------
    x, y : arrays of shape (n_samples,)
    sample_weight : array of shape (n_samples,), optional
        Precisions, as in `LinearRegression`; zero-weight rows are ignored.

    Examples
    --------
    >>> from lyceum.linear import simple_regression
    >>> line = simple_regression([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 5.0, 8.0])
    >>> round(line.slope, 3), round(line.intercept, 3), round(line.slope_error, 4), round(line.r, 4)
    (1.9, 0.0, 0.2646, 0.9812)
    """
    x, y, w = _columns(x, y, sample_weight)
    n = len(x)
    weight = w.sum()
    # centered sums Σw dx², Σw dx dy, Σw dy²: those of raw values would cancel
    x_mean, dx = _about_mean(x, w)
    y_mean, dy = _about_mean(y, w)
    xx = w @ (dx * dx)
    xy = w @ (dx * dy)
    yy = w @ (dy * dy)
    rounding = 4 * np.finfo(np.float64).eps * x_mean
    if not xx > weight * rounding**2:
        raise DataError("x never varies: no line can be fitted to it")
    slope = xy / xx
    residual = np.float64(w @ (dy - slope * dx) ** 2)
    variance = residual / (n - 2) if n > 2 else np.float64(np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope_error, intercept_error = _standard_errors(variance, weight, x_mean, xx)
        t = slope / slope_error
        r = xy / np.sqrt(xx * yy)
    return SimpleRegression(
        slope=float(slope),
        intercept=float(y_mean - slope * x_mean),
        r=float(r),
        slope_error=float(slope_error),
        intercept_error=float(intercept_error),
        sigma=float(np.sqrt(variance)),
        t=float(t),
        p=_two_sided(t, n - 2),
        n_rows=n,
    )


def _standard_errors(
    variance: np.float64,
    weight: np.float64,
    x_mean: np.float64,
    xx: np.float64,
) -> tuple[np.float64, np.float64]:
    """Of the slope and of the intercept, which is the value of the line at 0: x̄ away from where
    it is known best."""
    at_zero = variance * (1 / weight + x_mean**2 / xx)
    return np.sqrt(variance / xx), np.sqrt(at_zero)


def _two_sided(t: np.float64, degrees: int) -> float:
    return float(2 * stdtr(degrees, -abs(t))) if degrees > 0 else np.nan


def _about_mean(x: np.ndarray, w: np.ndarray) -> tuple[np.float64, np.ndarray]:
    """The weighted mean, from the first value on so that an offset takes no digits, and x - it."""
    mean = x[0] + w @ (x - x[0]) / w.sum()
    return mean, x - mean


def _columns(
    x: ArrayLike,
    y: Target,
    sample_weight: Weights,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = number_setting("x", x)
    y = number_setting("y", y)
    w = np.ones(x.shape)
    if sample_weight is not None:
        w = number_setting("sample_weight", sample_weight)
    if x.ndim != 1 or x.shape != y.shape or x.shape != w.shape:
        raise DataError(
            f"x, y and weights have shapes {x.shape}, {y.shape}, {w.shape}: give one column each"
        )
    for name, values in (("x", x), ("y", y), ("sample_weight", w)):
        if not np.isfinite(values).all():
            raise DataError(
                f"{name} has missing or infinite values: leave these rows out"
            )
    if (w < 0).any():
        raise DataError("sample_weight has negative values: weights are zero or more")
    is_used = w > 0
    if is_used.sum() < 2:
        raise DataError(
            f"a line needs two rows of positive weight, there are {int(is_used.sum())}"
        )
    return x[is_used], y[is_used], w[is_used]

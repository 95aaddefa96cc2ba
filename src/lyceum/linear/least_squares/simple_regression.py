"""Regression on one column, by its formulas."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from scipy.special import stdtr

from lyceum._core.text import plain
from lyceum.errors import DataError, number_setting


@dataclass(frozen=True)
class SimpleRegression:
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

    def predict(self, x: Any) -> np.ndarray:
        """The values of the line."""
        return self.intercept + self.slope * np.asarray(x, dtype=np.float64)


def simple_regression(x: Any, y: Any, sample_weight: Any = None) -> SimpleRegression:
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
    x_mean = x[0] + w @ (x - x[0]) / weight
    y_mean = y[0] + w @ (y - y[0]) / weight
    dx = x - x_mean
    dy = y - y_mean
    xx = w @ (dx * dx)
    xy = w @ (dx * dy)
    yy = w @ (dy * dy)
    if not xx > weight * (4 * np.finfo(np.float64).eps * x_mean) ** 2:
        raise DataError("x never varies: no line can be fitted to it")
    slope = xy / xx
    residual = float(w @ (dy - slope * dx) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        if n > 2:
            variance = np.float64(residual) / (n - 2)
        else:
            variance = np.float64(np.nan)
        slope_error = np.sqrt(variance / xx)
        intercept_error = np.sqrt(variance * (1 / weight + x_mean**2 / xx))
        t = slope / slope_error
        r = xy / np.sqrt(xx * yy)
    if n > 2:
        p = 2 * stdtr(n - 2, -abs(t))
    else:
        p = np.nan
    intercept = y_mean - slope * x_mean
    sigma = np.sqrt(variance)
    line = (slope, intercept, r, slope_error, intercept_error, sigma, t, p)
    names = (one.name for one in fields(SimpleRegression))
    return SimpleRegression(**dict(zip(names, map(float, line))), n_rows=n)


def _columns(x: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = number_setting("x", x)
    y = number_setting("y", y)
    if sample_weight is None:
        w = np.ones(x.shape)
    else:
        w = number_setting("sample_weight", sample_weight)
    if x.ndim != 1 or x.shape != y.shape or x.shape != w.shape:
        raise DataError(
            f"x, y and weights have shapes {x.shape}, {y.shape}, {w.shape}: give one column each"
        )
    for name, values in (("x", x), ("y", y), ("sample_weight", w)):
        if not np.isfinite(values).all():
            raise DataError(f"{name} has missing or infinite values: leave these rows out")
    if (w < 0).any():
        raise DataError("sample_weight has negative values: weights are zero or more")
    on = w > 0
    if on.sum() < 2:
        raise DataError(f"a line needs two rows of positive weight, there are {int(on.sum())}")
    return x[on], y[on], w[on]

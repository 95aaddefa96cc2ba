"""How far numeric predictions are off: absolute, squared, and relative to the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.types import Weights
from lyceum.errors import DataError, MissingValuesError
from lyceum.evaluate.common import ratio
from lyceum.evaluate.label_codes import (
    number_column,
    same_length,
    truth_and_weights,
    weights_or_ones,
)
from lyceum.evaluate.printable import Printable
from lyceum.report import Summary

# of a mean, as a share of the size of what is added
_ROUNDING = 4.0 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True)
class RegressionReport(Printable):
    """Errors of numeric predictions.

    Attributes
    ----------
    mse, mae : float
        Mean squared and mean absolute error.
    relative_squared_error : float
        Σ(y - ŷ)² / Σ(y - ȳ)²: 0 is perfect, 1 is no better than the mean. For a constant y it is 0
        when every prediction is right and 1 otherwise, as in scikit-learn's r2_score.
    relative_absolute_error : float
        Σ|y - ŷ| / Σ|y - ȳ|, with the same two values for a constant y.
    bias : float
        Mean of ŷ - y; 0 where it is rounding error.
    n : float
        Rows, or their weight. Without rows every error is 0.
    rmse : float
        Root mean squared error.
    root_relative_squared_error : float
        Square root of the relative squared error.
    r2 : float
        Share of the variance explained, 1 - relative squared error; negative when worse than the
        mean.

    See Also
    --------
    regression_report : Makes it from true and predicted values.
    BinaryReport, ClassReport : Predictions of classes.
    lyceum.plot.residuals : The errors as a picture.

    Examples
    --------
    >>> from lyceum.evaluate import regression_report
    >>> report = regression_report([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    >>> round(report.rmse, 4), round(report.mae, 4), round(report.bias, 4)
    (0.5774, 0.3333, 0.3333)
    >>> report.relative_squared_error, report.r2                  # 1 over (1 + 0 + 1)
    (0.5, 0.5)
    """

    _derived = ("rmse", "root_relative_squared_error", "r2")

    mse: float
    mae: float
    relative_squared_error: float
    relative_absolute_error: float
    bias: float
    n: float

    @property
    def rmse(self) -> float:
        """Root mean squared error."""
        return math.sqrt(self.mse)

    @property
    def root_relative_squared_error(self) -> float:
        """Square root of the relative squared error."""
        return math.sqrt(self.relative_squared_error)

    @property
    def r2(self) -> float:
        """Share of the variance explained, 1 - relative squared error; negative when worse than the
        mean."""
        return 1.0 - self.relative_squared_error

    def summary(self) -> Summary:
        """All errors."""
        names = (
            "rmse",
            "mse",
            "mae",
            "bias",
            "relative_squared_error",
            "root_relative_squared_error",
            "r2",
            "n",
        )
        facts = {name.replace("_", " "): getattr(self, name) for name in names}
        return Summary("regression errors", facts)


def regression_report(
    y_true: Any,
    y_pred: Any,
    *,
    mean: float | None = None,
    sample_weight: Weights = None,
) -> RegressionReport:
    """The errors of numeric predictions.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted values; scanned rows as y_true stand for their target and carry their
        weights.
    mean : float, optional
        The constant that relative errors compare with: by default the mean of y; give the mean of
        the training rows to compare with what was known before.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    RegressionReport

    See Also
    --------
    binary_report, class_report : Predictions of classes.

    Examples
    --------
    >>> report = regression_report([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    >>> round(report.mse, 4), report.r2
    (0.3333, 0.5)
    """
    y_true, sample_weight = truth_and_weights(y_true, sample_weight)
    truth = number_column(y_true, "y_true")
    guess = number_column(y_pred, "y_pred")
    same_length(truth, guess, "y_true and y_pred")
    for values, name in ((truth, "y_true"), (guess, "y_pred")):
        if not np.isfinite(values).all():
            raise MissingValuesError(
                f"{name} has {int((~np.isfinite(values)).sum())} missing or infinite values"
            )
    return _report(truth, guess, weights_or_ones(sample_weight, len(truth)), mean)


def _report(
    truth: np.ndarray,
    guess: np.ndarray,
    w: np.ndarray,
    mean: float | None,
) -> RegressionReport:
    n = float(w.sum())
    if mean is not None and not math.isfinite(mean):
        raise DataError(f"mean={mean} is not a finite number")
    if mean is not None:
        spread = truth - mean
    elif (used := truth[w > 0]).size and used.min() < used.max():
        spread = truth - ratio(float(w @ truth), n)
    else:
        # the mean of equal values may differ from them in the last bit, which is no spread
        spread = np.zeros_like(truth)
    off = guess - truth
    squared = float(w @ off**2)
    absolute = float(w @ np.abs(off))
    bias = ratio(float(w @ off), n)
    # a mean of differences below the rounding of what was added is 0
    sizes = np.abs(truth) + np.abs(guess)
    size = ratio(float(w @ sizes), n)
    # without any spread of y a relative error is 0 for right predictions and 1 for wrong ones
    squared_spread = float(w @ spread**2)
    absolute_spread = float(w @ np.abs(spread))
    return RegressionReport(
        mse=ratio(squared, n),
        mae=ratio(absolute, n),
        relative_squared_error=ratio(squared, squared_spread, squared > 0.0),
        relative_absolute_error=ratio(absolute, absolute_spread, absolute > 0.0),
        bias=0.0 if abs(bias) <= _ROUNDING * size else bias,
        n=n,
    )

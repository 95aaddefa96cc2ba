"""A penalty chosen by cross-validation: which one is taken, and how it is shown."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum.linear.least_squares.base import LinearPredictor
from lyceum.linear.penalized.unit_columns import unit_columns
from lyceum.report import Summary

CV_CONSTRAINTS: dict[str, Any] = {
    "alphas": [Interval(Integral, 2, None, closed="left"), "array-like"],
    "cv": ["cv_object"],
    "choice": [StrOptions({"best", "one_standard_error"})],
    "fit_intercept": ["boolean"],
    "standardize": ["boolean"],
    "random_state": ["random_state"],
    "categorical_features": CATEGORICAL_FEATURES,
}


class PenaltyCV(LinearPredictor):
    """A penalty chosen from the errors of left-out folds."""

    _parameter_docs: ClassVar[str] = """
    eps : float
        The smallest penalty of a grid, as a share of the largest.
    cv : int, splitter or list of splits
        The number of folds, where the fold of a row is a hash of its number and the seed; or a
        splitter such as scikit-learn's, or pairs of row numbers to train and to test on.
    standardize : bool
        Whether the penalty is on coefficients per standard deviation of their columns over all
        rows, so that units do not matter; `coef_` is in the units of the columns either way.
    choice : {"best", "one_standard_error"}
        Take the penalty of the lowest mean error, or the largest one whose error is within one
        standard error of that.
    """

    _reads_rows = "one pass"
    _needs_scaling = True

    choice: str
    cv: Any
    standardize: bool
    alpha_: float
    alphas_: np.ndarray
    mse_path_: np.ndarray
    n_rows_: int
    r2_: float
    mean_: np.ndarray
    effective_degrees_: float

    def _choose(self, errors: np.ndarray) -> tuple[int, int]:
        """The place of the best mean error, (l1 ratio, alpha); or the largest alpha within a
        standard error.

        errors : (ratios, alphas, folds), alphas falling
        """
        mean = errors.mean(axis=-1)
        ratio, alpha = (int(i) for i in np.unravel_index(np.argmin(mean), mean.shape))
        if self.choice == "one_standard_error":
            reach = errors[ratio, alpha].std(ddof=1) / np.sqrt(errors.shape[-1])
            alpha = int(np.argmax(mean[ratio] <= mean[ratio, alpha] + reach))
        return ratio, alpha

    def _unit_columns(self, rows: Rows) -> tuple[Rows, np.ndarray | float]:
        """The rows as penalties take their columns, and what these were multiplied by."""
        if self.standardize:
            return unit_columns(rows)
        return (rows, 1.0)

    @property
    def _at(self) -> np.ndarray:
        return self.mean_

    def summary(self) -> Summary:
        """The chosen penalty with its error on left-out rows, and the coefficients that are not
        zero."""
        check_is_fitted(self)
        mean = self.mse_path_.mean(axis=-1)
        at = int(np.argmin(np.abs(self.alphas_ - self.alpha_)))
        error = float(self.mse_path_[at].std(ddof=1) / np.sqrt(self.mse_path_.shape[1]))
        facts = {
            "rows": self.n_rows_,
            "alpha": self.alpha_,
            **self._facts(),
            "folds": self.mse_path_.shape[1],
            "mean squared error left out": f"{mean[at]:.4g} (standard error {error:.2g})",
            "R²": self.r2_,
            "coefficients not zero": f"{np.count_nonzero(self.coef_)} of {len(self.coef_)}",
            "effective degrees of freedom": self.effective_degrees_,
        }
        return Summary(self._title(), facts, [self._nonzero_table()])

    def _facts(self) -> dict[str, Any]:
        return {}

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        return {"coef_": (d,), "mean_": (d,)}

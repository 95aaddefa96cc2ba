"""A penalty chosen by cross-validation: the errors of all folds and penalties, from the Gram
statistics of one pass or on columns, which penalty is taken, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.routing import Route, routed
from lyceum._core.statistics import (
    Folds,
    Scatter,
    SplitStatistics,
    folds_of,
    given_folds,
    seed_from,
)
from lyceum.errors import DataError
from lyceum.linear.least_squares.base import LinearPredictor
from lyceum.linear.penalized.centered_problem import CenteredProblem
from lyceum.linear.row_passes import first_pass, unit_columns
from lyceum.linear.several_targets import refuse_several_targets
from lyceum.report import Summary

CV_CONSTRAINTS: dict[str, Any] = {
    "alphas": [Interval(Integral, 1, None, closed="left"), "array-like"],
    "cv": ["cv_object"],
    "choice": [StrOptions({"best", "one_standard_error"})],
    "fit_intercept": ["boolean"],
    "standardize": ["boolean"],
    "random_state": ["random_state"],
    "categorical_features": CATEGORICAL_FEATURES,
}


@dataclass(frozen=True)
class _SplitterWith:
    """A splitter that is given metadata, such as groups."""

    cv: Any
    metadata: Mapping[str, Any]

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        return self.cv.split(X, y, **self.metadata)


class PenaltyCV(LinearPredictor):
    """A penalty chosen from the errors of left-out folds."""

    _parameter_docs: ClassVar[str] = """
    eps : float
        The smallest penalty of a grid, as a share of the largest.
    cv : int, splitter, list of splits or None
        The number of folds, of consecutive rows; with a `random_state`, the fold of a row is a hash
        of its number and the seed. None: five. Or a splitter such as scikit-learn's, or pairs of
        row numbers to train and to test on.
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
    random_state: Any
    standardize: bool
    alpha_: float
    alphas_: np.ndarray
    mse_path_: np.ndarray
    n_rows_: int
    r2_: float
    mean_: np.ndarray
    effective_degrees_: float

    def _routes(self) -> list[Route]:
        return [Route("splitter", self.cv, (("fit", "split"),))]

    def _choose(self, errors: np.ndarray) -> tuple[int, int]:
        """The place of the best mean error, (l1 ratio, alpha); or the largest alpha within a
        standard error.

        errors : (ratios, alphas, folds), alphas falling
        """
        mean = errors.mean(axis=-1)
        best = np.argmin(mean)
        ratio, alpha = map(int, np.unravel_index(best, mean.shape))
        if self.choice == "one_standard_error":
            # penalties fall: the first within reach of the least mean error is the largest
            n_folds = errors.shape[-1]
            reach = errors[ratio, alpha].std(ddof=1) / np.sqrt(n_folds)
            is_within = mean[ratio] <= mean[ratio, alpha] + reach
            alpha = int(np.argmax(is_within))
        return ratio, alpha

    def _unit_columns(self, rows: Rows) -> tuple[Rows, np.ndarray | float]:
        """The rows as penalties take their columns, and what these were multiplied by."""
        if self.standardize:
            return unit_columns(rows)
        return (rows, 1.0)

    def _folds(self, rows: Rows) -> Folds:
        """The folds of `cv`; notes their seed."""
        self.seed_ = 0 if self.random_state is None else seed_from(self.random_state)
        if self.random_state is None:
            further = routed(self, "splitter").get("split")
            cv = _SplitterWith(self.cv, further) if further else self.cv
            return given_folds(5 if cv is None else cv, rows)
        return folds_of(5 if self.cv is None else self.cv, rows, self.seed_)

    @property
    def _at(self) -> np.ndarray:
        return self.mean_

    def summary(self) -> Summary:
        """The chosen penalty with its error on left-out rows, and the coefficients that are not
        zero."""
        check_is_fitted(self)
        refuse_several_targets(self, "summary")
        mean = self.mse_path_.mean(axis=-1)
        chosen = int(np.argmin(np.abs(self.alphas_ - self.alpha_)))
        n_folds = self.mse_path_.shape[1]
        error = np.nan
        if n_folds > 1:
            spread = self.mse_path_[chosen].std(ddof=1)
            error = float(spread / np.sqrt(n_folds))
        facts = {
            "rows": self.n_rows_,
            "alpha": self.alpha_,
            **self._facts(),
            "folds": n_folds,
            "mean squared error left out": f"{mean[chosen]:.4g} (standard error {error:.2g})",
            "R²": self.r2_,
            "coefficients not zero": f"{np.count_nonzero(self.coef_)} of {len(self.coef_)}",
            "effective degrees of freedom": self.effective_degrees_,
        }
        return Summary(self._title(), facts, [self._nonzero_table()])

    def _facts(self) -> dict[str, Any]:
        return {}

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        if np.ndim(self.coef_) > 1:
            return {"coef_": (len(self.coef_), d)}
        return {"coef_": (d,), "mean_": (d,)}


# coefficients (k, d) at k penalties
Fitter = Callable[[CenteredProblem], np.ndarray]


def scatters(folds: Folds, rows: Rows) -> SplitStatistics:
    """The Gram statistics of all folds, in one pass."""
    return folds.statistics(rows, partial(Scatter.of, target=True), first_pass)


@dataclass(frozen=True, slots=True)
class FoldErrors:
    """Σ w r² of left-out rows at k penalties, (k,), and their weight."""

    squares: np.ndarray
    weight: float

    @classmethod
    def of(cls, block: Block, coefs: np.ndarray, intercepts: np.ndarray) -> FoldErrors:
        assert block.y is not None
        r = block.y[:, None] - block.X @ coefs.T - intercepts
        w = block.weights
        return cls(w @ (r * r), float(w.sum()))

    @classmethod
    def of_rows(
        cls,
        rows: Rows,
        coefs: np.ndarray,
        intercepts: np.ndarray,
    ) -> FoldErrors:
        return rows.reduce(partial(cls.of, coefs=coefs, intercepts=intercepts))

    @classmethod
    def of_moments(
        cls,
        fold: Scatter,
        coefs: np.ndarray,
        intercepts: np.ndarray,
    ) -> FoldErrors:
        """Σ w r² = yy - 2 b·xy + bᵀ xx b + W (ȳ - b₀ - x̄·b)²."""
        fitted = np.einsum("kd,kd->k", coefs @ fold.xx, coefs)
        spread = fold.yy - 2 * coefs @ fold.xy + fitted
        offset = fold.y_mean - intercepts - coefs @ fold.x_mean
        squares = np.maximum(spread, 0.0) + fold.weight * offset**2
        return cls(squares, fold.weight)

    def merge(self, other: FoldErrors) -> FoldErrors:
        return FoldErrors(self.squares + other.squares, self.weight + other.weight)


def by_moments(
    folds: SplitStatistics,
    fit_intercept: bool,
    fitters: Sequence[Fitter],
) -> np.ndarray:
    """Mean squared errors, (fitters, k, folds); folds without weight are left out."""
    used = [pair for pair in folds.pairs if min(side.weight for side in pair) > 0]
    _need_two(len(used))
    errors = []
    for train, test in used:
        centered = CenteredProblem.of_moments(train, fit_intercept)
        of = partial(FoldErrors.of_moments, test)
        errors.append([_error(of, centered, fit) for fit in fitters])
    return np.moveaxis(np.array(errors), 0, -1)


def by_columns(
    rows: Rows,
    folds: Folds,
    fit_intercept: bool,
    fitters: Sequence[Fitter],
) -> np.ndarray:
    """The same on columns in memory, one fold after the other."""
    errors = []
    for train, test in folds.parts(rows):
        sides = (train, test)
        weights = [sum(block.weight for block in side.blocks()) for side in sides]
        if min(weights) > 0:
            centered = CenteredProblem.of_rows(train, fit_intercept)
            of = partial(FoldErrors.of_rows, test)
            errors.append([_error(of, centered, fit) for fit in fitters])
    _need_two(len(errors))
    return np.moveaxis(np.array(errors), 0, -1)


def _error(
    of: Callable[..., FoldErrors],
    centered: CenteredProblem,
    fit: Fitter,
) -> np.ndarray:
    coefs = fit(centered)
    intercepts = centered.y_mean - coefs @ centered.x_mean
    errors = of(coefs, intercepts)
    return errors.squares / errors.weight


def _need_two(folds: int) -> None:
    if folds < 2:
        raise DataError(
            "cross-validation needs rows in two folds at least: there are too few rows (1 sample)"
        )

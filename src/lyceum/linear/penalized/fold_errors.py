"""Cross-validation of penalties from the Gram statistics of folds: one pass for all folds and
penalties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lyceum._core.data import Block, Rows
from lyceum._core.statistics import Folds, Scatter, SplitStatistics
from lyceum.errors import DataError
from lyceum.linear.penalized.centered_problem import CenteredProblem
from lyceum.linear.row_passes import first_pass

# coefficients (k, d) at k penalties
Fitter = Callable[[CenteredProblem], np.ndarray]


def scatters(folds: Folds, rows: Rows) -> SplitStatistics:
    """The Gram statistics of all folds, in one pass."""
    return folds.statistics(rows, _scatter, first_pass)


def _scatter(block: Block) -> Scatter:
    return Scatter.of(block, target=True)


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
    def of_moments(
        cls, fold: Scatter, coefs: np.ndarray, intercepts: np.ndarray
    ) -> FoldErrors:
        """Σ w r² = yy - 2 b·xy + bᵀ xx b + W (ȳ - b₀ - x̄·b)²."""
        spread = (
            fold.yy
            - 2 * coefs @ fold.xy
            + np.einsum("kd,kd->k", coefs @ fold.xx, coefs)
        )
        offset = fold.y_mean - intercepts - coefs @ fold.x_mean
        return cls(np.maximum(spread, 0.0) + fold.weight * offset**2, fold.weight)

    def merge(self, other: FoldErrors) -> FoldErrors:
        return FoldErrors(self.squares + other.squares, self.weight + other.weight)


def by_moments(
    folds: SplitStatistics, fit_intercept: bool, fitters: Sequence[Fitter]
) -> np.ndarray:
    """Mean squared errors, (fitters, k, folds); folds without weight are left out."""
    used = [pair for pair in folds.pairs if min(side.weight for side in pair) > 0]
    _need_two(len(used))
    out = []
    for train, test in used:
        centered = CenteredProblem.of_moments(train, fit_intercept)
        out.append(
            [
                _error(partial(FoldErrors.of_moments, test), centered, fit)
                for fit in fitters
            ]
        )
    return np.moveaxis(np.array(out), 0, -1)


def by_columns(
    rows: Rows, folds: Folds, fit_intercept: bool, fitters: Sequence[Fitter]
) -> np.ndarray:
    """The same on columns in memory, one fold after the other."""
    out = []
    for train, test in folds.parts(rows):
        weights = [
            sum(block.weight for block in some.blocks()) for some in (train, test)
        ]
        if min(weights) > 0:
            centered = CenteredProblem.of_rows(train, fit_intercept)
            out.append([_error(_on(test), centered, fit) for fit in fitters])
    _need_two(len(out))
    return np.moveaxis(np.array(out), 0, -1)


def _on(rows: Rows) -> Callable[[np.ndarray, np.ndarray], FoldErrors]:
    return lambda coefs, intercepts: rows.reduce(
        partial(FoldErrors.of, coefs=coefs, intercepts=intercepts)
    )


def _error(
    of: Callable[..., FoldErrors], centered: CenteredProblem, fit: Fitter
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

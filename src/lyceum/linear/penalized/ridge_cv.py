"""Ridge regression with the penalty chosen by cross-validation."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.constraints import Interval
from lyceum._core.solvers import GramElasticNet
from lyceum._core.statistics import RowSpace, folds_of, is_wide, seed_from
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.linear.least_squares.base import Fit
from lyceum.linear.penalized.centered_problem import CenteredProblem
from lyceum.linear.penalized.penalty_cv import (
    CV_CONSTRAINTS,
    PenaltyCV,
    by_moments,
    scatters,
)
from lyceum.linear.penalized.regularization_path import (
    falling_penalties,
    given_penalties,
)


class RidgeCV(PenaltyCV):
    """Ridge regression with alpha chosen by cross-validation, in one pass over the rows.

    The objective is that of `Ridge`, Σ w (y - b₀ - x·b)² + alpha Σ b². With XᵀWX = V Λ Vᵀ over the
    rows of the other folds, b = V (Λ + alpha)⁻¹ Vᵀ XᵀWy: one eigendecomposition a fold serves every
    alpha.

    Parameters
    ----------
    alphas : int or array-like, default=100
        The penalties, or how many there are, from 10 times the largest eigenvalue of XᵀWX down to
        `eps` times that.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    alphas_ : ndarray of shape (n_alphas,)
        Falling.
    mse_path_ : ndarray of shape (n_alphas, cv)
        Mean squared errors on left-out folds.
    r2_ : float
        The share of the variance of y explained on the rows of `fit`.
    effective_degrees_ : float
        As in `Ridge`.
    n_undetermined_ : int
        As in `Ridge`: above zero only where the chosen penalty is below rounding.
    seed_ : int
        The seed of the folds.
    mean_ : ndarray of shape (n_design_columns,)
        The means of the design columns, from which explanations start.

    See Also
    --------
    Ridge : The same model at a given penalty.
    LassoCV : Lasso with its penalty chosen by cross-validation.

    References
    ----------
    Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems.
    Stone (1974), Cross-validatory choice and assessment of statistical predictions, JRSS B 36.

    Examples
    --------
    >>> from lyceum.linear import RidgeCV
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(X, X @ [1.0, 2.0, 3.0]).alpha_
    0.01

    """

    _coding = "one_hot"
    _parameter_constraints: ClassVar[dict] = {
        "eps": [Interval(Real, 0, 1, closed="neither")],
        **CV_CONSTRAINTS,
    }

    def __init__(
        self,
        alphas: ArrayLike = 100,
        *,
        eps: float = 1e-9,
        cv: Any = 10,
        choice: str = "best",
        fit_intercept: bool = True,
        standardize: bool = False,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.choice = choice
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.random_state = random_state
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn the penalty and the coefficients in one pass.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        space = None
        self.seed_ = seed_from(self.random_state)
        rows, factors = self._unit_columns(rows)
        # with fewer rows than columns b lies in their space, and its squared length, the penalty,
        # is the same in any orthonormal coordinates of it
        if is_wide(rows):
            space = RowSpace.of(rows, type(self).__name__, self.fit_intercept)
            rows = space.rows
        folds = scatters(folds_of(self.cv, rows, self.seed_), rows)
        total = folds.total if self.fit_intercept else folds.total.about_origin()
        self.alphas_ = self._grid(total.xx)
        errors = by_moments(folds, self.fit_intercept, [partial(_ridges, self.alphas_)])
        self.mse_path_ = errors[0]
        self.alpha_ = float(self.alphas_[self._choose(errors)[1]])
        self._set_results(Fit.of(total, self.alpha_), space, factors)
        return self

    def _set_results(
        self,
        fit: Fit,
        space: RowSpace | None,
        factors: np.ndarray | float,
    ) -> None:
        """The fit of all rows in the units of the columns as they came."""
        self.n_undetermined_ = len(fit.coef) - fit.factor.rank
        coef = fit.coef
        mean = fit.moments.x_mean
        if space is not None:
            coef = space.columns_of(coef)
            mean = space.mean + space.columns_of(mean)
        self.coef_ = coef * factors
        self.mean_ = mean / factors
        self.intercept_ = 0.0
        if self.fit_intercept:
            self.intercept_ = fit.moments.y_mean - float(mean @ coef)
        yy = fit.moments.yy
        self.r2_ = 1.0 - fit.residual / yy if yy > 0 else np.nan
        self.effective_degrees_ = self.fit_intercept + fit.effective_degrees

    def _facts(self) -> dict[str, Any]:
        return undetermined_fact(self.n_undetermined_, len(self.coef_), "coefficient")

    def _grid(self, xx: np.ndarray) -> np.ndarray:
        if isinstance(self.alphas, Integral):
            # ten times the largest eigenvalue shrinks every direction to an eleventh or less
            most = 10 * float(np.linalg.eigvalsh(xx)[-1]) or 1.0
            return falling_penalties(most, self.eps, int(self.alphas))
        return given_penalties(self.alphas)


def _ridges(alphas: np.ndarray, centered: CenteredProblem) -> np.ndarray:
    """The coefficients at every alpha, (k, d); the problem's products are per unit of weight."""
    problem = centered.problem
    assert isinstance(problem, GramElasticNet)
    # b = V (Λ + alpha/W)⁻¹ Vᵀ q: one decomposition serves all penalties
    values, vectors = np.linalg.eigh(problem.Q)
    turned = vectors.T @ problem.q
    shrunk = np.maximum(values, 0.0) + alphas[:, None] / centered.weight
    return (turned / shrunk) @ vectors.T

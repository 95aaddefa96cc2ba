"""Ridge regression: least squares with a penalty on the squared coefficients."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.statistics import RowScatter, Scatter
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Categories
from lyceum.errors import SettingError
from lyceum.linear.least_squares.base import Fit, LeastSquares
from lyceum.linear.least_squares.solvers import by_recursion
from lyceum.linear.row_passes import inverse_deviations
from lyceum.report import Summary, Table


class Ridge(LeastSquares):
    """Ridge regression in closed form, from one pass over the rows.

    The coefficients minimize

        Σ w_i (y_i - b₀ - x_i·b)² + alpha Σ b_j²,

    with the intercept b₀ free, as in scikit-learn: b = (XᵀWX + alpha I)⁻¹ XᵀWy on centered X and y.
    The penalty depends on the units of the columns; with `standardize` it is alpha Σ (s_j b_j)²,
    s_j being the standard deviation of column j. The kept statistic does not depend on alpha, so
    that another alpha needs no further pass.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty; 0 is least squares, with the solution of least norm if columns depend on each
        other.
    solver : {"normal", "recursive"}, default="normal"
        "normal": the normal equations. "recursive": after the means are known, one row at a time in
        a second pass, coefficients and the inverse of XᵀWX + alpha I updated by the formula of
        Sherman and Morrison: the same solution, to teach, for alpha > 0. `partial_fit` is always by
        the normal equations.

    Attributes
    ----------
    effective_degrees_ : float
        The trace of the matrix that takes y to the fitted values: 1 for the intercept plus Σ λ / (λ
        + alpha) over the eigenvalues λ of XᵀWX.
    residual_sum_ : float
        The weighted sum of squared residuals.
    r2_ : float
        The share of the variance of y explained on the rows of `fit`.
    rank_ : int
        The rank of the centered design matrix, whatever the penalty: below the number of columns
        where some depend on each other.
    n_undetermined_ : int
        How many coefficients neither the rows nor the penalty determine, as it is zero or below
        rounding.
    statistic_ : Scatter or RowScatter
        The merged statistic that the fit follows from: the products of all columns, or the centered
        rows where there are over 1,000 columns and fewer rows.

    See Also
    --------
    RidgeCV : The penalty chosen by cross-validation.
    LinearRegression : Without a penalty, with standard errors.
    Lasso : A penalty that sets coefficients to zero.

    References
    ----------
    Hoerl and Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems.

    Examples
    --------
    >>> from lyceum.linear import Ridge
    >>> model = Ridge(alpha=2.0).fit([[0.0], [1.0], [2.0]], [0.0, 2.0, 4.0])
    >>> model.coef_.tolist(), model.intercept_, model.effective_degrees_
    ([1.0], 1.0, 1.5)

    """

    _coding = "one_hot"
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "standardize": ["boolean"],
        "solver": [StrOptions({"normal", "recursive"})],
        **LeastSquares._parameter_constraints,
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        standardize: bool = False,
        solver: str = "normal",
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.solver = solver
        self.categorical_features = categorical_features

    def _penalty(self, statistic: Scatter | RowScatter) -> float | np.ndarray:
        if not self.standardize or not self.alpha:
            return float(self.alpha)
        # alpha (s_j b_j)²: a penalty of alpha s_j² on b_j as it is
        factors = inverse_deviations(statistic.xx_diagonal, statistic.weight)
        return self.alpha / factors**2

    def _refine(self, fit: Fit, rows: Rows) -> Fit:
        if self.solver == "normal":
            return super()._refine(fit, rows)
        if not self.alpha > 0:
            raise SettingError(
                "solver='recursive' starts from the inverse of alpha I: give alpha > 0"
            )
        return by_recursion(rows, fit)

    def _set_results(self, fit: Fit) -> None:
        super()._set_results(fit)
        self.n_undetermined_ = len(fit.coef) - fit.factor.rank
        # tr[X (XᵀWX + alpha I)⁻¹ XᵀW], and one for the intercept
        self.effective_degrees_ = fit.effective_degrees + bool(self.fit_intercept)
        self.r2_ = np.nan
        if fit.moments.yy > 0:
            self.r2_ = 1.0 - fit.residual / fit.moments.yy

    def summary(self) -> Summary:
        check_is_fitted(self)
        facts = {
            "rows": self.statistic_.n_rows,
            "alpha": float(self.alpha),
            "R²": self.r2_,
            "effective degrees of freedom": self.effective_degrees_,
            "norm of the coefficients": float(np.linalg.norm(self.coef_)),
            **undetermined_fact(self.n_undetermined_, len(self.coef_), "coefficient"),
        }
        spread = np.sqrt(self.statistic_.xx_diagonal / self.statistic_.weight)
        rows = [
            (name, float(b), float(b * s))
            for name, b, s in zip(self.design_names, self.coef_, spread)
        ]
        if self.fit_intercept:
            rows = [("(intercept)", float(self.intercept_), 0.0), *rows]
        columns = ("column", "coefficient", "per standard deviation")
        table = Table("Coefficients", columns, rows)
        return Summary(self._title(), facts, [table])

"""The lasso: least squares with a penalty on the absolute values of the coefficients."""

from __future__ import annotations

from typing import ClassVar

from lyceum._core.types import Categories
from lyceum.linear.penalized.elastic_net import ElasticNet


class Lasso(ElasticNet):
    """Linear regression with a penalty on the absolute values of the coefficients: many become
    exactly zero.

    The coefficients minimize

        1/(2 Σw) Σ w_i (y_i - b₀ - x_i·b)² + alpha · Σ|b_j|,

    scikit-learn's objective, with the intercept b₀ free.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty; from max|Σw(x-x̄)(y-ȳ)| / Σw on, every coefficient is zero.

    Attributes
    ----------
    coef_ : ndarray
        The coefficients of the design columns.
    intercept_ : float
        The intercept, 0 without one.
    dual_gap_ : float
        The duality gap at the solution: the objective is at most this far above its minimum.
    objective_ : float
        The objective at the solution.
    n_iter_ : int
        The number of iterations (passes over the rows or epochs).
    converged_ : bool
        Whether the tolerance was reached.
    history_ : list of float
        The duality gap after every round of coordinate descent.
    record_ : list of dict
        With `record=True`: the steps of the fit.
    r2_ : float
        The share of the variance of y explained on the rows of `fit`.
    mean_ : ndarray of shape (n_design_columns,)
        The means of the design columns, from which explanations start.
    effective_degrees_ : float
        1 for the intercept, and the number of coefficients that are not zero.
    statistic_ : Scatter
        The merged statistic that the fit follows from.

    See Also
    --------
    LassoCV : The penalty chosen by cross-validation.
    ElasticNet : With a share of squared coefficients in the penalty.
    lasso_path : The whole regularization path.

    References
    ----------
    Tibshirani (1996), Regression shrinkage and selection via the lasso, JRSS B 58.

    Examples
    --------
    >>> from lyceum.linear import Lasso
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]], [0.0, 2.0, 4.0, 6.0]
    >>> model = Lasso(alpha=0.5).fit(X, y)
    >>> model.coef_.round(6).tolist(), model.dual_gap_ < 1e-6
    ([1.6, 0.0], True)

    """

    _parameter_constraints: ClassVar[dict] = {
        name: allowed
        for name, allowed in ElasticNet._parameter_constraints.items()
        if name != "l1_ratio"
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        standardize: bool = False,
        solver: str = "auto",
        tol: float = 1e-5,
        max_iter: int = 10_000,
        warm_start: bool = False,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.record = record
        self.categorical_features = categorical_features

    @property
    def _share(self) -> float:
        return 1.0

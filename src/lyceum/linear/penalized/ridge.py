"""Ridge regression: least squares with a penalty on the squared coefficients."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.statistics import RowScatter, Scatter
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.linear.least_squares.base import Fit, LeastSquares
from lyceum.linear.least_squares.solvers import by_recursion
from lyceum.linear.row_passes import inverse_deviations
from lyceum.linear.several_targets import (
    fit_each_target,
    has_several_targets,
    n_targets,
    refuse_several_targets,
    target_columns,
)
from lyceum.report import Summary, Table

# scikit-learn's ways to the one minimum
_DIRECT = ("svd", "cholesky", "sparse_cg")  # without a number of iterations
_SOLVERS = (*_DIRECT, "lsqr", "sag", "saga")


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
    alpha : float or array of shape (n_targets,), default=1.0
        The penalty; 0 is least squares, with the solution of least norm if columns depend on each
        other. An array has one for every column of y.
    solver : str, default="auto"
        "auto", "normal" and scikit-learn's "svd", "cholesky", "lsqr", "sparse_cg", "sag" and
        "saga": the normal equations, which all of them solve. "lbfgs" is for `positive` alone, as
        in scikit-learn. "recursive": after the means are known, one row at a time in
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
    solver_ : str
        The solver that was asked for; "auto" is "normal", or "active_set" for `positive`.
    n_iter_ : None or int
        1, as one solve takes the place of iterations; None where scikit-learn has none.
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
    >>> model.coef_.tolist(), float(model.intercept_), model.effective_degrees_
    ([1.0], 1.0, 1.5)

    """

    _coding = "one_hot"
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"auto", "normal", "recursive", "lbfgs", *_SOLVERS})],
        "random_state": ["random_state"],
        "standardize": ["boolean"],
        **LeastSquares._parameter_constraints,
    }

    _without_effect: ClassVar[dict[str, str]] = dict.fromkeys(
        ("max_iter", "tol", "random_state"),
        "the solution is exact, whatever the solver",
    )

    n_iter_: Any

    def __init__(
        self,
        alpha: float | np.ndarray = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        standardize: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.standardize = standardize
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from all rows in one pass, and two more if the normal equations lose too many
        digits.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,) or (n_samples, n_targets), if not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        self._check_solver()
        if has_several_targets(y) and n_targets(y) == 1:
            y = target_columns(y)[0]  # scikit-learn's Ridge has flat coefficients here
        return super().fit(X, y, sample_weight)

    def _check_solver(self) -> None:
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise SettingError(
                f"solver={self.solver!r} does not support positive fitting. Please set the solver"
                " to 'auto' or 'lbfgs', or set `positive=False`"
            )
        if self.solver == "lbfgs" and not self.positive:
            raise SettingError(
                "'lbfgs' solver can be used only when positive=True. Please use another solver."
            )

    def _fit_targets(self, X: Data, y: Target, sample_weight: Weights) -> Any:
        count = n_targets(y)
        alphas = self._penalties()
        if len(alphas) not in (1, count):
            raise SettingError(
                "Number of targets and number of penalties do not correspond:"
                f" {len(alphas)} != {count}"
            )
        own = [{"alpha": float(a)} for a in np.broadcast_to(alphas, count)]
        fit_each_target(self, X, y, sample_weight, own)
        self.solver_ = self._solver_name
        self.n_iter_ = None if self.solver in _DIRECT else np.ones(count, int)
        return self

    @property
    def _solver_name(self) -> str:
        if self.solver != "auto":
            return self.solver
        return "active_set" if self.positive else "normal"

    @property
    def _is_closed(self) -> bool:
        return self.solver != "recursive"

    def _penalty(self, statistic: Scatter | RowScatter) -> float | np.ndarray:
        alpha = self._single_alpha
        if not self.standardize or not alpha:
            return alpha
        # alpha (s_j b_j)²: a penalty of alpha s_j² on b_j as it is
        factors = inverse_deviations(statistic.xx_diagonal, statistic.weight)
        return alpha / factors**2

    def _penalties(self) -> np.ndarray:
        """The penalties as a flat array: one, or one per target."""
        try:
            return np.asarray(self.alpha, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise SettingError(
                f"alpha={self.alpha!r} is no penalty: give a number, or a list of one per target"
            ) from None

    @property
    def _single_alpha(self) -> float:
        """The penalty of one target."""
        alphas = self._penalties()
        if len(alphas) != 1:
            raise SettingError(
                "Number of targets and number of penalties do not correspond:"
                f" 1 != {len(alphas)}"
            )
        return float(alphas[0])

    def _refine(self, fit: Fit, rows: Rows) -> Fit:
        if self._is_closed:
            return super()._refine(fit, rows)
        if not self._single_alpha > 0:
            raise SettingError(
                "solver='recursive' starts from the inverse of alpha I: give alpha > 0"
            )
        return by_recursion(rows, fit)

    def _set_results(self, fit: Fit) -> None:
        super()._set_results(fit)
        self.n_iter_ = None if self.solver in _DIRECT else 1
        self.solver_ = self._solver_name
        self.n_undetermined_ = len(fit.coef) - fit.factor.rank
        # tr[X (XᵀWX + alpha I)⁻¹ XᵀW], and one for the intercept
        self.effective_degrees_ = fit.effective_degrees + bool(self.fit_intercept)
        self.r2_ = np.nan
        if fit.moments.yy > 0:
            self.r2_ = 1.0 - fit.residual / fit.moments.yy

    def summary(self) -> Summary:
        check_is_fitted(self)
        refuse_several_targets(self, "summary")
        facts = {
            "rows": self.statistic_.n_rows,
            "alpha": self._single_alpha,
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

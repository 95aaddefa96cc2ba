"""Ordinary and weighted least squares with the inference that goes with it."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows, row_weights
from lyceum._core.statistics import PositiveFactor, RowScatter
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.linear.least_squares.base import Fit, LeastSquares
from lyceum.linear.least_squares.residual_checks import ResidualChecks
from lyceum.linear.least_squares.solvers import SOLVERS, Descent, StepSetting
from lyceum.linear.several_targets import refuse_several_targets
from lyceum.report import Summary, Table


class LinearRegression(LeastSquares):
    """Linear regression by least squares, with standard errors, tests and intervals.

    The coefficients minimize Σ w_i (y_i - b₀ - x_i·b)². If y = b₀ + x·b + e with independent e ~
    N(0, σ²/w), this is maximum likelihood, b is normal with covariance σ² (XᵀWX)⁻¹, and b_j / se_j
    follows Student's t with n - rank degrees of freedom. Weights are precisions, as in weighted
    least squares: they change what a row says, not the number of rows; rows of weight zero do not
    count.

    One pass sums the centered products of [X y]; the normal equations are solved by Cholesky with
    columns scaled to unit spread, so that offsets (of 1e6, say) and units do not matter. If that
    loses more than half of the digits, `fit` looks at the rows twice more and corrects the solution
    by its true residuals: the result is then about as good as QR's for condition numbers, after
    scaling, up to about 1e6 (`partial_fit` cannot look back and is good to about eps · condition²).
    Beyond that columns count as dependent: a warning names them, and the solution of least norm is
    taken.

    Parameters
    ----------
    solver : {"normal", "qr", "gradient_descent", "lms"}, default="normal"
        "normal": the normal equations, as above. "qr": a second pass that merges the triangles of
        QR decompositions of the blocks, for the last digits of columns that nearly depend on each
        other. "gradient_descent" and "lms" (stochastic gradient, one row at a time in their order)
        are there to teach: they come near the same solution by many passes over columns of unit
        spread, and standard errors are about where they stop. `partial_fit` is always by the normal
        equations.
    max_iter : int, default=1000
        Most passes of "gradient_descent" and "lms".
    tol : float, default=1e-6
        Where they stop: at the largest correlation of a column with the residuals; "lms" when a
        pass lowers the squares by less than this share of those of y.
    learning_rate : float or None, default=None
        The length η of the steps. "gradient_descent": b ← b - η ∂J/∂b of J = Σ w (y - h)² / 2Σw;
        None searches for a good length in every step. "lms": b ← b + η w (y - h) x; None is 0.01.
    decay : bool, default=True
        Whether η is η / k in pass k of "lms", so that the weights come to rest.
    standardize : bool, default=True
        Whether steps are taken on columns of mean 0 and unit spread, the target about its mean.
        False: on the columns as they are, so that steps are those made by hand.
    coef_init : (coef, intercept) or None, default=None
        Where "gradient_descent" with a learning rate and "lms" start; None: at 0.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns of an array hold categories; each becomes a column per category but the first,
        its reference.

    Attributes
    ----------
    standard_errors_, t_, p_ : ndarrays of shape (n_design_columns,)
        Standard errors of `coef_`, t statistics, and two-sided p-values.
    intercept_standard_error_, intercept_t_, intercept_p_ : float
        The standard error of the intercept, its t statistic and two-sided p-value; 0 and NaN
        without one.
    covariance_ : ndarray of shape (n_design_columns, n_design_columns)
        The covariance of `coef_`; not kept of over 1,000 columns with fewer rows.
    sigma_ : float
        The residual standard error, sqrt(Σ w r² / df_residual_).
    r2_, adjusted_r2_ : float
        Explained share of the variance of y (about zero if there is no intercept).
    f_, f_p_ : float
        The F statistic of all coefficients together and its p-value.
    df_model_, df_residual_ : int
        Degrees of freedom of the model, the rank, and of the residuals.
    log_likelihood_ : float
        The Gaussian log-likelihood at the maximum, -n/2 [log(2π Σ w r² / n) + 1]; weights would add
        ½ Σ log w.
    residual_sum_ : float
        The weighted sum of squared residuals.
    rank_ : int
        The rank of the centered design matrix.
    n_iter_ : int
        The number of passes over the rows.
    converged_ : bool
        Whether the tolerance was reached.
    history_ : list of float
        Σ w r² at the start and after every pass of "gradient_descent" and "lms"; empty for the
        others.
    record_ : list of dict
        With `record=True`: step, coef, intercept and objective (Σ w r²) at the start and after
        every pass, and for "lms" rows, coefficients and intercept after every row; empty for
        solvers without passes.
    singular_ : array of shape (min(n_samples, n_design_columns),)
        The singular values of the centered and weighted rows, largest first.
    statistic_ : Scatter or RowScatter
        The merged statistic that the fit follows from: the products of all columns, or the centered
        rows where there are over 1,000 columns and fewer rows.

    See Also
    --------
    Ridge : With a penalty on the squared coefficients.
    Lasso : With a penalty that sets coefficients to zero.
    simple_regression : One column, by its formulas.

    Examples
    --------
    >>> from lyceum.linear import LinearRegression
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0], [4.0]], [2.0, 4.0, 5.0, 8.0])
    >>> errors = model.standard_errors_.round(4).tolist()
    >>> model.coef_.round(3).tolist(), round(float(model.intercept_), 3), errors
    ([1.9], 0.0, [0.2646])

    """

    _coding = "reference"

    history_axes: ClassVar[tuple[str, str]] = ("pass", "sum of squared residuals")
    _step_kind = StepKind(
        "pass",
        (
            StepColumn(
                "coef",
                "b",
                "b ← b + η Σ w r x / Σ w, r = y − b₀ − b·x, "
                "of columns of mean 0 and spread 1 if standardized",
                axes=("column",),
                ends_in="coef_",
            ),
            StepColumn(
                "intercept",
                "b₀",
                "b₀ ← b₀ + η Σ w r / Σ w, at the means of the columns if standardized",
                ends_in="intercept_",
            ),
            StepColumn("objective", "SSE", "Σ w r²", unit="squares of the target"),
            StepColumn(
                "rows",
                "b after every row",
                "b ← b + η r x, the intercept last",
                axes=("row", "weight"),
            ),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        "solver": [StrOptions({"normal", *SOLVERS})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "decay": ["boolean"],
        "standardize": ["boolean"],
        "coef_init": ["array-like", None],
        "record": ["boolean"],
        **LeastSquares._parameter_constraints,
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        solver: str = "normal",
        max_iter: int = 1000,
        learning_rate: float | None = None,
        decay: bool = True,
        standardize: bool = True,
        coef_init: Any = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.decay = decay
        self.standardize = standardize
        self.coef_init = coef_init
        self.record = record
        self.n_jobs = n_jobs
        self.copy_X = copy_X
        self.positive = positive
        self.categorical_features = categorical_features

    @property
    def singular_(self) -> np.ndarray:
        """The singular values of the centered and weighted rows, largest first."""
        check_is_fitted(self)
        statistic = self.statistic_
        if not self.fit_intercept:
            statistic = statistic.about_origin()
        if isinstance(statistic, RowScatter):
            return np.linalg.svd(statistic.x_rows, compute_uv=False)
        values = np.linalg.eigvalsh(statistic.xx)[::-1]
        n_values = min(statistic.n_rows, len(values))
        return np.sqrt(np.maximum(values[:n_values], 0.0))

    @property
    def _solution_text(self) -> str:
        by_steps = self.solver in ("gradient_descent", "lms")
        if by_steps:
            return "nearest to zero, columns scaled to unit spread,"
        return super()._solution_text

    def _refine(self, fit: Fit, rows: Rows) -> Fit:
        if self.solver == "normal":
            return super()._refine(fit, rows)
        rate = self.learning_rate
        setting = StepSetting(
            fit_intercept=self.fit_intercept,
            max_iter=self.max_iter,
            tol=float(self.tol),
            learning_rate=None if rate is None else float(rate),
            decay=self.decay,
            standardize=self.standardize,
            coef_init=self.coef_init,
            record=self.record,
        )
        done = SOLVERS[self.solver](rows, fit, setting)
        if not done.converged:
            warnings.warn(
                f"LinearRegression(solver={self.solver!r}) stopped after max_iter={self.max_iter}"
                f" passes short of tol={self.tol:g}: raise max_iter, or take solver='normal'",
                ConvergenceWarning,
                stacklevel=4,
            )
        self._descent = done
        return done.fit

    def _set_results(self, fit: Fit) -> None:
        super()._set_results(fit)
        way = self.__dict__.pop("_descent", Descent(fit))
        self.n_iter_ = way.n_iter
        self.converged_ = way.converged
        self.history_ = way.history
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_: list[dict[str, Any]] = []
            for (coef, intercept, rows), squares in zip(way.steps, way.history):
                step = {
                    "step": len(self.record_),
                    "coef": coef,
                    "intercept": intercept,
                    "objective": squares,
                }
                if rows is not None:
                    step["rows"] = rows
                self.record_.append(step)
        variance = self._set_quality(fit)
        self._set_covariance(fit, variance)
        self._set_tests(fit, variance)

    def _set_quality(self, fit: Fit) -> np.float64:
        """Degrees of freedom, σ, R² and the likelihood; the variance of the residuals, NaN if no
        degree is left."""
        n = fit.moments.n_rows
        yy = fit.moments.yy
        residual = np.float64(fit.residual)
        self.df_model_ = self.rank_
        self.df_residual_ = n - self.rank_ - int(self.fit_intercept)
        variance = np.float64(np.nan)
        self.adjusted_r2_ = np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            self.r2_ = float(1.0 - residual / yy)
            # unbiased: a degree is lost with every fitted coefficient
            if self.df_residual_ > 0:
                variance = residual / self.df_residual_
                lost = np.float64(n - int(self.fit_intercept)) / self.df_residual_
                self.adjusted_r2_ = float(1.0 - lost * (1.0 - self.r2_))
            self.sigma_ = float(np.sqrt(variance))
            # that of normal residuals at their own variance, residual / n
            log_variance = np.log(2 * np.pi * residual / n)
            self.log_likelihood_ = float(-n / 2 * (log_variance + 1))
        return variance

    def _set_tests(self, fit: Fit, variance: np.float64) -> None:
        """t and F with their p-values."""
        moments = fit.moments
        self.intercept_standard_error_ = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            # explained variance per coefficient over that of the residuals
            explained = np.float64(max(moments.yy - fit.residual, 0.0))
            self.f_ = float(explained / self.df_model_ / variance)
            if self.fit_intercept:
                # the variance of ȳ - b·x̄, whose parts are independent
                of_slopes = variance * _form(fit.factor, moments.x_mean[None])[0]
                at_zero = variance / moments.weight + of_slopes
                self.intercept_standard_error_ = float(np.sqrt(at_zero))
            self.t_ = self.coef_ / self.standard_errors_
            intercept_t = np.float64(self.intercept_) / self.intercept_standard_error_
        self.intercept_t_ = float(intercept_t)
        self.p_ = _two_sided(self.t_, self.df_residual_)
        self.intercept_p_ = float(_two_sided(intercept_t, self.df_residual_))
        self.f_p_ = np.nan
        if self.df_residual_ > 0:
            self.f_p_ = float(fdtrc(self.df_model_, self.df_residual_, self.f_))

    def _set_covariance(self, fit: Fit, variance: np.float64) -> None:
        """The covariance of the coefficients, of few rows with many columns its diagonal alone."""
        self.__dict__.pop("covariance_", None)
        with np.errstate(divide="ignore", invalid="ignore"):
            if isinstance(fit.moments, RowScatter):
                root = fit.factor.root
                assert root is not None
                diagonal = variance * np.einsum("ij,ij->i", root, root)
            else:
                self.covariance_ = variance * fit.factor.inverse()
                diagonal = np.diagonal(self.covariance_)
            self.standard_errors_ = np.sqrt(np.maximum(diagonal, 0.0))

    def confidence_interval(self, level: float = 0.95) -> np.ndarray:
        """The intervals that cover the true coefficients with probability `level`,
        (n_design_columns, 2)."""
        check_is_fitted(self)
        reach = self._quantile(level) * self.standard_errors_
        return np.column_stack([self.coef_ - reach, self.coef_ + reach])

    def predict_interval(
        self,
        X: Data,
        level: float = 0.95,
        of: Literal["row", "mean"] = "row",
    ) -> Any:
        """Lower and upper ends, (n, 2), of the interval for a new row of weight one, or for the
        mean of such rows.

        The variance of the fitted mean is σ² [1/Σw + (x - x̄)ᵀ (XᵀWX)⁻¹ (x - x̄)]; a new row adds
        σ².
        """
        check_is_fitted(self)
        if of not in ("row", "mean"):
            raise SettingError(f"of={of!r}: choose 'row' or 'mean'")
        quantile = self._quantile(level)
        return self._apply(partial(_interval, self, quantile, of == "row"), X)

    def residuals(
        self,
        X: Data,
        y: Target,
        sample_weight: Weights = None,
        *,
        standardized: bool = False,
    ) -> np.ndarray:
        """y less the fitted values, (n,); `standardized` for rows of the fit: divided by their
        standard errors.

        The residual r of a row of weight w has variance σ² (1 - h) / w with the leverage h = w
        [1/Σw + (x - x̄)ᵀ (XᵀWX)⁻¹ (x - x̄)], the row's share in its own fitted value: beyond ±3 or
        so a row does not fit the line.
        """
        fitted = np.asarray(self.predict(X))
        left = np.asarray(y, dtype=np.float64) - fitted
        if not standardized:
            return left
        w = np.asarray(row_weights(sample_weight, len(left)), dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            free = np.maximum(1.0 - self.leverages(X, w), 0.0)
            return left * np.sqrt(w / free) / self.sigma_

    def leverages(self, X: Data, sample_weight: Weights = None) -> np.ndarray:
        """The share h of every row in its own fitted value, (n,): h = w [1/Σw + (x - x̄)ᵀ (XᵀWX)⁻¹
        (x - x̄)].

        Over the rows of the fit they sum to the number of fitted coefficients, the intercept
        included.
        """
        check_is_fitted(self)
        leverages = np.asarray(self._apply(partial(_leverage, self), X))
        if sample_weight is None:
            return leverages
        return np.asarray(sample_weight, dtype=np.float64) * leverages

    def residual_checks(
        self,
        X: Data,
        y: Any,
        sample_weight: Any = None,
    ) -> ResidualChecks:
        """Check the residuals of the rows of `fit` against the assumptions of least squares.

        Tests of normality, of equal variance and of independence of neighboring rows, and the rows
        of large leverage or influence.
        """
        w = np.asarray(row_weights(sample_weight, len(y)), dtype=np.float64)
        return ResidualChecks.of(
            np.asarray(self.residuals(X, y)) * np.sqrt(w),
            fitted=np.asarray(self.predict(X)),
            leverage=self.leverages(X, w),
            p=self.rank_ + int(self.fit_intercept),
            used=w > 0,
        )

    def _quantile(self, level: float) -> float:
        if not 0.0 < level < 1.0:
            raise SettingError(f"level={level!r}: give a probability between 0 and 1")
        if self.df_residual_ > 0:
            return float(stdtrit(self.df_residual_, 0.5 + level / 2))
        return np.nan

    def _n_parameters(self) -> int:
        # and the variance of the errors
        return self.rank_ + int(self.fit_intercept) + 1

    def summary(self) -> Summary:
        """The coefficient table with standard errors, t, p and 95% intervals, and the quality of
        the fit."""
        check_is_fitted(self)
        refuse_several_targets(self, "summary")
        n = self.statistic_.n_rows
        k = self._n_parameters()
        facts = {
            "rows": n,
            "R²": self.r2_,
            "adjusted R²": self.adjusted_r2_,
            "residual standard error": self._error_text(),
            "F": self._f_text(),
            "log-likelihood": self.log_likelihood_,
            "AIC, BIC": (
                2 * k - 2 * self.log_likelihood_,
                k * np.log(n) - 2 * self.log_likelihood_,
            ),
        }
        d = len(self.coef_)
        facts |= undetermined_fact(d - self.rank_, d, "coefficient")
        columns = ("column", "coefficient", "std. error", "t", "p", "95% from", "to")
        table = Table("Coefficients", columns, self._table())
        return Summary(self._title(), facts, [table])

    def _error_text(self) -> str:
        if self.df_residual_ < 1:
            return "unknown: no degrees of freedom are left"
        return f"{self.sigma_:.4g} on {self.df_residual_} degrees of freedom"

    def _f_text(self) -> str:
        if np.isnan(self.f_):
            return f"undefined on {self.df_model_} and {self.df_residual_} degrees of freedom"
        return f"{self.f_:.4g} on {self.df_model_} and {self.df_residual_}, p = {self.f_p_:.3g}"

    def _table(self) -> list[tuple]:
        limits = self.confidence_interval()
        numbers = np.column_stack(
            [self.coef_, self.standard_errors_, self.t_, self.p_, limits]
        )
        lines = zip(self.design_names, numbers.tolist())
        rows = [(name, *line) for name, line in lines]
        if not self.fit_intercept:
            return rows
        b = self.intercept_
        se = self.intercept_standard_error_
        reach = self._quantile(0.95) * se
        of_intercept = (float(b), se, self.intercept_t_, self.intercept_p_)
        return [("(intercept)", *of_intercept, b - reach, b + reach), *rows]


def _two_sided(t: np.ndarray | np.float64, df: int) -> np.ndarray:
    if df > 0:
        return 2 * stdtr(df, -np.abs(t))
    return np.full(np.shape(t), np.nan)


def _interval(
    learner: LinearRegression,
    quantile: float,
    new_row: bool,
    block: Block,
) -> np.ndarray:
    """The fitted values less and plus the quantile times the root of their variance."""
    moments = learner.statistic_
    if not hasattr(learner, "covariance_"):  # few rows with many columns
        variance = learner.sigma_**2 * _leverage(learner, block)
    else:
        Z = block.dense
        if learner.fit_intercept:
            Z = Z - moments.x_mean
        variance = np.einsum("ij,jk,ik->i", Z, learner.covariance_, Z, optimize=True)
        if learner.fit_intercept:
            variance = variance + learner.sigma_**2 / moments.weight
    if new_row:
        variance = variance + learner.sigma_**2
    middle = block.X @ learner.coef_ + learner.intercept_
    reach = quantile * np.sqrt(variance)
    return np.column_stack([middle - reach, middle + reach])


def _leverage(learner: LinearRegression, block: Block) -> np.ndarray:
    """The leverage of the rows of a block at weight 1, whatever the residuals are."""
    moments = learner.statistic_
    if not learner.fit_intercept:
        moments = moments.about_origin()
    leverage = _form(Fit.of(moments).factor, block.dense - moments.x_mean)
    if learner.fit_intercept:
        leverage = leverage + 1.0 / moments.weight
    return leverage


def _form(factor: PositiveFactor, Z: np.ndarray) -> np.ndarray:
    """z A⁻¹ zᵀ of every row z, with A⁺ where A is singular."""
    if factor.root is not None:
        return ((Z @ factor.root) ** 2).sum(axis=1)
    solved = factor.solve(np.ascontiguousarray(Z.T))
    return np.einsum("ij,ij->i", Z, solved.T)

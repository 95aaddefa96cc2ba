"""Kernel ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Regressor
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows, Schema
from lyceum._core.report import Shown
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.errors import SettingError, cannot_export, number_setting
from lyceum.kernels.functions.base import double_gram, kernel_operations
from lyceum.kernels.kernel_learner import (
    KERNEL_CONSTRAINTS,
    KernelLearner,
    is_linear,
    refuse_pairs,
)
from lyceum.kernels.ridge.solvers import (
    inverse_at,
    inverse_parts,
    refuse_negative,
    ridge_inverse,
    rounding_of,
    several_targets,
    warn_below_rounding,
    without_rounding,
)
from lyceum.kernels.svm.report import (
    base_point,
    check_explain_by,
    column_parts,
    support_explanation,
)
from lyceum.report import Explanation, Summary

_Fit = tuple[float, np.ndarray, float]  # λ, a and b
_MIXED = 2500  # rows from which a factor in float32 pays
_GRID = np.logspace(-8, 3, 34)  # times the mean of the diagonal of K


def _fit(alpha: float, of_y: np.ndarray, of_ones: np.ndarray | None) -> _Fit:
    """λ, a and b from the solutions for y and, if there is an intercept, for ones."""
    if of_ones is None:
        return float(alpha), of_y, 0.0
    # A a + b 1 = y with Σ a = 0: a = A⁻¹y - b A⁻¹1, and the sum of it says what b is
    intercept = float(of_y.sum() / of_ones.sum())
    return float(alpha), of_y - intercept * of_ones, intercept


@dataclass(frozen=True)
class LeaveOneOut(Shown):
    """The prediction of every training row by a model of the other rows.

    Parameters
    ----------
    predictions, residuals : arrays of shape (n,), or (n, k) for k targets
        ŷ_i, the prediction without row i, and y_i - ŷ_i.
    mse, r2 : float, or arrays of shape (k,)
        The weighted mean of the squared residuals, and 1 - mse over the variance of y.

    See Also
    --------
    KernelRidge : Its `leave_one_out` makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.kernels import KernelRidge
    >>> X, y = np.array([[1.0], [1.0], [2.0]]), np.array([2.5, 1.0, 3.5])
    >>> model = KernelRidge(alpha=1.0, kernel="linear").fit(X, y)
    >>> left_out = model.leave_one_out()
    >>> left_out.predictions.round(4).tolist()  # without a row: Σ xy / (Σ x² + 1), times x
    [1.3333, 1.5833, 2.3333]
    >>> bool(np.allclose(left_out.residuals, y - left_out.predictions))
    True
    """

    predictions: np.ndarray
    residuals: np.ndarray
    mse: Any
    r2: Any

    @classmethod
    def of(
        cls,
        y: np.ndarray,
        residuals: np.ndarray,
        w: np.ndarray,
        is_flat: bool,
    ) -> LeaveOneOut:
        """From targets and residuals (n, k) of rows of weight w; of one target if `is_flat`."""
        share = w / w.sum()
        mse = share @ residuals**2
        variance = share @ (y - share @ y) ** 2
        unknown = np.full(len(mse), np.nan)
        r2 = 1.0 - np.divide(mse, variance, out=unknown, where=variance > 0)
        predictions = y - residuals
        if not is_flat:
            return cls(predictions, residuals, mse, r2)
        return cls(
            predictions=predictions[:, 0],
            residuals=residuals[:, 0],
            mse=float(mse[0]),
            r2=float(r2[0]),
        )


class KernelRidge(Regressor, KernelLearner):
    """Kernel ridge regression: f(x) = k(x)ᵀ (K + λI)⁻¹ y.

    It minimizes Σ w_i (y_i - f(x_i))² + λ |f|² over the functions of the kernel; its solution is a
    sum over the training rows, f(x) = Σ a_i k(x_i, x) + b, with

    .. math:: a = (K + \\lambda W^{-1})^{-1} (y - b \\mathbf 1)

    b is 0 unless `fit_intercept`, where it is not penalized. What row i would be predicted without
    it needs no second fit: its residual is a_i / [(K + λW⁻¹)⁻¹]_ii. K is factored in float32 and
    the solution refined to float64.

    Parameters
    ----------
    alpha : float, array of shape (k,) or "loo", default=1.0
        λ, or one per target. "loo" takes the λ of the least squared leave-one-out error from
        `alphas`, for every target its own.
    fit_intercept : bool, default=False
        Whether there is a constant b that is not penalized.
    alphas : array of shape (m,), default=None
        The λ to choose from; None is a grid relative to the mean of k(x, x).

    Attributes
    ----------
    dual_coef_ : array of shape (n,), or (n, k) for k targets
        a, one per training row.
    intercept_ : float, or array of shape (k,)
        b.
    coef_ : array of shape (n_columns,), or (k, n_columns)
        The coefficients of the columns, for the linear kernel.
    alpha_ : float, or array of shape (k,)
        λ as used.
    n_undetermined_ : int
        How many directions of the coefficients λ alone decides, as K is singular there and λ below
        rounding.
    rows_ : array or sparse array of shape (n, n_columns)
        The training rows with a weight.
    row_weights_ : array of shape (n,)
        Their weights.
    kernel_ : Kernel
        The kernel, with what it learned.
    alphas_, loo_mse_ : arrays of shape (m,), the second (m, k) for k targets
        With `alpha="loo"`: the λ tried, and the leave-one-out error of each.

    See Also
    --------
    lyceum.linear.Ridge : The linear kernel on files of any size.
    Nystroem : Approximate kernels, before `Ridge`, for more rows than pairs fit into memory.

    References
    ----------
    Saunders, Gammerman and Vovk (1998), Ridge regression learning algorithm in dual variables,
    ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.kernels import KernelRidge
    >>> x = np.linspace(0, 6, 40)
    >>> model = KernelRidge(alpha="loo", kernel="rbf").fit(x[:, None], np.sin(x))
    >>> float(np.abs(model.predict(x[:, None]) - np.sin(x)).max()) < 0.01
    True
    >>> model.leave_one_out().r2 > 0.99
    True
    """

    alpha_: Any
    intercept_: Any
    _alternative: ClassVar[str] = (
        "lyceum.kernels.Nystroem or RBFSampler before lyceum.linear.Ridge"
    )
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [
            Interval(Real, 0, None, closed="left"),
            StrOptions({"loo"}),
            "array-like",
        ],
        **KERNEL_CONSTRAINTS,
        "kernel_params": [dict, None],
        "fit_intercept": ["boolean"],
        "alphas": ["array-like", None],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = "linear",
        gamma: object = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = False,
        alphas: Any = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.alphas = alphas
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Solve for the coefficients of the training rows.

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), or (n_samples, k) for k targets, if not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        several = None
        if not isinstance(X, Rows) and y is not None:
            several = several_targets(y)
        first_target = y if several is None else several[:, 0]
        rows = self._rows(X, first_target, sample_weight)
        block = self._weighted_rows(rows)
        n = len(block)
        # bytes per pair of rows: a factor in float32, or K and its eigenvectors in double
        is_loo = isinstance(self.alpha, str)
        mixed = not is_loo and n >= _MIXED
        refuse_pairs(type(self).__name__, n, 4 if mixed else 16, self._alternative)
        self.rows_ = block.X.copy()  # the array may be the user's own
        self.row_weights_ = np.array(block.weights, dtype=np.float64)
        self.kernel_ = self._learned_kernel(block)
        for name in ("alphas_", "loo_mse_"):
            self.__dict__.pop(name, None)
        Y = np.asarray(block.y, dtype=np.float64)[:, None]
        if several is not None:
            w = rows.sample_weight
            Y = several if w is None else several[w > 0]
        fits = self._fits_by_leave_one_out(Y) if is_loo else self._fits(Y, mixed)
        if several is None:
            self.alpha_, self.dual_coef_, self.intercept_ = fits[0]
        else:
            self._set_several(fits)
        warn_below_rounding(self.n_undetermined_)
        return self

    def _set_several(self, fits: list[_Fit]) -> None:
        alphas, duals, intercepts = zip(*fits)
        self.alpha_ = np.array(alphas)
        if np.ndim(self.alpha) == 0 and not isinstance(self.alpha, str):
            self.alpha_ = float(self.alpha)
        self.dual_coef_ = np.column_stack(duals)
        self.intercept_ = np.array(intercepts)

    def _fits(self, Y: np.ndarray, mixed: bool) -> list[_Fit]:
        """The solution for every target: one factor of K for every λ."""
        alphas = np.ravel(number_setting("alpha", self.alpha))
        is_penalty = ((alphas >= 0) & np.isfinite(alphas)).all()
        if len(alphas) not in (1, Y.shape[1]) or not is_penalty:
            raise SettingError(
                f"alpha must be one number from 0 on, or one for each of {Y.shape[1]} targets, "
                f"but it is {self.alpha!r}"
            )
        alphas = np.broadcast_to(alphas, Y.shape[1:])
        fits: dict[int, _Fit] = {}
        self.n_undetermined_ = 0
        for alpha in np.unique(alphas):
            ridge = alpha / self.row_weights_
            solve, n_null = ridge_inverse(self.kernel_, self.rows_, ridge, mixed)
            self.n_undetermined_ = max(self.n_undetermined_, n_null)
            ones = solve(np.ones(len(Y))) if self.fit_intercept else None
            for t in np.flatnonzero(alphas == alpha):
                fits[int(t)] = _fit(alpha, solve(Y[:, t]), ones)
        return [fits[t] for t in range(Y.shape[1])]

    def _fits_by_leave_one_out(self, Y: np.ndarray) -> list[_Fit]:
        """All λ from one eigendecomposition of B = √W K √W: (B + λI)⁻¹ = Q diag(1 / (s + λ)) Qᵀ."""
        root = np.sqrt(self.row_weights_)
        K = double_gram(self.kernel_, self.rows_)
        B = K * root * root[:, None]
        grid = self._alpha_grid(np.trace(B) / len(B))
        s, Q = linalg.eigh(B, overwrite_a=True, check_finite=False)
        refuse_negative(s, self.kernel_)
        rounding = rounding_of(s)
        s = without_rounding(s)
        squares = Q * Q
        errors = []
        fits = []
        for y in Y.T:
            # the right sides √W y and √W 1 in the eigenvectors, for which every λ costs n² only
            turned = Q.T @ np.column_stack([root * y, root])
            solve_at = partial(inverse_at, s=s, Q=Q, turned=turned, squares=squares)
            of_grid = [self._loo_error(*solve_at(alpha)) for alpha in grid]
            errors.append(of_grid)
            alpha = float(grid[np.argmin(of_grid)])
            fits.append(self._fit_at(alpha, solve_at(alpha)[0]))
        least = min(alpha for alpha, _, _ in fits)
        self.n_undetermined_ = int((s + least <= rounding).sum())
        self.alphas_ = grid
        self.loo_mse_ = np.array(errors).T
        if len(errors) == 1:
            self.loo_mse_ = np.array(errors[0])
        return fits

    def _alpha_grid(self, mean_value: float) -> np.ndarray:
        """The λ to choose from, rising."""
        grid = _GRID * mean_value
        if self.alphas is not None:
            grid = np.sort(number_setting("alphas", self.alphas))
        if not len(grid) or not (grid > 0).all():
            raise SettingError("alphas must be positive numbers, and at least one")
        return grid

    def _fit_at(self, alpha: float, solved: np.ndarray) -> _Fit:
        """The fit from the solutions for √W y and √W 1 in the scale of B."""
        solved = np.sqrt(self.row_weights_)[:, None] * solved
        ones = solved[:, 1] if self.fit_intercept else None
        return _fit(alpha, solved[:, 0], ones)

    def _loo_error(self, solved: np.ndarray, diagonal: np.ndarray) -> float:
        """The weighted mean squared leave-one-out residual of one λ, in the scale of B."""
        # e_i = β_i / (B_λ⁻¹)_ii with β = B_λ⁻¹√W y, over √w_i to be in units of y; an intercept
        # takes v vᵀ / (√w·v) with v = B_λ⁻¹√w from the inverse
        root = np.sqrt(self.row_weights_)
        beta = solved[:, 0]
        if self.fit_intercept:
            ones = solved[:, 1]
            b = (root @ beta) / (root @ ones)
            beta = beta - b * ones
            diagonal = diagonal - ones**2 / (root @ ones)
        diagonal = np.maximum(diagonal, np.finfo(float).tiny)
        e = beta / (root * diagonal)
        return float(self.row_weights_ @ e**2 / self.row_weights_.sum())

    # -- predict -----------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """f(x) for every row.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`

        Returns
        -------
        array of shape (n_samples,), or (n_samples, k) if `fit` had a y of that shape
        """
        check_is_fitted(self)
        return self._apply(partial(_predict, self), X)

    def _operations(self) -> list[Operation]:
        if self.dual_coef_.ndim > 1:
            raise cannot_export(self, "it has several targets")
        coef = self.dual_coef_[:, None]
        intercept = np.atleast_1d(self.intercept_)
        return kernel_operations(self, self.kernel_, self.rows_, coef, intercept)

    def row_contributions(self, X: Data) -> Any:
        """What every training row adds to every prediction, a_i k(x_i, x), of shape (n_samples, n[,
        k])."""
        check_is_fitted(self)
        return self._apply(partial(_row_contributions, self), X)

    def leave_one_out(self) -> LeaveOneOut:
        """The prediction of every training row by the others, in closed form, from another factor
        of K.

        The kernel is that of all rows: a width that was learned from them is not learned again.
        """
        check_is_fitted(self)
        n = len(self.row_weights_)
        refuse_pairs(type(self).__name__, n, 8, self._alternative)
        dual = self.dual_coef_.reshape(n, -1)
        alphas = np.broadcast_to(self.alpha_, dual.shape[1:])
        intercepts = np.broadcast_to(self.intercept_, dual.shape[1:])
        y = np.empty(dual.shape)
        residuals = np.empty(dual.shape)
        for alpha in np.unique(alphas):
            # y = A a + b of A = K + λW⁻¹, and the residual without row i is a_i / (A⁻¹)_ii
            A = double_gram(self.kernel_, self.rows_)
            ridge = alpha / self.row_weights_
            targets = alphas == alpha
            A[np.diag_indices(n)] += ridge
            y[:, targets] = A @ dual[:, targets] + intercepts[targets]
            diagonal, ones = inverse_parts(
                self.kernel_,
                self.rows_,
                ridge,
                A,
                with_ones=self.fit_intercept,
            )
            if self.fit_intercept:
                diagonal = diagonal - ones**2 / ones.sum()
            residuals[:, targets] = dual[:, targets] / diagonal[:, None]
        is_flat = self.dual_coef_.ndim == 1
        return LeaveOneOut.of(y, residuals, self.row_weights_, is_flat)

    # -- what was learned --------------------------------------------------------------

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the columns, for the linear kernel."""
        is_fitted = hasattr(self, "kernel_")
        kernel = self.kernel_ if is_fitted else self._chosen_kernel()
        if not is_linear(kernel):
            raise AttributeError(
                "coef_ is for the linear kernel: f is no linear function of the columns"
            )
        return np.asarray(self.rows_.T @ self.dual_coef_, dtype=np.float64).T

    def explain(self, X: Data, by: str = "columns", target: int = 0) -> Explanation:
        """What columns, or training rows, add to the prediction.

        Columns: from the mean row (the most frequent category) to the row, the mean over replacing
        them from the first to the last and from the last to the first; for a linear kernel coef ·
        (x - mean).

        Parameters
        ----------
        X : array, sparse array, frame or `scan(...)` of shape (n_samples, n_features)
        by : {"columns", "rows"}, default="columns"
            "rows": a_i k(x_i, x) of every training row, from b on; the only way for a precomputed
            kernel.
        target : int, default=0
            Which of several targets.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        dual = self.dual_coef_.reshape(len(self.row_weights_), -1)
        if not 0 <= target < dual.shape[1]:
            raise SettingError(
                f"explain target={target}: there are {dual.shape[1]} targets, counted from 0"
            )
        coef = np.ascontiguousarray(dual[:, target])
        b = float(np.ravel(self.intercept_)[target])
        unit = f"target {target}"
        if self.dual_coef_.ndim == 1:
            unit = self.schema_.target_name or "prediction"
        if by == "rows":

            def of_rows(block: Block) -> np.ndarray:
                return double_gram(self.kernel_, block.X, self.rows_) * coef

            added = np.asarray(self._apply(of_rows, X))
            predicted = added.sum(axis=1) + b
            return support_explanation(np.arange(len(coef)), added, b, predicted, unit)
        check_explain_by(by, "rows", self._is_precomputed)
        schema = Schema(self.schema_.columns)
        block = Block(self.rows_, None, self.row_weights_, 0, schema)
        base = base_point(block, self._keeps_categories)

        def of_columns(block: Block) -> np.ndarray:
            return column_parts(block, base, score)

        def score(rows: np.ndarray) -> np.ndarray:
            return self.kernel_.sums(self.rows_, coef, rows) + b

        return self._explain(X, of_columns, unit)

    def summary(self) -> Summary:
        """The kernel, λ, and the norm of the function; the leave-one-out error if λ was chosen by
        it."""
        check_is_fitted(self)
        # |f|² = aᵀKa
        a = self.dual_coef_
        fitted = self.kernel_.sums(self.rows_, a, self.rows_)
        squares = (a * fitted).sum(axis=0)
        norms = np.sqrt(np.maximum(0.0, squares))
        facts: dict[str, Any] = {
            "rows": len(a),
            "kernel": repr(self.kernel_),
            "alpha": self.alpha_,
            "intercept": self.intercept_,
            "norm of f": norms if a.ndim == 2 else float(norms),
            "largest |coefficient|": float(np.abs(a).max()),
            **undetermined_fact(
                self.n_undetermined_, len(a), "direction", "alpha alone decides there"
            ),
        }
        if hasattr(self, "loo_mse_"):
            least = self.loo_mse_.min(axis=0)
            error = least if a.ndim == 2 else float(least)
            facts["leave-one-out mean squared error"] = error
        return Summary(self._title(), facts)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = len(self.row_weights_)
        targets = self.dual_coef_.shape[1:]
        shapes = {
            "dual_coef_": (n, *targets),
            "row_weights_": (n,),
            **self._row_shapes(),
        }
        if targets:
            shapes["intercept_"] = targets
        return shapes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


# -- blocks ----------------------------------------------------------------------------


def _predict(model: KernelRidge, block: Block) -> np.ndarray:
    sums = model.kernel_.sums(model.rows_, model.dual_coef_, block.X)
    return sums + model.intercept_


def _row_contributions(model: KernelRidge, block: Block) -> np.ndarray:
    values = double_gram(model.kernel_, block.X, model.rows_)
    if model.dual_coef_.ndim == 1:
        return values * model.dual_coef_
    return values[:, :, None] * model.dual_coef_

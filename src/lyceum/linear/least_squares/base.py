"""What linear regression and ridge share: one Gram statistic, a solve, and a second look when
digits were lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, Learner, OnePassLearner, Regressor
from lyceum._core.data import Block, Rows
from lyceum._core.statistics import PositiveFactor, RowScatter, Scatter, is_wide
from lyceum._core.types import Data, Estimator, Operation, Target, Weights
from lyceum.errors import SettingError
from lyceum.linear.penalized.nonnegative import NonNegativeElasticNet
from lyceum.linear.row_passes import Residuals, first_pass, without_checks
from lyceum.linear.several_targets import (
    fit_each_target,
    has_several_targets,
    refuse_several_targets,
)
from lyceum.report import Explanation, Table

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Fit:
    """The minimum of Σ w (y - y₀ - (x - x₀)·b)² + Σ alpha_j b_j², with the matrix that was
    solved."""

    # about the means, or about the origin without an intercept
    moments: Scatter | RowScatter
    factor: PositiveFactor  # of XᵀWX + diag(alpha)
    alpha: float | np.ndarray  # the penalty of all columns, or of each
    coef: np.ndarray
    residual: float  # Σ w r²
    # of the matrix that takes y to the fitted values, where it is known
    trace: float | None = None
    n_values: int | None = None  # eigenvalues above zero, where they are known

    @classmethod
    def of(cls, moments: Scatter | RowScatter, alpha: float | np.ndarray = 0.0) -> Fit:
        floor = _floor(moments)
        if isinstance(moments, RowScatter):
            return cls._of_few_rows(moments, alpha, floor)
        A = penalized = moments.xx
        if np.any(alpha):
            penalized = A + np.diag(np.broadcast_to(alpha, len(A)))
        factor = PositiveFactor.of(penalized, floor)
        coef = factor.solve(moments.xy)
        # with g = Xᵀy the residual sum of squares is yy - 2 b·g + bᵀAb
        fitted = float(coef @ A @ coef)
        residual = moments.yy - 2 * float(coef @ moments.xy) + fitted
        return cls(moments, factor, alpha, coef, max(residual, 0.0))

    @classmethod
    def _of_few_rows(
        cls,
        moments: RowScatter,
        alphas: float | np.ndarray,
        floor: np.ndarray,
    ) -> Fit:
        """The dual form: with the centered rows F, fewer than columns, and FFᵀ = U Λ Uᵀ,
        b = Fᵀ U (Λ + alpha)⁻¹ Uᵀ y.

        (XᵀWX + alpha I)⁻¹ enters as V (Λ + alpha)⁻¹ Vᵀ with V = Fᵀ U Λ^(-½), as what is solved for
        lies in the space of the rows. Columns of different penalties are scaled, so that it becomes
        1 for all.
        """
        spread = moments.xx_diagonal
        F = moments.x_rows
        y = moments.rows[:, -1]
        live = spread > floor
        # x_j / √alpha_j has the penalty 1; constant columns are multiplied by 0
        unit = np.where(live, 1.0, 0.0)
        alpha = alphas
        if isinstance(alphas, np.ndarray):
            unit = np.divide(unit, np.sqrt(alphas), where=live, out=unit)
            alpha = 1.0
        if not (unit == 1.0).all():
            F = F * unit
        values, U = _eigenvectors_of_rows(F)
        # root rootᵀ = V (Λ + alpha)⁻¹ Vᵀ stands for the inverse
        turned = U.T @ y
        shrunk = values + alpha
        scaled = U / np.sqrt(values * shrunk)
        root = unit[:, None] * (F.T @ scaled)
        factor = _few_rows_factor(spread, live, root, values, is_plain=not alpha)
        # the fitted values are U Λ (Λ + alpha)⁻¹ Uᵀ y, and the trace that of this matrix
        coef = unit * (F.T @ (U @ (turned / shrunk)))
        left = y - U @ (values / shrunk * turned)
        return cls(
            moments,
            factor,
            alpha=alphas,
            coef=coef,
            residual=float(left @ left),
            trace=float((values / shrunk).sum()),
            n_values=len(values),
        )

    @property
    def rank(self) -> int:
        """The rank of XᵀWX, without the penalty."""
        if not np.any(self.alpha):
            return self.factor.rank
        if self.n_values is not None:
            return self.n_values
        assert isinstance(self.moments, Scatter)
        return PositiveFactor.of(self.moments.xx, _floor(self.moments)).rank

    @property
    def effective_degrees(self) -> float:
        """The trace of X (XᵀWX + alpha I)⁻¹ XᵀW, about the means."""
        if self.trace is not None:
            return self.trace
        assert isinstance(self.moments, Scatter)
        return float(np.trace(self.factor.solve(self.moments.xx)))

    @property
    def lost_digits(self) -> bool:
        """Whether the normal equations have cost more than about half of the digits."""
        return self.factor.smallest < 1e-6 or self.residual < 1e-6 * self.moments.yy

    def refine(self, rows: Rows, fit_intercept: bool) -> Fit:
        """Two steps of b ← b + A⁻¹(XᵀWr - alpha b) with residuals r from the rows themselves.

        These are the corrected seminormal equations: with them the error grows with the condition
        of X, as for QR, and not with its square, as long as the square is within reach of double
        precision (Björck, 1987).
        """
        fit = self
        for _ in range(2):
            moments = fit.moments
            of = partial(
                Residuals.of, coef=fit.coef, x0=moments.x_mean, y0=moments.y_mean
            )
            sums = rows.reduce(of)
            # the mean of the residuals belongs to the intercept
            if fit_intercept:
                y_mean = moments.y_mean + sums.total / moments.weight
                moments = replace(moments, mean=np.append(moments.x_mean, y_mean))
            gradient = sums.gradient - fit.alpha * fit.coef
            step = fit.factor.solve(gradient)
            # without a penalty a step s = A⁻¹g lowers the squares by gᵀA⁻¹g = s·g
            residual = sums.squares
            if not np.any(fit.alpha):
                lowered = residual - float(step @ sums.gradient)
                if 0.0 < lowered <= residual:
                    residual = lowered
            fit = replace(fit, moments=moments, coef=fit.coef + step, residual=residual)
        return fit

    def nonnegative(self) -> Fit:
        """The minimum over coefficients that are not negative."""
        moments = self.moments
        assert isinstance(moments, Scatter)
        problem = NonNegativeElasticNet.of(moments)
        penalty = np.broadcast_to(self.alpha, len(moments.x_mean)) / moments.weight
        problem = replace(problem, Q=problem.Q + np.diag(penalty))
        coef = problem.solve(0.0, 0.0, np.zeros(0), 0.0, 1).coef
        fitted = float(coef @ moments.xx @ coef)
        residual = moments.yy - 2 * float(coef @ moments.xy) + fitted
        return replace(self, coef=coef, residual=max(residual, 0.0))

    @property
    def intercept(self) -> float:
        return self.moments.y_mean - float(self.moments.x_mean @ self.coef)


class LinearPredictor(Regressor, Learner):
    """Predictions and explanations of a linear fit, from its `coef_` and `intercept_`."""

    _parameter_docs: ClassVar[str] = """
    standardize : bool
        Whether the penalty is on coefficients per standard deviation of their columns, so that
        units do not matter; `coef_` is in the units of the columns either way.
    positive : bool
        Whether coefficients may not be negative.
    tol : float
        Stop at a duality gap of tol · Σw(y-ȳ)² / Σw.
    solver : {"auto", "gram", "columns"}
        "gram": coordinate descent on XᵀX from one pass over the rows. "columns": on the columns of
        an array in memory, with working sets and safe screening. "auto" is "gram" up to 1000
        columns, for rows that are not in memory, and where rows are many more than columns.
    """

    _attribute_docs: ClassVar[str] = """
    coef_ : ndarray of shape (n_design_columns,) or (n_targets, n_design_columns)
        The coefficients of the design columns; a row per target where y has several columns.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept, 0 without one.
    """

    _takes_sparse: ClassVar[bool] = True

    fit_intercept: bool
    coef_: np.ndarray
    intercept_: float
    effective_degrees_: float
    statistic_: Any

    @property
    def _at(self) -> np.ndarray:
        """The means of the design columns, where explanations start."""
        return self.statistic_.x_mean

    def predict(self, X: Data) -> Any:
        """The fitted values, intercept + X·coef."""
        return self._apply(partial(_fitted_values, self), X)

    def _operations(self) -> list[Operation]:
        constants = {
            "coef": [self.coef_.tolist()],
            "intercept": [float(self.intercept_)],
        }
        return [("linear", constants)]

    def explain(self, X: Data) -> Explanation:
        """What every column adds to a prediction: coef · (x - mean), from the prediction at the
        mean.

        The design columns of a category are added up.
        """
        check_is_fitted(self)
        refuse_several_targets(self, "explain")
        return self._explain(X, partial(_contributions, self), self.schema_.target_name)

    def _nonzero_table(self) -> Table:
        """The coefficients that are not zero, largest first, after the intercept."""
        on = np.flatnonzero(self.coef_)
        sizes = np.abs(self.coef_[on])
        order = on[np.argsort(-sizes)]
        names = self.design_names
        rows = [(names[j], float(self.coef_[j])) for j in order]
        if self.fit_intercept:
            rows = [("(intercept)", float(self.intercept_)), *rows]
        return Table("Coefficients that are not zero", ("column", "coefficient"), rows)

    def _n_parameters(self) -> float:
        """The effective degrees of freedom, and the variance of the errors."""
        if np.isnan(self.effective_degrees_):
            raise SettingError(
                f"{type(self).__name__} uses over 1,000 columns: their effective number was not"
                " computed"
            )
        return self.effective_degrees_ + 1.0

    def _in_type_of_rows(self) -> tuple[str, ...]:
        return ("coef_", "intercept_")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (*np.shape(self.coef_)[:-1], len(self.design_names))}


class LeastSquares(LinearPredictor, OnePassLearner):
    """The base of least-squares learners: a subclass defines `_set_results(fit)` and may have
    `alpha`."""

    _parameter_constraints: ClassVar[dict] = {
        "fit_intercept": ["boolean"],
        "positive": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    positive: bool

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from all rows in one pass, and two more if the normal equations lose too many
        digits.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,) or (n_samples, n_targets), if not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        if has_several_targets(y):
            return self._fit_targets(X, y, sample_weight)
        rows = self._rows(X, y, sample_weight)
        self.statistic_ = first_pass(rows, self._statistic_for(rows))
        fit = self._fit_of(self.statistic_)
        self._set_results(self._refine(fit, without_checks(rows)))
        if len(fit.factor.dependent) and not self.positive:
            warn_dependent(
                self,
                self.design_names,
                fit.factor,
                n_rows=self.statistic_.n_rows,
                taken=self._solution_text,
            )
        return self

    def _fit_targets(self, X: Data, y: Target, sample_weight: Weights) -> Any:
        """One model per column of y."""
        return fit_each_target(self, X, y, sample_weight)

    def partial_fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from more rows: the result is that of one `fit` on all rows seen, without its
        second look.

        More rows may still part dependent columns, so `rank_` and `summary()` show them, not a
        warning.
        """
        return super().partial_fit(X, y, sample_weight)

    @property
    def _solution_text(self) -> str:
        """Which solution is taken of many."""
        return "of least norm"

    def _statistic(self) -> Callable[[Block], Scatter | RowScatter]:
        few = isinstance(getattr(self, "statistic_", None), RowScatter)
        return partial(RowScatter.of if few else Scatter.of, target=True)

    def _statistic_for(self, rows: Rows) -> Callable[[Block], Scatter | RowScatter]:
        """The rows themselves where they are fewer than many columns, else the products of all
        columns."""
        few = is_wide(rows) and self._is_closed and not self.positive
        return partial(RowScatter.of if few else Scatter.of, target=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _refine(self, fit: Fit, rows: Rows) -> Fit:
        """The fit after a second look at the rows, if it needs one."""
        if fit.lost_digits and not self.positive:
            return fit.refine(rows, self.fit_intercept)
        return fit

    def _finish(self, statistic: Scatter | RowScatter) -> None:
        self._set_results(self._fit_of(statistic))

    @property
    def _is_closed(self) -> bool:
        """Whether the normal equations are solved, and no other rule follows."""
        return getattr(self, "solver", "normal") == "normal"

    def _fit_of(self, statistic: Scatter | RowScatter) -> Fit:
        moments = statistic if self.fit_intercept else statistic.about_origin()
        fit = Fit.of(moments, self._penalty(statistic))
        return fit.nonnegative() if self.positive else fit

    def _penalty(self, statistic: Scatter | RowScatter) -> float | np.ndarray:
        """The penalty of all columns, or of each."""
        return 0.0

    def _set_results(self, fit: Fit) -> None:
        self.coef_ = fit.coef
        self.intercept_ = np.float64(fit.intercept) if self.fit_intercept else 0.0
        self.residual_sum_ = fit.residual
        self.rank_ = fit.rank


def _floor(moments: Scatter | RowScatter) -> np.ndarray:
    """A column whose spread is that of rounding its mean is constant."""
    return moments.weight * (4 * _EPS * moments.x_mean) ** 2


def _fitted_values(learner: LinearPredictor, block: Block) -> np.ndarray:
    return block.X @ learner.coef_.T + learner.intercept_


def _contributions(learner: LinearPredictor, block: Block) -> np.ndarray:
    """The fitted value, the base, and what every column adds."""
    at_mean = learner.intercept_ + float(learner._at @ learner.coef_)
    base = np.full(len(block), at_mean)
    added = (block.dense - learner._at) * learner.coef_
    return np.column_stack([_fitted_values(learner, block), base, added])


def _eigenvectors_of_rows(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Λ and U of FFᵀ = U Λ Uᵀ, without the directions that are rounding."""
    values, U = eigh(F @ F.T, check_finite=False)
    rounding = 64 * _EPS * np.sqrt(len(values)) * values.max(initial=0.0)
    is_real = values > rounding
    return values[is_real], U[:, is_real]


def _few_rows_factor(
    spread: np.ndarray,
    live: np.ndarray,
    root: np.ndarray,
    values: np.ndarray,
    is_plain: bool,
) -> PositiveFactor:
    """The factor of XᵀWX + alpha I by its root; without a penalty (`is_plain`) the columns lie
    partly outside of the space of the rows."""
    zeros = np.zeros_like(spread)
    scale = np.divide(1.0, np.sqrt(spread), out=zeros, where=live)
    loads = np.zeros(len(spread))
    rank = len(spread)
    if is_plain:
        # Σ_k V_jk²: the squared length of column j's unit vector within the space of the rows
        inside = np.einsum("ij,j,ij->i", root, values, root)
        outside = np.sqrt(np.maximum(1.0 - inside, 0.0))
        loads = np.where(live, outside, 1.0)
        rank = len(values)
    smallest = float(values.min() / values.max()) if len(values) else 1.0
    return PositiveFactor(
        scale,
        None,
        root=root,
        loads=loads,
        rank=rank,
        smallest=smallest,
    )


def warn_dependent(
    learner: Estimator,
    names: Sequence[str],
    factor: PositiveFactor,
    n_rows: int,
    taken: str = "of least norm",
) -> None:
    """Say which columns depend on each other, and what was done about it."""
    constant = np.flatnonzero(factor.scale == 0)
    tied = np.setdiff1d(factor.dependent, constant)
    parts = []
    if len(tied) and len(tied) >= n_rows - 1:
        parts.append(
            f"{n_rows} rows cannot determine the coefficients of {len(tied)} columns"
        )
    elif len(tied):
        parts.append(
            f"columns {_list_names(names, tied)} depend linearly on each other"
        )
    if len(constant):
        many = len(constant) > 1
        listed = _list_names(names, constant)
        parts.append(
            f"columns {listed} never vary" if many else f"column {listed} never varies"
        )
    warnings.warn(
        f"{type(learner).__name__}: {'; '.join(parts)} (rank {factor.rank} of {len(names)}). The"
        f" solution {taken} was taken: predictions hold, single coefficients of these columns mean"
        " nothing",
        np.exceptions.RankWarning,
        stacklevel=3,
    )


def _list_names(names: Sequence[str], indices: np.ndarray, most: int = 6) -> str:
    first = [repr(str(names[j])) for j in indices[:most]]
    shown = ", ".join(first)
    return shown + (f" and {len(indices) - most} more" if len(indices) > most else "")

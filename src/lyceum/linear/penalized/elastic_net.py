"""The elastic net, least squares with a penalty on absolute values and squares of the coefficients,
and the lasso, with one on absolute values alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES, OnePassLearner
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.solvers import RoundObserver, Solution
from lyceum._core.statistics import Scatter
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Estimator, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.linear.least_squares.base import LinearPredictor
from lyceum.linear.penalized.centered_problem import CenteredProblem
from lyceum.linear.row_passes import first_pass
from lyceum.linear.several_targets import (
    fit_each_target,
    has_several_targets,
    n_targets,
    refuse_several_targets,
)
from lyceum.report import Summary

# settings of scikit-learn's coordinate descent
COORDINATE_SETTINGS = {
    "precompute": "the Gram matrix is computed where it is the quicker",
    "selection": "coordinates are taken in a fixed order, up to the same duality gap",
}
_NARROW = 1000  # columns up to which the Gram matrix is always the quicker


class ElasticNet(LinearPredictor, OnePassLearner):
    """Linear regression with an elastic-net penalty, solved up to a duality gap.

    The coefficients minimize

        1/(2 Σw) Σ w_i (y_i - b₀ - x_i·b)² + alpha · l1_ratio · Σ|b_j| + alpha · (1 - l1_ratio)/2 ·
        Σ b_j²

    with the intercept b₀ free. This is scikit-learn's objective: a mean over the rows, so that
    alpha does not depend on their number. (`Ridge` has a sum there: its alpha is Σw times the alpha
    here at l1_ratio=0.) The penalty depends on the units of the columns, unless `standardize` is
    set.

    `dual_gap_` certifies the solution: the objective is at most that far above its minimum.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty; from max|Σw(x-x̄)(y-ȳ)| / (Σw · l1_ratio) on, every coefficient is zero.
    l1_ratio : float in [0, 1], default=0.5
        The share of the absolute values in the penalty; 0 is ridge regression, in closed form.
    solver : {"auto", "gram", "columns"}, default="auto"
        "gram": coordinate descent on XᵀX from one pass over the rows, wherever they are. "columns":
        on the columns of an array in memory, dense or sparse, with working sets and safe screening.
        "auto" is "gram" up to 1000 columns, for rows that are not in memory, and where rows are
        many more than columns.

    Attributes
    ----------
    effective_degrees_ : float
        1 for the intercept, and the trace of X (XᵀWX + Σw alpha (1 - l1_ratio) I)⁻¹ XᵀW over the
        columns whose coefficients are not zero; NaN for over 1,000 of them.

    See Also
    --------
    ElasticNetCV : The penalty chosen by cross-validation.
    Lasso : l1_ratio=1.
    Ridge : Only squared coefficients in the penalty.
    elastic_net_path : The whole regularization path.

    References
    ----------
    Zou and Hastie (2005), Regularization and variable selection via the elastic net, JRSS B 67.

    Examples
    --------
    >>> from lyceum.linear import ElasticNet
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0]
    >>> model = ElasticNet(alpha=0.5, l1_ratio=0.5).fit(X, y)
    >>> model.coef_.tolist(), model.intercept_, model.dual_gap_ < 1e-12
    ([1.5], 0.75, True)

    """

    _attribute_docs: ClassVar[str] = """
    sparse_coef_ : sparse array of shape (1, n_design_columns) or (n_targets, n_design_columns)
        The coefficients.
    dual_gap_ : float
        In the units of the objective above, which is at most this far above its minimum.
    objective_ : float
        The objective at the solution.
    n_iter_ : int
        The number of iterations (passes over the rows or epochs).
    converged_ : bool
        Whether the tolerance was reached.
    history_ : list of float
        The duality gap after every round of coordinate descent: up to 40 epochs on a Gram matrix,
        all that the chosen columns need on columns in memory.
    record_ : list of dict
        With `record=True`: step (epochs so far), coef, intercept, objective and dual_gap at the
        start (its gap not looked at) and after every round.
    r2_ : float
        The share of the variance of y explained on the rows of `fit`.
    statistic_ : Scatter
        With "gram": another alpha needs no further pass.
    mean_ : ndarray of shape (n_design_columns,)
        The means of the design columns, from which explanations start.
    """

    _coding = "one_hot"
    _needs_scaling = True
    _step_kind = StepKind(
        "epoch",
        (
            StepColumn(
                "coef",
                "b",
                "the column by column minimum, soft threshold of Σ w x r at αρ",
                axes=("column",),
                ends_in="coef_",
            ),
            StepColumn("intercept", "b₀", "mean of y − b·x", ends_in="intercept_"),
            StepColumn(
                "objective", "F", "½ Σ w r² / Σ w + α (ρ Σ |b| + ½ (1 − ρ) Σ b²)"
            ),
            StepColumn("dual_gap", "gap", "F − its dual bound", ends_in="dual_gap_"),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "fit_intercept": ["boolean"],
        "standardize": ["boolean"],
        "solver": [StrOptions({"auto", "gram", "columns"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "precompute": ["boolean", StrOptions({"auto"}), "array-like"],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "selection": [StrOptions({"cyclic", "random"})],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    _without_effect: ClassVar[dict[str, str]] = COORDINATE_SETTINGS | {
        "random_state": "coordinates are taken in a fixed order"
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 10_000,
        copy_X: bool = True,
        tol: float = 1e-5,
        warm_start: bool = False,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
        standardize: bool = False,
        solver: str = "auto",
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.standardize = standardize
        self.solver = solver
        self.record = record
        self.categorical_features = categorical_features

    @property
    def _share(self) -> float:
        return float(self.l1_ratio)

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        check_input: bool = True,
    ):
        """Learn from all rows of X: one pass for "gram", a copy in memory for "columns".

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,) or (n_samples, n_targets), if not in the scan
        sample_weight : array of shape (n_samples,), optional
        check_input : as in scikit-learn
            Without effect: rows are always checked.
        """
        if not self.alpha:
            warnings.warn(
                "With alpha=0, this algorithm does not converge well. You are advised to use the"
                " LinearRegression estimator",
                UserWarning,
                stacklevel=3,
            )
        if has_several_targets(y):
            flat = n_targets(y) == 1  # as scikit-learn's
            fit_each_target(self, X, y, sample_weight)
            self.coef_ = self.coef_[0] if flat else self.coef_
            return self
        rows = self._rows(X, y, sample_weight)
        self._set_results(self._centered_problem(rows))
        return self

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix."""
        return sparse.csr_array(np.atleast_2d(self.coef_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def partial_fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from more rows: the result is that of one `fit` with solver="gram" on all rows
        seen."""
        if hasattr(self, "coef_") and not hasattr(self, "statistic_"):
            raise DataError(
                f"{type(self).__name__} was fitted on columns and kept no statistic to go on from: "
                'fit with solver="gram"'
            )
        return super().partial_fit(X, y, sample_weight)

    def _statistic(self) -> Callable[[Block], Scatter]:
        return partial(Scatter.of, target=True)

    def _finish(self, statistic: Scatter) -> None:
        setting = (self.fit_intercept, self.standardize)
        centered = CenteredProblem.of_moments(statistic, *setting)
        self._set_results(centered.nonnegative() if self.positive else centered)

    def _centered_problem(self, rows: Rows) -> CenteredProblem:
        setting = (self.fit_intercept, self.standardize)
        sparsifies = self._share > 0 and self.alpha > 0 and not self.positive
        if on_columns(rows, self.solver, sparsifies):
            self.__dict__.pop("statistic_", None)
            return CenteredProblem.of_rows(rows, *setting)
        self.statistic_ = first_pass(rows, self._statistic())
        centered = CenteredProblem.of_moments(self.statistic_, *setting)
        return centered.nonnegative() if self.positive else centered

    def _set_results(self, centered: CenteredProblem) -> None:
        problem = centered.problem
        d = len(centered.x_mean)
        # the problem is per unit of weight: ½ |y - Xb|² / Σw + l1 |b|₁ + l2/2 |b|²
        l1 = self.alpha * self._share
        l2 = self.alpha * (1 - self._share)
        start = np.zeros(d)
        if self.warm_start and hasattr(self, "coef_") and len(self.coef_) == d:
            start = centered.from_units(self.coef_)
        self.__dict__.pop("record_", None)
        observer = self._recorder(centered, l1, l2, start) if self.record else None
        tol = self.tol * problem.yy
        solution = problem.solve(l1, l2, start, tol, self.max_iter, observer)
        coef = solution.coef
        self.coef_ = centered.in_units(coef)
        self.intercept_ = centered.intercept(coef) if self.fit_intercept else 0.0
        self.mean_ = centered.column_means
        squares = problem.squares(coef)
        self.objective_ = penalized_squares(squares, coef, l1, l2)
        self.r2_ = 1.0 - squares / problem.yy if problem.yy > 0 else np.nan
        degrees = centered.effective_degrees(coef, l1, l2)
        self.effective_degrees_ = self.fit_intercept + degrees
        self.dual_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        self.history_ = list(solution.history)
        warn_unsolved(self, solution, tol, self.max_iter)

    def _recorder(
        self,
        centered: CenteredProblem,
        l1: float,
        l2: float,
        start: np.ndarray,
    ) -> RoundObserver:
        self.record_: list[dict] = []

        def observer(coef: np.ndarray, gap: float, epochs: int) -> None:
            intercept = centered.intercept(coef) if self.fit_intercept else 0.0
            squares = centered.problem.squares(coef)
            self.record_.append(
                {
                    "step": epochs,
                    "coef": centered.in_units(coef.copy()),
                    "intercept": intercept,
                    "objective": penalized_squares(squares, coef, l1, l2),
                    "dual_gap": gap,
                }
            )

        observer(start, np.nan, 0)
        return observer

    @property
    def _at(self) -> np.ndarray:
        return self.mean_

    def summary(self) -> Summary:
        """The coefficients that are not zero, and how close to the optimum they are."""
        check_is_fitted(self)
        refuse_several_targets(self, "summary")
        facts = {
            "rows": self.n_rows_,
            "alpha": float(self.alpha),
            "l1 ratio": self._share,
            "R²": self.r2_,
            "coefficients not zero": f"{np.count_nonzero(self.coef_)} of {len(self.coef_)}",
            "effective degrees of freedom": self.effective_degrees_,
            "objective": self.objective_,
            "duality gap": self.dual_gap_,
            "epochs": f"{self.n_iter_}{'' if self.converged_ else ', not converged'}",
        }
        return Summary(self._title(), facts, [self._nonzero_table()])

    history_axes: ClassVar[tuple[str, str]] = ("round", "duality gap")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        if np.ndim(self.intercept_):  # of several targets
            return {"coef_": (*np.shape(self.coef_)[:-1], d)}
        return {"coef_": (d,), "mean_": (d,)}


def penalized_squares(squares: float, coef: np.ndarray, l1: float, l2: float) -> float:
    """The objective of the elastic net."""
    absolute = l1 * np.abs(coef).sum()
    return float(squares / 2 + absolute + l2 / 2 * (coef @ coef))


def on_columns(rows: Rows, solver: str, sparsifies: bool) -> bool:
    """Whether to work on columns in memory instead of on a Gram matrix."""
    if solver == "columns":
        if not rows.in_memory:
            raise SettingError(
                'solver="columns" needs rows in memory: give an array, or take solver="gram"'
            )
        if not sparsifies:
            raise SettingError(
                'solver="columns" needs an l1 penalty: take solver="gram" without one'
            )
        return True
    # XᵀX costs n d² once; columns cost n per coordinate, and few of many are ever in use
    d = len(rows.schema)
    n = rows.n_rows
    return (
        solver == "auto"
        and rows.in_memory
        and sparsifies
        and d > _NARROW
        and n is not None
        and n < 10 * d
    )


def warn_unsolved(
    learner: Estimator,
    solution: Solution,
    tol: float,
    max_iter: int,
) -> None:
    if not solution.converged:
        warnings.warn(
            "Objective did not converge. You might want to increase the number of iterations:"
            f" {type(learner).__name__} stopped after max_iter={max_iter} epochs with a duality gap"
            f" of {solution.gap:.1e} > {tol:.1e}: raise max_iter, alpha or tol",
            ConvergenceWarning,
            stacklevel=4,
        )


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
    effective_degrees_ : float
        1 for the intercept, and the number of coefficients that are not zero.

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
        precompute: Any = False,
        max_iter: int = 10_000,
        copy_X: bool = True,
        tol: float = 1e-5,
        warm_start: bool = False,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
        standardize: bool = False,
        solver: str = "auto",
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.standardize = standardize
        self.solver = solver
        self.record = record
        self.categorical_features = categorical_features

    @property
    def _share(self) -> float:
        return 1.0

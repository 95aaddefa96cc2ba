"""Lasso and elastic net with the penalty chosen by cross-validation."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.constraints import Interval
from lyceum._core.solvers import Solution
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError, number_setting
from lyceum.linear.penalized.centered_problem import CenteredProblem
from lyceum.linear.penalized.elastic_net import (
    COORDINATE_SETTINGS,
    ElasticNet,
    on_columns,
    penalized_squares,
    warn_unsolved,
)
from lyceum.linear.penalized.penalty_cv import (
    CV_CONSTRAINTS,
    PenaltyCV,
    by_columns,
    by_moments,
    scatters,
)
from lyceum.linear.penalized.regularization_path import follow, grid
from lyceum.linear.row_passes import without_checks


class ElasticNetCV(PenaltyCV):
    """Elastic net with alpha, and the l1 ratio if there are several, chosen by cross-validation.

    The objective is that of `ElasticNet`. One pass sums the centered products of [X y] in every
    fold; what a fold's solutions are fitted on is the merged statistic of the others, and their
    error is read off its own, so that any number of penalties costs one pass. (With "columns" every
    fold is a path on columns in memory.)

    Parameters
    ----------
    l1_ratio : float or list of float in [0, 1], default=0.5
        The share of the absolute values in the penalty; of several, the best is chosen.
    alphas : int or array-like, default=100
        The penalties, or how many there are between the least at which every coefficient is zero,
        over all rows, and `eps` times that.
    choice : {"best", "one_standard_error"}, default="best"
        Take the alpha of the least mean error, or the largest whose error is within one standard
        error of it.
    solver : {"auto", "gram", "columns"}, default="auto"
        As in `ElasticNet`.

    Attributes
    ----------
    effective_degrees_ : float
        As in `ElasticNet`.

    See Also
    --------
    ElasticNet : The same model at a given penalty.
    LassoCV : l1_ratio=1.

    References
    ----------
    Zou and Hastie (2005), Regularization and variable selection via the elastic net, JRSS B 67.
    Friedman, Hastie and Tibshirani (2010), Regularization paths for generalized linear models via
    coordinate descent, Journal of Statistical Software 33.

    Examples
    --------
    >>> from lyceum.linear import ElasticNetCV
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, 2 * X[:, 0] + X[:, 1])
    >>> model.l1_ratio_, model.coef_.round(1).tolist()
    (1.0, [2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    """

    _attribute_docs: ClassVar[str] = """
    alpha_, l1_ratio_ : float
        The chosen penalty.
    alphas_ : ndarray of shape (n_alphas,)
        At the chosen l1 ratio, falling.
    mse_path_ : ndarray of shape (n_alphas, cv)
        Mean squared errors on left-out folds at the chosen l1 ratio.
    dual_gap_ : float
        The duality gap at the solution: the objective is at most this far above its minimum.
    n_iter_ : int
        Epochs at the chosen penalty.
    history_ : list of float
        The duality gap after every round at the chosen penalty.
    record_ : list of dict
        With `record=True`: step, alpha, coef, intercept, objective, dual_gap and epochs at every
        penalty from the largest down to the chosen one.
    r2_ : float
        The share of the variance of y explained on the rows of `fit`.
    seed_ : int
        The seed of the folds.
    mean_ : ndarray of shape (n_design_columns,)
        The means of the design columns, from which explanations start.
    """

    _coding = "one_hot"
    history_axes: ClassVar[tuple[str, str]] = ("round", "duality gap")
    _step_kind = StepKind(
        "penalty",
        (
            StepColumn(
                "alpha",
                "α",
                "from the largest down to the chosen one",
                ends_in="alpha_",
            ),
            StepColumn(
                "coef", "b", "the optimum at α", axes=("column",), ends_in="coef_"
            ),
            StepColumn("intercept", "b₀", "mean of y − b·x", ends_in="intercept_"),
            StepColumn(
                "objective", "F", "½ Σ w r² / Σ w + α (ρ Σ |b| + ½ (1 − ρ) Σ b²)"
            ),
            StepColumn("dual_gap", "gap", "F − its dual bound", ends_in="dual_gap_"),
            StepColumn("epochs", "epochs", "passes over the columns", unit="epochs"),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), "array-like"],
        "eps": [Interval(Real, 0, 1, closed="right")],
        **{
            name: ElasticNet._parameter_constraints[name]
            for name in (
                *("solver", "tol", "max_iter", "record"),
                *("precompute", "positive", "selection"),
            )
        },
        **CV_CONSTRAINTS,
    }

    _without_effect: ClassVar[dict[str, str]] = COORDINATE_SETTINGS

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: ArrayLike = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 10_000,
        tol: float = 1e-5,
        cv: Any = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
        choice: str = "best",
        standardize: bool = False,
        solver: str = "auto",
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.choice = choice
        self.standardize = standardize
        self.solver = solver
        self.record = record
        self.categorical_features = categorical_features

    @property
    def _ratios(self) -> np.ndarray:
        ratios = np.atleast_1d(number_setting("l1_ratio", self.l1_ratio))
        if not len(ratios) or not ((ratios >= 0) & (ratios <= 1)).all():
            raise SettingError(f"l1_ratio={self.l1_ratio!r}: give numbers from 0 to 1")
        return ratios

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn the penalty and the coefficients; one pass over the rows, or one path per fold on
        columns.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        ratios = self._ratios
        rows, factors = self._unit_columns(rows)
        split = self._folds(rows)
        # the problem of all rows: it says which penalties are tried in the folds
        if on_columns(rows, self.solver, not self.positive):
            all_rows = CenteredProblem.of_rows(rows, self.fit_intercept)
            errors_of = partial(by_columns, without_checks(rows), split)
        else:
            folds = scatters(split, rows)
            all_rows = CenteredProblem.of_moments(folds.total, self.fit_intercept)
            errors_of = partial(by_moments, folds)
        if self.positive:
            all_rows = all_rows.nonnegative()
        grids = [
            grid(all_rows.problem, ratio, self.alphas, self.eps) for ratio in ratios
        ]
        fitters = [
            partial(self._coefs, alphas, ratio) for alphas, ratio in zip(grids, ratios)
        ]
        errors = errors_of(self.fit_intercept, fitters)
        ratio, alpha = self._choose(errors)
        self.l1_ratio_ = float(ratios[ratio])
        self.alphas_ = grids[ratio]
        self.mse_path_ = errors[ratio]
        self._finish(all_rows, grids[ratio][: alpha + 1], factors)
        return self

    def _coefs(
        self,
        alphas: np.ndarray,
        l1_ratio: float,
        centered: CenteredProblem,
    ) -> np.ndarray:
        if self.positive:
            centered = centered.nonnegative()
        solutions = follow(centered.problem, alphas, l1_ratio, self.tol, self.max_iter)
        return np.array([solution.coef for solution in solutions])

    def _finish(
        self,
        all_rows: CenteredProblem,
        alphas: np.ndarray,
        factors: np.ndarray | float,
    ) -> None:
        # down the path to the chosen penalty, each begun where the last ended
        path = follow(all_rows.problem, alphas, self.l1_ratio_, self.tol, self.max_iter)
        solution = path[-1]
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_ = [
                {"step": k, **self._step(all_rows, float(alpha), step, factors)}
                for k, (alpha, step) in enumerate(zip(alphas, path))
            ]
        self.alpha_ = float(alphas[-1])
        self.coef_ = solution.coef * factors
        self.history_ = list(solution.history)
        self.intercept_ = 0.0
        if self.fit_intercept:
            self.intercept_ = all_rows.intercept(solution.coef)
        self.mean_ = all_rows.x_mean / factors
        self.dual_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        yy = all_rows.problem.yy
        self.r2_ = np.nan
        if yy > 0:
            self.r2_ = 1.0 - all_rows.problem.squares(solution.coef) / yy
        l1 = self.alpha_ * self.l1_ratio_
        l2 = self.alpha_ * (1.0 - self.l1_ratio_)
        degrees = all_rows.effective_degrees(solution.coef, l1, l2)
        self.effective_degrees_ = self.fit_intercept + degrees
        warn_unsolved(self, solution, self.tol * yy, self.max_iter)

    def _step(
        self,
        all_rows: CenteredProblem,
        alpha: float,
        solution: Solution,
        factors: np.ndarray | float,
    ) -> dict[str, Any]:
        coef = solution.coef
        l1 = alpha * self.l1_ratio_
        l2 = alpha * (1.0 - self.l1_ratio_)
        squares = all_rows.problem.squares(coef)
        return {
            "alpha": alpha,
            "coef": coef * factors,
            "intercept": all_rows.intercept(coef) if self.fit_intercept else 0.0,
            "objective": penalized_squares(squares, coef, l1, l2),
            "dual_gap": solution.gap,
            "epochs": solution.n_iter,
        }

    def _facts(self) -> dict[str, Any]:
        return {"l1 ratio": self.l1_ratio_, "duality gap": self.dual_gap_}


class LassoCV(ElasticNetCV):
    """Lasso with alpha chosen by cross-validation: `ElasticNetCV` at l1_ratio=1.

    Ten folds at a hundred penalties cost about one pass over the rows.

    Parameters
    ----------
    alphas : int or array-like, default=100
        The penalties, or how many of them, spread geometrically from the smallest one at which
        every coefficient is zero (over all rows) down to `eps` times that.

    Attributes
    ----------
    effective_degrees_ : float
        1 for the intercept, and the number of coefficients that are not zero.

    See Also
    --------
    Lasso : The same model at a given penalty.
    ElasticNetCV : With the l1 ratio chosen, too.
    RidgeCV : Ridge regression with its penalty chosen.

    References
    ----------
    Tibshirani (1996), Regression shrinkage and selection via the lasso, JRSS B 58. Friedman, Hastie
    and Tibshirani (2010), Regularization paths for generalized linear models via coordinate
    descent, Journal of Statistical Software 33.

    Examples
    --------
    >>> from lyceum.linear import LassoCV
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> y = X[:, 3] - X[:, 7] + rng.normal(size=300)
    >>> model = LassoCV(choice="one_standard_error").fit(X, y)
    >>> np.flatnonzero(model.coef_).tolist()
    [3, 7]

    """

    _parameter_constraints: ClassVar[dict] = {
        name: allowed
        for name, allowed in ElasticNetCV._parameter_constraints.items()
        if name != "l1_ratio"
    }

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: ArrayLike = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 10_000,
        tol: float = 1e-5,
        cv: Any = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        selection: str = "cyclic",
        choice: str = "best",
        standardize: bool = False,
        solver: str = "auto",
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.choice = choice
        self.standardize = standardize
        self.solver = solver
        self.record = record
        self.categorical_features = categorical_features

    @property
    def _ratios(self) -> np.ndarray:
        return np.ones(1)

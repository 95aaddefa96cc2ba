"""Logistic regression for two classes, softmax regression for more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES, PosteriorClassifier
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.probability import class_weight_factors
from lyceum._core.solvers import Outcome, Point
from lyceum._core.statistics import seed_from
from lyceum.linear.linear_scores import linear_scores, score_shapes
from lyceum.linear.logistic.laplace_posterior import LaplacePosterior
from lyceum.linear.logistic.log_loss import ClassSpread, LogLoss
from lyceum.linear.logistic.log_loss_minimum import (
    SMALL,
    SOLVERS,
    free_parameters,
    minimize,
    starting_point,
)
from lyceum.linear.logistic.posterior_predictive import PREDICTIVES
from lyceum.linear.logistic.recursive import RecursiveLogistic
from lyceum.linear.logistic.report import LogisticReport
from lyceum.linear.logistic.separable_bound import alternate
from lyceum.linear.logistic.separation import is_separated
from lyceum.linear.logistic.settings import (
    check_settings,
    column_factor,
    reference_output,
    warn_of_fit,
)
from lyceum.linear.logistic.sigmoid_bound import minimize_bound


class LogisticRegression(PosteriorClassifier, RecursiveLogistic, LaplacePosterior, LogisticReport):
    """Logistic regression (softmax regression for more than two classes) with a penalty.

    With P(k | x) ∝ exp(b₀ₖ + x·bₖ) the parameters minimize

        Σ w_i [-log P(y_i | x_i)] + 1/C [(1 - l1_ratio)/2 Σ b² + l1_ratio Σ|b|],

    the intercepts free. This is scikit-learn's objective: the sum of the log losses, so C weighs
    all rows together against the penalty and doubling every weight acts as doubling C; the cost per
    row -1/m Σ [y log h + (1-y) log(1-h)] is its first part over m. Two classes have one vector b,
    the log-odds of the second class; K > 2 classes have one each, with Σₖ bₖ = 0 at the optimum, or
    with bₖ = 0 for a `reference` class.

    Each iteration is one pass over the rows. All solvers start at the linear discriminant of the
    same rows, found in the first pass together with the column means, about which everything is
    computed; "irls" starts without coefficients where its first step from there is too long.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty; inf for none (maximum likelihood).
    l1_ratio : float in [0, 1], default=0.0
        The share of absolute values in the penalty: 0 is L2, 1 is L1, which makes coefficients
        exactly zero. Above 0 the solver is proximal Newton (coordinate descent on the quadratic
        model of every pass, up to 5000 parameters), standard errors are not computed, and `solver`
        has to be "auto".
    standardize : bool, default=False
        Whether the penalty is on the coefficients of columns divided by their standard deviations,
        so that it does not depend on units; results are given for the columns as they are.
    solver : {"auto", "irls", "levenberg_marquardt", "lbfgs", "conjugate_gradient", "gradient_descent", \
            "bound", "sigmoid_bound", "recursive"}, default="auto"
        "irls": Newton's method (iteratively reweighted least squares) with step halving;
        "levenberg_marquardt": the same, damped by μ diag H instead of halving; "lbfgs": L-BFGS
        preconditioned by class shares ⊗ scatter of the columns (its diagonal from 1024 columns on);
        "conjugate_gradient" with the same preconditioner; "gradient_descent": steps down the plain
        gradient, to teach: it needs columns of like spread and many iterations. "auto" is "irls" up
        to 300 free parameters, else "lbfgs".

        "bound": the separable bound ln u ≤ λu - ln λ - 1 of u = Σ exp zₖ, equal at λ = 1/u. λ of
        every row and one problem per class, Σ y zₖ - λ exp zₖ, take turns: K weighted least
        squares, n·d²·K instead of the n·d²·K² of "irls". The objective falls with every turn; the
        limit is the optimum of the others.

        "sigmoid_bound", for three classes and more: the bound a + Σₖ log(1 + exp(zₖ - a)) at the
        best a (Bouchard, 2007), then one factor on all scores by the log loss itself. n·d·K in most
        passes; its posteriors are near those of the others, not the same: by some hundredths on
        average.

        "recursive": one pass, one row at a time in their order. The weights go to the minimum of
        the row's loss plus the parabola of the rows before, whose inverse Hessian then takes in the
        row by the formula of Sherman and Morrison: K³·d² a row. It ends near the optimum of all
        rows, the nearer the more there are; rows that are sorted by class lead it astray, so
        shuffle them. It needs a finite C, takes the intercepts as N(0, 100) at the first row, and
        `partial_fit` goes on with it. `max_iter` and `tol` do not matter, the log-likelihood is
        that of every row under the weights before it, and standard errors are from the recursion's
        own inverse Hessian.
    reference : label of a class or None, default=None
        Of three classes and more, the one whose coefficients are zero; None: none, they add up to
        zero. Without a penalty the posteriors are the same. With one they differ, as the penalty is
        then on the log-odds against the reference. Two classes always have the first as reference,
        and `coef_` the log-odds of the second, whichever is named.
    max_iter : int, default=100
        Most iterations, each one pass over the rows.
    tol : float, default=1e-6
        Stop when the gradient is this small, free of units: the largest correlation of a column
        with the residuals of a class; smaller where a penalized loss has nearly vanished, and its
        residuals with it.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of the rows of each class; "balanced": total weight / (K · weight of
        the class).
    fit_intercept : bool, default=True
        Whether an intercept is fitted; it is not penalized.
    standard_errors : bool or "auto", default="auto"
        Whether to compute standard errors; "auto": up to 300 free parameters. Above that the
        Hessian costs more than the fit.
    posterior : {"plugin", "probit", "monte_carlo"}, default="plugin"
        How posteriors of classes come from the weights. "plugin": at their mode. The others average
        over the Laplace posterior N(w*, H⁻¹), under the prior N(0, C) if C is finite, and are the
        less sure the farther a row is from those of `fit`: "probit" shrinks a score of variance σ²
        by (1 + πσ²/8)^(-1/2); "monte_carlo" averages over `n_draws` draws. Both need l1_ratio=0 and
        compute the covariance whatever `standard_errors` says.
    n_draws : int, default=200
        Draws of the weights for posterior="monte_carlo".
    random_state : int, RandomState or None, default=None
        The seed of the draws; None draws one in `fit`.
    warm_start : bool, default=False
        Whether `fit` begins at the parameters of the last `fit`.
    record : bool, default=False
        Whether to keep the parameters of every iteration in `record_`.
    n_jobs : int or None, default=None
        Threads at a time; None: as many as the process is set to, -1: one per processor.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns of an array hold categories; each becomes a column per category but the first,
        its reference.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The class labels, sorted.
    coef_ : ndarray of shape (1, n_design_columns) or (K, n_design_columns)
        Log-odds of the second class, or one row per class.
    intercept_ : ndarray of shape (1,) or (K,)
        The intercepts, at x = 0.
    n_iter_ : int
        The number of iterations (passes over the rows or epochs).
    converged_ : bool
        Whether the tolerance was reached.
    separated_ : bool
        Whether the classes are separated, wholly or in part; looked for when C is inf.
    n_undetermined_ : int
        How many coefficients of a class neither the rows nor the penalty determine: those of least
        norm are taken. Not looked for with an L1 penalty or over 1,024 columns.
    standard_errors_, z_, p_ : ndarrays of the shape of `coef_`
        From the inverse of the Hessian at the optimum. With a finite C that is the Laplace
        approximation of the posterior under the prior N(0, C), not the sampling error of an
        unbiased estimate.
    intercept_standard_error_ : ndarray of the shape of `intercept_`
        Standard errors of the intercepts.
    covariance_ : ndarray
        That inverse, of (b₁, b₀₁, b₂, b₀₂, ...): the intercept follows its coefficients.
    posterior_covariance_ : ndarray
        The same with the intercepts taken at the column means: that of the Laplace posterior.
    log_likelihood_, null_log_likelihood_ : float
        At the optimum, and of the class shares alone.
    objective_ : float
        The objective at the solution.
    bound_, bound_scale_ : float
        With solver="sigmoid_bound": the least bound of the objective, and the factor on the scores
        after it.
    seed_ : int
        The seed of the draws.
    recursion_ : dict
        With solver="recursive": what `partial_fit` goes on from.
    history_ : list of float
        The objective at the start and after every iteration; with "sigmoid_bound" the bound; with
        "recursive" the sum of the log losses so far after every call.
    record_ : list of dict
        With `record=True`: step, coef, intercept, objective and gradient (its size as for `tol`);
        with "recursive" coef, intercept and objective after every row.
    mean_ : ndarray of shape (n_design_columns,)
        The means of the design columns, from which explanations start.

    See Also
    --------
    MarginClassifier : Other losses of the margin.
    lyceum.bayes.LinearDiscriminantAnalysis : The same boundaries from Gaussian classes.

    References
    ----------
    Albert and Anderson (1984), On the existence of maximum likelihood estimates in logistic
    regression. Bouchard (2007), Efficient bounds for the softmax function.

    Examples
    --------
    >>> from lyceum.linear import LogisticRegression
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "yes", "no", "yes"])
    >>> model = LogisticRegression(C=np.inf).fit(X, y)
    >>> model.coef_.round(3).tolist(), model.predict_proba([[1.5]]).round(3).tolist()
    ([[0.908]], [[0.5, 0.5]])
    """

    _coding = "reference"
    _takes_sparse: ClassVar[bool] = True
    _needs_scaling = True
    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "standardize": ["boolean"],
        "solver": [StrOptions({"auto", "bound", "sigmoid_bound", "recursive", *SOLVERS})],
        "reference": "no_validation",
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "class_weight": [None, StrOptions({"balanced"}), dict],
        "fit_intercept": ["boolean"],
        "standard_errors": ["boolean", StrOptions({"auto"})],
        "posterior": [StrOptions(set(PREDICTIVES))],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        standardize: bool = False,
        solver: str = "auto",
        reference: Any = None,
        max_iter: int = 100,
        tol: float = 1e-6,
        class_weight: Any = None,
        fit_intercept: bool = True,
        standard_errors: bool | str = "auto",
        posterior: str = "plugin",
        n_draws: int = 200,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        record: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Any = "from_dtype",
    ):
        self.C = C
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.solver = solver
        self.reference = reference
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.standard_errors = standard_errors
        self.posterior = posterior
        self.n_draws = n_draws
        self.random_state = random_state
        self.warm_start = warm_start
        self.record = record
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Learn from the rows of X, one pass per iteration.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        if self.warm_start and hasattr(self, "coef_"):
            last = (self.coef_, self.intercept_)
        else:
            last = None
        rows = self._rows(X, y, sample_weight)
        self._check_settings()
        self.seed_ = seed_from(self.random_state)
        for name in ("bound_", "bound_scale_", "recursion_", "record_"):
            self.__dict__.pop(name, None)
        if self.solver == "recursive":
            return self._recurse(rows, go_on=False)
        spread = ClassSpread.of(rows, len(self.classes_))
        weights = self._class_factors(spread.weight)
        self._class_weight = spread.weight * (1.0 if weights is None else weights)
        penalty = (1 - self.l1_ratio) / self.C
        problem = LogLoss.over(
            rows, spread, penalty, self.fit_intercept, weights, self._reference, self.standardize
        )
        self.mean_ = spread.mean
        if len(self.classes_) == 1:
            self._fit_one_class()
        else:
            if last is not None and problem.factors is not None:
                last = (last[0] / problem.factors, last[1])
            self._finish(problem, self._minimum(problem, last))
        return self

    @property
    def _l1(self) -> float:
        return float(self.l1_ratio) / self.C

    @property
    def _reference(self) -> int | None:
        return reference_output(self.reference, self.classes_.tolist())

    def _check_settings(self) -> None:
        check_settings(self)

    def _minimum(self, problem: LogLoss, last: tuple[np.ndarray, np.ndarray] | None) -> Outcome:
        if self.record:
            self.record_: list[dict] = []
        if self.record:
            observer = partial(self._record_point, problem)
        else:
            observer = None
        if self.solver == "bound":
            start = starting_point(problem, last, False)
            return alternate(problem, start.theta, self.max_iter, self.tol, observer)
        if self.solver == "sigmoid_bound":
            start = starting_point(problem, last, False)
            outcome, self.bound_scale_ = minimize_bound(
                problem, start.theta, self.max_iter, self.tol, observer
            )
            self.bound_ = outcome.history[-1]
            return outcome
        return minimize(problem, self.solver, self._l1, self.max_iter, self.tol, last, observer)

    def _class_factors(self, weight: np.ndarray | None) -> np.ndarray | None:
        return class_weight_factors(self.class_weight, self.classes_.tolist(), weight)

    def _record_point(self, problem: LogLoss, point: Point) -> None:
        coef, intercept = problem.weights_at_zero(point.theta)
        self.record_.append(
            {
                "step": len(self.record_),
                "coef": coef,
                "intercept": intercept,
                "objective": point.value,
                "gradient": problem.size(point.gradient),
            }
        )

    def _fit_one_class(self) -> None:
        """With one class there is nothing to tell apart: it has probability 1."""
        self.coef_ = np.zeros((1, len(self.design_names)))
        self.intercept_ = np.zeros(1)
        self.n_iter_ = 1
        self.converged_ = True
        self.separated_ = False
        self.n_undetermined_ = 0
        self.objective_ = self.log_likelihood_ = self.null_log_likelihood_ = 0.0
        self.history_ = [0.0]
        if self.record:
            self.record_ = []
        self._forget_standard_errors()

    def _finish(self, problem: LogLoss, outcome: Outcome) -> None:
        point = outcome.point
        self.coef_, self.intercept_ = problem.weights_at_zero(point.theta)
        self.n_iter_ = outcome.n_iter
        self.converged_ = outcome.converged
        self.history_ = list(outcome.history)
        self.objective_ = point.value
        b = point.theta[:, :-1]
        penalty = 0.5 * problem.penalty * (b**2).sum() + self._l1 * np.abs(b).sum()
        self.log_likelihood_ = -(point.value - float(penalty))
        self.null_log_likelihood_ = -problem.null_value
        self._forget_standard_errors()
        if self._wants_standard_errors(free_parameters(problem)):
            if point.hessian is None:
                point = problem.evaluate(point.theta, hessian=True)
                outcome = replace(outcome, point=point)
            self._set_standard_errors(*problem.covariance_as_came(point))
        self._warn(problem, outcome)

    def _wants_standard_errors(self, parameters: int) -> bool:
        if self._l1 > 0 or self.solver == "sigmoid_bound":
            return False
        if self.standard_errors == "auto":
            wanted = parameters <= SMALL
        else:
            wanted = bool(self.standard_errors)
        return wanted or self.posterior != "plugin"

    def _warn(self, problem: LogLoss, outcome: Outcome) -> None:
        self.separated_ = bool(np.isinf(self.C)) and is_separated(problem, outcome)
        if self._l1:
            factor = None
        else:
            factor = column_factor(problem)
        if factor is None:
            self.n_undetermined_ = 0
        else:
            self.n_undetermined_ = self.coef_.shape[1] - factor.rank
        warn_of_fit(self, problem, outcome, factor)

    # -- predict -----------------------------------------------------------------------

    def decision_function(self, X: Any) -> Any:
        """The log-odds of the second of two classes, (n,), or the scores of K classes, (n, K)."""
        return self._apply(partial(linear_scores, self), X)

    def _linear_rule(self) -> tuple[np.ndarray, np.ndarray] | None:
        if self.posterior != "plugin" and len(self.classes_) > 1:
            return None
        if len(self.coef_) > 1:
            return np.ascontiguousarray(self.coef_), self.intercept_
        return np.vstack([np.zeros_like(self.coef_), self.coef_]), np.array([0.0, *self.intercept_])

    def _log_joint(self, block: Block) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.zeros((len(block), 1))
        return PREDICTIVES[self.posterior](self, block)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return score_shapes(self)

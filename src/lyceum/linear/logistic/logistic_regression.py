"""Logistic regression for two classes, softmax regression for more."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Learner,
    PosteriorClassifier,
    unchanged_on_failure,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.probability import class_weight_factors
from lyceum._core.solvers import Outcome
from lyceum._core.statistics import seed_from
from lyceum._core.types import Categories, ClassWeight, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.linear.linear_scores import (
    check_same_weights,
    contributions,
    linear_scores,
    score_shapes,
    weights_at,
    weights_at_zero,
)
from lyceum.linear.logistic.bounds import minimize_sigmoid_bound
from lyceum.linear.logistic.given_steps import (
    LOGISTIC_STEPS,
    minimize_by_given_steps,
    record_point,
)
from lyceum.linear.logistic.log_loss import ClassSpread, LogLoss, Penalty
from lyceum.linear.logistic.penalty_settings import THEIR_SOLVERS, PenaltySettings
from lyceum.linear.logistic.posterior import (
    PREDICTIVES,
    GaussianWeights,
    Recursion,
    can_recurse,
    coefficient_tables,
    effective_parameters,
    fit_facts,
    log_odds_table,
    recurse,
    wants_standard_errors,
    z_and_p,
)
from lyceum.linear.logistic.solvers import (
    SOLVERS,
    Start,
    check_settings,
    is_separated,
    minimize,
    starting_point,
    warn_of_fit,
)
from lyceum.report import Explanation, Summary, Table

_ERRORS = (
    "covariance_",
    "posterior_covariance_",
    "standard_errors_",
    "intercept_standard_error_",
    "z_",
    "p_",
)


class LogisticRegression(PenaltySettings, PosteriorClassifier, Learner):
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
    l1_ratio : float in [0, 1] or None, default=0.0
        The share of absolute values in the penalty: 0 is L2, 1 is L1, which makes coefficients
        exactly zero. Above 0 the solver is proximal Newton (coordinate descent on the quadratic
        model of every pass, up to 5000 parameters), standard errors are not computed, and `solver`
        has to be "auto".
    standardize : bool, default=False
        Whether the penalty is on the coefficients of columns divided by their standard deviations,
        so that it does not depend on units; results are given for the columns as they are.
    solver : {"auto", "irls", "levenberg_marquardt", "lbfgs", "conjugate_gradient", \
            "gradient_descent", "bound", "sigmoid_bound", "recursive"}, default="auto"
        "irls": Newton's method (iteratively reweighted least squares) with step halving;
        "levenberg_marquardt": the same, damped by μ diag H instead of halving; "lbfgs": L-BFGS
        preconditioned by class shares ⊗ scatter of the columns (its diagonal from 1024 columns on);
        "conjugate_gradient" with the same preconditioner; "gradient_descent": steps down the plain
        gradient, to teach: it needs columns of like spread and many iterations, and takes a
        `learning_rate`. "auto" is "irls" up to 300 free parameters, else "lbfgs".

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
        with the residuals of a class; smaller where a penalized loss has nearly vanished.
    learning_rate : float or None, default=None
        The η of "gradient_descent" as on paper: b ← b - η ∂J/∂b of the objective per row J, on the
        columns as they are, from `coef_init`. None searches for a good length in every step.
    coef_init : (coef, intercept) or None, default=None
        Where steps of a given length start; None: at 0.
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
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each becomes a column per category but its first.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_design_columns) or (K, n_design_columns)
        Log-odds of the second class, or one row per class.
    intercept_ : ndarray of shape (1,) or (K,)
        The intercepts, at x = 0.
    n_iter_ : ndarray of shape (1,)
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
    _step_kind = LOGISTIC_STEPS
    _parameter_constraints: ClassVar[dict] = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "deprecated"}), None],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean"],
        "solver": [
            StrOptions({"auto", "bound", "sigmoid_bound", "recursive", *SOLVERS}),
            StrOptions(THEIR_SOLVERS),
        ],
        "reference": "no_validation",
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "coef_init": ["array-like", None],
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
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        random_state: int | np.random.RandomState | None = None,
        solver: str = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        standardize: bool = False,
        reference: Any = None,
        learning_rate: float | None = None,
        coef_init: Any = None,
        standard_errors: bool | str = "auto",
        posterior: str = "plugin",
        n_draws: int = 200,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.intercept_scaling = intercept_scaling
        self.standardize = standardize
        self.solver = solver
        self.reference = reference
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.coef_init = coef_init
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

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from the rows of X, one pass per iteration.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        last = None
        if self.warm_start and hasattr(self, "coef_"):
            last = (self.coef_, self.intercept_)
        rows = self._rows(X, y, sample_weight)
        check_settings(self)
        self._warn_of_unused()
        self.seed_ = seed_from(self.random_state)
        self._forget("bound_", "bound_scale_", "recursion_", "record_")
        if self._solver == "recursive":
            return self._recurse(rows, None)
        spread = ClassSpread.of(rows, len(self.classes_))
        weights = self._class_factors(spread.weight)
        self._class_weight = spread.weight * (1.0 if weights is None else weights)
        self.mean_ = spread.mean
        if len(self.classes_) == 1:
            self._fit_one_class()
            return self
        problem = LogLoss.over(
            rows,
            spread,
            Penalty.of(self._C, self._l1_ratio),
            fit_intercept=self.fit_intercept,
            class_weight=weights,
            reference=self._reference,
            standardize=self.standardize,
        )
        # x·b = (f x)·(b/f): the coefficients of the last fit in units of the scaled columns
        if last is not None and problem.factors is not None:
            last = (last[0] / problem.factors, last[1])
        self._finish(problem, self._minimum(problem, last))
        return self

    @property
    def _reference(self) -> int | None:
        """The output that stays zero: of three classes and more, that of the reference class."""
        if self.reference is None:
            return None
        index = self._index_of(self.reference)
        return index if len(self.classes_) > 2 else None

    def _index_of(self, label: object) -> int:
        labels = self.classes_.tolist()
        if label not in labels:
            raise SettingError(
                f"reference={label!r} is not a class; the classes are {labels}"
            )
        return labels.index(label)

    def _class_factors(self, weight: np.ndarray | None) -> np.ndarray | None:
        return class_weight_factors(self.class_weight, self.classes_.tolist(), weight)

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def _minimum(self, problem: LogLoss, last: Start) -> Outcome:
        observer = None
        if self.max_iter == 0 and last is None:  # zeros, as before the first step
            last = problem.weights_at_zero(np.zeros_like(problem.null()))
        if self.record:
            self.record_: list[dict] = []
            observer = partial(record_point, problem, self.record_)
        if self.learning_rate is not None:
            return minimize_by_given_steps(self, problem, last, observer)
        if self._solver != "sigmoid_bound":
            return minimize(
                problem, self._solver, self.max_iter, self.tol, last, observer
            )
        theta = starting_point(problem, last, False).theta
        outcome, self.bound_scale_ = minimize_sigmoid_bound(
            problem, theta, self.max_iter, self.tol, observer
        )
        self.bound_ = outcome.history[-1]
        return outcome

    def _fit_one_class(self) -> None:
        """With one class there is nothing to tell apart: it has probability 1."""
        self.coef_ = np.zeros((1, len(self.design_names)))
        self.intercept_ = np.zeros(1)
        self.n_iter_ = np.ones(1, dtype=np.int32)
        self.converged_ = True
        self.separated_ = False
        self.n_undetermined_ = 0
        self.objective_ = self.log_likelihood_ = self.null_log_likelihood_ = 0.0
        self.history_: list[float] = [0.0]
        if self.record:
            self.record_ = []
        self._forget(*_ERRORS)

    def _finish(self, problem: LogLoss, outcome: Outcome) -> None:
        point = outcome.point
        self.coef_, self.intercept_ = problem.weights_at_zero(point.theta)
        self.n_iter_ = np.array([outcome.n_iter], dtype=np.int32)
        self.converged_ = outcome.converged
        self.history_ = list(outcome.history)
        self.objective_ = point.value
        # the objective is the loss plus the penalty
        penalty = problem.penalty.value(point.theta[:, :-1])
        self.log_likelihood_ = penalty - point.value
        self.null_log_likelihood_ = -problem.null_value
        self._forget(*_ERRORS)
        # L-BFGS and the others without second derivatives take one more pass for H at the optimum
        if wants_standard_errors(self, problem.n_free):
            if point.hessian is None:
                point = problem.evaluate(point.theta, hessian=True)
                outcome = replace(outcome, point=point)
            self._set_standard_errors(*problem.covariance_as_came(point))
        self.separated_ = bool(np.isinf(self._C)) and is_separated(problem, outcome)
        # under an L1 penalty coefficients are zero rather than of least norm: nothing to count
        factor = None if problem.penalty.l1 else problem.column_factor()
        self.n_undetermined_ = 0
        if factor is not None:
            self.n_undetermined_ = self.coef_.shape[1] - factor.rank
        warn_of_fit(self, problem, outcome, factor)

    def _set_standard_errors(self, inverse: np.ndarray, origin: np.ndarray) -> None:
        """From H⁻¹ with the intercepts taken at `origin`; those of the posterior are taken at the
        means."""
        weights = weights_at(origin, self.coef_, self.intercept_)
        gaussian = GaussianWeights(weights, inverse, origin)
        # about the means intercepts and coefficients correlate least; errors are told at x = 0
        mean = self.mean_ if self.fit_intercept else origin
        self.posterior_covariance_ = gaussian.at(mean).covariance
        at_zero = gaussian.at(np.zeros_like(origin))
        self.covariance_ = at_zero.covariance
        self.standard_errors_ = at_zero.standard_errors[:, :-1]
        self.intercept_standard_error_ = at_zero.standard_errors[:, -1]
        self.z_, self.p_ = z_and_p(self.coef_, self.standard_errors_)

    def _weight_posterior(self) -> GaussianWeights:
        """N(w*, H⁻¹) with the intercepts at the column means."""
        origin = self.mean_ if self.fit_intercept else np.zeros_like(self.mean_)
        mode = weights_at(origin, self.coef_, self.intercept_)
        return GaussianWeights(mode, self.posterior_covariance_, origin)

    # -- one row at a time -------------------------------------------------------------

    @available_if(can_recurse)  # scikit-learn puts the classes before the weights
    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ):
        """Go on with more rows, one at a time by recursion, from the weights so far and their
        covariance.

        With solver="recursive" the result is that of one `fit` on all rows in this order. After a
        `fit` by another solver its optimum w* and H⁻¹ are what is gone on from: the rows seen
        before count as N(w*, H⁻¹). `classes` names, in the first call, classes whose rows come
        later.
        """
        is_fitted = hasattr(self, "coef_")
        before = (self.classes_.tolist(), self.design_names) if is_fitted else None
        with unchanged_on_failure(self):
            rows = self._more_rows(X, y, sample_weight, classes)
            after = (self.classes_.tolist(), self.design_names)
            if before is not None and before[0] != after[0] and len(before[0]) == 1:
                before = None  # one class has no weights yet
            check_same_weights(before, after)
            check_settings(self)
            if before is None and self.standardize:
                raise SettingError(
                    "partial_fit cannot know the deviations of the columns beforehand: fit first,"
                    " or standardize the columns, e.g. by lyceum.prepare.StandardScaler()"
                )
            if not is_fitted:
                self.seed_ = seed_from(self.random_state)
            state = None
            if before is not None and len(self.classes_) > 1:
                state = Recursion.after(self)
                if not getattr(self, "recursion_", None):
                    self.history_ = []  # that of `fit` counts iterations, not calls
            return self._recurse(rows, state)

    def _recurse(self, rows: Rows, state: Recursion | None):
        """One pass over the rows in their order."""
        self._forget("bound_")
        if len(self.classes_) == 1:
            self.recursion_: dict[str, Any] = {}
            self.mean_ = np.zeros(len(self.design_names))
            self._fit_one_class()
            return self
        history = []
        record = []
        if state is not None:
            history = self.history_
            record = list(getattr(self, "record_", []))
        state = recurse(self, rows, state, record if self.record else None)
        self._forget("record_", *_ERRORS)
        if self.record:
            self.record_ = record
        self.history_ = [*history, state.loss]
        self.recursion_ = asdict(state)
        self.coef_, self.intercept_ = weights_at_zero(state.theta, state.origin)
        self.mean_ = state.mean
        self.n_iter_ = np.array([len(self.history_)], dtype=np.int32)
        self.converged_ = True
        self.separated_ = False
        self.n_undetermined_ = 0  # the prior determines all
        self.objective_ = state.loss
        self.log_likelihood_ = -state.loss
        # Σ n_k log(n_k / n); a class without rows yet adds 0, not 0 · (-inf)
        shares = state.class_weight / state.class_weight.sum()
        log_shares = np.log(np.maximum(shares, 1e-300))
        self.null_log_likelihood_ = float(state.class_weight @ log_shares)
        if wants_standard_errors(self, state.theta.size):
            self._set_standard_errors(state.covariance, state.origin)
        return self

    # -- predict -----------------------------------------------------------------------

    def decision_function(self, X: Data) -> Any:
        """The log-odds of the second of two classes, (n,), or the scores of K classes, (n, K)."""
        return self._apply(partial(linear_scores, self), X)

    def _linear_rule(self) -> tuple[np.ndarray, np.ndarray] | None:
        if self.posterior != "plugin" and len(self.classes_) > 1:
            return None
        coef = np.atleast_2d(np.ascontiguousarray(self.coef_))
        if len(coef) > 1:
            return coef, np.broadcast_to(self.intercept_, len(coef)).copy()
        # log-odds are scores against a first class whose score is 0
        coef = np.vstack([np.zeros_like(coef), coef])
        return coef, np.append(0.0, self.intercept_)

    def _log_joint(self, block: Block) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.zeros((len(block), 1))
        return PREDICTIVES[self.posterior](self, block)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return score_shapes(self)

    # -- what was learned --------------------------------------------------------------

    def confidence_interval(self, level: float = 0.95) -> np.ndarray:
        """Wald intervals of the coefficients, of the shape of `coef_` with two ends last."""
        check_is_fitted(self)
        if not hasattr(self, "standard_errors_"):
            raise AttributeError(
                "there are no standard errors: fit with standard_errors=True"
            )
        if not 0.0 < level < 1.0:
            raise SettingError(f"level={level!r}: give a probability between 0 and 1")
        reach = ndtri(0.5 + level / 2) * self.standard_errors_
        return np.stack([self.coef_ - reach, self.coef_ + reach], axis=-1)

    def log_odds(self, reference: Any = None) -> Table:
        """The log-odds of every class against a reference class (default: the first), with standard
        errors.

        One row per class and column: what a unit of the column adds to log P(class | x) /
        P(reference | x).
        """
        check_is_fitted(self)
        base = 0 if reference is None else self._index_of(reference)
        return log_odds_table(self, base)

    def _n_parameters(self) -> int | float:
        return effective_parameters(self)

    def summary(self) -> Summary:
        """Coefficients with standard errors, z, p and odds ratios, and the quality of the fit."""
        check_is_fitted(self)
        return Summary(self._title(), fit_facts(self), coefficient_tables(self))

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the log-odds, coef · (x - mean), from the log-odds at the mean.

        For two classes these are the log-odds of the second; for more, of the predicted class
        against the next best.
        """
        check_is_fitted(self)
        unit = "log-odds against the next class"
        if len(self.coef_) == 1:
            unit = f"log-odds of {self.classes_[-1]}"
        return self._explain(X, partial(contributions, self), unit)

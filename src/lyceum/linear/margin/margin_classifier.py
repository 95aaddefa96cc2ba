"""A linear classifier trained with a loss of the margin."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.solvers import LBFGS, Newton, Outcome
from lyceum._core.statistics import Moments, Scatter
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, ClassWeight, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.linear.linear_scores import (
    CLASS_WEIGHT,
    LinearScores,
    check_same_weights,
    weights_at,
    weights_at_zero,
)
from lyceum.linear.margin.losses import LOSSES, MarginLoss, SmoothHinge
from lyceum.linear.margin.problem import MarginProblem, SeenRows
from lyceum.linear.row_passes import first_pass, without_checks
from lyceum.report import Summary, Table

_SMALL = 300  # columns up to which Hessians are cheap
_WIDE = 1024  # and up to which d x d matrices are made at all


class MarginClassifier(LinearScores):
    """A linear classifier that minimizes a loss of the margin with an L2 penalty.

    With y of -1 and 1 and f(x) = b₀ + x·b the parameters minimize

        Σ w_i L(y_i f(x_i)) + 1/(2C) Σ b²,

    the intercept free; C is that of scikit-learn's SVC, whose objective is C times this one (its
    LinearSVC penalizes the intercept as well). L is

        hinge        max(0, 1 - m)       the linear support vector machine
        logistic     log(1 + exp(-m))    logistic regression
        exponential  exp(-m)             what boosting minimizes
        squared      (1 - m)²            least squares on -1 and 1

    The zero-one loss itself, 1 if m ≤ 0, is flat almost everywhere and no gradient leads down it:
    it is there to compare (`margin_loss`, `losses_`), not to train with. K > 2 classes have a
    function each, against all others; the largest decides. Scores are margins, not log-odds: for
    posteriors see `LogisticRegression`.

    The hinge has a corner, which is rounded over a width that falls in stages from 1 to
    `smoothing`: the objective reached is at most Σw · K · smoothing / 2 above the minimum.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "logistic", "exponential", "squared"}, default="hinge"
        The loss of the margin that is minimized.
    C : float, default=1.0
        Inverse strength of the penalty.
    smoothing : float, default=1e-3
        The last width of the hinge's rounded corner; without meaning for the other losses.
    max_iter : int, default=200
        Most iterations, each one pass over the rows; for the hinge, at every width.
    tol : float, default=1e-6
        Stop when the mean pull of the rows along every column, of unit spread, is this small.

    Attributes
    ----------
    objective_ : float
        Of the loss itself, not of the rounded one.
    losses_ : dict
        The mean of each of the five losses over the rows of `fit`.
    n_iter_ : int
        The number of iterations (passes over the rows or epochs).
    converged_ : bool
        Whether the tolerance was reached.
    history_ : list of float
        The objective that was minimized at the start and after every iteration.
    record_ : list of dict
        With `record=True`: step, coef, intercept and objective.
    seen_ : dict
        What `partial_fit` goes on from, of up to 1,024 columns: the curvature of the objective, (1
        or K, n_design_columns + 1, n_design_columns + 1), the means where intercepts are taken, and
        the weight.

    See Also
    --------
    margin_loss : The losses themselves.
    LogisticRegression : Posteriors of the classes.
    Perceptron : One mistake corrected after the other.

    References
    ----------
    Bartlett, Jordan and McAuliffe (2006), Convexity, classification, and risk bounds, Journal of
    the American Statistical Association 101.

    Examples
    --------
    >>> from lyceum.linear import MarginClassifier
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> model = MarginClassifier(loss="squared", C=1e6).fit(X, y)
    >>> model.coef_.round(3).tolist(), model.losses_["zero_one"]
    ([[0.6]], 0.0)

    """

    _step_kind = StepKind(
        "step",
        (
            StepColumn(
                "coef",
                "w",
                "w ← w − step down the gradient of F",
                axes=("class", "column"),
                ends_in="coef_",
            ),
            StepColumn(
                "intercept",
                "b",
                "as w, without a penalty",
                axes=("class",),
                ends_in="intercept_",
            ),
            StepColumn(
                "objective", "F", "F = Σ L(y f(x)) + ½ |w|² / C, kinks of L rounded"
            ),
        ),
    )
    _parameter_constraints: ClassVar[dict] = {
        "loss": [StrOptions({name for name, loss in LOSSES.items() if loss.convex})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "smoothing": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": CLASS_WEIGHT,
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    seen_: dict[str, Any]

    def __init__(
        self,
        *,
        loss: str = "hinge",
        C: float = 1.0,
        smoothing: float = 1e-3,
        max_iter: int = 200,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.loss = loss
        self.C = C
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.record = record
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Learn from the rows of X, one pass per iteration.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._with_class_weights(self._rows(X, y, sample_weight))
        self.__dict__.pop("seen_", None)
        return self._learn(self._problem(rows))

    # scikit-learn puts the classes before the weights
    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ):
        """Go on with more rows from the weights so far.

        The rows seen before count as a parabola: their objective about its minimum, by its
        curvature there (for the hinge, by the density of the margins about 1). With loss="squared"
        the result is that of one `fit` on all rows; with the others it comes near it. `objective_`,
        `losses_` and `n_iter_` are then of these rows. `classes` names, in the first call, classes
        whose rows come later.
        """
        weighted = None
        if hasattr(self, "coef_"):
            weighted = (self.classes_.tolist(), self.design_names)
        rows = self._more_rows(X, y, sample_weight, classes)
        if weighted is not None and len(weighted[0]) == 1 < len(self.classes_):
            weighted = None  # one class has no weights yet
        check_same_weights(weighted, (self.classes_.tolist(), self.design_names))
        if len(rows.schema) > _WIDE:
            raise SettingError(
                f"partial_fit keeps a square matrix of the columns, and takes {_WIDE} of them, not "
                f"{len(rows.schema)}: fit on all rows at once"
            )
        before = dict(vars(self))
        problem = self._problem(self._with_class_weights(rows, all_rows=False))
        if weighted is not None:
            problem = self._continue_fit(problem, before)
        return self._learn(problem)

    def _continue_fit(
        self,
        problem: MarginProblem,
        before: dict[str, Any],
    ) -> MarginProblem:
        """The problem of more rows, with those before as a parabola; means and rows are of all."""
        seen = before["seen_"]
        share = problem.weight / (seen["weight"] + problem.weight)
        self.mean_ = before["mean_"] + share * (self.mean_ - before["mean_"])
        # The parabola has its intercepts at the means of the first rows, and there they stay. The
        # scatter is about the mean of these rows: S + W d dᵀ is that about a point d away.
        shift = seen["shift"]
        theta = weights_at(shift, self.coef_, self.intercept_)
        moved = problem.shift - shift
        scatter = problem.scatter + problem.weight * np.outer(moved, moved)
        parabola = SeenRows(theta, seen["curvature"])
        return replace(problem, shift=shift, scatter=scatter, seen=parabola)

    def _learn(self, problem: MarginProblem):
        if len(self.classes_) == 1:
            self._fit_one_class(len(problem.shift))
            self.n_iter_ = 1
            self.converged_ = True
            self.objective_ = 0.0
            self.history_ = [0.0]
            self.losses_: dict[str, float] = {}
        else:
            self._finish(problem, self._minimum(problem))
        return self

    def _problem(self, rows: Rows) -> MarginProblem:
        is_wide = len(rows.schema) > _WIDE
        sums = rows.reduce(Moments.of) if is_wide else first_pass(rows, Scatter.of)
        weight = float(np.max(sums.weight))
        self.mean_ = mean = sums.mean
        shift = mean
        scatter = sums.scatter
        # without an intercept everything is about zero: Σ w x xᵀ = S + W x̄ x̄ᵀ
        if not self.fit_intercept:
            shift = np.zeros_like(mean)
            squares = mean**2 if is_wide else np.outer(mean, mean)
            scatter = scatter + weight * squares
        return MarginProblem(
            without_checks(rows),
            outputs=len(self.classes_) if len(self.classes_) > 2 else 1,
            weight=weight,
            shift=shift,
            scatter=scatter,
            loss=LOSSES[self.loss],
            penalty=1 / self.C,
            fit_intercept=self.fit_intercept,
        )

    def _minimum(self, problem: MarginProblem) -> Outcome:
        if self.record:
            self.record_: list[dict] = []
        elif hasattr(self, "record_"):
            del self.record_
        solver = Newton() if len(problem.shift) <= _SMALL else LBFGS()
        theta = np.zeros(problem.shape)
        if problem.seen is not None:
            # only Newton takes in the curvature of the rows before
            solver = Newton()
            theta = problem.seen.theta
        # every stage starts where the last, of a rounder corner, has ended
        stages: list[MarginLoss | SmoothHinge] = [LOSSES[self.loss]]
        if self.loss == "hinge":
            stages = [SmoothHinge(width) for width in self._widths()]
        n_iter = 0
        history: list[float] = []
        for loss in stages:
            stage = replace(problem, loss=loss)
            start = stage.evaluate(theta, solver.needs_hessian)
            observer = partial(self._record_point, stage) if self.record else None
            outcome = solver.minimize(stage, start, self.max_iter, self.tol, observer)
            theta = outcome.point.theta
            n_iter = n_iter + outcome.n_iter
            history += outcome.history
        return Outcome(outcome.point, n_iter, outcome.converged, history)

    def _widths(self) -> list[float]:
        """From 1 down to `smoothing` by tenths."""
        steps = int(np.ceil(-np.log10(self.smoothing)))
        least = float(self.smoothing)
        return [max(10.0**-k, least) for k in range(steps + 1)]

    def _record_point(self, problem: MarginProblem, point: Any) -> None:
        coef, intercept = weights_at_zero(point.theta, problem.shift)
        self.record_.append(
            {
                "step": len(self.record_),
                "coef": coef,
                "intercept": intercept,
                "objective": point.value,
            }
        )

    def _finish(self, problem: MarginProblem, outcome: Outcome) -> None:
        theta = outcome.point.theta
        self.coef_, self.intercept_ = weights_at_zero(theta, problem.shift)
        self.n_iter_ = outcome.n_iter
        self.converged_ = outcome.converged
        self.history_ = list(outcome.history)
        # all losses, and the curvature that `partial_fit` goes on from, in one more pass
        is_narrow = len(problem.shift) <= _WIDE
        totals = problem.solution_sums(theta, tuple(LOSSES.values()), is_narrow)
        sums = dict(zip(LOSSES, totals.values.tolist()))
        n_margins = problem.weight * problem.outputs
        self.losses_ = {name: value / n_margins for name, value in sums.items()}
        squares = float((self.coef_**2).sum())
        self.objective_ = sums[self.loss] + 0.5 * problem.penalty * squares
        if totals.curvature is not None:
            before = 0.0 if problem.seen is None else self.seen_["weight"]
            self.seen_ = {
                "curvature": problem.total_curvature(totals.curvature),
                "shift": problem.shift,
                "weight": before + problem.weight,
            }
        if not outcome.converged:
            warnings.warn(
                f"MarginClassifier stopped after max_iter={self.max_iter} iterations with a mean"
                f" pull of {problem.size(outcome.point.gradient):.1e} > tol={self.tol:g}: raise"
                " max_iter or smoothing, or lower C",
                ConvergenceWarning,
                stacklevel=4,
            )

    def summary(self) -> Summary:
        """The six mean losses on the rows of `fit`, and the weights."""
        check_is_fitted(self)
        facts: dict[str, Any] = {
            "rows": self.n_rows_,
            "classes": self.classes_.tolist(),
            "loss": f"{self.loss}, {LOSSES[self.loss].formula}",
            "C": float(self.C),
            "objective": self.objective_,
            "iterations": f"{self.n_iter_}{'' if self.converged_ else ', not converged'}",
        }
        losses = [
            (name, LOSSES[name].formula, value) for name, value in self.losses_.items()
        ]
        tables = [
            Table("Mean losses", ("loss", "of the margin m", "mean"), losses),
            self._table(),
        ]
        return Summary(self._title(), facts, tables)

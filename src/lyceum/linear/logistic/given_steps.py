"""Gradient descent with steps of a given length, as on paper, and the record of any descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.solvers import (
    Observer,
    Outcome,
    Point,
    descent_loop,
    gradient_test,
)
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Estimator
from lyceum.errors import DataError, SettingError, number_setting
from lyceum.linear.logistic.log_loss import LogLoss
from lyceum.linear.logistic.solvers import Start, starting_point

# what a record has of every step
LOGISTIC_STEPS = StepKind(
    "step",
    (
        StepColumn(
            "coef",
            "w",
            "w ← w − step, Newton: H⁻¹ g, gradient descent: η g",
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
        StepColumn("objective", "F", "F = −Σ ln p(y) + the penalty"),
        StepColumn(
            "gradient",
            "|g|",
            "the largest part of g = ∂F / ∂w per row, over the spreads of column and class",
        ),
    ),
)


def record_point(problem: LogLoss, record: list[dict], point: Point) -> None:
    """Add a point of a descent to its record."""
    coef, intercept = problem.weights_at_zero(point.theta)
    record.append(
        {
            "step": len(record),
            "coef": coef,
            "intercept": intercept,
            "objective": point.value,
            "gradient": problem.size(point.gradient),
        }
    )


def minimize_by_given_steps(
    learner: Estimator,
    problem: LogLoss,
    last: Start,
    observer: Observer | None,
) -> Outcome:
    """b ← b - η ∂J/∂b and b₀ ← b₀ - η ∂J/∂b₀ with J the objective per unit of weight.

    θ holds the intercepts at the column means m, c = b₀ + b·m: ∂/∂b at a fixed b₀ is
    ∂/∂b + m ∂/∂c, and c moves by the change of b₀ plus that of b times m.
    """
    start = starting_point(problem, last or _given_start(learner, problem), False)
    m = problem.shift
    total = problem.spread.weight
    if problem.class_weight is not None:
        total = total * problem.class_weight
    rate = float(learner.learning_rate) / float(total.sum())

    def advance(point: Point) -> tuple[Point | None, np.ndarray]:
        g = point.gradient.reshape(point.theta.shape)
        g0 = g[:, -1:] if problem.fit_intercept else np.zeros((len(g), 1))
        # numbers that run away overflow, and are refused below
        with np.errstate(over="ignore", invalid="ignore"):
            b = -rate * (g[:, :-1] + g0 * m)
            c = -rate * g0 + (b @ m)[:, None] * problem.fit_intercept
            step = np.hstack([b, c])
            next_point = problem.evaluate(point.theta + step, False)
        if not np.isfinite(next_point.value):
            raise DataError(
                f"the weights diverge at learning_rate={learner.learning_rate}: give a smaller"
                " one, or standardize the columns"
            )
        return next_point, step

    return descent_loop(
        start,
        advance,
        gradient_test(problem, learner.tol),
        learner.max_iter,
        observer,
    )


def _given_start(learner: Any, problem: LogLoss) -> Start:
    """The coefficients and intercepts of `coef_init`, in units of scaled columns; 0 without it."""
    shape = (problem.outputs, problem.shape[1] - 1)
    if learner.coef_init is None:
        return np.zeros(shape), np.zeros(problem.outputs)
    coef = np.atleast_2d(number_setting("coef_init", learner.coef_init[0]))
    intercept = np.atleast_1d(number_setting("coef_init", learner.coef_init[1]))
    if coef.shape != shape or intercept.shape != (problem.outputs,):
        raise SettingError(
            f"coef_init has coefficients of shape {coef.shape} and intercepts of shape"
            f" {intercept.shape}: give {shape} and ({problem.outputs},)"
        )
    if problem.factors is not None:
        coef = coef / problem.factors
    return coef, intercept

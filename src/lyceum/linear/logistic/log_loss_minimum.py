"""How the penalized log loss is minimized: which solver, and from where."""

from __future__ import annotations

import numpy as np

from lyceum._core.solvers import (
    LBFGS,
    ConjugateGradient,
    GradientDescent,
    LevenbergMarquardt,
    Newton,
    Observer,
    Outcome,
    Point,
    Solver,
)
from lyceum.errors import SettingError
from lyceum.linear.logistic.log_loss import LogLoss
from lyceum.linear.logistic.proximal_newton import ProximalNewton

SMALL = 300  # parameters up to which summing the Hessian over the rows is cheap
_L1_MOST = 5000  # parameters up to which proximal Newton can hold the Hessian

SOLVERS: dict[str, Solver] = {
    "irls": Newton(),
    "levenberg_marquardt": LevenbergMarquardt(),
    "lbfgs": LBFGS(),
    "conjugate_gradient": ConjugateGradient(),
    "gradient_descent": GradientDescent(),
}

Start = tuple[np.ndarray, np.ndarray] | None  # coefficients, and intercepts at x = 0


def minimize(
    problem: LogLoss,
    solver: str,
    l1: float,
    max_iter: int,
    tol: float,
    last: Start,
    observer: Observer | None,
) -> Outcome:
    """The minimum of the loss plus l1 Σ|b|, from the parameters `last` or from the discriminant."""
    if l1 > 0:
        if problem.outputs * problem.shape[1] > _L1_MOST:
            raise SettingError(
                f"{problem.outputs * problem.shape[1]} parameters are too many for l1_ratio > 0,"
                f" which takes {_L1_MOST}: give l1_ratio=0, or fewer columns"
            )
        one = problem.outputs == 1
        newton = ProximalNewton(l1)
        if one or last is not None:
            start = starting_point(problem, last, one)
        else:
            start = newton.start(problem)
        if start.value + l1 * float(np.abs(start.theta[:, :-1]).sum()) > problem.null_value:
            start = problem.evaluate(problem.null(), one)  # no coefficients at all are better
        return newton.minimize(problem, start, max_iter, tol, observer)
    if solver == "auto":
        if free_parameters(problem) <= SMALL:
            solver = "irls"
        else:
            solver = "lbfgs"
    chosen = SOLVERS[solver]
    start = starting_point(problem, last, chosen.needs_hessian)
    if solver == "irls" and last is None:
        chosen = Newton(second_start=lambda: problem.evaluate(problem.null(), True))
    return chosen.minimize(problem, start, max_iter, tol, observer)


def free_parameters(problem: LogLoss) -> int:
    outputs, size = problem.shape
    return max(1, outputs - 1) * size


def starting_point(problem: LogLoss, last: Start, hessian: bool) -> Point:
    """The parameters of the last fit if they suit; else the discriminant, or intercepts alone if
    better."""
    if last is not None and last[0].shape == (problem.outputs, problem.shape[1] - 1):
        coef, intercept = last
        if problem.fit_intercept:
            at_mean = intercept + coef @ problem.shift
        else:
            at_mean = np.zeros_like(intercept)
        theta = np.column_stack([coef, at_mean])
        if problem.reference is not None:
            theta = theta - theta[problem.reference]
        return problem.evaluate(theta, hessian)
    start = problem.evaluate(problem.start(), hessian)
    if start.value <= problem.null_value * (1 + 1e-9):
        return start
    return problem.evaluate(problem.null(), hessian)

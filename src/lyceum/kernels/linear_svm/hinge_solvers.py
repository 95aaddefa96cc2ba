"""Solvers of linear support vector machines: Newton, multipliers, dual descent, proximal Newton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block, as_float
from lyceum._core.native import native
from lyceum._core.solvers import LBFGS, Newton, Point
from lyceum.kernels.linear_svm.hinge_problem import HingeProblem, Multipliers
from lyceum.progress import report

_COLUMNS = 500  # columns that a Hessian is formed of at once under an L1 penalty


@dataclass(frozen=True)
class LinearSolution:
    """w with b at x = 0 last, the passes over the rows, and whether the tolerance was reached."""

    theta: np.ndarray
    n_iter: int
    converged: bool
    history: list[float]


def _at_origin(problem: HingeProblem, theta: np.ndarray) -> np.ndarray:
    theta = theta.copy()
    theta[-1] -= theta[:-1] @ problem.shift
    return theta


def by_newton(
    problem: HingeProblem,
    tol: float,
    max_iter: int,
    wide: bool,
) -> LinearSolution:
    """The squared hinge: Newton steps, or quasi-Newton ones where columns are too many for a
    Hessian."""
    solver = LBFGS() if wide else Newton()
    start = problem.evaluate(np.zeros(problem.shape), hessian=not wide)
    outcome = solver.minimize(problem, start, max_iter, tol)
    theta = _at_origin(problem, outcome.point.theta)
    history = list(outcome.history)
    return LinearSolution(theta, outcome.n_iter, outcome.converged, history)


def by_multipliers(problem: HingeProblem, tol: float, max_iter: int) -> LinearSolution:
    """The hinge: α ← clip(α + σu, 0, C) at the minimum of a smooth function, until α stays where it
    is.

    What α moved, over σ, is the violation of the optimality conditions in units of f.
    """
    alpha = np.zeros(len(problem.rows))
    theta = np.zeros(problem.shape)
    sigma = float(problem.C)
    n_iter = 0
    history = []
    converged = False
    while n_iter < max_iter and not converged:
        smooth = replace(problem, multipliers=Multipliers(alpha, sigma))
        # the smooth problem a hundred times as exact as α is wanted
        start = smooth.evaluate(theta, True)
        outcome = Newton().minimize(smooth, start, max_iter - n_iter, 0.01 * tol)
        theta = outcome.point.theta
        n_iter = n_iter + outcome.n_iter + 1
        moved = smooth.new_multipliers(theta)
        change = np.abs(moved - alpha)
        violation = float(change.max(initial=0.0)) / sigma
        history.append(outcome.point.value)
        report("rounds", len(history))
        alpha = moved
        converged = outcome.converged and violation <= tol
        # a larger σ makes fewer rounds and a stiffer smooth problem
        sigma = min(5.0 * sigma, 1e6 * problem.C)
    return LinearSolution(_at_origin(problem, theta), n_iter, converged, history)


# -- all rows in memory ----------------------------------------------------------------


def by_dual_descent(
    problem: HingeProblem,
    block: Block,
    squared: bool,
    tol: float,
    max_iter: int,
) -> LinearSolution:
    """Dual coordinate descent; a free intercept is the root of Σ α y, which falls as b rises."""
    is_penalized = problem.fit_intercept and not problem.has_free_intercept
    scaling = problem.intercept_scaling
    X = block.X
    if is_penalized and scaling != 1.0:
        constant = np.full((X.shape[0], 1), scaling)
        if sparse.issparse(X):
            X = sparse.hstack([X, sparse.csr_array(constant)], format="csr")
        else:
            X = np.hstack([X, constant.astype(X.dtype)])
    descent = _Descent(
        X,
        y=problem.signs(block),
        bound=problem.bound(block),
        squared=squared,
        tol=tol,
        max_iter=max_iter,
    )
    if not problem.has_free_intercept:
        # w of a column of s is b / s; a column of ones the native function has itself
        descent.solve(0.0, is_penalized and scaling == 1.0)
        d = block.X.shape[1]
        w = descent.w
        b = scaling * w[d] if X is not block.X else w[-1]
        return descent.solution(np.append(w[:d], b))
    b = _balanced_intercept(descent)
    return descent.solution(np.append(descent.w[:-1], b))


def _balanced_intercept(descent: _Descent) -> float:
    """The root b of Σ α y, by doubled steps away from 0 and then by the Illinois rule: secants,
    with the value of the end that stays halved, in turn with bisection."""
    # bracket the root: Σ α y falls as b rises, so that a positive one sends b up
    limit = descent.tol * float(descent.bound.sum())
    start = descent.balance(0.0)
    if abs(start) <= limit:
        return 0.0
    direction = 1.0 if start > 0 else -1.0
    value = start
    before = 0.0
    b = 0.0
    step = 0.5
    while abs(value) > limit and (value > 0) == (start > 0) and step < 1e12:
        step *= 2.0
        before = b
        b = direction * step
        value = descent.balance(b)
    # Σ α y > 0 at low and < 0 at high
    low = min(before, b)
    high = max(before, b)
    f_low = start if start > 0 else value
    f_high = value if start > 0 else start
    for turn in range(100):
        narrow = 0.01 * descent.tol * max(1.0, abs(b))
        if abs(value) <= limit or high - low <= narrow:
            break
        share = 0.5
        if turn % 2 == 0:
            share = float(np.clip(f_low / (f_low - f_high), 0.01, 0.99))
        b = low + (high - low) * share
        value = descent.balance(b)
        if value > 0:
            low = b
            f_low = value
            f_high = 0.5 * f_high
        else:
            high = b
            f_high = value
            f_low = 0.5 * f_low
    return b


class _Descent:
    """Rows for the native descent, and the variables from solve to solve."""

    def __init__(
        self,
        X: Any,
        y: np.ndarray,
        bound: np.ndarray,
        squared: bool,
        tol: float,
        max_iter: int,
    ):
        self.y = y
        self.bound = bound
        self.tol = tol
        self.max_iter = max_iter
        # the dual of C max(0, u) bounds α by C; that of C max(0, u)² has α² / (4C) instead
        self.ridge = np.zeros(len(y))
        self.upper = bound
        if squared:
            with np.errstate(divide="ignore"):
                self.ridge = np.where(bound > 0, 0.5 / bound, 0.0)
            self.upper = np.where(bound > 0, np.inf, 0.0)
        self.alpha = np.zeros(len(y))
        self.w = np.zeros(X.shape[1] + 1)
        self.epochs = 0
        self.violation = np.inf
        self.history: list[float] = []
        if sparse.issparse(X):
            X = sparse.csr_array(X)
            self.descend: Callable[..., tuple[int, float]] = native.sparse_dual_descent
            self.cells: tuple[np.ndarray, ...] = (
                X.indptr.astype(np.int32, copy=False),
                X.indices.astype(np.int32, copy=False),
                as_float(X.data),
            )
        else:
            self.descend = native.dense_dual_descent
            self.cells = (np.ascontiguousarray(as_float(X)),)

    def solve(self, b: float, has_ones: bool = False) -> None:
        t = 1.0 - self.y * b
        epochs, self.violation = self.descend(
            *self.cells,
            self.y,
            t,
            self.upper,
            self.ridge,
            has_ones,
            self.alpha,
            self.w,
            self.tol,
            self.max_iter,
        )
        self.epochs += epochs
        # the dual objective Σ t α - ½ |w|² - ½ Σ ridge α², w = Σ α y x
        squares = self.w @ self.w
        value = t @ self.alpha - 0.5 * squares - 0.5 * self.ridge @ self.alpha**2
        self.history.append(float(value))
        report("solves", len(self.history))

    def balance(self, b: float) -> float:
        self.solve(b)
        return float(self.y @ self.alpha)

    def solution(self, theta: np.ndarray) -> LinearSolution:
        converged = self.violation <= self.tol
        return LinearSolution(theta, self.epochs, converged, self.history)


# -- L1 --------------------------------------------------------------------------------


def by_proximal_newton(
    problem: HingeProblem,
    tol: float,
    max_iter: int,
) -> LinearSolution:
    """|w|₁ + Σ C max(0, u)²: quadratic models by coordinate descent, on the columns not settled at
    0."""
    theta = np.zeros(len(problem.shift) + 1)
    n_iter = 0
    history: list[float] = []
    converged = False
    while n_iter < max_iter and not converged:
        violation = _violation(problem, theta, problem.evaluate(theta).gradient)
        n_iter += 1
        if problem.size(violation) <= tol:
            converged = True
            break
        # only these columns move, so that the Hessian is theirs alone
        columns, is_all = _working_columns(theta[:-1], violation[:-1])
        part = problem
        if len(columns) < len(problem.shift):
            part = replace(
                problem,
                columns=columns,
                shift=problem.shift[columns],
                scale=problem.scale[columns],
            )
        start = np.append(theta[columns], theta[-1])
        n_left = max_iter - n_iter
        end, used, values, is_flat = _on_columns(part, start, 0.3 * tol, n_left)
        theta[columns] = end[:-1]
        theta[-1] = end[-1]
        n_iter += used
        history += values
        report("passes", n_iter)
        # no step promised anything, and no column was left out
        converged = is_flat and len(values) == 1 and is_all
    return LinearSolution(_at_origin(problem, theta), n_iter, converged, history)


def _working_columns(w: np.ndarray, violation: np.ndarray) -> tuple[np.ndarray, bool]:
    """The columns whose weight is not settled at 0, the worst of them if there are many; and
    whether these are all."""
    columns = np.flatnonzero((w != 0) | (violation != 0))
    if len(columns) <= _COLUMNS:
        return columns, True
    not_zero = np.where(w[columns] != 0, 1e9, 0.0)
    # weights that are not zero come first, then the largest violations
    order = np.argsort(-np.abs(violation[columns]) - not_zero, kind="stable")
    n_used = int((w != 0).sum())
    most = max(_COLUMNS, n_used + _COLUMNS // 2)
    return np.sort(columns[order[:most]]), most >= len(columns)


def _absolute_penalty(problem: HingeProblem) -> np.ndarray:
    """The factors of |w_j| and |b| in the penalty: 1, and 1/s for the intercept."""
    of_weights = np.ones(len(problem.shift))
    return np.append(of_weights, 1.0 / problem.intercept_scaling)


def _violation(
    problem: HingeProblem,
    theta: np.ndarray,
    gradient: np.ndarray,
) -> np.ndarray:
    """How far 0 is from the subgradients of the loss + |w|₁ + |b|/s."""
    # at w = 0 only what |g| is above the penalty is left
    l1 = _absolute_penalty(problem)
    above = np.maximum(np.abs(gradient) - l1, 0.0)
    at_zero = np.sign(gradient) * above
    return np.where(theta != 0, gradient + l1 * np.sign(theta), at_zero)


def _on_columns(
    problem: HingeProblem,
    theta: np.ndarray,
    tol: float,
    max_iter: int,
) -> tuple[np.ndarray, int, list[float], bool]:
    """Proximal Newton steps; the last point, passes, values, and whether no step promised
    anything."""

    l1 = _absolute_penalty(problem)

    def value(point: Point) -> float:
        return point.value + float(l1 @ np.abs(point.theta))

    point = problem.evaluate(theta, hessian=True)
    used = 1
    values: list[float] = []
    flat = False
    while used < max_iter:
        values.append(value(point))
        if problem.size(_violation(problem, point.theta, point.gradient)) <= tol:
            break
        # Armijo's rule: half the step until the value falls by a share of what the model promised
        step, promised = _model_step(problem, point)
        next_point = None
        length = 1.0
        while -promised * length > 1e-15 * abs(values[-1]) and used < max_iter:
            next_point = problem.evaluate(point.theta + length * step, hessian=True)
            used += 1
            if value(next_point) <= values[-1] + 1e-4 * length * promised:
                break
            next_point = None
            length = 0.5 * length
        if next_point is None:
            flat = used < max_iter
            break
        point = next_point
    return point.theta, used, values, flat


def _model_step(problem: HingeProblem, point: Point) -> tuple[np.ndarray, float]:
    """The minimizer of g·s + ½ sᵀHs + |θ + s|₁, a free intercept eliminated, as a step, and its
    promise."""
    assert point.hessian is not None
    theta = point.theta
    g = point.gradient
    # a little of the mean curvature, as directions in which no row bends have none
    ridge = 1e-10 * np.trace(point.hessian) / len(theta)
    H = point.hessian + ridge * np.eye(len(theta))
    step = np.zeros(len(theta))
    exactness = 1e-14 * abs(point.value)
    if problem.has_free_intercept and H[-1, -1] > 0:
        step = _step_with_free_intercept(H, g, theta, exactness)
    elif problem.fit_intercept and not problem.has_free_intercept:
        # b = s β: the penalty of β is that of a weight
        unit = np.append(np.ones(len(theta) - 1), problem.intercept_scaling)
        scaled = H * np.outer(unit, unit)
        step = unit * _lasso_step(scaled, g * unit, theta / unit, exactness)
    else:
        w = theta[:-1]
        step[:-1] = _lasso_step(H[:-1, :-1], g[:-1], w, exactness)
    risen = np.abs(theta + step) - np.abs(theta)
    penalty = _absolute_penalty(problem) @ risen
    return step, float(g @ step) + float(penalty)


def _step_with_free_intercept(
    H: np.ndarray,
    g: np.ndarray,
    theta: np.ndarray,
    exactness: float,
) -> np.ndarray:
    """The best b for given weights leaves Q - h hᵀ / H_bb, Schur's complement, to the weights."""
    side = H[-1, :-1]
    bend = H[-1, -1]
    Q = H[:-1, :-1] - np.outer(side, side) / bend
    pull = g[:-1] - side * g[-1] / bend
    step = _lasso_step(Q, pull, theta[:-1], exactness)
    of_intercept = -(g[-1] + side @ step) / bend
    return np.append(step, of_intercept)


def _lasso_step(
    Q: np.ndarray,
    pull: np.ndarray,
    start: np.ndarray,
    exactness: float,
) -> np.ndarray:
    """The s that minimizes pull·s + ½ sᵀQs + |start + s|₁, by coordinate descent."""
    # in w = start + s: ½ wᵀQw - q·w + |w|₁ with q = Q start - pull, whose gradient starts at -pull
    w = start.copy()
    Q = np.ascontiguousarray(Q)
    q = Q @ w - pull
    native.gram_descent(Q, q, -pull, w, 1.0, 0.0, np.nan, exactness, 1000)
    return w - start

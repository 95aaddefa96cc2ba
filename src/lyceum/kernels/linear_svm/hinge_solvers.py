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


def by_newton(problem: HingeProblem, tol: float, max_iter: int, wide: bool) -> LinearSolution:
    """The squared hinge: Newton steps, or quasi-Newton ones where columns are too many for a
    Hessian."""
    solver = LBFGS() if wide else Newton()
    start = problem.evaluate(np.zeros(problem.shape), hessian=not wide)
    found = solver.minimize(problem, start, max_iter, tol)
    return LinearSolution(
        _at_origin(problem, found.point.theta), found.n_iter, found.converged, list(found.history)
    )


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
        found = Newton().minimize(
            smooth, smooth.evaluate(theta, True), max_iter - n_iter, 0.01 * tol
        )
        theta = found.point.theta
        n_iter = n_iter + found.n_iter + 1
        moved = smooth.new_multipliers(theta)
        violation = float(np.abs(moved - alpha).max(initial=0.0)) / sigma
        history.append(found.point.value)
        report("rounds", len(history))
        alpha = moved
        converged = found.converged and violation <= tol
        sigma = min(5.0 * sigma, 1e6 * problem.C)
    return LinearSolution(_at_origin(problem, theta), n_iter, converged, history)


# -- all rows in memory ----------------------------------------------------------------


def by_dual_descent(
    problem: HingeProblem, block: Block, squared: bool, tol: float, max_iter: int
) -> LinearSolution:
    """Dual coordinate descent; a free intercept is the root of Σ α y, which falls as b rises."""
    descent = _Descent(block.X, problem.signs(block), problem.bound(block), squared, tol, max_iter)
    if problem.intercept != "free":
        descent.solve(0.0, problem.intercept == "penalized")
        return descent.solution(0.0, problem.intercept == "penalized")
    low = 0.0
    high = 0.0
    at = start = descent.balance(0.0)
    step = 0.5
    limit = descent.tol * float(descent.bound.sum())
    while abs(at) > limit and (at > 0) == (start > 0) and step < 1e12:
        step *= 2.0
        if start > 0:
            edge = step
        else:
            edge = -step
        if start > 0:
            low = high
            high = edge
        else:
            low, high = (edge, low)
        at = descent.balance(edge)
    if start > 0:
        b = high
    else:
        b = low
    if start > 0:
        f_low = start
        f_high = at
    else:
        f_low = at
        f_high = start
    for turn in range(100):
        if abs(at) <= limit or high - low <= 0.01 * tol * max(1.0, abs(b)):
            break
        if turn % 2:
            share = 0.5
        else:
            share = float(np.clip(f_low / (f_low - f_high), 0.01, 0.99))
        b = low + (high - low) * share
        at = descent.balance(b)
        if at > 0:
            low = b
            f_low = at
            f_high = 0.5 * f_high
        else:
            high = b
            f_high = at
            f_low = 0.5 * f_low
    return descent.solution(b, False)


class _Descent:
    """Rows for the native descent, and the variables from solve to solve."""

    def __init__(
        self, X: Any, y: np.ndarray, bound: np.ndarray, squared: bool, tol: float, max_iter: int
    ):
        self.y = y
        self.bound = bound
        self.tol = tol
        self.max_iter = max_iter
        with np.errstate(divide="ignore"):
            if squared:
                self.ridge = np.where(bound > 0, 0.5 / bound, 0.0)
            else:
                self.ridge = np.zeros(len(y))
        if squared:
            self.upper = np.where(bound > 0, np.inf, 0.0)
        else:
            self.upper = bound
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

    def solve(self, b: float, bias: bool) -> None:
        t = 1.0 - self.y * b
        epochs, self.violation = self.descend(
            *self.cells,
            self.y,
            t,
            self.upper,
            self.ridge,
            bias,
            self.alpha,
            self.w,
            self.tol,
            self.max_iter,
        )
        self.epochs += epochs
        value = t @ self.alpha - 0.5 * (self.w @ self.w) - 0.5 * self.ridge @ self.alpha**2
        self.history.append(float(value))
        report("solves", len(self.history))

    def balance(self, b: float) -> float:
        self.solve(b, False)
        return float(self.y @ self.alpha)

    def solution(self, b: float, bias: bool) -> LinearSolution:
        theta = self.w.copy()
        if bias:
            theta[-1] = self.w[-1]
        else:
            theta[-1] = b
        return LinearSolution(theta, self.epochs, self.violation <= self.tol, self.history)


# -- L1 --------------------------------------------------------------------------------


def by_proximal_newton(problem: HingeProblem, tol: float, max_iter: int) -> LinearSolution:
    """|w|₁ + Σ C max(0, u)²: quadratic models by coordinate descent, on the columns not settled at
    0."""
    d = len(problem.shift)
    theta = np.zeros(d + 1)
    n_iter = 0
    history = []
    converged = False
    while n_iter < max_iter and not converged:
        gradient = problem.evaluate(theta).gradient
        violation = _violation(theta, gradient)
        n_iter += 1
        if problem.size(violation) <= tol:
            converged = True
            break
        inner = np.flatnonzero((theta[:-1] != 0) | (violation[:-1] != 0))
        n_wrong = len(inner)
        if n_wrong > _COLUMNS:
            order = np.argsort(
                -np.abs(violation[inner]) - np.where(theta[inner] != 0, 1e9, 0.0), kind="stable"
            )
            keep = max(_COLUMNS, int((theta[:-1] != 0).sum()) + _COLUMNS // 2)
            inner = np.sort(inner[order[:keep]])
        if len(inner) == d:
            some = problem
        else:
            some = _with_columns(problem, inner)
        here = np.append(theta[inner], theta[-1])
        here, used, values, flat = _on_columns(some, here, 0.3 * tol, max_iter - n_iter)
        theta[inner], theta[-1] = here[:-1], here[-1]
        n_iter += used
        history += values
        report("passes", n_iter)
        if (
            flat and len(values) == 1 and n_wrong <= len(inner)
        ):  # no step, and no column was left out
            converged = True
            break
    return LinearSolution(_at_origin(problem, theta), n_iter, converged, history)


def _with_columns(problem: HingeProblem, columns: np.ndarray) -> HingeProblem:
    return replace(
        problem, columns=columns, shift=problem.shift[columns], scale=problem.scale[columns]
    )


def _violation(theta: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """How far 0 is from the subgradients of the loss + |w|₁."""
    w = theta[:-1]
    g = gradient.copy()
    inner = g[:-1]
    g[:-1] = np.where(
        w != 0, inner + np.sign(w), np.sign(inner) * np.maximum(np.abs(inner) - 1.0, 0.0)
    )
    return g


def _on_columns(
    problem: HingeProblem, theta: np.ndarray, tol: float, max_iter: int
) -> tuple[np.ndarray, int, list[float], bool]:
    """Proximal Newton steps; the last point, passes, values, and whether no step promised
    anything."""

    def value(point: Point) -> float:
        return point.value + float(np.abs(point.theta[:-1]).sum())

    here = problem.evaluate(theta, hessian=True)
    used = 1
    values: list[float] = []
    flat = False
    while used < max_iter:
        values.append(value(here))
        if problem.size(_violation(here.theta, here.gradient)) <= tol:
            break
        step, promised = _model_step(problem, here)
        there = None
        length = 1.0
        while -promised * length > 1e-15 * abs(values[-1]) and used < max_iter:
            there = problem.evaluate(here.theta + length * step, hessian=True)
            used += 1
            if value(there) <= values[-1] + 1e-4 * length * promised:
                break
            there = None
            length = 0.5 * length
        if there is None:
            flat = used < max_iter
            break
        here = there
    return here.theta, used, values, flat


def _model_step(problem: HingeProblem, here: Point) -> tuple[np.ndarray, float]:
    """The minimiser of g·s + ½ sᵀHs + |w + s|₁, the intercept eliminated, as a step, and its
    promise."""
    assert here.hessian is not None
    H = here.hessian + 1e-10 * np.trace(here.hessian) / len(here.theta) * np.eye(len(here.theta))
    g = here.gradient
    Q = H[:-1, :-1]
    pull = g[:-1].copy()
    free = problem.intercept is not None and H[-1, -1] > 0
    if free:
        Q = Q - np.outer(H[-1, :-1], H[-1, :-1]) / H[-1, -1]
        pull -= H[-1, :-1] * g[-1] / H[-1, -1]
    w = here.theta[:-1].copy()
    Q = np.ascontiguousarray(Q)
    native.gram_descent(Q, Q @ w - pull, -pull, w, 1.0, 0.0, np.nan, 1e-14 * abs(here.value), 1000)
    step = np.append(w - here.theta[:-1], 0.0)
    if free:
        step[-1] = -(g[-1] + H[-1, :-1] @ step[:-1]) / H[-1, -1]
    promised = float(g @ step) + float(np.abs(w).sum() - np.abs(here.theta[:-1]).sum())
    return step, promised

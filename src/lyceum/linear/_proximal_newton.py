"""Proximal Newton for the log loss with a penalty on absolute values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._native import native
from lyceum.linear._log_loss import LogLoss
from lyceum.solvers import Observer, Outcome, Point, PositiveFactor, descent_loop

__all__ = ["ProximalNewton"]


@dataclass(frozen=True, slots=True)
class ProximalNewton:
    """Minimise the log loss plus l1 Σ|b|: the quadratic model plus the penalty by coordinate descent.

    The intercepts, which are free, are eliminated from the model first; then a step is cut until the
    objective falls by a share of what the model promised (Lee, Sun and Saunders, 2014).
    """

    l1: float

    def minimise(
        self, problem: LogLoss, start: Point, max_iter: int, tol: float, observer: Observer | None = None
    ) -> Outcome:
        """The minimum from `start`, where the largest violation of optimality is at most `tol`."""

        def advance(here: Point) -> tuple[Point | None, float]:
            step, promised = self._model_step(problem, here)
            return self._backtrack(problem, here, step, promised), promised

        def is_optimal(point: Point) -> bool:
            return problem.size(self.violation(point)) <= tol * problem.small_beside(point.value)

        def ends_flat(point: Point, promised: float) -> bool:
            return -promised <= 1e-9 * abs(point.value)

        return descent_loop(self._penalised(start), advance, is_optimal, max_iter, observer, ends_flat)

    def violation(self, point: Point) -> np.ndarray:
        """How far 0 is from the subgradients, entry by entry."""
        b, g = point.theta[:, :-1], point.gradient.copy()
        inner = g[:, :-1]
        inner[:] = np.where(
            b != 0, inner + self.l1 * np.sign(b), np.sign(inner) * np.maximum(np.abs(inner) - self.l1, 0.0)
        )
        return g

    def _penalised(self, point: Point) -> Point:
        value = point.value + self.l1 * float(np.abs(point.theta[:, :-1]).sum())
        return Point(point.theta, value, point.gradient, point.hessian)

    def _model_step(self, problem: LogLoss, here: Point) -> tuple[np.ndarray, float]:
        """The minimiser of g·s + ½ sᵀHs + l1 |b + s|₁ less where we are, and the fall of the linear part."""
        assert here.hessian is not None
        outputs, size = problem.shape
        moves = np.arange(outputs)[:, None] != (-1 if problem.reference is None else problem.reference)
        inner = (moves & (np.arange(size) < size - 1)).ravel()
        outer = (moves & (np.arange(size) == size - 1)).ravel()
        g, theta = here.gradient.ravel(), here.theta.ravel()
        Q, side = here.hessian[np.ix_(inner, inner)], here.hessian[np.ix_(outer, inner)]
        free = PositiveFactor.of(here.hessian[np.ix_(outer, outer)]) if problem.fit_intercept else None
        pull = g[inner].copy()
        if free is not None:
            Q = Q - side.T @ free.solve(side)
            pull -= side.T @ free.solve(g[outer])
        b = theta[inner].copy()
        Q = np.ascontiguousarray(Q)
        native.gram_descent(Q, Q @ b - pull, -pull, b, self.l1, 0.0, np.nan, 1e-14 * abs(here.value), 1000)
        step = np.zeros_like(theta)
        step[inner] = b - theta[inner]
        if free is not None:
            step[outer] = -free.solve(g[outer] + side @ step[inner])
        promised = float(g @ step) + self.l1 * float(np.abs(b).sum() - np.abs(theta[inner]).sum())
        return step.reshape(problem.shape), promised

    def _backtrack(self, problem: LogLoss, here: Point, step: np.ndarray, promised: float) -> Point | None:
        noise, length = 16 * float(np.finfo(np.float64).eps) * abs(here.value), 1.0
        while -promised * length > noise:
            there = self._penalised(problem.evaluate(here.theta + length * step, hessian=True))
            if there.value <= here.value + 1e-4 * length * promised:
                return there
            length *= 0.5
        return None

"""Proximal Newton for the log loss with a penalty on absolute values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lyceum._core.native import native
from lyceum._core.solvers import Observer, Outcome, Point, descent_loop, newton_on_support
from lyceum._core.statistics import PositiveFactor
from lyceum.linear.logistic.log_loss import LogLoss

_MOST_NEW = 64  # coefficients that may leave zero in one step, or as many as are not zero
_STAGE = 3.0  # by which the penalty falls from one stage of the start to the next
_SHARE = 1e-6  # of what the last step promised: how far the model may be from its minimum
_EPOCHS = 20  # of coordinate descent from one Newton step on the support to the next
_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class ProximalNewton:
    """Minimize the log loss plus l1 Σ|b|: the quadratic model plus the penalty by coordinate
    descent.

    The model has the coefficients that are not zero and those that most want to leave it, so that
    second derivatives are only summed for a few. The intercepts, which are free, are eliminated
    from it first; then a step is cut until the objective falls by a share of what the model
    promised (Lee, Sun and Saunders, 2014).
    """

    l1: float

    def minimize(
        self,
        problem: LogLoss,
        start: Point,
        max_iter: int,
        tol: float,
        observer: Observer | None = None,
    ) -> Outcome:
        """The minimum from `start`, where the largest violation of optimality is at most `tol`."""

        last = abs(start.value)  # what the last step promised

        def advance(here: Point) -> tuple[Point | None, float]:
            nonlocal last
            step, promised = self._model_step(problem, here, last)
            last = -promised
            return self._backtrack(problem, here, step, promised), promised

        def is_optimal(point: Point) -> bool:
            return problem.size(self.violation(point)) <= tol * problem.small_beside(point.value)

        def ends_flat(point: Point, promised: float) -> bool:
            return -promised <= 1e-9 * abs(point.value)

        return descent_loop(
            self._penalize(start), advance, is_optimal, max_iter, observer, ends_flat
        )

    def start(self, problem: LogLoss) -> Point:
        """A point near the minimum: a step each at penalties that fall to this one from where all b
        are zero.

        On the way few coefficients are not zero, and steps are cheap.
        """
        here = problem.evaluate(problem.null(), problem.outputs == 1)
        l1 = float(np.abs(here.gradient[:, :-1]).max(initial=0.0)) / _STAGE
        while l1 > 1.5 * self.l1:
            stage = ProximalNewton(l1)
            there = stage._penalize(here)
            next_one = stage._backtrack(
                problem, there, *stage._model_step(problem, there, there.value)
            )
            if next_one is None:
                break
            here = replace(
                next_one, value=next_one.value - l1 * float(np.abs(next_one.theta[:, :-1]).sum())
            )
            l1 /= _STAGE
        return here

    def violation(self, point: Point) -> np.ndarray:
        """How far 0 is from the subgradients, entry by entry."""
        b = point.theta[:, :-1]
        g = point.gradient.copy()
        inner = g[:, :-1]
        inner[:] = np.where(
            b != 0,
            inner + self.l1 * np.sign(b),
            np.sign(inner) * np.maximum(np.abs(inner) - self.l1, 0.0),
        )
        return g

    def _penalize(self, point: Point) -> Point:
        value = point.value + self.l1 * float(np.abs(point.theta[:, :-1]).sum())
        return Point(point.theta, value, point.gradient, point.hessian)

    def _working_set(self, problem: LogLoss, here: Point) -> np.ndarray:
        """Which coefficients may move: those not zero, and those that violate optimality most."""
        b = here.theta[:, :-1]
        violation = np.abs(self.violation(here)[:, :-1])
        moves = b != 0
        if problem.reference is not None:
            moves[problem.reference], violation[problem.reference] = False, 0.0
        violation = np.where(moves, 0.0, violation).ravel()
        room = max(_MOST_NEW, int(moves.sum()))
        new = np.argsort(-violation, kind="stable")[:room]
        moves.flat[new[violation[new] > 0]] = True
        return moves

    def _model_step(self, problem: LogLoss, here: Point, last: float) -> tuple[np.ndarray, float]:
        """The minimiser of g·s + ½ sᵀHs + l1 |b + s|₁ less where we are, and the fall of the linear
        part.

        Only the coefficients of the working set and the intercepts move. The minimum is found to a
        share of `last`, what the last step promised: early models are rough.
        """
        moves = np.column_stack([self._working_set(problem, here), np.zeros(problem.outputs, bool)])
        ends = np.zeros_like(moves)
        ends[:, -1] = problem.fit_intercept & (np.arange(problem.outputs) != problem.reference)
        chosen = np.concatenate([np.flatnonzero(moves), np.flatnonzero(ends)])
        H = problem.curvature(here, chosen)
        inner = int(moves.sum())
        g = here.gradient.ravel()[chosen]
        theta = here.theta.ravel()[chosen]
        Q = H[:inner, :inner]
        side = H[inner:, :inner]
        pull = g[:inner].copy()
        free = None
        if problem.fit_intercept:
            free = PositiveFactor.of(H[inner:, inner:])
            Q = Q - side.T @ free.solve(side)
            pull -= side.T @ free.solve(g[inner:])
        b = theta[:inner].copy()
        _descend(
            np.ascontiguousarray(Q), pull, b, self.l1, max(1e-14 * abs(here.value), _SHARE * last)
        )
        step = np.zeros(here.theta.size)
        step[chosen[:inner]] = b - theta[:inner]
        if free is not None:
            moved = -free.solve(g[inner:] + side @ (b - theta[:inner]))
            # one number added to the intercepts of all classes changes no posterior
            alike = problem.outputs > 1 and problem.reference is None
            if alike:
                step[chosen[inner:]] = moved - moved.mean()
            else:
                step[chosen[inner:]] = moved
        fall = float(here.gradient.ravel() @ step)
        promised = fall + self.l1 * float(np.abs(b).sum() - np.abs(theta[:inner]).sum())
        return step.reshape(problem.shape), promised

    def _backtrack(
        self, problem: LogLoss, here: Point, step: np.ndarray, promised: float
    ) -> Point | None:
        noise = 16 * float(np.finfo(np.float64).eps) * abs(here.value)
        length = 1.0
        while -promised * length > noise:
            there = self._penalize(
                problem.evaluate(here.theta + length * step, problem.outputs == 1)
            )
            if there.value <= here.value + 1e-4 * length * promised:
                return there
            length *= 0.5
        return None


def _descend(Q: np.ndarray, pull: np.ndarray, b: np.ndarray, l1: float, tolerance: float) -> None:
    """Move b to the minimum of pull·(x - b) + ½ (x - b)ᵀQ(x - b) + l1 |x|₁ in x.

    Coordinate descent settles which coefficients are zero, Newton steps on the others the rest.
    """
    q = Q @ b - pull
    for _ in range(_ROUNDS):
        gradient = q - Q @ b
        _, decrease = native.gram_descent(Q, q, gradient, b, l1, 0.0, np.nan, tolerance, _EPOCHS)
        if decrease <= tolerance:
            return
        newton_on_support(lambda on: Q[np.ix_(on, on)], q, b, l1, 0.0)

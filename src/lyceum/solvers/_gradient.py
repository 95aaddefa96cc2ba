"""Gradient descent and conjugate gradients: first-order methods, to teach and to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lyceum.solvers._problem import Outcome, Point, Problem, Watch, descend, is_flat

__all__ = ["ConjugateGradient", "GradientDescent"]


@dataclass(frozen=True, slots=True)
class GradientDescent:
    """θ ← θ - t g, t twice that of the last step and then cut until the objective falls enough.

    The condition of the problem sets its pace: columns of unit spread help.
    """

    needs_hessian: ClassVar[bool] = False

    def minimise(
        self, problem: Problem, start: Point, max_iter: int, tol: float, watch: Watch | None = None
    ) -> Outcome:
        here, history = start, [start.value]
        if watch:
            watch(here)
        rate = 1.0 / max(float(np.linalg.norm(here.gradient)), 1e-300)
        for n_iter in range(1, max_iter + 1):
            if not here.gradient.any():
                return Outcome(here, n_iter, True, history)
            step = -rate * here.gradient
            there = descend(problem, here, step, self.needs_hessian)
            if there is None:
                return Outcome(here, n_iter, is_flat(here, step), history)
            taken = float(np.linalg.norm(there.theta - here.theta)) / float(np.linalg.norm(here.gradient))
            here, rate = there, 2 * taken
            history.append(here.value)
            if watch:
                watch(here)
            if problem.size(here.gradient) <= tol:
                return Outcome(here, n_iter, True, history)
        return Outcome(here, max_iter, False, history)


@dataclass(frozen=True, slots=True)
class ConjugateGradient:
    """Preconditioned nonlinear conjugate gradients (Polak and Ribière, restarted where β < 0).

    With z = M⁻¹ g the direction is p ← -z + β p, β = max(0, z·(g - g_last) / z_last·g_last). A secant through
    the slopes at both ends of the first trial gives the length: two passes an iteration at most.
    """

    needs_hessian: ClassVar[bool] = False

    def minimise(
        self, problem: Problem, start: Point, max_iter: int, tol: float, watch: Watch | None = None
    ) -> Outcome:
        here, history = start, [start.value]
        if watch:
            watch(here)
        z = problem.precondition(here.gradient)
        step = -z
        for n_iter in range(1, max_iter + 1):
            if np.vdot(here.gradient, step) >= 0:
                step = -z
            there = self._along(problem, here, step)
            if there is None:
                return Outcome(here, n_iter, is_flat(here, step), history)
            last, before = here, z
            here, z = there, problem.precondition(there.gradient)
            below = float(np.vdot(before, last.gradient))
            beta = max(0.0, float(np.vdot(z, here.gradient - last.gradient)) / below) if below > 0 else 0.0
            step = -z + beta * step
            history.append(here.value)
            if watch:
                watch(here)
            if problem.size(here.gradient) <= tol:
                return Outcome(here, n_iter, True, history)
        return Outcome(here, max_iter, False, history)

    def _along(self, problem: Problem, here: Point, step: np.ndarray) -> Point | None:
        there = descend(problem, here, step, self.needs_hessian)
        if there is None:
            return None
        slope, end = float(np.vdot(here.gradient, step)), float(np.vdot(there.gradient, step))
        length = float(np.vdot(there.theta - here.theta, step)) / float(np.vdot(step, step))
        best = length * slope / (slope - end) if slope < end else 4 * length
        best = float(np.clip(best, 0.1 * length, 4 * length))
        if abs(best - length) < 0.1 * length:
            return there
        nearer = problem.evaluate(here.theta + best * step, self.needs_hessian)
        return nearer if nearer.value <= there.value else there

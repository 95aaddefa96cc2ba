"""Newton's method with step halving; for generalised linear models it is iteratively reweighted least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum.solvers._problem import Outcome, Problem, Watch, descend

__all__ = ["Newton"]


@dataclass(frozen=True, slots=True)
class Newton:
    """θ ← θ - t H⁻¹ g, with t = 1 unless the objective fails to fall. Each pass also sums the Hessian."""

    def minimise(
        self, problem: Problem, start: np.ndarray, max_iter: int, tol: float, watch: Watch | None = None
    ) -> Outcome:
        here = problem.evaluate(start, hessian=True)
        history = [here.value]
        if watch:
            watch(here)
        for n_iter in range(1, max_iter + 1):
            there = descend(problem, here, problem.newton_step(here), hessian=True)
            if there is None:  # no step lowers it further: the last digit is reached
                return Outcome(here, n_iter, True, history)
            here = there
            history.append(here.value)
            if watch:
                watch(here)
            if problem.size(here.gradient) <= tol:
                return Outcome(here, n_iter, True, history)
        return Outcome(here, max_iter, False, history)

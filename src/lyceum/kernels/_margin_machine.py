"""One support vector machine for two classes, with everything that is known about its optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from lyceum.errors import DataError
from lyceum.kernels._kernel import Kernel
from lyceum.kernels._kernel_rows import is_moved
from lyceum.kernels._product_kernels import Linear
from lyceum.kernels._smo import DualProblem, DualSolution, solve_dual

__all__ = ["Intercept", "MarginMachine", "SolverSettings", "fit_margin_machine", "intercept_of"]

Intercept = Literal["free", "penalized"] | None

_LEAST_MARGIN = 1e-5  # of the largest length in feature space: less is no hard margin
_LARGEST_PROGRAM = 2_000_000  # cells of the linear program that tells whether a plane separates


class SolverSettings(NamedTuple):
    """Where the solver stops, and what it may hold."""

    tol: float
    max_iter: int
    cache: float  # bytes


@dataclass(frozen=True)
class MarginMachine:
    """w = Σ α_i y_i φ(x_i) and b, with the values of the primal and the dual problem.

    primal  ½ |w|² + Σ C_i ξ_i,  ξ_i = max(0, 1 - y_i f(x_i))
    dual    Σ α_i - ½ Σ_ij α_i α_j y_i y_j k(x_i, x_j)
    """

    alpha: np.ndarray  # (n,)
    signs: np.ndarray  # (n,), y of ±1
    bound: np.ndarray  # (n,), C_i
    scores: np.ndarray  # (n,), f(x_i)
    intercept: float
    length: float  # |w|
    primal: float
    dual: float
    kkt: float  # the largest violation of the Karush-Kuhn-Tucker conditions
    rounds: int
    steps: int
    converged: bool
    history: list[float]

    @property
    def slack(self) -> np.ndarray:
        return np.maximum(0.0, 1.0 - self.signs * self.scores)

    @property
    def margin_width(self) -> float:
        """2 / |w|."""
        return 2.0 / self.length if self.length > 0 else np.inf

    @property
    def at_bound(self) -> np.ndarray:
        return (self.alpha > 0) & (self.alpha >= self.bound)

    @property
    def on_margin(self) -> np.ndarray:
        return (self.alpha > 0) & (self.alpha < self.bound)


def fit_margin_machine(
    kernel: Kernel,
    X: Any,
    signs: np.ndarray,
    bound: np.ndarray,
    intercept: Intercept,
    settings: SolverSettings,
) -> MarginMachine:
    """The machine of rows X with classes ±1 and bounds C_i, all of them infinite for a hard margin."""
    problem = DualProblem(signs, signs, bound, None, intercept == "free", float(intercept == "penalized"))
    if np.isinf(bound).any():
        found = _hard_margin(problem, kernel, X, settings)
    else:
        found = solve_dual(problem, kernel, X, **settings._asdict())
    return _described(problem, found)


def _described(problem: DualProblem, found: DualSolution) -> MarginMachine:
    alpha, signs, bound = found.b, problem.s, problem.C
    coef = signs * alpha
    b = intercept_of(problem, found)
    scores = found.F + (b if problem.balanced else 0.0)
    square = float(coef @ found.F)
    margins = signs * scores - 1.0
    slack = np.maximum(0.0, -margins)
    cost = float(bound[slack > 0] @ slack[slack > 0]) if np.isfinite(bound).all() else 0.0
    free, counted = (alpha > 0) & (alpha < bound), bound > 0
    wrong = np.where(free, np.abs(margins), np.where(alpha > 0, np.maximum(0.0, margins), slack))
    length = np.sqrt(max(0.0, square - (b * b if problem.shift else 0.0)))
    return MarginMachine(
        alpha=alpha,
        signs=signs,
        bound=bound,
        scores=scores,
        intercept=b,
        length=float(length),
        primal=0.5 * square + cost,
        dual=float(alpha.sum()) - 0.5 * square,
        kkt=float(wrong[counted].max(initial=0.0)),
        rounds=found.rounds,
        steps=found.steps,
        converged=found.converged,
        history=found.history,
    )


def intercept_of(problem: DualProblem, found: DualSolution) -> float:
    """b: what the rows inside of their bounds ask for, or the middle of what is allowed."""
    if not problem.balanced:
        return problem.shift * float(problem.s @ found.b)
    free = (found.b > 0) & (found.b < problem.C)
    if free.any():
        return float(
            np.clip(problem.v(found.F)[free].mean(), min(found.low, found.up), max(found.low, found.up))
        )
    ends = [end for end in (found.up, found.low) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0


def _hard_margin(problem: DualProblem, kernel: Kernel, X: Any, settings: SolverSettings) -> DualSolution:
    """Soft margins of growing C, until no variable is at its bound: that is the optimum without one.

    The dual objective D of any feasible α bounds the margin of every separating plane by 1 / √(2D): when
    that is next to nothing the classes are not separable. A few working sets show that for a C.
    """
    moved = is_moved(kernel, X, problem.balanced)  # an offset of all rows says nothing about their margin
    rows = X - X.mean(axis=0, dtype=np.float64) if moved else X
    size = (float(np.max(kernel.diagonal(rows), initial=0.0)) + problem.shift) or 1.0
    C, start, quick = 10.0 / size, None, settings._replace(max_iter=min(10, settings.max_iter))
    history: list[float] = []
    while True:
        bounded = replace(problem, C=np.where(problem.C > 0, C, 0.0))
        found = solve_dual(bounded, kernel, X, **quick._asdict(), start=start)
        if found.b.max(initial=0.0) < C and not found.converged:
            found = solve_dual(bounded, kernel, X, **settings._asdict(), start=found.b)
        history += found.history
        inside = found.b.max(initial=0.0) < C
        if inside and found.converged:
            found.history = history
            return found
        margin = 1.0 / np.sqrt(2.0 * max(bounded.objective(found.b, found.F), 1e-300))
        if inside or margin < _LEAST_MARGIN * np.sqrt(size):
            raise _no_hard_margin(problem, kernel, rows, margin)
        C, start = 10.0 * C, found.b


def _no_hard_margin(problem: DualProblem, kernel: Kernel, rows: Any, margin: float) -> DataError:
    """The error where no plane has a margin worth the name; by the linear kernel, whether one separates."""
    used = problem.C > 0
    separated = isinstance(kernel, Linear) and not sparse.issparse(rows) and rows.size <= _LARGEST_PROGRAM
    free = problem.balanced or problem.shift > 0
    if separated and _is_separable(np.asarray(rows, np.float64)[used], problem.s[used], free):
        return DataError(
            f"the classes are separable by the kernel {kernel!r}, but no plane has a margin above "
            f"{margin:.1e}, too thin for a hard margin (C=inf) in floating point: give a large finite C, or "
            "another kernel"
        )
    return DataError(
        f"the classes are not separable by the kernel {kernel!r}: no plane has a margin above "
        f"{margin:.1e}, so there is no hard margin (C=inf); give a finite C, or another kernel"
    )


def _is_separable(X: np.ndarray, signs: np.ndarray, free: bool) -> bool:
    """Whether a plane has every row strictly on its side: the linear program y (xᵀw + b) >= t, |w| <= 1.

    Its largest t is positive, by more than the solver's tolerance on rows of size 1, if and only if so.
    """
    X = X / max(float(np.abs(X).max(initial=0.0)), 1e-300)
    design = np.column_stack([X, np.ones(len(X))]) if free else X
    A = np.column_stack([-signs[:, None] * design, np.ones(len(X))])
    goal = np.append(np.zeros(design.shape[1]), -1.0)
    limits = [(-1e6, 1e6)] * design.shape[1] + [(None, 1.0)]
    found = linprog(goal, A_ub=A, b_ub=np.zeros(len(X)), bounds=limits, method="highs")
    if found.x is None:
        return False
    scores = signs * (design @ found.x[:-1])  # what the plane does to the rows, not what the program says
    return bool(scores.min() > 1e-15 * max(1.0, float(np.abs(found.x[:-1]).max())) * design.shape[1])

"""One support vector machine for two classes, with everything that is known about its optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import linprog

from lyceum.errors import DataError
from lyceum.kernels.functions.base import Kernel
from lyceum.kernels.functions.other import PrecomputedKernel
from lyceum.kernels.functions.products import LinearKernel, RBFKernel
from lyceum.kernels.functions.rows import is_moved
from lyceum.kernels.svm.smo import DualProblem, DualSolution, solve_dual

_LEAST_MARGIN = 1e-5  # of the largest length in feature space: less is no hard margin
_LARGEST_PROGRAM = 2_000_000  # cells of the linear program that tells whether a plane separates
_SMALL_PROGRAM = 90_000  # of one with a full matrix of kernel values


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
        if self.length > 0:
            return 2.0 / self.length
        return np.inf

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
    intercept_scaling: float,
    settings: SolverSettings,
) -> MarginMachine:
    """The machine of rows X with classes ±1 and bounds C_i, all of them infinite for a hard margin.

    The intercept is the weight of a column of this number: free if it is inf, none if it is 0.
    """
    is_free = bool(np.isinf(intercept_scaling))
    shift = 0.0 if is_free else intercept_scaling**2
    problem = DualProblem(signs, signs, bound, None, is_free, shift)
    if np.isinf(bound).any():
        found = _hard_margin(problem, kernel, X, settings)
    else:
        found = solve_dual(problem, kernel, X, **settings._asdict())
    return _machine_of(problem, found)


def _machine_of(problem: DualProblem, found: DualSolution) -> MarginMachine:
    alpha = found.b
    signs = problem.s
    bound = problem.C
    coef = signs * alpha
    b = intercept_of(problem, found)
    scores = found.F + (b if problem.balanced else 0.0)
    square = float(coef @ found.F)
    margins = signs * scores - 1.0
    slack = np.maximum(0.0, -margins)
    if np.isfinite(bound).all():
        cost = float(bound[slack > 0] @ slack[slack > 0])
    else:
        cost = 0.0
    free = (alpha > 0) & (alpha < bound)
    counted = bound > 0
    wrong = np.where(free, np.abs(margins), np.where(alpha > 0, np.maximum(0.0, margins), slack))
    of_intercept = b * b / problem.shift if problem.shift else 0.0
    length = np.sqrt(max(0.0, square - of_intercept))
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
    """b: from the rows inside of their bounds, or the middle of the allowed interval."""
    if not problem.balanced:
        return problem.shift * float(problem.s @ found.b)
    free = (found.b > 0) & (found.b < problem.C)
    if free.any():
        return float(
            np.clip(
                problem.v(found.F)[free].mean(), min(found.low, found.up), max(found.low, found.up)
            )
        )
    ends = [end for end in (found.up, found.low) if np.isfinite(end)]
    if ends:
        return float(np.mean(ends))
    return 0.0


def _hard_margin(
    problem: DualProblem, kernel: Kernel, X: Any, settings: SolverSettings
) -> DualSolution:
    """Soft margins of growing C, until no variable is at its bound: that is the optimum without
    one.

    The dual objective D of any feasible α bounds the margin of every separating plane by 1 / √(2D):
    when that is next to nothing the classes are not separable. A few working sets show that for a
    C. Once a C is not enough it is found out whether any plane separates, where that can be told.
    """
    moved = is_moved(
        kernel, X, problem.balanced
    )  # an offset of all rows says nothing about their margin
    if moved:
        rows = X - X.mean(axis=0, dtype=np.float64)
    else:
        rows = X
    size = (float(np.max(kernel.diagonal(rows), initial=0.0)) + problem.shift) or 1.0
    C = 10.0 / size
    start = None
    quick = settings._replace(max_iter=min(10, settings.max_iter))
    history: list[float] = []
    separable: bool | None = None
    while True:
        bounded = replace(problem, C=np.where(problem.C > 0, C, 0.0))
        found = solve_dual(bounded, kernel, X, **quick._asdict(), start=start)
        history += found.history
        left = settings.max_iter - found.rounds
        while left > 0 and not found.converged and found.b.max(initial=0.0) < C:
            if _largest_margin(bounded, found) < _LEAST_MARGIN * np.sqrt(size):
                break
            found = solve_dual(bounded, kernel, X, **quick._asdict(), start=found.b)
            history = history + found.history
            left = left - max(1, found.rounds)
        inside = found.b.max(initial=0.0) < C
        if inside and found.converged:
            found.history = history
            return found
        margin = _largest_margin(bounded, found)
        if start is None and not inside:
            separable = _is_separable_by(problem, kernel, rows)
        if separable is False or inside or margin < _LEAST_MARGIN * np.sqrt(size):
            raise _no_hard_margin(kernel, margin, separable)
        C = 10.0 * C
        start = found.b


def _largest_margin(problem: DualProblem, found: DualSolution) -> float:
    """An upper bound on the margin of any separating plane, from the dual objective."""
    return 1.0 / np.sqrt(2.0 * max(problem.objective(found.b, found.F), 1e-300))


def _no_hard_margin(kernel: Kernel, margin: float, separable: bool | None) -> DataError:
    """The error where no plane has a usable margin; it says whether a plane separates the classes
    at all."""
    if separable is False:
        return DataError(
            f"the classes are not separable by the kernel {kernel!r}, so there is no hard margin"
            " (C=inf); give a finite C, or another kernel"
        )
    most = f"margin above {margin:.1e}"
    if separable:
        what = f"the classes are separable by the kernel {kernel!r}, but no plane has a {most},"
    else:
        what = (
            f"no plane of the kernel {kernel!r} has a {most}: the classes are not separable, or"
            " it is"
        )
    return DataError(
        f"{what} too thin for a hard margin (C=inf) in floating point: give a large finite C, or"
        " another kernel"
    )


def _is_separable_by(problem: DualProblem, kernel: Kernel, rows: Any) -> bool | None:
    """Whether a plane in the feature space has every row strictly on its side; None if it is too
    much work.

    By an RBF kernel any rows are, unless two of them are equal; by the linear kernel a linear
    program tells for the columns; by others for w = Σ a_i φ(x_i), whose scores are K a + b, after
    the plane that interpolates the classes was tried.
    """
    used = np.flatnonzero(problem.C > 0)
    signs = problem.s[used]
    free = problem.balanced or problem.shift > 0
    if isinstance(kernel, RBFKernel) and not sparse.issparse(rows):
        X = np.asarray(rows)[used]
        place = np.unique(X, axis=0, return_inverse=True)[1].ravel()
        return not (np.bincount(place, signs > 0) * np.bincount(place, signs < 0)).any()
    linear = isinstance(kernel, LinearKernel) and not sparse.issparse(rows)
    if linear:
        cells = rows.size
    else:
        cells = len(used) ** 2
    if cells > _LARGEST_PROGRAM:
        return None
    if linear:
        return _is_separable(np.asarray(rows, np.float64)[used], signs, free)
    given = isinstance(kernel, PrecomputedKernel)
    K = np.asarray(rows[np.ix_(used, used)] if given else kernel.gram(rows[used]), dtype=np.float64)
    if _interpolates(K, signs, free):
        return True
    if cells <= _SMALL_PROGRAM:
        return _is_separable(K, signs, free)
    return None


def _interpolates(K: np.ndarray, signs: np.ndarray, free: bool) -> bool:
    """Whether the least-squares fit of the classes by columns of K has every row on its side.

    By more than what rounding does to its scores: rows that are equal have equal scores.
    """
    if free:
        design = np.column_stack([K, np.ones(len(K))])
    else:
        design = K
    size = max(float(np.abs(design).max(initial=0.0)), 1e-300)
    for cutoff in (1e-15, 1e-12):
        a = linalg.lstsq(design / size, signs, cond=cutoff, check_finite=False)[0]
        rounding = 4.0 * np.finfo(float).eps * float(np.abs(a).sum())
        if float((signs * (design / size @ a)).min()) > max(1e-3, rounding):
            return True
    return False


def _is_separable(X: np.ndarray, signs: np.ndarray, free: bool) -> bool:
    """Whether a plane has every row strictly on its side: the linear program y (xᵀw + b) >= t, |w|
    <= 1.

    Its largest t is positive, by more than the solver's tolerance on rows of size 1, if and only if
    so.
    """
    X = X / max(float(np.abs(X).max(initial=0.0)), 1e-300)
    if free:
        design = np.column_stack([X, np.ones(len(X))])
    else:
        design = X
    A = np.column_stack([-signs[:, None] * design, np.ones(len(X))])
    goal = np.append(np.zeros(design.shape[1]), -1.0)
    limits = [(-1e6, 1e6)] * design.shape[1] + [(None, 1.0)]
    found = linprog(goal, A_ub=A, b_ub=np.zeros(len(X)), bounds=limits, method="highs")
    if found.x is None:
        return False
    scores = signs * (
        design @ found.x[:-1]
    )  # what the plane does to the rows, not what the program says
    return bool(
        scores.min() > 1e-15 * max(1.0, float(np.abs(found.x[:-1]).max())) * design.shape[1]
    )

"""One support vector machine for two classes, with everything that is known about its optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, optimize, sparse

from lyceum._core.types import Data
from lyceum.errors import DataError
from lyceum.kernels.functions.base import Kernel
from lyceum.kernels.functions.other import PrecomputedKernel
from lyceum.kernels.functions.products import LinearKernel, RBFKernel
from lyceum.kernels.functions.rows import is_moved
from lyceum.kernels.svm.smo import DualProblem, DualSolution, solve_dual

_LEAST_MARGIN = 1e-5  # of the largest length in feature space: less is no hard margin
# cells of the linear program that tells whether a plane separates
_LARGEST_PROGRAM = 2_000_000
_SMALL_PROGRAM = 90_000  # of one with a full matrix of kernel values


class SolverSettings(NamedTuple):
    """Where the solver stops, and what it may hold."""

    tol: float
    max_iter: int  # steps of SMO
    cache: float  # bytes
    record: bool = False  # whether to keep every step


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
    steps: int
    converged: bool
    history: list[float]
    record: list[np.ndarray]  # α after every step, empty unless it was asked for

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
    X: Data,
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
    problem = DualProblem(signs, signs, bound, balanced=is_free, shift=shift)
    if np.isinf(bound).any():
        solution = _hard_margin(problem, kernel, X, settings)
    else:
        solution = solve_dual(problem, kernel, X, **settings._asdict())
    return _machine_of(problem, solution)


def _machine_of(problem: DualProblem, solution: DualSolution) -> MarginMachine:
    alpha = solution.b
    signs = problem.s
    bound = problem.C
    # |w|² + (b/s)² = Σ α y F, as F has the shift s² of a penalized intercept in it
    coef = signs * alpha
    b = intercept_of(problem, solution)
    scores = solution.F + (b if problem.balanced else 0.0)
    square = float(coef @ solution.F)
    margins = signs * scores - 1.0
    slack = np.maximum(0.0, -margins)
    # Σ C_i ξ_i; a hard margin, of infinite C, has no slack
    cost = 0.0
    if np.isfinite(bound).all():
        cost = float(bound[slack > 0] @ slack[slack > 0])
    # KKT: α = 0 has margin ≥ 1, 0 < α < C margin 1, α = C margin ≤ 1
    free = (alpha > 0) & (alpha < bound)
    counted = bound > 0
    of_bounded = np.where(alpha > 0, np.maximum(0.0, margins), slack)
    wrong = np.where(free, np.abs(margins), of_bounded)
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
        steps=solution.steps,
        converged=solution.converged,
        history=solution.history,
        record=solution.record or [],
    )


def intercept_of(problem: DualProblem, solution: DualSolution) -> float:
    """b: from the rows inside of their bounds, or the middle of the allowed interval."""
    if not problem.balanced:
        return problem.shift * float(problem.s @ solution.b)
    # v of the free rows is b at the optimum; their mean takes out the rest of the violation
    ends = [solution.up, solution.low]
    free = (solution.b > 0) & (solution.b < problem.C)
    if free.any():
        mean = problem.v(solution.F)[free].mean()
        return float(np.clip(mean, min(ends), max(ends)))
    finite = [end for end in ends if np.isfinite(end)]
    return float(np.mean(finite)) if finite else 0.0


def _hard_margin(
    problem: DualProblem,
    kernel: Kernel,
    X: Any,
    settings: SolverSettings,
) -> DualSolution:
    """Soft margins of growing C, until no variable is at its bound: that is the optimum without
    one.

    The dual objective D of any feasible α bounds the margin of every separating plane by 1 / √(2D):
    when that is next to nothing the classes are not separable. A few working sets show that for a
    C. Once a C is not enough it is found out whether any plane separates, where that can be told.
    """
    rows = X
    if is_moved(kernel, X, problem.balanced):
        # an offset of all rows says nothing about their margin
        rows = X - X.mean(axis=0, dtype=np.float64)
    # the square of the largest length in feature space, which sets the scale of C and margins
    largest = float(np.max(kernel.diagonal(rows), initial=0.0))
    size = (largest + problem.shift) or 1.0
    least = _LEAST_MARGIN * np.sqrt(size)
    C = 10.0 / size
    start = None
    history: list[float] = []
    record: list[np.ndarray] = []
    separable: bool | None = None
    left = settings.max_iter
    while True:
        bounded = replace(problem, C=np.where(problem.C > 0, C, 0.0))
        solution = _soft_margin(bounded, C, least, kernel, X, settings, left, start)
        left -= solution.steps
        history += solution.history
        record += solution.record or []
        is_inside = solution.b.max(initial=0.0) < C
        if left <= 0 or (is_inside and solution.converged):
            solution.steps = settings.max_iter - left
            solution.history = history
            solution.record = record
            return solution
        margin = _largest_margin(bounded, solution)
        if start is None and not is_inside:
            separable = _is_separable_by(problem, kernel, rows)
        if separable is False or is_inside or margin < least:
            raise _no_hard_margin(kernel, margin, separable)
        # a larger C starts from the α of the last, which is feasible for it
        C = 10.0 * C
        start = solution.b


def _soft_margin(
    problem: DualProblem,
    C: float,
    least: float,
    kernel: Kernel,
    X: Data,
    settings: SolverSettings,
    left: int,
    start: np.ndarray | None,
) -> DualSolution:
    """The machine of one C, ten working sets at a time, until it has converged, a variable is at
    its bound, no plane can have a margin of `least`, or no steps are left."""
    quick = settings._asdict() | {"max_iter": left, "max_rounds": 10}
    solution = solve_dual(problem, kernel, X, **quick, start=start, exact=True)
    history = solution.history
    record = solution.record or []
    steps = solution.steps
    left -= steps
    while left > 0 and not solution.converged and solution.b.max(initial=0.0) < C:
        if _largest_margin(problem, solution) < least:
            break
        quick["max_iter"] = left
        solution = solve_dual(problem, kernel, X, **quick, start=solution.b, exact=True)
        history = history + solution.history
        record = record + (solution.record or [])
        steps += solution.steps
        left -= max(1, solution.steps)
    solution.steps = steps
    solution.history = history
    solution.record = record
    return solution


def _largest_margin(problem: DualProblem, solution: DualSolution) -> float:
    """An upper bound on the margin of any separating plane, from the dual objective."""
    dual = problem.objective(solution.b, solution.F)
    return 1.0 / np.sqrt(2.0 * max(dual, 1e-300))


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
        group = np.unique(X, axis=0, return_inverse=True)[1].ravel()
        n_positive = np.bincount(group, signs > 0)
        n_negative = np.bincount(group, signs < 0)
        return not (n_positive * n_negative).any()
    linear = isinstance(kernel, LinearKernel) and not sparse.issparse(rows)
    cells = rows.size if linear else len(used) ** 2
    if cells > _LARGEST_PROGRAM:
        return None
    if linear:
        return _is_separable(np.asarray(rows, np.float64)[used], signs, free)
    if isinstance(kernel, PrecomputedKernel):
        K = rows[np.ix_(used, used)]
    else:
        K = kernel.gram(rows[used])
    K = np.asarray(K, dtype=np.float64)
    if _interpolates(K, signs, free):
        return True
    if cells <= _SMALL_PROGRAM:
        return _is_separable(K, signs, free)
    return None


def _interpolates(K: np.ndarray, signs: np.ndarray, free: bool) -> bool:
    """Whether the least-squares fit of the classes by columns of K has every row on its side.

    By more than what rounding does to its scores: rows that are equal have equal scores.
    """
    design = np.column_stack([K, np.ones(len(K))]) if free else K
    largest = float(np.abs(design).max(initial=0.0))
    design = design / max(largest, 1e-300)
    # a K of many scales is fitted better with its small directions, a rounded one without
    for cutoff in (1e-15, 1e-12):
        a = linalg.lstsq(design, signs, cond=cutoff, check_finite=False)[0]
        rounding = 4.0 * np.finfo(float).eps * float(np.abs(a).sum())
        margins = signs * (design @ a)
        if float(margins.min()) > max(1e-3, rounding):
            return True
    return False


def _is_separable(X: np.ndarray, signs: np.ndarray, free: bool) -> bool:
    """Whether a plane has every row strictly on its side: the linear program y (xᵀw + b) >= t, |w|
    <= 1.

    Its largest t is positive, by more than the solver's tolerance on rows of size 1, if and only if
    so.
    """
    largest = float(np.abs(X).max(initial=0.0))
    X = X / max(largest, 1e-300)
    design = np.column_stack([X, np.ones(len(X))]) if free else X
    # variables w, b and t ≤ 1: minimize -t over t - y (xᵀw + b) ≤ 0
    A = np.column_stack([-signs[:, None] * design, np.ones(len(X))])
    goal = np.append(np.zeros(design.shape[1]), -1.0)
    limits = [(-1e6, 1e6)] * design.shape[1] + [(None, 1.0)]
    zeros = np.zeros(len(X))
    solution = optimize.linprog(goal, A_ub=A, b_ub=zeros, bounds=limits, method="highs")
    if solution.x is None:
        return False
    # what the plane does to the rows, not what the program says
    plane = solution.x[:-1]
    scores = signs * (design @ plane)
    largest = max(1.0, float(np.abs(plane).max()))
    rounding = 1e-15 * largest * design.shape[1]
    return bool(scores.min() > rounding)

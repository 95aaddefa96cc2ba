"""The dual problem of support vector machines, solved on one working set after the other.

    minimize ½ Σ_tu s_t s_u b_t b_u k(x_t, x_u) - Σ_t s_t z_t b_t over 0 ≤ b_t ≤ C_t, and Σ s_t b_t
    = 0

where the intercept is free. Classification has one variable per row, s = z = y; regression two, s =
1 with z = y - ε and s = -1 with z = y + ε. With F_r = Σ_t s_t b_t k(x_t, x_r), v_t = z_t - F_t is
what an intercept would have to be for the row to be on its margin, and optimality is: no v that
could still rise is above one that could still fall. The largest difference is the violation that
`tol` bounds (Keerthi et al. 2001).

Every round takes the variables that violate most, solves their problem by native SMO on their q × q
kernel values, and adds what changed to F by one product of kernel rows, which are computed on the
way. Many rows are solved in float32 first; then F is computed in double where it matters, and
everywhere, with more rounds in double, if that shows a difference that counts.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from lyceum._core.native import native
from lyceum.kernels.functions.base import Kernel
from lyceum.kernels.functions.rows import KernelRows, is_moved, kernel_rows
from lyceum.progress import report

_SMALL = 2000  # rows whose Gram matrix is small: all variables in one working set
_STEPS = 100  # SMO steps per variable of a working set, at most
_EXACT = 200  # rows of a problem that is solved to the last digit
_MOST_FREE = 500  # variables inside of their bounds that are solved by linear algebra
_ROUNDING = 1e-13  # of the largest number around: a violation that rounding explains


@dataclass(frozen=True)
class DualProblem:
    """Signs, targets and bounds of the variables, and the row of each."""

    s: np.ndarray
    z: np.ndarray
    C: np.ndarray
    row: np.ndarray | None = None  # None: variable t is of row t
    balanced: bool = True  # whether Σ s b = 0, which a free intercept asks for
    # added to every kernel value: s² for an intercept with a column of s
    shift: float = 0.0

    def rows_of(self, variables: np.ndarray) -> np.ndarray:
        if self.row is None:
            return variables
        return self.row[variables]

    def v(self, F: np.ndarray) -> np.ndarray:
        """What an intercept would have to be for the row of each variable to be on its margin."""
        return self.z - (F if self.row is None else F[self.row])

    def coef(self, b: np.ndarray, n: int) -> np.ndarray:
        """Σ s b of the variables of every row."""
        if self.row is None:
            return self.s * b
        return np.bincount(self.row, self.s * b, n)

    def objective(self, b: np.ndarray, F: np.ndarray) -> float:
        """The dual objective, which is maximized."""
        coef = self.coef(b, len(F))
        return float((self.s * self.z) @ b - 0.5 * coef @ F)


@dataclass
class DualSolution:
    """Where the solver is: the variables, F of every row, and how far from optimal."""

    b: np.ndarray
    F: np.ndarray
    up: float = np.inf  # the largest v that could still rise
    low: float = -np.inf  # the least v that could still fall
    rounds: int = 0  # working sets
    steps: int = 0  # of SMO in all of them, before the last digits are solved for
    converged: bool = False
    history: list[float] = field(default_factory=list)
    record: list[np.ndarray] | None = None  # the variables after every step


class _Limits(NamedTuple):
    """Where the solver stops, converged or not."""

    steps: int
    rounds: int

    def met(self, state: DualSolution) -> bool:
        return state.steps >= self.steps or state.rounds >= self.rounds


def solve_dual(
    problem: DualProblem,
    kernel: Kernel,
    X: Any,
    *,
    tol: float,
    max_iter: int,
    max_rounds: int = sys.maxsize,
    cache: float = 2e8,
    start: np.ndarray | None = None,
    exact: bool = False,
    record: bool = False,
) -> DualSolution:
    """The solution to a violation of at most `tol`, or where `max_iter` steps or `max_rounds` led;
    that of a small problem to the last digit.

    Parameters
    ----------
    problem : DualProblem
    kernel : Kernel
        With all settings known.
    X : array or CSR of shape (n, d)
        The rows; for `Precomputed` the Gram matrix.
    tol : float
    max_iter : int
        Most steps of SMO.
    max_rounds : int
        Most working sets.
    cache : float
        Bytes for kernel values, where keeping them is quicker than computing them again.
    start : array of shape (n_variables,), optional
        Variables to start from.
    exact : bool
        Whether a problem of many rows is solved to the last digit, too.
    record : bool
        Whether to keep the variables after every step of SMO.

    Returns
    -------
    DualSolution
    """
    n = X.shape[0]
    variables = np.zeros(len(problem.s)) if start is None else start.copy()
    state = DualSolution(variables, np.zeros(n))
    if record:
        state.record = [state.b.copy()]

    def rows(dtype: Any) -> KernelRows:
        return kernel_rows(kernel, X, dtype, cache, problem.shift, problem.balanced)

    limits = _Limits(max_iter, max_rounds)
    double = rows(np.float64)
    if start is not None:
        _refresh(problem, double, state)
    is_computed = X.dtype.kind == "f" and kernel.name != "precomputed"
    if n > _SMALL and double.dtype == np.float64 and is_computed:
        quick = rows(np.float32)
        state.converged = _quick_rounds(problem, quick, double, state, tol, limits)
        if state.converged and not exact:
            return _undo_shift(problem, kernel, X, state)
        _refresh(problem, double, state)
    # the last rounds in double: F from scratch shows what the rounding of updates has hidden
    for _ in range(4):
        _rounds(problem, double, state, tol, limits, patience=200)
        _refresh(problem, double, state)
        state.converged = _violation(problem, state) <= tol
        if state.converged or limits.met(state):
            break
    if state.converged and (exact or n <= _EXACT):
        _polish(problem, double, state)
    return _undo_shift(problem, kernel, X, state)


def _quick_rounds(
    problem: DualProblem,
    quick: KernelRows,
    double: KernelRows,
    state: DualSolution,
    tol: float,
    limits: _Limits,
) -> bool:
    """Most rounds in float32, to a tighter tolerance if double precision then disagrees; whether
    `tol` was reached."""
    for share in (0.9, 0.5):
        _rounds(problem, quick, state, share * tol, limits, patience=12)
        if _correct(problem, double, state) > 0.02 * tol:
            return False
        if _violation(problem, state) <= tol:
            return True
    return False


def _undo_shift(
    problem: DualProblem,
    kernel: Kernel,
    X: Any,
    state: DualSolution,
) -> DualSolution:
    """F of the rows as they came, where a linear kernel was solved about their mean."""
    if is_moved(kernel, X, problem.balanced and not problem.shift):
        # F of a row is less by w·mean, as Σ s b = 0: w = Σ s b x
        coef = problem.coef(state.b, len(state.F))
        used = np.flatnonzero(coef)
        w = coef[used] @ X[used].astype(np.float64)
        at_mean = float(w @ X.mean(axis=0, dtype=np.float64))
        state.F = state.F + at_mean
        state.up = state.up - at_mean
        state.low = state.low - at_mean
    return state


def _violation(problem: DualProblem, state: DualSolution) -> float:
    v = problem.v(state.F)
    state.up, state.low = native.smo_violation(v, problem.s, problem.C, state.b)
    if problem.balanced:
        return state.up - state.low
    # without a free intercept every v that may move is to be 0, not one number for all
    return max(state.up, -state.low, 0.0)


def _rounds(
    problem: DualProblem,
    rows: KernelRows,
    state: DualSolution,
    tol: float,
    limits: _Limits,
    patience: int,
) -> None:
    """Working sets until the violation is at most tol, or has not halved for `patience` rounds."""
    # larger working sets cost more kernel values per round, and need fewer rounds
    count = len(problem.s)
    n = len(state.F)
    if n <= _SMALL:
        size = count
    elif n <= 20_000:
        size = 1024
    else:
        size = 2048
    size = min(size, count, rows.most)
    # variables of the last set that stay in the next
    carried = np.empty(0, dtype=np.int64)
    last = np.empty(0, dtype=np.int64)
    best = np.inf
    since = 0  # rounds since the violation halved
    while not limits.met(state):
        violation = _violation(problem, state)
        state.history.append(problem.objective(state.b, state.F))
        report("working sets", state.rounds)
        if violation <= tol:
            return
        since += 1
        if violation < 0.5 * best:
            best = violation
            since = 0
        if since > patience:
            return
        # the variables that violate most, and half of those that the last round brought in
        v = problem.v(state.F)
        chosen = np.arange(count)
        goal = 0.5 * tol
        # a part of the problem need not be solved further than the whole is
        if size < count:
            chosen = native.smo_working_set(
                v, problem.s, problem.C, state.b, size, carried
            )
            goal = max(goal, 0.1 * violation)
            carried = np.setdiff1d(chosen, last, assume_unique=True)[: size // 2]
        _work(problem, rows, state, chosen, v, goal, limits.steps - state.steps)
        last = chosen


def _work(
    problem: DualProblem,
    rows: KernelRows,
    state: DualSolution,
    chosen: np.ndarray,
    v: np.ndarray,
    tol: float,
    max_steps: int,
    exact: bool = False,
) -> None:
    """One working set: its problem, and what it changes in F."""
    # SMO on the q variables: pairs that violate most, each moved to its optimum
    indices = problem.rows_of(chosen)
    K = rows.block(indices)
    before = state.b[chosen]
    s = problem.s[chosen]
    b = before.copy()
    slopes = v[chosen].astype(K.dtype)
    C = problem.C[chosen]
    most = min(max_steps, _STEPS * len(b))
    # a negative count says that the steps did not suffice
    if state.record is None or exact:
        steps = native.smo_steps(K, s, C, b, slopes, problem.balanced, tol, most)
    else:
        steps = 0
        while native.smo_steps(K, s, C, b, slopes, problem.balanced, tol, 1) < 0:
            steps += 1
            state.record.append(state.b.copy())
            state.record[-1][chosen] = b
            if steps == most:
                steps = -1
                break
    state.steps += most if steps < 0 else steps
    # where SMO is slow, but not where the user stops it
    if exact or (steps < 0 and most < max_steps):
        _newton_steps(K, s, C, b, slopes, problem.balanced)
    # F += Σ s Δb k(x_t, ·) over the variables that changed
    state.b[chosen] = b
    changed = b != before
    change = s * (b - before)
    rows.add(state.F, indices[changed], change[changed])
    state.rounds += 1


def _polish(problem: DualProblem, rows: KernelRows, state: DualSolution) -> None:
    """The active set to its end: variables inside of their bounds by linear algebra, and steps of
    SMO for those that this brings in, while the violation falls."""
    count = len(problem.s)
    none = np.empty(0, dtype=np.int64)
    rounds = state.rounds
    steps = state.steps
    for _ in range(10):
        violation = _violation(problem, state)
        largest = max(1.0, float(np.abs(state.F).max(initial=0.0)))
        if violation <= _ROUNDING * largest:
            break
        before = state.b.copy()
        F = state.F
        v = problem.v(F)
        chosen = np.arange(count)
        if count > _SMALL:
            chosen = native.smo_working_set(
                v, problem.s, problem.C, state.b, _SMALL, none
            )
        state.F = F.copy()
        goal = 0.1 * violation
        _work(problem, rows, state, chosen, v, goal, sys.maxsize, exact=True)
        _refresh(problem, rows, state)
        if not _violation(problem, state) < violation:
            state.b = before
            state.F = F
            _violation(problem, state)
            break
    state.rounds = rounds
    state.steps = steps
    state.history.append(problem.objective(state.b, state.F))


def _newton_steps(
    K: np.ndarray,
    s: np.ndarray,
    C: np.ndarray,
    b: np.ndarray,
    v: np.ndarray,
    balanced: bool,
) -> None:
    """Where SMO is slow: the optimum of the variables inside of their bounds by linear algebra, in
    place.

    All v of these are to be one number (0 if not balanced); a step ends where a variable meets its
    bound, which then stays there.
    """
    for _ in range(10):
        free = np.flatnonzero((b > 0) & (b < C))
        if not balanced < len(free) <= _MOST_FREE:
            return
        K_free = K[np.ix_(free, free)]
        step = _free_step(K_free, s[free], v[free], balanced)
        # not a way up: the kernel is not positive definite
        if float(step @ (s[free] * v[free])) <= 0:
            return
        # the share of the step at which the first variable meets its bound
        with np.errstate(divide="ignore", invalid="ignore"):
            down = np.where(step < 0, -b[free] / step, np.inf)
            room = np.where(step > 0, (C[free] - b[free]) / step, down)
        first = int(room.argmin())
        share = min(1.0, float(room[first]))
        b[free] = _within_bounds(b[free] + share * step, C[free])
        if share < 1.0:
            b[free[first]] = 0.0 if step[first] < 0 else C[free[first]]
        change = (share * s[free] * step).astype(K.dtype)
        v -= K[:, free] @ change
        if share == 1.0:
            return


def _within_bounds(b: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Variables within 0 and C, at a bound where rounding alone keeps them from it."""
    b = np.clip(b, 0.0, C)
    least = _ROUNDING * float(b.max())
    return np.where(b < least, 0.0, np.where(b > C - least, C, b))


def _free_step(
    K: np.ndarray,
    s: np.ndarray,
    v: np.ndarray,
    balanced: bool,
) -> np.ndarray:
    """The step of free variables after which all their v are one number: K (s Δb) + b₀ = v with
    Σ s Δb = 0, or K (s Δb) = v if not balanced."""
    # bordered by the row of Σ s Δb = 0; least squares of least norm, as K may be singular
    m = len(s)
    system = np.zeros((m + balanced, m + balanced))
    right = np.zeros(m + balanced)
    system[:m, :m] = K
    right[:m] = v
    if balanced:
        system[m, :m] = system[:m, m] = 1.0
    solution = linalg.lstsq(
        system,
        right,
        cond=1e-12,
        lapack_driver="gelsy",
        check_finite=False,
    )
    return s * solution[0][:m]


def _refresh(problem: DualProblem, rows: KernelRows, state: DualSolution) -> None:
    """F from the variables alone, in double."""
    coef = problem.coef(state.b, len(state.F))
    used = np.flatnonzero(coef)
    state.F = np.zeros(len(state.F))
    if len(used):
        rows.add(state.F, used, coef[used])
    _violation(problem, state)


def _correct(problem: DualProblem, rows: KernelRows, state: DualSolution) -> float:
    """F in double at the rows that decide, and the largest error found.

    These are the rows inside of their bounds, those that violate most, and some others to see the
    error.
    """
    n = len(state.F)
    coef = problem.coef(state.b, n)
    used = np.flatnonzero(coef)
    if not len(used):
        return 0.0
    inside = np.flatnonzero((state.b > 0) & (state.b < problem.C))
    v = problem.v(state.F)
    none = np.empty(0, np.int64)
    violators = native.smo_working_set(v, problem.s, problem.C, state.b, 512, none)
    decisive = problem.rows_of(np.concatenate([inside, violators]))
    every_nth = np.arange(0, n, max(1, n // 512))
    checked = np.unique(np.concatenate([decisive, every_nth]))
    F = rows.sums_at(used, coef[used], checked)
    error = float(np.abs(F - state.F[checked]).max())
    state.F[checked] = F
    return error

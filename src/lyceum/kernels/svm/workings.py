"""The dual problem of a small support vector machine in numbers: what is done on paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lyceum._core.data import dense_cells
from lyceum._core.text import show
from lyceum._core.types import Estimator
from lyceum.errors import SettingError
from lyceum.report import Summary, Table

MOST_VECTORS = 20  # support vectors whose equations can still be read


def dual_workings(learner: Estimator, K: np.ndarray) -> Summary:
    """The dual over the support vectors, the equations of those on the margin, and b from each.

    With K the kernel values of the support vectors (plus s² if the intercept is folded in as a
    column of s), the rows on the margin, 0 < α_i < C, obey Σ_j α_j y_j K_ij + b = y_i; rows at the
    bound have α = C, and Σ α y = 0 where b is free.
    """
    signed = dense_cells(learner.dual_coef_)[0]
    y = np.sign(signed)
    alpha = np.abs(signed)
    names = [f"α{row}" for row in learner.support_.tolist()]
    is_free = bool(learner.fit_intercept and np.isinf(learner.intercept_scaling))
    if learner.fit_intercept and not is_free:
        K = K + learner.intercept_scaling**2
    on_margin = learner.slack_[learner.support_] <= learner.tol
    if learner.n_at_bound_[0] == 0:
        on_margin[:] = True
    tables = [
        _problem(names, y, K, learner.C, is_free),
        _system(names, y, K, np.where(on_margin, np.nan, alpha), is_free),
        _solution(learner, names, y * on_margin, signed, K, is_free),
    ]
    facts = {
        "kernel": repr(learner.kernel_),
        "intercept": "free" if is_free else "folded in or none: no Σ α y = 0",
        "rows that are not shown": "have α = 0",
    }
    return Summary("Workings of the dual", facts, tables)


def check_can_show(learner: Estimator) -> None:
    """Raise SettingError where the equations are those of several machines, or too many."""
    if len(learner.machines_) != 1:
        raise SettingError(
            "workings are those of one machine, but there are"
            f" {len(learner.machines_)}: fit two classes"
        )
    if len(learner.support_) > MOST_VECTORS:
        raise SettingError(
            f"workings show up to {MOST_VECTORS} support vectors, but there are"
            f" {len(learner.support_)}: fit fewer rows"
        )


def _problem(
    names: Sequence[str],
    y: np.ndarray,
    K: np.ndarray,
    C: float,
    is_free: bool,
) -> Table:
    """Σ α - ½ Σ_ij α_i α_j y_i y_j k_ij, with its numbers, and what it is subject to."""
    # every pair i < j stands twice in the sum
    terms = []
    for i, name in enumerate(names):
        terms.append((K[i, i], f"{name}²"))
        for j in range(i):
            terms.append((2.0 * y[i] * y[j] * K[i, j], f"{names[j]} {name}"))
    goal = f"{' + '.join(names)} - ½ ({_sum(terms)})"
    limit = (
        "" if np.isinf(C) else f" ≤ C = {show(float(C))} times the weight of the row"
    )
    lines = [("maximize", goal), ("where", f"0 ≤ {', '.join(names)}{limit}")]
    if is_free:
        lines.append(("and", f"{_sum(list(zip(y, names)))} = 0"))
    return Table("The dual over the support vectors", ("", "in numbers"), lines)


def _system(
    names: Sequence[str],
    y: np.ndarray,
    K: np.ndarray,
    at_bound: np.ndarray,
    is_free: bool,
) -> Table:
    """One equation per support vector on the margin, and that of the balance; `at_bound` holds
    α of those at their bound, NaN of others."""
    lines = []
    for i, name in enumerate(names):
        if np.isnan(at_bound[i]):
            terms = list(zip(y * K[i], names))
            if is_free:
                terms.append((1.0, "b"))
            lines.append((name, f"{_sum(terms)} = {show(float(y[i]))}"))
        else:
            lines.append((name, f"{name} = {show(tidy(at_bound[i]))}, its bound"))
    if is_free:
        lines.append(("balance", f"{_sum(list(zip(y, names)))} = 0"))
    title = "The linear system: Σ_j α_j y_j k(x_i, x_j) + b = y_i on the margin"
    return Table(title, ("of", "equation"), lines)


def _solution(
    learner: Estimator,
    names: Sequence[str],
    on_margin: np.ndarray,
    signed: np.ndarray,
    K: np.ndarray,
    is_free: bool,
) -> Table:
    """α, and b from every support vector on its margin; `on_margin` holds their y, 0 for others."""
    sums = K @ signed
    if not is_free:
        # F holds b already: what is left is y - Σ without it
        sums = sums - learner.intercept_[0]
    rows = []
    for name, a, y, s in zip(names, signed, on_margin, sums):
        b = tidy(y - s) if y else "at its bound"
        rows.append((name, tidy(abs(a)), int(np.sign(a)), tidy(s), b))
    head = ("of", "α", "y", "Σ α y k", "b = y - Σ α y k")
    title = f"The solution; b is {show(tidy(learner.intercept_[0]))}"
    return Table(title, head, rows)


def _sum(terms: list[tuple[float, str]]) -> str:
    """Numbers times names, added up: 2 α1 - α2."""
    words = ""
    for factor, name in terms:
        value = tidy(factor)
        if not value:
            continue
        size = "" if abs(value) == 1.0 else f"{show(abs(value))} "
        if words:
            words += " - " if value < 0 else " + "
        elif value < 0:
            words = "-"
        words += f"{size}{name}"
    return words or "0"


def tidy(value: float) -> float:
    """The number without the last digits, which are rounding."""
    return float(np.round(value, 12)) + 0.0

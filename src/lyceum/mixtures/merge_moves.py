"""Merge moves of variational mixtures: two components become one where that raises the bound.

Coordinate ascent cannot leave a solution in which two components share what one would explain
better: each is the best for its rows. The sums of two components add up to those of their union, so
that a merge is an M-step without a pass; the passes that follow say whether the bound of the log
evidence rose (Ueda et al. 2000; Hughes and Sudderth 2013).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lyceum._core.data import Rows
from lyceum._core.solvers import EMOutcome, ExpectationMaximization
from lyceum._core.statistics import ClassMoments, ClassScatter
from lyceum.mixtures.sums import MixtureSums
from lyceum.mixtures.variational import VariationalParameters, VariationalProblem
from lyceum.progress import report

_TRIED = 8  # merges that are tried before the components stay as they are
_SHORT = 10  # iterations after which a merge must have raised the bound
_NEAREST = 4  # other components that one may be merged with


def merge_components(
    rows: Rows,
    problem: VariationalProblem,
    solver: ExpectationMaximization,
    outcome: EMOutcome,
) -> EMOutcome:
    """The outcome after all merges that raise the bound, each followed by iterations until
    convergence."""
    short = replace(solver, max_iter=_SHORT, record=False)
    while (
        outcome.converged
        and (better := _merge_once(rows, problem, short, outcome)) is not None
    ):
        outcome = _join(outcome, solver.maximize(rows, problem, better))
        report("components", active_components(outcome.parameters), None)
    return outcome


def _merge_once(
    rows: Rows,
    problem: VariationalProblem,
    short: ExpectationMaximization,
    current: EMOutcome,
) -> VariationalParameters | None:
    """The outcome of the first merge that raises the bound, if one does."""
    sums = rows.reduce(
        partial(problem.expectation, parameters=current.parameters)
    ).statistic
    for start in _proposals(problem, sums):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # that it was short
            outcome = short.maximize(rows, problem, start)
        # a merge that is undone may gain too, as convergence is up to a tolerance: it is none
        fewer = active_components(outcome.parameters) < active_components(
            current.parameters
        )
        if fewer and outcome.objective > current.objective:
            return outcome.parameters
    return None


def active_components(parameters: VariationalParameters) -> int:
    """The number of components whose expected weight is at least one row."""
    return int((parameters.counts >= 1.0).sum())


def _proposals(
    problem: VariationalProblem, sums: MixtureSums
) -> Iterator[VariationalParameters]:
    """The M-steps of the most promising merges, by the bound without the entropy of the
    memberships."""
    merges: list[tuple[float, VariationalParameters]] = []
    for i, j in _near_pairs(sums):
        merged = by_size(_union(sums, i, j))
        parameters = problem.maximization(merged)
        merges.append((_expected_bound(problem, merged, parameters), parameters))
    merges.sort(key=lambda merge: -merge[0])
    return (parameters for _, parameters in merges[:_TRIED])


def _near_pairs(sums: MixtureSums) -> list[tuple[int, int]]:
    """Components with rows, each with the nearest others in units of the spread within
    components."""
    active = np.flatnonzero(sums.rows >= 1.0)
    if len(active) < 2:
        return []
    S = sums.moments.scatter
    variances = S if S.ndim == 2 else np.einsum("kjj->kj", S)
    spread = variances.sum(axis=0) / sums.rows.sum()
    deviations = np.sqrt(np.where(spread > 0, spread, 1.0))
    Z = sums.moments.mean[active] / deviations
    gaps = Z[:, None, :] - Z[None, :, :]
    apart = (gaps**2).sum(axis=2)
    # one more than the nearest, as a component is nearest to itself
    nearest = np.argsort(apart, axis=1, kind="stable")[:, : _NEAREST + 1]
    pairs: set[tuple[int, int]] = set()
    for a, others in zip(active.tolist(), active[nearest].tolist()):
        pairs.update((min(a, b), max(a, b)) for b in others if a != b)
    return sorted(pairs)


def _union(sums: MixtureSums, i: int, j: int) -> MixtureSums:
    """The sums with the rows of component j in component i, and none in j."""
    # n = n_i + n_j, mean = (n_i x̄_i + n_j x̄_j) / n, S = S_i + S_j + n_i n_j / n (x̄_j - x̄_i)²
    moments = sums.moments
    n = sums.rows
    both = n[i] + n[j]
    moved = moments.mean[j] - moments.mean[i]
    mean = moments.mean.copy()
    rows = n.copy()
    mean[i] += n[j] / both * moved
    rows[i] = both
    rows[j] = 0.0
    scatter = moments.scatter.copy()
    factor = n[i] * n[j] / both
    if isinstance(moments, ClassScatter):
        between = factor * np.outer(moved, moved)
        if moments.pooled:
            scatter[0] += between
        else:
            scatter[i] += scatter[j] + between
            scatter[j] = 0.0
        return MixtureSums(
            rows, sums.logs, replace(moments, weight=rows, mean=mean, scatter=scatter)
        )
    scatter[i] += scatter[j] + factor * moved**2
    scatter[j] = 0.0
    weight = np.repeat(rows[:, None], mean.shape[1], axis=1)
    return MixtureSums(
        rows,
        sums.logs,
        replace(moments, class_weight=rows, weight=weight, mean=mean, scatter=scatter),
    )


def _expected_bound(
    problem: VariationalProblem, sums: MixtureSums, parameters: VariationalParameters
) -> float:
    """The lower bound at responsibilities with these sums, without their entropy."""
    # Σ_i r_ik |W_k (x_i - m_k)|² = tr(W_k S_k W_kᵀ) + n_k |W_k (x̄_k - m_k)|², over all components
    at = parameters.values
    n = sums.rows
    S = sums.moments.scatter
    moved = sums.moments.mean - at.means
    W = at.whitening
    if W.ndim == 2:
        apart = (W**2 * (S + n[:, None] * moved**2)).sum()
    else:
        # a pooled scatter is one for all components, as is its W
        W_of_S = W[: len(S)]
        within = np.einsum("kij,kjl,kil->", W_of_S, S, W_of_S)
        squares = (np.einsum("kij,kj->ki", W, moved) ** 2).sum(axis=1)
        apart = within + (n * squares).sum()
    expected = float(n @ (at.log_weights + at.constant) - 0.5 * apart)
    return expected + problem.log_prior(parameters)


def _join(before: EMOutcome, after: EMOutcome) -> EMOutcome:
    """One outcome of both runs: the second began above where the first ended."""
    record = None
    if before.record is not None and after.record is not None:
        steps = [*before.record, *after.record]
        record = [{**step, "step": number} for number, step in enumerate(steps)]
    return replace(
        after,
        n_iter=before.n_iter + after.n_iter + 1,
        history=[*before.history, *after.history],
        record=record,
        start_objectives=before.start_objectives,
    )


def by_size(sums: MixtureSums) -> MixtureSums:
    """The components with the most rows first, as sticks have them."""
    order = np.argsort(-sums.rows, kind="stable")
    moments = sums.moments
    parts: dict[str, Any] = {
        "weight": moments.weight[order],
        "mean": moments.mean[order],
    }
    if isinstance(moments, ClassMoments):
        parts["class_weight"] = moments.class_weight[order]
    if not (isinstance(moments, ClassScatter) and moments.pooled):
        parts["scatter"] = moments.scatter[order]
    return MixtureSums(sums.rows[order], sums.logs[order], replace(moments, **parts))

"""Leaving a plateau: iterations that gain little for a while, and then much."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from lyceum._core.data import Rows
from lyceum._core.solvers import EMOutcome, ExpectationMaximization
from lyceum.mixtures.start import sample_rows

LOOK_AHEAD_ROWS = 1000
_ITERATIONS = 50
FINE = 1e-5  # a tolerance that passes over few plateaus


def look_ahead(sample: Rows, problem: Any, parameters: Any) -> EMOutcome:
    """Where iterations on a sample of the rows lead to."""
    solver = ExpectationMaximization(_ITERATIONS, tol=0.1 * FINE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solver.maximize(sample, problem, parameters)


def leave_plateau(
    rows: Rows, problem: Any, solver: ExpectationMaximization, outcome: EMOutcome
) -> EMOutcome:
    """Go on from where the iterations stopped, if a sample shows that much is to be gained there.

    Near a saddle of the likelihood the gains fall below the tolerance and rise again. Fifty
    iterations on at most 1,000 rows, whose weights stand for all rows, look beyond it; where they
    gain more than `tol` per row, the iterations over all rows go on from there.
    """
    if not outcome.converged or solver.tol <= FINE:
        return outcome
    # where the last iteration gained nothing, there is no way on
    gain = outcome.history[-1] - outcome.history[-2]
    if gain <= FINE * solver.tol * outcome.weight:
        return outcome
    sample = sample_rows(rows, LOOK_AHEAD_ROWS)
    while outcome.converged and outcome.n_iter < solver.max_iter:
        ahead = look_ahead(sample, problem, outcome.parameters)
        if ahead.objective - ahead.history[0] <= solver.tol * ahead.weight:
            break
        left = replace(solver, max_iter=solver.max_iter - outcome.n_iter)
        further = left.maximize(rows, problem, ahead.parameters)
        if further.objective - outcome.objective <= solver.tol * outcome.weight:
            break
        outcome = _joined(outcome, further)
    return outcome


def _joined(before: EMOutcome, after: EMOutcome) -> EMOutcome:
    """Both runs as one whose objective never falls."""
    first = next(
        step for step, value in enumerate(after.history) if value >= before.objective
    )
    record = None
    if before.record is not None and after.record is not None:
        steps = [*before.record, *after.record[first:]]
        record = [{**step, "step": number} for number, step in enumerate(steps)]
    history = [*before.history, *after.history[first:]]
    return replace(
        after,
        n_iter=len(history) - 1,
        history=history,
        record=record,
        start_objectives=before.start_objectives,
    )

"""Settings of a candidate chosen by inner folds: all begin on the first, the better ones go on to
the next.

The work is counted in fits, never in seconds, so that the choice is the same on any machine: every
learner has the same number of settings, inner folds and rows. Time only ends a task from outside.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lyceum._core.data import Rows
from lyceum._core.progress import with_watches
from lyceum._core.statistics import weighted_mean
from lyceum._core.threads import one_thread, ordered_map
from lyceum.errors import Cancelled
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.plan.candidate import Candidate
from lyceum.studies.plan.fold_scheme import FoldScheme
from lyceum.studies.run.pipelines import build_pipeline, row_predictions

# rows that a search looks at: beyond, better settings rarely change
SEARCH_ROWS = 10_000
# below, an inner fold says little: half of the settings go on, and not a third
_FEW_ROWS = 300


@dataclass(frozen=True, slots=True)
class SettingsSearch:
    """The settings chosen, how many were tried and failed, and how long it took.

    `y`, `w`, `predicted` and `folds` are the target and the weights, the predictions of the chosen
    settings for the rows of the inner folds, fitted without them, and the numbers of these folds;
    None where nothing was searched.
    """

    settings: dict[str, Any]
    n_tried: int
    n_failed: int = 0
    seconds: float = 0.0
    y: np.ndarray | None = None
    predicted: np.ndarray | None = None
    folds: np.ndarray | None = None
    w: np.ndarray | None = None


@dataclass(slots=True)
class _Contender:
    """One of the settings, with its losses and predictions on the inner folds so far."""

    settings: Mapping[str, Any]
    losses: list[float]
    predictions: list[np.ndarray]
    error: Exception | None = None

    def add(self, outcome: tuple[float, np.ndarray] | Exception) -> None:
        """Add the loss and the predictions of an inner fold, or why there are none."""
        if isinstance(outcome, Exception):
            self.error = outcome
        else:
            loss, predicted = outcome
            self.losses.append(loss)
            self.predictions.append(predicted)

    @property
    def loss(self) -> float:
        if self.losses and self.error is None:
            return float(np.mean(self.losses))
        return math.inf


def search_settings(
    candidate: Candidate,
    rows: Rows,
    rule: LossRule,
    scheme: FoldScheme,
    seed: int,
    always: bool = False,
) -> SettingsSearch:
    """The settings with the smallest mean inner loss, of equals the first.

    Settings that fail on an inner fold are out; if all do, the error of the last is raised. Where
    no inner fold can be made, the first settings are taken. With `always` the inner folds are run
    even where there is nothing to choose, for their predictions.
    """
    options = candidate.search or ({},)
    if len(options) < 2 and not always:
        return SettingsSearch(dict(options[0]), 1)
    start = time.perf_counter()
    splits = scheme.inner(rows, seed, SEARCH_ROWS)
    if not splits:
        return SettingsSearch(dict(options[0]), 1)
    contenders = [_Contender(settings, [], []) for settings in options]
    ahead = _race(contenders, splits, partial(_try, candidate, rule, seed), len(rows))
    errors = [c.error for c in contenders if c.error is not None]
    if not ahead:
        raise errors[-1]
    best = min(ahead, key=lambda contender: contender.loss)
    # those who go on to the end have predictions for the rows of every inner fold
    tests = [test for _, test in splits]
    w = None
    if rows.sample_weight is not None:
        w = np.concatenate([np.asarray(test.sample_weight) for test in tests])
    return SettingsSearch(
        dict(best.settings),
        n_tried=len(options),
        n_failed=len(errors),
        seconds=time.perf_counter() - start,
        y=np.concatenate([np.asarray(test.coded_y) for test in tests]),
        predicted=np.concatenate(best.predictions),
        folds=np.repeat(np.arange(len(tests)), list(map(len, tests))),
        w=w,
    )


def _race(
    contenders: list[_Contender],
    splits: Sequence[tuple[Rows, Rows]],
    attempt: Callable[
        [Rows, Rows, Mapping[str, Any]], tuple[float, np.ndarray] | Exception
    ],
    n_rows: int,
) -> list[_Contender]:
    """Successive halving: those still ahead after the last inner fold; failures drop out.

    After every fold the better third goes on, of few rows the better half.
    """
    part = 2 if n_rows < _FEW_ROWS else 3
    ahead = contenders
    for number, (train, test) in enumerate(splits):
        work = with_watches(partial(attempt, train, test))
        outcomes = ordered_map(work, [contender.settings for contender in ahead])
        for contender, outcome in zip(ahead, outcomes):
            contender.add(outcome)
        ahead = [contender for contender in ahead if contender.error is None]
        if number < len(splits) - 1:
            # the better part goes on, two at least, in the order in which they came: of settings
            # with the same loss the first is chosen in the end
            n_better = max(2, math.ceil(len(ahead) / part))
            order = sorted(range(len(ahead)), key=lambda i: (ahead[i].loss, i))
            ahead = [ahead[i] for i in sorted(order[:n_better])]
    return ahead


def _try(
    candidate: Candidate,
    rule: LossRule,
    seed: int,
    train: Rows,
    test: Rows,
    settings: Mapping[str, Any],
) -> tuple[float, np.ndarray] | Exception:
    """The loss and the predictions of one inner fold, or why there are none."""
    try:
        with one_thread():
            model = build_pipeline(candidate, settings, seed).fit(train)
            predicted = row_predictions(model, test)
        y = test.coded_y
        assert y is not None
        losses = rule.inner_losses(y, predicted)
        return weighted_mean(losses, test.sample_weight), predicted
    except Cancelled:
        raise
    except Exception as error:  # a learner may fail in any way at some of its settings
        return error

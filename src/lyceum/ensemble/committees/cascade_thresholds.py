"""Rows on their way through a cascade, and the thresholds that are best for a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from lyceum._core.data import row_weights
from lyceum.errors import SettingError

_LEVELS = 41  # thresholds tried per stage: quantiles of the posteriors
_MOST_SETS = 20_000  # all combinations are tried up to this number
_MOST_ROUNDS = 20
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """How sure every stage is of every row, whether it is right, and where the row would go on to.

    `sure` and `wrong` have shape (S, n); `onward` the next stage of every row from every stage, -1
    for none.
    """

    sure: np.ndarray
    wrong: np.ndarray
    onward: np.ndarray
    w: np.ndarray
    costs: np.ndarray

    @classmethod
    def of(
        cls,
        answers: np.ndarray,
        target: np.ndarray,
        w: np.ndarray | None,
        costs: np.ndarray,
        following: np.ndarray,
    ) -> Flow:
        """From posteriors of shape (S, n, K)."""
        leaning = answers.argmax(axis=2)
        onward = np.stack([following[s, leaning[s]] for s in range(len(answers))])
        weight = row_weights(w, len(target))
        return cls(answers.max(axis=2), leaning != target, onward, weight, costs)

    def run(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The stage that decides every row, and whether it is wrong."""
        n = self.sure.shape[1]
        current = np.zeros(n, dtype=np.int64)
        stage = np.full(n, -1)
        for s in range(len(self.sure)):
            reached = current == s
            decides = reached & ((self.sure[s] >= thresholds[s]) | (self.onward[s] < 0))
            stage[decides] = s
            # decided rows go on nowhere, doubtful ones where their class leads
            current = np.where(reached, self.onward[s], current)
            current[decides] = -1
        return stage, self.wrong[stage, np.arange(n)]

    def reached_stages(self, thresholds: np.ndarray) -> np.ndarray:
        """Which stages every row reaches, (S, n)."""
        reached = np.zeros(self.sure.shape, dtype=bool)
        reached[0] = True
        for s in range(len(self.sure)):
            on = reached[s] & (self.sure[s] < thresholds[s]) & (self.onward[s] >= 0)
            rows = np.flatnonzero(on)
            reached[self.onward[s, rows], rows] = True
        return reached

    def cost_and_error(self, thresholds: np.ndarray) -> tuple[float, float]:
        """The mean cost per row and the share of rows that are decided wrong."""
        _, wrong = self.run(thresholds)
        w = self.w / self.w.sum()
        reached = [w[rows].sum() for rows in self.reached_stages(thresholds)]
        return float(self.costs @ reached), float(w[wrong].sum())


def choose_thresholds(flow: Flow, budget: float | None) -> np.ndarray:
    """The thresholds with the least error within the budget, or the least cost at the best stage's
    error."""
    # thresholds of every stage but the last, from deciding everything to deciding nothing
    levels = []
    for sure in flow.sure[:-1]:
        quantiles = np.quantile(sure, np.linspace(0.0, 1.0, _LEVELS), method="higher")
        nothing = np.nextafter(1.0, 2.0)
        levels.append(np.unique(np.concatenate([[0.0], quantiles, [nothing]])))
    w = flow.w / flow.w.sum()
    best_alone = float(min(w[wrong].sum() for wrong in flow.wrong))
    if budget is not None and flow.costs[0] > budget + _ROUNDING:
        raise SettingError(
            f"budget={budget} does not pay for the first stage, which costs {flow.costs[0]:g} per"
            " row: raise the budget, or put a cheaper stage first"
        )

    # the smallest is best: first what exceeds the bound, then what is to be small, then the other
    def worth(thresholds: np.ndarray) -> tuple[float, float, float]:
        cost, error = flow.cost_and_error(thresholds)
        if budget is not None:
            return max(0.0, cost - budget - _ROUNDING), error, cost
        return max(0.0, error - best_alone - _ROUNDING), cost, error

    if np.prod([len(values) for values in levels], dtype=float) <= _MOST_SETS:
        sets = (np.array([*chosen, 0.0]) for chosen in product(*levels))
        return min(sets, key=worth)
    return _descend(levels, worth)


def _descend(
    levels: list[np.ndarray],
    worth: Callable[[np.ndarray], Any],
) -> np.ndarray:
    """One threshold at a time, from all decided at once and from all passed on."""
    # coordinate descent, which ends in a local optimum: two starts
    optima = []
    for start in (0, -1):
        thresholds = np.append([values[start] for values in levels], 0.0)
        for _ in range(_MOST_ROUNDS):
            before = worth(thresholds)
            for s, values in enumerate(levels):
                tried = np.repeat(thresholds[None], len(values), axis=0)
                tried[:, s] = values
                thresholds = min(tried, key=worth)
            if not worth(thresholds) < before:
                break
        optima.append(thresholds)
    return min(optima, key=worth)

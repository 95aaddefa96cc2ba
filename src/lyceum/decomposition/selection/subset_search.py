"""Searches through sets of columns: forward, backward, plus-l minus-r, and floating."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lyceum.progress import report

Subset = tuple[int, ...]


class Losses(Protocol):
    """The losses of sets of columns; smaller is better."""

    def of(self, subset: Subset) -> float:
        """The loss with these columns."""

    def losses_with(self, subset: Subset, candidates: list[int]) -> np.ndarray:
        """The losses with one more column, for each candidate."""

    def losses_without(self, subset: Subset) -> np.ndarray:
        """The losses with one column less, for each one of the subset."""


@dataclass(frozen=True)
class SearchStep:
    """One step of a search."""

    subset: Subset
    loss: float
    column: int  # the one added or removed, -1 for the start
    added: bool


@dataclass
class SubsetSearch:
    """A search over n columns that keeps the best set of every size.

    Attributes
    ----------
    losses : Losses
    n_columns : int
    least, most : int
        The smallest and the largest set of interest.
    tol : float
        The search stops when a step lowers the loss by no more than this part of it; -inf never
        stops.
    """

    losses: Losses
    n_columns: int
    least: int
    most: int
    tol: float
    steps: list[SearchStep] = field(default_factory=list)
    best: dict[int, tuple[float, Subset]] = field(default_factory=dict)

    def forward(self, plus: int = 1, minus: int = 0) -> None:
        """Add `plus` columns, then remove `minus`, until the stop."""
        here = self._start(())
        while len(here.subset) < self.most:
            before = here
            for _ in range(min(plus, self.n_columns - len(here.subset))):
                here = self._add(here)
            for _ in range(minus):
                here = self._remove(here)
            if len(here.subset) <= len(before.subset) or self._stops(
                before.loss, here.loss, len(here.subset)
            ):
                return

    def backward(self, plus: int = 0, minus: int = 1) -> None:
        """Remove `minus` columns, then add `plus`, until the stop."""
        here = self._start(tuple(range(self.n_columns)))
        while len(here.subset) > self.least:
            before = here
            for _ in range(min(minus, len(here.subset) - 1)):
                here = self._remove(here)
            for _ in range(plus):
                here = self._add(here)
            size = len(here.subset)
            grows = here.loss - before.loss > max(self.tol, 0.0) * abs(before.loss)
            if size >= len(before.subset) or (grows and np.isfinite(self.tol) and size < self.most):
                return

    def floating(self) -> None:
        """Add a column; then remove columns as long as that is the best set of its size so far."""
        here = self._start(())
        while len(here.subset) < self.most:
            before = here.loss
            here = self._add(here)
            while len(here.subset) > 2:
                losses = self.losses.losses_without(here.subset)
                k = int(np.argmin(losses))
                size = len(here.subset) - 1
                if here.subset[k] == here.column and here.added:
                    break
                if not losses[k] < self.best[size][0] * (1 - 1e-12) - 1e-300:
                    break
                here = self._without_column(here, k, float(losses[k]))
            if self._stops(before, here.loss, len(here.subset)):
                return

    # -- single steps ------------------------------------------------------------------

    def _start(self, subset: Subset) -> SearchStep:
        return self._keep(SearchStep(subset, self.losses.of(subset), -1, True))

    def _add(self, here: SearchStep) -> SearchStep:
        candidates = [j for j in range(self.n_columns) if j not in here.subset]
        losses = self.losses.losses_with(here.subset, candidates)
        k = int(np.argmin(losses))
        subset = tuple(sorted((*here.subset, candidates[k])))
        return self._keep(SearchStep(subset, float(losses[k]), candidates[k], True))

    def _remove(self, here: SearchStep) -> SearchStep:
        losses = self.losses.losses_without(here.subset)
        k = int(np.argmin(losses))
        return self._without_column(here, k, float(losses[k]))

    def _without_column(self, here: SearchStep, k: int, loss: float) -> SearchStep:
        subset = here.subset[:k] + here.subset[k + 1 :]
        return self._keep(SearchStep(subset, loss, here.subset[k], False))

    def _keep(self, step: SearchStep) -> SearchStep:
        self.steps.append(step)
        report("steps", len(self.steps), None)
        size = len(step.subset)
        if size not in self.best or step.loss < self.best[size][0]:
            self.best[size] = (step.loss, step.subset)
        return step

    def _stops(self, before: float, after: float, size: int) -> bool:
        if not np.isfinite(self.tol) or not np.isfinite(before) or size < self.least:
            return False
        return before - after <= self.tol * abs(before)

    def choice(self) -> tuple[float, Subset]:
        """The best set of the sizes of interest; of equal losses the smaller one."""
        sizes = [size for size in sorted(self.best) if self.least <= size <= self.most]
        found = [self.best[size] for size in sizes]
        return min(found, key=lambda pair: pair[0])

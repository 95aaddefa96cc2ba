"""Searches through sets of columns: forward, backward, plus-l minus-r, and floating."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lyceum.progress import report

Subset = tuple[int, ...]


class SubsetLosses(Protocol):
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


@dataclass(frozen=True)
class StopRule:
    """A search stops when a step does not lower the loss by more than `tol`; without one, by more
    than 1e-4 of the loss; or `never`."""

    tol: float | None = None
    never: bool = False

    def least_gain(self, loss: float) -> float:
        if self.tol is not None:
            return self.tol
        return 1e-4 * abs(loss)


@dataclass
class SubsetSearch:
    """A search over n columns that keeps the best set of every size.

    Attributes
    ----------
    losses : SubsetLosses
    n_columns : int
    least, most : int
        The smallest and the largest set of interest.
    rule : StopRule
        When the search stops.
    """

    losses: SubsetLosses
    n_columns: int
    least: int
    most: int
    rule: StopRule
    steps: list[SearchStep] = field(default_factory=list)
    best: dict[int, tuple[float, Subset]] = field(default_factory=dict)
    # the last step that lowered the loss by more than `tol`
    accepted: SearchStep | None = None

    def forward(self, plus: int = 1, minus: int = 0) -> None:
        """Add `plus` columns, then remove `minus`, until the stop."""
        step = self._start(())
        while len(step.subset) < self.most:
            before = step
            for _ in range(min(plus, self.n_columns - len(step.subset))):
                step = self._add(step)
            for _ in range(minus):
                step = self._remove(step)
            if len(step.subset) <= len(before.subset) or self._stops(before, step):
                return

    def backward(self, plus: int = 0, minus: int = 1) -> None:
        """Remove `minus` columns, then add `plus`, until the stop."""
        step = self._start(tuple(range(self.n_columns)))
        while len(step.subset) > self.least:
            before = step
            for _ in range(min(minus, len(step.subset) - 1)):
                step = self._remove(step)
            for _ in range(plus):
                step = self._add(step)
            size = len(step.subset)
            # while there are more columns than `most`, a growing loss does not stop the search
            grows = step.loss - before.loss > self._allowed_growth(before.loss)
            if size >= len(before.subset) or (grows and size < self.most):
                return
            self.accepted = step

    def floating(self) -> None:
        """Add a column; then remove columns as long as that is the best set of its size so far."""
        step = self._start(())
        while len(step.subset) < self.most:
            before = step
            step = self._add(step)
            while len(step.subset) > 2:
                losses = self.losses.losses_without(step.subset)
                k = int(np.argmin(losses))
                size = len(step.subset) - 1
                # the column just added would only go again; and a set that is not better by more
                # than rounding than the best of its size would lead in circles
                if step.subset[k] == step.column and step.added:
                    break
                best_loss, _ = self.best[size]
                if not losses[k] < best_loss * (1 - 1e-12) - 1e-300:
                    break
                step = self._without_column(step, k, float(losses[k]))
            if self._stops(before, step):
                return

    # -- single steps ------------------------------------------------------------------

    def _start(self, subset: Subset) -> SearchStep:
        return self._record(SearchStep(subset, self.losses.of(subset), -1, True))

    def _add(self, step: SearchStep) -> SearchStep:
        candidates = [j for j in range(self.n_columns) if j not in step.subset]
        losses = self.losses.losses_with(step.subset, candidates)
        k = int(np.argmin(losses))
        subset = tuple(sorted((*step.subset, candidates[k])))
        loss = float(losses[k])
        return self._record(SearchStep(subset, loss, candidates[k], True))

    def _remove(self, step: SearchStep) -> SearchStep:
        losses = self.losses.losses_without(step.subset)
        k = int(np.argmin(losses))
        return self._without_column(step, k, float(losses[k]))

    def _without_column(
        self,
        step: SearchStep,
        k: int,
        loss: float,
    ) -> SearchStep:
        subset = step.subset[:k] + step.subset[k + 1 :]
        return self._record(SearchStep(subset, loss, step.subset[k], False))

    def _record(self, step: SearchStep) -> SearchStep:
        self.steps.append(step)
        report("steps", len(self.steps), None)
        size = len(step.subset)
        if size not in self.best or step.loss < self.best[size][0]:
            self.best[size] = (step.loss, step.subset)
        return step

    def _stops(self, before: SearchStep, step: SearchStep) -> bool:
        large_enough = len(step.subset) >= self.least
        # the loss of no columns may be infinite, from which every step is a gain
        if not self.rule.never and np.isfinite(before.loss) and large_enough:
            gain = before.loss - step.loss
            if gain <= self.rule.least_gain(before.loss):
                return True
        self.accepted = step
        return False

    def _allowed_growth(self, loss: float) -> float:
        """By how much the loss may grow when columns are removed; a positive `tol` says by how much
        it must fall, as in scikit-learn."""
        if self.rule.never:
            return np.inf
        if self.rule.tol is not None:
            return -self.rule.tol
        return self.rule.least_gain(loss)

    def choice(self) -> tuple[float, Subset]:
        """The best set of the sizes of interest; of equal losses the smaller one. With `tol` the
        last set before the stop."""
        accepted = self.accepted
        if self.rule.tol is not None and accepted is not None and accepted.subset:
            return accepted.loss, accepted.subset
        sets = [
            self.best[size]
            for size in sorted(self.best)
            if self.least <= size <= self.most
        ]
        return min(sets, key=lambda pair: pair[0])

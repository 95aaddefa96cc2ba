"""When a descent that goes on pass by pass should end."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass
class Patience:
    """Counts the epochs since the loss last fell by more than `tol` below its best."""

    tol: float
    best: float = inf
    waited: int = 0

    def see(self, loss: float) -> bool:
        """Whether this is the lowest loss so far."""
        has_fallen = loss < self.best - self.tol
        self.waited = 0 if has_fallen else self.waited + 1
        is_lowest = loss < self.best
        self.best = min(self.best, loss)
        return is_lowest

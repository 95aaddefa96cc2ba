"""How the members of AdaBoost learn from weighted rows: any learner, and trees on columns ranked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum.ensemble._draws import seeded
from lyceum.ensemble._members import Ensemble, Material, takes_weights, vote_codes

__all__ = ["AnyLearner", "drawn"]

_DRAW = 3  # the stream of chance that rows are drawn from


@dataclass(eq=False)
class AnyLearner:
    """Members of any kind, on weights or on rows drawn by them."""

    model: Ensemble
    material: Material
    start: np.ndarray
    weight: float
    resample: bool

    def member(self, number: int, weights: np.ndarray) -> tuple[Any, np.ndarray]:
        member = seeded(self.model._copy(), self.model.seed_, number)
        if not self.resample:
            self.material.fit(member, w=weights * self.weight)
            return member, self.predicted(member)
        counts = drawn(weights, int(np.count_nonzero(self.start)), self.model.seed_, number)
        if takes_weights(member):
            rows = np.flatnonzero(counts)
            self.material.fit(member, rows, w=counts[rows].astype(np.float64))
        else:
            self.material.fit(member, np.repeat(np.arange(len(counts)), counts))
        return member, self.predicted(member)

    def predicted(self, member: Any) -> np.ndarray:
        return vote_codes(member, self.model.classes_, self.material.ask)


def drawn(weights: np.ndarray, n: int, seed: int, number: int) -> np.ndarray:
    """How often every row is drawn in n draws with these chances."""
    chance = np.random.default_rng((seed, number, _DRAW))
    return np.bincount(chance.choice(len(weights), n, p=weights), minlength=len(weights))

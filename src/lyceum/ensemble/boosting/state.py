"""BoostingState: rows of boosting with their scores so far; and seeds of what rounds draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.trees import Tree
from lyceum.ensemble.boosting.losses import Loss
from lyceum.ensemble.boosting.trees import TreeGrower


@dataclass
class BoostingState:
    """Rows to learn from, or to judge by: what grows on them, their loss, and their scores so
    far."""

    grower: TreeGrower
    loss: Loss
    scores: np.ndarray  # (K, n)

    def add(self, tree: Tree, k: int) -> None:
        """Add to output k the values of the nodes where the rows are."""
        self.grower.add_values(tree.node_values[:, 0], self.scores[k])


def seed_of(*numbers: int) -> int:
    """One seed from several numbers."""
    sequence = np.random.SeedSequence([number % 2**32 for number in numbers])
    (state,) = sequence.generate_state(1, np.uint64)
    return int(state >> 1)

"""BoostingState: rows of boosting with their scores so far; what a record says of a round; seeds of
what rounds draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.trees import Tree
from lyceum.ensemble.boosting.losses import Loss
from lyceum.ensemble.boosting.trees import TreeGrower

BOOSTING_STEPS = StepKind(
    "round",
    (
        StepColumn(
            "objective",
            "loss",
            "the mean loss of the rows of the fit, half of a squared error",
        ),
        StepColumn(
            "validation_loss", "validation", "the mean loss of the rows held out"
        ),
        StepColumn("n_leaves", "leaves", "the leaves of every tree of the round"),
        StepColumn("depth", "depth", "the depth of every tree of the round"),
        StepColumn("gain", "gain", "what the splits of every tree gain"),
        StepColumn("columns", "columns", "the columns that the trees split on"),
    ),
)


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

"""Growth of a model tree by the reduction of the standard deviation, and its record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.trees import Columns, Growth, SplitCandidates, Tree, grow_with_record
from lyceum.trees.model_trees.m5_columns import StepColumns
from lyceum.trees.model_trees.m5_models import breadth_first, one_way
from lyceum.trees.pruning.bottom_up import compact
from lyceum.trees.reading.record import growth_record


@dataclass(frozen=True, slots=True)
class GrownRanks:
    """A tree of ranks, not yet pruned, and the columns that were considered at its nodes."""

    tree: Tree
    grown: Tree  # as the nodes of the candidates are numbered
    candidates: SplitCandidates
    columns: StepColumns
    schema: Schema

    @classmethod
    def of(
        cls,
        learner: Any,
        columns: StepColumns,
        X: np.ndarray,
        y: np.ndarray,
        w: np.ndarray | None,
    ) -> GrownRanks:
        """Grow the tree; a node of too little weight is a leaf."""
        growth = Growth(
            criterion="sd",
            missing="learned",
            min_samples_split=learner.min_samples_split if w is None else 2,
            impurity_floor=learner.sd_fraction * learner.sd_,
            record=learner.record,
        )
        numbers = Schema.of_numbers(learner.schema_.names)
        grown, candidates = grow_with_record(
            Columns.of_cells(columns.rank_cells(X), numbers), y, w, growth
        )
        if w is None:
            tree = grown
        else:
            tree = compact(grown, grown.weight < learner.min_samples_split)
        return cls(
            one_way(breadth_first(tree)), grown, candidates, columns, learner.schema_
        )

    def record(self, cut: np.ndarray | None) -> list[dict[str, Any]]:
        """The columns considered at every node that is left after pruning; categories have no
        threshold."""
        if cut is None:
            tree = self.tree
        else:
            tree = compact(self.tree, cut)
        ranked = {
            self.schema[j].name
            for j, ranks in enumerate(self.columns.ranks)
            if len(ranks)
        }
        entries = growth_record(self.candidates, self.grown, tree, self.schema)
        for entry in entries:
            for candidate in entry["candidates"]:
                if candidate["column"] in ranked:
                    candidate["threshold"] = None
        return entries

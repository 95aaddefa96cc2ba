"""Rules, splits and nodes of the tree that is grown from the definitions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from lyceum._core.trees import INTERVALS, THRESHOLD

NEAR = 1e-9


@dataclass(frozen=True)
class Rules:
    """How to grow: names and defaults of `lyceum.trees._grow.Growth`, as far as the referee knows
    them."""

    criterion: str = "gini"
    categorical: str = "groups"
    continuous: str = "two_way"
    max_branches: int = 4
    missing: str = "learned"
    cut: str = "midpoint"
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_p_value: float | None = None
    costs: tuple[float, ...] | None = None
    loss: tuple[tuple[float, ...], ...] | None = None
    needs_gain: bool = False
    release8: bool = False


@dataclass(frozen=True)
class Split:
    """A way to divide rows by one column: at a threshold, or by the branch of every category."""

    column: int
    kind: int
    n_children: int
    threshold: float = math.nan
    cuts: tuple = ()
    branch: dict = field(default_factory=dict)
    missing: int = -1  # the branch of missing cells; -1: every branch
    gain: float = 0.0
    score: float = 0.0
    sure: bool = True  # that it is not left out by rounding

    def way(self, cell):
        """The branch of a cell, or None if it is divided or stays."""
        if cell is None or cell != cell:
            return self.missing if self.missing >= 0 else None
        if self.kind == THRESHOLD:
            return 0 if cell <= self.threshold else 1
        if self.kind == INTERVALS:
            return sum(cut < cell for cut in self.cuts)
        return self.branch.get(int(cell))

    def changed(self, **changes) -> Split:
        """The split with other fields, as `dataclasses.replace` gives it, without a call of
        `__init__`."""
        out = object.__new__(Split)
        out.__dict__.update(self.__dict__, **changes)
        return out

    def same_as(self, other: Split) -> bool:
        """Whether both divide the known cells alike, whatever the order of two groups."""
        if (self.column, self.kind) != (other.column, other.kind):
            return False
        if self.kind == THRESHOLD:
            return math.isclose(
                self.threshold, other.threshold, rel_tol=1e-12, abs_tol=1e-12
            )
        if self.kind == INTERVALS:
            return len(self.cuts) == len(other.cuts) and np.allclose(
                self.cuts, other.cuts, rtol=1e-12
            )
        return self.groups() == other.groups()

    def groups(self):
        parts: dict = {}
        for category, branch in self.branch.items():
            parts.setdefault(branch, set()).add(category)
        return sorted(map(sorted, parts.values()))


@dataclass
class Node:
    rows: list
    depth: int
    split: Split | None = None
    children: list = field(default_factory=list)


def is_missing(cell) -> bool:
    return cell is None or cell != cell


def weight_of(rows) -> float:
    return math.fsum([w for _, w in rows])

"""Blocks of variables that zeros tie together, so that a Gibbs chain can reach every state.

One variable at a time, a chain never leaves either=yes, lung=yes, tub=no where either = lung or
tub: each of the three is certain given the others. A table whose positive cells are no product of
states of its variables ties them into one block. Between blocks every table is then positive, and
each block can move to any of its states whatever the others are: the chain is irreducible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from lyceum.bayesnets.inference.evidence import Evidence, impossible
from lyceum.errors import SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet

_MOST_STATES = 1 << 12  # of a block that must be drawn as one
_MOST_CELLS = 1 << 22  # of a table between blocks
# Probabilities next to zero hold a chain back almost as zeros do: their tables tie too, as long as
# blocks and tables stay small. Share of the largest probability, joint states, cells of a table.
_TINY = (1e-4, 1 << 11, 1 << 16)
_SMALL = (1e-2, 1 << 6, 1 << 12)


@dataclass(frozen=True, eq=False)
class LocalTable:
    """A nonnegative table over some variables that are not observed."""

    names: tuple[str, ...]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class JointBlock:
    """Variables that are drawn together.

    Attributes
    ----------
    names : tuple of str
    states : array of shape (joint states, names)
        The joint states of positive probability, as state numbers.
    weights : array of shape (joint states,)
        The product of the tables that have no variable outside of the block.
    """

    names: tuple[str, ...]
    states: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        sizes: dict[str, int],
        tables: Sequence[LocalTable],
        most: int,
    ) -> JointBlock | None:
        """The joint states of the variables, in the order given; None if more than `most`."""
        # variable by variable, each table as soon as all of its variables are there: a node that
        # follows from its parents adds no states
        present: dict[str, int] = {}
        waiting = list(tables)
        states = np.zeros((1, 0), np.int64)
        weights = np.ones(1)
        for name in names:
            if len(states) * sizes[name] > most * 64:
                return None
            added = np.tile(np.arange(sizes[name]), len(states))
            states = np.column_stack([states.repeat(sizes[name], axis=0), added])
            weights = weights.repeat(sizes[name])
            present[name] = len(present)
            ready = [table for table in waiting if present.keys() >= set(table.names)]
            waiting = [table for table in waiting if table not in ready]
            for table in ready:
                columns = [present[member] for member in table.names]
                weights = weights * table.values[tuple(states[:, columns].T)]
            possible = weights > 0
            states = states[possible]
            weights = weights[possible]
        if len(states) > most:
            return None
        return cls(tuple(names), states, weights)

    def find(self, row: dict[str, int]) -> int:
        """The number of the joint state that a row has."""
        wanted = [row[name] for name in self.names]
        return int((self.states == wanted).all(axis=1).argmax())


@dataclass(frozen=True)
class Blocks:
    """The variables that are not observed, in blocks, and the tables between blocks.

    Attributes
    ----------
    blocks : list of JointBlock
    tables : list of LocalTable
        With variables of two blocks or more; positive for all joint states of the blocks.
    held_back : list of str
        Variables that probabilities next to zero tie, in blocks of their own nevertheless, as one
        block would have too many states.
    """

    blocks: list[JointBlock]
    tables: list[LocalTable]
    held_back: list[str]

    @classmethod
    def of(cls, net: BayesNet, names: Sequence[str], evidence: Evidence) -> Blocks:
        """Blocks of `names` (parents before children), given the evidence."""
        tables = _tables(net, names, evidence)
        free = [name for name in names if name not in evidence.hard]
        sizes = {name: len(net.states(name)) for name in free}
        grouping = _Grouping(free, sizes, _restrict(tables, sizes))
        if any(not len(block.states) for block in grouping.blocks()):
            raise impossible(evidence.given)
        grouping.tie_zeros()
        held_back = grouping.tie(*_TINY)
        grouping.tie(*_SMALL)
        return cls(grouping.blocks(), grouping.tables_between(), held_back)

    def home(self, name: str) -> tuple[int, int]:
        """The block of a variable, and its column there."""
        for b, block in enumerate(self.blocks):
            if name in block.names:
                return b, block.names.index(name)
        raise KeyError(name)

    def expand(self, table: LocalTable) -> tuple[list[int], np.ndarray]:
        """A table between blocks with one axis per block: which ones, and its cells."""
        homes = [self.home(name) for name in table.names]
        touched = list(dict.fromkeys(b for b, _ in homes))
        index = []
        for b, column in homes:
            codes = self.blocks[b].states[:, column]
            shape = [-1 if b == other else 1 for other in touched]
            index.append(codes.reshape(shape))
        return touched, table.values[tuple(index)]


def _tables(
    net: BayesNet, names: Sequence[str], evidence: Evidence
) -> list[LocalTable]:
    """P(node | parents) with the observed states put in, and the likelihoods of soft evidence."""
    tables = []
    for name in names:
        node = net.node(name)
        family = (*node.parents, name)
        cell = tuple(evidence.hard.get(member, slice(None)) for member in family)
        left = tuple(member for member in family if member not in evidence.hard)
        if left:
            tables.append(LocalTable(left, node.table[cell]))  # type: ignore[union-attr]
        if name in evidence.soft and name not in evidence.hard:
            tables.append(LocalTable((name,), evidence.soft[name]))
    return tables


def _restrict(tables: list[LocalTable], sizes: dict[str, int]) -> list[LocalTable]:
    """The tables with zeros wherever a variable has a state that any of them excludes."""
    # until nothing changes: a state that goes may take the last support of another
    allowed = {name: np.ones(size) for name, size in sizes.items()}
    changed = True
    while changed:
        changed = False
        for table in tables:
            support = _masked(table, allowed) > 0
            for axis, name in enumerate(table.names):
                others = tuple(i for i in range(support.ndim) if i != axis)
                possible = support.any(axis=others) * allowed[name]
                if (possible != allowed[name]).any():
                    allowed[name] = possible
                    changed = True
    masks = [LocalTable((name,), mask) for name, mask in allowed.items()]
    masked = [LocalTable(table.names, _masked(table, allowed)) for table in tables]
    return masks + masked


def _masked(table: LocalTable, allowed: dict[str, np.ndarray]) -> np.ndarray:
    values = table.values
    for axis, name in enumerate(table.names):
        shape = [1] * values.ndim
        shape[axis] = -1
        values = values * allowed[name].reshape(shape)
    return values


def _ties(values: np.ndarray, threshold: float) -> bool:
    """Whether the cells above a share of the largest are no product of states of each variable."""
    support = values > threshold * values.max()
    axes = range(values.ndim)
    shadows = [support.any(axis=tuple(i for i in axes if i != axis)) for axis in axes]
    return int(support.sum()) < prod(int(shadow.sum()) for shadow in shadows)


class _Grouping:
    """Variables in groups, which are joined until no table ties two of them."""

    def __init__(
        self, names: list[str], sizes: dict[str, int], tables: list[LocalTable]
    ) -> None:
        self.order = {name: i for i, name in enumerate(names)}
        self.sizes = sizes
        self.tables = tables
        self.group = {name: name for name in names}
        self.members: dict[str, JointBlock] = {}
        for name in names:
            alone = [table for table in tables if table.names == (name,)]
            block = JointBlock.of([name], sizes, alone, sizes[name])
            assert block is not None
            self.members[name] = block

    def blocks(self) -> list[JointBlock]:
        return list(self.members.values())

    def tables_between(self) -> list[LocalTable]:
        return [table for table in self.tables if len(self._touched(table)) > 1]

    def tie_zeros(self) -> None:
        """Join the groups that zeros of a table tie; an error where that is too large."""
        for table in self.tables_between():
            groups = self._touched(table)
            if len(groups) < 2 or not _ties(table.values, 0.0):
                continue
            if not self._join(groups, _MOST_STATES):
                n_tied = sum(len(self.members[group].names) for group in groups)
                raise SettingError(
                    f"zeros in tables tie {n_tied} variables together"
                    f" ({', '.join(table.names)}, ...), more than {_MOST_STATES:,} joint states,"
                    " which Gibbs sampling cannot draw as one: use method='likelihood_weighting'"
                )
        for table in self.tables_between():
            if self._cells(table) > _MOST_CELLS:
                raise SettingError(
                    f"Gibbs sampling would need a table of {self._cells(table):.3g} cells for"
                    f" {', '.join(table.names)}, as zeros tie them to many others: use"
                    " method='likelihood_weighting'"
                )

    def tie(self, threshold: float, most_states: int, most_cells: int) -> list[str]:
        """Join the groups that small probabilities tie, where that stays small; the variables of
        tables that are left."""
        left: dict[str, None] = {}
        for table in self.tables_between():
            groups = self._touched(table)
            if len(groups) < 2 or not _ties(table.values, threshold):
                continue
            before = [self.members[group] for group in groups]
            joined = self._join(groups, most_states)
            inside = {name for block in before for name in block.names}
            dear = joined and any(
                self._cells(other) > most_cells
                for other in self.tables_between()
                if inside.intersection(other.names)
            )
            if dear:
                del self.members[self.group[table.names[0]]]
                for block in before:
                    self._place(block)
            if dear or not joined:
                left |= dict.fromkeys(table.names)
        return list(left)

    def _touched(self, table: LocalTable) -> list[str]:
        return list(dict.fromkeys(self.group[name] for name in table.names))

    def _cells(self, table: LocalTable) -> int:
        return prod(len(self.members[group].states) for group in self._touched(table))

    def _join(self, groups: list[str], most: int) -> bool:
        """Make one group of several, unless it has more than `most` joint states."""
        united = [name for group in groups for name in self.members[group].names]
        united.sort(key=self.order.__getitem__)
        inside = set(united)
        tables = [table for table in self.tables if inside.issuperset(table.names)]
        block = JointBlock.of(united, self.sizes, tables, most)
        if block is None:
            return False
        for group in groups:
            del self.members[group]
        self._place(block)
        return True

    def _place(self, block: JointBlock) -> None:
        first = block.names[0]
        self.members[first] = block
        self.group |= dict.fromkeys(block.names, first)

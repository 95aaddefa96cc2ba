"""Rows to learn a structure from: states as codes in memory, or counted in passes over any
source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod

import numpy as np

from lyceum._core.data import Block, Recode, Rows, Schema, scan
from lyceum._core.native import native
from lyceum._core.statistics import JointCounts
from lyceum._core.threads import ordered_map
from lyceum._core.types import Data
from lyceum.errors import DataError, SchemaError, SettingError

MOST_CELLS = 1 << 22
_NOTHING = np.array(["(none)"])
SCORES = ("bic", "aic", "bdeu", "bd", "k2")
_KINDS = {"bic": 0, "aic": 0, "likelihood": 0, "bdeu": 1, "bd": 1, "k2": 2}
# child, parents, candidates for one more
Request = tuple[int, Sequence[int], Sequence[int]]


@dataclass(frozen=True)
class ScoreRule:
    """A decomposable score of a structure.

    Parameters
    ----------
    name : {"bic", "aic", "bdeu", "bd", "k2", "likelihood"}
    weight : float
        The weight of all rows: BIC takes log(weight) / 2 per parameter.
    equivalent_sample_size : float
        Of BDeu: the prior rows of a whole table.
    pseudo_count : float
        Of BD: the prior rows of every cell; K2 has 1.
    """

    name: str
    weight: float
    equivalent_sample_size: float = 10.0
    pseudo_count: float = 1.0

    def __post_init__(self) -> None:
        for name in ("equivalent_sample_size", "pseudo_count"):
            value = getattr(self, name)
            if not 0 < value < np.inf:
                raise SettingError(f"{name} is {value}: give a finite number above 0")

    @property
    def kind(self) -> int:
        """The number that the kernels know it by."""
        if self.name not in _KINDS:
            raise SettingError(
                f"there is no score {self.name!r}: choose one of {', '.join(SCORES)}"
            )
        return _KINDS[self.name]

    def sample_size(self, cells: int) -> float:
        """The prior rows of a table of so many cells."""
        if self.name == "bd":
            return self.pseudo_count * cells
        return self.equivalent_sample_size

    @property
    def penalty(self) -> float:
        """The penalty per parameter."""
        if self.name == "bic":
            return 0.5 * float(np.log(max(self.weight, 1.0)))
        if self.name == "aic":
            return 1.0
        return 0.0


def learning_rows(data: Data) -> Rows:
    """Rows from what a user gives: a frame, a path, an array or rows already; categories as
    codes."""
    rows = data if isinstance(data, Rows) else scan(data)
    return rows.then(Recode())


def _variables(schema: Schema) -> dict[str, np.ndarray]:
    """The categories of every column and of the target."""
    columns = list(schema)
    if schema.target is not None:
        columns.append(schema.target)
    variables = {}
    for column in columns:
        if column.categories is None:
            raise SchemaError(
                f"column {column.name!r} is {column.kind} ({column.why}), but structure is learned"
                " from categories: put lyceum.prepare.KBinsDiscretizer() in front, or declare the"
                f" kind, scan(..., kinds={{{column.name!r}: 'categorical'}})"
            )
        # a column with nothing but missing cells has one state, which never comes
        categories = np.asarray(column.categories)
        variables[column.name] = categories if len(categories) else _NOTHING
    return variables


def structure_data(rows: Rows, caller: str) -> CodedData | StreamedData:
    """The data of a structure search, from rows of codes: in memory if they are, else counted in
    passes."""
    if rows.in_memory:
        return CodedData.of(rows, caller)
    return StreamedData(rows, _variables(rows.schema))


@dataclass(frozen=True)
class CodedData:
    """All rows in memory, one byte per cell, variable by variable.

    Attributes
    ----------
    states : dict of name to categories
    codes : array of shape (variables, rows), of uint8 or uint16
        The largest value means missing.
    w : array of shape (rows,) or None
    weight : float
        Of all rows.
    """

    states: dict[str, np.ndarray]
    codes: np.ndarray
    w: np.ndarray | None
    weight: float

    @classmethod
    def of(cls, rows: Rows, caller: str) -> CodedData:
        """The rows, gathered for a learner or function of this name."""
        states = _variables(rows.schema)
        block = rows.in_one_block(
            caller, "method='chow_liu' or 'hill_climbing', which count in passes"
        )
        block = block.without_zero_weights()
        # the smallest type whose largest value is no code, as that means missing
        most_states = max(map(len, states.values()))
        kind = np.uint8 if most_states < 255 else np.uint16
        if most_states > 65_000:
            raise SchemaError(
                "a column has more than 65,000 categories: it is an identifier, leave it out"
            )
        codes = np.full((len(states), len(block)), np.iinfo(kind).max, kind)
        cells = np.asarray(block.dense)
        for j in range(cells.shape[1]):
            known = cells[:, j] >= 0  # NaN is not
            codes[j, known] = cells[known, j]
        if rows.schema.target is not None and block.y is not None:
            codes[-1, block.y >= 0] = block.y[block.y >= 0]
        return cls(states, codes, block.w, block.weight)

    @property
    def sizes(self) -> np.ndarray:
        """The number of states of every variable."""
        return np.array([len(values) for values in self.states.values()], np.int32)

    def complete(self) -> CodedData:
        """The rows without a missing cell."""
        keep = (self.codes != np.iinfo(self.codes.dtype).max).all(axis=0)
        if keep.all():
            return self
        codes = np.ascontiguousarray(self.codes[:, keep])
        if self.w is None:
            return CodedData(self.states, codes, None, float(keep.sum()))
        w = self.w[keep]
        return CodedData(self.states, codes, w, float(w.sum()))

    def counts(self, variables: Sequence[int]) -> np.ndarray:
        """The weight of every combination of states of some variables."""
        shape = tuple(int(self.sizes[v]) for v in variables)
        out = np.zeros(int(np.prod(shape)))
        native.joint_counts(
            self.codes, self.sizes, self.w, np.array(variables, np.int32), out
        )
        return out.reshape(shape)

    def tables(self, sets: Sequence[Sequence[int]]) -> list[np.ndarray]:
        """The counts of several sets of variables."""
        return [self.counts(variables) for variables in sets]

    def scores(self, requests: Sequence[Request], rule: ScoreRule) -> list[np.ndarray]:
        """For every request the scores of a child with its parents and one candidate more."""
        return list(ordered_map(partial(self._additions, rule=rule), requests))

    def _additions(self, request: Request, rule: ScoreRule) -> np.ndarray:
        child, parents, candidates = request
        scores = np.empty(len(candidates))
        added = self.sizes[np.array(candidates, np.int64)]
        cells = prod(int(self.sizes[v]) for v in (child, *parents))
        # the kernel has one prior for all candidates; that of BD goes by the size of the table
        groups = [np.ones(len(candidates), dtype=bool)]
        if rule.name == "bd":
            groups = [added == size for size in np.unique(added)]
        for group in groups:
            chosen = np.array(candidates, np.int32)[group]
            part = np.empty(len(chosen))
            n_cells = cells * int(added[group][0]) if len(chosen) else cells
            native.score_additions(
                self.codes, self.sizes, self.w, child, np.array(parents, np.int32), chosen,
                self.weight, rule.kind, rule.penalty, rule.sample_size(n_cells), MOST_CELLS, part,
            )  # fmt: skip
            scores[group] = part
        return scores

    def families(
        self, families: Sequence[tuple[int, Sequence[int]]], rule: ScoreRule
    ) -> list[float]:
        """The scores of children with their parents."""
        # a family is the addition of its last parent to the others
        scores = []
        for child, parents in families:
            if parents:
                request = (child, parents[:-1], parents[-1:])
                scores.append(float(self._additions(request, rule)[0]))
            else:
                scores.append(
                    table_score(self.counts([child])[None], self.weight, rule)
                )
        return scores


@dataclass(frozen=True)
class StreamedData:
    """Rows counted in passes: a source that is not held in memory.

    Attributes
    ----------
    rows : Rows
        Cells are codes.
    states : dict of name to categories
    """

    rows: Rows
    states: dict[str, np.ndarray]

    @property
    def sizes(self) -> np.ndarray:
        """The number of states of every variable."""
        return np.array([len(values) for values in self.states.values()], np.int32)

    def complete(self) -> StreamedData:
        """The rows without a missing cell."""
        return StreamedData(self.rows.then(_CompleteRows()), self.states)

    @cached_property
    def weight(self) -> float:
        """The weight of all rows."""
        try:
            return float(self.tables([[]])[0])
        except DataError:
            return 0.0

    def tables(self, sets: Sequence[Sequence[int]]) -> list[np.ndarray]:
        """The counts of several sets of variables, in one pass."""
        names = list(self.states)
        wanted = [tuple(names[v] for v in variables) for variables in sets]
        return list(self.rows.reduce(partial(JointCounts.of, sets=wanted)).tables)

    def counts(self, variables: Sequence[int]) -> np.ndarray:
        """The weight of every combination of states of some variables, in a separate pass."""
        return self.tables([variables])[0]

    def scores(self, requests: Sequence[Request], rule: ScoreRule) -> list[np.ndarray]:
        """For every request the scores of a child with its parents and one candidate more, in one
        pass."""
        families = [
            (child, [*parents, extra])
            for child, parents, more in requests
            for extra in more
        ]
        scores = iter(self.families(families, rule))
        return [np.array([next(scores) for _ in more]) for _, _, more in requests]

    def families(
        self, families: Sequence[tuple[int, Sequence[int]]], rule: ScoreRule
    ) -> list[float]:
        """The scores of children with their parents, in one pass."""
        # a family whose table is too large is not counted and scores -inf
        sizes = self.sizes.astype(float)
        members = [[*parents, child] for child, parents in families]
        small = [i for i, of in enumerate(members) if np.prod(sizes[of]) <= MOST_CELLS]
        scores = [-np.inf] * len(families)
        if small:
            tables = self.tables([members[i] for i in small])
            for i, table in zip(small, tables):
                counts = table.reshape(-1, table.shape[-1])
                scores[i] = table_score(counts, rule.weight, rule)
        return scores


@dataclass(frozen=True)
class NamedTarget:
    """The target under another name, where a column has the same."""

    name: str

    def schema(self, schema: Schema) -> Schema:
        assert schema.target is not None
        return schema.with_target(replace(schema.target, name=self.name))

    def __call__(self, block: Block) -> Block:
        return replace(block, schema=self.schema(block.schema))


@dataclass(frozen=True)
class _CompleteRows:
    """Drops the rows with a missing or unknown cell."""

    drops_rows = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        cells = block.dense
        keep = np.asarray((cells >= 0).all(axis=1))  # NaN is not
        if block.y is not None:
            keep = keep & (block.y >= 0)
        if keep.all():
            return block
        return block.take(keep)


def table_score(counts: np.ndarray, weight: float, rule: ScoreRule) -> float:
    """The score of counts: a row per combination of the parents, a column per state."""
    counts = np.ascontiguousarray(counts)
    return native.family_score(
        counts, weight, rule.kind, rule.penalty, rule.sample_size(counts.size)
    )

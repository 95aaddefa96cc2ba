"""From the files of a recipe to the rows that are studied, with all that was noticed on the way."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lyceum.data import (
    ArraySource,
    Block,
    Inspection,
    Rows,
    Schema,
    fits_memory,
    inspect,
    paths_of,
    read_data,
    scan,
)
from lyceum.errors import StudyError
from lyceum.statistics import RowSample
from lyceum.studies._candidate import Suspect, TaskKind
from lyceum.studies._recipe import Recipe

__all__ = ["StudyData", "fingerprint"]

_LEFT_OUT = ("constant", "empty", "free_text", "identifier")
_FEWEST = 20  # below, a 95 % interval of an error rate is up to 0.4 wide
_SAMPLE = 200_000
_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class StudyData:
    """The rows of a study.

    `rows` are in memory and have a target; `numbers` are their numbers in the data. `all_rows` are all rows
    with a target, streamed where they do not fit.
    """

    rows: Rows
    numbers: np.ndarray
    all_rows: Rows
    n_rows: int
    n_without_target: int
    n_missing: int
    suspects: tuple[Suspect, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, recipe: Recipe) -> StudyData:
        """Look at the files and read them; raises, by one sentence, where they cannot be studied."""
        kinds: Any = dict(recipe.kinds)
        memory = recipe.memory_mb << 20
        # rows that fit are read once, for the inspection and for the learners
        data: Any = list(recipe.data)
        data = read_data(data) if fits_memory(data, memory) else data
        found = inspect(data, recipe.target, kinds=kinds, memory=memory)
        suspects = tuple(_suspects(found, recipe))
        left_out = {suspect.column for suspect in suspects if suspect.left_out}
        _check_target(found, recipe)
        _check_columns(found, recipe, left_out)
        rows = scan(
            data,
            recipe.target,
            weight=recipe.weight,
            kinds={name: kind for name, kind in kinds.items() if name not in recipe.ignore},
            ignore=(*recipe.ignore, *sorted(left_out)),
            memory=memory,
        )
        missing = sum(found[name].n_missing for name in rows.schema.names)
        notes = _notes(found, recipe)
        if rows.in_memory:
            return cls._in_memory(rows, missing, suspects, notes)
        return cls._sampled(rows, missing, suspects, notes, recipe)

    @classmethod
    def _in_memory(
        cls, rows: Rows, missing: int, suspects: tuple[Suspect, ...], notes: tuple[str, ...]
    ) -> StudyData:
        y, w = rows.coded_y, rows.sample_weight
        there = _has_target(y)
        n_without = int(np.count_nonzero(~there))
        if w is not None:
            idle = int(np.count_nonzero(there & (w == 0)))
            there &= w > 0
            notes += (f"{idle:,} rows of weight 0 were left out.",) if idle else ()
        known = np.flatnonzero(there)
        kept = rows if there.all() else rows.take(known)
        return cls(kept, known, kept, len(known), n_without, missing, suspects, notes)

    @classmethod
    def _sampled(
        cls, rows: Rows, missing: int, suspects: tuple[Suspect, ...], notes: tuple[str, ...], recipe: Recipe
    ) -> StudyData:
        """A sample by a hash of the row numbers, of a quarter of the memory at most."""
        fits = (recipe.memory_mb << 20) // (32 * max(1, len(rows.schema)))
        every = rows.then(WithTarget())
        size = max(1_000, min(_SAMPLE, fits))
        counted = rows.reduce(partial(_sample, size=size, seed=recipe.seed))
        sample, n_rows = counted.sample, counted.n_with
        assert sample.y is not None
        order = np.argsort(sample.rows)
        w = None if sample.w is None else sample.weights[order]
        source = ArraySource(np.ascontiguousarray(sample.X[order]), sample.y[order], w, rows.schema, True)
        said = (
            f"The learners were compared on a random sample of {len(order):,} of the {n_rows:,} rows, which "
        )
        said += "do not fit into the memory allowed; the final model is fitted on all of them."
        without = counted.n_rows - n_rows
        return cls(
            Rows(source), sample.rows[order], every, n_rows, without, missing, suspects, (*notes, said)
        )

    @property
    def schema(self) -> Schema:
        return self.rows.schema

    @property
    def is_sample(self) -> bool:
        return self.all_rows is not self.rows

    @property
    def y(self) -> np.ndarray:
        y = self.rows.coded_y
        assert y is not None
        return y

    @property
    def w(self) -> np.ndarray | None:
        return self.rows.sample_weight

    @property
    def target(self) -> str:
        assert self.schema.target is not None
        return self.schema.target.name

    @property
    def task(self) -> TaskKind:
        assert self.schema.target is not None
        return "classification" if self.schema.target.is_categorical else "regression"

    @property
    def has_missing(self) -> bool:
        return self.n_missing > 0

    def checked(self) -> StudyData:
        """The same rows, if there are enough of them and of every class."""
        target = self.schema.target
        assert target is not None
        if len(self.y) < _FEWEST:
            raise StudyError(
                f"there are {len(self.y)} rows with a target: an honest comparison needs at least "
                f"{_FEWEST}, so collect more"
            )
        if target.categories is None:
            if np.ptp(self.y) == 0.0:
                raise StudyError(_one_value(target.name))
            return self
        counts = np.bincount(self.y, minlength=len(target.categories))
        if np.count_nonzero(counts) < 2:
            raise StudyError(_one_value(target.name))
        _check_classes(target.name, target.categories, counts)
        return self


@dataclass(frozen=True, slots=True)
class WithTarget:
    """Only the rows whose target is there."""

    drops_rows: ClassVar[bool] = True

    def schema(self, schema: Schema) -> Schema:
        return schema

    def __call__(self, block: Block) -> Block:
        known = _has_target(block.y)
        return block if known.all() else block.take(known)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A sample of the rows with a target, and how many rows there are with and without."""

    sample: RowSample
    n_with: int
    n_rows: int

    def merge(self, other: _Counted) -> _Counted:
        return _Counted(
            self.sample.merge(other.sample), self.n_with + other.n_with, self.n_rows + other.n_rows
        )


def _sample(block: Block, size: int, seed: int) -> _Counted:
    known = _has_target(block.y)
    w = block.weights
    # weight zero keeps a row out of the race without renumbering the others
    raced = RowSample.of(replace(block, w=np.where(known, w, 0.0)), size, seed)
    sample = raced if block.w is not None else replace(raced, w=None)
    return _Counted(sample, int(known.sum()), len(block))


def _has_target(y: np.ndarray | None) -> np.ndarray:
    assert y is not None
    return y >= 0 if y.dtype.kind == "i" else np.isfinite(y)


# -- what is noticed -----------------------------------------------------------------------------------------


def _suspects(found: Inspection, recipe: Recipe):
    aside = {*recipe.ignore, recipe.weight}
    for column in found.columns:
        if column.name in aside:
            continue
        for flag in column.flags:
            droppable = flag.code in _LEFT_OUT and column.name != recipe.target
            declared = column.name in recipe.keep or column.name in recipe.kinds
            yield Suspect(column.name, flag.code, flag.text, droppable and not declared)


def _check_target(found: Inspection, recipe: Recipe) -> None:
    target = found[recipe.target]
    if target.n_missing == found.n_rows:
        raise StudyError(f"the target {recipe.target!r} is missing in every row: choose another column")
    if any(flag.code == "constant" for flag in target.flags):
        raise StudyError(_one_value(recipe.target))
    if target.kind != "continuous" and (target.n_distinct is None or target.n_distinct > 1_000):
        raise StudyError(
            f"the target {recipe.target!r} has {target.n_distinct or 'very many'} distinct values that are "
            "no numbers: it is free text or an identifier; choose another column, or group its values"
        )


def _check_columns(found: Inspection, recipe: Recipe, left_out: set[str]) -> None:
    names = {column.name for column in found.columns}
    for key in ("ignore", "keep"):
        absent = sorted(set(getattr(recipe, key)) - names)
        if absent:
            raise StudyError(f"{key}: there is no column {absent[0]!r}")
    if names - left_out - {*recipe.ignore, recipe.target, recipe.weight}:
        return
    raise StudyError(
        "no column is left to learn from: "
        + "; ".join(f"{column.name!r} {column.flags[0].text}" for column in found.columns if column.flags)
        + "; keep one with keep=[...], or add columns"
    )


def _notes(found: Inspection, recipe: Recipe) -> tuple[str, ...]:
    notes = []
    target = found[recipe.target]
    if target.n_missing:
        notes.append(
            f"{target.n_missing:,} rows without a target were left out: nothing can be learned from them."
        )
    if found.n_repeated:
        notes.append(
            f"{found.n_repeated:,} rows repeat an earlier row; where they are the same case, the errors "
            "here are too small."
        )
    return tuple(notes)


def _one_value(target: str) -> str:
    return (
        f"the target {target!r} is the same in every row: there is nothing to predict; choose another column"
    )


def _check_classes(target: str, classes: np.ndarray, counts: np.ndarray) -> None:
    lonely = [str(label) for label, count in zip(classes, counts) if count == 1]
    if lonely:
        listed = ", ".join(map(repr, lonely[:3])) + (" and others" if len(lonely) > 3 else "")
        raise StudyError(
            f"the target {target!r} has only one row of {listed}: it cannot be both learned and tested; "
            "leave such rows out, or join the class with another"
        )


# -- which data ----------------------------------------------------------------------------------------------


def fingerprint(data: Sequence[str]) -> str:
    """A hash of the files: their sizes and bytes, of large ones 64 pieces of a megabyte spread evenly."""
    total = hashlib.sha256()
    for path in paths_of(list(data)):
        size = os.path.getsize(path)
        total.update(size.to_bytes(8, "big"))
        with open(Path(path), "rb") as file:
            step = max(_CHUNK, (size - _CHUNK) // 63 if size > 64 * _CHUNK else _CHUNK)
            for start in range(0, max(size, 1), step):
                file.seek(start)
                total.update(file.read(_CHUNK))
    return total.hexdigest()

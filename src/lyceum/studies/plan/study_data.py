"""From the files of a recipe to the rows that are studied, with all that was noticed on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lyceum._core.data import (
    ColumnInspection,
    FileFormat,
    Inspection,
    LoadedTable,
    ProfiledFile,
    Rows,
    Schema,
    allow_memory,
    coded_source,
    digest_data,
    fits_memory,
    inspect,
    profile_large_file,
    read_data,
    scan,
    spelling_hint,
    with_parsed_text,
)
from lyceum._core.lazy_arrow import pa
from lyceum.errors import StudyError
from lyceum.studies.plan.candidate import ColumnWarning, TaskKind
from lyceum.studies.plan.recipe import Recipe
from lyceum.studies.plan.row_steps import (
    FiniteCells,
    KnownClasses,
    WithTarget,
    has_target,
)
from lyceum.studies.plan.table_notes import (
    count_note,
    infinite_note,
    kept_notes,
    one_value_text,
    rare_note,
    single_rows_text,
    table_notes,
    zero_weight_note,
)
from lyceum.studies.report.format import by_count

_LEFT_OUT = ("constant", "empty", "free_text", "identifier")
_FEWEST = 6  # below, no part of the rows can be learned from while another is tested
# categories of a column, or classes, beyond which one-of-C columns make no sense
_LISTED = 1_000
_SAMPLE = 200_000
_SQUARES = 1e140  # sums of squares of larger numbers overflow


@dataclass(frozen=True, eq=False)
class StudyData:
    """The rows of a study.

    `rows` are in memory and have a target; `numbers` are their numbers in the data. `all_rows` are
    all rows with a target, streamed where they do not fit. `order_columns` are the columns of
    groups and times at the same rows, as they were read.
    """

    rows: Rows
    numbers: np.ndarray
    all_rows: Rows
    n_rows: int
    n_without_target: int
    n_missing: int
    suspects: tuple[ColumnWarning, ...]
    notes: tuple[str, ...]
    rare_classes: tuple[Any, ...] = ()  # those that were left out
    digest: str = ""  # a hash of the files before they were read
    order_columns: Mapping[str, pa.Array] = field(default_factory=dict)

    @classmethod
    def of(cls, recipe: Recipe) -> StudyData:
        """Look at the files and read them; raises, by one sentence, where they cannot be
        studied."""
        file_format = recipe.file_format
        memory = recipe.memory_mb << 20
        with allow_memory(memory):
            digest = digest_data(list(recipe.data), file_format)
            source, order = _read(recipe, file_format, memory)
        data = cls._of_read(recipe, source)
        drawn = source.seen.numbers if isinstance(source, ProfiledFile) else None
        return replace(data._with_order(order, drawn), digest=digest)

    @classmethod
    def _of_read(cls, recipe: Recipe, data: LoadedTable | ProfiledFile) -> StudyData:
        kinds: Any = dict(recipe.kinds)
        reading: Any = {"task": recipe.task, "memory": recipe.memory_mb << 20}
        inspection = inspect(
            data, recipe.target, kinds=kinds, file_format=recipe.file_format, **reading
        )
        suspects = _suspects(inspection, recipe)
        left_out = {suspect.column for suspect in suspects if suspect.left_out}
        _check_target(inspection, recipe)
        _check_columns(inspection, recipe, left_out)
        kinds |= _implied_kinds(inspection, suspects, recipe, left_out)
        rows = scan(
            data,
            recipe.target,
            weight=recipe.weight,
            kinds={name: kinds[name] for name in kinds if name not in recipe.ignore},
            ignore=(*recipe.ignore, *sorted(left_out)),
            **reading,
            **recipe.file_format.options(),
        )
        used = [inspection[name] for name in rows.schema.names]
        infinite = [column for column in used if column.n_infinite]
        if infinite:
            rows = rows.then(FiniteCells())
        missing = sum(column.n_missing + column.n_infinite for column in used)
        notes = (
            *table_notes(inspection, recipe),
            *kept_notes(suspects, recipe),
            *map(infinite_note, infinite),
        )
        if isinstance(data, ProfiledFile):
            study_data = cls._from_sample(rows, data, missing, suspects, notes)
        else:
            study_data = cls._in_memory(rows, missing, suspects, notes)
        return study_data._without_rare_classes(recipe)

    @classmethod
    def _in_memory(
        cls,
        rows: Rows,
        missing: int,
        suspects: tuple[ColumnWarning, ...],
        notes: tuple[str, ...],
    ) -> StudyData:
        y = rows.coded_y
        w = rows.sample_weight
        usable = has_target(y)
        n_without = int(np.count_nonzero(~usable))
        if w is not None:
            n_zero = int(np.count_nonzero(usable & (w == 0)))
            usable &= w > 0
            if n_zero:
                notes = (*notes, zero_weight_note(n_zero))
        numbers = np.flatnonzero(usable)
        if not usable.all():
            rows = rows.take(numbers)
        return cls(
            rows=rows,
            numbers=numbers,
            all_rows=rows,
            n_rows=len(numbers),
            n_without_target=n_without,
            n_missing=missing,
            suspects=suspects,
            notes=notes,
        )

    @classmethod
    def _from_sample(
        cls,
        rows: Rows,
        file: ProfiledFile,
        missing: int,
        suspects: tuple[ColumnWarning, ...],
        notes: tuple[str, ...],
    ) -> StudyData:
        """The rows that were drawn when the file was read through."""
        drawn = replace(rows, source=coded_source(file.seen.rows, rows.source.schema))
        sample = cls._in_memory(drawn, missing, suspects, notes)
        target = rows.schema.target
        assert target is not None
        seen = file.seen.profile.columns[target.name]
        without = seen.n_missing + seen.n_infinite
        n_rows = seen.n_rows - without
        text = (
            f"The learners were compared on a random sample of {sample.n_rows:,} of the {n_rows:,}"
            " rows, which do not fit into the memory allowed; the final model is fitted on all of"
            " them."
        )
        return replace(
            sample,
            numbers=file.seen.numbers[sample.numbers],
            all_rows=rows.then(WithTarget()),
            n_rows=n_rows,
            n_without_target=without,
            notes=(*sample.notes, text),
        )

    def _without_rare_classes(self, recipe: Recipe) -> StudyData:
        """The same rows without those of classes with a single row, if two classes remain.

        A class with a single row can be learned or tested, not both. A matrix of costs without
        labels has a row for it, so that all classes stay.
        """
        target = self.schema.target
        assert target is not None
        unlabeled = recipe.loss is not None and recipe.loss.classes is None
        if target.categories is None:
            counted = tuple(count_note(recipe.target, self.y))
            return replace(self, notes=(*self.notes, *counted))
        if unlabeled:
            return self
        counts = np.bincount(self.y, minlength=len(target.categories))
        common = np.flatnonzero(counts > 1)
        single = np.flatnonzero(counts == 1)
        if len(common) < 2 or not len(single):
            return self
        step = KnownClasses(common)
        indices = np.flatnonzero(np.isin(self.y, common))
        rows = self.rows.then(step)
        # gathered: blocks hold the codes that remain
        rows = rows.take(np.arange(len(indices)))
        n_rows = self.n_rows - len(single)
        notes = (*self.notes, rare_note(target.categories[single], n_rows))
        return replace(
            self,
            rows=rows,
            all_rows=self.all_rows.then(step) if self.is_sample else rows,
            numbers=self.numbers[indices],
            n_rows=n_rows,
            notes=notes,
            rare_classes=tuple(target.categories[single].tolist()),
        )

    def _with_order(self, order: pa.Table, drawn: np.ndarray | None) -> StudyData:
        """The same rows with their groups and times, of a table of all rows or of the `drawn`
        ones."""
        indices = self.numbers
        if drawn is not None:
            # numbers are those in the file, of which the table has the rows drawn
            indices = np.searchsorted(drawn, indices)
        rows = order.take(pa.array(indices))
        columns = {name: rows[name].combine_chunks() for name in rows.column_names}
        return replace(self, order_columns=columns)

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
        if self.schema.target.is_categorical:
            return "classification"
        return "regression"

    @property
    def has_missing(self) -> bool:
        return self.n_missing > 0

    def check_rows(self) -> StudyData:
        """The same rows, if there are enough of them and of every class."""
        target = self.schema.target
        assert target is not None
        _check_count(len(self.y))
        if target.categories is None:
            _check_scale(target.name, self.y)
            return self
        counts = np.bincount(self.y, minlength=len(target.categories))
        if np.count_nonzero(counts) < 2:
            raise StudyError(one_value_text(target.name))
        if np.count_nonzero(counts > 1) < 2:
            raise StudyError(single_rows_text(target.name, counts))
        return self


def _read(
    recipe: Recipe, file_format: FileFormat, memory: int
) -> tuple[LoadedTable | ProfiledFile, pa.Table]:
    """All rows, or where they do not fit into the memory a sample of a quarter of it at most.

    Beside them the columns of groups and times, before text in them is taken for numbers or dates.
    """
    data = list(recipe.data)
    if fits_memory(data, memory, file_format):
        loaded = read_data(data, file_format)
        return with_parsed_text(loaded), _order_columns(recipe, loaded.table)
    # columns whose distinct values must all be known: those declared to be categories
    listed = {name for name, kind in recipe.kinds.items() if kind != "continuous"}
    if recipe.task == "classification":
        listed.add(recipe.target)
    # cells of 8 bytes in a quarter of the memory
    large = profile_large_file(
        data,
        file_format,
        target=recipe.target,
        in_full=listed,
        size=_SAMPLE,
        cells=memory // 32,
        seed=recipe.seed,
    )
    return large, _order_columns(recipe, large.seen.rows)


def _order_columns(recipe: Recipe, table: pa.Table) -> pa.Table:
    names = dict.fromkeys((recipe.group, recipe.time))
    return table.select([name for name in names if name in table.column_names])


# -- what is noticed -------------------------------------------------------------------


def _suspects(inspection: Inspection, recipe: Recipe) -> tuple[ColumnWarning, ...]:
    """The columns that look wrong; those that hold something are kept where nothing else is
    left."""
    aside = {*recipe.ignore, recipe.weight}
    suspects = []
    for column in inspection.columns:
        if column.name in aside:
            continue
        is_wanted = column.name in (*recipe.keep, *recipe.kinds, recipe.target)
        for flag in column.flags:
            if flag.code == "ordered" and recipe.time is not None:
                continue  # the order of time is taken care of
            has_words = flag.code == "free_text" and recipe.text
            left_out = flag.code in _LEFT_OUT and not (is_wanted or has_words)
            text = _without_remedy(flag.text) if left_out else flag.text
            suspects.append(ColumnWarning(column.name, flag.code, text, left_out))
    out = {suspect.column for suspect in suspects if suspect.left_out}
    if {column.name for column in inspection.columns} - out - aside - {recipe.target}:
        return tuple(suspects)
    # nothing else is left: all stay but those that hold nothing, or one value per row
    empty = {s.column for s in suspects if s.code in ("constant", "empty")}
    empty |= {name for name in out if _has_many(inspection[name])}
    for i, suspect in enumerate(suspects):
        if suspect.column not in empty:
            text = _without_remedy(suspect.text)
            suspects[i] = replace(suspect, text=text, left_out=False)
    return tuple(suspects)


def _without_remedy(text: str) -> str:
    """What is odd about a column, without the advice to leave it out."""
    for remedy in (
        ": leave it out",
        ": take words or lengths from it, or leave it out",
    ):
        text = text.removesuffix(remedy)
    return text


def _has_many(column: ColumnInspection) -> bool:
    is_long = column.n_distinct is None or column.n_distinct > _LISTED
    return column.kind != "continuous" and is_long


def _implied_kinds(
    inspection: Inspection,
    suspects: Sequence[ColumnWarning],
    recipe: Recipe,
    left_out: set[str],
) -> dict[str, str]:
    """The kinds that follow from the recipe's `text` and `dates`, beside those it declares."""
    aside = {
        *recipe.ignore,
        *left_out,
        recipe.target,
        recipe.weight,
        recipe.group,
        recipe.time,
    }
    kinds = {}
    if recipe.text:
        declared = {*aside, *recipe.kinds}
        for suspect in suspects:
            if suspect.code == "free_text" and suspect.column not in declared:
                kinds[suspect.column] = "text"
    if not recipe.dates:  # a date that is declared to be a number is not taken apart
        for column in inspection.columns:
            if column.is_time and column.name not in aside:
                kinds[column.name] = "continuous"
    return kinds


def _check_target(inspection: Inspection, recipe: Recipe) -> None:
    target = inspection[recipe.target]
    if target.n_missing == inspection.n_rows:
        raise StudyError(
            f"the target {recipe.target!r} is missing in every row: choose another column"
        )
    _check_count(inspection.n_rows - target.n_missing)
    if any(flag.code == "constant" for flag in target.flags):
        raise StudyError(one_value_text(recipe.target))
    if _has_many(target):
        what = "that are no numbers"
        if target.low is not None:
            what = "taken as classes"
        raise StudyError(
            f"the target {recipe.target!r} has {target.n_distinct or 'very many'} distinct values"
            f" {what}: it is free text or an identifier; choose another column, or group its values"
        )


def _check_columns(inspection: Inspection, recipe: Recipe, left_out: set[str]) -> None:
    listed = [column.name for column in inspection.columns]
    names = set(listed)
    # those of group and time are in ignore too
    for key in ("group", "time", "ignore", "keep"):
        value = getattr(recipe, key) or ()
        named = {value} if isinstance(value, str) else set(value)
        unknown = sorted(named - names)
        if unknown:
            hint = spelling_hint(unknown[0], listed)
            raise StudyError(f"{key}: there is no column {unknown[0]!r}{hint}")
    if names - left_out - {*recipe.ignore, recipe.target, recipe.weight}:
        return
    reasons = [
        f"{c.name!r} {c.flags[0].text}"
        for c in inspection.columns
        if c.name in left_out and c.flags
    ]
    if reasons:
        why = f": {'; '.join(reasons)}; keep one with keep=[...], or add columns"
    else:
        why = f" beside the target {recipe.target!r}: add columns"
        if recipe.ignore:
            why += ", or ignore fewer"
    raise StudyError(f"no column is left to learn from{why}")


def _check_scale(target: str, y: np.ndarray) -> None:
    """Raise where all values are the same, or so large or alike that their squares are no
    numbers."""
    largest = np.abs(y).max()
    is_large = largest > _SQUARES
    # divided before it is subtracted, as the difference of large numbers may overflow
    unit = _SQUARES if is_large else 1.0
    spread = float(np.ptp(y / unit)) * unit
    if spread == 0.0:
        raise StudyError(one_value_text(target))
    if is_large or spread < 1.0 / _SQUARES:
        size = "large" if is_large else "small"
        raise StudyError(
            f"the target {target!r} has values so {size} (up to {largest:.3g}) that squared errors"
            " cannot be written as numbers: study it in another unit, or its logarithm"
        )


def _check_count(n_rows: int) -> None:
    """Raise where the rows with a target are too few for folds."""
    if n_rows < _FEWEST:
        count = by_count(n_rows, "there is 1 row", f"there are {n_rows} rows")
        raise StudyError(
            f"{count} with a target: too few to learn from some and test on others; {_FEWEST} are"
            " the least, and even 20 say little"
        )

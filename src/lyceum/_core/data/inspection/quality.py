"""What looks wrong in a table: identifiers, constants, copies, codes for missing values.

Every function takes what was counted over all rows (`Facts`) or the cells of a sample (`Cells`) and
answers with flags: a code to sort by and a sentence to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np

from lyceum._core.data.files.text_formats import text_format_of
from lyceum._core.data.inputs.arrow import column_class, decode_dictionary, numbers
from lyceum._core.data.inputs.text_arrays import is_number
from lyceum._core.data.schema.profile import ColumnProfile
from lyceum._core.lazy_arrow import pa
from lyceum._core.text import show_count

_CONSTANT = 0.95  # a value in this share of the rows leaves a column nearly constant
_MANY = 50  # categories beyond which each has to earn its rows
_RARE = 5  # rows below which a class is rare
_YEARS = (1500, 2200)  # whole numbers that rise within these are years, no identifiers
_LABEL = re.compile(
    r"(?:^|[\W_])(?i:id|key|nr|uuid|row_?names?)$|[a-z](?:Id|ID|Key|Nr)$"
)
_SENTINELS = (-1.0, -9.0, -99.0, -999.0, -9999.0, 9.0, 99.0, 999.0, 9999.0, 99999.0)


@dataclass(frozen=True, slots=True)
class Flag:
    """One suspicion: a stable code, and a sentence."""

    code: str
    text: str


@dataclass(frozen=True)
class ColumnCells:
    """The sampled cells of one column: `values` when they are numbers, `column` as they were
    read."""

    name: str
    column: pa.Array
    holds: str

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray) -> ColumnCells:
        return cls(name, column.combine_chunks(), column_class(column.type, name))

    def __len__(self) -> int:
        return len(self.column)

    @cached_property
    def values(self) -> np.ndarray | None:
        if self.holds == "text":
            return None
        return numbers(self.column, self.name).astype(np.float64)

    @cached_property
    def codes(self) -> np.ndarray:
        """A number for every distinct value in the order of first appearance, -1 for a missing
        cell."""
        text = decode_dictionary(self.column)  # a category type has an order of its own
        if self.values is None:
            cells = text
        else:
            cells = pa.array(self.values, from_pandas=True)
        return (
            cells.dictionary_encode()
            .indices.fill_null(-1)
            .to_numpy(zero_copy_only=False)
        )

    @cached_property
    def content(self) -> bytes:
        """A digest of the cells, the same for equal columns."""
        if self.values is None:
            return _digest(repr(self.column.to_pylist()).encode())
        return _digest(
            np.where(np.isnan(self.values), np.nan, self.values + 0.0).tobytes()
        )

    @cached_property
    def groups(self) -> bytes:
        """A digest of which rows have equal cells, the same for columns that say the same, one to
        one."""
        return _digest(self.codes.tobytes())

    @cached_property
    def n_distinct(self) -> int:
        return int(self.codes.max(initial=-1)) + 1

    @cached_property
    def n_present(self) -> int:
        return int(np.count_nonzero(self.codes >= 0))


def _digest(cells: bytes) -> bytes:
    return blake2b(cells, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """What is known of one column: the profile of all its rows, and its sampled cells."""

    profile: ColumnProfile
    cells: ColumnCells
    all_rows: bool  # whether the sample is all rows

    @property
    def present(self) -> int:
        return self.profile.n_rows - self.profile.n_missing

    @property
    def n_distinct(self) -> int | None:
        """The number of distinct values, if it is known."""
        if self.profile.values is not None:
            return len(self.profile.values)
        if self.all_rows:
            return self.cells.n_distinct
        return None

    @property
    def where(self) -> str:
        if self.all_rows:
            return ""
        return f" in a sample of {len(self.cells):,} rows"

    @property
    def top_share(self) -> float:
        """The share of the commonest value among the cells that are not missing."""
        if self.profile.counts is not None:
            counts = self.profile.counts
            present = self.present
        else:
            counts = np.bincount(self.cells.codes[self.cells.codes >= 0])
            present = self.cells.n_present
        return float(counts.max(initial=0)) / max(1, present)


def column_flags(facts: ColumnSummary) -> Iterator[Flag]:
    """The flags of one column by itself."""
    profile = facts.profile
    if facts.present == 0:
        yield Flag("empty", "has no values at all: leave it out")
        return
    share = profile.n_missing / profile.n_rows
    if share > 0.5:
        yield Flag(
            "mostly_missing", f"is missing in {_share_of_rows(share, facts.present)}"
        )
    if profile.n_infinite:
        yield Flag(
            "infinite",
            f"has {profile.n_infinite:,} infinite cells: most learners will refuse them",
        )
    yield from _constant(facts)
    yield from _identifier(facts) if profile.holds != "text" else _text(facts)
    yield from _sentinel(facts)


def _constant(facts: ColumnSummary) -> Iterator[Flag]:
    if facts.n_distinct == 1 or (
        facts.n_distinct is None and facts.cells.n_distinct == 1
    ):
        if facts.profile.n_missing:
            missing = ", apart from missing cells"
        else:
            missing = ""
        yield Flag("constant", f"is the same in every row{missing}: it tells nothing")
    elif facts.top_share >= _CONSTANT and facts.present >= 20:
        n_other = round((1.0 - facts.top_share) * facts.present)
        where = _share_of_rows(facts.top_share, n_other, 1)
        yield Flag("nearly_constant", f"is {_commonest(facts)!r} in {where}")


def _share_of_rows(share: float, n_other: int, decimals: int = 0) -> str:
    """A share in percent, unless it would be rounded to all of the rows."""
    text = f"{share:.{decimals}%}"
    if float(text[:-1]) == 100.0:
        return f"all but {n_other:,} of the rows"
    return f"{text} of the rows"


def _commonest(facts: ColumnSummary) -> str | float:
    profile = facts.profile
    cells = facts.cells
    if profile.values is not None and profile.counts is not None:
        value = profile.values[int(profile.counts.argmax())].item()
    else:
        code = np.bincount(cells.codes[cells.codes >= 0]).argmax()
        value = cells.column[int(np.flatnonzero(cells.codes == code)[0])].as_py()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _are_years(values: np.ndarray) -> bool:
    """Whether whole numbers that differ can be years, by their size and number."""
    return bool(
        _YEARS[0] <= values.min() and values.max() <= _YEARS[1] and len(values) <= 300
    )


def _identifier(facts: ColumnSummary) -> Iterator[Flag]:
    """Whole numbers that differ in every row, and times in order."""
    cells = facts.cells
    profile = facts.profile
    if cells.values is None or cells.n_distinct < len(cells) or len(cells) < 10:
        return
    steps = np.diff(cells.values)
    rising = bool((steps > 0).all())
    if profile.holds == "time":
        if rising and len(cells) >= 20:
            yield Flag(
                "ordered",
                "rises from row to row: the rows are in order of time, so split them by time",
            )
    elif profile.is_integer and rising and _are_years(cells.values):
        yield Flag(
            "ordered",
            "rises from row to row, as years do: the rows are in order of time",
        )
    elif facts.all_rows and profile.is_integer and bool((steps == 1).all()):
        yield Flag("identifier", "counts the rows: leave it out")
    elif (
        profile.is_integer
        and len(cells) >= 50
        and _are_row_labels(cells.name, cells.values)
    ):
        if rising:
            how = "rises from row to row"
        else:
            how = "differs in every row"
        yield Flag(
            "identifier", f"is a whole number that {how}{facts.where}: an identifier?"
        )


def _are_row_labels(name: str, values: np.ndarray) -> bool:
    """Whether whole numbers that all differ are labels of the rows, and not a measure such as a
    population.

    They are if their name says so, if chance would have made some of them equal (uniform numbers in
    their range would have four equal pairs or more, others still more), or if they have ten digits
    or more each.
    """
    low = float(values.min())
    high = float(values.max())
    n = len(values)
    equal_pairs = n * (n - 1) / 2 / (high - low + 1.0)
    long = low >= 1e9 and len(f"{low:.0f}") == len(f"{high:.0f}")
    return bool(_LABEL.search(name)) or equal_pairs >= 4.0 or long


def _text(facts: ColumnSummary) -> Iterator[Flag]:
    distinct = facts.n_distinct
    present = facts.present
    if distinct is None:
        share = facts.cells.n_distinct / max(1, facts.cells.n_present)
    else:
        share = distinct / present
    if present >= 20 and share > 0.5 and _is_prose(facts.cells):
        yield Flag(
            "free_text",
            "is free text, not categories: take words or lengths from it, or leave it out",
        )
    elif present >= 20 and share == 1.0:
        yield Flag("identifier", f"differs in every row{facts.where}: an identifier?")
    elif present >= 50 and share > 0.9:
        yield Flag(
            "identifier",
            f"differs in {share:.0%} of the rows{facts.where}: an identifier?",
        )
    elif (
        distinct is None
        or (distinct > _MANY and present < 10 * distinct)
        or distinct > 1000
    ):
        if distinct is None:
            many = "very many"
        else:
            many = f"{distinct:,}"
        yield Flag(
            "many_categories",
            f"has {many} categories for {present:,} rows: group the rare ones",
        )
    if facts.profile.values is not None and facts.profile.counts is not None:
        yield from _mostly_numbers(facts.profile.values, facts.profile.counts)
        yield from _spellings(facts.profile.values)


def _is_prose(cells: ColumnCells) -> bool:
    texts = [text for text in cells.column[:1000].to_pylist() if text]
    return bool(texts) and float(np.mean([len(text.split()) for text in texts])) >= 4


def _mostly_numbers(values: np.ndarray, counts: np.ndarray) -> Iterator[Flag]:
    order = np.argsort(-counts, kind="stable")[:5000]
    number = np.array([is_number(str(values[i])) for i in order])
    share = counts[order][number].sum() / max(1, counts[order].sum())
    if share == 1.0:
        text_format = None
    else:
        text_format = text_format_of(pa.array([str(values[i]) for i in order]))
    if share == 1.0:
        yield Flag("numbers_as_text", "holds numbers written as text: convert it")
    elif text_format is not None and not text_format.date:
        first = str(values[order[~number][0]])
        yield Flag(
            "numbers_as_text",
            f"holds numbers written as text, such as {first!r}: convert it",
        )
    elif share >= 0.9:
        odd = str(values[order[~number][0]])
        yield Flag(
            "mostly_numbers",
            f"would be numbers but for cells such as {odd!r}: do they mean missing?",
        )


def _spellings(values: np.ndarray) -> Iterator[Flag]:
    """Categories that differ in case or outer blanks alone."""
    seen: dict[str, str] = {}
    for value in map(str, values[:5000]):
        first = seen.setdefault(value.strip().casefold(), value)
        if first != value:
            yield Flag(
                "spelling", f"spells one category in two ways: {first!r} and {value!r}"
            )
            return


def _sentinel(facts: ColumnSummary) -> Iterator[Flag]:
    """A code such as -999 that stands far outside the other numbers."""
    values = facts.cells.values
    if values is None or facts.profile.holds != "number":
        return
    values = values[np.isfinite(values)]
    for code in np.intersect1d(
        _SENTINELS, (values.min(initial=np.inf), values.max(initial=-np.inf))
    ):
        rest = values[values != code]
        n_coded = len(values) - len(rest)
        if n_coded < 3 or len(rest) < 10 or np.ptp(rest) == 0:
            continue
        if np.abs(rest - code).min() > np.ptp(rest):
            share = n_coded / len(facts.cells)
            yield Flag(
                "disguised_gap",
                f"is {code:g} in {share:.1%} of the rows, far from the rest: a code for missing?",
            )


# -- columns against each other --------------------------------------------------------


def copies(columns: Sequence[ColumnCells]) -> dict[str, Flag]:
    """The columns that say what an earlier one says, cell for cell or one-to-one.

    Where most rows have a value of their own, being one-to-one means nothing, and cells have to be
    equal.
    """
    flags: dict[str, Flag] = {}
    first: dict[bytes, ColumnCells] = {}
    for cells in columns:
        if len(cells) < 10 or cells.n_distinct < 2:
            continue
        by_groups = cells.n_distinct <= len(cells) // 2
        earlier = first.setdefault(cells.groups if by_groups else cells.content, cells)
        if earlier is not cells:
            equal = not by_groups or cells.content == earlier.content
            same = f"says the same as {earlier.name!r}, one to one, in other values"
            flags[cells.name] = Flag(
                "copy", f"is a copy of {earlier.name!r}" if equal else same
            )
    return flags


# -- columns against the target --------------------------------------------------------


def target_flags(facts: ColumnSummary, classes: np.ndarray | None) -> Iterator[Flag]:
    """What is wrong with the target itself."""
    profile = facts.profile
    if profile.n_missing:
        yield Flag(
            "missing_target",
            f"is missing in {show_count(profile.n_missing, 'row')}: nothing can be learned there",
        )
    if facts.n_distinct == 1:
        yield Flag("constant", "is the same in every row: there is nothing to predict")
    elif classes is not None and profile.counts is not None:
        assert profile.values is not None
        counted = zip(profile.values, profile.counts)
        rare = [str(value) for value, count in counted if count < _RARE]
        if rare:
            listed = ", ".join(rare[:3]) + (" …" if len(rare) > 3 else "")
            yield Flag(
                "rare_class", f"has classes of fewer than {_RARE} rows: {listed}"
            )

"""What looks wrong in a table: identifiers, constants, copies, codes for missing values.

Every function takes columns with what was counted over all rows and the cells of a sample
(`SampledColumn`), and answers with flags: a code to sort by and a sentence to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np

from lyceum._core.data.files.text_formats import text_format_of
from lyceum._core.data.inputs.arrow import decode_dictionary, numbers
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
# what people call the thing that several rows may be about
_CASE = re.compile(
    r"(?i)^(subject|patient|person|participant|respondent|individual|household|animal)s?"
    r"[\W_]?(id|no|nr|num|number|code)?$"
)
# the same, shortened, as only an "id" behind it tells: "distid", "sch_id", but not "acid"
_SHORT_CASE = re.compile(
    r"(?i)^(acct|case|child|class|cust|dist|doc|emp|fam|firm|hh|hosp|house|indiv?|item|pat|pers"
    r"|plot|prod|sch|school|site|store|stud?|student|subj|teach|user|village)[\W_]?id$"
)
_UNIQUE = 0.5  # distinct values per row, from which what is called an identifier is one
_PILE = (
    0.1,
    0.95,
)  # shares of the rows with one value that may stand for "not measured"
_SENTINELS = (-1.0, -9.0, -99.0, -999.0, -9999.0, 9.0, 99.0, 999.0, 9999.0, 99999.0)


@dataclass(frozen=True, slots=True)
class Flag:
    """One suspicion: a stable code, and a sentence."""

    code: str
    text: str


@dataclass(frozen=True)
class SampledColumn:
    """One column of a `SampledProfile`: what was counted over all rows, and its sampled cells.

    What is named `sampled_...`, `values` and `codes` are of the sample alone.
    """

    profile: ColumnProfile
    cells: pa.Array  # as they were read

    @classmethod
    def of(cls, profile: ColumnProfile, cells: pa.ChunkedArray) -> SampledColumn:
        return cls(profile, cells.combine_chunks())

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def name(self) -> str:
        return self.profile.name

    @property
    def has_all_rows(self) -> bool:
        """Whether the sample is all rows."""
        return len(self.cells) == self.profile.n_rows

    @property
    def where(self) -> str:
        if self.has_all_rows:
            return ""
        return f" in a sample of {len(self):,} rows"

    @property
    def n_present(self) -> int:
        return self.profile.n_rows - self.profile.n_missing

    @property
    def n_distinct(self) -> int | None:
        """The number of distinct values in all rows, if it is known."""
        if self.profile.values is not None:
            return len(self.profile.values)
        if self.has_all_rows:
            return self.sampled_distinct
        return None

    @cached_property
    def values(self) -> np.ndarray | None:
        """The sampled cells as numbers, None for text."""
        if self.profile.holds == "text":
            return None
        return numbers(self.cells, self.name).astype(np.float64)

    @cached_property
    def codes(self) -> np.ndarray:
        """A number for every distinct value in the order of first appearance, -1 for a missing
        cell."""
        if self.values is None:
            # decoded first, as a category type has codes of its own, in another order
            cells = decode_dictionary(self.cells)
        else:
            cells = pa.array(self.values, from_pandas=True)
        indices = cells.dictionary_encode().indices
        return indices.fill_null(-1).to_numpy(zero_copy_only=False)

    @cached_property
    def sampled_distinct(self) -> int:
        return int(self.codes.max(initial=-1)) + 1

    @cached_property
    def sampled_present(self) -> int:
        return int(np.count_nonzero(self.codes >= 0))

    @cached_property
    def content(self) -> bytes:
        """A digest of the cells, the same for equal columns."""
        if self.values is None:
            return _digest(repr(self.cells.to_pylist()).encode())
        # one NaN for all of them, and 0.0 for -0.0: equal numbers have equal bytes
        plain = np.where(np.isnan(self.values), np.nan, self.values + 0.0)
        return _digest(plain.tobytes())

    @cached_property
    def groups(self) -> bytes:
        """A digest of which rows have equal cells, the same for columns that say the same, one to
        one."""
        return _digest(self.codes.tobytes())

    @property
    def top_share(self) -> float:
        """The share of the commonest value among the cells that are not missing."""
        if self.profile.counts is not None:
            counts = self.profile.counts
            n_present = self.n_present
        else:
            counts = np.bincount(self.codes[self.codes >= 0])
            n_present = self.sampled_present
        return float(counts.max(initial=0)) / max(1, n_present)

    @property
    def commonest(self) -> str | float:
        values = self.profile.values
        counts = self.profile.counts
        if values is not None and counts is not None:
            value = values[int(counts.argmax())].item()
        else:
            present = self.codes[self.codes >= 0]
            code = np.bincount(present).argmax()
            row = np.flatnonzero(self.codes == code)[0]
            value = self.cells[int(row)].as_py()
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value


def _digest(cells: bytes) -> bytes:
    return blake2b(cells, digest_size=16).digest()


def column_flags(column: SampledColumn) -> Iterator[Flag]:
    """The flags of one column by itself."""
    profile = column.profile
    if column.n_present == 0:
        yield Flag("empty", "has no values at all: leave it out")
        return
    share = profile.n_missing / profile.n_rows
    if share > 0.5:
        where = _share_of_rows(share, column.n_present)
        yield Flag("mostly_missing", f"is missing in {where}")
    if profile.n_infinite:
        yield Flag(
            "infinite",
            f"has {profile.n_infinite:,} infinite cells: most learners will refuse them",
        )
    yield from _constant(column)
    if profile.holds == "text":
        yield from _text(column)
    else:
        yield from _identifier(column)
    if profile.holds == "number":
        yield from _sentinel(column)
        yield from _pile(column)


def _constant(column: SampledColumn) -> Iterator[Flag]:
    n_distinct = column.n_distinct
    if n_distinct is None:
        n_distinct = column.sampled_distinct
    if n_distinct == 1:
        missing = ""
        if column.profile.n_missing:
            missing = ", apart from missing cells"
        yield Flag("constant", f"is the same in every row{missing}: it tells nothing")
    elif column.top_share >= _CONSTANT and column.n_present >= 20:
        n_other = round((1.0 - column.top_share) * column.n_present)
        where = _share_of_rows(column.top_share, n_other, 1)
        yield Flag("nearly_constant", f"is {column.commonest!r} in {where}")


def _share_of_rows(share: float, n_other: int, decimals: int = 0) -> str:
    """A share in percent, unless it would be rounded to all of the rows."""
    text = f"{share:.{decimals}%}"
    if float(text[:-1]) == 100.0:
        return f"all but {n_other:,} of the rows"
    return f"{text} of the rows"


def _identifier(column: SampledColumn) -> Iterator[Flag]:
    """Whole numbers that differ in every row, and times in order."""
    values = column.values
    n = len(column)
    if values is None or n < 10:
        return
    if column.sampled_distinct < n:
        if column.profile.is_integer:
            yield from _repeated_identifier(column)
        return
    steps = np.diff(values)
    rising = bool((steps > 0).all())
    if column.profile.holds == "time":
        if rising and n >= 20:
            yield Flag(
                "ordered",
                "rises from row to row: the rows are in order of time, so split them by time",
            )
        return
    if not column.profile.is_integer:
        return
    first, last = _YEARS
    in_years = first <= values.min() and values.max() <= last
    if rising and in_years and n <= 300:
        yield Flag(
            "ordered",
            "rises from row to row, as years do: the rows are in order of time",
        )
    elif column.has_all_rows and bool((steps == 1).all()):
        yield Flag("identifier", "counts the rows: leave it out")
    elif n >= 50 and _are_row_labels(column.name, values):
        how = "rises from row to row" if rising else "differs in every row"
        yield Flag(
            "identifier", f"is a whole number that {how}{column.where}: an identifier?"
        )


def _repeated_identifier(column: SampledColumn) -> Iterator[Flag]:
    """Values that name a case by the name of their column, though some cases have several rows."""
    n_present = column.sampled_present
    n_distinct = column.sampled_distinct
    is_label = bool(_LABEL.search(column.name))
    is_case = _CASE.match(column.name) or _SHORT_CASE.match(column.name)
    is_named = is_label or bool(is_case)
    if not is_named or n_present < 20 or n_distinct < 5 or n_distinct == n_present:
        return
    counted = f"{n_distinct:,} values in {n_present:,} rows"
    if is_label and n_distinct >= _UNIQUE * n_present:
        yield Flag(
            "identifier", f"is by its name an identifier ({counted}): leave it out"
        )
    yield Flag(
        "repeated_identifier", f"names the same case in several rows ({counted})"
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
    # n (n - 1) / 2 pairs, each equal with probability 1 / (high - low + 1)
    equal_pairs = n * (n - 1) / 2 / (high - low + 1.0)
    long = low >= 1e9 and len(f"{low:.0f}") == len(f"{high:.0f}")
    return bool(_LABEL.search(name)) or equal_pairs >= 4.0 or long


def _text(column: SampledColumn) -> Iterator[Flag]:
    n_distinct = column.n_distinct
    n_present = column.n_present
    if n_distinct is None:
        share = column.sampled_distinct / max(1, column.sampled_present)
    else:
        share = n_distinct / n_present
    if n_present >= 20 and share > 0.5 and _is_prose(column.cells):
        yield Flag(
            "free_text",
            "is free text, not categories: take words or lengths from it, or leave it out",
        )
    elif n_present >= 20 and share == 1.0:
        yield Flag("identifier", f"differs in every row{column.where}: an identifier?")
    elif n_present >= 50 and share > 0.9:
        # not rounded up to 100 %, which would be every row
        percent = (
            np.floor(1000.0 * share) / 10.0 if share >= 0.99 else round(100.0 * share)
        )
        yield Flag(
            "identifier",
            f"differs in {percent:g}% of the rows{column.where}: an identifier?",
        )
    elif repeated := list(_repeated_identifier(column)):
        yield from repeated
    elif (
        n_distinct is None
        or n_distinct > 1000
        or (n_distinct > _MANY and n_present < 10 * n_distinct)
    ):
        many = "very many"
        if n_distinct is not None:
            many = f"{n_distinct:,}"
        yield Flag(
            "many_categories",
            f"has {many} categories for {n_present:,} rows: group the rare ones",
        )
    values = column.profile.values
    if values is not None and column.profile.counts is not None:
        yield from _mostly_numbers(values, column.profile.counts)
        yield from _spellings(values)


def _is_prose(cells: pa.Array) -> bool:
    """Whether the first texts have four words or more on average."""
    texts = [text for text in cells[:1000].to_pylist() if text]
    if not texts:
        return False
    n_words = [len(text.split()) for text in texts]
    return float(np.mean(n_words)) >= 4


def _mostly_numbers(values: np.ndarray, counts: np.ndarray) -> Iterator[Flag]:
    # the commonest texts, each weighted by its rows
    order = np.argsort(-counts, kind="stable")[:5000]
    texts = [str(value) for value in values[order]]
    number = np.array([is_number(text) for text in texts])
    n_rows = counts[order]
    share = n_rows[number].sum() / max(1, n_rows.sum())
    if share == 1.0:
        yield Flag("numbers_as_text", "holds numbers written as text: convert it")
        return
    text_format = text_format_of(pa.array(texts))
    odd = texts[int(np.argmin(number))]
    if text_format is not None and not text_format.date:
        yield Flag(
            "numbers_as_text",
            f"holds numbers written as text, such as {odd!r}: convert it",
        )
    elif share >= 0.9:
        yield Flag(
            "mostly_numbers",
            f"would be numbers but for cells such as {odd!r}: do they mean missing?",
        )


def _spellings(values: np.ndarray) -> Iterator[Flag]:
    """Categories that differ in case or outer blanks alone."""
    # by what the spellings have in common, the first that came
    seen: dict[str, str] = {}
    for value in map(str, values[:5000]):
        first = seen.setdefault(value.strip().casefold(), value)
        if first != value:
            yield Flag(
                "spelling", f"spells one category in two ways: {first!r} and {value!r}"
            )
            return


def _sentinel(column: SampledColumn) -> Iterator[Flag]:
    """A code such as -999 that stands far outside the other numbers."""
    assert column.values is not None
    values = column.values[np.isfinite(column.values)]
    low = values.min(initial=np.inf)
    high = values.max(initial=-np.inf)
    for code in np.intersect1d(_SENTINELS, (low, high)):
        rest = values[values != code]
        n_coded = len(values) - len(rest)
        if n_coded < 3 or len(rest) < 10 or np.ptp(rest) == 0:
            continue
        # farther from every other number than these are from each other
        if np.abs(rest - code).min() > np.ptp(rest):
            share = n_coded / len(column)
            yield Flag(
                "disguised_gap",
                f"is {code:g} in {share:.1%} of the rows, far from the rest: a code for missing?",
            )


def _pile(column: SampledColumn) -> Iterator[Flag]:
    """One value in many rows, at the end of a range that the other numbers do not come near."""
    assert column.values is not None
    values = column.values[np.isfinite(column.values)]
    least, most = _PILE
    if len(values) < 20 or column.sampled_distinct < 20:
        return
    distinct, counts = np.unique(values, return_counts=True)
    top = int(counts.argmax())
    value = float(distinct[top])
    share = float(counts[top]) / len(values)
    rest = values[values != value]
    is_at_end = top in (0, len(distinct) - 1)
    # many values may be common, as ages are: this one stands out
    is_common = counts[top] > 3 * np.partition(counts, -2)[-2]
    if not (least <= share < most and is_at_end and is_common):
        return
    # the nearest of the others is a good part of the way to their median
    nearest = float(np.abs(rest - value).min())
    middle = float(np.median(np.abs(rest - value)))
    is_count = column.profile.is_integer and nearest == 1.0
    if nearest >= 0.05 * middle and not is_count:
        text = f"{rest.min():g} to {rest.max():g}"
        yield Flag(
            "pile",
            f"is {value:g} in {share:.0%} of the rows, and from {text} in the others: does"
            f" {value:g} mean that it was not measured?",
        )


# -- columns against each other --------------------------------------------------------


def copies(columns: Sequence[SampledColumn]) -> dict[str, Flag]:
    """The columns that say what an earlier one says, cell for cell or one-to-one.

    Where most rows have a value of their own, being one-to-one means nothing, and cells have to be
    equal.
    """
    flags: dict[str, Flag] = {}
    first: dict[bytes, SampledColumn] = {}
    for column in columns:
        if len(column) < 10 or column.sampled_distinct < 2:
            continue
        by_groups = column.sampled_distinct <= len(column) // 2
        digest = column.groups if by_groups else column.content
        earlier = first.setdefault(digest, column)
        if earlier is column:
            continue
        if not by_groups or column.content == earlier.content:
            text = f"is a copy of {earlier.name!r}"
        else:
            text = f"says the same as {earlier.name!r}, one to one, in other values"
        flags[column.name] = Flag("copy", text)
    return flags


# -- columns against the target --------------------------------------------------------


def target_flags(target: SampledColumn, is_class: bool) -> Iterator[Flag]:
    """What is wrong with the target itself."""
    profile = target.profile
    if profile.n_missing:
        yield Flag(
            "missing_target",
            f"is missing in {show_count(profile.n_missing, 'row')}: nothing can be learned there",
        )
    if target.n_distinct == 1:
        yield Flag("constant", "is the same in every row: there is nothing to predict")
    elif is_class and profile.counts is not None:
        assert profile.values is not None
        counted = zip(profile.values, profile.counts)
        rare = [str(value) for value, count in counted if count < _RARE]
        if rare:
            listed = ", ".join(rare[:3]) + " …" * (len(rare) > 3)
            yield Flag(
                "rare_class", f"has classes of fewer than {_RARE} rows: {listed}"
            )

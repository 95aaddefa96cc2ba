"""The distinct values of a column with the rows of each; None for both where there are too many to
list."""

from __future__ import annotations

import numpy as np

from lyceum._core.data.inputs.arrow import numbers
from lyceum._core.data.schema.column import union_levels
from lyceum._core.lazy_arrow import pa, pc
from lyceum.errors import SchemaError

# distinct numbers that are counted one by one before a column is just "many numbers"
FEW = 32
# distinct categories that are listed before a column is an identifier or free text
MANY = 100_000
# characters that the list may take, the longest value times their number
_LETTERS = 1 << 26


Counted = tuple[np.ndarray | None, np.ndarray | None]


def count_text(column: pa.Array | pa.ChunkedArray, ordered: bool, name: str) -> Counted:
    """Distinct texts; raises for one with a zero character, which NumPy would cut off."""
    if pa.types.is_dictionary(column.type):
        values, counts = _count_dictionary(column)
    else:
        counted = pc.value_counts(column.drop_null())
        values = counted.field("values")
        counts = counted.field("counts").to_numpy(zero_copy_only=False)
    if not len(values):
        return np.empty(0, dtype="<U1"), counts
    # a fixed-width array of NumPy takes the length of the longest text for every one
    longest = pc.max(pc.utf8_length(values)).as_py() or 0
    if len(values) > MANY or len(values) * longest > _LETTERS:
        return None, None
    cut = values.filter(pc.match_substring(values, "\0"))
    if len(cut):
        raise SchemaError(
            f"column {name!r} holds the text {cut[0].as_py()[:80]!r}, with a zero character, which"
            " no category can have: remove it"
        )
    labels = np.array(values.to_pylist(), dtype=np.str_)
    if ordered and len(np.unique(labels)) == len(labels):
        return labels, counts
    return _merge_same(labels, counts)


def _merge_same(labels: np.ndarray, counts: np.ndarray) -> Counted:
    """Sorted labels with their counts; the dictionary of a file may list a text twice."""
    values, codes = np.unique(labels, return_inverse=True)
    return values, np.bincount(codes, weights=counts).astype(np.int64)


def _count_dictionary(
    column: pa.Array | pa.ChunkedArray,
) -> tuple[pa.Array, np.ndarray]:
    """The declared values, whether they occur or not, and the rows of each."""
    if not isinstance(column, pa.ChunkedArray):
        column = pa.chunked_array([column])
    unified = column.unify_dictionaries()
    if not unified.num_chunks:
        nothing = pa.array([], column.type.value_type)
        return nothing, np.empty(0, dtype=np.int64)
    dictionary = unified.chunk(0).dictionary
    counts = np.zeros(len(dictionary), dtype=np.int64)
    for chunk in unified.chunks:
        codes = chunk.indices.drop_null().to_numpy(zero_copy_only=False)
        counts += np.bincount(codes, minlength=len(counts))
    # a level that is missing is no value
    if dictionary.null_count:
        present = dictionary.is_valid()
        return dictionary.filter(present), counts[
            present.to_numpy(zero_copy_only=False)
        ]
    return dictionary, counts


def count_declared(
    column: pa.Array | pa.ChunkedArray, cells: np.ndarray, name: str, ordered: bool
) -> Counted:
    """Numbers of a category type: all that the type declares."""
    declared = numbers(_count_dictionary(column)[0], name)
    declared = declared[~np.isnan(declared)]
    values = np.unique(np.concatenate([declared, cells]))
    if len(values) > MANY:
        return None, None
    codes = np.searchsorted(values, cells)
    counts = np.bincount(codes, minlength=len(values))
    if not ordered:
        return values, counts
    levels = union_levels(declared, values)
    return levels, counts[np.searchsorted(values, levels)]


def count_numbers(cells: np.ndarray, in_full: bool) -> Counted:
    # most columns of numbers show at their start that they have many values
    if not in_full and len(np.unique(cells[:1000])) > FEW:
        return None, None
    values, counts = _distinct(cells)
    if len(values) > (MANY if in_full else FEW):
        return None, None
    return values, counts


def _distinct(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`np.unique` with counts; small whole numbers are counted without sorting."""
    is_finite = len(cells) > 0 and np.isfinite(cells).all()
    if is_finite and np.array_equal(cells, np.trunc(cells)):
        low = cells.min()
        high = cells.max()
        # a table of at most 2 MANY + 1 counts
        if low >= -MANY and high <= MANY:
            counts = np.bincount((cells - low).astype(np.intp))
            present = np.flatnonzero(counts)
            return present + low, counts[present]
    return np.unique(cells, return_counts=True)

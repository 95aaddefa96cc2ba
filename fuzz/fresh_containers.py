"""The same cells in other containers, the fourth set of attacks: arrays of objects, frames of
pandas and Polars with every type that they have, Arrow tables that are cut, chunked and coded.
Wherever a container is taken, it gives the cells that were put into it, and a learner that was
fitted on one answers alike when it is asked with another."""

from __future__ import annotations

import datetime
import decimal
import fractions
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa

from fuzz import Finding
from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.errors import LyceumError
from lyceum.trees import DecisionTreeClassifier

__all__ = ["CONTAINERS", "case", "make"]

Table = dict[str, list[Any]]
NAMES = (
    "a",
    "b ",
    " c",
    "",
    "0",
    "__proto__",
    "é",
    "e\u0301",
    "x\ny",
    "a.b",
    "NaN",
    "None",
    "A",
)
WORDS = (
    "yes",
    "no",
    "Yes",
    "n/a?",
    "0",
    "00",
    "1e3",
    "true",
    "é",
    "e\u0301",
    "日本",
    "a b",
    "-",
)
WHOLE = (0, 1, -1, 2, 7, 255, 2**31, 2**53 + 1, -(2**63), 2**63 - 1)
REAL = (0.0, -0.0, 0.5, -1.25, 1e-300, 1e100, 5e-324, 1 / 3, 123456.789)
DAYS = tuple(
    datetime.datetime(*parts)
    for parts in [
        (1970, 1, 1), (1969, 12, 31, 23, 59, 59), (2024, 2, 29, 12), (1900, 1, 1), (2262, 4, 11),
    ]
)  # fmt: skip


def _draw(rng: np.random.Generator) -> Table:
    """A small table: columns of one kind each, some with missing cells."""
    n = int(rng.integers(1, 30))
    kinds: tuple[tuple[Any, ...], ...] = (
        WORDS,
        WHOLE,
        WHOLE[:6],
        REAL,
        (True, False),
        DAYS,
    )
    names = rng.choice(len(NAMES), size=int(rng.integers(1, 6)), replace=False)
    table: Table = {}
    for index in names:
        values = kinds[rng.integers(len(kinds))]
        cells = [values[i] for i in rng.integers(len(values), size=n)]
        if rng.random() < 0.5:
            cells = [
                None if gone else cell for cell, gone in zip(cells, rng.random(n) < 0.2)
            ]
        if all(cell is None for cell in cells):
            cells[0] = values[0]
        table[NAMES[index]] = cells
    return table


# -- containers ------------------------------------------------------------------------


def _objects(table: Table, rng: np.random.Generator) -> Any:
    return pd.DataFrame(
        {name: np.array(cells, dtype=object) for name, cells in table.items()}
    )


def _pandas(table: Table, rng: np.random.Generator) -> Any:
    frame = pd.DataFrame(table)
    if rng.random() < 0.3:
        # an index that says nothing about the order of rows
        frame.index = rng.integers(3, size=len(frame))
    return frame


def _nullable(table: Table, rng: np.random.Generator) -> Any:
    frame = _objects(table, rng)
    backend = "pyarrow" if rng.random() < 0.5 else "numpy_nullable"
    return frame.convert_dtypes(dtype_backend=backend)


def _categorical(table: Table, rng: np.random.Generator) -> Any:
    frame = _objects(table, rng)
    for name, cells in table.items():
        if isinstance(_first(cells), str):
            unused = [f"unused {i}" for i in range(int(rng.integers(4)))]
            levels = list(dict.fromkeys(c for c in cells if c is not None)) + unused
            rng.shuffle(levels)
            frame[name] = pd.Categorical(
                cells, categories=levels, ordered=rng.random() < 0.5
            )
        else:
            frame[name] = pd.Series(cells, index=frame.index)
    return frame


def _cut_frame(table: Table, rng: np.random.Generator) -> Any:
    """Every other row of a frame twice as long, and its columns from a frame in another order."""
    frame = _objects(table, rng)
    doubled = pd.concat([frame, frame]).iloc[np.repeat(np.arange(len(frame)), 2)]
    return doubled.iloc[::2][list(table)[::-1]][list(table)]


def _polars(table: Table, rng: np.random.Generator) -> Any:
    frame = polars.DataFrame(table, strict=False)
    text = [name for name, type_ in frame.schema.items() if type_ == polars.String]
    if text and rng.random() < 0.5:
        frame = frame.with_columns(polars.col(text).cast(polars.Categorical))
    if rng.random() < 0.3:
        frame = polars.concat([frame.head(1), frame, frame.tail(1)], rechunk=False)[
            1:-1
        ]
    return frame.lazy() if rng.random() < 0.2 else frame


def _arrow(table: Table, rng: np.random.Generator) -> Any:
    """A table that is cut from a longer one, in chunks of which some are empty, perhaps coded."""
    made = pa.table({name: pa.array(cells) for name, cells in table.items()})
    for i, field in enumerate(made.schema):
        if pa.types.is_string(field.type):
            forms: list[Callable[[Any], Any]] = [
                lambda column: column.dictionary_encode(),
                lambda column: column.cast(pa.large_string()),
                lambda column: column.cast(pa.string_view()),
                lambda column: column,
            ]
            column = forms[rng.integers(len(forms))](made.column(i))
            made = made.set_column(i, field.name, column)
    edge = int(rng.integers(made.num_rows + 1))
    parts = [made[:edge], made[:0], made[edge:]]
    doubled = pa.concat_tables([made[-1:], *parts, made[:1]])
    return doubled[1 : 1 + made.num_rows]


def _batches(table: Table, rng: np.random.Generator) -> Any:
    made = _arrow(table, rng).unify_dictionaries()
    size = int(rng.integers(1, 9))
    return pa.RecordBatchReader.from_batches(
        made.schema, made.to_batches(max_chunksize=size)
    )


CONTAINERS: dict[str, Callable[[Table, np.random.Generator], Any]] = {
    "arrow": _arrow,
    "categorical": _categorical,
    "cut frame": _cut_frame,
    "nullable": _nullable,
    "objects": _objects,
    "pandas": _pandas,
    "polars": _polars,
    "record batches": _batches,
}


def _first(cells: list[Any]) -> Any:
    return next(cell for cell in cells if cell is not None)


# -- columns that few tables have ------------------------------------------------------


def _odd_pandas(rng: np.random.Generator) -> Any:
    """A frame with one column of a rare type, a name twice, names of tuples or numbers."""
    n = int(rng.integers(1, 12))
    days = pd.date_range("1900-01-01", periods=n, freq="400D")
    columns: list[Any] = [
        [decimal.Decimal(i).scaleb(int(rng.integers(-30, 300))) for i in range(n)],
        [fractions.Fraction(i, 3) for i in range(n)],
        [datetime.time(i, 59) for i in range(n)],
        [datetime.timedelta(days=int(rng.integers(-(10**6), 10**6))) for _ in range(n)],
        days.tz_localize("Asia/Kathmandu"),
        days.to_period("M"),
        pd.arrays.IntervalArray.from_breaks(np.arange(n + 1)),
        np.arange(n) * 1j,
        pd.arrays.SparseArray(np.arange(n) % 3, fill_value=0),
        np.arange(n, dtype=np.uint64) + np.uint64(2**64 - 20),
        np.full(n, np.nan),
        [None] * n,
        [pd.NA] * n,
        [pd.NaT] * n,
        [b"\xff\xfe"] * n,
        [[1, 2]] * n,
        [{"a": 1}] * n,
        [object()] * n,
        ["a", 1, 2.5, None, True, datetime.date(2000, 1, 1)] * n,
        [float("inf")] * n,
        [-(10**400)] * n,
        np.arange(n).astype(np.float16),
        np.arange(n).astype(">i4"),
        np.arange(n).astype("datetime64[D]") + np.timedelta64(10**7, "D"),
        pd.Categorical.from_codes(np.arange(n) % 2, categories=[(1, 2), (3, 4)]),
        pd.Categorical.from_codes(np.full(n, -1), categories=["a"]),
        ["\ud800"] * n,
        ["x\0y"] * n,
    ]
    cells = columns[rng.integers(len(columns))]
    frame = pd.DataFrame({"odd": pd.Series(cells).iloc[:n], "x": np.arange(n)})
    if rng.random() < 0.3:
        names: list[Any] = [
            ["x", "x"],
            [("a", 1), ("a", 2)],
            [0, 1],
            [None, "x"],
            [1.5, np.nan],
        ]
        frame.columns = pd.Index(
            names[rng.integers(len(names))], tupleize_cols=rng.random() < 0.5
        )
    return frame


def _odd_container(rng: np.random.Generator) -> Any:
    frame = _odd_pandas(rng)
    forms: list[Callable[[], Any]] = [
        lambda: frame,
        lambda: polars.from_pandas(frame),
        lambda: pa.Table.from_pandas(frame),
        lambda: frame.to_numpy(),
        lambda: frame.to_records(),
        lambda: np.ma.masked_invalid(frame[["x"]].to_numpy(float)),
        lambda: frame.iloc[:0],
        lambda: frame[[]],
        lambda: frame.T,
        lambda: frame.set_index(frame.columns[0]),
    ]
    return forms[rng.integers(len(forms))]()


def _ask_odd(rng: np.random.Generator) -> str:
    """Such a container is read, learned from and asked, or refused by a sentence."""
    try:
        container = _odd_container(rng)
    except Exception:  # what the other library does not make is no case of ours
        return "not made"
    try:
        rows = scan(container)
        y = np.arange(len(rows)) % 2
        for learner in (NaiveBayes(), DecisionTreeClassifier()):
            answers = learner.fit(container, y).predict_proba(container)
            if not np.isfinite(np.asarray(answers)).all():
                raise Finding(f"{learner} on {container!r}: {answers}")
    except LyceumError:
        return "refused"
    except TypeError as error:
        # scikit-learn's own sentence about names that are no text
        if "Feature names are only supported" not in str(error):
            raise
        return "refused"
    return "learned from"


# -- cases -----------------------------------------------------------------------------


def _cells(container: Any) -> Table:
    """What learners get: numbers as floats, categories as they are, None where missing."""
    rows = scan(container)
    X = np.concatenate([block.X for block in rows.blocks()])
    cells: Table = {}
    for j, column in enumerate(rows.schema):
        values: list[Any] = [
            None if value != value else value for value in X[:, j].tolist()
        ]
        if not column.numeric:
            levels = [str(level) for level in column.categories]
            values = [None if value is None else levels[int(value)] for value in values]
        cells[column.name] = values
    return cells


def _compare(table: Table, rng: np.random.Generator) -> None:
    """The same cells in every container, and the answers of learners that another one taught."""
    y = rng.integers(2, size=len(next(iter(table.values()))))
    y[0] = 0
    y[-1] = 1
    expected = _cells(_arrow(table, rng))
    order = rng.permutation(list(CONTAINERS)).tolist()
    for taught, asked in zip(order, order[1:] + order[:1]):
        container = CONTAINERS[asked](table, rng)
        found = _cells(container)
        if found != expected:
            raise Finding(f"{asked}: {found} instead of {expected}")
        for learner in (NaiveBayes(), DecisionTreeClassifier(max_depth=4)):
            learner.fit(_for_fit(taught, table, rng), y)
            same = learner.predict_proba(_for_fit(taught, table, rng))
            other = learner.predict_proba(_for_fit(asked, table, rng))
            if not np.array_equal(np.asarray(same), np.asarray(other)):
                raise Finding(
                    f"{learner} of {taught} answers {asked}: {other}, not {same}"
                )


def _for_fit(name: str, table: Table, rng: np.random.Generator) -> Any:
    """A container for learners, which take no streams."""
    return CONTAINERS["arrow" if name == "record batches" else name](table, rng)


def make() -> None:
    warnings.simplefilter("ignore")


def case(shared: None, rng: np.random.Generator) -> str:
    if rng.random() < 0.5:
        return _ask_odd(rng)
    _compare(_draw(rng), rng)
    return "compared"

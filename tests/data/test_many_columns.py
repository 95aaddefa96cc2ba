"""The cost of a schema is linear in its columns: names are looked up, never searched for."""

import time
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lyceum import scan
from lyceum._core.data import Align, TableCoder
from lyceum._core.data.files.csv import CsvReader
from lyceum._core.data.files.text_formats import TextFormat
from lyceum._core.data.schema.align import union
from lyceum.data import Column, Schema, inspect
from lyceum.errors import SchemaError
from lyceum.prepare import StandardScaler


class Name(str):
    """A name that counts how often it is compared or hashed."""

    touched = 0
    __slots__ = ()

    def __eq__(self, other):
        Name.touched += 1
        return str.__eq__(self, other)

    def __hash__(self):
        Name.touched += 1
        return str.__hash__(self)


def names(d):
    return [Name(f"x{j}") for j in range(d)]


def schema(d, reverse=False):
    return Schema(
        tuple(Column(name) for name in (names(d)[::-1] if reverse else names(d)))
    )


OPERATIONS = {
    "Align.between": lambda d: Align.between(schema(d), schema(d, reverse=True)),
    "Schema.__getitem__": lambda d: [
        one[name] for one in (schema(d),) for name in names(d)
    ],
    "TableCoder.check": lambda d: TableCoder(schema(d)).check(names(d)),
    "union": lambda d: union(schema(d), schema(d), "A learner", True),
    "in": lambda d: [name in one for one in (schema(d),) for name in names(d)],
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_twice_the_columns_take_twice_the_lookups(operation):
    def touched(d):
        Name.touched = 0
        OPERATIONS[operation](d)
        return Name.touched

    assert touched(400) <= 2.2 * touched(200)


def seconds(work):
    """The least processor time of three runs."""

    def once():
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(once() for _ in range(3))


def wide(d, cells):
    return pd.DataFrame({f"x{j}": cells(j) for j in range(d)})


def dates(j):
    return [f"{day % 28 + 1:02d}.03.20{j % 60 + 10}" for day in range(48)]


def numbers(j):
    return np.random.default_rng(j).normal(size=48)


def letters(j):
    return [*"ab", *np.random.default_rng(j).choice(["a", "b", "c"], 46)]


def parse_dates(d):
    reader = CsvReader(
        text_formats={f"x{j}": TextFormat(date="%d.%m.%Y") for j in range(d)}
    )
    batch = pa.RecordBatch.from_pandas(wide(d, dates))
    return lambda: reader._parse_batch(batch, "a file")


def transform_frame(d):
    frame = wide(d, numbers)
    return partial(StandardScaler().fit(frame).transform, frame)


# work of which a part goes through pyarrow, where repeated searches and copies are not seen as
# calls
WORK = {
    "inspect": lambda d: partial(inspect, wide(d, numbers)),
    "a Polars frame": lambda d: partial(scan, pl.from_pandas(wide(d, letters))),
    "dates in a batch": parse_dates,
    "a transformed frame": transform_frame,
}


@pytest.mark.parametrize("name", WORK)
def test_ten_times_the_columns_take_about_ten_times_as_long(name):
    few, many = WORK[name](240), WORK[name](2400)
    few()  # imports are not counted
    assert seconds(many) < 25 * seconds(few)


def test_columns_are_aligned_by_name():
    step = Align.between(schema(5), schema(5, reverse=True))
    assert step.indices.tolist() == [4, 3, 2, 1, 0]


def test_a_name_is_found_in_a_copy_of_a_schema():
    import copy
    import pickle

    for one in (
        copy.deepcopy(schema(3)),
        pickle.loads(pickle.dumps(Schema.of_numbers(["a", "b"]))),
    ):
        assert one[one.names[1]] is one[1]
        assert one.names[0] in one
        assert "nothing" not in one


def test_declared_kinds_of_many_columns_are_looked_up():
    d = 300
    table = pa.table({f"x{j}": np.arange(3.0) for j in range(d)})
    rows = scan(table, kinds={f"x{j}": "continuous" for j in range(d)}, ignore=[])
    assert len(rows.schema) == d


def test_the_columns_of_an_array_are_made_and_checked_once():
    one, two = Schema.of_numbers(["a", "b"]), Schema.of_numbers(["a", "b"])
    assert one.columns is two.columns
    assert one.of_an_array
    assert Schema(one.columns).names == ("a", "b")
    assert not Schema((one["a"], Column("c", "binary", np.array([0, 1])))).of_an_array
    assert not Schema.of_numbers([]).of_an_array
    for _ in range(2):  # what is refused is not kept
        with pytest.raises(SchemaError, match="twice"):
            Schema.of_numbers(["a", "a"])
    for d in range(1, 9):  # columns that are no longer kept still have their names
        Schema.of_numbers([f"other {j}" for j in range(d)])
    assert not one.of_an_array
    assert Schema(one.columns).names == ("a", "b")

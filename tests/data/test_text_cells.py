"""Arrays with text are coded by NumPy as Arrow codes the table of the same cells."""

import numpy as np
import pytest

from lyceum._core.data import coded_source, text_table
from lyceum._core.data.inputs.text_arrays import text_source
from lyceum.data import Column, Schema
from lyceum.errors import SchemaError

NUMBERS = Column("n")
FLAG = Column("flag", "binary", np.array([False, True]))
TOWN = Column("town", "categorical", np.array(["Bonn", "Köln", "Ulm"]))
ROOMS = Column("rooms", "categorical", np.array([1.0, 2.0, 5.0]))
NUMBER = Column("number", "categorical", np.array([2**60, 2**60 + 2048, 7]))
SCHEMA = Schema((NUMBERS, FLAG, TOWN, ROOMS, NUMBER))
CHOICES = (
    [
        1.5,
        -2,
        None,
        np.nan,
        "3.5",
        "1e3",
        " 7 ",
        True,
        np.float32(0.1),
        np.inf,
        10**17 + 1,
    ],
    [True, False, 1, 0.0, None, np.nan, np.True_],
    ["Bonn", "Ulm", "Köln", "Rom", "", "bonn", "Ulm ", None, np.nan, np.str_("Ulm")],
    [1, 2, 5, 1.0, 3, -1, None, np.nan, np.int8(2), True],
    [2**60, 2**60 + 2048, 7, 8, None, 2.0**60],
)


def by_arrow(cells, schema):
    listed = {column.name for column in schema if not column.numeric}
    return coded_source(
        text_table(cells, schema.names, listed, "A learner", "clean it"), schema
    )


def by_numpy(cells, schema):
    return text_source(cells, schema, "A learner", "clean it")


@pytest.mark.parametrize("n", [1, 2, 300])
def test_codes_are_those_of_the_table(n):
    rng = np.random.default_rng(n)
    for _ in range(50 if n < 3 else 1):
        cells = np.empty((n, len(CHOICES)), dtype=object)
        for j, choices in enumerate(CHOICES):
            cells[:, j] = [choices[i] for i in rng.integers(len(choices), size=n)]
        ours, theirs = by_numpy(cells, SCHEMA), by_arrow(cells, SCHEMA)
        np.testing.assert_array_equal(ours.X, theirs.X)
        assert ours.X.dtype == theirs.X.dtype
        assert ours.coded


def test_unknown_and_missing_cells_have_codes_of_their_own():
    cells = np.array(
        [[None, None, "Rom", 4, 8], ["2", True, np.nan, None, None]], dtype=object
    )
    np.testing.assert_array_equal(
        by_numpy(cells, SCHEMA).X,
        [[np.nan, np.nan, -1, -1, -1], [2, 1, np.nan, np.nan, np.nan]],
    )


def test_free_text_lists_the_texts_of_the_rows():
    schema = Schema((Column.of_text("note"), NUMBERS))
    for texts in (["b a", None, "a", "b a", ""], [None, None]):
        cells = np.array([[text, 1.0] for text in texts], dtype=object)
        ours, theirs = by_numpy(cells, schema), by_arrow(cells, schema)
        np.testing.assert_array_equal(ours.X, theirs.X)
        assert (
            ours.schema["note"].categories.tolist()
            == theirs.schema["note"].categories.tolist()
        )
        assert (
            ours.schema["note"].categories.dtype
            == theirs.schema["note"].categories.dtype
        )


@pytest.mark.parametrize(
    ("column", "cells", "words"),
    [
        (NUMBERS, ["old", 1.0], "holds text, e.g. 'old'"),
        (TOWN, [3, 4], "where text such as 'Bonn' was learned: give it as text"),
        (TOWN, ["Ulm", 3], "holds text and numbers"),
        (ROOMS, ["two", None], "holds text such as 'two' where numbers are expected"),
        (
            Column.of_text("note"),
            [1.5, None],
            "where free text was learned: give it as text",
        ),
    ],
)
def test_cells_of_another_type_are_refused_as_those_of_the_table(column, cells, words):
    cells = np.array(cells, dtype=object).reshape(-1, 1)
    for code in (by_arrow, by_numpy):
        with pytest.raises(SchemaError, match=words):
            code(cells, Schema((column,)))

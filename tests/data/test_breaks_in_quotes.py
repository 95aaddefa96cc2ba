"""The look for line breaks in quoted cells, against a reader that goes byte by byte."""

import csv
import io

import numpy as np
from hypothesis import given, strategies as st

import lyceum
from lyceum._core.native import native

CELL = st.text(st.sampled_from('a";\n\r '), max_size=9)
FILLER = st.integers(0, 70).map("x".__mul__)  # so that blocks of 64 bytes end anywhere


def found(text):
    return native.breaks_in_quotes(
        np.frombuffer(text.encode(), np.uint8), ord(";"), ord('"')
    )


def has_break_in_quotes(text):
    """Whether a line break stands in a cell that begins with a quote, which doubled quotes do not
    end."""
    state = "start"
    for byte in text:
        if state == "quoted":
            if byte in "\r\n":
                return True
            state = "closed" if byte == '"' else "quoted"
        elif byte in ";\r\n":
            state = "start"
        else:
            state = "quoted" if byte == '"' and state != "plain" else "plain"
    return False


@given(
    st.lists(st.tuples(FILLER, CELL)).map(lambda parts: "".join(map("".join, parts)))
)
def test_no_line_break_in_quotes_is_overlooked(text):
    assert found(text) or not has_break_in_quotes(text)


@given(st.lists(st.lists(st.one_of(FILLER, CELL), min_size=2, max_size=2), min_size=1))
def test_what_a_writer_quotes_is_told_exactly(rows):
    text = io.StringIO()
    csv.writer(text, delimiter=";", quoting=csv.QUOTE_ALL).writerows(rows)
    assert found(text.getvalue()) == any(
        set("\r\n") & set(cell) for row in rows for cell in row
    )


def test_a_large_quoted_file_with_and_without_line_breaks_reads_as_it_was_written(
    tmp_path,
):
    cells = [f'no. {i}, "{"x" * (i % 50)}"' for i in range(60_000)]
    for at, last in ((None, "\n"), (59_000, "\n"), (17, "\r\n")):
        if at is not None:
            cells[at] = "two\nlines"
        path = tmp_path / "cells.csv"
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=last).writerows(
                [("text", "y"), *((cell, i % 2) for i, cell in enumerate(cells))]
            )
        table = lyceum._core.data.read_data(str(path)).table
        assert table["text"].to_pylist() == cells

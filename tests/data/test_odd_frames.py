"""Columns of frames and arrays that few tables have: read, or refused with their name."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lyceum import scan
from lyceum._core.data.files.file_errors import file_errors
from lyceum.bayes import NaiveBayes
from lyceum.errors import DataError, SchemaError, SourceError


@pytest.mark.parametrize("type_", [">i4", ">f8", ">u2", ">f4"])
@pytest.mark.parametrize("n", [3, 3000])
def test_bytes_in_another_order_are_read(type_, n):
    cells = np.arange(n) % 7
    (block,) = scan(pd.DataFrame({"a": cells.astype(type_)})).blocks()
    assert block.X[:, 0].tolist() == cells.tolist()


def test_a_column_without_cells_is_refused_by_its_type():
    with pytest.raises(SchemaError, match="'a' holds values of type complex128"):
        scan(pd.DataFrame({"a": np.zeros(0, complex)}))


@pytest.mark.parametrize(
    "cell",
    [datetime.time(1), pd.Timedelta(5), pd.NaT, pd.Timestamp(0), {"a": 1}],
    ids=lambda cell: type(cell).__name__,
)
def test_an_object_that_is_no_number_is_refused_with_its_place(cell):
    X = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=object)
    X[1, 0] = cell
    with pytest.raises(SourceError, match=r"column 'x0' holds .* in row 1") as refused:
        NaiveBayes().fit(X, [0, 1])
    # scikit-learn's own words, for who looks for them
    assert "argument must be a string or a real number" in str(refused.value)


def test_a_process_that_may_start_no_thread_does_not_blame_the_file():
    error = pa.ArrowException("Unknown error: Failed to launch worker thread: x")
    refused = pytest.raises(DataError, match="may start no more threads")
    with refused, file_errors("t.csv", "csv"):
        raise error

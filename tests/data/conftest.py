"""For the tests of Rows: a table of numbers and text, and sources that are read in small parts."""

import numpy as np
import pandas as pd
import pytest
from tests.data.row_cases import N

from lyceum._core.data.files import csv as _csv
from lyceum._core.data.rows import file_sources as _sources


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "b": rng.normal(size=N),
            "t": rng.choice(list("pqr"), N),
        }
    )


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(_sources, "_PART_ROWS", 512)
    monkeypatch.setattr(_csv, "_STREAM_BYTES", 1 << 14)

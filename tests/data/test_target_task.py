"""Classes or numbers: the rule of scanned targets, for methods that take both."""

import numpy as np
import pandas as pd
import pytest

from lyceum import scan
from lyceum._core.data import target_task
from lyceum.errors import DataError

TARGETS = {
    "text": (["a", "b", "c"] * 4, "classes"),
    "true and false": ([True, False] * 6, "classes"),
    "two whole numbers": ([3, 7] * 6, "classes"),
    "whole floats": ([1.0, 2.0, 3.0] * 4, "classes"),
    "few rows each": (list(range(12)), "numbers"),
    "many": (list(range(30)) * 4, "numbers"),
    "single ones": ([1] * 30 + [2, 3, 4], "numbers"),
    "fractions": ([0.5, 1.0, 2.0] * 4, "numbers"),
}


@pytest.mark.syllabus("1.1.3")
@pytest.mark.parametrize("name", TARGETS)
def test_a_target_in_memory_is_taken_as_a_scanned_one(name):
    values, expected = TARGETS[name]
    assert target_task(None, np.array(values), "it") == expected
    assert target_task(None, pd.Series(values), "it") == expected
    frame = pd.DataFrame({"x": np.arange(float(len(values))), "y": values})
    assert target_task(scan(frame, target="y"), None, "it") == expected


def test_no_target_is_refused():
    with pytest.raises(DataError, match="requires y"):
        target_task(np.zeros((3, 1)), None, "It")
    with pytest.raises(DataError, match="needs a target"):
        target_task(scan(np.zeros((3, 1))), None, "It")

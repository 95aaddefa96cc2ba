"""Nonsense for a parameter ends in a sentence about it, whatever the learner: `lyceum fit --set`
shows it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from lyceum import catalog
from lyceum._core.constraints import InvalidParameterError
from lyceum.data import scan
from lyceum.errors import LyceumError

NAN = float("nan")
NONSENSE = (
    ["a", "b"],
    {"a": 1},
    [[1.0, 2.0], [3.0, 4.0]],
    [NAN, 1.0],
    [1],
    "nonsense",
    NAN,
)
SLOW = {"n_estimators": 2, "max_iter": 5, "n_init": 1, "n_repeats": 1, "n_rounds": 2}

rng = np.random.default_rng(0)
A, B = rng.random((2, 24))
TABLE = pd.DataFrame({"a": A, "b": B, "c": np.tile(["u", "v", "w"], 8)})
TARGETS = {"classification": np.where(A + B > 1, "yes", "no"), "regression": A - B}


def rows_for(entry):
    target = TARGETS.get(entry.task)
    table = TABLE if target is None else TABLE.assign(y=target)
    return scan(
        table if entry.task in TARGETS else table[["a", "b"]],
        target=None if target is None else "y",
    )


@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_nonsense_for_a_parameter_is_refused_in_a_sentence(name):
    entry = catalog.find(name)
    learner, rows, failures = entry.load(), rows_for(entry), []
    names = learner._get_param_names()
    quick = {key: value for key, value in SLOW.items() if key in names}
    for parameter in names:
        for value in NONSENSE:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    learner(**{**quick, parameter: value}).fit(rows)
            except (LyceumError, InvalidParameterError):
                continue
            except Exception as error:
                failures.append(
                    f"{parameter}={value!r}: {type(error).__name__}: {error}"
                )
    assert failures == []

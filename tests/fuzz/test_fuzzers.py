"""A few cases of every fuzzer; `make fuzz` runs them for as long as you like."""

import importlib
import warnings

import numpy as np
import pytest
from fuzz.__main__ import TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_a_few_cases_are_answered_or_refused(target):
    module = importlib.import_module(f"fuzz.{target}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shared = module.make()
        seeds = range(200 if target != "study_folders" else 8)  # which take a quarter of a second each
        outcomes = {module.case(shared, np.random.default_rng([seed, 7])) for seed in seeds}
    assert len(outcomes) > 1  # some are refused, others are not

"""A few cases of every fuzzer; `make fuzz` runs them for as long as you like."""

import importlib
import warnings

import numpy as np
import pytest
from fuzz.__main__ import TARGETS

from lyceum.data import _csv
from lyceum.studies import _report


@pytest.mark.parametrize("target", TARGETS)
def test_a_few_cases_are_answered_or_refused(target, monkeypatch):
    module = importlib.import_module(f"fuzz.{target}")
    for where, name in ((_report, "render"), (_csv, "_STREAM_BYTES"), (_csv, "_READ_BYTES")):
        monkeypatch.setattr(where, name, getattr(where, name))  # `make` changes them, for this test only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shared = module.make()
        seeds = range(200 if target != "study_folders" else 8)  # which take a quarter of a second each
        outcomes = {module.case(shared, np.random.default_rng([seed, 7])) for seed in seeds}
    assert len(outcomes) > 1  # some are refused, others are not

"""A few cases of every fuzzer; `make fuzz` runs them for as long as you like."""

import importlib
import resource
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from fuzz.__main__ import TARGETS
from sklearn.base import BaseEstimator
from sklearn.utils import _param_validation

from fuzz import fitted, models
from lyceum._core.data.files import csv as _csv
from lyceum._core.probability.losses import files as _loss_files
from lyceum.studies.report import page as _report

CASES = {
    "fresh_exports": 10,
    "fresh_identifiers": 12,
    "fresh_sequences": 5,
    "fresh_settings": 12,
    "fresh_studies": 6,
    "fresh_workbench": 60,
    "study_folders": 5,
    "csv_files": 30,
    "arrays": 30,
    "model_files": 30,
    "models": 8,
    "networks": 40,
    "differential": 5,
    "extreme_numbers": 20,
    "texts": 8,
}  # seeds, of which those of models and texts draw many cases each


@pytest.fixture
def as_before(monkeypatch):
    """The fuzzers change what would make them slow: for one test only."""
    changed = [(_report, "render"), (_csv, "_STREAM_BYTES"), (_csv, "_READ_BYTES")]
    changed += [(_param_validation, "make_constraint"), (_loss_files, "write_file")]
    for where, name in [*changed, (BaseEstimator, "_get_param_names")]:
        monkeypatch.setattr(
            where, name, vars(where)[name]
        )  # a class method as it is, bound to no class
    monkeypatch.setattr(resource, "setrlimit", lambda *limits: None)
    monkeypatch.setattr(fitted, "EVERY", 7)
    threads = pa.cpu_count()
    yield
    pa.set_cpu_count(threads)


@pytest.mark.parametrize("target", TARGETS)
def test_a_few_cases_are_answered_or_refused(target, as_before):
    module = importlib.import_module(f"fuzz.{target}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shared = module.make()
        seeds = range(CASES.get(target, 20))
        outcomes = Counter()
        for seed in seeds:
            outcome = module.case(shared, np.random.default_rng([seed, 7]))
            outcomes.update([outcome] if isinstance(outcome, str) else outcome)
    assert len(outcomes) > 1  # some are refused, others are not


def test_a_model_is_mended_after_every_change(as_before):
    samples = models.make()

    def answers():
        methods = [
            (s, n)
            for s in samples
            for n in ("predict", "score_samples")
            if hasattr(s.model, n)
        ]
        return [getattr(sample.model, name)(sample.rows) for sample, name in methods]

    before = answers()
    for seed in range(10):
        models.case(samples, np.random.default_rng([seed, 8]))
    assert all(map(np.array_equal, before, answers()))

"""Cells whose squares overflow are answered by numbers or refused by a sentence, never by NaN."""

import warnings

import numpy as np
import pytest
from tests.checks.cases import learner_named
from tests.checks.source_laws import cut_short
from tests.checks.tables import data_for

from lyceum import catalog
from lyceum.bayes import NaiveBayes
from lyceum.density import NeighborDensity
from lyceum.errors import DataError, LyceumError

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
)


@pytest.mark.parametrize("scale", [1e150, 1e200])
@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_no_missing_number_comes_out_of_finite_cells(name, scale):
    learner = cut_short(learner_named(name))
    data = data_for(learner, 60)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = learner.fit(data.X * scale, data.y)
            answers = [
                getattr(model, method)(data.X * scale)
                for method in METHODS
                if hasattr(model, method)
            ]
        except LyceumError:
            return
    for answer in answers:
        values = np.asarray(answer)
        assert values.dtype.kind != "f" or not np.isnan(values).any()


def test_log_densities_of_rows_far_apart_are_refused_not_minus_infinity():
    X = np.random.default_rng(0).normal(size=(20, 2)) * 1e200
    with pytest.raises(DataError, match="squared distances overflow"):
        NeighborDensity().fit(X)


def test_one_huge_cell_or_weight_is_refused_by_a_sentence():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    X[-1, 0] = -1e308
    with (
        pytest.raises(DataError, match="sums of squares overflow"),
        np.errstate(all="ignore"),
    ):
        NaiveBayes().fit(X, y)
    with pytest.raises(DataError, match="rescale the weights"):
        NaiveBayes().fit(X[:-1], y[:-1], sample_weight=np.full(19, 1e307))

"""Cells whose squares overflow are answered by numbers or refused by a sentence, never by NaN."""

import warnings

import numpy as np
import pytest
from tests.checks.cases import learner_named
from tests.checks.tables import data_for

from lyceum import catalog
from lyceum.errors import LyceumError

METHODS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")


@pytest.mark.parametrize("scale", [1e150, 1e200])
@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_no_missing_number_comes_out_of_finite_cells(name, scale):
    learner = learner_named(name)
    data = data_for(learner, 60)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = learner.fit(data.X * scale, data.y)
            answers = [getattr(model, method)(data.X * scale) for method in METHODS if hasattr(model, method)]
        except LyceumError:
            return
    for answer in answers:
        values = np.asarray(answer)
        assert values.dtype.kind != "f" or not np.isnan(values).any()

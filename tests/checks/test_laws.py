"""The laws, on every learner in the catalog: one test per learner, because the laws share its
fits."""

import pytest
from tests.checks.cases import case_of, learner_named
from tests.checks.laws import check

from lyceum import catalog


@pytest.mark.filterwarnings(
    "ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.filterwarnings("ignore:Warm-start fitting without increasing")
@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_laws(name):
    check(learner_named(name), case_of(name))

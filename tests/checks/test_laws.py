"""The laws, on every learner in the catalog."""

import pytest
from tests.checks.cases import case_of, learner_named
from tests.checks.laws import LAWS

from lyceum import catalog


@pytest.mark.filterwarnings("ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_law(name, law):
    case = case_of(name)
    if law.__name__ in case.without:
        pytest.skip(case.without[law.__name__])
    law(learner_named(name), case)

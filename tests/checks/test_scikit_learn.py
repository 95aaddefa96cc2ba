"""scikit-learn's own checks, on every learner in the catalog."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.checks.cases import expected_failures, learner_for_scikit_learn

from lyceum import catalog


# Some of its tables have fewer rows than columns, constant columns or few distinct rows, and learners say so.
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
@pytest.mark.filterwarnings("ignore:found . distinct clusters:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:MLP.* stopped at:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [learner_for_scikit_learn(entry.name) for entry in catalog.learners()],
    expected_failed_checks=lambda learner: expected_failures(type(learner).__name__),
)
def test_scikit_learns_check(estimator, check):
    check(estimator)

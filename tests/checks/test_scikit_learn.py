"""scikit-learn's own checks, on every learner in the catalog."""

import pytest
from tests.checks.cases import expected_failures, learner_for_scikit_learn
from tests.checks.scikit_learn import obeys_scikit_learn

from lyceum import catalog
from lyceum.bayes import NaiveBayes


# Some of its tables have fewer rows than columns, constant columns or few distinct rows, and
# learners say so.
@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")
@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
@pytest.mark.filterwarnings(
    "ignore:Number of distinct clusters:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.filterwarnings(
    "ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.filterwarnings(
    "ignore:MLP.* stopped at:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_scikit_learns_checks(name):
    obeys_scikit_learn(learner_for_scikit_learn(name), expected_failures(name))


class Sloppy(NaiveBayes):
    def fit(self, X, y=None, sample_weight=None):
        self.extra = 1
        return super().fit(X, y, sample_weight)


def test_a_broken_check_is_named_and_so_is_one_that_was_expected_to_break():
    with pytest.raises(
        ExceptionGroup, match=r"Sloppy.* fails check_dont_overwrite_parameters"
    ):
        obeys_scikit_learn(Sloppy())
    with pytest.raises(
        AssertionError,
        match=r"expected to fail, but pass: \{'check_estimators_pickle'\}",
    ):
        obeys_scikit_learn(NaiveBayes(), {"check_estimators_pickle": "no reason"})

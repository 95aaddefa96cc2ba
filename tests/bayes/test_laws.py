"""scikit-learn's contract, and one answer for one thread and two."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from lyceum.bayes import LinearDiscriminant, NaiveBayes, QuadraticDiscriminant

LEARNERS = [
    NaiveBayes(),
    NaiveBayes(priors="laplace", var_smoothing=1e-6),
    LinearDiscriminant(),
    LinearDiscriminant(covariance="diagonal", priors="uniform"),
    QuadraticDiscriminant(),
    QuadraticDiscriminant(covariance="spherical"),
]


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")  # some checks have fewer rows than columns
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(LEARNERS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_one_thread_and_two_give_the_same_bits(learner):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60_000)
    X = rng.normal(size=(60_000, 4)) + y[:, None]
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(learner.fit(X, y).predict_log_proba(X))
    np.testing.assert_array_equal(*found)

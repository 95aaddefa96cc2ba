"""The same cells, dense and sparse, give the same model and the same answers."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.checks.cases import case_of, learner_for_scikit_learn, learner_named
from tests.checks.fits import fit, outcome, same
from tests.checks.tables import data_for

from lyceum import catalog


def takes_both(name):
    return bool(learner_named(name)._takes_sparse)


NAMES = [entry.name for entry in catalog.learners() if takes_both(entry.name)]


def as_a_user_makes_it(name):
    """With its defaults and a fixed seed, so that it starts from rows that it draws."""
    learner = learner_for_scikit_learn(name)
    settings = learner.get_params(deep=False)
    if "random_state" in settings:
        learner.set_params(random_state=0)
    return learner


@pytest.mark.parametrize(
    ("make", "n"), [(learner_named, 80), (as_a_user_makes_it, 200)]
)
@pytest.mark.parametrize("name", NAMES)
def test_dense_equals_sparse(name, make, n):
    learner = make(name)
    if not learner._takes_sparse:
        return
    data = data_for(learner, n)
    X = np.where(data.X > 0.5, data.X, 0.0)
    case = case_of(name)
    rtol = max(case.rtol, 1e-6)
    cells = sparse.csr_array(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dense = fit(clone(learner), X, data.y, data.w)
        as_sparse = fit(clone(learner), cells, data.y, data.w)
        learned = outcome(dense, X, case)
        for asked in (cells, X):
            answers = outcome(as_sparse, asked, case)
            for name in [name for name in learned if name not in answers]:
                answers[name] = getattr(as_sparse, name).toarray()
            same(learned, answers, rtol, f"of {type(asked).__name__}")

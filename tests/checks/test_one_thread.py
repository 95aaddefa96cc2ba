"""Bits do not depend on threads: all that learners multiply, solve and decompose runs BLAS in one
thread."""

import numpy as np
import pytest
from tests.checks.algebra_calls import SOURCES, algebra_outside
from tests.checks.cases import learner_named
from tests.checks.fits import METHODS, fit
from tests.checks.other_learners import OTHER_LEARNERS, fit_other
from tests.checks.tables import data_for

from lyceum import catalog
from lyceum._core.threads import single_threaded_blas

QUESTIONS = (*METHODS, "predict_log_proba", "explain", "kneighbors", "apply")


def ask(fitted, data):
    """Every question that the learner answers about the rows."""
    for name in QUESTIONS:
        if hasattr(fitted, name):
            getattr(fitted, name)(data.X)
    if hasattr(fitted, "inverse_transform"):
        fitted.inverse_transform(fitted.transform(data.X))
    if hasattr(fitted, "score") and data.y is not None:
        fitted.score(data.X, data.y)
    if hasattr(fitted, "summary"):
        fitted.summary()


@pytest.mark.filterwarnings(
    "ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_learners_keep_blas_to_one_thread(name):
    learner = learner_named(name)
    data = data_for(learner, n=200)
    with algebra_outside() as outside:
        fitted = fit(learner, data.X, data.y, data.w)
        if hasattr(fitted, "partial_fit"):
            fit_more = fitted.partial_fit
            fit_more(data.X) if data.y is None else fit_more(data.X, data.y)
        ask(fitted, data)
    assert not outside


@pytest.mark.parametrize(
    "learner", OTHER_LEARNERS, ids=lambda learner: type(learner).__name__
)
def test_other_learners_keep_blas_to_one_thread(learner):
    with algebra_outside() as outside:
        fitted = fit_other(learner)
        for name in QUESTIONS if hasattr(fitted, "n_features_in_") else ():
            if hasattr(fitted, name):
                getattr(fitted, name)(data_for(learner, n=100).X)
    assert not outside


def test_a_product_that_goes_around_is_found():
    module = {}
    source = "def product(A, b):\n    return A @ b\n"
    exec(compile(source, f"{SOURCES}/linear/example.py", "exec"), module)
    with algebra_outside() as outside:
        with single_threaded_blas():
            module["product"](np.eye(2), np.ones(2))
        assert not outside
        module["product"](np.eye(2), np.ones(2))
    assert outside == {"linear/example.py:2 product"}

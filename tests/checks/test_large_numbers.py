"""Extreme cells, targets, weights, ranks and shapes are answered by finite numbers or refused by a
sentence."""

import warnings
from collections import Counter

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from tests.checks.cases import learner_named
from tests.checks.extremes import EXTREMES, examine
from tests.checks.source_laws import cut_short
from tests.checks.tables import data_for

from lyceum import catalog
from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.density import NeighborDensity
from lyceum.errors import DataError
from lyceum.kernels import SVC
from lyceum.linear import LinearRegression
from lyceum.prepare import StandardScaler


@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_finite_cells_get_a_finite_answer_or_a_refusal_by_name(name):
    learner = cut_short(learner_named(name))
    broken = {
        extreme.name: lines
        for extreme in EXTREMES.values()
        if (lines := examine(clone(learner), extreme)[1])
    }
    assert not broken


def test_most_extremes_are_answered_by_a_learner_without_squares():
    learner = learner_named("DecisionTreeClassifier")
    outcomes = Counter()
    for extreme in EXTREMES.values():
        outcomes += examine(clone(learner), extreme)[0]
    assert outcomes["fits refused"] <= 5
    assert outcomes["answers"] > 20 * outcomes["questions refused"]


def test_an_answer_that_overflows_is_refused_with_row_and_method():
    model = LinearRegression().fit([[0.0], [1.0], [2.0]], [0.0, 5.0, 10.0])
    said = r"predict of LinearRegression overflows.*row 1"
    with np.errstate(over="ignore"), pytest.raises(DataError, match=said):
        model.predict([[1.0], [1e308]])
    assert model.predict([[1e300]]).tolist() == pytest.approx([5e300])


def test_missing_cells_may_stay_missing():
    model = StandardScaler().fit([[0.0, 1.0], [2.0, np.nan], [4.0, 3.0]])
    assert np.isnan(model.transform([[1.0, np.nan]])[0, 1])


def test_one_class_with_all_the_weight_is_the_prediction_or_refused():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 3
    w = np.zeros(20)
    w[1] = 1.0
    model = LinearDiscriminantAnalysis().fit(X, y, sample_weight=w)
    assert model.predict_proba(X)[:, 1].tolist() == [1.0] * 20
    # as scikit-learn's: there is nothing to tell the class from
    with pytest.raises(DataError, match="belong to the same class"):
        SVC().fit(X, y, sample_weight=w)
    for covariance in ("full", "diagonal", "spherical", "identity"):
        learner = LinearDiscriminantAnalysis(covariance=covariance)
        for label in (0, 1):  # of two classes the rule is the log of their odds
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LinAlgWarning)
                model = learner.fit(X, y == 1, sample_weight=(y == 1) == label)
            assert model.predict_proba(X)[:, label].tolist() == [1.0] * 20
            assert model.predict_log_proba(X)[:, label].tolist() == [0.0] * 20


@pytest.mark.parametrize("name", ["NaiveBayes", "Ridge", "KMeans"])
def test_a_weight_that_is_negligible_is_a_weight_of_zero(name):
    learner = learner_named(name)
    data = data_for(learner, 60)
    w = np.ones(60)
    w[::7] = 1e-200
    tiny = clone(learner).fit(data.X, data.y, sample_weight=w)
    none = clone(learner).fit(data.X, data.y, sample_weight=np.where(w < 1, 0.0, 1.0))
    assert np.array_equal(tiny.predict(data.X), none.predict(data.X))


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
    for weight in (1e307, 5e-324):
        with pytest.raises(DataError, match="rescale the weights"):
            NaiveBayes().fit(X[:-1], y[:-1], sample_weight=np.full(19, weight))

"""Ensembles as sequences of their members, with importances."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_html_repr

from lyceum.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingClassifier,
)

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    "ensemble",
    [AdaBoostClassifier, BaggingClassifier, AdaBoostRegressor, BaggingRegressor],
)
def test_members_are_counted_indexed_and_gone_through(ensemble):
    model = ensemble(n_estimators=4, random_state=0)
    assert model
    assert len(model) == 0
    model.fit(*(IRIS if "Classifier" in ensemble.__name__ else DIABETES))
    assert len(model) == len(model.estimators_) == 4
    assert model[0] is model.estimators_[0]
    assert model[-1] is list(model)[-1]


def test_importances_are_those_of_the_members_by_their_weights():
    model = AdaBoostClassifier(n_estimators=6, random_state=0).fit(*IRIS)
    mean = np.average(
        [one.feature_importances_ for one in model], axis=0, weights=model.alphas_
    )
    np.testing.assert_allclose(model.feature_importances_, mean / mean.sum())
    some = BaggingClassifier(n_estimators=8, max_features=2, random_state=0).fit(*IRIS)
    total = np.zeros(4)
    for one, columns in zip(some, some.estimators_features_):
        total[columns] += one.feature_importances_
    np.testing.assert_allclose(some.feature_importances_, total / total.sum())
    assert not hasattr(
        BaggingClassifier(GaussianNB(), n_estimators=2).fit(*IRIS),
        "feature_importances_",
    )


@pytest.mark.parametrize("kind", [VotingClassifier, StackingClassifier])
def test_a_notebook_shows_members_side_by_side(kind):
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())]
    picture = estimator_html_repr(kind(members))
    assert "<label>bayes</label>" in picture
    assert "<label>tree</label>" in picture
    assert ("<label>final_estimator</label>" in picture) == (kind is StackingClassifier)


def test_an_ensemble_without_members_is_shown():
    assert "VotingClassifier(estimators=[])" in estimator_html_repr(
        VotingClassifier([])
    )

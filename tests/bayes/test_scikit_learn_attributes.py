"""Attributes and parameters that scikit-learn has too mean what they mean there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import naive_bayes
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis as PeerLinear,
    QuadraticDiscriminantAnalysis as PeerQuadratic,
)

from lyceum.bayes import (
    BernoulliNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)

X, Y = load_iris(return_X_y=True)
CASES = [(X, Y), (X[:100], Y[:100])]  # three classes, and two


@pytest.mark.parametrize(("X", "y"), CASES, ids=["three", "two"])
@pytest.mark.parametrize("priors", [None, "given"])
def test_the_linear_discriminant_has_scikit_learns_attributes(X, y, priors):
    if priors is not None:
        priors = np.arange(1.0, len(set(y)) + 1.0)
        priors /= priors.sum()
    ours = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    theirs = PeerLinear(priors=priors).fit(X, y)
    np.testing.assert_allclose(ours.means_, theirs.means_)
    np.testing.assert_allclose(ours.priors_, theirs.priors_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9
    )
    if priors is None:  # scikit-learn's is weighted by the priors that are given
        stored = PeerLinear(store_covariance=True).fit(X, y)
        np.testing.assert_allclose(ours.covariance_, stored.covariance_)


@pytest.mark.parametrize(("X", "y"), CASES, ids=["three", "two"])
def test_the_quadratic_discriminant_has_scikit_learns_attributes(X, y):
    ours = QuadraticDiscriminantAnalysis().fit(X, y)
    theirs = PeerQuadratic(store_covariance=True).fit(X, y)
    np.testing.assert_allclose(ours.means_, theirs.means_)
    np.testing.assert_allclose(ours.priors_, theirs.priors_)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_)
    assert ours.decision_function(X).shape == theirs.decision_function(X).shape
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9
    )


@pytest.mark.parametrize(
    "settings",
    [{}, {"alpha": 0.3}, {"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}],
    ids=str,
)
@pytest.mark.parametrize(
    ("kind", "peer"),
    [
        (MultinomialNB, naive_bayes.MultinomialNB),
        (BernoulliNB, naive_bayes.BernoulliNB),
    ],
)
def test_counts_have_scikit_learns_parameters_and_attributes(kind, peer, settings):
    counts = np.round(X)
    ours = kind(**settings).fit(counts, Y)
    theirs = peer(**settings).fit(counts, Y)
    for name in (
        "class_count_",
        "class_log_prior_",
        "feature_count_",
        "feature_log_prob_",
    ):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), err_msg=name
        )
    np.testing.assert_allclose(ours.predict_proba(counts), theirs.predict_proba(counts))

"""Coefficients and intercepts have scikit-learn's shapes, signs and values, on several tables."""

import numpy as np
import pytest
from sklearn import datasets, linear_model
from sklearn.preprocessing import scale

from lyceum.linear import LogisticRegression


def two_classes():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return scale(X[:, :8]), np.where(y == 1, "benign", "malignant")


def iris():
    return datasets.load_iris(return_X_y=True)


def five_classes():
    X, y = datasets.make_blobs(200, 3, centers=5, cluster_std=4.0, random_state=0)
    return X, 10 - y


@pytest.mark.parametrize("table", [two_classes, iris, five_classes])
@pytest.mark.parametrize(
    "settings",
    [{}, {"C": 0.05}, {"fit_intercept": False}, {"class_weight": "balanced"}],
)
def test_logistic_regression_has_scikit_s_coefficients(table, settings):
    X, y = table()
    ours = LogisticRegression(tol=1e-10, **settings).fit(X, y)
    peer = linear_model.LogisticRegression(tol=1e-10, max_iter=10_000, **settings).fit(
        X, y
    )
    assert ours.coef_.shape == peer.coef_.shape
    np.testing.assert_array_equal(ours.classes_, peer.classes_)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)
    np.testing.assert_allclose(
        ours.decision_function(X), peer.decision_function(X), atol=1e-3
    )

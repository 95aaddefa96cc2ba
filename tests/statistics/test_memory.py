"""Matrices that would take most of the memory are refused before the work begins."""

import numpy as np
import pytest

from lyceum._core.statistics import memory as _memory
from lyceum.bayes import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from lyceum.errors import DataError
from lyceum.linear import LinearRegression, Ridge

X = np.random.default_rng(0).normal(size=(12, 300))


@pytest.mark.parametrize(
    ("learner", "needed"),
    [
        (LinearRegression(), "a matrix of 300 × 300"),
        (Ridge(), "a matrix of 300 × 300"),
        (LinearDiscriminantAnalysis(), "a matrix of 300 × 300"),
        (QuadraticDiscriminantAnalysis(), "3 matrices of 300 × 300"),
    ],
)
def test_too_many_columns_are_named_with_a_remedy(monkeypatch, learner, needed):
    monkeypatch.setattr(_memory, "machine_memory", lambda: 1e6)
    with pytest.raises(
        DataError,
        match=f"300 columns need {needed} products.*NaiveBayes, Lasso or a tree",
    ):
        learner.fit(X, np.arange(12) % 3)


def test_as_many_as_fit_are_taken(monkeypatch):
    monkeypatch.setattr(_memory, "machine_memory", lambda: 2 * 8 * 300**2)
    Ridge().fit(X, np.arange(12) % 3)

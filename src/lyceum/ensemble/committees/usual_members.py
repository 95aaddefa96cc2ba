"""The members of an ensemble that was given none."""

from __future__ import annotations

from typing import Any

from lyceum import prepare
from lyceum.bayes import NaiveBayes
from lyceum.linear import LogisticRegression, Ridge
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor


def usual_classifiers() -> list[Any]:
    """Three classifiers of different families that take mixed tables with missing cells."""
    from sklearn.pipeline import make_pipeline  # takes long to import

    return [
        ("bayes", NaiveBayes()),
        (
            "logistic",
            make_pipeline(
                prepare.SimpleImputer(), prepare.StandardScaler(), LogisticRegression()
            ),
        ),
        ("tree", DecisionTreeClassifier(max_depth=6)),
    ]


def usual_regressors() -> list[Any]:
    """Two regressors of different families that take mixed tables with missing cells."""
    from sklearn.pipeline import make_pipeline  # takes long to import

    return [
        (
            "linear",
            make_pipeline(prepare.SimpleImputer(), prepare.StandardScaler(), Ridge()),
        ),
        ("tree", DecisionTreeRegressor(max_depth=6)),
    ]

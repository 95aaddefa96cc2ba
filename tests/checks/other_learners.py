"""Public learners that the catalog does not list: made of other learners, constant, or without
rows."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from tests.checks.tables import data_for

import lyceum
from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.decision import (
    BayesOptimalClassifier,
    CalibratedClassifierCV,
    MinimumRiskClassifier,
)
from lyceum.ensemble import MultiOutputClassifier
from lyceum.reinforcement import GridWorld, QLearning, Sarsa
from lyceum.studies import MeanRegressor, PriorClassifier, TargetStatistics

__all__ = ["OTHER_LEARNERS", "fit_other", "public_learners"]

OTHER_LEARNERS = (
    BayesOptimalClassifier(
        [("naive", NaiveBayes()), ("linear", LinearDiscriminantAnalysis())]
    ),
    CalibratedClassifierCV(NaiveBayes(), random_state=0),
    MeanRegressor(),
    MinimumRiskClassifier(NaiveBayes(), doubt=0.1),
    MultiOutputClassifier(NaiveBayes()),
    PriorClassifier(),
    QLearning(n_episodes=5, random_state=0),
    Sarsa(n_episodes=5, random_state=0),
    TargetStatistics(),
)


def fit_other(learner: Any) -> Any:
    """A copy that is fitted to what it learns from."""
    fresh = clone(learner)
    if isinstance(learner, QLearning | Sarsa):
        return fresh.fit(GridWorld())
    data = data_for(learner)
    y = (
        np.column_stack([data.X[:, 0] > 0, data.X[:, 1] > 0])
        if isinstance(learner, MultiOutputClassifier)
        else data.y
    )
    return fresh.fit(data.X, y)


def public_learners() -> list[type]:
    """Every class that a room exports and that has `fit` and scikit-learn's parameters."""
    rooms = [
        room.name
        for room in pkgutil.iter_modules(lyceum.__path__)
        if not room.name.startswith("_")
    ]
    modules = [importlib.import_module(f"lyceum.{room}") for room in rooms]
    public = [
        getattr(module, name)
        for module in modules
        for name in getattr(module, "__all__", ())
    ]
    return [one for one in public if isinstance(one, type) and is_learner(one)]


def is_learner(kind: type) -> bool:
    return issubclass(kind, BaseEstimator) and hasattr(kind, "fit")

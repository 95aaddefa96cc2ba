"""What a new learner is made of: see docs/new_learner.py."""

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    Decision,
    Density,
    Learner,
    NewColumns,
    OnePassClassifier,
    OnePassLearner,
    PosteriorClassifier,
    Reading,
    Regressor,
    complexity,
    decide,
)

__all__ = [
    "CATEGORICAL_FEATURES",
    "Classifier",
    "Decision",
    "Density",
    "Learner",
    "NewColumns",
    "OnePassClassifier",
    "OnePassLearner",
    "PosteriorClassifier",
    "Reading",
    "Regressor",
    "complexity",
    "decide",
]

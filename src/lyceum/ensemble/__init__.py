"""Committees of learners: bagging, forests, boosting."""

from lyceum.ensemble._adaboost import AdaBoostClassifier
from lyceum.ensemble._bagging_classifier import BaggingClassifier
from lyceum.ensemble._bagging_regressor import BaggingRegressor
from lyceum.ensemble._extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from lyceum.ensemble._gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from lyceum.ensemble._random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = [
    "AdaBoostClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]

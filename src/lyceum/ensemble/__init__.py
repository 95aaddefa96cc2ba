"""Committees of learners: bagging, forests, boosting."""

from lyceum.ensemble._adaboost import AdaBoostClassifier
from lyceum.ensemble._bagging_classifier import BaggingClassifier
from lyceum.ensemble._bagging_regressor import BaggingRegressor
from lyceum.ensemble._extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from lyceum.ensemble._gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from lyceum.ensemble._multi_label import MultiLabel
from lyceum.ensemble._one_vs_one import OneVsOne, couple_posteriors
from lyceum.ensemble._one_vs_rest import OneVsRest
from lyceum.ensemble._output_code import OutputCode
from lyceum.ensemble._random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = [
    "AdaBoostClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "MultiLabel",
    "OneVsOne",
    "OneVsRest",
    "OutputCode",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "couple_posteriors",
]

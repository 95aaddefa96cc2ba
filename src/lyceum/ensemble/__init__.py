"""Committees of learners: bagging, forests, boosting, stacking, cascades and mixtures of experts.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.ensemble._adaboost import AdaBoostClassifier
    from lyceum.ensemble._adaboost_regressor import AdaBoostRegressor
    from lyceum.ensemble._auxiliary_targets import AuxiliaryTargets
    from lyceum.ensemble._bagging_classifier import BaggingClassifier
    from lyceum.ensemble._bagging_regressor import BaggingRegressor
    from lyceum.ensemble._cascade import CascadeClassifier, StageReport
    from lyceum.ensemble._cluster_classifier import ClusterClassifier
    from lyceum.ensemble._committee import Committee
    from lyceum.ensemble._committee_explanation import CommitteeExplanation
    from lyceum.ensemble._committee_pruning import Pruning, prune_committee
    from lyceum.ensemble._diversity import Diversity, diversity
    from lyceum.ensemble._draws import set_seeds
    from lyceum.ensemble._either_task import EitherTask, has_classes
    from lyceum.ensemble._extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from lyceum.ensemble._fusion import fuse, simplex_weights
    from lyceum.ensemble._gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from lyceum.ensemble._member_answers import posteriors, vote_codes
    from lyceum.ensemble._member_data import Ensemble, MemberData, takes_missing, takes_rows, takes_weights
    from lyceum.ensemble._mixture_of_experts import HierarchicalMixtureOfExperts, MixtureOfExperts
    from lyceum.ensemble._model_boosting import ModelBoostingClassifier, ModelBoostingRegressor
    from lyceum.ensemble._multi_label import MultiLabel
    from lyceum.ensemble._one_vs_one import OneVsOne, couple_posteriors
    from lyceum.ensemble._one_vs_rest import OneVsRest
    from lyceum.ensemble._output_code import OutputCode
    from lyceum.ensemble._random_forest import RandomForestClassifier, RandomForestRegressor
    from lyceum.ensemble._stacking import StackingClassifier, StackingRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AuxiliaryTargets",
    "BaggingClassifier",
    "BaggingRegressor",
    "CascadeClassifier",
    "ClusterClassifier",
    "Committee",
    "CommitteeExplanation",
    "Diversity",
    "EitherTask",
    "Ensemble",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HierarchicalMixtureOfExperts",
    "MemberData",
    "MixtureOfExperts",
    "ModelBoostingClassifier",
    "ModelBoostingRegressor",
    "MultiLabel",
    "OneVsOne",
    "OneVsRest",
    "OutputCode",
    "Pruning",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "StageReport",
    "couple_posteriors",
    "diversity",
    "fuse",
    "has_classes",
    "posteriors",
    "prune_committee",
    "set_seeds",
    "simplex_weights",
    "takes_missing",
    "takes_rows",
    "takes_weights",
    "vote_codes",
]

_MODULES = {
    "_adaboost": ("AdaBoostClassifier",),
    "_adaboost_regressor": ("AdaBoostRegressor",),
    "_auxiliary_targets": ("AuxiliaryTargets",),
    "_bagging_classifier": ("BaggingClassifier",),
    "_bagging_regressor": ("BaggingRegressor",),
    "_cascade": ("CascadeClassifier", "StageReport"),
    "_cluster_classifier": ("ClusterClassifier",),
    "_committee": ("Committee",),
    "_committee_explanation": ("CommitteeExplanation",),
    "_committee_pruning": ("Pruning", "prune_committee"),
    "_diversity": ("Diversity", "diversity"),
    "_draws": ("set_seeds",),
    "_either_task": ("EitherTask", "has_classes"),
    "_extra_trees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "_fusion": ("fuse", "simplex_weights"),
    "_gradient_boosting": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "_member_answers": ("posteriors", "vote_codes"),
    "_member_data": ("Ensemble", "MemberData", "takes_missing", "takes_rows", "takes_weights"),
    "_mixture_of_experts": ("HierarchicalMixtureOfExperts", "MixtureOfExperts"),
    "_model_boosting": ("ModelBoostingClassifier", "ModelBoostingRegressor"),
    "_multi_label": ("MultiLabel",),
    "_one_vs_one": ("OneVsOne", "couple_posteriors"),
    "_one_vs_rest": ("OneVsRest",),
    "_output_code": ("OutputCode",),
    "_random_forest": ("RandomForestClassifier", "RandomForestRegressor"),
    "_stacking": ("StackingClassifier", "StackingRegressor"),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")

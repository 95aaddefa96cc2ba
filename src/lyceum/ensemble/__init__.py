"""Committees of learners: bagging, forests, boosting, stacking, cascades and mixtures of experts."""

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

"""Around supervised learning: unlabelled rows, active learning, transfer, anomalies, reinforcement.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.paradigms._active_learning import STRATEGIES, ActiveLearning, active_learning, query_scores
    from lyceum.paradigms._anomaly import AnomalyDetector
    from lyceum.paradigms._grid_world import GridWorld
    from lyceum.paradigms._isolation_forest import IsolationForest
    from lyceum.paradigms._label_propagation import LabelPropagation
    from lyceum.paradigms._markov_decisions import DecisionProcess, Policy, policy_iteration, value_iteration
    from lyceum.paradigms._model_as_prior import ModelAsPrior
    from lyceum.paradigms._neighbor_distance import NeighborDistance
    from lyceum.paradigms._q_learning import QLearning, Sarsa
    from lyceum.paradigms._schedule import schedule
    from lyceum.paradigms._self_training import SelfTraining
    from lyceum.paradigms._semi_supervised_em import SemiSupervisedEM
    from lyceum.paradigms._shift import PriorShift, importance_weights, shifted_priors
    from lyceum.paradigms._transfer_boost import TransferBoost

__all__ = [
    "STRATEGIES",
    "ActiveLearning",
    "AnomalyDetector",
    "DecisionProcess",
    "GridWorld",
    "IsolationForest",
    "LabelPropagation",
    "ModelAsPrior",
    "NeighborDistance",
    "Policy",
    "PriorShift",
    "QLearning",
    "Sarsa",
    "SelfTraining",
    "SemiSupervisedEM",
    "TransferBoost",
    "active_learning",
    "importance_weights",
    "policy_iteration",
    "query_scores",
    "schedule",
    "shifted_priors",
    "value_iteration",
]

_MODULES = {
    "_active_learning": ("STRATEGIES", "ActiveLearning", "active_learning", "query_scores"),
    "_anomaly": ("AnomalyDetector",),
    "_grid_world": ("GridWorld",),
    "_isolation_forest": ("IsolationForest",),
    "_label_propagation": ("LabelPropagation",),
    "_markov_decisions": ("DecisionProcess", "Policy", "policy_iteration", "value_iteration"),
    "_model_as_prior": ("ModelAsPrior",),
    "_neighbor_distance": ("NeighborDistance",),
    "_q_learning": ("QLearning", "Sarsa"),
    "_schedule": ("schedule",),
    "_self_training": ("SelfTraining",),
    "_semi_supervised_em": ("SemiSupervisedEM",),
    "_shift": ("PriorShift", "importance_weights", "shifted_priors"),
    "_transfer_boost": ("TransferBoost",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")

"""Decision, regression and model trees, with every kind of split, pruning and missing cell."""

from lyceum.trees._cart_regressor import CARTRegressor
from lyceum.trees._confidence import prune_by_confidence
from lyceum.trees._cost_complexity import (
    AlphaChoice,
    CostComplexityPath,
    cost_complexity_path,
    prune_by_complexity,
)
from lyceum.trees._decision_tree_classifier import DecisionTreeClassifier
from lyceum.trees._decision_tree_regressor import DecisionTreeRegressor
from lyceum.trees._m5_columns import StepColumns
from lyceum.trees._model_tree import ModelTreeRegressor
from lyceum.trees._permutation_importance import PermutationImportance, permutation_importance
from lyceum.trees._presets import C45, CART, ID3
from lyceum.trees._pruning import NodeCosts, prune_by_error, prune_by_loss, prune_by_pessimistic_error

__all__ = [
    "C45",
    "CART",
    "ID3",
    "AlphaChoice",
    "CARTRegressor",
    "CostComplexityPath",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ModelTreeRegressor",
    "NodeCosts",
    "PermutationImportance",
    "StepColumns",
    "cost_complexity_path",
    "permutation_importance",
    "prune_by_complexity",
    "prune_by_confidence",
    "prune_by_error",
    "prune_by_loss",
    "prune_by_pessimistic_error",
]

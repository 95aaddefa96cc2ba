"""Decision, regression and model trees, with every kind of split, pruning and missing cell.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
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

_MODULES = {
    "_cart_regressor": ("CARTRegressor",),
    "_confidence": ("prune_by_confidence",),
    "_cost_complexity": ("AlphaChoice", "CostComplexityPath", "cost_complexity_path", "prune_by_complexity"),
    "_decision_tree_classifier": ("DecisionTreeClassifier",),
    "_decision_tree_regressor": ("DecisionTreeRegressor",),
    "_m5_columns": ("StepColumns",),
    "_model_tree": ("ModelTreeRegressor",),
    "_permutation_importance": ("PermutationImportance", "permutation_importance"),
    "_presets": ("C45", "CART", "ID3"),
    "_pruning": ("NodeCosts", "prune_by_error", "prune_by_loss", "prune_by_pessimistic_error"),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")

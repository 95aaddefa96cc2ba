"""Decision, regression and model trees, with every kind of split, pruning and missing cell."""

from lyceum.trees._decision_tree_classifier import DecisionTreeClassifier
from lyceum.trees._decision_tree_regressor import DecisionTreeRegressor
from lyceum.trees._model_tree import ModelTreeRegressor
from lyceum.trees._permutation_importance import permutation_importance
from lyceum.trees._presets import C45, CART, ID3

__all__ = [
    "C45",
    "CART",
    "ID3",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ModelTreeRegressor",
    "permutation_importance",
]

from lyceum.trees.classifier import DecisionTreeClassifier as DecisionTreeClassifier
from lyceum.trees.model_trees.model_tree import ModelTreeRegressor as ModelTreeRegressor
from lyceum.trees.permutation import (
    PermutationImportance as PermutationImportance,
    permutation_importance as permutation_importance,
)
from lyceum.trees.presets import (
    C45 as C45,
    CART as CART,
    ID3 as ID3,
    CARTRegressor as CARTRegressor,
)
from lyceum.trees.pruning.bottom_up import (
    prune_by_error as prune_by_error,
    prune_by_loss as prune_by_loss,
    prune_by_pessimistic_error as prune_by_pessimistic_error,
)
from lyceum.trees.pruning.confidence import prune_by_confidence as prune_by_confidence
from lyceum.trees.pruning.cost_complexity import (
    AlphaChoice as AlphaChoice,
    CostComplexityPath as CostComplexityPath,
    cost_complexity_path as cost_complexity_path,
    prune_by_complexity as prune_by_complexity,
)
from lyceum.trees.regressor import DecisionTreeRegressor as DecisionTreeRegressor

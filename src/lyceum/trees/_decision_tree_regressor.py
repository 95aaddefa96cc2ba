"""DecisionTreeRegressor: a constant in every leaf."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from lyceum.base import Regressor
from lyceum.data import Block
from lyceum.report import Explanation
from lyceum.tree_core import GROWTH_CONSTRAINTS, Router, cached_router, explain_trees
from lyceum.trees._tree_learner import TreeLearner

__all__ = ["DecisionTreeRegressor"]


class DecisionTreeRegressor(Regressor, TreeLearner):
    """A regression tree: a constant in every leaf, by the splits that reduce the spread of the target most.

    The impurity of a node is the variance of its targets ("variance"), their mean absolute deviation from the
    median ("absolute_error"), or their standard deviation ("sd", M5's); a split into parts of weights n_i
    gains I − Σ n_i/n I_i. Leaves predict the mean, by "absolute_error" the median.

    Parameters
    ----------
    criterion : {"variance", "absolute_error", "sd"}, default="variance"
        Two groups of categories are the best of all for the variance; for "sd" all are tried up to ten
        categories; else they are cuts of the order by mean or median.
    pruning : {"reduced_error", "cost_complexity"} or None, default=None
    splitter, categorical_split, continuous_split, max_branches, missing, threshold, max_depth,
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, min_impurity_decrease,
    require_gain, max_features, attribute_costs, validation_fraction, ccp_alpha, max_bins, random_state,
    record, categorical_features
        As of `DecisionTreeClassifier`.

    Attributes
    ----------
    tree_ : Tree
    feature_importances_ : ndarray of shape (n_features,)
    record_ : Considered, with `record=True`

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.trees import DecisionTreeRegressor
    >>> x = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> print(DecisionTreeRegressor(max_depth=1).fit(x, [1.0, 1.0, 5.0, 7.0]).predict(x))
    [1. 1. 6. 6.]
    """

    _parameter_constraints: ClassVar[dict] = {
        "criterion": [StrOptions({"variance", "absolute_error", "sd"})],
        "pruning": [None, StrOptions({"reduced_error", "cost_complexity"})],
        **GROWTH_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        criterion: str = "variance",
        splitter: str = "best",
        categorical_split: str = "groups",
        continuous_split: str = "two_way",
        max_branches: int = 4,
        missing: str = "learned",
        threshold: str = "midpoint",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        require_gain: bool = False,
        max_features: Any = None,
        attribute_costs: Any = None,
        pruning: str | None = None,
        validation_fraction: float = 0.25,
        ccp_alpha: Any = 0.0,
        max_bins: int | None = None,
        random_state: Any = None,
        record: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.categorical_split = categorical_split
        self.continuous_split = continuous_split
        self.max_branches = max_branches
        self.missing = missing
        self.threshold = threshold
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.require_gain = require_gain
        self.max_features = max_features
        self.attribute_costs = attribute_costs
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.ccp_alpha = ccp_alpha
        self.max_bins = max_bins
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def predict(self, X: Any) -> Any:
        """The value of the leaf, averaged over the parts of a row."""
        return self._apply(partial(_values, self), X)

    def explain(self, X: Any) -> Explanation:
        """What every column adds to the prediction, step by step down the tree."""
        return explain_trees(self, X)

    @property
    def _router(self) -> Router:
        return cached_router(self, [self.tree_], lambda: Router([self.tree_], self.n_features_in_))


def _values(learner: Any, block: Block) -> np.ndarray:
    return learner._router.sums(block.X)[:, 0]

"""DecisionTreeRegressor: a constant in every leaf."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import Regressor, check_one_output
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block
from lyceum._core.trees import GROWTH_CONSTRAINTS, explain_trees
from lyceum._core.types import Categories, Data, Operation
from lyceum.report import Explanation
from lyceum.trees.tree_learner import TreeLearner


class DecisionTreeRegressor(Regressor, TreeLearner):
    """A regression tree: a constant in every leaf, by the splits that reduce the spread of the
    target most.

    The impurity of a node is the variance of its targets ("squared_error"), their mean absolute
    deviation from the median ("absolute_error"), or their standard deviation ("sd", M5's); a split
    into parts of weights n_i gains I − Σ n_i/n I_i. Leaves predict the mean, by "absolute_error"
    the median.

    Parameters
    ----------
    categorical_split : {"groups", "multiway", "one_vs_rest"}, default="groups"
        Two groups of categories, one branch per category, or one category against the others.
        The best groups are found for the variance; for "sd" all are tried up to ten categories;
        else they are cuts of the order by mean or median.
    pruning : {"reduced_error", "cost_complexity"} or None, default=None
        After growth: by the squared (absolute) errors of rows held out, or by impurity +
        `ccp_alpha` · leaves.
    ccp_alpha : float or "cv", default=0.0
        α: the tree is pruned to the subtree of smallest impurity + α · leaves if it is not 0, after
        any other `pruning`. "cv" chooses α by cross-validation, the largest within one standard
        error of the best, and goes with no other pruning.

    Attributes
    ----------
    alpha_choice_ : AlphaChoice
        How α was chosen, with `ccp_alpha="cv"`: the cost of the rows left out for every subtree.

    See Also
    --------
    ModelTreeRegressor : A linear model in every leaf.
    lyceum.ensemble.RandomForestRegressor : The mean of many trees.
    lyceum.ensemble.HistGradientBoostingRegressor : A sum of trees.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.trees import DecisionTreeRegressor
    >>> x = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> print(DecisionTreeRegressor(max_depth=1).fit(x, [1.0, 1.0, 5.0, 7.0]).predict(x))
    [1. 1. 6. 6.]
    """

    _parameter_constraints: ClassVar[dict] = {
        "criterion": [
            StrOptions(
                {"squared_error", "friedman_mse", "absolute_error", "poisson", "sd"}
            )
        ],
        "pruning": [None, StrOptions({"reduced_error", "cost_complexity"})],
        "cv": ["cv_object"],
        **GROWTH_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        categorical_split: str = "groups",
        continuous_split: str = "two_way",
        max_branches: int = 4,
        missing: str = "learned",
        cut: str = "midpoint",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        require_gain: bool = False,
        max_features: Any = None,
        attribute_costs: Any = None,
        monotonic_cst: Any = None,
        pruning: str | None = None,
        validation_fraction: float = 0.25,
        ccp_alpha: Any = 0.0,
        cv: Any = 10,
        max_bins: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.categorical_split = categorical_split
        self.continuous_split = continuous_split
        self.max_branches = max_branches
        self.missing = missing
        self.cut = cut
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.require_gain = require_gain
        self.max_features = max_features
        self.attribute_costs = attribute_costs
        self.monotonic_cst = monotonic_cst
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.ccp_alpha = ccp_alpha
        self.cv = cv
        self.max_bins = max_bins
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    def predict(self, X: Data) -> Any:
        """The value of the leaf, averaged over the parts of a row."""
        return self._apply(self._values, X)

    def _values(self, block: Block) -> np.ndarray:
        values = self._router.sums(block.X)
        return values[:, 0] if values.shape[1] == 1 else values

    def _operations(self) -> list[Operation]:
        check_one_output(self, "an export")
        return self._router.operations([0.0])

    def explain(self, X: Data) -> Explanation:
        """The contributions of the columns to the prediction: every step is credited to the column
        tested."""
        check_one_output(self, "an explanation")
        return explain_trees(self, X)

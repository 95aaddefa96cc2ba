"""CARTRegressor: CART's regression tree, as settings of one tree."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import StrOptions
from lyceum.trees.preset import Preset
from lyceum.trees.regressor import DecisionTreeRegressor


class CARTRegressor(Preset, DecisionTreeRegressor):
    """Breiman, Friedman, Olshen and Stone's regression tree: binary splits, pruned by cost and
    complexity.

    Splits lower the squared error most, or the absolute error; categories are split in two groups.
    The tree is grown full, and pruned to the smallest subtree within one standard error of the best
    in tenfold cross-validation. CART's surrogate splits are not made: missing cells go to the side
    where the split is best.

    Parameters
    ----------
    ccp_alpha : float or "cv", default="cv"
        α: the tree is pruned to the subtree of smallest error + α · leaves; "cv": the largest
        within one standard error of the best in cross-validation.
    cv : int, splitter, iterable of (train, test) or None, default=10
        The folds that "cv" chooses α by; a number of folds is drawn by `random_state`.
    criterion : {"squared_error", "absolute_error"}, default="squared_error"
        The error that splits reduce: squared about the mean, or absolute about the median.
    min_samples_split : int or float, default=2
        Rows that a node needs to be split, or their share of all rows.
    min_samples_leaf : int or float, default=1
        Rows that every child needs, or their share of all rows.
    min_weight_fraction_leaf : float, default=0.0
        The share of the total weight that every child needs.
    max_depth : int or None, default=None
        The largest number of splits from the root to a leaf; None: no limit.
    attribute_costs : dict by column name, array of shape (n_features,) or None, default=None
        The cost c of testing a column; a split of score s is then compared by s²/c. A column that a
        dict does not name costs 1.
    max_bins : int or None, default=None
        The largest number of bins per column; None: thresholds between all values.
    random_state : int, RandomState or None, default=None
        Draws the folds.
    record : bool, default=False
        Whether to keep the gain of every column at every node in `record_`.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns of an array hold categories, or declared kinds.

    Attributes
    ----------
    tree_ : Tree
        The tree, after pruning.
    feature_importances_ : ndarray of shape (n_features,)
        The fall of the error by every column, weighted by rows, normalized to sum 1.
    alpha_choice_ : AlphaChoice
        How α was chosen, with `ccp_alpha="cv"`: the cost of the rows left out for every subtree.
    max_features_ : int
        Columns drawn at every node.
    record_ : list of dict
        With `record=True`, one entry per node where columns were considered, as in
        `DecisionTreeRegressor`.
    schema_ : Schema
        The columns and the target.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if they have some.

    See Also
    --------
    CART : The same for classes.
    DecisionTreeRegressor : All settings.
    ModelTreeRegressor : M5, with models in the leaves.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.trees import CARTRegressor
    >>> cpu = datasets.load("cpu")
    >>> CARTRegressor(random_state=0).fit(cpu).get_n_leaves() < 12
    True
    """

    _base_learner: ClassVar[Any] = DecisionTreeRegressor
    _parameter_constraints: ClassVar[dict] = {
        "criterion": [StrOptions({"squared_error", "absolute_error"})],
    }

    def __init__(
        self,
        *,
        ccp_alpha: Any = "cv",
        cv: Any = 10,
        criterion: str = "squared_error",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        attribute_costs: Any = None,
        max_bins: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        self.ccp_alpha = ccp_alpha
        self.cv = cv
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.attribute_costs = attribute_costs
        self.max_bins = max_bins
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

"""Extremely randomized trees, of classes and of numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import StrOptions
from lyceum._core.types import Categories, ClassWeight
from lyceum.ensemble.bagging.forest import FOREST
from lyceum.ensemble.bagging.random_forest import (
    RandomForestClassifier,
    RandomForestRegressor,
)


class ExtraTreesClassifier(RandomForestClassifier):
    """Extremely randomized trees: one threshold drawn for each of a few columns, the best of these
    taken.

    As `RandomForestClassifier`, but a column is cut at a number drawn between its smallest and its
    largest value at the node, or its categories in two groups drawn, and trees are grown on all
    rows unless `bootstrap=True` (Geurts, Ernst and Wehenkel 2006).

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.

    Attributes
    ----------
    trees_ : list of Tree
        The trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The fall of impurity due to every column, averaged over the trees.
    oob_score_ : float
        With `oob_score=True`: the share of rows that their out-of-bag trees classify correctly.
    oob_decision_function_ : ndarray of shape (n_samples, K)
        With `oob_score=True`: the out-of-bag posteriors; NaN for a row that every tree drew.
    estimators_ : list of tree learners
        The trees as learners of their own, made on request: for text, rules, paths and drawings.
    estimators_samples_ : list of ndarray
        The rows that every tree was drawn, as often as it was; drawn anew on request from `draws_`.
    draws_ : TreeDraws
        How rows are drawn.
    seed_ : int
        The seed that was used.
    max_features_ : int
        Columns drawn at every node.

    See Also
    --------
    RandomForestClassifier : The best threshold instead of a drawn one.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees, Machine Learning 63.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.ensemble import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(n_estimators=20, random_state=0).fit(X, y).score(X, y)
    1.0

    """

    _splitter: ClassVar[str] = "random"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_features: Any = "sqrt",
        categorical_split: str = "groups",
        missing: str = "learned",
        bootstrap: bool = False,
        max_samples: Any = None,
        oob_score: bool = False,
        class_weight: ClassWeight = None,
        max_bins: int | None = 255,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        super().__init__(
            n_estimators=n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            max_features=max_features,
            categorical_split=categorical_split,
            missing=missing,
            bootstrap=bootstrap,
            max_samples=max_samples,
            oob_score=oob_score,
            class_weight=class_weight,
            max_bins=max_bins,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            categorical_features=categorical_features,
        )


class ExtraTreesRegressor(RandomForestRegressor):
    """Extremely randomized regression trees: one threshold drawn for each column looked at, the
    best taken.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees.
    criterion : {"squared_error", "sd"}, default="squared_error"
        The impurity that splits reduce.

    Attributes
    ----------
    trees_ : list of Tree
        The trees.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The fall of impurity due to every column, averaged over the trees.
    oob_score_ : float
        With `oob_score=True`: R² of the out-of-bag predictions.
    oob_prediction_ : ndarray of shape (n_samples,)
        With `oob_score=True`: the out-of-bag predictions; NaN for a row that every tree drew.
    estimators_ : list of tree learners
        The trees as learners of their own, made on request: for text, rules, paths and drawings.
    estimators_samples_ : list of ndarray
        The rows that every tree was drawn, as often as it was; drawn anew on request from `draws_`.
    draws_ : TreeDraws
        How rows are drawn.
    seed_ : int
        The seed that was used.
    max_features_ : int
        Columns drawn at every node.

    See Also
    --------
    RandomForestRegressor : The best threshold instead of a drawn one.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees, Machine Learning 63.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import ExtraTreesRegressor
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> model = ExtraTreesRegressor(n_estimators=20, random_state=0).fit(x, np.sin(x[:, 0]))
    >>> model.score(x, np.sin(x[:, 0]))
    1.0

    """

    _splitter: ClassVar[str] = "random"
    _parameter_constraints: ClassVar[dict] = {
        **FOREST,
        "criterion": [StrOptions({"squared_error", "sd"})],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_features: Any = None,
        categorical_split: str = "groups",
        missing: str = "learned",
        bootstrap: bool = False,
        max_samples: Any = None,
        oob_score: bool = False,
        max_bins: int | None = 255,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        super().__init__(
            n_estimators=n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            max_features=max_features,
            categorical_split=categorical_split,
            missing=missing,
            bootstrap=bootstrap,
            max_samples=max_samples,
            oob_score=oob_score,
            max_bins=max_bins,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            categorical_features=categorical_features,
        )

"""Extremely randomised trees, of classes and of numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from lyceum.ensemble._forest import FOREST
from lyceum.ensemble._random_forest import RandomForestClassifier, RandomForestRegressor

__all__ = ["ExtraTreesClassifier", "ExtraTreesRegressor"]


class ExtraTreesClassifier(RandomForestClassifier):
    """Extremely randomised trees: one threshold drawn for each of a few columns, the best of these taken.

    As `RandomForestClassifier`, but a column is cut at a number drawn between its smallest and its largest
    value at the node, or its categories in two groups drawn, and trees are grown on all rows unless
    `bootstrap=True` (Geurts, Ernst and Wehenkel 2006).

    Parameters
    ----------
    bootstrap : bool, default=False
    n_estimators, criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_leaf_nodes, min_impurity_decrease, max_features, categorical_split, missing, max_samples, oob_score,
    class_weight, max_bins, warm_start, random_state, categorical_features
        As of `RandomForestClassifier`. With `categorical_split="groups"` groups are drawn.

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
        *,
        n_estimators: int = 100,
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
        class_weight: Any = None,
        max_bins: int | None = 255,
        warm_start: bool = False,
        random_state: Any = None,
        categorical_features: Any = "from_dtype",
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
            categorical_features=categorical_features,
        )


class ExtraTreesRegressor(RandomForestRegressor):
    """Extremely randomised regression trees: one threshold drawn for each column looked at, the best taken.

    Parameters
    ----------
    bootstrap : bool, default=False
    criterion : {"variance", "sd"}, default="variance"
    n_estimators, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes,
    min_impurity_decrease, max_features, categorical_split, missing, max_samples, oob_score, max_bins,
    warm_start, random_state, categorical_features
        As of `RandomForestRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import ExtraTreesRegressor
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> ExtraTreesRegressor(n_estimators=20, random_state=0).fit(x, np.sin(x[:, 0])).score(x, np.sin(x[:, 0]))
    1.0
    """

    _splitter: ClassVar[str] = "random"
    _parameter_constraints: ClassVar[dict] = {**FOREST, "criterion": [StrOptions({"variance", "sd"})]}

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        criterion: str = "variance",
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
        random_state: Any = None,
        categorical_features: Any = "from_dtype",
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
            categorical_features=categorical_features,
        )

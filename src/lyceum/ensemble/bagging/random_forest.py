"""Random forests, of classes and of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import (
    OutputsClassifier,
    Regressor,
    check_one_output,
    normalize_posteriors,
)
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block
from lyceum._core.statistics import weighted_mean
from lyceum._core.types import Categories, ClassWeight, Data, Operation
from lyceum.ensemble.bagging.draws import OutOfBag, r_squared, weights_of
from lyceum.ensemble.bagging.forest import FOREST, Forest, ForestData


class RandomForestClassifier(OutputsClassifier, Forest):
    """Trees on bootstrap samples, the best split of a few columns drawn at every node; posteriors
    averaged.

    Every tree is grown on n rows drawn with replacement and looks at `max_features` columns, drawn
    anew, at every node (Breiman 2001). The posterior is the mean of the trees' leaf shares. A row
    is out of bag for a tree that did not draw it: `oob_score=True` asks these trees alone, an
    honest estimate without a test set.

    Parameters
    ----------
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Columns drawn at every node; more where those drawn have no split.

    See Also
    --------
    lyceum.trees.DecisionTreeClassifier : A single tree, which can be read.
    ExtraTreesClassifier : Thresholds drawn at random.
    HistGradientBoostingClassifier : Trees that correct each other, one after the other.

    References
    ----------
    Breiman, Random forests, Machine Learning 45 (2001).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.92
    True

    """

    _parameter_docs: ClassVar[str] = """
    criterion : {"gini", "entropy", "log_loss", "misclassification"}
        The impurity that splits reduce; "log_loss" is the entropy.
    class_weight : None, "balanced", "balanced_subsample" or dict
        Factors on the weights of the rows of each class; "balanced": total weight / (K · weight of
        the class), of all rows or of those drawn for the tree.
    """
    _attribute_docs: ClassVar[str] = """
    oob_score_ : float
        With `oob_score=True`: the share of rows that their out-of-bag trees classify correctly.
    oob_decision_function_ : ndarray of shape (n_samples, K)
        With `oob_score=True`: the out-of-bag posteriors; NaN for a row that every tree drew.
    """

    _parameter_constraints: ClassVar[dict] = {
        **FOREST,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "misclassification"})],
        "class_weight": [
            None,
            StrOptions({"balanced", "balanced_subsample"}),
            dict,
            list,
        ],
    }

    classes_: np.ndarray
    oob_decision_function_: Any

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
        bootstrap: bool = True,
        max_samples: Any = None,
        oob_score: Any = False,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        class_weight: ClassWeight = None,
        max_bins: int | None = 255,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.categorical_split = categorical_split
        self.missing = missing
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def _posteriors(self, block: Block) -> np.ndarray:
        """The mean posteriors of the trees."""
        if self.n_outputs_ > 1:
            return np.minimum(self._means(block), 1.0)
        return normalize_posteriors(self._means(block))

    def predict(self, X: Data) -> Any:
        """The class of largest posterior; of several outputs one column each."""
        return self._predict_classes(X, self._most_probable)

    def _operations(self) -> list[Operation]:
        check_one_output(self, "an export")
        start = [0.0] * len(self.classes_)
        return [*self._router.operations(start), ("shares", {})]

    def staged_predict_proba(self, X: Data) -> Iterator[np.ndarray]:
        """The posteriors of the first tree, the first two, and so on."""
        return map(normalize_posteriors, self._stages(X))

    def staged_predict(self, X: Data) -> Iterator[np.ndarray]:
        """The classes that the first tree, the first two, and so on, predict."""
        return (
            self.classes_[np.argmax(proba, axis=1)]
            for proba in self.staged_predict_proba(X)
        )

    def _set_out_of_bag(self, answers: OutOfBag, data: ForestData) -> None:
        rows = answers.rows
        if self.n_outputs_ > 1:
            self._set_outputs_out_of_bag(answers, data)
            return
        self.oob_decision_function_ = normalize_posteriors(answers.mean)
        if callable(self.oob_score):
            codes = np.argmax(answers.total[rows], axis=1)
            truth = self.classes_[data.y[rows]]
            self.oob_score_ = self.oob_score(truth, self.classes_[codes])
            return
        right = np.argmax(answers.total[rows], axis=1) == data.y[rows]
        w = weights_of(data.w, rows)
        self.oob_score_ = weighted_mean(right.astype(np.float64), w)

    def _set_outputs_out_of_bag(self, answers: OutOfBag, data: ForestData) -> None:
        """scikit-learn's (n, K, Q) where all outputs have K classes, else a list of (n, K)."""
        parts = self._by_output(answers.mean)
        self.oob_decision_function_ = parts
        if len({part.shape[1] for part in parts}) == 1:
            self.oob_decision_function_ = np.stack(parts, axis=2)
        rows = answers.rows
        pairs = zip(self.classes_, parts)
        predicted = np.column_stack([c[p[rows].argmax(axis=1)] for c, p in pairs])
        codes = zip(self.classes_, data.y[rows].T.astype(np.intp))
        truth = np.column_stack([classes[code] for classes, code in codes])
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(truth, predicted)
        else:
            self.oob_score_ = float((predicted == truth).all(axis=1).mean())


class RandomForestRegressor(Regressor, Forest):
    """Regression trees on bootstrap samples, the best split of columns drawn at every node; values
    averaged.

    Every tree is grown on n rows drawn with replacement and looks at `max_features` columns, drawn
    at every node (Breiman 2001). The prediction is the mean of the trees' predictions.

    Parameters
    ----------
    max_features : int, float, "sqrt", "log2" or None, default=1.0
        Columns drawn at every node; all by default, which is bagging; a third is Breiman's advice.

    See Also
    --------
    lyceum.trees.DecisionTreeRegressor : A single tree, which can be read.
    ExtraTreesRegressor : Thresholds drawn at random.
    HistGradientBoostingRegressor : Trees that correct each other, one after the other.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.ensemble import RandomForestRegressor
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> forest = RandomForestRegressor(n_estimators=50, random_state=0).fit(x, np.sin(x[:, 0]))
    >>> forest.score(x, np.sin(x[:, 0])) > 0.99
    True

    """

    _attribute_docs: ClassVar[str] = """
    oob_score_ : float
        With `oob_score=True`: R² of the out-of-bag predictions.
    oob_prediction_ : ndarray of shape (n_samples,)
        With `oob_score=True`: the out-of-bag predictions; NaN for a row that every tree drew.
    """

    _parameter_constraints: ClassVar[dict] = {
        **FOREST,
        "criterion": [
            StrOptions(
                {"squared_error", "friedman_mse", "absolute_error", "poisson", "sd"}
            )
        ],
    }

    oob_prediction_: np.ndarray

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
        max_features: Any = 1.0,
        categorical_split: str = "groups",
        missing: str = "learned",
        bootstrap: bool = True,
        max_samples: Any = None,
        oob_score: Any = False,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        max_bins: int | None = 255,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.categorical_split = categorical_split
        self.missing = missing
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.categorical_features = categorical_features

    def predict(self, X: Data) -> Any:
        """The mean of the values of the trees."""
        return self._apply(self._values, X)

    def _values(self, block: Block) -> np.ndarray:
        means = self._means(block)
        return means[:, 0] if means.shape[1] == 1 else means

    def _operations(self) -> list[Operation]:
        check_one_output(self, "an export")
        return self._router.operations([0.0])

    def staged_predict(self, X: Data) -> Iterator[np.ndarray]:
        """The predictions of the first tree, the first two, and so on."""
        return (
            values[:, 0] if values.shape[1] == 1 else values
            for values in self._stages(X)
        )

    def _set_out_of_bag(self, answers: OutOfBag, data: ForestData) -> None:
        rows = answers.rows
        y = data.y[rows]
        w = weights_of(data.w, rows)
        self.oob_prediction_ = answers.mean
        if self.n_outputs_ == 1:
            self.oob_prediction_ = answers.mean[:, 0]
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(y, self.oob_prediction_[rows])
            return
        if self.n_outputs_ > 1:
            from sklearn.metrics import r2_score  # takes long to import

            self.oob_score_ = float(
                r2_score(y, self.oob_prediction_[rows], sample_weight=w)
            )
            return
        error = weighted_mean((y - self.oob_prediction_[rows]) ** 2, w)
        self.oob_score_ = r_squared(error, y, w)

"""ID3, C45 and CART: the classical tree learners, as settings of one tree."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.types import Categories, ClassWeight
from lyceum.trees.classifier import DecisionTreeClassifier
from lyceum.trees.regressor import DecisionTreeRegressor


def _settings(of: Any) -> dict[str, Any]:
    """The parameters and their defaults."""
    return dict(of.__init__.__kwdefaults__)


class Preset:
    """A tree whose other parameters are fixed: they are attributes, not parameters."""

    _base_learner: ClassVar[Any]  # the learner with all parameters
    _fixed: ClassVar[dict[str, Any]] = {}
    _parameter_constraints: ClassVar[dict]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        names = _settings(cls)
        # C45 has no `min_weight_fraction_leaf`, and `min_weight_leaf` in its place: growth_rules
        # looks which of the two a learner has
        fixed = _settings(cls._base_learner) | cls._fixed
        for name, value in fixed.items():
            if name not in names and name != "min_weight_fraction_leaf":
                setattr(cls, name, value)
        own_constraints = cls.__dict__.get("_parameter_constraints", {})
        constraints = cls._base_learner._parameter_constraints | own_constraints
        cls._parameter_constraints = {name: constraints[name] for name in names}


class _Preset(Preset, DecisionTreeClassifier):
    _parameter_docs: ClassVar[str] = """
    loss_matrix : array of shape (K, K), LossMatrix, dict or None
        The loss L(k, a) of action a where class k is true: rows are true classes in the order of
        `classes_`, columns are actions. Growth by misclassification then goes by the smallest
        expected loss of a node; other criteria weight class k by Σ_a L(k, a). Leaves decide by
        smallest expected loss, and so does pruning. Posteriors are those of the rows.
    """

    _base_learner: ClassVar[Any] = DecisionTreeClassifier


class ID3(_Preset):
    """Quinlan's ID3: a branch for every category by the largest information gain, until nothing is
    gained.

    A continuous column, which ID3 did not have, is cut in two. A category without rows is decided
    by the majority at the node above. Missing cells, which it did not have either, go with
    fractions as in C4.5.

    Parameters
    ----------
    max_p_value : float or None, default=None
        A split is made only if the chi-square test of branches against classes has a p-value up to
        this. ID3's stopping rule.

    See Also
    --------
    C45 : Its successor, with continuous columns and pruning.
    DecisionTreeClassifier : All settings.

    References
    ----------
    Quinlan (1986), Induction of decision trees, Machine Learning 1.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.trees import ID3
    >>> tree = ID3().fit(datasets.load("weather"))
    >>> [tree.schema_[j].name for j in tree.tree_.feature if j >= 0]
    ['outlook', 'windy', 'humidity']
    """

    _fixed: ClassVar[dict[str, Any]] = {
        "criterion": "entropy",
        "categorical_split": "multiway",
        "missing": "fractions",
        "require_gain": True,
    }

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_weight_fraction_leaf: float = 0.0,
        max_p_value: float | None = None,
        attribute_costs: Any = None,
        class_weight: ClassWeight = None,
        loss_matrix: Any = None,
        default_class: Any = None,
        max_bins: int | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_p_value = max_p_value
        self.attribute_costs = attribute_costs
        self.class_weight = class_weight
        self.loss_matrix = loss_matrix
        self.default_class = default_class
        self.max_bins = max_bins
        self.record = record
        self.categorical_features = categorical_features


class C45(_Preset):
    """Quinlan's C4.5, Release 8: gain ratio, rows in fractions where a cell is missing, pruning by
    a bound.

    Columns are chosen by gain ratio among those that gain at least the average. Categories branch
    one by one, numbers are cut in two at a value of the column; a cut is charged log₂(cuts
    tried)/N, and either side must have a tenth of the rows of an average class, at least
    `min_weight_leaf` and at most 25. Pruning is by the upper bound of the error at `confidence`; a
    branch may be raised to the place of its parent, unless `max_bins` is set: the tree is then
    pruned without its rows, and the same from files as in memory.

    Parameters
    ----------
    confidence : float, default=0.25
        C4.5's CF: the smaller, the more is pruned.
    min_weight_leaf : float, default=2.0
        The weight that two branches need: C4.5's minimum of rows.
    pruning : {"confidence"} or None, default="confidence"
        By C4.5's bound, or not at all; subtrees that make no fewer errors in `fit` than a leaf go
        anyway.
    bound : {"c45", "normal", "exact"}, default="c45"
        The bound as C4.5's program has it; the normal approximation of Weka's J48; or the exact
        binomial one.

    See Also
    --------
    ID3, CART : Its predecessor; binary splits, pruned by cost and complexity.
    DecisionTreeClassifier : All settings.

    References
    ----------
    Quinlan (1993), C4.5: programs for machine learning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.trees import C45
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = C45().fit(X, y)
    >>> tree.get_n_leaves(), tree.tree_.n_nodes  # as C4.5 itself
    (5, 9)
    """

    _fixed: ClassVar[dict[str, Any]] = {
        "criterion": "gain_ratio",
        "categorical_split": "multiway",
        "missing": "fractions",
        "cut": "observed",
        "require_gain": True,
    }
    _parameter_constraints: ClassVar[dict] = {
        "pruning": [None, StrOptions({"confidence"})],
        "min_weight_leaf": [Interval(Real, 0, None, closed="left")],
    }
    _release8: ClassVar[bool] = True

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        min_weight_leaf: float = 2.0,
        pruning: str | None = "confidence",
        bound: str = "c45",
        max_depth: int | None = None,
        attribute_costs: Any = None,
        class_weight: ClassWeight = None,
        loss_matrix: Any = None,
        max_bins: int | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.confidence = confidence
        self.min_weight_leaf = min_weight_leaf
        self.pruning = pruning
        self.bound = bound
        self.max_depth = max_depth
        self.attribute_costs = attribute_costs
        self.class_weight = class_weight
        self.loss_matrix = loss_matrix
        self.max_bins = max_bins
        self.record = record
        self.categorical_features = categorical_features


class CART(_Preset):
    """Breiman, Friedman, Olshen and Stone's CART: binary splits by Gini, pruned by cost and
    complexity.

    Categories are split in two groups; the tree is grown full, and pruned. CART's surrogate splits
    are not made: missing cells go to the side where the split is best.

    Parameters
    ----------
    ccp_alpha : float or "cv", default="cv"
        α: the tree is pruned to the subtree of smallest `ccp_measure` + α · leaves; "cv": the
        largest within one standard error of the best in cross-validation.
    ccp_measure : {"error", "impurity"}, default="error"
        The error rate of the leaves (their expected loss), as in the book, or their impurity.
    criterion : {"gini", "entropy", "misclassification"}, default="gini"
        The impurity that splits reduce.

    Attributes
    ----------
    alpha_choice_ : AlphaChoice
        How α was chosen, with `ccp_alpha="cv"`: the cost of the rows left out for every subtree.

    See Also
    --------
    CARTRegressor : The same for numbers.
    C45 : Multiway splits by gain ratio, pruned by a bound.
    DecisionTreeClassifier : All settings.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.trees import CART
    >>> X, y = load_iris(return_X_y=True)
    >>> CART(random_state=0).fit(X, y).get_n_leaves()
    3
    """

    _parameter_constraints: ClassVar[dict] = {
        "criterion": [StrOptions({"gini", "entropy", "misclassification"})],
    }

    def __init__(
        self,
        *,
        ccp_alpha: Any = "cv",
        cv: Any = 10,
        ccp_measure: str = "error",
        criterion: str = "gini",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        attribute_costs: Any = None,
        class_weight: ClassWeight = None,
        loss_matrix: Any = None,
        max_bins: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.ccp_alpha = ccp_alpha
        self.cv = cv
        self.ccp_measure = ccp_measure
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.attribute_costs = attribute_costs
        self.class_weight = class_weight
        self.loss_matrix = loss_matrix
        self.max_bins = max_bins
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features


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
    criterion : {"squared_error", "absolute_error"}, default="squared_error"
        The error that splits reduce: squared about the mean, or absolute about the median.
    max_bins : int or None, default=None
        The largest number of bins per column; None: thresholds between all values.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The fall of the error by every column, weighted by rows, normalized to sum 1.
    alpha_choice_ : AlphaChoice
        How α was chosen, with `ccp_alpha="cv"`: the cost of the rows left out for every subtree.

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
        categorical_features: Categories = "from_dtype",
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

"""ID3, C45 and CART: the classical tree learners, as settings of one tree."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from lyceum.trees._decision_tree_classifier import DecisionTreeClassifier

__all__ = ["C45", "CART", "ID3"]


def _settings(of: Any) -> dict[str, Any]:
    """The parameters and their defaults."""
    return dict(of.__init__.__kwdefaults__)


class _Preset(DecisionTreeClassifier):
    """A tree whose other parameters are fixed: they are attributes, not parameters."""

    _fixed: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        names = _settings(cls)
        for name, value in (_settings(DecisionTreeClassifier) | cls._fixed).items():
            if name not in names and name != "min_weight_fraction_leaf":
                setattr(cls, name, value)
        known = DecisionTreeClassifier._parameter_constraints | cls.__dict__.get("_parameter_constraints", {})
        cls._parameter_constraints = {name: known[name] for name in names}


class ID3(_Preset):
    """Quinlan's ID3: a branch for every category by the largest information gain, until nothing is gained.

    A continuous column, which ID3 did not have, is cut in two. A category without rows is decided by the
    majority at the node above. Missing cells, which it did not have either, go with fractions as in C4.5.

    Parameters
    ----------
    attribute_costs : dict by column name, array or None, default=None
        Columns are then chosen by Gain²/Cost.
    max_depth, min_samples_split, min_weight_fraction_leaf, max_p_value, class_weight, loss, max_bins,
    random_state, record, categorical_features
        As of `DecisionTreeClassifier`; `max_p_value` is ID3's chi-square stopping rule.

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
        class_weight: Any = None,
        loss: Any = None,
        max_bins: int | None = None,
        random_state: Any = None,
        record: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_p_value = max_p_value
        self.attribute_costs = attribute_costs
        self.class_weight = class_weight
        self.loss = loss
        self.max_bins = max_bins
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features


class C45(_Preset):
    """Quinlan's C4.5, Release 8: gain ratio, rows in fractions where a cell is missing, pruning by a bound.

    Columns are chosen by gain ratio among those that gain at least the average. Categories branch one by one,
    numbers are cut in two at a value of the column; a cut is charged log₂(cuts tried)/N, and either side must
    have a tenth of the rows of an average class, at least `min_weight_leaf` and at most 25. The tree is
    pruned by the upper bound of the error at `confidence`, and a branch may be raised to the place of its
    parent.

    Parameters
    ----------
    confidence : float, default=0.25
        C4.5's CF: the less, the more is pruned.
    min_weight_leaf : float, default=2.0
        C4.5's minimum of rows in two branches.
    pruning : {"confidence"} or None, default="confidence"
    max_depth, attribute_costs, class_weight, loss, max_bins, random_state, record, categorical_features
        As of `DecisionTreeClassifier`.

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
        "threshold": "observed",
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
        max_depth: int | None = None,
        attribute_costs: Any = None,
        class_weight: Any = None,
        loss: Any = None,
        max_bins: int | None = None,
        random_state: Any = None,
        record: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        self.confidence = confidence
        self.min_weight_leaf = min_weight_leaf
        self.pruning = pruning
        self.max_depth = max_depth
        self.attribute_costs = attribute_costs
        self.class_weight = class_weight
        self.loss = loss
        self.max_bins = max_bins
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features


class CART(_Preset):
    """Breiman, Friedman, Olshen and Stone's CART: binary splits by Gini, pruned by cost and complexity.

    Categories are split in two groups. The tree is grown full and pruned at the α of the least error in
    tenfold cross-validation, or rather the largest within one standard error of it. CART's surrogate splits
    are not made: missing cells go to the side where the split is best.

    Parameters
    ----------
    ccp_alpha : float or "cv", default="cv"
    criterion : {"gini", "entropy", "misclassification"}, default="gini"
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_depth, attribute_costs, class_weight,
    loss, max_bins, random_state, record, categorical_features
        As of `DecisionTreeClassifier`.

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
        criterion: str = "gini",
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = None,
        attribute_costs: Any = None,
        class_weight: Any = None,
        loss: Any = None,
        max_bins: int | None = None,
        random_state: Any = None,
        record: bool = False,
        categorical_features: Any = "from_dtype",
    ):
        self.ccp_alpha = ccp_alpha
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.attribute_costs = attribute_costs
        self.class_weight = class_weight
        self.loss = loss
        self.max_bins = max_bins
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

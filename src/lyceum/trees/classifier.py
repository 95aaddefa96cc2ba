"""DecisionTreeClassifier: every kind of split, criterion, missing cell and pruning in one tree."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import OutputsClassifier, check_one_output, normalize_posteriors
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.probability import LossMatrix
from lyceum._core.trees import (
    GROWTH_CONSTRAINTS,
    LEAF,
    decided_shares,
    explain_trees,
    node_decisions,
)
from lyceum._core.types import Categories, ClassWeight, Data, Operation
from lyceum.errors import ModelFileError, cannot_export
from lyceum.report import Explanation
from lyceum.trees.tree_learner import TreeLearner


class DecisionTreeClassifier(OutputsClassifier, TreeLearner):
    """A decision tree, grown from the root down by the split that is best at every node (Hunt's
    algorithm).

    With class shares p_k at a node of weight n, the impurity is

        entropy  −Σ p_k log₂ p_k,   gini  1 − Σ p_k²,   misclassification  1 − max p_k,

    and a split into parts of weights n_i gains I − Σ n_i/n I_i. "gain_ratio" divides the gain of
    entropy by the entropy of the parts, −Σ n_i/n log₂ n_i/n, and takes the best ratio among the
    columns that gain at least the average (Quinlan). Attribute costs c turn a score s into s²/c. Of
    equal splits the one of the first column, and there of the smallest threshold, is taken.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "gain_ratio", "misclassification"}, default="gini"
        The impurity that splits reduce ("log_loss" is the entropy), or "gain_ratio".
    categorical_split : {"groups", "multiway", "one_vs_rest"}, default="groups"
        Two groups of categories, one branch per category, or one category against the others.
        The best groups are found for two classes; for more, all are tried up to ten categories, and
        cuts of the orders by each class's share after that.
    max_p_value : float or None, default=None
        A split is made only if the chi-square test of branches against classes has a p-value up to
        this.
    loss_matrix : array of shape (K, K), LossMatrix, dict or None, default=None
        The loss L(k, a) of action a where class k is true: rows are true classes in the order of
        `classes_`, columns are actions. Growth by misclassification then goes by the smallest
        expected loss of a node; other criteria may weight class k by Σ_a L(k, a) (see
        `altered_priors`). Leaves decide by smallest expected loss, and so does pruning. Posteriors
        are those of the rows.
    altered_priors : bool or "auto", default="auto"
        Whether growth with a loss weights class k by Σ_a L(k, a); "auto": unless
        pruning="minimum_loss".
    pruning : str or None, default=None
        One of "reduced_error", "pessimistic", "confidence", "cost_complexity" and "minimum_loss".
        After growth: by the errors of rows held out; by errors + `penalty` · leaves; by C4.5's
        bound at `confidence`, branches raised too unless `max_bins` is set; by `ccp_measure` + α ·
        leaves, where α is `ccp_alpha`, or chosen by cross-validation if that is 0; by the expected
        loss under the m-estimate of class shares, which the leaves and the posteriors then have
        too.
    smoothing : float, default=20.0
        m of the m-estimate (n_k + m π_k) / (n + m) of "minimum_loss" pruning, π the class shares of
        all rows.
    bound : {"c45", "normal", "exact"}, default="c45"
        The bound of "confidence" pruning: as C4.5's program has it, with its table of deviates; the
        normal approximation alone, as Weka's J48; or the exact binomial one.
    leaf_penalty : float, default=0.5
        The errors added per leaf by "pessimistic" pruning.
    confidence : float, default=0.25
        The level of C4.5's bound, for "confidence" pruning: the smaller, the more is pruned.
    ccp_alpha : float or "cv", default=0.0
        α: the tree is pruned to the subtree of smallest `ccp_measure` + α · leaves if it is not 0,
        after any other `pruning`. "cv" chooses α by cross-validation, the largest within one
        standard error of the best, and goes with no other pruning.
    ccp_measure : {"impurity", "error"}, default="impurity"
        What is weighed against the leaves: the impurity of the leaves, or their error rate
        (expected loss).

    Attributes
    ----------
    alpha_choice_ : AlphaChoice
        How α was chosen, with `ccp_alpha="cv"`: the cost of the rows left out for every subtree.

    See Also
    --------
    ID3, C45, CART : The classical learners, as settings of this one.
    lyceum.ensemble.RandomForestClassifier : The mean of many trees.
    lyceum.ensemble.HistGradientBoostingClassifier : A sum of trees.

    References
    ----------
    Quinlan, Induction of decision trees, 1986; C4.5, 1993. Breiman, Friedman, Olshen and Stone,
    Classification and regression trees, 1984. Tan and Schlimmer, Two case studies in cost-sensitive
    concept acquisition, 1990.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(criterion="entropy", categorical_split="multiway")
    >>> print(tree.fit(datasets.load("weather")).text())
    play  [no 5, yes 9]
    outlook = overcast: yes  [yes 4]
    outlook = rainy  [no 2, yes 3]
    |   windy = False: yes  [yes 3]
    |   windy = True: no  [no 2]
    outlook = sunny  [no 3, yes 2]
    |   humidity = high: no  [no 3]
    |   humidity = normal: yes  [yes 2]
    """

    _parameter_docs: ClassVar[str] = """
    default_class : label or None
        Hunt's default: the class of a branch that no row came to in `fit`, and of a tie up to the
        root. None: the majority at the node above, and the first class.
    """
    _attribute_docs: ClassVar[str] = """
    loss_matrix_ : ndarray of shape (K, n_actions) or None
        The losses, with rows in the order of `classes_`.
    actions_ : ndarray of shape (n_actions,)
        The actions that `predict` chooses from: the classes, or those of the loss matrix.
    """

    _parameter_constraints: ClassVar[dict] = {
        "criterion": [
            StrOptions(
                {"gini", "entropy", "log_loss", "gain_ratio", "misclassification"}
            )
        ],
        "max_p_value": [None, Interval(Real, 0, 1, closed="both")],
        "class_weight": [None, StrOptions({"balanced"}), dict, list],
        "loss_matrix": [LossMatrix, "array-like", dict, None],
        "pruning": [
            None,
            StrOptions(
                {
                    "reduced_error",
                    "pessimistic",
                    "confidence",
                    "cost_complexity",
                    "minimum_loss",
                }
            ),
        ],
        "leaf_penalty": [Interval(Real, 0, None, closed="left")],
        "confidence": [Interval(Real, 0, 0.5, closed="right")],
        "altered_priors": ["boolean", StrOptions({"auto"})],
        "default_class": "no_validation",
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "bound": [StrOptions({"c45", "normal", "exact"})],
        "cv": ["cv_object"],
        "ccp_measure": [StrOptions({"impurity", "error"})],
        **GROWTH_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        criterion: str = "gini",
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
        max_p_value: float | None = None,
        require_gain: bool = False,
        max_features: Any = None,
        attribute_costs: Any = None,
        monotonic_cst: Any = None,
        class_weight: ClassWeight = None,
        loss_matrix: Any = None,
        altered_priors: Any = "auto",
        default_class: Any = None,
        pruning: str | None = None,
        validation_fraction: float = 0.25,
        leaf_penalty: float = 0.5,
        confidence: float = 0.25,
        bound: str = "c45",
        smoothing: float = 20.0,
        ccp_alpha: Any = 0.0,
        cv: Any = 10,
        ccp_measure: str = "impurity",
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
        self.max_p_value = max_p_value
        self.require_gain = require_gain
        self.max_features = max_features
        self.attribute_costs = attribute_costs
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.loss_matrix = loss_matrix
        self.altered_priors = altered_priors
        self.default_class = default_class
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.leaf_penalty = leaf_penalty
        self.confidence = confidence
        self.bound = bound
        self.smoothing = smoothing
        self.ccp_alpha = ccp_alpha
        self.cv = cv
        self.ccp_measure = ccp_measure
        self.max_bins = max_bins
        self.random_state = random_state
        self.record = record
        self.categorical_features = categorical_features

    _leaf_values = "shares"
    classes_: np.ndarray
    loss_matrix_: np.ndarray | None  # (K, A)
    actions_: np.ndarray

    def predict(self, X: Data) -> Any:
        """The class of largest posterior, or the action of least expected loss."""
        return self._predict_classes(X, self._decisions)

    def _posteriors(self, block: Block) -> np.ndarray:
        """The class shares of the leaf, averaged over the parts of a row."""
        shares = self._router.sums(block.X)
        if self.missing == "fractions":
            return normalize_posteriors(shares)
        return shares

    def _operations(self) -> list[Operation]:
        check_one_output(self, "an export")
        if self.loss_matrix_ is not None or self.default_class is not None:
            raise cannot_export(self, "it has a loss_matrix or a default_class")
        [(name, details)] = self._router.operations([0.0] * len(self.classes_))
        # whoever takes the largest, in another language or as a vote, decides as `predict` does
        details["trees"][0]["value"] = decided_shares(self.tree_).tolist()
        return [(name, details), ("shares", {})]

    def explain(self, X: Data) -> Explanation:
        """The contributions of the columns to the posterior of the most probable class.

        Every step down the tree is credited to the column tested. With a loss matrix the expected
        loss of the action is explained.
        """
        check_one_output(self, "an explanation")
        return explain_trees(self, X)

    def _decisions(self, block: Block) -> np.ndarray:
        return self.actions_[self._decide(block.X)]

    def _decide(self, X: np.ndarray) -> np.ndarray:
        """The numbers of the classes, or of the actions, that coded rows are given."""
        codes = self._router.decisions(X, self.loss_matrix_)
        if self.default_class is None:
            return codes
        tree = self.tree_
        ends = self._router.leaves(X)[:, 0]
        # A tie: the first and the last of the best actions differ. A row that ends at an inner
        # node has a category that no row brought there in `fit`, an empty branch of Hunt's.
        first = node_decisions(tree, self.loss_matrix_)
        last = node_decisions(tree, self.loss_matrix_, last=True)
        undecided = (tree.kind != LEAF) | (first != last)
        default = self.actions_.tolist().index(self.default_class)
        return np.where(undecided[ends], default, codes)

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "tree_") or getattr(self, "n_outputs_", 1) > 1:
            return
        actions = self.actions_
        n_classes = len(self.classes_)
        loss = self.loss_matrix_
        shape = (n_classes,) if loss is None else loss.shape[1:]
        if (
            not isinstance(actions, np.ndarray)
            or actions.shape != shape
            or len(shape) != 1
        ):
            raise ModelFileError(
                f"holds a {type(self).__name__} whose actions_ are not those of its losses"
            )
        if loss is not None and (len(loss) != n_classes or not np.isfinite(loss).all()):
            raise ModelFileError(
                f"holds a {type(self).__name__} whose losses are not those of its classes"
            )

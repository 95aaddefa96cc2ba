"""TreeLearner: what decision trees for classes and for numbers share."""

from __future__ import annotations

import sys
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    Learner,
    Reading,
    check_one_output,
    rows_of_outputs,
    several_outputs,
)
from lyceum._core.data import Block, Rows
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.trees import (
    Actions,
    Router,
    Tree,
    TreeLabels,
    TreeModel,
    TreePath,
    as_dot,
    as_text,
    cached_router,
    coded_row,
    impurity_importances,
    tree_path,
)
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.report import Summary
from lyceum.trees.fit_outputs import fit_outputs
from lyceum.trees.fit_tree import fit_tree, prunes_with_rows
from lyceum.trees.pruning.bottom_up import NodeCosts, prune_by_costs, prune_by_loss
from lyceum.trees.pruning.cost_complexity import (
    AlphaChoice,
    CostComplexityPath,
    cost_complexity_path,
    prune_by_complexity,
)
from lyceum.trees.reading.rules import Rule, rules
from lyceum.trees.reading.summary import summary_of


class TreeLearner(TreeModel, Learner):
    """What trees of classes and of numbers share."""

    _parameter_docs: ClassVar[str] = """
    splitter : {"best", "random"}
        "best" tries every threshold and grouping; "random" draws one threshold per column, or one
        pair of groups.
    continuous_split : {"two_way", "multi_way"}
        One threshold, or up to `max_branches` intervals, cut one after the other where it gains
        most.
    max_branches : int
        The largest number of intervals of a multi-way split.
    missing : {"learned", "fractions"}
        "learned": missing cells are sent where the split is best, as a category of their own where
        a split is by categories; to the heaviest child where none was missing in `fit`. "fractions"
        (C4.5): a row goes to every child with the share of the known rows there; gains count known
        rows only. A row whose category no row of a node had in `fit` stays at that node.
    cut : {"midpoint", "observed"}
        Midway between two values, or the largest value of the column up to there (C4.5).
    min_samples_leaf : int or float
        Rows that every child needs, or their share of all rows; of a multiway split, two of the
        children. Where it forbids the best cut of categories into two groups, the next best of
        their order is taken.
    min_weight_fraction_leaf : float
        The share of the total weight that every child needs; of a multiway split, two of the
        children.
    min_impurity_decrease : float
        The smallest gain of a split, times the share of the rows at its node.
    require_gain : bool
        Whether a split that gains nothing is left out; if not, later splits may gain by it
        (exclusive or).
    max_features : int, float, "sqrt", "log2" or None
        Columns drawn at every node, or their share; None: all.
    validation_fraction : float
        The share of the rows held out for pruning by "reduced_error".
    cv : int, splitter, iterable of (train, test) or None
        The folds that "cv" chooses α by; a number of folds is drawn by `random_state`.
    monotonic_cst : array of -1, 0 and 1 of shape (n_features,), or None
        Whether predictions (of two classes: the posterior of the second) may only rise with a
        column, 1, only fall, −1, or are free, 0.
    max_bins : int or None
        The largest number of bins per column. From files larger than memory and Dask the tree is
        then grown level by level from histograms that merge, one or two passes per level. None:
        thresholds between all values, with all rows in memory.
    """
    _attribute_docs: ClassVar[str] = """
    tree_ : Tree
        The tree, after pruning.
    feature_importances_ : ndarray of shape (n_features,)
        The fall of impurity by every column, weighted by rows, normalized to sum 1;
        `lyceum.trees.permutation_importance` does not favor columns of many values.
    n_outputs_ : int
        The number of targets.
    max_features_ : int
        Columns drawn at every node.
    record_ : list of dict
        With `record=True`, one entry per node where columns were considered: `step`, `node`,
        `objective` (its impurity), `column` (the one it is split by, None at a leaf) and
        `candidates`, a list of `column`, `gain`, `score` and `threshold`.
    """

    _step_kind = StepKind(
        "node",
        (
            StepColumn("node", "number", "the number of the node in the tree"),
            StepColumn("objective", "impurity", "the impurity of the rows of the node"),
            StepColumn("column", "column", "the column of the largest score"),
            StepColumn(
                "candidates",
                "candidates",
                "gain = impurity − Σ n_i / n · impurity of branch i",
            ),
        ),
    )
    _coding = "codes"
    _takes_missing: ClassVar[bool] = True

    criterion: str
    pruning: str | None
    max_bins: int | None
    # what a router adds up at the leaves: class shares, or the values themselves
    _leaf_values: ClassVar[Literal["shares"] | None] = None
    tree_: Tree
    max_features_: int

    @property
    def _reads_rows(self) -> Reading:  # type: ignore[override]
        if self.max_bins is None or prunes_with_rows(self):
            return "in memory"
        return "many passes"

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        *,
        validation: Any = None,
    ):
        """Grow the tree on all rows of X, and prune it.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
            Or (n_samples, n_outputs): one tree for several targets, by the mean of their
            impurities.
        sample_weight : array of shape (n_samples,), optional
            Zero-weight rows are ignored. Numbers of rows (`min_samples_leaf`, ...) do not count
            weights.
        validation : (X, y), (X, y, weights) or scanned rows, optional
            The rows that pruning="reduced_error" prunes by; by default a share of those given to
            grow on.
        """
        if validation is not None and self.pruning != "reduced_error":
            raise SettingError(
                "validation rows are what pruning='reduced_error' prunes by: set it"
            )
        outputs = several_outputs(self, y)
        if outputs is None:
            rows = self._rows(X, y, sample_weight)
            self.n_outputs_ = 1
            fit_tree(self, rows, hold_out=validation is None)
        else:
            fit_outputs(self, rows_of_outputs(self, X, outputs, sample_weight), outputs)
        if validation is not None:
            if isinstance(validation, Rows):
                held_out = (validation, None)
            else:
                held_out = tuple(validation)
            without_weights = [None] * (3 - len(held_out))
            costs = self._held_out_costs(*held_out, *without_weights)
            self.tree_ = prune_by_costs(self.tree_, costs)
        _count_as_scikits(self)
        return self

    # -- where rows go -----------------------------------------------------------------

    def apply(self, X: Data) -> Any:
        """The node where every row ends; of a row in fractions the one of the largest share."""
        return self._apply(self._leaves, X)

    def decision_path(self, X: Data) -> Any:
        """The shares of every row that come to every node, as a sparse array (n_samples,
        n_nodes)."""
        return self._apply(self._visits, X)

    def path(self, X: Data, row: int = 0) -> TreePath:
        """The steps of one row down the tree: question, cell, share, value and change of value at
        each.

        The value is the posterior of the predicted class, with a loss matrix the expected loss of
        the action, or the predicted number. A missing cell may send a row several ways; `share`
        says how much of it comes to a node.

        Parameters
        ----------
        X : array, frame or `scan(...)`, or one row as a dict or Series of named cells
        row : int, default=0
            The number of the row in X.

        Returns
        -------
        TreePath
            Prints as a table; `steps`, `prediction` and `as_dict()` are for programs.
        """
        return tree_path(self._tree_labels(), coded_row(self, X, row))

    def _leaves(self, block: Block) -> np.ndarray:
        return self._router.leaves(block.X)[:, 0]

    def _visits(self, block: Block) -> Any:
        return self._router.visits(block.X)

    @property
    def _router(self) -> Router:
        make = partial(
            Router, [self.tree_], self.n_features_in_, values=self._leaf_values
        )
        return cached_router(self, [self.tree_], make)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The fall of impurity by every column, weighted by rows, normalized to sum 1."""
        check_is_fitted(self)
        return impurity_importances(self.tree_, self.n_features_in_)

    def get_depth(self) -> int:
        """The largest number of splits from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    # -- pruning -----------------------------------------------------------------------

    def cost_complexity_path(
        self, measure: Literal["impurity", "error"] = "impurity"
    ) -> CostComplexityPath:
        """The nested subtrees of smallest R(T) + α · leaves, for all α.

        Parameters
        ----------
        measure : {"impurity", "error"}, default="impurity"
            What R sums over the leaves, weighted by their rows: the impurity by the criterion, or
            the error rate; with a loss matrix, the expected loss.

        See Also
        --------
        prune : takes one of these subtrees.
        """
        check_is_fitted(self)
        loss = getattr(self, "loss_matrix_", None) if measure == "error" else None
        return cost_complexity_path(self.tree_, measure, loss)

    def cost_complexity_pruning_path(
        self, X: Data, y: Target, sample_weight: Weights = None
    ) -> Bunch:
        """The path of minimal cost-complexity pruning of a tree grown on these rows.

        Parameters
        ----------
        X, y, sample_weight : rows as `fit` takes them

        Returns
        -------
        Bunch
            `ccp_alphas`, rising from 0, and `impurities`, of the leaves of every subtree.

        See Also
        --------
        cost_complexity_path : The same of the tree of the last `fit`, with the subtrees.
        """
        unpruned = clone(self).set_params(ccp_alpha=0.0)
        path = unpruned.fit(X, y, sample_weight).cost_complexity_path()
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)

    def prune(
        self,
        by: Literal["complexity", "error", "loss"],
        X: Data = None,
        y: Target = None,
        sample_weight: Weights = None,
        *,
        alpha: float = 0.0,
        smoothing: Literal["none", "laplace"] = "laplace",
    ) -> Self:
        """A copy of the fitted learner with a pruned tree; this learner stays as it is.

        Parameters
        ----------
        by : {"complexity", "error", "loss"}
            "complexity": the smallest subtree of smallest R(T) + α · leaves. "error": subtrees that
            do not lower the cost of the rows X, y, which were held out of `fit`, become leaves:
            errors, losses with a loss matrix, squared errors of numbers (absolute ones with
            criterion "absolute_error"). "loss": subtrees that do not lower the expected loss, with
            class shares smoothed, become leaves; for classifiers.
        X, y, sample_weight : rows held out of `fit`, for "error"
            X may be scanned rows with a target.
        alpha : float, default=0.0
            α, for "complexity".
        smoothing : {"none", "laplace"}, default="laplace"
            The smoothing of class shares, for "loss".

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lyceum.trees import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = DecisionTreeClassifier().fit(X[::2], y[::2])
        >>> tree.get_n_leaves(), tree.prune("error", X[1::2], y[1::2]).get_n_leaves()
        (6, 4)
        """
        check_is_fitted(self)
        loss = getattr(self, "loss_matrix_", None)
        if by == "complexity":
            tree = prune_by_complexity(self.tree_, alpha)
        elif by == "error":
            tree = prune_by_costs(self.tree_, self._held_out_costs(X, y, sample_weight))
        elif by == "loss":
            tree = prune_by_loss(self.tree_, loss, smoothing=smoothing)
        else:
            raise SettingError(
                f"by={by!r} is not known: choose from 'complexity', 'error', 'loss'"
            )
        pruned = copy(self)
        pruned.__dict__.pop("record_", None)
        pruned.tree_ = tree
        return pruned

    def _held_out_costs(self, X: Any, y: Target, sample_weight: Any) -> NodeCosts:
        if isinstance(X, Rows) and y is None:
            y = X.y
            if sample_weight is None:
                sample_weight = X.sample_weight
        if X is None or y is None:
            raise SettingError(
                "pruning by error needs rows that were held out of fit: give X and y"
            )
        classes = getattr(self, "classes_", None)
        loss: Any
        if classes is None:
            target = np.asarray(y, dtype=np.float64)
            loss = "absolute" if self.criterion == "absolute_error" else None
        else:
            index = {label: k for k, label in enumerate(classes.tolist())}
            labels = np.asarray(y).tolist()
            unknown = [label for label in labels if label not in index]
            if unknown:
                raise DataError(
                    f"the class {unknown[0]!r} was not in fit: there are {list(index)}"
                )
            target = np.array([index[label] for label in labels], dtype=np.int64)
            loss = getattr(self, "loss_matrix_", None)
        visited = self.decision_path(X)
        return NodeCosts.of(self.tree_, visited, target, sample_weight, loss)

    # -- what was learned --------------------------------------------------------------

    def _tree_labels(self) -> TreeLabels:
        check_is_fitted(self)
        check_one_output(self, "the text")
        classes = getattr(self, "classes_", None)
        return TreeLabels(
            self.tree_, self.schema_, classes, self.criterion, actions=Actions.of(self)
        )

    def text(self) -> str:
        """The tree as indented text."""
        return as_text(self._tree_labels())

    def rules(self) -> list[Rule]:
        """One rule per leaf, with its support and confidence."""
        return rules(replace(self._tree_labels(), criterion=None))

    def dot(self) -> str:
        """The tree in the language of Graphviz."""
        return as_dot(self._tree_labels())

    def summary(self) -> Summary:
        """The tree's size, nodes and importances, and with `record=True` every gain considered."""
        labels = self._tree_labels()
        return summary_of(
            self._title(),
            labels,
            importances=self.feature_importances_,
            record=getattr(self, "record_", None),
            choice=getattr(self, "alpha_choice_", None),
        )

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        return (*super()._parts(), AlphaChoice, CostComplexityPath)


def _count_as_scikits(learner: TreeLearner) -> None:
    """Let `export_text` and `plot_tree` of scikit-learn, which ask for its classes, take our trees:
    they need `tree_` alone. Where it was not imported yet, there is nothing to ask."""
    theirs = sys.modules.get("sklearn.tree")
    if theirs is None:
        return
    kind = theirs.DecisionTreeRegressor
    if is_classifier(learner):
        kind = theirs.DecisionTreeClassifier
    # of the class itself, not of one that stands in for it
    kind = getattr(kind, "_theirs", kind)
    if not isinstance(learner, kind):
        # our own class: one that stands in for scikit-learn's counts it among its subclasses
        own = [base for base in type(learner).__mro__ if "lyceum.trees." in str(base)]
        kind.register(own[0])

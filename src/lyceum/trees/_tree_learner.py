"""TreeLearner: what decision trees for classes and for numbers share."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum.base import Learner
from lyceum.data import Block
from lyceum.report import Summary
from lyceum.tree_core import (
    Actions,
    Tree,
    TreeLabels,
    TreePath,
    as_dot,
    as_text,
    coded_row,
    impurity_importances,
    tree_path,
)
from lyceum.trees._fit_tree import fit_tree
from lyceum.trees._rules import Rule, rules
from lyceum.trees._summary import summary_of

__all__ = ["TreeLearner"]


class TreeLearner(Learner):
    """What trees of classes and of numbers share."""

    _coding: ClassVar[Literal["codes", "one_of_c", "reference"]] = "codes"
    _takes_missing: ClassVar[bool] = True

    criterion: str
    _router: Any
    tree_: Tree
    max_features_: int
    feature_importances_: np.ndarray

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Grow the tree on all rows of X, and prune it.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Rows of no weight are not there; counts of rows (`min_samples_leaf`, ...) do not look at weights.
        """
        fit_tree(self, self._rows(X, y, sample_weight))
        self.feature_importances_ = impurity_importances(self.tree_, self.n_features_in_)
        return self

    # -- where rows go -------------------------------------------------------------------------------------

    def apply(self, X: Any) -> Any:
        """The node where every row ends; of a row in fractions the one of the largest share."""
        return self._apply(partial(_leaves, self), X)

    def decision_path(self, X: Any) -> Any:
        """The shares of every row that come to every node, as a sparse array (n_samples, n_nodes)."""
        return self._apply(partial(_visited, self), X)

    def path(self, X: Any, row: int = 0) -> TreePath:
        """The steps of one row down the tree: question, cell, share, value and change of value at each.

        The value is the posterior of the predicted class, with a loss matrix the expected loss of the action,
        or the predicted number. A missing cell may send a row several ways; `share` says how much of it
        comes to a node.

        Parameters
        ----------
        X : array, frame or `scan(...)`
        row : int, default=0
            The number of the row in X.

        Returns
        -------
        TreePath
            Prints as a table; `steps`, `prediction` and `as_dict()` are for programs.
        """
        return tree_path(self._tree_labels(), coded_row(self, X, row))

    def get_depth(self) -> int:
        """The largest number of splits from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    # -- what was learned ----------------------------------------------------------------------------------

    def _tree_labels(self) -> TreeLabels:
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        return TreeLabels(self.tree_, self.schema_, classes, self.criterion, actions=Actions.of(self))

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
        )

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"feature_importances_": (self.n_features_in_,)}


def _leaves(learner: TreeLearner, block: Block) -> np.ndarray:
    return learner._router.leaves(block.X)[:, 0]


def _visited(learner: TreeLearner, block: Block) -> Any:
    return learner._router.visited(block.X)

"""ScikitArrays: a tree as scikit-learn's `tree_` shows it, for `export_text`, `plot_tree` and
others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from lyceum._core.trees.router import Router

UNDEFINED = -2  # scikit-learn's column and threshold of a leaf


class ScikitArrays:
    """scikit-learn's names for the arrays of a tree; nodes are numbered level by level.

    They describe splits in two. A split by groups of categories has no threshold (NaN), and a tree
    with a split into more parts has no `children_left`.
    """

    __slots__ = ()

    feature: np.ndarray
    child: np.ndarray
    n_children: np.ndarray
    missing: np.ndarray
    node_values: np.ndarray
    weight: np.ndarray
    n_rows: np.ndarray
    n_features: int
    n_classes: tuple[int, ...]

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return self.n_nodes

    @property
    def max_depth(self) -> int:
        """The largest number of splits from the root to a leaf."""
        return int(self.depths.max())

    @property
    def depths(self) -> np.ndarray:
        """How many splits are above every node."""
        depths = np.zeros(self.n_nodes, dtype=np.int32)
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                depths[node] = depths[parent] + 1
        return depths

    @property
    def parent(self) -> np.ndarray:
        """The parent of every node, −1 of the root."""
        # the children of inner node i are the nodes child[i] up to child[i] + n_children[i]
        parents = np.full(self.n_nodes, -1, dtype=np.int32)
        inner = np.flatnonzero(self.n_children > 0)
        counts = self.n_children[inner]
        first = np.repeat(self.child[inner], counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        parents[first + within] = np.repeat(inner, counts)
        return parents

    @property
    def n_outputs(self) -> int:
        """The number of targets."""
        return len(self.n_classes)

    @property
    def max_n_classes(self) -> int:
        """The largest number of classes of a target, 1 for numbers."""
        return max(self.n_classes)

    @property
    def n_node_samples(self) -> np.ndarray:
        """The number of rows of every node."""
        return self.n_rows

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        """The weight of the rows of every node."""
        return self.weight

    @property
    def children_left(self) -> np.ndarray:
        """The left child of every node, −1 of a leaf."""
        self._check_binary()
        return self.child.astype(np.int64)

    @property
    def children_right(self) -> np.ndarray:
        """The right child of every node, −1 of a leaf."""
        self._check_binary()
        return np.where(self.child < 0, -1, self.child + 1).astype(np.int64)

    @property
    def missing_go_to_left(self) -> np.ndarray:
        """Whether missing cells go to the left child."""
        return (self.missing == 0).astype(np.uint8)

    @property
    def posteriors(self) -> np.ndarray:
        """The class shares of every node, of one output after the other, (n_nodes, Σ K)."""
        blocks = []
        start = 0
        for n_classes in self.n_classes:
            weights = self.node_values[:, start : start + n_classes]
            total = weights.sum(axis=1, keepdims=True)
            with np.errstate(invalid="ignore", divide="ignore"):
                blocks.append(np.where(total > 0, weights / total, 1.0 / n_classes))
            start += n_classes
        return blocks[0] if len(blocks) == 1 else np.hstack(blocks)

    @property
    def value(self) -> np.ndarray:
        """The class shares or the mean of every node, (n_nodes, n_outputs, max_n_classes)."""
        if self.max_n_classes == 1:
            return self.node_values[:, :, None]
        cells = self.posteriors
        value = np.zeros((self.n_nodes, self.n_outputs, self.max_n_classes))
        start = 0
        for output, n_classes in enumerate(self.n_classes):
            value[:, output, :n_classes] = cells[:, start : start + n_classes]
            start += n_classes
        return value

    def apply(self, X: Any) -> np.ndarray:
        """The node where every row of numbers ends."""
        cells = _cells(X)
        return self._router(cells).leaves(cells)[:, 0].astype(np.int64)

    def decision_path(self, X: Any) -> Any:
        """The nodes that every row of numbers comes to, sparse (n_samples, n_nodes)."""
        cells = _cells(X)
        return sparse.csr_matrix(self._router(cells).visits(cells))

    def predict(self, X: Any) -> np.ndarray:
        """`value` of the node where every row of numbers ends."""
        answers = self.value[self.apply(X)]
        return answers[:, 0] if self.n_outputs == 1 else answers

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """The fall of impurity by every column, weighted by rows."""
        from lyceum._core.trees.explain.contributions import impurity_importances

        return impurity_importances(self, self.n_features, normalize)  # type: ignore[arg-type]

    def _router(self, cells: np.ndarray) -> Router:
        from lyceum._core.trees.router import Router

        return Router([self], cells.shape[1])  # type: ignore[list-item]

    def _check_binary(self) -> None:
        if (self.n_children > 2).any():
            raise AttributeError(
                "this tree has splits into more than two parts, which have no left and right child:"
                " read child and n_children"
            )


def _cells(X: Any) -> np.ndarray:
    if sparse.issparse(X):
        X = X.toarray()
    return np.ascontiguousarray(X, dtype=np.float64)

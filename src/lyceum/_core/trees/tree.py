"""Tree: a grown tree as arrays, whichever way it was grown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.trees.scikit_arrays import ScikitArrays
from lyceum.errors import ModelFileError

if TYPE_CHECKING:
    from lyceum._core.data import Schema
    from lyceum._core.trees.explain.path import TreePath


LEAF, THRESHOLD, INTERVALS, CATEGORIES, GROUPS = range(5)
REALS = ("threshold", "cuts", "node_values", "weight", "impurity", "gain")


@dataclass(frozen=True, slots=True)
class Tree(ScikitArrays):
    """Nodes in arrays, the root first; the children of a node follow each other and come after it.

    A cell takes a row from node i to a child:

    - THRESHOLD: the first child if the cell is at most `threshold[i]`, else the second; an infinite
      threshold parts known cells from missing ones;
    - INTERVALS: the child whose number is the count of the n_children − 1 rising `cuts`, from
      `table[i]` on, that are below the cell;
    - CATEGORIES (one child per category) and GROUPS (two groups of categories): child
      `branches[table[i] + code]`, of which there are `n_codes[i]`.

    A row stays at node i, and takes its value, where its category has no branch (−1): no row of
    that category came there in `fit`, or the category is unknown. A missing cell goes to child
    `missing[i]`, or, if that is −1, to every child in proportion to the weight of the rows that
    went there.

    Attributes
    ----------
    feature : array of int32 of shape (n_nodes,)
        The column of the question at a node, −2 at a leaf.
    kind : array of uint8 of shape (n_nodes,)
        LEAF, THRESHOLD, INTERVALS, CATEGORIES or GROUPS.
    child : array of int32 of shape (n_nodes,)
        The first child, −1 at a leaf.
    n_children : array of int32 of shape (n_nodes,)
        The number of children.
    threshold : array of float64 of shape (n_nodes,)
        NaN where there is none, −2 at a leaf.
    table : array of int32 of shape (n_nodes,)
        Where the cuts or branches of a node start, −1 where it has none.
    n_codes : array of int32 of shape (n_nodes,)
        The number of branches of a node.
    missing : array of int32 of shape (n_nodes,)
        The child of missing cells, −1 for all children.
    cuts : array of float64
        The cuts of all nodes, one after the other.
    branches : array of int32
        The branches of all nodes, one after the other.
    node_values : array of float64 of shape (n_nodes, K) or (n_nodes, 1)
        The weights of the classes, or the mean or median of the target.
    weight : array of float64 of shape (n_nodes,)
        The weight of the rows.
    n_rows : array of int64 of shape (n_nodes,)
        The number of rows; rows that were divided count in every child.
    impurity : array of float64 of shape (n_nodes,)
        By the criterion.
    gain : array of float64 of shape (n_nodes,)
        The fall of impurity by the split, 0 at a leaf.
    n_features : int
        The number of columns of the table.
    n_classes : tuple of int
        The number of classes of every output, 1 for a number. The node values of several outputs
        follow each other.

    Further attributes are scikit-learn's: `children_left`, `children_right`, `value`, `node_count`,
    `max_depth`, `n_node_samples`, `weighted_n_node_samples`, `apply`, `predict` and others.

    See Also
    --------
    TreePath : The way of one row through it.
    lyceum.trees.DecisionTreeClassifier : Grows it, as `tree_`.

    Examples
    --------
    >>> from lyceum.trees import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [0.0, 0.0, 5.0, 5.0]).tree_
    >>> tree.n_nodes, tree.depth, float(tree.threshold[0]), tree.node_values[:, 0].tolist()
    (3, 1, 5.0, [2.5, 0.0, 5.0])
    """

    feature: np.ndarray
    kind: np.ndarray
    child: np.ndarray
    n_children: np.ndarray
    threshold: np.ndarray
    table: np.ndarray
    n_codes: np.ndarray
    missing: np.ndarray
    cuts: np.ndarray
    branches: np.ndarray
    node_values: np.ndarray
    weight: np.ndarray
    n_rows: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    n_features: int = 0
    n_classes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        # trees that are made without saying: one target, as wide as the values
        if not self.n_classes:
            width = self.node_values.shape[1] if self.node_values.ndim == 2 else 1
            object.__setattr__(self, "n_classes", (int(width),))
        if not self.n_features:
            columns = int(self.feature.max(initial=-1)) + 1
            object.__setattr__(self, "n_features", columns)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.kind == LEAF))

    @property
    def n_numbers(self) -> int:
        """How many numbers a prediction needs: column and threshold per split, tables, values of
        leaves."""
        splits = self.n_nodes - self.n_leaves
        return (
            2 * splits
            + self.n_leaves * self.node_values.shape[1]
            + len(self.cuts)
            + len(self.branches)
        )

    @property
    def depth(self) -> int:
        return int(self.depths.max())

    def check(self) -> None:
        """Raise ModelFileError unless the nodes are one tree, with values, and lead to cuts and
        branches.

        Every node but the root has exactly one parent, and the values of nodes are finite numbers.
        """
        from lyceum._core.trees.router import native_tree

        for field in ARRAYS:
            array = getattr(self, field)
            kinds = "f" if field in REALS else "iu"
            if (
                not isinstance(array, np.ndarray)
                or array.dtype.kind not in kinds
                or not array.dtype.isnative
            ):
                raise ModelFileError(
                    f"holds a tree without an array of numbers in the place of {field!r}"
                )
        n = len(self.feature)
        if self.node_values.ndim != 2 or len(self.node_values) != n or not n:
            raise ModelFileError("holds a tree whose nodes have no values")
        if not self.n_rows.shape == self.impurity.shape == self.gain.shape == (n,):
            raise ModelFileError(
                "holds a tree whose nodes and their numbers are not as many"
            )
        if not np.isfinite(self.node_values).all() or (
            self.node_values.shape[1] > 1 and (self.node_values < 0).any()
        ):
            raise ModelFileError(
                "holds a tree whose nodes have values that are not finite, or not weights"
            )
        # the kernels follow indices without looking: they are checked once, here
        try:
            native_tree(self, int(self.feature.max(initial=-1)) + 1)
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"holds a tree that leads nowhere: {error}") from error

    def children(self, node: int) -> range:
        """The children of a node."""
        first = int(self.child[node])
        return range(first, first + int(self.n_children[node]))

    def leaves_below(self, node: int) -> int:
        """How many leaves there are below a node."""
        waiting = [node]
        n_leaves = 0
        while waiting:
            i = waiting.pop()
            waiting += self.children(i)
            n_leaves += int(self.n_children[i] == 0)
        return n_leaves

    def path(
        self,
        row: Any,
        schema: Schema | None = None,
        classes: Sequence[Any] | None = None,
    ) -> TreePath:
        """The steps of one row: question, cell, share, value and change of value at every node it
        comes to.

        Parameters
        ----------
        row : array of shape (n_columns,)
            Coded cells: numbers and category codes; NaN is missing, −1 an unknown category.
        schema : Schema, optional
            Names the columns and categories, by default x0, x1, ... of numbers.
        classes : sequence of labels, optional
            Names the classes; None for a regression tree.

        See Also
        --------
        lyceum.trees.DecisionTreeClassifier.path : takes rows of a table as they are.
        """
        from lyceum._core.data import Schema
        from lyceum._core.trees.explain.labels import TreeLabels
        from lyceum._core.trees.explain.path import coded_cells, tree_path

        n_columns = None if schema is None else len(schema)
        n_needed = int(self.feature.max(initial=-1)) + 1
        cells = coded_cells(row, n_columns, n_needed)
        if schema is None:
            schema = Schema.of_numbers([f"x{j}" for j in range(len(cells))])
        return tree_path(TreeLabels(self, schema, classes), cells)


def _set_state(self: Tree, state: Sequence[Any]) -> None:
    # older model files lack the number of columns and classes
    for part, value in zip(fields(self), state):
        object.__setattr__(self, part.name, value)
    for part in fields(self)[len(state) :]:
        object.__setattr__(self, part.name, part.default)
    self.__post_init__()


Tree.__setstate__ = _set_state  # type: ignore[attr-defined]
ARRAYS = tuple(field.name for field in fields(Tree) if field.type == "np.ndarray")

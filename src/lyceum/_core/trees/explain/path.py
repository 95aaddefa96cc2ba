"""TreePath: the steps of one row down a tree, and how the value changes at each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lyceum._core.base import Learner
from lyceum._core.lazy_arrow import pa
from lyceum._core.report import Table
from lyceum._core.text import plain, show_count
from lyceum._core.trees.decisions import shares
from lyceum._core.trees.explain.labels import TreeLabels
from lyceum._core.trees.router import Router, float_cells
from lyceum._core.types import Data
from lyceum.errors import DataError


@dataclass(frozen=True, slots=True)
class PathStep:
    """A node that a row comes to.

    Attributes
    ----------
    node : int
        The number of the node.
    question : str
        The condition of the branch that leads to the node, e.g. "petal length ≤ 2.5"; empty at the
        root.
    cell : float, str or None
        The row's value in the column of the question; None if it is missing, and at the root.
    share : float
        How much of the row comes this way: below 1 where a missing cell sends it several ways.
    value : float
        The value at the node.
    change : float
        share · (value − value at the parent); 0 at the root.

    See Also
    --------
    TreePath : All steps of a row.

    Examples
    --------
    >>> from lyceum.trees import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [0.0, 0.0, 5.0, 5.0]).tree_
    >>> step = tree.path([8.5]).steps[1]
    >>> step.question, step.cell, step.value, step.change
    ('x0 > 5', 8.5, 5.0, 2.5)
    """

    node: int
    question: str
    cell: Any
    share: float
    value: float
    change: float


@dataclass(frozen=True, slots=True)
class TreePath:
    """The steps of one row down a tree.

    The value at the root plus all changes is the prediction.

    Attributes
    ----------
    output : str
        What the values are, e.g. "P(species = setosa)".
    steps : tuple of PathStep
        The root first.

    See Also
    --------
    PathStep : What a step holds.
    Tree.path : Makes it from coded cells.
    lyceum.trees.DecisionTreeClassifier.path : Makes it from rows of a table.

    Examples
    --------
    >>> from lyceum.trees import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[1.0], [2.0], [8.0], [9.0]], [0.0, 0.0, 5.0, 5.0])
    >>> path = model.tree_.path([1.5])
    >>> path.output, [step.question for step in path.steps], path.prediction
    ('y', ['', 'x0 ≤ 5'], 0.0)
    """

    output: str
    steps: tuple[PathStep, ...]

    @property
    def prediction(self) -> float:
        """The value where the row ends, averaged over its parts: the root's value plus all
        changes."""
        return self.steps[0].value + sum(step.change for step in self.steps)

    def table(self) -> Table:
        """One line per step."""
        rows = [
            (
                step.node,
                step.question or "(root)",
                self._cell(step),
                step.share,
                step.value,
                step.change,
            )
            for step in self.steps
        ]
        names = ("node", "question", "cell", "share", self.output, "change")
        return Table("", names, rows)

    @staticmethod
    def _cell(step: PathStep) -> str:
        if not step.question:
            return ""
        if step.cell is None:
            return "missing"
        if isinstance(step.cell, float):
            return f"{step.cell:.6g}"
        return str(step.cell)

    def as_dict(self) -> dict[str, Any]:
        """The path in JSON's own types."""
        path = {
            "output": self.output,
            "prediction": self.prediction,
            "steps": [asdict(step) for step in self.steps],
        }
        return plain(path)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def tree_path(
    labels: TreeLabels,
    row: Any,
    *,
    values: np.ndarray | None = None,
    output: int | None = None,
    name: str | None = None,
) -> TreePath:
    """The steps of one row of coded cells.

    Parameters
    ----------
    labels : TreeLabels
        The tree, and the names of its columns, classes and actions.
    row : array of shape (n_columns,)
        Numbers and category codes; NaN is missing, −1 an unknown category.
    values : array of shape (n_nodes, K), optional
        The values of the nodes. By default the posteriors of the classes, the expected losses of
        the actions where the tree has a loss matrix, or the predicted number.
    output : int, optional
        The column of the values that is followed. By default that of the prediction: the largest
        posterior, or the smallest expected loss.
    name : str, optional
        What the values are.
    """
    tree = labels.tree
    X = float_cells(row).reshape(1, -1)
    if values is None:
        values = _node_values(labels)
    router = Router([tree], len(labels.schema), values=[values])
    if output is None:
        output = _decide(labels, router, X)
    visited = router.visits(X)
    parents = tree.parent
    steps = [PathStep(0, "", None, 1.0, float(values[0, output]), 0.0)]
    # the first visit is that of the root
    nodes = visited.indices[1:].tolist()
    shares_of_row = visited.data[1:].tolist()
    for node, share in zip(nodes, shares_of_row):
        parent = int(parents[node])
        question = labels.condition(parent, node - int(tree.child[parent]))
        cell = _cell(labels, parent, float(X[0, tree.feature[parent]]))
        value = float(values[node, output])
        before = float(values[parent, output])
        change = share * (value - before)
        steps.append(PathStep(node, question, cell, float(share), value, change))
    return TreePath(name or _output_name(labels, output), tuple(steps))


def _decide(labels: TreeLabels, router: Router, X: np.ndarray) -> int:
    """The output column of the prediction: values of classes as the tree decides, others by the
    largest."""
    if (
        labels.classes is None
        or router.values.width(0) != labels.tree.node_values.shape[1]
    ):
        return int(np.argmax(router.sums(X)[0]))
    loss = None if labels.actions is None else labels.actions.loss
    return int(router.decisions(X, loss)[0])


def _node_values(labels: TreeLabels) -> np.ndarray:
    if labels.classes is None:
        return labels.tree.node_values
    posteriors = shares(labels.tree.node_values)
    if labels.actions is None:
        return posteriors
    return posteriors @ labels.actions.loss


def _output_name(labels: TreeLabels, output: int) -> str:
    if labels.classes is None:
        return labels.target
    if labels.actions is not None:
        return f"expected loss of {labels.actions.labels[output]}"
    return f"P({labels.target} = {labels.classes[output]})"


def _cell(labels: TreeLabels, node: int, cell: float) -> Any:
    if np.isnan(cell):
        return None
    if not labels.schema[int(labels.tree.feature[node])].is_categorical:
        return cell
    if cell >= 0:
        return labels.categories(node, [int(cell)])[0]
    return "unknown"


def coded_row(learner: Learner, X: Data, row: int = 0) -> np.ndarray:
    """The cells of row number `row` of X, or of the one row X by name, as a fitted learner codes
    them."""
    table: Any = X
    is_series = getattr(X, "ndim", None) == 1 and hasattr(X, "items")
    if isinstance(X, Mapping) or is_series:
        cells = dict(table.items())
        if all(isinstance(name, str) for name in cells):
            table = pa.table({name: [cell] for name, cell in cells.items()})
        else:
            # the row of a table without names
            table = [list(cells.values())]
    index = row
    for block in learner.rows_to_predict(table).blocks():
        if 0 <= index < len(block):
            return float_cells(block.X[index])
        index -= len(block)
    raise DataError(
        f"there is no row {row}: rows are numbered from 0, and there are {row - index}"
    )


def coded_cells(row: Any, n_columns: int | None, n_needed: int) -> np.ndarray:
    """One row of numbers and category codes, of `n_columns` cells or at least `n_needed`."""
    try:
        if isinstance(row, Mapping):
            raise TypeError
        cells = float_cells(np.asarray(row))
    except (TypeError, ValueError):
        raise DataError(
            f"the path of a tree takes one row of coded cells, all of them numbers, and not this "
            f"{type(row).__name__}: path(X) of the fitted learner takes rows of a table as they are"
        ) from None
    if cells.ndim != 1 and cells.shape[:-1] != (1,):
        raise DataError(
            f"the path of a tree is that of one row, but the cells have the shape {cells.shape}"
        )
    if n_columns is not None and cells.size != n_columns:
        raise DataError(
            f"the row has {show_count(cells.size, 'cell')} for {show_count(n_columns, 'column')}"
        )
    if cells.size < n_needed:
        raise DataError(
            f"the row has {show_count(cells.size, 'cell')}, but the tree needs {n_needed}"
        )
    return cells.reshape(-1)

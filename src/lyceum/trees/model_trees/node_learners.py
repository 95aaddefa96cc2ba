"""Any learner at the nodes of a model tree: fitted, judged on rows left out, and smoothed along the
path. And the predictions and contributions of models at nodes, of these and of linear ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from lyceum._core.base import parts_by_replacement
from lyceum._core.data import Block, row_weights
from lyceum._core.trees import Tree, float_cells
from lyceum._core.types import Estimator
from lyceum.errors import DataError, SettingError
from lyceum.trees.model_trees.m5_models import NodeModels, sort_by_leaf

_FOLDS = 5
# fewer rows than this, or than twice as many as columns, have their mean for a model
_FEW = 10


@dataclass(frozen=True)
class NodeLearners:
    """The fitted learner of every node, None where it is the mean, and how they err on rows left
    out."""

    estimators: list[Any]
    columns: np.ndarray  # bool (n_nodes, p): what each sees
    models: NodeModels  # the means, and the errors

    def take(self, nodes: np.ndarray) -> NodeLearners:
        """Those of some nodes."""
        estimators = [self.estimators[node] for node in nodes]
        return NodeLearners(estimators, self.columns[nodes], self.models.take(nodes))


def check_learner(estimator: Estimator, model: str, weighted: bool) -> None:
    """Refuse what cannot be the learner of a node."""
    if not is_regressor(estimator) or not hasattr(estimator, "fit"):
        raise SettingError(
            f"estimator must be a regressor, not {type(estimator).__name__}"
        )
    if model == "constant":
        raise SettingError(
            'model="constant" leaves no place for an estimator: set one of both'
        )
    if weighted and not has_fit_parameter(estimator, "sample_weight"):
        raise DataError(
            f"sample_weight was given, but the estimator {type(estimator).__name__} takes no"
            " weights: choose another, or fit without sample_weight"
        )


def fit_learners(
    tree: Tree,
    leaf: np.ndarray,
    Z: np.ndarray,
    y: np.ndarray,
    w: np.ndarray | None,
    columns: np.ndarray,
    estimator: Estimator,
) -> NodeLearners:
    """A copy of the estimator at every node, on the columns where `columns` (n_nodes, p) is true.

    Its error is that on rows left out in five folds; that of the mean is the same with one row left
    out, r n / (n − 1).
    """
    order, begin, end = sort_by_leaf(tree, leaf)
    learners: list[Any] = [None] * tree.n_nodes
    seen = np.zeros_like(columns)
    numbers = np.zeros((4, tree.n_nodes))
    for node, mask in enumerate(columns):
        # in the order of the table, so that folds do not depend on the order of leaves
        rows = np.sort(order[begin[node] : end[node]])
        cells = Z[np.ix_(rows, mask)]
        weight = None if w is None else w[rows]
        learners[node], numbers[:, node] = _fit_node(estimator, cells, y[rows], weight)
        if learners[node] is not None:
            seen[node] = mask
    mean, n, absolute, squared = numbers
    models = NodeModels(
        coef=sparse.csr_array((tree.n_nodes, columns.shape[1])),
        intercept=mean,
        # errors on rows left out need no factor for the parameters
        parameters=np.zeros(tree.n_nodes),
        weight=n,
        absolute=absolute,
        squared=squared,
    )
    return NodeLearners(learners, seen, models)


def _fit_node(
    estimator: Estimator, Z: np.ndarray, y: np.ndarray, w: np.ndarray | None
) -> tuple[Any, tuple[float, float, float, float]]:
    """The learner of the rows of a node, None where it is their mean; and their mean, their weight,
    and the mean absolute and squared residuals of rows left out."""
    weight = row_weights(w, len(y))
    n = weight.sum()
    mean = weight @ y / n
    n_columns = Z.shape[1]
    needed = max(_FEW, 2 * (1 + n_columns))
    learner = None
    if n_columns > 0 and n >= needed and len(y) >= _FOLDS:
        learner = _fit(estimator, Z, y, w)
        # every row is predicted by the learner of the four other folds
        fold = np.random.default_rng(0).permutation(len(y)) % _FOLDS
        residual = np.empty(len(y))
        for k in range(_FOLDS):
            train = fold != k
            train_w = None if w is None else w[train]
            fitted = _fit(estimator, Z[train], y[train], train_w)
            residual[~train] = y[~train] - _predict(fitted, Z[~train])
    else:
        residual = y - mean
        if n > 1.0:
            residual = residual * (n / (n - 1.0))
    share = weight / n
    return learner, (mean, n, share @ np.abs(residual), share @ residual**2)


def _fit(
    estimator: Estimator, Z: np.ndarray, y: np.ndarray, w: np.ndarray | None
) -> Any:
    if w is None:
        return clone(estimator).fit(Z, y)
    return clone(estimator).fit(Z, y, sample_weight=w)


def _predict(fitted: Any, Z: np.ndarray) -> np.ndarray:
    return np.asarray(fitted.predict(Z), dtype=np.float64).reshape(-1)


# -- predictions -----------------------------------------------------------------------


def own_values(model: Estimator, node: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """The predictions for the rows of Z, each by the learner of its node."""
    values = model.node_intercept_[node].astype(np.float64)
    for i in np.unique(node).tolist():
        fitted = model.estimators_[i]
        if fitted is not None:
            rows = np.flatnonzero(node == i)
            cells = Z[np.ix_(rows, model.node_columns_[i])]
            values[rows] = _predict(fitted, cells)
    return values


def path_values(model: Estimator, node: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """The same, smoothed along the path to the root, and kept within the limits of the node."""
    value = own_values(model, node, Z)
    current = node.copy()
    k = float(model.smoothing)
    parent = model.tree_.parent
    weight = model.tree_.weight
    # one step up at a time: p from below, where n rows were, and the parent's own q become
    # (n p + k q) / (n + k)
    while k > 0.0 and (rows := np.flatnonzero(parent[current] >= 0)).size:
        n = weight[current[rows]]
        above = parent[current[rows]]
        q = own_values(model, above, Z[rows])
        value[rows] = (n * value[rows] + k * q) / (n + k)
        current[rows] = above
    return np.clip(value, *model.limits_)


def node_predictions(learner: Estimator, block: Block) -> np.ndarray:
    """The value of the smoothed model of the node that a row comes to, within its limits."""
    node = learner._nodes(block)
    coef = learner.coef_
    if hasattr(learner, "estimators_"):
        return path_values(learner, node, learner.columns_.center_cells(block.X))
    # only the columns that some model has
    used = np.flatnonzero(coef.any(axis=0))
    if len(used) == coef.shape[1]:
        Z = learner.columns_.center_cells(block.X)
        row_coef = coef[node]
    else:
        Z = learner.columns_.center_cells(block.X, used)
        row_coef = coef[np.ix_(node, used)]
    added = np.einsum("ij,ij->i", Z, row_coef)
    return np.clip(learner.intercept_[node] + added, *learner.limits_)


def linear_parts(learner: Estimator, block: Block) -> np.ndarray:
    """The prediction, the base, and what every column adds."""
    node = learner._nodes(block)
    Z = learner.columns_.center_cells(block.X)
    Z *= learner.coef_[node]
    out = np.zeros((len(block), 2 + learner.n_features_in_))
    out[:, 1] = learner.intercept_[node]
    np.add.at(out.T, 2 + learner.columns_.source, Z.T)
    unlimited = out[:, 1:].sum(axis=1)
    out[:, 0] = np.clip(unlimited, *learner.limits_)
    # at the limits, what the columns add is shrunk so that base and parts sum to the prediction
    for i in np.flatnonzero(out[:, 0] != unlimited).tolist():
        out[i, 1] = np.clip(out[i, 1], *learner.limits_)
        total = out[i, 2:].sum()
        limited = out[i, 0] - out[i, 1]
        out[i, 2:] *= limited / total if limited != 0.0 else 0.0
    return out


def replacement_parts(learner: Estimator, block: Block) -> np.ndarray:
    """The same for learners of any kind: typical cells are replaced by those of the row."""

    def answer(X: np.ndarray) -> np.ndarray:
        return node_predictions(learner, block.with_X(X, block.schema))

    return parts_by_replacement(float_cells(block.X), learner.typical_, answer)

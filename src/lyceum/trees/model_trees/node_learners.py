"""Any learner at the nodes of a model tree: fitted, judged on rows left out, and smoothed along the
path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from lyceum._core.data import row_weights
from lyceum._core.trees import Tree
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
        rows = np.sort(order[begin[node] : end[node]])
        node_w = None
        if w is not None:
            node_w = w[rows]
        learners[node], numbers[:, node] = _fit_node(
            estimator, Z[np.ix_(rows, mask)], y[rows], node_w
        )
        if learners[node] is not None:
            seen[node] = mask
    mean, n, absolute, squared = numbers
    none = sparse.csr_array((tree.n_nodes, columns.shape[1]))
    # errors on rows left out need no factor for the parameters
    free = np.zeros(tree.n_nodes)
    return NodeLearners(
        learners, seen, NodeModels(none, mean, free, n, absolute, squared)
    )


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
        residual = _left_out_residuals(estimator, Z, y, w)
    else:
        residual = y - mean
        if n > 1.0:
            residual = residual * (n / (n - 1.0))
    share = weight / n
    return learner, (mean, n, share @ np.abs(residual), share @ residual**2)


def _fit(
    estimator: Estimator, Z: np.ndarray, y: np.ndarray, w: np.ndarray | None
) -> Any:
    return clone(estimator).fit(Z, y, **({} if w is None else {"sample_weight": w}))


def _left_out_residuals(
    estimator: Estimator, Z: np.ndarray, y: np.ndarray, w: np.ndarray | None
) -> np.ndarray:
    """The residual of every row, by the learner of the four other folds."""
    fold = np.random.default_rng(0).permutation(len(y)) % _FOLDS
    residual = np.empty(len(y))
    for k in range(_FOLDS):
        train = fold != k
        test = fold == k
        fitted = _fit(estimator, Z[train], y[train], None if w is None else w[train])
        residual[test] = y[test] - np.asarray(
            fitted.predict(Z[test]), dtype=np.float64
        ).reshape(-1)
    return residual


# -- predictions -----------------------------------------------------------------------


def own_values(model: Estimator, node: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """The predictions for the rows of Z, each by the learner of its node."""
    out = model.node_intercept_[node].astype(np.float64)
    for one in np.unique(node).tolist():
        fitted = model.estimators_[one]
        if fitted is not None:
            rows = np.flatnonzero(node == one)
            cells = Z[np.ix_(rows, model.node_columns_[one])]
            out[rows] = np.asarray(fitted.predict(cells), dtype=np.float64).reshape(-1)
    return out


def path_values(model: Estimator, node: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """The same, smoothed along the path to the root, and kept within the limits of the node."""
    value = own_values(model, node, Z)
    at = node.copy()
    k = float(model.smoothing)
    parent = model.tree_.parent
    weight = model.tree_.weight
    while k > 0.0 and (up := np.flatnonzero(parent[at] >= 0)).size:
        n = weight[at[up]]
        above = parent[at[up]]
        value[up] = (n * value[up] + k * own_values(model, above, Z[up])) / (n + k)
        at[up] = above
    return np.clip(value, *model.limits_[node].T)

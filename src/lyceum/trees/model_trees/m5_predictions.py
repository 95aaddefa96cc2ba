"""Predictions and contributions of the models at the nodes of a tree."""

from __future__ import annotations

import numpy as np

from lyceum._core.base import parts_by_replacement
from lyceum._core.data import Block
from lyceum._core.trees import float_cells
from lyceum._core.types import Estimator
from lyceum.trees.model_trees.node_learners import path_values


def node_predictions(learner: Estimator, block: Block) -> np.ndarray:
    """The value of the smoothed model of the node that a row comes to, within its limits."""
    node = learner._nodes(block)
    coef = learner.coef_
    if hasattr(learner, "estimators_"):
        return path_values(learner, node, learner.columns_.center_cells(block.X))
    used = np.flatnonzero(coef.any(axis=0))
    if len(used) == coef.shape[1]:
        added = np.einsum(
            "ij,ij->i", learner.columns_.center_cells(block.X), coef[node]
        )
    else:
        Z = learner.columns_.center_cells(block.X, used)
        added = np.einsum("ij,ij->i", Z, coef[np.ix_(node, used)])
    return np.clip(learner.intercept_[node] + added, *learner.limits_[node].T)


def linear_parts(learner: Estimator, block: Block) -> np.ndarray:
    """The prediction, the base, and what every column adds."""
    node = learner._nodes(block)
    Z = learner.columns_.center_cells(block.X)
    Z *= learner.coef_[node]
    out = np.zeros((len(block), 2 + learner.n_features_in_))
    out[:, 1] = learner.intercept_[node]
    np.add.at(out.T, 2 + learner.columns_.source, Z.T)
    free = out[:, 1:].sum(axis=1)
    out[:, 0] = np.clip(free, *learner.limits_[node].T)
    for i in np.flatnonzero(out[:, 0] != free).tolist():
        out[i, 1] = np.clip(out[i, 1], *learner.limits_[node[i]])
        total = out[i, 2:].sum()
        kept = out[i, 0] - out[i, 1]
        out[i, 2:] *= kept / total if kept != 0.0 else 0.0
    return out


def replacement_parts(learner: Estimator, block: Block) -> np.ndarray:
    """The same for learners of any kind: typical cells are replaced by those of the row."""

    def answer(X: np.ndarray) -> np.ndarray:
        return node_predictions(learner, block.with_X(X, block.schema))

    return parts_by_replacement(float_cells(block.X), learner.typical_, answer)

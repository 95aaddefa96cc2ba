"""Contributions of columns to the score of a network, by gradients."""

from __future__ import annotations

import numpy as np

from lyceum._core.data import Block
from lyceum._core.types import Estimator

_POINTS, _SHARES = np.polynomial.legendre.leggauss(32)


def contributions(learner: Estimator, block: Block, method: str) -> np.ndarray:
    """The prediction, the base, and what every design column adds, (n, 2 + n_columns)."""
    architecture = learner._architecture
    theta = architecture.pad(learner.parameters_, np.dtype(learner.dtype))
    X = np.ascontiguousarray(learner._packer().cells(block))
    outputs = learner._outputs(block)
    direction = learner._direction(outputs)
    toward = direction.astype(X.dtype)
    slopes = np.zeros(X.shape)
    here = np.empty(X.shape)
    points = (
        [(1.0, 1.0)] if method == "gradient" else zip((_POINTS + 1) / 2, _SHARES / 2)
    )
    for point, share in points:
        architecture.network.input_gradient(
            theta, X * X.dtype.type(point), toward, here
        )
        slopes += share * here
    scale = learner._unit_size()
    score = scale * (direction * outputs).sum(axis=1) + learner._unit_shift()
    added = scale * X * slopes
    return np.column_stack([learner._decide(outputs), score - added.sum(axis=1), added])

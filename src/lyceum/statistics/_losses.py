"""Log losses of linear classifiers: value, gradient and, when asked for, Hessian, summed over rows.

The design is [x - shift, 1]: about the column means the curvature is well scaled whatever the columns'
offsets. `coef` has the intercept last. Class weights multiply the rows' own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from lyceum._native import native
from lyceum.data import Block
from lyceum.statistics._sparse import SparseCells

__all__ = ["LogisticLoss", "SoftmaxLoss"]


@dataclass(frozen=True, slots=True)
class _Loss:
    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None

    def merge(self, other: Any) -> Any:
        hessian = None if self.hessian is None or other.hessian is None else self.hessian + other.hessian
        return type(self)(self.value + other.value, self.gradient + other.gradient, hessian)


@dataclass(frozen=True, slots=True)
class LogisticLoss(_Loss):
    """Binary loss  sum w [log(1 + exp z) - y z],  z = [x - shift, 1] . coef,  for class codes y of 0 and 1.

    Attributes
    ----------
    value : float
        The loss.
    gradient : array
        Its derivative by the coefficients.
    hessian : array or None
        The second derivatives, if they were asked for.

    Examples
    --------
    >>> from lyceum.data import scan
    >>> from functools import partial
    >>> import pyarrow as pa
    >>> rows = scan(pa.table({"x": [1.0, 3.0, 7.0], "y": ["a", "a", "b"]}), target="y")
    >>> loss = rows.reduce(partial(LogisticLoss.of, coef=np.zeros(2), shift=np.zeros(1)))
    >>> round(loss.value, 4), loss.gradient.tolist()  # 3 log 2, sum (1/2 - y) [x, 1]
    (2.0794, [-1.5, 0.5])
    """

    @classmethod
    def of(
        cls,
        block: Block,
        coef: np.ndarray,
        shift: np.ndarray,
        hessian: bool = False,
        class_weight: np.ndarray | None = None,
    ) -> LogisticLoss:
        """`coef` and the gradient have shape (d + 1,), the Hessian (d + 1, d + 1)."""
        assert block.y is not None
        p, w = len(coef), _weights(block, class_weight)
        y, gradient, H = block.y.astype(np.float64), np.zeros(p), np.zeros((p, p)) if hessian else None
        if not sparse.issparse(block.X):
            return cls(native.logistic(block.X, y, w, coef, gradient, H, shift), gradient, H)
        cells = SparseCells.of(block.X)
        # [x - shift, 1] = M [x~, 1]: x~ is shifted in full columns only, M = [[I, -rest], [0, 1]] does the
        # others.
        rest = np.where(cells.full, 0.0, shift)
        inner = np.append(coef[:-1], coef[-1] - rest @ coef[:-1])
        data = cells.shifted(shift)
        value = native.sparse_logistic(cells.indptr, cells.indices, data, y, w, inner, gradient, H)
        gradient[:-1] -= rest * gradient[-1]
        if H is not None:
            H[:-1] -= np.outer(rest, H[-1])
            H[:, :-1] -= np.outer(H[:, -1], rest)
        return cls(value, gradient, H)


@dataclass(frozen=True, slots=True)
class SoftmaxLoss(_Loss):
    """Multinomial loss  sum w [log sum_k exp z_k - z_y],  z_k = [x - shift, 1] . coef_k,  for codes y.

    Attributes
    ----------
    value : float
        The loss.
    gradient : array
        Its derivative by the coefficients.
    hessian : array or None
        The second derivatives, if they were asked for.
    """

    @classmethod
    def of(
        cls,
        block: Block,
        coef: np.ndarray,
        shift: np.ndarray,
        hessian: bool = False,
        class_weight: np.ndarray | None = None,
    ) -> SoftmaxLoss:
        """`coef` and the gradient are (K, d + 1), the Hessian (K (d + 1), K (d + 1)), class by class."""
        assert block.y is not None
        w = _weights(block, class_weight)
        if sparse.issparse(block.X) and not hessian:
            return cls(*_sparse_softmax(block.X, block.y, w, coef, shift), None)
        X = block.dense
        gradient, H = np.zeros_like(coef), np.zeros((coef.size, coef.size)) if hessian else None
        return cls(native.softmax_loss(X, block.y, w, coef, gradient, H, shift), gradient, H)


def _weights(block: Block, class_weight: np.ndarray | None) -> np.ndarray | None:
    if class_weight is None:
        return block.w
    return class_weight[block.y] if block.w is None else block.w * class_weight[block.y]


def _sparse_softmax(
    X: Any, y: np.ndarray, w: np.ndarray | None, coef: np.ndarray, shift: np.ndarray
) -> tuple[float, np.ndarray]:
    rows = np.arange(len(y))
    log_p = log_softmax(X @ coef[:, :-1].T + (coef[:, -1] - coef[:, :-1] @ shift), axis=1)
    losses = -log_p[rows, y]
    residual = np.exp(log_p)
    residual[rows, y] -= 1.0
    if w is not None:
        losses, residual = losses * w, residual * w[:, None]
    totals = residual.sum(axis=0)
    return float(losses.sum()), np.column_stack([(X.T @ residual).T - np.outer(totals, shift), totals])

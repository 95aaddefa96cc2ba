"""Log losses of posteriors, and of linear classifiers: value, gradient and, if requested, Hessian.

The design is [x - shift, 1]: about the column means the curvature is well scaled for any offsets of
the columns. `coef` has the intercept last. Class weights multiply the rows' own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, softmax

from lyceum._core.data import Block, dense_cells
from lyceum._core.native import native
from lyceum._core.statistics.sparse import SparseCells


def log_losses(codes: np.ndarray, posteriors: np.ndarray) -> np.ndarray:
    """-ln of the posterior of the true class of every row, at most 36.04 each: 0 counts as 2.2e-16.

    >>> log_losses(np.array([0, 1]), np.array([[0.5, 0.5], [1.0, 0.0]])).round(2).tolist()
    [0.69, 36.04]
    """
    # clipped as in scikit-learn, so that one wrong certainty does not make the mean infinite
    chosen = posteriors[np.arange(len(codes)), codes]
    clipped = np.clip(chosen, np.finfo(np.float64).eps, 1.0)
    return -np.log(clipped)


@dataclass(frozen=True, slots=True)
class _Loss:
    value: float
    gradient: np.ndarray
    hessian: np.ndarray | None

    def merge(self, other: Any) -> Any:
        hessian = None
        if self.hessian is not None and other.hessian is not None:
            hessian = self.hessian + other.hessian
        return type(self)(
            self.value + other.value, self.gradient + other.gradient, hessian
        )


@dataclass(frozen=True, slots=True)
class LogisticLoss(_Loss):
    """Binary log loss Σ w [log(1 + exp z) - y z], z = [x - shift, 1] · coef, for class codes y of 0
    and 1.

    Attributes
    ----------
    value : float
        The loss.
    gradient : array of shape (d + 1,)
        Its derivatives by the coefficients.
    hessian : array of shape (d + 1, d + 1) or None
        The second derivatives, if requested.

    See Also
    --------
    SoftmaxLoss : For more than two classes.
    lyceum.linear.LogisticRegression : The learner that minimizes it.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum._core.statistics import LogisticLoss
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
        p = len(coef)
        w = _weights(block, class_weight)
        y = block.y.astype(np.float64)
        gradient = np.zeros(p)
        H = np.zeros((p, p)) if hessian else None
        if not sparse.issparse(block.X):
            value = native.logistic(block.X, y, w, coef, gradient, H, shift)
            return cls(value, gradient, H)
        cells = SparseCells.of(block.X)
        # [x - shift, 1] = M [x~, 1]: x~ is shifted in full columns only, M = [[I, -rest], [0, 1]]
        # does the others.
        rest = np.where(cells.full, 0.0, shift)
        intercept = coef[-1] - rest @ coef[:-1]
        inner = np.append(coef[:-1], intercept)
        data = cells.shift_data(shift)
        value = native.sparse_logistic(
            cells.indptr, cells.indices, data, y, w, inner, gradient, H
        )
        # back by M: the gradient M g, and the Hessian M H Mᵀ
        gradient[:-1] -= rest * gradient[-1]
        if H is not None:
            H[:-1] -= np.outer(rest, H[-1])
            H[:, :-1] -= np.outer(H[:, -1], rest)
        return cls(value, gradient, H)


@dataclass(frozen=True, slots=True)
class SoftmaxLoss(_Loss):
    """Multinomial log loss Σ w [log Σ_k exp z_k - z_y], z_k = [x - shift, 1] · coef_k, for class
    codes y.

    Attributes
    ----------
    value : float
        The loss.
    gradient : array of shape (K, d + 1)
        Its derivatives by the coefficients.
    hessian : array of shape (K (d + 1), K (d + 1)) or None
        The second derivatives, class by class, if requested.

    See Also
    --------
    LogisticLoss : For two classes.
    SoftmaxCurvature : Second derivatives in some of the coefficients.
    lyceum.linear.LogisticRegression : The learner that minimizes it.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum._core.statistics import SoftmaxLoss
    >>> rows = scan(pa.table({"x": [1.0, 3.0, 7.0], "y": ["a", "b", "c"]}), target="y")
    >>> loss = rows.reduce(partial(SoftmaxLoss.of, coef=np.zeros((3, 2)), shift=np.zeros(1)))
    >>> round(loss.value, 4), loss.gradient[:, 0].round(4).tolist()  # 3 log 3, Σ (1/3 - 1[y=k]) x
    (3.2958, [2.6667, 0.6667, -3.3333])
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
        """`coef` and the gradient are (K, d + 1), the Hessian (K (d + 1), K (d + 1)), class by
        class."""
        assert block.y is not None
        w = _weights(block, class_weight)
        if sparse.issparse(block.X) and not hessian:
            return cls(*_sparse_softmax(block.X, block.y, w, coef, shift), None)
        gradient = np.zeros_like(coef)
        if hessian:
            H = np.zeros((coef.size, coef.size))
        else:
            H = None
        value = native.softmax_loss(block.dense, block.y, w, coef, gradient, H, shift)
        return cls(value, gradient, H)


@dataclass(frozen=True, slots=True)
class SoftmaxCurvature:
    """Second derivatives of `SoftmaxLoss` in some of its coefficients.

        H = Σ_k X_kᵀ diag(w p_k) X_k - AᵀA,   A[i, (k, j)] = √w_i p_ik x_ij,

    where X_k are the chosen columns of class k: one product of matrices and a small one per class.
    Products are summed in float32 and the diagonal raised by a millionth, which keeps H positive: a
    model for Newton steps, not second derivatives to the last digit.

    Attributes
    ----------
    hessian : array of shape (m, m)
        The second derivatives in the m chosen coefficients.

    See Also
    --------
    SoftmaxLoss : The loss itself.
    lyceum.solvers.Newton : Steps from second derivatives.

    Examples
    --------
    >>> from functools import partial
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from lyceum.data import scan
    >>> from lyceum._core.statistics import SoftmaxCurvature
    >>> rows = scan(pa.table({"x": [1.0, 3.0, 7.0], "y": ["a", "b", "c"]}), target="y")
    >>> chosen = dict(chosen=np.array([0, 2]), coef=np.zeros((3, 2)), shift=np.zeros(1))
    >>> curvature = rows.reduce(partial(SoftmaxCurvature.of, **chosen))
    >>> curvature.hessian.round(3).tolist()  # Σx² (1[k=l] - 1/3)/3
    [[13.111, -6.556], [-6.556, 13.111]]
    """

    hessian: np.ndarray

    @classmethod
    def of(
        cls,
        block: Block,
        coef: np.ndarray,
        shift: np.ndarray,
        chosen: np.ndarray,
        class_weight: np.ndarray | None = None,
    ) -> SoftmaxCurvature:
        """`coef` is (K, d + 1), the intercept last; `chosen` are places in it, row after row."""
        assert block.y is not None
        output, column = np.divmod(chosen, coef.shape[1])
        H = np.zeros((len(chosen), len(chosen)))
        w = _weights(block, class_weight)
        # a million cells of the design at a time
        step = max(256, (1 << 20) // max(1, len(chosen)))
        for begin in range(0, len(block), step):
            rows = slice(begin, min(len(block), begin + step))
            X = dense_cells(block.X[rows])
            D = np.column_stack([X - shift, np.ones(len(X))])
            P = softmax(D @ coef.T, axis=1)
            if w is None:
                root = np.ones(len(P))
            else:
                root = np.sqrt(w[rows])
            # unlabeled rows count for nothing
            root = np.where(block.y[rows] < 0, 0.0, root)
            H += _softmax_curvature(D, P, root, output, column)
        # products of float32 may leave H a little below positive definite
        H.flat[:: len(H) + 1] *= 1 + 1e-6
        return cls(H)

    def merge(self, other: SoftmaxCurvature) -> SoftmaxCurvature:
        """The second derivatives summed over both sets of rows."""
        return SoftmaxCurvature(self.hessian + other.hessian)


def _softmax_curvature(
    D: np.ndarray,
    P: np.ndarray,
    root: np.ndarray,
    output: np.ndarray,
    column: np.ndarray,
) -> np.ndarray:
    """Σ_k D_kᵀ diag(w p_k) D_k - AᵀA in float32, of columns scaled to at most 1; root is √w."""
    largest = np.abs(D).max(axis=0)
    unit = np.maximum(largest, np.finfo(np.float64).tiny)
    D = (D / unit).astype(np.float32)
    P = P.astype(np.float32)
    root = root.astype(np.float32)
    # the Hessian of softmax is diag(p) - p pᵀ over the outputs, times x xᵀ: A has the rows
    # √w p_k x, and the outputs of one class add w p_k x xᵀ
    A = D[:, column]
    A *= (P * root[:, None])[:, output]
    H = -(A.T @ A).astype(np.float64)
    for k in range(P.shape[1]):
        indices = np.flatnonzero(output == k)
        factor = np.sqrt(P[:, k]) * root
        A = D[:, column[indices]] * factor[:, None]
        H[np.ix_(indices, indices)] += A.T @ A
    return H * unit[column] * unit[column][:, None]


def _weights(block: Block, class_weight: np.ndarray | None) -> np.ndarray | None:
    if class_weight is None:
        return block.w
    if block.w is None:
        return class_weight[block.y]
    return block.w * class_weight[block.y]


def _sparse_softmax(
    X: Any,
    y: np.ndarray,
    w: np.ndarray | None,
    coef: np.ndarray,
    shift: np.ndarray,
) -> tuple[float, np.ndarray]:
    """The loss and its gradient, (K, d + 1); rows are never shifted, which would fill them."""
    rows = np.arange(len(y))
    intercept = coef[:, -1] - coef[:, :-1] @ shift
    log_p = log_softmax(X @ coef[:, :-1].T + intercept, axis=1)
    losses = -log_p[rows, y]
    residual = np.exp(log_p)
    residual[rows, y] -= 1.0
    if w is not None:
        losses = losses * w
        residual = residual * w[:, None]
    # Σ r_k (x - shift) = Σ r_k x - (Σ r_k) shift
    sums = residual.sum(axis=0)
    gradient = (X.T @ residual).T - np.outer(sums, shift)
    return float(losses.sum()), np.column_stack([gradient, sums])

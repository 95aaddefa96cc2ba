"""Whether kernel values can be products in some feature space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigh

from lyceum._core.report import Shown
from lyceum._core.types import Data, Target
from lyceum.errors import DataError, number_setting
from lyceum.kernels.functions.base import Kernel, as_kernel, double_gram


@dataclass(frozen=True, eq=False)
class MercerCheck(Shown):
    """Whether a Gram matrix is symmetric and has no negative eigenvalue; `bool(check)` is the
    verdict.

    Parameters
    ----------
    is_symmetric : bool
        Whether k(x, y) = k(y, x) for all pairs of rows.
    smallest, largest : float
        The eigenvalues at both ends, of the symmetric part.
    tolerance : float
        How far below zero rounding alone can put an eigenvalue.
    direction : array of shape (n,)
        The unit vector c of the smallest eigenvalue: cᵀ K c is that eigenvalue, which is not
        negative for products in a feature space.
    n_rows : int
        The number of rows.

    See Also
    --------
    is_mercer : Makes the check.
    Kernel : Its `mercer` holds for all rows.

    References
    ----------
    J. Mercer, "Functions of positive and negative type, and their connection with the theory of
    integral equations", Philosophical Transactions of the Royal Society A 209, 1909.

    Examples
    --------
    >>> from lyceum.kernels import is_mercer
    >>> check = is_mercer([[1.0, 2.0], [2.0, 1.0]])
    >>> bool(check), round(check.smallest, 6), round(check.largest, 6)
    (False, -1.0, 3.0)
    >>> abs(check.direction).round(4).tolist()  # (1, -1) / √2 shows it
    [0.7071, 0.7071]
    """

    is_symmetric: bool
    smallest: float
    largest: float
    tolerance: float
    direction: np.ndarray = field(repr=False)
    n_rows: int

    def __bool__(self) -> bool:
        return bool(self.is_symmetric and self.smallest >= -self.tolerance)

    def as_dict(self) -> dict[str, Any]:
        """The verdict and its evidence in JSON's own types."""
        return {
            "mercer": bool(self),
            "symmetric": self.is_symmetric,
            "smallest": self.smallest,
            "largest": self.largest,
            "tolerance": self.tolerance,
            "direction": self.direction.tolist(),
            "rows": self.n_rows,
        }

    def __str__(self) -> str:
        if not self.is_symmetric:
            rows = f"{self.n_rows:,} rows"
            return (
                f"Not a Mercer kernel: on these {rows} k(x, y) is not always k(y, x)."
            )
        if self:
            return (
                f"On these {self.n_rows:,} rows it can be a Mercer kernel: the smallest eigenvalue"
                f" of the Gram matrix is {self.smallest:.4g}. Other rows may show otherwise."
            )
        return (
            f"Not a Mercer kernel: the Gram matrix of these {self.n_rows:,} rows has the eigenvalue"
            f" {self.smallest:.4g} (the largest is {self.largest:.4g})."
        )


def is_mercer(kernel: object, X: Data = None, *, y: Target = None) -> MercerCheck:
    """Whether the Gram matrix of some rows is symmetric and positive semidefinite, with the
    evidence.

    A kernel is a Mercer kernel, a product in some feature space, if this holds for all sets of
    rows: one set can refute it but not prove it. `kernel.mercer` says what is known of a kernel for
    all rows.

    Parameters
    ----------
    kernel : str, Kernel, function, or array of shape (n, n)
        A kernel, with X, or a Gram matrix alone.
    X : array, sparse array, frame or `scan(...)` of shape (n, d), optional
    y : array of shape (n,), optional
        Classes, for kernels whose settings need them.

    Returns
    -------
    MercerCheck
        True or false, with the smallest eigenvalue and its vector.

    Examples
    --------
    >>> from lyceum.kernels import RBFKernel, is_mercer
    >>> square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> bool(is_mercer(RBFKernel(), square))
    True
    >>> print(is_mercer([[1.0, 2.0], [2.0, 1.0]]))
    Not a Mercer kernel: the Gram matrix of these 2 rows has the eigenvalue -1 (the largest is 3).
    """
    if X is None:
        if isinstance(kernel, str | Kernel) or callable(kernel):
            raise DataError(
                "a kernel is checked on rows: give X too, or a Gram matrix alone"
            )
        K = number_setting("a Gram matrix", kernel)
    else:
        chosen = as_kernel(kernel)
        K = double_gram(chosen.learn(X, y), X)
    is_square = K.ndim == 2 and K.shape[0] == K.shape[1]
    if not is_square or not len(K):
        raise DataError(
            f"a Gram matrix is square, with one row per row of X, but the shape is {K.shape}"
        )
    if not np.isfinite(K).all():
        raise DataError("the Gram matrix holds NaN or an infinity")
    # the eigenvalues of the symmetric part; n eps times their size is what rounding may do to them
    size = float(np.abs(K).max())
    values, vectors = eigh((K + K.T) / 2)
    eps = float(np.finfo(np.float64).eps)
    largest = max(size, abs(values[-1]), abs(values[0]))
    tolerance = 16 * eps * len(K) * largest
    asymmetry = np.abs(K - K.T).max()
    return MercerCheck(
        is_symmetric=bool(asymmetry <= 64 * eps * size),
        smallest=float(values[0]),
        largest=float(values[-1]),
        tolerance=tolerance,
        direction=vectors[:, 0],
        n_rows=len(K),
    )

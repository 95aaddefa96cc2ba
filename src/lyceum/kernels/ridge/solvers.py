"""(K + diag(λ)) a = y for kernel ridge regression, also where K is singular by rounding.

A Cholesky factor in float32 costs half of one in float64 in time and memory. It is an all but exact
preconditioner: some steps of conjugate gradients, whose products with K are computed from the rows
in float64, end at the accuracy of float64. Blocks are worked on by threads in an order that does
not change a bit with their number.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from lyceum._core.threads import ordered_map
from lyceum._core.types import Data
from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.kernels.functions.base import Kernel, double_gram

_BLOCK = 512  # rows and columns of a block
_STEPS = 30  # of conjugate gradients, at most
_EXACT = 1e-13  # the largest residual, relative to the right side, that counts as none
# eigenvalues this far below zero, relative to the largest, are not rounding
_NOT_MERCER = 1e-9


def several_targets(y: Any) -> np.ndarray | None:
    """Targets of shape (n, k), checked; None if y is flat."""
    if not hasattr(y, "ndim"):
        y = np.asarray(y)
    if y.ndim != 2:
        return None
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"KernelRidge predicts numbers, but y cannot be read as such: {error}"
        ) from error
    if not targets.shape[1]:
        raise DataError("y has no columns: KernelRidge needs at least one target")
    if not np.isfinite(targets).all():
        row, target = np.argwhere(~np.isfinite(targets))[0]
        raise MissingValuesError(
            f"target {target} is missing or infinite (NaN or inf) in row {row}, which KernelRidge "
            "cannot learn from: drop such rows first"
        )
    return targets


Product = Callable[[np.ndarray], np.ndarray]


class RidgeInverse(NamedTuple):
    """(K + diag(ridge))⁻¹ as a function, and how many directions K has whose size is that of
    rounding."""

    solve: Callable[[np.ndarray], np.ndarray]
    n_null: int = 0


def ridge_inverse(
    kernel: Kernel,
    X: Any,
    ridge: np.ndarray,
    mixed: bool,
) -> RidgeInverse:
    """The inverse by Cholesky; where K is singular by rounding and the ridge too small, by
    eigenvalues."""
    n = len(ridge)
    if not ridge.any():
        return _least_squares(kernel, X)
    diagonal = np.diag_indices(n)
    if mixed and kernel.native is not None and not sparse.issparse(X):
        A = kernel.gram(X.astype(np.float32))
        A[diagonal] += ridge.astype(np.float32)
        try:
            factor_in_place(A)
        except SystemNotPositive:
            pass
        else:
            return RidgeInverse(partial(_refine, kernel, X, ridge, A))
    return _exact_inverse(kernel, X, ridge)


def _least_squares(kernel: Kernel, X: Data) -> RidgeInverse:
    """The shortest solution of least squares, where no ridge decides: K = Q diag(s) Qᵀ, of which
    what is rounding is left out."""
    s, Q = linalg.eigh(double_gram(kernel, X), overwrite_a=True, check_finite=False)
    refuse_negative(s, kernel)
    is_there = s > rounding_of(s)
    Q = Q[:, is_there]
    s = s[is_there]

    def solve(b: np.ndarray) -> np.ndarray:
        return Q @ ((Q.T @ b) / s)

    return RidgeInverse(solve, int((~is_there).sum()))


def _exact_inverse(kernel: Kernel, X: Data, ridge: np.ndarray) -> RidgeInverse:
    A = double_gram(kernel, X)
    A[np.diag_indices(len(A))] += ridge
    try:
        factor_in_place(A)
    except SystemNotPositive:
        # D Q diag(1/s) Qᵀ D, where s = 1 is the ridge alone
        scale, s, Q = _spectrum(kernel, X, ridge)
        n_null = int((s == 1.0).sum())

        def solve(b: np.ndarray) -> np.ndarray:
            turned = Q.T @ (scale * b)
            return scale * (Q @ (turned / s))

        return RidgeInverse(solve, n_null)
    return RidgeInverse(partial(solve_factored, A))


def _refine(
    kernel: Kernel,
    X: Data,
    ridge: np.ndarray,
    L: np.ndarray,
    b: np.ndarray,
) -> np.ndarray:
    exact = np.asarray(X, dtype=np.float64)

    def product(v: np.ndarray) -> np.ndarray:
        return kernel.sums(exact, v, exact) + ridge * v

    solution = refined_solution(product, L, b)
    if solution is None:
        return _exact_inverse(kernel, X, ridge).solve(b)
    return solution


def _spectrum(
    kernel: Kernel,
    X: Data,
    ridge: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D, s and Q with D (K + diag(ridge)) D = Q diag(s) Qᵀ, D² = 1 / ridge, for a K singular by
    rounding.

    Refuses a K that is not that of a Mercer kernel.
    """
    scale = 1.0 / np.sqrt(ridge)
    K = double_gram(kernel, X)
    B = K * scale * scale[:, None]
    s, Q = linalg.eigh(B, overwrite_a=True, check_finite=False)
    refuse_negative(s, kernel)
    return scale, without_rounding(s) + 1.0, Q


def rounding_of(s: np.ndarray) -> float:
    """The size of rounding in the eigenvalues of a Gram matrix, which rise."""
    eps = float(np.finfo(np.float64).eps)
    return 64 * eps * np.sqrt(len(s)) * max(float(s[-1]), 0.0)


def without_rounding(s: np.ndarray) -> np.ndarray:
    """Eigenvalues with those that rounding alone may have made at zero, where the ridge decides."""
    return np.where(s > rounding_of(s), s, 0.0)


def refuse_negative(s: np.ndarray, kernel: Kernel) -> None:
    """Refuse rising eigenvalues of which the first is no rounding of zero."""
    largest = max(abs(s[0]), s[-1])
    if s[0] < -_NOT_MERCER * largest:
        raise SettingError(
            f"{kernel!r} is no Mercer kernel on these rows: its Gram matrix has an eigenvalue of"
            f" {s[0]:.3g} beside {s[-1]:.3g}, so that the penalized error has no least value: take"
            " another kernel, or a larger alpha"
        )


def warn_below_rounding(n_null: int) -> None:
    """Say that λ alone decides, which shows in predictions as rounding."""
    if n_null:
        warnings.warn(
            f"KernelRidge: K has {n_null} directions of the size of rounding, and alpha is below"
            " that: predictions may be far off, and with alpha=0 are without these directions:"
            " give a larger alpha",
            np.exceptions.RankWarning,
            stacklevel=3,
        )


def inverse_at(
    alpha: float,
    s: np.ndarray,
    Q: np.ndarray,
    turned: np.ndarray,
    squares: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """(B + λI)⁻¹ of the right sides, and its diagonal."""
    shrunk = 1.0 / (s + alpha)
    return Q @ (shrunk[:, None] * turned), squares @ shrunk


def inverse_parts(
    kernel: Kernel,
    X: Data,
    ridge: np.ndarray,
    A: np.ndarray,
    with_ones: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The diagonal of A⁻¹, and A⁻¹ 1, of A = K + diag(ridge), which is overwritten."""
    ones = np.ones(len(A))
    try:
        factor_in_place(A)
    except SystemNotPositive:
        scale, s, Q = _spectrum(kernel, X, ridge)
        diagonal = scale**2 * (Q**2 @ (1.0 / s))
        return diagonal, scale * (Q @ ((Q.T @ scale) / s))
    diagonal = inverse_diagonal(A)
    return diagonal, solve_factored(A, ones) if with_ones else ones


# -- factors by blocks -----------------------------------------------------------------


class SystemNotPositive(ValueError):
    """The matrix has no Cholesky factor."""


def factor_in_place(A: np.ndarray) -> None:
    """Replace the lower triangle of A by its Cholesky factor; the upper one is not looked at.

    Columns of blocks from left to right: A_ij - Σ_k<j L_ik L_jkᵀ is one product per block. Cost:
    n³/3.
    """
    n = len(A)
    potrf, trtri = linalg.get_lapack_funcs(("potrf", "trtri"), (A,))
    for a in range(0, n, _BLOCK):
        b = min(a + _BLOCK, n)
        columns = slice(a, b)
        blocks = [slice(i, min(i + _BLOCK, n)) for i in range(a, n, _BLOCK)]
        if a:
            _each(partial(_subtract, A, columns), blocks)
        # L_jj from the block on the diagonal; then those below it, L_ij = A_ij L_jj⁻ᵀ
        lower, failed = potrf(A[columns, columns], lower=1, clean=1)
        if failed:
            raise SystemNotPositive
        A[columns, columns] = lower
        # in float32 the inverse of a block will do: it is the quicker, and the result is refined
        inverse = trtri(lower, lower=1)[0] if A.dtype == np.float32 else None
        _each(partial(_divide, A, columns, inverse), blocks[1:])


def _each(work: Callable[[slice], None], blocks: list[slice]) -> None:
    for _ in ordered_map(work, blocks):
        pass


def _subtract(A: np.ndarray, columns: slice, rows: slice) -> None:
    before = slice(columns.start)
    A[rows, columns] -= A[rows, before] @ A[columns, before].T


def _divide(
    A: np.ndarray,
    columns: slice,
    inverse: np.ndarray | None,
    rows: slice,
) -> None:
    if inverse is not None:
        A[rows, columns] = A[rows, columns] @ inverse.T
        return
    lower = A[columns, columns]
    right = A[rows, columns].T
    solved = linalg.solve_triangular(lower, right, lower=True, check_finite=False)
    A[rows, columns] = solved.T


def solve_factored(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(L Lᵀ)⁻¹ b for a factor in the lower triangle."""
    trtrs = linalg.get_lapack_funcs("trtrs", (L,))
    # LAPACK sees the rows of L as columns: the lower triangle is an upper one
    right = b.astype(L.dtype, copy=False)
    half = trtrs(L.T, right, lower=0, trans=1)[0]
    return trtrs(L.T, half, lower=0, trans=0)[0]


def inverse_diagonal(L: np.ndarray) -> np.ndarray:
    """The diagonal of (L Lᵀ)⁻¹ for a factor of float64: the sums of squares of the columns of
    L⁻¹."""
    n = len(L)
    # threads may end in any order, ordered_map gives the parts in theirs
    parts = ordered_map(partial(_inverse_columns, L), range(0, n, _BLOCK))
    return np.concatenate([np.zeros(0), *parts])


def _inverse_columns(L: np.ndarray, start: int) -> np.ndarray:
    """Sums of squares of some columns of L⁻¹, which are zero above their diagonal."""
    below = L[start:, start:]
    n_columns = min(_BLOCK, len(below))
    unit = np.zeros((len(below), n_columns), order="F")
    np.fill_diagonal(unit, 1.0)
    columns = linalg.solve_triangular(
        below,
        unit,
        lower=True,
        check_finite=False,
        overwrite_b=True,
    )
    return np.einsum("ij,ij->j", columns, columns)


def refined_solution(
    product: Product,
    L: np.ndarray,
    b: np.ndarray,
) -> np.ndarray | None:
    """A⁻¹ b in float64 by conjugate gradients with a factor of lower precision; None if they fail.

    `product` multiplies by A. Every step reduces the error by about the precision of L times A's
    condition.
    """
    size = float(np.abs(b).max())
    if size == 0.0:
        return np.zeros_like(b)
    # right sides are divided by their size, as float32 has a narrow range
    x = solve_factored(L, b / size).astype(np.float64) * size
    r = b - product(x)
    z = solve_factored(L, r / size).astype(np.float64) * size
    p = z.copy()
    rz = float(r @ z)
    best = np.inf
    for _ in range(_STEPS):
        error = float(np.abs(r).max()) / size
        # exact, or at a level that rounding does not let fall further
        if error <= _EXACT or (error >= 0.5 * best and best <= 1e-10):
            return x
        best = min(best, error)
        Ap = product(p)
        step = rz / float(p @ Ap)
        if not np.isfinite(step):
            return None
        x = x + step * p
        r = r - step * Ap
        z = solve_factored(L, r / size).astype(np.float64) * size
        before = rz
        rz = float(r @ z)
        p = z + (rz / before) * p if before else z
    return None

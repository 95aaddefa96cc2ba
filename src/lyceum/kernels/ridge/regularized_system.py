"""(K + diag(λ)) a = y for a Gram matrix K: factored in float32 by blocks, made exact by conjugate
gradients.

A Cholesky factor in float32 costs half of one in float64 in time and memory. It is an all but exact
preconditioner: some steps of conjugate gradients, whose products with K are computed from the rows
in float64, end at the accuracy of float64. Blocks are worked on by threads in an order that does
not change a bit with their number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import linalg

from lyceum._core.threads import ordered_map

_BLOCK = 512
_STEPS = 30
_EXACT = 1e-13

Product = Callable[[np.ndarray], np.ndarray]


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
        blocks = [slice(i, min(i + _BLOCK, n)) for i in range(a, n, _BLOCK)]
        if a:
            _each(partial(_subtract, A, slice(a, b)), blocks)
        lower, failed = potrf(A[a:b, a:b], lower=1, clean=1)
        if failed:
            raise SystemNotPositive
        A[a:b, a:b] = lower
        # in float32 the inverse of a block will do: it is the quicker, and the result is refined
        if A.dtype == np.float32:
            inverse = trtri(lower, lower=1)[0]
        else:
            inverse = None
        _each(partial(_divide, A, slice(a, b), inverse), blocks[1:])


def _each(work: Callable[[slice], None], blocks: list[slice]) -> None:
    for _ in ordered_map(work, blocks):
        pass


def _subtract(A: np.ndarray, columns: slice, rows: slice) -> None:
    A[rows, columns] -= A[rows, : columns.start] @ A[columns, : columns.start].T


def _divide(A: np.ndarray, columns: slice, inverse: np.ndarray | None, rows: slice) -> None:
    if inverse is not None:
        A[rows, columns] = A[rows, columns] @ inverse.T
        return
    lower = A[columns, columns]
    A[rows, columns] = linalg.solve_triangular(
        lower, A[rows, columns].T, lower=True, check_finite=False
    ).T


def solve_factored(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(L Lᵀ)⁻¹ b for a factor in the lower triangle."""
    trtrs = linalg.get_lapack_funcs("trtrs", (L,))
    # LAPACK sees the rows of L as columns: the lower triangle is an upper one
    half = trtrs(L.T, b.astype(L.dtype, copy=False), lower=0, trans=1)[0]
    return trtrs(L.T, half, lower=0, trans=0)[0]


def inverse_diagonal(L: np.ndarray) -> np.ndarray:
    """The diagonal of (L Lᵀ)⁻¹ for a factor of float64: the sums of squares of the columns of
    L⁻¹."""
    n = len(L)
    out = np.zeros(n)
    for part in ordered_map(partial(_inverse_columns, L), range(0, n, _BLOCK)):
        out[part[0] : part[0] + len(part[1])] = part[1]
    return out


def _inverse_columns(L: np.ndarray, start: int) -> tuple[int, np.ndarray]:
    """Sums of squares of some columns of L⁻¹, which are zero above their diagonal."""
    below = L[start:, start:]
    unit = np.zeros((len(below), min(_BLOCK, len(below))), order="F")
    np.fill_diagonal(unit, 1.0)
    columns = linalg.solve_triangular(below, unit, lower=True, check_finite=False, overwrite_b=True)
    return start, np.einsum("ij,ij->j", columns, columns)


def refined_solution(product: Product, L: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """A⁻¹ b in float64 by conjugate gradients with a factor of lower precision; None if they fail.

    `product` multiplies by A. Every step reduces the error by about the precision of L times A's
    condition.
    """
    size = float(np.abs(b).max())
    if size == 0.0:
        return np.zeros_like(b)
    x = solve_factored(L, b / size).astype(np.float64) * size
    r = b - product(x)
    z = solve_factored(L, r / size).astype(np.float64) * size
    p = z.copy()
    rz = float(r @ z)
    best = np.inf
    for _ in range(_STEPS):
        error = float(np.abs(r).max()) / size
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
        rz, before = float(r @ z), rz
        if before:
            p = z + (rz / before) * p
        else:
            p = z
    return None

"""Solutions of (K + diag) x = b for kernel ridge regression, also where K is singular by
rounding."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.kernels.functions.base import Kernel
from lyceum.kernels.ridge.regularized_system import (
    SystemNotPositive,
    factor_in_place,
    inverse_diagonal,
    refined_solution,
    solve_factored,
)

_NOT_MERCER = 1e-9  # eigenvalues this far below zero, relative to the largest, are not rounding


def several_targets(y: Any) -> np.ndarray | None:
    """Targets of shape (n, k), checked; None if y is flat."""
    if not hasattr(y, "ndim"):
        y = np.asarray(y)
    if y.ndim != 2:
        return None
    try:
        found = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"KernelRidge predicts numbers, but y cannot be read as such: {error}"
        ) from error
    if not found.shape[1]:
        raise DataError("y has no columns: KernelRidge needs at least one target")
    if not np.isfinite(found).all():
        row, target = np.argwhere(~np.isfinite(found))[0]
        raise MissingValuesError(
            f"target {target} is missing or infinite (NaN or inf) in row {row}, which KernelRidge "
            "cannot learn from: drop such rows first"
        )
    return found


class RidgeInverse(NamedTuple):
    """(K + diag(ridge))⁻¹ as a function, and how many directions K has whose size is that of
    rounding."""

    solve: Callable[[np.ndarray], np.ndarray]
    n_null: int = 0


def ridge_inverse(kernel: Kernel, X: Any, ridge: np.ndarray, mixed: bool) -> RidgeInverse:
    """The inverse by Cholesky; where K is singular by rounding and the ridge too small, by
    eigenvalues."""
    n = len(ridge)
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


def _exact_inverse(kernel: Kernel, X: Any, ridge: np.ndarray) -> RidgeInverse:
    A = np.asarray(kernel.gram(X), dtype=np.float64)
    A[np.diag_indices(len(A))] += ridge
    try:
        factor_in_place(A)
    except SystemNotPositive:
        scale, s, Q = _spectrum(kernel, X, ridge)
        n_null = int((s == 1.0).sum())
        return RidgeInverse(lambda b: scale * (Q @ ((Q.T @ (scale * b)) / s)), n_null)
    return RidgeInverse(partial(solve_factored, A))


def _refine(kernel: Kernel, X: Any, ridge: np.ndarray, L: np.ndarray, b: np.ndarray) -> np.ndarray:
    wide = np.asarray(X, dtype=np.float64)

    def product(v: np.ndarray) -> np.ndarray:
        return kernel.sums(wide, v, wide) + ridge * v

    found = refined_solution(product, L, b)
    if found is None:
        return _exact_inverse(kernel, X, ridge).solve(b)
    return found


def _spectrum(
    kernel: Kernel, X: Any, ridge: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D, s and Q with D (K + diag(ridge)) D = Q diag(s) Qᵀ, D² = 1 / ridge, for a K singular by
    rounding.

    Refuses a K that is not that of a Mercer kernel.
    """
    scale = 1.0 / np.sqrt(ridge)
    B = np.asarray(kernel.gram(X), dtype=np.float64) * scale * scale[:, None]
    s, Q = linalg.eigh(B, overwrite_a=True, check_finite=False)
    refuse_negative(s, kernel)
    return scale, without_rounding(s) + 1.0, Q


def rounding_of(s: np.ndarray) -> float:
    """The size of rounding in the eigenvalues of a Gram matrix, which rise."""
    return 64 * float(np.finfo(np.float64).eps) * np.sqrt(len(s)) * max(float(s[-1]), 0.0)


def without_rounding(s: np.ndarray) -> np.ndarray:
    """Eigenvalues with those that rounding alone may have made at zero, where the ridge decides."""
    return np.where(s > rounding_of(s), s, 0.0)


def refuse_negative(s: np.ndarray, kernel: Kernel) -> None:
    if s[0] < -_NOT_MERCER * max(abs(s[0]), s[-1]):
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
            " that: predictions may be far off: give a larger alpha",
            np.exceptions.RankWarning,
            stacklevel=3,
        )


def inverse_at(
    alpha: float, s: np.ndarray, Q: np.ndarray, turned: np.ndarray, squares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(B + λI)⁻¹ of the right sides, and its diagonal."""
    shrunk = 1.0 / (s + alpha)
    return Q @ (shrunk[:, None] * turned), squares @ shrunk


def inverse_parts(
    kernel: Kernel, X: Any, ridge: np.ndarray, A: np.ndarray, with_ones: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The diagonal of A⁻¹, and A⁻¹ 1, of A = K + diag(ridge), which is overwritten."""
    ones = np.ones(len(A))
    try:
        factor_in_place(A)
    except SystemNotPositive:
        scale, s, Q = _spectrum(kernel, X, ridge)
        return scale**2 * (Q**2 @ (1.0 / s)), scale * (Q @ ((Q.T @ scale) / s))
    return inverse_diagonal(A), solve_factored(A, ones) if with_ones else ones

"""Positive semidefinite systems with their rank: what least squares and Newton steps solve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, lapack, qr

# A column depends on others if this part of its squares or less is its own. Of what is below,
# products of doubles keep less than half of their digits, and an answer that used it would be that
# of the order of sums.
UNEXPLAINED = 1e-8  # as in native/include/lyceum/core/ranked_squares.hpp


@dataclass(frozen=True, slots=True)
class PositiveFactor:
    """A symmetric positive semidefinite A, factored after scaling its diagonal to one.

    With R = D A D of unit diagonal, R = L Lᵀ if every pivot of L exceeds a level; otherwise R = V Λ
    Vᵀ, eigenvalues below that level are taken as null, and `solve` is multiplication by the
    pseudo-inverse A⁺, so that solutions have least norm. Scaling makes this independent of the
    units of the columns (and nearly optimal: van der Sluis, 1969) and of the scale of weights.

    The level is that of rounding, 64 eps √d, unless another is given: `UNEXPLAINED` where the
    solution itself is the answer, at rows that need not resemble those of A, and no step follows
    that would correct it.

    Attributes
    ----------
    scale : array of shape (d,)
        The diagonal of D; 0 where that of A is.
    lower : array or None
        L, when R has full rank.
    root : array or None
        Otherwise D V Λ^(-1/2), projected on the range of A: A⁺ = root rootᵀ.
    loads : array of shape (d,)
        How much every column takes part in the null space, from 0 to 1.
    rank : int
        The numerical rank.
    smallest : float
        The smallest pivot or eigenvalue of R that is not taken as null: about 1 / condition².
    dependent : array of int
        The columns that take part in a linear dependence; empty at full rank.

    See Also
    --------
    Scatter : The matrices of least squares.
    lyceum.solvers.Newton : Steps that solve such a system.

    References
    ----------
    A. van der Sluis, "Condition numbers and equilibration of matrices", Numerische Mathematik 14,
    1969.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum._core.statistics import PositiveFactor
    >>> factor = PositiveFactor.of(np.array([[4.0, 2.0], [2.0, 1.0]]))
    >>> factor.rank, factor.solve(np.array([4.0, 2.0])).round(12).tolist()
    (1, [0.8, 0.4])
    """

    scale: np.ndarray
    lower: np.ndarray | None
    root: np.ndarray | None
    loads: np.ndarray
    rank: int
    smallest: float

    @classmethod
    def of(
        cls,
        A: np.ndarray,
        floor: np.ndarray | float = 0.0,
        level: float | None = None,
    ) -> PositiveFactor:
        """Factor A; columns whose diagonal is not above `floor` count as zero."""
        # R = D A D with ones on the diagonal, D = diag(1 / √a_jj): the units of columns must not
        # decide which of them depend on others
        diagonal = np.diagonal(A)
        is_live = diagonal > floor
        roots = np.sqrt(np.where(is_live, diagonal, 1.0))
        scale = np.where(is_live, 1.0 / roots, 0.0)
        R = scale[:, None] * A * scale
        if level is None:
            size = np.sqrt(max(1, len(A)))
            level = 64 * np.finfo(np.float64).eps * size
        if len(A) and scale.all():
            # LAPACK itself: around it SciPy takes longer than a small system does
            lower, failed = lapack.dpotrf(R, lower=1, clean=1)
            if failed:
                return cls._deficient(R, scale, level)
            # the squared pivot of a column is the part that the columns before it do not explain
            smallest = float(np.diagonal(lower).min() ** 2)
            if smallest > level:
                return cls(scale, lower, None, np.zeros(len(A)), len(A), smallest)
        return cls._deficient(R, scale, level)

    @classmethod
    def _deficient(
        cls, R: np.ndarray, scale: np.ndarray, level: float
    ) -> PositiveFactor:
        live = np.flatnonzero(scale)
        loads = (scale == 0).astype(np.float64)
        if not len(live):
            no_root = np.zeros((len(R), 0))
            return cls(scale, None, no_root, loads, 0, 1.0)
        # R = V diag(λ) Vᵀ over the λ above the level: A⁺ = root rootᵀ with root = D V / √λ
        values, vectors = eigh(R[np.ix_(live, live)], check_finite=False)
        is_large = values > level * max(1.0, values[-1])
        large = values[is_large]
        root = np.zeros((len(R), len(large)))
        root[live] = scale[live, None] * vectors[:, is_large] / np.sqrt(large)
        if not is_large.all():
            # A null vector v of R is D v of A; taking these out of a solution gives the one of
            # least norm.
            null = scale[live, None] * vectors[:, ~is_large]
            null = qr(null, mode="economic", check_finite=False)[0]
            root[live] -= null @ (null.T @ root[live])
            loads[live] = np.linalg.norm(vectors[:, ~is_large], axis=1)
        smallest = float(large.min(initial=1.0))
        return cls(scale, None, root, loads, len(large), smallest)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """A⁻¹ b, or A⁺ b when A is singular."""
        if self.lower is None:
            assert self.root is not None
            return self.root @ (self.root.T @ b)
        if b.ndim == 1:
            scale = self.scale
        else:
            scale = self.scale[:, None]
        return scale * lapack.dpotrs(self.lower, scale * b, lower=1)[0]

    def inverse(self) -> np.ndarray:
        """A⁻¹, or A⁺ when A is singular."""
        return self.solve(np.eye(len(self.scale)))

    @property
    def dependent(self) -> np.ndarray:
        """The columns that take part in a linear dependence; empty at full rank."""
        return np.flatnonzero(self.loads > 1e-6)

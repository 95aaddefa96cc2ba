"""Least squares from the rows themselves, with their rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import svd

from lyceum._core.statistics import UNEXPLAINED
from lyceum.errors import DataError


class RankedSquares(NamedTuple):
    """Coefficients by least squares, and how many of their directions the rows determine.

    Attributes
    ----------
    coef : array of shape (p, K), or (p,) for one target
        The coefficients.
    rank : int
        The rank of the rows; below p, the coefficients are those of least norm.

    See Also
    --------
    ranked_squares : Finds them.

    Examples
    --------
    >>> from lyceum._core.solvers import ranked_squares
    >>> ranked_squares(np.array([[2.0], [2.0]]), np.array([1.0, 3.0])).rank
    1
    """

    coef: np.ndarray
    rank: int


def ranked_squares(
    M: np.ndarray,
    Y: np.ndarray,
    level: float = UNEXPLAINED,
) -> RankedSquares:
    """The b with |M b - Y| least; where columns depend on each other, that of least norm in units
    of them.

    Columns are scaled to unit length, so that neither their units nor the scale of weights matters.
    With M D = U S Vᵀ, directions with s² <= level · max s² are null. The singular values are those
    of the rows, not of their products: errors grow with the condition of M, not with its square.

    Parameters
    ----------
    M : array of shape (n, p)
        Rows times the roots of their weights.
    Y : array of shape (n,) or (n, K)
        Targets, times the same roots.
    level : float, default=1e-8
        Of the largest squared singular value: what is not above it is null.

    Returns
    -------
    RankedSquares

    See Also
    --------
    RankedSquares : What it returns.
    lyceum.statistics.PositiveFactor : The same from the products MᵀM.

    Examples
    --------
    >>> M = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    >>> found = ranked_squares(M, np.array([2.0, 4.0, 6.0]))
    >>> found.coef.round(12).tolist(), found.rank
    ([1.0, 0.1], 1)
    """
    length = np.sqrt(np.einsum("ij,ij->j", M, M))
    unit = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    if not np.isfinite(length).all():
        raise DataError(
            "the squares of the columns overflow: some cells are too large or too far apart;"
            " rescale them"
        )
    if not len(M):
        return RankedSquares(np.zeros((M.shape[1], *Y.shape[1:])), 0)
    # the pseudoinverse V S⁻¹ Uᵀ over the directions above the level, of columns of unit length
    U, s, V = svd(M * unit, full_matrices=False, check_finite=False)
    determined = s**2 > level * s.max(initial=0.0) ** 2
    inverse = (V[determined].T / s[determined]) @ U[:, determined].T
    coef = (unit * (inverse @ Y).T).T
    return RankedSquares(coef, int(determined.sum()))

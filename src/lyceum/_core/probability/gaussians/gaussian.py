"""The Gaussian distribution as a value: density, marginal, conditional, product and linear maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.probability.gaussians.fusion import fuse_gaussians
from lyceum._core.probability.gaussians.log_density import gaussian_log_density
from lyceum._core.probability.gaussians.whitening import Whitening, whiten
from lyceum._core.report import Shown
from lyceum._core.statistics import UNEXPLAINED, PositiveFactor
from lyceum._core.text import show_count
from lyceum.errors import DataError

_ROUNDING = 1e-10  # of the largest cell or eigenvalue


@dataclass(frozen=True, eq=False)
class Gaussian(Shown):
    """N(mean, covariance) of d numbers.

    Parameters
    ----------
    mean : array of shape (d,)
        The mean.
    covariance : array of shape (d, d)
        Symmetric, without negative eigenvalues.

    See Also
    --------
    fuse_gaussians : The product of several Gaussians.

    References
    ----------
    C. M. Bishop, "Pattern Recognition and Machine Learning", Springer, 2006, section 2.3.

    Examples
    --------
    >>> joint = Gaussian([0.0, 1.0], [[2.0, 1.0], [1.0, 1.0]])
    >>> joint.marginal([0])
    Gaussian(mean=array([0.]), covariance=array([[2.]]))
    >>> joint.condition([0], [2.0])
    Gaussian(mean=array([2.]), covariance=array([[0.5]]))
    """

    mean: np.ndarray
    covariance: np.ndarray

    def __post_init__(self) -> None:
        mean = np.array(self.mean, dtype=np.float64)
        covariance = np.array(self.covariance, dtype=np.float64)
        if mean.ndim != 1 or covariance.shape != (len(mean), len(mean)):
            raise DataError(
                "a Gaussian has a mean of shape (d,) and a covariance of shape (d, d), not"
                f" {mean.shape} and {covariance.shape}"
            )
        if not np.isfinite(mean).all() or not np.isfinite(covariance).all():
            raise DataError("the mean and the covariance of a Gaussian must be finite")
        # symmetric up to rounding, in the units of the columns
        unit = np.sqrt(np.abs(np.diag(covariance)))
        size = np.abs(covariance).max(initial=0.0)
        limit = 1e-8 * np.outer(unit, unit) + _ROUNDING * size
        if not (np.abs(covariance - covariance.T) <= limit).all():
            raise DataError("the covariance of a Gaussian must be symmetric")
        covariance = _symmetrize(covariance)
        values = np.linalg.eigvalsh(covariance)
        if len(values) and values[0] < -_ROUNDING * max(values[-1], 0.0):
            raise DataError(
                f"the covariance of a Gaussian has the negative eigenvalue {values[0]:.3g}"
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)

    @classmethod
    def _make(cls, mean: np.ndarray, covariance: np.ndarray) -> Gaussian:
        """From parts that follow from another Gaussian; a variance below 0 is rounding."""
        covariance = _symmetrize(covariance)
        np.fill_diagonal(covariance, np.maximum(np.diag(covariance), 0.0))
        made = object.__new__(cls)
        object.__setattr__(made, "mean", mean)
        object.__setattr__(made, "covariance", covariance)
        return made

    def whitening(self) -> Whitening:
        """W with W Σ Wᵀ = I, and log |Σ|; columns without variance are left out."""
        return whiten(self.covariance, np.diag(self.covariance))

    def log_density(self, X: Any) -> np.ndarray:
        """log N(x; mean, covariance) of the rows of X, shape (n, d) to (n,).

        A column without variance is left out; a singular covariance gets the ridge of `whiten`.
        """
        white = self.whitening()
        d = int((np.diag(self.covariance) > 0).sum())
        constant = np.array([-0.5 * (white.log_det + d * np.log(2 * np.pi))])
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim < 2:  # one row, or the numbers of a single column
            if len(self.mean) == 1:
                rows = rows.reshape(-1, 1)
            else:
                rows = rows.reshape(1, -1)
        if rows.ndim != 2 or rows.shape[1] != len(self.mean):
            raise DataError(
                f"the Gaussian is of {show_count(len(self.mean), 'column')}, but X has the shape "
                f"{np.shape(X)}"
            )
        rows = np.ascontiguousarray(rows)
        log = gaussian_log_density(rows, self.mean[None], white.W[None], constant)
        return log[:, 0]

    def marginal(self, indices: Sequence[int]) -> Gaussian:
        """The distribution of the columns at `indices`, in this order."""
        columns = self._columns(indices)
        covariance = self.covariance[np.ix_(columns, columns)]
        return self._make(self.mean[columns], covariance)

    def condition(self, indices: Sequence[int], values: ArrayLike) -> Gaussian:
        """The distribution of the other columns when those at `indices` have these values.

        μ_a + Σ_ab Σ_bb⁻¹ (x_b - μ_b) and Σ_aa - Σ_ab Σ_bb⁻¹ Σ_ba. With a singular Σ_bb its
        pseudoinverse is used: a column that follows from others adds nothing.
        """
        b = self._columns(indices)
        a = np.setdiff1d(np.arange(len(self.mean)), b)
        values = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if values.shape != b.shape:
            raise DataError(
                f"{values.size} values for {show_count(len(b), 'fixed column')}: give one value per"
                " column"
            )
        # the gain is Σ_ab Σ_bb⁻¹
        S_ba = self.covariance[np.ix_(b, a)]
        factor = PositiveFactor.of(self.covariance[np.ix_(b, b)], level=UNEXPLAINED)
        gain = factor.solve(S_ba).T
        mean = self.mean[a] + gain @ (values - self.mean[b])
        covariance = self.covariance[np.ix_(a, a)] - gain @ S_ba
        return self._make(mean, covariance)

    def product(self, other: Gaussian) -> tuple[Gaussian, float]:
        """N(x; self) N(x; other) = c N(x; fused): the fused Gaussian and log c.

        c = N(mean; other mean, covariance + other covariance), the probability that both agree.
        """
        if len(self.mean) != len(other.mean):
            raise DataError(
                f"a Gaussian of {show_count(len(self.mean), 'column')} cannot be multiplied by one"
                f" of {len(other.mean)}: both need the same columns"
            )
        fused = fuse_gaussians(
            [self.mean, other.mean], [self.covariance, other.covariance]
        )
        spread = self._make(other.mean, self.covariance + other.covariance)
        log_c = float(spread.log_density(self.mean[None])[0])
        return self._make(fused.mean, fused.covariance), log_c

    def affine(self, matrix: Any, offset: Any = 0.0, noise: Any = 0.0) -> Gaussian:
        """The distribution of A x + b + e, with e ~ N(0, noise): mean A μ + b, covariance A Σ Aᵀ +
        noise."""
        A = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        if A.shape[1] != len(self.mean):
            raise DataError(
                f"the matrix has {show_count(A.shape[1], 'column')}, but the Gaussian is of"
                f" {len(self.mean)}"
            )
        noise = np.asarray(noise, dtype=np.float64)
        if noise.ndim == 0:
            noise = noise * np.eye(len(A))
        return self._make(A @ self.mean + offset, A @ self.covariance @ A.T + noise)

    def _columns(self, indices: Any) -> np.ndarray:
        """The numbers of the columns at `indices`; negative ones count from the end."""
        d = len(self.mean)
        columns = np.atleast_1d(np.asarray(indices))
        if not columns.size:
            columns = columns.astype(np.intp)
        if (
            columns.ndim != 1
            or columns.dtype.kind not in "iu"
            or (columns >= d).any()
            or (columns < -d).any()
        ):
            raise DataError(
                f"indices must be numbers of columns, from 0 to {d - 1}, but they are {indices!r}"
            )
        columns = columns.astype(np.intp) % max(1, d)
        if len(np.unique(columns)) < len(columns):
            raise DataError(
                f"indices must name every column once, but they are {indices!r}"
            )
        return columns


def _symmetrize(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)

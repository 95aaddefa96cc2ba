"""The product of Gaussians: several uncertain measurements of one quantity combined."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lyceum._core.statistics import PositiveFactor
from lyceum.errors import DataError


class FusedGaussian(NamedTuple):
    """The product of Gaussians, up to its scale.

    Attributes
    ----------
    mean : float or array of shape (d,)
        The mean of the product.
    covariance : float or array of shape (d, d)
        The variance of a number, or a matrix.

    See Also
    --------
    fuse_gaussians : Makes it from means and covariances.
    Gaussian : Its `product` gives also the scale of the product.
    lyceum.plot.sensor_fusion : Measurements and their product as a picture.

    Examples
    --------
    >>> from lyceum.probability import fuse_gaussians
    >>> fused = fuse_gaussians([10.0, 12.0], [1.0, 3.0])
    >>> fused.mean, fused.covariance              # (10 · 3 + 12 · 1) / 4, and 1 / (1 + 1/3)
    (10.5, 0.75)
    """

    mean: Any
    covariance: Any


def fuse_gaussians(means: Any, covariances: Any) -> FusedGaussian:
    """The Gaussian proportional to Π_i N(x; m_i, Σ_i): independent measurements combined.

    Σ⁻¹ = Σ_i Σ_i⁻¹,  m = Σ Σ_i Σ_i⁻¹ m_i.

    It is computed one measurement after the other, m ← m + K (m_i - m) with K = Σ (Σ + Σ_i)⁻¹, so
    that a measurement without error (a singular Σ_i) is allowed as long as no other is exact in the
    same direction.

    Parameters
    ----------
    means : array of shape (k,) or (k, d)
        The k measurements.
    covariances : array of shape (k,) or (k, d, d)
        Their variances, or covariance matrices.

    Returns
    -------
    FusedGaussian
        `mean` and `covariance`: two floats, or arrays of shape (d,) and (d, d).

    See Also
    --------
    Gaussian.product : Two Gaussians, with the scale of their product.
    lyceum.bayes.NormalMean : A mean that is updated by rows.

    Examples
    --------
    >>> fuse_gaussians([10.0, 12.0], [1.0, 3.0])
    FusedGaussian(mean=10.5, covariance=0.75)
    """
    m = np.asarray(means, dtype=np.float64)
    P = np.asarray(covariances, dtype=np.float64)
    line = m.ndim == 1
    if line and P.ndim == 1:
        m = m[:, None]
        P = P[:, None, None]
    if m.ndim != 2 or P.shape != (len(m), m.shape[1], m.shape[1]) or not len(m):
        raise DataError(
            f"{np.shape(means)} means and {np.shape(covariances)} covariances do not fit: give (k,)"
            " and (k,) for numbers, or (k, d) and (k, d, d)"
        )
    for i, covariance in enumerate(P):
        _check(covariance, i)
    mean = m[0]
    covariance = P[0]
    for measured, R in zip(m[1:], P[1:]):
        factor = PositiveFactor.of(covariance + R)
        if factor.rank < len(R):
            raise DataError(
                "two measurements are both exact in some direction: they cannot be combined"
            )
        gain = factor.solve(covariance).T
        rest = np.eye(len(R)) - gain
        mean = mean + gain @ (measured - mean)
        # Joseph's form: symmetric and never negative
        covariance = rest @ covariance @ rest.T + gain @ R @ gain.T
    if line:
        return FusedGaussian(float(mean[0]), float(covariance[0, 0]))
    return FusedGaussian(mean, covariance)


def _check(covariance: np.ndarray, i: int) -> None:
    sound = np.isfinite(covariance).all() and np.allclose(covariance, covariance.T)
    if sound:
        values = np.linalg.eigvalsh(covariance)
        sound = values[0] >= -1e-12 * max(values[-1], 0.0)
    if not sound:
        raise DataError(
            f"covariance {i} is not finite, symmetric and without negative eigenvalues"
        )

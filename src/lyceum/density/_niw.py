"""What rows say of a Gaussian: maximum likelihood, Normal-inverse-Wishart, or a mean of known covariance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lyceum.errors import DataError
from lyceum.statistics import Scatter

__all__ = ["Fit", "learn"]


class Fit(NamedTuple):
    """A Gaussian (degrees inf) or Student-t density, and what is known of its mean."""

    mean: np.ndarray
    covariance: np.ndarray
    degrees: float
    kappa: float
    nu: float
    mean_covariance: np.ndarray


def learn(statistic: Scatter, asked: Any) -> Fit:
    """The density from the merged statistic; `asked` is the learner with its parameters."""
    if asked.known_covariance is not None:
        return _known(statistic, asked)
    if asked.estimate == "ml":
        n, covariance = statistic.weight, statistic.scatter / statistic.weight
        return Fit(statistic.mean, covariance, np.inf, np.nan, np.nan, covariance / n)
    return _inverse_wishart(statistic, asked)


def _inverse_wishart(statistic: Scatter, asked: Any) -> Fit:
    n, x, S = statistic.weight, statistic.mean, statistic.scatter
    variance = np.diag(S) / n
    from_data = isinstance(asked.scale, str)
    used = variance > 0 if from_data else np.ones(len(x), dtype=bool)
    d = int(used.sum())  # columns without spread have no part in it
    nu_0 = float(d + 2 if asked.nu_0 is None else asked.nu_0)
    if nu_0 <= d - 1:
        raise DataError(f"nu_0 must be above d - 1, which is {d - 1} here, but it is {nu_0:g}")
    if from_data:
        S_0 = np.diag(variance) * (nu_0 - d - 1 if nu_0 > d + 1 else 1.0)
    else:
        S_0 = _matrix("scale", asked.scale, len(x))
    m_0 = _prior_mean(asked.prior_mean, x)
    kappa, nu = asked.kappa_0 + n, nu_0 + n
    moved = np.where(used, x - m_0, 0.0)
    mean = np.where(used, m_0 + n / kappa * (x - m_0), x)
    S_n = S_0 + S + asked.kappa_0 * n / kappa * np.outer(moved, moved)
    left = nu - d - 1.0
    mean_covariance = S_n / (left * kappa) if left > 0 else np.full_like(S_n, np.nan)
    if asked.estimate == "map":
        return Fit(mean, S_n / (nu + d + 2.0), np.inf, kappa, nu, mean_covariance)
    degrees = nu - d + 1.0
    return Fit(mean, S_n * (kappa + 1.0) / (kappa * degrees), float(degrees), kappa, nu, mean_covariance)


def _known(statistic: Scatter, asked: Any) -> Fit:
    n, x, d = statistic.weight, statistic.mean, len(statistic.mean)
    covariance = _matrix("known_covariance", asked.known_covariance, d)
    error = covariance / n
    m_0 = _prior_mean(asked.prior_mean, x)
    if asked.estimate == "ml" or asked.prior_covariance is None:
        mean, unknown = x, error
    else:
        # m_n = m_0 + V_0 (V_0 + Σ/n)⁻¹ (x̄ - m_0), V_n = V_0 (V_0 + Σ/n)⁻¹ Σ/n
        V_0 = _matrix("prior_covariance", asked.prior_covariance, d)
        gain = np.linalg.solve(V_0 + error, V_0).T
        mean, unknown = m_0 + gain @ (x - m_0), gain @ error
        unknown = 0.5 * (unknown + unknown.T)
    spread = covariance + unknown if asked.estimate == "bayes" else covariance
    return Fit(mean, spread, np.inf, np.nan, np.nan, unknown)


def _prior_mean(prior_mean: Any, x: np.ndarray) -> np.ndarray:
    if isinstance(prior_mean, str):
        return x
    mean = np.asarray(prior_mean, dtype=np.float64)
    if mean.shape not in ((), x.shape) or not np.isfinite(mean).all():
        raise DataError(f"prior_mean must be one finite number, or one for each of the {len(x)} columns")
    return np.broadcast_to(mean, x.shape)


def _matrix(name: str, value: Any, d: int) -> np.ndarray:
    matrix = np.asarray(value, dtype=np.float64)
    matrix = matrix * np.eye(d) if matrix.ndim == 0 else matrix
    sound = matrix.shape == (d, d) and bool(np.isfinite(matrix).all()) and np.allclose(matrix, matrix.T)
    if not sound or np.linalg.eigvalsh(matrix)[0] <= 0:
        raise DataError(
            f"{name} must be a positive definite matrix of shape ({d}, {d}), or one positive number"
        )
    return matrix

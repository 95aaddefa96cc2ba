"""A Gaussian from a scatter: maximum likelihood, Normal-inverse-Wishart, or a mean of known
covariance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lyceum._core.probability import NormalInverseWishart, positive_matrix, prior_mean_vector
from lyceum._core.statistics import PositiveFactor, Scatter


class GaussianFit(NamedTuple):
    """A Gaussian (degrees inf) or Student-t density, and the uncertainty of its mean."""

    mean: np.ndarray
    covariance: np.ndarray
    degrees: float
    kappa: float
    nu: float
    mean_covariance: np.ndarray
    log_evidence: float = np.nan


def fit_gaussian(statistic: Scatter, params: Any) -> GaussianFit:
    """The density from the merged statistic; `params` is the learner with its parameters."""
    if params.known_covariance is not None:
        return _known_covariance(statistic, params)
    if params.estimate == "ml":
        n = statistic.weight
        covariance = statistic.scatter / statistic.weight
        return GaussianFit(statistic.mean, covariance, np.inf, np.nan, np.nan, covariance / n)
    return _inverse_wishart(statistic, params)


def _inverse_wishart(statistic: Scatter, params: Any) -> GaussianFit:
    n = statistic.weight
    x = statistic.mean
    S = statistic.scatter
    prior = NormalInverseWishart.from_settings(
        params.prior_mean,
        params.kappa_0,
        params.nu_0,
        params.scale,
        mean=x,
        variance=np.diag(S) / n,
    )
    posterior = prior.update(n, x, S)
    mean = np.where(prior.used, posterior.mean, x)
    known = (float(posterior.kappa), float(posterior.nu), posterior.mean_covariance())
    evidence = prior.log_evidence(n, x, S)
    if params.estimate == "map":
        return GaussianFit(mean, posterior.mode(), np.inf, *known, evidence)
    next_row = posterior.predictive()
    return GaussianFit(mean, next_row.shape, float(next_row.degrees), *known, evidence)


def _known_covariance(statistic: Scatter, params: Any) -> GaussianFit:
    n = statistic.weight
    x = statistic.mean
    d = len(statistic.mean)
    covariance = positive_matrix("known_covariance", params.known_covariance, d)
    error = covariance / n
    m_0 = prior_mean_vector(params.prior_mean, x)
    if params.estimate == "ml" or params.prior_covariance is None:
        mean = x
        unknown = error
    else:
        # m_n = m_0 + V_0 (V_0 + Σ/n)⁻¹ (x̄ - m_0), V_n = V_0 (V_0 + Σ/n)⁻¹ Σ/n
        V_0 = positive_matrix("prior_covariance", params.prior_covariance, d)
        gain = PositiveFactor.of(V_0 + error).solve(V_0).T
        mean = m_0 + gain @ (x - m_0)
        unknown = gain @ error
        unknown = 0.5 * (unknown + unknown.T)
    if params.estimate == "bayes":
        spread = covariance + unknown
    else:
        spread = covariance
    return GaussianFit(mean, spread, np.inf, np.nan, np.nan, unknown)

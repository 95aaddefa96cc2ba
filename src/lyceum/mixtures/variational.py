"""Variational Bayes of a Gaussian mixture: the same E-step and sums, with posteriors in place of
parameters.

q(π) is a Dirichlet or a product of Betas (sticks), q(μ_k | Λ_k) = N(m_k, (κ_k Λ_k)⁻¹) and q(Λ_k) a
Wishart with ν_k degrees of freedom and the inverse scale Ψ_k (Bishop 2006, section 10.2). The
E-step needs

    E[log π_k] + ½ E[log |Λ_k|] - ½ d/κ_k - ½ d log 2π - ½ ν_k (x - m_k)ᵀ Ψ_k⁻¹ (x - m_k),

a Gaussian with the covariance Ψ_k / ν_k whose weight has a further factor; all else is as in
GaussianMixture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, gammaln

from lyceum.mixtures.covariance_forms import CovarianceForm
from lyceum.mixtures.problem import MixtureProblem
from lyceum.mixtures.sums import ComponentValues, MixtureSums


@dataclass(frozen=True, eq=False)
class VariationalPrior:
    """The prior: concentration γ_0 of the weights, m_0, κ_0, ν_0, and Ψ_0 or its diagonal."""

    concentration: float
    process: bool  # sticks of a Dirichlet process, or a finite Dirichlet
    mean: np.ndarray
    kappa: float
    nu: float
    scale: np.ndarray


@dataclass(frozen=True, eq=False)
class VariationalParameters:
    """The posterior, and what the E-step takes of it."""

    # (2, K): parameters of the Betas, or of the Dirichlet in the first row
    sticks: np.ndarray
    kappa: np.ndarray  # (K,)
    means: np.ndarray  # (K, d)
    nu: np.ndarray  # (K,)
    covariances: np.ndarray  # Ψ / ν in the shape of the form
    weights: np.ndarray  # (K,) expected
    counts: np.ndarray  # (K,) expected rows
    values: ComponentValues


@dataclass(frozen=True, eq=False)
class VariationalProblem(MixtureProblem):
    """The variational problem; the objective is the lower bound of the log evidence."""

    form: CovarianceForm
    prior: VariationalPrior
    variance: np.ndarray

    # -- M-step ------------------------------------------------------------------------

    def maximization(self, statistic: MixtureSums) -> VariationalParameters:
        prior = self.prior
        n = statistic.rows
        kappa = prior.kappa + n
        moved = statistic.moments.mean - prior.mean
        means = prior.mean + (n / kappa)[:, None] * moved
        nu, covariances = self._spread(statistic, moved, prior.kappa * n / kappa)
        sticks = self._sticks(n)
        return self._parameters(sticks, kappa, means, nu, covariances, n)

    def _spread(
        self, statistic: MixtureSums, moved: np.ndarray, factor: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """ν and Ψ / ν."""
        prior = self.prior
        n = statistic.rows
        S = statistic.moments.scatter
        d = moved.shape[1]
        # Ψ = Ψ_0 + S + κ_0 n / κ (x̄ - m_0)(x̄ - m_0)ᵀ and ν = ν_0 + n; a spherical form sums both
        # over columns, a tied one over components
        if self.form.diagonal:
            Psi = S + factor[:, None] * moved**2
            if self.form.name == "spherical":
                nu = prior.nu + d * n
                return nu, (prior.scale.mean() + Psi.sum(axis=1)) / nu
            nu = prior.nu + n
            return nu, (prior.scale + Psi) / nu[:, None]
        between = factor[:, None, None] * moved[:, :, None] * moved[:, None, :]
        if self.form.pooled:
            nu = np.full(len(n), prior.nu + n.sum())
            return nu, (prior.scale + S[0] + between.sum(axis=0)) / nu[0]
        nu = prior.nu + n
        return nu, (prior.scale + S + between) / nu[:, None, None]

    def _sticks(self, n: np.ndarray) -> np.ndarray:
        gamma = self.prior.concentration
        if self.prior.process:
            after = np.append(np.cumsum(n[::-1])[-2::-1], 0.0)
            return np.stack([1.0 + n, gamma + after])
        return np.stack([gamma + n, np.zeros(len(n))])

    def _parameters(
        self,
        sticks: np.ndarray,
        kappa: np.ndarray,
        means: np.ndarray,
        nu: np.ndarray,
        covariances: np.ndarray,
        counts: np.ndarray,
    ) -> VariationalParameters:
        log_weights, weights = self._expected_weights(sticks)
        at = ComponentValues.of(weights, means, covariances, self.form, self.variance)
        extra = 0.5 * (self._log_precision(nu) - means.shape[1] / kappa)
        values = ComponentValues(
            log_weights + extra, means, at.matrices, at.whitening, at.constant
        )
        return VariationalParameters(
            sticks, kappa, means, nu, covariances, weights, counts, values
        )

    def _expected_weights(self, sticks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """E[log π] and the expected weights, which sum to 1."""
        a, b = sticks
        if not self.prior.process:
            return digamma(a) - digamma(a.sum()), a / a.sum()
        left = digamma(b) - digamma(a + b)
        log_weights = digamma(a) - digamma(a + b) + np.append(0.0, np.cumsum(left)[:-1])
        rest = np.append(1.0, np.cumprod(b / (a + b))[:-1])
        weights = a / (a + b) * rest
        return log_weights, weights / weights.sum()

    def _log_precision(self, nu: np.ndarray) -> np.ndarray:
        """E[log |Λ|] - log |ν Ψ⁻¹|, of every component."""
        d = len(self.variance)
        if self.form.diagonal:
            return d * (digamma(0.5 * nu) + np.log(2.0) - np.log(nu))
        parts = digamma(0.5 * (nu[:, None] - np.arange(d))).sum(axis=1)
        return parts + d * (np.log(2.0) - np.log(nu))

    # -- the bound ---------------------------------------------------------------------

    def log_prior(self, parameters: VariationalParameters) -> float:
        """Minus the divergences of the posterior from the prior."""
        return -(
            self._weight_divergence(parameters.sticks)
            + self._mean_divergence(parameters)
            + self._precision_divergence(parameters)
        )

    def _weight_divergence(self, sticks: np.ndarray) -> float:
        a, b = sticks
        gamma = self.prior.concentration
        K = len(a)
        if self.prior.process:
            both = digamma(a + b)
            terms = betaln(1.0, gamma) - betaln(a, b)
            terms += (a - 1.0) * (digamma(a) - both) + (b - gamma) * (digamma(b) - both)
            return float(terms.sum())
        expected = digamma(a) - digamma(a.sum())
        levels = (
            gammaln(a.sum())
            - gammaln(K * gamma)
            - gammaln(a).sum()
            + K * gammaln(gamma)
        )
        return float(levels + ((a - gamma) * expected).sum())

    def _mean_divergence(self, at: VariationalParameters) -> float:
        ratio = self.prior.kappa / at.kappa
        d = at.means.shape[1]
        moved = at.means - self.prior.mean
        W = at.values.whitening
        if W.ndim == 2:
            white = moved * W
        else:
            white = np.einsum("kij,kj->ki", W, moved)
        widths = d * (ratio - 1.0 - np.log(ratio))
        distances = self.prior.kappa * (white**2).sum(axis=1)
        return float(0.5 * (widths + distances).sum())

    def _precision_divergence(self, at: VariationalParameters) -> float:
        prior = self.prior
        d = at.means.shape[1]
        # spherical and diagonal forms are products of Wisharts of one dimension
        if self.form.name == "spherical":
            scale = prior.scale.mean()
            ratio = scale / at.covariances
            log_det = np.log(at.covariances)
            return float(
                _wishart(1, at.nu, log_det, prior.nu, np.log(scale), ratio).sum()
            )
        if self.form.diagonal:
            nu = np.repeat(at.nu[:, None], d, axis=1)
            ratio = prior.scale / at.covariances
            log_det = np.log(at.covariances)
            return float(
                _wishart(1, nu, log_det, prior.nu, np.log(prior.scale), ratio).sum()
            )
        matrices = self.form.distinct(at.covariances, d)
        nu = at.nu[: len(matrices)]
        trace = np.einsum("kij,ji->k", np.linalg.inv(matrices), prior.scale)
        log_det = np.linalg.slogdet(matrices)[1]
        log_det_0 = float(np.linalg.slogdet(prior.scale)[1])
        return float(_wishart(d, nu, log_det, prior.nu, log_det_0, trace).sum())


def _wishart(
    p: int, nu: Any, log_det: Any, nu_0: float, log_det_0: Any, trace: Any
) -> Any:
    """The divergence of W(ν, Ψ⁻¹) from W(ν_0, Ψ_0⁻¹) in p dimensions.

    `log_det` is that of Ψ / ν, `log_det_0` that of Ψ_0, and `trace` is tr(Ψ_0 (Ψ/ν)⁻¹) = ν tr(Ψ_0
    Ψ⁻¹).
    """
    nu = np.asarray(nu, dtype=np.float64)
    log_psi = log_det + p * np.log(nu)
    level = (
        digamma(0.5 * (nu[..., None] - np.arange(p))).sum(axis=-1)
        + p * np.log(2.0)
        - log_psi
    )
    own = 0.5 * (nu * log_psi - nu * p * (1.0 + np.log(2.0))) - _multigammaln(
        0.5 * nu, p
    )
    other = 0.5 * (nu_0 * log_det_0 - trace - nu_0 * p * np.log(2.0)) - _multigammaln(
        0.5 * nu_0, p
    )
    return 0.5 * (nu - nu_0) * level + own - other


def _multigammaln(a: Any, p: int) -> Any:
    """The log of the multivariate gamma function in p dimensions, of every a."""
    parts = gammaln(np.asarray(a)[..., None] - 0.5 * np.arange(p))
    return 0.25 * p * (p - 1) * np.log(np.pi) + parts.sum(axis=-1)

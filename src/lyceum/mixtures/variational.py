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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, gammaln

from lyceum.mixtures.covariance_forms import CovarianceForm
from lyceum.mixtures.sums import ComponentValues, MixtureProblem, MixtureSums


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
    reg_covar: float = 0.0  # what is added to the variances of the rows of a component

    # -- M-step ------------------------------------------------------------------------

    def maximization(self, statistic: MixtureSums) -> VariationalParameters:
        # κ = κ_0 + n and m = m_0 + n/κ (x̄ - m_0)
        prior = self.prior
        n = statistic.rows
        kappa = prior.kappa + n
        moved = statistic.moments.mean - prior.mean
        means = prior.mean + (n / kappa)[:, None] * moved
        nu, covariances = self._spread(statistic, moved, prior.kappa * n / kappa)
        sticks = self._sticks(n)
        return self.parameters(sticks, kappa, means, nu, covariances, n)

    def _spread(
        self, statistic: MixtureSums, moved: np.ndarray, factor: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """ν and Ψ / ν."""
        prior = self.prior
        n = statistic.rows
        S = self._scatter(statistic)
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

    def _scatter(self, statistic: MixtureSums) -> np.ndarray:
        """S, with `reg_covar` added to the variances S / n."""
        S = statistic.moments.scatter
        n = statistic.rows
        if not self.reg_covar:
            return S
        added = self.reg_covar * (n if len(S) == len(n) else n.sum(keepdims=True))
        if S.ndim == 2:
            return S + added[:, None]
        return S + added[:, None, None] * np.eye(S.shape[-1])

    def _sticks(self, n: np.ndarray) -> np.ndarray:
        """q(π): Beta(1 + n_k, γ_0 + Σ_(j>k) n_j) of every stick, or Dirichlet(γ_0 + n)."""
        gamma = self.prior.concentration
        if self.prior.process:
            from_end = np.cumsum(n[::-1])
            after = np.append(from_end[-2::-1], 0.0)
            return np.stack([1.0 + n, gamma + after])
        return np.stack([gamma + n, np.zeros(len(n))])

    def parameters(
        self,
        sticks: np.ndarray,
        kappa: np.ndarray,
        means: np.ndarray,
        nu: np.ndarray,
        covariances: np.ndarray,
        counts: np.ndarray,
    ) -> VariationalParameters:
        """The posterior with these parameters, and what the E-step takes of it."""
        # The E-step is that of Gaussians with the covariances Ψ/ν, whose constant has -½ log |Ψ/ν|
        # in place of ½ E[log |Λ|]: the difference, and -½ d/κ, are added to E[log π].
        log_weights, weights = self._expected_weights(sticks)
        values = ComponentValues.of(
            weights, means, covariances, self.form, self.variance
        )
        extra = 0.5 * (self._log_precision(nu) - means.shape[1] / kappa)
        return VariationalParameters(
            sticks=sticks,
            kappa=kappa,
            means=means,
            nu=nu,
            covariances=covariances,
            weights=weights,
            counts=counts,
            values=replace(values, log_weights=log_weights + extra),
        )

    def _expected_weights(self, sticks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """E[log π] and the expected weights, which sum to 1."""
        a, b = sticks
        if not self.prior.process:
            return digamma(a) - digamma(a.sum()), a / a.sum()
        # π_k = v_k Π_(j<k) (1 - v_j) with v ~ Beta(a, b): logs add up, and so do expectations
        left = digamma(b) - digamma(a + b)
        log_rest = np.append(0.0, np.cumsum(left)[:-1])
        log_weights = digamma(a) - digamma(a + b) + log_rest
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
        weights = self._weight_divergence(parameters.sticks)
        means = self._mean_divergence(parameters)
        return -(weights + means + self._precision_divergence(parameters))

    def _weight_divergence(self, sticks: np.ndarray) -> float:
        a, b = sticks
        gamma = self.prior.concentration
        K = len(a)
        # of Beta(a, b) from Beta(1, γ_0), summed over the sticks
        if self.prior.process:
            log_v = digamma(a) - digamma(a + b)
            log_rest = digamma(b) - digamma(a + b)
            terms = betaln(1.0, gamma) - betaln(a, b)
            terms += (a - 1.0) * log_v + (b - gamma) * log_rest
            return float(terms.sum())
        # of Dirichlet(a) from Dirichlet(γ_0, ..., γ_0)
        expected = digamma(a) - digamma(a.sum())
        levels = gammaln(a.sum()) - gammaln(K * gamma)
        levels = levels - gammaln(a).sum() + K * gammaln(gamma)
        return float(levels + ((a - gamma) * expected).sum())

    def _mean_divergence(self, at: VariationalParameters) -> float:
        # of N(m, (κΛ)⁻¹) from N(m_0, (κ_0 Λ)⁻¹), expected over Λ: with ρ = κ_0/κ
        # ½ [d (ρ - 1 - log ρ) + κ_0 (m - m_0)ᵀ E[Λ] (m - m_0)], and E[Λ] = ν Ψ⁻¹ = Wᵀ W
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
        if self.form.diagonal:
            p = 1
            nu = np.repeat(at.nu[:, None], d, axis=1)
            scale = prior.scale
            if self.form.name == "spherical":
                nu = at.nu
                scale = prior.scale.mean()
            log_det = np.log(at.covariances)
            log_det_0 = np.log(scale)
            trace = scale / at.covariances
        else:
            p = d
            matrices = self.form.distinct(at.covariances, d)
            nu = at.nu[: len(matrices)]
            log_det = np.linalg.slogdet(matrices)[1]
            log_det_0 = float(np.linalg.slogdet(prior.scale)[1])
            trace = np.einsum("kij,ji->k", np.linalg.inv(matrices), prior.scale)
        divergence = _wishart_divergence(
            p, nu, log_det, prior.nu, log_det_0=log_det_0, trace=trace
        )
        return float(divergence.sum())


def _wishart_divergence(
    p: int, nu: Any, log_det: Any, nu_0: float, log_det_0: Any, trace: Any
) -> Any:
    """The divergence of W(ν, Ψ⁻¹) from W(ν_0, Ψ_0⁻¹) in p dimensions.

    `log_det` is that of Ψ / ν, `log_det_0` that of Ψ_0, and `trace` is tr(Ψ_0 (Ψ/ν)⁻¹) = ν tr(Ψ_0
    Ψ⁻¹).
    """
    # E[log q] - E[log p] under q, where `level` is E[log |Λ|] and E[Λ] = ν Ψ⁻¹
    nu = np.asarray(nu, dtype=np.float64)
    log_psi = log_det + p * np.log(nu)
    digammas = digamma(0.5 * (nu[..., None] - np.arange(p))).sum(axis=-1)
    level = digammas + p * np.log(2.0) - log_psi
    own = 0.5 * (nu * log_psi - nu * p * (1.0 + np.log(2.0)))
    own = own - _multigammaln(0.5 * nu, p)
    other = 0.5 * (nu_0 * log_det_0 - trace - nu_0 * p * np.log(2.0))
    other = other - _multigammaln(0.5 * nu_0, p)
    return 0.5 * (nu - nu_0) * level + own - other


def _multigammaln(a: Any, p: int) -> Any:
    """The log of the multivariate gamma function in p dimensions, of every a."""
    parts = gammaln(np.asarray(a)[..., None] - 0.5 * np.arange(p))
    return 0.25 * p * (p - 1) * np.log(np.pi) + parts.sum(axis=-1)

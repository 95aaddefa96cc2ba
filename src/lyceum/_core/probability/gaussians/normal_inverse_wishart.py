"""The conjugate prior of a Gaussian's mean and covariance, and the density of the next row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import multigammaln

from lyceum._core.report import Shown
from lyceum.errors import SettingError, number_setting


class StudentT(NamedTuple):
    """A multivariate Student-t distribution, or one per class with a leading axis of length K.

    Attributes
    ----------
    degrees : float or array of shape (K,)
        The degrees of freedom.
    location : array of shape (d,) or (K, d)
        The center; with more than one degree of freedom the mean.
    shape : array of shape (d, d) or (K, d, d)
        The shape matrix: the covariance times (degrees - 2) / degrees.

    See Also
    --------
    NormalInverseWishart : Its `predictive` makes it.
    lyceum.bayes.BayesianGaussianClassifier : Classes with such densities.

    References
    ----------
    A. Gelman and others, "Bayesian Data Analysis", third edition, CRC Press, 2013, section 3.6.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.probability import NormalInverseWishart
    >>> prior = NormalInverseWishart(np.zeros(1), 1.0, 3.0, np.array([[2.0]]), np.array([True]))
    >>> t = prior.predictive()
    >>> t.degrees, t.location.tolist(), t.shape.round(3).tolist()      # shape 2 (1 + 1) / (1 · 3)
    (3.0, [0.0], [[1.333]])
    """

    degrees: Any
    location: np.ndarray  # (d,) or (K, d)
    shape: np.ndarray  # (d, d) or (K, d, d)


@dataclass(frozen=True, slots=True)
class NormalInverseWishart(Shown):
    """Σ ~ IW(scale, nu) and μ | Σ ~ N(mean, Σ / kappa): knowledge of a Gaussian, or of one per
    class.

    Rows of weight n, mean x̄ and scatter S turn the prior (m_0, κ_0, ν_0, S_0) into the posterior

    κ_n = κ_0 + n,  ν_n = ν_0 + n,  m_n = (κ_0 m_0 + n x̄) / κ_n,
    S_n = S_0 + S + (κ_0 n / κ_n) (x̄ - m_0)(x̄ - m_0)ᵀ.

    Columns that are not `used` (constant ones, when the scale comes from the data) are ignored.

    Parameters
    ----------
    mean : array of shape (d,), or (K, d) for one per class
        The mean of μ.
    kappa, nu : float, or array of shape (K,)
        The number of rows that the prior of the mean and that of the covariance count as.
    scale : array of shape (d, d), or (K, d, d)
        The scale matrix of the inverse Wishart distribution.
    used : array of shape (d,), of bool
        Which columns are in use.

    Attributes
    ----------
    n_used : int
        The number of columns in use.

    See Also
    --------
    StudentT : The density of the next row.
    lyceum.bayes.BayesianGaussianClassifier : A classifier with such a prior for every class.
    BetaBernoulli, DirichletMultinomial, GammaPoisson : Conjugate priors of shares and rates.

    References
    ----------
    A. Gelman and others, "Bayesian Data Analysis", third edition, CRC Press, 2013, section 3.6.

    Examples
    --------
    >>> prior = NormalInverseWishart(np.zeros(1), 1.0, 3.0, np.array([[2.0]]), np.array([True]))
    >>> posterior = prior.update(3.0, np.array([1.0]), np.array([[2.0]]))
    >>> numbers = (posterior.kappa, posterior.nu, posterior.mean, posterior.scale)
    >>> tuple(number.tolist() for number in map(np.asarray, numbers))
    (4.0, 6.0, [0.75], [[4.75]])
    >>> float(posterior.predictive().degrees)
    6.0
    """

    mean: np.ndarray
    kappa: Any
    nu: Any
    scale: np.ndarray
    used: np.ndarray

    @classmethod
    def from_settings(
        cls,
        prior_mean: Any,
        kappa_0: float,
        nu_0: float | None,
        scale: Any,
        *,
        mean: np.ndarray,
        variance: np.ndarray,
    ) -> NormalInverseWishart:
        """The prior that the parameters of a learner describe.

        Parameters
        ----------
        prior_mean : "data", float or array of shape (d,)
            "data" takes `mean`.
        kappa_0 : float
        nu_0 : float or None
            Above d - 1; None takes d + 2, the least whole number for which the mean of Σ exists.
        scale : "data", float or array of shape (d, d)
            "data" takes the diagonal matrix for which the prior mean of Σ, S_0 / (ν_0 - d - 1), has
            the variances of the columns (with ν_0 <= d + 1 the variances themselves); constant
            columns are then not used, and d is the number of the others. A number s stands for s I.
        mean, variance : array of shape (d,)
            Of the columns, over all rows.
        """
        from_data = isinstance(scale, str)
        used = np.ones(len(variance), dtype=bool)
        if from_data:
            used = variance > 0
        d = int(used.sum())
        nu = float(d + 2 if nu_0 is None else nu_0)
        if nu <= d - 1:
            raise SettingError(
                f"nu_0 must be above d - 1, which is {d - 1} here, but it is {nu:g}"
            )
        if from_data:
            S_0 = np.diag(variance) * (nu - d - 1 if nu > d + 1 else 1.0)
        else:
            S_0 = positive_matrix("scale", scale, len(variance))
        return cls(prior_mean_vector(prior_mean, mean), kappa_0, nu, S_0, used)

    @property
    def n_used(self) -> int:
        """The number of columns in use."""
        return int(self.used.sum())

    def update(
        self, weight: object, mean: np.ndarray, scatter: np.ndarray
    ) -> NormalInverseWishart:
        """The posterior after rows of this weight, mean and scatter.

        Parameters
        ----------
        weight : float, or array of shape (K,) for K classes
        mean : array of shape (d,) or (K, d)
            May be anything where the weight is 0.
        scatter : array of shape (d, d) or (K, d, d)
        """
        n = np.asarray(weight, dtype=np.float64)
        posterior, between = self._update_means(n, mean)
        scale = self.scale + self._mask() * (scatter + between)
        return replace(posterior, nu=(self.nu + n)[()], scale=scale)

    def update_shared(
        self, weight: np.ndarray, mean: np.ndarray, scatter: np.ndarray
    ) -> NormalInverseWishart:
        """The posterior of K classes with one covariance, from their pooled scatter of shape (d,
        d).

        The scatters of all classes add up in one S_n, and ν_n = ν_0 + Σ n; the means stay their
        own.
        """
        posterior, between = self._update_means(weight, mean)
        scale = self.scale + self._mask() * (scatter + between.sum(axis=0))
        scales = np.repeat(scale[None], len(weight), axis=0)
        nu = np.full(len(weight), self.nu + weight.sum())
        return replace(posterior, nu=nu, scale=scales)

    def _update_means(
        self, n: np.ndarray, mean: np.ndarray
    ) -> tuple[NormalInverseWishart, np.ndarray]:
        """With κ_n and m_n, and the scatter (κ_0 n / κ_n) (x̄ - m_0)(x̄ - m_0)ᵀ between prior and
        rows."""
        # `[()]` makes a number of an array without axes, and leaves others as they are
        kappa = np.asarray(self.kappa + n)
        moved = np.where(n[..., None] > 0, mean - self.mean, 0.0)
        share = np.asarray(n / kappa)[..., None]
        between = (
            self.kappa * share[..., None] * moved[..., :, None] * moved[..., None, :]
        )
        return replace(self, kappa=kappa[()], mean=self.mean + share * moved), between

    def _mask(self) -> np.ndarray:
        """1 where both columns are used."""
        used = np.where(self.used, 1.0, 0.0)
        return used * used[:, None]

    def log_evidence(
        self, weight: float, mean: np.ndarray, scatter: np.ndarray
    ) -> float:
        """ln p(rows) of rows of this weight, mean and scatter, μ and Σ averaged over the prior.

        ln p = -(n d/2) ln π + ln Γ_d(ν_n/2) - ln Γ_d(ν_0/2) + (ν_0/2) ln |S_0| - (ν_n/2) ln |S_n|
        + (d/2) ln(κ_0/κ_n). Its difference between two models is their log Bayes factor.
        """
        after = self.update(weight, mean, scatter)
        d = self.n_used
        block = np.ix_(self.used, self.used)
        _, log_det_0 = np.linalg.slogdet(self.scale[block])
        _, log_det_n = np.linalg.slogdet(after.scale[block])
        gammas = 0.0
        if d:
            gammas = multigammaln(after.nu / 2.0, d) - multigammaln(self.nu / 2.0, d)
        log_kappas = d * np.log(self.kappa / after.kappa)
        shapes = 0.5 * (self.nu * log_det_0 - after.nu * log_det_n + log_kappas)
        return float(gammas + shapes - 0.5 * weight * d * np.log(np.pi))

    def mode(self) -> np.ndarray:
        """The covariance of the most probable (μ, Σ): S / (ν + d + 2)."""
        return self.scale / np.asarray(self.nu + self.n_used + 2.0)[..., None, None]

    def mean_covariance(self) -> np.ndarray:
        """The covariance of μ, E[Σ] / κ = S / ((ν - d - 1) κ); NaN where ν <= d + 1."""
        left = np.asarray(self.nu - self.n_used - 1.0)
        divisor = np.where(left > 0, left * self.kappa, np.nan)
        return self.scale / divisor[..., None, None]

    def predictive(self) -> StudentT:
        """The density of the next row: t with ν - d + 1 degrees of freedom, shape S (κ + 1) / (κ
        degrees)."""
        degrees = self.nu - self.n_used + 1.0
        growth = np.asarray((self.kappa + 1.0) / (self.kappa * degrees))
        return StudentT(degrees, self.mean, self.scale * growth[..., None, None])


def prior_mean_vector(prior_mean: Any, mean: np.ndarray) -> np.ndarray:
    """m_0 of shape (d,) from the parameter `prior_mean` of a learner.

    Parameters
    ----------
    prior_mean : "data", float or array of shape (d,)
        "data" takes `mean`; a number stands for every column.
    mean : array of shape (d,)
        The mean of all rows.

    Examples
    --------
    >>> prior_mean_vector(2.0, np.zeros(3)).tolist()
    [2.0, 2.0, 2.0]
    """
    if isinstance(prior_mean, str):
        return mean
    given = number_setting("prior_mean", prior_mean)
    if given.shape not in ((), mean.shape) or not np.isfinite(given).all():
        raise SettingError(
            f"prior_mean must be one finite number, or one for each of the {len(mean)} columns"
        )
    return np.broadcast_to(given, mean.shape)


def positive_matrix(name: str, value: object, d: int) -> np.ndarray:
    """A positive definite matrix of shape (d, d) from a parameter of a learner.

    Parameters
    ----------
    name : str
        The parameter, for the error message.
    value : float or array of shape (d, d)
        A number s stands for s I.
    d : int

    Examples
    --------
    >>> positive_matrix("scale", 2.0, 2).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    matrix = number_setting(name, value)
    if matrix.ndim == 0:
        matrix = matrix * np.eye(d)
    sound = (
        matrix.shape == (d, d)
        and bool(np.isfinite(matrix).all())
        and np.allclose(matrix, matrix.T)
    )
    if not sound or np.linalg.eigvalsh(matrix).min(initial=np.inf) <= 0:
        raise SettingError(
            f"{name} must be a positive definite matrix of shape ({d}, {d}), or one positive number"
        )
    return matrix

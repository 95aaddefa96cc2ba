"""Conjugate priors of shares and rates: Beta for a coin, Dirichlet for categories, Gamma for
counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, gammaln

from lyceum._core.report import Shown, Summary
from lyceum.errors import DataError, SettingError


@dataclass(frozen=True, slots=True)
class BetaBernoulli(Shown):
    """The Beta prior of the probability p of a 1, and its posterior.

    p ~ Beta(a, b), and after n_1 ones and n_0 zeros p ~ Beta(a + n_1, b + n_0).

    Parameters
    ----------
    a, b : float, default=1.0
        The number of ones and zeros that the prior counts as; 1 and 1 is the uniform prior.

    Attributes
    ----------
    mean : float
        a / (a + b): the probability that the next row is 1.
    mode : float
        The MAP estimate; NaN if it does not exist.
    variance : float
        The variance of p.

    See Also
    --------
    DirichletMultinomial : More than two values.
    GammaPoisson : Counts instead of zeros and ones.

    Examples
    --------
    >>> posterior = BetaBernoulli(2.0, 2.0).update([1, 1, 0])
    >>> posterior.a, posterior.b, posterior.mean, posterior.mode
    (4.0, 3.0, 0.5714285714285714, 0.6)
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        _check_positive("BetaBernoulli", a=self.a, b=self.b)

    def update(self, x: ArrayLike, weight: object = None) -> BetaBernoulli:
        """The posterior after rows x of 0 and 1, which may have weights; in parts or at once."""
        x, w = _check_values(x, weight)
        other = ~np.isin(x, (0.0, 1.0))
        if other.any():
            raise DataError(f"x holds {x[other][0]:g}: a coin shows 0 or 1")
        ones = float(w @ x)
        zeros = float(w @ (1.0 - x))
        return replace(self, a=self.a + ones, b=self.b + zeros)

    @property
    def mean(self) -> float:
        """a / (a + b): the probability that the next row is 1."""
        return self.a / (self.a + self.b)

    @property
    def mode(self) -> float:
        """(a - 1) / (a + b - 2): the MAP estimate; NaN if a or b is below 1, or both are 1."""
        if min(self.a, self.b) < 1.0 or self.a + self.b == 2.0:
            return float("nan")
        return (self.a - 1.0) / (self.a + self.b - 2.0)

    @property
    def variance(self) -> float:
        """p (1 - p) / (a + b + 1) at the mean p."""
        return self.mean * (1.0 - self.mean) / (self.a + self.b + 1.0)

    def log_evidence(self, x: ArrayLike, weight: object = None) -> float:
        """ln P(x), p averaged over the prior: ln B(a + n_1, b + n_0) - ln B(a, b)."""
        after = self.update(x, weight)
        return float(betaln(after.a, after.b) - betaln(self.a, self.b))

    def summary(self) -> Summary:
        """Parameters, mean, mode and standard deviation."""
        facts = {
            "a": self.a,
            "b": self.b,
            "mean": self.mean,
            "mode": self.mode,
            "sd": self.variance**0.5,
        }
        return Summary("probability of a 1: Beta", facts)


@dataclass(frozen=True, slots=True, eq=False)
class DirichletMultinomial(Shown):
    """The Dirichlet prior of the shares of K values, and its posterior.

    Before any row the shares are Dirichlet(α), and after n_k rows of every value k Dirichlet(α +
    n).

    Parameters
    ----------
    alpha : array of shape (K,)
        The number of rows of every value that the prior counts as.

    Attributes
    ----------
    mean : array of shape (K,)
        α_k / α_0: the probability that the next row has the value k.
    mode : array of shape (K,)
        The MAP estimate; NaN if it does not exist.

    See Also
    --------
    BetaBernoulli : Two values.
    class_priors : Class priors under a Dirichlet prior.

    Examples
    --------
    >>> posterior = DirichletMultinomial([1.0, 1.0, 2.0]).update([3, 0, 1])
    >>> posterior.alpha.tolist(), posterior.mean.tolist()
    ([4.0, 1.0, 3.0], [0.5, 0.125, 0.375])
    """

    alpha: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", np.asarray(self.alpha, dtype=np.float64))
        if self.alpha.ndim != 1 or not len(self.alpha):
            raise SettingError(
                f"alpha has the shape {self.alpha.shape}: give one number per value"
            )
        _check_positive("DirichletMultinomial", alpha=self.alpha)

    def update(self, counts: Any) -> DirichletMultinomial:
        """The posterior after counts[k] rows (or their weight) of every value k."""
        n = np.asarray(counts, dtype=np.float64)
        if n.shape != self.alpha.shape or not np.isfinite(n).all() or (n < 0).any():
            raise DataError(
                f"counts are {n.tolist()}: give {len(self.alpha)} numbers that are at least 0"
            )
        return DirichletMultinomial(self.alpha + n)

    @property
    def mean(self) -> np.ndarray:
        """α_k / α_0: the probability that the next row has the value k."""
        return self.alpha / self.alpha.sum()

    @property
    def mode(self) -> np.ndarray:
        """(α_k - 1) / (α_0 - K): the MAP estimate; NaN if some α_k is below 1, or all are 1."""
        left = self.alpha - 1.0
        if (left >= 0).all() and left.any():
            return left / left.sum()
        return np.full(len(left), np.nan)

    def log_evidence(self, counts: Any) -> float:
        """ln P(rows in their order), the shares averaged over the prior."""
        after = self.update(counts).alpha
        parts = gammaln(after).sum() - gammaln(self.alpha).sum()
        return float(parts + gammaln(self.alpha.sum()) - gammaln(after.sum()))

    def summary(self) -> Summary:
        """Parameters, mean and mode."""
        facts = {
            "alpha": self.alpha.tolist(),
            "mean": self.mean.tolist(),
            "mode": self.mode.tolist(),
        }
        return Summary("shares of the values: Dirichlet", facts)


@dataclass(frozen=True, slots=True)
class GammaPoisson(Shown):
    """The Gamma prior of the rate λ of counts, and its posterior.

    λ ~ Gamma(shape, rate), and after n counts of sum s λ ~ Gamma(shape + s, rate + n).

    Parameters
    ----------
    shape, rate : float, default=1.0
        The prior counts as rows with this sum of counts, and as this number of rows.

    Attributes
    ----------
    mean : float
        shape / rate: the expected next count.
    mode : float
        The MAP estimate, 0 for a shape below 1.
    variance : float
        The variance of λ.

    See Also
    --------
    BetaBernoulli, DirichletMultinomial : Priors of shares instead of rates.

    Examples
    --------
    >>> posterior = GammaPoisson(2.0, 1.0).update([3, 5, 4])
    >>> posterior.shape, posterior.rate, posterior.mean
    (14.0, 4.0, 3.5)
    """

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        _check_positive("GammaPoisson", shape=self.shape, rate=self.rate)

    def update(self, x: ArrayLike, weight: object = None) -> GammaPoisson:
        """The posterior after the counts x, which may have weights; in parts or at once."""
        x, w = _counts(x, weight)
        return replace(
            self, shape=self.shape + float(w @ x), rate=self.rate + float(w.sum())
        )

    @property
    def mean(self) -> float:
        """shape / rate: the expected next count."""
        return self.shape / self.rate

    @property
    def mode(self) -> float:
        """(shape - 1) / rate: the MAP estimate, 0 for a shape below 1."""
        return max(self.shape - 1.0, 0.0) / self.rate

    @property
    def variance(self) -> float:
        """shape / rate²."""
        return self.shape / self.rate**2

    def predictive(self, x: ArrayLike) -> np.ndarray:
        """P(next count = x): the negative binomial distribution."""
        # Γ(a + x) / (Γ(a) x!) (b / (b + 1))^a (1 / (b + 1))^x, with a the shape and b the rate
        x, _ = _counts(x, None)
        share = np.log(self.rate) - np.log1p(self.rate)
        ways = gammaln(self.shape + x) - gammaln(self.shape) - gammaln(x + 1.0)
        return np.exp(ways + self.shape * share - x * np.log1p(self.rate))

    def log_evidence(self, x: ArrayLike, weight: object = None) -> float:
        """ln P(x), λ averaged over the prior."""
        # ln of b^a / b_n^a_n · Γ(a_n) / Γ(a) / Π x!
        after = self.update(x, weight)
        x, w = _counts(x, weight)
        rates = self.shape * np.log(self.rate) - after.shape * np.log(after.rate)
        gammas = rates + gammaln(after.shape) - gammaln(self.shape)
        return float(gammas - w @ gammaln(x + 1.0))

    def summary(self) -> Summary:
        """Parameters, mean, mode and standard deviation."""
        facts = {
            "shape": self.shape,
            "rate": self.rate,
            "mean": self.mean,
            "mode": self.mode,
        }
        return Summary("rate of counts: Gamma", {**facts, "sd": self.variance**0.5})


def _check_positive(caller: str, **values: Any) -> None:
    for name, value in values.items():
        if not (np.isfinite(value).all() and (np.asarray(value) > 0).all()):
            raise SettingError(f"{caller}: {name} must be positive, but it is {value}")


def _check_values(x: ArrayLike, weight: object) -> tuple[np.ndarray, np.ndarray]:
    x = np.atleast_1d(np.asarray(x, dtype=np.float64))
    if weight is None:
        w = np.ones(len(x))
    else:
        w = np.atleast_1d(np.asarray(weight, dtype=np.float64))
    if x.ndim != 1 or w.shape != x.shape or not np.isfinite(w).all() or (w < 0).any():
        raise DataError(
            f"x has the shape {x.shape}: give one value per row, and weights of at least 0"
        )
    return x, w


def _counts(x: ArrayLike, weight: object) -> tuple[np.ndarray, np.ndarray]:
    x, w = _check_values(x, weight)
    whole = np.isfinite(x).all() and (x == np.rint(x)).all()
    if not whole or not (x >= 0).all():
        raise DataError("counts are whole numbers of at least 0")
    return x, w

"""Gaussian classes that average over their means and covariances: Student-t densities."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgWarning
from scipy.special import gammaln

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.probability import (
    PRIOR_CONSTRAINTS,
    RIDGE,
    NormalInverseWishart,
    gaussian_log_density,
    log_probability,
    runner_up_odds,
    whiten,
)
from lyceum._core.statistics import ClassScatter
from lyceum._core.types import Categories, Operation, Priors
from lyceum.bayes.discriminant import QuadraticRule
from lyceum.errors import cannot_export
from lyceum.report import Summary


class BayesianGaussianClassifier(QuadraticRule):
    """Bayesian Gaussian classes: a Normal-inverse-Wishart prior, and Student-t predictive
    densities.

    A class has Σ ~ IW(S_0, ν_0) and μ | Σ ~ N(m_0, Σ/κ_0). After n rows of mean x̄ and scatter S:

    κ_n = κ_0 + n,  ν_n = ν_0 + n,  m_n = (κ_0 m_0 + n x̄) / κ_n,
    S_n = S_0 + S + (κ_0 n / κ_n) (x̄ - m_0)(x̄ - m_0)ᵀ,

    and a new row of the class is Student-t with ν = ν_n - d + 1 degrees of freedom, location m_n
    and shape matrix S_n (κ_n + 1) / (κ_n ν). P(k | x) ∝ π_k t_ν(x; m_n, ...). With
    `covariance="shared"` all classes have one Σ, so that their scatters add up in one S_n, and ν_n
    = ν_0 + N; the means stay their own.

    The density of a class of few rows is broad, so that the posteriors express the uncertainty.
    With more rows it approaches the Gaussian of `QuadraticDiscriminantAnalysis`. A class without
    rows has the predictive density of the prior. The update is recursive: `partial_fit` on parts
    equals `fit` on all rows.

    Parameters
    ----------
    covariance : {"separate", "shared"}, default="separate"
        A covariance for every class, or one for all.
    prior_mean : "data", float or array of shape (d,), default="data"
        m_0; "data" takes the mean of all rows.
    kappa_0 : float, default=0.01
        κ_0, how many rows the prior mean counts for.
    nu_0 : float or None, default=None
        ν_0 > d - 1, how many rows the prior covariance counts for; None takes d + 2, the least
        whole number for which the prior mean of Σ exists.
    scale : "data", float or array of shape (d, d), default="data"
        S_0. "data" takes the diagonal matrix for which the prior mean of Σ, S_0 / (ν_0 - d - 1),
        has the variances of the columns over all rows (with ν_0 <= d + 1, where that mean does not
        exist, the variances themselves); columns that are constant are then left out, and d is the
        number of the others. A number s stands for s I.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories: those of a category or text type, all, or the ones given.
        They are coded without their first category.

    Attributes
    ----------
    means_ : array of shape (K, d)
        m_n.
    kappa_, nu_ : array of shape (K,)
        κ_n and ν_n.
    nu_0_ : float
        ν_0 as used.
    scale_ : array of shape (K, d, d)
        S_n; equal for all classes when they share it.
    degrees_ : array of shape (K,)
        The degrees of freedom of the predictive densities.
    shape_ : array of shape (K, d, d)
        Their shape matrices.
    statistic_ : ClassScatter
        The merged statistic of all rows seen.

    See Also
    --------
    QuadraticDiscriminantAnalysis : The same classes by maximum likelihood.
    lyceum.density.GaussianDensity : The same estimate without classes.

    References
    ----------
    A. Gelman and others, "Bayesian Data Analysis", third edition, CRC Press, 2013, section 3.6.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.bayes import BayesianGaussianClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0]])
    >>> model = BayesianGaussianClassifier(prior_mean=0.0, kappa_0=1.0, nu_0=3.0, scale=2.0)
    >>> model = model.fit(X, ["near", "near", "near", "far"])
    >>> model.means_.ravel().tolist(), model.degrees_.tolist()
    ([3.5, 0.75], [4.0, 6.0])
    >>> model.predict([[1.5], [6.0]]).tolist()
    ['near', 'far']
    """

    _parameter_constraints: ClassVar[dict] = {
        "covariance": [StrOptions({"separate", "shared"})],
        "prior_mean": [
            StrOptions({"data"}),
            Interval(Real, None, None, closed="neither"),
            "array-like",
        ],
        "kappa_0": [Interval(Real, 0, None, closed="neither")],
        "nu_0": [None, Interval(Real, 0, None, closed="neither")],
        "scale": [
            StrOptions({"data"}),
            Interval(Real, 0, None, closed="neither"),
            "array-like",
        ],
        "categorical_features": CATEGORICAL_FEATURES,
        **PRIOR_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        covariance: str = "separate",
        prior_mean: Any = "data",
        kappa_0: float = 0.01,
        nu_0: float | None = None,
        scale: Any = "data",
        priors: Priors = None,
        prior_alpha: ArrayLike = 1.0,
        categorical_features: Categories = "from_dtype",
    ):
        self.covariance = covariance
        self.prior_mean = prior_mean
        self.kappa_0 = kappa_0
        self.nu_0 = nu_0
        self.scale = scale
        self.priors = priors
        self.prior_alpha = prior_alpha
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def _statistic(self) -> Callable[[Block], ClassScatter]:
        return partial(ClassScatter.of, pooled=self.covariance == "shared")

    def _finish(self, statistic: ClassScatter) -> None:
        _, total_variance = self._finish_classes(statistic)
        prior = NormalInverseWishart.from_settings(
            self.prior_mean,
            self.kappa_0,
            self.nu_0,
            self.scale,
            mean=self.mean_,
            variance=total_variance,
        )
        self.nu_0_ = prior.nu
        d = prior.n_used
        if self.covariance == "shared":
            update = prior.update_shared
            scatter = statistic.scatter[0]
        else:
            update = prior.update
            scatter = statistic.scatter
        posterior = update(statistic.weight, statistic.mean, scatter)
        self.kappa_ = posterior.kappa
        self.nu_ = posterior.nu
        self.scale_ = posterior.scale
        self.degrees_, self.means_, self.shape_ = posterior.predictive()
        white = [whiten(shape, np.where(prior.used, 1.0, 0.0)) for shape in self.shape_]
        if any(w.dependent is not None for w in white):
            self._warn_of_singular()
        self._whiten = np.stack([w.W for w in white])
        # ln t_ν(x) = ln Γ((ν+d)/2) - ln Γ(ν/2) - ½ [d ln πν + ln |shape|] - (ν+d)/2 ln(1 + q/ν)
        log_det = np.array([w.log_det for w in white])
        half = 0.5 * self.degrees_
        self._power = half + 0.5 * d
        gammas = gammaln(self._power) - gammaln(half)
        spread = 0.5 * (d * np.log(np.pi * self.degrees_) + log_det)
        self._constant = log_probability(self.priors_) + (gammas - spread)

    def _warn_of_singular(self) -> None:
        warnings.warn(
            "BayesianGaussianClassifier: columns that follow from others make a covariance"
            f" singular, and the prior's scale is too small to undo it: {RIDGE:g} of the variance"
            " of each column was added. Give a larger scale, or drop such columns",
            LinAlgWarning,
            stacklevel=4,
        )

    # -- predict -----------------------------------------------------------------------

    def _operations(self) -> list[Operation]:
        raise cannot_export(self, "its densities are Student's")

    def _log_joint(self, block: Block) -> np.ndarray:
        # with the constant 0 the Gaussian kernel gives -½ q
        half = gaussian_log_density(
            block.X, self.means_, self._whiten, np.zeros(len(self.classes_))
        )
        return self._constant - self._power * np.log1p(-2.0 * half / self.degrees_)

    # -- what was learned --------------------------------------------------------------

    def _column_odds(self, block: Block) -> np.ndarray:
        # log(1 + q/ν) is not a sum over columns: it is split in proportion to their parts of q
        parts = self._squared_parts(block)
        q = parts.sum(axis=2)
        drop = self._power * np.log1p(q / self.degrees_)
        shares = np.divide(drop, q, out=np.zeros_like(q), where=q > 0)
        return runner_up_odds(-parts * shares[:, :, None], self._constant)

    def summary(self) -> Summary:
        """Class priors, posterior means, and the prior."""
        head = super().summary()
        facts = {
            "kappa_0": self.kappa_0,
            "nu_0": self.nu_0_,
            "degrees of freedom": self.degrees_,
        }
        return Summary(head.title, {**head.facts, **facts}, head.tables)

    def _divisor(self) -> str:
        return "nothing: covariances are averaged over"

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        d = len(self.design_names)
        return {
            "means_": (K, d),
            "_whiten": (K, d, d),
            "_constant": (K,),
            "_power": (K,),
            "degrees_": (K,),
            "mean_": (d,),
            "priors_": (K,),
        }

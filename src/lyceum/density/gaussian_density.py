"""One Gaussian over all columns, by maximum likelihood or with a prior."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import stats
from scipy.linalg import LinAlgWarning
from scipy.special import gammaln
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Density, OnePassLearner
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block
from lyceum._core.probability import (
    RIDGE,
    NormalInverseWishart,
    gaussian_log_density,
    positive_matrix,
    prior_mean_vector,
    whiten,
)
from lyceum._core.statistics import PositiveFactor, Scatter
from lyceum._core.types import Categories, Data, Seed
from lyceum.density.boxes import CATEGORIES, check_box
from lyceum.errors import SettingError
from lyceum.evaluate import degrees_of_freedom
from lyceum.report import Explanation, Summary, Table


class GaussianDensity(Density, OnePassLearner):
    """Gaussian density, by maximum likelihood, the mode of a posterior, or averaged over the
    posterior.

    "ml": N(x̄, S/n), with x̄ the mean and S the scatter of n rows.

    Under a Normal-inverse-Wishart prior, Σ ~ IW(S_0, ν_0) and μ | Σ ~ N(m_0, Σ/κ_0), n rows give
    κ_n = κ_0 + n,  ν_n = ν_0 + n,  m_n = (κ_0 m_0 + n x̄) / κ_n,
    S_n = S_0 + S + (κ_0 n / κ_n) (x̄ - m_0)(x̄ - m_0)ᵀ.

    "map": N(m_n, S_n / (ν_n + d + 2)), the mode of the posterior.
    "bayes": Student-t with ν = ν_n - d + 1 degrees of freedom about m_n, with the shape matrix
    S_n (κ_n + 1) / (κ_n ν): the density of the next row.

    If the covariance Σ is known, only the mean is learned, from a prior N(m_0, V_0):
    V_n⁻¹ = V_0⁻¹ + n Σ⁻¹, m_n = V_n (V_0⁻¹ m_0 + n Σ⁻¹ x̄); "ml" is N(x̄, Σ), "map" N(m_n, Σ) and
    "bayes" N(m_n, Σ + V_n).

    `partial_fit` on parts of the rows gives the result of `fit` on all of them. A constant column
    is left out of the density, unless a prior or a known covariance gives it a variance; for one
    that depends linearly on others a ridge of 1e-6 of the variances is added, with a warning. A
    column of categories becomes one-of-C columns without that of its first category.

    Parameters
    ----------
    estimate : {"ml", "map", "bayes"}, default="ml"
        Maximum likelihood, the mode of the posterior, or the average over the posterior.
    prior_mean : "data", float or array of shape (d,), default="data"
        m_0; "data" takes the mean of all rows.
    kappa_0 : float, default=0.01
        κ_0, how many rows the prior mean counts for.
    nu_0 : float or None, default=None
        ν_0 > d - 1, how many rows the prior covariance counts for; None takes d + 2.
    scale : "data", float or array of shape (d, d), default="data"
        S_0; "data" takes the diagonal matrix for which the prior mean of Σ, S_0 / (ν_0 - d - 1),
        has the variances of the columns (with ν_0 <= d + 1 the variances themselves). A number s
        stands for s I.
    known_covariance : float, array of shape (d, d) or None, default=None
        Σ, if it is known; `kappa_0`, `nu_0` and `scale` are then not used.
    prior_covariance : float, array of shape (d, d) or None, default=None
        V_0 when Σ is known; None is a flat prior, so that m_n = x̄ and V_n = Σ/n.

    Attributes
    ----------
    mean_ : array of shape (d,)
        The location of the density.
    covariance_ : array of shape (d, d)
        Its covariance, or its shape matrix if it is Student-t.
    degrees_ : float
        Its degrees of freedom, inf if it is Gaussian.
    kappa_ : float
        κ_n; NaN where it is not used.
    nu_ : float
        ν_n; NaN where it is not used.
    log_evidence_ : float
        ln p(rows), the parameters averaged over the prior, to compare priors or models by; for
        "map" and "bayes" with an unknown covariance, else NaN.
    mean_covariance_ : array of shape (d, d)
        The uncertainty of the mean: S/n² for "ml", E[Σ]/κ_n by the posterior (NaN if ν_n <= d + 1),
        or V_n.
    statistic_ : Scatter
        The merged statistic, which `partial_fit` adds to.

    See Also
    --------
    lyceum.bayes.BayesianGaussianClassifier : one such density per class.
    lyceum.probability.NormalInverseWishart : the prior and its posterior.
    KernelDensity : without the assumption of a Gaussian.

    References
    ----------
    Murphy, K. P. (2012). Machine Learning: A Probabilistic Perspective, section 4.6. MIT Press.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.density import GaussianDensity
    >>> X = np.array([[4.0], [5.0], [6.0]])
    >>> GaussianDensity().fit(X).covariance_.round(4).tolist()
    [[0.6667]]
    >>> prior = {"prior_mean": 0.0, "known_covariance": 1.0, "prior_covariance": 1.0}
    >>> model = GaussianDensity(estimate="bayes", **prior)
    >>> model = model.fit(X[:1]).partial_fit(X[1:])
    >>> model.mean_.round(12).tolist(), model.covariance_.round(12).tolist()
    ([3.75], [[1.25]])
    """

    _coding = "reference"

    _parameter_constraints: ClassVar[dict] = {
        "estimate": [StrOptions({"ml", "map", "bayes"})],
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
        "known_covariance": [
            None,
            Interval(Real, 0, None, closed="neither"),
            "array-like",
        ],
        "prior_covariance": [
            None,
            Interval(Real, 0, None, closed="neither"),
            "array-like",
        ],
        **CATEGORIES,
    }

    def __init__(
        self,
        *,
        estimate: str = "ml",
        prior_mean: Any = "data",
        kappa_0: float = 0.01,
        nu_0: float | None = None,
        scale: Any = "data",
        known_covariance: Any = None,
        prior_covariance: Any = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.estimate = estimate
        self.prior_mean = prior_mean
        self.kappa_0 = kappa_0
        self.nu_0 = nu_0
        self.scale = scale
        self.known_covariance = known_covariance
        self.prior_covariance = prior_covariance
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def _statistic(self) -> Callable[[Block], Scatter]:
        return Scatter.of

    def _finish(self, statistic: Scatter) -> None:
        fit: GaussianFit = fit_gaussian(statistic, self)
        self.mean_ = fit.mean
        self.covariance_ = fit.covariance
        self.degrees_ = fit.degrees
        self.kappa_ = fit.kappa
        self.nu_ = fit.nu
        self.mean_covariance_ = fit.mean_covariance
        self.log_evidence_ = fit.log_evidence
        white = whiten(self.covariance_, np.diag(self.covariance_))
        if white.dependent is not None:
            self._warn_of(white.dependent)
        self._whiten = white.W
        self._used = np.diag(self.covariance_) > 0
        # the log density at the mean: -½ [d ln 2π + ln |Σ|], or for Student-t
        # ln Γ((ν+d)/2) - ln Γ(ν/2) - ½ [d ln πν + ln |shape|]
        d = int(self._used.sum())
        if np.isinf(self.degrees_):
            self._peak = -0.5 * (d * np.log(2 * np.pi) + white.log_det)
        else:
            half = 0.5 * self.degrees_
            spread = 0.5 * (d * np.log(np.pi * self.degrees_) + white.log_det)
            self._peak = float(gammaln(half + 0.5 * d) - gammaln(half) - spread)

    def _warn_of(self, dependent: int) -> None:
        warnings.warn(
            f"GaussianDensity: column {self.design_names[dependent]!r} depends linearly on others,"
            f" and the covariance is singular: {RIDGE:g} of the variance of each column was added."
            " Drop such columns, or use estimate='bayes' with a prior scale",
            LinAlgWarning,
            stacklevel=5,
        )

    # -- the density -------------------------------------------------------------------

    def _log_density(self) -> Callable[[Block], np.ndarray]:
        return self._log_density_of

    def _log_density_of(self, block: Block) -> np.ndarray:
        half = gaussian_log_density(
            block.X, self.mean_[None], self._whiten[None], np.zeros(1)
        )
        return self._log_at(-2.0 * half[:, 0])

    def _log_at(self, q: Any) -> Any:
        """log f at a squared distance q from the mean, in units of the covariance."""
        if np.isinf(self.degrees_):
            return self._peak - 0.5 * q
        power = 0.5 * (self.degrees_ + self._used.sum())
        return self._peak - power * np.log1p(q / self.degrees_)

    def _threshold(self, quantile: float) -> float:
        # q is chi-squared with d degrees of freedom, or d times F(d, ν) for Student-t.
        d = int(self._used.sum())
        if d == 0:
            return self._peak
        if np.isinf(self.degrees_):
            return float(self._log_at(stats.chi2.isf(quantile, d)))
        return float(self._log_at(d * stats.f.isf(quantile, d, self.degrees_)))

    def integrate(self, box: Any) -> float:
        """The probability of a box.

        In closed form for one column; for more by SciPy's quasi-Monte Carlo integral, within about
        1e-5.

        Parameters
        ----------
        box : array of shape (d, 2)
            The low and high ends of every column; they may be infinite.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        low, high = check_box(box, self.design_names).T
        # a column without variance is at its mean
        used = self._used
        if not ((low <= self.mean_) & (self.mean_ <= high))[~used].all():
            return 0.0
        low = low[used]
        high = high[used]
        mean = self.mean_[used]
        shape = self.covariance_[np.ix_(used, used)]
        if len(mean) == 0:
            return 1.0
        if len(mean) == 1:
            line = stats.t(self.degrees_, mean[0], np.sqrt(shape[0, 0]))
            return float(line.cdf(high[0]) - line.cdf(low[0]))
        if np.isinf(self.degrees_):
            together = stats.multivariate_normal(
                mean, shape, allow_singular=True, seed=0
            )
            return float(together.cdf(high, lower_limit=low))
        return float(
            stats.multivariate_t.cdf(
                high, mean, shape, self.degrees_, lower_limit=low, random_state=0
            )
        )

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Rows drawn from the density.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows.
        random_state : int, RandomState or None, default=None
            The seed.

        Returns
        -------
        array of shape (n_samples, d)
        """
        check_is_fitted(self)
        random = check_random_state(random_state)
        used = self._used
        noise = random.standard_normal((n_samples, int(used.sum())))
        # Student-t: a Gaussian over the root of χ²_ν / ν. W z = noise gives z of covariance Σ.
        if np.isfinite(self.degrees_):
            stretch = self.degrees_ / random.chisquare(self.degrees_, n_samples)
            noise *= np.sqrt(stretch)[:, None]
        unwhiten = np.linalg.inv(self._whiten[np.ix_(used, used)])
        out = np.tile(self.mean_, (n_samples, 1))
        out[:, used] += noise @ unwhiten.T
        return out

    def _n_parameters(self) -> int:
        if self.estimate == "bayes":
            raise SettingError(
                "estimate='bayes' averages over the parameters: count those of 'ml' or 'map'"
            )
        d = int(self._used.sum())
        if self.known_covariance is not None:
            return d
        return degrees_of_freedom("gaussian", d=d)

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """How much every column lowers the log density, from its value at the mean.

        (x - μ)ᵀ Σ⁻¹ (x - μ) is a sum over the columns of (x - μ)_j (Σ⁻¹ (x - μ))_j: the term of two
        columns is split evenly between them. For Student-t the drop is split in proportion to these
        parts.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        return self._explain(X, self._column_terms, "log density")

    def _column_terms(self, block: Block) -> np.ndarray:
        """The log density, its peak, and what every column takes off."""
        # z_j (Σ⁻¹ z)_j with z = x - μ and Σ⁻¹ = Wᵀ W; of q = Σ_j each takes its share of the drop
        centered = np.asarray(block.X, dtype=np.float64) - self.mean_
        parts = centered * (centered @ (self._whiten.T @ self._whiten))
        q = parts.sum(axis=1)
        log_density = self._log_at(q)
        rate = np.divide(log_density - self._peak, q, out=np.zeros_like(q), where=q > 0)
        peak = np.full(len(q), self._peak)
        return np.column_stack([log_density, peak, parts * rate[:, None]])

    def summary(self) -> Summary:
        """The location and spread of every column, and how they were estimated."""
        head = super().summary()
        facts = {
            "rows": self.statistic_.n_rows,
            "weight": self.statistic_.weight,
            "density": "Gaussian" if np.isinf(self.degrees_) else "Student-t",
        }
        for name, value in (
            ("degrees of freedom", self.degrees_),
            ("kappa_n", self.kappa_),
            ("nu_n", self.nu_),
            ("ln evidence", self.log_evidence_),
        ):
            if np.isfinite(value):
                facts[name] = value
        spread = np.sqrt(np.diag(self.covariance_))
        rows = [*zip(self.design_names, self.mean_.tolist(), spread.tolist())]
        table = Table(
            "Columns", ("column", "location", "standard deviation (scale)"), rows
        )
        return Summary(head.title, {**head.facts, **facts}, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        return {"mean_": (d,), "covariance_": (d, d), "_whiten": (d, d), "_used": (d,)}


class GaussianFit(NamedTuple):
    """A Gaussian (degrees inf) or Student-t density, and the uncertainty of its mean."""

    mean: np.ndarray
    covariance: np.ndarray
    mean_covariance: np.ndarray
    degrees: float = np.inf
    kappa: float = np.nan
    nu: float = np.nan
    log_evidence: float = np.nan


def fit_gaussian(statistic: Scatter, params: Any) -> GaussianFit:
    """The density from the merged statistic; `params` is the learner with its parameters."""
    if params.known_covariance is not None:
        return _known_covariance(statistic, params)
    n = statistic.weight
    x = statistic.mean
    S = statistic.scatter
    if params.estimate == "ml":
        return GaussianFit(x, S / n, mean_covariance=S / n / n)
    prior = NormalInverseWishart.from_settings(
        params.prior_mean,
        params.kappa_0,
        params.nu_0,
        params.scale,
        mean=x,
        variance=np.diag(S) / n,
    )
    posterior = prior.update(n, x, S)
    if params.estimate == "map":
        covariance = posterior.mode()
        degrees = np.inf
    else:
        next_row = posterior.predictive()
        covariance = next_row.shape
        degrees = float(next_row.degrees)
    return GaussianFit(
        mean=np.where(prior.used, posterior.mean, x),
        covariance=covariance,
        mean_covariance=posterior.mean_covariance(),
        degrees=degrees,
        kappa=float(posterior.kappa),
        nu=float(posterior.nu),
        log_evidence=prior.log_evidence(n, x, S),
    )


def _known_covariance(statistic: Scatter, params: Any) -> GaussianFit:
    n = statistic.weight
    x = statistic.mean
    d = len(statistic.mean)
    covariance = positive_matrix("known_covariance", params.known_covariance, d)
    error = covariance / n
    m_0 = prior_mean_vector(params.prior_mean, x)
    if params.estimate == "ml" or params.prior_covariance is None:
        m_n = x
        V_n = error
    else:
        # m_n = m_0 + V_0 (V_0 + Σ/n)⁻¹ (x̄ - m_0), V_n = V_0 (V_0 + Σ/n)⁻¹ Σ/n
        V_0 = positive_matrix("prior_covariance", params.prior_covariance, d)
        gain = PositiveFactor.of(V_0 + error).solve(V_0).T
        m_n = m_0 + gain @ (x - m_0)
        V_n = gain @ error
        V_n = 0.5 * (V_n + V_n.T)
    # the next row varies by Σ about a mean that is itself uncertain
    if params.estimate == "bayes":
        covariance = covariance + V_n
    return GaussianFit(m_n, covariance, mean_covariance=V_n)

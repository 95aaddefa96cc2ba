"""A mixture of Gaussians by expectation-maximization."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.statistics import Moments
from lyceum._core.steps import StepColumn
from lyceum._core.types import Categories
from lyceum.mixtures.base import MIXTURE_CONSTRAINTS
from lyceum.mixtures.covariance_forms import CovariancePrior
from lyceum.mixtures.elliptical import (
    EllipticalMixture,
    EllipticalProblem,
    elliptical_steps,
    within_variance,
)
from lyceum.mixtures.named_forms import FORMS
from lyceum.mixtures.plateau import LOOK_AHEAD_ROWS, look_ahead
from lyceum.mixtures.start import ScaledCells, WhitenedCells, sample_rows
from lyceum.mixtures.sums import MixtureSums

ELLIPTICAL_CONSTRAINTS: dict[str, list] = {
    **MIXTURE_CONSTRAINTS,
    "covariance_type": [StrOptions(set(FORMS))],
    "prior_rows": [Interval(Real, 0, None, closed="left")],
    "weights_init": ["array-like", None],
    "means_init": ["array-like", None],
    "precisions_init": ["array-like", None],
}


class GaussianMixture(EllipticalMixture):
    """Mixture of Gaussians: p(x) = Σ_k π_k N(x; μ_k, Σ_k), by expectation-maximization.

    E-step: the responsibilities r_ik = π_k N(x_i; μ_k, Σ_k) / p(x_i). M-step, with n_k = Σ_i r_ik:

        π_k = n_k / N,   μ_k = Σ_i r_ik x_i / n_k,
        Σ_k = (Σ_i r_ik (x_i - μ_k)(x_i - μ_k)ᵀ + n_0 V) / (n_k + n_0).

    The likelihood of a mixture is unbounded: a component that shrinks onto a point has an infinite
    density there. A prior of n_0 rows (one by default) with the variances V within the clusters of
    the start bounds it, so that no component collapses; the objective is the log-likelihood plus
    the log prior, and no iteration lowers it. With `prior_rows=0` it is the likelihood alone.

    Missing cells are integrated out: a row counts with the conditional mean and covariance of its
    missing cells given the others, component by component, which is the maximum likelihood of what
    was observed if cells are missing at random. Rows are read once per iteration, from memory,
    files or Dask.

    With `init_params="kmeans"` and covariances that are not diagonal, k-means is also tried in
    uncorrelated directions of variance 1, and the start from which iterations on 1,000 rows lead
    farther is taken: k-means in the columns cuts long clusters that lie side by side across, from
    where iterations gain less than `tol` for a long time. Where they stop, a look ahead on 1,000
    rows tells a plateau from the end.

    Parameters
    ----------
    reg_covar : float, default=0.0
        What is added to all variances, in their unit; `prior_rows` needs no unit.
    means_init : array of shape (n_components, n_columns) or None, default=None
        Means to start from, in place of k-means.
    precisions_init : array in the shape of the covariances, or None, default=None
        Inverse covariances to start from.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each becomes one-of-C columns without that of the first
        category.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        The weights π_k.
    means_ : array of shape (n_components, n_columns)
        The means μ_k, in design columns.
    covariances_ : array of shape (K, d, d), (d, d), (K, d) or (K,)
        The covariances, by `covariance_type`; those of three letters that are not one of the four
        have a matrix, or a row of variances if the last is I, for every component.
    precisions_ : array in the shape of the covariances
        Their inverses.
    labels_ : array of int of shape (n_samples,)
        The most probable component of every row of `fit` (lazy on Dask).
    lower_bound_ : float
        The objective per unit of weight.
    n_iter_ : int
        The number of iterations.
    converged_ : bool
        Whether the last iteration gained at most `tol` per row.
    history_ : list of float
        The objective at the start and after every iteration.
    record_ : list of dict
        With `record=True`, for every step `step`, `objective`, `weights`, `means` and
        `covariances`.
    var_ : array of shape (n_columns,)
        The variance of every column over all rows.
    prior_variance_ : array of shape (n_columns,)
        The diagonal V of the prior covariance.

    See Also
    --------
    BayesianGaussianMixture : finds the number of components.
    StudentMixture : components with heavy tails.
    lyceum.cluster.KMeans : hard clusters of equal spread.
    lyceum.density.GaussianDensity : one Gaussian.

    References
    ----------
    Dempster, A. P., Laird, N. M. and Rubin, D. B. (1977). Maximum likelihood from incomplete data
    via the EM algorithm. Journal of the Royal Statistical Society B 39(1). Ghahramani, Z. and
    Jordan, M. I. (1994). Supervised learning from incomplete data via an EM approach. Advances in
    Neural Information Processing Systems 6. Fraley, C. and Raftery, A. E. (2007). Bayesian
    regularization for normal mixture estimation and model-based clustering. Journal of
    Classification 24. Celeux, G. and Govaert, G. (1995). Gaussian parsimonious clustering models.
    Pattern Recognition 28(5).

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.mixtures import GaussianMixture
    >>> X = np.array([[1.0, 2], [2, 1], [3, 3], [11, 12], [12, 11], [13, 13]])
    >>> mixture = GaussianMixture(2, random_state=0).fit(X)
    >>> np.sort(mixture.means_[:, 0]).round(3).tolist()
    [2.0, 12.0]
    >>> mixture.predict_proba([[0.0, np.nan]]).max() > 0.99
    np.True_
    """

    _step_kind = elliptical_steps(
        StepColumn("objective", "F", "F = Σ ln Σ_k π_k p_k(x), and the prior"),
        weights="π_k = Σ r_k / N",
        means="μ_k = Σ r_k x / Σ r_k",
        covariances="S_k = Σ r_k (x − μ_k)(x − μ_k)ᵀ / Σ r_k, and the prior",
    )
    _parameter_constraints: ClassVar[dict] = {
        **ELLIPTICAL_CONSTRAINTS,
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 0.0,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        prior_rows: float = 1.0,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.prior_rows = prior_rows
        self.reg_covar = reg_covar
        self.init_params = init_params
        self.n_init = n_init
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.record = record
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.categorical_features = categorical_features

    def _start_sums(
        self, rows: Rows, moments: Moments, problem: EllipticalProblem
    ) -> list[MixtureSums]:
        """Of every start by k-means the better one: in columns of variance 1, or whitened."""
        sums = super()._start_sums(rows, moments, problem)
        if not self._has_directions or self.means_init is not None:
            return sums
        plain = ScaledCells.of(moments.mean, moments.variance())
        whitened = WhitenedCells.learn(rows, plain)
        if whitened is None:
            return sums
        sample = sample_rows(rows, LOOK_AHEAD_ROWS)
        others = [
            rows.reduce(partial(problem.start_sums, labels=labels))
            for labels in self._label_starts(sample, whitened)
        ]
        # with a prior, a cluster of one row does not win
        prior = CovariancePrior(1.0, within_variance(sums[0], problem.variance))
        judge = replace(problem, prior=prior)
        return [_better_start(judge, sample, *pair) for pair in zip(sums, others)]

    @property
    def _has_directions(self) -> bool:
        """Whether components may be long in other directions than those of the columns."""
        by_kmeans = self.init_params == "kmeans" and self.n_components > 1
        return by_kmeans and not self._form.diagonal


def _better_start(
    problem: EllipticalProblem, sample: Rows, first: MixtureSums, other: MixtureSums
) -> MixtureSums:
    """The other sums, if they explain their labels better and iterations lead farther."""
    if problem.label_likelihood(other) <= problem.label_likelihood(first):
        return first
    ends = [
        look_ahead(sample, problem, problem.maximization(sums)).objective
        for sums in (first, other)
    ]
    if ends[1] > ends[0]:
        return other
    return first

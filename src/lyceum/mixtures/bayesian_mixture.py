"""A Bayesian mixture of Gaussians, which empties the components that the rows do not need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.probability import positive_matrix
from lyceum._core.solvers import EMOutcome, EMProblem, ExpectationMaximization
from lyceum._core.statistics import Moments
from lyceum._core.steps import StepColumn
from lyceum._core.types import Categories
from lyceum.errors import SettingError, number_setting
from lyceum.mixtures.base import MIXTURE_CONSTRAINTS
from lyceum.mixtures.covariance_forms import BASIC_FORMS
from lyceum.mixtures.elliptical import (
    EllipticalMixture,
    elliptical_steps,
    within_variance,
)
from lyceum.mixtures.merge_moves import active_components, by_size, merge_components
from lyceum.mixtures.start import given_array
from lyceum.mixtures.variational import (
    VariationalParameters,
    VariationalPrior,
    VariationalProblem,
)
from lyceum.report import Summary


class BayesianGaussianMixture(EllipticalMixture):
    """Bayesian mixture of Gaussians by variational inference: it finds how many components the rows
    need.

    Weights have a Dirichlet prior (finite, or the sticks of a Dirichlet process), components a
    Normal-Wishart prior. The lower bound of the log evidence is raised by the same iterations as
    `GaussianMixture`'s, with posteriors in place of estimates; a small concentration leaves
    components empty that are not needed, so that `n_components` is only an upper limit. Singular
    components cannot occur. Missing cells are taken.

    `predict` and `score_samples` use the expected weights, the means, and the covariances Ψ_k /
    ν_k.

    Parameters
    ----------
    n_components : int, default=10
        The most components K.
    weight_concentration_prior_type : str, default="dirichlet_process"
        "dirichlet_process" for sticks, or "dirichlet_distribution" for a finite Dirichlet.
    weight_concentration_prior : float or None, default=None
        γ_0, the smaller the fewer components; None takes 1 / K.
    mean_precision_prior : float or None, default=None
        κ_0, how many rows the prior mean counts for; None takes 1.
    mean_prior : array of shape (n_columns,) or None, default=None
        m_0; None takes the mean of all rows.
    degrees_of_freedom_prior : float or None, default=None
        ν_0 > d - 1 (above 0 for "diag" and "spherical"); None takes d (1 for "diag" and
        "spherical").
    covariance_prior : float, array of shape (d,) or (d, d), or None, default=None
        Ψ_0; None takes ν_0 times the variances of the columns within the clusters of the start.
    reg_covar : float, default=0.0
        What is added to all variances of the rows of a component, in their unit; the prior needs no
        unit.
    n_init : int, default=5
        How many starts are tried; the largest bound wins.
    means_init : array of shape (n_components, n_columns) or None, default=None
        Centers to start from, in place of k-means.
    merge : bool, default=True
        Whether two components become one, after the iterations, where that raises the bound: the
        iterations alone stop where two components share what one explains better.
    tol : float, default=1e-5
        Stop when an iteration gains at most this much per row; emptying a component takes many
        small steps.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each becomes one-of-C columns without that of the first
        category.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        The expected weights.
    counts_ : array of shape (n_components,)
        How many rows every component is expected to have.
    n_active_ : int
        How many components are expected to have a row at least.
    means_ : array of shape (n_components, n_columns)
        The means m_k of the posterior, in design columns.
    covariances_ : array of shape (K, d, d), (d, d), (K, d) or (K,)
        Ψ_k / ν_k, by `covariance_type`.
    precisions_ : array in the shape of the covariances
        Their inverses, the expected precisions.
    mean_precision_ : array of shape (n_components,)
        κ_k.
    degrees_of_freedom_ : array of shape (n_components,)
        ν_k.
    weight_concentration_prior_, mean_precision_prior_, degrees_of_freedom_prior_ : floats
        γ_0, κ_0 and ν_0 as used.
    mean_prior_, covariance_prior_ : arrays
        m_0 and Ψ_0 as used.
    weight_concentration_ : array of shape (2, n_components), or (n_components,)
        The parameters of the sticks' Betas, or of the Dirichlet in the first row.
    labels_ : array of int of shape (n_samples,)
        The most probable component of every row of `fit` (lazy on Dask).
    lower_bound_ : float
        The bound per unit of weight.
    n_iter_ : int
        The number of iterations.
    converged_ : bool
        Whether the last iteration gained at most `tol` per row.
    history_ : list of float
        The lower bound of the log evidence at the start and after every iteration.
    record_ : list of dict
        With `record=True`, for every step `step`, `objective`, `weights`, `means` and
        `covariances`.
    var_ : array of shape (n_columns,)
        The variance of every column over all rows.
    prior_variance_ : array of shape (n_columns,)
        The variances of the prior covariance Ψ_0 / ν_0.

    See Also
    --------
    GaussianMixture : with a fixed number of components.

    References
    ----------
    Bishop, C. M. (2006). Pattern Recognition and Machine Learning, section 10.2. Springer.
    Blei, D. M. and Jordan, M. I. (2006). Variational inference for Dirichlet process mixtures.
    Bayesian Analysis 1. Ueda, N., Nakano, R., Ghahramani, Z. and Hinton, G. E. (2000). SMEM
    algorithm for mixture models. Neural Computation 12.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.mixtures import BayesianGaussianMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, 100), rng.normal(12, 1, 100)][:, None]
    >>> BayesianGaussianMixture(5, random_state=0).fit(X).n_active_
    2
    """

    _step_kind = elliptical_steps(
        StepColumn("objective", "bound", "the lower bound of the log evidence"),
        weights="the mean of π_k under its posterior",
        means="the mean of μ_k under its posterior",
        covariances="S_k = Ψ_k / ν_k, the inverse of the expected precision",
    )
    _parameter_constraints: ClassVar[dict] = {
        **MIXTURE_CONSTRAINTS,
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "covariance_type": [StrOptions(set(BASIC_FORMS))],
        "weight_concentration_prior_type": [
            StrOptions({"dirichlet_process", "dirichlet_distribution"})
        ],
        "weight_concentration_prior": [None, Interval(Real, 0, None, closed="neither")],
        "mean_precision_prior": [None, Interval(Real, 0, None, closed="neither")],
        "mean_prior": [None, "array-like"],
        "degrees_of_freedom_prior": [None, Interval(Real, 0, None, closed="neither")],
        "covariance_prior": [
            None,
            "array-like",
            Interval(Real, 0, None, closed="neither"),
        ],
        "means_init": ["array-like", None],
        "merge": ["boolean"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
    }
    weights_init = None
    precisions_init = None
    prior_rows = 0.0

    def __init__(
        self,
        n_components: int = 10,
        *,
        covariance_type: str = "full",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        reg_covar: float = 0.0,
        init_params: str = "kmeans",
        n_init: int = 5,
        means_init: Any = None,
        merge: bool = True,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        record: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.reg_covar = reg_covar
        self.init_params = init_params
        self.n_init = n_init
        self.means_init = means_init
        self.merge = merge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
        self.record = record
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def _em_problem(
        self, rows: Rows, moments: Moments
    ) -> tuple[EMProblem, Iterable[Any]]:
        # a constant column gets the variance 1 by the prior
        variance = np.nan_to_num(moments.variance())
        variance = np.where(variance > 0, variance, 1.0)
        # the sums of a start need no prior; the prior needs the spread within its clusters
        problem = VariationalProblem(
            self._form,
            None,  # type: ignore[arg-type]
            variance,
            self.reg_covar,
        )
        if self.warm_start and hasattr(self, "means_"):
            problem = replace(problem, prior=self._prior_before())
            return problem, [self._parameters_before(problem)]
        start_sums = [
            by_size(rows.reduce(partial(problem.start_sums, labels=labels)))
            for labels in self._start_labels(rows, moments)
        ]
        within = within_variance(start_sums[0], variance)
        problem = replace(problem, prior=self._prior(moments.mean, within))
        return problem, [problem.maximization(sums) for sums in start_sums]

    def _prior_before(self) -> VariationalPrior:
        """The prior of the fit that a warm start goes on from."""
        return VariationalPrior(
            concentration=self.weight_concentration_prior_,
            process=self.weight_concentration_prior_type == "dirichlet_process",
            mean=self.mean_prior_,
            kappa=self.mean_precision_prior_,
            nu=self.degrees_of_freedom_prior_,
            scale=self.covariance_prior_,
        )

    def _parameters_before(self, problem: VariationalProblem) -> VariationalParameters:
        """The posterior that a warm start goes on from."""
        sticks = np.asarray(self.weight_concentration_)
        if not problem.prior.process:
            sticks = np.stack([sticks, np.zeros(len(sticks))])
        return problem.parameters(
            sticks,
            self.mean_precision_,
            self.means_,
            self.degrees_of_freedom_,
            self.covariances_,
            self.counts_,
        )

    def _prior(self, mean: np.ndarray, within: np.ndarray) -> VariationalPrior:
        d = len(mean)
        diagonal = self._form.diagonal
        nu = 1.0 if diagonal else float(d)
        if self.degrees_of_freedom_prior is not None:
            nu = float(self.degrees_of_freedom_prior)
        if not diagonal and nu <= d - 1:
            raise SettingError(
                "The parameter 'degrees_of_freedom_prior' should be greater than"
                f" {d - 1}, but got {nu:.3f}. (One less than the number of columns.)"
            )
        if self.covariance_prior is not None:
            scale = self._given_scale(d)
        elif diagonal:
            scale = nu * within
        else:
            scale = nu * np.diag(within)
        if self.mean_prior is not None:
            mean = given_array("mean_prior", self.mean_prior, (d,))
        gamma = self.weight_concentration_prior
        kappa = self.mean_precision_prior
        return VariationalPrior(
            concentration=1.0 / int(self.n_components)
            if gamma is None
            else float(gamma),
            process=self.weight_concentration_prior_type == "dirichlet_process",
            mean=np.nan_to_num(mean),
            kappa=1.0 if kappa is None else float(kappa),
            nu=nu,
            scale=scale,
        )

    def _given_scale(self, d: int) -> np.ndarray:
        """Ψ_0 as a matrix, or as variances where the form has no others."""
        given = number_setting("covariance_prior", self.covariance_prior)
        if not self._form.diagonal:
            matrix = np.diag(given) if given.ndim == 1 else given
            return positive_matrix("covariance_prior", matrix, d)
        if given.ndim == 0:
            variances = np.full(d, float(given))
        else:
            variances = given_array("covariance_prior", given, (d,))
        if not (variances > 0).all():
            raise SettingError("covariance_prior must be above 0 in every column")
        return variances

    def _improve_run(
        self,
        rows: Rows,
        problem: Any,
        solver: ExpectationMaximization,
        outcome: EMOutcome,
    ) -> EMOutcome:
        if self.merge:
            return merge_components(rows, problem, solver, outcome)
        return outcome

    def _keep(  # type: ignore[override]
        self, parameters: VariationalParameters, problem: VariationalProblem
    ) -> None:
        self.weights_ = parameters.weights
        self.means_ = parameters.means
        self.covariances_ = parameters.covariances
        self.counts_ = parameters.counts
        self.n_active_ = active_components(parameters)
        self.mean_precision_ = parameters.kappa
        self.degrees_of_freedom_ = parameters.nu
        prior = problem.prior
        sticks = parameters.sticks
        self.weight_concentration_ = sticks if prior.process else sticks[0]
        self.weight_concentration_prior_ = prior.concentration
        self.mean_precision_prior_ = prior.kappa
        self.mean_prior_ = prior.mean
        self.degrees_of_freedom_prior_ = prior.nu
        self.covariance_prior_ = prior.scale
        self.var_ = problem.variance
        scale = problem.prior.scale
        variances = scale if scale.ndim == 1 else np.diag(scale)
        self.prior_variance_ = variances / problem.prior.nu

    def _step_values(self, parameters: VariationalParameters) -> dict[str, Any]:  # type: ignore[override]
        return {
            "weights": parameters.weights,
            "means": parameters.means,
            "covariances": parameters.covariances,
        }

    def summary(self) -> Summary:
        """The weight of every component, its columns, and how the iterations ended."""
        summary = super().summary()
        return Summary(
            summary.title,
            {**summary.facts, "components with rows": self.n_active_},
            summary.tables,
        )

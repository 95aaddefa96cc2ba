"""A mixture of Gaussians by expectation-maximization."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.types import Categories
from lyceum.mixtures.base import MIXTURE_CONSTRAINTS
from lyceum.mixtures.covariance_forms import FORMS
from lyceum.mixtures.elliptical import EllipticalMixture

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

    Parameters
    ----------
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
        The covariances, by `covariance_type`.
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
    Classification 24.

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

    _parameter_constraints: ClassVar[dict] = ELLIPTICAL_CONSTRAINTS

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        prior_rows: float = 1.0,
        init_params: str = "kmeans",
        n_init: int = 1,
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        max_iter: int = 100,
        tol: float = 1e-3,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.prior_rows = prior_rows
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
        self.categorical_features = categorical_features

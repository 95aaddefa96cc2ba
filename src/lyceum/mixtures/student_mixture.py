"""A mixture of Student-t distributions: a mixture that outliers hardly move."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Rows
from lyceum._core.statistics import Moments
from lyceum._core.steps import StepColumn
from lyceum._core.types import Categories
from lyceum.mixtures.elliptical import EllipticalMixture, elliptical_steps
from lyceum.mixtures.gaussian_mixture import ELLIPTICAL_CONSTRAINTS
from lyceum.mixtures.start import ScaledCells, StartLabels


class StudentMixture(EllipticalMixture):
    """Mixture of Student-t distributions, p(x) = Σ_k π_k t(x; μ_k, Σ_k, ν_k), by
    expectation-maximization.

    A Student-t is a Gaussian whose covariance is divided by a hidden u ~ Gamma(ν/2, ν/2). The
    E-step gives responsibilities r_ik and, with q_ik the squared distance in units of Σ_k, u_ik =
    (ν_k + d) / (ν_k + q_ik); the M-step weighs rows by both, so that rows far away count little:

        μ_k = Σ_i r_ik u_ik x_i / Σ_i r_ik u_ik,
        Σ_k = (Σ_i r_ik u_ik (x_i - μ_k)(x_i - μ_k)ᵀ + n_0 V) / (n_k + n_0),
        log(ν_k/2) - ψ(ν_k/2) + 1 + Σ_i r_ik E[log u_ik - u_ik] / n_k = 0.

    Start, prior and missing cells are those of `GaussianMixture`, but that k-means of the start
    would put its centers on outliers: where a cell is further from the median than 6 standard
    deviations, as the quartiles tell them, another start takes such cells as missing, and the
    larger objective wins. So three groups with a tenth of noise around them are found, where
    `GaussianMixture` spends its components on the noise. A tight group of outliers is a component
    like any other: give it one.

    Parameters
    ----------
    degrees : "estimate" or float, default="estimate"
        The degrees of freedom ν_k: estimated for every component, between 0.5 and 1000, or one for
        all.
    covariance_type : {"full", "tied", "diag", "spherical"} or three letters, default="full"
        One shape matrix per component, one for all, its diagonal only, or one number per component;
        or a name from "EII" to "VVV", as in `GaussianMixture`.
    n_init : int, default=1
        How many starts are tried, of each kind; the largest objective wins.
    means_init : array of shape (n_components, n_columns) or None, default=None
        Locations to start from, in place of k-means.
    precisions_init : array in the shape of the covariances, or None, default=None
        Inverse shape matrices to start from.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories; each becomes one-of-C columns without that of the first
        category.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        The weights π_k.
    means_ : array of shape (n_components, n_columns)
        The locations μ_k, in design columns.
    covariances_ : array of shape (K, d, d), (d, d), (K, d) or (K,)
        The shape matrices Σ_k; the covariance of a component is ν/(ν - 2) times that.
    precisions_ : array in the shape of the covariances
        Their inverses.
    degrees_ : array of shape (n_components,)
        The degrees of freedom ν_k.
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
        With `record=True`, for every step `step`, `objective`, `weights`, `means`, `covariances`
        and `degrees`.
    var_ : array of shape (n_columns,)
        The variance of every column over all rows.
    prior_variance_ : array of shape (n_columns,)
        The diagonal V of the prior covariance.

    See Also
    --------
    GaussianMixture : without heavy tails.

    References
    ----------
    Peel, D. and McLachlan, G. J. (2000). Robust mixture modeling using the t distribution.
    Statistics and Computing 10.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.mixtures import StudentMixture
    >>> X = np.r_[np.linspace(-1, 1, 50), np.linspace(9, 11, 50), 1000.0][:, None]
    >>> mixture = StudentMixture(2, means_init=[[0.0], [10.0]]).fit(X)
    >>> np.abs(mixture.means_).round(1).ravel().tolist()
    [0.0, 10.0]
    """

    _step_kind = elliptical_steps(
        StepColumn("objective", "F", "F = Σ ln Σ_k π_k p_k(x), and the prior"),
        StepColumn(
            "degrees",
            "ν",
            "ν_k of the largest expected log likelihood, given r_k and u_k",
            axes=("component",),
        ),
        weights="π_k = Σ r_k / N",
        means="μ_k = Σ r_k u_k x / Σ r_k u_k, u_k = (ν_k + d) / (ν_k + |x − μ_k|²)",
        covariances="S_k = Σ r_k u_k (x − μ_k)(x − μ_k)ᵀ / Σ r_k, and the prior",
    )
    _parameter_constraints: ClassVar[dict] = {
        **ELLIPTICAL_CONSTRAINTS,
        "degrees": [
            StrOptions({"estimate"}),
            Interval(Real, 0, None, closed="neither"),
        ],
    }

    degrees_: Any

    def __init__(
        self,
        n_components: int = 1,
        *,
        degrees: str | float = "estimate",
        covariance_type: str = "full",
        prior_rows: float = 1.0,
        init_params: str = "kmeans",
        n_init: int = 1,
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        record: bool = False,
        categorical_features: Categories = "from_dtype",
    ):
        self.n_components = n_components
        self.degrees = degrees
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
        self.categorical_features = categorical_features

    def _start_labels(self, rows: Rows, moments: Moments) -> list[StartLabels]:
        plain = super()._start_labels(rows, moments)
        if self.means_init is not None:
            return plain
        robust = ScaledCells.robust(rows, plain[0].scaling)
        if not robust.fences_off(moments.low, moments.high):
            return plain
        return [*self._label_starts(rows, robust), *plain]

    @property
    def _degrees(self) -> Any:
        return self.degrees

    def _n_parameters(self) -> int:
        return super()._n_parameters() + (
            len(self.weights_) if self.degrees == "estimate" else 0
        )

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {**super()._shapes(), "degrees_": (len(self.weights_),)}

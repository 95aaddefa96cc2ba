"""Kernel density: a small window around every row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Density, Learner
from lyceum._core.clustering import SEARCH_CONSTRAINTS
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, row_weights
from lyceum._core.distances import ALIASES, Metric, metric as named_metric
from lyceum._core.types import Categories, Data, Seed, Target, Weights
from lyceum.density.bandwidth import (
    deviations,
    likelihood_of,
    nrd0_of,
    reference_of,
    scott_of,
    silverman_of,
    volume_of,
)
from lyceum.density.boxes import (
    CATEGORIES,
    chain_terms,
    check_box,
    weighted_inverse_cdf,
)
from lyceum.density.density_kernels import KERNELS
from lyceum.density.distance_kernels import DISTANCE_KERNELS, DistanceSums
from lyceum.density.kernel_sums import KernelSums, leaf_order
from lyceum.errors import DataError, SettingError, number_setting
from lyceum.report import Explanation, Summary, Table

_METRICS = ("euclidean", "manhattan", "minkowski", "chebyshev", "haversine")
_RULES = {
    "reference": reference_of,
    "nrd0": nrd0_of,
    "volume": volume_of,
    "scott": scott_of,
    "silverman": silverman_of,
}
KERNEL_CONSTRAINTS: dict[str, list] = {
    "kernel": [StrOptions(set(KERNELS))],
    "bandwidth": [
        Interval(Real, 0, None, closed="neither"),
        StrOptions({"reference", "nrd0", "likelihood", "volume", "scott", "silverman"}),
        "array-like",
    ],
    "rtol": [Interval(Real, 0, 1, closed="left")],
    **CATEGORIES,
}


class KernelDensity(Density, Learner):
    """Kernel density (Parzen windows): f(x) = 1/W Σ_i w_i Π_j k((x_j - x_ij) / h_j) / h_j.

    k is one of these, u = (x - x_i) / h; each integrates to 1, and over several columns a kernel is
    the product of those of the columns:

    =============  ==============================  ===========
    parzen         1 (hypercube of side h)         |u| <= 1/2
    gaussian       exp(-u²/2) / sqrt(2π)
    laplace        exp(-2|u|)
    cauchy         1 / (π (1 + u²))
    sinc2          (sin(u/2) / (u/2))² / 2π
    product_...    ¾ (1 - u²)                      |u| < 1
    tricube        70/81 (1 - |u|³)³               |u| < 1
    triangular     1 - |u|                         |u| < 1
    =============  ==============================  ===========

    The product of Epanechnikov kernels is called "product_epanechnikov". The others are kernels of
    the distance r = |u| of all columns, as scikit-learn has them, each times a constant that makes
    its integral 1: "epanechnikov" 1 - r², "tophat" 1, "linear" 1 - r and "cosine" cos(π r / 2) for
    r < 1, and "exponential" exp(-r). With another metric than the Euclidean one "gaussian" and
    "epanechnikov" are of the distance too; the constant remains that of the Euclidean distance.
    They are summed over all rows, but for "epanechnikov" of Euclidean distances.

    All rows are kept in memory. A column of categories becomes one-of-C columns.

    Parameters
    ----------
    kernel : str, default="gaussian"
        The name of a kernel.
    bandwidth : float, array, "reference", "nrd0", "likelihood", "volume", "scott" or "silverman", \
default="reference"
        h: one number for all columns, or one per column. "reference": 1.06 σ N^(-1/5) for every
        column, where σ is its standard deviation (1 for a constant column) and N the weight of all
        rows. "nrd0": R's default, 0.9 min(σ, IQR/1.34) N^(-1/5), less for two humps and outliers.
        "likelihood": those of the largest leave-one-out likelihood, each axis on its own. "volume":
        N^(-1/(2d)) for all columns, so that the window has the volume h^d = 1/√N; for columns of
        about unit variance. "scott" and "silverman" are scikit-learn's: N^(-1/(d+4)), and (N (d +
        2) / 4)^(-1/(d+4)).
    metric : str, Metric or callable, default="euclidean"
        The distance of kernels of the distance.
    metric_params : dict or None, default=None
        Parameters of a metric that is given by name.
    algorithm : {"auto", "ball_tree", "kd_tree"}, default="auto"
        scikit-learn's choice of a search; has no effect here.
    atol : float, default=0
        scikit-learn's absolute error; has no effect here, where `rtol` holds everywhere.
    breadth_first : bool, default=True
        Of scikit-learn's trees; has no effect here.
    leaf_size : int, default=40
        Of scikit-learn's trees; has no effect here.
    rtol : float, default=1e-4
        The largest relative error of a density, also where it is tiny; 0 sums over all rows.

    Attributes
    ----------
    bandwidth_ : array of shape (d,)
        h of every column.
    rows_ : array of shape (n, d)
        The rows, ordered so that consecutive rows are close together.
    weights_ : array of shape (n,)
        Their weights.

    See Also
    --------
    HistogramDensity : for rows that do not fit into memory.
    ParzenClassifier : one kernel density per class.
    reference_bandwidth, likelihood_bandwidth : the two rules for h.

    References
    ----------
    Parzen, E. (1962). On estimation of a probability density function and mode. Annals of
    Mathematical Statistics 33(3). Silverman, B. W. (1986). Density Estimation for Statistics and
    Data Analysis. Chapman and Hall.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.density import KernelDensity
    >>> model = KernelDensity(kernel="triangular", bandwidth=2.0).fit([[0.0], [1.0]])
    >>> np.exp(model.score_samples([[0.0], [1.0], [9.0]])).round(4).tolist()
    [0.375, 0.375, 0.0]
    >>> round(model.integrate([[-2.0, 3.0]]), 6)
    1.0
    """

    _reads_rows = "in memory"
    _without_effect: ClassVar[dict[str, str]] = {
        "algorithm": "leaves of near rows are searched, whatever the name",
        "atol": "rtol holds everywhere",
        "breadth_first": "there is one order of the search",
        "leaf_size": "leaves have the size that is fastest here",
    }
    _parameter_constraints: ClassVar[dict] = {
        **KERNEL_CONSTRAINTS,
        "kernel": [StrOptions({*KERNELS, *DISTANCE_KERNELS})],
        "metric": [StrOptions({*_METRICS, *ALIASES}), Metric, callable],
        "metric_params": [dict, None],
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree"})],
        "atol": [Interval(Real, 0, None, closed="left")],
        "breadth_first": ["boolean"],
        "leaf_size": SEARCH_CONSTRAINTS["leaf_size"],
    }

    def __init__(
        self,
        *,
        bandwidth: Any = "reference",
        algorithm: str = "auto",
        kernel: str = "gaussian",
        metric: Any = "euclidean",
        atol: float = 0,
        rtol: float = 1e-4,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: dict[str, Any] | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.categorical_features = categorical_features

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Store the rows of X, and choose the bandwidths.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        given = self._rows(X, y, sample_weight)
        self._check_kernel()
        block = given.in_one_block(
            type(self).__name__, "HistogramDensity or GaussianDensity"
        ).without_zero_weights()
        rows = np.array(block.X, dtype=np.float64)
        w = block.w
        self.bandwidth_ = bandwidths_of(rows, w, self.bandwidth, self.kernel, self.rtol)
        # the leaf order of one column is ascending: without weights sorted in place
        if w is None and rows.shape[1] == 1:
            rows[:, 0].sort()
            self.rows_ = rows
            self.weights_ = np.ones(len(rows))
            return self
        order = leaf_order((rows - rows.mean(axis=0)) / self.bandwidth_)
        self.rows_ = np.ascontiguousarray(rows[order])
        self.weights_ = row_weights(w, len(rows))[order]
        return self

    # -- the density -------------------------------------------------------------------

    def _metric(self) -> Metric:
        """The metric of kernels of the distance."""
        return named_metric(self.metric, **(self.metric_params or {}))

    @property
    def _is_of_distances(self) -> bool:
        """Whether the kernel is one of the distance alone, which all rows are asked for."""
        return self.kernel not in KERNELS or self._metric().name != "euclidean"

    def _check_kernel(self) -> None:
        if self.algorithm == "kd_tree" and self._metric().name == "haversine":
            raise SettingError(
                "invalid metric 'haversine' for algorithm='kd_tree', whose boxes have no"
                " distance on a sphere: leave algorithm at 'auto'"
            )
        if self._is_of_distances and self.kernel not in DISTANCE_KERNELS:
            raise SettingError(
                f"kernel={self.kernel!r} is a product over columns, which has no"
                f" metric={self.metric!r}: take metric='euclidean', or one of the kernels"
                f" {', '.join(DISTANCE_KERNELS)}"
            )
        by_likelihood = isinstance(self.bandwidth, str) and (
            self.bandwidth == "likelihood"
        )
        if self._is_of_distances and by_likelihood:
            raise SettingError(
                f"bandwidth='likelihood' has no search for kernel={self.kernel!r} with"
                f" metric={self.metric!r}: give a number, or bandwidth='reference'"
            )

    def _refuse_distances(self, what: str) -> None:
        if self._is_of_distances:
            raise SettingError(
                f"{what} has no formula for kernel={self.kernel!r} with metric={self.metric!r},"
                " which depends on the distance alone: take kernel='gaussian' with"
                " metric='euclidean'"
            )

    def _all_sums(self) -> KernelSums | DistanceSums:
        if not self._is_of_distances:
            return self._sums()
        return DistanceSums(
            self.rows_, self.weights_, self.bandwidth_, self.kernel, self._metric()
        )

    def _sums(self, n_columns: int | None = None) -> KernelSums:
        """The sums over the first columns, or over all."""
        return KernelSums.of_first_columns(
            self.rows_,
            None if (self.weights_ == 1.0).all() else self.weights_,
            bandwidth=self.bandwidth_,
            kernel=self.kernel,
            rtol=self.rtol,
            n_columns=n_columns or self.rows_.shape[1],
        )

    def _log_density(self) -> Callable[[Block], np.ndarray]:
        return partial(_log_density, sums=self._all_sums())

    def _threshold(self, quantile: float) -> float:
        # A row's own window would hide how far it is from the other rows.
        if len(self.rows_) < 2:
            raise DataError(
                "anomalies need the density of every row given the others, but there is 1 sample"
            )
        return weighted_inverse_cdf(
            self._all_sums().leave_rows_out(), self.weights_, quantile
        )

    def integrate(self, box: Any) -> float:
        """The probability of a box.

        Parameters
        ----------
        box : array of shape (d, 2)
            The low and high ends of every column; they may be infinite.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        self._refuse_distances("the probability of a box")
        low, high = check_box(box, self.design_names).T
        if KERNELS[self.kernel].radial and len(low) > 1:
            raise SettingError(
                "the probability of a box has no formula under a radial kernel in several columns:"
                " take kernel='product_epanechnikov', or count the rows of sample(...) inside"
            )
        # the mean over the rows of Π_j [K((high_j - x_ij) / h_j) - K((low_j - x_ij) / h_j)]
        cdf = KERNELS[self.kernel].cdf
        below_high = cdf((high - self.rows_) / self.bandwidth_)
        below_low = cdf((low - self.rows_) / self.bandwidth_)
        inside = (below_high - below_low).prod(axis=1)
        return float(np.average(inside, weights=self.weights_))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Rows drawn from the density: a stored row by its weight, plus noise from the kernel.

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
        metric = self._metric()
        if metric.name != "euclidean":
            raise SettingError(
                f"rows can be drawn under metric='euclidean' alone; here it is {metric.name!r}"
            )
        random = check_random_state(random_state)
        picked = random.choice(
            len(self.rows_), n_samples, p=self.weights_ / self.weights_.sum()
        )
        kernel: Any = KERNELS.get(self.kernel) or DISTANCE_KERNELS[self.kernel]
        noise = kernel.noise(random, (n_samples, self.rows_.shape[1]))
        return self.rows_[picked] + noise * self.bandwidth_

    # -- what was learned --------------------------------------------------------------

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the log density, given the columns before it.

        log f(x) = Σ_j log f(x_j | x_1 ... x_(j-1)), exact for all kernels: a column that is
        improbable, alone or together with those before it, has a low term. After a term of -inf the
        others are 0. Kernels that have no formula in fewer columns ("tophat", "linear", "cosine",
        "exponential", and all under another metric than the Euclidean one) have no explanation.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        self._refuse_distances("an explanation")
        sums = [self._sums(j + 1) for j in range(self.rows_.shape[1])]
        return self._explain(X, partial(_chain_terms, sums=sums), "log density")

    def summary(self) -> Summary:
        """Rows, kernel, bandwidths, and the standard deviations to compare them with."""
        head = super().summary()
        spread = deviations(self.rows_, self.weights_)
        facts = {
            "rows": len(self.rows_),
            "weight": float(self.weights_.sum()),
            "kernel": self.kernel,
            "rtol": self.rtol,
        }
        table = Table(
            "Bandwidths",
            ("column", "bandwidth", "standard deviation"),
            [*zip(self.design_names, self.bandwidth_.tolist(), spread.tolist())],
        )
        return Summary(head.title, {**head.facts, **facts}, [table])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n = len(self.weights_)
        d = len(self.design_names)
        return {"rows_": (n, d), "weights_": (n,), "bandwidth_": (d,)}


def bandwidths_of(
    rows: np.ndarray, w: np.ndarray | None, bandwidth: Any, kernel: str, rtol: float
) -> np.ndarray:
    """One bandwidth per column, as given or by a rule."""
    if isinstance(bandwidth, str):
        if bandwidth == "likelihood":
            return likelihood_of(rows, w, kernel, rtol)
        return _RULES[bandwidth](rows, w)
    h = number_setting("bandwidth", bandwidth)
    d = rows.shape[1]
    if h.shape not in ((), (d,)) or not ((h > 0) & np.isfinite(h)).all():
        raise SettingError(
            f"bandwidth must be one positive number, or one for each of the {d} columns; it is"
            f" {h.tolist()}"
        )
    return np.broadcast_to(h, (d,)).copy()


def _log_density(block: Block, sums: KernelSums | DistanceSums) -> np.ndarray:
    return sums.log_density(block.X)


def _chain_terms(block: Block, sums: list[KernelSums]) -> np.ndarray:
    """The log density, zero, and what every column adds to the log density of those before it."""
    joint = [density.log_density(block.X[:, : j + 1]) for j, density in enumerate(sums)]
    return chain_terms(np.column_stack(joint))

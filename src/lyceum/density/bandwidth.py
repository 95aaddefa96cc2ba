"""Bandwidths of kernel densities: the reference rule, and the leave-one-out likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize
from sklearn.utils.validation import _check_sample_weight, check_array

from lyceum._core.types import Data, Weights
from lyceum.density.density_kernels import KERNELS
from lyceum.density.kernel_sums import KernelSums, leaf_order
from lyceum.errors import DataError, SettingError

_TURNS = 10  # rounds over the axes
# the gain of a round, in log likelihood a row, that is not worth another
_ENOUGH = 1e-4


def reference_bandwidth(
    X: Data, sample_weight: Weights = None, *, rule: str = "normal"
) -> Any:
    """The bandwidth 1.06 σ N^(-1/5) of every column, best for a Gaussian density on a line.

    σ is the standard deviation (divisor N - 1) and N the weight of all rows. A constant column gets
    the bandwidth of σ = 1.

    Parameters
    ----------
    X : array of shape (n_samples,) or (n_samples, n_features)
    sample_weight : array of shape (n_samples,), optional
        How often every row counts.
    rule : {"normal", "nrd0", "volume"}, default="normal"
        "nrd0" (Silverman's, R's default) is 0.9 min(σ, IQR/1.34) N^(-1/5), less for two humps and
        outliers; σ alone where the quartiles are equal. "volume" is N^(-1/(2d)) for any columns: a
        window of the volume 1/√N, which shrinks as slowly as convergence needs.

    Returns
    -------
    float, or array of shape (n_features,)

    See Also
    --------
    likelihood_bandwidth : a rule for densities of any form.

    References
    ----------
    Silverman, B. W. (1986). Density Estimation for Statistics and Data Analysis. Chapman and Hall.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.density import reference_bandwidth
    >>> h = reference_bandwidth(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> round(h / (1.06 * 4 ** -0.2), 6)  # the standard deviation, sqrt(5/3)
    1.290994
    """
    rows, w, line = _check_rows(X, sample_weight)
    rules = {"normal": reference_of, "nrd0": nrd0_of, "volume": volume_of}
    if rule not in rules:
        raise SettingError(f"rule={rule!r}: choose from {', '.join(map(repr, rules))}")
    h = rules[rule](rows, w)
    if line:
        return float(h[0])
    return h


def likelihood_bandwidth(
    X: Data,
    *,
    kernel: str = "gaussian",
    sample_weight: Weights = None,
    rtol: float = 1e-4,
) -> Any:
    """The bandwidths of largest leave-one-out likelihood, each axis on its own.

    They maximize Σ_i w_i log f_-i(x_i; h), where f_-i is the density of all rows but row i. First h
    = c h_ref for one c, searched from 1/32 upwards by powers of 2, then by Brent's method to within
    0.001 of log2 c; then the axes in turn, each the same way, until a round gains less than 0.0001
    per row. Where rows repeat, the likelihood may grow without bound as c goes to 0; the search
    then stops at 1/32 with a warning.

    Parameters
    ----------
    X : array of shape (n_samples,) or (n_samples, n_features)
    kernel : str, default="gaussian"
        A kernel of `KernelDensity`.
    sample_weight : array of shape (n_samples,), optional
        How often every row counts; a row is left out with its total weight.
    rtol : float, default=1e-4
        The relative error of every density in the search.

    Returns
    -------
    float, or array of shape (n_features,)

    See Also
    --------
    reference_bandwidth : a rule without a search.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.density import likelihood_bandwidth
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> bool(0.2 < likelihood_bandwidth(x) < 0.5)
    True
    """
    rows, w, line = _check_rows(X, sample_weight)
    if kernel not in KERNELS:
        raise SettingError(
            f"there is no kernel {kernel!r}: choose one of {', '.join(KERNELS)}"
        )
    h = likelihood_of(rows, w, kernel, rtol)
    if line:
        return float(h[0])
    return h


def reference_of(rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """The reference rule for every column of checked rows."""
    N = len(rows) if w is None else w.sum()
    sigma = deviations(rows, w)
    return 1.06 * np.where(sigma > 0, sigma, 1.0) * N**-0.2


def volume_of(rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """One bandwidth for all columns, h^d = 1/√N."""
    n = float(len(rows) if w is None else w.sum())
    d = rows.shape[1]
    return np.full(d, n ** (-0.5 / d))


def scott_of(rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """scikit-learn's "scott" for all columns: N^(-1/(d + 4))."""
    n = float(len(rows) if w is None else w.sum())
    d = rows.shape[1]
    return np.full(d, n ** (-1.0 / (d + 4)))


def silverman_of(rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """scikit-learn's "silverman" for all columns: (N (d + 2) / 4)^(-1/(d + 4))."""
    n = float(len(rows) if w is None else w.sum())
    d = rows.shape[1]
    return np.full(d, (n * (d + 2) / 4.0) ** (-1.0 / (d + 4)))


def nrd0_of(rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """0.9 min(σ, IQR/1.34) N^(-1/5) of every column; the quartiles count weights as repeats."""
    N = len(rows)
    repeated = rows
    if w is not None:
        if not np.array_equal(w, np.rint(w)):
            raise SettingError(
                "rule='nrd0' takes weights that count rows, whole numbers: give rule='normal'"
            )
        N = w.sum()
        repeated = np.repeat(rows, np.rint(w).astype(int), axis=0)
    low, high = np.quantile(repeated, [0.25, 0.75], axis=0)
    sigma = deviations(rows, w)
    spread = np.where(high > low, np.minimum(sigma, (high - low) / 1.34), sigma)
    return 0.9 * np.where(spread > 0, spread, 1.0) * N**-0.2


def deviations(rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """The standard deviation of every column, divisor N - 1, exactly 0 for a constant one."""
    # centered twice, as the first mean of large numbers is rounded
    centered = rows - rows.mean(axis=0)
    centered -= np.average(centered, axis=0, weights=w)
    N = float(len(rows) if w is None else w.sum())
    scale = N / (N - 1.0) if N > 1.0 else 1.0
    sigma = np.sqrt(scale * np.average(centered**2, axis=0, weights=w))
    return np.where(rows.min(axis=0) == rows.max(axis=0), 0.0, sigma)


def likelihood_of(
    rows: np.ndarray, w: np.ndarray | None, kernel: str, rtol: float
) -> np.ndarray:
    """The bandwidths of largest leave-one-out likelihood for checked rows."""
    if len(rows) < 2:
        raise DataError(
            "the leave-one-out likelihood needs at least 2 rows, but there is 1 sample: give the"
            " bandwidth"
        )
    reference = reference_of(rows, w)
    order = leaf_order((rows - rows.mean(axis=0)) / reference)
    rows = np.ascontiguousarray(rows[order])
    if w is not None:
        w = w[order]

    def likelihood(bandwidth: np.ndarray) -> float:
        sums = KernelSums(rows, w, bandwidth, kernel, rtol)
        return float(np.average(sums.leave_rows_out(), weights=w))

    # one factor for all axes, and then the axes in turn, by larger factors in the first round
    h = 2.0 ** _best(lambda k: likelihood(2.0**k * reference)) * reference
    varies = np.flatnonzero(rows.min(axis=0) < rows.max(axis=0))
    if len(varies) < 2:
        return h
    value = likelihood(h)
    low = -3
    for _ in range(_TURNS):
        before = value
        for j in varies.tolist():
            h, value = _best_of_axis(likelihood, h, j, value, low)
        if value - before <= _ENOUGH:
            break
        low = -1
    return h


def _best_of_axis(
    likelihood: Callable[[np.ndarray], float],
    h: np.ndarray,
    j: int,
    now: float,
    low: int,
) -> tuple[np.ndarray, float]:
    """The bandwidths with that of axis j changed by a power of 2 if that is better, and their
    likelihood."""

    def changed(log2_c: float) -> np.ndarray:
        return np.where(np.arange(len(h)) == j, 2.0**log2_c * h, h)

    def along(log2_c: float) -> float:
        return likelihood(changed(log2_c))

    likelihoods = {0: now, **{k: along(k) for k in range(low, -low + 1) if k}}
    middle = max(likelihoods, key=lambda k: likelihoods[k])
    best, value = _refine(along, middle, likelihoods[middle], tolerance=1e-2)
    if value > now:
        return changed(best), value
    return h, now


def _best(
    likelihood: Callable[[float], float],
    low: int = -5,
    high: int = 4,
    farthest: int = 40,
) -> float:
    """The maximum over log2 c: a grid of integers, then Brent's method around the best of them."""
    likelihoods = {k: likelihood(k) for k in range(low, high)}
    best = max(likelihoods, key=lambda k: likelihoods[k])
    end = high - 1
    while (best == end or likelihoods[best] == -np.inf) and end < farthest:
        end += 1
        likelihoods[end] = likelihood(end)
        best = max(likelihoods, key=lambda k: likelihoods[k])
    if best == low:
        warnings.warn(
            f"the leave-one-out likelihood still grows at 1/{2**-low} of the reference bandwidth,"
            " where the search ends: rows that repeat drive it to 0; choose the bandwidth, or use"
            " 'reference'",
            UserWarning,
            stacklevel=3,
        )
        return float(low)
    return _refine(likelihood, best, likelihoods[best], tolerance=1e-3)[0]


def _refine(
    likelihood: Callable[[float], float], middle: int, value: float, tolerance: float
) -> tuple[float, float]:
    """The maximum within 1 of the middle, which has this value, and its likelihood, by Brent's
    method."""
    # a likelihood of -inf, where a row has no neighbor within its window, would stop the search
    result = optimize.minimize_scalar(
        lambda k: -max(likelihood(k), -1e300),
        bounds=(middle - 1, middle + 1),
        method="bounded",
        options={"xatol": tolerance},
    )
    if -result.fun >= value:
        return float(result.x), -float(result.fun)
    return float(middle), value


def _check_rows(
    X: Any, sample_weight: Weights
) -> tuple[np.ndarray, np.ndarray | None, bool]:
    line = np.ndim(X) == 1
    rows = check_array(np.reshape(X, (-1, 1)) if line else X, dtype=np.float64)
    if sample_weight is None:
        return rows, None, line
    w = _check_sample_weight(
        sample_weight, rows, dtype=np.float64, ensure_non_negative=True
    )
    return rows[w > 0], w[w > 0], line

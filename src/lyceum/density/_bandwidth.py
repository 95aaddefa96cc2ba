"""Bandwidths of kernel densities: the reference rule, and the leave-one-out likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.utils.validation import _check_sample_weight, check_array

from lyceum.density._density_kernels import KERNELS
from lyceum.density._kernel_sums import KernelSums, leaf_order
from lyceum.errors import DataError, SettingError

__all__ = ["deviations", "likelihood_bandwidth", "likelihood_of", "reference_bandwidth", "reference_of"]


def reference_bandwidth(X: Any, sample_weight: Any = None) -> Any:
    """The bandwidth 1.06 σ N^(-1/5) of every column, best for a Gaussian density on a line.

    σ is the standard deviation (divided by N) and N the weight of all rows. A constant column gets the
    bandwidth of σ = 1.

    Parameters
    ----------
    X : array of shape (n_samples,) or (n_samples, n_features)
    sample_weight : array of shape (n_samples,), optional
        How often every row counts.

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
    >>> round(h / (1.06 * 4 ** -0.2), 6)  # the standard deviation, sqrt(5/4)
    1.118034
    """
    rows, w, line = _checked(X, sample_weight)
    h = reference_of(rows, w)
    return float(h[0]) if line else h


def likelihood_bandwidth(
    X: Any, *, kernel: str = "gaussian", sample_weight: Any = None, tolerance: float = 1e-4
) -> Any:
    """The bandwidth of largest leave-one-out likelihood, c times that of the reference rule.

    It maximises Σ_i w_i log f_-i(x_i; c h_ref) over c, where f_-i is the density of all rows but row i. The
    bandwidths of several columns keep the ratios of the reference rule. c is searched from 1/32 upwards,
    first by powers of 2, then by Brent's method to within 0.001 of log2 c. Where rows repeat, the likelihood
    may grow without bound as c goes to 0; the search then stops at 1/32 with a warning.

    Parameters
    ----------
    X : array of shape (n_samples,) or (n_samples, n_features)
    kernel : str, default="gaussian"
        A kernel of `KernelDensity`.
    sample_weight : array of shape (n_samples,), optional
        How often every row counts; a row is left out with its total weight.
    tolerance : float, default=1e-4
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
    rows, w, line = _checked(X, sample_weight)
    if kernel not in KERNELS:
        raise SettingError(f"there is no kernel {kernel!r}: choose one of {', '.join(KERNELS)}")
    h = likelihood_of(rows, w, kernel, tolerance)
    return float(h[0]) if line else h


def reference_of(rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """The reference rule for every column of checked rows."""
    total = len(rows) if w is None else w.sum()
    sigma = deviations(rows, w)
    return 1.06 * np.where(sigma > 0, sigma, 1.0) * total**-0.2


def deviations(rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """The standard deviation of every column, exactly 0 for a constant one."""
    centred = rows - rows.mean(axis=0)
    centred -= np.average(centred, axis=0, weights=w)
    sigma = np.sqrt(np.average(centred**2, axis=0, weights=w))
    return np.where(rows.min(axis=0) == rows.max(axis=0), 0.0, sigma)


def likelihood_of(rows: np.ndarray, w: np.ndarray | None, kernel: str, tolerance: float) -> np.ndarray:
    """The bandwidths of largest leave-one-out likelihood for checked rows."""
    if len(rows) < 2:
        raise DataError(
            "the leave-one-out likelihood needs at least 2 rows, but there is 1 sample: give the bandwidth"
        )
    reference = reference_of(rows, w)
    order = leaf_order((rows - rows.mean(axis=0)) / reference)
    rows, w = np.ascontiguousarray(rows[order]), None if w is None else w[order]

    def likelihood(log2_c: float) -> float:
        left_out = KernelSums(rows, w, 2.0**log2_c * reference, kernel, tolerance).left_out()
        return float(np.average(left_out, weights=w))

    return 2.0 ** _best(likelihood) * reference


def _best(likelihood: Callable[[float], float], low: int = -5, high: int = 4, farthest: int = 40) -> float:
    """The maximum over log2 c: a grid of integers, then Brent's method around the best of them."""
    found = {k: likelihood(k) for k in range(low, high)}
    best = max(found, key=lambda k: found[k])
    while (best == max(found) or found[best] == -np.inf) and max(found) < farthest:
        found[max(found) + 1] = likelihood(max(found) + 1)
        best = max(found, key=lambda k: found[k])
    if best == low:
        warnings.warn(
            f"the leave-one-out likelihood still grows at 1/{2**-low} of the reference bandwidth, where the "
            "search ends: rows that repeat drive it to 0; choose the bandwidth, or use 'reference'",
            UserWarning,
            stacklevel=3,
        )
        return float(low)
    result = minimize_scalar(
        lambda k: -max(likelihood(k), -1e300),
        bounds=(best - 1, best + 1),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(result.x) if -result.fun >= found[best] else float(best)


def _checked(X: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray | None, bool]:
    line = np.ndim(X) == 1
    rows = check_array(np.reshape(X, (-1, 1)) if line else X, dtype=np.float64)
    if sample_weight is None:
        return rows, None, line
    w = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    return rows[w > 0], w[w > 0], line

"""Uncertainty of a measured error rate: its deviation, intervals, and the rows that a precision
needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from lyceum.errors import SettingError
from lyceum.evaluate.common import named_choice
from lyceum.evaluate.printable import Printable
from lyceum.report import Summary


def share_in_range(
    name: str,
    value: float,
    *,
    open_ends: bool = False,
) -> float:
    if open_ends and not 0.0 < value < 1.0:
        raise SettingError(f"{name}={value} must lie strictly between 0 and 1")
    if not 0.0 <= value <= 1.0:
        raise SettingError(f"{name}={value} must lie in [0, 1]")
    return float(value)


def round_up(value: float) -> int:
    """The next integer, where rounding errors in the last bits are ignored: 1900.0000000000002 is
    1900."""
    # far above the rounding of a few operations, far below one row
    return math.ceil(value * (1.0 - 1e-12))


def error_sd(error: float, n: int) -> float:
    """Standard deviation of an error rate measured on n test rows, √(e (1-e) / n).

    Parameters
    ----------
    error : float
        The true error rate e.
    n : int
        The number of test rows.

    Returns
    -------
    float

    See Also
    --------
    holdout_size : The number of rows for a given precision.

    Examples
    --------
    >>> error_sd(0.05, 1900)
    0.005
    """
    if n < 1:
        raise SettingError(f"n={n}: at least one test row is needed")
    return math.sqrt(share_in_range("error", error) * (1.0 - error) / n)


@dataclass(frozen=True, slots=True)
class Interval(Printable):
    """An interval for an error rate.

    Attributes
    ----------
    rate : float
        The measured rate.
    low, high : float
        The ends of the interval.
    confidence : float
        Its coverage.
    method : {"wilson", "clopper-pearson", "wald"}
        How it was computed.

    See Also
    --------
    error_interval : Makes it from a number of errors.
    Bound : Bounds without assumptions.
    AucInterval : The interval of an area under the ROC curve.

    References
    ----------
    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.
    Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26, 1934.

    Examples
    --------
    >>> from lyceum.evaluate import error_interval
    >>> print(error_interval(5, 100))
    0.05 (0.02154 to 0.1118 with 95 % confidence, wilson)
    >>> exact = error_interval(0, 100, method="clopper-pearson")
    >>> exact.low, round(exact.high, 4)                           # 1 - 0.025^(1/100)
    (0.0, 0.0362)
    """

    rate: float
    low: float
    high: float
    confidence: float
    method: str

    def summary(self) -> Summary:
        """The rate with its interval."""
        words = f"{self.low:.4g} to {self.high:.4g} with {100 * self.confidence:g} % confidence"
        return Summary(f"{self.rate:.4g} ({words}, {self.method})")


def error_interval(
    n_wrong: int,
    n: int,
    *,
    confidence: float = 0.95,
    method: str = "wilson",
) -> Interval:
    """An interval for the true error rate behind `n_wrong` errors on `n` test rows.

    Parameters
    ----------
    n_wrong : int
        Errors.
    n : int
        Test rows.
    confidence : float, default=0.95
        The coverage.
    method : {"wilson", "clopper-pearson", "wald"}, default="wilson"
        Wilson's has about the stated coverage; Clopper and Pearson's, the exact one, has at least
        that, and is wider. Wald's, p ± z √(p(1-p)/n), is the textbook formula: too narrow for small
        n and near 0 or 1.

    Returns
    -------
    Interval

    See Also
    --------
    hoeffding_bound, chebyshev_bound : Bounds without assumptions.

    References
    ----------
    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.
    Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26, 1934.

    Examples
    --------
    >>> interval = error_interval(5, 100)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.022, 0.112)
    """
    share_in_range("confidence", confidence, open_ends=True)
    if not 0 <= n_wrong <= n or n < 1:
        raise SettingError(
            f"{n_wrong} errors on {n} rows: give 0 <= n_wrong <= n and at least one row"
        )
    low, high = named_choice("method", method, _INTERVALS)(n_wrong, n, 1.0 - confidence)
    return Interval(n_wrong / n, low, high, confidence, method)


def _wilson(
    k: int,
    n: int,
    alpha: float,
) -> tuple[float, float]:
    # the rates p with |k/n - p| <= z √(p (1-p) / n): the roots of a quadratic in p
    z2 = float(special.ndtri(alpha / 2.0)) ** 2
    middle = (k + z2 / 2.0) / (n + z2)
    root = math.sqrt(k * (n - k) / n + z2 / 4.0)
    reach = math.sqrt(z2) / (n + z2) * root
    # at k = 0 and k = n one root is 0 or 1 exactly, which rounding would miss
    if k == 0:
        low = 0.0
    else:
        low = max(0.0, middle - reach)
    if k == n:
        high = 1.0
    else:
        high = min(1.0, middle + reach)
    return low, high


def _clopper_pearson(
    k: int,
    n: int,
    alpha: float,
) -> tuple[float, float]:
    # quantiles of beta distributions: P(at most k errors) and P(at least k errors) are their tails
    if k == 0:
        low = 0.0
    else:
        low = float(special.betaincinv(k, n - k + 1, alpha / 2.0))
    if k == n:
        high = 1.0
    else:
        high = float(special.betainccinv(k + 1, n - k, alpha / 2.0))
    return low, high


def _wald(
    k: int,
    n: int,
    alpha: float,
) -> tuple[float, float]:
    p = k / n
    z = -float(special.ndtri(alpha / 2.0))
    reach = z * math.sqrt(p * (1.0 - p) / n)
    return max(0.0, p - reach), min(1.0, p + reach)


_INTERVALS = {"wilson": _wilson, "clopper-pearson": _clopper_pearson, "wald": _wald}


def holdout_size(
    error: float,
    within: float,
    *,
    deviations: float = 2.0,
) -> int:
    """Test rows needed to know an error rate to ± `within`: n = z² e (1-e) / within² with z = 2.

    The sd of an error rate on n rows is √(e (1-e) / n); n is chosen so that z of them fit into
    `within`. Two sd hold about 95 % of a normal distribution (exactly 95 % is z = 1.96) and, by
    Chebyshev, at least 75 % of any.

    Parameters
    ----------
    error : float
        The error rate expected.
    within : float
        The precision wanted.
    deviations : float, default=2.0
        z, the number of standard deviations.

    Returns
    -------
    int
        At least 1.

    See Also
    --------
    error_sd : The standard deviation for a number of rows.
    Holdout : The division itself.

    Examples
    --------
    >>> holdout_size(error=0.05, within=0.01)
    1900
    """
    share_in_range("error", error)
    if not (within > 0.0 and deviations > 0.0):  # NaN is neither
        raise SettingError(
            f"within={within} and deviations={deviations} must be above 0"
        )
    n_rows = deviations**2 * error * (1.0 - error) / within**2
    return max(1, round_up(n_rows))


def majority_vote_error(n_voters: int, error: Any) -> float:
    """Error of the majority of L independent voters, Σ_{k>L/2} C(L,k) e^k (1-e)^(L-k).

    A tie among an even number of voters is wrong half the time. Voters of unequal error are counted
    one after the other: P(k wrong) becomes e P(k-1 wrong) + (1-e) P(k wrong).

    Parameters
    ----------
    n_voters : int
        L.
    error : float or array-like of shape (n_voters,)
        The error rate e of all voters, or of each.

    Returns
    -------
    float

    See Also
    --------
    lyceum.ensemble.BaggingClassifier : Voters that are nearly independent.

    Examples
    --------
    >>> round(majority_vote_error(21, 0.3), 3)
    0.026
    >>> round(majority_vote_error(3, [0.1, 0.2, 0.3]), 3)  # .1·.2·.7 + .1·.8·.3 + .9·.2·.3 + .006
    0.098
    """
    if n_voters < 1 or n_voters != int(n_voters):
        raise SettingError(
            f"n_voters={n_voters}: give a whole number, at least one voter"
        )
    half = int(n_voters) // 2
    if np.ndim(error) == 0:
        share_in_range("error", error)
        wrong = float(stats.binom.sf(half, n_voters, error))
        tie = float(stats.binom.pmf(half, n_voters, error))
    else:
        shares = _shares_of_wrong(n_voters, error)
        wrong = float(shares[half + 1 :].sum())
        tie = float(shares[half])
    if n_voters % 2:
        return wrong
    # a tie is decided by a coin
    return wrong + tie / 2.0


def _shares_of_wrong(n_voters: int, errors: Any) -> np.ndarray:
    """P(k of the voters are wrong), k = 0 to L, for voters of these error rates."""
    if np.shape(errors) != (n_voters,):
        raise SettingError(
            f"error of shape {np.shape(errors)}: give one rate, or one for each of the {n_voters}"
            " voters"
        )
    shares = np.ones(1)
    for error in errors:
        share = share_in_range("error", error)
        shares = np.convolve(shares, [1.0 - share, share])
    return shares

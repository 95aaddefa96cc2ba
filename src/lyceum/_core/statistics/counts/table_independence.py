"""Entropies of counts, in bits, and tests of independence on tables of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from lyceum._core.report import Shown
from lyceum.errors import DataError, SettingError, number_setting


def p_log2_p(p: np.ndarray) -> np.ndarray:
    """p log₂ p of every probability, 0 where p = 0: minus their sum is an entropy in bits.

    >>> p_log2_p(np.array([0.5, 0.25, 0.25, 0.0])).tolist()
    [-0.5, -0.5, -0.5, 0.0]
    """
    return p * np.log2(np.where(p > 0, p, 1.0))


def entropy(counts: np.ndarray) -> np.ndarray:
    """-Σ p log₂ p of counts or weights along the last axis; 0 where there are none.

    >>> entropy(np.array([[2.0, 1.0, 1.0], [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [1.5, 0.0, 0.0]
    """
    sums = counts.sum(axis=-1, keepdims=True)
    p = counts / np.where(sums > 0, sums, 1.0)
    # 0, not -0
    return 0.0 - p_log2_p(p).sum(axis=-1)


@dataclass(frozen=True, slots=True)
class IndependenceTest(Shown):
    """A test of X ⊥ Y | S on counts: statistic, degrees of freedom and p-value.

    Attributes
    ----------
    statistic : float
        χ² or G².
    degrees_of_freedom : int
        Counted in the rows and columns that occur.
    p_value : float
        The probability of such a statistic or a larger one if X and Y are independent; 1 if there
        is nothing to test.

    See Also
    --------
    independence_test : Makes it from a table of counts.

    Examples
    --------
    >>> from lyceum.statistics import independence_test
    >>> test = independence_test(np.array([[20.0, 10.0], [10.0, 20.0]]), "chi2")
    >>> round(test.statistic, 3), test.degrees_of_freedom
    (6.667, 1)
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


def _freedom(margins: np.ndarray) -> np.ndarray:
    return np.maximum((margins > 0).sum(axis=1) - 1, 0)


def independence_test(
    counts: np.ndarray,
    kind: str = "g2",
    *,
    correction: bool = False,
) -> IndependenceTest:
    """The test that the first two axes of a table of counts are independent given the others.

    χ² = Σ (N - E)² / E or G² = 2 Σ N log(N / E), with E = N_x N_y / N in every stratum. Degrees of
    freedom are counted in the rows and columns that occur.

    Parameters
    ----------
    counts : array of shape (x, y, ...)
    kind : {"g2", "chi2"}, default="g2"
    correction : bool, default=False
        Yates' correction for continuity: where a table has one degree of freedom (2 × 2), its
        counts are moved towards E by ½, or by as much as they differ if that is less.

    References
    ----------
    Yates (1934), Contingency tables involving small numbers and the χ² test, Supplement to the
    Journal of the Royal Statistical Society 1.

    Examples
    --------
    >>> independence_test(np.array([[20.0, 10.0], [10.0, 20.0]]), "chi2").p_value.__round__(4)
    0.0098
    >>> test = independence_test([[20.0, 10.0], [10.0, 20.0]], "chi2", correction=True)
    >>> round(test.statistic, 3)  # 4 (5 - ½)² / 15
    5.4
    """
    if kind not in ("g2", "chi2"):
        raise SettingError(f"kind={kind!r} is not known: choose from 'g2', 'chi2'")
    counts = number_setting("counts", counts)
    is_count = np.isfinite(counts) & (counts >= 0)
    if counts.ndim < 2 or not is_count.all():
        raise DataError(
            f"counts of shape {counts.shape}: give a table of two axes or more, finite and not"
            " negative"
        )
    # one table N per combination s of the other axes, with the expected counts
    # E_xy = N_x. N_.y / N of independence; the statistics and their freedom add up over s
    N = np.moveaxis(counts.reshape(*counts.shape[:2], -1), 2, 0)
    rows = N.sum(axis=2)
    columns = N.sum(axis=1)
    sums = rows.sum(axis=1)
    divisor = np.where(sums > 0, sums, 1.0)[:, None, None]
    E = rows[:, :, None] * columns[:, None, :] / divisor
    freedoms = _freedom(rows) * _freedom(columns)
    if correction:
        moved = np.clip(E - N, -0.5, 0.5)
        N = N + np.where((freedoms == 1)[:, None, None], moved, 0.0)
    statistic = _distance(N, E, kind)
    # rows and columns of zeros are no categories of a table
    freedom = freedoms.sum()
    if freedom:
        p_value = float(chdtrc(freedom, statistic))
    else:
        p_value = 1.0
    return IndependenceTest(max(statistic, 0.0), int(freedom), p_value)


def _distance(N: np.ndarray, E: np.ndarray, kind: str) -> float:
    """χ² or G² of counts N from those expected, E; cells without any add nothing."""
    cells = (E if kind == "chi2" else N) > 0
    N = N[cells]
    E = E[cells]
    if kind == "chi2":
        return float(((N - E) ** 2 / E).sum())
    return float(2.0 * (N * np.log(N / E)).sum())

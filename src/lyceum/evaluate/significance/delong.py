"""DeLong's interval of an area under the ROC curve, and his test of two areas on the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from scipy.stats import rankdata

from lyceum._core.types import Label, Target
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.common import named_choice
from lyceum.evaluate.curves.roc import refuse_missing_scores
from lyceum.evaluate.label_codes import positive_mask, score_column
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.significance.paired_tests import statistic
from lyceum.report import Summary


@dataclass(frozen=True, slots=True)
class AucInterval(Printable):
    """An area under the ROC curve with its standard error and interval.

    Attributes
    ----------
    auc : float
        The measured area.
    standard_error : float
        DeLong's; 0 when every positive scores above every negative.
    low, high : float
        The ends of the interval, within 0 and 1.
    confidence : float
        Its coverage, for many rows.
    scale : {"area", "logit"}
        The scale on which it is symmetric.

    See Also
    --------
    auc_interval : Makes it from labels and scores.
    DeLong : The comparison of two areas on the same rows.
    Interval : The interval of an error rate.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach, Biometrics 44, 1988.

    Examples
    --------
    >>> from lyceum.evaluate import auc_interval
    >>> interval = auc_interval([0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.5, 0.35, 0.8, 0.9])
    >>> print(interval)                                              # 7/9 ± 1.96 · 0.2485, cut at 1
    AUC 0.7778 (0.2908 to 1 with 95 % confidence, DeLong)
    """

    auc: float
    standard_error: float
    low: float
    high: float
    confidence: float
    scale: str

    def summary(self) -> Summary:
        """The area with its interval."""
        words = f"{self.low:.4g} to {self.high:.4g} with {100 * self.confidence:g} % confidence"
        return Summary(f"AUC {self.auc:.4g} ({words}, DeLong)")


@dataclass(frozen=True, slots=True, eq=False)
class DeLong(Printable):
    """DeLong's test that two scores of the same rows have the same area under the ROC curve.

    Attributes
    ----------
    first, second : float
        The two areas.
    covariance : ndarray of shape (2, 2)
        The covariance matrix of the two measured areas.
    z, p_value : float
        The difference over its standard error, and the two-sided probability of one as large by
        chance.
    low, high : float
        The interval of the difference.
    confidence : float
        Its coverage, for many rows.
    difference : float
        Area of the first minus area of the second.
    standard_error : float
        The standard error of the difference.

    See Also
    --------
    delong : Makes it from labels and two scores.
    AucInterval : One area with its interval.
    McNemar : The comparison of two predictions instead of two scores.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach, Biometrics 44, 1988.

    Examples
    --------
    >>> from lyceum.evaluate import delong
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> test = delong(y, [1, 2, 3, 5, 4, 6, 7, 8], [1, 5, 3, 7, 4, 2, 6, 8])
    >>> test.first, test.second                                   # 15 and 10 of 16 pairs in order
    (0.9375, 0.625)
    >>> round(test.z, 3), round(test.low, 3), round(test.high, 3)
    (1.581, -0.075, 0.7)
    """

    _derived = ("difference", "standard_error")

    first: float
    second: float
    covariance: np.ndarray
    z: float
    p_value: float
    low: float
    high: float
    confidence: float

    @property
    def difference(self) -> float:
        """Area of the first minus area of the second."""
        return self.first - self.second

    @property
    def standard_error(self) -> float:
        """The standard error of the difference."""
        return _difference_error(self.covariance)

    def summary(self) -> Summary:
        """Both areas, their difference, z and p."""
        facts = {
            "first AUC": self.first,
            "second AUC": self.second,
            "difference": self.difference,
            f"{100 * self.confidence:g} % interval": f"{self.low:.4g} to {self.high:.4g}",
            "z": self.z,
            "p": self.p_value,
        }
        return Summary("DeLong's test of two areas under the ROC curve", facts)


def auc_interval(
    y_true: Target,
    y_score: Target,
    *,
    pos_label: Label = None,
    confidence: float = 0.95,
    scale: str = "area",
) -> AucInterval:
    """The area under the ROC curve with DeLong's standard error and interval.

    With m positives and n negatives, V_i is the share of negatives that positive i scores above
    (ties count one half), and U_j the share of positives that score above negative j. The variance
    of the area is var(V)/m + var(U)/n. It takes one sort, O(N log N).

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target.
    y_score : array-like of shape (n,)
        Scores or posteriors, larger for the positive class; of (n, 2) posteriors the second column
        is taken.
    pos_label : label, optional
        The positive class; by default the larger of two labels.
    confidence : float, default=0.95
        The coverage.
    scale : {"area", "logit"}, default="area"
        AUC ± z·se, cut at 0 and 1; or symmetric in ln(AUC / (1 - AUC)), which stays inside by
        itself and is better near 1.

    Returns
    -------
    AucInterval

    See Also
    --------
    delong : Compares two scores.
    roc_auc_score : The area alone.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach, Biometrics 44, 1988. Sun and Xu, Fast
    implementation of DeLong's algorithm, IEEE Signal Processing Letters 21, 2014.

    Examples
    --------
    >>> interval = auc_interval([0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.5, 0.35, 0.8, 0.9])
    >>> round(interval.auc, 4), round(interval.standard_error, 4)
    (0.7778, 0.2485)
    """
    z = _normal_quantile(confidence)
    areas, covariance = _areas(y_true, [y_score], pos_label)
    area = float(areas[0])
    error = math.sqrt(covariance[0, 0])
    ends = named_choice("scale", scale, {"area": _plain_ends, "logit": _logit_ends})
    low, high = ends(area, z * error)
    return AucInterval(area, error, low, high, confidence, scale)


def delong(
    y_true: Target,
    first: object,
    second: object,
    *,
    pos_label: Label = None,
    confidence: float = 0.95,
) -> DeLong:
    """DeLong's test: do two scores of the same rows have the same area under the ROC curve?

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target.
    first, second : array-like of shape (n,)
        The scores of two models for the same rows, larger for the positive class; of (n, 2)
        posteriors the second column is taken.
    pos_label : label, optional
        The positive class; by default the larger of two labels.
    confidence : float, default=0.95
        The coverage of the interval of the difference.

    Returns
    -------
    DeLong
        With z = 0 and p = 1 for two scores that order the rows alike.

    See Also
    --------
    auc_interval : One area.
    mcnemar : Compares predicted labels.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach, Biometrics 44, 1988.

    Examples
    --------
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> test = delong(y, [1, 2, 3, 5, 4, 6, 7, 8], [1, 5, 3, 7, 4, 2, 6, 8])
    >>> round(test.difference, 4), round(test.p_value, 3)
    (0.3125, 0.114)
    """
    reach = _normal_quantile(confidence)
    (first_area, second_area), covariance = _areas(y_true, [first, second], pos_label)
    error = _difference_error(covariance)
    difference = float(first_area - second_area)
    z = statistic(difference, error)
    return DeLong(
        first=float(first_area),
        second=float(second_area),
        covariance=covariance,
        z=z,
        p_value=2.0 * float(special.ndtr(-abs(z))),
        low=difference - reach * error,
        high=difference + reach * error,
        confidence=confidence,
    )


def _areas(
    y_true: Target, scores: list[Any], pos_label: Label
) -> tuple[np.ndarray, np.ndarray]:
    """The areas of some scores and their covariance, by DeLong's structural components."""
    mask = positive_mask(y_true, pos_label)
    m = int(mask.sum())
    n = int((~mask).sum())
    if m < 2 or n < 2:
        raise DataError(
            f"{m} positive and {n} negative rows: DeLong's variance needs two of each"
        )
    # The component V of a positive is the share of negatives below it (ties count half), that of
    # a negative, U, the share of positives above it. A row's mean rank among all rows minus that
    # within its class counts the rows of the other class below it, in O(n log n) in place of m n.
    above = np.empty((len(scores), m))
    below = np.empty((len(scores), n))
    for i, values in enumerate(scores):
        y_score = score_column(values, len(mask))
        refuse_missing_scores(y_score)
        rank = rankdata(y_score)
        above[i] = (rank[mask] - rankdata(y_score[mask])) / n
        below[i] = 1.0 - (rank[~mask] - rankdata(y_score[~mask])) / m
    # Cov(areas) = Cov(V) / m + Cov(U) / n
    of_positives = np.atleast_2d(np.cov(above))
    of_negatives = np.atleast_2d(np.cov(below))
    covariance = of_positives / m + of_negatives / n
    return above.mean(axis=1), covariance


def _difference_error(covariance: np.ndarray) -> float:
    # rounding may leave a tiny negative number where the two scores order the rows alike
    both = covariance[0, 0] + covariance[1, 1]
    variance = float(both - 2.0 * covariance[0, 1])
    if variance > 1e-14 * float(np.trace(covariance)):
        return math.sqrt(variance)
    return 0.0


def _normal_quantile(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise SettingError(f"confidence={confidence} must lie strictly between 0 and 1")
    return float(-special.ndtri((1.0 - confidence) / 2.0))


def _plain_ends(area: float, reach: float) -> tuple[float, float]:
    return max(0.0, area - reach), min(1.0, area + reach)


def _logit_ends(area: float, reach: float) -> tuple[float, float]:
    # the logit of 0 or 1 is infinite
    if not 0.0 < area < 1.0:
        return area, area  # the standard error is 0
    # the delta method: the derivative of the logit is 1 / (A (1 - A))
    middle = math.log(area / (1.0 - area))
    reach = reach / (area * (1.0 - area))
    low = float(1.0 / (1.0 + np.exp(reach - middle)))
    high = float(1.0 / (1.0 + np.exp(-reach - middle)))
    return low, high

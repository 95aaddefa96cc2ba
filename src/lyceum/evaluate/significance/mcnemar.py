"""McNemar's test of two classifiers on the same test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from lyceum._core.types import Target
from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.evaluate.common import ratio
from lyceum.evaluate.label_codes import column_of, common_codes, same_length
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.significance.paired_tests import are_results, significance
from lyceum.report import Summary

_EXACT_BELOW = 25  # discordant rows, below which chi-square is too rough


@dataclass(frozen=True, slots=True)
class McNemar(Printable):
    """McNemar's test on the rows that one of two models gets wrong and the other right.

    Attributes
    ----------
    only_first_wrong, only_second_wrong : int
        Rows that only one of the two gets wrong, b and c.
    statistic : float
        For "exact" the smaller of the two counts; for "chi-square" (|b - c| - 1)² / (b + c), or 0
        for b = c; for "uncorrected" (b - c)² / (b + c).
    p_value : float
        Two-sided; 1 when no row is wrong for one model alone.
    method : {"exact", "chi-square", "uncorrected"}
        Binomial with p = ½, or chi-square of one degree of freedom with or without continuity
        correction.

    See Also
    --------
    mcnemar : Makes it from predictions or from the two counts.
    DeLong : The comparison of two scores by their areas under the ROC curve.
    CorrectedT, FiveByTwoTest : Tests over splits.
    lyceum.plot.comparison : The counts as a picture.

    References
    ----------
    McNemar, Note on the sampling error of the difference between correlated proportions or
    percentages, Psychometrika 12, 1947.

    Examples
    --------
    >>> from lyceum.evaluate import mcnemar
    >>> result = mcnemar(only_first_wrong=8, only_second_wrong=1)
    >>> result.method, result.p_value                             # 2 (1 + 9) / 2⁹
    ('exact', 0.0390625)
    """

    only_first_wrong: int
    only_second_wrong: int
    statistic: float
    p_value: float
    method: str

    def summary(self) -> Summary:
        """The counts, the statistic and its p-value."""
        facts = {
            "only the first wrong": self.only_first_wrong,
            "only the second wrong": self.only_second_wrong,
            "statistic": self.statistic,
            "p": self.p_value,
            "at 5 %": significance(self.p_value),
        }
        return Summary(f"McNemar's test ({self.method})", facts)


def mcnemar(
    y_true: Target = None,
    first: object = None,
    second: object = None,
    *,
    only_first_wrong: int | None = None,
    only_second_wrong: int | None = None,
    method: str = "auto",
) -> McNemar:
    """McNemar's test of two classifiers on the same test rows.

    Parameters
    ----------
    y_true, first, second : array-like of shape (n,), optional
        Truth and the predictions of the two, or two results of `cross_validate` with the same
        folds, each row tested once; or give the two counts instead. Scanned rows as y_true stand
        for their target.
    only_first_wrong, only_second_wrong : int, optional
        Rows that only one of the two gets wrong.
    method : {"auto", "exact", "chi-square", "uncorrected"}, default="auto"
        "auto" is exact for fewer than 25 rows that only one of the two gets wrong, else
        "chi-square", which has the correction for continuity, (|b - c| - 1)² / (b + c);
        "uncorrected" is (b - c)² / (b + c).

    Returns
    -------
    McNemar

    See Also
    --------
    corrected_t, five_by_two : Tests over splits.
    lyceum.plot.comparison : The counts as a picture.

    References
    ----------
    McNemar, Note on the sampling error of the difference between correlated proportions or
    percentages, Psychometrika 12, 1947.

    Examples
    --------
    >>> result = mcnemar(only_first_wrong=40, only_second_wrong=20)
    >>> result.method, round(result.statistic, 3), round(result.p_value, 4)
    ('chi-square', 6.017, 0.0142)
    """
    if method not in ("auto", "exact", "chi-square", "uncorrected"):
        raise SettingError(
            f"method={method!r}: choose from 'auto', 'exact', 'chi-square', 'uncorrected'"
        )
    if are_results(first, second):
        first = _predictions(y_true, first)
        second = _predictions(y_true, second)
    b, c = _discordant_counts(
        y_true, first, second, only_first_wrong, only_second_wrong
    )
    n = b + c
    # Under equality each discordant row is a fair coin: b is binomial(b + c, 1/2). Twice the
    # smaller tail exceeds 1 where b and c are equal.
    if method == "exact" or (method == "auto" and n < _EXACT_BELOW):
        if n:
            tail = float(special.bdtr(min(b, c), n, 0.5))
            p = min(1.0, 2.0 * tail)
        else:
            p = 1.0
        return McNemar(b, c, float(min(b, c)), p, "exact")
    if method == "auto":
        method = "chi-square"
    # Edwards' correction by 1 for approximating counts by a continuous distribution
    if method == "uncorrected":
        correction = 0.0
    else:
        correction = 1.0
    statistic = ratio(max(abs(b - c) - correction, 0.0) ** 2, n)
    p = float(special.chdtrc(1, statistic))
    return McNemar(b, c, statistic, p, method)


def _predictions(y_true: Any, result: Any) -> np.ndarray:
    """The predictions of all rows, in the order of y."""
    # McNemar counts rows: each may be tested once only
    rows = np.concatenate(result.test_rows)
    if y_true is None:
        n_rows = 0
    else:
        n_rows = len(column_of(y_true, "y_true"))
    if len(rows) != n_rows or len(np.unique(rows)) != n_rows:
        raise DataError(
            "McNemar's test needs y, and folds that test every row of it once"
        )
    return np.concatenate(result.predicted)[np.argsort(rows)]


def _discordant_counts(
    y_true: Any,
    first: Any,
    second: Any,
    b: int | None,
    c: int | None,
) -> tuple[int, int]:
    """b and c, the rows that only the first and only the second gets wrong: as given, or
    counted."""
    missing = [value is None for value in (y_true, first, second)]
    if all(missing) and b is not None and c is not None:
        if b < 0 or c < 0 or b != int(b) or c != int(c):
            raise SettingError(f"counts {b} and {c} must be integers of at least 0")
        return int(b), int(c)
    if any(missing) or b is not None or c is not None:
        raise SettingError(
            "give y and both predictions, or only_first_wrong and only_second_wrong"
        )
    columns = {
        "y": column_of(y_true, "y_true"),
        "first": column_of(first, "first"),
        "second": column_of(second, "second"),
    }
    same_length(columns["y"], columns["first"], "y and first")
    same_length(columns["y"], columns["second"], "y and second")
    _, (truth, *guesses) = common_codes(columns)
    if len(truth) and truth.min() < 0:
        raise MissingValuesError("y_true has missing labels: leave those rows out")
    first_wrong, second_wrong = (guess != truth for guess in guesses)
    b = int((first_wrong & ~second_wrong).sum())
    c = int((second_wrong & ~first_wrong).sum())
    return b, c

"""Two classes: every rate of a two-by-two table, with kappa and the odds ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.types import Label, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.common import ratio
from lyceum.evaluate.label_codes import (
    paired_codes,
    refuse_unknown,
    truth_and_weights,
    weights_of,
)
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.reports.kappa import cohen_kappa, kappa_reading
from lyceum.report import Summary, Table

_SUMMARY = (
    "accuracy",
    "error",
    "precision",
    "recall",
    "specificity",
    "false_positive_rate",
    "miss_rate",
    "npv",
    "f1",
    "odds_ratio",
    "kappa",
)


@dataclass(frozen=True, slots=True)
class BinaryReport(Printable):
    """The rates of a two-by-two table.

    A rate whose denominator is zero is 0, and its name is in `undefined`; the odds ratio is
    infinite when only its denominator is zero and 1 (no association) when both parts are; kappa is
    0 when all rows are in one class.

    Attributes
    ----------
    tp, fp, fn, tn : float
        Rows, or their weight: true positives, false positives, false negatives, true negatives.
    positive, negative : object
        The labels of the two classes.
    rejected : float
        Rows without a decision; they are in none of the rates.
    n : float
        Rows with a decision, tp + fp + fn + tn.
    accuracy, error : float
        Shares of rows predicted right and wrong.
    precision, npv : float
        Of the rows predicted positive (negative), the share that is: tp / (tp + fp) and tn / (tn +
        fn).
    recall, miss_rate : float
        Of the positives, the shares found and missed: tp / (tp + fn) and fn / (tp + fn).
    specificity, false_positive_rate : float
        Of the negatives, the shares found and called positive: tn / (tn + fp) and fp / (tn + fp).
    f1 : float
        Harmonic mean of precision and recall.
    prevalence : float
        Share of positives.
    balanced_accuracy : float
        Mean of recall and specificity.
    odds_ratio : float
        tp tn / (fp fn).
    kappa, kappa_reading : float, str
        Cohen's kappa, agreement beyond chance, and the same in words.
    matthews : float
        Matthews' correlation of truth and prediction.
    undefined : tuple of str
        The names of rates whose denominator is zero.

    See Also
    --------
    binary_report : Makes it from labels or from four counts.
    ClassReport : More than two classes.
    RocCurve : The rates at every threshold of a score.

    References
    ----------
    Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement
    20, 1960. Matthews, Comparison of the predicted and observed secondary structure of T4 phage
    lysozyme, Biochimica et Biophysica Acta 405, 1975.

    Examples
    --------
    >>> from lyceum.evaluate import binary_report
    >>> predicted = ["ill", "ill", "well", "ill"] + ["well"] * 4
    >>> report = binary_report(["ill"] * 3 + ["well"] * 5, predicted)
    >>> report.tp, report.fp, report.fn, report.tn
    (2.0, 1.0, 1.0, 4.0)
    >>> round(report.recall, 3), report.odds_ratio, round(report.kappa, 3)
    (0.667, 8.0, 0.467)
    """

    _derived = (
        "n",
        *_SUMMARY,
        "prevalence",
        "balanced_accuracy",
        "matthews",
        "kappa_reading",
        "undefined",
    )

    tp: float
    fp: float
    fn: float
    tn: float
    positive: Any = "positive"
    negative: Any = "negative"
    rejected: float = 0.0

    @property
    def n(self) -> float:
        """Rows decided, tp + fp + fn + tn."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def accuracy(self) -> float:
        """Share of rows predicted right."""
        return ratio(self.tp + self.tn, self.n)

    @property
    def error(self) -> float:
        """Share of rows predicted wrong."""
        return ratio(self.fp + self.fn, self.n)

    @property
    def precision(self) -> float:
        """Share of the rows predicted positive that are positive: tp / (tp + fp)."""
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of the positives found: tp / (tp + fn); also sensitivity and true positive rate."""
        return ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> float:
        """Share of the negatives found: tn / (tn + fp)."""
        return ratio(self.tn, self.tn + self.fp)

    @property
    def false_positive_rate(self) -> float:
        """Share of the negatives predicted positive: fp / (fp + tn)."""
        return ratio(self.fp, self.tn + self.fp)

    @property
    def miss_rate(self) -> float:
        """Share of the positives missed: fn / (tp + fn)."""
        return ratio(self.fn, self.tp + self.fn)

    @property
    def npv(self) -> float:
        """Negative predictive value, share of the rows predicted negative that are: tn / (tn +
        fn)."""
        return ratio(self.tn, self.tn + self.fn)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 2 tp / (2 tp + fp + fn)."""
        return self.f_score(1.0)

    @property
    def prevalence(self) -> float:
        """Share of positives."""
        return ratio(self.tp + self.fn, self.n)

    @property
    def balanced_accuracy(self) -> float:
        """Mean of recall and specificity."""
        return (self.recall + self.specificity) / 2.0

    @property
    def odds_ratio(self) -> float:
        """Odds of a positive prediction among positives over those among negatives: tp tn / (fp
        fn)."""
        # 0/0 is no association, 1; any other number over 0 is infinite
        above = self.tp * self.tn
        below = self.fp * self.fn
        return ratio(above, below, math.inf if above else 1.0)

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond chance."""
        table = [[self.tp, self.fn], [self.fp, self.tn]]
        return cohen_kappa(np.array(table, dtype=np.float64))

    def task_cost(self, cost_fp: float = 1.0, cost_fn: float = 1.0) -> float:
        """C_FP · FP + C_FN · FN.

        Parameters
        ----------
        cost_fp, cost_fn : float, default=1.0
            The costs of a false alarm and of a miss.
        """
        return cost_fp * self.fp + cost_fn * self.fn

    @property
    def kappa_reading(self) -> str:
        """Kappa in words."""
        return kappa_reading(self.kappa)

    @property
    def matthews(self) -> float:
        """Matthews' correlation of truth and prediction; 0 when either has one class only."""
        margins = (
            self.tp + self.fp,
            self.tp + self.fn,
            self.tn + self.fp,
            self.tn + self.fn,
        )
        # the root of every margin, as the product of all four could overflow
        below = math.prod(math.sqrt(margin) for margin in margins)
        correlation = ratio(self.tp * self.tn - self.fp * self.fn, below)
        return min(1.0, max(-1.0, correlation))

    @property
    def undefined(self) -> tuple[str, ...]:
        """The names of rates whose denominator is zero."""
        empty = {
            ("accuracy", "error"): self.n,
            ("recall", "miss_rate"): self.tp + self.fn,
            ("specificity", "false_positive_rate"): self.tn + self.fp,
            ("precision",): self.tp + self.fp,
            ("npv",): self.tn + self.fn,
            ("f1",): 2 * self.tp + self.fp + self.fn,
            ("odds_ratio",): self.fp * self.fn or self.tp * self.tn,
            ("kappa",): self.fp + self.fn or self.tp * self.tn,
        }
        return tuple(
            name for names, rows in empty.items() if not rows for name in names
        )

    def f_score(self, beta: float) -> float:
        """Weighted harmonic mean of precision and recall, with recall beta times as important."""
        square = beta * beta
        right = (1 + square) * self.tp
        return ratio(right, right + square * self.fn + self.fp)

    def summary(self) -> Summary:
        """The table and its rates."""
        heads = ("truth", f"as {self.positive}", f"as {self.negative}")
        rows = [
            (str(self.positive), self.tp, self.fn),
            (str(self.negative), self.fp, self.tn),
        ]
        table = Table("rows: truth, columns: prediction", heads, rows)
        facts: dict[str, Any] = {
            name.replace("_", " "): getattr(self, name) for name in _SUMMARY
        }
        facts["kappa reads"] = self.kappa_reading
        if self.rejected:
            facts["rejected rows"] = self.rejected
        if self.undefined:
            facts["no rows for"] = ", ".join(self.undefined)
        title = f"positive: {self.positive}, negative: {self.negative}"
        return Summary(title, facts, (table,))


def binary_report(
    y_true: Target = None,
    y_pred: Target = None,
    *,
    tp: float | None = None,
    fp: float | None = None,
    fn: float | None = None,
    tn: float | None = None,
    pos_label: Label = None,
    sample_weight: Weights = None,
) -> BinaryReport:
    """Every rate of two classes, from labels or from the four counts.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), optional
        Truth and prediction; or leave them out and give all four counts. Scanned rows as y_true
        stand for their target and carry their weights.
    tp, fp, fn, tn : float, optional
        True positives, false positives, false negatives and true negatives.
    pos_label : label, optional
        The positive class: by default the larger of two numbers (1, True), and of two texts the
        rarer one in y, the later one if they are as frequent (a lone label is positive if it is 1
        or True). When it is given, all other labels together are negative.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    BinaryReport

    See Also
    --------
    class_report : More than two classes.
    confusion_matrix : The counts of all classes.

    Examples
    --------
    >>> report = binary_report(tp=3023, fp=1518, fn=1977, tn=3482)
    >>> round(report.recall, 3), round(report.kappa, 3), report.kappa_reading
    (0.605, 0.301, 'poor')
    >>> binary_report([1, 1, 0], [1, 0, 0]).precision
    1.0
    """
    counts = (tp, fp, fn, tn)
    cells = [float(count) for count in counts if count is not None]
    from_counts = y_true is None and y_pred is None and len(cells) == 4
    from_labels = y_true is not None and y_pred is not None and not cells
    if not from_counts and not from_labels:
        raise SettingError("give y_true and y_pred, or all of tp, fp, fn and tn")
    if from_labels:
        return _report_of_labels(y_true, y_pred, pos_label, sample_weight)
    if not all(math.isfinite(cell) and cell >= 0 for cell in cells):
        raise DataError(f"tp, fp, fn, tn = {counts}: counts are finite and at least 0")
    tp, fp, fn, tn = cells
    positive = "positive" if pos_label is None else pos_label
    return BinaryReport(tp, fp, fn, tn, positive)


def _positive_label(
    labels: list[Any],
    truth: np.ndarray,
    w: np.ndarray | None,
) -> Any:
    """The positive class by default: of numbers 1 or the larger, of texts the rarer."""
    if len(labels) < 2:
        return labels[0] if labels == [1] else 1
    if all(isinstance(label, str) for label in labels):
        first, second = np.bincount(truth, w, 2)
        if first < second:
            return labels[0]
        return labels[1]
    return labels[1]


def _report_of_labels(
    y_true: Target, y_pred: Target, pos_label: Label, sample_weight: Weights
) -> BinaryReport:
    y_true, sample_weight = truth_and_weights(y_true, sample_weight)
    labels, truth, guess = paired_codes(y_true, y_pred)
    w = weights_of(sample_weight, len(truth))
    if pos_label is None and len(labels) > 2:
        raise SettingError(
            f"there are {len(labels)} classes: give pos_label=, or use confusion or class_report"
        )
    if pos_label is None:
        pos_label = _positive_label(labels, truth, w)
    refuse_unknown(pos_label, labels)
    others = [label for label in labels if label != pos_label]
    code = labels.index(pos_label) if pos_label in labels else len(labels)
    # cell 0 to 3: tn, fp, fn, tp, for the rows that have a prediction; the fifth for the others
    cell = 2 * (truth == code) + (guess == code)
    cell[guess < 0] = 4
    tn, fp, fn, tp, rejected = np.bincount(cell, w, minlength=5).tolist()
    return BinaryReport(
        tp=float(tp),
        fp=float(fp),
        fn=float(fn),
        tn=float(tn),
        positive=pos_label,
        negative=others[0] if len(others) == 1 else f"not {pos_label}",
        rejected=float(rejected),
    )

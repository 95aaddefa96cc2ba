"""Every class against the others, and their means: macro, micro and by class size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.types import Target, Weights
from lyceum.errors import SettingError
from lyceum.evaluate.common import ratio
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.reports.binary import BinaryReport
from lyceum.evaluate.reports.confusion import Confusion, confusion_matrix
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True)
class ClassAverages(Printable):
    """Precision, recall and F1 averaged over classes in one way.

    Attributes
    ----------
    precision, recall, f1 : float
        The averages; F1 is the average of the classes' F1, except for the micro average.

    See Also
    --------
    class_report : Makes the three kinds of averages.
    macro_average_modified : Another average, which every class can bring down.

    Examples
    --------
    >>> from lyceum.evaluate import class_report
    >>> report = class_report(["a", "a", "b", "c"], ["a", "b", "b", "c"])
    >>> print(report.macro)  # precisions 1, 1/2, 1; recalls 1/2, 1, 1
      precision  0.8333
      recall     0.8333
      F1         0.7778
    """

    precision: float
    recall: float
    f1: float

    def summary(self) -> Summary:
        """The three averages."""
        return Summary(
            "", {"precision": self.precision, "recall": self.recall, "F1": self.f1}
        )


@dataclass(frozen=True, slots=True, eq=False)
class ClassReport(Printable):
    """The rates of every class against all others, and three averages.

    Attributes
    ----------
    per_class : tuple of BinaryReport
        In the order of `confusion.classes`. A rejected row of a class lowers its recall: it was not
        found.
    macro : ClassAverages
        The plain mean: every class counts the same.
    weighted : ClassAverages
        The mean by the rows of the true class.
    micro : ClassAverages
        From pooled counts. Without rejection all three are the accuracy.
    confusion : Confusion
        The matrix behind them.

    See Also
    --------
    class_report : Makes it from labels or a confusion matrix.
    BinaryReport : The rates of one class against the others.
    Confusion : The counts.

    Examples
    --------
    >>> from lyceum.evaluate import class_report
    >>> report = class_report(["a", "a", "b", "c"], ["a", "b", "b", "c"])
    >>> [(one.positive, one.precision, one.recall) for one in report.per_class]
    [('a', 1.0, 0.5), ('b', 0.5, 1.0), ('c', 1.0, 1.0)]
    >>> report.weighted.recall, report.confusion.accuracy  # the mean recall by rows is the accuracy
    (0.75, 0.75)
    """

    per_class: tuple[BinaryReport, ...]
    macro: ClassAverages
    weighted: ClassAverages
    micro: ClassAverages
    confusion: Confusion

    def summary(self) -> Summary:
        """The rates of every class, and their averages."""
        rows: list[tuple[Any, ...]] = [
            (
                str(report.positive),
                report.precision,
                report.recall,
                report.specificity,
                report.f1,
                report.tp + report.fn,
            )
            for report in self.per_class
        ]
        averages = {
            "macro": self.macro,
            "weighted": self.weighted,
            "micro": self.micro,
        }
        means = [
            (name, mean.precision, mean.recall, mean.f1)
            for name, mean in averages.items()
        ]
        facts = {
            "accuracy": self.confusion.accuracy,
            "error": self.confusion.error,
            "kappa": self.confusion.kappa,
        }
        heads = ("class", "precision", "recall", "specificity", "F1", "rows")
        mean_heads = ("average", "precision", "recall", "F1")
        tables = (Table("", heads, rows), Table("", mean_heads, means))
        return Summary(f"report on {len(self.per_class)} classes", facts, tables)


def class_report(
    y_true: Target,
    y_pred: Target = None,
    *,
    labels: ArrayLike | None = None,
    reject: Any = None,
    sample_weight: Weights = None,
) -> ClassReport:
    """Rates of every class against the others, with macro, weighted and micro averages.

    Parameters
    ----------
    y_true : array-like of shape (n,), scanned rows or Confusion
        The true labels (rows stand for their target and carry their weights), or a confusion
        matrix.
    y_pred : array-like of shape (n,), optional
        The predictions; not needed with a confusion matrix.
    labels : array-like, optional
        The classes and their order; by default the sorted labels of both columns.
    reject : label, optional
        The label that stands for doubt. Among the predictions it is a rejection; among the truth it
        marks rows that belong to no class.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    ClassReport
        A rate whose denominator is zero is 0, and is averaged as such.

    See Also
    --------
    binary_report : Two classes.
    confusion_matrix : The counts.

    Examples
    --------
    >>> report = class_report(["a", "a", "b", "c"], ["a", "b", "b", "c"])
    >>> [one.recall for one in report.per_class], report.micro.f1
    ([0.5, 1.0, 1.0], 0.75)
    """
    if isinstance(y_true, Confusion):
        matrix = y_true
    elif y_pred is None:
        raise SettingError("give y_true and y_pred, or a confusion matrix")
    else:
        settings = {"labels": labels, "reject": reject, "sample_weight": sample_weight}
        matrix = confusion_matrix(y_true, y_pred, **settings)
    reports = _one_vs_rest(matrix)
    pooled = BinaryReport(
        tp=float(sum(report.tp for report in reports)),
        fp=float(sum(report.fp for report in reports)),
        fn=float(sum(report.fn for report in reports)),
        tn=float(sum(report.tn for report in reports)),
    )
    return ClassReport(
        per_class=reports,
        macro=_mean(reports, [1.0] * len(reports)),
        weighted=_mean(reports, [report.tp + report.fn for report in reports]),
        micro=ClassAverages(pooled.precision, pooled.recall, pooled.f1),
        confusion=matrix,
    )


def _one_vs_rest(matrix: Confusion) -> tuple[BinaryReport, ...]:
    """Class k against the rest over all rows; a rejected row is not predicted as k."""
    # tp, fp, fn and tn of all classes from the margins: fp = predicted - tp, fn = truth - tp
    right = matrix.counts.diagonal()
    truth = matrix.counts.sum(axis=1) + matrix.rejected
    predicted = matrix.counts.sum(axis=0) + matrix.foreign[:-1]
    cells = np.column_stack(
        [right, predicted - right, truth - right, matrix.n - predicted - truth + right]
    )
    # a difference of weights may miss zero by rounding
    cells = np.maximum(cells, 0.0)
    labels = matrix.classes.tolist()
    return tuple(
        BinaryReport(tp, fp, fn, tn, label, "the rest")
        for (tp, fp, fn, tn), label in zip(cells.tolist(), labels)
    )


def _mean(reports: tuple[BinaryReport, ...], weights: list[float]) -> ClassAverages:
    def mean(name: str) -> float:
        rates = [getattr(report, name) for report in reports]
        return ratio(float(np.dot(rates, weights)), float(np.sum(weights)))

    return ClassAverages(mean("precision"), mean("recall"), mean("f1"))

"""Precision and recall of every class, from the table of decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.text import plain
from lyceum.evaluate import error_interval
from lyceum.studies.compare.comparison import Span


@dataclass(frozen=True, slots=True)
class ClassRates:
    """How well one class is found, and how often it is named rightly.

    Attributes
    ----------
    label : label
        The class.
    n_rows : float
        Rows of the class, or their weight.
    n_named : float
        Rows that were given to the class.
    recall, precision, f1 : float or None
        The share of the class that was found; the share of the rows named that are of the class;
        their harmonic mean. None where there are no such rows.
    recall_interval, precision_interval : (float, float) or None
        Wilson's 95 % intervals.
    """

    label: Any
    n_rows: float
    n_named: float
    recall: float | None
    recall_interval: Span | None
    precision: float | None
    precision_interval: Span | None
    f1: float | None

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain({name: getattr(self, name) for name in self.__slots__})


def class_rates(
    confusion: Any,
    classes: Sequence[Any],
    named: Sequence[int],
    independent: float = 1.0,
) -> list[ClassRates]:
    """The rates of every class.

    Parameters
    ----------
    confusion : array-like of shape (K, A)
        Rows = true class, columns = action.
    classes : sequence of K labels
        The classes.
    named : sequence of A int
        For every action the class that it names, -1 for none: a rejected row is not found.
    independent : float, default=1.0
        How many independent rows a row (or a weight of 1) stands for: fewer than one with groups or
        uneven weights, so that intervals are wider.

    Returns
    -------
    list of ClassRates

    Examples
    --------
    >>> rates = class_rates([[8, 2], [0, 10]], "ab", [0, 1])
    >>> [(rate.label, rate.recall, rate.precision) for rate in rates]
    [('a', 0.8, 1.0), ('b', 1.0, 0.8333333333333334)]
    """
    table = np.asarray(confusion, dtype=np.float64)
    columns = [np.flatnonzero(np.asarray(named) == k) for k in range(len(classes))]
    return [
        _rates(table, k, label, columns[k], independent)
        for k, label in enumerate(classes)
    ]


def _rates(
    table: np.ndarray, k: int, label: object, columns: np.ndarray, independent: float
) -> ClassRates:
    correct = table[k, columns].sum()
    rows = table[k].sum()
    named = table[:, columns].sum()
    recall = _share(correct, rows, independent)
    precision = _share(correct, named, independent)
    if rows + named == 0:
        f1 = None
    else:
        f1 = float(2.0 * correct / (rows + named))
    return ClassRates(label, float(rows), float(named), *recall, *precision, f1)


def _share(
    part: float, total: float, independent: float
) -> tuple[float | None, Span | None]:
    if total <= 0:
        return None, None
    span = error_interval(float(part * independent), float(total * independent))  # type: ignore[arg-type]
    return float(part / total), (span.low, span.high)

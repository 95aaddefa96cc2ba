"""A distance given as a Python function of two rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.distances.metrics import Metric
from lyceum.errors import DataError, SettingError


@dataclass(frozen=True)
class FunctionSpace:
    """A comparison that is made in Python, pair by pair."""

    function: Callable[[np.ndarray, np.ndarray], float]
    name = "function"
    has_boxes = False

    def set(self, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        """Set out (n, m) to the distances of all pairs."""
        for i, x in enumerate(A):
            out[i] = [self.function(x, y) for y in B]
        if not (out >= 0).all():
            i, j = np.argwhere(~(out >= 0))[0]
            raise DataError(
                f"the metric {_name(self.function)} gave {out[i, j]} for two rows: a distance is a"
                " number of at least 0"
            )

    def __iter__(self) -> Iterator[Any]:
        raise SettingError(
            f"the metric {_name(self.function)} is a Python function, which this method cannot"
            " compare rows by: take one of Lyceum's metrics, or metric='precomputed' where it is"
            " offered, with lyceum.distances.pairwise(X, metric=...)"
        )


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """A distance given as a Python function of two rows: any, but slow.

    Every pair is a call of the function, so that 1,000 queries among 1,000 rows are a million
    calls, about a second. A model with such a metric cannot be saved.

    Parameters
    ----------
    function : callable
        `function(x, y)` of two arrays of shape (d,), a number of at least 0.

    See Also
    --------
    metric : metrics by name, which compare rows natively.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.distances import nearest
    >>> apart = lambda x, y: abs(np.exp(x - y)[0] - 1)
    >>> nearest([[0.0]], 1, among=[[4.0], [-1.0]], metric=apart).rows.tolist()
    [[0]]
    """

    function: Callable[[np.ndarray, np.ndarray], float]
    name = "function"
    takes_categories = True

    @property
    def is_metric(self) -> bool:
        return False  # nothing is known of it

    @property
    def space(self) -> FunctionSpace:  # type: ignore[override]
        return FunctionSpace(self.function)

    def __repr__(self) -> str:
        return f"FunctionMetric({_name(self.function)})"


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)

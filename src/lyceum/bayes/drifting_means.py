"""Class means that follow a stream: stochastic approximation with a choice of step sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    column_or_1d,
)

from lyceum._core.report import Shown
from lyceum._core.text import show_count
from lyceum._core.types import Data, Weights
from lyceum.errors import DataError, SettingError

# The step of the n-th row of a class, n = 1, 2, ..., from m, rate and tau.
STEPS: dict[str, Callable[[np.ndarray, float, float, float], np.ndarray]] = {
    "1/n": lambda n, m, rate, tau: 1.0 / n,
    "1/(n+m)": lambda n, m, rate, tau: 1.0 / (n + m),
    "search_then_converge": lambda n, m, rate, tau: (
        rate * (n / tau + 1.0) / ((n / tau) ** 2 + 1.0)
    ),
    "rate/(1+n/tau)": lambda n, m, rate, tau: rate / (1.0 + n / tau),
}


@dataclass(frozen=True, slots=True)
class DriftingMeans(Shown):
    """The mean of every class, moved by each of its rows in turn: μ ← μ + η_n (x - μ).

    With η_n = 1/n the means are those of all rows, as in `LinearDiscriminantAnalysis.means_`. With
    1/(n+m) the value that a mean starts from counts as m rows. With "search_then_converge", rate
    (n/tau + 1) / ((n/tau)² + 1), and with rate / (1 + n/tau) the steps stay near `rate` for about
    `tau` rows, so that the means follow a drift, and then fall as rate · tau / n. All of them meet
    the conditions of stochastic approximation, Σ η_n = ∞ (any mean can be reached, however far the
    start is) and Σ η_n² < ∞ (the noise of single rows dies out), so that the means converge where
    nothing drifts.

    A row of weight w moves the mean by w η_n, at most all the way, n being the weight of its class
    so far: with 1/n the mean is the weighted mean.

    A mean starts from the one given to `start_from`, or else from the first row of its class, which
    then takes no step. The order of the rows matters, so there is no `merge`; `update` gives a new
    value.

    Parameters
    ----------
    step : {"1/n", "1/(n+m)", "search_then_converge", "rate/(1+n/tau)"}, default="1/n"
        η_n of the n-th row of a class.
    m : float, default=0.0
        How many rows the start counts for, with step "1/(n+m)".
    rate : float, default=0.1
        About the first step of the last two, in (0, 1].
    tau : float, default=1000.0
        After how many rows the steps of the last two begin to fall.
    means : tuple of (label, weight seen, mean), default=()
        The state; set by `start_from` and `update`.

    See Also
    --------
    LinearDiscriminantAnalysis : Means of all rows, with a covariance and a rule.

    References
    ----------
    H. Robbins and S. Monro, "A stochastic approximation method", Annals of Mathematical Statistics
    22, 1951. C. Darken and J. Moody, "Note on learning rate schedules for stochastic optimization",
    Advances in Neural Information Processing Systems 3, 1990.

    Examples
    --------
    >>> rows = np.arange(8.0)[:, None]
    >>> DriftingMeans().update(rows, ["a"] * 8)["a"]
    array([3.5])
    >>> means = DriftingMeans("search_then_converge", rate=0.8, tau=100.0)
    >>> means.update(rows, ["a"] * 8)["a"].round(2)
    array([6.83])
    """

    step: str = "1/n"
    m: float = 0.0
    rate: float = 0.1
    tau: float = 1000.0
    means: tuple[tuple[Any, float, np.ndarray], ...] = ()  # label, weight seen, mean

    def __post_init__(self) -> None:
        if self.step not in STEPS:
            raise SettingError(
                f"step is {self.step!r}: choose one of {', '.join(map(repr, STEPS))}"
            )
        if self.m < 0 or not 0 < self.rate <= 1 or self.tau <= 0:
            raise SettingError(
                "m must be at least 0, rate in (0, 1] and tau above 0; "
                f"they are {self.m}, {self.rate}, {self.tau}"
            )

    def start_from(self, start: dict[Any, Any]) -> DriftingMeans:
        """The same steps from given means, by class."""
        given = tuple(
            (label, 0.0, np.asarray(mean, dtype=np.float64))
            for label, mean in start.items()
        )
        return replace(self, means=given)

    def update(self, X: Data, y: Any, sample_weight: Weights = None) -> DriftingMeans:
        """The means after the rows of X, in order, of the classes y; zero-weight rows are
        ignored."""
        X = check_array(X, dtype=np.float64)
        y = column_or_1d(np.asarray(y))
        check_consistent_length(X, y)
        w = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        X = X[w > 0]
        y = y[w > 0]
        w = w[w > 0]
        states = {label: (n, mean) for label, n, mean in self.means}
        for label in np.unique(y).tolist():
            n, mean = states.get(label, (0, None))
            states[label] = self._move(n, mean, X[y == label], w[y == label])
        means = tuple((label, n, mean) for label, (n, mean) in states.items())
        return replace(self, means=means)

    def __getitem__(self, label: object) -> np.ndarray:
        """The mean of a class."""
        for name, _, mean in self.means:
            if name == label:
                return mean
        raise KeyError(label)

    def _move(
        self, n: float, mean: np.ndarray | None, rows: np.ndarray, w: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """The weight and the mean of a class after more of its rows."""
        # a mean without a start begins at its first row
        if mean is None:
            n = float(w[0])
            mean = rows[0].copy()
            rows = rows[1:]
            w = w[1:]
        if mean.shape != rows.shape[1:]:
            raise DataError(
                f"the rows have {show_count(rows.shape[1], 'column')} where the means have"
                f" {len(mean)}"
            )
        steps = STEPS[self.step](n + np.cumsum(w), self.m, self.rate, self.tau)
        eta = np.minimum(w * steps, 1.0)
        # Unrolled: row i keeps the share η_i Π_{j>i} (1 - η_j); the start keeps what is left. About
        # the start, so that a large offset does not cancel.
        from_end = np.cumprod((1.0 - eta)[::-1])[::-1]
        later = np.append(from_end[1:], 1.0)
        shares = (eta * later)[: len(rows)]
        return n + float(w.sum()), mean + shares @ (rows - mean)

"""The reliability diagram: are posteriors as often right as they say?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import Calibration
from lyceum.plot.scores.binary_tasks import NamedCurve, binary_tasks, named_curves
from lyceum.plot.style import axes, finish, legend, line_style, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ROUNDING = 1e-6  # how far outside [0, 1] a posterior may lie by rounding
_Z = 1.959964  # 95 % of a normal distribution


def calibration(
    y: Any,
    proba: Any = None,
    *,
    n_bins: int = 10,
    strategy: Literal["quantile", "uniform"] = "quantile",
    classes: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A reliability diagram: how often rows were positive over the probability predicted, bin by
    bin.

    Bars are Wilson's 95 % intervals. The number in the legend is the expected calibration error:
    the mean distance of the points from the diagonal, weighted by their rows.

    Parameters
    ----------
    y : Calibration, dict of name to Calibration, or array of shape (n,)
        Results of `lyceum.evaluate.calibration_curve`, with bins of their own; or the true labels.
    proba : array of shape (n,) or (n, K), or dict of name to such, optional
        Posteriors, with the true labels. With K > 2 columns there is a curve for every class; of
        several classifiers one curve each, over all classes together.
    n_bins : int, default=10
        The largest number of bins; empty bins are left out.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins with equally many rows, or of equal width.
    classes : sequence of labels, optional
        The classes of the columns; by default the sorted labels of y.
    pos_label : label, optional
        The positive class; by default the last.
    label : str, optional
        The name of one classifier.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default. Curves already there stay.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.calibration_curve : The table as numbers, with the Brier score and the log loss.

    References
    ----------
    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.

    Examples
    --------
    >>> ax = calibration([0, 1, 1, 1], [0.5, 0.5, 0.9, 0.9], n_bins=2)
    >>> ax.lines[0].get_ydata()
    array([0.5, 1. ])
    """
    if n_bins < 1 or strategy not in ("quantile", "uniform"):
        raise SettingError(
            f"n_bins must be at least 1 and strategy quantile or uniform, not {n_bins} and"
            f" {strategy!r}"
        )
    curves = _curves(y, proba, n_bins, strategy, classes, pos_label, label)
    ax = axes(ax)
    for curve in curves:
        (bins,) = curve.parts
        style = line_style(ax)
        name = curve.label(f"calibration error {bins.error:.3f}")
        ax.plot(bins.predicted, bins.observed, marker="o", markersize=4.5, label=name, **style)
        ax.vlines(
            bins.predicted,
            *bins.wilson(),
            color=style["color"],
            alpha=0.35,
            linewidth=1.6,
            zorder=1.5,
        )
    reference_line(ax, [0, 1], [0, 1], "calibrated")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    finish(ax, "predicted probability", "observed share", title)
    legend(ax, "upper left")
    return ax


@dataclass(frozen=True, slots=True)
class _Bins:
    """Mean prediction, share of positives and weight of every bin that has rows."""

    predicted: np.ndarray
    observed: np.ndarray
    weight: np.ndarray

    @property
    def error(self) -> float:
        """The expected calibration error."""
        return float(np.abs(self.predicted - self.observed) @ self.weight / self.weight.sum())

    def wilson(self) -> tuple[np.ndarray, np.ndarray]:
        """Wilson's interval for the share of positives."""
        share = self.observed
        n = self.weight
        middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        return middle - half, middle + half


def _curves(
    y: Any,
    proba: Any,
    n_bins: int,
    strategy: str,
    classes: Sequence[Any] | None,
    pos_label: Any,
    label: str | None,
) -> list[NamedCurve[_Bins]]:
    """One set of bins for every curve; those of several classes are taken over all classes
    together."""
    bin_rows = partial(_bin_rows, n_bins=n_bins, strategy=strategy)
    if proba is None:
        results = named_curves(Calibration, lambda *_: y, y, None, classes, pos_label, label)
        return [NamedCurve(curve.name, (_bins_of(curve.parts[0]),)) for curve in results]
    tasks = binary_tasks(y, proba, classes, pos_label, label, "Calibration")
    pooled = [[np.concatenate(columns) for columns in zip(*task.parts)] for task in tasks]
    return [NamedCurve(task.name, (bin_rows(*columns),)) for task, columns in zip(tasks, pooled)]


def _bins_of(result: Calibration) -> _Bins:
    if not len(result.predicted):
        raise DataError("this calibration has no rows to draw")
    return _Bins(result.predicted, result.observed, result.weight)


def _bin_rows(positive: np.ndarray, p: np.ndarray, n_bins: int, strategy: str) -> _Bins:
    if p.min() < -_ROUNDING or p.max() > 1.0 + _ROUNDING:
        raise DataError(
            "calibration needs probabilities from 0 to 1, not scores: use predict_proba"
        )
    p = np.clip(p, 0.0, 1.0)
    shares = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
    if strategy == "quantile":
        edges = np.unique(np.quantile(p, shares))
    else:
        edges = shares
    code = np.searchsorted(edges, p, side="left")
    n = np.bincount(code, minlength=len(edges) + 1)
    full = n > 0
    n = n[full]
    sums = (
        np.bincount(code, weights=column, minlength=len(edges) + 1)[full]
        for column in (p, positive)
    )
    predicted, observed = (total / n for total in sums)
    return _Bins(predicted, observed, n)

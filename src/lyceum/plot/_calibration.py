"""The reliability diagram: are posteriors as often right as they say?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lyceum.errors import DataError
from lyceum.plot._scores import scored
from lyceum.plot._style import axes, finish, legend, line_style, reference

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["calibration"]

_ROUNDING = 1e-6  # how far outside [0, 1] a posterior may lie by rounding
_Z = 1.959964  # 95 % of a normal distribution


def calibration(
    y: Any,
    proba: Any,
    *,
    bins: int = 10,
    strategy: Literal["quantile", "uniform"] = "quantile",
    classes: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A reliability diagram: how often rows were positive over the probability predicted, bin by bin.

    Bars are Wilson's 95 % intervals. The number in the legend is the expected calibration error: the mean
    distance of the points from the diagonal, weighted by their rows.

    Parameters
    ----------
    y : array of shape (n,)
        The true labels.
    proba : array of shape (n,) or (n, K), or dict of name to such
        Posteriors. With K > 2 columns there is a curve for every class; of several classifiers one curve
        each, over all classes together.
    bins : int, default=10
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equally many rows, or of equal width.
    classes, pos_label, label, title, ax
        As in `roc`.

    Examples
    --------
    >>> ax = calibration([0, 1, 1, 1], [0.5, 0.5, 0.9, 0.9], bins=2)
    >>> ax.lines[0].get_ydata()
    array([0.5, 1. ])
    """
    if bins < 1 or strategy not in ("quantile", "uniform"):
        raise DataError(
            f"bins must be at least 1 and strategy quantile or uniform, not {bins} and {strategy!r}"
        )
    ax = axes(ax)
    for curve in scored(y, proba, classes, pos_label, label, "calibration"):
        positive = np.concatenate([task[0] for task in curve.tasks])
        p = np.concatenate([task[1] for task in curve.tasks])
        predicted, observed, n = _binned(positive, p, bins, strategy)
        ece = float(np.abs(predicted - observed) @ n / n.sum())
        style = line_style(ax)
        name = "  ".join(part for part in (curve.name, f"calibration error {ece:.3f}") if part)
        ax.plot(predicted, observed, marker="o", markersize=4.5, label=name, **style)
        ax.vlines(
            predicted, *_wilson(observed, n), color=style["color"], alpha=0.35, linewidth=1.6, zorder=1.5
        )
    reference(ax, [0, 1], [0, 1], "calibrated")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    finish(ax, "predicted probability", "observed share", title)
    legend(ax, "upper left")
    return ax


def _binned(
    positive: np.ndarray, p: np.ndarray, bins: int, strategy: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean prediction, share of positives and number of rows of every bin that has rows."""
    if p.min() < -_ROUNDING or p.max() > 1.0 + _ROUNDING:
        raise DataError("calibration needs probabilities from 0 to 1, not scores: use predict_proba")
    p = np.clip(p, 0.0, 1.0)
    shares = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    edges = np.unique(np.quantile(p, shares)) if strategy == "quantile" else shares
    code = np.searchsorted(edges, p, side="left")
    n = np.bincount(code, minlength=len(edges) + 1)
    full = n > 0
    n = n[full]
    sums = (np.bincount(code, weights=column, minlength=len(edges) + 1)[full] for column in (p, positive))
    predicted, observed = (total / n for total in sums)
    return predicted, observed, n


def _wilson(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval for a share of n rows."""
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return middle - half, middle + half

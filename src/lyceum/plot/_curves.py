"""Error–reject, learning and validation curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lyceum.decision import ErrorRejectCurve
from lyceum.errors import DataError
from lyceum.plot._style import GREY, axes, finish, legend, line_style, thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["error_reject", "learning_curve", "validation_curve"]


def error_reject(
    curves: ErrorRejectCurve | Mapping[str, ErrorRejectCurve],
    *,
    what: Literal["error", "cost"] | None = None,
    doubt: float | None = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Error–reject curves: the error among the accepted rows over the share that is rejected.

    Parameters
    ----------
    curves : ErrorRejectCurve, or dict of name to one
        From `lyceum.decision.error_reject_curve`.
    what : {"error", "cost"}, optional
        The share of wrong decisions or the mean loss; by default the cost, if a curve is not of the 0/1 loss.
    doubt : float, optional
        A cost of doubt θ; where it puts each curve is marked.
    label : str, optional
        The name of one curve.
    title : str, optional
    ax : Matplotlib axes, optional

    Examples
    --------
    >>> from lyceum.decision import error_reject_curve
    >>> curve = error_reject_curve([0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> error_reject(curve, doubt=0.3).lines[0].get_ydata().round(2)
    array([0.  , 0.  , 0.33])
    """
    named = curves if isinstance(curves, Mapping) else {label or "": curves}
    if not named:
        raise DataError("there are no curves to draw: give at least one")
    if what is None:
        what = "error" if all(curve.zero_one for curve in named.values()) else "cost"
    ax = axes(ax)
    for name, curve in named.items():
        style = line_style(ax)
        # the point that accepts nothing has no error to show
        x, y = thin(curve.reject_rate[1:], getattr(curve, what)[1:])
        figure = f"area {curve.area:.3f}" if what == "cost" or curve.zero_one else ""
        shown = "  ".join(part for part in (str(name), figure) if part) or "classifier"
        ax.plot(x, y, label=shown, **style)
        if doubt is not None:
            point = curve.at(doubt)
            ax.plot(
                point["reject_rate"],
                point[what],
                "o",
                color=style["color"],
                markersize=7,
                mec="white",
                label="_doubt",
            )
    if doubt is not None:
        ax.plot(
            [],
            [],
            "o",
            color=GREY,
            markersize=7,
            mec="white",
            label=f"doubt costs {doubt:g}",
            gid="reference",
        )
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(0.0, _top(ax, [*named.values()], what))
    ax.xaxis.set_major_formatter(_percent)
    if what == "error":
        ax.yaxis.set_major_formatter(_percent)
    finish(ax, "rejected", f"{'error' if what == 'error' else 'mean cost'} among accepted", title)
    legend(ax, "lower left")
    return ax


def _top(ax: Axes, curves: list[ErrorRejectCurve], what: str) -> float:
    """A limit for the axis that shows all curves down to 5 % accepted; fewer rows scatter too widely."""
    highest = max(float(getattr(c, what)[c.reject_rate <= 0.95].max(initial=0.0)) for c in curves)
    before = ax.get_ylim()[1] if ax.get_gid() == "error_reject" else 0.0  # curves drawn in an earlier call
    ax.set_gid("error_reject")
    return max(1.12 * highest, before, 1e-9)


def learning_curve(
    sizes: Any,
    train: Any,
    validation: Any,
    *,
    score: str = "score",
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scores on training and on unseen rows over the number of training rows.

    Parameters
    ----------
    sizes : array of shape (m,)
    train, validation : arrays of shape (m,) or (m, n_folds)
        Scores, as `sklearn.model_selection.learning_curve` returns them. With folds the mean is drawn and a
        band of one standard deviation to either side.
    score : str, default="score"
        What the scores are, for the axis.
    label : str, optional
        The name of the learner.
    title : str, optional
    ax : Matplotlib axes, optional

    Examples
    --------
    >>> ax = learning_curve([10, 100], [[1.0, 0.9], [0.9, 0.9]], [[0.5, 0.7], [0.6, 0.8]], score="accuracy")
    >>> ax.lines[1].get_ydata()
    array([0.6, 0.7])
    """
    ax = axes(ax)
    _bands(ax, np.asarray(sizes, dtype=np.float64), train, validation, label)
    finish(ax, "training rows", score, title)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    legend(ax)
    return ax


def validation_curve(
    values: Any,
    train: Any,
    validation: Any,
    *,
    name: str = "parameter",
    score: str = "score",
    best: Literal["max", "min"] | None = "max",
    log: bool | None = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scores on training and on unseen rows over a hyper-parameter.

    Parameters
    ----------
    values : array of shape (m,)
        The values tried, in the order to draw them; other than numbers they are evenly spaced.
    train, validation : arrays of shape (m,) or (m, n_folds)
    name, score : str
        What the parameter and the scores are, for the axes.
    best : {"max", "min"} or None, default="max"
        Marks the value of the best mean validation score, the first of equals.
    log : bool, optional
        A logarithmic axis; by default where positive values span a factor of 50 or more.
    label, title, ax
        As in `learning_curve`.

    Examples
    --------
    >>> ax = validation_curve([0.01, 1, 100], [0.8, 0.9, 1.0], [0.7, 0.8, 0.6], name="C")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['training', 'validation', 'best: 1']
    """
    values = np.asarray(values)
    numbers = values.dtype.kind in "iuf"
    x = values.astype(np.float64) if numbers else np.arange(len(values), dtype=np.float64)
    ax = axes(ax)
    mean = _bands(ax, x, train, validation, label)
    if best is not None:
        i = int(mean.argmax() if best == "max" else mean.argmin())
        shown = f"{values[i]:g}" if numbers else str(values[i])
        ax.axvline(
            x[i], color=GREY, linewidth=1.0, linestyle=":", zorder=1, label=f"best: {shown}", gid="reference"
        )
    if not numbers:
        ax.set_xticks(x, [str(value) for value in values])
    elif log or (log is None and x.min() > 0 and x.max() >= 50 * x.min()):
        ax.set_xscale("log")
    finish(ax, name, score, title)
    legend(ax)
    return ax


def _bands(ax: Axes, x: np.ndarray, train: Any, validation: Any, label: str | None) -> np.ndarray:
    """Draw both scores; return the mean validation score."""
    mean = np.empty(0)
    for scores, where, marker in ((train, "training", "o"), (validation, "validation", "s")):
        scores = np.asarray(scores, dtype=np.float64)
        scores = scores[:, None] if scores.ndim == 1 else scores
        if scores.ndim != 2 or len(scores) != len(x) or not len(x):
            raise DataError(
                f"{where} scores have the shape {scores.shape} for {len(x)} places: give a row a place"
            )
        mean, sd = scores.mean(axis=1), scores.std(axis=1)
        style = line_style(ax)
        name = f"{label}, {where}" if label else where
        ax.plot(x, mean, marker=marker, markersize=4.5, label=name, **style)
        if scores.shape[1] > 1:
            ax.fill_between(x, mean - sd, mean + sd, color=style["color"], alpha=0.15, linewidth=0)
    return mean


def _percent(value: float, place: float) -> str:
    return f"{100 * value:.4g}%"

"""Pictures of rates over all thresholds: ROC, precision–recall, cost curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from lyceum.errors import DataError
from lyceum.plot._scores import Scored, scored
from lyceum.plot._style import GREY, axes, finish, legend, line_style, reference, thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cost_curve", "precision_recall", "roc"]

_GRID = np.linspace(0.0, 1.0, 501)


def roc(
    y: Any,
    score: Any,
    *,
    classes: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """ROC curves: the true positive rate over the false positive rate, with the area under each.

    Parameters
    ----------
    y : array of shape (n,)
        The true labels.
    score : array of shape (n,) or (n, K), or dict of name to such
        Scores or posteriors. With K > 2 columns there is a curve for every class against the rest; of several
        classifiers the average over the classes is drawn, at equal false positive rates.
    classes : labels of the columns, optional
        By default the sorted labels of y.
    pos_label : label, optional
        The positive class; by default the last.
    label : str, optional
        The name of one classifier.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default. Curves already there are kept.

    Returns
    -------
    Matplotlib axes

    Examples
    --------
    >>> ax = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], label="tree")
    >>> ax.get_legend().get_texts()[0].get_text()
    'tree  AUC 0.750'
    """
    ax = axes(ax)
    for curve in scored(y, score, classes, pos_label, label, "ROC curve"):
        points = [roc_curve(positive, s)[:2] for positive, s in curve.tasks]
        area = float(np.mean([auc(fpr, tpr) for fpr, tpr in points]))
        fpr, tpr = _average([(f, t) for f, t in points])
        ax.plot(*thin(fpr, tpr), label=_named(curve, f"AUC {area:.3f}"), **line_style(ax))
    reference(ax, [0, 1], [0, 1], "chance")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    finish(ax, "false positive rate", "true positive rate", title)
    legend(ax, "lower right")
    return ax


def precision_recall(
    y: Any,
    score: Any,
    *,
    classes: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Precision over recall at every threshold, with the average precision (AP) of each curve.

    Parameters are those of `roc`. The grey line is the share of positive rows, which guessing reaches.

    Examples
    --------
    >>> ax = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.get_legend().get_texts()[0].get_text()
    'AP 0.833'
    """
    ax = axes(ax)
    curves = scored(y, score, classes, pos_label, label, "precision–recall curve")
    for curve in curves:
        points = []
        for positive, s in curve.tasks:
            precision, recall, _ = precision_recall_curve(positive, s, drop_intermediate=True)
            points.append((recall[::-1], precision[::-1]))
        ap = float(np.mean([average_precision_score(positive, s) for positive, s in curve.tasks]))
        recall, precision = _average(points)
        # between two recalls the precision is that of the next threshold: steps, as AP sums them
        ax.plot(
            *thin(recall, precision),
            drawstyle="steps-pre",
            label=_named(curve, f"AP {ap:.3f}"),
            **line_style(ax),
        )
    if len(curves[0].tasks) == 1 and len({curve.tasks[0][0].sum() for curve in curves}) == 1:
        share = float(curves[0].tasks[0][0].mean())
        reference(ax, [0, 1], [share, share], f"share of positives {share:.2f}")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.03))
    finish(ax, "recall", "precision", title)
    legend(ax, "lower left")
    return ax


def cost_curve(
    y: Any,
    score: Any,
    *,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    classes: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Cost curves of Drummond and Holte: the least expected cost at every mixture of priors and costs.

    A threshold with the rates FPR and FNR is the line FNR · c + FPR · (1 - c) over the share of the cost that
    comes from positives, c = p C_FN / (p C_FN + (1 - p) C_FP); drawn is the lowest of all lines. The grey
    line is what calling all rows one class costs: where a curve meets it the classifier is of no use.

    Parameters
    ----------
    cost_fp, cost_fn : float, optional
        C_FP and C_FN; with them the place of these costs and of the share of positives in y is marked.
    y, score, classes, pos_label, label, title, ax
        As in `roc`.

    Examples
    --------
    >>> ax = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], cost_fp=1, cost_fn=5)
    >>> float(ax.lines[0].get_ydata().max())
    0.25
    """
    if (cost_fp is None) != (cost_fn is None):
        raise DataError("give both cost_fp and cost_fn, or neither")
    ax = axes(ax)
    curves = scored(y, score, classes, pos_label, label, "cost curve")
    for curve in curves:
        cost = np.mean([_lowest(positive, s) for positive, s in curve.tasks], axis=0)
        ax.plot(_GRID, cost, label=_named(curve, ""), **line_style(ax))
    reference(ax, [0, 0.5, 1], [0, 0.5, 0], "always one class")
    if cost_fp is not None and cost_fn is not None:
        _mark_costs(ax, curves, cost_fp, cost_fn)
    ax.set(xlim=(-0.01, 1.01), ylim=(0, 0.52))
    finish(ax, "share of the cost that comes from positives", "expected cost (normalised)", title)
    legend(ax, "upper right")
    return ax


def _mark_costs(ax: Axes, curves: list[Scored], cost_fp: float, cost_fn: float) -> None:
    if not (cost_fp >= 0 and cost_fn >= 0 and cost_fp + cost_fn > 0):
        raise DataError(
            f"costs must not be negative, and not both 0: cost_fp is {cost_fp}, cost_fn is {cost_fn}"
        )
    if (
        any(len(curve.tasks) > 1 for curve in curves)
        or len({curve.tasks[0][0].sum() for curve in curves}) > 1
    ):
        raise DataError("costs of false positives and negatives need one positive class: say pos_label=...")
    p = float(curves[0].tasks[0][0].mean())
    c = p * cost_fn / (p * cost_fn + (1 - p) * cost_fp)
    ax.axvline(c, color=GREY, linewidth=1.0, linestyle=":", zorder=1)
    side, shift = ("right", -4) if c > 0.5 else ("left", 4)
    text = f"$C_{{FP}}$ = {cost_fp:g}, $C_{{FN}}$ = {cost_fn:g}\n{p:.0%} positives"
    ax.annotate(
        text,
        (c, 0.005),
        (shift, 0),
        textcoords="offset points",
        ha=side,
        va="bottom",
        fontsize="x-small",
        color="#444444",
    )


def _lowest(positive: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The lower envelope on the grid; only corners of the convex hull of the ROC curve can be on it."""
    fpr, tpr, _ = roc_curve(positive, score)
    points = np.column_stack([fpr, tpr])
    corners = ConvexHull(
        np.vstack([points, [1.0, 0.0]])
    ).vertices  # the corner keeps a straight curve from being flat
    fpr, tpr = points[corners[corners < len(points)]].T
    return (np.outer(_GRID, 1.0 - tpr) + np.outer(1.0 - _GRID, fpr)).min(axis=1)


def _average(points: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """One curve as it is, several as their mean at equal abscissas."""
    if len(points) == 1:
        return points[0]
    return _GRID, np.mean([np.interp(_GRID, x, y) for x, y in points], axis=0)


def _named(curve: Scored, figure: str) -> str:
    return "  ".join(part for part in (curve.name, figure) if part) or "classifier"

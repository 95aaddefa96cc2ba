"""Pictures of rates over all thresholds: ROC, precision–recall, cost curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum import evaluate
from lyceum.errors import SettingError
from lyceum.evaluate import CostCurve, PrecisionRecall, RocCurve
from lyceum.plot.scores.binary_tasks import NamedCurve, named_curves
from lyceum.plot.style import GRAY, axes, downsample, finish, legend, line_style, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_GRID = np.linspace(0.0, 1.0, 501)


def roc(
    y: Any,
    score: Any = None,
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
    y : RocCurve, dict of name to RocCurve, or array of shape (n,)
        Curves from `lyceum.evaluate.roc_curve`; or the true labels.
    score : array of shape (n,) or (n, K), or dict of name to such, optional
        Scores or posteriors, with the true labels. With K > 2 columns there is a curve for every
        class against the rest; of several classifiers the average over the classes is drawn, at
        equal false positive rates.
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
    lyceum.evaluate.roc_curve : The curve as numbers.
    precision_recall, cost_curve : Other pictures of all thresholds.

    Examples
    --------
    >>> ax = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], label="tree")
    >>> ax.get_legend().get_texts()[0].get_text()
    'tree  AUC 0.750'
    >>> ax = roc(evaluate.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), label="tree")
    >>> ax.get_legend().get_texts()[0].get_text()
    'tree  AUC 0.750'
    """
    curves = named_curves(RocCurve, evaluate.roc_curve, y, score, classes, pos_label, label)
    ax = axes(ax)
    for curve in curves:
        area = float(np.mean([part.auc for part in curve.parts]))
        fpr, tpr = _average([(part.fpr, part.tpr) for part in curve.parts])
        ax.plot(*downsample(fpr, tpr), label=curve.label(f"AUC {area:.3f}"), **line_style(ax))
    reference_line(ax, [0, 1], [0, 1], "chance")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    finish(ax, "false positive rate", "true positive rate", title)
    legend(ax, "lower right")
    return ax


def precision_recall(
    y: Any,
    score: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Precision over recall at every threshold, with the average precision (AP) of each curve.

    The gray line is the share of positive rows, the precision of guessing.

    Parameters
    ----------
    y : PrecisionRecall, dict of name to PrecisionRecall, or array of shape (n,)
        Curves from `lyceum.evaluate.precision_recall_curve`; or the true labels.
    score : array of shape (n,) or (n, K), or dict of name to such, optional
        Scores or posteriors, with the true labels. With K > 2 columns there is a curve for every
        class against the rest; of several classifiers the average over the classes is drawn, at
        equal recall.
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
    lyceum.evaluate.precision_recall_curve : The curve as numbers.

    Examples
    --------
    >>> ax = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ax.get_legend().get_texts()[0].get_text()
    'AP 0.833'
    """
    curves = named_curves(
        PrecisionRecall, evaluate.precision_recall_curve, y, score, classes, pos_label, label
    )
    ax = axes(ax)
    for curve in curves:
        mean = float(np.mean([part.average_precision for part in curve.parts]))
        recall, precision = _average([(part.recall, part.precision) for part in curve.parts])
        # between two recalls the precision is that of the next threshold: steps, as AP sums them
        ax.plot(
            *downsample(recall, precision),
            drawstyle="steps-pre",
            label=curve.label(f"AP {mean:.3f}"),
            **line_style(ax),
        )
    share = _common_prevalence(curves)
    if share is not None:
        reference_line(ax, [0, 1], [share, share], f"share of positives {share:.2f}")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.03))
    finish(ax, "recall", "precision", title)
    legend(ax, "lower left")
    return ax


def cost_curve(
    y: Any,
    score: Any = None,
    *,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    classes: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Cost curves of Drummond and Holte: the least expected cost at every mixture of priors and
    costs.

    A threshold with the rates FPR and FNR is the line FNR · c + FPR · (1 - c) over the share of the
    cost that comes from positives, c = p C_FN / (p C_FN + (1 - p) C_FP); drawn is the lowest of all
    lines. The gray line is the cost of predicting one class for all rows: where a curve meets it
    the classifier is useless.

    Parameters
    ----------
    y : CostCurve, dict of name to CostCurve, or array of shape (n,)
        Curves from `lyceum.evaluate.cost_curve`; or the true labels.
    score : array of shape (n,) or (n, K), or dict of name to such, optional
        Scores or posteriors, with the true labels. With K > 2 columns there is a curve for every
        class against the rest; of several classifiers the average over the classes is drawn.
    cost_fp, cost_fn : float, optional
        C_FP and C_FN; with them the place of these costs, at the share of positives in y, is
        marked.
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
    lyceum.evaluate.cost_curve : The curve as numbers.

    References
    ----------
    Drummond and Holte, Cost curves: an improved method for visualizing classifier performance,
    Machine Learning 65, 2006.

    Examples
    --------
    >>> ax = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], cost_fp=1, cost_fn=5)
    >>> float(ax.lines[0].get_ydata().max())
    0.25
    """
    if (cost_fp is None) != (cost_fn is None):
        raise SettingError("give both cost_fp and cost_fn, or neither")
    of = partial(evaluate.cost_curve, n_points=len(_GRID))
    curves = named_curves(CostCurve, of, y, score, classes, pos_label, label)
    ax = axes(ax)
    for curve in curves:
        cost = np.mean([part.cost for part in curve.parts], axis=0)
        ax.plot(curve.parts[0].probability_cost, cost, label=curve.label(""), **line_style(ax))
    reference_line(ax, [0, 0.5, 1], [0, 0.5, 0], "always one class")
    if cost_fp is not None and cost_fn is not None:
        _mark_costs(ax, curves, cost_fp, cost_fn)
    ax.set(xlim=(-0.01, 1.01), ylim=(0, 0.52))
    finish(ax, "share of the cost that comes from positives", "expected cost (normalized)", title)
    legend(ax, "upper right")
    return ax


def _mark_costs(
    ax: Axes, curves: list[NamedCurve[CostCurve]], cost_fp: float, cost_fn: float
) -> None:
    if not (cost_fp >= 0 and cost_fn >= 0 and cost_fp + cost_fn > 0):
        raise SettingError(
            f"costs must not be negative, and not both 0: cost_fp is {cost_fp}, cost_fn is"
            f" {cost_fn}"
        )
    p = _common_prevalence(curves)
    if p is None:
        raise SettingError(
            "costs of false positives and negatives need one positive class: give pos_label"
        )
    c = evaluate.probability_cost(p, cost_fn, cost_fp)
    ax.axvline(c, color=GRAY, linewidth=1.0, linestyle=":", zorder=1)
    if c > 0.5:
        side = "right"
        shift = -4
    else:
        side = "left"
        shift = 4
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


def _common_prevalence(curves: list[Any]) -> float | None:
    """The share of positives of all curves, if each has one part and all have the same."""
    if any(len(curve.parts) > 1 for curve in curves):
        return None
    shares = {float(curve.parts[0].prevalence) for curve in curves}
    if len(shares) == 1:
        return shares.pop()
    return None


def _average(points: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """One curve as it is, several as their mean at equal abscissas."""
    if len(points) == 1:
        return points[0]
    return _GRID, np.mean([np.interp(_GRID, x, y) for x, y in points], axis=0)

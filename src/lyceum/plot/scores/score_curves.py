"""Pictures of scores: ROC, precision–recall and cost curves, and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lyceum import evaluate
from lyceum.errors import DataError, SettingError
from lyceum.evaluate import Calibration, CostCurve, PrecisionRecall, RocCurve
from lyceum.plot.curves import (
    DOTS,
    Curve,
    NamedCurve,
    binary_tasks,
    curve_label,
    draw_curves,
    named_curves,
)
from lyceum.plot.style import DOTTED, finish, legend, note, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_GRID = np.linspace(0.0, 1.0, 501)
_Z = 1.959964  # 95 % of a normal distribution


def roc(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """ROC curves: the true positive rate over the false positive rate, with the area under each.

    Parameters
    ----------
    y_true : RocCurve, dict of name to RocCurve, or array of shape (n,)
        Curves from `lyceum.evaluate.roc_curve`; or the true labels.
    y_score : array of shape (n,) or (n, K), or dict of name to such, optional
        Scores or posteriors, with the true labels. With K > 2 columns there is a curve for every
        class against the rest; of several classifiers the average over the classes is drawn, at
        equal false positive rates.
    labels : sequence of labels, optional
        The classes of the columns; by default the sorted labels of y_true.
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
    named = named_curves(
        RocCurve,
        evaluate.roc_curve,
        y_true,
        y_score,
        labels=labels,
        pos_label=pos_label,
        label=label,
    )
    curves = []
    for curve in named:
        area = float(np.mean([part.auc for part in curve.parts]))
        fpr, tpr = _average([(part.fpr, part.tpr) for part in curve.parts])
        curves.append(Curve(fpr, tpr, curve_label(curve.name, f"AUC {area:.3f}")))
    ax = draw_curves(ax, curves)
    reference_line(ax, [0, 1], [0, 1], "chance")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    finish(ax, "false positive rate", "true positive rate", title)
    legend(ax, "lower right")
    return ax


def precision_recall(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Precision over recall at every threshold, with the average precision (AP) of each curve.

    The gray line is the share of positive rows, the precision of guessing.

    Parameters
    ----------
    y_true : PrecisionRecall, dict of name to PrecisionRecall, or array of shape (n,)
        Curves from `lyceum.evaluate.precision_recall_curve`; or the true labels.
    y_score : array of shape (n,) or (n, K), or dict of name to such, optional
        Scores or posteriors, with the true labels. With K > 2 columns there is a curve for every
        class against the rest; of several classifiers the average over the classes is drawn, at
        equal recall.
    labels : sequence of labels, optional
        The classes of the columns; by default the sorted labels of y_true.
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
    named = named_curves(
        PrecisionRecall,
        evaluate.precision_recall_curve,
        y_true,
        y_score,
        labels=labels,
        pos_label=pos_label,
        label=label,
    )
    # between two recalls the precision is that of the lower threshold: steps, as AP sums them
    steps = {"drawstyle": "steps-pre"}
    curves = []
    for curve in named:
        mean = float(np.mean([part.average_precision for part in curve.parts]))
        # results go from high recall to low; np.interp needs ascending abscissas
        parts = [(part.recall[::-1], part.precision[::-1]) for part in curve.parts]
        recall, precision = _average(parts)
        text = curve_label(curve.name, f"AP {mean:.3f}")
        curves.append(Curve(recall, precision, text, options=steps))
    ax = draw_curves(ax, curves)
    share = _common_prevalence(named)
    if share is not None:
        reference_line(ax, [0, 1], [share, share], f"share of positives {share:.2f}")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.03))
    finish(ax, "recall", "precision", title)
    legend(ax, "lower left")
    return ax


def cost_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    labels: Sequence[Any] | None = None,
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
    y_true : CostCurve, dict of name to CostCurve, or array of shape (n,)
        Curves from `lyceum.evaluate.cost_curve`; or the true labels.
    y_score : array of shape (n,) or (n, K), or dict of name to such, optional
        Scores or posteriors, with the true labels. With K > 2 columns there is a curve for every
        class against the rest; of several classifiers the average over the classes is drawn.
    cost_fp, cost_fn : float, optional
        C_FP and C_FN; with them the point of these costs, at the share of positives in y_true, is
        marked.
    labels : sequence of labels, optional
        The classes of the columns; by default the sorted labels of y_true.
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
    named = named_curves(
        CostCurve,
        partial(evaluate.cost_curve, n_points=len(_GRID)),
        y_true,
        y_score,
        labels=labels,
        pos_label=pos_label,
        label=label,
    )
    curves = []
    for curve in named:
        cost = np.mean([part.cost for part in curve.parts], axis=0)
        abscissas = curve.parts[0].probability_cost
        curves.append(Curve(abscissas, cost, curve_label(curve.name, "")))
    ax = draw_curves(ax, curves)
    reference_line(ax, [0, 0.5, 1], [0, 0.5, 0], "always one class")
    if cost_fp is not None and cost_fn is not None:
        _mark_costs(ax, named, cost_fp, cost_fn)
    ax.set(xlim=(-0.01, 1.01), ylim=(0, 0.52))
    abscissa = "share of the cost that comes from positives"
    finish(ax, abscissa, "expected cost (normalized)", title)
    legend(ax, "upper right")
    return ax


def _mark_costs(
    ax: Axes, curves: list[NamedCurve[CostCurve]], cost_fp: float, cost_fn: float
) -> None:
    """A dotted line at the c of these costs, at the share of positives that all curves have."""
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
    ax.axvline(c, zorder=1, **DOTTED)
    # beside the line, on the side that has more room
    side, shift = ("right", -4) if c > 0.5 else ("left", 4)
    text = f"$C_{{FP}}$ = {cost_fp:g}, $C_{{FN}}$ = {cost_fn:g}\n{p:.0%} positives"
    note(ax, text, (c, 0.005), (shift, 0), ha=side, va="bottom")


def calibration(
    y_true: Any,
    y_prob: Any = None,
    *,
    n_bins: int = 10,
    strategy: Literal["quantile", "uniform"] = "quantile",
    labels: Sequence[Any] | None = None,
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
    y_true : Calibration, dict of name to Calibration, or array of shape (n,)
        Results of `lyceum.evaluate.calibration_curve`, with bins of their own; or the true labels.
    y_prob : array of shape (n,) or (n, K), or dict of name to such, optional
        Posteriors, with the true labels. With K > 2 columns there is a curve for every class; of
        several classifiers one curve each, over all classes together.
    n_bins : int, default=10
        The largest number of bins; empty bins are left out.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins with equally many rows, or of equal width.
    labels : sequence of labels, optional
        The classes of the columns; by default the sorted labels of y_true.
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
    of = partial(evaluate.calibration_curve, n_bins=n_bins, strategy=strategy)
    which: dict[str, Any] = {"labels": labels, "pos_label": pos_label, "label": label}
    if y_prob is None:
        named = named_curves(Calibration, of, y_true, None, **which)
    else:
        # the classes of one classifier are pooled: one table over the rows of all its tasks
        named = []
        for task in binary_tasks(Calibration, y_true, y_prob, **which):
            positive, probability = map(np.concatenate, zip(*task.parts))
            named.append(NamedCurve(task.name, (of(positive, probability),)))
    ax = draw_curves(ax, [_calibration_curve(curve) for curve in named])
    reference_line(ax, [0, 1], [0, 1], "calibrated")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    finish(ax, "predicted probability", "observed share", title)
    legend(ax, "upper left")
    return ax


def _calibration_curve(curve: NamedCurve[Calibration]) -> Curve:
    """The points of the bins, with Wilson's intervals for the share of positives."""
    (result,) = curve.parts
    p = result.observed
    n = result.weight
    if not len(p):
        raise DataError("this calibration has no rows to draw")
    # Wilson: (p + z²/2n ± z √(p (1 - p)/n + z²/4n²)) / (1 + z²/n), inside [0, 1] also at p = 0
    middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    return Curve(
        result.predicted,
        p,
        curve_label(curve.name, f"calibration error {result.expected_error:.3f}"),
        low=middle - half,
        high=middle + half,
        bars=True,
        options=DOTS,
    )


def _common_prevalence(curves: list[Any]) -> float | None:
    """The share of positives of all curves, if each has one part and all have the same."""
    # an average over classes has a share of positives for each
    if any(len(curve.parts) > 1 for curve in curves):
        return None
    shares = {float(curve.parts[0].prevalence) for curve in curves}
    if len(shares) == 1:
        return shares.pop()
    return None


def _average(
    points: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """One curve as it is, several as their mean at equal abscissas."""
    if len(points) == 1:
        return points[0]
    return _GRID, np.mean([np.interp(_GRID, x, y) for x, y in points], axis=0)

"""Precision, recall and other rates of classes as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum.errors import SettingError
from lyceum.evaluate import BinaryReport, ClassReport
from lyceum.plot.style import (
    COLORS,
    axes,
    finish,
    grouped_bars,
    legend,
    name_columns,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_OF_CLASSES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_OF_TWO = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "npv": "negative\npredictive value",
    "f1": "F1",
}


def class_rates(
    report: ClassReport | BinaryReport,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The rates of a report as bars: those of every class, or those of a two-by-two table.

    Parameters
    ----------
    report : ClassReport or BinaryReport
        From `lyceum.evaluate.class_report`: precision, recall and F1 of every class and their plain
        mean (macro); or from `lyceum.evaluate.binary_report`: accuracy, precision, recall,
        specificity, negative predictive value and F1. A rate whose denominator is zero is named as
        undefined.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.class_report, lyceum.evaluate.binary_report : The rates as numbers.
    confusion : The counts behind them.

    Examples
    --------
    >>> from lyceum.evaluate import class_report
    >>> ax = class_rates(class_report(["a", "a", "b", "c"], ["a", "b", "b", "c"]))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['a', 'b', 'c', 'macro']
    >>> [float(bar.get_height()) for bar in ax.patches[:3]]       # the precision of a, b and c
    [1.0, 0.5, 1.0]
    """
    if isinstance(report, ClassReport):
        groups = [
            *((str(rates.positive), rates) for rates in report.per_class),
            ("macro", report.macro),
        ]
        ax = axes(ax, (min(2.8 + 0.8 * len(groups), 11.0), 4.0))
        columns = {
            name: [getattr(rates, rate) for _, rates in groups]
            for rate, name in _OF_CLASSES.items()
        }
        grouped_bars(ax, columns, 0.8)
        finish(ax, "class", "rate", title)
        _name_bars(ax, [name for name, _ in groups])
        legend(ax, "upper center", bbox_to_anchor=(0.5, -0.2), ncols=len(_OF_CLASSES))
        return ax
    if isinstance(report, BinaryReport):
        ax = axes(ax, (6.2, 3.8))
        heights = [getattr(report, rate) for rate in _OF_TWO]
        bars = ax.bar(range(len(_OF_TWO)), heights, width=0.6, color=COLORS[0])
        texts = [
            "undefined" if rate in report.undefined else f"{height:.3f}"
            for rate, height in zip(_OF_TWO, heights)
        ]
        ax.bar_label(bars, texts, padding=2, fontsize="small", color="#444444")
        finish(ax, f"positive: {report.positive}", "rate", title)
        _name_bars(ax, list(_OF_TWO.values()))
        return ax
    raise SettingError(
        f"give a ClassReport or a BinaryReport from lyceum.evaluate, not {type(report).__name__}"
    )


def _name_bars(ax: Axes, names: list[str]) -> None:
    longest = max(len(line) for name in names for line in name.split("\n"))
    name_columns(ax, names, has_room=longest * len(names) <= 110)
    ax.set_ylim(0.0, 1.08)
    ax.grid(False, axis="x")

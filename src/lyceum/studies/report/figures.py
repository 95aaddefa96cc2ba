"""The pictures of a report, in its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lyceum import plot
from lyceum.plot.style import COLORS, GRAY, finish, legend, reference_line
from lyceum.report import Table
from lyceum.studies.report.class_figures import ClassFigures, shown_learners
from lyceum.studies.report.format import metric_name, metric_value
from lyceum.studies.report.learning_trend import learning_trend
from lyceum.studies.report.number_figures import number_figures
from lyceum.studies.report.svg import Figure, figure_of
from lyceum.studies.run.problems import Problems

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lyceum.studies.result import Study


Draw = Callable[[], Iterator[Figure]]

_LEARNERS = 12  # in the picture of folds


def figures_of(study: Study, problems: Problems | None = None) -> list[Figure]:
    """The pictures that the study has evidence for, in the order of the report; `problems` names
    failures."""
    if problems is None:
        problems = Problems()
    named = problems.attempt("figures", lambda: _makers(study), {})
    drawn = [
        problems.attempt(f"{name} figure", partial(_as_list, draw), [])
        for name, draw in named.items()
    ]
    return [figure for figures in drawn for figure in figures]


def _as_list(draw: Draw) -> list[Figure]:
    return list(draw())


def _makers(study: Study) -> dict[str, Draw]:
    if study.classes is None:
        makers = number_figures(study, shown_learners(study))
    else:
        curves = ClassFigures.of(study)
        makers = {
            "confusion": curves.confusion,
            "cobweb": curves.cobweb,
            "ROC": curves.roc,
            "precision and recall": curves.precision_recall,
            "cost": curves.cost_curve,
            "rejection": curves.error_reject,
            "calibration": curves.calibration,
        }
    return {
        **makers,
        "spread over folds": partial(_fold_figure, study),
        "learning curve": partial(_learning_figure, study),
    }


def _fold_figure(study: Study) -> Iterator[Figure]:
    """The losses of the learners in every fold."""
    comparison = study.comparison
    if comparison.n_folds < 2:
        return
    squared = comparison.criterion == "RMSE"
    learners = comparison.learners[:_LEARNERS]
    by = comparison.criterion
    losses = {
        s.label: np.sqrt(s.fold_losses)
        if squared
        else metric_value(by, np.array(s.fold_losses))
        for s in learners
    }
    text = (
        "Every point is one fold, the bar their mean. Folds differ by their rows: what counts is"
        f" whether a learner is ahead in most of the {comparison.n_folds} folds."
    )
    rows = [
        (
            name,
            float(v.min()),
            float(np.median(v)),
            float(v.max()),
            float(v.std(ddof=1)),
        )
        for name, v in losses.items()
    ]
    table = Table(
        "", ("learner", "least", "median", "largest", "standard deviation"), rows
    )
    size = (5.2, 1.2 + 0.32 * len(losses))
    draw = partial(_fold_points, losses, comparison.criterion)
    yield figure_of("folds", "Spread over folds", text, draw, size, table)


def _fold_points(losses: dict[str, np.ndarray], criterion: str, ax: Axes) -> Axes:
    for index, values in enumerate(losses.values()):
        ax.scatter(
            values,
            np.full(len(values), index),
            s=14,
            color=COLORS[0],
            alpha=0.5,
            linewidths=0,
        )
        ax.plot(
            [values.mean()] * 2,
            [index - 0.3, index + 0.3],
            color=COLORS[1],
            linewidth=2.0,
        )
    ax.set_yticks(range(len(losses)), list(losses))
    ax.invert_yaxis()
    ax.grid(axis="y", color=GRAY, alpha=0.2)
    if criterion == "error rate":
        ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
    finish(ax, metric_name(criterion), "", None)
    return ax


def _learning_figure(study: Study) -> Iterator[Figure]:
    curve = study.comparison.learning_curve
    if curve is None:
        return
    can_gain = study.choice.loss > study.rule.range[0]
    if can_gain:
        more = f" {_MORE_ROWS[learning_trend(curve)]}"
    else:
        more = ""
    text = (
        "The loss on the rows learned from and on unseen rows, as the rows to learn from grow;"
        " bands are one standard error. Learners that can fit every training row, such as boosting"
        " and forests, have a low first curve without harm: what counts is that of unseen"
        f" rows.{more}"
    )
    criterion = curve.loss_name

    def draw(ax: Axes) -> Axes:
        plot.learning_curve(
            curve.train_sizes,
            curve.train_losses,
            curve.test_losses,
            score=criterion,
            ax=ax,
        )
        reference_line(
            ax,
            [curve.train_sizes[0], curve.train_sizes[-1]],
            [curve.baseline] * 2,
            "constant guess",
        )
        legend(ax)
        if (
            min(curve.test_losses.min(), curve.train_losses.min(), curve.baseline)
            >= 0.0
        ):
            ax.set_ylim(bottom=0.0)
        return ax

    rows = [
        (int(n), float(a), float(b))
        for n, a, b in zip(curve.train_sizes, curve.train_mean, curve.test_mean)
    ]
    table = Table("", ("rows learned from", "on these rows", "on unseen rows"), rows)
    yield figure_of(
        "learning", f"Learning curve: {study.choice.label}", text, draw, table=table
    )


_MORE_ROWS = {
    "helps": "More rows should still help.",
    "flat": "More rows of this kind would gain little.",
    "open": "Whether more rows would help cannot be told.",
}

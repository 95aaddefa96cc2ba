"""The pictures of a report, in its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lyceum import plot
from lyceum.plot.style import (
    COLORS,
    GRAY,
    downsample,
    finish,
    legend,
    line_style,
    reference_line,
)
from lyceum.report import Table
from lyceum.studies.report.class_figures import ClassFigures, shown_learners
from lyceum.studies.report.format import metric_name, metric_value
from lyceum.studies.report.svg import Figure, figure_of
from lyceum.studies.report.verdicts import learning_trend
from lyceum.studies.run.problems import Problems

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lyceum.evaluate import LearningCurve
    from lyceum.studies.result import Study


Draw = Callable[[], Iterator[Figure]]

_LEARNERS = 12  # in the picture of folds
_POINTS = 1500  # of a scatter
_GROUPS = 10  # of the predictions, in a table


def figures_of(study: Study, problems: Problems | None = None) -> list[Figure]:
    """The pictures that the study has evidence for, in the order of the report; `problems` names
    failures."""
    if problems is None:
        problems = Problems()
    named = problems.attempt("figures", lambda: _makers(study), {})
    figures = []
    for name, draw in named.items():
        figures += problems.collect(f"{name} figure", draw)
    return figures


def _makers(study: Study) -> dict[str, Draw]:
    makers: dict[str, Draw]
    if study.classes is None:
        numbers = NumberFigures.of(study)
        makers = {
            "predicted against true": numbers.truth,
            "residual": numbers.residuals,
            "error size": numbers.errors,
        }
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


# -- predicted numbers -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberFigures:
    """Truth and predictions of the choice, on rows that it had not seen."""

    study: Study
    y: np.ndarray
    predicted: np.ndarray

    @classmethod
    def of(cls, study: Study) -> NumberFigures:
        """The figures of a study of numbers."""
        y, predicted = study.out_of_sample(study.choice.name)
        return cls(study, y, predicted)

    def _scatter(self, ax: Axes, values: np.ndarray) -> list[float]:
        """Draw the values against the predictions; the smallest and the largest of all."""
        n = len(values)
        # at most as many points as can be told apart
        indices = np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp)
        shown = np.unique(indices)
        x = self.predicted[shown]
        y = values[shown]
        ax.scatter(x, y, s=14, color=COLORS[0], alpha=0.55, linewidths=0)
        return [float(min(x.min(), y.min())), float(max(x.max(), y.max()))]

    def _by_prediction(self) -> Table:
        """Means of truth and error in groups of rows with similar predictions."""
        order = np.argsort(self.predicted, kind="stable")
        rows = []
        for part in np.array_split(order, min(_GROUPS, len(order))):
            y = self.y[part]
            predicted = self.predicted[part]
            off = y - predicted
            rmse = np.sqrt((off**2).mean())
            means = (predicted.mean(), y.mean(), off.mean(), rmse)
            rows.append((len(part), *map(float, means)))
        heads = ("rows", "mean predicted", "mean true", "mean residual", "RMSE")
        return Table("", heads, rows)

    def truth(self) -> Iterator[Figure]:
        text = "Every point is a row that the model had not seen; on the diagonal it is right."
        target = self.study.recipe.target

        def draw(ax: Axes) -> None:
            ends = self._scatter(ax, self.y)
            reference_line(ax, ends, ends, "right")
            finish(ax, f"predicted {target}", f"true {target}", None)
            legend(ax, "upper left")

        title = f"Predicted against true: {self.study.choice.label}"
        yield figure_of("truth", title, text, draw, table=self._by_prediction())

    def residuals(self) -> Iterator[Figure]:
        text = (
            "The true value minus the prediction. A bend or a funnel shows what the model has not"
            " learned."
        )

        def draw(ax: Axes) -> None:
            self._scatter(ax, self.y - self.predicted)
            ax.axhline(0.0, color=GRAY, linewidth=1.0, linestyle=(0, (4, 3)))
            finish(
                ax, f"predicted {self.study.recipe.target}", "true - predicted", None
            )

        table = self._by_prediction()
        yield figure_of("residuals", "Residuals", text, draw, table=table)

    def errors(self) -> Iterator[Figure]:
        study = self.study
        text = "How large errors are: the share of rows whose error is at most that on the axis."
        shown = {s.label: s.name for s in shown_learners(study)}
        baseline = study.comparison.baseline
        if baseline is not None:
            shown[baseline.label] = baseline.name
        errors = {}
        for label, name in shown.items():
            y, predicted = study.out_of_sample(name)
            errors[label] = np.abs(y - predicted)
        shares = (0.25, 0.5, 0.75, 0.9, 0.95)
        heads = (f"{100 * share:.0f} % of rows at most" for share in shares)
        rows = [
            (name, *np.quantile(error, shares).tolist())
            for name, error in errors.items()
        ]
        table = Table("", ("learner", *heads), rows)

        def draw(ax: Axes) -> None:
            for name, error in errors.items():
                # the empirical distribution function
                steps = downsample(
                    np.sort(error), np.arange(1, len(error) + 1) / len(error)
                )
                ax.plot(*steps, label=name, drawstyle="steps-post", **line_style(ax))
            all_errors = np.concatenate(list(errors.values()))
            ax.set_xlim(0.0, np.quantile(all_errors, 0.95))
            ax.set_ylim(0.0, 1.0)
            ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
            finish(ax, "absolute error", "rows with at most that", None)
            legend(ax, "lower right")

        yield figure_of("errors", "How large the errors are", text, draw, table=table)


# -- folds and rows --------------------------------------------------------------------


def _fold_figure(study: Study) -> Iterator[Figure]:
    """The losses of the learners in every fold."""
    comparison = study.comparison
    if comparison.n_folds < 2:
        return
    criterion = comparison.criterion
    losses = {}
    for learner in comparison.learners[:_LEARNERS]:
        values = np.array(learner.fold_losses)
        if criterion == "RMSE":
            losses[learner.label] = np.sqrt(values)
        else:
            losses[learner.label] = metric_value(criterion, values)
    text = (
        "Every point is one fold, the bar their mean. Folds differ by their rows: what counts is"
        f" whether a learner is ahead in most of the {comparison.n_folds} folds."
    )
    rows = []
    for name, values in losses.items():
        numbers = (values.min(), np.median(values), values.max(), values.std(ddof=1))
        rows.append((name, *map(float, numbers)))
    heads = ("learner", "least", "median", "largest", "standard deviation")
    table = Table("", heads, rows)
    size = (5.2, 1.2 + 0.32 * len(losses))
    draw = partial(_draw_folds, losses, criterion)
    yield figure_of("folds", "Spread over folds", text, draw, size, table)


def _draw_folds(losses: dict[str, np.ndarray], criterion: str, ax: Axes) -> Axes:
    for index, values in enumerate(losses.values()):
        height = np.full(len(values), index)
        ax.scatter(values, height, s=14, color=COLORS[0], alpha=0.5, linewidths=0)
        mean = values.mean()
        bar = (index - 0.3, index + 0.3)
        ax.plot([mean, mean], bar, color=COLORS[1], linewidth=2.0)
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
    more = ""
    can_gain = study.choice.loss > study.rule.range[0]
    if can_gain:
        more = f" {_MORE_ROWS[learning_trend(curve)]}"
    text = (
        f"The {curve.loss_name} on the rows learned from and on unseen rows, as the rows to learn"
        " from grow; bands are one standard error. Learners that can fit every training row, such"
        " as boosting and forests, have a low first curve without harm: what counts is that of "
        f"unseen rows.{more}"
    )
    rows = [
        (int(n), float(on_train), float(on_test))
        for n, on_train, on_test in zip(
            curve.train_sizes, curve.train_mean, curve.test_mean
        )
    ]
    table = Table("", ("rows learned from", "on these rows", "on unseen rows"), rows)
    title = f"Learning curve: {study.choice.label}"
    draw = partial(_draw_learning_curve, curve)
    yield figure_of("learning", title, text, draw, table=table)


def _draw_learning_curve(curve: LearningCurve, ax: Axes) -> Axes:
    sizes = curve.train_sizes
    losses = (curve.train_losses, curve.test_losses)
    plot.learning_curve(sizes, *losses, score=curve.loss_name, ax=ax)
    ends = [sizes[0], sizes[-1]]
    reference_line(ax, ends, [curve.baseline] * 2, "constant guess")
    legend(ax)
    # costs may be negative
    if min(curve.baseline, *(part.min() for part in losses)) >= 0.0:
        ax.set_ylim(bottom=0.0)
    return ax


_MORE_ROWS = {
    "helps": "More rows should still help.",
    "flat": "More rows of this kind would gain little.",
    "open": "Whether more rows would help cannot be told.",
}

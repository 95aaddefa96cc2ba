"""Pictures of predicted numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

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
from lyceum.studies.report.svg import Figure, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lyceum.studies.compare.comparison import RankedLearner
    from lyceum.studies.result import Study


_POINTS = 1500  # of a scatter
_GROUPS = 10  # of the predictions, in a table


def number_figures(
    study: Study, shown: Sequence[RankedLearner]
) -> dict[str, Callable[[], Iterator[Figure]]]:
    """The pictures of a study of numbers, by name."""
    y, predicted = study.out_of_sample(study.choice.name)
    return {
        "predicted against true": partial(_truth_figure, study, y, predicted),
        "residual": partial(_residual_figure, study, y, predicted),
        "error size": partial(_error_figure, study, shown),
    }


def _sample_indices(n: int) -> np.ndarray:
    """The indices of at most as many points as can be told apart."""
    return np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp))


def _by_prediction(y: np.ndarray, predicted: np.ndarray) -> Table:
    """Means of truth and error in groups of rows with similar predictions."""
    order = np.argsort(predicted, kind="stable")
    rows = []
    for part in np.array_split(order, min(_GROUPS, len(order))):
        off = y[part] - predicted[part]
        means = (
            float(predicted[part].mean()),
            float(y[part].mean()),
            float(off.mean()),
        )
        rows.append((len(part), *means, float(np.sqrt((off**2).mean()))))
    return Table(
        "", ("rows", "mean predicted", "mean true", "mean residual", "RMSE"), rows
    )


def _truth_figure(
    study: Study, y: np.ndarray, predicted: np.ndarray
) -> Iterator[Figure]:
    text = (
        "Every point is a row that the model had not seen; on the diagonal it is right."
    )
    some = _sample_indices(len(y))
    draw = partial(_against_truth, y[some], predicted[some], str(study.recipe.target))
    title = f"Predicted against true: {study.choice.label}"
    yield figure_of("truth", title, text, draw, table=_by_prediction(y, predicted))


def _residual_figure(
    study: Study, y: np.ndarray, predicted: np.ndarray
) -> Iterator[Figure]:
    text = (
        "The true value minus the prediction. A bend or a funnel shows what the model has not"
        " learned."
    )
    some = _sample_indices(len(y))
    draw = partial(_residuals, y[some], predicted[some], str(study.recipe.target))
    yield figure_of(
        "residuals", "Residuals", text, draw, table=_by_prediction(y, predicted)
    )


def _error_figure(study: Study, shown: Sequence[RankedLearner]) -> Iterator[Figure]:
    text = "How large errors are: the share of rows whose error is at most that on the axis."
    errors = {s.label: np.abs(np.subtract(*study.out_of_sample(s.name))) for s in shown}
    baseline = study.comparison.baseline
    if baseline is not None and baseline.label not in errors:
        errors[baseline.label] = np.abs(
            np.subtract(*study.out_of_sample(baseline.name))
        )
    shares = (0.25, 0.5, 0.75, 0.9, 0.95)
    rows = [
        (name, *np.quantile(error, shares).tolist()) for name, error in errors.items()
    ]
    table = Table(
        "",
        ("learner", *(f"{100 * share:.0f} % of rows at most" for share in shares)),
        rows,
    )
    draw = partial(_error_shares, errors)
    yield figure_of("errors", "How large the errors are", text, draw, table=table)


def _against_truth(y: np.ndarray, predicted: np.ndarray, target: str, ax: Axes) -> Axes:
    low = float(min(y.min(), predicted.min()))
    high = float(max(y.max(), predicted.max()))
    ax.scatter(predicted, y, s=14, color=COLORS[0], alpha=0.55, linewidths=0)
    reference_line(ax, [low, high], [low, high], "right")
    finish(ax, f"predicted {target}", f"true {target}", None)
    legend(ax, "upper left")
    return ax


def _residuals(y: np.ndarray, predicted: np.ndarray, target: str, ax: Axes) -> Axes:
    ax.scatter(
        predicted, y - predicted, s=14, color=COLORS[0], alpha=0.55, linewidths=0
    )
    ax.axhline(0.0, color=GRAY, linewidth=1.0, linestyle=(0, (4, 3)))
    finish(ax, f"predicted {target}", "true - predicted", None)
    return ax


def _error_shares(errors: dict[str, np.ndarray], ax: Axes) -> Axes:
    for name, error in errors.items():
        shares = np.arange(1, len(error) + 1) / len(error)
        ax.plot(
            *downsample(np.sort(error), shares),
            label=name,
            drawstyle="steps-post",
            **line_style(ax),
        )
    ax.set_xlim(0.0, float(np.quantile(np.concatenate(list(errors.values())), 0.95)))
    ax.set_ylim(0.0, 1.0)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
    finish(ax, "absolute error", "rows with at most that", None)
    legend(ax, "lower right")
    return ax

"""Pictures of what the columns do to the chosen model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum import plot
from lyceum._core.data import time_text
from lyceum.plot.style import COLORS, finish, legend, line_style
from lyceum.report import Table
from lyceum.studies.report.format import percent_text, show_cell
from lyceum.studies.report.model_effects import ColumnEffect, ModelEffects, PairEffect
from lyceum.studies.report.svg import Figure, figure_of
from lyceum.studies.run.problems import Problems

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lyceum.studies.result import Study


_COLUMNS = 12  # bars of importance
_ADDS_UP = 0.005  # of the variation: below, two columns do not act on each other
_LABEL = 18  # characters of a category on an axis


def effect_figures(study: Study, problems: Problems) -> list[Figure]:
    """Importance, effects and the strongest pair; `problems` names what could not be drawn."""
    effects = study.effects
    if effects is None:
        return []
    makers = {"importance": partial(_importance, study, effects)}
    for i, effect in enumerate(effects.effects):
        makers[f"effect of {effect.column}"] = partial(_effect, study, effect, i)
    if effects.pair is not None:
        makers["two-way effect"] = partial(_pair, study, effects.pair)
    drawn = [
        problems.attempt(f"{name} figure", partial(_as_list, make), [])
        for name, make in makers.items()
    ]
    return [figure for figures in drawn for figure in figures]


def _as_list(make: Any) -> list[Figure]:
    return list(make())


def _importance(study: Study, effects: ModelEffects) -> Iterator[Figure]:
    if study.classes is None:
        what = "RMSE"
    elif study.loss is not None:
        what = "mean cost"
    else:
        what = "error rate"
    text = (
        f"How much larger the {what} on unseen rows is when a column is shuffled; lines are one"
        " standard error over shuffles. Columns that say the same share their importance."
    )
    importances = effects.importance
    values = np.array([one.increase for one in importances])
    draw = partial(
        plot.importances, values, names=[_short_label(one.column) for one in importances],
        spread=np.array([one.standard_error for one in importances]), most=_COLUMNS,
        label=f"increase of the {what}",
    )  # fmt: skip
    rows = [
        (one.column, _round(one.increase), _round(one.standard_error))
        for one in importances
    ]
    table = Table("", ("column", f"increase of the {what}", "standard error"), rows)
    size = (5.2, 1.2 + 0.3 * min(len(importances), _COLUMNS))
    yield figure_of("importance", "Which columns matter", text, draw, size, table)


def _round(value: float) -> float:
    return float(f"{value:.3g}")


def _short_label(text: Any) -> str:
    label = str(show_cell(text))
    if len(label) <= _LABEL:
        return label
    return f"{label[: _LABEL - 1]}…"


def _is_number(values: Sequence[Any]) -> bool:
    return all(
        isinstance(value, float | int) and not isinstance(value, bool)
        for value in values
    )


def _output_name(study: Study, output: str) -> str:
    if study.classes is None:
        return f"predicted {output}"
    return f"P({output})"


def _values_as_text(study: Study, name: str, values: Sequence[Any]) -> list[Any]:
    """The values of a column as people read them: seconds since 1970 as dates."""
    dates = any(column.name == name and column.is_time for column in study.schema)
    if dates:
        return [time_text(value) for value in values]
    return list(values)


def _effect(study: Study, effect: ColumnEffect, i: int) -> Iterator[Figure]:
    values = _values_as_text(study, effect.column, effect.values)
    rows = [(value, *means) for value, means in zip(values, zip(*effect.means))]
    heads = (effect.column, *(_output_name(study, name) for name in effect.outputs))
    text = "The mean prediction for unseen rows if all of them had this value (partial dependence)."
    draw = partial(_draw_effect, study, effect)
    title = f"Effect of {effect.column}"
    yield figure_of(
        f"effect-{i}", title, text, draw, (5.2, 3.4), Table("", heads, rows)
    )


def _draw_effect(study: Study, effect: ColumnEffect, ax: Axes) -> Axes:
    values = _values_as_text(study, effect.column, effect.values)
    numbers = _is_number(values)
    for name, means in zip(effect.outputs, effect.means):
        style = line_style(ax)
        if numbers:
            ax.plot(
                values,
                means,
                marker="o",
                markersize=3.0,
                label=_output_name(study, name),
                **style,
            )
        else:
            ax.plot(
                means,
                range(len(means)),
                "o",
                color=style["color"],
                markersize=7,
                label=_output_name(study, name),
            )
    if len(effect.outputs) == 1:
        axis = _output_name(study, effect.outputs[0])
    else:
        axis = "posterior"
    if numbers:
        finish(ax, effect.column, axis, None)
    else:
        ax.set_yticks(range(len(values)), [_short_label(value) for value in values])
        ax.invert_yaxis()
        ax.grid(axis="y", alpha=0.25)
        finish(ax, axis, "", None)
    if len(effect.outputs) > 1:
        legend(ax)
    return ax


def _pair(study: Study, pair: PairEffect) -> Iterator[Figure]:
    first, second = pair.columns
    which = (
        "The mean prediction at pairs of values, for the two of these columns that act on each"
        " other most"
    )
    if pair.strength < _ADDS_UP:
        text = f"{which}. Their two effects simply add up."
    else:
        share = percent_text(pair.strength)
        text = f"{which}: {share} of the variation here is not the sum of their two effects."
    down, across = (
        _values_as_text(study, name, values)
        for name, values in zip(pair.columns, pair.values)
    )
    rows = [(value, *means) for value, means in zip(down, pair.means)]
    table = Table("", (f"{first} \\ {second}", *map(_tick, across)), rows)
    title = f"{first} and {second} together"
    draw = partial(_draw_pair, study, pair)
    yield figure_of("pair", title, text, draw, (5.2, 4.0), table)


def _tick(value: object) -> str:
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.3g}"
    return _short_label(value)


def _draw_pair(study: Study, pair: PairEffect, ax: Axes) -> Axes:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("", ["#f7f9fb", "#9cc9e6", COLORS[0]])
    means = np.array(pair.means)
    image = ax.imshow(means, cmap=shades, aspect="auto", origin="lower")
    down, across = (
        _values_as_text(study, name, values)
        for name, values in zip(pair.columns, pair.values)
    )
    ax.set_yticks(range(len(means)), [*map(_tick, down)])
    ax.set_xticks(range(means.shape[1]), [*map(_tick, across)], rotation=45, ha="right")
    ax.figure.colorbar(image, ax=ax, label=_output_name(study, pair.output))
    finish(ax, pair.columns[1], pair.columns[0], None)
    ax.grid(visible=False)
    return ax

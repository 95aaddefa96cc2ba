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
from lyceum.studies.report.format import join_names, percent_text, show_cell
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
    figures = []
    for name, make in makers.items():
        figures += problems.collect(f"{name} figure", make)
    return figures


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
    label = f"increase of the {what}"
    draw = partial(
        plot.importances,
        np.array([column.increase for column in importances]),
        names=[_short_label(column.column) for column in importances],
        spread=np.array([column.standard_error for column in importances]),
        most=_COLUMNS,
        label=label,
    )
    rows = []
    for column in importances:
        numbers = (column.increase, column.standard_error)
        rows.append((column.column, *(float(f"{number:.3g}") for number in numbers)))
    table = Table("", ("column", label, "standard error"), rows)
    size = (5.2, 1.2 + 0.3 * min(len(importances), _COLUMNS))
    yield figure_of("importance", "Which columns matter", text, draw, size, table)


def _short_label(text: Any) -> str:
    label = str(show_cell(text))
    if len(label) <= _LABEL:
        return label
    return f"{label[: _LABEL - 1]}…"


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
    draw = partial(_draw_effect, effect, values, heads[1:])
    title = f"Effect of {effect.column}"
    table = Table("", heads, rows)
    yield figure_of(f"effect-{i}", title, text, draw, (5.2, 3.4), table)


def _draw_effect(
    effect: ColumnEffect, values: Sequence[Any], outputs: Sequence[str], ax: Axes
) -> Axes:
    """Lines over numbers; over categories points, one below another, with their names beside."""
    # times are texts by now, and drawn as categories
    are_numbers = all(
        isinstance(value, float | int) and not isinstance(value, bool)
        for value in values
    )
    for output, means in zip(outputs, effect.means):
        style = {"marker": "o", "label": output, **line_style(ax)}
        if are_numbers:
            ax.plot(values, means, markersize=3.0, **style)
        else:
            style["linestyle"] = "none"
            ax.plot(means, range(len(means)), markersize=7, **style)
    axis = outputs[0] if len(outputs) == 1 else "posterior"
    if are_numbers:
        finish(ax, effect.column, axis, None)
    else:
        ax.set_yticks(range(len(values)), [_short_label(value) for value in values])
        ax.invert_yaxis()
        ax.grid(axis="y", alpha=0.25)
        finish(ax, axis, "", None)
    if len(outputs) > 1:
        legend(ax)
    return ax


def _pair(study: Study, pair: PairEffect) -> Iterator[Figure]:
    first, second = pair.columns
    which = (
        "The mean prediction at pairs of values, for the two of these columns that act on each"
        " other most"
    )
    text = f"{which}: {_interaction_text(study, pair)}."
    down = _values_as_text(study, first, pair.values[0])
    across = list(map(_tick, _values_as_text(study, second, pair.values[1])))
    rows = [(value, *means) for value, means in zip(down, pair.means)]
    table = Table("", (f"{first} \\ {second}", *across), rows)
    title = f"{first} and {second} together"

    def draw(ax: Axes) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        colors = ["#f7f9fb", "#9cc9e6", COLORS[0]]
        shades = LinearSegmentedColormap.from_list("", colors)
        image = ax.imshow(pair.means, cmap=shades, aspect="auto", origin="lower")
        ax.set_yticks(range(len(down)), [*map(_tick, down)])
        ax.set_xticks(range(len(across)), across, rotation=45, ha="right")
        ax.figure.colorbar(image, ax=ax, label=_output_name(study, pair.output))
        finish(ax, second, first, None)
        ax.grid(visible=False)

    yield figure_of("pair", title, text, draw, (5.2, 4.0), table)


def _interaction_text(study: Study, pair: PairEffect) -> str:
    """For which outputs the effects of two columns add up, and by how much they do not."""
    strengths = dict(zip(pair.outputs, pair.strengths)) or {pair.output: pair.strength}
    acting = {name: s for name, s in strengths.items() if s >= _ADDS_UP}
    adding = [_output_name(study, name) for name in strengths if name not in acting]
    several = len(strengths) > 1
    if not acting:
        which = f", for {join_names(adding)} alike" if several else ""
        return f"their two effects nearly add up{which}"
    if not several:
        share = percent_text(pair.strength)
        return f"{share} of the variation here is not the sum of their two effects"
    parts: list[str] = []
    for name, strength in sorted(acting.items(), key=lambda item: -item[1]):
        of = "of the variation of" if not parts else "of that of"
        parts.append(f"{percent_text(strength)} {of} {_output_name(study, name)}")
    rest = ""
    if adding:
        rest = f"; for {join_names(adding)} the two nearly add up"
    return f"{join_names(parts)} is not the sum of their two effects{rest}"


def _tick(value: object) -> str:
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.3g}"
    return _short_label(value)

"""Curves of one or several models in one picture, with bands or bars around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum.errors import SettingError
from lyceum.plot.style import GRAY, axes, downsample, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS = {"marker": "o", "markersize": 4.5}


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of a picture; `low` and `high` are a band around it, or its bars."""

    x: np.ndarray
    y: np.ndarray
    label: str
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    bars: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_scores(
        cls, x: np.ndarray, scores: np.ndarray, label: str, **options: Any
    ) -> Curve:
        """The mean of (m, S) scores, with a band of one standard deviation if S is above 1."""
        mean = scores.mean(axis=1)
        if scores.shape[1] == 1:
            return cls(x, mean, label, options=options)
        sd = scores.std(axis=1)
        return cls(x, mean, label, mean - sd, mean + sd, options=options)


def draw_curves(ax: Axes | None, curves: Iterable[Curve]) -> Axes:
    """Draw curves into the axes, each in the next color and dashes; new axes if there are none."""
    ax = axes(ax)
    for curve in curves:
        style = line_style(ax)
        ax.plot(
            *downsample(curve.x, curve.y), label=curve.label, **style, **curve.options
        )
        color = style["color"]
        if curve.low is None or curve.high is None:
            continue
        ends = (curve.x, curve.low, curve.high)
        if curve.bars:
            ax.vlines(*ends, color=color, alpha=0.35, linewidth=1.6, zorder=1.5)
        else:
            ax.fill_between(*ends, color=color, alpha=0.15, linewidth=0)
    return ax


def mark_best(ax: Axes, x: float, name: Any) -> None:
    """A dotted line at the best value, which the legend names."""
    style: dict[str, Any] = {
        "color": GRAY,
        "linewidth": 1.0,
        "linestyle": ":",
        "zorder": 1,
    }
    ax.axvline(x, label=f"best: {name}", gid="reference", **style)


def results_by_name(
    kinds: tuple[type, ...], results: Any, label: str | None
) -> dict[str, Any]:
    """One result, or a dict of several, by name; empty if they are of other kinds."""
    named = results if isinstance(results, Mapping) else {label or "": results}
    if not all(isinstance(result, kinds) for result in named.values()):
        return {}
    return {str(name): result for name, result in named.items()}


def check_results(
    kinds: tuple[type, ...], results: Any, label: str | None
) -> dict[str, Any]:
    """One result, or a dict of several, by name; all must be of these kinds."""
    named = results_by_name(kinds, results, label)
    if not named:
        names = " or ".join(kind.__name__ for kind in kinds)
        raise SettingError(f"give a {names} from Lyceum, or a dict of name to such")
    return named

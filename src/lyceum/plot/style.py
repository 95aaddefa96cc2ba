"""The style of all pictures: colors that color-blind people can tell apart, and line styles for
print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The set of Okabe and Ito (2008) without its yellow, which is too faint on white.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# solid, dashed, dotted, and dash and dot: told apart in black and white too
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
GRAY = "#8A8A8A"
INK = "#222222"
DASHED: dict[str, Any] = {"color": GRAY, "linewidth": 1.0, "linestyle": (0, (4, 3))}
DOTTED: dict[str, Any] = {"color": GRAY, "linewidth": 1.0, "linestyle": ":"}
_POINTS = 2000


def color_of(k: int) -> str:
    """The k-th color; the colors repeat after the last."""
    return COLORS[k % len(COLORS)]


def axes(ax: Axes | None, size: tuple[float, float] = (5.2, 4.4)) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    return ax


def panel_grid(n: int, size: tuple[float, float]) -> tuple[Any, list[Axes]]:
    """A figure of n panels of this size with common scales, at most three side by side."""
    from matplotlib import pyplot

    wide = min(3, n)
    tall = -(-n // wide)
    figure, grid = pyplot.subplots(
        tall,
        wide,
        figsize=(size[0] * wide, size[1] * tall),
        layout="constrained",
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    for ax in grid.flat[n:]:
        ax.set_visible(False)
    return figure, list(grid.flat[:n])


def line_style(ax: Axes) -> dict[str, Any]:
    """Color and dashes for the next labeled line of the axes."""
    # labels that begin with "_" are not in the legend, and lines to compare with have their own
    # style
    n = sum(
        not str(line.get_label()).startswith("_") and line.get_gid() != "reference"
        for line in ax.lines
    )
    # the dashes change with the color at first, and then with each round of colors
    step = n // len(COLORS) or n
    dashes = DASHES[step % len(DASHES)]
    return {"color": color_of(n), "linestyle": dashes, "linewidth": 1.8}


def reference_line(ax: Axes, x: ArrayLike, y: Any, label: str) -> None:
    """A thin gray line to compare with; drawn once even if the axes are used again."""
    if not any(
        line.get_gid() == "reference" and line.get_label() == label for line in ax.lines
    ):
        ax.plot(x, y, label=label, zorder=1, gid="reference", **DASHED)


def finish(ax: Axes, x: str, y: str, title: str | None) -> None:
    """Names of the axes, a faint grid, and no box."""
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)
    heading(ax, title)
    ax.grid(True, color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GRAY)
    ax.tick_params(colors=INK, labelsize="small")


def name_columns(ax: Axes, names: list[str], has_room: bool) -> None:
    """Names below columns 0, 1, ..., turned where there is no room for them side by side."""
    ax.set_xticks(
        range(len(names)),
        names,
        fontsize="small",
        rotation=0 if has_room else 35,
        ha="center" if has_room else "right",
    )


def heading(ax: Axes, title: str | None) -> None:
    """A title above the left corner."""
    if title:
        ax.set_title(title, loc="left", color=INK, fontsize="medium", fontweight="bold")


def note(
    ax: Axes, text: str, point: Any, shift: tuple[float, float], **options: Any
) -> None:
    """A small gray text beside a point; the shift is in points of print."""
    style: dict[str, Any] = {
        "textcoords": "offset points",
        "fontsize": "x-small",
        "color": "#444444",
    }
    ax.annotate(text, point, shift, **(style | options))


def grouped_bars(ax: Axes, columns: dict[str, list[float]], width: float) -> None:
    """Bars side by side, one group per entry and one color per column; a group has this width."""
    # places of the bars about the middle of their group
    share = width / len(columns)
    for i, (name, heights) in enumerate(columns.items()):
        x = np.arange(len(heights)) + (i - (len(columns) - 1) / 2) * share
        ax.bar(x, heights, width=0.9 * share, color=COLORS[i], label=name)


def legend(ax: Axes, location: Any = "best", **options: Any) -> None:
    """A legend of the labeled lines, those to compare with last."""
    handles, labels = ax.get_legend_handles_labels()
    references = {id(line) for line in ax.lines if line.get_gid() == "reference"}
    # a stable sort: curves keep their order, and so do the lines to compare with
    entries = sorted(zip(handles, labels), key=lambda entry: id(entry[0]) in references)
    if entries:
        ax.legend(
            *zip(*entries),
            loc=location,
            fontsize="small",
            labelcolor=INK,
            framealpha=0.9,
            edgecolor="none",
            handlelength=2.6,
            **options,
        )


def draw_points(ax: Axes, points: np.ndarray, size: float, **options: Any) -> None:
    """A dot for every row of an (n, 2) array; without an outline unless `linewidths` says so."""
    x, y = points.T
    ax.scatter(x, y, s=size, **{"linewidths": 0} | options)


def downsample(*columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Columns of a long curve at 2,000 places, ends included: more cannot be seen."""
    n = len(columns[0])
    if n <= _POINTS:
        return columns
    indices = np.unique(np.linspace(0, n - 1, _POINTS).round().astype(np.intp))
    return tuple(column[indices] for column in columns)


def shorten(text: str, most: int) -> str:
    """At most `most` letters of a text, with … for the rest.

    >>> shorten("temperature", 5)
    'temp…'
    """
    if len(text) <= most:
        return text
    return text[: most - 1] + "…"

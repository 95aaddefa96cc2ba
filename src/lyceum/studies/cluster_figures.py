"""Pictures of the clusters of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum import plot
from lyceum.cluster import KChoice
from lyceum.studies.report.format import percent_text
from lyceum.studies.report.svg import figure_of


def plane_figure(plane: np.ndarray, labels: np.ndarray, share: float) -> Any:
    """Rows as points of a plane, clusters in colors and by their numbers."""
    index = plane[:, 0].astype(np.intp)
    points = plane[:, 1:]
    shown = labels[index]

    def draw(ax: Any) -> None:
        for c in np.unique(shown).tolist():
            here = points[shown == c]
            color = plot.style.GRAY if c < 0 else plot.style.color_of(c)
            plot.style.draw_points(ax, here, 18, color=color, alpha=0.7)
            if c >= 0:
                x, y = np.median(here, axis=0)
                box = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1.5}
                ax.text(x, y, str(c), ha="center", va="center", bbox=box)
        ax.set_aspect("equal", "datalim")
        plot.style.finish(ax, "first coordinate", "second coordinate", None)

    rows = "all rows" if len(index) == len(labels) else f"{len(index):,} of the rows"
    text = (
        f"Rows that are alike lie near each other ({rows}); the plane holds"
        f" {percent_text(share)} of what sets rows apart, so that clusters may overlap here and be"
        " apart in the table."
    )
    return figure_of("plane", "The rows and their clusters", text, draw)


def choice_figure(choice: KChoice) -> Any:
    """The mean silhouette by the number of clusters."""
    blue, orange = plot.style.COLORS[:2]

    def draw(ax: Any) -> None:
        points = {"color": blue, "marker": "o", "markersize": 4}
        ax.plot(choice.clusters, choice.silhouettes, **points)
        ax.axvline(choice.k, color=orange, linewidth=0.8, linestyle=(0, (4, 3)))
        plot.style.finish(ax, "clusters", "mean silhouette", None)

    text = f"The larger, the better apart are clusters: {choice.k} are taken."
    return figure_of("number", "How many clusters?", text, draw)

"""Pictures of a reduction: variances, scores, merits of columns, and the way of a search."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lyceum import plot
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Estimator

_MOST_POINTS = 2_000
_MOST_BARS = 30


def reduction_figures(model: Estimator, table: pa.Table, method: str) -> Iterator[str]:
    """Figures as HTML, one after the other."""
    if method == "pca":
        yield _figure("Proportion of the variance", lambda ax: plot.scree(model, ax=ax))
    if method in ("pca", "svd", "mds", "fisher"):
        yield _figure("Rows by the new columns", lambda ax: _scatter(model, table, ax))
    elif method == "ranking":
        yield _figure("Merit of the columns", lambda ax: _bars(model, ax))
    elif len(getattr(model, "history_", ())) > 1:
        yield _figure("Loss along the search", lambda ax: _way(model, ax))


def _figure(title: str, draw: Callable[[Any], Any]) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 10}
    ):
        canvas = Figure(figsize=(5.6, 4.0), layout="constrained")
        draw(canvas.add_subplot())
        out = io.StringIO()
        canvas.savefig(
            out,
            format="svg",
            metadata={"Date": None, "Creator": None},
            transparent=True,
        )
    svg = out.getvalue()
    picture = svg[svg.index("<svg") :]
    caption = f"<figcaption>{html.escape(title)}</figcaption>"
    return f"<figure>{picture}{caption}</figure>"


def _scatter(model: Estimator, table: pa.Table, ax: Any) -> None:
    names = model.get_feature_names_out().tolist()
    rows = np.unique(np.linspace(0, table.num_rows - 1, _MOST_POINTS).astype(int))
    first = table[names[0]].to_numpy()[rows]
    second = np.zeros(len(rows))
    if len(names) > 1:
        second = table[names[1]].to_numpy()[rows]
    target = [name for name in table.column_names if name not in names]
    values = np.full(len(rows), "")
    if target:
        values = np.array(table[target[0]].to_pylist(), dtype=object)[rows]
    _draw_points(ax, first, second, values, target)
    ax.set(xlabel=names[0], ylabel=names[1] if len(names) > 1 else "")
    if len(names) == 1:
        ax.set_yticks([])


def _draw_points(
    ax: Any,
    first: np.ndarray,
    second: np.ndarray,
    values: np.ndarray,
    target: list[str],
) -> None:
    """The points, in colors of their classes or numbers where there is a target."""
    classes = sorted({str(value) for value in values})
    if 1 < len(classes) <= 10:
        labels = np.array([str(value) for value in values])
        for label in classes:
            is_of = labels == label
            ax.scatter(first[is_of], second[is_of], s=9, alpha=0.7, label=label)
        ax.legend(title=target[0], frameon=False, fontsize=8)
    elif target and all(isinstance(value, int | float) for value in values):
        dots = ax.scatter(first, second, c=values.astype(float), s=9, alpha=0.7)
        ax.figure.colorbar(dots, ax=ax, label=target[0])
    else:
        ax.scatter(first, second, s=9, alpha=0.7)


def _bars(model: Estimator, ax: Any) -> None:
    order = np.asarray(model.ranking_)[:_MOST_BARS][::-1]
    names = [model.schema_.names[j] for j in order]
    colors = ["C0" if model.support_[j] else "0.75" for j in order]
    ax.barh(np.arange(len(order)), np.asarray(model.scores_)[order], color=colors)
    ax.set_yticks(np.arange(len(order)), names)
    ax.set_xlabel("merit (blue: kept)")


def _way(model: Any, ax: Any) -> None:
    x, y = type(model).history_axes
    ax.plot(np.arange(len(model.history_)), model.history_, marker="o", markersize=3)
    ax.set(xlabel=x, ylabel=y)

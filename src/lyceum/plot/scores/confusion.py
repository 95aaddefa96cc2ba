"""Pictures of confusion matrices: the matrix itself, and the cobweb of misclassification rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.text import show_count
from lyceum.errors import DataError, SettingError
from lyceum.evaluate import BinaryReport, ClassReport, Cobweb, Confusion
from lyceum.plot.style import (
    INK,
    axes,
    heading,
    legend,
    line_style,
    name_columns,
    reference_line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_RATES = 12  # classes up to which a cell has room for its count and its rate


def confusion(
    matrix: Any,
    labels: Sequence[Any] | None = None,
    *,
    actions: Sequence[Any] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A confusion matrix: counts, shaded by the share of the true class.

    Parameters
    ----------
    matrix : Confusion, ClassReport, BinaryReport, or array of shape (K, A)
        From `lyceum.evaluate.confusion_matrix`, `class_report` or `binary_report`; or counts, rows
        = true class, columns = predicted class or action.
    labels : sequence of K labels, optional
        The true classes; by default those of the Confusion, or 0, 1, ...
    actions : sequence of A labels, optional
        What was predicted, if not just the classes, e.g. with a reject column.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.confusion_matrix : The matrix as numbers.
    class_rates : Precision and recall of every class.
    cobweb : Only the mistakes, of several classifiers.

    Examples
    --------
    >>> ax = confusion([[30, 10], [1, 3]], ["bad", "good"])
    >>> ax.texts[0].get_text()
    '30\\n75%'
    >>> from lyceum import evaluate
    >>> ax = confusion(evaluate.confusion_matrix(["a", "a", "b"], ["a", "?", "b"], reject="?"))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['a', 'b', '(reject)']
    """
    counts, rows, columns = _counts(matrix, labels, actions)
    width = min(1.8 + 0.85 * len(columns), 8.5)
    height = min(1.5 + 0.75 * len(rows), 7.5)
    ax = axes(ax, (width, height))
    _draw_cells(ax, counts, _shares(counts))
    name_columns(ax, columns, has_room=max(map(len, columns)) * len(columns) <= 48)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xlabel("predicted", color=INK)
    ax.set_ylabel("true class", color=INK)
    heading(ax, title)
    ax.tick_params(length=0, colors=INK, labelsize="small")
    ax.spines[:].set_visible(False)
    # minor ticks lie between the cells, so that their grid draws white gaps
    ax.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=2)
    ax.tick_params(which="minor", length=0)
    return ax


def _shares(counts: np.ndarray) -> np.ndarray:
    """Shares of every row; zeros for a row without counts."""
    sums = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)


def _draw_cells(ax: Axes, counts: np.ndarray, rates: np.ndarray) -> None:
    """A shade for every rate; the count, and the rate where there is room, as text."""
    from matplotlib.colors import LinearSegmentedColormap

    # from white over two blues to almost black
    colors = ["#FFFFFF", "#B9D6EA", "#0072B2", "#00344F"]
    shades = LinearSegmentedColormap.from_list("shades", colors)
    ax.imshow(rates, cmap=shades, vmin=0.0, vmax=1.0)
    style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small"}
    for k, a in np.ndindex(*counts.shape):
        text = f"{counts[k, a]:,.6g}"
        if counts[k, a] and counts.shape[1] <= _MOST_RATES:
            text += f"\n{rates[k, a]:.0%}"
        ink = INK if counts[k, a] else "#9A9A9A"
        if rates[k, a] > 0.58:  # on a dark shade
            ink = "white"
        ax.text(a, k, text, color=ink, **style)


def cobweb(
    matrices: Any,
    labels: Sequence[Any] | None = None,
    *,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A cobweb chart: one spoke for every kind of mistake, one polygon for every classifier.

    On the spoke "k → j" a classifier is marked at the share of class k that it predicts as j: 0 in
    the middle, so the smaller the polygon the better. The gray polygon is guessing, 1/K on every
    spoke.

    Parameters
    ----------
    matrices : Confusion, Cobweb, ClassReport, BinaryReport, array of shape (K, K), or dict
        Of one classifier, or a dict of name to such. From `lyceum.evaluate.confusion_matrix`,
        `cobweb`, `class_report` or `binary_report`; or
        counts, rows = true class, columns = predicted class.
    labels : sequence of K labels, optional
        The classes of arrays; 0, 1, ... by default.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.cobweb : The rates as numbers.

    References
    ----------
    Diri and Albayrak, Visualization and analysis of classifiers performance in multi-class medical
    data, Expert Systems with Applications 34, 2008.

    Examples
    --------
    >>> ax = cobweb({"tree": [[8, 1, 1], [0, 10, 0], [2, 3, 5]]}, ["a", "b", "c"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['tree', 'guessing, 33%']
    """
    named = matrices if isinstance(matrices, Mapping) else {"": matrices}
    webs = {str(name): _mistakes(matrix, labels) for name, matrix in named.items()}
    if len({len(rates) for rates, _ in webs.values()}) != 1:
        raise DataError(
            "confusion matrices of one size are needed: compare classifiers of the same classes"
        )
    spokes = next(iter(webs.values()))[1]
    angles = _angles(len(spokes))
    # 1/K, where the number of spokes is K (K - 1)
    chance = 2.0 / (1.0 + np.sqrt(1.0 + 4.0 * len(spokes)))
    # as far as the worst classifier or guessing, and a little more
    highest = max(rates.max() for rates, _ in webs.values())
    reach = min(1.0, 1.15 * max(chance, highest))
    ax = axes(ax, (5.4, 5.2))
    _draw_web(ax, angles, spokes, reach)
    for name, (rates, _) in webs.items():
        corners = _close_ring(angles, rates)
        style = line_style(ax)
        label = name or "classifier"
        ax.plot(*corners, marker="o", markersize=4, label=label, **style)
        ax.fill(*corners, color=style["color"], alpha=0.08, linewidth=0)
    ring = _close_ring(angles, np.full(len(spokes), chance))
    reference_line(ax, *ring, f"guessing, {chance:.0%}")
    heading(ax, title)
    legend(ax, "upper center", bbox_to_anchor=(0.5, 0.0), ncols=min(3, len(webs) + 1))
    return ax


def _angles(n_spokes: int) -> np.ndarray:
    """Spokes all round, clockwise from the top; only two make a V, which keeps classifiers
    apart."""
    if n_spokes == 2:
        return np.array([0.75, 0.25]) * np.pi
    return np.pi / 2 - 2 * np.pi * np.arange(n_spokes) / n_spokes


def _draw_web(ax: Axes, angles: np.ndarray, spokes: list[str], reach: float) -> None:
    """Rings with their rates, and a spoke with its name for every kind of mistake."""
    if len(angles) > 2:
        ring = np.linspace(0, 2 * np.pi, 181)
        between = angles[0] - np.pi / len(spokes)  # the direction of the rates
        low = -1.2
    else:
        ring = np.linspace(angles[1], angles[0], 46)
        between = np.pi / 2
        low = -0.08
    # the smallest round step that makes at most five rings
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5) if reach / s <= 5)
    for radius in np.arange(step, reach + 1e-9, step):
        x = radius * np.cos(ring)
        y = radius * np.sin(ring)
        ax.plot(x, y, color="#E0E0E0", linewidth=0.8, zorder=0)
        ax.annotate(
            f"{radius:.0%}",
            (radius * np.cos(between), radius * np.sin(between)),
            color="#555555",
            fontsize="x-small",
            ha="center",
            va="center",
        )
    for angle, name in zip(angles, spokes):
        _draw_spoke(ax, angle, name, reach)
    ax.set(
        xlim=(-1.2 * reach, 1.2 * reach),
        ylim=(low * reach, 1.2 * reach),
        aspect="equal",
    )
    ax.axis("off")


def _draw_spoke(ax: Axes, angle: float, name: str, reach: float) -> None:
    x = np.cos(angle)
    y = np.sin(angle)
    ax.plot([0, reach * x], [0, reach * y], color="#C8C8C8", linewidth=0.8, zorder=0)
    # the name stands outside the web: it starts or ends at the tip, or is centered on an axis
    ha = "left" if x > 0 else "right"
    va = "bottom" if y > 0 else "top"
    if abs(x) < 0.2:
        ha = "center"
    if abs(y) < 0.2:
        va = "center"
    end = (1.05 * reach * x, 1.05 * reach * y)
    ax.text(*end, name, ha=ha, va=va, color=INK, fontsize="small")


def _close_ring(angles: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The polygon through the spokes; with two spokes its third corner is the middle."""
    x = radii * np.cos(angles)
    y = radii * np.sin(angles)
    if len(angles) == 2:
        x = np.append(x, 0.0)
        y = np.append(y, 0.0)
    return np.append(x, x[0]), np.append(y, y[0])


def _mistakes(
    matrix: Any, labels: Sequence[Any] | None
) -> tuple[np.ndarray, list[str]]:
    """The rate of every mistake, 0 for a class without rows, and its name."""
    if isinstance(matrix, Cobweb):
        pairs = zip(matrix.truth.tolist(), matrix.predicted.tolist())
        return matrix.rates, [f"{k} → {j}" for k, j in pairs]
    if isinstance(matrix, ClassReport):
        matrix = matrix.confusion
    if isinstance(matrix, Confusion):
        if labels is None:
            labels = matrix.classes.tolist()
        matrix = matrix.counts  # shares of the decided rows
    counts, rows, _ = _counts(matrix, labels, None)
    K = len(rows)
    if counts.shape[1] != K or K < 2:
        raise DataError(
            f"a cobweb needs a square confusion matrix of two classes or more, not {counts.shape}"
        )
    # all pairs of a true class and another one, row by row
    k, j = np.nonzero(~np.eye(K, dtype=bool))
    names = [f"{rows[a]} → {rows[b]}" for a, b in zip(k, j)]
    return _shares(counts)[k, j], names


def _counts(
    matrix: Any, labels: Sequence[Any] | None, actions: Sequence[Any] | None
) -> tuple[np.ndarray, list[str], list[str]]:
    """Counts of any kind of matrix, with the names of their rows and columns."""
    if isinstance(matrix, ClassReport):
        matrix = matrix.confusion
    if isinstance(matrix, Confusion):
        return _with_reject(matrix, labels, actions)
    if isinstance(matrix, BinaryReport):
        if labels is None:
            labels = (matrix.negative, matrix.positive)
        matrix = [[matrix.tn, matrix.fp], [matrix.fn, matrix.tp]]
    try:
        counts = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(
            f"a {type(matrix).__name__} is no confusion matrix: give a Confusion, a ClassReport or"
            " a BinaryReport from lyceum.evaluate, or an array of counts"
        ) from None
    are_counts = (np.isfinite(counts) & (counts >= 0)).all()
    if counts.ndim != 2 or not counts.size or not are_counts:
        raise DataError(
            "a confusion matrix holds counts, rows = true class and columns = predicted; this has"
            f" the shape {counts.shape}, or a count that is negative or missing"
        )
    K, A = counts.shape
    rows = [str(k) for k in (range(K) if labels is None else labels)]
    columns = rows if actions is None else [str(a) for a in actions]
    if len(rows) != K or len(columns) != A:
        n_actions = 0 if actions is None else len(columns)
        raise DataError(
            f"the confusion matrix has {show_count(K, 'row')} and {show_count(A, 'column')}, for"
            f" {len(rows)} classes and {n_actions} actions: name the rows with labels=[...] and"
            " the columns with actions=[...]"
        )
    return counts, rows, columns


def _with_reject(
    matrix: Confusion, labels: Sequence[Any] | None, actions: Sequence[Any] | None
) -> tuple[np.ndarray, list[str], list[str]]:
    """The counts of a result, with a reject column and a row of no class where there are any."""
    if labels is None:
        labels = matrix.classes.tolist()
    names = [str(k) for k in labels]
    # the full matrix has one column more for rejected rows, and one row more for foreign labels
    has_foreign = bool(matrix.foreign.any())
    has_reject = has_foreign or bool(matrix.rejected.any())
    n_rows = len(matrix.classes) + has_foreign
    n_columns = len(matrix.classes) + has_reject
    rows = [*names, "(no class)"][:n_rows]
    if actions is None:
        actions = [*names, "(reject)"][:n_columns]
    return _counts(matrix.full[:n_rows, :n_columns], rows, actions)

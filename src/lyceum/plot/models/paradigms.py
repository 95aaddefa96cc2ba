"""Pictures of active learning, of cascades, and of what an agent has learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.types import Estimator
from lyceum.errors import DataError
from lyceum.plot.curves import Curve, draw_curves
from lyceum.plot.style import COLORS, GRAY, INK, axes, finish, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ENDS = {"G": "goal", "X": "pit", "H": "hole"}
# left, down, right, up
_ARROWS = ((-0.28, 0.0), (0.0, 0.28), (0.28, 0.0), (0.0, -0.28))


def label_curves(
    runs: Mapping[str, Any],
    *,
    score: str = "accuracy",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The score against the number of labeled rows, for several ways to choose the rows.

    Parameters
    ----------
    runs : dict of name to ActiveLearning, or to a list of them
        Several runs of one way are shown by their mean, with the band of one standard deviation.
    score : str, default="accuracy"
        The name of the score.
    title : str, optional
    ax : Matplotlib axes, optional

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.semi_supervised.active_learning : The runs.

    Examples
    --------
    >>> from lyceum.linear import LogisticRegression
    >>> from lyceum.semi_supervised import active_learning
    >>> X = np.random.default_rng(0).normal(size=(80, 2)); y = X[:, 0] > 0
    >>> run = active_learning(LogisticRegression(), X, y, n_queries=5, test=(X, y), random_state=0)
    >>> len(label_curves({"uncertainty": run}).lines)
    1
    """
    curves = []
    for name, repeats in runs.items():
        repeats = list(repeats) if isinstance(repeats, list | tuple) else [repeats]
        if not all(len(run.scores) for run in repeats):
            raise DataError(
                f"the runs of {name!r} have no scores: give active_learning(..., test=(X, y))"
            )
        # repeats may end at different numbers of labels: as far as all go
        n = min(len(run.scores) for run in repeats)
        scores = np.column_stack([run.scores[:n] for run in repeats])
        curves.append(Curve.of_scores(repeats[0].n_labeled[:n], scores, name))
    ax = draw_curves(ax, curves)
    finish(ax, "labeled rows", score, title)
    legend(ax, "lower right")
    return ax


def policy(
    result: Any,
    *,
    world: Any = None,
    shape: tuple[int, int] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The value of every cell of a grid, and the best way from it.

    Parameters
    ----------
    result : Policy, QLearning or Sarsa
        What was result; actions are 0 left, 1 down, 2 right, 3 up.
    world : GridWorld or gymnasium's environment with a map, optional
        Its start, goals, pits and walls are marked.
    shape : tuple of int, optional
        Rows and columns; by default those of the world.
    title : str, optional
    ax : Matplotlib axes, optional

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.reinforcement.value_iteration, lyceum.reinforcement.QLearning : What to draw.

    Examples
    --------
    >>> from lyceum.reinforcement import GridWorld, value_iteration
    >>> world = GridWorld()
    >>> ax = policy(value_iteration(world, 0.9), world=world)
    >>> len(ax.images)
    1
    """
    result = getattr(result, "policy_", result)
    if shape is None:
        shape = result.shape
    if shape is None or int(np.prod(shape)) != len(result.values):
        raise DataError(
            f"{len(result.values)} states are no grid of shape {shape}: give shape=(rows, columns)"
        )
    rows, columns = shape
    ax = axes(ax, (1.2 + 0.95 * columns, 0.8 + 0.95 * rows))
    letters = _letters(world, shape)
    # walls have no value, and no part in the range of colors
    values = np.ma.masked_array(np.reshape(result.values, shape), letters == "#")
    image = ax.imshow(values, cmap="YlGnBu", alpha=0.75)
    # white ink on the dark third of the colors
    dark = values.min() + 0.65 * np.ptp(values)
    for state, q in enumerate(result.q):
        cell = divmod(state, columns)
        value = values[cell]
        ink = "white" if np.ptp(values) > 0 and value > dark else INK
        _draw_state(ax, cell, letters[cell], value=value, q=q, ink=ink)
    ax.figure.colorbar(image, ax=ax, label="value", shrink=0.85)
    finish(ax, "", "", title)
    ax.grid(False)
    ax.set(xticks=[], yticks=[])
    return ax


def _letters(world: Any, shape: tuple[int, int]) -> np.ndarray:
    """The map of a world, a letter per cell; free cells where there is none."""
    world = getattr(world, "unwrapped", world)
    cells = getattr(world, "cells", None)
    if cells is not None:
        result = np.array([list(row) for row in cells])
    else:
        result = np.asarray(getattr(world, "desc", np.full(shape, "."))).astype(str)
    # a map of another shape belongs to another world
    if result.shape == tuple(shape):
        return result
    return np.full(shape, ".")


def _draw_state(
    ax: Axes,
    cell: tuple[int, int],
    letter: str,
    *,
    value: float,
    q: np.ndarray,
    ink: str,
) -> None:
    """One cell of the grid: a wall, an end, or the value and the best actions of the state."""
    from matplotlib.patches import Rectangle

    r, c = cell
    if letter == "#":
        ax.add_patch(Rectangle((c - 0.5, r - 0.5), 1, 1, color=GRAY, linewidth=0))
        return
    if letter in _ENDS:  # an episode is over
        ax.text(c, r, _ENDS[letter], ha="center", va="center", fontsize=9, color=INK)
        return
    text: dict[str, Any] = {"va": "center", "color": ink}
    ax.text(c, r + 0.36, f"{value:.2f}", ha="center", fontsize=8, **text)
    if letter == "S":
        ax.text(c - 0.46, r + 0.36, "start", ha="left", fontsize=6, **text)
    if np.ptp(q) <= 1e-12 or len(q) != len(_ARROWS):
        return  # nothing is decided here
    # every best action, where several are equal up to rounding
    best = q >= q.max() - 1e-9 * max(abs(q.max()), 1.0)
    arrow = {"arrowstyle": "-|>", "color": ink, "shrinkA": 0, "shrinkB": 0}
    for action in np.flatnonzero(best):
        right, down = _ARROWS[action]
        ax.annotate("", (c + right, r - 0.08 + down), (c, r - 0.08), arrowprops=arrow)


def stages(
    model: Estimator, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """What every stage of a cascade decides, how much of it wrongly, and what it costs.

    Parameters
    ----------
    model : CascadeClassifier
        A fitted one.
    title : str, optional
    ax : Matplotlib axes, optional

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.ensemble.CascadeClassifier : The cascade.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.ensemble import CascadeClassifier
    >>> len(stages(CascadeClassifier(random_state=0).fit(load("penguins"))).patches)
    6
    """
    reports = model.stages_
    ax = axes(ax, (6.0, 1.4 + 0.55 * len(reports)))
    heights = np.arange(len(reports))
    decided = np.array([stage.decided for stage in reports])
    # the error of a stage that decides no row is NaN
    errors = np.nan_to_num([stage.error for stage in reports])
    wrong = errors * decided
    right = decided - wrong
    passed = np.array([stage.reached for stage in reports]) - decided
    ax.barh(heights, right, color=COLORS[0], label="decided right")
    ax.barh(heights, wrong, left=right, color=COLORS[1], label="decided wrong")
    ax.barh(heights, passed, left=decided, color=GRAY, alpha=0.35, label="passed on")
    names = [f"{stage.name}\n(cost {stage.cost:g})" for stage in reports]
    ax.set_yticks(heights, names)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    figures = f"{model.cost_:.3g} per row, error {model.error_:.3f}"
    finish(ax, f"share of rows left out; {figures}", "", title)
    legend(ax, "lower right")
    return ax

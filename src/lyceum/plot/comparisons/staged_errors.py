"""The error of an ensemble over its rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lyceum.errors import DataError, SettingError
from lyceum.plot.style import GRAY, axes, downsample, finish, legend, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def staged_errors(
    curves: Mapping[str, Any],
    *,
    best: str | None = None,
    goal: Literal["min", "max"] = "min",
    rounds: Any = None,
    error: str = "error",
    x: str = "trees",
    log: bool = False,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The error of an ensemble as it grows: on training, validation or out-of-bag rows.

    Parameters
    ----------
    curves : dict of name to array of shape (n_rounds,)
        For example ``{"training": ..., "validation": ...}``; nothing is drawn where a value is NaN.
    best : str, optional
        The name of the curve whose best round is marked, the first of equals.
    goal : {"min", "max"}, default="min"
        Whether the best is the least or the largest.
    rounds : array, optional
        The numbers of the rounds; 1, 2, ... by default.
    error, x : str
        Names of the axes.
    log : bool, default=False
        A logarithmic error.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    training_curves : The history of one learner.

    Examples
    --------
    >>> ax = staged_errors({"training": [0.3, 0.2, 0.1], "validation": [0.3, 0.25, 0.4]}, best="validation")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['training', 'validation', 'best: 2']
    """
    if not isinstance(curves, Mapping):
        raise SettingError(
            f"give a dict of name to the errors of every round, not {type(curves).__name__}"
        )
    if not curves:
        raise DataError("there are no curves to draw: give at least one")
    if best is not None and best not in curves:
        raise DataError(
            f"there is no curve {best!r}: the curves are {', '.join(map(repr, curves))}"
        )
    ax = axes(ax)
    for name, values in curves.items():
        values = np.asarray(values, dtype=np.float64)
        if rounds is None:
            at = np.arange(1, len(values) + 1)
        else:
            at = np.asarray(rounds)
        if values.shape != at.shape or values.ndim != 1:
            raise DataError(
                f"curve {name!r} has the shape {values.shape} for {len(at)} rounds: give one each"
            )
        if len(values) <= 20:
            marker = "o"
        else:
            marker = None
        ax.plot(
            *downsample(at, values), label=name, marker=marker, markersize=4.0, **line_style(ax)
        )
        if name == best and not np.isnan(values).all():
            i = int(np.nanargmin(values) if goal == "min" else np.nanargmax(values))
            ax.axvline(at[i], color=GRAY, linewidth=1.0, linestyle=":", zorder=1, label=f"best: {at[i]}",
                       gid="reference")  # fmt: skip
    if log:
        ax.set_yscale("log")
    finish(ax, x, error, title)
    legend(ax)
    return ax

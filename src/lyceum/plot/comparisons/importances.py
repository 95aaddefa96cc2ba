"""Bars of feature importances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.text import show_count
from lyceum._core.types import Estimator
from lyceum.errors import DataError, SettingError
from lyceum.plot.style import COLORS, GRAY, INK, axes, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def importances(
    model: Any,
    *,
    names: Sequence[str] | None = None,
    spread: Any = None,
    most: int = 20,
    label: str = "importance",
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Bars of feature importances, the most important column at the top.

    Parameters
    ----------
    model : fitted learner with `feature_importances_`, or array of shape (d,)
        The importances.
    names : sequence of str, optional
        The columns; those of the learner by default.
    spread : array of shape (d,), optional
        Standard deviations, over trees or shuffles, drawn as lines.
    most : int, default=20
        Columns drawn; the axis tells how many are left out.
    label : str, default="importance"
        The name of the axis.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.trees.permutation_importance : Importances of any learner.

    Examples
    --------
    >>> ax = importances([0.2, 0.7, 0.1], names=["a", "b", "c"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['b', 'a', 'c']
    """
    values, names = _values_and_names(model, names)
    # equal ones in the order of the columns
    order = np.argsort(-values, kind="stable")[:most]
    deviations = None
    if spread is not None:
        deviations = np.asarray(spread, dtype=np.float64)[order]
    ax = axes(ax, (5.2, 0.9 + 0.26 * len(order)))
    heights = np.arange(len(order))
    ax.barh(
        heights,
        values[order],
        xerr=deviations,
        color=COLORS[0],
        height=0.7,
        ecolor=INK,
        error_kw={"linewidth": 1.0},
    )
    ax.set_yticks(heights, [names[j] for j in order.tolist()])
    ax.invert_yaxis()
    left_out = len(values) - len(order)
    if left_out:
        label = f"{label}  ({show_count(left_out, 'more column')})"
    finish(ax, label, "", title)
    ax.grid(False, axis="y")
    ax.axvline(0.0, color=GRAY, linewidth=0.8)
    return ax


def _values_and_names(
    model: Estimator, names: Sequence[str] | None
) -> tuple[np.ndarray, list[str]]:
    """The importance and the name of every column."""
    # a learner has importances of its own; anything else holds numbers
    if hasattr(model, "fit"):
        check_is_fitted(model)
        if not hasattr(model, "feature_importances_"):
            raise SettingError(
                f"{type(model).__name__} has no feature_importances_: give those of "
                "lyceum.trees.permutation_importance, which takes any learner"
            )
        values = np.asarray(model.feature_importances_, dtype=np.float64)
        if names is None and hasattr(model, "schema_"):
            names = model.schema_.names
    elif isinstance(model, list | tuple) or hasattr(model, "__array__"):
        values = np.asarray(model, dtype=np.float64)
    else:
        raise SettingError(
            "give a fitted learner with feature_importances_, or one number per column, not "
            f"{type(model).__name__}"
        )
    if values.ndim != 1 or not len(values):
        raise DataError(
            f"importances have the shape {values.shape}: give one per column"
        )
    if names is None:
        names = [f"x{j}" for j in range(len(values))]
    if len(names) != len(values):
        raise DataError(
            f"there are {len(names)} names for {len(values)} importances: give one each"
        )
    return values, [str(name) for name in names]

"""Learning and validation curves: scores or losses on training and on unseen rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import LearningCurve, ValidationCurve
from lyceum.plot.style import GRAY, axes, finish, legend, line_style, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LOSSES = {"error": "error rate", "squared": "squared error", "absolute": "absolute error"}


def loss_name(loss: str) -> str:
    """A loss of `evaluate` as the name of an axis."""
    return _LOSSES.get(loss, loss)


def learning_curve(
    sizes: Any,
    train: Any = None,
    validation: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scores on training and on unseen rows over the number of training rows.

    Parameters
    ----------
    sizes : LearningCurve, dict of name to LearningCurve, or array of shape (m,)
        From `lyceum.evaluate.learning_curve`, drawn with the loss of the best constant; or the
        numbers of training rows.
    train, validation : arrays of shape (m,) or (m, n_folds), optional
        Scores, as `sklearn.model_selection.learning_curve` returns them. With folds the mean is
        drawn and a band of one standard deviation to either side.
    score : str, optional
        The name of the scores, for the axis; by default the loss of a LearningCurve, or "score".
    label : str, optional
        The name of the learner.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default. Curves already there stay.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.learning_curve : The curve as numbers.
    validation_curve : The same over a setting.

    Examples
    --------
    >>> ax = learning_curve([10, 100], [[1.0, 0.9], [0.9, 0.9]], [[0.5, 0.7], [0.6, 0.8]], score="accuracy")
    >>> ax.lines[1].get_ydata()
    array([0.6, 0.7])
    """
    results = _results(LearningCurve, sizes, train, validation, label)
    ax = axes(ax)
    for name, result in results.items():
        _bands(ax, result.sizes.astype(np.float64), result.train_losses, result.test_losses, name)
    for result in results.values():
        ends = [float(result.sizes[0]), float(result.sizes[-1])]
        reference_line(ax, ends, [result.baseline] * 2, "best constant")
    if not results:
        _bands(ax, np.asarray(sizes, dtype=np.float64), train, validation, label)
    finish(ax, "training rows", score or _loss_name(results), title)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    legend(ax)
    return ax


def validation_curve(
    values: Any,
    train: Any = None,
    validation: Any = None,
    *,
    name: str | None = None,
    score: str | None = None,
    best: Literal["auto", "max", "min"] | None = "auto",
    log: bool | None = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scores on training and on unseen rows over a setting.

    Parameters
    ----------
    values : ValidationCurve, or array of shape (m,)
        From `lyceum.evaluate.validation_curve`; or the values tried, in the order to draw them.
        Values other than numbers are evenly spaced.
    train, validation : arrays of shape (m,) or (m, n_folds), optional
        Scores, as `sklearn.model_selection.validation_curve` returns them.
    name : str, optional
        The name of the setting, for the axis; by default that of a ValidationCurve, or "parameter".
    score : str, optional
        The name of the scores, for the axis; by default the loss of a ValidationCurve, or "score".
    best : {"auto", "max", "min"} or None, default="auto"
        Marks the value of the best mean validation score, the first of equals. "auto" is the least
        of a ValidationCurve and of arrays whose `score` is named a loss or an error, else the
        largest.
    log : bool, optional
        A logarithmic axis; by default where positive values span a factor of 50 or more.
    label : str, optional
        The name of the learner.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default. Curves already there stay.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.validation_curve : The curve as numbers.
    learning_curve : The same over the number of training rows.

    Examples
    --------
    >>> ax = validation_curve([0.01, 1, 100], [0.8, 0.9, 1.0], [0.7, 0.8, 0.6], name="C")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['training', 'validation', 'best: 1']
    """
    results = _results(ValidationCurve, values, train, validation, label)
    if len(results) > 1:
        raise SettingError("give one ValidationCurve: draw others into the same axes by ax=")
    for result in results.values():
        values = _as_array(result.values)
        train = result.train_losses
        validation = result.test_losses
        if name is None:
            name = result.name
    values = np.asarray(values)
    numbers = values.dtype.kind in "iuf"
    if numbers:
        x = values.astype(np.float64)
    else:
        x = np.arange(len(values), dtype=np.float64)
    ax = axes(ax)
    mean = _bands(ax, x, train, validation, label)
    if best is not None:
        least = best == "min" or (best == "auto" and (bool(results) or _is_loss(score)))
        i = int(mean.argmin() if least else mean.argmax())
        if numbers:
            text = f"{values[i]:g}"
        else:
            text = str(values[i])
        ax.axvline(
            x[i],
            color=GRAY,
            linewidth=1.0,
            linestyle=":",
            zorder=1,
            label=f"best: {text}",
            gid="reference",
        )
    if not numbers:
        ax.set_xticks(x, [str(value) for value in values])
    elif log or (log is None and x.min() > 0 and x.max() >= 50 * x.min()):
        ax.set_xscale("log")
    finish(ax, name or "parameter", score or _loss_name(results), title)
    legend(ax)
    return ax


def _results(
    kind: type, first: Any, train: Any, validation: Any, label: str | None
) -> dict[str, Any]:
    """Results of `evaluate` by name; empty when arrays were given."""
    if isinstance(first, Mapping):
        results = first
    else:
        results = {label or "": first}
    if results and all(isinstance(result, kind) for result in results.values()):
        if train is not None or validation is not None:
            raise SettingError(f"a {kind.__name__} is complete: give no scores with it")
        return {str(name): result for name, result in results.items()}
    if isinstance(first, Mapping) or train is None or validation is None:
        raise SettingError(
            f"give a {kind.__name__}, or arrays of training and of validation scores"
        )
    return {}


def _is_loss(name: str | None) -> bool:
    return name is not None and any(
        word in name.lower() for word in ("loss", "error", "deviance", "risk")
    )


def _loss_name(results: dict[str, Any]) -> str:
    names = sorted({result.loss_name for result in results.values()})
    if not names:
        return "score"
    if len(names) == 1:
        return loss_name(names[0])
    return "loss"


def _as_array(values: tuple[Any, ...]) -> np.ndarray:
    """Numbers as numbers, everything else as text."""
    if all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool)
        for value in values
    ):
        return np.array(values)
    return np.array([str(value) for value in values], dtype=object)


def _bands(ax: Axes, x: np.ndarray, train: Any, validation: Any, label: str | None) -> np.ndarray:
    """Draw both scores; return the mean validation score."""
    mean = np.empty(0)
    for scores, part, marker in ((train, "training", "o"), (validation, "validation", "s")):
        scores = np.asarray(scores, dtype=np.float64)
        if scores.ndim == 1:
            scores = scores[:, None]
        if scores.ndim != 2 or len(scores) != len(x) or not len(x):
            raise DataError(
                f"{part} scores have the shape {scores.shape} for {len(x)} places: "
                "give one row for each place"
            )
        mean = scores.mean(axis=1)
        sd = scores.std(axis=1)
        style = line_style(ax)
        if label:
            name = f"{label}, {part}"
        else:
            name = part
        ax.plot(x, mean, marker=marker, markersize=4.5, label=name, **style)
        if scores.shape[1] > 1:
            ax.fill_between(x, mean - sd, mean + sd, color=style["color"], alpha=0.15, linewidth=0)
    return mean

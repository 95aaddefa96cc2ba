"""Curves over rows, settings and rounds: scores or losses on training and on unseen rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import DensityErrors, LearningCurve, ValidationCurve
from lyceum.plot.curves import (
    DOTS,
    Curve,
    draw_curves,
    few_dots,
    mark_best,
    results_by_name,
)
from lyceum.plot.style import DOTTED, finish, legend, reference_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LOSSES = {
    "error": "error rate",
    "squared": "squared error",
    "absolute": "absolute error",
}


def loss_name(loss: str) -> str:
    """A loss of `evaluate` as the name of an axis."""
    return _LOSSES.get(loss, loss)


def learning_curve(
    train_sizes: Any,
    train_scores: Any = None,
    test_scores: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scores on training and on unseen rows over the number of training rows.

    Parameters
    ----------
    train_sizes : LearningCurve, dict of name to LearningCurve, or array of shape (m,)
        From `lyceum.evaluate.learning_curve`, drawn with the loss of the best constant; or the
        numbers of training rows.
    train_scores, test_scores : arrays of shape (m,) or (m, n_folds), optional
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
    >>> train, test = [[1.0, 0.9], [0.9, 0.9]], [[0.5, 0.7], [0.6, 0.8]]
    >>> ax = learning_curve([10, 100], train, test, score="accuracy")
    >>> ax.lines[1].get_ydata()
    array([0.6, 0.7])
    """
    results = _results(LearningCurve, train_sizes, train_scores, test_scores, label)
    if results:
        curves = []
        for name, result in results.items():
            sizes = result.train_sizes.astype(np.float64)
            curves += _two_curves(sizes, result.train_losses, result.test_losses, name)
    else:
        sizes = np.asarray(train_sizes, dtype=np.float64)
        curves = _two_curves(sizes, train_scores, test_scores, label)
    ax = draw_curves(ax, curves)
    for result in results.values():
        ends = [float(result.train_sizes[0]), float(result.train_sizes[-1])]
        # what a learner must beat
        reference_line(ax, ends, [result.baseline] * 2, "best constant")
    finish(ax, "training rows", score or _loss_name(results), title)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    legend(ax)
    return ax


def validation_curve(
    param_range: Any,
    train_scores: Any = None,
    test_scores: Any = None,
    *,
    param_name: str | None = None,
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
    param_range : ValidationCurve, or array of shape (m,)
        From `lyceum.evaluate.validation_curve`; or the values tried, in the order to draw them.
        Values other than numbers are evenly spaced.
    train_scores, test_scores : arrays of shape (m,) or (m, n_folds), optional
        Scores, as `sklearn.model_selection.validation_curve` returns them.
    param_name : str, optional
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
    >>> ax = validation_curve([0.01, 1, 100], [0.8, 0.9, 1.0], [0.7, 0.8, 0.6], param_name="C")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['training', 'validation', 'best: 1']
    """
    results = _results(ValidationCurve, param_range, train_scores, test_scores, label)
    if len(results) > 1:
        raise SettingError(
            "give one ValidationCurve: draw others into the same axes by ax="
        )
    for result in results.values():
        param_range = _as_array(result.param_range)
        train_scores = result.train_losses
        test_scores = result.test_losses
        param_name = param_name or result.param_name
    values = np.asarray(param_range)
    are_numbers = values.dtype.kind in "iuf"
    x = (values if are_numbers else np.arange(len(values))).astype(np.float64)
    curves = _two_curves(x, train_scores, test_scores, label)
    ax = draw_curves(ax, curves)
    if best == "auto":
        if results or _is_loss(score):
            best = "min"
        else:
            best = "max"
    if best is not None:
        i = int(getattr(np, f"arg{best}")(curves[1].y))
        name = values[i] if isinstance(values[i], str) else f"{values[i]:g}"
        mark_best(ax, x[i], name)
    if not are_numbers:
        ax.set_xticks(x, [str(value) for value in values])
    elif log or (log is None and x.min() > 0 and x.max() >= 50 * x.min()):
        ax.set_xscale("log")
    finish(ax, param_name or "parameter", score or _loss_name(results), title)
    legend(ax)
    return ax


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
    >>> errors = {"training": [0.3, 0.2, 0.1], "validation": [0.3, 0.25, 0.4]}
    >>> ax = staged_errors(errors, best="validation")
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
    drawn = []
    for name, values in curves.items():
        y = np.asarray(values, dtype=np.float64)
        numbers = np.arange(1, len(y) + 1) if rounds is None else np.asarray(rounds)
        if y.shape != numbers.shape or y.ndim != 1:
            raise DataError(
                f"curve {str(name)!r} has the shape {y.shape} for {len(numbers)} rounds: give one"
                " each"
            )
        drawn.append(Curve(numbers, y, str(name), options=few_dots(len(y))))
    ax = draw_curves(ax, drawn)
    for curve in drawn:
        if curve.label == best and not np.isnan(curve.y).all():
            i = int(getattr(np, f"nanarg{goal}")(curve.y))
            mark_best(ax, curve.x[i], curve.x[i])
    if log:
        ax.set_yscale("log")
    finish(ax, x, error, title)
    legend(ax)
    return ax


def density_errors(
    result: DensityErrors, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Squared bias, variance and their sum against a setting of a density estimate, the least sum
    marked.

    Parameters
    ----------
    result : DensityErrors
        From `lyceum.evaluate.density_errors`.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    density : The densities themselves.
    lyceum.evaluate.density_errors : The parts as numbers.

    Examples
    --------
    >>> from lyceum.density import GaussianDensity, KernelDensity
    >>> from lyceum.evaluate import density_errors as errors_of
    >>> truth = GaussianDensity().fit([[-1.0], [0.0], [1.0]])
    >>> result = errors_of(KernelDensity(), truth, "bandwidth", [0.1, 0.4, 1.6], n_rounds=5)
    >>> [line.get_label() for line in density_errors(result).lines[:3]]
    ['squared bias', 'variance', 'error']
    """
    if not isinstance(result, DensityErrors):
        raise SettingError(
            f"give a DensityErrors from lyceum.evaluate, not {type(result).__name__}"
        )
    # a line goes from left to right, in whatever order values were tried
    order = np.argsort(result.param_range)
    x = result.param_range[order]
    parts = {
        "squared bias": result.bias,
        "variance": result.variance,
        "error": result.error,
    }
    dots = {"marker": "o", "markersize": 3}
    curves = [
        Curve(x, values[order], name, options=dots) for name, values in parts.items()
    ]
    ax = draw_curves(ax, curves)
    ax.axvline(result.best, gid="best", **DOTTED)
    # bandwidths are tried by factors
    if (x > 0).all() and x[-1] > 8 * x[0]:
        ax.set_xscale("log")
    finish(ax, result.param_name, "mean squared error of the density", title)
    legend(ax)
    return ax


def _results(
    kind: type, first: object, train: Any, test: Any, label: str | None
) -> dict[str, Any]:
    """Results of `evaluate` by name; empty when arrays were given."""
    results = results_by_name((kind,), first, label)
    if results and (train is not None or test is not None):
        raise SettingError(f"a {kind.__name__} is complete: give no scores with it")
    if not results and (isinstance(first, Mapping) or train is None or test is None):
        raise SettingError(
            f"give a {kind.__name__}, or arrays of training and of validation scores"
        )
    return results


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


def _two_curves(x: np.ndarray, train: Any, test: Any, label: str | None) -> list[Curve]:
    """The mean scores on training and on validation rows, with their spread over folds."""
    curves = []
    for scores, part, marker in ((train, "training", "o"), (test, "validation", "s")):
        # (m, folds); one column where there are no folds
        scores = np.asarray(scores, dtype=np.float64)
        if scores.ndim == 1:
            scores = scores[:, None]
        if scores.ndim != 2 or len(scores) != len(x) or not len(x):
            raise DataError(
                f"{part} scores have the shape {scores.shape} for {len(x)} points: "
                "give one row for each point"
            )
        name = f"{label}, {part}" if label else part
        curves.append(Curve.of_scores(x, scores, name, **DOTS | {"marker": marker}))
    return curves

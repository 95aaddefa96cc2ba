"""Training curves, and the drawing of a network."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.types import Estimator
from lyceum.errors import DataError
from lyceum.plot.curves import Curve, draw_curves, few_dots, mark_best
from lyceum.plot.style import COLORS, GRAY, INK, axes, finish, heading, legend, note

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def training_curves(
    model: Estimator,
    *,
    log: bool = True,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The objective of training over its steps.

    The loss of a network over its epochs, on training rows and, with early stopping, on validation
    rows; the objective, duality gap or number of mistakes of other learners.

    Parameters
    ----------
    model : fitted learner with `history_`
        `validation_history_` and `best_epoch_` are drawn where it has them.
    log : bool, default=True
        A logarithmic loss; falls back to a linear one where a loss is not positive.
    label : str, optional
        The name of the learner.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    staged_errors : The errors of an ensemble over its rounds.

    Examples
    --------
    >>> from lyceum.linear import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> training_curves(model).get_xlabel()
    'iteration'
    """
    from matplotlib.ticker import MaxNLocator

    check_is_fitted(model, "history_")
    if not len(model.history_):
        raise DataError(
            f"{type(model).__name__} was not fitted step by step: its history_ is empty"
        )
    step, what = getattr(model, "history_axes", ("iteration", "objective"))
    # a history that begins before the first step has one entry more
    n_iter = np.max(getattr(model, "n_iter_", 0))  # of several problems the longest
    first = int(len(model.history_) != n_iter + 1)
    held = getattr(model, "validation_history_", [])
    curves = []
    for values, part in ((model.history_, "training"), (held, "validation")):
        epochs = np.arange(first, first + len(values))
        if label:
            name = f"{label}, {part}"
        else:
            name = part
        dots = few_dots(len(values))
        if len(values):
            curves.append(Curve(epochs, np.asarray(values), name, options=dots))
    ax = draw_curves(ax, curves)
    if len(held):
        mark_best(ax, model.best_epoch_, model.best_epoch_)
    # a logarithm needs positive values
    if log and min([*model.history_, *held]) > 0:
        ax.set_yscale("log")
    finish(ax, step, what, title)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend(ax)
    return ax


def network(
    model: Estimator,
    *,
    most: int = 12,
    weights: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The nodes of a fitted network, layer by layer, and the weights between them.

    Parameters
    ----------
    model : fitted MLPClassifier or MLPRegressor
    most : int, default=12
        Nodes drawn of a layer; of a larger one the first and last, with dots between.
    weights : bool, default=True
        Whether lines have a color by the sign of their weight and a width by its size, relative to
        the largest of the layer. Of spheres these are the centers.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    training_curves : How it was trained.

    Examples
    --------
    >>> from lyceum.neural import MLPClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = MLPClassifier(hidden_layer_sizes=3, max_iter=2, tol=None, random_state=0).fit(X, y)
    >>> [text.get_text() for text in network(model).get_xticklabels()]
    ['2 inputs', '3 relu', '1 output']
    """
    check_is_fitted(model, "parameters_")
    widths = model.widths_.tolist()
    ax = axes(ax, (1.6 + 1.5 * len(widths), 4.6))
    # for every layer the heights of the nodes drawn, by number
    layers = [_heights(n, max(2, most)) for n in widths]
    for l, coef in enumerate(model.coefs_):
        if weights:
            shown = coef
        else:
            shown = np.zeros_like(coef)
        _draw_lines(ax, l, layers[l : l + 2], shown)
    for l, heights in enumerate(layers):
        nodes = ([l] * len(heights), list(heights.values()))
        ax.scatter(*nodes, s=110, color="white", edgecolor=INK, zorder=3)
        if len(heights) < widths[l]:
            ax.text(l, 0.0, "⋮", ha="center", va="center", fontsize="large", color=INK)
    _name_nodes(ax, model, layers)
    ax.set_xticks(range(len(widths)), _layer_names(model, widths))
    ax.set_yticks([])
    ax.tick_params(length=0, labelsize="small", colors=INK)
    ax.spines[:].set_visible(False)
    ax.margins(0.12, 0.06)
    heading(ax, title)
    return ax


def _heights(n: int, most: int) -> dict[int, float]:
    """The nodes drawn of n, with their heights about 0; one place is empty where some are left
    out."""
    if n <= most:
        return {i: (n - 1) / 2 - i for i in range(n)}
    half = most // 2
    # the first and the last nodes, with a gap about 0
    first = {i: half - i + 0.0 for i in range(half)}
    return first | {n - half + i: -1.0 - i for i in range(half)}


def _draw_lines(
    ax: Axes, l: int, sides: list[dict[int, float]], coef: np.ndarray
) -> None:
    """A line for every weight between two layers: its color the sign, its width the size."""
    from matplotlib.collections import LineCollection

    left, right = sides
    pairs = list(product(left, right))
    lines = [((l, left[i]), (l + 1, right[j])) for i, j in pairs]
    weights = np.array([coef[pair] for pair in pairs], dtype=np.float64)
    # by the sign: 0, positive, negative
    colors = [(GRAY, COLORS[0], COLORS[1])[int(sign)] for sign in np.sign(weights)]
    # relative to the largest weight between these layers
    largest = float(np.abs(coef).max()) or 1.0
    widths = 0.4 + 2.0 * np.abs(weights) / largest
    ax.add_collection(
        LineCollection(lines, colors=colors, linewidths=widths, alpha=0.55, zorder=1)
    )


def _layer_names(model: Estimator, widths: list[int]) -> list[str]:
    hidden = []
    parts = zip(widths[1:-1], model.activations_, model.integrations_)
    for n, activation, integration in parts:
        added = "" if integration == "weighted" else f"\n{integration}"
        hidden.append(f"{n} {activation}{added}")
    noun = "outputs" if widths[-1] > 1 else "output"
    return [f"{widths[0]} inputs", *hidden, f"{widths[-1]} {noun}"]


def _name_nodes(ax: Axes, model: Estimator, layers: list[dict[int, float]]) -> None:
    """The columns at the inputs, and the classes or the target at the outputs."""
    inputs = model.design_names
    classes = getattr(model, "classes_", None)
    if classes is None:
        outputs = [model.schema_.target_name]
    elif len(layers[-1]) > 1:
        outputs = [str(label) for label in classes]
    else:  # one output is the probability of the second class
        outputs = [str(classes[-1])]
    last = len(layers) - 1
    style = {"va": "center", "color": INK}
    for i, height in layers[0].items():
        note(ax, str(inputs[i]), (0, height), (-9, 0), ha="right", **style)
    for i, height in layers[-1].items():
        note(ax, outputs[i], (last, height), (9, 0), ha="left", **style)

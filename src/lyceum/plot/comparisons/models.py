"""Models side by side: losses of every split, tests of their difference, bias and variance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum.errors import SettingError
from lyceum.evaluate import (
    BiasVariance,
    Bootstrap632,
    CorrectedT,
    CrossValidation,
    DeLong,
    FiveByTwoTest,
    McNemar,
)
from lyceum.plot.comparisons.learning_curves import loss_name
from lyceum.plot.curves import check_results
from lyceum.plot.style import (
    COLORS,
    DASHED,
    GRAY,
    INK,
    axes,
    color_of,
    finish,
    grouped_bars,
    legend,
    note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_DIAMOND: dict[str, Any] = {
    "marker": "D",
    "linestyle": "",
    "color": INK,
    "markersize": 5.5,
}
# what a test compares; all others compare losses
_MEASURES: dict[type, str] = {McNemar: "rows", DeLong: "areas"}


def cross_validation(
    results: CrossValidation
    | Bootstrap632
    | Mapping[str, CrossValidation | Bootstrap632],
    *,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The losses of every split, with their mean and its corrected standard error, one line per
    model.

    Of a bootstrap, the losses on the left-out rows of every round, with the .632 and the .632+
    estimates.

    Parameters
    ----------
    results : CrossValidation, Bootstrap632, or dict of name to such
        From `lyceum.evaluate.cross_validate` or `lyceum.evaluate.bootstrap_632`; all with the same
        loss.
    label : str, optional
        The name of one model.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.cross_validate, lyceum.evaluate.bootstrap_632 : The results as numbers.
    comparison : Tests of a difference.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from lyceum.evaluate import cross_validate
    >>> result = cross_validate(GaussianNB(), *load_iris(return_X_y=True), cv=5)
    >>> ax = cross_validation(result, label="Bayes")
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_yticklabels()]
    ('error rate', ['Bayes'])
    """
    named = check_results((CrossValidation, Bootstrap632), results, label)
    losses = {result.loss_name for result in named.values()}
    if len(losses) > 1:
        raise SettingError(
            f"the results have different losses ({', '.join(sorted(losses))}): compare one"
        )
    ax = axes(ax, _size(len(named)))
    for row, result in enumerate(named.values()):
        _draw_splits(ax, row, result)
    _name_rows(ax, list(named))
    finish(ax, loss_name(losses.pop()), "", title)
    ax.grid(False, axis="y")
    legend(ax, "upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return ax


def _draw_splits(ax: Axes, row: int, result: CrossValidation | Bootstrap632) -> None:
    """One line of the picture: a dot for every split or round, and the estimate made of them."""
    shown = set(ax.get_legend_handles_labels()[1])
    if isinstance(result, Bootstrap632):
        losses = result.rounds
        names = ["one round", ".632 estimate", ".632+ estimate"]
    else:
        losses = result.losses
        names = ["one split", "mean ± standard error (corrected)"]
    # the legend names each kind of mark once, not once per model
    labels = [None if name in shown else name for name in names]
    heights = _spread(row, len(losses))
    dots: dict[str, Any] = {"color": color_of(row), "alpha": 0.45, "linewidths": 0}
    ax.scatter(losses, heights, s=18, label=labels[0], **dots)
    if isinstance(result, Bootstrap632):
        ax.plot(result.error, row, label=labels[1], **_DIAMOND)
        square = {"marker": "s", "fillstyle": "none", "markersize": 7}
        ax.plot(result.plus, row, label=labels[2], **_DIAMOND | square)
    else:
        ax.errorbar(
            result.mean,
            row,
            xerr=result.standard_error,
            fmt="D",
            capsize=3,
            linewidth=1.4,
            color=INK,
            markersize=5.5,
            label=labels[1],
        )


def comparison(
    tests: Any,
    *,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Tests of two models: their difference in loss or in area, or the rows that only one gets
    wrong.

    Left of zero the first model is better; of areas under the ROC curve, right of zero.

    Parameters
    ----------
    tests : CorrectedT, FiveByTwoTest, McNemar or DeLong, or dict of name to such
        From `lyceum.evaluate`. Of a `CorrectedT` the mean difference and its interval are drawn, of
        a `FiveByTwoTest` the ten differences and their mean. `McNemar` tests are drawn apart: the
        numbers of rows that only the first and only the second model gets wrong. `DeLong` tests are
        drawn apart too: the difference of the areas under the ROC curve and its interval.
    label : str, optional
        The name of one test.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.corrected_t, lyceum.evaluate.five_by_two, lyceum.evaluate.mcnemar,
    lyceum.evaluate.delong : The tests.

    Examples
    --------
    >>> from lyceum.evaluate import corrected_t
    >>> test = corrected_t([0.10, 0.12, 0.11], [0.13, 0.14, 0.12], test_to_train=1 / 2)
    >>> ax = comparison({"tree − forest": test})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['tree − forest']
    """
    named = check_results((CorrectedT, FiveByTwoTest, McNemar, DeLong), tests, label)
    measures = {_MEASURES.get(type(test), "losses") for test in named.values()}
    if len(measures) > 1:
        raise SettingError(
            f"the tests compare {' and '.join(sorted(measures))}: draw them apart"
        )
    measure = measures.pop()
    ax = axes(ax, _size(len(named)))
    for row, test in enumerate(named.values()):
        _draw_test(ax, row, test)
    ax.axvline(0.0, gid="reference", zorder=1, **DASHED)
    _name_rows(ax, list(named))
    if measure == "rows":
        sides = "rows that only the second  |  only the first model gets wrong"
        finish(ax, sides, "", title)
        most = max(
            max(test.only_first_wrong, test.only_second_wrong, 1)
            for test in named.values()
        )
        # the numbers of the second model go to the left, but are counts all the same
        ax.set_xlim(-1.45 * most, 1.45 * most)
        ax.xaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")
    else:
        of = "area under the ROC curve" if measure == "areas" else "loss"
        finish(ax, f"difference in {of}, first − second", "", title)
        ax.margins(x=0.18)
    ax.grid(False, axis="y")
    return ax


def _draw_test(ax: Axes, row: int, test: Any) -> None:
    """One line of the picture: the difference with its interval or its parts, and p."""
    color = color_of(row)
    # of the 5×2 tests Alpaydın's F, which uses all ten differences
    p = test.f_p_value if isinstance(test, FiveByTwoTest) else test.p_value
    end: float
    if isinstance(test, McNemar):
        # to the left what speaks for the first model, to the right for the second
        ax.barh(row, -test.only_second_wrong, color=COLORS[1], height=0.5)
        ax.barh(row, test.only_first_wrong, color=COLORS[0], height=0.5)
        end = test.only_first_wrong
    elif isinstance(test, FiveByTwoTest):
        differences = test.differences.ravel()
        heights = _spread(row, len(differences))
        ax.scatter(differences, heights, s=18, color=color, alpha=0.5, linewidths=0)
        ax.plot(test.mean, row, zorder=4, **_DIAMOND)
        end = float(differences.max())
    else:
        middle = test.difference if isinstance(test, DeLong) else test.mean
        interval = [test.low, test.high]
        ax.plot(interval, [row] * 2, color=color, linewidth=2.0, solid_capstyle="butt")
        ax.plot(middle, row, zorder=4, **_DIAMOND)
        end = test.high
    text = f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"
    note(ax, text, (end, row), (6, 0), va="center")


def bias_variance(
    results: BiasVariance | Mapping[str, BiasVariance],
    *,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Bias, net variance and noise of every model, and its error.

    Parameters
    ----------
    results : BiasVariance, or dict of name to BiasVariance
        From `lyceum.evaluate.bias_variance` or `decompose`; all with the same loss.
    label : str, optional
        The name of one model.
    title : str, optional
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.evaluate.bias_variance : The parts as numbers.

    Examples
    --------
    >>> from lyceum.evaluate import decompose
    >>> ax = bias_variance({"mean": decompose([0.0, 1.0], [[0.0, 3.0], [2.0, 1.0]])})
    >>> [float(bar.get_height()) for bar in ax.patches]
    [1.0, 1.0]
    """
    named = check_results((BiasVariance,), results, label)
    losses = {result.loss for result in named.values()}
    if len(losses) > 1:
        raise SettingError(
            "the results have different losses: compare those of one loss"
        )
    parts = {"bias": "bias", "net_variance": "net variance", "noise": "noise"}
    if not any(result.noise for result in named.values()):
        del parts["noise"]
    ax = axes(ax, (min(2.6 + 1.1 * len(named), 10.0), 4.2))
    columns = {
        name: [getattr(result, part) for result in named.values()]
        for part, name in parts.items()
    }
    grouped_bars(ax, columns, 0.7)
    x = np.arange(len(named))
    errors = [result.error for result in named.values()]
    ax.hlines(errors, x - 0.4, x + 0.4, color=INK, linewidth=1.8, label="error")
    ax.axhline(0.0, color=GRAY, linewidth=0.8)
    ax.set_xticks(x, list(named))
    finish(ax, "", loss_name(losses.pop()), title)
    ax.grid(False, axis="x")
    # room for the legend above all bars
    ax.set_ylim(top=1.35 * max(*errors, *columns["bias"]) or 1.0)
    legend(ax, "upper right", ncols=2)
    return ax


def _size(n_rows: int) -> tuple[float, float]:
    return 5.8, min(1.5 + 0.55 * n_rows, 9.0)


def _spread(row: int, n: int) -> np.ndarray:
    """Heights a little apart, so that equal values can be seen."""
    return row + 0.18 * (np.arange(n) % 3 - 1)


def _name_rows(ax: Axes, names: list[str]) -> None:
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)

"""Error–reject curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from lyceum.decision import ErrorRejectCurve
from lyceum.errors import DataError, SettingError
from lyceum.plot.curves import Curve, curve_label, draw_curves, results_by_name
from lyceum.plot.style import GRAY, axes, finish, legend, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def error_reject(
    curves: ErrorRejectCurve | Mapping[str, ErrorRejectCurve],
    *,
    what: Literal["error", "cost"] | None = None,
    doubt: float | None = None,
    label: str | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Error–reject curves: the error among the accepted rows over the share that is rejected.

    Parameters
    ----------
    curves : ErrorRejectCurve, or dict of name to one
        From `lyceum.decision.error_reject_curve`.
    what : {"error", "cost"}, optional
        The share of wrong decisions or the mean loss; by default the cost, if a curve is not of the
        0/1 loss.
    doubt : float, optional
        A cost of doubt θ; the point that it selects on each curve is marked.
    label : str, optional
        The name of one curve.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.decision.error_reject_curve : The curve as numbers.

    References
    ----------
    Chow, On optimum recognition error and reject tradeoff, IEEE Trans. Information Theory 16, 1970.

    Examples
    --------
    >>> from lyceum.decision import error_reject_curve
    >>> curve = error_reject_curve([0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> error_reject(curve, doubt=0.3).lines[0].get_ydata().round(2)
    array([0.  , 0.  , 0.33])
    """
    if isinstance(curves, Mapping) and not curves:
        raise DataError("there are no curves to draw: give at least one")
    named = results_by_name((ErrorRejectCurve,), curves, label)
    if not named:
        raise SettingError(
            "give an ErrorRejectCurve from lyceum.decision.error_reject_curve, or a dict of"
            f" name to such, not {type(curves).__name__}"
        )
    if not what:
        zero_one = all(curve.zero_one for curve in named.values())
        if zero_one:
            what = "error"
        else:
            what = "cost"
    ax = axes(ax)
    for name, curve in named.items():
        color = line_style(ax)["color"]
        # the area is that under the cost, which is the error only of a 0/1 loss
        figure = f"area {curve.area:.3f}" if what == "cost" or curve.zero_one else ""
        # the point that accepts nothing has no error to show
        rates = (curve.reject_rate[1:], getattr(curve, what)[1:])
        draw_curves(ax, [Curve(*rates, curve_label(name, figure))])
        if doubt is not None:
            point = curve.at(doubt)
            _mark_doubt(ax, point["reject_rate"], point[what], color, "_doubt")
    if doubt is not None:
        # one entry in the legend for the marks of all curves
        _mark_doubt(ax, [], [], GRAY, f"doubt costs {doubt:g}", gid="reference")
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(0.0, _top(ax, [*named.values()], what))
    ax.xaxis.set_major_formatter(_percent)
    if what == "error":
        ax.yaxis.set_major_formatter(_percent)
        finish(ax, "rejected", "error among accepted", title)
    else:
        finish(ax, "rejected", "mean cost among accepted", title)
    legend(ax, "lower left")
    return ax


def _mark_doubt(
    ax: Axes, x: Any, y: Any, color: str, label: str, **options: Any
) -> None:
    ax.plot(x, y, "o", color=color, markersize=7, mec="white", label=label, **options)


def _top(ax: Axes, curves: list[ErrorRejectCurve], what: str) -> float:
    """A limit for the axis that shows all curves down to 5 % accepted; fewer rows scatter too
    widely."""
    highest = max(
        float(getattr(c, what)[c.reject_rate <= 0.95].max(initial=0.0)) for c in curves
    )
    # curves drawn in an earlier call
    before = ax.get_ylim()[1] if ax.get_gid() == "error_reject" else 0.0
    ax.set_gid("error_reject")
    return max(1.12 * highest, before, 1e-9)


def _percent(value: float, position: float) -> str:
    return f"{100 * value:.4g}%"

"""Error–reject curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from lyceum.decision import ErrorRejectCurve
from lyceum.errors import DataError, SettingError
from lyceum.plot.style import GRAY, axes, downsample, finish, legend, line_style

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
    if isinstance(curves, Mapping):
        named = curves
    else:
        named = {label or "": curves}
    if not named:
        raise DataError("there are no curves to draw: give at least one")
    for curve in named.values():
        if not isinstance(curve, ErrorRejectCurve):
            raise SettingError(
                "give an ErrorRejectCurve from lyceum.decision.error_reject_curve, or a dict of"
                f" name to such, not {type(curve).__name__}"
            )
    if what is None:
        if all(curve.zero_one for curve in named.values()):
            what = "error"
        else:
            what = "cost"
    ax = axes(ax)
    for name, curve in named.items():
        style = line_style(ax)
        # the point that accepts nothing has no error to show
        x, y = downsample(curve.reject_rate[1:], getattr(curve, what)[1:])
        if what == "cost" or curve.zero_one:
            figure = f"area {curve.area:.3f}"
        else:
            figure = ""
        text = "  ".join(part for part in (str(name), figure) if part) or "classifier"
        ax.plot(x, y, label=text, **style)
        if doubt is not None:
            point = curve.at(doubt)
            ax.plot(
                point["reject_rate"],
                point[what],
                "o",
                color=style["color"],
                markersize=7,
                mec="white",
                label="_doubt",
            )
    if doubt is not None:
        ax.plot(
            [],
            [],
            "o",
            color=GRAY,
            markersize=7,
            mec="white",
            label=f"doubt costs {doubt:g}",
            gid="reference",
        )
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(0.0, _top(ax, [*named.values()], what))
    ax.xaxis.set_major_formatter(_percent)
    if what == "error":
        ax.yaxis.set_major_formatter(_percent)
    finish(ax, "rejected", f"{'error' if what == 'error' else 'mean cost'} among accepted", title)
    legend(ax, "lower left")
    return ax


def _top(ax: Axes, curves: list[ErrorRejectCurve], what: str) -> float:
    """A limit for the axis that shows all curves down to 5 % accepted; fewer rows scatter too
    widely."""
    highest = max(float(getattr(c, what)[c.reject_rate <= 0.95].max(initial=0.0)) for c in curves)
    before = (
        ax.get_ylim()[1] if ax.get_gid() == "error_reject" else 0.0
    )  # curves drawn in an earlier call
    ax.set_gid("error_reject")
    return max(1.12 * highest, before, 1e-9)


def _percent(value: float, place: float) -> str:
    return f"{100 * value:.4g}%"

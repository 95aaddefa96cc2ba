"""Bias against variance of a density estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lyceum.errors import SettingError
from lyceum.evaluate import DensityErrors
from lyceum.plot.style import GRAY, axes, finish, legend, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    >>> found = errors_of(KernelDensity(), truth, "bandwidth", [0.1, 0.4, 1.6], n_samples=5)
    >>> [line.get_label() for line in density_errors(found).lines[:3]]
    ['squared bias', 'variance', 'error']
    """
    if not isinstance(result, DensityErrors):
        raise SettingError(
            f"give a DensityErrors from lyceum.evaluate, not {type(result).__name__}"
        )
    ax = axes(ax)
    order = np.argsort(result.values)
    x = result.values[order]
    curves = {"squared bias": result.bias, "variance": result.variance, "error": result.error}
    for label, values in curves.items():
        ax.plot(x, values[order], marker="o", markersize=3, label=label, **line_style(ax))
    ax.axvline(result.best, color=GRAY, linewidth=1.0, linestyle=":", gid="best")
    if (x > 0).all() and x[-1] > 8 * x[0]:
        ax.set_xscale("log")
    finish(ax, result.name, "mean squared error of the density", title)
    legend(ax)
    return ax

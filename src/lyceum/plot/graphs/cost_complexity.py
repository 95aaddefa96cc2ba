"""The path of cost-complexity pruning, with what its subtrees cost on rows left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.types import Estimator
from lyceum.errors import SettingError
from lyceum.plot.style import COLORS, DOTTED, axes, finish, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def cost_complexity(
    model: Estimator, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """The cost of the subtrees by their number of leaves, in `fit` and on rows left out.

    Parameters
    ----------
    model : tree learner fitted with ccp_alpha="cv", or its `alpha_choice_`
        What was chosen is marked, and the least cost plus its standard error, which the choice
        stays below.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    lyceum.trees.CART : Prunes so.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.trees import CART
    >>> ax = cost_complexity(CART(random_state=0).fit(*load_iris(return_X_y=True)))
    >>> ax.get_xlabel()
    'leaves'
    """
    choice = getattr(model, "alpha_choice_", model)
    if not hasattr(choice, "standard_errors"):
        raise SettingError(
            "there is no path with costs to draw: fit a tree with ccp_alpha='cv', e.g. CART()"
        )
    ax = axes(ax)
    path = choice.path
    leaves = path.n_leaves
    dots: dict[str, Any] = {"marker": "o", "markersize": 4.0, "linewidth": 1.5}
    ax.plot(leaves, path.risks, color=COLORS[1], label="in fit", **dots)
    ax.errorbar(
        leaves,
        choice.risks,
        yerr=choice.standard_errors,
        color=COLORS[0],
        capsize=3.0,
        label="on rows left out, ± 1 se",
        **dots,
    )
    # the rule of one standard error: the smallest subtree whose cost stays below this line
    limit = float(choice.risks[choice.best] + choice.standard_errors[choice.best])
    ax.axhline(limit, label="least + 1 se", gid="reference", **DOTTED)
    n_chosen = int(leaves[choice.chosen])
    ax.plot(
        [n_chosen],
        [float(choice.risks[choice.chosen])],
        linestyle="none",
        marker="o",
        markersize=11.0,
        markerfacecolor="none",
        markeredgecolor=COLORS[0],
        markeredgewidth=1.5,
        label=f"chosen: {n_chosen} leaves, α = {choice.alpha:.3g}",
    )
    if len(leaves) > 1 and leaves.max() > 30:
        ax.set_xscale("log")
    ax.set_ylim(bottom=min(0.0, float(np.min(path.risks))))
    finish(ax, "leaves", "cost", title)
    legend(ax)
    return ax

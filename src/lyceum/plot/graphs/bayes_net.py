"""Pictures of Bayesian networks: posteriors in the nodes, moral graph, junction tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum import bayesnets as networks
from lyceum._core.text import show
from lyceum.bayesnets import BayesNet, JunctionTree, Posterior
from lyceum.plot.graphs.layered_layout import LayeredLayout, layered_layout
from lyceum.plot.style import COLORS, GRAY, INK, axes, heading, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ROW = 0.17  # inches of a state
_HEAD = 0.24  # inches of a name
_FAINT = "#D9D9D9"


def bayes_net(
    net: BayesNet,
    evidence: Mapping[str, Any] | None = None,
    *,
    soft: Mapping[str, Any] | None = None,
    bars: bool | None = None,
    most_states: int = 8,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A network from causes to effects, with the probabilities of its states as bars in the nodes.

    Gray bars are the probabilities before the evidence, blue ones after it; observed nodes are
    orange. Of a Gaussian node mean and standard deviation are written.

    Parameters
    ----------
    net : BayesNet
        The network.
    evidence : dict of name to state, optional
        What is observed.
    soft : dict of name to likelihoods, optional
        Uncertain observations.
    bars : bool, optional
        Whether nodes show their states; by default in networks of up to 60 nodes.
    most_states : int, default=8
        States beyond are left out of a node.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; by default the axes of a new figure as large as the network needs.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    junction_tree : The cliques through which evidence is propagated.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayesnets import read_bif
    >>> picture = bayes_net(read_bif(datasets.path("asia")), {"xray": "yes"})
    >>> "smoke" in [text.get_text() for text in picture.texts]
    True
    """
    if bars is None:
        bars = len(net.names) <= 60
    if bars:
        before = net.marginals()
    else:
        before = {}
    if bars and (evidence or soft):
        after = net.marginals(evidence, soft=soft)
    else:
        after = before
    return _NetDrawing(net, before, after, dict(evidence or {}), most_states).draw(ax, title)


class _NetDrawing:
    def __init__(
        self,
        net: BayesNet,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        evidence: dict[str, Any],
        most_states: int,
    ) -> None:
        self.net = net
        self.before = before
        self.after = after
        self.evidence = evidence
        self.lines = {name: self._states(name, most_states) for name in net.names}
        self.widths = {
            name: max(
                0.085 * len(name) + 0.2,
                1.15 + 0.06 * max([4, *(len(s) for s, _, _ in lines)]) if lines else 0.8,
            )
            for name, lines in self.lines.items()
        }
        self.layout = layered_layout(net.parents, self.widths)
        heights: dict[int, float] = {}
        for name in net.names:
            level = self.layout.layer[name]
            heights[level] = max(heights.get(level, 0.0), self.height(name))
        tops = {}
        at = 0.0
        for level in range(self.layout.n_layers):
            tops[level] = at
            at += heights.get(level, 0.3) + 0.5
        self.tops = tops
        self.heights = heights
        self.total = at - 0.5

    def height(self, name: str) -> float:
        return _HEAD + _ROW * len(self.lines[name]) + (0.08 if self.lines[name] else 0.0)

    def _states(self, name: str, most: int) -> list[tuple[str, float | None, float | None]]:
        """The lines in a node: label, value before and value after; numbers have no bar."""
        if name not in self.after and name not in self.before:
            return []
        found = self.after.get(name, self.before.get(name))
        if name in self.net.gaussian_names:
            if name in self.evidence:
                return [(f"= {show(self.evidence[name])}", None, None)]
            spread = float(np.sqrt(found.covariance[0, 0]))
            return [(f"{show(float(found.mean[0]))} ± {show(spread)}", None, None)]
        if not isinstance(found, Posterior):
            return []
        old = self.before[name].values
        new = found.values
        if name in self.evidence and name not in self.after:
            new = np.eye(len(old))[self.net.state_code(name, self.evidence[name])]
        lines: list[tuple[str, float | None, float | None]] = [
            (shorten(str(state), 18), float(old[k]), float(new[k]))
            for k, state in enumerate(self.net.states(name)[:most])
        ]
        return lines + ([(f"… {len(old) - most} more", None, None)] if len(old) > most else [])

    def draw(self, ax: Axes | None, title: str | None) -> Axes:
        ax = axes(ax, (max(self.layout.width + 0.4, 2.0), max(self.total + 0.5, 1.2)))
        for child in self.net.names:
            for parent in self.net.parents[child]:
                self._edge(ax, parent, child)
        for name in self.net.names:
            self._node(ax, name)
        ax.set_xlim(-0.1, self.layout.width + 0.1)
        ax.set_ylim(self.total + 0.1, -0.1)
        ax.set_aspect("equal")
        ax.axis("off")
        heading(ax, title)
        return ax

    def _node(self, ax: Axes, name: str) -> None:
        from matplotlib.patches import FancyBboxPatch, Rectangle

        seen = name in self.evidence
        x = self.layout.x[name]
        top = self.tops[self.layout.layer[name]]
        width = self.widths[name]
        height = self.height(name)
        left = x - width / 2
        if seen:
            edge = COLORS[1]
        else:
            edge = INK
        ax.add_patch(
            FancyBboxPatch(
                (left, top),
                width,
                height,
                boxstyle="round,pad=0,rounding_size=0.06",
                facecolor="white",
                edgecolor=edge,
                linewidth=1.6 if seen else 1.0,
                zorder=3,
            )
        )
        ax.text(
            x,
            top + _HEAD / 2 + 0.01,
            name,
            ha="center",
            va="center",
            fontsize=7.5,
            fontweight="bold",
            color=edge,
            zorder=5,
        )
        room = 0.62
        start = left + width - room - 0.38
        for i, (label, old, new) in enumerate(self.lines[name]):
            middle = top + _HEAD + _ROW * (i + 0.5)
            if old is None or new is None:
                ax.text(
                    x, middle, label, ha="center", va="center", fontsize=6.5, color=INK, zorder=5
                )
                continue
            ax.text(
                left + 0.07,
                middle,
                label,
                ha="left",
                va="center",
                fontsize=6.5,
                color=INK,
                zorder=5,
            )
            ax.add_patch(
                Rectangle(
                    (start, middle - 0.06), room, 0.12, facecolor="#F5F5F5", linewidth=0, zorder=3.5
                )
            )
            ax.add_patch(
                Rectangle(
                    (start, middle - 0.06),
                    room * old,
                    0.12,
                    facecolor=_FAINT,
                    linewidth=0,
                    zorder=4,
                )
            )
            if seen:
                color = COLORS[1]
            else:
                color = COLORS[0]
            ax.add_patch(
                Rectangle(
                    (start, middle - 0.035),
                    room * new,
                    0.07,
                    facecolor=color,
                    linewidth=0,
                    zorder=4.5,
                )
            )
            ax.text(
                left + width - 0.05,
                middle,
                f"{100 * new:.3g}%",
                ha="right",
                va="center",
                fontsize=6,
                color=INK,
                zorder=5,
            )

    def _edge(self, ax: Axes, parent: str, child: str) -> None:
        lay = self.layout
        points = [(lay.x[parent], self.tops[lay.layer[parent]] + self.height(parent))]
        for x, level in lay.bends[parent, child]:
            points += [(x, self.tops[level]), (x, self.tops[level] + self.heights.get(level, 0.3))]
        points.append((lay.x[child], self.tops[lay.layer[child]]))
        _arrow(ax, points)


def _arrow(ax: Axes, points: list[tuple[float, float]], arrow: bool = True) -> None:
    """A smooth line that leaves and enters vertically."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    path = [points[0]]
    codes = [Path.MOVETO]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):  # noqa: RUF007
        half = (y1 - y0) / 2
        path += [(x0, y0 + half), (x1, y1 - half), (x1, y1)]
        codes += [Path.CURVE4] * 3
    if arrow:
        style = "-|>,head_width=2.2,head_length=4"
    else:
        style = "-"
    ax.add_patch(
        FancyArrowPatch(
            path=Path(path, codes), arrowstyle=style, color=GRAY, linewidth=0.9, zorder=2
        )
    )


def moral_graph(net: BayesNet, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """The moral graph: directions dropped, parents of a common child joined (dashed, orange).

    Parameters
    ----------
    net : BayesNet
        The network.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw.

    Returns
    -------
    Matplotlib axes

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayesnets import read_bif
    >>> picture = moral_graph(read_bif(datasets.path("asia")))
    >>> sum(line.get_linestyle() == "--" for line in picture.lines)
    2
    """
    layout = layered_layout(
        net.parents, {name: 0.085 * len(name) + 0.25 for name in net.names}, gap=0.5
    )
    ax = axes(ax, (max(layout.width + 0.4, 2.5), 0.85 * layout.n_layers + 0.6))
    near = networks.moral_graph(net.parents)
    edges = {frozenset(edge) for edge in net.edges}
    for one in net.names:
        for two in near[one]:
            if one < two:
                married = frozenset((one, two)) not in edges
                ax.plot(
                    *_line(layout, one, two),
                    color=COLORS[1] if married else GRAY,
                    linestyle="--" if married else "-",
                    linewidth=1.4 if married else 1.0,
                    zorder=1,
                )
    for name in net.names:
        ax.text(
            layout.x[name],
            layout.layer[name],
            name,
            ha="center",
            va="center",
            fontsize=8,
            color=INK,
            zorder=3,
            bbox={
                "boxstyle": "round,pad=0.3",
                "facecolor": "white",
                "edgecolor": INK,
                "linewidth": 1.0,
            },
        )
    ax.set_xlim(-0.2, layout.width + 0.2)
    ax.set_ylim(layout.n_layers - 0.5, -0.5)
    ax.axis("off")
    heading(ax, title)
    return ax


def _line(layout: LayeredLayout, one: str, two: str) -> tuple[list[float], list[float]]:
    """Straight, or bowed where both stand in one layer with others between them."""
    x0 = layout.x[one]
    x1 = layout.x[two]
    y0 = float(layout.layer[one])
    y1 = float(layout.layer[two])
    between = [
        n for n, x in layout.x.items() if layout.layer[n] == y0 and min(x0, x1) < x < max(x0, x1)
    ]
    t = np.linspace(0, 1, 21)
    if y0 == y1 and between:
        bow = 0.35
    else:
        bow = 0.0
    return (x0 + t * (x1 - x0)).tolist(), (y0 + t * (y1 - y0) + bow * np.sin(np.pi * t)).tolist()


def junction_tree(
    net: BayesNet | JunctionTree, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """The junction tree: cliques in boxes, and between them the separators that messages are about.

    Parameters
    ----------
    net : BayesNet or JunctionTree
        The network, or its tree.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw.

    Returns
    -------
    Matplotlib axes

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayesnets import read_bif
    >>> len(junction_tree(read_bif(datasets.path("asia"))).texts)
    11
    """
    if isinstance(net, JunctionTree):
        tree = net
    else:
        tree = net.junction_tree()
    names = [str(c) for c in range(len(tree.cliques))]
    texts = {name: "\n".join(tree.cliques[int(name)]) for name in names}
    widths = {name: 0.085 * max(map(len, tree.cliques[int(name)])) + 0.25 for name in names}
    parents = {
        name: [] if tree.parents[int(name)] < 0 else [str(tree.parents[int(name)])]
        for name in names
    }
    layout = layered_layout(parents, widths, gap=0.3)
    step = 0.19 * max(map(len, tree.cliques)) + 0.85
    ax = axes(ax, (max(layout.width + 0.4, 2.5), step * layout.n_layers + 0.4))
    for name in names:
        x = layout.x[name]
        y = step * layout.layer[name]
        ax.text(
            x,
            y,
            texts[name],
            ha="center",
            va="center",
            fontsize=7,
            color=INK,
            zorder=3,
            bbox={
                "boxstyle": "round,pad=0.35",
                "facecolor": "white",
                "edgecolor": INK,
                "linewidth": 1.0,
            },
        )
        for up in parents[name]:
            x0 = layout.x[up]
            y0 = step * layout.layer[up]
            ax.plot([x0, x], [y0, y], color=GRAY, linewidth=1.0, zorder=1)
            separator = ", ".join(tree.separators[int(name)])
            ax.text(
                0.4 * x0 + 0.6 * x,
                0.4 * y0 + 0.6 * y,
                separator or "∅",
                ha="center",
                va="center",
                fontsize=6,
                color=COLORS[0],
                zorder=4,
                bbox={
                    "boxstyle": "square,pad=0.2",
                    "facecolor": "#EAF3FA",
                    "edgecolor": COLORS[0],
                    "linewidth": 0.7,
                },
            )
    ax.set_xlim(-0.2, layout.width + 0.2)
    ax.set_ylim(step * (layout.n_layers - 0.5), -0.5 * step)
    ax.axis("off")
    heading(ax, title)
    return ax

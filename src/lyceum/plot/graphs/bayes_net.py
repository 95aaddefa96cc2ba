"""Pictures of Bayesian networks: posteriors in the nodes, moral graph, junction tree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum import bayesnets
from lyceum._core.text import show
from lyceum.bayesnets import BayesNet, JunctionTree, Posterior
from lyceum.plot.graphs.layered_layout import LayeredLayout, layered_layout
from lyceum.plot.style import COLORS, GRAY, INK, axes, heading, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ROW = 0.17  # inches of a state
_BAR = 0.62
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
    before: Mapping[str, Any] = {}
    if bars:
        before = net.marginals()
    after = before
    if bars and (evidence or soft):
        after = net.marginals(evidence, soft=soft)
    drawing = _NetDrawing(
        net, before, after, evidence=dict(evidence or {}), most_states=most_states
    )
    return drawing.draw(ax, title)


class _NetDrawing:
    def __init__(
        self,
        net: BayesNet,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        *,
        evidence: dict[str, Any],
        most_states: int,
    ) -> None:
        self.net = net
        self.before = before
        self.after = after
        self.evidence = evidence
        self.lines = {name: self._states(name, most_states) for name in net.names}
        self.widths = {name: self._width(name) for name in net.names}
        self.layout = layered_layout(net.parents, self.widths)
        # a layer is as high as its highest node; one that only bends of edges cross is low
        n_layers = self.layout.n_layers
        self.heights = [0.0] * n_layers
        for name, level in self.layout.layer.items():
            self.heights[level] = max(self.heights[level], self.height(name))
        self.heights = [height or 0.3 for height in self.heights]
        self.tops = [
            sum(self.heights[:level]) + 0.5 * level for level in range(n_layers)
        ]
        self.total = self.tops[-1] + self.heights[-1]

    def height(self, name: str) -> float:
        n_lines = len(self.lines[name])
        if n_lines:
            return _HEAD + _ROW * n_lines + 0.08
        return _HEAD

    def _width(self, name: str) -> float:
        """Room for the name, and for the labels of the states beside their bars."""
        head = 0.085 * len(name) + 0.2
        lines = self.lines[name]
        if not lines:
            return max(head, 0.8)
        # room for four letters at least
        longest = max(4, *(len(label) for label, _, _ in lines))
        return max(head, 1.15 + 0.06 * longest)

    def _states(
        self, name: str, most: int
    ) -> list[tuple[str, float | None, float | None]]:
        """The lines in a node: label, value before and value after; numbers have no bar."""
        posterior = self.after.get(name, self.before.get(name))
        if posterior is None:
            return []
        if name in self.net.gaussian_names:
            if name in self.evidence:
                text = f"= {show(self.evidence[name])}"
            else:
                sd = float(np.sqrt(posterior.covariance[0, 0]))
                text = f"{show(float(posterior.mean[0]))} ± {show(sd)}"
            return [(text, None, None)]
        if not isinstance(posterior, Posterior):
            return []
        old = self.before[name].values
        new = posterior.values
        if name in self.evidence and name not in self.after:
            # an observed node has no posterior: all probability is on its state
            new = np.eye(len(old))[self.net.state_code(name, self.evidence[name])]
        lines: list[tuple[str, float | None, float | None]] = [
            (shorten(str(state), 18), float(old[k]), float(new[k]))
            for k, state in enumerate(self.net.states(name)[:most])
        ]
        if len(old) > most:
            lines.append((f"… {len(old) - most} more", None, None))
        return lines

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
        from matplotlib.patches import FancyBboxPatch

        is_evidence = name in self.evidence
        x = self.layout.x[name]
        top = self.tops[self.layout.layer[name]]
        width = self.widths[name]
        left = x - width / 2
        if is_evidence:
            edge = COLORS[1]
        else:
            edge = INK
        box = FancyBboxPatch(
            (left, top),
            width,
            self.height(name),
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor="white",
            edgecolor=edge,
            linewidth=1.6 if is_evidence else 1.0,
            zorder=3,
        )
        ax.add_patch(box)
        middle: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 5}
        height = top + _HEAD / 2 + 0.01
        ax.text(x, height, name, fontsize=7.5, fontweight="bold", color=edge, **middle)
        for i, (label, old, new) in enumerate(self.lines[name]):
            height = top + _HEAD + _ROW * (i + 0.5)
            if old is None or new is None:
                ax.text(x, height, label, fontsize=6.5, color=INK, **middle)
            else:
                color = COLORS[1] if is_evidence else COLORS[0]
                sides = (left, left + width)
                _state(ax, label, height, sides=sides, shares=(old, new), color=color)

    def _edge(self, ax: Axes, parent: str, child: str) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        # from the bottom of the parent, straight through the layers between, to the child's top
        layout = self.layout
        bottom = self.tops[layout.layer[parent]] + self.height(parent)
        points = [(layout.x[parent], bottom)]
        for x, level in layout.bends[parent, child]:
            top = self.tops[level]
            points += [(x, top), (x, top + self.heights[level])]
        points.append((layout.x[child], self.tops[layout.layer[child]]))
        # cubic Bézier curves whose inner points keep x: the line leaves and enters vertically
        path = [points[0]]
        codes = [Path.MOVETO]
        for (x0, y0), (x1, y1) in pairwise(points):
            half = (y1 - y0) / 2
            path += [(x0, y0 + half), (x1, y1 - half), (x1, y1)]
            codes += [Path.CURVE4] * 3
        arrow = FancyArrowPatch(
            path=Path(path, codes),
            arrowstyle="-|>,head_width=2.2,head_length=4",
            color=GRAY,
            linewidth=0.9,
            zorder=2,
        )
        ax.add_patch(arrow)


def moral_graph(
    net: BayesNet, *, title: str | None = None, ax: Axes | None = None
) -> Axes:
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
    # inches of the letters of a name, and a margin
    widths = {name: 0.085 * len(name) + 0.25 for name in net.names}
    layout = layered_layout(net.parents, widths, gap=0.5)
    ax = axes(ax, (max(layout.width + 0.4, 2.5), 0.85 * layout.n_layers + 0.6))
    neighbors = bayesnets.moral_graph(net.parents)
    edges = {frozenset(edge) for edge in net.edges}
    plain: dict[str, Any] = {"color": GRAY, "linestyle": "-", "linewidth": 1.0}
    married: dict[str, Any] = {"color": COLORS[1], "linestyle": "--", "linewidth": 1.4}
    pairs = [(a, b) for a in net.names for b in neighbors[a] if a < b]
    for a, b in pairs:
        if frozenset((a, b)) in edges:
            style = plain
        else:
            style = married
        ax.plot(*_line(layout, a, b), zorder=1, **style)
    for name in net.names:
        center = (layout.x[name], layout.layer[name])
        _box_text(ax, center, name, size=8, color=INK, style="round,pad=0.3")
    ax.set_xlim(-0.2, layout.width + 0.2)
    ax.set_ylim(layout.n_layers - 0.5, -0.5)
    ax.axis("off")
    heading(ax, title)
    return ax


def _line(layout: LayeredLayout, a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
    """Straight, or bowed where both stand in one layer with others between them."""
    x0 = layout.x[a]
    x1 = layout.x[b]
    y0 = layout.layer[a]
    y1 = layout.layer[b]
    has_others = any(
        layout.layer[name] == y0 and min(x0, x1) < x < max(x0, x1)
        for name, x in layout.x.items()
    )
    t = np.linspace(0, 1, 21)
    x = x0 + t * (x1 - x0)
    y = y0 + t * (y1 - y0)
    if y0 == y1 and has_others:
        y += 0.35 * np.sin(np.pi * t)
    return x, y


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
    tree = net if isinstance(net, JunctionTree) else net.junction_tree()
    layout = _clique_layout(tree)
    # a line per variable of the largest clique, and room for the separator
    step = 0.19 * max(map(len, tree.cliques)) + 0.85
    ax = axes(ax, (max(layout.width + 0.4, 2.5), step * layout.n_layers + 0.4))
    names = map(str, range(len(tree.cliques)))
    centers = [np.array([layout.x[name], step * layout.layer[name]]) for name in names]
    for i, clique in enumerate(tree.cliques):
        text = "\n".join(clique)
        _box_text(ax, centers[i], text, size=7, color=INK, style="round,pad=0.35")
        parent = tree.parents[i]
        if parent >= 0:
            separator = ", ".join(tree.separators[i]) or "∅"
            _separator(ax, centers[parent], centers[i], separator)
    ax.set_xlim(-0.2, layout.width + 0.2)
    ax.set_ylim(step * (layout.n_layers - 0.5), -0.5 * step)
    ax.axis("off")
    heading(ax, title)
    return ax


def _clique_layout(tree: JunctionTree) -> LayeredLayout:
    """The layout knows nodes by name: that of a clique is its number."""
    parents: dict[str, list[str]] = {}
    widths: dict[str, float] = {}
    for i, clique in enumerate(tree.cliques):
        parents[str(i)] = [str(tree.parents[i])] if tree.parents[i] >= 0 else []
        widths[str(i)] = 0.085 * max(map(len, clique)) + 0.25
    return layered_layout(parents, widths, gap=0.3)


def _separator(ax: Axes, parent: np.ndarray, child: np.ndarray, text: str) -> None:
    """The line between two cliques, with the variables that both have."""
    ax.plot(*np.column_stack([parent, child]), color=GRAY, linewidth=1.0, zorder=1)
    # nearer to the child, where separators of one parent stand apart
    middle = 0.4 * parent + 0.6 * child
    box: dict[str, Any] = {"style": "square,pad=0.2", "face": "#EAF3FA", "width": 0.7}
    _box_text(ax, middle, text, size=6, color=COLORS[0], **box)


def _box_text(
    ax: Axes,
    center: Any,
    text: str,
    *,
    size: float,
    color: str,
    style: str,
    face: str = "white",
    width: float = 1.0,
) -> None:
    """A text in a box; smaller texts stand above larger ones."""
    x, y = map(float, center)
    box = {"boxstyle": style, "facecolor": face, "edgecolor": color, "linewidth": width}
    ax.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=size,
        color=color,
        zorder=10 - size,
        bbox=box,
    )


def _state(
    ax: Axes,
    label: str,
    height: float,
    *,
    sides: tuple[float, float],
    shares: tuple[float, float],
    color: str,
) -> None:
    """One state of a node: its name, bars of its probability before and after, and a percentage."""
    from matplotlib.patches import Rectangle

    left, right = sides
    old, new = shares
    start = right - _BAR - 0.38
    # an empty bar of length 1, the probability before it, and the thinner one after on top
    bars = (
        ("#F5F5F5", 1.0, 0.12, 3.5),
        (_FAINT, old, 0.12, 4.0),
        (color, new, 0.07, 4.5),
    )
    for face, share, thickness, order in bars:
        corner = (start, height - thickness / 2)
        bar = Rectangle(
            corner, _BAR * share, thickness, facecolor=face, linewidth=0, zorder=order
        )
        ax.add_patch(bar)
    style: dict[str, Any] = {"va": "center", "color": INK, "zorder": 5}
    ax.text(left + 0.07, height, label, ha="left", fontsize=6.5, **style)
    ax.text(right - 0.05, height, f"{100 * new:.3g}%", ha="right", fontsize=6, **style)

"""Drawings of trees: boxes placed by contours, tests on the edges, class shares in the leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import Schema
from lyceum._core.trees import (
    INTERVALS,
    THRESHOLD,
    Actions,
    Tree,
    TreeLabels,
    node_colors,
)
from lyceum._core.types import Estimator
from lyceum.errors import SettingError
from lyceum.plot.style import GRAY, INK, axes, color_of, heading, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LEVEL = 1.02  # inches from level to level
_GAP = 0.16  # inches between boxes
_POINT = 1 / 72


def tree(
    model: Estimator,
    *,
    schema: Schema | None = None,
    classes: Sequence[Any] | None = None,
    max_depth: int | None = None,
    font: float | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A tree from the root down: tests on the edges, class shares or means in the leaves.

    Parameters
    ----------
    model : fitted learner with `tree_`, or Tree
        The tree; of a forest one of its trees, `forest[0]`, of boosting `model[0][0]`.
    schema : Schema, optional
        The columns of a Tree.
    classes : sequence, optional
        The labels of a Tree, None for a regression.
    max_depth : int, optional
        Nodes below are left out; their number of leaves is written instead.
    font : float, optional
        The size of the text in points; by default 9 for a small tree down to 6 for a large one.
    title : str, optional
        The title of the picture.
    ax : Matplotlib axes, optional
        Where to draw; by default the axes of a new figure as large as the tree needs.

    Returns
    -------
    Matplotlib axes

    See Also
    --------
    importances : Which columns matter.

    References
    ----------
    Reingold and Tilford, Tidier drawings of trees, IEEE Trans. Software Engineering 7, 1981.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    >>> len(tree(model).patches) > 4
    True
    """
    labels = _labels(model, schema, classes)
    drawing = _TreeDrawing(labels, max_depth, font)
    ax = axes(ax, drawing.size)
    drawing.draw(ax)
    heading(ax, title)
    return ax


def _labels(
    model: Estimator, schema: Schema | None, classes: Sequence[Any] | None
) -> TreeLabels:
    if isinstance(model, Tree):
        if schema is None:
            d = int(model.feature.max(initial=0)) + 1
            schema = Schema.of_numbers([f"x{j}" for j in range(d)])
        return TreeLabels(model, schema, classes, digits=4)
    if not hasattr(model, "tree_") and hasattr(model, "__getitem__"):
        raise SettingError(
            f"a {type(model).__name__} has many trees: give one of them, e.g. tree(model[0]), of"
            " boosting tree(model[0][0])"
        )
    check_is_fitted(model, "tree_")
    if classes is None:
        classes = getattr(model, "classes_", None)
    # only the leaves of a regression tell their spread, which depends on the criterion
    criterion = getattr(model, "criterion", None) if classes is None else None
    return TreeLabels(
        model.tree_,
        schema or model.schema_,
        classes,
        criterion,
        digits=4,
        actions=Actions.of(model),
    )


@dataclass
class _Box:
    """A node as it is drawn, in inches; children are below it."""

    node: int
    lines: list[str]
    width: float
    height: float
    children: list[_Box]
    edges: list[list[str]]
    cut: int = 0  # leaves that are left out below
    # half the width of the box, or of its edge label if that is wider
    half: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @property
    def bottom(self) -> float:
        """The lower edge, of the note on leaves left out if there is one."""
        edge = self.y - self.height / 2
        if self.cut:
            return edge - 0.2
        return edge


class _TreeDrawing:
    """The places of all boxes, by contours: every subtree as near to the one on its left as they
    allow.

    Reingold and Tilford, Tidier drawings of trees, 1981, with widths of their own for boxes and
    edge labels.
    """

    def __init__(
        self, labels: TreeLabels, max_depth: int | None, font: float | None
    ) -> None:
        self.labels = labels
        is_leaf = labels.tree.n_children == 0
        if max_depth is not None:
            is_leaf &= labels.tree.depths <= max_depth
        n_leaves = int(np.count_nonzero(is_leaf))
        self.font = font or float(np.clip(10.0 - 0.1 * n_leaves, 6.0, 9.0))
        # inches of a line of text
        self.line = 1.25 * self.font * _POINT
        self.letter = 0.56 * self.font * _POINT  # the mean width of a letter
        self.root = self._box(0, 0, max_depth)
        self._place(self.root)
        self.boxes = list(self._all())
        # the root has no edge above it, hence no label wider than itself
        self.root.half = self.root.width / 2
        left = min(box.x - box.half for box in self.boxes)
        for box in self.boxes:
            box.x -= left
        self.right = max(box.x + box.half for box in self.boxes)
        self.bottom = min(box.bottom for box in self.boxes)
        self.legend_side = "left" if self.root.x > self.right / 2 else "right"
        self._make_room_for_legend()

    @property
    def size(self) -> tuple[float, float]:
        height = self.root.height / 2 - self.bottom
        return max(3.0, self.right + 0.3), max(1.6, height + 0.6)

    def _make_room_for_legend(self) -> None:
        """Widen the drawing where a box or the label of an edge would be under the legend."""
        classes = self.labels.classes
        if classes is None:
            return
        shown = [str(label) for label in list(classes)[:10]]
        letters = max(map(len, [*shown, self.labels.target or ""]))
        width = letters * self.letter + 0.4
        lowest = self.root.height / 2 - (len(shown) + 1) * 1.2 * self.line - 0.15
        edges = {id(self.root): 0}
        for box in self.boxes:
            pairs = zip(box.children, box.edges)
            edges |= {id(child): len(label) for child, label in pairs}
        high = [
            box
            for box in self.boxes
            if box.y + box.height / 2 + edges[id(box)] * self.line > lowest
        ]
        if self.legend_side == "right":
            self.right = max(self.right, max(b.x + b.half for b in high) + width)
            return
        shift = max(0.0, width - min(b.x - b.half for b in high))
        for box in self.boxes:
            box.x += shift
        self.right += shift

    def _box(self, node: int, depth: int, max_depth: int | None) -> _Box:
        """The boxes of a node and of what is below it, children first: trees may be deep."""
        made: dict[int, _Box] = {}
        # a node is met twice: first its children are put before it, then it is made of them
        waiting = [(node, depth, False)]
        while waiting:
            i, level, ready = waiting.pop()
            children = list(self.labels.tree.children(i))
            cut = bool(children) and max_depth is not None and level >= max_depth
            if not ready and not cut and children:
                waiting.append((i, level, True))
                waiting += [(child, level + 1, False) for child in children]
                continue
            below = [] if cut else [made[child] for child in children]
            made[i] = self._new_box(i, below, cut)
        return made[node]

    def _new_box(self, node: int, children: list[_Box], cut: bool) -> _Box:
        labels = self.labels
        n = f"n {_short(float(labels.tree.weight[node]))}"
        if children:
            lines = [shorten(labels.column(node), 28)]
        elif labels.classes is None:
            lines = [labels.answer_text(node), n]
            spread = labels.spread(node)
            if spread and spread[0] == "sd":
                lines.append(f"± {_short(spread[1])}")
        else:
            lines = [shorten(labels.answer_text(node), 20), n]
        edges = [_test(labels, node, b) for b in range(len(children))]
        bold = 1.1  # the first line is bold
        letters = max([len(lines[0]) * bold, *map(len, lines[1:])])
        width = letters * self.letter + 0.16
        margin = 7 if self._has_bar(children) else 3  # points
        height = (len(lines) * 1.35 * self.font + margin) * _POINT
        if cut:
            n_hidden = labels.tree.leaves_below(node)
        else:
            n_hidden = 0
        return _Box(node, lines, max(width, 0.5), height, children, edges, n_hidden)

    def _has_bar(self, children: list[_Box]) -> bool:
        return not children and self.labels.classes is not None

    def _place(self, root: _Box) -> None:
        """x of every box, relative to its parent first; then from the root down."""
        order = [root]
        for box in order:
            order += box.children
        contours: dict[int, list[tuple[float, float]]] = {}
        for box in reversed(order):
            contours[box.node] = self._join(box, contours)
        # a level is as far below the one above as the longest label of an edge between needs
        lowest = 0.0
        level = [root]
        while level:
            lines = max((len(edge) for box in level for edge in box.edges), default=1)
            lowest -= _LEVEL + (lines - 1) * self.line
            below = [(box, child) for box in level for child in box.children]
            for box, child in below:
                child.x += box.x
                child.y = lowest
            level = [child for _, child in below]

    def _join(
        self, box: _Box, contours: dict[int, list[tuple[float, float]]]
    ) -> list[tuple[float, float]]:
        """Put the children side by side and centered below; (left, right) of every level from the
        box on."""
        reach: list[tuple[float, float]] = []
        for child, label in zip(box.children, box.edges):
            letters = max(map(len, label))
            child.half = max(child.width, letters * self.letter + 0.1) / 2
            contour = [(-child.half, child.half), *contours.pop(child.node)[1:]]
            # the least shift at which no level overlaps the subtrees on the left
            gaps = [
                right - left + _GAP for (_, right), (left, _) in zip(reach, contour)
            ]
            child.x = max(gaps, default=0.0)
            # the outline of both, level by level: the left end of the first, the farther right
            # end, and what the deeper one has below
            added = _shifted(contour, child.x)
            both = [(a[0], max(a[1], b[1])) for a, b in zip(reach, added)]
            reach = both + reach[len(both) :] + added[len(both) :]
        middle = 0.0
        if box.children:
            middle = (box.children[0].x + box.children[-1].x) / 2
        for child in box.children:
            child.x -= middle
        half = box.width / 2
        return [(-half, half), *_shifted(reach, -middle)]

    def _all(self):
        waiting = [self.root]
        while waiting:
            box = waiting.pop()
            yield box
            waiting += box.children

    # -- drawing -----------------------------------------------------------------------

    def draw(self, ax: Axes) -> None:
        colors = node_colors(self.labels)
        for box in self.boxes:
            for child, label in zip(box.children, box.edges):
                self._edge(ax, box, child, label)
            self._node(ax, box, colors[box.node])
        ax.set_xlim(-0.1, self.right + 0.1)
        ax.set_ylim(self.bottom - 0.1, self.root.height / 2 + 0.1)
        ax.set_aspect("equal")
        ax.set_axis_off()
        if self.labels.classes is not None:
            self._legend(ax)

    def _edge(self, ax: Axes, box: _Box, child: _Box, label: list[str]) -> None:
        top = box.y - box.height / 2
        bottom = child.y + child.height / 2
        # down, across and down again
        knee = top - 0.15
        # the wider, the more of the rows go this way
        weight = self.labels.tree.weight
        width = 0.6 + 2.4 * float(weight[child.node]) / (float(weight[0]) or 1.0)
        path = [box.x, box.x, child.x, child.x], [top, knee, knee, bottom]
        ax.plot(
            *path, color="#BDBDBD", linewidth=width, solid_joinstyle="round", zorder=1
        )
        ax.text(
            child.x,
            child.y + 0.36 * _LEVEL + (len(label) - 1) * self.line / 2,
            "\n".join(label),
            ha="center",
            va="center",
            fontsize=self.font - 0.5,
            color=INK,
            zorder=2,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )

    def _node(self, ax: Axes, box: _Box, color: str) -> None:
        from matplotlib.patches import FancyBboxPatch

        corner = (box.x - box.width / 2, box.y - box.height / 2)
        is_leaf = not box.children
        outline = FancyBboxPatch(
            corner,
            box.width,
            box.height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=color if is_leaf else "white",
            edgecolor=GRAY if is_leaf else INK,
            linewidth=0.9,
            zorder=3,
        )
        ax.add_patch(outline)
        # lines of text about the middle, or above it where a bar takes the lower edge
        step = 1.35 * self.font * _POINT
        if self._has_bar(box.children):
            bar = 4 * _POINT
        else:
            bar = 0.0
        top = box.y + (len(box.lines) - 1) * step / 2 + bar / 2
        text: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": INK}
        small = self.font - 1
        for i, line in enumerate(box.lines):
            text["fontsize"] = small if i else self.font
            text["fontweight"] = "bold" if is_leaf and not i else "normal"
            ax.text(box.x, top - i * step, line, zorder=5, **text)
        if bar:
            self._bar(ax, box, corner[1])
        if box.cut:
            below = (box.x, corner[1] - 0.04)
            hidden = f"… {box.cut} leaves"
            ax.text(*below, hidden, ha="center", va="top", color=GRAY, fontsize=small)

    def _bar(self, ax: Axes, box: _Box, bottom: float) -> None:
        """The shares of the classes, as a bar in the lower edge of the box."""
        from matplotlib.patches import Rectangle

        value = self.labels.tree.node_values[box.node]
        weight = float(value.sum()) or 1.0
        left = box.x - box.width / 2 + 0.06
        for k in np.flatnonzero(value > 0):
            length = (box.width - 0.12) * float(value[k]) / weight
            style: dict[str, Any] = {"color": _color(int(k)), "linewidth": 0}
            corner = (left, bottom + 0.03)
            ax.add_patch(Rectangle(corner, length, 4 * _POINT, zorder=4, **style))
            left += length

    def _legend(self, ax: Axes) -> None:
        from matplotlib.patches import Patch

        classes = self.labels.classes
        assert classes is not None
        first = enumerate(list(classes)[:10])
        ax.legend(
            handles=[Patch(color=_color(k), label=str(label)) for k, label in first],
            loc="upper right" if self.legend_side == "right" else "upper left",
            fontsize=self.font,
            labelcolor=INK,
            framealpha=0.9,
            edgecolor="none",
            handlelength=1.0,
            title=self.labels.target,
            title_fontsize=self.font,
        )


def _test(labels: TreeLabels, node: int, branch: int) -> list[str]:
    """The test of a branch, in up to three short lines."""
    # numbers have a test such as "≤ 2.5", categories a list of names
    if labels.tree.kind[node] in (THRESHOLD, INTERVALS):
        return [labels.test(node, branch)]
    names = [
        shorten(name, 20)
        for name in labels.categories(node, labels.codes(node, branch))
    ]
    if len(names) == 1:
        return [f"= {names[0]}"]
    if len(names) <= 3:
        return names or ["(none)"]
    return [*names[:2], f"… {len(names) - 2} more"]


def _color(k: int) -> str:
    # gray in place of the seventh color, black, which is that of the ink
    return "#999999" if k % 7 == 6 else color_of(k)


def _short(value: float) -> str:
    """A number for a small box."""
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _shifted(
    contour: list[tuple[float, float]], by: float
) -> list[tuple[float, float]]:
    return [(left + by, right + by) for left, right in contour]

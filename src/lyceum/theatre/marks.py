"""Pictures as data: marks on a plane with axes, or boxes and lines in a drawing.

A picture is a mapping with `title` and `marks`; one with `x` and `y`, the ends of its axes, is a
plane in the units of the table, with `z` too a space that is turned; one with `width` and `height`
is a drawing whose y goes down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from lyceum._core.trees import Tree

Mark = dict[str, Any]


def plane(
    title: str,
    X: np.ndarray,
    names: Sequence[str],
    marks: Sequence[Mark | None],
    *,
    equal: bool = False,
    room: float = 0.12,
) -> dict[str, Any]:
    """A plane that holds the rows X of two columns, or a space of three, with marks in it."""
    picture: dict[str, Any] = {"title": title, "equal": equal}
    for axis, name, ends in zip("xyz", names, _ends(X, room).T.tolist()):
        picture[axis] = ends
        picture[f"{axis}_label"] = name
    picture["marks"] = [mark for mark in marks if mark is not None]
    return picture


def _ends(X: np.ndarray, room: float) -> np.ndarray:
    """The lowest and the highest values of the columns, with some room."""
    low = X.min(axis=0)
    high = X.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    return np.stack([low - room * width, high + room * width])


def drawing(
    title: str, width: float, height: float, marks: Sequence[Mark | None]
) -> dict[str, Any]:
    """A picture without axes, in pixels; y goes down."""
    return {
        "title": title,
        "width": width,
        "height": height,
        "marks": [mark for mark in marks if mark is not None],
    }


def points(
    X: np.ndarray,
    series: Any = 0,
    *,
    sizes: Any = None,
    names: Sequence[str] = (),
    shape: str = "dot",
) -> Mark:
    """Rows as points, in the colors of their series (−1 is gray); `names` are those of the rows."""
    mark: Mark = {
        "kind": "points",
        **dict(zip("xyz", X.T.tolist())),
        "series": np.broadcast_to(series, len(X)).tolist(),
        "names": list(names) or [str(i + 1) for i in range(len(X))],
        "shape": shape,
    }
    if sizes is not None:
        mark["sizes"] = np.asarray(sizes, dtype=float).tolist()
    return mark


def ring(point: Any, text: str = "") -> Mark:
    """The row that a step is about."""
    coordinates = dict(zip("xyz", np.asarray(point, dtype=float).tolist()))
    return {"kind": "ring", **coordinates, "text": text}


def line(
    ends: Any, series: int = 5, *, dashed: bool = False, closed: bool = False
) -> Mark:
    """A line through points in the order given."""
    return {
        "kind": "line",
        "points": np.asarray(ends, dtype=float).tolist(),
        "series": series,
        "dashed": dashed,
        "closed": closed,
    }


def arrow(start: Any, end: Any, series: int = 5, text: str = "") -> Mark:
    """An arrow between two points."""
    ends = np.asarray([start, end], dtype=float).tolist()
    return {"kind": "arrow", "points": ends, "series": series, "text": text}


def label(
    x: float, y: float, text: str, anchor: str = "middle", *, z: float | None = None
) -> Mark:
    """Words at a point."""
    mark = {"kind": "text", "x": x, "y": y, "text": text, "anchor": anchor}
    return mark if z is None else {**mark, "z": z}


def box(
    x: float,
    y: float,
    lines: Sequence[str],
    *,
    width: float = 110.0,
    height: float | None = None,
    series: int | None = None,
    tone: str = "",
    strength: float = 0.0,
) -> Mark:
    """A box with some lines of text, about its center; `tone` is "now", "quiet" or "target"."""
    return {
        "kind": "box",
        "x": x,
        "y": y,
        "width": width,
        "height": 18.0 * len(lines) + 10.0 if height is None else height,
        "lines": list(lines),
        "series": series,
        "tone": tone,
        "strength": float(strength),
    }


def boundary(
    w: Any, b: float, X: np.ndarray, series: int = 5, *, dashed: bool = False
) -> Mark | None:
    """The line w·x + b = 0 across the plane of the rows X, or the piece of a plane in their space;
    None if the weights are zero."""
    w = np.asarray(w, dtype=float)
    squares = float(w @ w)
    if squares == 0.0:
        return None
    if len(w) == 3:
        return _cut(w, b, _ends(X, 0.25), series, dashed)
    low = X.min(axis=0)
    high = X.max(axis=0)
    # from the foot of the perpendicular of the middle, along the line in both directions
    middle = (low + high) / 2
    foot = middle - (w @ middle + b) / squares * w
    along = np.array([-w[1], w[0]]) / np.sqrt(squares)
    reach = 4.0 * float(np.linalg.norm(high - low) or 1.0)
    return line([foot - reach * along, foot + reach * along], series, dashed=dashed)


def _cut(
    w: np.ndarray, b: float, ends: np.ndarray, series: int, dashed: bool
) -> Mark | None:
    """The polygon in which the plane w·x + b = 0 cuts a box."""
    corners = np.array(list(product(*ends.T)))
    heights = corners @ w + b
    crossings = []
    for i, j in combinations(range(8), 2):
        is_edge = (corners[i] != corners[j]).sum() == 1
        is_crossed = heights[i] * heights[j] <= 0 and heights[i] != heights[j]
        if is_edge and is_crossed:
            share = heights[i] / (heights[i] - heights[j])
            crossings.append(corners[i] + share * (corners[j] - corners[i]))
    if len(crossings) < 3:
        return None
    # around their middle, as seen along w
    offsets = np.array(crossings) - np.mean(crossings, axis=0)
    across = offsets[0]
    up = np.cross(w, across)
    angles = np.arctan2(
        offsets @ up / np.linalg.norm(up), offsets @ across / np.linalg.norm(across)
    )
    around = np.array(crossings)[np.argsort(angles)]
    return line(around, series, dashed=dashed, closed=True)


def ellipses(
    mean: np.ndarray, covariance: np.ndarray, series: int, radius: float = 2.0
) -> list[Mark]:
    """The points at a Mahalanobis distance from the mean; of an ellipsoid three ellipses."""
    angles = np.linspace(0.0, 2 * np.pi, 49)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    values, vectors = np.linalg.eigh(covariance)
    axes = vectors * np.sqrt(np.maximum(values, 0.0))
    return [
        line(mean + radius * circle @ axes[:, [i, j]].T, series, closed=True)
        for i, j in combinations(range(len(mean)), 2)
    ]


def regions(X: np.ndarray, predict: Any, n: int = 40, room: float = 0.12) -> Mark:
    """The answers of a classifier on a grid over the plane of the rows X, as numbers of series."""
    low = X.min(axis=0)
    high = X.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    low = low - room * width
    high = high + room * width
    # the middles of n × n cells, from the lower left, row by row
    shares = (np.arange(n) + 0.5) / n
    x = low[0] + shares * (high[0] - low[0])
    y = low[1] + shares * (high[1] - low[1])
    grid = np.column_stack([np.tile(x, n), np.repeat(y, n)])
    return {
        "kind": "regions",
        "x": [low[0], high[0]],
        "y": [low[1], high[1]],
        "n": n,
        "series": np.asarray(predict(grid)).astype(int).tolist(),
    }


def tree_marks(
    tree: Tree,
    texts: Sequence[Sequence[str]],
    edges: Sequence[str],
    *,
    shown: Sequence[int],
    now: int = -1,
    series: Sequence[int | None] = (),
) -> tuple[float, float, list[Mark]]:
    """Boxes and lines of the nodes of a tree that are shown: width, height and marks."""
    visible = sorted(set(shown))
    children = {
        node: [child for child in tree.children(node) if child in visible]
        for node in visible
    }
    across, depth = _tree_places(children)
    lines: list[Mark] = []
    boxes: list[Mark] = []
    for node in visible:
        y = 40.0 + 104.0 * depth[node]
        for child in children[node]:
            lines.append(line([[across[node], y], [across[child], y + 104.0]]))
            middle = (across[node] + 2 * across[child]) / 3
            lines.append(label(middle, y + 62.0, edges[child]))
        color = series[node] if len(series) else None
        tone = "now" if node == now else ""
        boxes.append(
            box(across[node], y, texts[node], width=116.0, series=color, tone=tone)
        )
    width = max(across.values()) + 64.0
    return width, 80.0 + 104.0 * max(depth.values()), [*lines, *boxes]


def _tree_places(
    children: Mapping[int, Sequence[int]],
) -> tuple[dict[int, float], dict[int, int]]:
    """Leaves side by side from the left, parents above the middle of their children; and depths."""
    across: dict[int, float] = {}
    depth = {0: 0}

    def settle(node: int, left: float) -> float:
        for child in children[node]:
            depth[child] = depth[node] + 1
        if not children[node]:
            across[node] = left + 64.0
            return left + 128.0
        right = left
        for child in children[node]:
            right = settle(child, right)
        ends = (children[node][0], children[node][-1])
        across[node] = (across[ends[0]] + across[ends[1]]) / 2
        return right

    settle(0, 0.0)
    return across, depth

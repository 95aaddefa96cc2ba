"""Places for the nodes of a directed graph: layers from causes to effects, with few crossings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lyceum.bayesnets import topological_order

_SWEEPS = 16


@dataclass(frozen=True)
class LayeredLayout:
    """Where nodes and edges go, in inches; y grows downwards from the first layer.

    Attributes
    ----------
    x, layer : dicts of name to place
    bends : dict of (parent, child) to points (x, layer)
        Where an edge over several layers passes between the nodes of these layers.
    width : float
    n_layers : int
    """

    x: dict[str, float]
    layer: dict[str, int]
    bends: dict[tuple[str, str], list[tuple[float, int]]]
    width: float
    n_layers: int


def layered_layout(
    parents: Mapping[str, Sequence[str]], widths: Mapping[str, float], gap: float = 0.35
) -> LayeredLayout:
    """Sugiyama's method: layers by the longest path, order by the means of neighbors, then places.

    Parameters
    ----------
    parents : dict of name to parents
    widths : dict of name to width
    gap : float, default=0.35
        Between neighbors.
    """
    depth: dict[str, int] = {}
    order = topological_order(parents)
    for name in order:
        depth[name] = max((depth[parent] + 1 for parent in parents[name]), default=0)
    for name in reversed(order):  # a cause stands just above its first effect
        children = [child for child in order if name in parents[child]]
        if children and not parents[name]:
            depth[name] = min(depth[child] for child in children) - 1
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in order:
        layers[depth[name]].append(name)
    near, chains, sizes = _with_bends(parents, depth, layers, dict(widths))
    for sweep in range(_SWEEPS):
        if sweep % 2 == 0:
            moving = range(1, len(layers))
        else:
            moving = range(len(layers) - 2, -1, -1)
        for i in moving:
            if sweep % 2 == 0:
                other = layers[i - 1]
            else:
                other = layers[i + 1]
            layers[i] = _by_neighbors(layers[i], other, near)
    x = _positions(layers, near, sizes, gap)
    left = min(x[name] - sizes[name] / 2 for name in x)
    right = max(x[name] + sizes[name] / 2 for name in x)
    x = {name: place - left for name, place in x.items()}
    bends = {edge: [(x[bend], depth_) for bend, depth_ in chain] for edge, chain in chains.items()}
    return LayeredLayout(
        {name: x[name] for name in parents}, depth, bends, right - left, len(layers)
    )


def _with_bends(
    parents: Mapping[str, Sequence[str]],
    depth: Mapping[str, int],
    layers: list[list[str]],
    sizes: dict[str, float],
) -> tuple[dict[str, list[str]], dict[tuple[str, str], list[tuple[str, int]]], dict[str, float]]:
    """The neighbors of every node when long edges have a node in every layer that they cross."""
    near: dict[str, list[str]] = {name: [] for name in parents}
    chains: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for child, of in parents.items():
        for parent in of:
            last = parent
            chain = []
            for level in range(depth[parent] + 1, depth[child]):
                bend = f"\0{parent}\0{child}\0{level}"
                near[bend], sizes[bend] = [], 0.12
                layers[level].append(bend)
                chain.append((bend, level))
                near[last].append(bend)
                near[bend].append(last)
                last = bend
            near[last].append(child)
            near[child].append(last)
            chains[parent, child] = chain
    return near, chains, sizes


def _by_neighbors(layer: list[str], other: list[str], near: Mapping[str, list[str]]) -> list[str]:
    """A layer in the order of the mean places of its neighbors in another one."""
    place = {name: k for k, name in enumerate(other)}
    means = [_mean([place[m] for m in near[name] if m in place], k) for k, name in enumerate(layer)]
    return [layer[k] for k in sorted(range(len(layer)), key=means.__getitem__)]


def _mean(values: list[int], otherwise: float) -> float:
    if values:
        return sum(values) / len(values)
    return otherwise


def _positions(
    layers: list[list[str]], near: Mapping[str, list[str]], sizes: Mapping[str, float], gap: float
) -> dict[str, float]:
    """Every node near the mean of its neighbors, none nearer to its neighbor in the layer than
    `gap`."""
    x: dict[str, float] = {}
    for layer in layers:
        at = 0.0
        for name in layer:
            x[name] = at + sizes[name] / 2
            at += sizes[name] + gap
        for name in layer:
            x[name] -= at / 2
    for sweep in range(30):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            wanted = [sum(x[m] for m in near[n]) / len(near[n]) if near[n] else x[n] for n in layer]
            for name, place in zip(layer, _spread(wanted, [sizes[n] for n in layer], gap)):
                x[name] = place
    return x


def _spread(wanted: list[float], sizes: list[float], gap: float) -> list[float]:
    """The places nearest to the wanted ones (least squares) in this order, without overlaps."""
    # pool adjacent violators on the places less the room that those before take
    offset = []
    total = 0.0
    for i, size in enumerate(sizes):
        total += 0.0 if i == 0 else (sizes[i - 1] + size) / 2 + gap
        offset.append(total)
    pools: list[list[float]] = []
    for want, off in zip(wanted, offset):
        pools.append([want - off, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, weight = pools.pop()
            before, count = pools.pop()
            pools.append([(mean * weight + before * count) / (weight + count), weight + count])
    flat = [mean for mean, weight in pools for _ in range(int(weight))]
    return [place + off for place, off in zip(flat, offset)]

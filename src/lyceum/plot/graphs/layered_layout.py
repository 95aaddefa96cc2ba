"""Places for the nodes of a directed graph: layers from causes to effects, with few crossings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lyceum._core.report import Shown
from lyceum.bayesnets import topological_order

_SWEEPS = 16
_BEND = 0.12  # the width of a bend of a line


@dataclass(frozen=True)
class LayeredLayout(Shown):
    """Where nodes and edges go, in inches; y grows downwards from the first layer.

    Attributes
    ----------
    x, layer : dicts of name to place
        The center of every node along its layer, and the number of its layer.
    bends : dict of (parent, child) to points (x, layer)
        Where an edge over several layers passes between the nodes of these layers.
    width : float
        Of the widest layer.
    n_layers : int
        The number of layers.

    See Also
    --------
    layered_layout : Makes it.

    Examples
    --------
    >>> from lyceum.plot import layered_layout
    >>> layered_layout({"rain": (), "wet": ("rain",)}, {"rain": 1.0, "wet": 1.0}).n_layers
    2
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
        The edges.
    widths : dict of name to width
        Of the nodes.
    gap : float, default=0.35
        Between neighbors.

    Returns
    -------
    LayeredLayout

    See Also
    --------
    bayes_net : Draws a network so.

    References
    ----------
    Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical system structures,
    IEEE Transactions on Systems, Man, and Cybernetics 11, 1981.

    Examples
    --------
    >>> from lyceum.plot import layered_layout
    >>> parents = {"rain": (), "sprinkler": ("rain",), "wet": ("rain", "sprinkler")}
    >>> layered_layout(parents, dict.fromkeys(parents, 1.0)).layer
    {'rain': 0, 'sprinkler': 1, 'wet': 2}
    """
    # 1. layers, from causes to effects
    depth = _depths(parents)
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, layer in depth.items():
        layers[layer].append(name)
    # 2. a node without a name wherever an edge crosses a layer
    linked, chains, sizes = _with_bends(parents, depth, layers, dict(widths))
    # 3. few crossings: sweep down and up in turn, a layer in the order of its neighbors in the
    # one before it
    for sweep in range(_SWEEPS):
        step = 1 if sweep % 2 == 0 else -1
        numbers = range(len(layers))[::step]
        for i in numbers[1:]:
            layers[i] = _by_neighbors(layers[i], layers[i - step], linked)
    # 4. places along the layers
    x = _positions(layers, linked, sizes, gap)
    # moved so that the leftmost edge of a node is at 0
    left = min(x[name] - sizes[name] / 2 for name in x)
    right = max(x[name] + sizes[name] / 2 for name in x)
    x = {name: center - left for name, center in x.items()}
    bends = {
        edge: [(x[bend], layer) for bend, layer in chain]
        for edge, chain in chains.items()
    }
    centers = {name: x[name] for name in parents}
    return LayeredLayout(centers, depth, bends, right - left, len(layers))


def _depths(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The layer of every node, below all its parents; a cause is just above its first effect."""
    order = topological_order(parents)
    depth: dict[str, int] = {}
    for name in order:
        depth[name] = max((depth[parent] + 1 for parent in parents[name]), default=0)
    for name in reversed(order):
        # a cause without causes moves down to its first effect: shorter edges
        children = [child for child in order if name in parents[child]]
        if children and not parents[name]:
            depth[name] = min(depth[child] for child in children) - 1
    return depth


def _with_bends(
    parents: Mapping[str, Sequence[str]],
    depth: Mapping[str, int],
    layers: list[list[str]],
    sizes: dict[str, float],
) -> tuple[
    dict[str, list[str]], dict[tuple[str, str], list[tuple[str, int]]], dict[str, float]
]:
    """The neighbors of every node when long edges have a node in every layer that they cross."""
    linked: dict[str, list[str]] = defaultdict(list, {name: [] for name in parents})
    chains: dict[tuple[str, str], list[tuple[str, int]]] = {}
    edges = [(parent, child) for child, above in parents.items() for parent in above]
    for parent, child in edges:
        between = range(depth[parent] + 1, depth[child])
        chain = [(f"\0{parent}\0{child}\0{layer}", layer) for layer in between]
        for bend, layer in chain:
            layers[layer].append(bend)
        bends = dict.fromkeys(dict(chain), _BEND)
        sizes |= bends
        names = [parent, *bends, child]
        for upper, lower in pairwise(names):
            linked[upper].append(lower)
            linked[lower].append(upper)
        chains[parent, child] = chain
    return linked, chains, sizes


def _by_neighbors(
    layer: list[str], other: list[str], linked: Mapping[str, list[str]]
) -> list[str]:
    """A layer in the order of the mean positions of its neighbors in another one."""
    index = {name: k for k, name in enumerate(other)}
    means = [
        _mean([index[m] for m in linked[name] if m in index], k)
        for k, name in enumerate(layer)
    ]
    return [layer[k] for k in sorted(range(len(layer)), key=means.__getitem__)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    if values:
        return sum(values) / len(values)
    return otherwise


def _positions(
    layers: list[list[str]],
    linked: Mapping[str, list[str]],
    sizes: Mapping[str, float],
    gap: float,
) -> dict[str, float]:
    """Every node near the mean of its neighbors, none nearer to its neighbor in the layer than
    `gap`."""
    x: dict[str, float] = {}
    for layer in layers:
        # a first arrangement: side by side, centered
        right = 0.0
        for name in layer:
            x[name] = right + sizes[name] / 2
            right += sizes[name] + gap
        for name in layer:
            x[name] -= right / 2
    for sweep in range(30):
        downward = sweep % 2 == 0
        if downward:
            order = layers
        else:
            order = layers[::-1]
        for layer in order:
            wanted = [_mean([x[m] for m in linked[name]], x[name]) for name in layer]
            widths = [sizes[name] for name in layer]
            x.update(zip(layer, _spread(wanted, widths, gap)))
    return x


def _spread(wanted: list[float], sizes: list[float], gap: float) -> list[float]:
    """The places nearest to the wanted ones (least squares) in this order, without overlaps."""
    # offset: the room that those before take. Places less their offsets must not decrease, and
    # the nearest such sequence is isotonic regression, by pooling adjacent violators
    offsets = [0.0]
    for before, size in pairwise(sizes):
        offsets.append(offsets[-1] + (before + size) / 2 + gap)
    pools: list[tuple[float, int]] = []  # the mean and the number of places in each
    for want, offset in zip(wanted, offsets):
        mean = want - offset
        n = 1
        while pools and pools[-1][0] > mean:
            other, n_other = pools.pop()
            mean = (mean * n + other * n_other) / (n + n_other)
            n += n_other
        pools.append((mean, n))
    flat = [mean for mean, n in pools for _ in range(n)]
    return [x + offset for x, offset in zip(flat, offsets)]

"""From a graph to a junction tree: an elimination order, the cliques it makes, and a tree of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import exp, log, prod

__all__ = ["CliqueGraph", "clique_tree", "elimination_order", "maximal_cliques", "order_cells"]

_FEW = 4  # neighbours, among which all edges are looked for
Neighbours = Mapping[str, set[str]]
CliqueGraph = tuple[list[tuple[str, ...]], list[int], list[tuple[str, ...]]]


def elimination_order(near: Neighbours, sizes: Mapping[str, int]) -> list[str]:
    """The best of three greedy orders: fewest edges added, lightest edges, smallest table (Kjærulff 1990).

    Nodes whose few neighbours are all joined come first, which is never worse: of naive Bayes and tree-like
    networks nothing else is left.
    """
    left = {name: set(others) for name, others in near.items()}
    first = _peel(left)
    orders = [_greedy(left, sizes, rule) for rule in (_fill, _weighted_fill, _table)]
    return first + min(orders, key=lambda order: order_cells(left, sizes, order))


def order_cells(near: Neighbours, sizes: Mapping[str, int], order: Iterable[str]) -> float:
    """The number of cells of all tables that an elimination order makes."""
    return sum(prod(float(sizes[name]) for name in clique) for clique in _cliques(near, order))


def maximal_cliques(near: Neighbours, order: Iterable[str]) -> list[frozenset[str]]:
    """The cliques of the triangulated graph."""
    found: list[frozenset[str]] = []
    having: dict[str, list[int]] = {name: [] for name in near}
    for clique in _cliques(near, order):
        rarest = min(clique, key=lambda name: len(having[name]))
        if not any(clique <= found[i] for i in having[rarest]):
            for name in clique:
                having[name].append(len(found))
            found.append(clique)
    return found


def clique_tree(cliques: list[frozenset[str]], sizes: Mapping[str, int], names: Iterable[str]) -> CliqueGraph:
    """A junction tree: a spanning tree with the largest separators, parents before children.

    Returns the members of every clique (its separator first), its parent (-1 for the root) and its separator.
    Parts that are not connected hang together by empty separators.
    """
    place = {name: i for i, name in enumerate(names)}
    cells = [prod(sizes[name] for name in clique) for clique in cliques]
    root = max(range(len(cliques)), key=lambda c: cells[c])
    best = {c: (len(cliques[root] & cliques[c]), root) for c in range(len(cliques)) if c != root}
    chosen, parents = [root], {root: -1}
    while best:
        c = max(best, key=lambda one: (best[one][0], -cells[one]))
        parents[c] = best.pop(c)[1]
        chosen.append(c)
        for other, (shared, _) in best.items():
            now = len(cliques[c] & cliques[other])
            if now > shared:
                best[other] = (now, c)
    number = {c: i for i, c in enumerate(chosen)}
    members, separators = [], []
    for c in chosen:
        up = parents[c]
        separator = tuple(sorted(cliques[c] & cliques[up], key=place.__getitem__)) if up >= 0 else ()
        rest = tuple(sorted(cliques[c] - set(separator), key=place.__getitem__))
        members.append(separator + rest)
        separators.append(separator)
    return members, [number.get(parents[c], -1) for c in chosen], separators


def _cliques(near: Neighbours, order: Iterable[str]) -> Iterable[frozenset[str]]:
    """Every node with its neighbours at the time of its elimination."""
    left = {name: set(others) for name, others in near.items()}
    for name in order:
        others = left.pop(name)
        yield frozenset((name, *others))
        for other in others:
            left[other] |= others
            left[other] -= {name, other}


def _peel(left: dict[str, set[str]]) -> list[str]:
    """Remove nodes of few neighbours that are all joined, as long as there are any; their order."""
    order, waiting = [], list(left)[::-1]
    while waiting:
        name = waiting.pop()
        others = left.get(name)
        if others is None or len(others) > _FEW or any(not others <= left[one] | {one} for one in others):
            continue
        order.append(name)
        del left[name]
        for other in others:
            left[other].discard(name)
        waiting.extend(others)
    return order


def _fill(left: Mapping[str, set[str]], name: str, logs: Mapping[str, float]) -> float:
    others = left[name]
    return sum(len(others - left[other]) - 1 for other in others) / 2


def _weighted_fill(left: Mapping[str, set[str]], name: str, logs: Mapping[str, float]) -> float:
    others = left[name]
    return sum(exp(logs[one] + logs[two]) for one in others for two in others - left[one] if one < two)


def _table(left: Mapping[str, set[str]], name: str, logs: Mapping[str, float]) -> float:
    return logs[name] + sum(logs[other] for other in left[name])


def _greedy(near: Neighbours, sizes: Mapping[str, int], rule: Callable[..., float]) -> list[str]:
    left = {name: set(others) for name, others in near.items()}
    logs = {name: log(size) for name, size in sizes.items()}
    costs = {name: (rule(left, name, logs), _table(left, name, logs)) for name in left}
    order = []
    while costs:
        name = min(costs, key=costs.__getitem__)
        order.append(name)
        del costs[name]
        others = left.pop(name)
        for other in others:
            left[other] |= others
            left[other] -= {name, other}
        # the cost of a node changes only if one of its neighbours gained or lost an edge
        for other in set().union(others, *(left[one] for one in others)) if rule is not _table else others:
            costs[other] = (rule(left, other, logs), _table(left, other, logs))
    return order

"""From a graph to a junction tree: an elimination order, the cliques it makes, and a tree of
them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp, log, prod

_FEW = 4  # neighbors, among which all edges are looked for
Neighbors = Mapping[str, set[str]]
CliqueGraph = tuple[list[tuple[str, ...]], list[int], list[tuple[str, ...]]]


def elimination_order(near: Neighbors, sizes: Mapping[str, int]) -> list[str]:
    """The best of three greedy orders: fewest edges added, lightest edges, smallest table (Kjærulff
    1990).

    Nodes whose few neighbors are all joined come first, which is never worse: of naive Bayes and
    tree-like networks nothing else is left.
    """
    left = {name: set(others) for name, others in near.items()}
    first = _peel(left)
    orders = [_greedy(left, sizes, rule) for rule in (_fill, _weighted_fill, _table)]
    return first + min(orders, key=lambda order: order_cells(left, sizes, order))


def order_cells(near: Neighbors, sizes: Mapping[str, int], order: Iterable[str]) -> float:
    """The number of cells of all tables that an elimination order makes."""
    return sum(prod(float(sizes[name]) for name in clique) for clique in _cliques(near, order))


def clique_tree(
    near: Neighbors, order: Sequence[str], sizes: Mapping[str, int], names: Iterable[str]
) -> CliqueGraph:
    """The maximal cliques that an elimination order makes, as a junction tree, parents before
    children.

    The clique of a node hangs below that of its first neighbor to be eliminated after it. Where
    this one is a part of it, the two are one. The root is the clique of the most cells.

    Returns the members of every clique (its separator first), its parent (-1 for the root) and its
    separator. Parts that are not connected hang together by empty separators.
    """
    place = {name: i for i, name in enumerate(names)}
    when = {name: i for i, name in enumerate(order)}
    cliques = list(_cliques(near, order))
    above = [
        min((when[other] for other in c if when[other] > i), default=-1)
        for i, c in enumerate(cliques)
    ]
    within = list(range(len(cliques)))  # the maximal clique that a clique is part of
    for i, p in enumerate(above):
        if p >= 0 and within[p] == p and len(cliques[p]) == len(cliques[i]) - 1:
            within[p] = within[i]
    beside: dict[int, list[int]] = {c: [] for c in dict.fromkeys(within)}
    for i, p in enumerate(above):
        if p >= 0 and within[p] != within[i]:
            beside[within[i]].append(within[p])
            beside[within[p]].append(within[i])
    cells = {c: prod(sizes[name] for name in cliques[c]) for c in beside}
    members: list[tuple[str, ...]] = []
    separators: list[tuple[str, ...]] = []
    parents: list[int] = []
    for root in sorted(beside, key=lambda c: -cells[c]):
        if root in cells:
            waiting = [(root, -1)]
        else:
            waiting = []
        for c, up in waiting:  # grows
            if up >= 0:
                separator = cliques[c] & set(members[up])
            else:
                separator = frozenset()
            waiting.extend((other, len(members)) for other in beside[c] if other in cells)
            del cells[c]
            both = [
                tuple(sorted(some, key=place.__getitem__))
                for some in (separator, cliques[c] - separator)
            ]
            parents.append(up if up >= 0 or not members else 0)
            members.append(both[0] + both[1])
            separators.append(both[0])
    return members, parents, separators


def _cliques(near: Neighbors, order: Iterable[str]) -> Iterable[frozenset[str]]:
    """Every node with its neighbors at the time of its elimination."""
    left = {name: set(others) for name, others in near.items()}
    for name in order:
        others = left.pop(name)
        yield frozenset((name, *others))
        for other in others:
            left[other] |= others
            left[other] -= {name, other}


def _peel(left: dict[str, set[str]]) -> list[str]:
    """Remove nodes of few neighbors that are all joined, as long as there are any; their order."""
    order = []
    waiting = list(left)[::-1]
    while waiting:
        name = waiting.pop()
        others = left.get(name)
        if (
            others is None
            or len(others) > _FEW
            or any(not others <= left[one] | {one} for one in others)
        ):
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
    return sum(
        exp(logs[one] + logs[two]) for one in others for two in others - left[one] if one < two
    )


def _table(left: Mapping[str, set[str]], name: str, logs: Mapping[str, float]) -> float:
    return logs[name] + sum(logs[other] for other in left[name])


def _greedy(near: Neighbors, sizes: Mapping[str, int], rule: Callable[..., float]) -> list[str]:
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
        # the cost of a node changes only if one of its neighbors gained or lost an edge
        for other in (
            set().union(others, *(left[one] for one in others)) if rule is not _table else others
        ):
            costs[other] = (rule(left, other, logs), _table(left, other, logs))
    return order

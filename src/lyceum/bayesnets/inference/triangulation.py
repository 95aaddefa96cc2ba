"""From a graph to a junction tree: an elimination order, the cliques it makes, and a tree of
them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp, log, prod

_FEW = 4  # neighbors, among which all edges are looked for
Neighbors = Mapping[str, set[str]]
CliqueGraph = tuple[list[tuple[str, ...]], list[int], list[tuple[str, ...]]]


def elimination_order(neighbors: Neighbors, sizes: Mapping[str, int]) -> list[str]:
    """The best of three greedy orders: fewest edges added, lightest edges, smallest table (Kjærulff
    1990).

    Nodes whose few neighbors are all joined come first, which is never worse: of naive Bayes and
    tree-like networks nothing else is left.
    """
    left = {name: set(others) for name, others in neighbors.items()}
    first = _peel(left)
    orders = [_greedy(left, sizes, rule) for rule in (_fill, _weighted_fill, _table)]
    return first + min(orders, key=lambda order: order_cells(left, sizes, order))


def order_cells(
    neighbors: Neighbors, sizes: Mapping[str, int], order: Iterable[str]
) -> float:
    """The number of cells of all tables that an elimination order makes."""
    return sum(
        prod(float(sizes[name]) for name in clique)
        for clique in _cliques(neighbors, order)
    )


def clique_tree(
    neighbors: Neighbors,
    order: Sequence[str],
    sizes: Mapping[str, int],
    names: Iterable[str],
) -> CliqueGraph:
    """The maximal cliques that an elimination order makes, as a junction tree, parents before
    children.

    The clique of a node hangs below that of its first neighbor to be eliminated after it. Where
    this one is a part of it, the two are one. The root is the clique of the most cells.

    Returns the members of every clique (its separator first), its parent (-1 for the root) and its
    separator. Parts that are not connected hang together by empty separators.
    """
    index = {name: i for i, name in enumerate(names)}

    def sort(members: frozenset[str]) -> tuple[str, ...]:
        return tuple(sorted(members, key=index.__getitem__))

    # Breadth-first from the largest clique: the separator is what a clique shares with its parent.
    # A clique leaves `cells` when it is placed; what is left then is another connected part.
    cliques = list(_cliques(neighbors, order))
    beside = _join_cliques(cliques, order)
    cells = {c: prod(sizes[name] for name in cliques[c]) for c in beside}
    members: list[tuple[str, ...]] = []
    separators: list[tuple[str, ...]] = []
    parents: list[int] = []
    for root in sorted(beside, key=lambda c: -cells[c]):
        if root not in cells:
            continue
        waiting = [(root, -1)]
        for c, parent in waiting:  # grows
            shared: frozenset[str] = frozenset()
            if parent >= 0:
                shared = cliques[c].intersection(members[parent])
            elif members:
                parent = 0
            waiting.extend(
                (other, len(members)) for other in beside[c] if other in cells
            )
            del cells[c]
            separator = sort(shared)
            rest = sort(cliques[c] - shared)
            parents.append(parent)
            members.append(separator + rest)
            separators.append(separator)
    return members, parents, separators


def _join_cliques(
    cliques: list[frozenset[str]], order: Sequence[str]
) -> dict[int, list[int]]:
    """The maximal ones of the cliques that an order makes, and which of them are joined."""
    # clique i hangs below that of the first of its members to be eliminated after it (-1: a root)
    when = {name: i for i, name in enumerate(order)}
    above = []
    for i, clique in enumerate(cliques):
        later = [when[other] for other in clique if when[other] > i]
        above.append(min(later, default=-1))
    # The maximal clique that a clique is part of. All others of clique i are in clique p, so p is
    # a part of i exactly if it has one member less.
    within = list(range(len(cliques)))
    for i, p in enumerate(above):
        if p >= 0 and within[p] == p and len(cliques[p]) == len(cliques[i]) - 1:
            within[p] = within[i]
    beside: dict[int, list[int]] = {c: [] for c in dict.fromkeys(within)}
    for i, p in enumerate(above):
        if p >= 0 and within[p] != within[i]:
            beside[within[i]].append(within[p])
            beside[within[p]].append(within[i])
    return beside


def _cliques(neighbors: Neighbors, order: Iterable[str]) -> Iterable[frozenset[str]]:
    """Every node with its neighbors at the time of its elimination."""
    left = {name: set(others) for name, others in neighbors.items()}
    for name in order:
        others = left.pop(name)
        yield frozenset((name, *others))
        for other in others:
            left[other] |= others
            left[other] -= {name, other}


def _peel(left: dict[str, set[str]]) -> list[str]:
    """Remove nodes of few neighbors that are all joined, as long as there are any; their order."""
    # neighbors of a removed node wait again, as they have one neighbor less
    order = []
    waiting = list(left)[::-1]
    while waiting:
        name = waiting.pop()
        others = left.get(name)
        if others is None or len(others) > _FEW:
            continue
        if any(not others <= left[other] | {other} for other in others):
            continue
        order.append(name)
        del left[name]
        for other in others:
            left[other].discard(name)
        waiting.extend(others)
    return order


def _fill(left: Mapping[str, set[str]], name: str, logs: Mapping[str, float]) -> float:
    """The edges that eliminating the node adds among its neighbors."""
    others = left[name]
    return sum(len(others - left[other]) - 1 for other in others) / 2


def _weighted_fill(
    left: Mapping[str, set[str]], name: str, logs: Mapping[str, float]
) -> float:
    """The same edges, each by the product of the sizes of its ends."""
    others = left[name]
    weight = 0.0
    for u in others:
        weight += sum(exp(logs[u] + logs[v]) for v in others - left[u] if u < v)
    return weight


def _table(left: Mapping[str, set[str]], name: str, logs: Mapping[str, float]) -> float:
    """The log of the cells of the table that eliminating the node makes."""
    return logs[name] + sum(logs[other] for other in left[name])


def _greedy(
    neighbors: Neighbors, sizes: Mapping[str, int], rule: Callable[..., float]
) -> list[str]:
    """Eliminate the node of the least cost by the rule, of equal ones that of the least table."""
    left = {name: set(others) for name, others in neighbors.items()}
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
        changed = set(others)
        if rule is not _table:
            changed.update(*(left[other] for other in others))
        for other in changed:
            costs[other] = (rule(left, other, logs), _table(left, other, logs))
    return order

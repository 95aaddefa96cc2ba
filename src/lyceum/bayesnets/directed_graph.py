"""Directed acyclic graphs by the parents of every node: order, ancestors, blankets, moral
graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lyceum.errors import DataError

Parents = Mapping[str, Sequence[str]]


def topological_order(parents: Parents) -> list[str]:
    """The nodes with parents before children; among free ones in the order given. Raises on a
    cycle.

    A name that occurs only among the parents of others is a node without parents.

    >>> topological_order({"grass": ["rain", "sprinkler"], "sprinkler": ["rain"]})
    ['rain', 'sprinkler', 'grass']
    """
    parents = all_nodes(parents)
    # Kahn (1962): a node follows once all its parents have; `order` grows while it is read
    waiting = {name: len(of) for name, of in parents.items()}
    children = children_of(parents)
    order = [name for name, count in waiting.items() if not count]
    for name in order:
        for child in children[name]:
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    if len(order) < len(waiting):
        raise DataError(
            f"the graph has the cycle {' → '.join(find_cycle(parents))}: a Bayesian network has"
            " none, so turn or leave out one of these edges"
        )
    return order


def all_nodes(parents: Parents) -> dict[str, Sequence[str]]:
    """The parents of every node, none for a name that occurs only among the parents of others.

    Raises unless the graph is a dict of names to names.
    """
    if not isinstance(parents, Mapping):
        raise DataError(
            "a graph is a dict of every name to its parents, e.g. {'alarm': ['burglary']}, got"
            f" {parents!r:.100}"
        )
    complete: dict[str, Sequence[str]] = {
        name: names_of(f"the parents of {name!r}", of) for name, of in parents.items()
    }
    for of in tuple(complete.values()):
        for name in of:
            complete.setdefault(name, ())
    return complete


def names_of(what: str, given: Any) -> tuple[str, ...]:
    """One name, or several, as a tuple; raises if it is neither."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise DataError(f"{what}: give a name or a list of names, not {given!r:.100}")
    names = tuple(names)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(f"{what}: names are texts, not {odd[0]!r:.100}")
    return names


def find_cycle(parents: Parents) -> list[str]:
    """The nodes of one cycle along its edges, the first one again at the end; empty if there is
    none."""
    children = children_of(parents)
    # Depth-first: an edge to a node on the current path closes a cycle. Nodes that are `done`
    # lead to none. Iterators instead of recursion, as paths may be longer than Python's stack.
    done: set[str] = set()
    for start in parents:
        path = [start]
        depth = {start: 0}
        iterators = [iter(children[start])]
        while iterators:
            child = next(iterators[-1], None)
            if child is None:
                done.add(path[-1])
                del depth[path.pop()]
                iterators.pop()
            elif child in depth:
                return [*path[depth[child] :], child]
            elif child not in done:
                depth[child] = len(path)
                path.append(child)
                iterators.append(iter(children[child]))
    return []


def children_of(parents: Parents) -> dict[str, list[str]]:
    """The children of every node, in the order of the nodes."""
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, of in parents.items():
        for parent in of:
            children[parent].append(name)
    return children


def reachable(start: Iterable[str], steps: Mapping[str, Sequence[str]]) -> set[str]:
    """What one or more steps lead to; a start itself only if steps lead back to it."""
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        for name in steps[waiting.pop()]:
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def ancestors_of(names: Iterable[str], parents: Parents) -> set[str]:
    """The parents of some nodes, their parents, and so on; a node itself only if it is one of
    another's."""
    return reachable(names, parents)


def descendants_of(names: Iterable[str], parents: Parents) -> set[str]:
    """The children of some nodes, their children, and so on."""
    return reachable(names, children_of(parents))


def markov_blanket_of(name: str, parents: Parents) -> list[str]:
    """Parents, children and the children's other parents, in the order of the nodes."""
    children = children_of(parents)[name]
    blanket = {
        *parents[name],
        *children,
        *(spouse for child in children for spouse in parents[child]),
    }
    return [other for other in parents if other in blanket and other != name]


def moral_graph(parents: Parents) -> dict[str, set[str]]:
    """The neighbors of every node when parents of a common child are joined and directions are
    dropped.

    >>> {name: sorted(near) for name, near in moral_graph({"grass": ["rain", "sprinkler"]}).items()}
    {'grass': ['rain', 'sprinkler'], 'rain': ['grass', 'sprinkler'], 'sprinkler': ['grass', 'rain']}
    """
    parents = all_nodes(parents)
    neighbors: dict[str, set[str]] = {name: set() for name in parents}
    for name, of in parents.items():
        family = {name, *of}
        for member in family:
            neighbors[member] |= family - {member}
    return neighbors

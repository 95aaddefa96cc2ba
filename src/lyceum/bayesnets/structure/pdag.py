"""Patterns (CPDAGs): what graphs with the same independences have in common, and how far apart two
are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from lyceum.errors import DataError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


@dataclass(frozen=True)
class Pattern:
    """A partly directed graph on variables 0 ... n - 1.

    Attributes
    ----------
    n : int
    directed : set of (from, to)
    undirected : set of (smaller, larger)
        Edges that may point either way.
    """

    n: int
    directed: frozenset[tuple[int, int]]
    undirected: frozenset[tuple[int, int]]


class _Marks:
    """Edges while they are being oriented."""

    def __init__(self, near: Mapping[int, set[int]]) -> None:
        self.near = near
        self.to: dict[int, set[int]] = {v: set() for v in near}  # v → w

    def is_open(self, u: int, v: int) -> bool:
        return v in self.near[u] and v not in self.to[u] and u not in self.to[v]

    def direct(self, u: int, v: int) -> bool:
        if not self.is_open(u, v):
            return False
        self.to[u].add(v)
        return True

    def pattern(self) -> Pattern:
        directed = {(u, v) for u, targets in self.to.items() for v in targets}
        open_ = {(u, v) for u in self.near for v in self.near[u] if u < v and self.is_open(u, v)}
        return Pattern(len(self.near), frozenset(directed), frozenset(open_))


def _close(marks: _Marks) -> None:
    """Meek's four rules until nothing changes: no new collider, no cycle.

    The fourth applies only where some directions are given.
    """
    changed = True
    while changed:
        changed = False
        for u in marks.near:
            for v in sorted(marks.near[u]):
                if not marks.is_open(u, v):
                    continue
                into_u = {w for w in marks.near[u] if u in marks.to[w]}
                one = any(w not in marks.near[v] and w != v for w in into_u)
                two = any(v in marks.to[w] for w in marks.to[u])
                between = [w for w in marks.near[u] if marks.is_open(u, w) and v in marks.to[w]]
                three = any(b not in marks.near[a] for a, b in combinations(between, 2))
                apart = [w for w in marks.near[u] if w != v and w not in marks.near[v]]
                four = any(v in marks.to[x] for w in apart for x in marks.to[w] & marks.near[u])
                if (one or two or three or four) and not _leads(marks.to, v, u):
                    changed |= marks.direct(u, v)


def orient(
    near: Mapping[int, set[int]],
    separators: Mapping[tuple[int, int], tuple[int, ...]],
    strengths: Mapping[tuple[int, int], float] | None = None,
    given: Iterable[tuple[int, int]] = (),
) -> Pattern:
    """Colliders u → w ← v where w separates u and v by no test, then what follows from them.

    Edges with a `given` direction have it first; one that would then close a cycle is left out.
    """
    marks = _Marks(near)
    for u, v in given:
        if _leads(marks.to, v, u):
            marks.near[u].discard(v)
            marks.near[v].discard(u)
        else:
            marks.direct(u, v)
    found = []
    for w in near:
        for u, v in combinations(sorted(near[w]), 2):
            if v not in near[u] and w not in separators.get((u, v), ()):
                weak = max((strengths or {}).get((min(a, w), max(a, w)), 0.0) for a in (u, v))
                found.append((weak, u, w, v))
    for _, u, w, v in sorted(found):  # the surest first, where two contradict each other
        if w not in marks.to or u in marks.to[w] or v in marks.to[w]:
            continue
        if _leads(marks.to, w, u) or _leads(marks.to, w, v):
            continue
        marks.direct(u, w)
        marks.direct(v, w)
    _close(marks)
    return marks.pattern()


def _leads(to: Mapping[int, set[int]], start: int, end: int) -> bool:
    waiting = [start]
    seen = {start}
    while waiting:
        for v in to[waiting.pop()]:
            if v == end:
                return True
            if v not in seen:
                seen.add(v)
                waiting.append(v)
    return False


def pattern_of(net: BayesNet) -> Pattern:
    """The pattern of a network: all graphs with the same independences have the same one."""
    place = net.places
    near: dict[int, set[int]] = {i: set() for i in range(len(net.names))}
    for parent, child in net.edges:
        near[place[parent]].add(place[child])
        near[place[child]].add(place[parent])
    marks = _Marks(near)
    for node in net.nodes:
        for one, two in combinations(node.parents, 2):
            if place[two] not in near[place[one]]:
                marks.direct(place[one], place[node.name])
                marks.direct(place[two], place[node.name])
    _close(marks)
    return marks.pattern()


def extend(pattern: Pattern) -> list[set[int]]:
    """The parents of every variable in a graph without cycles that has the directions of the
    pattern.

    By D. Dor and M. Tarsi (1992): a node without outgoing edges whose open neighbors are
    neighbors of all its others becomes a sink. Where a pattern has no such graph, the remaining
    edges follow the numbers.
    """
    parents: list[set[int]] = [set() for _ in range(pattern.n)]
    into = {v: {a for a, b in pattern.directed if b == v} for v in range(pattern.n)}
    out = {v: {b for a, b in pattern.directed if a == v} for v in range(pattern.n)}
    near: dict[int, set[int]] = {v: set() for v in range(pattern.n)}
    for u, v in pattern.undirected:
        near[u].add(v)
        near[v].add(u)
    left = set(range(pattern.n))
    while left:
        sinks = [v for v in left if not out[v]]
        good = [v for v in sinks if _is_simplicial(v, near, into, out)]
        v = max(good or sinks or left)
        parents[v] = (into[v] | near[v]) & left - {v}
        left.discard(v)
        for w in left:
            into[w].discard(v)
            out[w].discard(v)
            near[w].discard(v)
    return parents


def _is_simplicial(
    v: int, near: Mapping[int, set[int]], into: Mapping[int, set[int]], out: Mapping[int, set[int]]
) -> bool:
    adjacent = {w: near[w] | into[w] | out[w] for w in (*near[v], v)}
    return all(adjacent[v] - {w} <= adjacent[w] for w in near[v])


def structural_distance(net: BayesNet, other: BayesNet) -> int:
    """The structural Hamming distance of two networks: edges of their patterns that differ.

    An edge that is missing, added or differently directed counts once. Networks with the same
    independences are at distance 0 (I. Tsamardinos, L. E. Brown and C. F. Aliferis, Machine
    Learning 65, 2006).

    Parameters
    ----------
    net, other : BayesNet
        On the same variables.

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, TableNode, structural_distance
    >>> forward = BayesNet([TableNode("a", [0, 1]), TableNode("b", [0, 1], ["a"])])
    >>> backward = BayesNet([TableNode("a", [0, 1], ["b"]), TableNode("b", [0, 1])])
    >>> structural_distance(forward, backward)
    0
    """
    if set(net.names) != set(other.names):
        raise DataError(
            "the networks have different variables, so that their structures cannot be compared"
        )
    marks = []
    for compared in (net, other):
        pattern = pattern_of(compared)
        names = compared.names
        edges = {}
        for u, v in pattern.directed:
            edges[frozenset((names[u], names[v]))] = (names[u], names[v])
        for u, v in pattern.undirected:
            edges[frozenset((names[u], names[v]))] = ("", "")
        marks.append(edges)
    pairs = set(marks[0]) | set(marks[1])
    return sum(marks[0].get(pair) != marks[1].get(pair) for pair in pairs)

"""Order search: from the peak of a hill climb to the best order of the variables, and on from
there."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lyceum._core.native import native
from lyceum.bayesnets.structure.search import StructureSearch, is_gain
from lyceum.progress import report

# how often the best order is disturbed and improved again; costs no counting
_KICKS = 40
_NEAREST = 8  # variables of the Markov blanket, of which all sets of parents are scored
_LARGEST = 3  # parents of such a set
Parents = list[set[int]]


def climb_with_orders(
    search: StructureSearch, start: Parents, rng: np.random.Generator
) -> tuple[Parents, float, list[float]]:
    """Hill climbing and order search in turn, until neither gains.

    A climb stops where several edges point the wrong way and each alone is worse turned. The
    families it has scored, and those from the neighborhood of every variable, are enough to look
    for a better order of all variables, in which each takes its best family from those before it;
    the next climb starts there.

    Returns the parents of every variable, the score, and the score after every step that improved
    it.
    """
    best, score, history = search.climb(start)
    for turn in range(1_000):
        report("orders", turn)
        search.learn_families(_blanket_families(search, best))
        parents, new_score, _ = search.climb(_best_order(search, best, rng))
        if not is_gain(new_score, score):
            break
        best = parents
        score = new_score
        history.append(score)
    return best, score, history


def _blanket_families(
    search: StructureSearch, parents: Parents
) -> list[tuple[int, frozenset[int]]]:
    """For every variable the sets of two or three of its Markov blanket, with the parents it must
    have."""
    rules = search.rules
    children = _children(parents)
    families = []
    for v, of in enumerate(parents):
        needed = frozenset(np.flatnonzero(rules.required[:, v]).tolist())
        blanket = of.union(children[v], *(parents[child] for child in children[v]))
        allowed = [u for u in blanket - {v} - needed if not rules.forbidden[u, v]]
        # the strongest alone; one that was never scored alone comes last
        alone = {u: search.known.get((v, needed | {u}), -np.inf) for u in allowed}
        nearest = sorted(allowed, key=lambda u: (-alone[u], u))[:_NEAREST]
        most = min(_LARGEST, rules.max_parents - len(needed))
        for size in range(1, most + 1):
            for added in combinations(sorted(nearest), size):
                families.append((v, needed.union(added)))
    return families


def _best_order(
    search: StructureSearch, parents: Parents, rng: np.random.Generator
) -> Parents:
    """The parents of every variable in the best order found, from that of a structure."""
    rules = search.rules
    required = [
        frozenset(np.flatnonzero(column).tolist()) for column in rules.required.T
    ]
    children: list[int] = []
    families: list[list[int]] = []
    scores: list[float] = []
    for (v, of), score in search.known.items():
        if score > -np.inf and required[v] <= of and len(of) <= rules.max_parents:
            children.append(v)
            families.append(sorted(of))
            scores.append(score)
    order = np.array(_order_of(parents), np.int32)
    chosen = np.empty(search.n, np.int32)
    native.order_search(
        np.array(children, np.int32),
        np.array([u for family in families for u in family], np.int32),
        np.cumsum([0, *map(len, families)], dtype=np.int32),
        np.array(scores),
        order,
        _KICKS,
        int(rng.integers(1 << 62)),
        chosen,
    )
    if (chosen < 0).any():  # required parents whose table is too large to be scored
        return parents
    return [set(families[family]) for family in chosen.tolist()]


def _children(parents: Parents) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    for v, of in enumerate(parents):
        for u in of:
            children[u].append(v)
    return children


def _order_of(parents: Parents) -> list[int]:
    """The variables with parents before children."""
    waiting = [len(of) for of in parents]
    children = _children(parents)
    order = [v for v, count in enumerate(waiting) if not count]
    for u in order:
        for v in children[u]:
            waiting[v] -= 1
            if not waiting[v]:
                order.append(v)
    return order

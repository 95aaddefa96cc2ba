"""PC: edges removed by tests of conditional independence, then oriented as far as the data
allow."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import inf

import numpy as np

from lyceum._core.statistics import IndependenceTest, independence_test
from lyceum.bayesnets.structure.coded_data import CodedData
from lyceum.bayesnets.structure.pdag import Pattern, orient
from lyceum.bayesnets.structure.search import EdgeRules
from lyceum.progress import report


def pc(
    data: CodedData,
    alpha: float = 0.05,
    kind: str = "g2",
    max_given: int | None = None,
    watch: Callable[[int, int, tuple[int, ...], IndependenceTest], None] | None = None,
    rules: EdgeRules | None = None,
) -> tuple[Pattern, int]:
    """The pattern (CPDAG) that the tests leave, and their number.

    A required edge is not tested, and a pair whose edge is forbidden both ways is apart from the
    start, which says nothing about colliders. An edge that is required, or forbidden one way, has
    its direction before any other is found (C. Meek, "Causal inference and causal explanation with
    background knowledge", 1995).

    P. Spirtes and C. Glymour 1991; in the order-independent form of D. Colombo and M. H. Maathuis,
    "Order- independent constraint-based causal structure learning", Journal of Machine Learning
    Research 15, 2014.
    """
    n = len(data.states)
    near = {v: set(range(n)) - {v} for v in range(n)}
    separators: dict[tuple[int, int], tuple[int, ...]] = {}
    strengths: dict[tuple[int, int], float] = {}
    if rules is None:
        required = np.zeros((n, n), dtype=bool)
    else:
        required = rules.required
    if rules is None:
        barred = required.T
    else:
        barred = rules.forbidden | required.T
    for u, v in np.argwhere(barred & barred.T & ~required & ~required.T).tolist():
        near[u].discard(v)
        separators[u, v] = tuple(range(n))
    n_tests = size = 0
    while size <= (inf if max_given is None else max_given):
        around = {v: sorted(others) for v, others in near.items()}
        pairs = [(u, v) for u in range(n) for v in around[u] if u < v]
        if not any(len(around[u]) > size or len(around[v]) > size for u, v in pairs):
            break
        for done, (u, v) in enumerate(pairs):
            report(f"tests given {size} variables", done, len(pairs))
            if required[u, v] or required[v, u]:
                continue
            for given in _sets(around, u, v, size):
                test = independence_test(data.counts((u, v, *given)), kind)
                n_tests += 1
                if watch is not None:
                    watch(u, v, given, test)
                if test.p_value > alpha:
                    near[u].discard(v)
                    near[v].discard(u)
                    separators[u, v] = given
                    break
                strengths[u, v] = max(strengths.get((u, v), 0.0), test.p_value)
        size += 1
    given_ways = [(u, v) for u, v in np.argwhere(required).tolist()]
    given_ways += [(u, v) for v, u in np.argwhere(barred & ~required.T).tolist() if v in near[u]]
    return orient(near, separators, strengths, given_ways), n_tests


def _sets(around: dict[int, list[int]], u: int, v: int, size: int):
    """Sets of neighbors of u without v, then of v without u, each once."""
    first = [w for w in around[u] if w != v]
    second = [w for w in around[v] if w != u]
    yield from combinations(first, size)
    if size:
        seen = set(first)
        yield from (given for given in combinations(second, size) if not seen.issuperset(given))

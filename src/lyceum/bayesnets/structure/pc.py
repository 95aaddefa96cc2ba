"""PC: edges removed by tests of conditional independence, then oriented as far as the data
allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from lyceum._core.statistics import independence_test
from lyceum.bayesnets.structure.coded_data import CodedData
from lyceum.bayesnets.structure.pdag import Pattern, orient
from lyceum.bayesnets.structure.search import EdgeRules
from lyceum.progress import report


def pc(
    data: CodedData,
    alpha: float = 0.05,
    kind: str = "g2",
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
    if rules is None:
        nothing = np.zeros((n, n), dtype=bool)
        rules = EdgeRules(nothing, nothing, n)
    required = rules.required
    barred = rules.forbidden | required.T
    skeleton = _Skeleton(data, alpha, kind)
    for u, v in np.argwhere(barred & barred.T & ~required & ~required.T).tolist():
        skeleton.neighbors[u].discard(v)
        skeleton.separators[u, v] = tuple(range(n))
    size = 0
    while skeleton.test_all(size, required | required.T):
        size += 1
    directions = [(u, v) for u, v in np.argwhere(required).tolist()]
    for v, u in np.argwhere(barred & ~required.T).tolist():
        if v in skeleton.neighbors[u]:
            directions.append((u, v))
    pattern = orient(
        skeleton.neighbors, skeleton.separators, skeleton.strengths, directions
    )
    return pattern, skeleton.n_tests


class _Skeleton:
    """The edges that the tests have left so far, and what they found."""

    def __init__(self, data: CodedData, alpha: float, kind: str) -> None:
        self.data = data
        self.alpha = alpha
        self.kind = kind
        variables = set(range(len(data.states)))
        self.neighbors = {v: variables - {v} for v in variables}
        self.separators: dict[tuple[int, int], tuple[int, ...]] = {}
        # the largest p-value of an edge
        self.strengths: dict[tuple[int, int], float] = {}
        self.n_tests = 0

    def test_all(self, size: int, certain: np.ndarray) -> bool:
        """Test every pair that is not certain given sets of neighbors of this size, if any are."""
        around = {v: sorted(others) for v, others in self.neighbors.items()}
        pairs = [(u, v) for u, others in around.items() for v in others if u < v]
        if not any(len(around[u]) > size or len(around[v]) > size for u, v in pairs):
            return False
        for done, (u, v) in enumerate(pairs):
            report(f"tests given {size} variables", done, len(pairs))
            if not certain[u, v]:
                self._test(u, v, _sets(around, u, v, size))
        return True

    def _test(self, u: int, v: int, conditions: Iterable[tuple[int, ...]]) -> None:
        """Remove the edge of u and v if they are independent given one of the conditions."""
        for condition in conditions:
            counts = self.data.counts((u, v, *condition))
            test = independence_test(counts, self.kind)
            self.n_tests += 1
            if test.p_value > self.alpha:
                self.neighbors[u].discard(v)
                self.neighbors[v].discard(u)
                self.separators[u, v] = condition
                return
            strongest = self.strengths.get((u, v), 0.0)
            self.strengths[u, v] = max(strongest, test.p_value)


def _sets(
    around: dict[int, list[int]], u: int, v: int, size: int
) -> Iterator[tuple[int, ...]]:
    """Sets of neighbors of u without v, then of v without u, each once."""
    first = [w for w in around[u] if w != v]
    second = [w for w in around[v] if w != u]
    yield from combinations(first, size)
    if not size:
        return
    seen = set(first)
    for condition in combinations(second, size):
        if not seen.issuperset(condition):
            yield condition

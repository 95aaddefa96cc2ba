"""Search for the structure of the best score: hill climbing and tabu search over single edges, and
from their peaks to the best order of the variables."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from lyceum._core.native import native
from lyceum.bayesnets.structure.coded_data import CodedData, ScoreRule, StreamedData
from lyceum.progress import report

_GAIN = 1e-9  # a gain below this part of the score is rounding
# how often the best order is disturbed and improved again; costs no counting
_KICKS = 40
_NEAREST = 8  # variables of the Markov blanket, of which all sets of parents are scored
_LARGEST = 3  # parents of such a set

Move = tuple[float, int, int, str]  # its gain, u, v, and what is done to the edge u → v


def is_gain(score: float, than: float) -> bool:
    """Whether a score is larger by more than rounding."""
    return score > than + _GAIN * abs(than)


@dataclass(frozen=True)
class EdgeRules:
    """Which edges there must and must not be.

    Attributes
    ----------
    required, forbidden : arrays of bool of shape (variables, variables)
        From the variable of the row to that of the column.
    max_parents : int
    """

    required: np.ndarray
    forbidden: np.ndarray
    max_parents: int


@dataclass
class StructureSearch:
    """Greedy moves of one edge (add, remove, turn) under a decomposable score.

    Every family is scored once and kept. With a tabu list, moves go on downhill for a while from a
    peak, and what was just done may not be undone.
    """

    data: CodedData | StreamedData
    rule: ScoreRule
    rules: EdgeRules
    known: dict[tuple[int, frozenset[int]], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n = len(self.data.states)
        alone = self.data.families([(v, []) for v in range(self.n)], self.rule)
        self.known.update({(v, frozenset()): s for v, s in enumerate(alone)})

    # -- the scores of families --------------------------------------------------------

    def _learn(self, children: list[int], parents: list[set[int]]) -> None:
        """Score what can be reached by one edge to these children, as far as it is not known."""
        # One more parent, for all candidates in one request, and one less. A family without u is
        # asked for as the addition of its last member to the rest.
        requests = []
        for v in children:
            family = frozenset(parents[v])
            if len(family) < self.rules.max_parents:
                more = [
                    u
                    for u in self._candidates(v, family)
                    if (v, family | {u}) not in self.known
                ]
                requests.append((v, sorted(family), more))
            for u in family:
                less = sorted(family - {u})
                if (v, family - {u}) not in self.known:
                    requests.append((v, less[:-1], less[-1:]))
        self._score([request for request in requests if request[2]])

    def _candidates(self, v: int, family: frozenset[int]) -> list[int]:
        """What may become a parent of v beside those it has."""
        allowed = ~self.rules.forbidden[:, v]
        allowed[[v, *family]] = False
        return np.flatnonzero(allowed).tolist()

    def learn_families(self, families: list[tuple[int, frozenset[int]]]) -> None:
        """Score these children with these parents, at least one each, as far as they are not
        known."""
        requests: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for v, parents in families:
            if (v, parents) not in self.known:
                *base, extra = sorted(parents)
                requests.setdefault((v, tuple(base)), []).append(extra)
        self._score([(v, list(base), more) for (v, base), more in requests.items()])

    def _score(self, requests: list[tuple[int, list[int], list[int]]]) -> None:
        if not requests:
            return
        every_score = self.data.scores(requests, self.rule)
        for (v, parents, more), scores in zip(requests, every_score):
            base = frozenset(parents)
            for u, score in zip(more, scores.tolist()):
                self.known[v, base | {u}] = score

    def total(self, parents: list[set[int]]) -> float:
        """The score of a structure."""
        families = [(v, frozenset(of)) for v, of in enumerate(parents)]
        lacking = [family for family in families if family not in self.known]
        if lacking:
            requests = [(v, sorted(of)) for v, of in lacking]
            scores = self.data.families(requests, self.rule)
            self.known.update(zip(lacking, scores))
        return sum(self.known[family] for family in families)

    # -- moves -------------------------------------------------------------------------

    def climb(
        self,
        parents: list[set[int]],
        tabu_length: int = 0,
        patience: int = 0,
        max_steps: int = 100_000,
    ) -> tuple[list[set[int]], float, list[float]]:
        """The best structure found from a start, its score, and the score after every step."""
        # `parents` is shared with `gains`, which changes it in place; `best` is a copy
        parents = [set(of) for of in parents]
        score = self.total(parents)
        best_score = score
        best = [set(of) for of in parents]
        history = [score]
        self._learn(list(range(self.n)), parents)
        gains = _Gains(self, parents)
        tabu: deque[tuple[int, int]] = deque(maxlen=tabu_length)
        worse = 0
        for step in range(max_steps):
            report("edges", step)
            move = gains.best(tabu)
            if move is None:
                break
            gain, u, v, kind = move
            if gain <= _GAIN * abs(score) and not tabu_length:
                break
            changed = gains.apply(u, v, kind)
            score += gain
            history.append(score)
            tabu.append((min(u, v), max(u, v)))
            self._learn(changed, parents)
            gains.refresh(changed)
            worse += 1
            if is_gain(score, best_score):
                best = [set(of) for of in parents]
                best_score = score
                worse = 0
            if worse > patience:
                break
        # summed anew, as a long sum of gains gathers rounding
        return best, self.total(best), history


class _Gains:
    """The gain of every possible change of an edge, updated while edges change."""

    def __init__(self, search: StructureSearch, parents: list[set[int]]) -> None:
        self.search = search
        self.parents = parents
        n = search.n
        self.add = np.full((n, n), -np.inf)  # [u, v]: the edge u → v
        # the same, without the edges that close a cycle
        self.open = np.full((n, n), -np.inf)
        self.remove = np.full((n, n), -np.inf)
        self.edges = np.zeros((n, n), dtype=bool)
        for v, of in enumerate(parents):
            self.edges[list(of), v] = True
        self.reach = _reachable(self.edges)
        self.refresh(range(n))

    def refresh(self, children: Iterable[int]) -> None:
        """The gains of the edges to these children, whose parents have changed."""
        known = self.search.known
        rules = self.search.rules
        for v in children:
            family = frozenset(self.parents[v])
            score = known[v, family]
            self.add[:, v] = -np.inf
            self.remove[:, v] = -np.inf
            for u in family:
                if not rules.required[u, v]:
                    self.remove[u, v] = known[v, family - {u}] - score
            if len(family) < rules.max_parents:
                candidates = self.search._candidates(v, family)
                self.add[candidates, v] = [
                    known[v, family | {u}] - score for u in candidates
                ]
            # u → v closes a cycle if v leads to u
            closes_cycle = self.reach[v]
            self.open[:, v] = np.where(closes_cycle, -np.inf, self.add[:, v])

    def best(self, tabu: Collection[tuple[int, int]]) -> Move | None:
        """The move of the largest gain that makes no cycle."""
        moves = [self._best_addition(tabu)]
        tails, heads = np.nonzero(self.edges)
        edges = [
            (u, v)
            for u, v in zip(tails.tolist(), heads.tolist())
            if (min(u, v), max(u, v)) not in tabu
        ]
        if edges:
            tails, heads = np.array(edges).T
            remove = self.remove[tails, heads]
            k = int(remove.argmax())
            moves.append((float(remove[k]), *edges[k], "remove"))
            # Turning changes two families: v loses u, and u gains v. It makes a cycle if u leads to
            # v another way, which is tested from the best turn on, as long as it could win.
            turn = remove + self.add[heads, tails]
            for k in np.argsort(-turn, kind="stable").tolist():
                if turn[k] <= max(move[0] for move in moves):
                    break
                if not self._other_path(*edges[k]):
                    moves.append((float(turn[k]), *edges[k], "turn"))
        largest = max(moves, key=lambda move: move[0])
        if largest[0] == -np.inf:
            return None
        return largest

    def _best_addition(self, tabu: Iterable[tuple[int, int]]) -> Move:
        # tabu edges are closed while the best of the others is looked for, and then opened again,
        # in reverse, as an edge that is listed twice must get its first value back
        barred = [
            (u, v, self.open[u, v]) for edge in tabu for u, v in (edge, edge[::-1])
        ]
        for u, v, _ in barred:
            self.open[u, v] = -np.inf
        tail, head = divmod(int(self.open.argmax()), self.search.n)
        addition = (float(self.open[tail, head]), tail, head, "add")
        for u, v, gain in reversed(barred):
            self.open[u, v] = gain
        return addition

    def _other_path(self, u: int, v: int) -> bool:
        """Whether u leads to v other than by the edge between them."""
        others = self.edges[u] & self.reach[:, v]
        others[v] = False
        return bool(others.any())

    def apply(self, u: int, v: int, kind: str) -> list[int]:
        """Make a move; the variables whose parents changed."""
        if kind == "add":
            self.parents[v].add(u)
            self.edges[u, v] = True
            # all that lead to u now lead to all that v leads to, and no edge back is open
            before = np.append(np.flatnonzero(self.reach[:, u]), u)
            after = np.append(np.flatnonzero(self.reach[v]), v)
            self.reach[np.ix_(before, after)] = True
            self.open[np.ix_(after, before)] = -np.inf
            return [v]
        self.parents[v].discard(u)
        self.edges[u, v] = False
        changed = [v]
        if kind == "turn":
            self.parents[u].add(v)
            self.edges[v, u] = True
            changed.append(u)
        # a path that is lost may have others beside it: all are found again
        self.reach = _reachable(self.edges)
        np.copyto(self.open, self.add)
        self.open[self.reach.T] = -np.inf
        return changed


def _reachable(edges: np.ndarray) -> np.ndarray:
    """Whether a path of at least one edge leads from the row to the column of a graph without
    cycles."""
    # from the leaves up: the union of the children and of what they reach
    reach = edges.copy()
    children = [np.flatnonzero(row) for row in edges]
    waiting = edges.sum(axis=1)  # children whose own paths are not known yet
    ready = np.flatnonzero(waiting == 0).tolist()
    for v in ready:
        if len(children[v]):
            reach[v] |= reach[children[v]].any(axis=0)
        for u in np.flatnonzero(edges[:, v]).tolist():
            waiting[u] -= 1
            if not waiting[u]:
                ready.append(u)
    return reach


def random_moves(
    search: StructureSearch,
    parents: list[set[int]],
    count: int,
    rng: np.random.Generator,
) -> list[set[int]]:
    """A structure some random additions and removals away."""
    rules = search.rules
    parents = [set(of) for of in parents]
    edges = np.zeros((search.n, search.n), dtype=bool)
    for v, of in enumerate(parents):
        edges[list(of), v] = True
    for _ in range(count):
        u, v = rng.choice(search.n, 2, replace=False).tolist()
        if edges[u, v]:
            if not rules.required[u, v]:
                edges[u, v] = False
                parents[v].discard(u)
        elif (
            not _reachable(edges)[v, u]
            and not rules.forbidden[u, v]
            and len(parents[v]) < rules.max_parents
        ):
            edges[u, v] = True
            parents[v].add(u)
    return parents


def k2(
    data: CodedData | StreamedData,
    rule: ScoreRule,
    order: Sequence[int],
    rules: EdgeRules,
) -> list[set[int]]:
    """The structure that greedy additions along an order lead to.

    G. F. Cooper and E. Herskovits, "A Bayesian method for the induction of probabilistic networks
    from data", Machine Learning 9, 1992.
    """
    # only variables before v may be its parents, so that no cycle can arise
    parents: list[set[int]] = [set() for _ in order]
    for i, v in enumerate(order):
        family = [u for u in order[:i] if rules.required[u, v]]
        (score,) = data.families([(v, family)], rule)
        while len(family) < rules.max_parents:
            more = [
                u for u in order[:i] if u not in family and not rules.forbidden[u, v]
            ]
            if not more:
                break
            (scores,) = data.scores([(v, family, more)], rule)
            best = int(scores.argmax())
            if not scores[best] > score:
                break
            family = [*family, more[best]]
            score = float(scores[best])
        parents[v] = set(family)
    return parents


# -- order search ----------------------------------------------------------------------


def climb_with_orders(
    search: StructureSearch, start: list[set[int]], rng: np.random.Generator
) -> tuple[list[set[int]], float, list[float]]:
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
    search: StructureSearch, parents: list[set[int]]
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
    search: StructureSearch, parents: list[set[int]], rng: np.random.Generator
) -> list[set[int]]:
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


def _children(parents: list[set[int]]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    for v, of in enumerate(parents):
        for u in of:
            children[u].append(v)
    return children


def _order_of(parents: list[set[int]]) -> list[int]:
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

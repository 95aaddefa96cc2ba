"""Search for the structure of the best score: hill climbing and tabu search over single edges."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lyceum.bayesnets.structure.coded_data import CodedData, ScoreRule, StreamedData
from lyceum.progress import report

_GAIN = 1e-9  # a gain below this part of the score is rounding


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
        requests = []
        for v in children:
            here = frozenset(parents[v])
            if len(here) < self.rules.max_parents:
                more = [
                    u
                    for u in range(self.n)
                    if u != v
                    and u not in here
                    and not self.rules.forbidden[u, v]
                    and (v, here | {u}) not in self.known
                ]
                requests.append((v, sorted(here), more))
            for u in here:
                less = sorted(here - {u})
                if (v, here - {u}) not in self.known:
                    requests.append((v, less[:-1], less[-1:]))
        requests = [request for request in requests if request[2]]
        self._score(requests)

    def learn_families(self, families: list[tuple[int, frozenset[int]]]) -> None:
        """Score these children with these parents, at least one each, as far as they are not
        known."""
        requests: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for v, of in families:
            if (v, of) not in self.known:
                *some, extra = sorted(of)
                requests.setdefault((v, tuple(some)), []).append(extra)
        self._score([(v, list(some), more) for (v, some), more in requests.items()])

    def _score(self, requests: list[tuple[int, list[int], list[int]]]) -> None:
        if not requests:
            return
        for (v, some, more), scores in zip(requests, self.data.scores(requests, self.rule)):
            base = frozenset(some)
            self.known.update({(v, base | {u}): s for u, s in zip(more, scores.tolist())})

    def total(self, parents: list[set[int]]) -> float:
        """The score of a structure."""
        lacking = [
            (v, sorted(of)) for v, of in enumerate(parents) if (v, frozenset(of)) not in self.known
        ]
        if lacking:
            scores = self.data.families(lacking, self.rule)
            self.known.update({(v, frozenset(of)): s for (v, of), s in zip(lacking, scores)})
        return sum(self.known[v, frozenset(of)] for v, of in enumerate(parents))

    # -- moves -------------------------------------------------------------------------

    def climb(
        self,
        parents: list[set[int]],
        tabu_length: int = 0,
        patience: int = 0,
        max_steps: int = 100_000,
    ) -> tuple[list[set[int]], float, list[float]]:
        """The best structure found from a start, its score, and the score after every step."""
        parents = [set(of) for of in parents]
        score = best_score = self.total(parents)
        best = [set(of) for of in parents]
        history = [score]
        self._learn(list(range(self.n)), parents)
        gains = _Gains(self, parents)
        tabu: deque[tuple[int, int]] = deque(maxlen=max(tabu_length, 1))
        worse = 0
        for step in range(max_steps):
            report("edges", step)
            move = gains.best(tabu if tabu_length else ())
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
            if is_gain(score, best_score):
                best = [set(of) for of in parents]
                best_score = score
                worse = 0
            else:
                worse += 1
                if worse > patience:
                    break
        return best, self.total(best), history


class _Gains:
    """The gain of every possible change of an edge, updated while edges change."""

    def __init__(self, search: StructureSearch, parents: list[set[int]]) -> None:
        self.search = search
        self.parents = parents
        n = search.n
        self.add = np.full((n, n), -np.inf)  # [u, v]: the edge u → v
        self.open = np.full((n, n), -np.inf)  # the same, without the edges that close a cycle
        self.remove = np.full((n, n), -np.inf)
        self.edges = np.zeros((n, n), dtype=bool)
        for v, of in enumerate(parents):
            self.edges[list(of), v] = True
        self.reach = _reachable(self.edges)
        self.refresh(range(n))

    def refresh(self, children) -> None:
        known = self.search.known
        rules = self.search.rules
        for v in children:
            here = frozenset(self.parents[v])
            now = known[v, here]
            self.add[:, v] = self.remove[:, v] = -np.inf
            for u in here:
                if not rules.required[u, v]:
                    self.remove[u, v] = known[v, here - {u}] - now
            if len(here) < rules.max_parents:
                allowed = ~rules.forbidden[:, v]
                allowed[[v, *here]] = False
                some = np.flatnonzero(allowed)
                self.add[some, v] = [known[v, here | {u}] - now for u in some.tolist()]
            self._open(v)

    def _open(self, v: int) -> None:
        self.open[:, v] = np.where(self.reach[v], -np.inf, self.add[:, v])

    def best(self, tabu) -> tuple[float, int, int, str] | None:
        """The move of the largest gain that makes no cycle."""
        left = [(u, v, self.open[u, v]) for edge in tabu for u, v in (edge, edge[::-1])]
        for u, v, _ in left:
            self.open[u, v] = -np.inf
        u, v = np.unravel_index(int(self.open.argmax()), self.open.shape)
        moves = [(float(self.open[u, v]), int(u), int(v), "add")]
        for u, v, gain in reversed(left):
            self.open[u, v] = gain
        tails, heads = np.nonzero(self.edges)
        free = np.array(
            [(min(e), max(e)) not in tabu for e in zip(tails.tolist(), heads.tolist())], bool
        )
        tails = tails[free]
        heads = heads[free]
        if len(tails):
            remove = self.remove[tails, heads]
            k = int(remove.argmax())
            moves.append((float(remove[k]), int(tails[k]), int(heads[k]), "remove"))
            turn = remove + self.add[heads, tails]
            for k in np.argsort(-turn, kind="stable"):
                if turn[k] <= max(move[0] for move in moves):
                    break
                if not self._other_path(int(tails[k]), int(heads[k])):
                    moves.append((float(turn[k]), int(tails[k]), int(heads[k]), "turn"))
        top = max(moves, key=lambda move: move[0])
        if top[0] == -np.inf:
            return None
        return top

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
        self.reach = _reachable(self.edges)
        np.copyto(self.open, self.add)
        self.open[self.reach.T] = -np.inf
        return changed


def _reachable(edges: np.ndarray) -> np.ndarray:
    """Whether a path of at least one edge leads from the row to the column of a graph without
    cycles."""
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
    search: StructureSearch, parents: list[set[int]], count: int, rng: np.random.Generator
) -> list[set[int]]:
    """A structure some random additions and removals away."""
    parents = [set(of) for of in parents]
    edges = np.zeros((search.n, search.n), dtype=bool)
    for v, of in enumerate(parents):
        edges[list(of), v] = True
    for _ in range(count):
        u, v = rng.choice(search.n, 2, replace=False)
        if edges[u, v]:
            if not search.rules.required[u, v]:
                edges[u, v] = False
                parents[v].discard(int(u))
        elif (
            not _reachable(edges)[v, u]
            and not search.rules.forbidden[u, v]
            and len(parents[v]) < search.rules.max_parents
        ):
            edges[u, v] = True
            parents[v].add(int(u))
    return parents


Climb = Callable[[list[set[int]]], tuple[list[set[int]], float, list[float]]]

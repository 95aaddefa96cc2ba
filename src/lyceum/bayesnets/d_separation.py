"""Conditional independence read off a graph: d-separation, path by path, and the local Markov
statements."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from lyceum._core.probability import find_labels
from lyceum._core.report import Shown
from lyceum.bayesnets.directed_graph import (
    Parents,
    all_nodes,
    ancestors_of,
    children_of,
    descendants_of,
    names_of,
    topological_order,
)
from lyceum.bayesnets.net import BayesNet
from lyceum.errors import DataError, SettingError

_MOST_STEPS = 1_000_000  # along edges in the search for paths: about half a second


@dataclass(frozen=True, slots=True)
class PathVerdict:
    """A path between two variables, and what blocks it.

    Attributes
    ----------
    nodes : tuple of str
    text : str
        The path with its arrows.
    blocked : bool
    reasons : tuple of str
        For every inner node in words why it blocks the path or lets it through.
    """

    nodes: tuple[str, ...]
    text: str
    blocked: bool
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        verdict = "blocked" if self.blocked else "open"
        lines = [f"{self.text}: {verdict}", *self.reasons]
        return "\n    ".join(lines)


@dataclass(frozen=True)
class DSeparation(Shown):
    """Whether two sets of variables are d-separated by a third, and why.

    `bool(verdict)` is the verdict: `if d_separated(net, "a", "b"): ...`.

    Attributes
    ----------
    separated : bool
        The verdict.
    first, second, given : tuples of str
        The two sets, and the variables that are given.
    paths : tuple of PathVerdict
        Every path between the sets up to `max_paths`; the open ones first.
    n_left_out : int
        0 if all paths are listed; -1 if there are more, whose number is not known.
    statement : str
        A ⊥ B | C, or its negation.

    See Also
    --------
    d_separated : Makes it.
    local_markov : Independences that hold at every node.
    lyceum.statistics.independence_test : A test on counts of rows instead of a graph.

    References
    ----------
    J. Pearl, "Probabilistic Reasoning in Intelligent Systems", Morgan Kaufmann, 1988, section 3.3.

    Examples
    --------
    >>> from lyceum.bayesnets import d_separated
    >>> parents = {"alarm": ["burglary", "earthquake"]}
    >>> verdict = d_separated(parents, "burglary", "earthquake", "alarm")
    >>> bool(verdict), verdict.statement
    (False, 'burglary ⊥̸ earthquake | alarm')
    >>> [(path.text, path.blocked) for path in verdict.paths]
    [('burglary → alarm ← earthquake', False)]
    """

    separated: bool
    first: tuple[str, ...]
    second: tuple[str, ...]
    given: tuple[str, ...]
    paths: tuple[PathVerdict, ...]
    n_left_out: int = 0

    def __bool__(self) -> bool:
        return self.separated

    @property
    def statement(self) -> str:
        """A ⊥ B | C, or the contrary."""
        sign = "⊥" if self.separated else "⊥̸"
        first = ", ".join(self.first)
        return f"{first} {sign} {_second_text(self.second, self.given)}"

    def as_dict(self) -> dict[str, Any]:
        """The verdict and its paths, in JSON's own types."""
        return {
            "separated": self.separated,
            "statement": self.statement,
            "first": list(self.first),
            "second": list(self.second),
            "given": list(self.given),
            "complete": not self.n_left_out,
            "paths": [
                {
                    "path": path.text,
                    "nodes": list(path.nodes),
                    "blocked": path.blocked,
                    "reasons": list(path.reasons),
                }
                for path in self.paths
            ],
        }

    def __str__(self) -> str:
        if not self.separated:
            why = "a path is open"
        elif self.paths or self.n_left_out:
            why = "every path is blocked"
        else:
            why = "no path connects them"
        lines = [
            f"{self.statement}: {why}",
            *(f"  {path}".replace("\n", "\n  ") for path in self.paths),
        ]
        if self.n_left_out:
            lines.append(f"  … and more paths than these {len(self.paths)}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class LocalMarkov:
    """A variable is independent of its non-descendants given its parents."""

    name: str
    others: tuple[str, ...]
    given: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} ⊥ {_second_text(self.others, self.given)}"


def _second_text(names: Sequence[str], given: Sequence[str]) -> str:
    """The right side of a statement: B, or B | C."""
    text = ", ".join(names)
    if given:
        text += f" | {', '.join(given)}"
    return text


def _parents_of(net: BayesNet | Parents) -> dict[str, Sequence[str]]:
    if isinstance(net, BayesNet):
        return dict(net.parents)
    parents = all_nodes(net)
    names_of("the graph", parents)
    topological_order(parents)
    return parents


def local_markov(net: BayesNet | Mapping[str, Sequence[str]]) -> list[LocalMarkov]:
    """The local Markov statements of a graph: every node ⊥ its non-descendants | its parents.

    Parameters
    ----------
    net : BayesNet, or a dict of name to parents

    Examples
    --------
    >>> wet = {"rain": [], "sprinkler": ["rain"], "wet": ["rain", "sprinkler"]}
    >>> for statement in local_markov({**wet, "slip": ["wet"]}):
    ...     print(statement)
    slip ⊥ rain, sprinkler | wet
    """
    parents = _parents_of(net)
    statements = []
    for name in topological_order(parents):
        excluded = {name, *parents[name]} | descendants_of([name], parents)
        others = [other for other in parents if other not in excluded]
        if others:
            statements.append(LocalMarkov(name, tuple(others), tuple(parents[name])))
    return statements


def d_separated(
    net: BayesNet | Mapping[str, Sequence[str]],
    A: str | Iterable[str],
    B: str | Iterable[str],
    given: str | Iterable[str] = (),
    *,
    max_paths: int = 200,
) -> DSeparation:
    """Whether `given` d-separates A from B: then they are independent in every network with this
    graph.

    A path is blocked at a node where arrows meet tail to tail or head to tail if the node is given,
    and at one where they meet head to head unless it or a descendant of it is given.

    Parameters
    ----------
    net : BayesNet, or a dict of name to parents
    A, B : name or names
    given : name or names, default=()
    max_paths : int, default=200
        How many paths are listed, a shortest open one first; the verdict does not depend on it. In
        large graphs the list may end earlier, after a million steps along edges.

    Returns
    -------
    DSeparation
        True or false itself, with every path and the nodes that block or open it.

    References
    ----------
    J. Pearl, "Probabilistic Reasoning in Intelligent Systems", Morgan Kaufmann, 1988, section 3.3.

    Examples
    --------
    >>> alarm = {"alarm": ["burglary", "earthquake"], "call": ["alarm"]}
    >>> print(d_separated(alarm, "burglary", "earthquake"))
    burglary ⊥ earthquake: every path is blocked
      burglary → alarm ← earthquake: blocked
          alarm: head to head, and neither it nor a descendant is given: blocks
    >>> print(d_separated(alarm, "burglary", "earthquake", "call"))
    burglary ⊥̸ earthquake | call: a path is open
      burglary → alarm ← earthquake: open
          alarm: head to head, and its descendant call is given: opens
    """
    parents = _parents_of(net)
    sets = []
    for what, names in (("A", A), ("B", B), ("given", given)):
        wanted = names_of(what, names)
        find_labels(wanted, list(parents), f"{what}: the variable")
        sets.append(tuple(dict.fromkeys(wanted)))
    first, second, observed = sets
    if not first or not second:
        raise DataError(
            "d-separation is of two sets of variables: name one in each at least"
        )
    for left, right, where in (
        (first, second, "A and B"),
        (first, observed, "A and given"),
        (second, observed, "B and given"),
    ):
        both = set(left) & set(right)
        if both:
            raise DataError(
                f"{min(both)!r} is in {where}: the three sets have no variable in common"
            )
    # The verdict is linear in the edges; the paths, which may be exponentially many, only show why.
    known = set(observed)
    open_path = _shortest_open_path(first, set(second), known, parents)
    example = open_path or _shortest_path(first, set(second), parents)
    paths, complete = _list_paths(parents, first, second, example, max_paths)
    met = {name for path in paths for name in path}
    openings = _openings(met, known, parents)
    verdicts = [_judge(path, known, parents, openings) for path in paths]
    verdicts.sort(key=lambda path: (path.blocked, len(path.nodes)))
    return DSeparation(
        separated=open_path is None,
        first=first,
        second=second,
        given=observed,
        paths=tuple(verdicts),
        n_left_out=0 if complete else -1,
    )


def _shortest_open_path(
    start: Iterable[str], ends: set[str], known: set[str], parents: Parents
) -> tuple[str, ...] | None:
    """The nodes of a shortest open path from one set to the other, None if all are blocked.

    Breadth-first over nodes with the direction of arrival (Koller and Friedman 2009, algorithm
    3.1), linear in the edges. A shortest walk passes no node twice: what can be done when arriving
    at a node again could have been done the first time.
    """
    children = children_of(parents)
    # colliders let through where they or a descendant are given
    opened = ancestors_of(known, parents) | known
    # True is upward, from a child (the start too)
    before: dict[tuple[str, bool], tuple[str, bool] | None] = {
        (name, True): None for name in start
    }
    waiting = list(before)
    for arrival in waiting:  # grows
        name, upward = arrival
        if name in ends:
            return _walk_back(arrival, before)
        steps: list[tuple[str, bool]] = []
        if name not in known:
            steps += [(child, False) for child in children[name]]
        if (upward and name not in known) or (not upward and name in opened):
            steps += [(parent, True) for parent in parents[name]]
        for step in steps:
            if step not in before:
                before[step] = arrival
                waiting.append(step)
    return None


def _walk_back(
    arrival: tuple[str, bool],
    before: Mapping[tuple[str, bool], tuple[str, bool] | None],
) -> tuple[str, ...]:
    """The nodes from the start to an arrival."""
    names = []
    visit: tuple[str, bool] | None = arrival
    while visit is not None:
        names.append(visit[0])
        visit = before[visit]
    return tuple(names[::-1])


def _shortest_path(
    start: Iterable[str], ends: set[str], parents: Parents
) -> tuple[str, ...] | None:
    """The nodes of a shortest path from one set to the other, whatever its arrows."""
    children = children_of(parents)
    before: dict[tuple[str, bool], tuple[str, bool] | None] = {
        (name, True): None for name in start
    }
    waiting = list(before)
    for arrival in waiting:  # grows
        name = arrival[0]
        if name in ends:
            return _walk_back(arrival, before)
        for other in (*parents[name], *children[name]):
            if (other, True) not in before:
                before[other, True] = arrival
                waiting.append((other, True))
    return None


def _list_paths(
    parents: Parents,
    first: Sequence[str],
    second: Sequence[str],
    example: tuple[str, ...] | None,
    most: int,
) -> tuple[list[tuple[str, ...]], bool]:
    """Up to `most` paths, the example first if there is one, and whether these are all."""
    if not isinstance(most, Integral) or most < 0:
        raise SettingError(f"max_paths is {most!r}: ask for a whole number from 0 on")
    if example is None:
        return [], True
    paths = [example]
    work = _PathBudget(_MOST_STEPS)
    for path in _paths(parents, first, second, work):
        if path == example:
            continue
        if len(paths) >= most:
            return paths[:most], False
        paths.append(path)
    return paths[:most], work.left > 0 and len(paths) <= most


@dataclass(slots=True)
class _PathBudget:
    """The steps along edges that a search for paths may still take."""

    left: int


def _paths(
    parents: Parents, first: Sequence[str], second: Sequence[str], work: _PathBudget
) -> Iterator[tuple[str, ...]]:
    """The paths without repeated nodes from one set to the other, which have no other node of
    either set, as far as the work lasts."""
    children = children_of(parents)
    neighbors = {name: [*parents[name], *children[name]] for name in parents}
    ends = set(second)
    inner = set(parents) - set(first) - ends
    for start in first:
        # depth-first, with the neighbors that are still to be tried at every node of the path
        path = [start]
        stack = [iter(_leading(neighbors, start, inner, ends, path, work))]
        while stack:
            name = next(stack[-1], None)
            if name is None:
                stack.pop()
                path.pop()
            elif name in ends:
                yield (*path, name)
            else:
                path.append(name)
                leading = _leading(neighbors, name, inner, ends, path, work)
                stack.append(iter(leading))


def _leading(
    neighbors: Mapping[str, Sequence[str]],
    name: str,
    inner: set[str],
    ends: set[str],
    path: Sequence[str],
    work: _PathBudget,
) -> list[str]:
    """The neighbors from which a path goes on to an end past none of its nodes: every one gives at
    least one path, so that none is walked in vain."""
    # backward from the ends through nodes that are not on the path
    usable = inner.difference(path)
    reached = set(ends)
    waiting = list(ends)
    while waiting and work.left > 0:
        beside = neighbors[waiting.pop()]
        work.left -= len(beside)
        new = usable.intersection(beside) - reached
        reached |= new
        waiting.extend(new)
    if work.left <= 0:
        return []
    return [other for other in neighbors[name] if other in reached]


def _openings(
    names: Iterable[str], given: set[str], parents: Parents
) -> dict[str, str]:
    """For every one of some nodes that is given or has a descendant that is: the node itself, or
    the first such descendant."""
    openings: dict[str, str] = {}
    for known in sorted(given):
        for name in ancestors_of([known], parents):
            openings.setdefault(name, known)
    openings |= {name: name for name in given}
    return {name: openings[name] for name in names if name in openings}


def _judge(
    path: tuple[str, ...],
    given: set[str],
    parents: Parents,
    openings: Mapping[str, str],
) -> PathVerdict:
    """Go along the path: what every inner node does depends on the arrows at its two sides."""
    arrows = [
        "→" if name in parents[after] else "←"
        for name, after in itertools.pairwise(path)
    ]
    text = path[0]
    for arrow, name in zip(arrows, path[1:]):
        text += f" {arrow} {name}"
    reasons = []
    blocked = False
    for before, name, after in zip(arrows, path[1:-1], arrows[1:]):
        if before == "→" and after == "←":
            if name in openings:
                what = "it is given"
                if openings[name] != name:
                    what = f"its descendant {openings[name]} is given"
                reasons.append(f"{name}: head to head, and {what}: opens")
            else:
                blocked = True
                reasons.append(
                    f"{name}: head to head, and neither it nor a descendant is given: blocks"
                )
        else:
            fork = before == "←" and after == "→"
            kind = "tail to tail" if fork else "head to tail"
            if name in given:
                blocked = True
                reasons.append(f"{name}: {kind}, given: blocks")
            else:
                reasons.append(f"{name}: {kind}, not given: lets through")
    return PathVerdict(path, text, blocked, tuple(reasons))

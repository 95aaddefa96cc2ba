"""Conditional independence read off a graph: d-separation, path by path, and the local Markov
statements."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lyceum._core.probability import find_labels
from lyceum.bayesnets.directed_graph import (
    Parents,
    all_nodes,
    ancestors_of,
    children_of,
    descendants_of,
    reachable,
    topological_order,
)
from lyceum.bayesnets.net import BayesNet
from lyceum.errors import DataError


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
class DSeparation:
    """Whether two sets of variables are d-separated by a third, and why.

    `bool(verdict)` is the verdict: `if d_separated(net, "a", "b"): ...`.

    Attributes
    ----------
    separated : bool
        The verdict.
    first, second, given : tuples of str
        The two sets, and the variables that are given.
    paths : tuple of PathVerdict
        Every path between the sets; the open ones first.
    n_left_out : int
        Paths beyond `max_paths`, which are not listed; -1 if their number is not known.
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
            "paths": [
                {
                    "path": path.text,
                    "blocked": path.blocked,
                    "reasons": list(path.reasons),
                }
                for path in self.paths
            ],
        }

    def __str__(self) -> str:
        if not self.paths:
            why = "no path connects them"
        elif self.separated:
            why = "every path is blocked"
        else:
            why = "a path is open"
        lines = [
            f"{self.statement}: {why}",
            *(f"  {path}".replace("\n", "\n  ") for path in self.paths),
        ]
        if self.n_left_out:
            lines.append("  … and more paths")
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
    parents = all_nodes({name: tuple(of) for name, of in net.items()})
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
        How many paths are listed; the verdict does not depend on it.

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
        wanted = (names,) if isinstance(names, str) else tuple(names)
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
    reached = _openly_reachable(first, set(observed), parents)
    paths: list[PathVerdict] = []
    left_out = 0
    for path in _paths(parents, first, second):
        if len(paths) >= max_paths:
            left_out = -1
            break
        paths.append(_judge(path, set(observed), parents))
    paths.sort(key=lambda path: (path.blocked, len(path.nodes)))
    return DSeparation(
        separated=not reached & set(second),
        first=first,
        second=second,
        given=observed,
        paths=tuple(paths),
        n_left_out=left_out,
    )


def _openly_reachable(
    start: Iterable[str], known: set[str], parents: Parents
) -> set[str]:
    """The variables that an open path from `start` reaches (Koller and Friedman 2009, algorithm
    3.1)."""
    children = children_of(parents)
    # colliders let through where they or a descendant are given
    opened = ancestors_of(known, parents) | known
    # A node counts once per direction of arrival: True is upward, from a child (the start too).
    waiting = [(name, True) for name in start]
    seen: set[tuple[str, bool]] = set()
    reached: set[str] = set()
    while waiting:
        name, upward = waiting.pop()
        if (name, upward) in seen:
            continue
        seen.add((name, upward))
        if name not in known:
            reached.add(name)
        if upward and name not in known:
            waiting += [(parent, True) for parent in parents[name]]
            waiting += [(child, False) for child in children[name]]
        elif not upward:
            if name not in known:
                waiting += [(child, False) for child in children[name]]
            if name in opened:
                waiting += [(parent, True) for parent in parents[name]]
    return reached


def _paths(
    parents: Parents, first: Sequence[str], second: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """All paths without repeated nodes from one set to the other, which have no other node of
    either set."""
    children = children_of(parents)
    neighbors = {name: [*parents[name], *children[name]] for name in parents}
    ends = set(second)
    inner = set(parents) - set(first) - ends
    # else the search below would walk all paths of a component in vain
    if not reachable(first, neighbors) & ends:
        return
    for start in first:
        # depth-first, with the neighbors that are still to be tried at every node of the path
        stack: list[tuple[tuple[str, ...], Iterator[str]]] = [
            ((start,), iter(neighbors[start]))
        ]
        while stack:
            path, others = stack[-1]
            name = next(others, None)
            if name is None:
                stack.pop()
            elif name in ends:
                yield (*path, name)
            elif name in inner and name not in path:
                stack.append(((*path, name), iter(neighbors[name])))


def _judge(path: tuple[str, ...], given: set[str], parents: Parents) -> PathVerdict:
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
            opening = sorted(({name} | descendants_of([name], parents)) & given)
            if opening:
                if name in opening:
                    what = "it is given"
                else:
                    what = f"its descendant {opening[0]} is given"
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

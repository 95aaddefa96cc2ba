"""Trees followed slowly: where rows go, and whether every node is what the referee would have
grown."""

from __future__ import annotations

import math

import numpy as np
from tests.trees.tree_reference import Referee
from tests.trees.tree_reference_parts import NEAR, Split, is_missing, weight_of

from lyceum._core.trees import CATEGORIES, GROUPS, INTERVALS, LEAF, THRESHOLD, Tree


def split_of(tree: Tree, node: int) -> Split:
    """The split of a node of a tree as the referee writes it."""
    kind, first = int(tree.kind[node]), int(tree.table[node])
    branch, cuts = {}, ()
    if kind == INTERVALS:
        cuts = tuple(tree.cuts[first : first + tree.n_children[node] - 1].tolist())
    if kind in (CATEGORIES, GROUPS):
        ways = tree.branches[first : first + tree.n_codes[node]].tolist()
        branch = {code: way for code, way in enumerate(ways) if way >= 0}
    return Split(
        int(tree.feature[node]),
        kind,
        int(tree.n_children[node]),
        float(tree.threshold[node]),
        cuts,
        branch,
        int(tree.missing[node]),
        float(tree.gain[node]),
    )


def visited(tree: Tree, cells) -> np.ndarray:
    """The part of each row that comes to each node, (n_rows, n_nodes), one row and one node at a
    time."""
    parts = np.zeros((len(cells), tree.n_nodes))
    for i, row in enumerate(cells):
        parts[i, 0] = 1.0
        for node in range(tree.n_nodes):
            if parts[i, node] == 0 or tree.kind[node] == LEAF:
                continue
            for child, share in ways(tree, node, row[tree.feature[node]]):
                parts[i, child] += parts[i, node] * share
    return parts


def ways(tree: Tree, node: int, cell) -> list:
    """The children that a cell leads to, with the share of the row that goes to each."""
    children = list(tree.children(node))
    if is_missing(cell):
        if tree.missing[node] >= 0:
            return [(children[tree.missing[node]], 1.0)]
        total = sum(tree.weight[child] for child in children)
        return [(child, tree.weight[child] / total) for child in children]
    if tree.kind[node] == THRESHOLD:
        return [(children[0 if cell <= tree.threshold[node] else 1], 1.0)]
    if tree.kind[node] in (CATEGORIES, GROUPS):
        way = -1
        if 0 <= cell < tree.n_codes[node]:
            way = tree.branches[tree.table[node] + int(cell)]
        return [(children[way], 1.0)] if way >= 0 else []
    cuts = tree.cuts[tree.table[node] : tree.table[node] + len(children) - 1]
    return [(children[sum(cut < cell for cut in cuts)], 1.0)]


class Disagreement(AssertionError):
    """The tree is not what the referee would have grown."""


def follow(referee: Referee, tree: Tree) -> int:
    """Check every node of a tree against the referee, on the rows that its own splits bring there.

    Where several splits are best, any is right. Returns how many splits were the only best ones.
    """
    unique = 0
    waiting = [(0, referee.root(), 0)]
    while waiting:
        node, rows, depth = waiting.pop()
        _check_description(referee, tree, node, rows)
        if tree.kind[node] == LEAF:
            _check_leaf(referee, node, rows, depth)
            continue
        split = split_of(tree, node)
        unique += _check_split(referee, node, split, rows, depth)
        children = referee.send(split, rows)
        waiting += [
            (c, part, depth + 1) for c, part in zip(tree.children(node), children)
        ]
    return unique


def _check_description(referee, tree, node, rows):
    scale = 1 + referee.root_impurity
    value, total = tree.node_values[node].tolist(), weight_of(rows)
    expected = [len(rows), total, referee.impurity(rows), *referee.value(rows)]
    found = [tree.n_rows[node], tree.weight[node], tree.impurity[node], *value]
    # any median will do, as rounding may move it
    if referee.rules.criterion == "absolute_error":
        expected[-1] = referee.impurity(rows)
        found[-1] = (
            math.fsum(w * abs(referee.target[i] - value[0]) for i, w in rows) / total
        )
    if not all(
        abs(one - two) <= NEAR * scale + 1e-9 * abs(two)
        for one, two in zip(found, expected, strict=True)
    ):
        raise Disagreement(
            f"node {node} is described by {found}, which should be {expected}"
        )


def _check_leaf(referee, node, rows, depth):
    if not referee.may_split(rows, depth):
        return
    best = [s for s in referee.candidates(rows) if s.sure]
    if not best:
        return
    top = _top(best)
    passed = [
        s
        for s in best
        if s.score >= top + _near(top) and min(referee.margins(s, rows)) > NEAR
    ]
    equal = [s for s in best if abs(s.score - top) < _near(top)]
    if passed or (equal and all(min(referee.margins(s, rows)) > NEAR for s in equal)):
        raise Disagreement(f"node {node} is a leaf and could be split: {equal}")


def _check_split(referee, node, split, rows, depth):
    if not referee.may_split(rows, depth):
        raise Disagreement(
            f"node {node} of {len(rows)} rows should be a leaf, not {split}"
        )
    candidates = referee.candidates(rows)
    same = [
        s
        for s in candidates
        if s.same_as(split) and _same_missing(referee, rows, s, split)
    ]
    if not same:
        raise Disagreement(
            f"node {node} is split as none may be: {split}; {candidates}"
        )
    (ours,) = same
    # a standard deviation is the root of a difference: its rounding leaves half as many digits
    near = 5e-8 if referee.rules.criterion == "sd" else NEAR
    if abs(ours.gain - split.gain) > near * (1 + referee.root_impurity):
        raise Disagreement(f"node {node}: {split} gains {ours.gain}, not {split.gain}")
    top = _top([s for s in candidates if s.sure])
    if ours.score < top - _near(top):
        best = max(candidates, key=lambda s: s.score)
        raise Disagreement(f"node {node}: {ours} is worse than {best}")
    if min(referee.margins(ours, rows)) < -NEAR:
        raise Disagreement(
            f"node {node}: {ours} should not have been made, {referee.margins(ours, rows)}"
        )
    rivals = [s for s in candidates if s.score >= top - _near(top)]
    return len(rivals) == 1


def _near(top: float) -> float:
    return NEAR * (1 + abs(top))


def _top(candidates) -> float:
    """The best score that some column surely has: of its splits that gain the same, the least."""
    columns: dict = {}
    for s in candidates:
        columns.setdefault(s.column, []).append(s)
    best = []
    for splits in columns.values():
        gain = max(s.gain for s in splits)
        best.append(min(s.score for s in splits if s.gain >= gain - NEAR))
    return max(best)


def _same_missing(referee, rows, ours: Split, split: Split) -> bool:
    """Whether missing cells go to the same child; where none is missing, to one of the heaviest."""
    theirs = split.missing
    if theirs >= 0 and ours.kind == GROUPS:  # two groups may be the other way round
        category = next(iter(ours.branch))
        theirs = (
            theirs if ours.branch[category] == split.branch[category] else 1 - theirs
        )
    if ours.missing == theirs:
        return True
    if (
        theirs < 0
        or ours.missing < 0
        or any(is_missing(referee.cells[i][ours.column]) for i, _ in rows)
    ):
        return False
    weights = [weight_of(child) for child in referee.send(ours, rows)]
    return weights[theirs] >= max(weights) * (1 - 1e-12)

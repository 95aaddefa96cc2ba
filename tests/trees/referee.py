"""A tree grower written straight from the definitions, slow and plain: the referee of the one that is fast.

A table is a list of rows of cells: numbers, or category codes 0.. where `n_categories[j]` says how many there
are (None for a column of numbers); None or NaN where missing. Rows at a node are pairs (row number, weight).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from itertools import combinations, pairwise

import numpy as np
from scipy.stats import chi2

from lyceum.trees._tree import CATEGORIES, GROUPS, LEAF, THRESHOLD, Tree

NEAR = 1e-9


@dataclass(frozen=True)
class Rules:
    """How to grow: names and defaults of `lyceum.trees._grow.Growth`, as far as the referee knows them."""

    criterion: str = "gini"
    categorical: str = "groups"
    missing: str = "fractions"
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: float = 0.0
    max_p_value: float | None = None
    costs: tuple[float, ...] | None = None
    loss: tuple[tuple[float, ...], ...] | None = None
    needs_gain: bool = True


@dataclass(frozen=True)
class Split:
    """A way to divide rows by one column: at a threshold, or by the branch of every category."""

    column: int
    kind: int
    n_children: int
    threshold: float = math.nan
    branch: dict = field(default_factory=dict)
    missing: int = -1  # the branch of missing cells; -1: every branch
    gain: float = 0.0
    score: float = 0.0
    sure: bool = True  # that it is not left out by rounding

    def way(self, cell):
        """The branch of a cell, or None if it is divided or stays."""
        if is_missing(cell):
            return self.missing if self.missing >= 0 else None
        if self.kind == THRESHOLD:
            return 0 if cell <= self.threshold else 1
        return self.branch.get(int(cell))

    def same_as(self, other: Split) -> bool:
        """Whether both divide the known cells alike, whatever the order of two groups."""
        if (self.column, self.kind) != (other.column, other.kind):
            return False
        if self.kind == THRESHOLD:
            return math.isclose(self.threshold, other.threshold, rel_tol=1e-12, abs_tol=1e-12)
        return self.groups() == other.groups()

    def groups(self):
        parts: dict = {}
        for category, branch in self.branch.items():
            parts.setdefault(branch, set()).add(category)
        return sorted(map(sorted, parts.values()))


@dataclass
class Node:
    rows: list
    depth: int
    split: Split | None = None
    children: list = field(default_factory=list)


def is_missing(cell) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def weight_of(rows) -> float:
    return math.fsum(w for _, w in rows)


class Referee:
    def __init__(self, cells, target, n_categories, n_classes=None, weight=None, rules=None, **changes):
        self.cells = [list(row) for row in cells]
        self.target, self.n_categories, self.n_classes = list(target), list(n_categories), n_classes
        self.weight = [1.0] * len(self.target) if weight is None else list(map(float, weight))
        self.rules = rules if rules is not None else Rules(**changes)

    # -- what rows are like -----------------------------------------------------------------------------

    def value(self, rows) -> list:
        """Class weights, or the mean, or for absolute errors the median."""
        if self.n_classes is not None:
            counts = [0.0] * self.n_classes
            for i, w in rows:
                counts[self.target[i]] += w
            return counts
        if self.rules.criterion == "absolute_error":
            return [self.median(rows)]
        return [math.fsum(w * self.target[i] for i, w in rows) / weight_of(rows)]

    def median(self, rows) -> float:
        """The middle of the least and the greatest value that minimise Σ w |y − m|."""
        costs = {}
        for m in sorted({self.target[i] for i, w in rows if w > 0}):
            costs[m] = math.fsum(w * abs(self.target[i] - m) for i, w in rows)
        least = min(costs.values())
        best = [m for m, cost in costs.items() if cost <= least + 1e-12 * (1 + abs(least))]
        return (best[0] + best[-1]) / 2

    def impurity(self, rows) -> float:
        total, value = weight_of(rows), self.value(rows)
        if total == 0:
            return 0.0
        criterion, loss = self.rules.criterion, self.rules.loss
        if loss is not None:
            actions = range(len(loss[0]))
            return min(math.fsum(n * loss[k][a] for k, n in enumerate(value)) / total for a in actions)
        if criterion in ("entropy", "gain_ratio"):
            return -math.fsum(n / total * math.log2(n / total) for n in value if n > 0)
        if criterion == "gini":
            return 1 - math.fsum((n / total) ** 2 for n in value)
        if criterion == "misclassification":
            return 1 - max(value) / total
        if criterion == "absolute_error":
            return math.fsum(w * abs(self.target[i] - value[0]) for i, w in rows) / total
        variance = math.fsum(w * (self.target[i] - value[0]) ** 2 for i, w in rows) / total
        return math.sqrt(variance) if criterion == "sd" else variance

    # -- what splits are like ---------------------------------------------------------------------------

    def send(self, split: Split, rows) -> list:
        """The rows of every child; those divided go to all, by the weight of the others there."""
        children: list = [[] for _ in range(split.n_children)]
        divided = []
        for i, w in rows:
            cell = self.cells[i][split.column]
            way = split.way(cell)
            if way is not None:
                children[way].append((i, w))
            elif is_missing(cell):
                divided.append((i, w))
        known = [weight_of(child) for child in children]
        for child, share in zip(children, known):
            child += [(i, w * share / sum(known)) for i, w in divided]
        return children

    def known(self, split: Split, rows) -> list:
        return [(i, w) for i, w in rows if split.way(self.cells[i][split.column]) is not None]

    def gain(self, split: Split, rows) -> float:
        """The share of the known rows times the fall of their impurity."""
        known = self.known(split, rows)
        children = self.send(split, known)
        total = weight_of(known)
        left = math.fsum(weight_of(child) / total * self.impurity(child) for child in children)
        return total / weight_of(rows) * (self.impurity(known) - left)

    def split_information(self, split: Split, rows) -> float:
        """The entropy of the branches, the rows that are divided counted as one more."""
        total = weight_of(rows)
        known = self.known(split, rows)
        parts = [weight_of(child) for child in self.send(split, known)] + [total - weight_of(known)]
        return -math.fsum(p / total * math.log2(p / total) for p in parts if p > 1e-12 * total)

    def p_value(self, split: Split, rows) -> float:
        """Of the chi-square test that children and classes are independent."""
        table = np.array([self.value(child) for child in self.send(split, rows)])
        table = table[:, table.sum(axis=0) > 0]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
        return float(chi2.sf(((table - expected) ** 2 / expected).sum(), freedom)) if freedom else 1.0

    # -- all splits -------------------------------------------------------------------------------------

    def forms(self, rows, j) -> list:
        """Every split by column j, unjudged."""
        present = sorted({self.cells[i][j] for i, _ in rows if not is_missing(self.cells[i][j])})
        gaps = any(is_missing(self.cells[i][j]) for i, _ in rows)
        learned = self.rules.missing == "learned"
        if self.n_categories[j] is None:
            found = [Split(j, THRESHOLD, 2, threshold=a + (b - a) / 2) for a, b in pairwise(present)]
            return self._with_sides(found, gaps, rows)
        if self.rules.categorical == "multiway":
            found = [Split(j, CATEGORIES, len(present), branch={c: b for b, c in enumerate(present)})]
            if learned and gaps:
                found = [_changed(s, n_children=len(present) + 1, missing=len(present)) for s in found]
                return found if len(present) >= 1 else []
            return self._with_sides(found, gaps, rows) if len(present) > 1 else []
        items = [int(c) for c in present] + (["missing"] if learned and gaps else [])
        if self.rules.categorical == "groups":
            sides = [
                set(side) for size in range(1, len(items)) for side in combinations(items, size)
                if items[0] in side
            ]  # fmt: skip
        else:
            sides = [{item} for item in items] if len(items) > 1 else []
        found = []
        for side in sides:
            branch = {c: 0 if c in side else 1 for c in items}
            missing = branch.pop("missing", -1)
            found.append(Split(j, GROUPS, 2, branch=branch, missing=missing))
        return self._with_heaviest(found, rows) if learned and not gaps else found

    def _with_sides(self, found, gaps, rows) -> list:
        if self.rules.missing != "learned":
            return found
        if gaps:
            return [_changed(s, missing=side) for s in found for side in range(2)]
        return self._with_heaviest(found, rows)

    def _with_heaviest(self, found, rows) -> list:
        """Where none is missing, a missing cell goes to the heaviest child."""
        out = []
        for split in found:
            weights = [weight_of(child) for child in self.send(split, rows)]
            out.append(_changed(split, missing=weights.index(max(weights))))
        return out

    def admits(self, split: Split, rows) -> bool:
        """Whether at least two children have rows enough."""
        sizes = [len(child) for child in self.send(split, self.known(split, rows))]
        return sum(size >= self.rules.min_samples_leaf for size in sizes) >= 2

    def candidates(self, rows) -> list:
        """The splits of all columns that are admitted, with gains and scores."""
        columns = []
        for j in range(len(self.n_categories)):
            splits = [s for s in self.forms(rows, j) if self.admits(s, rows)]
            columns.append([_changed(s, gain=self.gain(s, rows)) for s in splits])
        if self.rules.criterion == "gain_ratio":
            columns = self._by_ratio(columns, rows)
        else:
            columns = [[_changed(s, score=self._score(s)) for s in splits] for splits in columns]
        return [s for splits in columns for s in splits]

    def _score(self, split: Split) -> float:
        return self._by_cost(split.gain, split.column)

    def _by_cost(self, merit: float, column: int) -> float:
        costs = self.rules.costs
        return merit if costs is None else merit * abs(merit) / costs[column]

    def _by_ratio(self, columns, rows) -> list:
        """C4.5: each column's split of most gain; the best ratio among those of at least average gain."""
        best = [max((s.gain for s in splits), default=0.0) for splits in columns]
        positive = [gain for gain in best if gain > NEAR]
        average = sum(positive) / len(positive) if positive else 0.0
        out = []
        for splits, top in zip(columns, best):
            chosen = [s for s in splits if s.gain >= top - NEAR and top >= average - NEAR]
            ratios = [s.gain / self.split_information(s, rows) for s in chosen]
            scores = [self._by_cost(ratio, s.column) for s, ratio in zip(chosen, ratios)]
            sure = top >= average + NEAR or average == 0.0 or len(positive) == 1
            out.append([_changed(s, score=score, sure=sure) for s, score in zip(chosen, scores)])
        return out

    # -- growing ----------------------------------------------------------------------------------------

    def root(self) -> list:
        return [(i, w) for i, w in enumerate(self.weight) if w > 0]

    def may_split(self, rows, depth) -> bool:
        deep = self.rules.max_depth is not None and depth >= self.rules.max_depth
        few = len(rows) < max(self.rules.min_samples_split, 2 * self.rules.min_samples_leaf)
        return not deep and not few and self.impurity(rows) > NEAR * (1 + self.impurity(self.root()))

    def is_worth(self, split: Split, rows) -> bool:
        """Whether the split gains anything, enough, and more than chance would."""
        return all(margin >= 0 for margin in self.margins(split, rows))

    def margins(self, split: Split, rows) -> list:
        """By how much a split passes each condition."""
        share = weight_of(rows) / weight_of(self.root())
        out = [share * split.gain - self.rules.min_impurity_decrease + NEAR * self.rules.needs_gain / 2]
        if self.rules.needs_gain:
            out.append(split.gain - NEAR)
        if self.rules.max_p_value is not None:
            out.append(self.rules.max_p_value - self.p_value(split, rows))
        return out

    def best(self, rows) -> Split | None:
        """The split of the greatest score: of the first column, at the smallest threshold, among equals."""
        found = self.candidates(rows)
        if not found:
            return None
        top = max(s.score for s in found)
        return next(s for s in found if s.score >= top - 1e-12)

    def grow(self) -> Node:
        def below(rows, depth):
            node = Node(rows, depth)
            split = self.best(rows) if self.may_split(rows, depth) else None
            if split is not None and self.is_worth(split, rows):
                node.split = split
                node.children = [below(child, depth + 1) for child in self.send(split, rows)]
            return node

        return below(self.root(), 0)

    def tree(self) -> Tree:
        """The grown tree in arrays."""
        nodes, child = [self.grow()], {}
        for node in nodes:  # grows while it is read: breadth first
            if node.split is not None:
                child[id(node)] = len(nodes)
                nodes.extend(node.children)
        return self._arrays(nodes, child)

    def _arrays(self, nodes, child) -> Tree:
        branches: list[int] = []
        rows = []
        for node in nodes:
            split, table, n_codes = node.split, -1, 0
            if split is not None and split.kind != THRESHOLD:
                table, n_codes = len(branches), self.n_categories[split.column]
                branches += [split.branch.get(c, -1) for c in range(n_codes)]
            rows.append(
                {
                    "feature": -1 if split is None else split.column,
                    "kind": LEAF if split is None else split.kind,
                    "child": child.get(id(node), -1),
                    "n_children": 0 if split is None else split.n_children,
                    "threshold": math.nan if split is None else split.threshold,
                    "table": table,
                    "n_codes": n_codes,
                    "missing": -1 if split is None else split.missing,
                    "value": self.value(node.rows),
                    "weight": weight_of(node.rows),
                    "n_rows": len(node.rows),
                    "impurity": self.impurity(node.rows),
                    "gain": 0.0 if split is None else split.gain,
                }
            )
        whole = dict.fromkeys(["feature", "child", "n_children", "table", "n_codes", "missing"], np.int32)
        types = whole | {"kind": np.uint8, "n_rows": np.int64}
        arrays = {
            name: np.array([row[name] for row in rows], dtype=types.get(name, float)) for name in rows[0]
        }
        return Tree(**arrays, cuts=np.empty(0), branches=np.array(branches, dtype=np.int32))


def _changed(split: Split, **changes) -> Split:
    now = {f.name: getattr(split, f.name) for f in fields(split)}
    return Split(**{**now, **changes})


# -- following a tree ----------------------------------------------------------------------------------


def split_of(tree: Tree, node: int) -> Split:
    """The split of a node of a tree as the referee writes it."""
    kind, first = int(tree.kind[node]), int(tree.table[node])
    branch = {}
    if kind in (CATEGORIES, GROUPS):
        ways = tree.branches[first : first + tree.n_codes[node]].tolist()
        branch = {code: way for code, way in enumerate(ways) if way >= 0}
    return Split(
        int(tree.feature[node]),
        kind,
        int(tree.n_children[node]),
        float(tree.threshold[node]),
        branch,
        int(tree.missing[node]),
        float(tree.gain[node]),
    )


def visited(tree: Tree, cells) -> np.ndarray:
    """The part of each row that comes to each node, (n_rows, n_nodes), one row and one node at a time."""
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
        waiting += [(c, part, depth + 1) for c, part in zip(tree.children(node), children)]
    return unique


def _check_description(referee, tree, node, rows):
    scale = 1 + referee.impurity(referee.root())
    expected = (len(rows), weight_of(rows), referee.impurity(rows), *referee.value(rows))
    found = (tree.n_rows[node], tree.weight[node], tree.impurity[node], *tree.value[node])
    if not np.allclose(found, expected, rtol=1e-9, atol=NEAR * scale):
        raise Disagreement(f"node {node} is described by {found}, which should be {expected}")


def _check_leaf(referee, node, rows, depth):
    if not referee.may_split(rows, depth):
        return
    best = [s for s in referee.candidates(rows) if s.sure]
    if not best:
        return
    top = _top(best)
    passed = [s for s in best if s.score >= top + _near(top) and min(referee.margins(s, rows)) > NEAR]
    equal = [s for s in best if abs(s.score - top) < _near(top)]
    if passed or (equal and all(min(referee.margins(s, rows)) > NEAR for s in equal)):
        raise Disagreement(f"node {node} is a leaf and could be split: {equal}")


def _check_split(referee, node, split, rows, depth):
    if not referee.may_split(rows, depth):
        raise Disagreement(f"node {node} of {len(rows)} rows should be a leaf, not {split}")
    candidates = referee.candidates(rows)
    same = [s for s in candidates if s.same_as(split) and s.missing == _missing_like(s, split)]
    if not same:
        raise Disagreement(f"node {node} is split as none may be: {split}; {candidates}")
    (ours,) = same
    scale = 1 + referee.impurity(referee.root())
    if abs(ours.gain - split.gain) > NEAR * scale:
        raise Disagreement(f"node {node}: {split} gains {ours.gain}, not {split.gain}")
    top = _top([s for s in candidates if s.sure])
    if ours.score < top - _near(top):
        best = max(candidates, key=lambda s: s.score)
        raise Disagreement(f"node {node}: {ours} is worse than {best}")
    if min(referee.margins(ours, rows)) < -NEAR:
        raise Disagreement(f"node {node}: {ours} should not have been made, {referee.margins(ours, rows)}")
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


def _missing_like(ours: Split, split: Split) -> int:
    """The branch of missing cells of `split`, numbered as in `ours`, whose groups may be the other way."""
    if split.missing < 0 or ours.kind != GROUPS:
        return split.missing
    category = next(iter(ours.branch))
    return split.missing if ours.branch[category] == split.branch[category] else 1 - split.missing

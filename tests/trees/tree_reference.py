"""A tree grower written straight from the definitions, slow and plain: the referee of the one that
is fast.

A table is a list of rows of cells: numbers, or category codes 0.. where `n_categories[j]` says how
many there are (None for a column of numbers); None or NaN where missing. Rows at a node are pairs
(row number, weight).
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from scipy.stats import chi2
from tests.trees.tree_reference_parts import (
    NEAR,
    Node,
    Rules,
    Split,
    is_missing,
    weight_of,
)

from lyceum._core.trees import (
    CATEGORIES,
    GROUPS,
    INTERVALS,
    LEAF,
    THRESHOLD,
    UNDEFINED,
    Tree,
)


class Referee:
    def __init__(
        self,
        cells,
        target,
        n_categories,
        n_classes=None,
        weight=None,
        rules=None,
        **changes,
    ):
        self.cells = [list(row) for row in cells]
        self.target, self.n_categories, self.n_classes = (
            list(target),
            list(n_categories),
            n_classes,
        )
        self.weight = (
            [1.0] * len(self.target) if weight is None else list(map(float, weight))
        )
        self.rules = rules if rules is not None else Rules(**changes)
        self._divided: tuple = (None, None, None)

    # -- what rows are like ------------------------------------------------------------

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
        """The middle of the least and the greatest value that minimize Σ w |y − m|."""
        costs = {}
        for m in sorted({self.target[i] for i, w in rows if w > 0}):
            costs[m] = math.fsum(w * abs(self.target[i] - m) for i, w in rows)
        least = min(costs.values())
        best = [
            m for m, cost in costs.items() if cost <= least + 1e-12 * (1 + abs(least))
        ]
        return (best[0] + best[-1]) / 2

    def impurity(self, rows) -> float:
        total, value = weight_of(rows), self.value(rows)
        if total == 0:
            return 0.0
        criterion, loss = self.rules.criterion, self.rules.loss
        if loss is not None:
            actions = range(len(loss[0]))
            return min(
                math.fsum(n * loss[k][a] for k, n in enumerate(value)) / total
                for a in actions
            )
        if criterion in ("entropy", "gain_ratio"):
            return -math.fsum(n / total * math.log2(n / total) for n in value if n > 0)
        if criterion == "gini":
            return 1 - math.fsum((n / total) ** 2 for n in value)
        if criterion == "misclassification":
            return 1 - max(value) / total
        if criterion == "absolute_error":
            return (
                math.fsum(w * abs(self.target[i] - value[0]) for i, w in rows) / total
            )
        variance = (
            math.fsum(w * (self.target[i] - value[0]) ** 2 for i, w in rows) / total
        )
        return math.sqrt(variance) if criterion == "sd" else variance

    # -- what splits are like ----------------------------------------------------------

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
        return [
            (i, w)
            for i, w in rows
            if split.way(self.cells[i][split.column]) is not None
        ]

    def divide(self, split: Split, rows) -> tuple:
        """The rows that are known, and those of them in every child; the last answer is
        remembered."""
        if self._divided[0] is not split or self._divided[1] is not rows:
            known = self.known(split, rows)
            self._divided = (split, rows, (known, self.send(split, known)))
        return self._divided[2]

    def gain(self, split: Split, rows) -> float:
        """The share of the known rows times the fall of their impurity."""
        known, children = self.divide(split, rows)
        total = weight_of(known)
        left = math.fsum(
            weight_of(child) / total * self.impurity(child) for child in children
        )
        return total / weight_of(rows) * (self.impurity(known) - left)

    def split_information(self, split: Split, rows) -> float:
        """The entropy of the branches, the rows that are divided counted as one more."""
        total = weight_of(rows)
        known, children = self.divide(split, rows)
        parts = [weight_of(child) for child in children] + [total - weight_of(known)]
        return -math.fsum(
            p / total * math.log2(p / total) for p in parts if p > 1e-12 * total
        )

    def p_value(self, split: Split, rows) -> float:
        """Of the chi-square test that children and classes are independent."""
        table = np.array([self.value(child) for child in self.send(split, rows)])
        table = table[:, table.sum(axis=0) > 0]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
        return (
            float(chi2.sf(((table - expected) ** 2 / expected).sum(), freedom))
            if freedom
            else 1.0
        )

    # -- all splits --------------------------------------------------------------------

    def forms(self, rows, j) -> list:
        """Every split by column j, unjudged."""
        present = sorted(
            {self.cells[i][j] for i, _ in rows if not is_missing(self.cells[i][j])}
        )
        gaps = any(is_missing(self.cells[i][j]) for i, _ in rows)
        learned = self.rules.missing == "learned"
        if self.n_categories[j] is None:
            if self.rules.continuous == "multi_way":
                return self._with_sides(self._intervals(rows, j, present), gaps, rows)
            found = [
                Split(j, THRESHOLD, 2, threshold=self.between(j, a, b))
                for a, b in pairwise(present)
            ]
            apart = [
                Split(j, THRESHOLD, 2, threshold=math.inf, missing=1)
            ]  # known cells, missing cells
            return self._with_sides(found, gaps, rows) + (
                apart if learned and gaps and present else []
            )
        if self.rules.categorical == "multiway":
            found = [
                Split(
                    j,
                    CATEGORIES,
                    len(present),
                    branch={c: b for b, c in enumerate(present)},
                )
            ]
            if learned and gaps:
                found = [
                    s.changed(n_children=len(present) + 1, missing=len(present))
                    for s in found
                ]
                return found if len(present) >= 1 else []
            return self._with_sides(found, gaps, rows) if len(present) > 1 else []
        items = [int(c) for c in present] + (["missing"] if learned and gaps else [])
        if self.rules.categorical == "groups":
            subsets = (
                set(side)
                for size in range(1, len(items))
                for side in combinations(items, size)
            )
            sides = [side for side in subsets if items[0] in side]
            sure = self._sure_sides(rows, j, items)
        else:
            sides = sure = [
                {item} for item in (items if len(items) > 2 else items[:-1])
            ]
        found = []
        for side in sides:
            branch = {c: 0 if c in side else 1 for c in items}
            missing = branch.pop("missing", -1)
            found.append(
                Split(j, GROUPS, 2, branch=branch, missing=missing, sure=side in sure)
            )
        return self._with_heaviest(found, rows) if learned and not gaps else found

    def _sure_sides(self, rows, j, items) -> list:
        """The first groups that are sure to be tried.

        All, but where an order of the categories has the best cut unless children have too few rows
        (two classes, and means), or may have (medians), only the cuts of that order.
        """
        rules = self.rules
        limited = rules.min_samples_leaf > 1 or rules.min_weight_leaf > 0
        two = (
            self.n_classes == 2
            and rules.loss is None
            and rules.criterion != "gain_ratio"
        )
        by_order = (two or rules.criterion == "squared_error") and limited
        if not by_order and rules.criterion != "absolute_error":
            return [
                {items[0], *rest}
                for n in range(len(items))
                for rest in combinations(items[1:], n)
            ]
        ordered = sorted(items, key=lambda item: self._order_key(rows, j, item))
        cuts = [set(ordered[:size]) for size in range(1, len(items))]
        return [cut if items[0] in cut else set(items) - cut for cut in cuts]

    def _order_key(self, rows, j, item) -> float:
        """Of a category: the share of the second class, the mean, or the lower median of its
        rows."""
        cells = ((self.cells[i][j], i, w) for i, w in rows)
        inside = [
            (i, w)
            for c, i, w in cells
            if (is_missing(c) if item == "missing" else c == item)
        ]
        total = sum(w for _, w in inside)
        if self.rules.criterion != "absolute_error":
            return sum(w * self.target[i] for i, w in inside) / total
        below = 0.0
        for y, w in sorted((self.target[i], w) for i, w in inside):
            below += w
            if below >= total / 2 * (1 - 1e-12):
                return y
        return math.nan

    def between(self, j, a, b) -> float:
        """Midway between two values, or the largest value of the column that is no more than
        that."""
        middle = a + (b - a) / 2
        if self.rules.cut == "midpoint":
            return middle
        values = [
            row[j] for row, w in zip(self.cells, self.weight) if not is_missing(row[j])
        ]
        return max(v for v in values if v <= middle)

    def _intervals(self, rows, j, present) -> list:
        """One interval after the other cut in two where that gains most, while it gains."""
        pieces = [present]
        known = [(i, w) for i, w in rows if not is_missing(self.cells[i][j])]
        while len(pieces) < self.rules.max_branches:
            best = (-math.inf, 0, 0)
            for p, piece in enumerate(pieces):
                inside = [(i, w) for i, w in known if self.cells[i][j] in piece]
                for at in range(1, len(piece)):
                    cut = Split(
                        j,
                        THRESHOLD,
                        2,
                        threshold=self.between(j, piece[at - 1], piece[at]),
                    )
                    if self.admits(cut, inside):
                        fall = weight_of(inside) * self.gain(cut, inside)
                        best = (
                            (fall, p, at) if fall > best[0] + 1e-12 else best
                        )  # the first of equals
            fall, p, at = best
            if fall == -math.inf or (len(pieces) > 1 and fall <= NEAR):
                break
            pieces[p : p + 1] = [pieces[p][:at], pieces[p][at:]]
        cuts = tuple(
            self.between(j, left[-1], right[0]) for left, right in pairwise(pieces)
        )
        return [Split(j, INTERVALS, len(pieces), cuts=cuts)] if cuts else []

    def _with_sides(self, found, gaps, rows) -> list:
        if self.rules.missing != "learned":
            return found
        if gaps:
            return [
                s.changed(missing=side) for s in found for side in range(s.n_children)
            ]
        return self._with_heaviest(found, rows)

    def _with_heaviest(self, found, rows) -> list:
        """Where none is missing, a missing cell goes to the heaviest child."""
        out = []
        for split in found:
            weights = [weight_of(child) for child in self.send(split, rows)]
            out.append(split.changed(missing=weights.index(max(weights))))
        return out

    def admits(self, split: Split, rows) -> bool:
        """Whether at least two children have rows and weight enough."""
        _, children = self.divide(split, rows)
        few, least = (
            self.rules.min_samples_leaf,
            self.least_weight(split, rows) * (1 - 1e-12),
        )
        return (
            sum(len(child) >= few and weight_of(child) >= least for child in children)
            >= 2
        )

    def least_weight(self, split: Split, rows) -> float:
        """C4.5, release 8: of continuous columns a tenth of the average class, at most 25."""
        least = self.rules.min_weight_leaf
        if not self.rules.release8 or split.kind != THRESHOLD:
            return least
        known = [(i, w) for i, w in rows if not is_missing(self.cells[i][split.column])]
        tenth = 0.1 * weight_of(known) / self.n_classes
        return least if tenth <= least else min(tenth, 25.0)

    def penalty(self, splits, rows) -> float:
        """C4.5, release 8: the bits that say which of the thresholds of a column it is, a row."""
        if not self.rules.release8 or not splits or splits[0].kind != THRESHOLD:
            return 0.0
        return math.log2(len({s.threshold for s in splits})) / weight_of(rows)

    def candidates(self, rows) -> list:
        """The splits of all columns that are admitted, with gains and scores."""
        columns = []
        for j in range(len(self.n_categories)):
            admitted = (s for s in self.forms(rows, j) if self.admits(s, rows))
            splits = [s.changed(gain=self.gain(s, rows)) for s in admitted]
            penalty = self.penalty(splits, rows)
            columns.append(
                [s.changed(gain=s.gain - penalty) for s in splits]
                if penalty
                else splits
            )
        if self.rules.criterion == "gain_ratio":
            columns = self._by_ratio(columns, rows)
        else:
            columns = [
                [s.changed(score=self._score(s)) for s in splits] for splits in columns
            ]
        return [s for splits in columns for s in splits]

    def _score(self, split: Split) -> float:
        return self._by_cost(split.gain, split.column)

    def _by_cost(self, merit: float, column: int) -> float:
        costs = self.rules.costs
        return merit if costs is None else merit * abs(merit) / costs[column]

    def _by_ratio(self, columns, rows) -> list:
        """C4.5: each column's split of most gain; the best ratio among those of at least average
        gain."""
        best = [max((s.gain for s in splits), default=0.0) for splits in columns]
        positive = [gain for gain in best if gain > NEAR]
        average = sum(positive) / len(positive) if positive else 0.0
        out = []
        for splits, top in zip(columns, best):
            chosen = [
                s for s in splits if s.gain >= top - NEAR and top >= average - NEAR
            ]
            ratios = [s.gain / self.split_information(s, rows) for s in chosen]
            scores = [
                self._by_cost(ratio, s.column) for s, ratio in zip(chosen, ratios)
            ]
            sure = top >= average + NEAR or top >= max(best) - NEAR
            out.append(
                [s.changed(score=score, sure=sure) for s, score in zip(chosen, scores)]
            )
        return out

    # -- growing -----------------------------------------------------------------------

    def root(self) -> list:
        return [(i, w) for i, w in enumerate(self.weight) if w > 0]

    @cached_property
    def root_impurity(self) -> float:
        return self.impurity(self.root())

    def may_split(self, rows, depth) -> bool:
        deep = self.rules.max_depth is not None and depth >= self.rules.max_depth
        few = len(rows) < max(
            self.rules.min_samples_split, 2 * self.rules.min_samples_leaf
        )
        return (
            not deep
            and not few
            and self.impurity(rows) > NEAR * (1 + self.root_impurity)
        )

    def is_worth(self, split: Split, rows) -> bool:
        """Whether the split gains anything, enough, and more than chance would."""
        return all(margin >= 0 for margin in self.margins(split, rows))

    def margins(self, split: Split, rows) -> list:
        """By how much a split passes each condition."""
        share = weight_of(rows) / weight_of(self.root())
        out = [share * split.gain - self.rules.min_impurity_decrease]
        if self.rules.needs_gain:
            out.append(split.gain - NEAR)
        if self.rules.max_p_value is not None:
            out.append(self.rules.max_p_value - self.p_value(split, rows))
        return out

    def best(self, rows) -> Split | None:
        """The split of the greatest score: of the first column, at the smallest threshold, among
        equals."""
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
                node.children = [
                    below(child, depth + 1) for child in self.send(split, rows)
                ]
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
                    "feature": UNDEFINED if split is None else split.column,
                    "kind": LEAF if split is None else split.kind,
                    "child": child.get(id(node), -1),
                    "n_children": 0 if split is None else split.n_children,
                    "threshold": UNDEFINED if split is None else split.threshold,
                    "table": table,
                    "n_codes": n_codes,
                    "missing": -1 if split is None else split.missing,
                    "node_values": self.value(node.rows),
                    "weight": weight_of(node.rows),
                    "n_rows": len(node.rows),
                    "impurity": self.impurity(node.rows),
                    "gain": 0.0 if split is None else split.gain,
                }
            )
        whole = dict.fromkeys(
            ["feature", "child", "n_children", "table", "n_codes", "missing"], np.int32
        )
        types = whole | {"kind": np.uint8, "n_rows": np.int64}
        arrays = {
            name: np.array([row[name] for row in rows], dtype=types.get(name, float))
            for name in rows[0]
        }
        return Tree(
            **arrays, cuts=np.empty(0), branches=np.array(branches, dtype=np.int32)
        )

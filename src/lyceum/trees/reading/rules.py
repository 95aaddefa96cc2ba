"""Trees as rules: IF … AND … THEN …, with how many rows and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.text import show_count
from lyceum._core.trees import (
    INTERVALS,
    THRESHOLD,
    TreeLabels,
    interval_text,
    number,
    set_text,
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a rule asks of a column: a cell in (lower, upper], or one of some categories."""

    name: str
    column: int
    lower: float | None = None
    upper: float | None = None
    codes: tuple[int, ...] | None = None
    categories: tuple[str, ...] = ()

    def within(self, lower: float | None, upper: float | None) -> Condition:
        """This, and in (lower, upper] too."""
        lowest = [x for x in (self.lower, lower) if x is not None]
        highest = [x for x in (self.upper, upper) if x is not None]
        return replace(
            self, lower=max(lowest, default=None), upper=min(highest, default=None)
        )

    def among(self, codes: Sequence[int], categories: Sequence[str]) -> Condition:
        """This, and one of these categories too."""
        pairs = [
            (c, name)
            for c, name in zip(codes, categories)
            if self.codes is None or c in self.codes
        ]
        return replace(
            self,
            codes=tuple(c for c, _ in pairs),
            categories=tuple(name for _, name in pairs),
        )

    def holds(self, cells: np.ndarray) -> np.ndarray:
        """Whether it holds of coded cells; never of a missing one."""
        held = ~np.isnan(cells)
        if self.lower is not None:
            held &= cells > self.lower
        if self.upper is not None:
            held &= cells <= self.upper
        if self.codes is None:
            return held
        return held & np.isin(cells, self.codes)

    def __str__(self) -> str:
        if self.codes is not None:
            return set_text(self.name, self.categories)
        return interval_text(self.name, self.lower, self.upper)


@dataclass(frozen=True, slots=True)
class Rule:
    """One way down a tree.

    `weight` and `rows` are its support; `confidence` the share of the class answered among them,
    None for a regression and for an action that is no class; `spread` the name and the size of the
    spread of a regression, where the criterion tells it; `risk` the expected loss of the answer,
    with a loss matrix.
    """

    conditions: tuple[Condition, ...]
    target: str
    answer: Any
    weight: float
    rows: int
    confidence: float | None
    spread: tuple[str, float] | None
    node: int
    risk: float | None = None

    def covers(self, X: np.ndarray) -> np.ndarray:
        """The rows of coded cells that all conditions hold of."""
        held = np.ones(len(X), dtype=bool)
        for condition in self.conditions:
            held &= condition.holds(
                np.asarray(X[:, condition.column], dtype=np.float64)
            )
        return held

    def __str__(self) -> str:
        is_number = self.confidence is None and self.risk is None
        answer = number(self.answer) if is_number else str(self.answer)
        way = way_text(self.conditions)
        return f"{way} {self.target} = {answer} ({self._evidence()})"

    def _evidence(self) -> str:
        text = weight_text(self.rows, self.weight)
        if self.confidence is not None:
            text += f", confidence {self.confidence:.3g}"
        if self.risk is not None:
            text += f", expected loss {number(self.risk, 3)}"
        if self.spread:
            name, size = self.spread
            text += f", {name} {number(size)}"
        return text


def way_text(conditions: Sequence[Condition]) -> str:
    """The head of a rule: "IF … AND … THEN", or "ALWAYS" without conditions."""
    if not conditions:
        return "ALWAYS"
    return f"IF {' AND '.join(map(str, conditions))} THEN"


def weight_text(n_rows: int, weight: float) -> str:
    """The number of rows, with their weight where it is another number."""
    text = show_count(n_rows, "row")
    if weight == n_rows:
        return text
    return f"{text} of weight {number(weight)}"


def rules(labels: TreeLabels, *, unseen: bool = False) -> list[Rule]:
    """One rule per leaf, from the first to the last; the conditions on a column are merged into
    one.

    Parameters
    ----------
    labels : TreeLabels
        The tree with the names of its columns, classes and actions.
    unseen : bool, default=False
        Also a rule for the known categories that no row brought to a node: rows of them end there.
    """
    tree = labels.tree
    return [
        Rule(
            conditions=tuple(conditions.values()),
            target=labels.target,
            answer=labels.answer(node),
            weight=float(tree.weight[node]) if seen else 0.0,
            rows=int(tree.n_rows[node]) if seen else 0,
            confidence=labels.confidence(node),
            spread=labels.spread(node),
            node=node,
            risk=labels.risk(node),
        )
        for node, conditions, seen in _ends(labels, unseen)
    ]


def _ends(
    labels: TreeLabels, unseen: bool
) -> Iterator[tuple[int, dict[int, Condition], bool]]:
    # depth first from the left; a list of what waits, as trees may be deeper than the stack
    tree = labels.tree
    waiting: list[tuple[int, dict[int, Condition], bool]] = [(0, {}, True)]
    while waiting:
        node, conditions, seen = waiting.pop()
        if labels.is_leaf(node) or not seen:
            yield node, conditions, seen
            continue
        ways = [
            (child, _conditions(labels, conditions, node, b), True)
            for b, child in enumerate(tree.children(node))
        ]
        if unseen and tree.kind[node] not in (THRESHOLD, INTERVALS):
            rest = _conditions(labels, conditions, node, None)
            if rest[int(tree.feature[node])].codes:
                ways.append((node, rest, False))
        waiting += reversed(ways)


def _conditions(
    labels: TreeLabels, conditions: dict[int, Condition], node: int, branch: int | None
) -> dict[int, Condition]:
    """The conditions of a node and those of one of its branches, or of no branch."""
    column = int(labels.tree.feature[node])
    before = conditions.get(column, Condition(labels.column(node), column))
    if labels.tree.kind[node] in (THRESHOLD, INTERVALS):
        assert branch is not None
        return conditions | {column: before.within(*labels.bounds(node, branch))}
    if branch is not None:
        codes = labels.codes(node, branch).tolist()
    else:
        categories = labels.schema[column].categories
        n_codes = 0 if categories is None else len(categories)
        n_branches = int(labels.tree.n_children[node])
        used = {c for b in range(n_branches) for c in labels.codes(node, b).tolist()}
        codes = [c for c in range(n_codes) if c not in used]
    return conditions | {column: before.among(codes, labels.categories(node, codes))}

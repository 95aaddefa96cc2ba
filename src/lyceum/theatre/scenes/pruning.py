"""Cost-complexity pruning: the weakest link of a grown tree is cut, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import drawing, tree_marks
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
)
from lyceum.theatre.scene import Scene, SceneQuestion, figure
from lyceum.theatre.scenes.trees import StageTree, table_frame
from lyceum.trees import DecisionTreeClassifier

_COLUMNS = (
    StepColumn("node", "cut at", "the node of the smallest g"),
    StepColumn("alpha", "α", "g(t) = (R(t) − R(T_t)) / (leaves of T_t − 1)"),
    StepColumn("risk", "R(T)", "errors of the leaves / all rows"),
    StepColumn("leaves", "leaves", "leaves of the tree"),
)


@dataclass
class _Pruned:
    """A grown tree, of which some nodes have become leaves."""

    stage_tree: StageTree
    closed: set[int]  # nodes that have become leaves

    @property
    def tree(self) -> Any:
        return self.stage_tree.model.tree_

    def errors(self, node: int) -> int:
        counts = self.stage_tree.counts(self.stage_tree.reached[:, node])
        return sum(counts) - max(counts)

    def is_leaf(self, node: int) -> bool:
        return node in self.closed or int(self.tree.feature[node]) < 0

    def below(self, node: int) -> list[int]:
        """The node and all nodes of its subtree that are still there."""
        if self.is_leaf(node):
            return [node]
        return [
            node,
            *(k for child in self.tree.children(node) for k in self.below(child)),
        ]

    def leaves(self, node: int) -> list[int]:
        return [k for k in self.below(node) if self.is_leaf(k)]

    def link(self, node: int) -> float:
        """g(t): what a leaf less costs, if this node becomes one."""
        leaves = self.leaves(node)
        n = len(self.stage_tree.table.target)
        saved = self.errors(node) - sum(map(self.errors, leaves))
        return saved / n / (len(leaves) - 1)

    def picture(self, now: int) -> dict[str, Any]:
        grown = self.stage_tree
        classes = grown.table.classes
        texts = []
        series: list[int | None] = []
        for node in range(self.tree.n_nodes):
            counts = grown.counts(grown.reached[:, node])
            top = int(np.argmax(counts))
            first = classes[top]
            if not self.is_leaf(node):
                first = f"{grown.table.names[int(self.tree.feature[node])]}?"
            texts.append([first, f"{self.errors(node)} of {sum(counts)} wrong"])
            series.append(top if self.is_leaf(node) else None)
        edges = [edge.partition(" ")[2].removeprefix("= ") for edge in grown.edges]
        width, height, marks = tree_marks(
            self.tree, texts, edges, shown=self.below(0), now=now, series=series
        )
        return drawing("The tree: errors if a node were a leaf", width, height, marks)


def perform(stage: Stage) -> Performance:
    """A scene per weakest link, from the grown tree to the root."""
    table = stage.table
    model = DecisionTreeClassifier(criterion="entropy", max_depth=stage["depth"])
    model.fit(table_frame(table), table.target)
    pruned = _Pruned(StageTree(table, model), set())
    n = len(table.target)
    first = sum(map(pruned.errors, pruned.leaves(0)))
    lines = [
        f"The grown tree has {len(pruned.leaves(0))} leaves and"
        f" {first} of {n} rows wrong: R(T) = {figure(first / n)}.",
        "R(t) is the share of all rows that are wrong if node t becomes a leaf. The weakest"
        " link is the node"
        " whose leaves pay least for themselves: g(t) = (R(t) − R(T_t)) / (leaves − 1).",
    ]
    scenes = [Scene("The grown tree", lines, [pruned.picture(-1)], [_links(pruned)])]
    records: list[dict[str, Any]] = [
        {
            "step": 0,
            "node": "",
            "alpha": 0.0,
            "risk": first / n,
            "leaves": len(pruned.leaves(0)),
        }
    ]
    while not pruned.is_leaf(0):
        inner = [node for node in pruned.below(0) if not pruned.is_leaf(node)]
        # of equal links the one nearest to the root goes first, with all below it
        node = min(inner, key=lambda each: (round(pruned.link(each), 12), each))
        alpha = pruned.link(node)
        leaves = pruned.leaves(node)
        inside = sum(map(pruned.errors, leaves))
        own = pruned.errors(node)
        name = _name(pruned, node)
        lines = [
            f"{name}: as a leaf {own} of {n} rows are wrong, its {len(leaves)} leaves have"
            f" {inside} wrong.",
            f"g = ({own}/{n} − {inside}/{n}) / ({len(leaves)} − 1) = {figure(alpha)}, the"
            " smallest.",
        ]
        table_before = _links(pruned)
        pruned.closed.add(node)
        left = pruned.leaves(0)
        risk = sum(map(pruned.errors, left)) / n
        lines.append(
            f"For α ≥ {figure(alpha)} it is a leaf: {len(left)} leaves are left, R(T) ="
            f" {figure(risk)}."
        )
        question = SceneQuestion(
            f"{name} has {own} errors as a leaf, {inside} with its {len(leaves)} leaves, of"
            f" {n} rows. What is g?",
            alpha,
            [
                ((own - inside) / n, "not yet divided by the leaves that are saved"),
                (
                    (own - inside) / n / len(leaves),
                    "one leaf stays: divide by leaves − 1",
                ),
            ],
        )
        scenes.append(
            Scene(
                f"Cut at {name}",
                lines,
                [pruned.picture(node)],
                [table_before],
                question,
            )
        )
        records.append(
            {
                "step": len(records),
                "node": name,
                "alpha": alpha,
                "risk": risk,
                "leaves": len(left),
            }
        )
    return Performance(
        scenes, Steps("Cost-complexity pruning", "cut", _COLUMNS, records, {}), model
    )


def _name(pruned: _Pruned, node: int) -> str:
    return "the root" if node == 0 else pruned.stage_tree.edges[node]


def _links(pruned: _Pruned) -> Table:
    """g of every inner node."""
    rows: list[Sequence[Any]] = []
    for node in pruned.below(0):
        if pruned.is_leaf(node):
            continue
        leaves = pruned.leaves(node)
        inside = sum(map(pruned.errors, leaves))
        rows.append(
            [
                _name(pruned, node),
                pruned.errors(node),
                inside,
                len(leaves),
                pruned.link(node),
            ]
        )
    return Table(
        "Errors of every link before the cut",
        ["node", "as a leaf", "its leaves", "leaves", "g"],
        rows,
    )


METHODS = (
    TheatreMethod(
        "pruning",
        "Pruning a tree",
        "Cost-complexity pruning: leaves cost α each, and as α grows, the branch that pays"
        " least for its leaves"
        " is cut first.",
        perform,
        StageTable.of(
            "the textbook's sixteen rows",
            x1=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
            x2=[3, 1, 4, 2, 5, 2, 1, 3, 2, 4, 1, 5, 3, 1, 4, 2],
            answer=list("nnnnynnnyyyyynyy"),
        ),
        takes="any",
        columns=(1, 6),
        target="class",
        most_rows=100,
        settings=(
            StageSetting(
                "depth", 4, "the most splits from the root to a leaf", low=1, high=6
            ),
        ),
    ),
)

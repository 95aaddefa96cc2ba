"""A model tree in words: its splits with the numbers of the models, the models as equations, the rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lyceum.data import Schema
from lyceum.trees._tree import LEAF, THRESHOLD, Tree

__all__ = ["ModelText"]


@dataclass(frozen=True, slots=True)
class ModelText:
    """What is written of a model tree."""

    tree: Tree
    schema: Schema
    names: list[str]  # of the columns of the models
    coef: np.ndarray
    intercept: np.ndarray  # at zero cells
    error: np.ndarray  # of the models at the nodes, in standard deviations of the target

    @property
    def target(self) -> str:
        return self.schema.target.name if self.schema.target else "y"

    def walk(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Every node from left to right, with the conditions on the way to it."""
        waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
        while waiting:
            node, path = waiting.pop()
            yield node, path
            children = self.tree.children(node) if self.tree.kind[node] != LEAF else ()
            below = [(child, (*path, self.condition(node, k))) for k, child in enumerate(children)]
            waiting.extend(reversed(below))

    def leaves(self) -> dict[int, int]:
        """The numbers of the models at the leaves, from 1 on, left to right."""
        ends = [node for node, _ in self.walk() if self.tree.kind[node] == LEAF]
        return {node: number for number, node in enumerate(ends, 1)}

    def condition(self, node: int, branch: int) -> str:
        """What takes a row from a node to one of its children."""
        tree, column = self.tree, self.schema[int(self.tree.feature[node])]
        if tree.kind[node] == THRESHOLD:
            return f"{column.name} {'>' if branch else '≤'} {tree.threshold[node]:.6g}"
        start = int(tree.table[node])
        taken = tree.branches[start : start + int(tree.n_codes[node])] == branch
        values = np.asarray(column.categories)[taken]
        if len(values) == 1:
            return f"{column.name} = {values[0]}"
        return f"{column.name} in {{{', '.join(map(str, values))}}}"

    def equation(self, node: int) -> str:
        """The model of a node: target = b₁ x₁ + … + b₀, without columns of coefficient 0."""
        terms = [
            f"{'-' if b < 0 else '+'} {abs(b):.4g} {name}"
            for b, name in zip(self.coef[node], self.names)
            if b != 0.0
        ]
        a = float(self.intercept[node])
        terms.append(f"{'-' if a < 0 else '+'} {abs(a):.4g}")
        return f"{self.target} = " + " ".join(terms).removeprefix("+ ")

    def lines(self) -> list[tuple[str, str, float, float]]:
        """A line a branch: the condition, indented, the model's number, weight, and error in %."""
        numbers = self.leaves()
        lines = []
        for node, path in self.walk():
            if not path and node not in numbers:
                continue
            text = "│  " * (len(path) - 1) + path[-1] if path else "all rows"
            model = f"LM{numbers[node]}" if node in numbers else ""
            lines.append((text, model, float(self.tree.weight[node]), 100.0 * float(self.error[node])))
        return lines

    def rules(self) -> list[tuple[str, str, str, float, float]]:
        """A rule a leaf: the model's number, the conditions, the equation, weight, and error in %."""
        numbers = self.leaves()
        return [
            (
                f"LM{numbers[node]}",
                " and ".join(path) or "always",
                self.equation(node),
                float(self.tree.weight[node]),
                100.0 * float(self.error[node]),
            )
            for node, path in self.walk()
            if node in numbers
        ]

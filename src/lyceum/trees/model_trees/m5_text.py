"""A model tree in labels: its splits with the numbers of the models, the models as equations, the
rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lyceum._core.trees import TreeLabels, number
from lyceum.trees.reading.rules import Condition, rules, way_text, weight_text


@dataclass(frozen=True, slots=True)
class ModelRule:
    """One leaf of a model tree: if the conditions hold, the target is the linear model.

    `error` is the root mean squared residual of the leaf's own rows and model, before smoothing, in
    standard deviations of the target.
    """

    number: int
    conditions: tuple[Condition, ...]
    equation: str
    weight: float
    rows: int
    error: float
    node: int

    def __str__(self) -> str:
        way = way_text(self.conditions)
        rows = weight_text(self.rows, self.weight)
        error = f"error {100 * self.error:.3f}% of sd"
        return f"{way} {self.equation} ({rows}, {error})"


@dataclass(frozen=True, slots=True)
class ModelText:
    """The text of a model tree: lines, equations and rules."""

    labels: TreeLabels
    names: list[str]  # of the columns of the models
    coef: np.ndarray
    intercept: np.ndarray  # at zero cells
    # of the models at the nodes, in standard deviations of the target
    error: np.ndarray
    learners: Sequence[str] = ()  # their names, if they are not linear models
    seen: np.ndarray | None = None  # and which columns they see

    def rules(self) -> list[ModelRule]:
        """One rule per leaf, left to right, numbered from 1."""
        return [
            ModelRule(
                number=i,
                conditions=rule.conditions,
                equation=self.equation(rule.node),
                weight=rule.weight,
                rows=rule.rows,
                error=float(self.error[rule.node]),
                node=rule.node,
            )
            for i, rule in enumerate(rules(self.labels), 1)
        ]

    def equation(self, node: int) -> str:
        """The model of a node: target = b₁ x₁ + … + b₀, without columns of coefficient 0."""
        if self.learners and self.learners[node]:
            assert self.seen is not None
            columns = [name for name, sees in zip(self.names, self.seen[node]) if sees]
            return f"{self.labels.target} = {self.learners[node]}({', '.join(columns)})"
        terms = [
            (float(b), f" {name}")
            for b, name in zip(self.coef[node], self.names)
            if b != 0.0
        ]
        terms.append((float(self.intercept[node]), ""))
        signed = [f"{'-' if b < 0 else '+'} {abs(b):.4g}{name}" for b, name in terms]
        equation = " ".join(signed).removeprefix("+ ")
        return f"{self.labels.target} = {equation}"

    def lines(self) -> Iterator[tuple[str, str, float, float]]:
        """One line per branch: the condition, indented, the model's number, weight, and error in %
        of sd."""
        tree = self.labels.tree
        numbers = {rule.node: f"LM{rule.number}" for rule in self.rules()}
        waiting = [(0, "all rows", -1)]
        while waiting:
            node, text, depth = waiting.pop()
            if depth >= 0 or node in numbers:
                indented = "│  " * max(depth, 0) + text
                weight = float(tree.weight[node])
                percent = 100 * float(self.error[node])
                yield indented, numbers.get(node, ""), weight, percent
            for branch, child in reversed(list(enumerate(tree.children(node)))):
                waiting.append((child, self.labels.condition(node, branch), depth + 1))

    def text(self) -> str:
        """Tree and models, much as WEKA prints them."""
        tree = [
            f"{split}{f': {model}' if model else ''} ({number(weight)}/{error:.3f}%)"
            for split, model, weight, error in self.lines()
        ]
        models = [f"LM{rule.number}: {rule.equation}" for rule in self.rules()]
        return "\n".join([*tree, "", *models])

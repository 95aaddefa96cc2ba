"""TreeLabels: the text of the tests and answers of a tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.data import Schema
from lyceum._core.trees.decisions import node_decisions, shares
from lyceum._core.trees.tree import INTERVALS, LEAF, THRESHOLD, Tree

_SPREADS = {
    "squared_error": "sd",
    "friedman_mse": "sd",
    "sd": "sd",
    "absolute_error": "mean |deviation|",
}


def number(value: float, digits: int = 6) -> str:
    """A number as short text: `digits` significant digits, and at least two after the point."""
    size = abs(value)
    n_before = 0
    if 1 <= size < 1e12:
        n_before = int(math.log10(size)) + 1
    return f"{value:.{max(digits, n_before + 2)}g}"


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions of a tree with a loss matrix, and their losses."""

    labels: Sequence[Any]
    loss: np.ndarray  # (classes, actions)

    @classmethod
    def of(cls, learner: Any) -> Actions | None:
        """The actions of a fitted learner, None if it has no loss matrix."""
        loss = getattr(learner, "loss_matrix_", None)
        if loss is None:
            return None
        return cls(learner.actions_, loss)

    def risks(self, value: np.ndarray) -> np.ndarray:
        """The expected loss Σ_k P(k) L(k, a) of every action a, from the weights of the classes."""
        return (shares(value[None, :]) @ self.loss)[0]


@dataclass(frozen=True, slots=True)
class TreeLabels:
    """A tree with the names of its columns, classes and actions.

    `classes` are the labels, None for a regression; `criterion` names the impurity of a regression.
    With `actions` nodes answer by smallest expected loss, else by the largest class.
    """

    tree: Tree
    schema: Schema
    classes: Sequence[Any] | None = None
    criterion: str | None = None
    digits: int = 6
    actions: Actions | None = None

    def number(self, value: float) -> str:
        return number(value, self.digits)

    @property
    def target(self) -> str:
        return self.schema.target_name

    # -- tests -------------------------------------------------------------------------

    def column(self, node: int) -> str:
        """The name of the column that a node tests."""
        return self.schema[int(self.tree.feature[node])].name

    def codes(self, node: int, branch: int) -> np.ndarray:
        """The categories, as codes, that take a branch."""
        start = int(self.tree.table[node])
        end = start + int(self.tree.n_codes[node])
        return np.flatnonzero(self.tree.branches[start:end] == branch)

    def categories(self, node: int, codes: Sequence[int] | np.ndarray) -> list[str]:
        """The names of codes of the column that a node tests."""
        names = self.schema[int(self.tree.feature[node])].categories
        if names is None:
            return [str(code) for code in codes]
        n = len(names)
        return [str(names[code]) if code < n else str(code) for code in codes]

    def bounds(self, node: int, branch: int) -> tuple[float | None, float | None]:
        """The interval (lower, upper] of cells that take a branch, None where it has no end."""
        tree = self.tree
        if tree.kind[node] == THRESHOLD:
            threshold = float(tree.threshold[node])
            if branch == 0:
                return None, threshold
            return threshold, None
        first_cut = int(tree.table[node])
        last_branch = int(tree.n_children[node]) - 1
        lower = None
        upper = None
        if branch > 0:
            lower = float(tree.cuts[first_cut + branch - 1])
        if branch < last_branch:
            upper = float(tree.cuts[first_cut + branch])
        return lower, upper

    def test(self, node: int, branch: int, most: int | None = None) -> str:
        """The condition of a branch without the column, e.g. "≤ 2.5"; at most `most` categories."""
        return self._test_of("", node, branch, most)

    def condition(self, node: int, branch: int) -> str:
        """The condition of a branch, e.g. "petal length ≤ 2.5"."""
        return self._test_of(self.column(node), node, branch)

    def _test_of(
        self, name: str, node: int, branch: int, most: int | None = None
    ) -> str:
        if self.tree.kind[node] in (THRESHOLD, INTERVALS):
            return interval_text(name, *self.bounds(node, branch), self.digits)
        categories = self.categories(node, self.codes(node, branch))
        return set_text(name, categories, most)

    # -- nodes -------------------------------------------------------------------------

    def majority(self, node: int) -> int:
        """The class of the largest weight; of equals the one that the parent prefers."""
        return int(node_decisions(self.tree, None, np.array([node]))[0])

    def answer(self, node: int) -> Any:
        """The label or the number that a node predicts."""
        if self.classes is None:
            return float(self.tree.node_values[node, 0])
        if self.actions is not None:
            loss = self.actions.loss
            action = node_decisions(self.tree, loss, np.array([node]))[0]
            return self.actions.labels[int(action)]
        return self.classes[self.majority(node)]

    def risk(self, node: int) -> float | None:
        """The expected loss of the answer, None without actions."""
        if self.actions is None:
            return None
        return float(self.actions.risks(self.tree.node_values[node]).min())

    def answered_class(self, node: int) -> int | None:
        """The number of the class that is answered, None for a number or an action that is no
        class."""
        if self.classes is None:
            return None
        if self.actions is None:
            return self.majority(node)
        answer = self.answer(node)
        for k, label in enumerate(self.classes):
            if label == answer:
                return k
        return None

    def confidence(self, node: int) -> float | None:
        """The share of the class that is answered, None for a number or an action that is no
        class."""
        k = self.answered_class(node)
        if k is None:
            return None
        return float(shares(self.tree.node_values[node : node + 1])[0, k])

    def answer_text(self, node: int) -> str:
        answer = self.answer(node)
        if self.classes is None:
            return self.number(answer)
        return str(answer)

    def spread(self, node: int) -> tuple[str, float] | None:
        """How far the targets of a node are from its number, by name, if the criterion defines
        it."""
        if (
            self.classes is not None
            or self.criterion not in _SPREADS
            or np.isnan(self.tree.impurity[node])
        ):
            return None
        size = max(0.0, float(self.tree.impurity[node]))
        name = _SPREADS[self.criterion]
        if name == "sd" and self.criterion != "sd":
            size = math.sqrt(size)  # the impurity is the variance
        return name, size

    def distribution(self, node: int, most: int = 6) -> str:
        """The weights of the classes, the largest ones if there are many, or the weight and the
        spread."""
        tree = self.tree
        if self.classes is None:
            text = f"n {self.number(float(tree.weight[node]))}"
            spread = self.spread(node)
            if spread:
                name, size = spread
                text += f", {name} {self.number(size)}"
            return text
        value = tree.node_values[node]
        listed = np.flatnonzero(value > 0)
        end = []
        if len(listed) > most:
            listed = np.sort(np.argsort(-value, kind="stable")[:most])
            end = ["…"]
        weights = [
            f"{self.classes[k]} {self.number(float(value[k]))}" for k in listed.tolist()
        ]
        return ", ".join(weights + end)

    def is_leaf(self, node: int) -> bool:
        return bool(self.tree.kind[node] == LEAF)


def interval_text(
    name: str, lower: float | None, upper: float | None, digits: int = 6
) -> str:
    """A column within (lower, upper]."""
    # a column that is missing in some rows may be split by that alone, at infinity
    if np.inf in (lower, upper):
        return f"{name} {'known' if upper == np.inf else 'missing'}".strip()
    if lower is None and upper is None:
        return f"{name} any".strip()
    if lower is None:
        return f"{name} ≤ {number(upper, digits)}".strip()  # type: ignore[arg-type]
    if upper is None:
        return f"{name} > {number(lower, digits)}".strip()
    low = number(lower, digits)
    high = number(upper, digits)
    if name:
        return f"{low} < {name} ≤ {high}"
    return f"({low}, {high}]"


def set_text(name: str, categories: Sequence[str], most: int | None = None) -> str:
    """A column that is one of some categories."""
    if len(categories) == 1:
        return f"{name} = {categories[0]}".strip()
    listed = list(categories)
    if most is not None and len(listed) > most:
        listed[most - 1 :] = ["…"]
    return f"{name} in {{{', '.join(listed)}}}".strip()

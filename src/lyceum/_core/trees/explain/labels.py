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
    if 1 <= size < 1e12:
        before = int(math.log10(size)) + 1
    else:
        before = 0
    return f"{value:.{max(digits, before + 2)}g}"


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
        first = int(self.tree.table[node])
        return np.flatnonzero(
            self.tree.branches[first : first + int(self.tree.n_codes[node])] == branch
        )

    def categories(self, node: int, codes: Sequence[int] | np.ndarray) -> list[str]:
        """The names of codes of the column that a node tests."""
        known = self.schema[int(self.tree.feature[node])].categories
        return [
            str(known[code]) if known is not None and code < len(known) else str(code)
            for code in codes
        ]

    def bounds(self, node: int, branch: int) -> tuple[float | None, float | None]:
        """The interval (lower, upper] of cells that take a branch, None where it has no end."""
        tree = self.tree
        if tree.kind[node] == THRESHOLD:
            t = float(tree.threshold[node])
            if branch == 0:
                return (None, t)
            return (t, None)
        first = int(tree.table[node])
        last = int(tree.n_children[node]) - 1
        if branch > 0:
            lower = float(tree.cuts[first + branch - 1])
        else:
            lower = None
        return lower, float(tree.cuts[first + branch]) if branch < last else None

    def test(self, node: int, branch: int, most: int | None = None) -> str:
        """The condition of a branch without the column, e.g. "≤ 2.5"; at most `most` categories."""
        if self.tree.kind[node] in (THRESHOLD, INTERVALS):
            return interval_text("", *self.bounds(node, branch), self.digits)
        return set_text("", self.categories(node, self.codes(node, branch)), most)

    def condition(self, node: int, branch: int) -> str:
        """The condition of a branch, e.g. "petal length ≤ 2.5"."""
        name = self.column(node)
        if self.tree.kind[node] in (THRESHOLD, INTERVALS):
            return interval_text(name, *self.bounds(node, branch), self.digits)
        return set_text(name, self.categories(node, self.codes(node, branch)))

    # -- nodes -------------------------------------------------------------------------

    def majority(self, node: int) -> int:
        """The class of the largest weight; of equals the one that the parent prefers."""
        return int(node_decisions(self.tree, None, np.array([node]))[0])

    def answer(self, node: int) -> Any:
        """The label or the number that a node predicts."""
        if self.classes is None:
            return float(self.tree.value[node, 0])
        if self.actions is not None:
            return self.actions.labels[
                int(node_decisions(self.tree, self.actions.loss, np.array([node]))[0])
            ]
        return self.classes[self.majority(node)]

    def risk(self, node: int) -> float | None:
        """The expected loss of the answer, None without actions."""
        if self.actions is None:
            return None
        return float(self.actions.risks(self.tree.value[node]).min())

    def answered_class(self, node: int) -> int | None:
        """The number of the class that is answered, None for a number or an action that is no
        class."""
        if self.classes is None:
            return None
        if self.actions is None:
            return self.majority(node)
        answer = self.answer(node)
        return next(
            (k for k, label in enumerate(self.classes) if label == answer), None
        )

    def confidence(self, node: int) -> float | None:
        """The share of the class that is answered, None for a number or an action that is no
        class."""
        k = self.answered_class(node)
        if k is None:
            return None
        return float(shares(self.tree.value[node : node + 1])[0, k])

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
        impurity = max(0.0, float(self.tree.impurity[node]))
        name = _SPREADS[self.criterion]
        return name, float(
            np.sqrt(impurity)
        ) if name == "sd" and self.criterion != "sd" else impurity

    def distribution(self, node: int, most: int = 6) -> str:
        """The weights of the classes, the largest ones if there are many, or the weight and the
        spread."""
        tree = self.tree
        if self.classes is None:
            spread = self.spread(node)
            if spread:
                more = f", {spread[0]} {self.number(spread[1])}"
            else:
                more = ""
            return f"n {self.number(float(tree.weight[node]))}{more}"
        value = tree.value[node]
        listed = np.flatnonzero(value > 0)
        if len(listed) > most:
            listed = np.sort(np.argsort(-value, kind="stable")[:most])
        text = ", ".join(
            f"{self.classes[int(k)]} {self.number(float(value[k]))}" for k in listed
        )
        return text + (", …" if np.count_nonzero(value > 0) > most else "")

    def is_leaf(self, node: int) -> bool:
        return bool(self.tree.kind[node] == LEAF)


def interval_text(
    name: str, lower: float | None, upper: float | None, digits: int = 6
) -> str:
    """A column within (lower, upper]."""
    if np.inf in (lower, upper):
        return f"{name} {'known' if upper == np.inf else 'missing'}".strip()
    if lower is None:
        low = None
    else:
        low = number(lower, digits)
    if upper is None:
        high = None
    else:
        high = number(upper, digits)
    if low is None:
        if high is None:
            return f"{name} any".strip()
        return f"{name} ≤ {high}".strip()
    if high is None:
        return f"{name} > {low}".strip()
    if name:
        return f"{low} < {name} ≤ {high}"
    return f"({low}, {high}]"


def set_text(name: str, categories: Sequence[str], most: int | None = None) -> str:
    """A column that is one of some categories."""
    if len(categories) == 1:
        return f"{name} = {categories[0]}".strip()
    listed = list(
        categories
        if most is None or len(categories) <= most
        else [*categories[: most - 1], "…"]
    )
    return f"{name} in {{{', '.join(listed)}}}".strip()

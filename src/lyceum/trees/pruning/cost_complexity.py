"""Cost-complexity pruning: the nested subtrees of least R(T) + α · leaves, and α by
cross-validation."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.report import Shown
from lyceum._core.trees import LEAF, Tree
from lyceum._core.types import Loss
from lyceum.errors import SettingError
from lyceum.progress import report
from lyceum.report import Table
from lyceum.trees.pruning.bottom_up import (
    NodeCosts,
    compact,
    leaf_costs,
    sums_of_leaves,
)
from lyceum.trees.pruning.checks import check_amount, check_classes, check_tree, loss_of


@dataclass(frozen=True, slots=True)
class CostComplexityPath(Shown):
    """The nested subtrees of smallest R(T) + α · leaves for all α, of equal ones the smallest
    subtree.

    Attributes
    ----------
    tree : Tree
        The tree that was pruned.
    alphas : ndarray of shape (S,)
        Subtree s is the best for alphas[s] ≤ α < alphas[s + 1]; rising from 0.
    risks : ndarray of shape (S,)
        R of the subtrees, rising.
    n_leaves : ndarray of shape (S,)
        Their numbers of leaves, falling to 1.
    collapse : ndarray of shape (n_nodes,)
        The α from which on a node is a leaf or has been cut off; −inf at the leaves of the tree.

    See Also
    --------
    cost_complexity_path : Computes it for a tree.
    DecisionTreeClassifier.cost_complexity_path : Computes it for a fitted learner.
    AlphaChoice : A subtree of the path, chosen by cross-validation.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone, "Classification and Regression Trees",
    Wadsworth, 1984, chapter 3.

    Examples
    --------
    Two errors more for two leaves less, then three errors more for one leaf less, of 12 rows:

    >>> from lyceum.trees import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[float(x)] for x in range(12)], list("aaabbbaabbbb"))
    >>> path = model.cost_complexity_path("error")
    >>> path.n_leaves.tolist(), (12 * path.alphas).round(6).tolist()
    ([4, 2, 1], [0.0, 1.0, 3.0])
    >>> path.at(0.1).n_leaves
    2
    """

    tree: Tree
    alphas: np.ndarray
    risks: np.ndarray
    n_leaves: np.ndarray
    collapse: np.ndarray

    def at(self, alpha: float) -> Tree:
        """The smallest subtree of least R(T) + α · leaves."""
        check_amount("alpha", alpha)
        return compact(self.tree, self.collapse <= alpha)

    def costs(
        self, costs: NodeCosts, alphas: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What rows cost at the subtrees of the (rising) alphas, and the squares of what each row
        costs.

        Node i is a leaf for collapse[i] ≤ α < collapse[parent], and keeps the rows that end there
        before.
        """
        born = np.searchsorted(alphas, self.collapse)
        parent = np.maximum(self.tree.parent, 0)
        gone = np.where(self.tree.parent < 0, len(alphas), born[parent])
        as_leaf = np.minimum(born, gone)

        # The cost of a subtree as a function of α is a sum of steps: a node adds the cost of all
        # its rows from as_leaf to gone, and before that the cost of the rows that end there.
        def curve(at: np.ndarray, stayed: np.ndarray) -> np.ndarray:
            steps = np.zeros(len(alphas) + 1)
            np.add.at(steps, as_leaf, at)
            np.add.at(steps, gone, -at)
            steps[0] += stayed.sum()
            np.add.at(steps, as_leaf, -stayed)
            return np.cumsum(steps)[:-1]

        inner = self.tree.kind != LEAF
        stayed = np.where(inner, costs.end_costs(self.tree), 0.0)
        squares = np.where(inner, costs.end_costs(self.tree, squares=True), 0.0)
        return curve(costs.at, stayed), curve(costs.squares, squares)

    def table(self) -> Table:
        """The subtrees as a table of `lyceum.report`."""
        columns = (self.alphas.tolist(), self.n_leaves.tolist(), self.risks.tolist())
        rows = list(zip(*columns))
        return Table("Cost-complexity path", ("alpha", "leaves", "R"), rows)


def cost_complexity_path(
    tree: Tree, measure: Literal["impurity", "error"] = "impurity", loss: Loss = None
) -> CostComplexityPath:
    """Cut the weakest link again and again: the node t of least (R(t) − R(T_t)) / (leaves of T_t −
    1).

    Parameters
    ----------
    tree : Tree
    measure : {"impurity", "error"}, default="impurity"
        What R sums over leaves, weighted by their share of the rows: the impurity by the criterion
        that the tree was grown with (for variance, the mean squared error), or the error rate (the
        expected loss).
    loss : array of shape (K, A), optional
        For "error": rows = true class, columns = action. By default 1 for every error.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), chapter 3.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.trees import DecisionTreeClassifier, cost_complexity_path
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(load("penguins")).tree_
    >>> path = cost_complexity_path(tree)
    >>> path.n_leaves.tolist(), path.alphas.round(3).tolist()
    ([4, 3, 2, 1], [0.0, 0.031, 0.206, 0.33])
    """
    check_tree(tree)
    risk = _risks(tree, measure, loss)
    below = sums_of_leaves(tree, risk).tolist()
    leaves = sums_of_leaves(tree, np.ones(tree.n_nodes)).tolist()
    rounding = 1e-14 * float(risk[0])  # alphas that differ by less are equal
    cuts, alphas, risks, n_leaves = _weakest_links(
        tree, risk.tolist(), below, leaves, rounding
    )
    # a node is a leaf or gone from the α of its own cut on, or from that of a node above it
    collapse = cuts.tolist()
    parent = tree.parent.tolist()
    for node in range(1, tree.n_nodes):
        collapse[node] = min(collapse[node], collapse[parent[node]])
    return CostComplexityPath(
        tree=tree,
        alphas=np.array(alphas),
        risks=np.array(risks),
        n_leaves=np.array(n_leaves, dtype=np.int64),
        collapse=np.where(tree.kind == LEAF, -np.inf, collapse),
    )


def _risks(tree: Tree, measure: str, loss: Loss) -> np.ndarray:
    if measure == "impurity":
        if loss is not None:
            raise SettingError(
                "a loss matrix goes with measure='error', not with the impurity"
            )
        return tree.impurity * tree.weight / tree.weight[0]
    if measure != "error":
        raise SettingError(
            f"measure={measure!r} is not known: choose from 'impurity', 'error'"
        )
    check_classes(tree, "the error rate")
    return leaf_costs(tree.node_values, loss_of(tree, loss)) / tree.node_values[0].sum()


def _weakest_links(
    tree: Tree,
    risk: list[float],
    below: list[float],
    leaves: list[float],
    rounding: float,
) -> tuple[np.ndarray, list[float], list[float], list[float]]:
    """Where each link is cut, and α, R and leaves after the cuts of each α.

    What a link gives, g(t), never falls as weaker ones below it are cut, for g(t) is a mean of
    theirs and its own: a heap may keep g as it was and look again when a link comes up.
    """

    def link(t: int) -> float:
        return (risk[t] - below[t]) / (leaves[t] - 1)

    gone = (tree.kind == LEAF).tolist()  # leaves now, or below one
    parent = tree.parent.tolist()
    cut_at = np.full(tree.n_nodes, np.inf)
    inner = np.flatnonzero(tree.kind != LEAF).tolist()
    heap = [(link(t), t) for t in inner]
    heapq.heapify(heap)
    alphas = [0.0]
    risks = [below[0]]
    n_leaves = [leaves[0]]
    while heap and leaves[0] > 1:
        before, t = heapq.heappop(heap)
        if _is_below_a_leaf(t, gone, parent):
            continue
        g = link(t)
        # it has risen since it was put on the heap: the link waits again with what it gives now
        if g > before:
            heapq.heappush(heap, (g, t))
            continue
        if g > alphas[-1] + rounding:
            alphas.append(g)
            risks.append(0.0)
            n_leaves.append(0.0)
        cut_at[t] = alphas[-1]
        gone[t] = True
        _cut(t, risk[t], _path_up(t, parent), below, leaves)
        risks[-1] = below[0]
        n_leaves[-1] = leaves[0]
    return cut_at, alphas, risks, n_leaves


def _cut(
    t: int, risk: float, path: Iterator[int], below: list[float], leaves: list[float]
) -> None:
    """Change R and leaves of all subtrees on the path up from t, which becomes a leaf."""
    rise = risk - below[t]
    n_fewer = leaves[t] - 1
    for node in path:
        below[node] += rise
        leaves[node] -= n_fewer


def _path_up(t: int, parent: list[int]) -> Iterator[int]:
    """The nodes from t up to the root."""
    while t >= 0:
        yield t
        t = parent[t]


def _is_below_a_leaf(t: int, gone: list[bool], parent: list[int]) -> bool:
    """Whether a node is now a leaf or below one; the nodes climbed are marked, for later calls."""
    path: list[int] = []
    for node in _path_up(t, parent):
        if gone[node]:
            for climbed in path:
                gone[climbed] = True
            return True
        path.append(node)
    return False


def prune_by_complexity(
    tree: Tree,
    alpha: float,
    measure: Literal["impurity", "error"] = "impurity",
    loss: Loss = None,
) -> Tree:
    """The smallest subtree of least R(T) + α · leaves; see `cost_complexity_path`.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.trees import DecisionTreeClassifier, prune_by_complexity
    >>> tree = DecisionTreeClassifier().fit(load("penguins")).tree_
    >>> tree.n_leaves, prune_by_complexity(tree, alpha=0.1).n_leaves
    (15, 3)
    """
    return cost_complexity_path(tree, measure, loss).at(alpha)


@dataclass(frozen=True, slots=True)
class AlphaChoice(Shown):
    """α chosen by the cost of left-out rows in cross-validation.

    Attributes
    ----------
    alpha : float
        The chosen α.
    path : CostComplexityPath
        The subtrees of the tree grown on all rows.
    risks, standard_errors : ndarray of shape (S,)
        The mean cost of a left-out row under every subtree of the path, and its standard error.
    best, chosen : int
        The place on the path of the smallest risk, and that of the choice.
    tree : Tree
        The tree on all rows, pruned by the chosen α.

    See Also
    --------
    DecisionTreeClassifier : Chooses α with `ccp_alpha="cv"`; the choice is its `alpha_choice_`.
    CostComplexityPath : The subtrees to choose from.
    lyceum.plot.cost_complexity : Draws the costs of the subtrees.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone, "Classification and Regression Trees",
    Wadsworth, 1984, chapter 3.

    Examples
    --------
    Two of 20 labels are wrong, and the tree without pruning has four leaves for them:

    >>> import numpy as np
    >>> from lyceum.trees import DecisionTreeClassifier
    >>> x = np.arange(20.0)
    >>> y = np.isin(x, [3, 15]) ^ (x > 9)
    >>> tree = DecisionTreeClassifier(ccp_alpha="cv", random_state=0).fit(x[:, None], y)
    >>> choice = tree.alpha_choice_
    >>> choice.path.n_leaves.tolist(), choice.risks.round(3).tolist()
    ([6, 2, 1], [0.25, 0.15, 0.8])
    >>> choice.chosen, round(choice.alpha, 3), choice.tree.n_leaves
    (1, 0.045, 2)
    """

    alpha: float
    path: CostComplexityPath
    risks: np.ndarray
    standard_errors: np.ndarray
    best: int
    chosen: int

    @property
    def tree(self) -> Tree:
        """The tree on all rows, pruned by the chosen α."""
        return self.path.at(self.alpha)

    def table(self) -> Table:
        """Every subtree with its cost on rows left out; the choice is marked."""
        marks = ["chosen" if s == self.chosen else "" for s in range(len(self.risks))]
        columns = (
            self.path.alphas.tolist(),
            self.path.n_leaves.tolist(),
            self.risks.tolist(),
            self.standard_errors.tolist(),
            marks,
        )
        names = ("alpha", "leaves", "cost left out", "se", "")
        return Table("Alpha by cross-validation", names, list(zip(*columns)))


def choose_alpha(
    grow: Callable[[np.ndarray], Tree],
    visit: Callable[[Tree, np.ndarray], Any],
    target: np.ndarray,
    folds: Any,
    weight: np.ndarray | None = None,
    *,
    measure: Literal["impurity", "error"] = "impurity",
    loss: Loss = None,
    rule: Literal["best", "one_standard_error"] = "one_standard_error",
) -> AlphaChoice:
    """The α whose subtrees cost least on rows left out, or the largest within a standard error of
    it.

    The trees on the rows outside each fold are pruned at √(α_s α_{s+1}), which stands for the s-th
    subtree of the tree on all rows, and judged on the fold. The standard error of the mean cost of
    n rows is s / √n with s² = mean (cost − mean)².

    Parameters
    ----------
    grow : callable
        The tree grown on rows by their numbers.
    visit : callable
        (tree, row numbers) to the sparse array (rows, nodes) of the part of each row that comes to
        each node.
    target : array of shape (n_rows,)
        Class codes (integers) or values.
    folds : integer array of shape (n_rows,), or list of (train, test)
        The fold of every row; or, for every split, the numbers of the rows to grow on and of those
        left out.
    weight : array of shape (n_rows,), optional
    measure : {"impurity", "error"}, default="impurity"
        R of the path. Rows left out always cost their error, their loss or their squared error.
    loss : array of shape (K, A), or "squared" or "absolute" for values, optional
    rule : {"best", "one_standard_error"}, default="one_standard_error"
    """
    if rule not in ("best", "one_standard_error"):
        raise SettingError(
            f"rule={rule!r} is not known: choose from 'best', 'one_standard_error'"
        )
    splits = folds if isinstance(folds, list) else _splits_of(np.asarray(folds))
    weight = np.asarray(row_weights(weight, len(target)), dtype=np.float64)
    path_loss = loss if measure == "error" else None
    path = cost_complexity_path(grow(np.arange(len(target))), measure, path_loss)
    # each subtree is best from its α to the next: their geometric mean stands for it in the folds
    between = np.append(np.sqrt(path.alphas[:-1] * path.alphas[1:]), np.inf)
    sums = np.zeros((2, len(between)))  # of costs, and of their squares
    total_weight = 0.0
    for done, (train, test) in enumerate(splits):
        tree = grow(train)
        visited = visit(tree, test)
        costs = NodeCosts.of(tree, visited, target[test], weight[test], loss)
        fold_path = cost_complexity_path(tree, measure, path_loss)
        sums += fold_path.costs(costs, between)
        total_weight += costs.weight
        report("folds", done + 1, len(splits))
    risks, squares = sums / total_weight
    errors = np.sqrt(np.maximum(squares - risks**2, 0.0) / total_weight)
    best, chosen = _choose_subtree(risks, errors, rule)
    return AlphaChoice(float(path.alphas[chosen]), path, risks, errors, best, chosen)


def _choose_subtree(
    risks: np.ndarray, errors: np.ndarray, rule: str
) -> tuple[int, int]:
    """The index of the smallest risk and that of the choice; of equal ones the smaller subtree."""
    best = int(len(risks) - 1 - np.argmin(risks[::-1]))
    reach = risks[best]
    if rule == "one_standard_error":
        reach = reach + errors[best]
    return best, int(np.flatnonzero(risks <= reach)[-1])


def _splits_of(folds: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """For every fold the rows outside of it, and its own."""
    numbers = np.unique(folds)
    if len(numbers) < 2:
        raise SettingError(
            "alpha is chosen on rows left out: there must be at least two folds with rows"
        )
    return [
        (np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))
        for fold in numbers
    ]

"""Post-pruning from the bottom up: by validation rows, by pessimistic counts, by expected loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from lyceum._core.data import row_weights
from lyceum._core.trees import (
    CATEGORIES,
    GROUPS,
    INTERVALS,
    LEAF,
    UNDEFINED,
    Tree,
    node_decisions,
)
from lyceum._core.types import Loss
from lyceum.errors import DataError, SettingError
from lyceum.trees.pruning.checks import (
    check_amount,
    check_classes,
    check_codes,
    check_tree,
    loss_of,
)

# of the weight of a node: costs that differ by less are equal
_ROUNDING = 1e-12


def compact(tree: Tree, cut: np.ndarray | None = None) -> Tree:
    """The tree with the nodes where `cut` is true made leaves, and only nodes that the root still
    reaches.

    Nodes keep their order, so that children still come after their parents and beside each other.
    """
    kind = tree.kind.copy()
    if cut is not None:
        kind[cut] = LEAF
    old = reachable_nodes(tree, kind)
    new = np.full(tree.n_nodes, -1, dtype=np.int32)
    new[old] = np.arange(len(old))
    kind = kind[old]
    inner = kind != LEAF

    # of a node that has become a leaf, what describes a split is blank
    def of_inner(array: np.ndarray, blank: float) -> np.ndarray:
        return np.where(inner, array[old], blank).astype(array.dtype)

    cuts, branches, table = _compact_tables(tree, old, kind)
    child = np.where(inner, new[tree.child[old]], -1)
    return Tree(
        feature=of_inner(tree.feature, UNDEFINED),
        kind=kind,
        child=child.astype(np.int32),
        n_children=of_inner(tree.n_children, 0),
        threshold=of_inner(tree.threshold, UNDEFINED),
        table=table,
        n_codes=of_inner(tree.n_codes, 0),
        missing=of_inner(tree.missing, -1),
        cuts=cuts,
        branches=branches,
        node_values=tree.node_values[old],
        weight=tree.weight[old],
        n_rows=tree.n_rows[old],
        impurity=tree.impurity[old],
        gain=of_inner(tree.gain, 0.0),
        n_features=tree.n_features,
        n_classes=tree.n_classes,
    )


def reachable_nodes(tree: Tree, kind: np.ndarray) -> np.ndarray:
    """The numbers of the nodes that the root still reaches where the kinds of nodes are these."""
    reached = np.zeros(tree.n_nodes, dtype=bool)
    reached[0] = True
    inner = np.flatnonzero(kind != LEAF)
    first = tree.child[inner]
    end = first + tree.n_children[inner]
    # parents come before their children, so one pass in the order of the numbers is enough
    for node, i, j in zip(inner.tolist(), first.tolist(), end.tolist()):
        if reached[node]:
            reached[i:j] = True
    return np.flatnonzero(reached)


def _compact_tables(
    tree: Tree, nodes: np.ndarray, kind: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cuts and branches of some nodes of the given kinds, end to end, and where those of every
    node begin; -1 for a node without."""
    # a node has cuts or branches, never both: one index serves for either
    by_interval = kind == INTERVALS
    by_code = (kind == CATEGORIES) | (kind == GROUPS)
    table = tree.table[nodes]
    n_cuts = (tree.n_children[nodes] - 1) * by_interval
    n_branches = tree.n_codes[nodes] * by_code
    cuts, cut_starts = _copy_entries(tree.cuts, table, n_cuts)
    branches, branch_starts = _copy_entries(tree.branches, table, n_branches)
    starts = np.where(by_code, branch_starts, np.where(by_interval, cut_starts, -1))
    return cuts, branches, starts.astype(np.int32)


def _copy_entries(
    entries: np.ndarray, start: np.ndarray, length: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The runs of `length` entries from `start` on, end to end, and where each begins."""
    begins = np.cumsum(length) - length
    index = np.repeat(start - begins, length) + np.arange(length.sum())
    return entries[index], begins


# -- costs -----------------------------------------------------------------------------


def actions(value: np.ndarray, loss: np.ndarray | None = None) -> np.ndarray:
    """The class, or under a loss the action, of least expected loss at class weights; the first of
    equals."""
    if loss is None:
        return np.argmax(value, axis=1)
    return np.argmin(value @ loss, axis=1)


def leaf_costs(value: np.ndarray, loss: np.ndarray | None = None) -> np.ndarray:
    """The weight of the errors, or the loss, of leaves with these class weights."""
    if loss is None:
        return value.sum(axis=1) - value.max(axis=1)
    return (value @ loss).min(axis=1)


@dataclass(frozen=True, slots=True)
class NodeCosts:
    """The costs of rows at the nodes they come to: a mergeable summary of rows held out of growth.

    A row of target y costs c(y, i) at node i: 1 if the class is wrong, the loss of the action
    there, or the squared or absolute error of the value. `at` sums w c(y, i), and `squares` w c(y,
    i)², over the rows that come to node i; `above` and `squares_above` do so for the costs of the
    same rows at its parent, from which follows what the rows cost that go no further.
    """

    weight: float  # of all rows
    at: np.ndarray
    squares: np.ndarray
    above: np.ndarray
    squares_above: np.ndarray

    @classmethod
    def of(
        cls,
        tree: Tree,
        visited: Any,
        target: np.ndarray,
        weight: np.ndarray | None = None,
        loss: Any = None,
    ) -> NodeCosts:
        """Sum over rows; `prune_by_error` says what is taken."""
        check_tree(tree)
        target = np.asarray(target)
        visited = csr_array(visited)
        check_codes(tree, target)
        if visited.shape != (len(target), tree.n_nodes):
            raise DataError(
                f"visited has the shape {visited.shape}, and {len(target)} targets at the nodes of"
                f" this tree need {(len(target), tree.n_nodes)}: give decision_path(X) of the"
                " learner of the tree"
            )
        weight = np.asarray(row_weights(weight, len(target)), dtype=np.float64)
        # one entry per node that a row, or a part of it, comes to
        row = np.repeat(np.arange(len(target)), np.diff(visited.indptr))
        node = visited.indices
        parent = np.maximum(tree.parent, 0)[node]
        cost = _cost_of(tree, target[row], loss)
        part = visited.data * weight[row]
        cost_at = cost(node)
        cost_above = cost(parent)

        def sum_by_node(costs: np.ndarray) -> np.ndarray:
            return np.bincount(node, part * costs, minlength=tree.n_nodes)

        return cls(
            weight=float(weight.sum()),
            at=sum_by_node(cost_at),
            squares=sum_by_node(cost_at**2),
            above=sum_by_node(cost_above),
            squares_above=sum_by_node(cost_above**2),
        )

    def merge(self, other: NodeCosts) -> NodeCosts:
        """The costs of the rows of both."""
        return NodeCosts(
            self.weight + other.weight,
            self.at + other.at,
            self.squares + other.squares,
            self.above + other.above,
            self.squares_above + other.squares_above,
        )

    def end_costs(self, tree: Tree, squares: bool = False) -> np.ndarray:
        """The costs, or their squares, of the rows that end at each node."""
        at = self.squares if squares else self.at
        above = self.squares_above if squares else self.above
        # Rows that go on to a child are in `above` of that child with their cost at this node.
        # What is left is a difference of sums: rounding errors of it must not count as costs.
        passed_on = np.bincount(tree.parent[1:], above[1:], minlength=tree.n_nodes)
        rest = at - passed_on
        return np.where(np.abs(rest) <= _ROUNDING * np.abs(at), 0.0, rest)


def _cost_of(tree: Tree, target: np.ndarray, loss: Loss) -> Any:
    """The costs of targets at nodes."""
    if target.dtype.kind in "iu":
        values = loss_of(tree, loss)
        chosen = node_decisions(tree, values)
        if values is None:
            return lambda node: (chosen[node] != target).astype(np.float64)
        return lambda node: values[target, chosen[node]]
    if loss not in (None, "squared", "absolute"):
        raise SettingError(
            f"values cost their 'squared' or 'absolute' error, not {loss!r}"
        )
    power = 1 if loss == "absolute" else 2
    return lambda node: np.abs(target - tree.node_values[node, 0]) ** power


# -- the prunings ----------------------------------------------------------------------


def prune_by_error(
    tree: Tree,
    visited: Any,
    y: np.ndarray,
    sample_weight: np.ndarray | None = None,
    loss: Loss = None,
) -> Tree:
    """Make a leaf of every node, from the bottom up, at which rows held out then cost no more.

    The rows were not used to grow the tree. A subtree that none of them comes to is made a leaf
    too.

    Parameters
    ----------
    tree : Tree
    visited : sparse array of shape (n_rows, n_nodes), by rows
        The part of each row that comes to each node: `decision_path(X)` of the learner.
    y : array of shape (n_rows,)
        Class codes for a tree of classes, floats for a regression tree.
    sample_weight : array of shape (n_rows,), optional
    loss : array of shape (K, A), or "squared" or "absolute" for values, optional
        Rows = true class, columns = action. By default errors, or squared errors.

    See Also
    --------
    DecisionTreeClassifier.prune : The same for a fitted learner.

    References
    ----------
    Quinlan, Simplifying decision trees, International Journal of Man-Machine Studies 27 (1987).

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.trees import DecisionTreeClassifier, prune_by_error
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 0, 1])
    >>> X, y = [[0.0], [2.0], [4.0], [5.0]], np.array([0, 0, 1, 1])  # rows held out
    >>> pruned = prune_by_error(model.tree_, model.decision_path(X), y)
    >>> model.tree_.n_leaves, pruned.n_leaves
    (4, 2)
    """
    return prune_by_costs(tree, NodeCosts.of(tree, visited, y, sample_weight, loss))


def prune_by_costs(tree: Tree, costs: NodeCosts) -> Tree:
    """`prune_by_error`, from the costs of the rows held out."""
    slack = _ROUNDING * np.abs(costs.at)
    _, cut = prune_bottom_up(tree, costs.at, costs.end_costs(tree), slack)
    return compact(tree, cut)


def prune_by_pessimistic_error(
    tree: Tree, penalty: float = 0.5, standard_error: bool = False, loss: Loss = None
) -> Tree:
    """Prune by e(T) + k · leaves: the errors on the rows of `fit`, and k for each leaf.

    A node becomes a leaf where its errors + k are no more than those of its subtree + k · leaves.
    With `standard_error`, as Quinlan has it, √(e′ (n − e′) / n) is added to the errors e′ of the
    subtree, nodes are judged from the root down, and each subtree is that of the grown tree.

    Parameters
    ----------
    tree : Tree
        Of classes.
    penalty : float, default=0.5
        k, in errors (or in loss); ½ is the continuity correction of the binomial distribution.
    standard_error : bool, default=False
    loss : array of shape (K, A), optional
        Rows = true class, columns = action; then e sums losses.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.trees import DecisionTreeClassifier, prune_by_pessimistic_error
    >>> tree = DecisionTreeClassifier().fit(load("penguins")).tree_
    >>> tree.n_leaves, prune_by_pessimistic_error(tree, penalty=1.0).n_leaves
    (15, 8)
    """
    check_classes(tree, "pessimistic pruning")
    check_amount("penalty", penalty)
    errors = leaf_costs(tree.node_values, loss_of(tree, loss)) + penalty
    slack = _ROUNDING * tree.weight
    if standard_error:
        # e' of a subtree is that of the grown tree, so all nodes are judged at once; compact()
        # drops those below a cut, which is judging from the root down
        below = sums_of_leaves(tree, errors)
        n = np.maximum(tree.node_values.sum(axis=1), np.finfo(float).tiny)
        variance = np.maximum(below * (n - below) / n, 0.0)
        cut = errors <= below + np.sqrt(variance) + slack
    else:
        _, cut = prune_bottom_up(tree, errors, None, slack)
    return compact(tree, cut)


def prune_by_loss(
    tree: Tree,
    loss: Loss = None,
    smoothing: Literal["none", "laplace", "m"] = "none",
    m: float = 2.0,
    prior: np.ndarray | None = None,
) -> Tree:
    """Make a leaf of every node, from the bottom up, whose expected loss is no more than its
    subtree's.

    The expected loss of a leaf is min_a Σ_k p_k λ[k, a], that of a subtree the mean over its
    children by weight; p_k = (n_k + m π_k) / (n + m). Without smoothing (m = 0) only subtrees that
    change no decision for the better go; "laplace" (m = K, π_k = 1/K) is Niblett and Bratko's
    minimum error pruning, "m" that of Cestnik and Bratko.

    Parameters
    ----------
    tree : Tree
        Of classes.
    loss : array of shape (K, A), optional
        Rows = true class, columns = action. By default 1 for every error.
    smoothing : {"none", "laplace", "m"}, default="none"
    m : float, default=2.0
        The weight of the prior for "m": the more, the smaller the tree.
    prior : array of shape (K,), optional
        π for "m"; by default the classes' shares of the rows of `fit`.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.trees import DecisionTreeClassifier, prune_by_loss
    >>> tree = DecisionTreeClassifier().fit(load("penguins")).tree_
    >>> tree.n_leaves, prune_by_loss(tree, smoothing="laplace").n_leaves
    (15, 9)
    """
    check_classes(tree, "minimum loss pruning")
    check_amount("m", m)
    if smoothing not in ("none", "laplace", "m"):
        raise SettingError(
            f"smoothing={smoothing!r} is not known: choose from 'none', 'laplace', 'm'"
        )
    K = tree.node_values.shape[1]
    if prior is not None and np.shape(prior) != (K,):
        raise SettingError(
            f"prior must be {K} numbers, one per class of the tree, not {prior!r}"
        )
    if smoothing == "laplace":
        m = float(K)
        prior = np.full(K, 1.0 / K)
    elif smoothing == "none":
        m = 0.0
    n = np.maximum(tree.node_values.sum(axis=1), np.finfo(float).tiny)
    smoothed = smoothed_weights(tree.node_values, m, prior)
    costs = leaf_costs(smoothed, loss_of(tree, loss))
    _, cut = prune_bottom_up(tree, costs, None, _ROUNDING * n)
    return compact(tree, cut)


def smoothed_weights(
    value: np.ndarray, m: float, prior: np.ndarray | None = None
) -> np.ndarray:
    """Class weights n (n_k + m π_k) / (n + m), whose sums stay n, so that costs add up over
    children.

    π are by default the classes' shares at the root.
    """
    if prior is None:
        prior = value[0] / value[0].sum()
    else:
        prior = np.asarray(prior, dtype=np.float64)
    n = np.maximum(value.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return (value + m * prior) * (n / (n + m))


def collapse(tree: Tree, slack: float = 1e-3) -> Tree:
    """C4.5's collapse: a leaf for every node whose subtree makes no fewer errors on the rows of
    `fit`.

    From the bottom up; errors that differ by up to `slack` are equal.
    """
    check_classes(tree, "C4.5's collapse")
    errors = leaf_costs(tree.node_values)
    _, cut = prune_bottom_up(tree, errors, None, np.full(tree.n_nodes, slack))
    return compact(tree, cut)


def prune_bottom_up(
    tree: Tree, as_leaf: np.ndarray, own: np.ndarray | None, slack: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Costs of the subtrees after, and which nodes to make leaves by, replacement from the bottom
    up.

    `own` is the cost of the rows that end at an inner node.
    """
    n = tree.n_nodes
    # Lists, as single entries of arrays are slow to read. below[i] sums the costs of the children
    # of node i that came before it in this order, which are all of them: children have larger
    # numbers.
    below = [0.0] * n if own is None else own.tolist()
    leaf = as_leaf.tolist()
    reach = (as_leaf - slack).tolist()
    inner = (tree.kind != LEAF).tolist()
    parent = tree.parent.tolist()
    cut = np.zeros(n, dtype=bool)
    for node in range(n - 1, -1, -1):
        if not inner[node]:
            below[node] = leaf[node]
        elif reach[node] <= below[node]:
            below[node] = leaf[node]
            cut[node] = True
        if node:
            below[parent[node]] += below[node]
    return np.array(below), cut


def sums_of_leaves(tree: Tree, amount: np.ndarray) -> np.ndarray:
    """For every node, the sum of `amount` over the leaves below it (its own, of a leaf)."""
    # inner nodes of infinite cost are never cut, so that only leaves are summed
    costs = np.where(tree.kind == LEAF, amount, np.inf)
    return prune_bottom_up(tree, costs, None, np.zeros(tree.n_nodes))[0]

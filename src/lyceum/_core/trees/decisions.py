"""node_decisions: the class, or the action, of every node; a tie is decided by the node above."""

from __future__ import annotations

import numpy as np

from lyceum._core.trees.tree import Tree

# posteriors, or losses in parts of the largest, that differ by less are equal
_EQUAL = 1e-12


def shares(value: np.ndarray) -> np.ndarray:
    """Rows of class weights as posteriors, which sum to 1; equal posteriors for zero weight."""
    total = value.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, value / total, 1.0 / value.shape[1])


def node_decisions(
    tree: Tree,
    loss: np.ndarray | None = None,
    nodes: np.ndarray | None = None,
    *,
    last: bool = False,
) -> np.ndarray:
    """The codes of the classes of largest weight, or of the actions of smallest expected loss.

    Of equals it is the one that the parent prefers, then the parent's parent; at the root the
    first.

    Parameters
    ----------
    tree : Tree
        Of classes.
    loss : array of shape (K, A), optional
        Rows = true class, columns = action.
    nodes : array of int, optional
        Which nodes; by default all.
    last : bool, default=False
        Whether of equals at the root it is the last, so that ties up to there show.
    """
    if nodes is None:
        nodes = np.arange(tree.n_nodes)
    nodes = np.asarray(nodes)
    tied = _best(_merits(tree.node_values[nodes], loss))
    codes = _pick(tied, last)
    undecided = np.flatnonzero(tied.sum(axis=1) > 1)
    if not len(undecided):
        return codes
    # all ties at once, one step up the tree at a time; only actions that are tied so far compete
    above = nodes[undecided]
    parent = tree.parent
    while len(undecided):
        above = parent[above]
        undecided = undecided[above >= 0]
        above = above[above >= 0]
        merits = _merits(tree.node_values[above], loss)
        tied[undecided] = _best(np.where(tied[undecided], merits, -np.inf))
        codes[undecided] = _pick(tied[undecided], last)
        still_tied = tied[undecided].sum(axis=1) > 1
        undecided = undecided[still_tied]
        above = above[still_tied]
    return codes


def _pick(tied: np.ndarray, last: bool) -> np.ndarray:
    if last:
        return tied.shape[1] - 1 - tied[:, ::-1].argmax(axis=1)
    return tied.argmax(axis=1)


def _merits(value: np.ndarray, loss: np.ndarray | None) -> np.ndarray:
    """Posteriors, or expected losses in parts of the largest loss with their signs turned."""
    if loss is None:
        return shares(value)
    largest = max(float(np.abs(loss).max()), np.finfo(np.float64).tiny)
    return shares(value) @ loss / -largest


def _best(merits: np.ndarray) -> np.ndarray:
    return merits >= merits.max(axis=1, keepdims=True) - _EQUAL


def decided_shares(tree: Tree) -> np.ndarray:
    """The shares of the classes in every node; of equal ones that of the class decided for is
    larger by a rounding, so that whoever takes the largest decides as the node does."""
    posteriors = shares(tree.node_values)
    posteriors[np.arange(len(posteriors)), node_decisions(tree)] *= 1 + 1e-14
    return posteriors

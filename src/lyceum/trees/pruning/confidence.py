"""C4.5's pruning by the upper confidence bound of the error at every leaf."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.special import betaincinv, ndtri

from lyceum._core.trees import Tree
from lyceum.errors import SettingError
from lyceum.trees.pruning.bottom_up import compact, leaf_costs, prune_bottom_up
from lyceum.trees.pruning.checks import check_classes
from lyceum.trees.pruning.raising import raise_subtrees

Bound = Literal["c45", "normal", "exact"]

# C4.5 interpolates the normal deviate between these
_LEVELS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)

# C4.5 takes the smaller tree if it has at most this many errors more
SLACK = 0.1


def upper_errors(
    errors: Any, weight: object, confidence: float = 0.25, bound: Bound = "c45"
) -> np.ndarray:
    """N · U_CF(E, N): how many errors to expect of a leaf that makes E errors in N rows of `fit`.

    U_CF(E, N) is the rate at which E errors or fewer have probability CF: Σ_{i≤E} C(N,i) Uⁱ
    (1−U)^(N−i) = CF.

    Parameters
    ----------
    errors, weight : array
        E and N, which may be fractions.
    confidence : float in (0, 0.5], default=0.25
        CF; the less, the larger the bound.
    bound : {"c45", "normal", "exact"}, default="c45"
        "exact": U as above. "normal": exact for E = 0, the normal approximation with continuity
        correction from E = 1 on, linear between, and N where E + ½ ≥ N. "c45" is "normal" with the
        deviate that C4.5 interpolates in a table of eight, and E + 0.67 (N − E) where E + ½ ≥ N.

    References
    ----------
    Quinlan, C4.5: Programs for Machine Learning (1993), section 4.2.

    Examples
    --------
    >>> upper_errors([0, 0, 0, 1], [6, 9, 1, 16]).round(3).tolist()
    [1.238, 1.285, 0.75, 2.507]
    """
    if not isinstance(confidence, Real) or not 0.0 < confidence <= 0.5:
        raise SettingError(f"confidence={confidence!r} must be above 0 and at most 0.5")
    E, N = np.broadcast_arrays(
        np.asarray(errors, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    )
    if bound == "exact":
        # Clopper and Pearson's upper limit, the 1 − CF quantile of Beta(E + 1, N − E); 1 for E = N
        inside = E < N
        rest = np.where(inside, N - E, 1.0)
        return np.where(inside, N * betaincinv(E + 1.0, rest, 1.0 - confidence), N)
    if bound not in ("c45", "normal"):
        raise SettingError(
            f"bound={bound!r} is not known: choose from 'c45', 'normal', 'exact'"
        )
    c45 = bound == "c45"
    if c45:
        z = float(np.interp(confidence, _LEVELS, _DEVIATES))
    else:
        z = float(-ndtri(confidence))
    with np.errstate(divide="ignore", invalid="ignore"):
        # no error: N (1 − CF^(1/N)), exact; below one error: between that and the bound of one
        none = N * -np.expm1(np.log(confidence) / N)
        one = _approximate(np.ones_like(E), N, z, c45)
        few = none + E * (one - none)
        many = _approximate(E, N, z, c45)
    added = np.select([E < 1e-6, E < 0.9999], [none, few], many)
    return np.where(N > 0.0, E + added, 0.0)


def _approximate(E: np.ndarray, N: np.ndarray, z: float, c45: bool) -> np.ndarray:
    """Errors to add: N times the normal bound of (E + ½) / N, less E."""
    # Wilson's upper bound, with f = E + ½ by the continuity correction
    f = E + 0.5
    variance = np.maximum(f * (1.0 - f / N) + z * z / 4.0, 0.0)
    bound = N * (f + z * z / 2.0 + z * np.sqrt(variance)) / (N + z * z)
    # beyond N - ½ errors C4.5 adds two thirds of what is left, J48 all of it
    rest = np.maximum(N - E, 0.0) * (0.67 if c45 else 1.0)
    return np.where(f >= N, rest, bound - E)


def prune_by_confidence(
    tree: Tree,
    confidence: float = 0.25,
    bound: Bound = "c45",
    *,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray | None] | None = None,
    impurity: Literal["entropy", "gini", "misclassification"] = "entropy",
) -> Tree:
    """Prune where a leaf, or the largest branch, is expected to make no more errors than the
    subtree.

    From the bottom up, a node becomes a leaf where N U_CF(E, N) is no more than the sum over its
    subtree's leaves. With the `rows` of `fit` it may instead be replaced by its largest branch, all
    its rows sent down that branch (subtree raising), and the raised branch is pruned once more. As
    in C4.5, up to 0.1 errors more are accepted for the smaller tree.

    Parameters
    ----------
    tree : Tree
        Of classes.
    confidence : float in (0, 0.5], default=0.25
        The less, the smaller the tree.
    bound : {"c45", "normal", "exact"}, default="c45"
        See `upper_errors`.
    rows : (cells, class codes, weights or None), optional
        The rows that the tree was grown on, for subtree raising: categories as codes, NaN where
        missing.
    impurity : {"entropy", "gini", "misclassification"}, default="entropy"
        The impurity recorded at the nodes of a raised branch.

    Examples
    --------
    >>> from lyceum.datasets import load
    >>> from lyceum.trees import DecisionTreeClassifier, prune_by_confidence
    >>> tree = DecisionTreeClassifier().fit(load("penguins")).tree_
    >>> tree.n_leaves, prune_by_confidence(tree, confidence=0.1).n_leaves
    (15, 9)
    """
    check_classes(tree, "pruning by a confidence bound")

    expected = partial(upper_errors, confidence=confidence, bound=bound)
    if rows is not None:
        return raise_subtrees(
            tree, *rows, expected=expected, slack=SLACK, impurity=impurity
        )
    errors = expected(leaf_costs(tree.node_values), tree.node_values.sum(axis=1))
    _, cut = prune_bottom_up(tree, errors, None, np.full(tree.n_nodes, SLACK))
    return compact(tree, cut)

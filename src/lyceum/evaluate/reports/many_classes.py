"""One number for K classes: Fawcett's and Hand and Till's areas, and the modified macro average."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.types import Target, Weights
from lyceum.errors import SettingError
from lyceum.evaluate.curves.roc import roc_auc_score
from lyceum.evaluate.label_codes import score_matrix, truth_and_weights, weights_of
from lyceum.evaluate.reports.confusion import Confusion, confusion_matrix


def auc_fawcett(
    y_true: Any,
    y_score: Any,
    *,
    labels: Any = None,
    sample_weight: Weights = None,
) -> float:
    """Fawcett's class-weighted area, Σ_k p(k) AUC(k against the rest), p(k) the share of class k.

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target and carry their weights.
    y_score : array-like of shape (n, K)
        Posteriors or scores, columns in the order of the classes; (n,) for two classes.
    labels : array-like of shape (K,), optional
        The classes of the columns; by default the sorted labels of y_true.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        A class without rows has no share; 0.5 when there is one class only.

    See Also
    --------
    auc_hand_till : Does not depend on the class shares.

    References
    ----------
    Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.

    Examples
    --------
    >>> auc_fawcett(["a", "b", "c"], np.eye(3))
    1.0
    """
    y_true, sample_weight = truth_and_weights(y_true, sample_weight)
    labels, codes, y_score = score_matrix(y_true, y_score, labels)
    w = weights_of(sample_weight, len(codes))
    shares = np.bincount(codes, w, minlength=len(labels)).astype(np.float64)
    # one class against no other: as good as chance
    if np.count_nonzero(shares) < 2:
        return 0.5
    areas = [
        roc_auc_score(codes == k, y_score[:, k], sample_weight=w)
        for k in np.flatnonzero(shares)
    ]
    return float(np.dot(areas, shares[shares > 0.0]) / shares.sum())


def auc_hand_till(
    y_true: Any,
    y_score: Any,
    *,
    labels: Any = None,
    sample_weight: Weights = None,
) -> float:
    """Hand and Till's M, 2/(K(K-1)) Σ_{i<j} [A(i|j) + A(j|i)] / 2, free of the class shares.

    A(i|j) is the chance that a row of class i has a larger score for i than a row of class j has.

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target and carry their weights.
    y_score : array-like of shape (n, K)
        Posteriors or scores, columns in the order of the classes; (n,) for two classes.
    labels : array-like of shape (K,), optional
        The classes of the columns; by default the sorted labels of y_true.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        The mean over pairs of classes that both have rows; 0.5 when there is no such pair.

    See Also
    --------
    auc_fawcett : Weighted by the class shares.

    References
    ----------
    Hand and Till, A simple generalization of the area under the ROC curve for multiple class
    classification problems, Machine Learning 45, 2001.

    Examples
    --------
    >>> auc_hand_till([0, 1, 2], np.eye(3))
    1.0
    """
    y_true, sample_weight = truth_and_weights(y_true, sample_weight)
    labels, codes, y_score = score_matrix(y_true, y_score, labels)
    w = weights_of(sample_weight, len(codes))
    counts = np.bincount(codes, w, minlength=len(labels))
    present = np.flatnonzero(counts > 0)
    if len(present) < 2:
        return 0.5
    # rows of a class without weight have no pair
    kept = counts[codes] > 0
    codes = np.searchsorted(present, codes[kept])
    y_score = y_score[kept]
    if w is not None:
        w = w[kept]
    areas = [
        _areas_of(codes, y_score[:, column], i, w, counts[present])
        for i, column in enumerate(present)
    ]
    # A(i|i) is no area of two classes
    n_pairs = len(present) * (len(present) - 1)
    return float((np.sum(areas) - np.trace(areas)) / n_pairs)


def _areas_of(
    codes: np.ndarray,
    score: np.ndarray,
    i: int,
    w: np.ndarray | None,
    counts: np.ndarray,
) -> np.ndarray:
    """A(i|j) for all classes j by the score of class i: every row is looked up once among those of
    class i, O(n log n)."""
    own = codes == i
    order = np.argsort(score[own])
    ascending = score[own][order]
    below = np.arange(len(order) + 1.0)
    if w is not None:
        below = np.append(0.0, np.cumsum(w[own][order]))
    # the weight of class i above a row, and half of what is level with it
    first = below[np.searchsorted(ascending, score, side="left")]
    last = below[np.searchsorted(ascending, score, side="right")]
    above = below[-1] - 0.5 * (first + last)
    if w is not None:
        above = above * w
    sums = np.bincount(codes, above, minlength=len(counts))
    return sums / (counts * counts[i])


def macro_average_modified(
    y_true: Target, y_pred: Target = None, *, sample_weight: Weights = None
) -> float:
    """¾ of the mean plus ¼ of the geometric mean of P_ii = N_ii / N_i, the share of class i
    predicted right.

    A rejected row counts in N_i. A class that is never right makes the geometric mean 0, so that
    every class matters.

    Parameters
    ----------
    y_true : array-like of shape (n,), scanned rows or Confusion
        The true labels (rows stand for their target and carry their weights), or a confusion
        matrix.
    y_pred : array-like of shape (n,), optional
        The predictions; not needed with a confusion matrix.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        Classes without rows are left out; 0 when there are none.

    See Also
    --------
    class_report : Macro, weighted and micro averages.

    Examples
    --------
    >>> macro_average_modified([0, 0, 1, 1], [0, 0, 1, 0])  # P_ii are 1 and 1/2
    0.7392766952966369
    """
    if isinstance(y_true, Confusion):
        matrix = y_true
    elif y_pred is None:
        raise SettingError("give y_true and y_pred, or a confusion matrix")
    else:
        matrix = confusion_matrix(y_true, y_pred, sample_weight=sample_weight)
    # a rejected row is a row of its class that was not found
    n = matrix.counts.sum(axis=1) + matrix.rejected
    right = matrix.counts.diagonal()[n > 0] / n[n > 0]
    if not len(right):
        return 0.0
    if right.min() > 0.0:
        geometric = float(np.exp(np.log(right).mean()))
    else:
        geometric = 0.0
    return 0.75 * float(right.mean()) + 0.25 * geometric

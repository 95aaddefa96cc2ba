"""Calibration of posteriors: the reliability table, Brier score, log loss and calibration
errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.statistics import log_losses
from lyceum._core.types import Label, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.common import named_choice, ratio
from lyceum.evaluate.label_codes import (
    number_array,
    positive_mask,
    same_length,
    score_matrix,
    truth_and_weights,
    weights_or_ones,
)
from lyceum.evaluate.printable import Unpackable
from lyceum.report import Summary, Table

_ROUNDING = 1e-6  # how far outside [0, 1] a posterior may lie by rounding


@dataclass(frozen=True, slots=True, eq=False)
class Calibration(Unpackable):
    """How well posteriors agree with observed shares.

    It unpacks as scikit-learn's: ``prob_true, prob_pred = calibration_curve(y_true, y_prob)``,
    which are `observed` and `predicted`.

    Attributes
    ----------
    low, high : ndarray of shape (m,)
        Bounds of the bins that hold rows.
    predicted, observed : ndarray of shape (m,)
        Mean posterior, and share of rows in which the event happened.
    weight : ndarray of shape (m,)
        Rows of the bin, or their weight.
    brier, log_loss : float
        Mean squared error of the posteriors, and mean -ln(posterior of the true class).
    expected_error, largest_error : float
        Mean (by rows) and largest |observed - predicted| over the bins.

    See Also
    --------
    calibration_curve : Makes it from labels and posteriors.
    lyceum.decision.CalibratedClassifierCV : A classifier whose posteriors are calibrated.
    lyceum.plot.calibration : The table as a picture.

    References
    ----------
    Brier, Verification of forecasts expressed in terms of probability, Monthly Weather Review 78,
    1950. DeGroot and Fienberg, The comparison and evaluation of forecasters, The Statistician 32,
    1983.

    Examples
    --------
    >>> from lyceum.evaluate import calibration_curve
    >>> result = calibration_curve([0, 0, 0, 1, 1, 1], [0.2, 0.2, 0.2, 0.2, 0.8, 0.8], n_bins=2)
    >>> result.predicted.round(3).tolist(), result.observed.tolist()
    ([0.2, 0.8], [0.25, 1.0])
    >>> round(result.expected_error, 3), round(result.brier, 3)   # (4 · 0.05 + 2 · 0.2) / 6
    (0.1, 0.14)
    """

    _unpacked = ("observed", "predicted")

    low: np.ndarray
    high: np.ndarray
    predicted: np.ndarray
    observed: np.ndarray
    weight: np.ndarray
    brier: float
    log_loss: float
    expected_error: float
    largest_error: float

    def summary(self) -> Summary:
        """The scores and the reliability table."""
        facts = {
            "Brier score": self.brier,
            "log loss": self.log_loss,
            "expected calibration error": self.expected_error,
            "largest calibration error": self.largest_error,
        }
        columns = (self.low, self.high, self.weight, self.predicted, self.observed)
        rows = [tuple(map(float, row)) for row in zip(*columns)]
        table = Table(
            "reliability", ("from", "to", "rows", "predicted", "observed"), rows
        )
        return Summary("calibration", facts, (table,))


def calibration_curve(
    y_true: Target,
    y_prob: Target,
    *,
    pos_label: Label = None,
    n_bins: int = 5,
    strategy: str = "uniform",
    labels: ArrayLike | None = None,
    sample_weight: Weights = None,
) -> Calibration:
    """The reliability table of posteriors, with their calibration errors, Brier score and log loss.

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target and carry their weights.
    y_prob : array-like of shape (n,) or (n, K)
        Posterior of the positive class; or of all K classes: then the table is about the class
        predicted for each row (its largest posterior against how often it is right). Of two columns
        the second is taken.
    pos_label : label, optional
        The positive class of (n,) posteriors, by default the larger of two labels.
    n_bins : int, default=5
        The number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about equal numbers of rows (fewer where posteriors repeat). A
        posterior on the bound of two bins is in the lower one.
    labels : array-like of shape (K,), optional
        The classes of the columns, by default the sorted labels of y_true.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    Calibration
        Empty bins are left out of the table. Without rows every number is 0.

    See Also
    --------
    brier_score_loss, log_loss : The scores alone.
    lyceum.plot.calibration : The table as a picture.

    Examples
    --------
    >>> result = calibration_curve([0, 1, 1, 1], [0.25, 0.75, 0.75, 0.75], n_bins=2)
    >>> result.observed, result.expected_error
    (array([0., 1.]), 0.25)
    """
    cut = named_choice("strategy", strategy, _BINS)
    if n_bins < 1:
        raise SettingError(f"n_bins={n_bins}: at least one bin is needed")
    truth, matrix, w = _posteriors(
        y_true, y_prob, pos_label, labels, sample_weight, "y_prob"
    )
    # of two classes the posterior of the positive one, of more the confidence in the decision
    if matrix.shape[1] == 2:
        stated = matrix[:, 1]
        happened = truth == 1
    else:
        top = matrix.argmax(axis=1)
        stated = matrix[np.arange(len(top)), top]
        happened = truth == top
    # Means over the rows of every bin: Σ w p / Σ w and Σ w [happened] / Σ w. A value on an edge
    # belongs to the bin below it; bins without rows are left out.
    edges = cut(stated, n_bins)
    size = len(edges) - 1
    bins = np.searchsorted(edges[1:-1], stated, side="left")
    weight = np.bincount(bins, w, size)
    filled = weight > 0.0
    weight = weight[filled]
    predicted = np.bincount(bins, w * stated, size)[filled] / weight
    observed = np.bincount(bins, w * happened, size)[filled] / weight
    distance = np.abs(observed - predicted)
    return Calibration(
        low=edges[:-1][filled],
        high=edges[1:][filled],
        predicted=predicted,
        observed=observed,
        weight=weight,
        brier=_brier(truth, matrix, w),
        log_loss=_log_loss(truth, matrix, w),
        expected_error=ratio(float(distance @ weight), float(weight.sum())),
        largest_error=float(distance.max(initial=0.0)),
    )


def _posteriors(
    y_true: Target,
    y_proba: Any,
    pos_label: Label,
    labels: ArrayLike | None,
    sample_weight: Weights,
    name: str,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes of the truth, (n, K) posteriors, checked, and the weights of the rows."""
    y_true, sample_weight = truth_and_weights(y_true, sample_weight)
    matrix = number_array(y_proba, name)
    if matrix.ndim == 1:
        truth = positive_mask(y_true, pos_label).astype(np.intp)
        same_length(truth, matrix, f"y_true and {name}")
        matrix = np.column_stack([1.0 - matrix, matrix])
    else:
        _, truth, matrix = score_matrix(y_true, matrix, labels)
    low = matrix.min(initial=0.0)
    high = matrix.max(initial=1.0)
    if not (low >= -_ROUNDING and high <= 1.0 + _ROUNDING):  # NaN is neither
        raise DataError(
            f"{name} has values that are missing or outside [0, 1]: give posteriors, not scores"
        )
    # posteriors that were rounded for a file still pass
    sums = matrix.sum(axis=1)
    if len(matrix) and np.abs(sums - 1.0).max() > 1e-3:
        raise DataError("the posteriors of a row must sum to 1")
    if low < 0.0 or high > 1.0:
        matrix = np.clip(matrix, 0.0, 1.0)
    return truth, matrix, weights_or_ones(sample_weight, len(truth))


def _uniform_edges(stated: np.ndarray, n_bins: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, n_bins + 1)


def _quantile_edges(stated: np.ndarray, n_bins: int) -> np.ndarray:
    if not len(stated):
        return np.array([0.0, 1.0])
    # edges with the same number of rows between them, as in scikit-learn; ties may leave bins empty
    return np.percentile(stated, 100.0 * np.linspace(0.0, 1.0, n_bins + 1))


_BINS = {"uniform": _uniform_edges, "quantile": _quantile_edges}


def _brier(
    truth: np.ndarray,
    matrix: np.ndarray,
    w: np.ndarray,
    halve: Any = "auto",
) -> float:
    """Mean Σ_k (p_k - [y = k])²; half of it, which is (p - y)², for two classes."""
    if halve == "auto":
        halve = matrix.shape[1] < 3
    off = matrix.copy()
    off[np.arange(len(truth)), truth] -= 1.0
    # the two terms of two classes are equal but for rounding: one of them, twice
    if matrix.shape[1] == 2:
        square = 2.0 * off[:, 1] ** 2
    else:
        square = (off**2).sum(axis=1)
    mean = ratio(float(w @ square), float(w.sum()))
    return 0.5 * mean if halve else mean


def _log_loss(
    truth: np.ndarray,
    matrix: np.ndarray,
    w: np.ndarray,
) -> float:
    return ratio(float(w @ log_losses(truth, matrix)), float(w.sum()))


def brier_score_loss(
    y_true: Target,
    y_proba: Target,
    *,
    sample_weight: Weights = None,
    pos_label: Label = None,
    labels: ArrayLike | None = None,
    scale_by_half: bool | str = "auto",
) -> float:
    """Mean squared error of posteriors: (p - y)² for two classes, summed over all classes for more.

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target and carry their weights.
    y_proba : array-like of shape (n,) or (n, K)
        Posteriors of the positive class, or of all K classes.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    pos_label : label, optional
        The positive class of (n,) posteriors; by default the larger of two labels.
    labels : array-like of shape (K,), optional
        The classes of the columns; by default the sorted labels of y_true.
    scale_by_half : bool or "auto", default="auto"
        Whether to halve the sum over all classes; "auto" does so for two, so that the score is in
        [0, 1].

    Returns
    -------
    float

    See Also
    --------
    log_loss : Punishes sure mistakes more.
    calibration_curve : The reliability table.

    References
    ----------
    Brier, Verification of forecasts expressed in terms of probability, Monthly Weather Review 78,
    1950.

    Examples
    --------
    >>> round(brier_score_loss([0, 1], [0.1, 0.8]), 6)
    0.025
    """
    truth, matrix, w = _posteriors(
        y_true, y_proba, pos_label, labels, sample_weight, "y_proba"
    )
    return _brier(truth, matrix, w, scale_by_half)


def log_loss(
    y_true: Target,
    y_proba: Target,
    *,
    normalize: bool = True,
    sample_weight: Weights = None,
    labels: ArrayLike | None = None,
    pos_label: Label = None,
) -> float:
    """Mean -ln(posterior of the true class).

    Posteriors below 2.2e-16 count as that, so a row loses at most 36.04.

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target and carry their weights.
    y_proba : array-like of shape (n,) or (n, K)
        Posteriors of the positive class, or of all K classes.
    normalize : bool, default=True
        The mean; False gives the sum.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    labels : array-like of shape (K,), optional
        The classes of the columns; by default the sorted labels of y_true.
    pos_label : label, optional
        The positive class of (n,) posteriors; by default the larger of two labels.

    Returns
    -------
    float

    See Also
    --------
    brier_score_loss : Bounded for every row.

    Examples
    --------
    >>> round(log_loss([0, 1], [0.5, 0.5]), 4)
    0.6931
    """
    truth, matrix, w = _posteriors(
        y_true, y_proba, pos_label, labels, sample_weight, "y_proba"
    )
    if normalize:
        return _log_loss(truth, matrix, w)
    return float(w @ log_losses(truth, matrix))

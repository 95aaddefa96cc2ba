"""Why a model errs: noise that no model can predict, a class of models that is too simple, too few
rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum.errors import DataError
from lyceum.evaluate.common import named_choice
from lyceum.evaluate.label_codes import column_of, same_length
from lyceum.evaluate.printable import Printable
from lyceum.report import Summary


@dataclass(frozen=True, slots=True)
class ErrorParts(Printable):
    """error = irreducible + approximation + estimation.

    Attributes
    ----------
    error : float
        Mean loss of the trained model.
    irreducible : float
        Mean loss of the best rule of all, the noise-free truth or the Bayes classifier.
    approximation : float
        Loss of the best model of the class, minus `irreducible`: the class is too simple.
    estimation : float
        Loss of the trained model, minus that of the best of its class: too few rows. On a sample of
        test rows it may be below 0.
    loss : {"squared", "error"}
        The loss.

    See Also
    --------
    error_parts : Makes it from predictions.
    BiasVariance : Bias and variance, the other division of the error.
    LearningCurve : The estimation error falls with the number of rows.

    References
    ----------
    Bottou and Bousquet, The tradeoffs of large scale learning, NIPS 2007.

    Examples
    --------
    Targets are ±1 around a truth of 0, so that no rule has an error below 1:

    >>> from lyceum.evaluate import error_parts
    >>> y, predicted, best = [1, -1, 1, -1], [1, 1, -1, -1], [0.5, 0.5, -0.5, -0.5]
    >>> parts = error_parts(y, predicted, best, truth=[0, 0, 0, 0])
    >>> parts.error, parts.irreducible, parts.approximation, parts.estimation
    (2.0, 1.0, 0.25, 0.75)
    """

    error: float
    irreducible: float
    approximation: float
    estimation: float
    loss: str

    def summary(self) -> Summary:
        """The three parts."""
        facts = {
            "error": self.error,
            "irreducible": self.irreducible,
            "approximation (class of models too simple)": self.approximation,
            "estimation (too few rows)": self.estimation,
        }
        return Summary(f"parts of the error, loss: {self.loss}", facts)


def error_parts(
    y_true: Any,
    y_pred: Any,
    best: Any,
    truth: Any,
    *,
    loss: str = "squared",
) -> ErrorParts:
    """Irreducible, approximation and estimation error from predictions for the same test rows.

    With R the mean loss, f the trained model, f° the best model of its class and f* the best rule
    of all: R(f) = R(f*) + [R(f°) - R(f*)] + [R(f) - R(f°)].

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        Targets of the test rows.
    y_pred : array-like of shape (n,) or (B, n)
        Predictions of the trained model, or of B models trained on different samples, whose losses
        are averaged.
    best : array-like of shape (n,)
        Predictions of the best model of the class; the same learner trained on very many rows comes
        close.
    truth : array-like of shape (n,)
        The noise-free targets E[y | x], or the labels of the Bayes classifier.
    loss : {"squared", "error"}, default="squared"
        Squared error of numbers, or 0/1 loss of labels.

    Returns
    -------
    ErrorParts

    See Also
    --------
    decompose : Bias and variance, the other division of the error.
    learning_curve : The estimation error falls with the rows.

    References
    ----------
    Bottou and Bousquet, The tradeoffs of large scale learning, NIPS 2007.

    Examples
    --------
    >>> parts = error_parts([0.0, 2.0], y_pred=[1.0, 3.0], best=[1.0, 2.0], truth=[0.0, 2.0])
    >>> parts.error, parts.irreducible, parts.approximation, parts.estimation
    (1.0, 0.0, 0.5, 0.5)
    """
    measure = named_choice(
        "loss", loss, {"squared": _squared_loss, "error": _zero_one_loss}
    )
    target = column_of(y_true, "y_true")
    if not len(target):
        raise DataError("there are no rows")
    predictions = np.asarray(y_pred)
    # one row of predictions per training sample: the error is their mean
    rows_match = predictions.ndim == 2 and predictions.shape[1] == len(target)
    if rows_match and predictions.size:
        error = float(np.mean([measure(target, sample) for sample in predictions]))
    else:
        error = _loss_of(measure, target, y_pred, "y_pred")
    # what even the truth loses, what the best model of the class loses beyond it, and the rest
    best_loss = _loss_of(measure, target, best, "best")
    truth_loss = _loss_of(measure, target, truth, "truth")
    return ErrorParts(
        error=error,
        irreducible=truth_loss,
        approximation=best_loss - truth_loss,
        estimation=error - best_loss,
        loss=loss,
    )


def _loss_of(
    measure: Callable[..., float],
    target: np.ndarray,
    values: ArrayLike,
    name: str,
) -> float:
    column = column_of(values, name)
    same_length(target, column, f"y_true and {name}")
    return measure(target, column)


def _squared_loss(target: np.ndarray, predicted: np.ndarray) -> float:
    off = target.astype(np.float64) - predicted.astype(np.float64)
    return float((off**2).mean())


def _zero_one_loss(target: np.ndarray, predicted: np.ndarray) -> float:
    return float((target != predicted).mean())

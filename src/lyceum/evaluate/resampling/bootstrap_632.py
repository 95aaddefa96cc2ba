"""Efron's .632 bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.types import Data, Estimator, Loss, Target, Weights
from lyceum.errors import SettingError
from lyceum.evaluate.common import ratio
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.resampling.cross_validation import splits_of
from lyceum.evaluate.resampling.experiment import Experiment, Predict, run_all
from lyceum.evaluate.resampling.splits import Bootstrap
from lyceum.report import Summary


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap632(Printable):
    """Efron's .632 estimate and its parts.

    Attributes
    ----------
    error : float
        0.368 · training + 0.632 · left_out.
    plus : float
        The .632+ estimate (Efron and Tibshirani 1997), which gives the training error less weight
        the more the model overfits.
    training : float
        Loss of the model of all rows on the rows that it learned from.
    left_out : float
        Mean over rows of the loss of those models that did not learn from the row.
    no_information : float
        Loss if targets were independent of rows: over all pairs of a target and a prediction.
    rounds : ndarray of shape (n_rounds,)
        Loss on the left-out rows of every round.
    loss_name : str
        The loss.

    See Also
    --------
    bootstrap_632 : Makes it from an estimator and rows.
    CrossValidation : The losses of folds instead.

    References
    ----------
    Efron, Estimating the error rate of a prediction rule, JASA 78, 1983.
    Efron and Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, JASA 92,
    1997.

    Examples
    --------
    The nearest neighbor makes no mistake on its own rows, so that only the left-out error counts:

    >>> from lyceum.evaluate import bootstrap_632
    >>> from lyceum.neighbors import KNeighborsClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], list("aababbab")
    >>> result = bootstrap_632(KNeighborsClassifier(1), X, y, n_rounds=5)
    >>> result.training, round(result.error / result.left_out, 3)
    (0.0, 0.632)
    >>> result.plus > result.error                                # corrected for such overfitting
    True
    """

    error: float
    plus: float
    training: float
    left_out: float
    no_information: float
    rounds: np.ndarray
    loss_name: str

    def summary(self) -> Summary:
        """The estimates and the losses that they are made of."""
        facts = {
            ".632": self.error,
            ".632+": self.plus,
            "training": self.training,
            "left out": self.left_out,
            "no information": self.no_information,
        }
        return Summary(
            f"bootstrap of {len(self.rounds)} rounds, loss: {self.loss_name}", facts
        )


def bootstrap_632(
    estimator: Estimator,
    X: Data,
    y: Target = None,
    *,
    n_rounds: int = 200,
    loss: Loss = "auto",
    sample_weight: Weights = None,
    predict: Predict | None = None,
    coded_y: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Bootstrap632:
    """Efron's .632 bootstrap: error = 0.368 · training error + 0.632 · left-out error.

    A bootstrap sample holds 1 - 1/e = 63.2 % of the rows, so the left-out error is too high and the
    training error too low; the mixture balances the two.

    Parameters
    ----------
    estimator : estimator
        Of any library with scikit-learn's interface, or a pipeline; a fresh copy is fitted in every
        round.
    X : array-like or frame of n rows, or scanned rows
        Rows from `lyceum.scan` may be in a file larger than memory.
    y : array-like of shape (n,), optional
        The target; scanned rows carry their own.
    n_rounds : int, default=200
        The number of bootstrap samples.
    loss : {"auto", "error", "squared", "absolute"} or callable, default="auto"
        "auto" is the error rate for classifiers, squared error otherwise; a function (y, predicted)
        gives the loss of every row.
    sample_weight : array-like of shape (n,), optional
        Used to fit and in all means; scanned rows carry their own.
    predict : callable, optional
        A function (model, X) that gives the predictions handed to the loss; by default
        `model.predict(X)`.
    coded_y : bool, default=False
        Whether the loss gets class codes (places in the classes, as the columns of posteriors)
        instead of labels; for a loss and a `predict` of your own.
    random_state : int, RandomState or None, default=0
        Seed of the samples.
    n_jobs : int, optional
        Rounds fitted at the same time.

    Returns
    -------
    Bootstrap632

    See Also
    --------
    cross_validate : The error from folds.

    References
    ----------
    Efron, Estimating the error rate of a prediction rule, JASA 78, 1983.
    Efron and Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, JASA 92,
    1997.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = bootstrap_632(GaussianNB(), *load_iris(return_X_y=True), n_rounds=20)
    >>> bool(np.isclose(result.error, 0.368 * result.training + 0.632 * result.left_out))
    True
    """
    experiment = Experiment.of(estimator, X, y, loss, sample_weight, predict, coded_y)
    every = np.arange(len(experiment.y))
    rows = experiment.subset(every)
    predicted = experiment.predictions(experiment.fit(rows), rows)
    if n_rounds < 1:
        raise SettingError(f"n_rounds={n_rounds}: at least one round is needed")
    scheme = Bootstrap(n_rounds, random_state=random_state)
    draws = splits_of(scheme, experiment, random_state)
    results = run_all(experiment.run, draws, n_jobs, "rounds")
    # Efron's left-out error is a mean over rows of means over the rounds that left the row out,
    # not a mean over rounds: every row counts the same
    loss_sums = np.zeros(len(every))
    times = np.zeros(len(every))
    for result in results:
        loss_sums[result.test] += result.losses
        times[result.test] += 1.0
    tested = np.flatnonzero(times)
    training = experiment.mean(experiment.losses(predicted, every), every)
    left_out = experiment.mean(loss_sums[tested] / times[tested], tested)
    no_information = _no_information_loss(experiment, predicted)
    return Bootstrap632(
        error=0.368 * training + 0.632 * left_out,
        plus=_plus_estimate(training, left_out, no_information),
        training=training,
        left_out=left_out,
        no_information=no_information,
        rounds=np.array([result.loss for result in results]),
        loss_name=experiment.loss_name,
    )


def _no_information_loss(
    experiment: Experiment, predicted: np.ndarray, most: int = 1_000
) -> float:
    """Mean loss over all pairs of target and prediction; in long tables, over evenly spread
    shifts."""
    n = len(predicted)
    w = row_weights(experiment.w, n)
    # Shift s pairs target i with prediction i - s: n shifts make all n² pairs, each shift with
    # every target and every prediction once. A pair weighs the product of its two weights.
    n_shifts = min(n, most)
    shifts = np.linspace(0, n - 1, n_shifts).astype(np.int64)
    loss_sum = 0.0
    weight = 0.0
    for shift in shifts:
        rolled = np.roll(predicted, shift, axis=0)
        losses = np.asarray(experiment.loss(experiment.target, rolled))
        pair_weights = w * np.roll(w, shift)
        loss_sum += float(losses @ pair_weights)
        weight += float(pair_weights.sum())
    return ratio(loss_sum, weight)


def _plus_estimate(
    training: float,
    left_out: float,
    random: float,
) -> float:
    """Weight .632 / (1 - .368 R), R = (left_out - training) / (random - training) clipped to [0,
    1].

    `random` is the loss without information.
    """
    # capped: a model cannot be worse than one that predicts without information
    capped = min(left_out, random)
    overfit = 0.0
    if capped > training and random > training:
        overfit = (capped - training) / (random - training)
    # from .632 without overfitting to 1 where the model is no better than chance on new rows
    weight = 0.632 / (1.0 - 0.368 * overfit)
    return (1.0 - weight) * training + weight * capped

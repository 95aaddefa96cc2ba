"""Loss against the values of a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.types import Data, Estimator, Loss, Seed, Target, Weights
from lyceum.errors import SettingError
from lyceum.evaluate.curves.learning_curves import (
    LossCurve,
    baseline_loss,
    losses_by_split,
)
from lyceum.evaluate.curves.verdict import FitVerdict, fit_verdict
from lyceum.evaluate.resampling.cross_validation import splits_of
from lyceum.evaluate.resampling.experiment import Experiment, Predict, run_all
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True, eq=False)
class ValidationCurve(LossCurve):
    """Loss against a setting.

    Attributes
    ----------
    param_name : str
        The parameter.
    param_range : tuple of length m
        The values tried.
    train_losses, test_losses : ndarray of shape (m, S)
        Mean loss on training and on test rows, for every value and split.
    baseline : float
        Loss of the best constant on the same test rows.
    loss_name : str
        The loss.
    train_mean, test_mean : ndarray of shape (m,)
        Mean loss on training and on test rows, over splits.
    test_error : ndarray of shape (m,)
        Standard error of the mean test loss of every value.
    best : object
        The value with the least test loss, the first of equals.
    verdicts : tuple of FitVerdict
        The verdict on every value, with the least test loss as the attainable one.

    See Also
    --------
    validation_curve : Makes it from an estimator and rows.
    LearningCurve : The same over the number of training rows.
    FitVerdict : Underfitting, overfitting, or neither.
    lyceum.plot.validation_curve : The curve as a picture.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and regression trees, Wadsworth, 1984 (the
    rule of one standard error).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.evaluate import validation_curve
    >>> from lyceum.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> knn = KNeighborsClassifier()
    >>> curve = validation_curve(knn, X, y, param_name="n_neighbors", param_range=[5, 95], cv=3)
    >>> curve.best, curve.within_one_error()
    (5, (5,))
    >>> [verdict.word for verdict in curve.verdicts]
    ['balanced', 'underfitting']
    """

    _derived = (
        "train_mean",
        "test_mean",
        "test_error",
        "best",
        "verdicts",
    )

    param_name: str
    param_range: tuple[Any, ...]
    train_losses: np.ndarray
    test_losses: np.ndarray
    baseline: float
    loss_name: str

    @property
    def best(self) -> Any:
        """The value with the least test loss, the first of equals."""
        return self.param_range[int(np.argmin(self.test_mean))]

    def within_one_error(self) -> tuple[Any, ...]:
        """Values with a test loss within one standard error of the least: choose the simplest."""
        least = int(np.argmin(self.test_mean))
        limit = self.test_mean[least] + self.test_error[least]
        losses = zip(self.param_range, self.test_mean)
        return tuple(value for value, loss in losses if loss <= limit)

    @property
    def verdicts(self) -> tuple[FitVerdict, ...]:
        """The verdict on every value, with the least test loss as the attainable one."""
        # the loss of the best value is attainable: another may be called underfitting against it
        parts = zip(
            self.train_mean.tolist(), self.test_mean.tolist(), self.test_error.tolist()
        )
        least = float(self.test_mean.min())
        return tuple(
            fit_verdict(train, test, self.baseline, error, least)
            for train, test, error in parts
        )

    def summary(self) -> Summary:
        """The mean losses of every value, with verdicts."""
        columns = zip(
            self.param_range,
            self.train_mean.tolist(),
            self.test_mean.tolist(),
            self.verdicts,
        )
        rows = [
            (str(value), train, test, verdict.word)
            for value, train, test, verdict in columns
        ]
        facts = {
            "loss": self.loss_name,
            "best": str(self.best),
            "best constant": self.baseline,
        }
        table = Table("", (self.param_name, "training", "test", "verdict"), rows)
        return Summary(f"validation curve of {self.param_name}", facts, (table,))


def validation_curve(
    estimator: Estimator,
    X: Data,
    y: Target = None,
    *,
    param_name: str,
    param_range: Any,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    loss: Loss = "auto",
    sample_weight: Weights = None,
    predict: Predict | None = None,
    coded_y: bool = False,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> ValidationCurve:
    """Loss on training and on unseen rows as one setting changes.

    Parameters
    ----------
    estimator : estimator
        Of any library with scikit-learn's interface, or a pipeline; fresh copies are fitted.
    X : array-like or frame of n rows, or scanned rows
        Rows from `lyceum.scan` may be in a file larger than memory.
    y : array-like of shape (n,), optional
        The target; scanned rows carry their own.
    param_name : str
        The parameter of the estimator, `step__parameter` in a pipeline.
    param_range : sequence
        The values to try, every one on the same splits.
    cv : int, splitter or iterable of (train, test), default=5
        A number means that many folds, stratified when y holds classes.
    groups : array-like of shape (n,), optional
        Groups of rows that belong together, for splitters such as `splitter("grouped")`.
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
        Seed of the folds.
    n_jobs : int, optional
        Fits at the same time.

    Returns
    -------
    ValidationCurve

    See Also
    --------
    learning_curve : The same over the number of training rows.
    lyceum.plot.validation_curve : The curve as a picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree, iris = DecisionTreeClassifier(random_state=0), load_iris(return_X_y=True)
    >>> curve = validation_curve(tree, *iris, param_name="max_depth", param_range=[1, 3])
    >>> curve.best
    3
    """
    experiment = Experiment.of(estimator, X, y, loss, sample_weight, predict, coded_y)
    param_range = tuple(param_range)
    if not param_range:
        raise SettingError("param_range is empty: give at least one")
    splits = splits_of(cv, experiment, random_state, groups)
    jobs = [
        (*split, None, {param_name: value}) for value in param_range for split in splits
    ]
    results = run_all(experiment.run, jobs, n_jobs, "fits")
    train_losses, test_losses = losses_by_split(results, len(param_range))
    return ValidationCurve(
        param_name=param_name,
        param_range=param_range,
        train_losses=train_losses,
        test_losses=test_losses,
        baseline=baseline_loss(experiment, splits),
        loss_name=experiment.loss_name,
    )

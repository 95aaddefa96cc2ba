"""Loss against the number of training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.dummy import DummyRegressor
from sklearn.utils import check_random_state

from lyceum._core.data import row_weights
from lyceum._core.types import Data, Estimator, Loss, Seed, Target, Weights
from lyceum.errors import SettingError
from lyceum.evaluate.curves.verdict import FitVerdict, fit_verdict
from lyceum.evaluate.label_codes import code_labels
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.resampling.cross_validation import splits_of
from lyceum.evaluate.resampling.experiment import (
    Experiment,
    Predict,
    SplitResult,
    run_all,
)
from lyceum.evaluate.resampling.splits import Split
from lyceum.report import Summary, Table


class LossCurve(Printable):
    """Losses on training and test rows: one row per point of the curve, one column per split."""

    __slots__ = ()

    train_losses: np.ndarray
    test_losses: np.ndarray

    @property
    def train_mean(self) -> np.ndarray:
        """Mean loss on training rows, over splits."""
        return self.train_losses.mean(axis=1)

    @property
    def test_mean(self) -> np.ndarray:
        """Mean loss on test rows, over splits."""
        return self.test_losses.mean(axis=1)

    @property
    def test_error(self) -> np.ndarray:
        """Standard error of the mean test loss of every point."""
        return standard_error(self.test_losses)


def standard_error(losses: np.ndarray) -> np.ndarray:
    """The standard error of every row's mean; 0 with one split."""
    S = losses.shape[1]
    if S > 1:
        return losses.std(axis=1, ddof=1) / np.sqrt(S)
    return np.zeros(len(losses))


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurve(LossCurve):
    """Loss against the number of training rows.

    Attributes
    ----------
    train_sizes : ndarray of shape (m,)
        Numbers of training rows.
    train_losses, test_losses : ndarray of shape (m, S)
        Mean loss on training and on test rows, for every size and split.
    baseline : float
        Loss of the best constant on the same test rows.
    loss_name : str
        The loss.
    train_mean, test_mean : ndarray of shape (m,)
        Mean loss on training and on test rows, over splits.
    test_error : ndarray of shape (m,)
        Standard error of the mean test loss of every size.
    verdict : FitVerdict
        The verdict on the fit at the largest size.
    more_rows_help : bool
        Whether the last step still lowered the test loss by more than its standard error over
        splits.

    See Also
    --------
    learning_curve : Makes it from an estimator and rows.
    ValidationCurve : The same over a setting.
    FitVerdict : Underfitting, overfitting, or neither.
    lyceum.plot.learning_curve : The curve as a picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lyceum.bayes import LinearDiscriminantAnalysis
    >>> from lyceum.evaluate import learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve(LinearDiscriminantAnalysis(), X, y, train_sizes=(0.1, 1.0), cv=3)
    >>> curve.train_sizes.tolist(), curve.test_mean.round(3).tolist()
    ([10, 100], [0.127, 0.02])
    >>> curve.verdict.word, curve.more_rows_help
    ('balanced', True)
    """

    _derived = (
        "train_mean",
        "test_mean",
        "test_error",
        "verdict",
        "more_rows_help",
    )

    train_sizes: np.ndarray
    train_losses: np.ndarray
    test_losses: np.ndarray
    baseline: float
    loss_name: str

    @property
    def verdict(self) -> FitVerdict:
        """The verdict on the fit at the largest size."""
        return fit_verdict(
            float(self.train_mean[-1]),
            float(self.test_mean[-1]),
            self.baseline,
            float(self.test_error[-1]),
        )

    @property
    def more_rows_help(self) -> bool:
        """Whether the last step still lowered the test loss by more than its standard error over
        splits."""
        if len(self.train_sizes) < 2:
            return False
        # paired by split, so that the difficulty of a split cancels
        step = self.test_losses[-2] - self.test_losses[-1]
        return bool(step.mean() > standard_error(step[None, :])[0])

    def summary(self) -> Summary:
        """The mean losses of every size, with the verdict."""
        rows = [
            (int(size), float(train), float(test))
            for size, train, test in zip(
                self.train_sizes, self.train_mean, self.test_mean
            )
        ]
        table = Table("", ("rows", "training", "test"), rows)
        facts = {
            "loss": self.loss_name,
            "best constant": self.baseline,
            "verdict": f"{self.verdict.word}: {self.verdict.reason}",
            "more rows would help": self.more_rows_help,
        }
        return Summary("learning curve", facts, (table,))


def learning_curve(
    estimator: Estimator,
    X: Data,
    y: Target = None,
    *,
    train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = 5,
    groups: ArrayLike | None = None,
    loss: Loss = "auto",
    sample_weight: Weights = None,
    predict: Predict | None = None,
    coded_y: bool = False,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> LearningCurve:
    """Loss on training and on unseen rows as the training rows grow.

    Parameters
    ----------
    estimator : estimator
        Of any library with scikit-learn's interface, or a pipeline; fresh copies are fitted.
    X : array-like or frame of n rows, or scanned rows
        Rows from `lyceum.scan` may be in a file larger than memory.
    y : array-like of shape (n,), optional
        The target; scanned rows carry their own.
    train_sizes : array-like, default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Shares (up to 1.0) or numbers of the training rows of a split. Smaller samples are part of
        larger ones, keep the class shares, and hold every class at least once.
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
        Seed of the folds and of the samples.
    n_jobs : int, optional
        Fits at the same time.

    Returns
    -------
    LearningCurve

    See Also
    --------
    validation_curve : The same over a setting.
    lyceum.plot.learning_curve : The curve as a picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = learning_curve(GaussianNB(), *load_iris(return_X_y=True))
    >>> curve.train_sizes, curve.verdict.word
    (array([ 12,  39,  66,  93, 120]), 'balanced')
    """
    experiment = Experiment.of(estimator, X, y, loss, sample_weight, predict, coded_y)
    rng = check_random_state(random_state)
    # the training rows of a smaller size are among those of every larger one: the curve then
    # shows the effect of more rows, not of other rows
    splits = [
        (_nested_order(experiment, train, rng), test)
        for train, test in splits_of(cv, experiment, random_state, groups)
    ]
    counts = _counts(train_sizes, min(len(train) for train, _ in splits), experiment)
    jobs = [
        (np.sort(train[:count]), test) for count in counts for train, test in splits
    ]
    results = run_all(experiment.run, jobs, n_jobs, "fits")
    train_losses, test_losses = losses_by_split(results, len(counts))
    return LearningCurve(
        train_sizes=counts,
        train_losses=train_losses,
        test_losses=test_losses,
        baseline=baseline_loss(experiment, splits),
        loss_name=experiment.loss_name,
    )


def losses_by_split(
    results: list[SplitResult], n_points: int
) -> tuple[np.ndarray, np.ndarray]:
    """Training and test losses, one row per point of the curve and one column per split."""
    train = [result.train_loss for result in results]
    test = [result.loss for result in results]
    shape = (n_points, -1)
    return np.reshape(train, shape), np.reshape(test, shape)


def _counts(
    train_sizes: Any,
    most: int,
    experiment: Experiment,
) -> np.ndarray:
    """Numbers of training rows, rising, from shares or numbers."""
    sizes = np.asarray(train_sizes)
    setting = f"train_sizes={sizes.tolist()}"
    if sizes.dtype.kind not in "iuf" or (sizes < 0).any():
        raise SettingError(
            f"{setting}: give numbers of rows, or shares above 0 and up to 1.0"
        )
    # 1e-9 so that 0.29 of 100 rows are 29, not 28 by rounding
    if sizes.dtype.kind == "f":
        if not ((sizes > 0.0) & (sizes <= 1.0)).all():
            raise SettingError(f"{setting}: shares lie above 0 and up to 1.0")
        sizes = np.floor(sizes * most + 1e-9).astype(np.int64)
    # a classifier needs a row of every class, which come first in the nested order
    least = 1
    if is_classifier(experiment.estimator):
        least = min(most, len(np.unique(experiment.y)))
    if not sizes.size or sizes.max() > most:
        raise SettingError(f"{setting}: a split has {most} training rows")
    return np.unique(np.maximum(sizes, least))


def _nested_order(
    experiment: Experiment, train: np.ndarray, rng: np.random.RandomState
) -> np.ndarray:
    """Training rows in an order whose every initial part has the class shares; one of each class
    first."""
    train = rng.permutation(train)
    if not is_classifier(experiment.estimator):
        return train
    codes = code_labels(experiment.y[train])[1]
    sizes = np.bincount(codes)
    order = np.argsort(codes, kind="stable")
    # row j of a class of n rows is taken when a share (j + 1/2) / n of all rows is; row 0 at once
    first = np.cumsum(sizes) - sizes
    rank = np.empty(len(train))
    rank[order] = np.arange(len(train)) - np.repeat(first, sizes)
    shares = (rank + 0.5) / sizes[codes]
    key = np.where(rank == 0, -1.0, shares)
    return train[np.argsort(key, kind="stable")]


def baseline_loss(experiment: Experiment, splits: list[Split]) -> float:
    """Mean loss of the best constant: the majority class, the median for absolute loss, else the
    mean."""
    classes = experiment.classes
    if classes is None:
        if experiment.loss_name == "absolute":
            center = "median"
        else:
            center = "mean"
        constant: Any = DummyRegressor(strategy=center)
    else:
        constant = _MajorityClass(classes)
    # constants need no columns: one of zeros stands for the table, which may be a large file
    table = np.zeros((len(experiment.y), 1))
    dummy = replace(experiment, estimator=constant, X=table)
    losses = [dummy.run(train, test).loss for train, test in splits]
    return float(np.mean(losses))


class _MajorityClass(ClassifierMixin, BaseEstimator):
    """Always the most frequent class, the first of equals, with a posterior of 1."""

    def __init__(self, classes: np.ndarray):
        self.classes = classes

    def fit(
        self,
        X: Data,
        y: np.ndarray,
        sample_weight: np.ndarray | None = None,
    ) -> _MajorityClass:
        self.classes_ = self.classes
        w = row_weights(sample_weight, len(y))
        weights = [w[y == label].sum() for label in self.classes]
        self.class_ = int(np.argmax(weights))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.repeat(self.classes[[self.class_]], len(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        proba = np.zeros((len(X), len(self.classes)))
        proba[:, self.class_] = 1.0
        return proba

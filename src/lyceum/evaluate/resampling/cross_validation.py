"""Cross-validation that keeps every out-of-sample prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.statistics import given_splits
from lyceum._core.text import show_count
from lyceum._core.types import Data, Estimator, Loss, Seed, Target, Weights
from lyceum.errors import DataError
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.resampling.experiment import Experiment, Predict, run_all
from lyceum.evaluate.resampling.splits import Split, StratifiedFolds
from lyceum.report import Summary, Table


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidation(Printable):
    """The losses and predictions of every split.

    Attributes
    ----------
    losses, train_losses : ndarray of shape (S,)
        Mean loss on the test rows and on the training rows of every split.
    n_train, n_test : ndarray of shape (S,)
        Numbers of training and test rows.
    test_rows, predicted : tuple of S ndarrays
        Row numbers of the test rows and their predictions.
    proba : tuple of S ndarrays, or None
        Their posteriors, columns in the order of `classes`.
    classes : ndarray, or None for regression
        The classes.
    fit_seconds, predict_seconds : ndarray of shape (S,)
        Time of every split.
    loss_name : str
        The loss.
    mean, train_mean : float
        Mean loss on test rows and on training rows, over splits.
    sd : float
        Standard deviation of the losses over splits.
    standard_error : float
        Nadeau and Bengio's corrected standard error of the mean.
    test_to_train : float
        Test rows over training rows.

    See Also
    --------
    cross_validate : Makes it from an estimator and rows.
    corrected_t : A test of two estimators from their losses on the same splits.
    Bootstrap632 : The error from bootstrap samples.
    lyceum.plot.cross_validation : The losses as a picture.

    References
    ----------
    Stone, Cross-validatory choice and assessment of statistical predictions, Journal of the Royal
    Statistical Society B 36, 1974. Nadeau and Bengio, Inference for the generalization error,
    Machine Learning 52, 2003.

    Examples
    --------
    >>> from lyceum.evaluate import cross_validate
    >>> from lyceum.neighbors import KNeighborsClassifier
    >>> X, y = [[0], [1], [2], [10], [11], [12]], ["a", "a", "a", "b", "b", "b"]
    >>> result = cross_validate(KNeighborsClassifier(1), X, y, cv=3)
    >>> result.mean, result.n_test.tolist(), result.test_to_train
    (0.0, [2, 2, 2], 0.5)
    >>> result.pooled_predictions().tolist()  # every row by the model that did not see it
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    _derived = (
        "mean",
        "train_mean",
        "sd",
        "standard_error",
        "test_to_train",
    )

    losses: np.ndarray
    train_losses: np.ndarray
    n_train: np.ndarray
    n_test: np.ndarray
    test_rows: tuple[np.ndarray, ...]
    predicted: tuple[np.ndarray, ...]
    proba: tuple[np.ndarray, ...] | None
    classes: np.ndarray | None
    fit_seconds: np.ndarray
    predict_seconds: np.ndarray
    loss_name: str

    @property
    def mean(self) -> float:
        """Mean loss on test rows, over splits."""
        return float(self.losses.mean())

    @property
    def train_mean(self) -> float:
        """Mean loss on training rows, over splits."""
        return float(self.train_losses.mean())

    @property
    def sd(self) -> float:
        """Standard deviation over splits (divisor S-1); 0 for one split."""
        if len(self.losses) > 1:
            return float(self.losses.std(ddof=1))
        return 0.0

    @property
    def standard_error(self) -> float:
        """Nadeau and Bengio's corrected standard error of the mean: √((1/S + n_test/n_train) sd²).

        Splits share training rows, so sd/√S would be too small.
        """
        factor = 1.0 / len(self.losses) + self.test_to_train
        return self.sd * float(np.sqrt(factor))

    @property
    def test_to_train(self) -> float:
        """Test rows over training rows, for `corrected_t`."""
        return float(self.n_test.mean() / self.n_train.mean())

    def pooled_predictions(self) -> np.ndarray:
        """Predictions in the order of the rows, where every row was tested once."""
        rows = np.concatenate(self.test_rows)
        n_rows = len(rows)
        if len(np.unique(rows)) != n_rows or rows.max() != n_rows - 1:
            raise DataError(
                "these splits do not test every row exactly once: use predicted and test_rows"
            )
        return np.concatenate(self.predicted)[np.argsort(rows)]

    def summary(self) -> Summary:
        """Mean loss with its standard error, and the losses of every split."""
        facts = {
            "loss": self.loss_name,
            "mean": self.mean,
            "sd over splits": self.sd,
            "standard error (corrected)": self.standard_error,
            "mean on training rows": self.train_mean,
            "seconds to fit": float(self.fit_seconds.sum()),
        }
        columns = zip(self.n_test, self.losses, self.train_losses)
        rows = [
            (number, int(n), float(test), float(train))
            for number, (n, test, train) in enumerate(columns, start=1)
        ]
        table = Table("", ("split", "test rows", "test", "training"), rows)
        return Summary(f"{len(self.losses)} splits", facts, (table,))


def cross_validate(
    estimator: Estimator,
    X: Data,
    y: Target = None,
    *,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    loss: Loss = "auto",
    sample_weight: Weights = None,
    predict: Predict | None = None,
    coded_y: bool = False,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Fit an estimator on the training rows of every split and measure its loss on the test rows.

    Parameters
    ----------
    estimator : estimator
        Of any library with scikit-learn's interface, or a pipeline; a fresh copy is fitted in every
        split.
    X : array-like or frame of n rows, or scanned rows
        Rows from `lyceum.scan` may be in a file larger than memory: they stay there and are read
        again for every split.
    y : array-like of shape (n,), optional
        The target; scanned rows carry their own.
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
        Shuffles the folds when `cv` is a number; the same for all estimators, so that they can be
        compared.
    n_jobs : int, optional
        Splits fitted at the same time.

    Returns
    -------
    CrossValidation

    See Also
    --------
    bootstrap_632 : The error from bootstrap samples.
    corrected_t, five_by_two : Tests of a difference.
    lyceum.plot.cross_validation : The losses as a picture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = cross_validate(GaussianNB(), *load_iris(return_X_y=True), cv=5)
    >>> result.mean < 0.1, result.pooled_predictions().shape
    (True, (150,))

    Rows of a file:

    >>> import lyceum
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.datasets import path
    >>> result = cross_validate(NaiveBayes(), lyceum.scan(path("penguins"), target="species"), cv=5)
    >>> result.mean < 0.1
    True
    """
    experiment = Experiment.of(estimator, X, y, loss, sample_weight, predict, coded_y)
    classes = experiment.classes
    splits = splits_of(cv, experiment, random_state, groups)
    jobs = ((*split, classes) for split in splits)
    results = run_all(experiment.run, jobs, n_jobs, "folds")
    proba = tuple(result.proba for result in results)
    return CrossValidation(
        losses=np.array([result.loss for result in results]),
        train_losses=np.array([result.train_loss for result in results]),
        n_train=np.array([result.n_train for result in results]),
        n_test=np.array([len(result.test) for result in results]),
        test_rows=tuple(result.test for result in results),
        predicted=tuple(result.predicted for result in results),
        proba=None if any(part is None for part in proba) else proba,
        classes=classes,
        fit_seconds=np.array([result.fit_seconds for result in results]),
        predict_seconds=np.array([result.predict_seconds for result in results]),
        loss_name=experiment.loss_name,
    )


def splits_of(
    cv: Any,
    experiment: Experiment,
    random_state: Any,
    groups: ArrayLike | None = None,
) -> list[Split]:
    """The splits, each checked: training and test rows never overlap and neither is empty."""
    if isinstance(cv, int | np.integer):
        cv = StratifiedFolds(int(cv), random_state=random_state)
    y = experiment.y
    splits = given_splits(cv, len(y), y, groups, X=experiment.splitter_input)
    for i, (train, test) in enumerate(splits):
        if not len(train) or not len(test):
            raise DataError(
                f"split {i} has {len(train)} training and {len(test)} test rows: neither may be"
                " empty"
            )
        # a row in both would make the loss too small without any sign of it
        is_train = np.zeros(len(y), dtype=bool)
        is_train[train] = True
        n_shared = int(is_train[test].sum())
        if n_shared:
            raise DataError(
                f"split {i} has {show_count(n_shared, 'row')} in both training and test"
            )
    return splits

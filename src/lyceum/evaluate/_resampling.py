"""Honest error: cross-validation that keeps every out-of-sample prediction, and Efron's .632 bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from lyceum.errors import DataError
from lyceum.evaluate._printable import Printable
from lyceum.evaluate._splits import Bootstrap, StratifiedFolds
from lyceum.evaluate._trials import Task, class_labels
from lyceum.report import Summary, Table

__all__ = ["Bootstrap632", "CrossValidation", "bootstrap_632", "cross_validate"]


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidation(Printable):
    """What every split gave.

    Attributes
    ----------
    losses, train_losses : ndarray of shape (S,)
        Mean loss on the test rows and on the training rows of every split.
    n_train, n_test : ndarray of shape (S,)
    test_rows, predicted : tuple of S ndarrays
        Row numbers of the test rows and their predictions.
    proba : tuple of S ndarrays, or None
        Their posteriors, columns in the order of `classes`.
    classes : ndarray, or None for regression
    fit_seconds, predict_seconds : ndarray of shape (S,)
    loss_name : str
    """

    _derived: ClassVar[tuple[str, ...]] = ("mean", "train_mean", "sd", "standard_error", "test_to_train")

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
        return float(self.losses.mean())

    @property
    def train_mean(self) -> float:
        return float(self.train_losses.mean())

    @property
    def sd(self) -> float:
        """Standard deviation over splits (divisor S-1); 0 for one split."""
        return float(self.losses.std(ddof=1)) if len(self.losses) > 1 else 0.0

    @property
    def standard_error(self) -> float:
        """Nadeau and Bengio's corrected standard error of the mean: √((1/S + n_test/n_train) sd²).

        Splits share training rows, so sd/√S would be too small.
        """
        return self.sd * float(np.sqrt(1.0 / len(self.losses) + self.test_to_train))

    @property
    def test_to_train(self) -> float:
        """Test rows over training rows, for `corrected_t`."""
        return float(self.n_test.mean() / self.n_train.mean())

    def pooled(self) -> np.ndarray:
        """Predictions in the order of the rows, where every row was tested once."""
        rows = np.concatenate(self.test_rows)
        if len(np.unique(rows)) != len(rows) or rows.max() != len(rows) - 1:
            raise DataError("these splits do not test every row exactly once: use predicted and test_rows")
        return np.concatenate(self.predicted)[np.argsort(rows)]

    def summary(self) -> Summary:
        facts = {
            "loss": self.loss_name,
            "mean": self.mean,
            "sd over splits": self.sd,
            "standard error (corrected)": self.standard_error,
            "mean on training rows": self.train_mean,
            "seconds to fit": float(self.fit_seconds.sum()),
        }
        rows = [
            (i + 1, int(n), float(a), float(b))
            for i, (n, a, b) in enumerate(zip(self.n_test, self.losses, self.train_losses))
        ]
        return Summary(
            f"{len(self.losses)} splits",
            facts,
            (Table("", ("split", "test rows", "test", "training"), rows),),
        )


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    loss: Any = "auto",
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Fit and judge an estimator on every split, keeping its out-of-sample predictions and posteriors.

    Parameters
    ----------
    estimator : estimator
        Of any library with scikit-learn's interface; a fresh copy is fitted in every split.
    X : array-like or frame of n rows
    y : array-like of shape (n,)
    cv : int, splitter or iterable of (train, test), default=10
        A number means that many folds, stratified when y holds classes.
    loss : {"auto", "error", "squared", "absolute"} or callable, default="auto"
        "auto" is the error rate for classifiers, squared error otherwise; a function (y, predicted) gives the
        loss of every row.
    sample_weight : array-like of shape (n,), optional
        Used to fit and to judge.
    random_state : int, RandomState or None, default=0
        Shuffles the folds when `cv` is a number.
    n_jobs : int, optional
        Splits fitted at the same time.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = cross_validate(GaussianNB(), *load_iris(return_X_y=True), cv=5)
    >>> result.mean < 0.1, result.pooled().shape
    (True, (150,))
    """
    task = Task.of(estimator, X, y, loss, sample_weight)
    classes = class_labels(task)
    runs = Parallel(n_jobs=n_jobs)(
        delayed(task.run)(train, test, classes) for train, test in splits_of(cv, task, random_state)
    )
    if not runs:
        raise DataError("cv gave no splits")
    proba = tuple(run.proba for run in runs)
    return CrossValidation(
        losses=np.array([run.loss for run in runs]),
        train_losses=np.array([run.train_loss for run in runs]),
        n_train=np.array([run.n_train for run in runs]),
        n_test=np.array([len(run.test) for run in runs]),
        test_rows=tuple(run.test for run in runs),
        predicted=tuple(run.predicted for run in runs),
        proba=None if any(part is None for part in proba) else proba,
        classes=classes,
        fit_seconds=np.array([run.fit_seconds for run in runs]),
        predict_seconds=np.array([run.predict_seconds for run in runs]),
        loss_name=task.loss_name,
    )


def splits_of(cv: Any, task: Task, random_state: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """The splits, each checked: training and test rows never overlap and neither is empty."""
    scheme = (
        StratifiedFolds(int(cv), random_state=random_state)
        if isinstance(cv, int | np.integer)
        else check_cv(cv)
    )
    pairs = [(_numbers(train), _numbers(test)) for train, test in scheme.split(task.X, task.y)]
    for i, (train, test) in enumerate(pairs):
        if not len(train) or not len(test):
            raise DataError(
                f"split {i} has {len(train)} training and {len(test)} test rows: neither may be empty"
            )
        is_train = np.zeros(len(task.y), dtype=bool)
        is_train[train] = True
        if is_train[test].any():
            raise DataError(f"split {i} has {int(is_train[test].sum())} rows in both training and test")
    return pairs


def _numbers(rows: Any) -> np.ndarray:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap632(Printable):
    """Efron's .632 estimate and its parts.

    Attributes
    ----------
    error : float
        0.368 · training + 0.632 · left_out.
    plus : float
        The .632+ estimate (Efron and Tibshirani 1997), which trusts the training error less the more the
        model overfits.
    training : float
        Loss on the very rows learned from, by the model of all rows.
    left_out : float
        Mean over rows of the loss by the models that did not see the row.
    no_information : float
        Loss if targets had nothing to do with rows: over all pairs of a target and a prediction.
    rounds : ndarray of shape (n_rounds,)
        Loss on the left-out rows of every round.
    """

    error: float
    plus: float
    training: float
    left_out: float
    no_information: float
    rounds: np.ndarray
    loss_name: str

    def summary(self) -> Summary:
        facts = {
            ".632": self.error,
            ".632+": self.plus,
            "training": self.training,
            "left out": self.left_out,
            "no information": self.no_information,
        }
        return Summary(f"bootstrap of {len(self.rounds)} rounds, loss: {self.loss_name}", facts)


def bootstrap_632(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_rounds: int = 200,
    loss: Any = "auto",
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Bootstrap632:
    """Efron's .632 bootstrap: error = 0.368 · training error + 0.632 · left-out error.

    A bootstrap sample holds 1 - 1/e = 63.2 % of the rows, so the left-out error is too high and the training
    error too low; the mixture sets one against the other.

    Parameters
    ----------
    estimator, X, y, loss, sample_weight, n_jobs
        As for `cross_validate`.
    n_rounds : int, default=200
    random_state : int, RandomState or None, default=0

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = bootstrap_632(GaussianNB(), *load_iris(return_X_y=True), n_rounds=20)
    >>> bool(np.isclose(result.error, 0.368 * result.training + 0.632 * result.left_out))
    True
    """
    task = Task.of(estimator, X, y, loss, sample_weight)
    every = np.arange(len(task.y))
    guesses, losses = task.judge(task.fit(every), every)
    draws = splits_of(Bootstrap(n_rounds, random_state=random_state), task, random_state)
    runs = Parallel(n_jobs=n_jobs)(delayed(task.run)(train, test) for train, test in draws)
    total, times = np.zeros(len(every)), np.zeros(len(every))
    for run in runs:
        total[run.test] += run.losses
        times[run.test] += 1.0
    seen = np.flatnonzero(times)
    training, left_out = task.mean(losses, every), task.mean(total[seen] / times[seen], seen)
    blind = _no_information(task, guesses)
    rounds = np.array([run.loss for run in runs])
    return Bootstrap632(
        0.368 * training + 0.632 * left_out,
        _plus(training, left_out, blind),
        training,
        left_out,
        blind,
        rounds,
        task.loss_name,
    )


def _no_information(task: Task, guesses: np.ndarray, most: int = 1_000) -> float:
    """Mean loss over all pairs of target and prediction; in long tables, over evenly spread shifts."""
    n = len(guesses)
    w = np.ones(n) if task.w is None else task.w
    shifts = np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.int64)
    pairs = [(np.asarray(task.loss(task.y, np.roll(guesses, s))), w * np.roll(w, s)) for s in shifts]
    weight = sum(float(both.sum()) for _, both in pairs)
    return sum(float(losses @ both) for losses, both in pairs) / weight if weight else 0.0


def _plus(training: float, left_out: float, blind: float) -> float:
    """Weight .632 / (1 - .368 R), R = (left_out - training) / (blind - training) kept in [0, 1]."""
    capped = min(left_out, blind)
    overfit = (capped - training) / (blind - training) if capped > training and blind > training else 0.0
    weight = 0.632 / (1.0 - 0.368 * overfit)
    return (1.0 - weight) * training + weight * capped

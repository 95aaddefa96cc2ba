"""Error against the number of training rows, and against a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from lyceum.errors import DataError, SettingError
from lyceum.evaluate._label_codes import code_labels
from lyceum.evaluate._printable import Printable
from lyceum.evaluate._resampling import splits_of
from lyceum.evaluate._trials import Task
from lyceum.evaluate._verdict import FitVerdict, fit_verdict
from lyceum.report import Summary, Table

__all__ = ["LearningCurve", "ValidationCurve", "learning_curve", "validation_curve"]


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurve(Printable):
    """Loss against training rows.

    Attributes
    ----------
    sizes : ndarray of shape (m,)
    train_losses, test_losses : ndarray of shape (m, S)
        For every size and split.
    baseline : float
        Loss of the best constant on the same test rows.
    """

    _derived: ClassVar[tuple[str, ...]] = (
        "train_mean",
        "test_mean",
        "test_error",
        "verdict",
        "more_rows_help",
    )

    sizes: np.ndarray
    train_losses: np.ndarray
    test_losses: np.ndarray
    baseline: float
    loss_name: str

    @property
    def train_mean(self) -> np.ndarray:
        return self.train_losses.mean(axis=1)

    @property
    def test_mean(self) -> np.ndarray:
        return self.test_losses.mean(axis=1)

    @property
    def test_error(self) -> np.ndarray:
        """Standard error of the mean test loss of every size."""
        return _standard_error(self.test_losses)

    @property
    def verdict(self) -> FitVerdict:
        """At the largest size."""
        return fit_verdict(
            float(self.train_mean[-1]), float(self.test_mean[-1]), self.baseline, float(self.test_error[-1])
        )

    @property
    def more_rows_help(self) -> bool:
        """Whether the last step still lowered the test loss by more than its standard error over splits."""
        if len(self.sizes) < 2:
            return False
        step = self.test_losses[-2] - self.test_losses[-1]
        return bool(step.mean() > _standard_error(step[None, :])[0])

    def summary(self) -> Summary:
        rows = [(int(n), float(a), float(b)) for n, a, b in zip(self.sizes, self.train_mean, self.test_mean)]
        facts = {
            "loss": self.loss_name,
            "constant guess": self.baseline,
            "verdict": f"{self.verdict.word}: {self.verdict.reason}",
            "more rows would help": self.more_rows_help,
        }
        return Summary("learning curve", facts, (Table("", ("rows", "training", "test"), rows),))


def _standard_error(losses: np.ndarray) -> np.ndarray:
    S = losses.shape[1]
    return losses.std(axis=1, ddof=1) / np.sqrt(S) if S > 1 else np.zeros(len(losses))


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = 5,
    loss: Any = "auto",
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> LearningCurve:
    """Loss on training and on new rows as the training rows grow.

    Parameters
    ----------
    estimator, X, y, cv, loss, sample_weight, n_jobs
        As for `cross_validate`.
    sizes : array-like, default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Shares (up to 1.0) or numbers of the training rows of a split. Smaller samples are part of larger
        ones, keep the class shares, and hold every class at least once.
    random_state : int, RandomState or None, default=0

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = learning_curve(GaussianNB(), *load_iris(return_X_y=True))
    >>> curve.sizes, curve.verdict.word
    (array([ 12,  39,  66,  93, 120]), 'balanced')
    """
    task = Task.of(estimator, X, y, loss, sample_weight)
    rng = check_random_state(random_state)
    splits = [(_nested(task, train, rng), test) for train, test in splits_of(cv, task, random_state)]
    counts = _counts(sizes, min(len(train) for train, _ in splits), task)
    jobs = [(train[:count], test) for count in counts for train, test in splits]
    runs = Parallel(n_jobs=n_jobs)(delayed(task.run)(train, test) for train, test in jobs)
    shape = (len(counts), len(splits))
    train_losses = np.reshape([run.train_loss for run in runs], shape)
    test_losses = np.reshape([run.loss for run in runs], shape)
    return LearningCurve(counts, train_losses, test_losses, _baseline(task, splits), task.loss_name)


def _counts(sizes: Any, most: int, task: Task) -> np.ndarray:
    sizes = np.asarray(sizes)
    if sizes.dtype.kind == "f":
        if not ((sizes > 0.0) & (sizes <= 1.0)).all():
            raise SettingError(f"sizes={sizes.tolist()}: shares lie above 0 and up to 1.0")
        sizes = np.floor(sizes * most + 1e-9).astype(np.int64)
    least = min(most, len(np.unique(task.y))) if is_classifier(task.estimator) else 1
    if not sizes.size or sizes.max() > most:
        raise DataError(f"sizes={sizes.tolist()}: a split has {most} training rows")
    return np.unique(np.maximum(sizes, least))


def _nested(task: Task, train: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Training rows so that every beginning has the class shares, one of each class in front."""
    train = rng.permutation(train)
    if not is_classifier(task.estimator):
        return train
    codes = code_labels(task.y[train])[1]
    sizes = np.bincount(codes)
    order = np.argsort(codes, kind="stable")
    place = np.empty(len(train))
    place[order] = np.arange(len(train)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    key = np.where(place == 0, -1.0, (place + 0.5) / sizes[codes])
    return train[np.argsort(key, kind="stable")]


def _baseline(task: Task, splits: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Mean loss of the best constant: the majority class, the median for absolute loss, else the mean."""
    if is_classifier(task.estimator):
        guess: Any = DummyClassifier(strategy="most_frequent")
    else:
        guess = DummyRegressor(strategy="median" if task.loss_name == "absolute" else "mean")
    dummy = Task(guess, np.zeros((len(task.y), 1)), task.y, task.w, task.loss, task.loss_name)
    return float(np.mean([dummy.run(train, test).loss for train, test in splits]))


@dataclass(frozen=True, slots=True, eq=False)
class ValidationCurve(Printable):
    """Loss against a setting.

    Attributes
    ----------
    name : str
    values : tuple of length m
    train_losses, test_losses : ndarray of shape (m, S)
    baseline : float
    """

    _derived: ClassVar[tuple[str, ...]] = ("train_mean", "test_mean", "test_error", "best", "verdicts")

    name: str
    values: tuple[Any, ...]
    train_losses: np.ndarray
    test_losses: np.ndarray
    baseline: float
    loss_name: str

    @property
    def train_mean(self) -> np.ndarray:
        return self.train_losses.mean(axis=1)

    @property
    def test_mean(self) -> np.ndarray:
        return self.test_losses.mean(axis=1)

    @property
    def test_error(self) -> np.ndarray:
        """Standard error of the mean test loss of every value."""
        return _standard_error(self.test_losses)

    @property
    def best(self) -> Any:
        """The value with the least test loss, the first of equals."""
        return self.values[int(np.argmin(self.test_mean))]

    def within_one_error(self) -> tuple[Any, ...]:
        """Values with a test loss within one standard error of the least: choose the simplest."""
        least = int(np.argmin(self.test_mean))
        near = self.test_mean <= self.test_mean[least] + self.test_error[least]
        return tuple(value for value, close in zip(self.values, near) if close)

    @property
    def verdicts(self) -> tuple[FitVerdict, ...]:
        """For every value, with the least test loss as what is attainable."""
        parts = zip(self.train_mean.tolist(), self.test_mean.tolist(), self.test_error.tolist())
        least = float(self.test_mean.min())
        return tuple(fit_verdict(train, test, self.baseline, error, least) for train, test, error in parts)

    def summary(self) -> Summary:
        columns = zip(self.values, self.train_mean.tolist(), self.test_mean.tolist(), self.verdicts)
        rows = [(str(value), train, test, verdict.word) for value, train, test, verdict in columns]
        facts = {"loss": self.loss_name, "best": str(self.best), "constant guess": self.baseline}
        table = Table("", (self.name, "training", "test", "verdict"), rows)
        return Summary(f"validation curve of {self.name}", facts, (table,))


def validation_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    name: str,
    values: Any,
    cv: Any = 5,
    loss: Any = "auto",
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> ValidationCurve:
    """Loss on training and on new rows as one setting changes.

    Parameters
    ----------
    estimator, X, y, cv, loss, sample_weight, n_jobs
        As for `cross_validate`; every value is tried on the same splits.
    name : str
        The parameter of the estimator, `step__parameter` in a pipeline.
    values : sequence
    random_state : int, RandomState or None, default=0

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree, iris = DecisionTreeClassifier(random_state=0), load_iris(return_X_y=True)
    >>> curve = validation_curve(tree, *iris, name="max_depth", values=[1, 3])
    >>> curve.best
    3
    """
    task = Task.of(estimator, X, y, loss, sample_weight)
    values = tuple(values)
    if not values:
        raise SettingError("values is empty: give at least one")
    splits = splits_of(cv, task, random_state)
    jobs = [(value, train, test) for value in values for train, test in splits]
    runs = Parallel(n_jobs=n_jobs)(
        delayed(task.run)(train, test, None, {name: value}) for value, train, test in jobs
    )
    shape = (len(values), len(splits))
    train_losses = np.reshape([run.train_loss for run in runs], shape)
    test_losses = np.reshape([run.loss for run in runs], shape)
    return ValidationCurve(name, values, train_losses, test_losses, _baseline(task, splits), task.loss_name)

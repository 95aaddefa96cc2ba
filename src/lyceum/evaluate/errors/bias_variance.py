"""Where error comes from: a wrong mean answer, answers that depend on the sample, and noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from lyceum._core.base import target_of
from lyceum._core.data import Rows, other_target, refuse_beside_rows
from lyceum._core.text import show_count
from lyceum._core.types import Data, Estimator, Seed, Target
from lyceum.errors import DataError, SettingError
from lyceum.evaluate.common import named_choice
from lyceum.evaluate.label_codes import column_of, common_codes
from lyceum.evaluate.printable import Printable
from lyceum.evaluate.resampling.experiment import Experiment, run_all
from lyceum.report import Summary


@dataclass(frozen=True, slots=True, eq=False)
class BiasVariance(Printable):
    """The parts of the expected loss over training samples, averaged over test rows.

    Squared loss: error = bias + net_variance + noise, in expectation where the noise-free truth was
    given. 0/1 loss: with E₀ = bias + net_variance, the error against the truth, error = E₀ +
    net_noise, and for two classes net_noise = N (1 - 2 E₀): noise N turns right predictions wrong,
    and wrong ones right.

    Attributes
    ----------
    error : float
        Mean loss over all samples and test rows.
    bias : float
        Squared loss: mean (mean prediction - truth)². 0/1 loss (Domingos 2000): share of rows whose
        main prediction, the one most often made, is wrong.
    variance : float
        Mean spread about the main prediction: of the squares, or the share of predictions that
        differ from it.
    net_variance : float
        What the variance adds to the error. Equal to `variance` for squared loss. For 0/1 loss,
        variance adds error on rows whose main prediction is right and removes error on the others:
        the variance of the former minus the share of right predictions on the latter.
    noise : float
        N, the mean loss of the noise-free truth itself; 0 when it was not given (noise is then part
        of the bias).
    net_noise : float
        What noise adds to the error. Squared loss: `noise`. 0/1 loss of two classes: the mean of N
        (1 - 2 E₀) over the rows; of more classes error - E₀.
    main : ndarray of shape (n,)
        The main prediction: the mean, or the label most often predicted (the smaller in a tie).
    loss : {"error", "squared"}
        The loss.
    n_rounds : int
        The number of training samples.

    See Also
    --------
    decompose : Makes it from predictions.
    bias_variance : Makes it from an estimator and rows.
    ErrorParts : The other division of the error: irreducible, approximation and estimation.
    lyceum.plot.bias_variance : The parts as a picture.

    References
    ----------
    Domingos, A unified bias-variance decomposition and its applications, ICML 2000.

    Examples
    --------
    Three models predict two rows; the main prediction, "a" for both, is wrong for the second row:

    >>> from lyceum.evaluate import decompose
    >>> parts = decompose(["a", "b"], [["a", "a"], ["a", "b"], ["b", "a"]], loss="error")
    >>> parts.main.tolist(), parts.bias, round(parts.variance, 4)
    (['a', 'a'], 0.5, 0.3333)
    >>> parts.error, parts.bias + parts.net_variance  # it hurts one row, helps the other
    (0.5, 0.5)
    """

    error: float
    bias: float
    variance: float
    net_variance: float
    noise: float
    net_noise: float
    main: np.ndarray
    loss: str
    n_rounds: int

    def summary(self) -> Summary:
        """The parts of the error."""
        facts = {
            "error": self.error,
            "bias": self.bias,
            "variance": self.variance,
            "net variance": self.net_variance,
        }
        if self.noise:
            facts["noise"] = self.noise
            facts["net noise"] = self.net_noise
        return Summary(
            f"bias and variance over {self.n_rounds} training samples, loss: {self.loss}",
            facts,
        )


def decompose(
    y_true: Any,
    predictions: Any,
    *,
    truth: Any = None,
    loss: str = "squared",
) -> BiasVariance:
    """Bias and variance from the predictions of many models for the same test rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets of the test rows.
    predictions : array-like of shape (B, n)
        One row of predictions for every training sample.
    truth : array-like of shape (n,), optional
        Noise-free targets (or Bayes-optimal labels), if they are known: bias is then measured
        against them.
    loss : {"squared", "error"}, default="squared"
        Squared error of numbers, or 0/1 loss of labels.

    Returns
    -------
    BiasVariance

    See Also
    --------
    bias_variance : Trains the models too.
    lyceum.plot.bias_variance : The parts as a picture.

    References
    ----------
    Domingos, A unified bias-variance decomposition and its applications, ICML 2000.

    Examples
    --------
    >>> parts = decompose([0.0, 1.0], [[0.0, 3.0], [2.0, 1.0]])
    >>> parts.bias, parts.variance, parts.error
    (1.0, 1.0, 2.0)
    """
    y_true = column_of(y_true, "y_true")
    predictions = np.asarray(predictions)
    if (
        predictions.ndim != 2
        or predictions.shape[1] != len(y_true)
        or not predictions.size
    ):
        raise DataError(
            f"predictions have shape {predictions.shape}: give {len(y_true)} predictions for each"
            " sample"
        )
    if truth is None:
        clean = None
    else:
        clean = column_of(truth, "truth")
    if clean is not None and len(clean) != len(y_true):
        raise DataError(
            f"truth has {show_count(len(clean), 'row')}, y_true has {len(y_true)}"
        )
    parts = {"squared": _squared_parts, "error": _zero_one_parts}
    return named_choice("loss", loss, parts)(y_true, predictions, clean)


def _squared_parts(
    y_true: np.ndarray,
    predictions: np.ndarray,
    clean: np.ndarray | None,
) -> BiasVariance:
    target = y_true.astype(np.float64)
    predictions = predictions.astype(np.float64)
    main = predictions.mean(axis=0)
    if clean is None:
        goal = target
    else:
        goal = clean.astype(np.float64)
    # E(f - y)² = (Ef - goal)² + E(f - Ef)² + (y - goal)², each a mean over the test rows
    variance = float(((predictions - main) ** 2).mean())
    noise = float(((target - goal) ** 2).mean())
    return BiasVariance(
        error=float(((predictions - target) ** 2).mean()),
        bias=float(((main - goal) ** 2).mean()),
        variance=variance,
        net_variance=variance,
        noise=noise,
        net_noise=noise,
        main=main,
        loss="squared",
        n_rounds=len(predictions),
    )


def _zero_one_parts(
    y_true: np.ndarray,
    predictions: np.ndarray,
    clean: np.ndarray | None,
) -> BiasVariance:
    columns = {"y_true": y_true, "predictions": predictions.ravel()}
    if clean is not None:
        columns["truth"] = clean
    labels, codes = common_codes(columns)
    target = codes[0]
    guesses = codes[1].reshape(predictions.shape)
    goal = target if clean is None else codes[2]
    # votes[k, i]: how many of the models predict class k for row i
    classes = range(len(labels))
    votes = np.stack([(guesses == k).sum(axis=0) for k in classes])
    main = votes.argmax(axis=0)
    share = votes / len(guesses)
    rows = np.arange(len(target))
    biased = main != goal
    varies = (len(guesses) - votes[main, rows]) / len(guesses)
    # An unbiased row errs where a model leaves the main prediction, which adds `varies`; a biased
    # row is right where a model happens to say the goal, which takes away P(prediction = goal).
    net = float(np.where(biased, -share[goal, rows], varies).mean())
    error = float((guesses != target).mean())
    bias = float(biased.mean())
    return BiasVariance(
        error=error,
        bias=bias,
        variance=float(varies.mean()),
        net_variance=net,
        noise=float((target != goal).mean()),
        net_noise=error - bias - net,
        main=np.array(labels)[main],
        loss="error",
        n_rounds=len(guesses),
    )


def bias_variance(
    estimator: Estimator,
    X: Data,
    y: Target = None,
    X_test: Any = None,
    y_test: Any = None,
    *,
    truth: Any = None,
    loss: str = "auto",
    n_rounds: int = 100,
    train_size: float = 1.0,
    replace: bool = True,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> BiasVariance:
    """Bias and variance of an estimator, by training it on many samples of the training rows.

    Parameters
    ----------
    estimator : estimator
        Of any library with scikit-learn's interface, or a pipeline; a fresh copy is fitted on every
        sample.
    X : array-like or frame of n rows, or scanned rows
        Training rows to sample from.
    y : array-like of shape (n,), optional
        Their target; scanned rows carry their own.
    X_test : array-like or frame, or scanned rows
        Test rows to predict.
    y_test : array-like of shape (n_test,), optional
        Their target; scanned rows carry their own.
    truth : array-like of shape (n_test,), optional
        Noise-free targets of the test rows, if they are known.
    loss : {"auto", "error", "squared"}, default="auto"
        "auto" is 0/1 loss for classifiers and squared loss otherwise.
    n_rounds : int, default=100
        The number of training samples.
    train_size : float, default=1.0
        Size of a sample over the number of training rows.
    replace : bool, default=True
        Draw with replacement (bootstrap); without, `train_size` should be below 1.
    random_state : int, RandomState or None, default=0
        Seed of the samples.
    n_jobs : int, optional
        Samples fitted at the same time.

    Returns
    -------
    BiasVariance

    See Also
    --------
    decompose : The same from predictions.
    lyceum.plot.bias_variance : The parts as a picture.

    References
    ----------
    Domingos, A unified bias-variance decomposition and its applications, ICML 2000.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, X_test = rng.uniform(size=(100, 1)), rng.uniform(size=(100, 1))
    >>> y, y_test = X[:, 0] + rng.normal(size=100), X_test[:, 0] + rng.normal(size=100)
    >>> rows = (X, y, X_test, y_test)
    >>> deep = bias_variance(DecisionTreeRegressor(random_state=0), *rows, n_rounds=20)
    >>> stump = bias_variance(DecisionTreeRegressor(max_depth=1), *rows, n_rounds=20)
    >>> deep.variance > stump.variance
    True
    """
    experiment = Experiment.of(estimator, X, y)
    y_test = _test_target(X_test, y_test)
    n = len(experiment.y)
    size = round(train_size * n)
    if not 0.0 < train_size <= 1.0 or size < 1 or n_rounds < 1:
        raise SettingError(
            f"train_size={train_size} of {show_count(n, 'row')} and n_rounds={n_rounds}: give a"
            " share up to 1 and at least 1 round"
        )
    # all samples are drawn before the first fit: results do not depend on n_jobs
    rng = check_random_state(random_state)
    by_class = is_classifier(estimator)
    draws = [
        (_sample(experiment.y, size, replace, rng, by_class),) for _ in range(n_rounds)
    ]
    predictions = run_all(
        partial(_sample_predictions, experiment, X_test), draws, n_jobs, "samples"
    )
    if loss == "auto":
        loss = "error" if by_class else "squared"
    return decompose(y_test, np.stack(predictions), truth=truth, loss=loss)


def _test_target(X_test: Any, y_test: Any) -> Any:
    if X_test is None:
        raise SettingError("give X_test, the rows to predict")
    if isinstance(X_test, Rows):
        refuse_beside_rows(other_target(X_test, y_test))
        return target_of(X_test)
    if y_test is None:
        raise SettingError("give y_test, the target of the rows to predict")
    return y_test


def _sample_predictions(
    experiment: Experiment, X_test: Any, indices: np.ndarray
) -> np.ndarray:
    return np.asarray(experiment.fit(experiment.subset(indices)).predict(X_test))


def _sample(
    y: np.ndarray,
    size: int,
    replace: bool,
    rng: np.random.RandomState,
    by_class: bool,
) -> np.ndarray:
    """Row numbers of one sample, ascending; a draw with one class, where y has several, is drawn
    again."""
    # many classifiers refuse a single class
    several = by_class and size > 1 and bool((y != y[0]).any())
    while True:
        if replace:
            indices = rng.randint(len(y), size=size)
        else:
            indices = rng.permutation(len(y))[:size]
        if not several or (y[indices] != y[indices[0]]).any():
            return np.sort(indices)

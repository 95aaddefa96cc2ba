"""Shifts between training and use: other rows (covariate shift), other class shares (prior
shift)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Classifier,
    check_takes_weights,
    complexity,
    normalize_posteriors,
)
from lyceum._core.constraints import HasMethods
from lyceum._core.data import Rows
from lyceum._core.members import Ensemble, MemberData
from lyceum._core.types import Data, Priors, Target, Weights
from lyceum.bayes import NaiveBayes
from lyceum.errors import DataError, SettingError, number_setting
from lyceum.linear import LogisticRegression
from lyceum.report import Explanation, Summary, Table


def importance_weights(
    X: Any,
    X_new: Any,
    *,
    estimator: Any = None,
    clip: float | None = 20.0,
    cv: int | None = None,
) -> np.ndarray:
    """Weights p_new(x) / p(x) of training rows, for use on rows from elsewhere (covariate shift).

    A classifier learns to tell the new rows from the training rows; its odds, times n / m, are the
    ratio of the densities (Bickel, Brückner and Scheffer 2009). Weights are scaled to a mean of 1:
    give them to `fit` as `sample_weight`.

    Parameters
    ----------
    X : array or frame of shape (n, d)
        Training rows.
    X_new : array or frame of shape (m, d)
        Rows of the kind that predictions are wanted for; labels are not needed.
    estimator : classifier, default=None
        With posteriors; None is `LogisticRegression`.
    clip : float or None, default=20.0
        The largest weight, as a multiple of the mean, before scaling: a few rows shall not decide
        all.
    cv : int, optional
        With folds every row is weighed by a classifier that has not seen it, which a flexible one
        needs.

    Returns
    -------
    array of shape (n,)

    See Also
    --------
    PriorShift : The classes come in other shares.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> w = importance_weights(rng.normal(0, 1, (500, 1)), rng.normal(1, 1, (500, 1)))
    >>> round(float(w.mean()), 6)
    1.0
    """
    if isinstance(X, Rows) or isinstance(X_new, Rows):
        raise DataError(
            "importance_weights takes arrays and frames: give those, not scanned rows"
        )
    model = estimator
    if model is None:
        model = LogisticRegression()
    if cv is not None and (not isinstance(cv, Integral) or cv < 2):
        raise SettingError(
            f"cv must be None or a number of folds from 2 on, not {cv!r}"
        )
    n = _n_rows(X)
    m = _n_rows(X_new)
    _check_same_columns(X, X_new)
    if not n or not m:
        raise DataError(
            f"importance_weights compares rows with rows, but X has {n} and X_new has {m}"
        )
    both = _stack(X, X_new)
    is_new = np.repeat([0, 1], [n, m])
    if cv is None:
        proba = np.asarray(clone(model).fit(both, is_new).predict_proba(X))
    else:
        proba = _left_out_posteriors(model, both, is_new, n, cv)
    # p_new(x) / p(x) = P(new|x) / P(old|x) · n / m
    odds = proba[:, 1] / np.maximum(proba[:, 0], 1e-300) * (n / m)
    # bounded, as rows that only the new sample could have would outweigh all others
    odds = np.minimum(odds, 1e12)
    if clip is not None:
        odds = np.minimum(odds, clip * odds.mean())
    return odds / odds.mean()


def _left_out_posteriors(
    model: Any,
    both: Any,
    is_new: np.ndarray,
    n: int,
    n_folds: int,
) -> np.ndarray:
    """The posteriors of the first n rows, each by a classifier that has not seen it."""
    proba = np.empty((n, 2))
    for fold in range(n_folds):
        test = np.arange(len(is_new)) % n_folds == fold
        training = _safe_indexing(both, np.flatnonzero(~test))
        fitted = clone(model).fit(training, is_new[~test])
        rows = np.flatnonzero(test[:n])
        proba[rows] = fitted.predict_proba(_safe_indexing(both, rows))
    return proba


def _n_rows(X: Any) -> int:
    if hasattr(X, "shape"):
        return X.shape[0]
    return len(X)


def _check_same_columns(X: Any, X_new: Any) -> None:
    names = list(getattr(X, "columns", ()))
    new_names = list(getattr(X_new, "columns", ()))
    if names != new_names:
        raise DataError(
            f"X has the columns {names}, and X_new has {new_names}: give the same ones in one order"
        )
    shape = np.shape(X)[1:]
    new_shape = np.shape(X_new)[1:]
    if shape != new_shape:
        raise DataError(
            f"X and X_new have rows of shape {shape} and {new_shape}: give the same columns"
        )


def _stack(X: Data, Y: Data) -> Any:
    """Rows below each other: arrays, or frames of one library."""
    module = type(X).__module__.split(".")[0]
    if module == "pandas":
        import importlib

        return importlib.import_module("pandas").concat([X, Y], ignore_index=True)
    if hasattr(X, "vstack"):
        return X.vstack(Y)
    return np.concatenate(
        [np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)]
    )


def shifted_priors(
    proba: ArrayLike,
    priors: Priors,
    *,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """New class priors from the posteriors of unlabeled rows, by EM.

    P'(k) ← mean_i P'(k|x_i), where P'(k|x) ∝ P(k|x) P'(k) / P(k). EM never lowers the likelihood
    Σ_i log Σ_k P(k|x_i) P'(k) / P(k), which is concave.

    Parameters
    ----------
    proba : array of shape (n, K)
        Posteriors under the training priors.
    priors : array of shape (K,)
        The training priors.
    max_iter : int, default=1000
        The most iterations.
    tol : float, default=1e-8
        Stop when no prior moves by more.

    Returns
    -------
    new_priors : array of shape (K,)
    new_proba : array of shape (n, K)
        Posteriors under the new priors.
    history : list of float
        The mean log-likelihood before every step, relative to the training priors.

    References
    ----------
    Saerens, Latinne and Decaestecker (2002), Adjusting the outputs of a classifier to new a priori
    probabilities: a simple procedure, Neural Computation 14.

    Examples
    --------
    >>> proba = np.array([[0.9, 0.1]] * 3 + [[0.1, 0.9]])
    >>> shifted_priors(proba, [0.5, 0.5])[0].round(3).tolist()
    [0.812, 0.188]
    """
    proba = np.asarray(proba, dtype=np.float64)
    old = np.asarray(priors, dtype=np.float64)
    _check_posteriors(proba, old)
    # P(k|x_i) / P(k), a row per class: its products run along the rows of the table
    inverse = np.divide(1.0, old, out=np.zeros_like(old), where=old > 0)
    ratio = np.ascontiguousarray(proba.T) * inverse[:, None]
    new = old / old.sum()
    history = []
    mixed = np.empty(len(proba))
    for _ in range(max_iter):
        # Σ_k P'(k) P(k|x_i) / P(k), the likelihood of every row; then the mean of P'(k|x_i)
        np.maximum(np.dot(new, ratio, out=mixed), 1e-300, out=mixed)
        history.append(float(np.log(mixed).mean()))
        np.divide(1.0, mixed, out=mixed)
        after = new * (ratio @ mixed) / len(proba)
        after /= after.sum()
        moved = np.abs(after - new).max()
        new = after
        if moved <= tol:
            break
    return new, change_priors(proba, old, new), history


def _check_posteriors(proba: np.ndarray, priors: np.ndarray) -> None:
    if proba.ndim != 2 or priors.shape != (proba.shape[1],) or not len(proba):
        raise DataError(
            f"posteriors of shape {proba.shape} and priors of shape {priors.shape} do not go"
            " together"
        )
    if not ((proba >= 0).all() and (priors >= 0).all() and priors.sum() > 0):
        raise DataError(
            "posteriors and priors must be numbers of at least 0, and not all priors 0"
        )


def change_priors(proba: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Posteriors under other priors: P'(k|x) ∝ P(k|x) P'(k) / P(k)."""
    shifted = proba * np.divide(new, old, out=np.zeros_like(new), where=old > 0)
    sums = (shifted @ np.ones(len(new)))[:, None]
    if (sums > 0).all():
        shifted /= sums
        return shifted
    # a row whose classes all have the new prior 0 keeps its posteriors
    return np.where(sums > 0, shifted / np.where(sums > 0, sums, 1.0), proba)


class PriorShift(Classifier, Ensemble):
    """Any classifier, corrected for class shares that differ between training and use.

    .. math:: P'(k|x) \\propto P(k|x) \\frac{P'(k)}{P(k)}

    The new priors P' are given, or found by EM from the unlabeled rows that `adapt` is called
    with. Until then the classifier predicts as it was trained. Nothing here is to be searched by
    cross-validation, whose folds have the shares of the training rows; the settings of the
    classifier are (`estimator__...`).

    Parameters
    ----------
    estimator : classifier, default=None
        With posteriors, of any library; None is `NaiveBayes`. The better calibrated, the better the
        priors.
    priors : array of shape (K,), default=None
        The shares of the classes where the classifier is used, if they are known.

    Attributes
    ----------
    estimators_ : list of one classifier
        The classifier.
    training_priors_ : array of shape (K,)
        The shares of the classes in training, by weight.
    class_prior_ : array of shape (K,)
        The shares that predictions are made for.
    history_ : list of float
        The mean log-likelihood of the rows of `adapt` at every step of EM, against that of the
        training priors; empty before `adapt`.
    background_ : array of shape (m, d)
        Rows that stand for all rows, coded; where explanations start.

    See Also
    --------
    importance_weights : The rows themselves come from elsewhere.
    shifted_priors : The estimate alone.

    References
    ----------
    Saerens, Latinne and Decaestecker (2002), Adjusting the outputs of a classifier to new a priori
    probabilities: a simple procedure, Neural Computation 14.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 500); X = rng.normal(size=(1000, 1)) + 2 * y[:, None]
    >>> model = PriorShift().fit(X, y)
    >>> rare = np.repeat([0, 1], [900, 100])
    >>> new = model.adapt(rng.normal(size=(1000, 1)) + 2 * rare[:, None])
    >>> bool(abs(new.class_prior_[1] - 0.1) < 0.05)
    True
    """

    _explains_by_replacement: ClassVar[bool] = True
    # in `background_`, of columns without a known cell
    _nan_means_none: ClassVar[bool] = True
    _alternative: ClassVar[str] = "NaiveBayes or LogisticRegression"
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "priors": ["array-like", None],
        "categorical_features": CATEGORICAL_FEATURES,
    }
    history_axes: ClassVar[tuple[str, str]] = ("iteration", "mean log-likelihood")

    classes_: np.ndarray

    def __init__(
        self,
        estimator: Any = None,
        *,
        priors: Any = None,
        categorical_features: Any = "from_dtype",
    ):
        self.estimator = estimator
        self.priors = priors
        self.categorical_features = categorical_features

    def _default(self) -> Any:
        return NaiveBayes()

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Fit the classifier, and keep the class shares that it was trained with.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        data, codes, w = self._member_data(X, y, sample_weight)
        check_takes_weights(self._base(), w)
        counts = np.bincount(codes, w, minlength=len(self.classes_)).astype(np.float64)
        self.training_priors_ = counts / counts.sum()
        self.class_prior_ = self._given_priors()
        self.history_: list[float] = []
        self.estimators_ = [data.fit(self._copy(), w=w)]
        return self

    def _given_priors(self) -> np.ndarray:
        if self.priors is None:
            return self.training_priors_
        numbers = number_setting("priors", self.priors)
        are_weights = (numbers >= 0).all() and numbers.sum() > 0
        if numbers.shape != self.training_priors_.shape or not are_weights:
            raise SettingError(
                f"priors must be {len(self.classes_)} numbers of at least 0, not {self.priors!r}"
            )
        return numbers / numbers.sum()

    def adapt(self, X: Data):
        """Find the priors of new, unlabeled rows by EM, and predict with them from now on.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        proba = np.asarray(self._apply_to_members(self._trained_posteriors, X))
        adapted = shifted_priors(proba, self.training_priors_)
        self.class_prior_, _, self.history_ = adapted
        return self

    def predict_proba(self, X: Data) -> Any:
        """The posteriors under the new priors."""
        return self._apply_to_members(self._posteriors, X)

    def predict(self, X: Data) -> Any:
        """The class of the largest posterior under the new priors."""
        return self._predict_largest(self._posteriors, X)

    def _trained_posteriors(self, data: MemberData) -> np.ndarray:
        return normalize_posteriors(data.posteriors(self.estimators_[0], self.classes_))

    def _posteriors(self, data: MemberData) -> np.ndarray:
        proba = self._trained_posteriors(data)
        return change_priors(proba, self.training_priors_, self.class_prior_)

    def explain(self, X: Data) -> Explanation:
        """What every column adds to the posterior of the class that is predicted.

        The base is the posterior for rows drawn in `fit` (`background_`) in the mean, whose columns
        are replaced by the row's own in random orders (Shapley's values, sampled); in the frame
        itself if a classifier of another library was given one.
        """
        return self._explain_by_replacement(self._posteriors, X)

    def summary(self) -> Summary:
        """The class shares in training and now."""
        check_is_fitted(self)
        rows = list(
            zip(
                map(str, self.classes_),
                self.training_priors_.tolist(),
                self.class_prior_.tolist(),
            )
        )
        facts = {
            "classifier": type(self.estimators_[0]).__name__,
            "steps of EM": len(self.history_),
        }
        table = Table("Priors", ("class", "in training", "now"), rows)
        return Summary(self._title(), facts, [table])

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the classifier, and the priors."""
        return complexity(self.estimators_[0]) + len(self.class_prior_)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.classes_)
        return {
            "class_prior_": (K,),
            "training_priors_": (K,),
            "background_": (len(self.background_), self.n_features_in_),
        }

"""Minimum expected risk, doubt, and the Bayes error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, column_or_1d

from lyceum._core.data import is_dask, labels
from lyceum._core.probability import LossMatrix, find_labels, label_array, label_key
from lyceum._core.report import Shown
from lyceum._core.text import plain, show_count
from lyceum._core.types import Loss, Target, Weights
from lyceum.errors import DataError, SettingError

REJECT = "reject"
_ROUNDING = 1e-6  # how far below 0 a posterior may lie by rounding
_SUM_TOLERANCE = 1e-3  # posteriors in float32, or rounded to three digits, still pass


@dataclass(frozen=True, eq=False)
class Decisions(Shown):
    """Actions, one per row, with their risks; converts to an array of the actions.

    Attributes
    ----------
    actions : array of shape (n,)
        Labels of actions, or their indices if the loss matrix has no labels. Where the decision is
        to doubt it is "reject", or -1 among indices.
    risks : array of shape (n, A)
        The expected risk of every action of the loss matrix.
    risk : array of shape (n,)
        The risk of the decision: the least of `risks`, or the cost of doubt.
    rejected : array of bool of shape (n,)
        Where the decision is to doubt, or to take an action that names no class.
    index : array of shape (n,)
        The column of the action in the loss matrix, -1 for doubt.

    See Also
    --------
    minimum_risk : Makes them from posteriors and a loss matrix.
    MinimumRiskClassifier : Its `decide` makes them from rows.
    LossMatrix : The costs of the actions.

    References
    ----------
    C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
    Theory 16, 1970.

    Examples
    --------
    >>> from lyceum.decision import minimum_risk
    >>> decisions = minimum_risk([[0.9, 0.1], [0.55, 0.45]], [[0, 5], [1, 0]], doubt=0.4)
    >>> decisions.risks.round(2).tolist()  # 1 · 0.1, 5 · 0.9; 1 · 0.45, 5 · 0.55
    [[0.1, 4.5], [0.45, 2.75]]
    >>> decisions.tolist(), decisions.risk.round(2).tolist(), decisions.rejected.tolist()
    ([0, -1], [0.1, 0.4], [False, True])
    """

    actions: np.ndarray
    risks: np.ndarray
    risk: np.ndarray
    rejected: np.ndarray
    index: np.ndarray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.actions, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.actions)

    def __getitem__(self, rows: Any) -> Any:
        return self.actions[rows]

    def __eq__(self, other: object) -> np.ndarray:  # type: ignore[override]
        return self.actions == np.asarray(other)

    __hash__ = None  # type: ignore[assignment]

    def as_dict(self) -> dict[str, Any]:
        """All values by name, in JSON's own types."""
        return plain({field.name: getattr(self, field.name) for field in fields(self)})

    def tolist(self) -> list[Any]:
        """The actions as a list."""
        return self.actions.tolist()


def minimum_risk(
    proba: Any,
    loss: Any = None,
    doubt: float | None = None,
    *,
    classes: Sequence[Any] | None = None,
) -> Decisions:
    """The action of least expected risk in every row: argmin_a R(a|x), with R(a|x) = Σ_k λ[k, a]
    P(k|x).

    Of equal risks the first action is taken. Under the 0/1 loss the rule is the most probable
    class.

    Doubt is one more action that costs θ whatever the truth, so R(doubt|x) = θ, and it is taken
    where min_a R(a|x) ≥ θ. Under the 0/1 loss min_a R(a|x) = 1 - max_k P(k|x), so that a class is
    named exactly where max_k P(k|x) > 1 - θ: this comparison is the one computed there. On the
    boundary the decision is to doubt. Hence θ = 0 always rejects (for losses that are not
    negative), and θ ≥ 1 under the 0/1 loss, or any θ above the largest loss, never does.

    Parameters
    ----------
    proba : array of shape (n, K)
        Posteriors, one column per class in the order of the rows of `loss`; rows sum to 1.
    loss : LossMatrix, array of shape (K, A) or None, default=None
        Rows = true class, columns = action. None is the 0/1 loss.
    doubt : float, optional
        θ ≥ 0, the cost of doubt. None never doubts.
    classes : K labels, optional
        The classes of the columns of `proba`, when they are not in the order of a labeled `loss`.

    Returns
    -------
    Decisions
        The actions; also `.risks`, `.risk` and `.rejected`.

    See Also
    --------
    MinimumRiskClassifier : The same rule inside a classifier.
    error_reject_curve : The error among accepted rows at every cost of doubt.

    References
    ----------
    C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
    Theory 16, 1970.

    Examples
    --------
    >>> loss = LossMatrix([[0, 5], [1, 0]], classes=["bad", "good"])  # columns are actions
    >>> decisions = minimum_risk([[0.1, 0.9], [0.2, 0.8]], loss)
    >>> decisions.tolist()
    ['good', 'bad']
    >>> decisions.risks
    array([[0.9, 0.5],
           [0.8, 1. ]])
    >>> minimum_risk([[0.1, 0.9], [0.2, 0.8]], loss, doubt=0.7).tolist()
    ['good', 'reject']
    """
    proba = check_posteriors(proba)
    loss = loss_of_classes(loss, proba.shape[1], classes)
    theta = check_doubt(doubt)
    if loss.actions is None:
        actions = np.append(np.arange(loss.values.shape[1]), -1)
    else:
        actions = action_labels(loss, doubt, REJECT)
    return decide(proba, loss, theta, actions)


def expected_risk(
    proba: ArrayLike, loss: Loss = None, *, classes: Sequence[Any] | None = None
) -> np.ndarray:
    """The expected risk R(a|x) = Σ_k λ[k, a] P(k|x) of every action.

    Parameters
    ----------
    proba : array of shape (n, K)
        Posteriors, one column per class in the order of the rows of `loss`; rows sum to 1.
    loss : LossMatrix, array of shape (K, A) or None, default=None
        Rows = true class, columns = action. None is the 0/1 loss.
    classes : K labels, optional
        The classes of the columns of `proba`, when they are not in the order of a labeled `loss`.

    Returns
    -------
    array of shape (n, A)

    See Also
    --------
    minimum_risk : The action of least expected risk.

    Examples
    --------
    >>> expected_risk([[0.1, 0.9], [0.2, 0.8]], [[0, 5], [1, 0]])
    array([[0.9, 0.5],
           [0.8, 1. ]])
    """
    proba = check_posteriors(proba)
    return proba @ loss_of_classes(loss, proba.shape[1], classes).values


def bayes_error(
    proba: ArrayLike,
    sample_weight: Weights = None,
    *,
    loss: Loss = None,
    classes: Sequence[Any] | None = None,
) -> float:
    """The Bayes error Σ_x P(x) (1 - max_k P(k|x)): the error rate of the best rule for these
    posteriors.

    With a loss matrix it is the Bayes risk Σ_x P(x) min_a R(a|x). With true posteriors it is a
    property of the problem. With estimated ones it is the error rate that the model expects: too
    small if the model is overconfident.

    Parameters
    ----------
    proba : array of shape (n, K)
        Posteriors at n places x.
    sample_weight : array of shape (n,), optional
        P(x), up to a factor; equal by default, as for rows drawn from P(x).
    loss : LossMatrix or array of shape (K, A), optional
        Rows = true class, columns = action.
    classes : K labels, optional
        The classes of the columns of `proba`, when they are not in the order of a labeled `loss`.

    Returns
    -------
    float

    See Also
    --------
    minimum_risk : The best rule.
    lyceum.evaluate.error_interval : The uncertainty of a measured error rate.

    Examples
    --------
    >>> round(bayes_error([[0.9, 0.1], [0.3, 0.7]], [1, 3]), 12)
    0.25
    """
    least = minimum_risk(proba, loss, classes=classes).risk
    if not len(least):
        raise DataError("there are no rows (0 samples) to take the Bayes error of")
    return float(np.average(least, weights=check_weight(sample_weight, len(least))))


# -- shared by the estimators and curves of this room ----------------------------------


def decide(
    proba: np.ndarray, loss: LossMatrix, doubt: float | None, labels: np.ndarray
) -> Decisions:
    """Decisions from checked posteriors; the label of doubt is the last of `labels`."""
    # Under the 0/1 loss by the posteriors themselves: 1 - P is rounded, and would make ties.
    risks = proba @ loss.values
    if loss.is_zero_one:
        action = proba.argmax(axis=1)
    else:
        action = risks.argmin(axis=1)
    rows = np.arange(len(proba))
    risk = risks[rows, action]
    rejected = (loss.names_class < 0)[action]
    if doubt is not None:
        if loss.is_zero_one:
            sure = proba[rows, action] > 1.0 - doubt
        else:
            sure = risk < doubt
        action = np.where(sure, action, -1)
        rejected = rejected | ~sure
        risk = np.where(sure, risk, doubt)
    return Decisions(labels[action], risks, risk, rejected, action)


def check_posteriors(proba: ArrayLike) -> np.ndarray:
    """Posteriors as a float64 array of shape (n, K); raises where they are not."""
    try:
        proba = np.asarray(proba, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"proba must hold numbers, as predict_proba gives them: {error}"
        ) from error
    if proba.ndim != 2 or not proba.shape[1]:
        raise DataError(
            f"proba has the shape {proba.shape}: give one row per case and one column per class, as"
            " predict_proba does"
        )
    # a NaN is not within the tolerance either
    sums = proba @ np.ones(proba.shape[1])
    bad = ~(np.abs(sums - 1.0) <= _SUM_TOLERANCE)
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"a row of proba holds the probability of every class, but row {row} sums to"
            f" {sums[row]:g}, not to 1: divide every row by its sum"
        )
    if proba.size and proba.min() < -_ROUNDING:
        row, k = np.argwhere(proba < -_ROUNDING)[0]
        raise DataError(
            f"proba has the negative probability {proba[row, k]:g} in row {row}, column {k}"
        )
    if proba.size and proba.min() < 0.0:
        return proba.clip(0.0, 1.0)
    return proba


def check_doubt(doubt: float | None) -> float | None:
    """θ, at least 0."""
    if doubt is None:
        return None
    if not np.isscalar(doubt) or not float(doubt) >= 0.0:  # type: ignore[arg-type]
        raise SettingError(
            f"doubt is the cost of rejecting a row, a number of at least 0, not {doubt!r}"
        )
    return float(doubt)  # type: ignore[arg-type]


def check_weight(weight: object, n_rows: int) -> np.ndarray | None:
    """Weights as float64 of shape (n,), not negative and not all zero."""
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise DataError(
            f"sample_weight has the shape {weight.shape} for {show_count(n_rows, 'row')}: give one "
            "number per row"
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise DataError(
            "sample_weight must be finite, not negative, and not zero everywhere"
        )
    return weight


def true_labels(y: Target) -> np.ndarray:
    """The true labels as a one-dimensional array; raises where some are missing."""
    y = np.asarray(y)
    if y.ndim != 1:
        raise DataError(f"y has the shape {y.shape}: give one true label per row")
    labels(y, "y")  # refuses missing ones
    return y


def check_target(y: Any, caller: Any) -> Any:
    """True labels as a one-dimensional array of classes; None and Dask collections pass as they
    are."""
    if y is None or is_dask(y):
        return y
    y = column_or_1d(y, warn=True)
    if not len(y):
        raise DataError(
            f"there are no rows (0 samples): {type(caller).__name__} needs some of every class"
        )
    labels(y, "y")  # refuses missing ones
    y = _check_y(y, estimator=caller)
    check_classification_targets(y)
    return y


def loss_of_classes(
    loss: Any, n_classes: int, classes: Sequence[Any] | None
) -> LossMatrix:
    """The loss as a matrix with one row per column of the posteriors; zero-one loss for None."""
    if classes is not None:
        loss = LossMatrix.of(loss, classes)
    elif loss is None:
        loss = LossMatrix.zero_one(n_classes)
    elif not isinstance(loss, LossMatrix):
        loss = LossMatrix(loss)
    if loss.values.shape[0] != n_classes:
        raise DataError(
            f"the loss matrix has {show_count(loss.values.shape[0], 'row')}, but proba has "
            f"{show_count(n_classes, 'column')}: the rows of a loss matrix are the true "
            "classes (its columns are the actions)"
        )
    return loss


def action_labels(
    loss: LossMatrix, doubt: float | None, reject: Any, like: np.ndarray | None = None
) -> np.ndarray:
    """The label of every action, and of doubt as the last if there is any."""
    assert loss.actions is not None
    if doubt is None:
        return label_array(loss.actions, like)
    if label_key(reject) in map(label_key, loss.actions):
        (index,) = find_labels([reject], loss.actions, "the action")
        raise SettingError(
            f"{loss.actions[index]!r} is an action of the loss matrix already, so it cannot also"
            " stand for doubt: give doubt or that action, or choose another label for doubt"
        )
    return label_array((*loss.actions, reject), like)

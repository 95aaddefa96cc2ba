"""The error–reject curve: the error among the accepted rows at every reject rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lyceum._core.probability import LossMatrix, class_codes
from lyceum._core.text import plain, show_count
from lyceum.decision.risk import (
    check_doubt,
    check_posteriors,
    check_weight,
    loss_of_classes,
    true_labels,
)
from lyceum.errors import DataError, SettingError
from lyceum.report import Table


@dataclass(frozen=True, eq=False)
class ErrorRejectCurve:
    """The error–reject curve, one point for every distinct least risk.

    Attributes
    ----------
    thresholds : array of shape (m + 1,)
        The largest doubt θ that gives the point, increasing: rows are accepted where min_a R(a|x) <
        θ. The first accepts nothing; the last, infinity, everything.
    reject_rate : array of shape (m + 1,)
        From 1 down to 0.
    error : array of shape (m + 1,)
        The share of wrong decisions among the accepted rows; 0 where none is accepted.
    cost : array of shape (m + 1,)
        The mean loss among the accepted rows, the error itself under the 0/1 loss; 0 where none is
        accepted.
    area : float
        ∫ cost d(reject rate) over [0, 1] by trapezoids between the points that accept some rows;
        from the last of them to 1 the cost is constant. Less is better.
    zero_one : bool
        Whether it is the curve of the 0/1 loss.

    See Also
    --------
    error_reject_curve : Makes it from labels and posteriors.
    minimum_risk : The decisions behind it.
    lyceum.evaluate.RocCurve : The curve over all thresholds of a score.
    lyceum.plot.error_reject : The curve as a picture.

    References
    ----------
    C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
    Theory 16, 1970.

    Examples
    --------
    The row that is decided wrongly has a posterior of 0.7, so that a doubt of 0.25 rejects it:

    >>> from lyceum.decision import error_reject_curve
    >>> curve = error_reject_curve([0, 1, 1, 0], [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.3, 0.7]])
    >>> curve.at(0.25)  # two rows rejected: 0.25 · 0.5 in total
    {'reject_rate': 0.5, 'error': 0.0, 'cost': 0.0, 'total': 0.125}
    >>> curve.at(1.0)["error"], round(curve.area, 4)
    (0.25, 0.1146)
    """

    thresholds: np.ndarray
    reject_rate: np.ndarray
    error: np.ndarray
    cost: np.ndarray
    area: float
    zero_one: bool = True

    def as_dict(self) -> dict[str, Any]:
        """All points and the area, in JSON's own types: infinity is None."""
        return plain(asdict(self))

    def at(self, doubt: float) -> dict[str, float]:
        """Reject rate, error and cost among the accepted at a cost of doubt θ, and the mean cost of
        all rows.

        `total` is cost · (1 - reject rate) + θ · reject rate.
        """
        theta = check_doubt(doubt)
        if theta is None:
            raise SettingError(
                "doubt is None: give the cost of rejecting a row, e.g. at(0.2)"
            )
        i = self._point(theta)
        rejected = float(self.reject_rate[i])
        cost = float(self.cost[i])
        total = cost * (1.0 - rejected) + (theta * rejected if rejected else 0.0)
        return {
            "reject_rate": rejected,
            "error": float(self.error[i]),
            "cost": cost,
            "total": total,
        }

    def _point(self, theta: float) -> int:
        """The first group of rows that is not accepted at θ; under the 0/1 loss where max P > 1 - θ
        fails."""
        # thresholds are 1 - max P: compared as in `decide`, where rounding may differ from R < θ
        if self.zero_one:
            return int(np.searchsorted(self.thresholds - 1.0, theta - 1.0, side="left"))
        return int(np.searchsorted(self.thresholds, theta, side="left"))

    def thin(self, points: int = 500) -> ErrorRejectCurve:
        """The curve at about that many of its points, ends included; the area stays the same."""
        if points >= len(self.thresholds):
            return self
        spaced = np.linspace(0, len(self.thresholds) - 1, max(points, 2))
        indices = np.unique(spaced.round().astype(np.intp))
        parts = {
            name: getattr(self, name)[indices]
            for name in ("thresholds", "reject_rate", "error", "cost")
        }
        return replace(self, **parts)

    def table(self, rates: Sequence[float] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)) -> Table:
        """Doubt, error and cost at some reject rates: each at the point that rejects at least that
        share."""
        # rates fall along the curve
        rising = self.reject_rate[::-1]
        indices = [
            len(rising) - 1 - int(np.searchsorted(rising, rate)) for rate in rates
        ]
        columns = (self.reject_rate, self.thresholds, self.error, self.cost)
        rows = [tuple(float(column[i]) for column in columns) for i in indices]
        return Table(
            "Error–reject curve",
            ("reject rate", "doubt", "error among accepted", "cost among accepted"),
            rows,
        )

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def error_reject_curve(
    y_true: Any,
    y_proba: Any,
    loss: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
) -> ErrorRejectCurve:
    """Reject rate and error among the accepted rows at every cost of doubt.

    Every row is decided by minimum risk; for a doubt θ it is accepted where its least risk is below
    θ. An action of the loss matrix that names no class is left out: θ replaces it.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels.
    y_proba : array of shape (n, K)
        Posteriors, one column per class.
    loss : LossMatrix or array of shape (K, A), optional
        Rows = true class, columns = action. None is the 0/1 loss.
    classes : K labels, optional
        The classes of the columns of `y_proba`. By default those of a labeled `loss`, else the
        sorted labels of y_true; whole numbers from 0 to K - 1 are columns.
    sample_weight : array of shape (n,), optional
        The weight of every row; 1 by default.

    Returns
    -------
    ErrorRejectCurve

    See Also
    --------
    minimum_risk : The decisions behind the curve.

    References
    ----------
    C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
    Theory 16, 1970.

    Examples
    --------
    >>> curve = error_reject_curve([0, 1, 1, 0], [[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.3, 0.7]])
    >>> curve.reject_rate
    array([1.  , 0.75, 0.5 , 0.25, 0.  ])
    >>> curve.error.round(3)
    array([0.   , 0.   , 0.   , 0.333, 0.25 ])
    >>> curve.at(0.25)["reject_rate"]
    0.5
    """
    y_proba = check_posteriors(y_proba)
    n, K = y_proba.shape
    y_true = true_labels(y_true)
    if len(y_true) != n or not n:
        raise DataError(
            f"y_true has {len(y_true)} labels for {show_count(n, 'row')} of y_proba: give one per"
            " row, at least one row"
        )
    if classes is None and isinstance(loss, LossMatrix):
        classes = loss.classes
    loss = loss_of_classes(loss, K, classes)
    if (loss.names_class < 0).any():
        loss = loss.without_reject()
    codes = class_codes(y_true, K, classes)
    weight = check_weight(sample_weight, n)
    # the least risk of every row, the action that has it, and what this costs
    rows = np.arange(n)
    if loss.is_zero_one:
        chosen = y_proba.argmax(axis=1)
        risk = 1.0 - y_proba[rows, chosen]
        wrong = loss.names_class[chosen] != codes
        return _curve(risk, wrong, wrong.astype(np.float64), weight, zero_one=True)
    risks = y_proba @ loss.values
    chosen = risks.argmin(axis=1)
    wrong = loss.names_class[chosen] != codes
    costs = loss.values[codes, chosen]
    return _curve(risks[rows, chosen], wrong, costs, weight, zero_one=False)


def _curve(
    risk: np.ndarray,
    wrong: np.ndarray,
    costs: np.ndarray,
    weight: np.ndarray | None,
    zero_one: bool,
) -> ErrorRejectCurve:
    order = np.argsort(risk)
    if weight is not None:
        order = order[weight[order] > 0]  # zero-weight rows are ignored
    risk = risk[order]
    # the last row of every group of equal risks, which are accepted or rejected together
    last = np.flatnonzero(np.append(risk[1:] != risk[:-1], True))
    if weight is None:
        accepted = last + 1.0
    else:
        accepted = np.cumsum(weight[order])[last]
    error = _running_means(wrong[order], weight, order, last, accepted)
    if zero_one:
        cost = error
    else:
        cost = _running_means(costs[order], weight, order, last, accepted)
    # trapezoids over the falling reject rate; the first cost is constant up to a rate of 1
    reject = 1.0 - accepted / accepted[-1]
    trapezoids = np.trapezoid(cost[::-1], reject[::-1])
    area = trapezoids + cost[0] * (1.0 - reject[0])
    return ErrorRejectCurve(
        thresholds=np.append(risk[last], np.inf),
        reject_rate=np.append(1.0, reject),
        error=np.append(0.0, error),
        cost=np.append(0.0, cost),
        area=float(area),
        zero_one=zero_one,
    )


def _running_means(
    values: np.ndarray,
    weight: np.ndarray | None,
    order: np.ndarray,
    last: np.ndarray,
    accepted: np.ndarray,
) -> np.ndarray:
    """The weighted mean of the rows up to each group."""
    weighted = values if weight is None else values * weight[order]
    # mistakes without weights are counted as integers, exactly
    kind = np.int64 if weighted.dtype == bool else np.float64
    return np.cumsum(weighted, dtype=kind)[last] / accepted

"""Thresholds on a score that minimize a cost."""

from __future__ import annotations

import numpy as np

from lyceum._core.types import Label, Target, Weights
from lyceum.decision.risk import check_weight, true_labels
from lyceum.errors import DataError, SettingError


class Threshold(float):
    """A threshold, which is a float: rows with score >= threshold are called positive.

    Parameters
    ----------
    value : float
        The threshold, which is the float itself.
    cost, fp, fn, tp, tn : float
        The attributes of these names.

    Attributes
    ----------
    cost : float
        C_FP·FP + C_FN·FN at this threshold.
    fp, fn, tp, tn : float
        The rows (or their weight) by truth and decision.

    See Also
    --------
    best_threshold : Makes it from labels and scores.
    theoretical_threshold : The threshold for true posteriors.
    lyceum.evaluate.CostCurve : The best thresholds for all class shares and costs.

    References
    ----------
    C. Elkan, "The foundations of cost-sensitive learning", International Joint Conference on
    Artificial Intelligence, 2001.

    Examples
    --------
    >>> from lyceum.decision import best_threshold
    >>> t = best_threshold([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.9], cost_fp=1, cost_fn=5)
    >>> t, t.tp, t.tn
    (Threshold(0.3, cost=1, fp=1, fn=0), 2.0, 2.0)
    >>> 0.4 >= t  # a score of 0.4 is called positive
    True
    """

    cost: float
    fp: float
    fn: float
    tp: float
    tn: float

    def __new__(
        cls, value: float, cost: float, fp: float, fn: float, tp: float, tn: float
    ) -> Threshold:
        self = super().__new__(cls, value)
        self.cost = cost
        self.fp = fp
        self.fn = fn
        self.tp = tp
        self.tn = tn
        return self

    def __getnewargs__(self) -> tuple[float, ...]:  # type: ignore[override]
        return float(self), self.cost, self.fp, self.fn, self.tp, self.tn

    def __repr__(self) -> str:
        return f"Threshold({float(self):.6g}, cost={self.cost:g}, fp={self.fp:g}, fn={self.fn:g})"


def best_threshold(
    y_true: Target,
    y_score: Target,
    *,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    pos_label: Label = None,
    sample_weight: Weights = None,
) -> Threshold:
    """The threshold t that minimizes C_FP·FP + C_FN·FN when rows with score ≥ t are called
    positive.

    The candidates are the distinct scores and infinity (nothing is positive). Of thresholds that
    cost the same the largest is taken: it makes the fewest false alarms.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels, two kinds at most.
    y_score : array of shape (n,)
        Larger for the positive class, e.g. its posterior.
    cost_fp, cost_fn : float, default=1.0
        C_FP, the cost of calling a negative row positive, and C_FN, of calling a positive row
        negative.
    pos_label : label, optional
        The positive class; by default the later of the two labels in sorted order (1, True).
    sample_weight : array of shape (n,), optional
        The weight of every row; 1 by default.

    Returns
    -------
    Threshold
        A float, with `cost`, `fp`, `fn`, `tp` and `tn`.

    See Also
    --------
    theoretical_threshold : The threshold for true posteriors.
    threshold_costs : The cost at every threshold.

    Examples
    --------
    >>> t = best_threshold([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.9], cost_fp=1, cost_fn=5)
    >>> t
    Threshold(0.3, cost=1, fp=1, fn=0)
    >>> float(best_threshold([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.9], cost_fp=5, cost_fn=1))
    0.9
    """
    thresholds, fp, tp, n_neg, n_pos = _counts(
        y_true, y_score, pos_label, sample_weight
    )
    cost = _costs(fp, n_pos - tp, cost_fp, cost_fn)
    i = int(cost.argmin())  # thresholds fall, so the first is the largest
    return Threshold(
        float(thresholds[i]),
        cost=float(cost[i]),
        fp=float(fp[i]),
        fn=float(n_pos - tp[i]),
        tp=float(tp[i]),
        tn=float(n_neg - fp[i]),
    )


def threshold_costs(
    y_true: Target,
    y_score: Target,
    *,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    pos_label: Label = None,
    sample_weight: Weights = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The cost C_FP·FP + C_FN·FN at every threshold.

    Parameters
    ----------
    y_true : array of shape (n,)
        The true labels, two kinds at most.
    y_score : array of shape (n,)
        Larger for the positive class, e.g. its posterior.
    cost_fp, cost_fn : float, default=1.0
        C_FP, the cost of calling a negative row positive, and C_FN, of calling a positive row
        negative.
    pos_label : label, optional
        The positive class; by default the later of the two labels in sorted order (1, True).
    sample_weight : array of shape (n,), optional
        The weight of every row; 1 by default.

    Returns
    -------
    thresholds, costs : array of shape (m,)
        The distinct scores, descending from infinity, and the cost at each.

    See Also
    --------
    best_threshold : The threshold of least cost.
    lyceum.evaluate.cost_curve : The cost for all class shares and costs.

    Examples
    --------
    >>> thresholds, costs = threshold_costs([0, 1, 1], [0.2, 0.6, 0.9], cost_fn=5)
    >>> thresholds.tolist(), costs.tolist()
    ([inf, 0.9, 0.6, 0.2], [10.0, 5.0, 0.0, 1.0])
    """
    thresholds, fp, tp, _, n_pos = _counts(y_true, y_score, pos_label, sample_weight)
    return thresholds, _costs(fp, n_pos - tp, cost_fp, cost_fn)


def theoretical_threshold(
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    *,
    cost_tp: float = 0.0,
    cost_tn: float = 0.0,
) -> float:
    """The posterior of the positive class above which calling a row positive has the least risk.

    R(+|x) = C_TP p + C_FP (1-p) < R(-|x) = C_FN p + C_TN (1-p) where
    p > (C_FP - C_TN) / (C_FP - C_TN + C_FN - C_TP). At the threshold both risks are equal. It is
    the best one for true posteriors; `best_threshold` finds the best one for any score from rows.

    Parameters
    ----------
    cost_fp, cost_fn : float, default=1.0
        C_FP, the cost of calling a negative row positive, and C_FN, of calling a positive row
        negative.
    cost_tp, cost_tn : float, default=0.0
        The cost of being right about a positive and about a negative row.

    Returns
    -------
    float

    See Also
    --------
    best_threshold : The best threshold for any score, from rows.

    References
    ----------
    C. Elkan, "The foundations of cost-sensitive learning", International Joint Conference on
    Artificial Intelligence, 2001.

    Examples
    --------
    >>> theoretical_threshold(cost_fp=1, cost_fn=4)
    0.2
    """
    alarm = float(cost_fp) - float(cost_tn)
    miss = float(cost_fn) - float(cost_tp)
    if not (
        np.isfinite(alarm)
        and np.isfinite(miss)
        and alarm >= 0.0
        and miss >= 0.0
        and alarm + miss > 0.0
    ):
        raise SettingError(
            "a mistake must cost at least as much as being right, and one of them more: cost_fp -"
            f" cost_tn is {alarm:g}, cost_fn - cost_tp is {miss:g}"
        )
    return alarm / (alarm + miss)


def _counts(
    y_true: Target, y_score: Target, pos_label: Label, sample_weight: Weights
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
    """Thresholds from infinity down, FP and TP at each, and the weight of negative and positive
    rows."""
    positive = _positive_mask(y_true, pos_label)
    y_score = np.asarray(y_score)
    if y_score.shape != positive.shape or not y_score.size:
        raise DataError(
            f"y_score has the shape {y_score.shape} for {len(positive)} labels: give one score per"
            " row (of posteriors, the column of the positive class), at least one row"
        )
    if y_score.dtype.kind not in "biuf" or np.isnan(y_score).any():
        raise DataError("y_score must hold numbers, none of them missing")
    weight = check_weight(sample_weight, len(y_score))
    # from the largest score down, with equal scores as one group, which ends at `last`
    order = np.argsort(-y_score.astype(np.float64))
    y_score = y_score[order]
    positive = positive[order]
    last = np.flatnonzero(np.append(y_score[1:] != y_score[:-1], True))
    if weight is None:
        tp = np.cumsum(positive)[last].astype(np.float64)
        fp = last + 1.0 - tp
    else:
        tp = np.cumsum(positive * weight[order])[last]
        fp = np.cumsum(~positive * weight[order])[last]
    return (
        np.append(np.inf, y_score[last]),
        np.append(0.0, fp),
        np.append(0.0, tp),
        float(fp[-1]),
        float(tp[-1]),
    )


def _positive_mask(y_true: Target, pos_label: Label) -> np.ndarray:
    y_true = true_labels(y_true)
    labels = np.unique(y_true)
    if len(labels) > 2:
        raise DataError(
            f"y_true has {len(labels)} distinct labels: a threshold divides two classes; use"
            " minimum_risk with a loss matrix"
        )
    # a label that does not occur is accepted beside a single one, which is then negative
    if pos_label is not None:
        if pos_label not in labels.tolist() and len(labels) == 2:
            raise DataError(
                f"pos_label is {pos_label!r}, but y_true holds"
                f" {', '.join(map(repr, labels.tolist()))}"
            )
        return y_true == pos_label
    if len(labels) < 2 and labels.tolist() not in ([], [0], [1], [-1]):
        raise DataError(
            f"y_true holds only {labels.tolist()[0]!r}: say which class is positive, pos_label=..."
        )
    if len(labels) == 2:
        return y_true == labels[-1]
    return y_true == 1


def _costs(
    fp: np.ndarray, fn: np.ndarray, cost_fp: float, cost_fn: float
) -> np.ndarray:
    if not (
        np.isfinite(cost_fp) and np.isfinite(cost_fn) and cost_fp >= 0 and cost_fn >= 0
    ):
        raise SettingError(
            f"costs must be finite and not negative: cost_fp is {cost_fp}, cost_fn is {cost_fn}"
        )
    return cost_fp * fp + cost_fn * fn

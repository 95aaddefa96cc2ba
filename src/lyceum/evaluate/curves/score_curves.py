"""A score at every threshold: precision against recall, and expected cost against operating
conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.types import Label, Target, Weights
from lyceum.errors import SettingError
from lyceum.evaluate.common import ratio
from lyceum.evaluate.curves.roc import ScoreSteps, roc_curve
from lyceum.evaluate.printable import Printable, Unpackable
from lyceum.report import Summary


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecall(Unpackable):
    """Precision against recall as the threshold rises.

    It unpacks as scikit-learn's:
    ``precision, recall, thresholds = precision_recall_curve(y_true, y_score)``.

    Attributes
    ----------
    precision, recall : ndarray of shape (m + 1,)
        When rows with a score of at least the threshold are predicted positive; the last point,
        with nothing predicted positive, has recall 0, precision 1 and no threshold. Without
        positives every other recall is 1.
    thresholds : ndarray of shape (m,)
        The distinct scores, rising.
    average_precision : float
        Σ (rise in recall) · precision; 0 when there are no positives.
    prevalence : float
        Share of positives: the precision of guessing.
    best_f1 : tuple of two floats
        The largest F1 and its threshold.

    See Also
    --------
    precision_recall_curve : Makes it from labels and scores.
    RocCurve : True against false positive rates.
    lyceum.plot.precision_recall : The curve as a picture.

    References
    ----------
    Davis and Goadrich, The relationship between precision-recall and ROC curves, ICML 2006.

    Examples
    --------
    >>> from lyceum.evaluate import precision_recall_curve
    >>> curve = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.precision.round(3).tolist(), curve.recall.tolist()
    ([0.5, 0.667, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.5, 0.0])
    >>> round(curve.average_precision, 4), curve.best_f1          # 1/2 · 1 + 1/2 · 2/3
    (0.8333, (0.8, 0.35))
    """

    _derived = ("best_f1",)
    _unpacked = ("precision", "recall", "thresholds")

    precision: np.ndarray
    recall: np.ndarray
    thresholds: np.ndarray
    average_precision: float
    prevalence: float

    @property
    def best_f1(self) -> tuple[float, float]:
        """The largest F1 and its threshold, the highest of equals."""
        both = self.precision + self.recall
        product = 2 * self.precision * self.recall
        f1 = np.divide(product, both, out=np.zeros_like(both), where=both > 0)
        # thresholds rise: argmax of the reversed values finds the highest threshold of equals
        from_end = int(np.argmax(f1[::-1]))
        best = len(f1) - 1 - from_end
        # the last point, where nothing is predicted positive, has no threshold of its own
        thresholds = np.append(self.thresholds, np.inf)
        return float(f1[best]), float(thresholds[best])

    def summary(self) -> Summary:
        """Average precision, prevalence, and the best F1."""
        f1, threshold = self.best_f1
        facts = {
            "average precision": self.average_precision,
            "prevalence": self.prevalence,
            "best F1": f1,
            "at threshold": threshold,
        }
        return Summary("precision and recall", facts)


def precision_recall_curve(
    y_true: Target,
    y_score: Target,
    *,
    pos_label: Label = None,
    sample_weight: Weights = None,
    drop_intermediate: bool = False,
) -> PrecisionRecall:
    """Precision and recall at every distinct score.

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target and carry their weights.
    y_score : array-like of shape (n,)
        Scores or posteriors, larger for the positive class; of (n, 2) posteriors the second column
        is taken.
    pos_label : label, optional
        The positive class; by default the larger of two labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    drop_intermediate : bool, default=False
        Of the points with one recall keep only the first and the last.

    Returns
    -------
    PrecisionRecall

    See Also
    --------
    roc_curve : The curve of true and false positive rates.
    lyceum.plot.precision_recall : The curve as a picture.

    Examples
    --------
    >>> round(precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).average_precision, 4)
    0.8333
    """
    steps = ScoreSteps.of(y_true, y_score, pos_label, sample_weight)
    n_positive, n_negative = steps.totals
    predicted = steps.positives + steps.negatives
    precision = steps.positives / np.where(predicted > 0, predicted, 1.0)
    recall = np.ones(len(precision))
    if n_positive:
        recall = steps.positives / n_positive
    # average precision, Σ Δrecall · precision: a sum of steps, without interpolation
    area = float(np.diff(recall, prepend=0.0) @ precision)
    points = np.ones(len(precision), dtype=bool)
    if drop_intermediate:
        # between two thresholds that add no positive, recall stays and precision only falls
        rises = np.diff(steps.positives) > 0
        points[1:-1] = rises[:-1] | rises[1:]
    # from the lowest threshold to the highest, then the end where nothing is predicted positive
    return PrecisionRecall(
        np.append(precision[points][::-1], 1.0),
        np.append(recall[points][::-1], 0.0),
        steps.thresholds[points][::-1],
        area,
        ratio(n_positive, n_positive + n_negative),
    )


@dataclass(frozen=True, slots=True, eq=False)
class CostCurve(Printable):
    """Drummond and Holte's cost curve: the least expected cost in every operating condition.

    Attributes
    ----------
    probability_cost : ndarray of shape (m,)
        p c_fn / (p c_fn + (1-p) c_fp) for the class share p and two costs, from 0 to 1.
    cost : ndarray of shape (m,)
        Expected cost over its largest value, with the best threshold for that condition: the lower
        envelope of the lines (1 - tpr) x + fpr (1 - x).
    lines : ndarray of shape (h, 2)
        (fpr, miss rate) of the thresholds that are best for some x: the ends of their lines at x =
        0 and 1.
    thresholds : ndarray of shape (h,)
        The thresholds of the lines, falling; the larger the probability cost, the lower the best
        one.
    area : float
        Mean cost when every operating condition is equally likely; 0.25 for guessing.
    prevalence : float
        Share of positives among the rows.
    trivial : ndarray of shape (m,)
        The cost of always deciding for one class, the better of the two.

    See Also
    --------
    cost_curve : Makes it from labels and scores.
    RocCurve : The rates behind it.
    lyceum.decision.best_threshold : The best threshold for two costs.
    lyceum.plot.cost_curve : The curve as a picture.

    References
    ----------
    Drummond and Holte, Cost curves: an improved method for visualizing classifier performance,
    Machine Learning 65, 2006.

    Examples
    --------
    >>> from lyceum.evaluate import cost_curve
    >>> curve = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.lines.tolist()
    [[0.0, 1.0], [0.0, 0.5], [0.5, 0.0], [1.0, 0.0]]
    >>> curve.area  # of the triangle below x/2 and (1 - x)/2
    0.125
    >>> cost, threshold = curve.at(prevalence=0.5, cost_fn=4.0)
    >>> round(cost, 3), threshold
    (0.1, 0.35)
    """

    probability_cost: np.ndarray
    cost: np.ndarray
    lines: np.ndarray
    thresholds: np.ndarray
    area: float
    prevalence: float

    @property
    def trivial(self) -> np.ndarray:
        """The cost of always deciding for one class, the better of the two."""
        return np.minimum(self.probability_cost, 1.0 - self.probability_cost)

    def at(
        self, prevalence: float, cost_fn: float = 1.0, cost_fp: float = 1.0
    ) -> tuple[float, float]:
        """The least normalized cost and its threshold for a share of positives and two costs."""
        # every point of the ROC hull is a line in this space: cost(x) = miss x + fpr (1 - x)
        x = probability_cost(prevalence, cost_fn, cost_fp)
        fpr, miss = self.lines.T
        cost, best = _least_costs(fpr, miss, np.array([x]))
        return float(cost[0]), float(self.thresholds[best[0]])

    def summary(self) -> Summary:
        """The area, and where the score is better than one constant decision."""
        gain = self.trivial - self.cost
        # equal up to rounding is no gain
        useful = self.probability_cost[gain > 1e-12]
        if len(useful):
            where = f"{useful[0]:.3g} to {useful[-1]:.3g}"
        else:
            where = "nowhere"
        facts = {"area": self.area, "better than one constant decision": where}
        return Summary("cost curve", facts)


def probability_cost(
    prevalence: float, cost_fn: float = 1.0, cost_fp: float = 1.0
) -> float:
    """p c_fn / (p c_fn + (1-p) c_fp), class share and costs in one number; ½ when both costs are 0.

    Parameters
    ----------
    prevalence : float
        Share of positives p.
    cost_fn, cost_fp : float, default=1.0
        Cost of a false negative and of a false positive.

    Returns
    -------
    float

    See Also
    --------
    cost_curve : The least cost at every value.

    Examples
    --------
    >>> probability_cost(0.5, cost_fn=3.0)
    0.75
    """
    if not 0.0 <= prevalence <= 1.0 or cost_fn < 0.0 or cost_fp < 0.0:
        raise SettingError(
            f"prevalence {prevalence} must lie in [0, 1] and costs {cost_fn}, {cost_fp} be at"
            " least 0"
        )
    loss = prevalence * cost_fn
    return ratio(loss, loss + (1.0 - prevalence) * cost_fp, 0.5)


def cost_curve(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    n_points: int = 201,
) -> CostCurve:
    """The cost curve of a score: expected cost over all class shares and costs.

    Parameters
    ----------
    y_true : array-like of shape (n,), or scanned rows
        The true labels; rows stand for their target and carry their weights.
    y_score : array-like of shape (n,)
        Scores or posteriors, larger for the positive class; of (n, 2) posteriors the second column
        is taken.
    pos_label : label, optional
        The positive class; by default the larger of two labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    n_points : int, default=201
        Points of the curve, evenly spaced from 0 to 1.

    Returns
    -------
    CostCurve

    See Also
    --------
    probability_cost : The abscissa from a class share and two costs.
    lyceum.plot.cost_curve : The curve as a picture.

    References
    ----------
    Drummond and Holte, Cost curves: an improved method for visualizing classifier performance,
    Machine Learning 65, 2006.

    Examples
    --------
    >>> curve = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.at(prevalence=0.5)
    (0.25, 0.8)
    """
    curve = roc_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    hull = curve.hull
    fpr = curve.fpr[hull]
    miss = 1.0 - curve.tpr[hull]
    x = np.linspace(0.0, 1.0, n_points)
    cost, _ = _least_costs(fpr, miss, x)
    # the envelope is straight between the crossings: trapezoids there give its exact integral
    crossings = _crossings(fpr, miss)
    corners = np.unique(np.concatenate([[0.0], crossings, [1.0]]))
    corner_cost, _ = _least_costs(fpr, miss, corners)
    means = (corner_cost[1:] + corner_cost[:-1]) / 2.0
    return CostCurve(
        probability_cost=x,
        cost=cost,
        lines=np.column_stack([fpr, miss]),
        thresholds=curve.thresholds[hull],
        area=float((means * np.diff(corners)).sum()),
        prevalence=ratio(curve.n_positive, curve.n_positive + curve.n_negative),
    )


def _least_costs(
    fpr: np.ndarray, miss: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The lower envelope and which line forms it."""
    best = np.searchsorted(_crossings(fpr, miss), x, side="left")
    return miss[best] * x + fpr[best] * (1.0 - x), best


def _crossings(fpr: np.ndarray, miss: np.ndarray) -> np.ndarray:
    """Where line i+1 takes over from line i: Δfpr (1-x) = -Δmiss x; on a hull these rise."""
    across = np.diff(fpr)
    down = -np.diff(miss)
    both = across + down
    return np.divide(across, both, out=np.zeros_like(both), where=both > 0)

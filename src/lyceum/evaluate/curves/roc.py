"""ROC curves and the area under them, exact and fast: classes are sorted apart, without carrying
indices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.threads import ordered_map
from lyceum._core.types import Label, Target, Weights
from lyceum.errors import MissingValuesError, SettingError
from lyceum.evaluate.label_codes import (
    positive_mask,
    score_column,
    truth_and_weights,
    weights_of,
)
from lyceum.evaluate.printable import Unpackable
from lyceum.report import Summary

_FEW_POINTS = 1_000  # up to here the chain is as fast as array operations
_FEW_SCORES = 1 << 13  # they are sorted before another thread has woken up


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve(Unpackable):
    """True against false positive rate as the threshold falls.

    It unpacks as scikit-learn's: ``fpr, tpr, thresholds = roc_curve(y_true, y_score)``.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (m,)
        Rates when rows with a score of at least `thresholds` are predicted positive, from (0, 0) to
        (1, 1). The rate of a class without rows rises with the other, along the diagonal of chance.
    thresholds : ndarray of shape (m,)
        Falling; the first is infinite: nothing is predicted positive.
    auc : float
        Area under the curve: the chance that a positive scores above a negative, ties counting one
        half; one half when a class has no rows.
    n_positive, n_negative : float
        Rows of each class, or their weight.
    gini : float
        2 AUC - 1.
    hull : ndarray of int
        Indices of the points on the upper convex hull: the only ones that minimize some expected
        cost.

    See Also
    --------
    roc_curve : Makes it from labels and scores.
    AucInterval : The area with its uncertainty.
    CostCurve, PrecisionRecall : Other views of all thresholds.
    lyceum.plot.roc : The curve as a picture.

    References
    ----------
    Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.

    Examples
    --------
    >>> from lyceum.evaluate import roc_curve
    >>> curve = roc_curve(["no", "no", "yes", "yes"], [0.1, 0.4, 0.35, 0.8])
    >>> curve.auc, curve.gini                                     # 3 of 4 pairs are in order
    (0.75, 0.5)
    >>> [(float(curve.fpr[i]), float(curve.tpr[i])) for i in curve.hull]
    [(0.0, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """

    _derived = ("gini",)
    _unpacked = ("fpr", "tpr", "thresholds")

    fpr: np.ndarray
    tpr: np.ndarray
    thresholds: np.ndarray
    auc: float
    n_positive: float
    n_negative: float

    @property
    def gini(self) -> float:
        """2 AUC - 1."""
        return 2.0 * self.auc - 1.0

    @property
    def hull(self) -> np.ndarray:
        """Indices of the points on the upper convex hull: the only ones that minimize some expected
        cost."""
        return _upper_hull(self.fpr, self.tpr)

    def partial_auc(self, max_fpr: float, *, standardized: bool = True) -> float:
        """The area under the curve up to a false positive rate.

        Parameters
        ----------
        max_fpr : float in (0, 1]
            Where the area ends; the curve is a line between its points.
        standardized : bool, default=True
            McClish's ½ (1 + (area - a) / (b - a)), with a = max_fpr² / 2 that of chance and b =
            max_fpr the largest: ½ is chance and 1 is perfect. Without, the area itself.

        Returns
        -------
        float

        References
        ----------
        McClish, Analyzing a portion of the ROC curve, Medical Decision Making 9, 1989.
        """
        if not 0.0 < max_fpr <= 1.0:
            raise SettingError(f"max_fpr={max_fpr} must lie above 0, up to 1")
        inside = self.fpr <= max_fpr
        end = np.interp(max_fpr, self.fpr, self.tpr)
        x = np.append(self.fpr[inside], max_fpr)
        # where the curve rises at max_fpr itself, interp gives its top
        heights = np.append(self.tpr[inside], end)
        area = float(np.trapezoid(heights, x))
        if not standardized:
            return area
        chance = max_fpr**2 / 2.0
        return 0.5 * (1.0 + (area - chance) / (max_fpr - chance))

    def summary(self) -> Summary:
        """The area, and the threshold furthest from chance."""
        best = int(np.argmax(self.tpr - self.fpr))
        facts = {
            "AUC": self.auc,
            "positives": self.n_positive,
            "negatives": self.n_negative,
            "points": len(self.fpr),
            "furthest from chance": (
                f"threshold {self.thresholds[best]:.4g}: recall {self.tpr[best]:.3f}, "
                f"false positive rate {self.fpr[best]:.3f}"
            ),
        }
        return Summary("ROC curve", facts)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSteps:
    """Weight of positives and negatives at or above each distinct score, scores falling."""

    thresholds: np.ndarray  # (m,)
    positives: np.ndarray  # (m,) cumulative
    negatives: np.ndarray  # (m,) cumulative

    @classmethod
    def of(
        cls,
        y_true: Any,
        y_score: Any,
        pos_label: Any = None,
        sample_weight: Any = None,
    ) -> ScoreSteps:
        y_true, sample_weight = truth_and_weights(y_true, sample_weight)
        mask = positive_mask(y_true, pos_label)
        y_score = score_column(y_score, len(mask))
        w = weights_of(sample_weight, len(mask))
        if w is None:
            return cls._of_counts(*_sorted_classes(mask, y_score))
        return cls._of_weights(mask, y_score, w)

    @classmethod
    def _of_counts(cls, above: np.ndarray, below: np.ndarray) -> ScoreSteps:
        # Both classes come sorted, so that a stable sort only merges two runs, in linear time.
        # Where the falling order ends a run of ties, i + 1 rows stand at or above the threshold.
        both = np.concatenate([above, below])
        order = np.argsort(both, kind="stable")
        values = both[order][::-1]
        last = _last_of_ties(values)
        positives = np.cumsum(order[::-1] < len(above))[last]
        return cls(
            values[last],
            positives.astype(np.float64),
            (last + 1 - positives).astype(np.float64),
        )

    @classmethod
    def _of_weights(
        cls,
        mask: np.ndarray,
        y_score: np.ndarray,
        w: np.ndarray,
    ) -> ScoreSteps:
        used = w > 0.0
        mask = mask[used]
        y_score = y_score[used]
        w = w[used]
        refuse_missing_scores(y_score)
        order = np.argsort(y_score)[::-1]
        values = y_score[order]
        w_positive = np.where(mask, w, 0.0)[order]
        w_negative = np.where(mask, 0.0, w)[order]
        last = _last_of_ties(values)
        return cls(
            thresholds=values[last],
            positives=np.cumsum(w_positive)[last],
            negatives=np.cumsum(w_negative)[last],
        )

    @property
    def totals(self) -> tuple[float, float]:
        """Weight of all positives and of all negatives."""
        if not len(self.positives):
            return 0.0, 0.0
        return float(self.positives[-1]), float(self.negatives[-1])

    def area(self) -> float:
        """The area by trapezoids; one half when a class has no rows."""
        n_positive, n_negative = self.totals
        if not n_positive or not n_negative:
            return 0.5
        # Σ Δfp (tp + tp before) / 2 over all thresholds, divided by P N at the end: without
        # weights all terms are whole numbers, so that their sum is exact
        across = np.diff(self.negatives, prepend=0.0)
        below = np.append(0.0, self.positives[:-1])
        twice = (across * (self.positives + below)).sum()
        return float(twice / (2 * n_positive * n_negative))


def _last_of_ties(values: np.ndarray) -> np.ndarray:
    """Indices of the last of every run of equal values."""
    if not len(values):
        return np.empty(0, np.intp)
    ends = np.flatnonzero(values[1:] != values[:-1])
    return np.append(ends, len(values) - 1)


def refuse_missing_scores(y_score: np.ndarray) -> None:
    if y_score.dtype.kind == "f" and np.isnan(y_score).any():
        raise MissingValuesError(
            f"y_score has {int(np.isnan(y_score).sum())} missing values: leave those rows out"
        )


def _sorted_classes(
    mask: np.ndarray, y_score: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The scores of positives and of negatives, each sorted, on two threads if there are many."""

    def sorted_scores(positive: bool) -> np.ndarray:
        scores = y_score[mask if positive else ~mask]
        scores.sort()
        return scores

    apply = ordered_map if len(y_score) > _FEW_SCORES else map
    above, below = apply(sorted_scores, (True, False))
    for scores in (above, below):
        refuse_missing_scores(scores[-1:])  # NaN sorts last
    return above, below


def sorted_auc(above: np.ndarray, below: np.ndarray) -> float:
    """The area from the sorted scores of positives and negatives; one half when either is empty.

    With p the positives and n the negatives, AUC = Σ_p [#(n < p) + #(n <= p)] / (2 |p| |n|). In the
    stable merge of p before n, a positive stands at (its place among positives) + #(n < p); in that
    of n before p, #(n <= p) is added. Two merges of sorted runs take linear time, and integers keep
    the sum exact.
    """
    if not len(above) or not len(below):
        return 0.5

    def rank_sum(positives_first: bool) -> int:
        if positives_first:
            order = np.argsort(np.concatenate([above, below]), kind="stable")
            is_positive = order < len(above)
        else:
            order = np.argsort(np.concatenate([below, above]), kind="stable")
            is_positive = order >= len(below)
        return int(np.flatnonzero(is_positive).sum())

    # both sums hold Σ (place among positives) = |p| (|p| - 1) / 2, which is no win
    apply = ordered_map if len(above) + len(below) > _FEW_SCORES else map
    rank_sums = sum(apply(rank_sum, (True, False)))
    wins_twice = rank_sums - len(above) * (len(above) - 1)
    return wins_twice / (2 * len(above) * len(below))


def roc_auc_score(
    y_true: Target,
    y_score: Any,
    *,
    pos_label: Label = None,
    sample_weight: Weights = None,
    max_fpr: float | None = None,
) -> float:
    """The area under the ROC curve, P(score of a positive > score of a negative) + P(equal)/2.

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
    max_fpr : float in (0, 1], optional
        The area up to this false positive rate, standardized so that ½ is chance and 1 is perfect:
        `RocCurve.partial_auc`.

    Returns
    -------
    float
        Exact up to the last rounding; 0.5 when a class has no rows or all scores are equal.

    See Also
    --------
    roc_curve : The curve.
    auc_fawcett, auc_hand_till : Areas for more than two classes.

    References
    ----------
    Hanley and McNeil, The meaning and use of the area under a receiver operating characteristic
    (ROC) curve, Radiology 143, 1982.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    if max_fpr is not None:
        curve = roc_curve(
            y_true, y_score, pos_label=pos_label, sample_weight=sample_weight
        )
        return curve.partial_auc(max_fpr)
    y_true, sample_weight = truth_and_weights(y_true, sample_weight)
    if sample_weight is not None:
        return ScoreSteps.of(y_true, y_score, pos_label, sample_weight).area()
    mask = positive_mask(y_true, pos_label)
    return sorted_auc(*_sorted_classes(mask, score_column(y_score, len(mask))))


def roc_curve(
    y_true: Target,
    y_score: Target,
    *,
    pos_label: Label = None,
    sample_weight: Weights = None,
    drop_intermediate: bool = True,
) -> RocCurve:
    """The ROC curve of a score.

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
    drop_intermediate : bool, default=True
        Leave out points in the middle of two equal steps: the curve is the same.

    Returns
    -------
    RocCurve

    See Also
    --------
    roc_auc_score : The area alone, faster.
    cost_curve, precision_recall_curve : Other views of all thresholds.
    lyceum.plot.roc : The curve as a picture.

    Examples
    --------
    >>> curve = roc_curve(["no", "no", "yes", "yes"], [0.1, 0.4, 0.35, 0.8])
    >>> curve.fpr, curve.tpr, curve.auc
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]), 0.75)
    """
    steps = ScoreSteps.of(y_true, y_score, pos_label, sample_weight)
    n_positive, n_negative = steps.totals
    if not n_positive and not n_negative:
        chance = np.array([0.0, 1.0])
        return RocCurve(
            fpr=chance,
            tpr=chance,
            thresholds=np.array([np.inf, -np.inf]),
            auc=0.5,
            n_positive=0.0,
            n_negative=0.0,
        )
    points = np.ones(len(steps.thresholds), dtype=bool)
    if drop_intermediate:
        # a second difference of 0 in both coordinates: the point lies on a straight line
        turns_across = np.diff(steps.negatives, 2) != 0.0
        turns_up = np.diff(steps.positives, 2) != 0.0
        points[1:-1] = turns_across | turns_up
    tpr = np.append(0.0, steps.positives[points] / (n_positive or 1.0))
    fpr = np.append(0.0, steps.negatives[points] / (n_negative or 1.0))
    thresholds = steps.thresholds[points].astype(np.float64)
    thresholds = np.append(np.inf, thresholds)
    # the rate of a class without rows rises with the other
    if not n_positive:
        tpr = fpr
    if not n_negative:
        fpr = tpr
    return RocCurve(fpr, tpr, thresholds, steps.area(), n_positive, n_negative)


def _upper_hull(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Indices of the upper convex hull of points with x and y not falling.

    A point on or below the line between its neighbors is no corner, so that all such points are
    dropped at once, again and again while that drops many; Andrew's monotone chain takes the rest.
    """
    # of equal points the last stands for all, but of those equal to the first one the first
    repeats = (x == x[:1]) & (y == y[:1])
    same_x = x[:-1] == x[1:]
    same_y = y[:-1] == y[1:]
    repeats[:-1] |= same_x & same_y
    repeats[:1] = False
    points = np.flatnonzero(~repeats)
    while len(points) > _FEW_POINTS:
        px = x[points]
        py = y[points]
        left = slice(None, -2)
        right = slice(2, None)
        right_of = px[right] - px[left]
        above = py[right] - py[left]
        # below: the slope from the left neighbor is at most that of the line between the neighbors
        step_right = px[1:-1] - px[left]
        step_up = py[1:-1] - py[left]
        below = step_right * above >= step_up * right_of
        dropped = int(np.count_nonzero(below))
        points = points[np.concatenate([[True], ~below, [True]])]
        if dropped < 0.05 * len(px):
            break
    return points[_monotone_chain(x[points], y[points])]


def _monotone_chain(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Andrew's monotone chain, point by point."""
    hull: list[int] = []
    # plain floats: indexing arrays one value at a time takes several times as long
    px = x.tolist()
    py = y.tolist()
    for i in range(len(px)):
        while len(hull) > 1:
            a = hull[-2]
            b = hull[-1]
            # b is a corner while the slope from a to i is below that from a to b
            rise_to_i = (px[b] - px[a]) * (py[i] - py[a])
            rise_to_b = (py[b] - py[a]) * (px[i] - px[a])
            if rise_to_i < rise_to_b:
                break
            hull.pop()
        hull.append(i)
    return np.array(hull, dtype=np.intp)

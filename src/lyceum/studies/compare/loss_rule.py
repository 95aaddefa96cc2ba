"""The loss of a study: what every decision costs, and what settings are chosen by."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.statistics import log_losses
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.studies.plan.ranking_metric import RankingMetric


@dataclass(frozen=True, eq=False)
class LossRule:
    """The study's own loss of a row, and what the inner folds choose settings by.

    Classification: the cost of the minimum-risk decision, 0/1 without a loss matrix. Settings are
    chosen by the same cost, or by log loss without loss matrix and doubt, because it sees more than
    right and wrong. Regression: squared error for both. With a `metric`, losses are such that their
    mean is that metric, and settings are chosen by the absolute or the pinball loss where it asks
    for these.

    Parameters
    ----------
    n_classes : int or None
        None for regression.
    loss : LossMatrix or None, default=None
        Rows are true classes, columns are actions; None is 0/1.
    doubt : float or None, default=None
        The cost of rejecting a row; None if rows are not rejected.
    metric : RankingMetric or None, default=None
        What learners are ranked by; None is the cost, or the squared error.
    variance : float, default=1.0
        Of the target, for R².
    """

    n_classes: int | None
    loss: LossMatrix | None = None
    doubt: float | None = None
    metric: RankingMetric | None = None
    variance: float = 1.0

    def decide(self, predicted: np.ndarray) -> np.ndarray:
        """The index of the action of least risk for every row, -1 for doubt."""
        return minimum_risk(predicted, self.loss, self.doubt).index

    def named_class(self, actions: np.ndarray) -> np.ndarray:
        """The code of the class that every action names, -1 for doubt and for actions that name
        none."""
        assert self.n_classes is not None
        if self.loss is None:
            names = np.arange(self.n_classes)
        else:
            names = self.loss.names_class
        # the last name is that of the action -1, doubt
        return np.append(names, -1)[actions]

    def cost(self, y: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The cost of every action."""
        if self.loss is None:
            costs = (y != actions).astype(np.float64)
        else:
            costs = self.loss.values[y, actions]
        if self.doubt is None:
            return costs
        return np.where(actions < 0, self.doubt, costs)

    def losses(
        self, y: np.ndarray, predicted: np.ndarray, w: np.ndarray | None = None
    ) -> np.ndarray:
        """The loss of every row of one fold; their mean with the weights w is what learners are
        ranked by."""
        if self.n_classes is None:
            return self._errors(y, predicted)
        name = self._metric_name
        if name == "log loss":
            return log_losses(y, predicted)
        # AUC and F1 are of all rows of the fold together, so that weights bear on every loss
        weight = row_weights(w, len(y))
        if name == "auc":
            return auc_losses(y, predicted, weight)
        decided = self.decide(predicted)
        if name == "f1":
            return f1_losses(y, self.named_class(decided), weight)
        if name == "error":
            return (self.named_class(decided) != y).astype(np.float64)
        return self.cost(y, decided)

    def can_judge(self, y: np.ndarray) -> bool:
        """Whether rows with these targets can tell the loss: AUC takes two classes."""
        return self._metric_name != "auc" or len(np.unique(y)) > 1

    @property
    def _metric_name(self) -> str | None:
        return None if self.metric is None else self.metric.name

    def _errors(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """The loss of every number."""
        short = y - predicted
        name = self._metric_name
        if name == "mae":
            return np.abs(short)
        if name == "pinball":
            # τ per unit that the prediction is too low, 1 − τ per unit that it is too high
            assert self.metric is not None
            quantile = self.metric.quantile
            return np.where(short > 0, quantile, quantile - 1.0) * short
        # R² is 1 − the mean of squares over the variance
        return short**2 / (self.variance if name == "r2" else 1.0)

    def inner_losses(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """The loss of every row by which the inner folds choose settings."""
        if self.n_classes is None:
            return self._errors(y, predicted)
        if self._searches_by_cost:
            return self.losses(y, predicted)
        return log_losses(y, predicted)

    @property
    def _searches_by_cost(self) -> bool:
        by_cost = self._metric_name in (None, "cost")
        return by_cost and (self.loss is not None or self.doubt is not None)

    @property
    def inner_criterion(self) -> str:
        """The name of the loss of classes by which the inner folds choose settings and maps."""
        if self._searches_by_cost:
            return "mean cost"
        return "log loss"

    @property
    def criterion(self) -> str:
        """The name of the loss for people: "RMSE", "error rate", "mean cost" or that of the
        metric."""
        if self.metric is not None and self.metric.name != "cost":
            return self.metric.criterion
        if self.n_classes is None:
            return "RMSE"
        if self.loss is None and self.doubt is None:
            return "error rate"
        return "mean cost"

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible value of what learners are ranked by."""
        name = self._metric_name
        if self.n_classes is None or name == "log loss":
            return 0.0, np.inf
        if name in ("auc", "f1", "error"):
            return 0.0, 1.0
        if self.loss is None:
            costs = [0.0, 1.0]
        else:
            costs = [self.loss.values.min(), self.loss.values.max()]
        if self.doubt is not None:
            costs.append(self.doubt)
        return float(min(costs)), float(max(costs))

    @property
    def is_root(self) -> bool:
        """Whether learners are ranked by the root of the mean loss."""
        return self.n_classes is None and self._metric_name in (None, "rmse")

    @property
    def is_rate(self) -> bool:
        """Whether every loss is 0 or 1."""
        by_count = self.loss is None and self.doubt is None
        name = self._metric_name
        return name == "error" or (name in (None, "cost") and by_count)

    @property
    def is_bounded(self) -> bool:
        """Whether the loss of a row by itself has bounds, as those of AUC and F1 have not."""
        by_rank = self._metric_name in ("auc", "f1")
        return bool(np.isfinite(self.range[1])) and not by_rank

    @property
    def is_cost(self) -> bool:
        """Whether learners are ranked by the cost of decisions, or by squared errors."""
        names = (None, "cost", "balanced error", "rmse")
        by_cost = self._metric_name in names
        return by_cost or (self.is_rate and self.loss is None)


# -- AUC and F1 as losses of rows ------------------------------------------------------
#
# Both are functions of all rows together. A row's loss is the value plus N times the change of the
# value when the row weighs more (its influence): the mean of the losses is 1 − AUC or 1 − F1, and
# their spread is its standard error, so that intervals and paired tests over rows hold for them
# too. For AUC the standard error is DeLong's.


def auc_losses(y: np.ndarray, posteriors: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Losses with the mean 1 − AUC; for more than two classes Hand and Till's mean over pairs of
    classes.

    >>> y, p = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.4, 0.9])
    >>> float(auc_losses(y, np.column_stack([1 - p, p]), np.ones(4)).mean())
    0.25
    """
    pairs = list(itertools.combinations(np.unique(y).tolist(), 2))
    if not pairs:
        return np.full(len(y), 0.5)  # one class: nothing to rank
    total = np.zeros(len(y))
    for low, high in pairs:
        rows = np.flatnonzero((y == low) | (y == high))
        # of two classes one score says all; of more, each class has its own
        scores = [posteriors[rows, high]]
        if posteriors.shape[1] > 2:
            scores.append(-posteriors[rows, low])
        pair_losses = [
            _pair_losses(y[rows] == high, score, w[rows], w.sum()) for score in scores
        ]
        value = float(np.mean([area for area, _ in pair_losses]))
        part = np.full(len(y), value)
        part[rows] += np.mean([influence for _, influence in pair_losses], axis=0)
        total += part
    return total / len(pairs)


def _pair_losses(
    upper: np.ndarray, score: np.ndarray, w: np.ndarray, all_weight: float
) -> tuple[float, np.ndarray]:
    """1 − AUC, and the influence of every row, from the share of the other class on the wrong side
    of it."""
    # wrong_i: the weighted share of the other class whose score is on the wrong side of that of
    # row i, ties by half. Its mean over either class is 1 − AUC.
    wrong = np.empty(len(score))
    for mine, sign in ((upper, 1.0), (~upper, -1.0)):
        s = sign * score[mine]
        other = sign * score[~mine]
        v = w[~mine]
        order = np.argsort(other, kind="stable")
        at_most = np.append(0.0, np.cumsum(v[order]))
        below = at_most[np.searchsorted(other[order], s, side="left")]
        upto = at_most[np.searchsorted(other[order], s, side="right")]
        wrong[mine] = 1.0 - 0.5 * (below + upto) / at_most[-1]
    area = float(np.average(wrong[upper], weights=w[upper]))
    # ∂ area / ∂ w_i = (wrong_i − area) / W, with W the weight of the class of row i; times N = Σ w
    weight_of_class = np.where(upper, w[upper].sum(), w[~upper].sum())
    return area, (wrong - area) * all_weight / weight_of_class


def f1_losses(y: np.ndarray, named: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Losses with the mean 1 − F1, F1 = 2 TP / (2 TP + FP + FN) averaged over the classes that
    occur.

    >>> y, named = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> round(1 - float(f1_losses(y, named, np.ones(4)).mean()), 4)
    0.7333
    """
    present = np.unique(y)
    total = np.zeros(len(y))
    for k in present:
        true = (y == k).astype(np.float64)
        assigned = (named == k).astype(np.float64)
        both = 2.0 * true * assigned
        either = true + assigned
        size = float(w @ either)
        f1 = float(w @ both) / size
        # F1 = Σ w both / Σ w either, and ∂ F1 / ∂ w_i = (both_i − F1 either_i) / Σ w either
        total += 1.0 - f1 - (both - f1 * either) * w.sum() / size
    return total / len(present)

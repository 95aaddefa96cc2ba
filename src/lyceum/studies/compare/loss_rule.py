"""The loss of a study: what every decision costs, and what settings are chosen by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum._core.data import row_weights
from lyceum._core.statistics import log_losses
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.studies.compare.rank_losses import auc_losses, f1_losses
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
        if self.metric is None:
            name = None
        else:
            name = self.metric.name
        if self.n_classes is None:
            return self._errors(y, predicted)
        if name == "log loss":
            return log_losses(y, predicted)
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
        ranks = self.metric is not None and self.metric.name == "auc"
        return not ranks or len(np.unique(y)) > 1

    def _errors(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """The loss of every number."""
        short = y - predicted
        if self.metric is None:
            name = "rmse"
        else:
            name = self.metric.name
        if name == "mae":
            return np.abs(short)
        if name == "pinball":
            assert self.metric is not None
            return (
                np.where(short > 0, self.metric.quantile, self.metric.quantile - 1.0)
                * short
            )
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
        by_cost = self.metric is None or self.metric.name == "cost"
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
        if self.metric is None:
            name = None
        else:
            name = self.metric.name
        if self.n_classes is None or name == "log loss":
            return 0.0, np.inf
        if name in ("auc", "f1", "error"):
            return 0.0, 1.0
        if self.loss is None:
            costs = [0.0, 1.0]
        else:
            costs = [self.loss.values.min(), self.loss.values.max()]
        costs += [] if self.doubt is None else [self.doubt]
        return float(min(costs)), float(max(costs))

    @property
    def is_root(self) -> bool:
        """Whether learners are ranked by the root of the mean loss."""
        return self.n_classes is None and (
            self.metric is None or self.metric.name == "rmse"
        )

    @property
    def is_rate(self) -> bool:
        """Whether every loss is 0 or 1."""
        if self.metric is None:
            name = "cost"
        else:
            name = self.metric.name
        return name == "error" or (
            name == "cost" and self.loss is None and self.doubt is None
        )

    @property
    def is_bounded(self) -> bool:
        """Whether the loss of a row by itself has bounds, as those of AUC and F1 have not."""
        rank = self.metric is not None and self.metric.name in ("auc", "f1")
        return bool(np.isfinite(self.range[1])) and not rank

    @property
    def is_cost(self) -> bool:
        """Whether learners are ranked by the cost of decisions, or by squared errors."""
        names = ("cost", "balanced error", "rmse")
        return (
            self.metric is None
            or self.metric.name in names
            or (self.is_rate and self.loss is None)
        )

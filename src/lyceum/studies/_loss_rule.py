"""The loss of a study: what every decision costs, and what settings are chosen by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lyceum.decision import LossMatrix, minimum_risk

__all__ = ["LossRule", "weighted_mean"]


@dataclass(frozen=True, eq=False)
class LossRule:
    """The study's own loss of a row, and what the inner folds choose settings by.

    Classification: the cost of the minimum-risk decision, 0/1 without a loss matrix. Settings are chosen by
    the same cost, or by log loss without loss matrix and doubt, because it sees more than right and wrong.
    Regression: squared error for both.

    Parameters
    ----------
    n_classes : int or None
        None for regression.
    loss : LossMatrix or None, default=None
        Rows are true classes, columns are actions; None is 0/1.
    doubt : float or None, default=None
        The cost of rejecting a row; None if rows are not rejected.
    """

    n_classes: int | None
    loss: LossMatrix | None = None
    doubt: float | None = None

    def decide(self, predicted: np.ndarray) -> np.ndarray:
        """The index of the action of least risk for every row, -1 for doubt."""
        return minimum_risk(predicted, self.loss, self.doubt).index

    def named_class(self, actions: np.ndarray) -> np.ndarray:
        """The code of the class that every action names, -1 for doubt and for actions that name none."""
        assert self.n_classes is not None
        names = np.arange(self.n_classes) if self.loss is None else self.loss.names_class
        return np.append(names, -1)[actions]

    def cost(self, y: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The cost of every action."""
        costs = (y != actions).astype(np.float64) if self.loss is None else self.loss.values[y, actions]
        return costs if self.doubt is None else np.where(actions < 0, self.doubt, costs)

    def losses(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """The loss of every row."""
        if self.n_classes is None:
            return (y - predicted) ** 2
        return self.cost(y, self.decide(predicted))

    def inner_losses(self, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """The loss of every row by which the inner folds choose settings."""
        if self.n_classes is None or self.loss is not None or self.doubt is not None:
            return self.losses(y, predicted)
        chosen = predicted[np.arange(len(y)), y]
        return -np.log(np.maximum(chosen, np.finfo(np.float64).eps))

    @property
    def criterion(self) -> str:
        """The name of the loss for people: "RMSE", "error rate" or "mean cost"."""
        if self.n_classes is None:
            return "RMSE"
        return "error rate" if self.loss is None and self.doubt is None else "mean cost"

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible loss of a row."""
        if self.n_classes is None:
            return 0.0, np.inf
        costs = [0.0, 1.0] if self.loss is None else [self.loss.values.min(), self.loss.values.max()]
        costs += [] if self.doubt is None else [self.doubt]
        return float(min(costs)), float(max(costs))


def weighted_mean(values: np.ndarray, w: np.ndarray | None) -> float:
    """The mean of values with weights w (None: all 1)."""
    return float(values.mean()) if w is None else float(values @ w / w.sum())

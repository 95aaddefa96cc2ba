"""The weights of the rows from round to round of AdaBoost."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, log

import numpy as np

__all__ = ["Rule", "Weights"]


@dataclass(frozen=True)
class Rule:
    """From the error ε of a round to its α, for K classes of equal standing.

    α = ν/2 · [ln((1 − ε)/ε) + ln(K − 1)], which is positive below the error of chance, 1 − 1/K. AdaBoost.M1 is
    K = 2 whatever the number of classes: it wants members that are right more often than not.
    """

    n_classes: int
    learning_rate: float

    @property
    def chance(self) -> float:
        return 1.0 - 1.0 / self.n_classes

    def alpha(self, error: float) -> float:
        odds = (1.0 - error) / error if error > 0.0 else inf
        return 0.5 * self.learning_rate * log(odds * (self.n_classes - 1)) if odds > 0.0 else -inf

    def factors(self, alpha: float) -> tuple[float, float]:
        """What the exponential loss of a row that is right and of one that is wrong is multiplied by."""
        K = self.n_classes
        return exp(-2.0 * alpha * (K - 1) / K), exp(2.0 * alpha / K)


@dataclass
class Weights:
    """The weights D of the rows, which sum to 1, and the votes on them so far."""

    start: np.ndarray  # (n,) sums to 1
    target: np.ndarray  # (n,) class codes
    n_classes: int
    rule: Rule
    now: np.ndarray = field(init=False)
    votes: np.ndarray = field(init=False)  # (n, K), or (n,) of the second of two classes against the first
    loss: float = 1.0
    _losses: np.ndarray | None = None  # of every row, once D has been reset

    def __post_init__(self) -> None:
        self.now = self.start.copy()
        self.votes = np.zeros(len(self.start) if self.n_classes == 2 else (len(self.start), self.n_classes))
        self._rows = np.arange(len(self.start))

    def update(self, codes: np.ndarray, wrong: np.ndarray, error: float, alpha: float) -> None:
        """After a member that predicts `codes`, and is `wrong` (0 or 1) on weight `error`."""
        self._vote(codes, alpha)
        right_by, wrong_by = self.rule.factors(alpha)
        if self._losses is None:
            self.loss *= (1.0 - error) * right_by + error * wrong_by
        else:
            self._losses *= right_by + (wrong_by - right_by) * wrong
            self.loss = float(self._losses.sum())
        # D ∝ D exp(2α [wrong]), with the right ones lowered instead, which cannot overflow
        least = exp(-2.0 * alpha)
        self.now *= least + (1.0 - least) * wrong
        self.now /= self.now.sum()

    def _vote(self, codes: np.ndarray, alpha: float) -> None:
        if self.n_classes == 2:
            self.votes += alpha * (2.0 * codes - 1.0)
        else:
            self.votes[self._rows, codes] += 2.0 * alpha

    def reset(self) -> None:
        """Back to the weights of the first round; the votes stay."""
        if self._losses is None:
            self._losses = self.loss * self.now
        self.now = self.start.copy()

    @property
    def training_error(self) -> float:
        """The weight of the rows that the members so far get wrong together."""
        predicted = self.votes > 0 if self.n_classes == 2 else self.votes.argmax(axis=1)
        return float(self.start @ (predicted != self.target))

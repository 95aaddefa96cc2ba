"""Losses that gradient boosting goes down on: their best constants, gradients, and values of
leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from lyceum._core.native import native
from lyceum._core.statistics import weighted_quantile
from lyceum._core.threads import n_threads
from lyceum.errors import DataError

_SMALL = 1 << 14  # rows for which precision is worth more than speed
_UNEVEN = 64.0  # how much the largest weight may exceed the mean for packed gradients


class Loss(ABC):
    """A loss of targets y with weights w, scores being (n_scores, n).

    `begin(scores)` begins a round and returns the summed loss; `gradients(scores, k)` are those by
    the scores of output k, with hessians or None where these are one. They are bounded by `tops`
    (0: not known).
    """

    n_scores = 1
    tops: tuple[float, float] = (0.0, 0.0)

    def __init__(self, y: np.ndarray, w: np.ndarray | None) -> None:
        # kernels read blocks without gaps
        self.y = np.ascontiguousarray(y)
        self.w = None if w is None else np.ascontiguousarray(w)
        self.weight = float(len(y) if w is None else w.sum())
        self.largest_weight = 1.0
        if w is not None:
            self.largest_weight = float(w.max(initial=0.0))
        self.g = np.empty(len(y))

    @abstractmethod
    def baseline(self) -> np.ndarray:
        """The best constant scores, (n_scores,)."""

    @abstractmethod
    def begin(self, scores: np.ndarray) -> float:
        """Begin a round; returns the summed loss of the scores."""

    @abstractmethod
    def gradients(
        self,
        scores: np.ndarray,
        k: int,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Gradients and hessians by the scores of output k."""

    @property
    def is_exact(self) -> bool:
        """Whether gradients need more than the packed form has: few rows, or uneven weights."""
        n = len(self.y)
        return n <= _SMALL or self.largest_weight * n > _UNEVEN * self.weight

    def leaf_value(self, rows: np.ndarray, scores: np.ndarray) -> float | None:
        """The best constant for the rows of a leaf, or None: the Newton step −Σg / (Σh + λ)."""
        return None

    def mean(self, scores: np.ndarray) -> float:
        """The weighted mean loss of the scores."""
        return self.begin(scores) / self.weight

    def take(self, rows: np.ndarray) -> Self:
        """The same loss of some of the rows, with what it has found in this round."""
        w = None if self.w is None else self.w[rows]
        some = copy(self)
        # buffers of their own
        for name, values in vars(self).items():
            if isinstance(values, np.ndarray):
                setattr(some, name, values[rows].copy())
        Loss.__init__(some, self.y[rows], w)
        return some


class Residual(Loss):
    """Losses of the residual r = score − y: the hessian is the weight."""

    alpha = 0.0
    # whether a quantile between two values is their mean, or the lower one
    average = True
    kernel: ClassVar[Any]

    def begin(self, scores: np.ndarray) -> float:
        return type(self).kernel(
            self.y, scores[0], self.w, self.alpha, n_threads(), self.g
        )

    def gradients(
        self,
        scores: np.ndarray,
        k: int,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        return self.g, self.w

    @property
    def is_exact(self) -> bool:
        # weighted gradients have no bound, and a single large one would leave few bits for the
        # others
        return self.w is not None or len(self.y) <= _SMALL

    def _quantile(
        self,
        values: np.ndarray,
        rows: Any,
        q: float,
    ) -> float:
        w = None if self.w is None else self.w[rows]
        return weighted_quantile(values, w, q, self.average)

    def _constant(self, q: float) -> np.ndarray:
        """The quantile of all targets."""
        if self.w is None and not self.average:
            return np.array([np.quantile(self.y, q)])
        return np.array([self._quantile(self.y, slice(None), q)])


class Squared(Residual):
    """½ (y − s)²."""

    kernel = staticmethod(native.boost_squared)

    def baseline(self) -> np.ndarray:
        return np.array([np.average(self.y, weights=self.w)])


class Quantile(Residual):
    """q max(y − s, 0) + (1 − q) max(s − y, 0): a leaf takes the q-quantile of its residuals."""

    kernel = staticmethod(native.boost_quantile)

    def __init__(
        self,
        y: np.ndarray,
        w: np.ndarray | None,
        alpha: float = 0.5,
    ) -> None:
        super().__init__(y, w)
        self.alpha = alpha

    def baseline(self) -> np.ndarray:
        return self._constant(self.alpha)

    def leaf_value(self, rows: np.ndarray, scores: np.ndarray) -> float:
        return self._quantile(self.y[rows] - scores[0, rows], rows, self.alpha)


class Absolute(Quantile):
    """|y − s|: a leaf takes the median of its residuals."""

    def __init__(
        self,
        y: np.ndarray,
        w: np.ndarray | None,
        alpha: float = 0.5,
    ) -> None:
        super().__init__(y, w, 0.5)

    def begin(self, scores: np.ndarray) -> float:
        return 2.0 * super().begin(scores)


class Huber(Residual):
    """½ r² up to δ, δ (|r| − δ/2) beyond, δ being the α-quantile of |r|, found anew in every round.

    A leaf takes its median r̃ of the residuals, moved by the mean of sign(r − r̃) min(δ, |r − r̃|)
    (Friedman 2001).
    """

    kernel = staticmethod(native.boost_huber)

    def __init__(
        self,
        y: np.ndarray,
        w: np.ndarray | None,
        alpha: float = 0.9,
    ) -> None:
        super().__init__(y, w)
        self.share: float | None = alpha

    def baseline(self) -> np.ndarray:
        return self._constant(0.5)

    def begin(self, scores: np.ndarray) -> float:
        if self.share is not None:
            errors = np.abs(self.y - scores[0])
            self.alpha = self._quantile(errors, slice(None), self.share)
        return super().begin(scores)

    def take(self, rows: np.ndarray) -> Self:
        some = super().take(rows)
        some.share = None  # δ is that of all rows
        return some

    def leaf_value(self, rows: np.ndarray, scores: np.ndarray) -> float:
        residuals = self.y[rows] - scores[0, rows]
        median = self._quantile(residuals, rows, 0.5)
        moved = np.clip(residuals - median, -self.alpha, self.alpha)
        w = None
        if self.w is not None:
            w = self.w[rows]
        return median + float(np.average(moved, weights=w))


class _OfLogarithm(Loss):
    """Losses of positive means: the score is the logarithm of the mean."""

    needs: ClassVar[str]  # what targets must be, in scikit-learn's words

    def __init__(self, y: np.ndarray, w: np.ndarray | None) -> None:
        super().__init__(y, w)
        self.h = np.empty(len(y))
        if not self._takes(y):
            raise DataError(f"loss={self.needs}")

    @classmethod
    @abstractmethod
    def _takes(cls, y: np.ndarray) -> bool:
        """Whether these may be targets."""

    @property
    def is_exact(self) -> bool:
        return True  # gradients have no bound

    def baseline(self) -> np.ndarray:
        return np.array([np.log(np.average(self.y, weights=self.w))])

    def gradients(
        self,
        scores: np.ndarray,
        k: int,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        return self.g, self.h

    def _weighted(self, values: np.ndarray) -> np.ndarray:
        return values if self.w is None else self.w * values


class Poisson(_OfLogarithm):
    """Half the Poisson deviance of counts, exp(s) − y s: g = exp(s) − y, h = exp(s)."""

    needs = "'poisson' requires non-negative y and sum(y) > 0."

    @classmethod
    def _takes(cls, y: np.ndarray) -> bool:
        return bool((y >= 0).all() and y.sum() > 0)

    def begin(self, scores: np.ndarray) -> float:
        mean = np.exp(scores[0])
        self.g[:] = self._weighted(mean - self.y)
        self.h[:] = self._weighted(mean)
        return float(self._weighted(mean - self.y * scores[0]).sum())


class Gamma(_OfLogarithm):
    """Half the gamma deviance of positive numbers, s + y exp(−s): g = 1 − y exp(−s), h = y
    exp(−s)."""

    needs = "'gamma' requires strictly positive y."

    @classmethod
    def _takes(cls, y: np.ndarray) -> bool:
        return bool((y > 0).all())

    def begin(self, scores: np.ndarray) -> float:
        ratio = self.y * np.exp(-scores[0])
        self.g[:] = self._weighted(1.0 - ratio)
        self.h[:] = self._weighted(ratio)
        return float(self._weighted(scores[0] + ratio).sum())


REGRESSION_LOSSES: dict[str, Any] = {
    "squared_error": Squared,
    "absolute_error": Absolute,
    "gamma": Gamma,
    "huber": Huber,
    "poisson": Poisson,
    "quantile": Quantile,
}
LOG_LINKS = ("gamma", "poisson")


class Logistic(Loss):
    """−log P(y | s) for two classes, P(second) = 1 / (1 + exp(−s)): g = P − y, h = P (1 − P)."""

    def __init__(self, y: np.ndarray, w: np.ndarray | None) -> None:
        super().__init__(y, w)
        self.h = np.empty(len(y))
        # |g| ≤ w and P (1 − P) ≤ ¼
        self.tops = (self.largest_weight, 0.25 * self.largest_weight)

    def baseline(self) -> np.ndarray:
        share = float(np.average(self.y, weights=self.w))
        return np.array([_log(share) - _log(1.0 - share)])

    def begin(self, scores: np.ndarray) -> float:
        return native.boost_logistic(
            self.y, scores[0], self.w, n_threads(), self.g, self.h
        )

    def gradients(
        self,
        scores: np.ndarray,
        k: int,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        return self.g, self.h


class Exponential(Loss):
    """AdaBoost's loss of two classes, exp(−s) or exp(s): the score is half the log-odds."""

    def __init__(self, y: np.ndarray, w: np.ndarray | None) -> None:
        super().__init__(y, w)
        self.h = np.empty(len(y))
        self.sign = np.where(y > 0, 1.0, -1.0)

    def baseline(self) -> np.ndarray:
        share = float(np.average(self.y, weights=self.w))
        return np.array([0.5 * (_log(share) - _log(1.0 - share))])

    def begin(self, scores: np.ndarray) -> float:
        self.h[:] = np.exp(-self.sign * scores[0])
        if self.w is not None:
            self.h *= self.w
        self.g[:] = -self.sign * self.h
        return float(self.h.sum())

    def gradients(
        self,
        scores: np.ndarray,
        k: int,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        return self.g, self.h


class Multinomial(Loss):
    """−log P(y | s), P the softmax of K scores: g_k = P_k − [y = k], h_k = P_k (1 − P_k) K / (K −
    1).

    The factor is Friedman's (K − 1) / K on the steps: the K trees of a round are found side by
    side, each as if the others stood still, and what is common to all scores changes nothing.
    """

    def __init__(
        self,
        y: np.ndarray,
        w: np.ndarray | None,
        n_classes: int,
    ) -> None:
        super().__init__(y, w)
        self.n_scores = n_classes
        self.h = np.empty(len(y))
        self.log_sums = np.empty(len(y))
        top = self.largest_weight
        self.tops = (top, 0.25 * top * n_classes / (n_classes - 1))

    def baseline(self) -> np.ndarray:
        shares = np.bincount(self.y, self.w, minlength=self.n_scores) / self.weight
        return np.array([_log(share) for share in shares])

    def begin(self, scores: np.ndarray) -> float:
        return native.boost_log_sums(self.y, scores, self.w, n_threads(), self.log_sums)

    def gradients(
        self,
        scores: np.ndarray,
        k: int,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        native.boost_softmax(
            self.y, scores, self.log_sums, self.w, k, n_threads(), self.g, self.h
        )
        return self.g, self.h


def _log(share: float) -> float:
    """The logarithm of a share, of one that no row has as if it were very small."""
    return float(np.log(max(share, 1e-15)))


def class_loss(y: np.ndarray, w: np.ndarray | None, n_classes: int) -> Loss:
    """The log loss of class codes: of one score for two classes, of one score per class for
    more."""
    if n_classes > 2:
        return Multinomial(y, w, n_classes)
    return Logistic(y, w)

"""Losses of the margin m = y f(x), with y of -1 and 1: what a row costs that is m on its own
side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from lyceum.errors import SettingError, number_setting, undefined


class MarginLoss:
    """A loss of the margin with its first two derivatives, and whether it can be trained with."""

    formula: ClassVar[str]
    convex: ClassVar[bool] = True

    def value(self, m: np.ndarray) -> np.ndarray:
        raise undefined(self, "value")

    def slope(self, m: np.ndarray) -> np.ndarray:
        return np.zeros_like(m)

    def curvature(self, m: np.ndarray) -> np.ndarray:
        return np.zeros_like(m)

    def continuous_curvature(self, m: np.ndarray) -> np.ndarray:
        """The curvature, where it jumps or is that of a corner as the mean over margins nearby."""
        return self.curvature(m)


class _ZeroOne(MarginLoss):
    formula = "1 if m ≤ 0"
    convex = False

    def value(self, m: np.ndarray) -> np.ndarray:
        return (m <= 0).astype(np.float64)


class _Hinge(MarginLoss):
    formula = "max(0, 1 - m)"

    def value(self, m: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - m)

    def slope(self, m: np.ndarray) -> np.ndarray:
        return -(m < 1).astype(np.float64)

    def continuous_curvature(self, m: np.ndarray) -> np.ndarray:
        # the corner's curvature is δ(m - 1), and a triangle estimates the density of margins there
        return np.maximum(0.0, 1.0 - np.abs(1.0 - m))


class _SquaredHinge(MarginLoss):
    formula = "max(0, 1 - m)²"

    def value(self, m: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1.0 - m) ** 2

    def slope(self, m: np.ndarray) -> np.ndarray:
        return -2.0 * np.maximum(0.0, 1.0 - m)

    def curvature(self, m: np.ndarray) -> np.ndarray:
        return 2.0 * (m < 1)

    def continuous_curvature(self, m: np.ndarray) -> np.ndarray:
        # the jump from 2 to 0 at m = 1 as a slope from m = ½ to 1½
        return 2.0 * np.clip(1.5 - m, 0.0, 1.0)


class _LogisticOfMargin(MarginLoss):
    formula = "log(1 + exp(-m))"

    def value(self, m: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -m)

    def slope(self, m: np.ndarray) -> np.ndarray:
        return -expit(-m)

    def curvature(self, m: np.ndarray) -> np.ndarray:
        return expit(m) * expit(-m)


class _Exponential(MarginLoss):
    formula = "exp(-m)"

    def value(self, m: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(-m)

    def slope(self, m: np.ndarray) -> np.ndarray:
        return -self.value(m)

    # L'' = L
    curvature = value


class _SquareOfMargin(MarginLoss):
    formula = "(1 - m)²"

    def value(self, m: np.ndarray) -> np.ndarray:
        return (1.0 - m) ** 2

    def slope(self, m: np.ndarray) -> np.ndarray:
        return 2.0 * (m - 1.0)

    def curvature(self, m: np.ndarray) -> np.ndarray:
        return np.full_like(m, 2.0)


LOSSES: dict[str, MarginLoss] = {
    "zero_one": _ZeroOne(),
    "hinge": _Hinge(),
    "squared_hinge": _SquaredHinge(),
    "logistic": _LogisticOfMargin(),
    "exponential": _Exponential(),
    "squared": _SquareOfMargin(),
}


@dataclass(frozen=True, slots=True)
class SmoothHinge:
    """The hinge with its corner rounded over a width: never above the hinge, and at most width/2
    below it."""

    width: float

    def value(self, m: np.ndarray) -> np.ndarray:
        # a parabola over the width below the corner, then a line of slope -1
        short = np.clip(1.0 - m, 0.0, None)
        parabola = short**2 / (2 * self.width)
        return np.where(short < self.width, parabola, short - self.width / 2)

    def slope(self, m: np.ndarray) -> np.ndarray:
        return -np.clip((1.0 - m) / self.width, 0.0, 1.0)

    def curvature(self, m: np.ndarray) -> np.ndarray:
        return ((m < 1) & (m > 1 - self.width)) / self.width


def margin_loss(margin: Any, loss: str = "hinge") -> np.ndarray:
    """The loss of every margin: "zero_one", "hinge", "squared_hinge", "logistic", "exponential" or
    "squared".

    Zero-one counts mistakes, a margin of zero among them. All others, logistic over log 2, lie
    above it, so that making them small makes mistakes few; `lyceum.plot.margin_losses` draws them.

    >>> margins = [-1.0, 0.0, 2.0]
    >>> margin_loss(margins, "hinge").tolist(), margin_loss(margins, "zero_one").tolist()
    ([2.0, 1.0, 0.0], [1.0, 1.0, 0.0])
    """
    if loss not in LOSSES:
        raise SettingError(f"loss={loss!r}: choose one of {', '.join(LOSSES)}")
    return LOSSES[loss].value(number_setting("margin", margin))

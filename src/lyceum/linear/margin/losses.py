"""Losses of the margin m = y f(x), with y of -1 and 1: what a row costs that is m on its own
side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from lyceum.errors import SettingError, number_setting


@dataclass(frozen=True, slots=True)
class MarginLoss:
    """A loss of the margin with its first two derivatives, and whether it can be trained with."""

    name: str
    formula: str
    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    curvature: Callable[[np.ndarray], np.ndarray]
    convex: bool = True
    spread_curvature: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def continuous_curvature(self) -> Callable[[np.ndarray], np.ndarray]:
        """The curvature, where it jumps or is that of a corner as the mean over margins nearby."""
        return self.spread_curvature or self.curvature


def _zero(m: np.ndarray) -> np.ndarray:
    return np.zeros_like(m)


def _exponential(m: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.exp(-m)


def _minus_exponential(m: np.ndarray) -> np.ndarray:
    return -_exponential(m)


def _logistic_slope(m: np.ndarray) -> np.ndarray:
    return -expit(-m)


def _logistic_curvature(m: np.ndarray) -> np.ndarray:
    return expit(m) * expit(-m)


def _wrong(m: np.ndarray) -> np.ndarray:
    return (m <= 0).astype(np.float64)


def _hinge(m: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, 1.0 - m)


def _hinge_slope(m: np.ndarray) -> np.ndarray:
    return -(m < 1).astype(np.float64)


def _squared_hinge(m: np.ndarray) -> np.ndarray:
    return _hinge(m) ** 2


def _squared_hinge_slope(m: np.ndarray) -> np.ndarray:
    return -2.0 * _hinge(m)


def _squared_hinge_curvature(m: np.ndarray) -> np.ndarray:
    return 2.0 * (m < 1)


def _about_corner(m: np.ndarray) -> np.ndarray:
    """The hinge's corner at m = 1, of curvature δ(m - 1), by a triangle: an estimate of a
    density."""
    return np.maximum(0.0, 1.0 - np.abs(1.0 - m))


def _about_jump(m: np.ndarray) -> np.ndarray:
    return 2.0 * np.clip(1.5 - m, 0.0, 1.0)


def _log_loss(m: np.ndarray) -> np.ndarray:
    return np.logaddexp(0.0, -m)


def _square(m: np.ndarray) -> np.ndarray:
    return (1.0 - m) ** 2


def _square_slope(m: np.ndarray) -> np.ndarray:
    return 2.0 * (m - 1.0)


def _two(m: np.ndarray) -> np.ndarray:
    return np.full_like(m, 2.0)


LOSSES: dict[str, MarginLoss] = {
    loss.name: loss
    for loss in (
        MarginLoss("zero_one", "1 if m ≤ 0", _wrong, _zero, _zero, convex=False),
        MarginLoss(
            "hinge",
            "max(0, 1 - m)",
            _hinge,
            _hinge_slope,
            _zero,
            spread_curvature=_about_corner,
        ),
        MarginLoss(
            "squared_hinge",
            "max(0, 1 - m)²",
            _squared_hinge,
            _squared_hinge_slope,
            _squared_hinge_curvature,
            spread_curvature=_about_jump,
        ),
        MarginLoss(
            "logistic",
            "log(1 + exp(-m))",
            _log_loss,
            _logistic_slope,
            _logistic_curvature,
        ),
        MarginLoss(
            "exponential", "exp(-m)", _exponential, _minus_exponential, _exponential
        ),
        MarginLoss("squared", "(1 - m)²", _square, _square_slope, _two),
    )
}


@dataclass(frozen=True, slots=True)
class SmoothHinge:
    """The hinge with its corner rounded over a width: never above the hinge, and at most width/2
    below it."""

    width: float

    def value(self, m: np.ndarray) -> np.ndarray:
        short = np.clip(1.0 - m, 0.0, None)
        return np.where(
            short < self.width, short**2 / (2 * self.width), short - self.width / 2
        )

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

"""The weights of rows in a neighborhood, by their distance and a bandwidth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def _inside(u: np.ndarray) -> np.ndarray:
    return np.clip(1.0 - u, 0.0, None)


def _inverse(power: int) -> Callable[[np.ndarray], np.ndarray]:
    def weigh(u: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return 1.0 / u**power

    return weigh


# of u = d / h
KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "uniform": np.ones_like,
    "gaussian": lambda u: np.exp(-(u**2) / 2.0),
    "exponential_square": lambda u: np.exp(-(u**2)),
    "tricube": lambda u: _inside(u**3) ** 3,
    "epanechnikov": lambda u: _inside(u**2),
    "inverse": _inverse(1),
    "inverse_square": _inverse(2),
    "shifted_inverse_square": lambda u: 1.0 / (1.0 + u) ** 2,
}


def criterion(kernel: str, everyone: bool) -> str:
    """Which squared errors a local fit minimizes, by the customary name.

    >>> criterion("uniform", False)
    'E1: the k nearest rows alike'
    """
    if everyone:
        return "E2: all rows with a kernel"
    if kernel == "uniform":
        return "E1: the k nearest rows alike"
    return "E3: the k nearest rows with a kernel"


def kernel_weights(
    kernel: str, distances: np.ndarray, bandwidth: np.ndarray
) -> np.ndarray:
    """The weights of rows at some distances, (n, k), for a bandwidth per query, (n,).

    Where weights are infinite (an exact hit of 1/d), those rows count alone; where all vanish,
    those at the smallest distance do.

    >>> kernel_weights("tricube", np.array([[0.0, 1.0, 2.0]]), np.array([2.0])).round(4).tolist()
    [[1.0, 0.6699, 0.0]]
    >>> kernel_weights("inverse", np.array([[0.0, 1.0]]), np.array([1.0])).tolist()
    [[1.0, 0.0]]
    """
    h = np.where(bandwidth > 0, bandwidth, 1.0)[:, None]
    weights = KERNELS[kernel](distances / h)
    weights = np.where(np.isfinite(distances), weights, 0.0)
    # 1/u is infinite at an exact hit, which then counts alone
    hits = np.isposinf(weights)
    weights = np.where(hits.any(axis=1, keepdims=True), hits, weights)
    # where all weights are 0 or underflow, the nearest rows count
    lost = ~(weights.max(axis=1, initial=0.0) > 1e-250)
    nearest = distances[lost].min(axis=1, keepdims=True, initial=np.inf)
    weights[lost] = distances[lost] == nearest
    return weights

"""Kernels of the distance between two rows, and sums of them over all stored rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from lyceum._core.data import row_weights
from lyceum._core.distances import Euclidean, Metric, pairwise_blocks


@dataclass(frozen=True, slots=True)
class RadialKernel:
    """A kernel k(r) of the distance r in units of the bandwidth, k(0) = 1.

    `log_value(r)` is log k, `log_radial(d)` the logarithm of ∫ r^(d-1) k(r) dr over all r ≥ 0, and
    `lengths(random, n, d)` draws distances of the density r^(d-1) k(r).
    """

    log_value: Callable[[np.ndarray], np.ndarray]
    log_radial: Callable[[int], float]
    lengths: Callable[[np.random.RandomState, int, int], np.ndarray]

    def log_mass(self, d: int) -> float:
        """The logarithm of the integral of k(|u|) over d columns: with the surface of the unit
        ball, 2 π^(d/2) / Γ(d/2)."""
        half = 0.5 * d
        surface = np.log(2.0) + half * np.log(np.pi) - gammaln(half)
        return float(surface) + self.log_radial(d)

    def noise(
        self, random: np.random.RandomState, shape: tuple[int, int]
    ) -> np.ndarray:
        """Differences of two rows drawn from the kernel under the Euclidean distance."""
        directions = random.standard_normal(shape)
        lengths = self.lengths(random, *shape)
        return directions * (lengths / np.linalg.norm(directions, axis=1))[:, None]


def _log_within(value: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """log value(r) for r < 1, -inf beyond."""

    def log_value(r: np.ndarray) -> np.ndarray:
        inside = r < 1.0
        values = value(np.where(inside, r, 0.0))
        return np.where(inside, np.log(values), -np.inf)

    return log_value


def _cosine_radial(d: int) -> float:
    # Gauss's rule, whose error is below rounding for the cosine times r^(d-1)
    nodes, weights = np.polynomial.legendre.leggauss(16 + d)
    r = 0.5 * (nodes + 1.0)
    values = r ** (d - 1) * np.cos(0.5 * np.pi * r)
    return float(np.log(0.5 * weights @ values))


def _cosine_lengths(random: np.random.RandomState, n: int, d: int) -> np.ndarray:
    # under r^(d-1) (1 - r) π / 2, which is nowhere below r^(d-1) cos(π r / 2)
    drawn = np.empty(0)
    while len(drawn) < n:
        r = random.beta(d, 2.0, n)
        ratio = np.cos(0.5 * np.pi * r) / (0.5 * np.pi * (1.0 - r))
        drawn = np.append(drawn, r[random.uniform(size=n) < ratio])
    return drawn[:n]


DISTANCE_KERNELS = {
    "gaussian": RadialKernel(
        lambda r: -0.5 * r**2,
        lambda d: float((0.5 * d - 1.0) * np.log(2.0) + gammaln(0.5 * d)),
        lambda random, n, d: np.sqrt(random.chisquare(d, n)),
    ),
    # 1 in the ball
    "tophat": RadialKernel(
        _log_within(np.ones_like),
        lambda d: -float(np.log(d)),
        lambda random, n, d: random.uniform(size=n) ** (1.0 / d),
    ),
    # 1 - r²
    "epanechnikov": RadialKernel(
        _log_within(lambda r: 1.0 - r**2),
        lambda d: float(np.log(2.0) - np.log(d) - np.log(d + 2.0)),
        lambda random, n, d: np.sqrt(random.beta(0.5 * d, 2.0, n)),
    ),
    # exp(-r)
    "exponential": RadialKernel(
        lambda r: -r,
        lambda d: float(gammaln(d)),
        lambda random, n, d: random.gamma(d, size=n),
    ),
    # 1 - r
    "linear": RadialKernel(
        _log_within(lambda r: 1.0 - r),
        lambda d: -float(np.log(d) + np.log(d + 1.0)),
        lambda random, n, d: random.beta(d, 2.0, n),
    ),
    # cos(π r / 2)
    "cosine": RadialKernel(
        _log_within(lambda r: np.cos(0.5 * np.pi * r)),
        _cosine_radial,
        _cosine_lengths,
    ),
}


class DistanceSums:
    """log f(x) = log Σ_i w_i k(d(x / h, x_i / h)) / (W · mass · Π_j h_j), over all rows.

    The mass is that of the kernel under the Euclidean distance, as scikit-learn has it for every
    metric.
    """

    def __init__(
        self,
        rows: np.ndarray,
        w: np.ndarray | None,
        bandwidth: np.ndarray,
        kernel: str,
        metric: Metric | None = None,
    ):
        self.w = row_weights(w, len(rows))
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.metric = metric or Euclidean()
        self.Z = np.ascontiguousarray(rows / bandwidth)
        mass = DISTANCE_KERNELS[kernel].log_mass(rows.shape[1])
        self.scale = -mass - float(np.log(bandwidth).sum())

    def log_density(self, X: np.ndarray) -> np.ndarray:
        """log f of every row of X."""
        log_sums = self._log_sums(X / self.bandwidth, leaves_own=False)
        return log_sums + (self.scale - np.log(self.w.sum()))

    def leave_rows_out(self) -> np.ndarray:
        """log f of every stored row given the others: each is left out with its total weight."""
        rest = self.w.sum() - self.w
        log_rest = np.log(rest, out=np.zeros_like(rest), where=rest > 0)
        return self._log_sums(self.Z, leaves_own=True) + (self.scale - log_rest)

    def _log_sums(self, Z: np.ndarray, leaves_own: bool) -> np.ndarray:
        out = np.empty(len(Z))
        log_value = DISTANCE_KERNELS[self.kernel].log_value
        Z = np.ascontiguousarray(Z, dtype=np.float64)
        for rows, D in pairwise_blocks(Z, self.Z, metric=self.metric):
            with np.errstate(divide="ignore"):
                logs = log_value(np.asarray(D, dtype=np.float64))
            if leaves_own:
                numbers = np.arange(rows.start, rows.stop)
                logs[numbers - rows.start, numbers] = -np.inf
            with np.errstate(divide="ignore"):
                out[rows] = logsumexp(logs, axis=1, b=self.w)
        return out

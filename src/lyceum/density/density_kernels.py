"""The kernels of density estimation in one column: their heights at 0, integrals and random
numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtr, sici


@dataclass(frozen=True, slots=True)
class DensityKernel:
    """One kernel k(u): its value at 0, its integral up to u, and `noise(random, shape)` drawn from
    it.

    u is a difference in units of the bandwidth, and k integrates to 1. The kernel of several
    columns is the product over the columns, unless it is radial: of the distance |u| alone.
    """

    peak: float  # in one column
    cdf: Callable[[np.ndarray], np.ndarray]
    noise: Callable[[np.random.RandomState, tuple[int, ...]], np.ndarray]
    radial: bool = False

    def log_peak(self, n_columns: int, power: float = 1.0) -> float:
        """log k(0) in several columns; of a radial kernel (1 - |u|²)^power, whose integral is 1."""
        if not self.radial:
            return n_columns * float(np.log(self.peak))
        half = 0.5 * n_columns
        return float(
            gammaln(power + 1 + half) - gammaln(power + 1) - half * np.log(np.pi)
        )


def _cumulative(
    half: Callable[[np.ndarray], np.ndarray], end: float = 1.0
) -> Callable[[np.ndarray], np.ndarray]:
    """½ ± the integral from 0 to |u|, for a symmetric kernel that ends at `end`."""
    return lambda u: 0.5 + np.sign(u) * half(np.minimum(np.abs(u), end))


def _sinc2_half(u: np.ndarray) -> np.ndarray:
    # ∫ (1 - cos t) / (π t²) dt = (Si(u) - (1 - cos u) / u) / π
    finite = np.where(np.isfinite(u) & (u > 0), u, 1.0)
    sine_integral, _ = sici(finite)
    half = (sine_integral - (1.0 - np.cos(finite)) / finite) / np.pi
    half = np.where(np.isinf(u), 0.5, half)
    return np.where(u == 0, 0.0, half)


def _rejection_sample(
    random: np.random.RandomState,
    shape: tuple[int, ...],
    propose: Callable[[np.random.RandomState, int], tuple],
) -> np.ndarray:
    """Rejection sampling: `propose(random, n)` gives n values and the probability of accepting
    each."""
    out = np.empty(int(np.prod(shape)))
    done = 0
    while done < len(out):
        values, probability = propose(random, len(out) - done + 16)
        accepted = values[random.uniform(size=len(values)) < probability]
        accepted = accepted[: len(out) - done]
        out[done : done + len(accepted)] = accepted
        done += len(accepted)
    return out.reshape(shape)


def _propose_sinc2(
    random: np.random.RandomState, n: int
) -> tuple[np.ndarray, np.ndarray]:
    # under min(1, 4/u²): half of it uniform on [-2, 2], half in the tails, where 2/U has the
    # density 2/u²
    u = np.where(
        random.uniform(size=n) < 0.5,
        random.uniform(-2, 2, n),
        2.0 / random.uniform(-1, 1, n),
    )
    half = 0.5 * u
    return u, np.sin(half) ** 2 / np.minimum(half**2, 1.0)


def _propose_tricube(
    random: np.random.RandomState, n: int
) -> tuple[np.ndarray, np.ndarray]:
    u = random.uniform(-1, 1, n)
    return u, (1.0 - np.abs(u) ** 3) ** 3


def _epanechnikov_noise(
    random: np.random.RandomState, shape: tuple[int, ...]
) -> np.ndarray:
    # of three uniform numbers, the last unless it is the largest, else the second (Devroye)
    a, b, c = np.abs(random.uniform(-1, 1, (3, *shape)))
    size = np.where((c >= a) & (c >= b), b, c)
    return size * random.choice([-1.0, 1.0], shape)


def _radial_noise(random: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    # |u|² of the density (1 - |u|²) in d columns has the beta distribution (d/2, 2)
    direction = random.standard_normal(shape)
    length = np.sqrt(random.beta(0.5 * shape[-1], 2.0, shape[:-1]))
    return direction * (length / np.linalg.norm(direction, axis=-1))[..., None]


KERNELS = {
    # 1 for |u| <= 1/2: a hypercube of side h
    "parzen": DensityKernel(
        1.0,
        _cumulative(lambda u: u, 0.5),
        lambda random, shape: random.uniform(-0.5, 0.5, shape),
    ),
    # exp(-u²/2) / sqrt(2π)
    "gaussian": DensityKernel(
        1 / np.sqrt(2 * np.pi),
        ndtr,
        lambda random, shape: random.standard_normal(shape),
    ),
    # exp(-2|u|)
    "laplace": DensityKernel(
        1.0,
        _cumulative(lambda u: 0.5 * -np.expm1(-2.0 * u), np.inf),
        lambda random, shape: random.laplace(scale=0.5, size=shape),
    ),
    # 1 / (π (1 + u²))
    "cauchy": DensityKernel(
        1 / np.pi,
        _cumulative(lambda u: np.arctan(u) / np.pi, np.inf),
        lambda random, shape: random.standard_cauchy(shape),
    ),
    # (sin(u/2) / (u/2))² / 2π
    "sinc2": DensityKernel(
        1 / (2 * np.pi),
        _cumulative(_sinc2_half, np.inf),
        lambda random, shape: _rejection_sample(random, shape, _propose_sinc2),
    ),
    # ¾ (1 - u²)
    "product_epanechnikov": DensityKernel(
        0.75, _cumulative(lambda u: 0.75 * (u - u**3 / 3)), _epanechnikov_noise
    ),
    # c (1 - |u|²) in the ball |u| < 1, c = (d + 2) / (2 · its volume)
    "epanechnikov": DensityKernel(
        0.75, _cumulative(lambda u: 0.75 * (u - u**3 / 3)), _radial_noise, radial=True
    ),
    # 70/81 (1 - |u|³)³
    "tricube": DensityKernel(
        70 / 81,
        _cumulative(lambda u: 70 / 81 * (u - 3 * u**4 / 4 + 3 * u**7 / 7 - u**10 / 10)),
        lambda random, shape: _rejection_sample(random, shape, _propose_tricube),
    ),
    # 1 - |u|
    "triangular": DensityKernel(
        1.0,
        _cumulative(lambda u: u - u**2 / 2),
        lambda random, shape: random.uniform(-0.5, 0.5, (2, *shape)).sum(0),
    ),
}

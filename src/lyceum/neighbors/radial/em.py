"""Radial units as a mixture: rows and targets come from hidden units, found by
expectation-maximization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.data import Block
from lyceum._core.solvers import EMProblem, Expectation
from lyceum._core.statistics import PositiveFactor
from lyceum.neighbors.radial.units import RadialUnits

_FLOOR = 1e-6  # of variances, in units of those of all rows


@dataclass(frozen=True)
class UnitMixture:
    """Parameters: shares π_j, centers, widths, models a_j + B_j z and noise τ_j of every unit."""

    shares: np.ndarray
    centers: np.ndarray
    widths: np.ndarray
    models: np.ndarray  # (m, 1 or 1 + d, K)
    noise: np.ndarray  # (m,)
    n_undetermined: int = 0  # terms of all models that the rows do not determine

    def units(self, linear: bool) -> RadialUnits:
        """As normalized units: H_j ∝ π_j N(z | c_j, s_j²)."""
        d = self.centers.shape[1]
        K = self.models.shape[2]
        gains = np.log(np.maximum(self.shares, 1e-300)) - d * np.log(self.widths)
        return RadialUnits(
            centers=self.centers,
            widths=self.widths,
            log_gains=gains - gains.max(),
            normalized=True,
            linear=linear,
            weights=self.models,
            bias=np.zeros(K),
            n_undetermined=self.n_undetermined,
        )

    def log_joint(self, Z: np.ndarray, T: np.ndarray, U: np.ndarray) -> np.ndarray:
        """log π_j N(z | c_j, s_j² I) N(t | a_j + B_j z, τ_j² I) of rows z, targets t, terms u."""
        d = Z.shape[1]
        K = T.shape[1]
        squares = ((Z[:, None] - self.centers) ** 2).sum(axis=2)
        predicted = np.einsum("iu,juk->ijk", U, self.models)
        errors = ((T[:, None] - predicted) ** 2).sum(axis=2)
        return (
            np.log(np.maximum(self.shares, 1e-300))
            - 0.5 * squares / self.widths**2
            - d * np.log(self.widths)
            - 0.5 * errors / self.noise**2
            - K * np.log(self.noise)
            - 0.5 * (d + K) * np.log(2 * np.pi)
        )


@dataclass(frozen=True)
class _UnitSums:
    """Responsibilities times 1, z, |z|², terms of the models and targets; adds up."""

    parts: tuple[np.ndarray, ...]

    def merge(self, other: _UnitSums) -> _UnitSums:
        return _UnitSums(tuple(a + b for a, b in zip(self.parts, other.parts)))


class RadialMixture(EMProblem):
    """p(z, t) = Σ_j π_j N(z | c_j, s_j² I) N(t | a_j + B_j z, τ_j² I), as EM sees it.

    Rows are in units of about 1 and about 0; targets too.
    """

    def __init__(self, linear: bool, shared: bool, alpha: float):
        self.linear = linear
        self.shared = shared
        self.alpha = alpha

    def expectation(self, block: Block, parameters: UnitMixture) -> Expectation:
        """E-step: the responsibilities of the units for every row and its target."""
        d = parameters.centers.shape[1]
        Z = np.asarray(block.X)[:, :d]
        T = np.asarray(block.X)[:, d:]
        w = block.weights
        U = self._terms(Z)
        joint = parameters.log_joint(Z, T, U)
        # R = w p(j | z, t), and log p(z, t) by the largest term first, against underflow
        top = joint.max(axis=1, keepdims=True)
        R = np.exp(joint - top)
        total = R.sum(axis=1, keepdims=True)
        log_p = (top + np.log(total))[:, 0]
        R = R / total * w[:, None]
        sums = (
            R.sum(axis=0),
            R.T @ Z,
            R.T @ (Z**2).sum(axis=1),
            np.einsum("ij,iu,iv->juv", R, U, U),
            np.einsum("ij,iu,ik->juk", R, U, T),
            R.T @ (T**2).sum(axis=1),
        )
        return Expectation(_UnitSums(sums), float(w @ log_p), float(w.sum()))

    def maximization(self, statistic: Any) -> UnitMixture:
        """M-step: means, spreads and weighted least squares."""
        n, sz, szz, UU, UT, tt = statistic.parts
        d = sz.shape[1]
        K = UT.shape[2]
        safe = np.maximum(n, 1e-12)
        # E|z|² - |E z|², per column: rows are scaled, so that few digits cancel
        centers = sz / safe[:, None]
        spread = np.maximum(szz / safe - (centers**2).sum(axis=1), 0.0) / d
        if self.shared:
            spread = np.full(len(n), float(n @ spread) / n.sum())
        factors = [self._factor(A) for A in UU]
        models = np.stack([factor.solve(B) for factor, B in zip(factors, UT)])
        # Σ r |t - Mᵀu|² = Σ r |t|² - 2 tr(Mᵀ UT) + tr(Mᵀ UU M), from the sums alone
        squared = (
            tt
            - 2 * np.einsum("juk,juk->j", models, UT)
            + np.einsum("juk,juv,jvk->j", models, UU, models)
        )
        noise = np.maximum(squared / (safe * K), _FLOOR)
        lacking = sum(UU.shape[1] - factor.rank for factor in factors)
        widths = np.sqrt(np.maximum(spread, _FLOOR))
        return UnitMixture(
            shares=n / n.sum(),
            centers=centers,
            widths=widths,
            models=models,
            noise=np.sqrt(noise),
            n_undetermined=lacking,
        )

    def _factor(self, A: np.ndarray) -> PositiveFactor:
        """A, factored, with a ridge in units of the columns for all but the constant."""
        ridge = self.alpha * np.diag(A)
        ridge[0] = 0.0
        return PositiveFactor.of(A + np.diag(ridge))

    def start(self, units: RadialUnits, K: int, spread: float) -> UnitMixture:
        """From centers and widths, with constant models of the mean target."""
        m, d = units.centers.shape
        n_terms = 1 + d if self.linear else 1
        return UnitMixture(
            shares=np.full(m, 1 / m),
            centers=units.centers,
            widths=units.widths,
            models=np.zeros((m, n_terms, K)),
            noise=np.full(m, max(spread, 1e-3)),
        )

    def _terms(self, Z: np.ndarray) -> np.ndarray:
        one = np.ones((len(Z), 1))
        if self.linear:
            return np.concatenate([one, Z], axis=1)
        return one

"""Cross-validation of regularized covariances from the statistics of folds, without a fit from
rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.probability import RIDGE, class_priors, log_probability
from lyceum._core.statistics import UNEXPLAINED, ClassScatter, Folds, SplitStatistics

_ROWS = 256  # scored together: what they need stays in the cache


def combine_covariances(
    scatter: np.ndarray,
    weight: np.ndarray,
    alpha: float,
    lost_degrees: int = 0,
    pooling: str = "weighted",
) -> np.ndarray:
    """Σ_k(α) = [(1-α) S_k + α S] / [(1-α) n_k + α N] for every class, with S and N the sums over
    the classes.

    With pooling="convex" it is (1-α) S_k / n_k + α S / N.
    `lost_degrees` is subtracted from every n_k, so that 1 gives the unbiased divisors n_k - 1 and N
    - K. A class without scatter of its own, as one of a single row, gets the pooled covariance when
    α is 0.
    """
    # n_k, its α and N as columns beside the scatters (K, d, d)
    left = np.maximum(weight - lost_degrees, 0.0)[:, None, None]
    total = max(weight.sum() - lost_degrees * (weight > 0).sum(), 0.0)
    pooled = scatter.sum(axis=0)
    has_scatter = scatter.any(axis=(1, 2), keepdims=True) & (left > 0)
    alphas = np.where(has_scatter, alpha, alpha or 1.0)
    if pooling == "convex":
        own = np.divide(scatter, left, out=np.zeros_like(scatter), where=left > 0)
        shared = np.zeros_like(pooled)
        if total > 0:
            shared = pooled / total
        return (1.0 - alphas) * own + alphas * shared
    divisor = (1.0 - alphas) * left + alphas * total
    mixed = (1.0 - alphas) * scatter + alphas * pooled
    return np.divide(mixed, divisor, out=np.zeros_like(mixed), where=divisor > 0)


@dataclass(frozen=True, slots=True)
class FoldRules:
    """The rules of all pairs (α, γ), one for every fold left out, by eigenvectors that no γ
    changes.

    With Σ_k(α) = D U Λ Uᵀ D, where D is the identity, or the standard deviations when the target is
    the diagonal, (1-γ) Σ_k(α) + γ target = D U [(1-γ) Λ + γ t] Uᵀ D. So z = Uᵀ D⁻¹ (x - μ_k) serves
    every γ.
    """

    folds: Folds
    seen: np.ndarray  # (folds, K) whether the class has rows in the other folds
    means: np.ndarray  # (folds, K, d)
    turn: np.ndarray  # (folds, alphas, K, d, d): z = (x - mean) @ turn
    precision: np.ndarray  # (folds, alphas, K, d, gammas)
    constant: np.ndarray  # (folds, alphas, K, gammas)

    @classmethod
    def of(
        cls,
        folds: Folds,
        statistics: SplitStatistics,
        alphas: np.ndarray,
        gammas: np.ndarray,
        settings: RuleSettings,
    ) -> FoldRules:
        others = [train for train, _ in statistics.pairs]
        parts = [
            [settings.rules(other, alpha, gammas) for alpha in alphas]
            for other in others
        ]
        # turn, precision and constant, each over folds and alphas
        stacked = [
            np.array([[rule[i] for rule in row] for row in parts]) for i in range(3)
        ]
        seen = np.array([other.weight > 0 for other in others])
        means = np.array([other.mean for other in others])
        return cls(folds, seen, means, *stacked)

    def log_joint(self, X: np.ndarray, fold: int) -> np.ndarray:
        """The log joint densities of rows of a fold under the rules without it, (alphas, n, gammas,
        K)."""
        alphas, K, d, gammas = self.precision.shape[1:]
        joint = np.empty((alphas, len(X), gammas, K))
        for k in range(K):
            # one product for all alphas: the columns of their turns side by side
            turns = np.ascontiguousarray(self.turn[fold, :, k].transpose(1, 0, 2))
            z = (X - self.means[fold, k]) @ turns.reshape(d, alphas * d)
            z *= z
            squares = z.reshape(len(X), alphas, d).transpose(1, 0, 2)
            norms = np.matmul(squares, self.precision[fold, :, k])
            constant = self.constant[fold, :, k, None]
            np.subtract(constant, 0.5 * norms, out=joint[..., k])
        return joint


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """Class priors, divisors and target of the shrinkage, the same for all folds."""

    priors: Any
    prior_alpha: Any
    unbiased: bool
    shrinkage: str
    pooling: str = "weighted"
    # columns in which no row differs, after a rotation of fewer rows than columns
    beyond: int = 0

    def rules(
        self, statistic: ClassScatter, alpha: float, gammas: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Turn, precision and constant of every class for one α and every γ."""
        weight, _, scatter = statistic.over_classes()
        total_variance = np.divide(
            scatter, weight, out=np.zeros_like(scatter), where=weight > 0
        )
        seen = statistic.weight > 0
        log_priors = np.full(len(seen), -np.inf)
        if seen.any():  # the other folds may have no row with a positive weight
            priors = class_priors(statistic.weight, self.priors, self.prior_alpha)
            log_priors[seen] = log_probability(priors)[seen]
        covariances = combine_covariances(
            statistic.scatter, statistic.weight, alpha, int(self.unbiased), self.pooling
        )
        spectra = [
            _spectrum(S, total_variance, self.shrinkage, gammas, self.beyond)
            for S in covariances
        ]
        turn, precision, log_det = map(np.array, zip(*spectra))
        return turn, precision, log_priors[:, None] - 0.5 * log_det


def _spectrum(
    covariance: np.ndarray,
    total_variance: np.ndarray,
    shrinkage: str,
    gammas: np.ndarray,
    beyond: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D⁻¹ U (d, d), 1 / [(1-γ) λ + γ t] (d, gammas), and the log determinants (gammas,).

    A column without variance over all rows has zeros in D⁻¹; on the diagonal of the matrix it
    stands as t, so that it can be taken out of the determinant again.
    """
    # M = D⁻¹ Σ D⁻¹, with D the deviations where the target is the diagonal: it is then I
    varies = total_variance > 0
    variance = np.diag(covariance)
    scale = np.ones_like(total_variance)
    if shrinkage == "diagonal":
        scale = np.sqrt(np.where(variance > 0, variance, total_variance))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)
    M = covariance * inverse * inverse[:, None]
    target, size = _target_and_size(M, total_variance, shrinkage, beyond)
    if shrinkage == "diagonal":
        np.fill_diagonal(M, 1.0)
    else:
        M[~varies, ~varies] = target
    # ln |(1-γ) Σ + γ target| = Σ_j ln [(1-γ) λ_j + γ t] + 2 Σ_j ln D_j, over the columns that vary
    values, U = np.linalg.eigh(M)
    values = np.append(np.maximum(values, 0.0), 0.0)  # the last for what is beyond
    shrunk = np.multiply.outer(values, 1.0 - gammas) + gammas * target
    shrunk = np.where(shrunk < UNEXPLAINED * size, shrunk + RIDGE * size, shrunk)
    log_det = np.log(shrunk[:-1]).sum(axis=0) + beyond * np.log(shrunk[-1])
    log_scale = 2.0 * np.log(scale[varies]).sum()
    log_det += log_scale - (~varies).sum() * np.log(target)
    return inverse[:, None] * U, 1.0 / shrunk[:-1], log_det


def _target_and_size(
    M: np.ndarray, total_variance: np.ndarray, shrinkage: str, beyond: int
) -> tuple[float, float]:
    """t, and the size of the eigenvalues, which says which of them are next to 0."""
    if shrinkage == "diagonal":
        return 1.0, 1.0
    size = np.trace(M) / max((total_variance > 0).sum() + beyond, 1)
    if not size > 0:
        size = max(total_variance.max(initial=0.0), 1.0)
    if shrinkage == "identity":
        return size, size
    return 1.0, size


@dataclass(frozen=True, slots=True)
class FoldLoss:
    """The summed loss of every pair (α, γ) on rows that were left out, and their weight."""

    loss: np.ndarray  # (alphas, gammas)
    weight: float

    @classmethod
    def of(cls, block: Block, rules: FoldRules, scoring: str) -> FoldLoss:
        assert block.y is not None
        shape = (rules.constant.shape[1], rules.constant.shape[3])
        total = cls(np.zeros(shape), 0.0)
        for f, tested in enumerate(rules.folds.test_rows(block)):
            # no rule can know a class whose rows are all in this fold, and -1 is no class
            learned = rules.seen[f, np.maximum(block.y, 0)]
            scored = tested & learned & (block.y >= 0)
            part = block.take(scored)
            y = block.y[scored]
            w = part.weights
            for start in range(0, len(part), _ROWS):
                rows = slice(start, start + _ROWS)
                loss = _LOSSES[scoring](rules.log_joint(part.X[rows], f), y[rows])
                weighted = np.einsum("n,ang->ag", w[rows], loss)
                total = total.merge(cls(weighted, float(w[rows].sum())))
        return total

    def merge(self, other: FoldLoss) -> FoldLoss:
        return FoldLoss(self.loss + other.loss, self.weight + other.weight)


def _log_loss(joint: np.ndarray, y: np.ndarray) -> np.ndarray:
    """-log P(y | x) of every row under every pair, (alphas, n, gammas)."""
    native.log_posterior(joint.reshape(-1, joint.shape[-1]))
    return -np.take_along_axis(joint, y[None, :, None, None], axis=3)[..., 0]


def _error(joint: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (joint.argmax(axis=-1) != y[:, None]).astype(np.float64)


_LOSSES = {"log_loss": _log_loss, "error": _error}

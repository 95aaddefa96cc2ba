"""Discriminants of fewer rows than columns: covariances as centered rows, never as matrices of
columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from lyceum._core.probability import RIDGE, LowRankCovariance
from lyceum._core.statistics import ClassRowScatter
from lyceum._core.text import show_count
from lyceum.errors import ModelFileError


def pooled_covariance(
    statistic: ClassRowScatter, divisor: float, total_variance: np.ndarray
) -> LowRankCovariance:
    """The scatter within the classes over `divisor`, with the ridge that a singular covariance
    gets."""
    rows = statistic.pooled_rows() / np.sqrt(divisor if divisor > 0 else np.inf)
    ridge = RIDGE * _own_or_total(_squares(rows), total_variance)
    return LowRankCovariance.of(ridge, rows)


def borrowed_covariances(
    statistic: ClassRowScatter, total_variance: np.ndarray
) -> list[LowRankCovariance]:
    """(S_k + Σ) / (n_k + 1) of every class: with fewer rows than columns every S_k is singular."""
    # S_k = R_kᵀ R_k with R_k the centered rows, so that a sum of scatters stacks their rows
    weight = statistic.class_weight
    pooled = statistic.pooled_rows() / np.sqrt(weight.sum())
    diagonal = RIDGE * _own_or_total(_squares(pooled), total_variance)
    covariances = []
    for part, n in zip(statistic.parts, weight):
        rows = np.vstack([part.rows, pooled]) / np.sqrt(n + 1.0)
        covariances.append(LowRankCovariance.of(diagonal / (n + 1.0), rows))
    return covariances


def regularized_covariances(
    statistic: ClassRowScatter,
    total_variance: np.ndarray,
    alpha: float,
    gamma: float,
    settings: Any,
) -> tuple[list[LowRankCovariance], list[int]]:
    """Σ_k(α, γ) of every class, and the classes that needed a ridge.

    `settings` has `unbiased`, `pooling` and `shrinkage`.
    """
    varies = total_variance > 0
    covariances = []
    singular = []
    every_share = _shares(statistic, alpha, settings.unbiased, settings.pooling)
    for k, shares in enumerate(every_share):
        # Σ_k(α) is a weighted sum of scatters: their rows by the roots of the shares, stacked; the
        # first class stays even with share 0, as a stack must not be empty
        parts = [
            root * part.rows
            for root, part in zip(np.sqrt(shares), statistic.parts)
            if root > 0 or part is statistic.parts[0]
        ]
        rows = np.vstack(parts)
        variance = _squares(rows)
        target = shrinkage_target(variance, total_variance, settings.shrinkage)
        # γ · target on the diagonal; without it fewer rows than columns leave Σ_k singular
        diagonal = gamma * target
        if (varies & (diagonal <= 0)).any():
            singular.append(k)
            diagonal = diagonal + RIDGE * _own_or_total(
                (1.0 - gamma) * variance + diagonal, total_variance
            )
        covariances.append(LowRankCovariance.of(diagonal, np.sqrt(1.0 - gamma) * rows))
    return covariances, singular


def shrinkage_target(
    variance: np.ndarray, total_variance: np.ndarray, shrinkage: str
) -> np.ndarray:
    """The diagonal of the simple shape that a covariance with these variances is shrunk to."""
    if shrinkage == "diagonal":
        return _own_or_total(variance, total_variance)
    varies = total_variance > 0
    size = 1.0
    if shrinkage == "identity":
        size = variance.sum() / max(varies.sum(), 1)
    return np.where(varies, size, 0.0)


def _shares(
    statistic: ClassRowScatter, alpha: float, unbiased: bool, pooling: str
) -> np.ndarray:
    """How much the scatter of every class counts in the covariance of every class, (K, K)."""
    weight = statistic.class_weight
    lost = int(unbiased)
    left = np.maximum(weight - lost, 0.0)
    total = max(float(weight.sum() - lost * (weight > 0).sum()), 0.0)
    has_scatter = np.array([part.rows.any() for part in statistic.parts])
    alphas = np.where(has_scatter & (left > 0), alpha, alpha or 1.0)[:, None]
    own = np.eye(len(weight))
    # the same mixtures as in `combine_covariances`, as the factor of every S_j in every Σ_k
    if pooling == "convex":
        inverse = np.divide(1.0, left, out=np.zeros_like(left), where=left > 0)
        shared = alphas / total if total > 0 else 0.0
        return (1.0 - alphas) * own * inverse[:, None] + shared
    divisor = (1.0 - alphas) * left[:, None] + alphas * total
    mixed = (1.0 - alphas) * own + alphas
    return np.divide(mixed, divisor, out=np.zeros_like(mixed), where=divisor > 0)


def check_covariances(covariances: Any, shape: tuple[int, ...]) -> None:
    """Raise ModelFileError unless these are `shape[0]` covariances of `shape[1]` columns."""
    K, d = shape
    if not isinstance(covariances, list) or len(covariances) != K:
        raise ModelFileError(f"does not hold one covariance for each of {K} classes")
    for covariance in covariances:
        if not isinstance(covariance, LowRankCovariance):
            raise ModelFileError("holds a covariance of an unknown form")
        covariance.check()
        if len(covariance.diagonal) != d:
            raise ModelFileError(
                f"holds a covariance of {show_count(len(covariance.diagonal), 'column')}, not {d}"
            )


def _squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", rows, rows)


def _own_or_total(variance: np.ndarray, total_variance: np.ndarray) -> np.ndarray:
    """The variance of every column, over all rows where it has none in the class."""
    return np.where(variance > 0, variance, total_variance)

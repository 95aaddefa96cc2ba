"""Scores, reconstructions and likelihoods of a block of rows under a fitted PCA."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.data import Block


def remaining_scatter(total: float, values: np.ndarray, d: int) -> float:
    """The mean scatter of the directions left out; 0 if it is rounding error of the total."""
    left = total - float(values.sum())
    if d > len(values) and left > d * np.finfo(float).eps * total:
        return left / (d - len(values))
    return 0.0


def pca_scores(pca: Any, block: Block) -> np.ndarray:
    if sparse.issparse(block.X):
        Z = block.X @ pca.components_.T - pca.components_ @ pca.mean_
    else:
        Z = (block.X - pca.mean_) @ pca.components_.T
    scale = pca._scale
    return np.divide(Z, scale, out=np.zeros_like(Z), where=scale > 0).astype(
        block.X.dtype, copy=False
    )


def _center(pca: Any, block: Block) -> np.ndarray:
    return block.dense - pca.mean_


def score_parts(pca: Any, component: int, block: Block) -> np.ndarray:
    """The score on a component, zero, and what every column adds."""
    scale = pca._scale[component]
    added = _center(pca, block) * (pca.components_[component] / scale if scale else 0.0)
    return np.column_stack([added.sum(axis=1), np.zeros(len(added)), added])


def squared_residuals(pca: Any, block: Block) -> np.ndarray:
    centered = _center(pca, block)
    residual = centered - (centered @ pca.components_.T) @ pca.components_
    return np.einsum("ij,ij->i", residual, residual)


def log_likelihood_of(pca: Any, block: Block) -> np.ndarray:
    """-[r log 2π + log |C| + (x - m)ᵀ C⁻¹ (x - m)] / 2, over the r directions of positive
    variance."""
    centered = _center(pca, block)
    kept = pca.explained_variance_ > 0
    variance = pca.explained_variance_[kept]
    V = pca.components_[kept]
    Z = centered @ V.T
    square = (Z**2 / variance).sum(axis=1)
    log_det = np.log(variance).sum()
    rank = len(V)
    residual = centered - Z @ V
    off = np.einsum("ij,ij->i", residual, residual)
    # outside the kept directions the model has the noise variance alone, or no density at all
    if pca.noise_variance_ > 0:
        rank = len(pca.mean_)
        square += off / pca.noise_variance_
        log_det += (rank - len(V)) * np.log(pca.noise_variance_)
    result = -(rank * np.log(2 * np.pi) + log_det + square) / 2
    if rank < len(pca.mean_):
        size = np.einsum("ij,ij->i", centered, centered) + variance.sum()
        result[off > 1e-12 * size + 1e-28 * (pca.mean_ @ pca.mean_)] = -np.inf
    return result

"""Means and scatter of rows: by column, or the full matrix, alone or jointly with a target."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from lyceum._native import kernels
from lyceum.data import Block

__all__ = ["Moments", "Scatter"]


@dataclass(frozen=True, slots=True)
class Moments:
    """Weight, mean, scatter and range of every column; missing cells are left out one by one."""

    n_rows: int
    weight: np.ndarray  # (d,) weight of the cells that are there
    mean: np.ndarray  # (d,)
    scatter: np.ndarray  # (d,) sum of w (x - mean)^2
    low: np.ndarray  # (d,) smallest and largest cell; inf and -inf when there is none
    high: np.ndarray

    @classmethod
    def of(cls, block: Block) -> Moments:
        if sparse.issparse(block.X):
            return cls._of_sparse(block)
        d = block.X.shape[1]
        weight, mean, scatter = np.zeros((1, d)), np.zeros((1, d)), np.zeros((1, d))
        X = block.X if block.X.dtype.kind == "f" else block.X.astype(np.float64)
        kernels.class_moments(X, None, block.w, weight, mean, scatter)
        low = np.fmin.reduce(X, axis=0, initial=np.inf).astype(np.float64)
        high = np.fmax.reduce(X, axis=0, initial=-np.inf).astype(np.float64)
        return cls(len(block), weight[0], mean[0], scatter[0], low, high)

    @classmethod
    def _of_sparse(cls, block: Block) -> Moments:
        X, w = block.X.astype(np.float64), np.ones(len(block)) if block.w is None else block.w
        total = w.sum()
        mean = (X.T @ w) / total if total else np.zeros(X.shape[1])
        # sum w (x - m)^2 = sum over stored cells of w [(x - m)^2 - m^2] + total m^2
        stored = X.copy()
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        stored.data = w[rows] * ((X.data - mean[X.indices]) ** 2 - mean[X.indices] ** 2)
        scatter = np.asarray(stored.sum(axis=0)).ravel() + total * mean**2
        low = X.min(axis=0).toarray().ravel()
        high = X.max(axis=0).toarray().ravel()
        return cls(len(block), np.full(X.shape[1], total), mean, np.maximum(scatter, 0.0), low, high)

    def merge(self, other: Moments) -> Moments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = other.mean - self.mean
        return Moments(
            self.n_rows + other.n_rows,
            weight,
            self.mean + share * delta,
            self.scatter + other.scatter + self.weight * share * delta**2,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def variance(self, ddof: float = 0.0) -> np.ndarray:
        """The variance of every column, NaN where nothing is left to divide by."""
        left = self.weight - ddof
        return np.divide(self.scatter, left, out=np.full_like(left, np.nan), where=left > 0)


@dataclass(frozen=True, slots=True)
class Scatter:
    """Weight, mean and full centred scatter matrix of rows, jointly with the target when there is one.

    The Gram statistic of least squares: with Z = [X y] centred, `scatter` is ZᵀWZ, so XᵀX, Xᵀy and yᵀy are its blocks.
    """

    n_rows: int
    weight: float
    mean: np.ndarray  # (d,) or (d+1,) with the target last
    scatter: np.ndarray  # (d, d) or (d+1, d+1)
    targets: int  # 0 or 1

    @classmethod
    def of(cls, block: Block, target: bool = False) -> Scatter:
        Y = block.y.astype(np.float64, copy=False)[:, None] if target and block.y is not None else None
        q = 0 if Y is None else 1
        size = block.X.shape[1] + q
        if sparse.issparse(block.X):
            return cls._of_sparse(block, Y)
        mean, scatter = np.zeros(size), np.zeros((size, size))
        weight = kernels.scatter(block.X, Y, block.w, mean, scatter)
        return cls(len(block), weight, mean, scatter, q)

    @classmethod
    def _of_sparse(cls, block: Block, Y: np.ndarray | None) -> Scatter:
        # Zeros dominate: the raw products are already taken about a point close to the mean.
        Z = block.X.astype(np.float64)
        Z = sparse.hstack([Z, Y], format="csr") if Y is not None else Z
        w = np.ones(len(block)) if block.w is None else block.w
        total = float(w.sum())
        mean = (Z.T @ w) / total if total else np.zeros(Z.shape[1])
        raw = (Z.T @ Z.multiply(w[:, None]).tocsr()).toarray()
        return cls(len(block), total, mean, raw - total * np.outer(mean, mean), 0 if Y is None else 1)

    def merge(self, other: Scatter) -> Scatter:
        weight = self.weight + other.weight
        if weight == 0.0:
            return replace(self, n_rows=self.n_rows + other.n_rows)
        delta, share = other.mean - self.mean, other.weight / weight
        return replace(
            self,
            n_rows=self.n_rows + other.n_rows,
            weight=weight,
            mean=self.mean + share * delta,
            scatter=self.scatter + other.scatter + self.weight * share * np.outer(delta, delta),
        )

    @property
    def xx(self) -> np.ndarray:
        """Centred XᵀX."""
        d = len(self.mean) - self.targets
        return self.scatter[:d, :d]

    @property
    def xy(self) -> np.ndarray:
        """Centred Xᵀy."""
        return self.scatter[:-1, -1]

    @property
    def yy(self) -> float:
        """Centred yᵀy."""
        return float(self.scatter[-1, -1])

    @property
    def x_mean(self) -> np.ndarray:
        return self.mean[: len(self.mean) - self.targets]

    @property
    def y_mean(self) -> float:
        return float(self.mean[-1])

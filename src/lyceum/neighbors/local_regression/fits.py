"""Weighted least squares in the neighborhood of every query, by one native kernel over blocks of
queries."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from lyceum._core.distances import NeighborIndex, pairwise
from lyceum._core.native import native
from lyceum._core.threads import ordered_map
from lyceum.neighbors.knn.neighborhoods import nearest_by_weight
from lyceum.neighbors.local_regression.kernels import kernel_weights

_QUERIES = 1024  # per task, fewer where neighborhoods are large
_CELLS = 1 << 20


def n_terms(n_columns: int, degree: int) -> int:
    """The coefficients of a polynomial.

    >>> [n_terms(4, degree) for degree in (0, 1, 2)]
    [1, 5, 15]
    """
    return (
        1 + (degree > 0) * n_columns + (degree > 1) * (n_columns * (n_columns + 1) // 2)
    )


def bandwidths_to_try(
    index: NeighborIndex, points: np.ndarray, some: np.ndarray, near: int, n_tried: int
) -> np.ndarray:
    """From about the distance to the `near`-th neighbor of some rows to the width of all rows."""
    reach = np.median(
        index.nearest(points[some], min(len(index), near + 1)).distances[:, -1]
    )
    widest = 2.0 * float(
        np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).max())
    )
    if not widest > 0:
        return np.ones(1)
    return np.geomspace(max(reach, 1e-3 * widest), widest, n_tried)


@dataclass(frozen=True)
class LocalFit:
    """The fits at some queries."""

    value: np.ndarray  # (n,) the fitted value at the query
    norm: np.ndarray  # (n,) its variance in units of that of one target
    # (n,) what a row at the query itself adds of its own target, for weight 1
    leverage: np.ndarray
    gradient: np.ndarray  # (n, d)
    degenerate: np.ndarray  # (n,) whether the rows did not determine all terms


class Judgment(NamedTuple):
    """σ with σ² = Σ r² / Σ (1 - 2 l_ii + |l_i|²), the trace of the hat matrix, and the share of
    rows whose neighborhood does not determine all terms.
    """

    sigma: float
    trace: float
    degenerate: float


@dataclass(frozen=True)
class LocalModel:
    """Stored rows, and how a neighborhood is weighted and solved."""

    index: NeighborIndex
    X: np.ndarray  # (n, d) in the units of distances, float64
    y: np.ndarray
    weights: np.ndarray | None  # None: every row counts once
    degree: int
    kernel: str
    n_neighbors: int | None  # None: all rows
    bandwidth: float | None  # None: the distance of the farthest of the n_nearest
    n_nearest: int
    steps: int = 0
    rate: float = 1.0
    tolerance: float = 0.0

    def at(self, Q: np.ndarray, own: np.ndarray | None = None) -> LocalFit:
        """The fits at the rows of Q; `own` is the stored row that each leaves out."""
        if self.n_neighbors is None:
            wide = len(self.y)
        else:
            wide = self.n_neighbors
        step = max(1, min(_QUERIES, _CELLS // max(1, wide)))
        stretches = [
            slice(start, min(len(Q), start + step)) for start in range(0, len(Q), step)
        ]
        parts = list(
            ordered_map(
                lambda some: self._fit_block(
                    Q[some], None if own is None else own[some]
                ),
                stretches,
            )
        )
        if not parts:
            return self._fit_block(Q, own)
        return LocalFit(
            *(
                np.concatenate([getattr(p, f.name) for p in parts])
                for f in fields(LocalFit)
            )
        )

    def _fit_block(self, Q: np.ndarray, own: np.ndarray | None) -> LocalFit:
        rules = native.LocalRules(self.degree, self.steps, self.rate, self.tolerance)
        lists = native.WeightedLists(*self.lists(Q, own))
        return LocalFit(
            *native.local_fits(self.X, self.y, np.ascontiguousarray(Q), lists, rules)
        )

    def leave_one_out(self, some: np.ndarray, weights: np.ndarray) -> float:
        """The mean squared error of some stored rows, each left out of its own fit."""
        fitted = self.at(self.X[some], own=some).value
        return float(np.average((fitted - self.y[some]) ** 2, weights=weights[some]))

    def judge(self, some: np.ndarray, weights: np.ndarray) -> Judgment:
        """What the fits at some stored rows say of all."""
        w = weights[some]
        fit = self.at(self.X[some])
        # the leverage of a row is that of weight K(0) = 1; 1/u counts exact hits alone, each once
        left = float(w @ (1.0 - 2.0 * fit.leverage + fit.norm))
        residual = self.y[some] - fit.value
        trace = float(weights.sum() / w.sum() * (w @ fit.leverage))
        if left > 1e-9 * w.sum():
            sigma = float(np.sqrt(w @ residual**2 / left))
        else:
            sigma = np.nan
        return Judgment(sigma, trace, float(w @ fit.degenerate / w.sum()))

    # -- neighborhoods ----------------------------------------------------------------

    def lists(
        self, Q: np.ndarray, own: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Offsets, rows, kernel weights and counts of the neighborhood of every query, end to
        end."""
        if self.n_neighbors is None:
            return self._all_rows(Q, own)
        near = nearest_by_weight(self.index, Q, self.n_neighbors, self.weights, own)
        distances = near.distances
        if near.counts is not None:
            distances = np.where(near.counts > 0, distances, np.inf)
        kernel = kernel_weights(self.kernel, distances, self._widths(distances))
        n, k = near.rows.shape
        if near.counts is None:
            counts = None
        else:
            counts = np.ascontiguousarray(near.counts).ravel()
        return (
            np.arange(n + 1) * k,
            np.ascontiguousarray(near.rows).ravel(),
            kernel.ravel(),
            counts,
        )

    def _all_rows(
        self, Q: np.ndarray, own: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        distances = pairwise(Q, self.X)
        if own is not None:
            distances[np.arange(len(Q)), own] = np.inf
        widths = self._widths(distances)
        kernel = kernel_weights(self.kernel, distances, widths)
        there = kernel > 0
        offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        rows = np.ascontiguousarray(np.nonzero(there)[1])
        return (
            offsets,
            rows,
            kernel[there],
            None if self.weights is None else self.weights[rows],
        )

    def _widths(self, distances: np.ndarray) -> np.ndarray:
        """The bandwidth of every query."""
        if self.bandwidth is not None:
            return np.full(len(distances), self.bandwidth)
        if self.n_neighbors is not None:
            farthest = np.where(np.isfinite(distances), distances, 0.0).max(
                axis=1, initial=0.0
            )
        else:
            farthest = self._at_weight(distances)
        # so that rows all at one distance do not all vanish
        return farthest * (1 + 1e-9)

    def _at_weight(self, distances: np.ndarray) -> np.ndarray:
        """The distance within which the rows have the weight `n_nearest`."""
        if self.weights is None:
            k = min(self.n_nearest, distances.shape[1]) - 1
            radii = np.partition(distances, k, axis=1)[:, k]
        else:
            order = np.argsort(distances, axis=1, kind="stable")
            within = np.cumsum(self.weights[order], axis=1)
            index = (within >= self.n_nearest).argmax(axis=1)
            index = np.where(
                within[:, -1] >= self.n_nearest, index, distances.shape[1] - 1
            )
            radii = np.take_along_axis(distances, order, axis=1)[
                np.arange(len(distances)), index
            ]
        return np.where(np.isfinite(radii), radii, 0.0)

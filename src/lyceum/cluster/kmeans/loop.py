"""Lloyd's loop over rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from lyceum._core.data import Rows
from lyceum.cluster.kmeans.bounds import LloydBounds
from lyceum.cluster.kmeans.geometry import Geometry
from lyceum.cluster.kmeans.sums import FarthestRows, LloydSums
from lyceum.progress import report


@dataclass(frozen=True, slots=True)
class Run:
    """The end and the history of one descent."""

    centers: np.ndarray
    last: LloydSums  # the pass at `centers`
    n_iter: int
    history: list[float]
    record: list[np.ndarray]
    reseeded: int = 0  # how many times a cluster without rows was given one
    compared: int = 0  # how many times a row was compared with all centers


def descend(
    rows: Rows,
    centers: np.ndarray,
    geometry: Geometry,
    max_iter: int,
    tol: float,
    min_moved: float = 0.0,
    algorithm: str = "auto",
) -> Run:
    """Move the centers until nothing changes, or they move by at most `tol` mean variances of the
    columns.

    At most `max_iter` passes are made, and none after one in which at most the share `min_moved` of
    the rows changed their cluster. `algorithm` says whether rows keep bounds ("bounds"), none
    ("lloyd"), or "auto".
    """
    row_bounds = LloydBounds.of(rows, centers, algorithm)
    history = []
    record = [centers]
    before = None
    last = None
    limit = 0.0
    reseeded = 0
    compared = 0
    last_centers: np.ndarray | None = None
    for n_iter in range(1, max_iter + 1):
        report("iterations", n_iter - 1, max_iter)
        sums = _one_pass(rows, centers, last_centers, row_bounds)
        compared += sums.compared
        if n_iter == 1:
            # relative to the spread of the columns, as in scikit-learn
            limit = tol * _mean_variance(sums, centers)
        reseeded += int(np.count_nonzero(sums.weights == 0))
        sums = fill_empty(rows, centers, sums)
        history.append(sums.inertia)
        # Equal sums of equal blocks: no row has changed its center, and the last move changed
        # nothing.
        if sums.has_same_sums(before):
            last = sums
            break
        few = last_centers is not None and sums.has_few_moved(min_moved)
        # labels at the centers before are compared only where they decide
        if min_moved > 0:
            last_centers = centers
        record.append(geometry.move(centers, sums))
        moved = float(((centers - record[-1]) ** 2).sum())
        centers = record[-1]
        before = sums
        if few or moved <= limit:
            break
    # the centers moved after the last pass: weights and inertia must be those at the centers
    if last is None:
        last = _one_pass(rows, centers, None, row_bounds)
        history.append(last.inertia)
        compared += last.compared
    return Run(centers, last, n_iter, history, record, reseeded, compared)


def _one_pass(
    rows: Rows,
    centers: np.ndarray,
    before: np.ndarray | None,
    row_bounds: LloydBounds | None,
) -> LloydSums:
    """The sums at the centers; with bounds, rows that cannot have changed are not compared."""
    bounds = row_bounds.begin(centers) if row_bounds else None
    of = partial(LloydSums.of, centers=centers, before=before, bounds=bounds)
    sums = rows.reduce(of)
    if bounds:
        bounds.end(sums.compared)
    return sums


def _mean_variance(sums: LloydSums, centers: np.ndarray) -> float:
    """The mean variance of the columns, from the scatter about the centers moved to the mean m of
    all rows:

    sum w |x - m|^2 = sum_k sum w |x - c_k|^2 + [2 (s_k - W_k c_k) + W_k (c_k - m)] . (c_k - m).
    """
    weights = sums.weights[:, None]
    weight = sums.weights.sum()
    if not weight:
        return 0.0
    from_mean = centers - sums.sums.sum(axis=0) / weight
    between = (2 * (sums.sums - weights * centers) + weights * from_mean) * from_mean
    scatter = sums.inertia + float(between.sum())
    return max(0.0, scatter / (weight * centers.shape[1]))


def fill_empty(
    rows: Rows,
    centers: np.ndarray,
    sums: LloydSums,
    empty: np.ndarray | None = None,
) -> LloydSums:
    """Clusters without rows take the rows farthest from their centers, one each, if there are
    any."""
    if empty is None:
        empty = sums.weights == 0
    clusters = np.flatnonzero(empty)
    if not len(clusters):
        return sums
    find = partial(FarthestRows.of, centers=centers, size=len(clusters))
    farthest = rows.reduce(find)
    return sums.with_rows_moved(farthest, clusters)

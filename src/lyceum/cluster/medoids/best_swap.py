"""PAM: of all swaps of a medoid and a row, the one that lowers the loss most."""

from __future__ import annotations

import numpy as np

_CELLS = 1 << 22  # distances in memory at a time, beside those that are given


def best_swaps(
    D: np.ndarray, w: np.ndarray | None, max_iter: int, medoids: np.ndarray
) -> np.ndarray:
    """Make the best swap again and again until none lowers the loss; `medoids` is overwritten.

    Let d_i be the distance of row i to its nearest medoid m(i) and e_i that to the second nearest.
    Row c in the place of medoid m changes the loss by

        Σ_{m(i) ≠ m} w_i min(D_ic - d_i, 0) + Σ_{m(i) = m} w_i (min(D_ic, e_i) - d_i),

    all of which takes n² steps per swap (Schubert and Rousseeuw 2021, FastPAM1). Returns the loss
    at the start and after every round, of which the last finds nothing unless max_iter is reached.

    >>> D = np.abs(np.subtract.outer([0.0, 1, 2, 9, 10], [0.0, 1, 2, 9, 10]))
    >>> medoids = np.array([0, 1])
    >>> best_swaps(D, None, 10, medoids).tolist(), sorted(medoids.tolist())
    ([18.0, 3.0, 3.0], [1, 3])
    """
    n = len(D)
    if w is None:
        w = np.ones(n)
    loss = float(w @ D[:, medoids].min(axis=1))
    history = [loss]
    for _ in range(max_iter):
        change, m, row = _best_swap(D, w, medoids)
        # less than rounding is no gain
        if change >= -1e-12 * loss:
            history.append(loss)
            break
        medoids[m] = row
        loss = float(w @ D[:, medoids].min(axis=1))
        history.append(loss)
    return np.array(history)


def _best_swap(
    D: np.ndarray, w: np.ndarray, medoids: np.ndarray
) -> tuple[float, int, int]:
    """The least change of the loss, the index of the medoid that goes, and the row that comes."""
    n = len(D)
    k = len(medoids)
    near = np.asarray(D[:, medoids], dtype=np.float64)
    labels = near.argmin(axis=1)
    rows = np.arange(n)
    nearest = near[rows, labels]
    near[rows, labels] = np.inf
    second = near.min(axis=1)
    members = np.zeros((n, k))
    members[rows, labels] = w
    # both sums at once: Σ_i w_i (min(D_ic, d_i) - d_i) + Σ_{m(i)=m} w_i (min(D_ic, e_i) -
    # min(D_ic, d_i))
    best = (np.inf, 0, 0)
    step = max(1, _CELLS // n)
    for first in range(0, n, step):
        cells = np.asarray(D[first : first + step], dtype=np.float64)
        with_row = np.minimum(cells, nearest)
        joined = (with_row - nearest) @ w
        orphaned = np.minimum(cells, second)
        orphaned -= with_row
        changes = orphaned @ members + joined[:, None]
        index = int(changes.argmin())
        if changes.flat[index] < best[0]:
            best = (float(changes.flat[index]), index % k, first + index // k)
    return best

"""Bandwidths of a Parzen classifier by the leave-one-out log loss of its posteriors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import logsumexp

from lyceum.density.bandwidth import deviations
from lyceum.density.kernel_sums import KernelSums, leaf_order

_ROWS = 4000  # rows that the search compares
_SCORED = 1000  # of these, rows that are left out one at a time
_FARTHEST = 5  # doublings of the factor, up and down
_LEAST = np.log(1e-15)  # of a log posterior, so that one row cannot decide


def log_loss_bandwidths(
    rows: np.ndarray,
    codes: np.ndarray,
    w: np.ndarray,
    log_priors: np.ndarray,
    kernel: str,
    rtol: float,
) -> np.ndarray:
    """The bandwidths (K, d) of least leave-one-out log loss among multiples of two shapes.

    The shapes are the normal reference rule in d columns, σ_j (4 / ((d+2) n))^(1/(d+4)), with the
    standard deviations of each class and its rows, or with those pooled within classes and the mean
    number of rows. The factor is doubled or halved as long as that lowers the loss, then tried at
    half steps beside the best. Of many rows, the search compares 4,000 and leaves out 1,000; the
    rule holds for their number.
    """
    K = len(log_priors)
    some = _evenly(codes, K, _ROWS)
    parts = _ClassParts.of(rows[some], codes[some], w[some], log_priors, kernel, rtol)
    best = np.inf
    which = 1
    factor = 1.0
    for shape in (1, 0):  # of equal losses the pooled shape is taken
        loss, c = _search(partial(_loss_at, parts, parts.reference[shape]))
        if loss < best:
            best = loss
            which = shape
            factor = c
    return factor * _shapes(rows, codes, w, K)[which]


def _loss_at(parts: _ClassParts, reference: np.ndarray, factor: float) -> float:
    return parts.loss(factor * reference)


def _search(loss: Callable[[float], float]) -> tuple[float, float]:
    """The least loss over factors 2^k and 2^(k ± ½), from 1 in the direction in which it falls."""
    losses = {0.0: loss(1.0)}
    for sign in (1.0, -1.0):
        for k in range(1, _FARTHEST + 1):
            losses[sign * k] = loss(2.0 ** (sign * k))
            if losses[sign * k] >= losses[sign * (k - 1)]:
                break
    middle = min(losses, key=lambda k: losses[k])
    losses |= {k: loss(2.0**k) for k in (middle - 0.5, middle + 0.5)}
    best = min(losses, key=lambda k: losses[k])
    return losses[best], 2.0**best


def _shapes(rows: np.ndarray, codes: np.ndarray, w: np.ndarray, K: int) -> np.ndarray:
    """The reference bandwidths by class and pooled, (2, K, d)."""
    d = rows.shape[1]
    n = np.bincount(codes, w, K)
    own = np.array(
        [
            deviations(rows[codes == k], w[codes == k]) if n[k] else np.zeros(d)
            for k in range(K)
        ]
    )
    pooled = np.sqrt(
        (np.maximum(n - 1.0, 0.0)[:, None] * own**2).sum(axis=0) / max(n.sum() - K, 1.0)
    )
    everywhere = deviations(rows, w)
    pooled = np.where(pooled > 0, pooled, np.where(everywhere > 0, everywhere, 1.0))

    def rule(count: np.ndarray | float) -> np.ndarray:
        return (4.0 / ((d + 2.0) * np.maximum(count, 1.0))) ** (1.0 / (d + 4.0))

    by_class = np.where(own > 0, own, pooled) * rule(n)[:, None]
    return np.stack([by_class, np.tile(pooled * rule(n.sum() / (n > 0).sum()), (K, 1))])


def _evenly(codes: np.ndarray, K: int, most: int) -> np.ndarray:
    """Up to `most` row numbers, evenly from every class by its share."""
    if len(codes) <= most:
        return np.arange(len(codes))
    chosen = []
    for k in range(K):
        own = np.flatnonzero(codes == k)
        size = min(len(own), max(1, round(most * len(own) / len(codes))))
        chosen.append(
            own[np.linspace(0, len(own) - 1, size).astype(int)] if size else own
        )
    return np.sort(np.concatenate(chosen))


@dataclass(frozen=True)
class _ClassParts:
    """The rows of every class in leaf order, and which of them are left out."""

    rows: list[np.ndarray]
    weights: list[np.ndarray]
    scored: list[np.ndarray]  # places in a class
    reference: np.ndarray  # (2, K, d)
    log_priors: np.ndarray
    kernel: str
    rtol: float

    @classmethod
    def of(cls, rows, codes, w, log_priors, kernel, rtol) -> _ClassParts:
        reference = _shapes(rows, codes, w, len(log_priors))
        scored = np.zeros(len(rows), dtype=bool)
        scored[_evenly(codes, len(log_priors), _SCORED)] = True
        parts: tuple[list, list, list] = ([], [], [])
        for k in range(len(log_priors)):
            own = np.flatnonzero(codes == k)
            if len(own):
                own = own[
                    leaf_order((rows[own] - rows[own].mean(axis=0)) / reference[0, k])
                ]
            # a row is left out with the weight of one row: the class must have more
            left = scored[own] & (w[own].sum() > np.minimum(w[own], 1.0))
            for part, value in zip(parts, (rows[own], w[own], np.flatnonzero(left))):
                part.append(value)
        return cls(*parts, reference, log_priors, kernel, rtol)

    def loss(self, bandwidth: np.ndarray) -> float:
        """The mean of -log P(own class | x) over the rows left out one at a time."""
        present = [k for k, own in enumerate(self.rows) if len(own)]
        sums = {
            k: KernelSums(
                self.rows[k], self.weights[k], bandwidth[k], self.kernel, self.rtol
            )
            for k in present
        }
        total = weight = 0.0
        for k in present:
            at = self.scored[k]
            if not len(at):
                continue
            X = self.rows[k][at]
            w = self.weights[k][at]
            joint = np.column_stack(
                [
                    self.log_priors[j]
                    + (sums[j].leave_one_out(at) if j == k else sums[j].log_density(X))
                    for j in present
                ]
            )
            joint[np.isneginf(joint).all(axis=1)] = self.log_priors[present]
            own = joint[:, present.index(k)] - logsumexp(joint, axis=1)
            total -= float(w @ np.maximum(own, _LEAST))
            weight += float(w.sum())
        if weight:
            return total / weight
        return 0.0

"""Eigenvectors of a scatter matrix: from the matrix, from the rows, or by random projections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import gammaln

from lyceum._core.data import Block, Rows
from lyceum._core.statistics import Moments, Scatter
from lyceum.decomposition.projections.centered_rows import CenteredRows
from lyceum.errors import DataError, SettingError

Vectors = Callable[[int], np.ndarray]  # the first k eigenvectors, as rows


class Spectrum(NamedTuple):
    """The trace of the scatter, its largest eigenvalues (rounding errors set to 0), their vectors,
    and what every column was divided by before."""

    total: float
    values: np.ndarray
    vectors: Vectors
    scale: np.ndarray


def scatter_spectrum(
    statistic: Scatter | CenteredRows, most: int | None, standardize: bool = False
) -> Spectrum:
    """From a statistic: of the scatter matrix itself, or of R Rᵀ for few rows R of many columns."""
    scale = _scales(statistic, statistic.xx_diagonal, standardize)
    # R Rᵀ and Rᵀ R have the same eigenvalues above 0: the smaller of the two is decomposed
    rows = np.empty((0, 0))
    if isinstance(statistic, CenteredRows):
        rows = statistic.rows / scale
        product = rows @ rows.T
    else:
        product = statistic.xx
        if standardize:
            product = product / scale / scale[:, None]
    total = float(np.trace(product))
    n = len(product)
    d = len(statistic.mean)
    if most is None:
        first = 0
    else:
        first = max(0, n - most)
    values, columns = linalg.eigh(
        product, subset_by_index=(first, n - 1), check_finite=False
    )
    # largest first; what is below the rounding of the trace is 0
    values = values[::-1]
    vectors = columns.T[::-1]
    rounding = d * np.finfo(float).eps * total
    values = np.where(values > rounding, values, 0.0)
    if isinstance(statistic, CenteredRows):
        n_missing = max(0, (most or 1) - n)
        values = np.append(values, np.zeros(n_missing))
        return Spectrum(total, values, partial(_dual_vectors, rows, vectors), scale)
    rank = int(np.count_nonzero(values))
    return Spectrum(total, values, partial(_with_rest, vectors, rank), scale)


def _scales(statistic: Any, scatter: np.ndarray, standardize: bool) -> np.ndarray:
    """What columns are divided by: their standard deviations, or 1."""
    if not standardize:
        return np.ones(len(scatter))
    # a scatter below n (4 ε |mean|)² is that of equal numbers whose mean was rounded
    rounding = 4 * np.finfo(float).eps * np.abs(statistic.mean)
    weight = float(np.max(statistic.weight, initial=0.0))
    is_constant = scatter <= weight * rounding**2
    freedom = weight - 1 if weight > 1 else 1.0
    return np.where(is_constant, 1.0, np.sqrt(scatter / freedom))


def _with_rest(
    V: np.ndarray,
    rank: int,
    k: int,
) -> np.ndarray:
    """The first k vectors; those without variance do not depend on the rounding of the others."""
    if k <= rank:
        return V[:k]
    return _fill(V[:rank], k)


def _dual_vectors(
    factor: np.ndarray,
    U: np.ndarray,
    k: int,
) -> np.ndarray:
    """Eigenvectors of RᵀR from those of RRᵀ: Rᵀu, made orthonormal, filled up to k by other
    directions."""
    V = U[:k] @ factor
    lengths = np.sqrt(np.einsum("ij,ij->i", V, V))
    rounding = len(U) * np.finfo(float).eps * lengths.max(initial=0.0)
    rank = np.count_nonzero(lengths > rounding)
    return _fill(V[:rank] / lengths[:rank, None], k)


def _fill(V: np.ndarray, k: int) -> np.ndarray:
    """Orthonormal rows, k of them: those of V, and others at right angles to them."""
    V = V[:k]
    # random vectors, always the same, are almost surely independent of V; QR makes them orthogonal
    if len(V) < k:
        rng = np.random.default_rng(0)
        others = rng.standard_normal((k - len(V), V.shape[1]))
        V = np.vstack([V, others])
    return linalg.qr(V.T, mode="economic", check_finite=False)[0].T


def rows_spectrum(
    block: Block, center: bool = True, standardize: bool = False
) -> tuple[CenteredRows, Spectrum]:
    """From the singular values of the (centered) rows: exact where eigenvalues of the scatter lose
    digits."""
    centered = CenteredRows.of(block)
    factor = centered.rows
    if not center:
        X = np.asarray(block.dense, dtype=np.float64)
        w = block.weights
        used = w > 0
        factor = np.sqrt(w[used])[:, None] * X[used]
    scale = _scales(centered, centered.xx_diagonal, standardize)
    factor = factor / scale
    _, singular, V = linalg.svd(factor, full_matrices=False, check_finite=False)
    largest = singular.max(initial=0.0)
    limit = max(factor.shape) * np.finfo(float).eps * largest
    singular = np.where(singular > limit, singular, 0.0)
    # diag(s) V has the scatter of all rows, in at most as many rows as there are columns
    root = singular[:, None] * V * scale
    compact = CenteredRows(centered.n_rows, centered.weight, centered.mean, root, 0)
    values = singular**2
    total = float(values.sum())
    n_missing = max(0, factor.shape[1] - len(singular))
    values = np.append(values, np.zeros(n_missing))
    return compact, Spectrum(total, values, partial(_fill, V), scale)


# -- random projections ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProjectedScatter:
    """S Q for a thin matrix Q: the scatter matrix itself is never made."""

    product: np.ndarray  # (d, l)

    @classmethod
    def of(
        cls,
        block: Block,
        Q: np.ndarray,
        center: np.ndarray,
    ) -> ProjectedScatter:
        # Σ w (x - c)(x - c)ᵀ Q = Xᵀ Z - c (Σ z)ᵀ with z = w (x - c)ᵀ Q: sparse rows are never
        # centered
        scores = np.asarray(block.X @ Q) - center @ Q
        if block.w is not None:
            scores *= block.w[:, None]
        product = np.asarray(block.X.T @ scores, dtype=np.float64)
        return cls(product - np.outer(center, scores.sum(axis=0)))

    def merge(self, other: ProjectedScatter) -> ProjectedScatter:
        """The product over the rows of both."""
        return ProjectedScatter(self.product + other.product)


def randomized_spectrum(
    rows: Rows,
    k: int,
    passes: int,
    random: np.random.RandomState,
    center: bool = True,
    standardize: bool = False,
    n_oversamples: int = 10,
) -> tuple[CenteredRows, Spectrum]:
    """The first k eigenvectors by subspace iteration from a random start, one pass over the rows
    per product.

    Halko, Martinsson and Tropp (2011), algorithms 4.4 and 5.3, with products by the scatter matrix
    S = XᵀX.
    """
    moments: Moments = rows.reduce(Moments.of)
    mean = np.where(moments.weight > 0, moments.mean, 0.0)
    about = mean
    squares = moments.scatter
    if not center:
        # about the origin: N times the mean squared more
        about = np.zeros_like(mean)
        squares = squares + moments.weight * mean**2
    scale = _scales(moments, moments.scatter, standardize)
    unit = 1.0 / scale[:, None]
    d = len(mean)
    # subspace iteration: Q ← S orth(Q), one pass over the rows each
    Q = random.standard_normal((d, min(d, k + n_oversamples)))
    for _ in range(passes + 1):
        before = linalg.qr(Q, mode="economic", check_finite=False)[0]
        of = partial(ProjectedScatter.of, Q=unit * before, center=about)
        Q = unit * rows.reduce(of).product
    values, V = _ritz_pairs(before, Q)
    values = values[:k]
    weight = float(moments.weight.max(initial=0.0))
    factor = np.sqrt(values)[:, None] * V[: len(values)] * scale
    compact = CenteredRows(moments.n_rows, weight, mean, factor, 0)
    total = float((squares / scale**2).sum())
    return compact, Spectrum(total, values, partial(_fill, V), scale)


def _ritz_pairs(Q: np.ndarray, product: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rayleigh-Ritz: the eigenvalues of Qᵀ S Q, the largest first, and their vectors taken back by
    Q, as rows; `product` is S Q."""
    values, U = linalg.eigh(Q.T @ product)
    return np.maximum(values[::-1], 0.0), (Q @ U[:, ::-1]).T


# -- what follows from it --------------------------------------------------------------


def n_components_by_evidence(values: np.ndarray, n_rows: int) -> int:
    """The number of components of the largest evidence, by Laplace's approximation (Minka 2000,
    equations 30 and 31).

    For k of the d eigenvalues λ of n rows, with v the mean of the others,

        log p(k) ≈ log p(U) - n/2 Σ_{i<=k} log λ_i - n (d - k)/2 log v + (m + k)/2 log 2π
                   - log|A|/2 - k/2 log n,    m = d k - k (k + 1)/2.
    """
    d = len(values)
    if n_rows < d:
        raise SettingError(
            "n_components='mle' is only supported if n_samples >= n_features"
        )
    variance = values / max(n_rows - 1, 1)
    tiny = np.finfo(float).eps
    evidence = [
        _log_evidence(variance, k, n_rows) if variance[k - 1] > tiny else -np.inf
        for k in range(1, d)
    ]
    return 1 + int(np.argmax(evidence)) if evidence else 0


def _log_evidence(variance: np.ndarray, k: int, n: int) -> float:
    """log p(k) of Minka's equation 30."""
    d = len(variance)
    # log p(U): the volume of k orthonormal directions among d
    half = (d - np.arange(k)) / 2
    log_volume = -k * np.log(2) + float((gammaln(half) - half * np.log(np.pi)).sum())
    rest = max(float(variance[k:].sum()) / (d - k), np.finfo(float).eps)
    fitted = -n / 2 * float(np.log(variance[:k]).sum()) - n * (d - k) / 2 * np.log(rest)
    m = d * k - k * (k + 1) / 2
    log_det = _log_curvature(variance, k, rest, n)
    penalty = (m + k) / 2 * np.log(2 * np.pi) - log_det / 2 - k / 2 * np.log(n)
    return log_volume + fitted + penalty


def _log_curvature(variance: np.ndarray, k: int, rest: float, n: int) -> float:
    """log |A| of the same equation."""
    d = len(variance)
    # |A| is the product over i < k and j > i of (1/λ_j - 1/λ_i) (λ_i - λ_j) n, with v for λ_j
    # where j > k
    smoothed = np.append(variance[:k], np.full(d - k, rest))
    first, second = np.triu_indices(d, 1)
    inside = first < k
    first = first[inside]
    second = second[inside]
    curvature = 1 / smoothed[second] - 1 / smoothed[first]
    spread = variance[first] - variance[second]
    with np.errstate(divide="ignore"):
        return float((np.log(curvature * spread) + np.log(n)).sum())


def freedom_of(statistic: Any, total: float) -> float:
    """N - 1, by which a scatter is divided."""
    if statistic.weight > 1:
        return statistic.weight - 1
    if total:
        raise DataError(
            f"the weights sum to {statistic.weight:.3g}, but the variance divides by their sum less"
            " 1: scale sample_weight to count rows"
        )
    return 1.0  # one row: no variance


def with_signs(vectors: np.ndarray) -> np.ndarray:
    """Every vector with the sign that makes its largest entry (the first of equal ones)
    positive."""
    largest = np.argmax(np.abs(vectors), axis=1)
    entries = vectors[np.arange(len(vectors)), largest]
    signs = np.where(entries < 0, -1.0, 1.0)
    return np.ascontiguousarray(vectors * signs[:, None])

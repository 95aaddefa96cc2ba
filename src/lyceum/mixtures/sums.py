"""The E-step of a mixture of Gaussians or Student-t: expected sums, with missing cells by their
conditional moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from lyceum._core.data import Block
from lyceum._core.native import native
from lyceum._core.probability import (
    gaussian_log_density,
    squared_distance_parts,
    whiten,
)
from lyceum._core.solvers import EMProblem, Expectation
from lyceum._core.statistics import ClassMoments, ClassScatter
from lyceum.mixtures.covariance_forms import CovarianceForm
from lyceum.mixtures.start import StartLabels

# of one pattern of missing cells, from which a pass over these rows alone pays
_MANY_ROWS = 64


@dataclass(frozen=True, eq=False)
class ComponentValues:
    """The values of every component that the log joint density needs; no degrees of freedom for
    Gaussians."""

    log_weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, d)
    matrices: np.ndarray  # (K, d, d), or variances (K, d)
    whitening: np.ndarray  # the same shape
    constant: np.ndarray  # (K,) the log density at the mean, without the weight
    degrees: np.ndarray | None = None  # (K,)

    @classmethod
    def of(
        cls,
        weights: np.ndarray,
        means: np.ndarray,
        covariances: np.ndarray,
        form: CovarianceForm,
        variance: np.ndarray,
        degrees: np.ndarray | None = None,
    ) -> ComponentValues:
        """From the parameters of a mixture; `variance` is that of the columns over all rows."""
        white = form.whiten(covariances, len(means), variance)
        log_weights = np.log(
            weights, out=np.full(len(weights), -np.inf), where=weights > 0
        )
        constant = peak_density(white.log_det, white.used, degrees)
        return cls(log_weights, means, white.matrices, white.W, constant, degrees)

    @property
    def diagonal(self) -> bool:
        return self.matrices.ndim == 2

    @property
    def used(self) -> np.ndarray:
        """Which columns have a variance, (d,)."""
        return np.asarray(
            (self.whitening[0] if self.diagonal else np.diag(self.whitening[0])) > 0
        )

    def used_cells(self, X: np.ndarray) -> np.ndarray:
        """The rows, for Student-t with constant columns as missing: its exponent counts the other
        columns."""
        if self.degrees is None or self.used.all():
            return X
        return np.where(self.used, X, X.dtype.type(np.nan))

    def terms(self, X: np.ndarray) -> np.ndarray:
        """What every column takes off the log density of every component at its mean, (n, K, d)."""
        parts = squared_distance_parts(
            np.asarray(X, dtype=np.float64), self.means, self.whitening
        )
        if self.degrees is None:
            return -0.5 * parts
        # (ν + d)/2 log(1 + q/ν) is no sum over columns: it is split in proportion to their parts
        q = parts.sum(axis=2)
        drop = 0.5 * (self.degrees + self.used.sum()) * np.log1p(q / self.degrees)
        rate = np.divide(drop, q, out=np.zeros_like(q), where=q > 0)
        return -parts * rate[:, :, None]

    def known_terms(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`terms` of the cells that are not missing, and the rest of the log joint densities, (n,
        K)."""
        n = len(X)
        K, d = self.means.shape
        X = self.used_cells(X)
        terms = np.zeros((n, K, d))
        rest = np.repeat((self.log_weights + self.constant)[None, :], n, axis=0)
        patterns = Patterns.of(X)
        complete = ~patterns.missing.any(axis=1)
        terms[complete] = self.terms(X[complete])
        groups = native.RowGroups(*patterns.incomplete_rows())
        native.mixture_missing_terms(X, groups, self.native, terms, rest)
        return terms, rest

    def log_joint(self, X: np.ndarray) -> np.ndarray:
        """log π_k + log p(x | k), (n, K); missing cells are integrated out."""
        X = self.used_cells(X)
        # a NaN anywhere makes the sum NaN: one pass without an array of flags
        if not np.isnan(X.sum()):
            return log_joint_of(X, self)
        # Rows by their pattern of missing cells. Many rows of one pattern are complete rows of the
        # marginal mixture over the columns they have; the others go to a kernel together.
        cells = np.ascontiguousarray(X, dtype=np.float64)
        out = np.empty((len(X), len(self.means)))
        patterns = Patterns.of(cells)
        for rows, observed in patterns.large():
            marginal = Marginal.of(self, observed).values
            part = np.ascontiguousarray(cells[rows][:, observed])
            out[rows] = log_joint_of(part, marginal)
        groups = native.RowGroups(*patterns.small())
        native.mixture_missing_joint(cells, groups, self.native, out)
        return out

    @property
    def native(self) -> Any:
        """The components as the kernels take them."""
        matrices = np.ascontiguousarray(self.matrices)
        return native.MixtureComponents(
            self.means, matrices, self.log_weights, self.degrees, self.peaks
        )

    @property
    def peaks(self) -> np.ndarray:
        """The log density at the mean of 0, ..., d columns of unit variance, (d + 1, K)."""
        K, d = self.means.shape
        columns = np.repeat(np.arange(d + 1.0)[:, None], K, axis=1)
        return np.ascontiguousarray(peak_density(np.zeros(K), columns, self.degrees))


@dataclass(frozen=True, slots=True)
class MixtureSums:
    """Per component the weight of its rows, and the weighted mean and scatter of their cells.

    Rows of a Student-t component count with the weights u (see `StudentMixture`) in the mean and
    scatter.
    """

    rows: np.ndarray  # (K,) sum of w r
    logs: np.ndarray  # (K,) sum of w r (E[log u] - E[u]); 0 for Gaussians
    moments: ClassScatter | ClassMoments

    @classmethod
    def of_labels(
        cls, block: Block, R: np.ndarray, diagonal: bool, pooled: bool
    ) -> MixtureSums:
        """The sums with given responsibilities and no missing cells, for a start."""
        moments: ClassScatter | ClassMoments
        if diagonal:
            moments = ClassMoments.of(block, responsibilities=R)
        else:
            moments = ClassScatter.of(block, pooled=pooled, responsibilities=R)
        return cls(moments.class_weight, np.zeros(R.shape[1]), moments)

    def merge(self, other: MixtureSums) -> MixtureSums:
        """The sums of the rows of both."""
        moments = self.moments.merge(other.moments)  # type: ignore[arg-type]
        return MixtureSums(self.rows + other.rows, self.logs + other.logs, moments)


def expected_sums(
    block: Block, at: ComponentValues, pooled: bool
) -> tuple[float, MixtureSums]:
    """Σ w log p(x), and the expected sums given the cells that are not missing.

    Missing cells count with their conditional means, and add their conditional covariances to the
    scatter.
    """
    X = at.used_cells(float_cells(block))
    if not np.isnan(X.sum()):
        return _complete_sums(X, block.w, at, pooled)
    cells = np.ascontiguousarray(X, dtype=np.float64)
    patterns = Patterns.of(cells)
    total, sums = _incomplete_sums(cells, block.w, patterns, at, pooled)
    # of a pattern that many rows have: the sums over the columns they have, as of complete rows,
    # from which those over all columns follow
    for rows, observed in patterns.large():
        marginal = Marginal.of(at, observed)
        w = None if block.w is None else block.w[rows]
        part = np.ascontiguousarray(cells[rows][:, observed])
        log_density, known = _complete_sums(part, w, marginal.values, pooled)
        total = total + log_density
        sums = sums.merge(marginal.fill(known, at, pooled))
    return total, sums


def float_cells(block: Block) -> np.ndarray:
    """The cells as they are, or in float64 where they are no floats."""
    if block.X.dtype.kind == "f":
        return block.X
    return block.X.astype(np.float64)


def _incomplete_sums(
    X: np.ndarray,
    w: np.ndarray | None,
    patterns: Patterns,
    at: ComponentValues,
    pooled: bool,
) -> tuple[float, MixtureSums]:
    """Rows whose pattern of missing cells few others have."""
    # the kernel fills these: Σ w r, Σ w r u, Σ w r (E[log u] - E[u]), means and scatters
    K, d = at.means.shape
    order, starts = patterns.small()
    rows, weight, logs = np.zeros((3, K))
    mean = np.zeros((K, d))
    S = _no_scatter(at, pooled)
    shift = np.zeros((d + 1, K))
    # E[log u] = log E[u] + ψ((ν + o)/2) - log((ν + o)/2) of o cells
    if at.degrees is not None:
        half = 0.5 * (at.degrees + np.arange(d + 1.0)[:, None])
        shift = digamma(half) - np.log(half)
    total = native.mixture_missing_step(
        X,
        w,
        native.RowGroups(order, starts),
        at.native,
        shift,
        rows,
        weight,
        logs,
        mean,
        S,
        pooled,
    )
    if at.degrees is None:
        logs[:] = 0.0
    return total, MixtureSums(rows, logs, _moments(len(order), weight, mean, S, pooled))


def _no_scatter(at: ComponentValues, pooled: bool) -> np.ndarray:
    """Zeros in the shape of the scatter: variances, one matrix for all, or one per component."""
    K, d = at.means.shape
    if at.diagonal:
        return np.zeros((K, d))
    if pooled:
        return np.zeros((1, d, d))
    return np.zeros((K, d, d))


def _complete_sums(
    X: np.ndarray, w: np.ndarray | None, at: ComponentValues, pooled: bool
) -> tuple[float, MixtureSums]:
    """Rows without missing cells."""
    n = len(X)
    K, d = at.means.shape
    rows, weight, logs = np.zeros((3, K))
    mean = np.zeros((K, d))
    S = _no_scatter(at, pooled)
    constant = at.log_weights + at.constant
    total = native.mixture_step(
        X,
        w,
        at.means,
        at.whitening,
        constant,
        at.degrees,
        rows,
        weight,
        logs,
        mean,
        S,
        pooled,
    )
    if at.degrees is None:
        logs[:] = 0.0
    else:  # E[log u] = log E[u] + ψ((ν + d)/2) - log((ν + d)/2)
        half = 0.5 * (at.degrees + d)
        logs += rows * (digamma(half) - np.log(half))
    return total, MixtureSums(rows, logs, _moments(n, weight, mean, S, pooled))


def _moments(
    n: int, weight: np.ndarray, mean: np.ndarray, S: np.ndarray, pooled: bool
) -> ClassScatter | ClassMoments:
    labels = np.arange(len(weight))
    if S.ndim == 2:
        weights = np.repeat(weight[:, None], mean.shape[1], axis=1)
        return ClassMoments(labels, n, weight, weights, mean, S)
    return ClassScatter(labels, n, weight, mean, S, pooled)


class MixtureProblem(EMProblem):
    """A mixture whose E-step needs the values of its components and the form of their
    covariances."""

    form: CovarianceForm

    def start_sums(self, block: Block, labels: StartLabels) -> MixtureSums:
        R = labels.responsibilities(block)
        return MixtureSums.of_labels(
            labels.fill(block, R), R, self.form.diagonal, self.form.pooled
        )

    def expectation(self, block: Block, parameters: Any) -> Expectation:
        total, sums = expected_sums(block, parameters.values, self.form.pooled)
        return Expectation(sums, total, block.weight)


# -- missing cells ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows grouped by which of their cells are missing."""

    missing: np.ndarray  # (n, d) of bool
    order: np.ndarray  # rows, group by group
    starts: np.ndarray  # where groups begin, and n

    @classmethod
    def of(cls, X: np.ndarray) -> Patterns:
        # a pattern as bits: a number, or for more than 64 columns a string of bytes
        missing = np.isnan(X)
        packed = np.packbits(missing, axis=1)
        if packed.shape[1] > 8:
            keys = np.ascontiguousarray(packed).view(f"S{packed.shape[1]}").ravel()
        else:
            wide = np.zeros((len(packed), 8), dtype=np.uint8)
            wide[:, : packed.shape[1]] = packed
            keys = wide.view(np.uint64).ravel()
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        if len(X):
            starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        else:
            starts = np.zeros(0, int)
        return cls(missing, order, np.append(starts, len(X)))

    @property
    def _patterns(self) -> np.ndarray:
        """The cells that are missing in the rows of every group, (groups, d)."""
        return self.missing[self.order[self.starts[:-1]]]

    @property
    def _is_large(self) -> np.ndarray:
        """Patterns with enough rows for a pass of their own, and a cell."""
        return (np.diff(self.starts) >= _MANY_ROWS) & ~self._patterns.all(axis=1)

    def large(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of the patterns that many rows have: the rows of each, and the columns that are not
        missing."""
        for g in np.flatnonzero(self._is_large):
            rows = self.order[self.starts[g] : self.starts[g + 1]]
            yield rows, np.flatnonzero(~self.missing[rows[0]])

    def small(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the others: their rows, group by group, and where groups begin."""
        return self._list_groups(~self._is_large)

    def incomplete_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows with a missing cell, group by group, and where groups begin."""
        return self._list_groups(np.asarray(self._patterns.any(axis=1)))

    def _list_groups(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes = np.diff(self.starts)
        rows = self.order[np.repeat(which, sizes)].astype(np.int64)
        return rows, np.append(0, np.cumsum(sizes[which])).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Marginal:
    """The components over the observed columns, and the others given these: μ + G (x - μ) and C."""

    values: ComponentValues
    observed: np.ndarray
    unobserved: np.ndarray
    G: np.ndarray  # (K, m, o)
    C: np.ndarray  # (K, m, m)

    @classmethod
    def of(cls, at: ComponentValues, observed: np.ndarray) -> Marginal:
        K, d = at.means.shape
        unobserved = np.setdiff1d(np.arange(d), observed)
        S = at.matrices
        if at.diagonal:
            matrices = S[:, observed]
            W = at.whitening[:, observed]
            used = W > 0
            log_det = -2.0 * np.log(np.where(used, W, 1.0)).sum(axis=1)
            G = np.zeros((K, len(unobserved), len(observed)))
            C = S[:, unobserved, None] * np.eye(len(unobserved))
        else:
            # G = Σ_mo Σ_oo⁻¹ and C = Σ_mm - G Σ_om, of missing cells m and observed ones o
            matrices = S[:, observed[:, None], observed]
            missing = S[:, unobserved]
            mo = missing[:, :, observed]
            W, log_det, used = _whiten_all(matrices)
            G = np.einsum("kmo,kpo,kpq->kmq", mo, W, W)
            C = missing[:, :, unobserved] - G @ np.swapaxes(mo, 1, 2)
        # contiguous, as the kernels take them
        values = replace(
            at,
            means=np.ascontiguousarray(at.means[:, observed]),
            matrices=np.ascontiguousarray(matrices),
            whitening=np.ascontiguousarray(W),
            constant=peak_density(log_det, used.sum(axis=1), at.degrees),
        )
        return cls(values, observed, unobserved, G, C)

    def fill(self, sums: MixtureSums, at: ComponentValues, pooled: bool) -> MixtureSums:
        """The sums over all columns from those over the columns that are not missing."""
        # the mean is linear in the cells: G applies to the mean of the observed ones
        moments = sums.moments
        K, d = at.means.shape
        o = self.observed
        m = self.unobserved
        mean = np.empty((K, d))
        mean[:, o] = moments.mean
        moved = moments.mean - at.means[:, o]
        mean[:, m] = at.means[:, m] + np.einsum("kmo,ko->km", self.G, moved)
        if at.diagonal:
            S = np.empty((K, d))
            S[:, o] = moments.scatter
            S[:, m] = sums.rows[:, None] * np.einsum("kjj->kj", self.C)
        else:
            S = self._filled_scatter(sums, d, pooled)
        full = _moments(moments.n_rows, moments.class_weight, mean, S, pooled)
        return replace(sums, moments=full)

    def _filled_scatter(self, sums: MixtureSums, d: int, pooled: bool) -> np.ndarray:
        """S_mo = G S_oo and S_mm = G S_oo Gᵀ + n C, of missing cells m and observed ones o."""
        o = self.observed
        m = self.unobserved
        G = self.G
        C = self.C
        rows = sums.rows
        if pooled:
            G = G[:1]
            C = C[:1]
            rows = rows.sum(keepdims=True)
        S = np.empty((len(G), d, d))
        cross = G @ sums.moments.scatter
        S[:, o[:, None], o] = sums.moments.scatter
        S[:, m[:, None], o] = cross
        S[:, o[:, None], m] = np.swapaxes(cross, 1, 2)
        left_over = rows[:, None, None] * C
        S[:, m[:, None], m] = cross @ np.swapaxes(G, 1, 2) + left_over
        return S


def _whiten_all(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lower W_k with W_k Σ_k W_kᵀ = I, log |Σ_k|, and the columns with a variance."""
    variances = np.einsum("kjj->kj", matrices)
    white = [whiten(*pair) for pair in zip(matrices, variances)]
    W = np.stack([w.W for w in white])
    log_det = np.array([w.log_det for w in white])
    return W, log_det, variances > 0


def peak_density(
    log_det: np.ndarray, d: np.ndarray, degrees: np.ndarray | None
) -> np.ndarray:
    """The log density at the mean, in d columns: -½ [ln |Σ| + d ln 2π], or of Student-t
    ln Γ((ν+d)/2) - ln Γ(ν/2) - ½ [d ln πν + ln |Σ|]."""
    if degrees is None:
        return -0.5 * (log_det + d * np.log(2 * np.pi))
    half = 0.5 * degrees
    spread = 0.5 * (d * np.log(np.pi * degrees) + log_det)
    return gammaln(half + 0.5 * d) - gammaln(half) - spread


def log_joint_of(X: np.ndarray, at: ComponentValues) -> np.ndarray:
    """log π_k + log p(x | k) of rows without missing cells, (n, K)."""
    # with the constant 0 the Gaussian kernel gives -½ q
    half = gaussian_log_density(X, at.means, at.whitening, np.zeros(len(at.means)))
    if at.degrees is None:
        return half + (at.log_weights + at.constant)
    power = 0.5 * (at.degrees + at.used.sum())
    return at.log_weights + at.constant - power * np.log1p(-2.0 * half / at.degrees)

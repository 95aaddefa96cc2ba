"""Covariances by volume, shape and orientation, Σ_k = λ_k D_k A_k D_kᵀ, each equal (E) in all
components, varying (V), or not there (I)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lyceum.mixtures.covariance_forms import (
    BASIC_FORMS,
    CovarianceForm,
    CovariancePrior,
)

_ROUNDS = 500  # at most, of volumes and shape in turn
_STILL = 1e-12  # relative change of the volumes at which they end
_TINY = 1e-300

# With |A_k| = 1 the volume is λ_k = |Σ_k|^(1/d). The M-steps maximize, given the scatters S_k of
# n_k rows with those of the prior added to both (Celeux and Govaert 1995),
#
#     -½ Σ_k [n_k log |Σ_k| + tr(Σ_k⁻¹ S_k)].


def _diagonal_sums(
    S: np.ndarray, n: np.ndarray, prior: CovariancePrior
) -> tuple[np.ndarray, np.ndarray]:
    return S + prior.rows * prior.variance, n + prior.rows


def _matrix_sums(
    S: np.ndarray, n: np.ndarray, prior: CovariancePrior
) -> tuple[np.ndarray, np.ndarray]:
    return S + prior.rows * np.diag(prior.variance), n + prior.rows


def _over(sums: np.ndarray, counts: np.ndarray | float) -> np.ndarray:
    """sums / counts, 0 where there is nothing to divide by."""
    counts = np.broadcast_to(counts, np.shape(sums))
    return np.divide(sums, counts, out=np.zeros(np.shape(sums)), where=counts > 0)


def _volumes(S: np.ndarray) -> np.ndarray:
    """|S_k|^(1/d) of rows of variances, over the columns that vary."""
    varies = (S > 0).any(axis=0)
    if not varies.any():
        return np.zeros(len(S))
    logs = np.log(np.maximum(S[:, varies], _TINY))
    return np.exp(logs.mean(axis=1))


def _pooled(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    """The prior counts once, as there is one covariance."""
    return _over(S.sum(axis=0) + prior.rows * prior.variance, n.sum() + prior.rows)


def _eii(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    return np.full(S.shape, _pooled(S, n, prior).mean())


def _eei(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    return np.repeat(_pooled(S, n, prior)[None], len(S), axis=0)


def _equal_volume(S: np.ndarray, n: np.ndarray) -> np.ndarray:
    """λ S_k / |S_k|^(1/d), λ = Σ_k |S_k|^(1/d) / Σ n_k, of variances."""
    sizes = _volumes(S)
    return _over(sizes.sum(), n.sum()) * _over(S, sizes[:, None])


def _equal_shape(S: np.ndarray, n: np.ndarray) -> np.ndarray:
    """λ_k A: in turn λ_k = Σ_j S_kj / A_j / (d n_k), and A from Σ_k S_k / λ_k."""
    varies = (S > 0).any(axis=0)
    d = varies.sum()
    used = S[:, varies]
    volumes = np.maximum(_over(used.sum(axis=1), d * n), _TINY)
    shape = np.ones(d)
    for _ in range(_ROUNDS):
        shape = (used / volumes[:, None]).sum(axis=0)
        shape /= max(_volumes(shape[None])[0], _TINY)
        before = volumes
        scaled = (used / np.maximum(shape, _TINY)).sum(axis=1)
        volumes = np.maximum(_over(scaled, d * n), _TINY)
        if np.abs(volumes - before).max(initial=0.0) <= _STILL * volumes.max(
            initial=0.0
        ):
            break
    variances = np.zeros(S.shape)
    variances[:, varies] = volumes[:, None] * shape
    return variances


def _evi(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    return _equal_volume(*_diagonal_sums(S, n, prior))


def _vei(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    return _equal_shape(*_diagonal_sums(S, n, prior))


# -- full matrices ---------------------------------------------------------------------


def _in_own_directions(
    estimate: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[np.ndarray, np.ndarray, CovariancePrior], np.ndarray]:
    """The M-step of variances, applied to the eigenvalues of every scatter in its own
    directions."""

    def matrices(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
        scatter, rows = _matrix_sums(S, n, prior)
        # both in ascending order, which makes tr(Σ_k⁻¹ S_k) least
        values, vectors = np.linalg.eigh(scatter)
        # rounding below nothing
        values = np.where(values > 1e-14 * values[:, -1:], values, 0.0)
        variances = estimate(values, rows)
        return np.einsum("kij,kj,klj->kil", vectors, variances, vectors)

    return matrices


def _equal_volume_and_shape(S: np.ndarray, n: np.ndarray) -> np.ndarray:
    """λ A = Σ_k S_k / Σ n_k, of eigenvalues."""
    return np.repeat(_over(S.sum(axis=0), n.sum())[None], len(S), axis=0)


def _vee(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    """λ_k C: in turn λ_k = tr(C⁻¹ S_k) / (d n_k), and C from Σ_k S_k / λ_k."""
    scatter, rows = _matrix_sums(S, n, prior)
    varies = (np.einsum("kjj->kj", scatter) > 0).any(axis=0)
    used = scatter[:, varies][:, :, varies]
    d = int(varies.sum())
    volumes = np.maximum(_over(np.einsum("kjj->k", used), d * rows), _TINY)
    C = np.eye(d)
    for _ in range(_ROUNDS):
        C = np.einsum("kij,k->ij", used, 1.0 / volumes)
        C /= np.exp(np.linalg.slogdet(C)[1] / max(d, 1))
        before = volumes
        traces = np.einsum("kjj->k", np.linalg.solve(C, used))
        volumes = np.maximum(_over(traces, d * rows), _TINY)
        if np.abs(volumes - before).max(initial=0.0) <= _STILL * volumes.max(
            initial=0.0
        ):
            break
    covariances = np.zeros(scatter.shape)
    covariances[np.ix_(np.arange(len(covariances)), varies, varies)] = (
        volumes[:, None, None] * C
    )
    return covariances


def _named(
    name: str,
    estimate: Callable[[np.ndarray, np.ndarray, CovariancePrior], np.ndarray],
    diagonal: bool,
    is_one: bool = False,
) -> CovarianceForm:
    """A form that is stored component by component."""
    return CovarianceForm(
        name,
        diagonal=diagonal,
        pooled=False,
        estimate=estimate,
        expand=lambda c, K, d: c,
        distinct=lambda c, d: c[:1] if is_one else c,
        shape=lambda K, d: (K, d) if diagonal else (K, d, d),
    )


FORMS = {
    **BASIC_FORMS,
    "EII": _named("EII", _eii, diagonal=True, is_one=True),
    "VII": BASIC_FORMS["spherical"],
    "EEI": _named("EEI", _eei, diagonal=True, is_one=True),
    "VEI": _named("VEI", _vei, diagonal=True),
    "EVI": _named("EVI", _evi, diagonal=True),
    "VVI": BASIC_FORMS["diag"],
    "EEE": BASIC_FORMS["tied"],
    "VEE": _named("VEE", _vee, diagonal=False),
    "EEV": _named("EEV", _in_own_directions(_equal_volume_and_shape), diagonal=False),
    "VEV": _named("VEV", _in_own_directions(_equal_shape), diagonal=False),
    "EVV": _named("EVV", _in_own_directions(_equal_volume), diagonal=False),
    "VVV": BASIC_FORMS["full"],
}

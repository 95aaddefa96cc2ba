"""The four forms of the covariances of a mixture: their M-step, their prior, and their shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lyceum._core.probability import whiten


@dataclass(frozen=True)
class CovariancePrior:
    """An inverse Wishart prior of every covariance: `rows` rows of the variances `variance` are
    added.

    Up to a constant log p(Σ) = -½ rows (log |Σ| + tr(V Σ⁻¹)), so that the M-step gives
    Σ = (S + rows V) / (n + rows). With rows > 0 no component can collapse onto a point.
    """

    rows: float
    variance: np.ndarray  # (d,), the diagonal of V

    def log_density(self, covariances: np.ndarray) -> float:
        """The sum over covariances (K, d, d) or (K, d), columns without variance left out."""
        # a spherical covariance has its variance in constant columns too
        if covariances.ndim == 2:
            used = (covariances > 0).all(axis=0)
        else:
            used = self.variance > 0
        if not self.rows or not used.any():
            return 0.0
        V = self.variance[used]
        if covariances.ndim == 2:
            values = covariances[:, used]
            return float(-0.5 * self.rows * (np.log(values) + V / values).sum())
        S = covariances[:, used][:, :, used]
        inner = np.einsum("kjj,j->k", np.linalg.inv(S), V)
        return float(-0.5 * self.rows * (np.linalg.slogdet(S)[1] + inner).sum())


class ComponentWhitening(NamedTuple):
    """Covariances with the ridge of singular ones, their W and determinants, and the columns that
    vary."""

    matrices: np.ndarray  # (K, d, d), or variances (K, d)
    W: np.ndarray  # the same shape
    log_det: np.ndarray  # (K,)
    used: np.ndarray  # (K,)
    dependent: int | None


@dataclass(frozen=True)
class CovarianceForm:
    """How covariances are estimated, stored and used.

    Attributes
    ----------
    name : str
    diagonal, pooled : bool
        Whether only variances are summed, and whether scatters are added up over the components.
    estimate : function of (scatter, n, prior)
        The covariances as stored, from the scatters (K or 1, d, d) or (K, d) and the rows n of
        each.
    expand : function of (covariances, K, d)
        One matrix (K, d, d) or one row of variances (K, d) per component.
    distinct : function of (covariances, d)
        The same without repeats, for the prior.
    shape : function of (K, d)
        The shape of the stored covariances.
    """

    name: str
    diagonal: bool
    pooled: bool
    estimate: Callable[[np.ndarray, np.ndarray, CovariancePrior], np.ndarray]
    expand: Callable[[np.ndarray, int, int], np.ndarray]
    distinct: Callable[[np.ndarray, int], np.ndarray]
    shape: Callable[[int, int], tuple[int, ...]]

    def whiten(
        self, covariances: np.ndarray, K: int, variance: np.ndarray
    ) -> ComponentWhitening:
        """The whitening of every component; `variance` is that of the columns over all rows."""
        d = len(variance)
        matrices = np.array(self.expand(covariances, K, d))
        if self.pooled:
            once = whiten(matrices[0], variance)
        else:
            once = None
        white = [once or whiten(matrix, variance) for matrix in matrices]
        ridge = np.stack([one.ridge for one in white])
        matrices += ridge if self.diagonal else ridge[:, :, None] * np.eye(d)
        if self.diagonal:
            diagonals = matrices
        else:
            diagonals = np.einsum("kjj->kj", matrices)
        return ComponentWhitening(
            matrices,
            np.stack([one.W for one in white]),
            np.array([one.log_det for one in white]),
            (diagonals > 0).sum(axis=1),
            next((one.dependent for one in white if one.dependent is not None), None),
        )

    def log_prior(
        self, covariances: np.ndarray, d: int, prior: CovariancePrior
    ) -> float:
        return prior.log_density(self.distinct(covariances, d))


def _ratio(sums: np.ndarray, count: np.ndarray | float) -> np.ndarray:
    """sums / count, 0 where there is nothing to divide by."""
    count = np.broadcast_to(count, sums.shape)
    return np.divide(sums, count, out=np.zeros_like(sums), where=count > 0)


def _full(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    return _ratio(
        S + prior.rows * np.diag(prior.variance), (n + prior.rows)[:, None, None]
    )


def _estimate_tied(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    return _ratio(S[0] + prior.rows * np.diag(prior.variance), n.sum() + prior.rows)


def _diagonal(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    return _ratio(S + prior.rows * prior.variance, (n + prior.rows)[:, None])


def _spherical(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    d = S.shape[1]
    return _ratio(
        S.sum(axis=1) + prior.rows * prior.variance.sum(), d * (n + prior.rows)
    )


def _repeat(values: np.ndarray, K: int, d: int) -> np.ndarray:
    return np.broadcast_to(values, (K, d, d))


def _columns(values: np.ndarray, K: int, d: int) -> np.ndarray:
    return np.repeat(values[:, None], d, axis=1)


FORMS: dict[str, CovarianceForm] = {
    form.name: form
    for form in (
        CovarianceForm(
            "full",
            False,
            False,
            _full,
            lambda c, K, d: c,
            lambda c, d: c,
            lambda K, d: (K, d, d),
        ),
        CovarianceForm(
            "tied",
            False,
            True,
            _estimate_tied,
            _repeat,
            lambda c, d: c[None],
            lambda K, d: (d, d),
        ),
        CovarianceForm(
            "diag",
            True,
            False,
            _diagonal,
            lambda c, K, d: c,
            lambda c, d: c,
            lambda K, d: (K, d),
        ),
        CovarianceForm(
            "spherical",
            True,
            False,
            _spherical,
            _columns,
            lambda c, d: _columns(c, 0, d),
            lambda K, d: (K,),
        ),
    )
}

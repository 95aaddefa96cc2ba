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
        traces = np.einsum("kjj,j->k", np.linalg.inv(S), V)
        _, log_det = np.linalg.slogdet(S)
        return float(-0.5 * self.rows * (log_det + traces).sum())


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
        # a tied covariance is whitened once
        if self.pooled:
            white = [whiten(matrices[0], variance)] * K
        else:
            white = [whiten(matrix, variance) for matrix in matrices]
        ridge = np.stack([w.ridge for w in white])
        if self.diagonal:
            matrices += ridge
            variances = matrices
        else:
            matrices += ridge[:, :, None] * np.eye(d)
            variances = np.einsum("kjj->kj", matrices)
        dependent = [w.dependent for w in white if w.dependent is not None]
        return ComponentWhitening(
            matrices=matrices,
            W=np.stack([w.W for w in white]),
            log_det=np.array([w.log_det for w in white]),
            used=(variances > 0).sum(axis=1),
            dependent=dependent[0] if dependent else None,
        )

    def log_prior(
        self, covariances: np.ndarray, d: int, prior: CovariancePrior
    ) -> float:
        return prior.log_density(self.distinct(covariances, d))


def _ratio(sums: np.ndarray, count: np.ndarray | float) -> np.ndarray:
    """sums / count, 0 where there is nothing to divide by."""
    count = np.broadcast_to(count, sums.shape)
    return np.divide(sums, count, out=np.zeros_like(sums), where=count > 0)


# The M-steps, Σ = (S + rows V) / (n + rows): of every component, of all together (S is summed over
# them), of every column, and of all columns together.


def _full(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    raised = S + prior.rows * np.diag(prior.variance)
    return _ratio(raised, (n + prior.rows)[:, None, None])


def _tied(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    raised = S[0] + prior.rows * np.diag(prior.variance)
    return _ratio(raised, n.sum() + prior.rows)


def _diagonal(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    return _ratio(S + prior.rows * prior.variance, (n + prior.rows)[:, None])


def _spherical(S: np.ndarray, n: np.ndarray, prior: CovariancePrior) -> np.ndarray:
    d = S.shape[1]
    raised = S.sum(axis=1) + prior.rows * prior.variance.sum()
    return _ratio(raised, d * (n + prior.rows))


_ALL_FORMS = (
    CovarianceForm(
        "full",
        diagonal=False,
        pooled=False,
        estimate=_full,
        expand=lambda c, K, d: c,
        distinct=lambda c, d: c,
        shape=lambda K, d: (K, d, d),
    ),
    CovarianceForm(
        "tied",
        diagonal=False,
        pooled=True,
        estimate=_tied,
        expand=lambda c, K, d: np.broadcast_to(c, (K, d, d)),
        distinct=lambda c, d: c[None],
        shape=lambda K, d: (d, d),
    ),
    CovarianceForm(
        "diag",
        diagonal=True,
        pooled=False,
        estimate=_diagonal,
        expand=lambda c, K, d: c,
        distinct=lambda c, d: c,
        shape=lambda K, d: (K, d),
    ),
    CovarianceForm(
        "spherical",
        diagonal=True,
        pooled=False,
        estimate=_spherical,
        expand=lambda c, K, d: np.repeat(c[:, None], d, axis=1),
        distinct=lambda c, d: np.repeat(c[:, None], d, axis=1),
        shape=lambda K, d: (K,),
    ),
)
BASIC_FORMS = {form.name: form for form in _ALL_FORMS}

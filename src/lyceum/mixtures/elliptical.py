"""Mixtures of Gaussians and of Student-t as problems for expectation-maximization, and what both
share."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import optimize
from scipy.linalg import LinAlgWarning
from scipy.special import digamma

from lyceum._core.data import Block, Rows
from lyceum._core.probability import RIDGE, runner_up_odds
from lyceum._core.solvers import EMOutcome, EMProblem, ExpectationMaximization
from lyceum._core.statistics import Moments
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Operation
from lyceum.errors import SettingError, cannot_export
from lyceum.evaluate import degrees_of_freedom
from lyceum.mixtures.base import Mixture
from lyceum.mixtures.covariance_forms import CovarianceForm, CovariancePrior
from lyceum.mixtures.named_forms import FORMS
from lyceum.mixtures.plateau import leave_plateau
from lyceum.mixtures.start import ScaledCells, StartLabels, given_array, given_weights
from lyceum.mixtures.sums import (
    ComponentValues,
    MixtureProblem,
    MixtureSums,
    float_cells,
)
from lyceum.report import Table

LEAST_DEGREES = 0.5
MOST_DEGREES = 1000.0
# of the variance of a column: the least that a cluster has for the prior
_PRIOR_FLOOR = 1e-3


@dataclass(frozen=True, eq=False)
class EllipticalParameters:
    """The parameters of a mixture of Gaussians, or of Student-t with `degrees`."""

    weights: np.ndarray  # (K,)
    means: np.ndarray  # (K, d)
    covariances: np.ndarray  # as stored by their form
    degrees: np.ndarray | None
    values: ComponentValues


@dataclass(frozen=True, eq=False)
class EllipticalProblem(MixtureProblem):
    """The mixture as expectation-maximization sees it.

    Attributes
    ----------
    form : CovarianceForm
    prior : CovariancePrior
    variance : array of shape (d,)
        The variance of every column over all rows.
    degrees : None, "estimate" or float
        None for Gaussians.
    reg_covar : float
        What is added to the variances.
    """

    form: CovarianceForm
    prior: CovariancePrior
    variance: np.ndarray
    degrees: Any = None
    reg_covar: float = 0.0

    def parameters(
        self,
        weights: np.ndarray,
        means: np.ndarray,
        covariances: np.ndarray,
        degrees: np.ndarray | None,
    ) -> EllipticalParameters:
        values = ComponentValues.of(
            weights, means, covariances, self.form, self.variance, degrees
        )
        return EllipticalParameters(weights, means, covariances, degrees, values)

    def maximization(self, statistic: MixtureSums) -> EllipticalParameters:
        n = statistic.rows
        moments = statistic.moments
        covariances = self.form.estimate(moments.scatter, n, self.prior)
        if self.form.diagonal:
            covariances = covariances + self.reg_covar
        else:
            covariances = covariances + self.reg_covar * np.eye(covariances.shape[-1])
        degrees = self._new_degrees(statistic)
        return self.parameters(n / n.sum(), moments.mean, covariances, degrees)

    def _new_degrees(self, statistic: MixtureSums) -> np.ndarray | None:
        K = len(statistic.rows)
        if self.degrees is None:
            return None
        if self.degrees != "estimate":
            return np.full(K, float(self.degrees))
        if not statistic.logs.any():  # a start from labels
            return np.full(K, 10.0)
        # the mean of E[log u - u] over the rows of a component; -1, as of u = 1, without rows
        n = statistic.rows
        mean = np.divide(statistic.logs, n, out=np.full(K, -1.0), where=n > 0)
        return np.array([_degrees_from(value) for value in mean])

    def label_likelihood(self, sums: MixtureSums) -> float:
        """The log-likelihood of rows together with their labels, plus the log prior, where `sums`
        are those of the labels.

        Σ_k n_k (log π_k + log N(μ_k; μ_k, Σ_k)) - ½ Σ_k tr(Σ_k⁻¹ S_k): no pass over the rows.
        """
        parameters = self.maximization(sums)
        W = parameters.values.whitening
        S = sums.moments.scatter
        # a scatter of all components together has one Σ
        peaks = parameters.values.log_weights + parameters.values.constant
        has_rows = sums.rows > 0
        at_means = float(sums.rows[has_rows] @ peaks[has_rows])
        W = W[: len(S)]
        if S.ndim == 2:
            spread = (W**2 * S).sum()
        else:
            spread = np.einsum("kij,kjl,kil->", W, S, W)
        return at_means - 0.5 * float(spread) + self.log_prior(parameters)

    def log_prior(self, parameters: EllipticalParameters) -> float:
        return self.form.log_prior(
            parameters.covariances, parameters.means.shape[1], self.prior
        )


def _degrees_from(mean: float) -> float:
    """The root of log(ν/2) - ψ(ν/2) + 1 + mean, with mean = E[log u - u] < -1."""

    def slope(v: float) -> float:
        return float(np.log(0.5 * v) - digamma(0.5 * v) + 1.0 + mean)

    if slope(MOST_DEGREES) >= 0:
        return MOST_DEGREES
    if slope(LEAST_DEGREES) <= 0:
        return LEAST_DEGREES
    return float(optimize.brentq(slope, LEAST_DEGREES, MOST_DEGREES))


class EllipticalMixture(Mixture):
    """A mixture of Gaussians or Student-t: starts, densities, draws and summaries."""

    _parameter_docs: ClassVar[str] = """
    covariance_type : {"full", "tied", "diag", "spherical"}, or a name of three letters
        One covariance per component, one for all, variances only, or one variance per component.
        Or whether the volume, the shape and the orientation of the components are equal (E), vary
        (V), or are those of a sphere or of the columns (I): "EII", "VII" (spherical), "EEI", "VEI",
        "EVI", "VVI" (diag), "EEE" (tied), "VEE", "EEV", "VEV", "EVV", "VVV" (full), as mclust has
        them.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}
        The start: clusters of k-means in columns of variance 1, the rows nearest to centers of
        k-means++ (one pass), random memberships, or the rows nearest to rows drawn at random.
    prior_rows : float
        n_0, how many rows the prior covariance counts for; 0 for maximum likelihood, which may
        collapse.
    """

    _attribute_docs: ClassVar[str] = """
    precisions_cholesky_ : array in the shape of the covariances
        P of every component, with P Pᵀ its precision; of variances their roots to the power of -1.
    """

    _coding = "reference"
    _takes_missing = True

    covariance_type: str
    prior_rows: float
    weights_init: Any
    means_init: Any
    precisions_init: Any
    means_: np.ndarray
    covariances_: np.ndarray
    var_: np.ndarray
    prior_variance_: np.ndarray

    _degrees: Any = None  # None, "estimate" or a number
    reg_covar: float = 0.0  # a parameter of Gaussians

    @property
    def _form(self) -> CovarianceForm:
        return FORMS[self.covariance_type]

    # -- fit ---------------------------------------------------------------------------

    def _em_problem(
        self, rows: Rows, moments: Moments
    ) -> tuple[EMProblem, Iterable[Any]]:
        variance = np.nan_to_num(moments.variance())
        rows_of_prior = float(self.prior_rows)
        problem = EllipticalProblem(
            self._form,
            CovariancePrior(0.0, variance),
            variance,
            self._degrees,
            self.reg_covar,
        )
        if self.warm_start and hasattr(self, "means_"):
            prior = CovariancePrior(rows_of_prior, self.prior_variance_)
            problem = replace(problem, prior=prior)
            degrees = getattr(self, "degrees_", None)
            start = problem.parameters(
                self.weights_, self.means_, self.covariances_, degrees
            )
            return problem, [start]
        # the prior has the variances within the clusters of the first start, the same for all
        # starts, so that their objectives can be compared
        start_sums = self._start_sums(rows, moments, problem)
        within = within_variance(start_sums[0], variance)
        problem = replace(problem, prior=CovariancePrior(rows_of_prior, within))
        return problem, [
            self._with_given(problem, self._first(problem, sums)) for sums in start_sums
        ]

    def _start_sums(
        self, rows: Rows, moments: Moments, problem: EllipticalProblem
    ) -> list[MixtureSums]:
        """The sums of the clusters that every run starts from."""
        return [
            rows.reduce(partial(problem.start_sums, labels=labels))
            for labels in self._start_labels(rows, moments)
        ]

    def _first(
        self, problem: EllipticalProblem, sums: MixtureSums
    ) -> EllipticalParameters:
        """The parameters of a start; Student-t starts with the prior covariance, which no outlier
        pulls."""
        start = problem.maximization(sums)
        if self._degrees is None:
            return start
        prior = CovariancePrior(1.0, problem.prior.variance)
        empty = np.zeros_like(sums.moments.scatter), np.zeros_like(start.weights)
        covariances = problem.form.estimate(*empty, prior)
        return problem.parameters(
            start.weights, start.means, covariances, start.degrees
        )

    def _start_labels(self, rows: Rows, moments: Moments) -> list[StartLabels]:
        scaling = ScaledCells.of(moments.mean, moments.variance())
        if self.means_init is None:
            return self._label_starts(rows, scaling)
        shape = (int(self.n_components), len(rows.schema))
        centers = scaling.cells(given_array("means_init", self.means_init, shape))
        return [StartLabels(centers, scaling)]

    def _with_given(
        self, problem: EllipticalProblem, start: EllipticalParameters
    ) -> EllipticalParameters:
        """The start, with the parameters that were given in place of those that were found."""
        K, d = start.means.shape
        weights = start.weights
        means = start.means
        covariances = start.covariances
        if self.weights_init is not None:
            weights = given_weights(self.weights_init, K)
        if self.means_init is not None:
            means = given_array("means_init", self.means_init, (K, d))
        if self.precisions_init is not None:
            shape = self._form.shape(K, d)
            label = f"{self.covariance_type} precision"
            precisions = given_array(
                "precisions_init", self.precisions_init, shape, label
            )
            covariances = _inverse(precisions, self._form.diagonal, label)
        return problem.parameters(weights, means, covariances, start.degrees)

    def _improve_run(
        self,
        rows: Rows,
        problem: Any,
        solver: ExpectationMaximization,
        outcome: EMOutcome,
    ) -> EMOutcome:
        return leave_plateau(rows, problem, solver, outcome)

    def _keep(
        self, parameters: EllipticalParameters, problem: EllipticalProblem
    ) -> None:
        self.weights_ = parameters.weights
        self.means_ = parameters.means
        self.covariances_ = parameters.covariances
        if parameters.degrees is not None:
            self.degrees_ = parameters.degrees
        self.var_ = problem.variance
        self.prior_variance_ = problem.prior.variance
        self._warn_if_singular()

    def _warn_if_singular(self) -> None:
        white = self._form.whiten(self.covariances_, len(self.means_), self.var_)
        if white.dependent is not None:
            warnings.warn(
                f"{type(self).__name__}: the covariance of a component is singular in column"
                f" {self.design_names[white.dependent]!r}: {RIDGE:g} of the variances was added."
                " Set prior_rows above 0, so that no component can collapse",
                LinAlgWarning,
                stacklevel=6,
            )

    def _step_values(self, parameters: EllipticalParameters) -> dict[str, Any]:
        values = {
            "weights": parameters.weights,
            "means": parameters.means,
            "covariances": parameters.covariances,
        }
        if parameters.degrees is None:
            return values
        return {**values, "degrees": parameters.degrees}

    # -- use ---------------------------------------------------------------------------

    @property
    def _values(self) -> ComponentValues:
        degrees = getattr(self, "degrees_", None)
        return ComponentValues.of(
            self.weights_,
            self.means_,
            self.covariances_,
            self._form,
            self.var_,
            degrees,
        )

    def _log_joint(self, block: Block) -> np.ndarray:
        return self._values.log_joint(float_cells(block))

    def _operations(self) -> list[Operation]:
        values = self._values
        if values.degrees is not None:
            raise cannot_export(self, "its densities are Student's")
        whiten = values.whitening
        if whiten.ndim == 2:  # diagonals
            whiten = whiten[:, :, None] * np.eye(whiten.shape[1])
        constants = {
            "means": values.means.tolist(),
            "whiten": whiten.tolist(),
            "constant": (values.log_weights + values.constant).tolist(),
        }
        # marginals of every pattern of missing cells are not written
        complete = {
            "names": self.design_names,
            "takes_missing": False,
            "is_stricter": True,
        }
        return [("require", complete), ("gaussians", constants), ("softmax", {})]

    def _draw(self, k: int, n: int, random: np.random.RandomState) -> np.ndarray:
        # Student-t: a Gaussian over the root of χ²_ν / ν. By eigenvalues, as Σ may be singular.
        d = self.means_.shape[1]
        matrix = self._values.matrices[k]
        noise = random.standard_normal((n, d))
        degrees = getattr(self, "degrees_", None)
        if degrees is not None:
            noise *= np.sqrt(degrees[k] / random.chisquare(degrees[k], n))[:, None]
        if matrix.ndim == 1:
            return self.means_[k] + noise * np.sqrt(matrix)
        values, vectors = np.linalg.eigh(matrix)
        deviations = np.sqrt(np.maximum(values, 0.0))
        return self.means_[k] + (noise * deviations) @ vectors.T

    def _column_terms(self, block: Block) -> np.ndarray:
        X = np.ascontiguousarray(block.X, dtype=np.float64)
        return runner_up_odds(*self._values.known_terms(X))

    # -- what was learned --------------------------------------------------------------

    @property
    def precisions_(self) -> np.ndarray:
        """The inverses of the covariances, in the same shape; 0 in columns without variance."""
        W = self._form.whiten(self.covariances_, len(self.means_), self.var_).W
        if self._form.diagonal:
            precisions = W**2
        else:
            precisions = np.einsum("kij,kil->kjl", W, W)
        if self._form.pooled:
            return precisions[0]
        if self._form.name == "spherical":
            return precisions[:, 0]
        return precisions

    @property
    def precisions_cholesky_(self) -> np.ndarray:
        """P of every component with P Pᵀ its precision; standard deviations to the power of -1
        where there are variances alone."""
        W = self._form.whiten(self.covariances_, len(self.means_), self.var_).W
        if not self._form.diagonal:
            W = np.swapaxes(W, -1, -2)
        if self._form.pooled:
            return W[0]
        if self._form.name == "spherical":
            return W[:, 0]
        return W

    def _n_parameters(self) -> int:
        K, d = self.means_.shape
        return degrees_of_freedom(
            "gaussian_mixture", d=d, K=K, covariance=self.covariance_type
        )

    def _component_table(self) -> list[Table]:
        names = [f"component {k}" for k in range(len(self.weights_))]
        degrees = getattr(self, "degrees_", None)
        variances = self._form.expand(self.covariances_, *self.means_.shape)
        if variances.ndim == 3:
            variances = np.einsum("kjj->kj", variances)
        deviations = np.sqrt(variances)
        head: tuple[str, ...] = ("component", "weight")
        weights: list[Any] = [*zip(names, self.weights_.tolist())]
        if degrees is not None:
            head = (*head, "degrees of freedom")
            weights = [(*row, v) for row, v in zip(weights, degrees)]
        means = [
            (name, *column) for name, column in zip(self.design_names, self.means_.T)
        ]
        spread = [
            (name, *column) for name, column in zip(self.design_names, deviations.T)
        ]
        return [
            Table("Components", head, weights),
            Table("Means", ("column", *names), means),
            Table("Standard deviations", ("column", *names), spread),
        ]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.weights_)
        d = len(self.design_names)
        return {
            "weights_": (K,),
            "means_": (K, d),
            "covariances_": self._form.shape(K, d),
            "var_": (d,),
        }


def _inverse(precisions: np.ndarray, diagonal: bool, label: str) -> np.ndarray:
    """The covariances of given precisions, which errors call `label`."""
    if diagonal:
        if not (precisions > 0).all():
            raise SettingError(
                f"'{label}' should be positive: set precisions_init, and leave constant columns"
                " out"
            )
        return 1.0 / precisions
    try:
        np.linalg.cholesky(precisions)
        is_symmetric = np.allclose(precisions, np.swapaxes(precisions, -1, -2))
    except np.linalg.LinAlgError:
        is_symmetric = False
    if not is_symmetric:
        raise SettingError(
            f"'{label}' should be symmetric, positive-definite: set precisions_init, and leave"
            " constant columns out"
        )
    return np.linalg.inv(precisions)


def within_variance(sums: MixtureSums, variance: np.ndarray) -> np.ndarray:
    """The variances of the columns within the clusters of a start: their harmonic mean.

    A few rows far away raise a variance without limit, but hardly its harmonic mean over the
    clusters.
    """
    scatter = sums.moments.scatter
    n = sums.rows
    if scatter.ndim == 3:
        scatter = np.einsum("kjj->kj", scatter)
    if len(scatter) != len(n):  # one for all components
        n = n.sum(keepdims=True)
    has_spread = n > 1.0
    if not has_spread.any():
        return variance
    # N / Σ_k (n_k / σ²_k), with every σ²_k at least a thousandth of the column's
    n = n[has_spread, None]
    own = np.maximum(scatter[has_spread] / n, _PRIOR_FLOOR * variance)
    ratio = np.divide(n, own, out=np.zeros_like(own), where=own > 0)
    precision = ratio.sum(axis=0)
    return np.divide(
        n.sum(), precision, out=np.zeros_like(variance), where=precision > 0
    )


def elliptical_steps(
    objective: StepColumn,
    *more: StepColumn,
    weights: str,
    means: str,
    covariances: str,
) -> StepKind:
    """What the record of a mixture of ellipses holds, with the formulas of its M-step."""
    return StepKind(
        "iteration",
        (
            objective,
            StepColumn(
                "weights", "π", weights, axes=("component",), ends_in="weights_"
            ),
            StepColumn(
                "means", "μ", means, axes=("component", "column"), ends_in="means_"
            ),
            StepColumn(
                "covariances",
                "S",
                covariances,
                axes=("component", "column", "column"),
                ends_in="covariances_",
            ),
            *more,
        ),
    )

"""The penalized log loss of logistic regression as a problem for the solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from lyceum._core.data import Block, Rows
from lyceum._core.solvers import Point
from lyceum._core.statistics import (
    ClassScatter,
    LogisticLoss,
    Moments,
    PositiveFactor,
    Scatter,
    SoftmaxCurvature,
    SoftmaxLoss,
    class_weights,
)
from lyceum.linear.penalized.unit_columns import ScaleColumns, inverse_deviations
from lyceum.linear.row_passes import first_pass, without_checks

WIDE = 1024  # columns from which on no d x d matrix is made for the start and the preconditioner


@dataclass(frozen=True, slots=True)
class ClassSpread:
    """The sums of one pass before the first step: class weights, class means, scatter of the
    columns."""

    n_rows: int
    weight: np.ndarray  # (K,)
    mean: np.ndarray  # (d,) over all classes
    offsets: np.ndarray | None  # (K, d) class means less `mean`; None for wide tables
    scatter: np.ndarray  # (d, d) about `mean`, or its diagonal (d,) for wide tables

    @classmethod
    def of(cls, rows: Rows, n_classes: int) -> ClassSpread:
        d = len(rows.schema)
        if d > WIDE:
            wide = first_pass(rows, partial(_WideSpread.of, n_classes=n_classes))
            moments = wide.moments
            return cls(moments.n_rows, wide.weight, moments.mean, None, moments.scatter)
        if n_classes == 2:
            return cls._of_two(first_pass(rows, partial(Scatter.of, target=True)))
        return cls._of_many(first_pass(rows, partial(_finite_scatter)).scatter)

    def standardize(self) -> tuple[ClassSpread, np.ndarray]:
        """The spread of the columns divided by their standard deviations, and what they are
        multiplied by."""
        square = self.scatter.ndim == 2
        if square:
            diagonal = np.diagonal(self.scatter)
        else:
            diagonal = self.scatter
        f = inverse_deviations(diagonal, self.weight.sum())
        if self.offsets is None:
            offsets = None
        else:
            offsets = self.offsets * f
        scatter = self.scatter * (np.outer(f, f) if square else f**2)
        return ClassSpread(self.n_rows, self.weight, self.mean * f, offsets, scatter), f

    @classmethod
    def _of_two(cls, joint: Scatter) -> ClassSpread:
        # With y of 0 and 1: w₁ = W ȳ, and Σ w (x - x̄)(y - ȳ) = w₁ (x̄₁ - x̄) = -w₀ (x̄₀ - x̄).
        weight = joint.weight * np.array([1.0 - joint.y_mean, joint.y_mean])
        signed = np.outer([-1.0, 1.0], joint.xy)
        offsets = np.divide(
            signed, weight[:, None], out=np.zeros_like(signed), where=weight[:, None] > 0
        )
        return cls(joint.n_rows, weight, joint.x_mean, offsets, joint.xx)

    @classmethod
    def _of_many(cls, classes: ClassScatter) -> ClassSpread:
        _, mean, _ = classes.over_classes()
        offsets = np.where(classes.weight[:, None] > 0, classes.mean - mean, 0.0)
        between = (offsets * classes.weight[:, None]).T @ offsets
        return cls(classes.n_rows, classes.weight, mean, offsets, classes.scatter[0] + between)


@dataclass(frozen=True, slots=True)
class _FiniteScatter:
    scatter: ClassScatter

    def merge(self, other: _FiniteScatter) -> _FiniteScatter:
        return _FiniteScatter(self.scatter.merge(other.scatter))

    @property
    def is_finite(self) -> bool:
        return bool(
            np.isfinite(self.scatter.scatter).all() and np.isfinite(self.scatter.mean).all()
        )


def _finite_scatter(block: Block) -> _FiniteScatter:
    return _FiniteScatter(ClassScatter.of(block, pooled=True))


@dataclass(frozen=True, slots=True)
class _WideSpread:
    moments: Moments
    weight: np.ndarray

    @classmethod
    def of(cls, block: Block, n_classes: int) -> _WideSpread:
        return cls(Moments.of(block), class_weights(block, n_classes))

    def merge(self, other: _WideSpread) -> _WideSpread:
        return _WideSpread(self.moments.merge(other.moments), self.weight + other.weight)

    @property
    def is_finite(self) -> bool:
        # Moments leave missing cells out: the weight of a column then falls short of that of the
        # rows
        moments = self.moments
        total = self.weight.sum()
        return bool(
            np.isfinite(moments.scatter).all() and (moments.weight >= total * (1 - 1e-12)).all()
        )


@dataclass(frozen=True)
class LogLoss:
    """Σ w_i (log loss of row i) + penalty/2 Σ b², the intercepts free.

    Parameters θ have shape (outputs, d + 1): one output for two classes, K for more, the intercept
    last and taken at the column means (`shift`), where the intercept's curvature is parted from
    that of the others. With K outputs the loss does not change when one vector is added to all of
    them; gradients, steps and solutions stay in Σ_k θ_k = 0, or, with a reference class, at θ = 0
    of that class.
    """

    rows: Rows
    spread: ClassSpread
    penalty: float
    fit_intercept: bool
    class_weight: np.ndarray | None
    reference: int | None = None  # the output that stays zero, of more than one
    factors: np.ndarray | None = None  # (d,) what the columns were multiplied by

    @classmethod
    def over(
        cls,
        rows: Rows,
        spread: ClassSpread,
        penalty: float,
        fit_intercept: bool,
        class_weight: np.ndarray | None,
        reference: int | None = None,
        standardize: bool = False,
    ) -> LogLoss:
        if not (len(spread.weight) > 2):
            reference = None
        factors = None
        if standardize:
            spread, factors = spread.standardize()
            rows = rows.then(ScaleColumns(factors))
        return cls(
            without_checks(rows), spread, penalty, fit_intercept, class_weight, reference, factors
        )

    # -- units -------------------------------------------------------------------------

    def weights_at_zero(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the columns as they came, and intercepts at x = 0 instead of at the
        means."""
        coef = np.ascontiguousarray(theta[:, :-1])
        intercept = theta[:, -1] - coef @ self.shift
        return (coef if self.factors is None else coef * self.factors), intercept

    def covariance_as_came(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """H⁻¹ for the columns as they came, and where on them the intercepts are taken."""
        inverse = self.covariance(point)
        if self.factors is None:
            return inverse, self.shift
        f = np.tile(np.append(self.factors, 1.0), self.outputs)
        return inverse * np.outer(f, f), self.shift / self.factors

    # -- shapes ------------------------------------------------------------------------

    @property
    def outputs(self) -> int:
        if len(self.spread.weight) == 2:
            return 1
        return len(self.spread.weight)

    @property
    def shape(self) -> tuple[int, int]:
        return self.outputs, len(self.spread.mean) + 1

    @cached_property
    def shift(self) -> np.ndarray:
        if self.fit_intercept:
            return self.spread.mean
        return np.zeros_like(self.spread.mean)

    @cached_property
    def class_totals(self) -> np.ndarray:
        """The weight of every class, its class weight included."""
        if self.class_weight is None:
            return self.spread.weight
        return self.spread.weight * self.class_weight

    @cached_property
    def _penalties(self) -> np.ndarray:
        return np.append(np.full(self.shape[1] - 1, self.penalty), 0.0)

    @cached_property
    def _free(self) -> np.ndarray:
        """The columns of θ that may move."""
        return np.arange(self.shape[1] if self.fit_intercept else self.shape[1] - 1)

    @cached_property
    def _unit(self) -> np.ndarray:
        """The root mean square of every design column; 1 for the intercept and columns that never
        vary."""
        if self.spread.scatter.ndim == 2:
            variance = np.diagonal(self.spread.scatter)
        else:
            variance = self.spread.scatter
        variance = variance / self.spread.weight.sum()
        if not self.fit_intercept:
            variance = variance + self.spread.mean**2
        return np.append(np.where(variance > 0, np.sqrt(variance), 1.0), 1.0)

    @cached_property
    def basis(self) -> np.ndarray:
        return output_basis(self.outputs, self.reference)

    # -- what solvers ask for ----------------------------------------------------------

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        """The objective at θ: one pass over the rows."""
        loss = LogisticLoss if self.outputs == 1 else SoftmaxLoss
        coef = np.ascontiguousarray(theta[0] if self.outputs == 1 else theta)
        sums = self.rows.reduce(
            partial(
                loss.of,
                coef=coef,
                shift=self.shift,
                hessian=hessian,
                class_weight=self.class_weight,
            )
        )
        if hessian:
            H = sums.hessian + np.diag(np.tile(self._penalties, self.outputs))
        else:
            H = None
        return self._point(theta, sums.value, sums.gradient.reshape(self.shape), H)

    def curvature(self, point: Point, chosen: np.ndarray) -> np.ndarray:
        """The Hessian at a point in some entries of θ, (m, m); a pass over the rows if the point
        has none."""
        if point.hessian is not None:
            return point.hessian[np.ix_(chosen, chosen)]
        if not point.theta[:, :-1].any() and self.fit_intercept:
            return self._null_curvature(chosen)
        coef = np.ascontiguousarray(point.theta)
        weights = self.class_weight
        of = partial(
            SoftmaxCurvature.of, coef=coef, shift=self.shift, chosen=chosen, class_weight=weights
        )
        return self.rows.reduce(of).hessian + np.diag(
            np.tile(self._penalties, self.outputs)[chosen]
        )

    def _null_curvature(self, chosen: np.ndarray) -> np.ndarray:
        """The Hessian at the intercepts alone: that of the outputs times that of the columns."""
        output, column = np.divmod(chosen, self.shape[1])
        S = np.diag(np.append(np.zeros(self.shape[1] - 1), self.class_totals.sum()))
        scatter = self.spread.scatter * (self.class_totals.sum() / self.spread.weight.sum())
        if scatter.ndim == 1:
            S[:-1, :-1] = np.diag(scatter)
        else:
            S[:-1, :-1] = scatter
        outputs = np.diag(self.priors) - np.outer(self.priors, self.priors)
        H = outputs[np.ix_(output, output)] * S[np.ix_(column, column)]
        return H + np.diag(self._penalties[column])

    def _point(
        self, theta: np.ndarray, value: float, gradient: np.ndarray, H: np.ndarray | None
    ) -> Point:
        """A loss with the penalty added to it, and no slope in what may not move."""
        gradient = gradient + self._penalties * theta
        if not self.fit_intercept:
            gradient[:, -1] = 0.0
        if self.reference is not None:
            gradient[self.reference] = 0.0
        return Point(theta, value + 0.5 * float((self._penalties * theta**2).sum()), gradient, H)

    def size(self, gradient: np.ndarray) -> float:
        """The largest correlation of residuals and columns: |Σ w (p - y) x| / Σ w over columns of
        unit spread and, in every class, residuals of the spread sqrt(π (1 - π)) that they have at
        the null model.
        """
        return float(np.abs(gradient / (self._unit * self._residual_unit)).max())

    def level(self, value: float) -> float:
        """1, or less where less than a hundredth of the null model's loss is left.

        Where classes are nearly separated all residuals are small, and a gradient is small only
        beside them. Without a penalty it is 1, as there may be no minimum.
        """
        if self.penalty > 0:
            return self.small_beside(value)
        return 1.0

    def small_beside(self, value: float) -> float:
        """A hundred times the objective's share of the loss of the null model, at most 1.

        The curvature falls with the loss, so that a gradient of tol times this leaves a share of
        about (100 tol)² of the objective to gain.
        """
        if self.null_value > 0:
            return min(1.0, 1e2 * value / self.null_value)
        return 1.0

    @cached_property
    def _residual_unit(self) -> np.ndarray:
        if self.outputs == 1:
            priors = self.priors[1:]
        else:
            priors = self.priors
        spread = np.sqrt(priors * np.maximum(1.0 - priors, 1e-15))
        return self.class_totals.sum() * spread[:, None]

    def newton_step(self, point: Point) -> np.ndarray:
        basis, factor = self._curvature(point)
        return -self._spread_out(basis, factor.solve(self._project_gradient(basis, point.gradient)))

    def covariance(self, point: Point) -> np.ndarray:
        """H⁻¹ at a point, (outputs (d + 1))², within `basis`; zero for what is not fitted."""
        basis, factor = self._curvature(point)
        free = np.zeros((basis.shape[1], *self.shape, len(self._free)))
        free[:, :, self._free, np.arange(len(self._free))] = basis.T[:, :, None]
        spread = np.moveaxis(free, -1, 1).reshape(-1, self.outputs * self.shape[1])
        return spread.T @ factor.inverse() @ spread

    def _curvature(self, point: Point) -> tuple[np.ndarray, PositiveFactor]:
        """The basis of the outputs that matter, and the Hessian in it, factored."""
        assert point.hessian is not None
        basis = self.basis
        size = self.shape[1]
        free = self._free
        H = point.hessian.reshape(self.outputs, size, self.outputs, size)[:, free][:, :, :, free]
        small = np.einsum("ka,kilj,lb->aibj", basis, H, basis, optimize=True)
        m = basis.shape[1] * len(free)
        return basis, PositiveFactor.of(small.reshape(m, m))

    def _project_gradient(self, basis: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        return (basis.T @ gradient[:, self._free]).ravel()

    def _spread_out(self, basis: np.ndarray, values: np.ndarray) -> np.ndarray:
        out = np.zeros(self.shape)
        out[:, self._free] = basis @ values.reshape(basis.shape[1], -1)
        return out

    # -- start and preconditioner ------------------------------------------------------

    @cached_property
    def priors(self) -> np.ndarray:
        """Class shares, kept off zero so that a class without weight has a finite intercept."""
        return np.maximum(self.class_totals / self.class_totals.sum(), 1e-15)

    @property
    def null_value(self) -> float:
        """The loss of the intercepts alone."""
        if not self.fit_intercept:
            return float(self.class_totals.sum() * np.log(len(self.priors)))
        return float(-(self.class_totals * np.log(self.priors)).sum())

    def null(self) -> np.ndarray:
        """θ of the intercepts alone."""
        theta = np.zeros(self.shape)
        if self.fit_intercept:
            logs = np.log(self.priors)
            if self.reference is None:
                level = logs.mean()
            else:
                level = logs[self.reference]
            if self.outputs == 1:
                theta[:, -1] = logs[1] - logs[0]
            else:
                theta[:, -1] = logs - level
        return theta

    def start(self) -> np.ndarray:
        """The linear discriminant with the same penalty: one preconditioned step from the
        intercepts."""
        theta = self.null()
        if self.spread.offsets is None or not self.fit_intercept:
            return theta
        # at the null model the gradient in b_k is -w_k (mean_k - mean)
        pull = self.class_totals[:, None] * self.spread.offsets
        gradient = np.zeros(self.shape)
        if self.outputs == 1:
            gradient[:, :-1] = -pull[1:]
        else:
            gradient[:, :-1] = -pull
        return theta - self.precondition(gradient)

    @cached_property
    def _class_curvature(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and vectors of diag(π) - ππᵀ, the curvature in the outputs at the null
        model."""
        if self.outputs == 1:
            return np.array([self.priors[0] * self.priors[1]]), np.ones((1, 1))
        curvature = np.diag(self.priors) - np.outer(self.priors, self.priors)
        if self.reference is not None:
            values, vectors = np.linalg.eigh(self.basis.T @ curvature @ self.basis)
            return np.maximum(values, 0.0), self.basis @ vectors
        values, vectors = np.linalg.eigh(curvature)
        values[0], vectors[:, 0] = 0.0, 1 / np.sqrt(self.outputs)
        return np.maximum(values, 0.0), vectors

    @cached_property
    def _column_curvature(self) -> np.ndarray:
        """Mostly the scatter within classes (that of the discriminant), some of the total so that
        nothing is lost.
        """
        spread = self.spread
        total = self.class_totals.sum()
        scatter = spread.scatter / spread.weight.sum()
        if spread.scatter.ndim == 2 and spread.offsets is not None:
            between = (
                spread.offsets * (spread.weight / spread.weight.sum())[:, None]
            ).T @ spread.offsets
            scatter = scatter - 0.9 * between
            if not self.fit_intercept:
                scatter = scatter + np.outer(spread.mean, spread.mean)
        elif not self.fit_intercept:
            scatter = scatter + spread.mean**2
        return total * scatter

    @cached_property
    def _factors(self) -> Sequence[PositiveFactor | np.ndarray]:
        """For every eigenvalue a of the class curvature: a S + penalty I, factored, or its
        diagonal."""
        values = self._class_curvature[0]
        S = self._column_curvature
        if S.ndim == 1:
            diagonals = values[:, None] * S + self.penalty
            return list(
                np.divide(1.0, diagonals, out=np.zeros_like(diagonals), where=diagonals > 0)
            )
        eye = self.penalty * np.eye(len(S))
        return [PositiveFactor.of(a * S + eye) for a in values]

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        """(A ⊗ S + penalty I)⁻¹ g with A the curvature in the outputs and S that in the columns."""
        values, vectors = self._class_curvature
        turned = vectors.T @ gradient
        out = np.zeros_like(turned)
        for k, (a, factor) in enumerate(zip(values, self._factors)):
            if (
                a == 0.0
            ):  # the same in all outputs: it changes no posterior, and its gradient is rounding
                continue
            b = turned[k, :-1]
            if isinstance(factor, PositiveFactor):
                out[k, :-1] = factor.solve(b)
            else:
                out[k, :-1] = factor * b
            out[k, -1] = turned[k, -1] / (a * self.class_totals.sum())
        return vectors @ out


def output_basis(outputs: int, reference: int | None) -> np.ndarray:
    """Orthonormal columns that span the outputs that matter: those of sum zero (Helmert's
    contrasts), or all but a reference; [[1]] for one output.
    """
    if reference is not None:
        return np.delete(np.eye(outputs), reference, axis=1)
    if outputs == 1:
        return np.ones((1, 1))
    basis = np.tril(np.ones((outputs, outputs)), -1).T[:, 1:]
    k = np.arange(1, outputs)
    basis[k, k - 1] = -k
    return basis / np.sqrt(k * (k + 1.0))

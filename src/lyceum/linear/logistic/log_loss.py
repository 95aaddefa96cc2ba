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
from lyceum.linear.linear_scores import weights_at_zero
from lyceum.linear.row_passes import (
    ScaleColumns,
    first_pass,
    inverse_deviations,
    without_checks,
)

# columns from which on no d x d matrix is made for the start and the preconditioner
WIDE = 1024


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
        return cls._of_many(first_pass(rows, _FiniteScatter.of).scatter)

    @property
    def column_scatter(self) -> np.ndarray:
        """The scatter of every column by itself, (d,)."""
        return np.diagonal(self.scatter) if self.scatter.ndim == 2 else self.scatter

    def standardize(self) -> tuple[ClassSpread, np.ndarray]:
        """The spread of the columns divided by their standard deviations, and what they are
        multiplied by."""
        f = inverse_deviations(self.column_scatter, self.weight.sum())
        offsets = None if self.offsets is None else self.offsets * f
        products = np.outer(f, f) if self.scatter.ndim == 2 else f**2
        scatter = self.scatter * products
        return ClassSpread(self.n_rows, self.weight, self.mean * f, offsets, scatter), f

    @classmethod
    def _of_two(cls, joint: Scatter) -> ClassSpread:
        # With y of 0 and 1: w₁ = W ȳ, and Σ w (x - x̄)(y - ȳ) = w₁ (x̄₁ - x̄) = -w₀ (x̄₀ - x̄).
        weight = joint.weight * np.array([1.0 - joint.y_mean, joint.y_mean])
        signed = np.outer([-1.0, 1.0], joint.xy)
        offsets = np.divide(
            signed,
            weight[:, None],
            out=np.zeros_like(signed),
            where=weight[:, None] > 0,
        )
        return cls(joint.n_rows, weight, joint.x_mean, offsets, joint.xx)

    @classmethod
    def _of_many(cls, classes: ClassScatter) -> ClassSpread:
        # the scatter about one mean is that within the classes plus Σ_k w_k (x̄_k - x̄)(x̄_k - x̄)ᵀ
        _, mean, _ = classes.over_classes()
        offsets = np.where(classes.weight[:, None] > 0, classes.mean - mean, 0.0)
        between = (offsets * classes.weight[:, None]).T @ offsets
        return cls(
            classes.n_rows,
            classes.weight,
            mean,
            offsets,
            classes.scatter[0] + between,
        )


@dataclass(frozen=True, slots=True)
class _FiniteScatter:
    """A pooled scatter that says whether a missing or infinite cell is in it."""

    scatter: ClassScatter

    @classmethod
    def of(cls, block: Block) -> _FiniteScatter:
        return cls(ClassScatter.of(block, pooled=True))

    def merge(self, other: _FiniteScatter) -> _FiniteScatter:
        return _FiniteScatter(self.scatter.merge(other.scatter))

    @property
    def is_finite(self) -> bool:
        sums = self.scatter
        has_finite_means = np.isfinite(sums.mean).all()
        return bool(has_finite_means and np.isfinite(sums.scatter).all())


@dataclass(frozen=True, slots=True)
class _WideSpread:
    """What is summed of tables too wide for a d x d matrix."""

    moments: Moments
    weight: np.ndarray

    @classmethod
    def of(cls, block: Block, n_classes: int) -> _WideSpread:
        return cls(Moments.of(block), class_weights(block, n_classes))

    def merge(self, other: _WideSpread) -> _WideSpread:
        return _WideSpread(
            self.moments.merge(other.moments), self.weight + other.weight
        )

    @property
    def is_finite(self) -> bool:
        # Moments leave missing cells out: the weight of a column then falls short of that of the
        # rows
        moments = self.moments
        total = self.weight.sum()
        return bool(
            np.isfinite(moments.scatter).all()
            and (moments.weight >= total * (1 - 1e-12)).all()
        )


@dataclass(frozen=True, slots=True)
class Penalty:
    """l2/2 Σ b² + l1 Σ|b| of the coefficients b; intercepts are free."""

    l2: float
    l1: float = 0.0

    @classmethod
    def of(cls, C: float, l1_ratio: float) -> Penalty:
        return cls((1 - l1_ratio) / C, float(l1_ratio) / C)

    def value(self, b: np.ndarray) -> float:
        squares = (b**2).sum()
        return float(0.5 * self.l2 * squares + self.l1 * np.abs(b).sum())


@dataclass(frozen=True)
class LogLoss:
    """Σ w_i (log loss of row i) + l2/2 Σ b², the intercepts free; the penalty's l1 is the solver's.

    Parameters θ have shape (outputs, d + 1): one output for two classes, K for more, the intercept
    last and taken at the column means (`shift`), where the intercept's curvature is parted from
    that of the others. With K outputs the loss does not change when one vector is added to all of
    them; gradients, steps and solutions stay in Σ_k θ_k = 0, or, with a reference class, at θ = 0
    of that class.
    """

    rows: Rows
    spread: ClassSpread
    penalty: Penalty
    fit_intercept: bool
    class_weight: np.ndarray | None
    reference: int | None = None  # the output that stays zero, of more than one
    factors: np.ndarray | None = None  # (d,) what the columns were multiplied by

    @classmethod
    def over(
        cls,
        rows: Rows,
        spread: ClassSpread,
        penalty: Penalty,
        fit_intercept: bool,
        class_weight: np.ndarray | None,
        reference: int | None,
        standardize: bool,
    ) -> LogLoss:
        """The problem over rows of this spread, on columns of unit deviation if `standardize`."""
        factors = None
        if standardize:
            spread, factors = spread.standardize()
            rows = rows.then(ScaleColumns(factors))
        return cls(
            without_checks(rows),
            spread,
            penalty,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            reference=reference,
            factors=factors,
        )

    # -- units -------------------------------------------------------------------------

    def weights_at_zero(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the columns as they came, and intercepts at x = 0 instead of at the
        means."""
        coef, intercept = weights_at_zero(theta, self.shift)
        if self.factors is not None:
            coef = coef * self.factors
        return coef, intercept

    def covariance_as_came(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """H⁻¹ for the columns as they came, and where on them the intercepts are taken."""
        inverse = self.covariance(point)
        if self.factors is None:
            return inverse, self.shift
        # b as it came is f times b of the scaled columns, so that H⁻¹ gets f fᵀ
        f = np.tile(np.append(self.factors, 1.0), self.outputs)
        return inverse * np.outer(f, f), self.shift / self.factors

    def center_intercepts(self, intercepts: np.ndarray) -> np.ndarray:
        """One number added to the intercepts of all classes changes no posterior: less their
        mean."""
        if self.outputs > 1 and self.reference is None:
            return intercepts - intercepts.mean()
        return intercepts

    # -- shapes ------------------------------------------------------------------------

    @property
    def outputs(self) -> int:
        n_classes = len(self.spread.weight)
        return 1 if n_classes == 2 else n_classes

    @property
    def shape(self) -> tuple[int, int]:
        return self.outputs, len(self.spread.mean) + 1

    @property
    def n_free(self) -> int:
        """The number of parameters, those of one class of several left out."""
        return max(1, self.outputs - 1) * self.shape[1]

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
    def penalties(self) -> np.ndarray:
        of_columns = np.full(self.shape[1] - 1, self.penalty.l2)
        return np.append(of_columns, 0.0)

    @cached_property
    def free(self) -> np.ndarray:
        """The columns of θ that may move."""
        return np.arange(self.shape[1] - 1 + bool(self.fit_intercept))

    @cached_property
    def _unit(self) -> np.ndarray:
        """The root mean square of every design column; 1 for the intercept and columns that never
        vary."""
        variance = self.spread.column_scatter / self.spread.weight.sum()
        if not self.fit_intercept:
            variance = variance + self.spread.mean**2
        spread = np.where(variance > 0, np.sqrt(variance), 1.0)
        return np.append(spread, 1.0)

    @cached_property
    def basis(self) -> np.ndarray:
        return output_basis(self.outputs, self.reference)

    # -- what solvers ask for ----------------------------------------------------------

    def evaluate(self, theta: np.ndarray, hessian: bool = False) -> Point:
        """The objective at θ: one pass over the rows."""
        is_single = self.outputs == 1
        loss = LogisticLoss if is_single else SoftmaxLoss
        coef = theta[0] if is_single else theta
        of = partial(
            loss.of,
            coef=np.ascontiguousarray(coef),
            shift=self.shift,
            hessian=hessian,
            class_weight=self.class_weight,
        )
        sums = self.rows.reduce(of)
        H = None
        if hessian:
            H = sums.hessian + np.diag(np.tile(self.penalties, self.outputs))
        gradient = sums.gradient.reshape(self.shape)
        return self.penalized_point(theta, sums.value, gradient, H)

    def curvature(self, point: Point, chosen: np.ndarray) -> np.ndarray:
        """The Hessian at a point in some entries of θ, (m, m); a pass over the rows if the point
        has none."""
        if point.hessian is not None:
            return point.hessian[np.ix_(chosen, chosen)]
        if not point.theta[:, :-1].any() and self.fit_intercept:
            return self._null_curvature(chosen)
        of = partial(
            SoftmaxCurvature.of,
            coef=np.ascontiguousarray(point.theta),
            shift=self.shift,
            chosen=chosen,
            class_weight=self.class_weight,
        )
        ridge = np.diag(np.tile(self.penalties, self.outputs)[chosen])
        return self.rows.reduce(of).hessian + ridge

    def _null_curvature(self, chosen: np.ndarray) -> np.ndarray:
        """The Hessian at the intercepts alone: that of the outputs times that of the columns."""
        # at b = 0 all rows have the posteriors π, so that H = (diag(π) - ππᵀ) ⊗ Σ w x̃x̃ᵀ
        # with x̃ = (x - x̄, 1): the scatter in the columns, the weight in the intercept, else zeros
        output, column = np.divmod(chosen, self.shape[1])
        total = self.class_totals.sum()
        scatter = self.spread.scatter * (total / self.spread.weight.sum())
        S = np.zeros((self.shape[1], self.shape[1]))
        S[:-1, :-1] = np.diag(scatter) if scatter.ndim == 1 else scatter
        S[-1, -1] = total
        of_outputs = self._prior_curvature[np.ix_(output, output)]
        H = of_outputs * S[np.ix_(column, column)]
        return H + np.diag(self.penalties[column])

    @property
    def _prior_curvature(self) -> np.ndarray:
        """diag(π) - ππᵀ, the curvature in the scores at the null model."""
        return np.diag(self.priors) - np.outer(self.priors, self.priors)

    def penalized_point(
        self,
        theta: np.ndarray,
        value: float,
        gradient: np.ndarray,
        H: np.ndarray | None,
    ) -> Point:
        """A loss with the penalty added to it, and no slope in what may not move."""
        gradient = gradient + self.penalties * theta
        if not self.fit_intercept:
            gradient[:, -1] = 0.0
        if self.reference is not None:
            gradient[self.reference] = 0.0
        penalty = 0.5 * float((self.penalties * theta**2).sum())
        return Point(theta, value + penalty, gradient, H)

    def size(self, gradient: np.ndarray) -> float:
        """The largest correlation of residuals and columns: |Σ w (p - y) x| / Σ w over columns of
        unit spread and, in every class, residuals of the spread sqrt(π (1 - π)) that they have at
        the null model.
        """
        correlations = gradient / (self._unit * self._residual_unit)
        return float(np.abs(correlations).max())

    def level(self, value: float) -> float:
        """1, or less where less than a hundredth of the null model's loss is left.

        Where classes are nearly separated all residuals are small, and a gradient is small only
        beside them. Without a penalty it is 1, as there may be no minimum.
        """
        return self.small_beside(value) if self.penalty.l2 > 0 else 1.0

    def small_beside(self, value: float) -> float:
        """A hundred times the objective's share of the loss of the null model, at most 1.

        The curvature falls with the loss, so that a gradient of tol times this leaves a share of
        about (100 tol)² of the objective to gain.
        """
        if self.null_value <= 0:
            return 1.0
        return min(1.0, 1e2 * value / self.null_value)

    @cached_property
    def _residual_unit(self) -> np.ndarray:
        priors = self.priors[-self.outputs :]
        spread = np.sqrt(priors * np.maximum(1.0 - priors, 1e-15))
        return self.class_totals.sum() * spread[:, None]

    def newton_step(self, point: Point) -> np.ndarray:
        """-H⁻¹ g within the outputs that matter and the columns that may move."""
        # with B the basis: H Δ = g within it is (Bᵀ H B) x = Bᵀ g, Δ = B x
        basis, factor = self._curvature(point)
        slope = (basis.T @ point.gradient[:, self.free]).ravel()
        step = np.zeros(self.shape)
        solved = factor.solve(slope).reshape(basis.shape[1], -1)
        step[:, self.free] = basis @ solved
        return -step

    def covariance(self, point: Point) -> np.ndarray:
        """H⁻¹ at a point, (outputs (d + 1))², within `basis`; zero for what is not fitted."""
        # H⁻¹ = E (Eᵀ H E)⁻¹ Eᵀ, E = basis ⊗ the columns of the identity that may move
        basis, factor = self._curvature(point)
        n_free = len(self.free)
        E = np.zeros((basis.shape[1], *self.shape, n_free))
        E[:, :, self.free, np.arange(n_free)] = basis.T[:, :, None]
        # Eᵀ: one row per direction of the basis and free column
        rows = np.moveaxis(E, -1, 1).reshape(-1, self.outputs * self.shape[1])
        return rows.T @ factor.inverse() @ rows

    def _curvature(self, point: Point) -> tuple[np.ndarray, PositiveFactor]:
        """The basis of the outputs that matter, and the Hessian in it, factored."""
        assert point.hessian is not None
        # H in the coordinates of the basis, Bᵀ H B: without the direction that no row determines
        basis = self.basis
        size = self.shape[1]
        free = self.free
        H = point.hessian.reshape(self.outputs, size, self.outputs, size)
        H = H[:, free][:, :, :, free]
        small = np.einsum("ka,kilj,lb->aibj", basis, H, basis, optimize=True)
        m = basis.shape[1] * len(free)
        return basis, PositiveFactor.of(small.reshape(m, m))

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
        losses = self.class_totals * np.log(self.priors)
        return float(-losses.sum())

    def null(self) -> np.ndarray:
        """θ of the intercepts alone."""
        theta = np.zeros(self.shape)
        if self.fit_intercept:
            logs = np.log(self.priors)
            if self.outputs == 1:
                theta[:, -1] = logs[1] - logs[0]
            elif self.reference is None:
                theta[:, -1] = logs - logs.mean()
            else:
                theta[:, -1] = logs - logs[self.reference]
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
        gradient[:, :-1] = -pull[-self.outputs :]
        return theta - self.precondition(gradient)

    @cached_property
    def _class_curvature(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and vectors of diag(π) - ππᵀ, the curvature in the outputs at the null
        model."""
        if self.outputs == 1:
            values = self.priors[:1] * self.priors[1:]
            return values, np.ones((1, 1))
        curvature = self._prior_curvature
        if self.reference is not None:
            values, vectors = np.linalg.eigh(self.basis.T @ curvature @ self.basis)
            return np.maximum(values, 0.0), self.basis @ vectors
        # its null vector (1, ..., 1) is known, and better exact than rounded
        values, vectors = np.linalg.eigh(curvature)
        values[0] = 0.0
        vectors[:, 0] = 1 / np.sqrt(self.outputs)
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
            # S - 0.9 B, with B = Σ_k π_k (x̄_k - x̄)(x̄_k - x̄)ᵀ between the classes
            share = spread.weight / spread.weight.sum()
            between = (spread.offsets * share[:, None]).T @ spread.offsets
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
            diagonals = values[:, None] * S + self.penalty.l2
            zeros = np.zeros_like(diagonals)
            return list(np.divide(1.0, diagonals, out=zeros, where=diagonals > 0))
        eye = self.penalty.l2 * np.eye(len(S))
        return [PositiveFactor.of(a * S + eye) for a in values]

    def column_factor(self) -> PositiveFactor | None:
        """The curvature in the columns where all classes are equally probable, factored; None for
        wide tables.

        Newton steps, and the others, leave alone the coefficients that it does not determine.
        """
        spread = self.spread
        if spread.scatter.ndim == 1:
            return None
        # a spread below the rounding of the mean is no spread
        weight = spread.weight.sum()
        S = spread.scatter
        rounding = 4 * np.finfo(np.float64).eps * spread.mean
        floor = weight * rounding**2
        if not self.fit_intercept:
            S = S + weight * np.outer(spread.mean, spread.mean)
        ridge = self.penalty.l2 * np.eye(len(S))
        return PositiveFactor.of(S / len(self.priors) + ridge, floor)

    def precondition(self, gradient: np.ndarray) -> np.ndarray:
        """(A ⊗ S + penalty I)⁻¹ g with A the curvature in the outputs and S that in the columns."""
        # with A = V diag(a) Vᵀ the system falls apart into one of a_k S + penalty I per eigenvector
        values, vectors = self._class_curvature
        turned = vectors.T @ gradient
        out = np.zeros_like(turned)
        for k, (a, factor) in enumerate(zip(values, self._factors)):
            # the same in all outputs changes no posterior, and its gradient is rounding
            if a == 0.0:
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
    # column k is (1, ..., 1, -k, 0, ..., 0) over its length sqrt(k (k + 1))
    basis = np.tril(np.ones((outputs, outputs)), -1).T[:, 1:]
    k = np.arange(1, outputs)
    basis[k, k - 1] = -k
    return basis / np.sqrt(k * (k + 1.0))

"""The Gaussian posterior of the weights, N(w*, H⁻¹) at the optimum (Laplace) or row after row;
posteriors of classes under it, and tables of coefficients with their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, log_softmax, logsumexp, ndtr

from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum._core.progress import is_watched
from lyceum._core.text import undetermined_fact
from lyceum._core.types import Estimator
from lyceum.errors import DataError, SettingError
from lyceum.linear.linear_scores import weights_at_zero
from lyceum.linear.logistic.log_loss import output_basis
from lyceum.linear.logistic.solvers import SMALL
from lyceum.linear.row_passes import dense_blocks
from lyceum.progress import report
from lyceum.report import Table

# scores held at a time while draws of the weights are averaged
_CELLS = 1 << 16


@dataclass(frozen=True)
class GaussianWeights:
    """N(mode, covariance) of the weights, with the intercepts taken at `origin`."""

    mode: np.ndarray  # (outputs, d + 1), the intercept last
    covariance: np.ndarray  # (outputs (d + 1), outputs (d + 1))
    origin: np.ndarray  # (d,)

    def at(self, origin: np.ndarray) -> GaussianWeights:
        """The same with the intercepts taken elsewhere: b₀ + (origin - old origin) · b."""
        by = origin - self.origin
        if not by.any():
            return self
        # M = [I 0; byᵀ 1] takes (b, b₀) to (b, b₀ + by·b), so that every block Σ_ab of the
        # covariance becomes M Σ_ab Mᵀ
        outputs, size = self.mode.shape
        M = np.eye(size)
        M[-1, :-1] = by
        blocks = self.covariance.reshape(outputs, size, outputs, size)
        moved = np.einsum("ij,ajbl,kl->aibk", M, blocks, M, optimize=True)
        covariance = moved.reshape(outputs * size, -1)
        return GaussianWeights(self.mode @ M.T, covariance, origin)

    @property
    def standard_errors(self) -> np.ndarray:
        """Of the coefficients and, last, the intercepts, (outputs, d + 1)."""
        variances = np.maximum(np.diagonal(self.covariance), 0.0)
        return np.sqrt(variances).reshape(self.mode.shape)

    def cells(self, X: np.ndarray) -> np.ndarray:
        """(x - origin, 1), where the covariance is known without loss of digits."""
        return np.column_stack([X - self.origin, np.ones(len(X))])

    def draws(self, n: int, seed: int) -> np.ndarray:
        """n weights (n, outputs, d + 1)."""
        values, vectors = np.linalg.eigh(self.covariance)
        normal = np.random.default_rng(seed).standard_normal((n, len(values)))
        # the symmetric root does not depend on the signs of the vectors
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return self.mode + (normal @ root).reshape(-1, *self.mode.shape)


# -- posteriors of classes -------------------------------------------------------------


def _plug_in(learner: Estimator, block: Block) -> np.ndarray:
    """The scores at the mode of the weights, (n, K)."""
    # coefficients that were set by hand may be flat, or a view of others
    coef = np.atleast_2d(np.ascontiguousarray(learner.coef_, np.float64))
    return _with_zero(block.X @ coef.T + learner.intercept_)


def _probit(learner: Estimator, block: Block) -> np.ndarray:
    """Scores shrunk by (1 + π σ²/8)^(-1/2), σ² being the variance of a score (MacKay, 1992).

    For more than two classes every score is shrunk by its own variance, which depends on the
    reference class.
    """
    weights = learner._weight_posterior()
    Z = weights.cells(block.dense)
    scores = block.X @ learner.coef_.T.astype(np.float64) + learner.intercept_
    # the variance of the score of output k is σ² = zᵀ Σ_kk z, z = (x - origin, 1)
    outputs, size = weights.mode.shape
    blocks = weights.covariance.reshape(outputs, size, outputs, size)
    variances = [
        np.einsum("ij,jk,ik->i", Z, blocks[k, :, k], Z, optimize=True)
        for k in range(outputs)
    ]
    variance = np.maximum(np.column_stack(variances), 0.0)
    return _with_zero(scores / np.sqrt(1 + np.pi / 8 * variance))


def _monte_carlo(learner: Estimator, block: Block) -> np.ndarray:
    """The log of the mean posterior over draws of the weights, the same draws for every row."""
    weights = learner._weight_posterior()
    Z = weights.cells(block.dense)
    draws = weights.draws(learner.n_draws, learner.seed_)
    # log Σ P(k | x, draw), some draws at a time; in logarithms no posterior falls to zero
    log_sum = np.full((len(block), len(learner.classes_)), -np.inf)
    n_at_once = max(1, _CELLS // max(1, log_sum.size))
    for first in range(0, len(draws), n_at_once):
        some_draws = draws[first : first + n_at_once]
        scores = _with_zero(Z @ some_draws.transpose(0, 2, 1))
        logs = np.concatenate([log_sum[None], log_softmax(scores, axis=-1)])
        log_sum = np.logaddexp.reduce(logs, axis=0)
    return log_sum - logsumexp(log_sum, axis=1, keepdims=True)


PREDICTIVES: dict[str, Callable[[Any, Block], np.ndarray]] = {
    "plugin": _plug_in,
    "probit": _probit,
    "monte_carlo": _monte_carlo,
}


def _with_zero(scores: np.ndarray) -> np.ndarray:
    """Two classes have one score: that of the first is 0."""
    if scores.shape[-1] == 1:
        both = np.zeros((*scores.shape[:-1], 2), scores.dtype)
        both[..., 1:] = scores
        return both
    return scores


# -- one row at a time -----------------------------------------------------------------

_INTERCEPT_VARIANCE = 100.0
# parameters up to which the recursion can hold their covariance
_MOST = 5000


@dataclass
class Recursion:
    """The weights so far and their covariance, the inverse of the Hessian, with the sums that go
    with them: recursive weighted least squares.

    Intercepts are taken at the first row, so that offsets of the columns do not matter. Before it
    the coefficients are N(0, C) and the intercepts N(0, 100), within the outputs that matter.
    """

    origin: np.ndarray  # (d,) the first row
    theta: np.ndarray  # (outputs, d + 1), intercept last
    covariance: np.ndarray  # (outputs (d + 1), outputs (d + 1))
    mean: np.ndarray  # (d,) of the rows so far
    class_weight: np.ndarray  # (K,) the weight of every class so far
    weight: float = 0.0
    loss: float = 0.0  # Σ w [-log P(y | x)], every row under the weights before it

    @classmethod
    def start(
        cls,
        first: np.ndarray,
        classes: int,
        C: float,
        fit_intercept: bool,
        reference: int | None,
    ) -> Recursion:
        d = len(first)
        outputs = classes if classes > 2 else 1
        if outputs * (d + 1) > _MOST:
            raise SettingError(
                f"{outputs * (d + 1)} parameters are too many for solver='recursive', which takes "
                f"{_MOST}: give solver='lbfgs', or fewer columns"
            )
        origin = np.zeros(d)
        prior = np.append(np.full(d, float(C)), 0.0)
        if fit_intercept:
            origin = first.astype(np.float64)
            prior[-1] = _INTERCEPT_VARIANCE
        # BBᵀ projects on the outputs that matter: there is no variance in what changes no posterior
        basis = output_basis(outputs, reference)
        return cls(
            origin=origin,
            theta=np.zeros((outputs, d + 1)),
            covariance=np.kron(basis @ basis.T, np.diag(prior)),
            mean=np.zeros(d),
            class_weight=np.zeros(classes),
        )

    @classmethod
    def after(cls, learner: Estimator) -> Recursion:
        """The recursion that `partial_fit` continues, or its state at the optimum of a `fit`."""
        if getattr(learner, "recursion_", None):
            return cls(**learner.recursion_)
        if not hasattr(learner, "posterior_covariance_"):
            raise SettingError(
                "this fit kept no covariance of its weights to go on from (too many columns, or"
                " columns that depend on each other): fit with solver='recursive'"
            )
        weights = learner._weight_posterior()
        return cls(
            origin=weights.origin,
            theta=weights.mode,
            covariance=weights.covariance.copy(),  # the recursion works in place
            mean=learner.mean_,
            class_weight=learner._class_weight,
            weight=float(learner._class_weight.sum()),
            loss=-float(learner.log_likelihood_),
        )

    def see(self, block: Block, w: np.ndarray, trace: np.ndarray | None) -> None:
        """Learn from the rows of a block in their order, w times their class weights.

        `trace` (n, outputs, d + 1) gets the weights after each row.
        """
        codes = np.ascontiguousarray(block.y, dtype=np.int32)
        self.loss += native.recursive_softmax(
            block.X,
            codes,
            w,
            self.origin,
            self.theta,
            self.covariance,
            trace,
        )
        weight_of_block = np.bincount(codes, w, len(self.class_weight))
        self.class_weight = self.class_weight + weight_of_block
        self.weight += float(block.weights.sum())
        away = block.weights @ (block.X - self.mean)
        self.mean = self.mean + away / self.weight


def can_recurse(learner: Estimator) -> bool:
    """Whether `partial_fit` has a Gaussian to go on from; the error says why not."""
    if learner._l1_ratio > 0 or np.isinf(learner._C):
        raise AttributeError(
            "partial_fit starts from the prior N(0, C) of the weights: give l1_ratio=0 and a"
            " finite C"
        )
    if learner.class_weight == "balanced":
        raise AttributeError(
            "partial_fit cannot balance classes whose rows are still to come: give class_weight as"
            " a dict"
        )
    return True


def recurse(
    learner: Estimator,
    rows: Rows,
    state: Recursion | None,
    record: list[dict] | None,
) -> Recursion:
    """One pass over the rows in their order, from `state` or from the prior; steps go to
    `record`."""
    factors = learner._class_factors(None)
    n_rows = rows.source.n_rows if is_watched() else None
    done = 0
    for block in dense_blocks(rows):
        done += len(block)
        report("rows", done, n_rows)
        weighted = np.flatnonzero(block.weights > 0)
        if not len(weighted):
            continue
        if state is None:
            state = Recursion.start(
                first=block.X[weighted[0]],
                classes=len(learner.classes_),
                C=learner._C,
                fit_intercept=learner.fit_intercept,
                reference=learner._reference,
            )
        w = block.weights
        if factors is not None:
            w = w * factors[block.y]
        if record is None:
            state.see(block, w, None)
        else:
            for step in _recorded_steps(state, block, w):
                record.append({"step": len(record) + 1, **step})
    if state is None:
        raise DataError(
            "no row has a weight above zero: there is nothing to learn from"
        )
    return state


def _recorded_steps(
    state: Recursion,
    block: Block,
    w: np.ndarray,
) -> Iterator[dict[str, Any]]:
    """Learn from a block; coefficients, intercepts and the sum of log losses after every row."""
    before = state.loss
    trace = np.empty((1 + len(block), *state.theta.shape))
    trace[0] = state.theta
    state.see(block, w, trace[1:])
    # w [-log P(y | x)] of every row under the weights before it
    weights = trace[:-1]
    scores = np.einsum("nkd,nd->nk", weights[:, :, :-1], block.X - state.origin)
    scores = scores + weights[:, :, -1]
    if scores.shape[1] == 1:  # of the second of two classes
        scores = np.column_stack([np.zeros(len(scores)), scores])
    codes = np.asarray(block.y, dtype=np.intp)
    of_class = scores[np.arange(len(block)), codes]
    losses = w * (logsumexp(scores, axis=1) - of_class)
    objectives = before + np.cumsum(losses)
    for theta, objective in zip(trace[1:], objectives.tolist()):
        coef, intercept = weights_at_zero(theta, state.origin)
        yield {"coef": coef, "intercept": intercept, "objective": objective}


# -- reports ---------------------------------------------------------------------------


def z_and_p(values: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """values / errors, NaN where there is no error to divide by, and its two-sided p-value."""
    unknown = np.full_like(values, np.nan)
    z = np.divide(values, errors, out=unknown, where=errors > 0)
    return z, 2 * ndtr(-np.abs(z))


def coefficient_tables(learner: Estimator) -> list[Table]:
    """One table per output: coefficients and intercept with errors, z, p and odds ratios."""
    names = [*learner.design_names, "(intercept)"]
    columns = ("column", "coefficient", "std. error", "z", "p", "odds ratio")
    titles = [str(label) for label in learner.classes_]
    if len(learner.coef_) == 1:
        titles = [f"log-odds of {learner.classes_[-1]}"]
    weights = np.column_stack([learner.coef_, learner.intercept_])
    errors = np.full_like(weights, np.nan)
    if hasattr(learner, "standard_errors_"):
        errors = np.column_stack(
            [learner.standard_errors_, learner.intercept_standard_error_]
        )
    z, p = z_and_p(weights, errors)
    with np.errstate(over="ignore"):
        odds = np.exp(weights)
    tables = []
    for k, title in enumerate(titles):
        of_output = [part[k] for part in (weights, errors, z, p, odds)]
        numbers = np.column_stack(of_output)
        rows = [(name, *row) for name, row in zip(names, numbers.tolist())]
        tables.append(Table(title, columns, rows))
    return tables


def log_odds_table(learner: Estimator, base: int) -> Table:
    """The log-odds of every class against class `base`, one row per class and column."""
    labels = learner.classes_.tolist()
    names = [*learner.design_names, "(intercept)"]
    theta = np.column_stack([learner.coef_, learner.intercept_])
    if len(theta) == 1 < len(labels):
        theta = np.vstack([np.zeros_like(theta), theta])
    rows: list[tuple] = []
    for k, label in enumerate(labels):
        if k == base:
            continue
        values = theta[k] - theta[base]
        errors = _contrast_errors(learner, k, base)
        numbers = np.column_stack([values, errors, *z_and_p(values, errors)])
        lines = zip(names, numbers.tolist())
        rows += [(str(label), name, *line) for name, line in lines]
    columns = ("class", "column", "log-odds", "std. error", "z", "p")
    return Table(f"Log-odds against {labels[base]}", columns, rows)


def _contrast_errors(learner: Estimator, k: int, base: int) -> np.ndarray:
    """The standard errors of b_k - b_base: its variance is that of both less twice their
    covariance."""
    size = learner.coef_.shape[1] + 1
    K = len(learner.classes_)
    if not hasattr(learner, "covariance_"):
        return np.full(size, np.nan)
    if K == 2:
        return np.sqrt(np.maximum(np.diagonal(learner.covariance_), 0.0))
    blocks = learner.covariance_.reshape(K, size, K, size)
    variance = np.diagonal(blocks[k, :, k])
    variance = variance + np.diagonal(blocks[base, :, base])
    variance = variance - 2 * np.diagonal(blocks[k, :, base])
    return np.sqrt(np.maximum(variance, 0.0))


def effective_parameters(learner: Estimator) -> int | float:
    """Free parameters; with a penalty on squares the effective ones, tr[H₀ (H₀ + I/C)⁻¹]."""
    per_class = learner.coef_.shape[1] + bool(learner.fit_intercept)
    free = (len(learner.classes_) - 1) * per_class
    if np.isinf(learner._C):
        return free
    if not hasattr(learner, "covariance_"):
        raise SettingError(
            f"C={learner._C:g}: the effective parameters need the Hessian: fit with"
            " standard_errors=True and a penalty on squares alone, or with C=inf"
        )
    # tr[H₀ H⁻¹] = tr[(H - P/C) H⁻¹] with P = 1 for coefficients and 0 for intercepts: the free
    # parameters less the variances of the coefficients over C
    variances = np.diagonal(learner.covariance_)
    variances = variances.reshape(-1, learner.coef_.shape[1] + 1)
    return float(free - variances[:, :-1].sum() / learner._C)


def fit_facts(learner: Estimator) -> dict[str, Any]:
    """The quality of the fit, and what is particular to the way it was trained."""
    penalties = {0: "L2", 1: "L1"}
    penalty = penalties.get(
        learner._l1_ratio, f"elastic net with l1 ratio {learner._l1_ratio:g}"
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.float64(learner.log_likelihood_) / learner.null_log_likelihood_
    facts: dict[str, Any] = {
        "rows": learner.n_rows_,
        "classes": learner.classes_.tolist(),
        "penalty": "none" if np.isinf(learner._C) else f"{penalty}, C = {learner._C:g}",
        "log-likelihood": learner.log_likelihood_,
        "of class shares alone": learner.null_log_likelihood_,
        "pseudo R² (McFadden)": float(1.0 - ratio),
        "iterations": f"{learner.n_iter_[0]}{'' if learner.converged_ else ', not converged'}",
    }
    if np.isinf(learner._C):
        # Wilks: twice the gain in log-likelihood is χ² with one degree per coefficient
        degrees = max(1, len(learner.classes_) - 1) * learner.coef_.shape[1]
        gain = learner.log_likelihood_ - learner.null_log_likelihood_
        chi2 = max(0.0, 2 * gain)
        p = chdtrc(degrees, chi2)
        facts["likelihood ratio"] = f"{chi2:.4g} on {degrees}, p = {p:.3g}"
    if learner.separated_:
        facts["warning"] = (
            "classes are separated: no maximum, coefficients and errors mean nothing"
        )
    facts |= undetermined_fact(
        learner.n_undetermined_, learner.coef_.shape[1], "coefficient"
    )
    return facts | _training_facts(learner)


def _training_facts(learner: Estimator) -> dict[str, Any]:
    """What is particular to the way it was trained."""
    facts: dict[str, Any] = {}
    if learner.reference is not None and len(learner.classes_) > 2:
        facts["reference class"] = learner.reference
    why = "not computed: fit with standard_errors=True"
    if hasattr(learner, "bound_"):
        why = "none at the least bound: fit with solver='lbfgs'"
        facts["separable bound"] = (
            f"{learner.bound_:.4g} at its least, then scores × {learner.bound_scale_:.3g}"
        )
    if hasattr(learner, "recursion_"):
        facts["trained"] = (
            "one row at a time; the log-likelihood is of rows not yet seen"
        )
    if learner._l1_ratio > 0:
        why = "none under an L1 penalty"
    if not hasattr(learner, "standard_errors_"):
        facts["standard errors"] = why
    return facts


def wants_standard_errors(learner: Estimator, parameters: int) -> bool:
    """Whether a fit ends with the inverse of the Hessian."""
    if learner._l1_ratio / learner._C > 0 or learner._solver == "sigmoid_bound":
        return False
    if learner.posterior != "plugin":
        return True
    if learner.standard_errors == "auto":
        return parameters <= SMALL
    return bool(learner.standard_errors)

"""Logistic regression one row at a time: recursive weighted least squares."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import unchanged_on_failure
from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum._core.progress import is_watched
from lyceum._core.statistics import seed_from
from lyceum.errors import DataError, SettingError
from lyceum.linear.linear_scores import check_same_weights
from lyceum.linear.logistic.log_loss import output_basis
from lyceum.linear.row_passes import dense_blocks
from lyceum.progress import report

_INTERCEPT_VARIANCE = 100.0
_MOST = 5000  # parameters


@dataclass
class Recursion:
    """The weights so far and their covariance, the inverse of the Hessian, with the sums that go
    with them.

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
        cls, first: np.ndarray, classes: int, C: float, fit_intercept: bool, reference: int | None
    ) -> Recursion:
        d = len(first)
        if classes > 2:
            outputs = classes
        else:
            outputs = 1
        if outputs * (d + 1) > _MOST:
            raise SettingError(
                f"{outputs * (d + 1)} parameters are too many for solver='recursive', which takes "
                f"{_MOST}: give solver='lbfgs', or fewer columns"
            )
        basis = output_basis(outputs, reference)
        prior = np.append(np.full(d, float(C)), _INTERCEPT_VARIANCE if fit_intercept else 0.0)
        if fit_intercept:
            origin = first.astype(np.float64)
        else:
            origin = np.zeros(d)
        covariance = np.kron(basis @ basis.T, np.diag(prior))
        return cls(origin, np.zeros((outputs, d + 1)), covariance, np.zeros(d), np.zeros(classes))

    def see(self, block: Block, factors: np.ndarray | None, trace: np.ndarray | None) -> None:
        """Learn from the rows of a block in their order; `trace` (n, outputs, d + 1) gets the
        weights after each.
        """
        assert block.y is not None
        codes = np.ascontiguousarray(block.y, dtype=np.int32)
        w = block.weights
        if factors is None:
            scaled = w
        else:
            scaled = w * factors[codes]
        self.loss += native.recursive_softmax(
            block.X, codes, scaled, self.origin, self.theta, self.covariance, trace
        )
        self.class_weight = self.class_weight + np.bincount(codes, scaled, len(self.class_weight))
        self.weight += float(w.sum())
        self.mean = self.mean + w @ (block.X - self.mean) / self.weight


def _can_go_on(self: Any) -> bool:
    if self.l1_ratio > 0 or np.isinf(self.C):
        raise AttributeError(
            "partial_fit starts from the prior N(0, C) of the weights: give l1_ratio=0 and a"
            " finite C"
        )
    if self.class_weight == "balanced":
        raise AttributeError(
            "partial_fit cannot balance classes whose rows are still to come: give class_weight as"
            " a dict"
        )
    return True


class RecursiveLogistic:
    """What `solver="recursive"` adds to logistic regression; `partial_fit` goes on with it."""

    solver: str

    @available_if(_can_go_on)  # scikit-learn puts the classes before the weights
    def partial_fit(
        self: Any, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ):
        """Go on with more rows, one at a time by recursion, from the weights so far and their
        covariance.

        With solver="recursive" the result is that of one `fit` on all rows in this order. After a
        `fit` by another solver its optimum w* and H⁻¹ are what is gone on from: the rows seen
        before count as N(w*, H⁻¹). `classes` names, in the first call, classes whose rows come
        later.
        """
        fitted = hasattr(self, "coef_")
        if fitted:
            known = (self.classes_.tolist(), self.design_names)
        else:
            known = None
        with unchanged_on_failure(self):
            rows = self._more_rows(X, y, sample_weight, classes)
            if known is not None and known[0] != self.classes_.tolist() and len(known[0]) == 1:
                known = None  # one class has no weights yet
            check_same_weights(known, (self.classes_.tolist(), self.design_names))
            self._check_settings()
            if known is None and self.standardize:
                raise SettingError(
                    "partial_fit cannot know the deviations of the columns beforehand: fit first,"
                    " or standardize the columns, e.g. by lyceum.prepare.StandardScaler()"
                )
            if not fitted:
                self.seed_ = seed_from(self.random_state)
            if (
                known is not None
                and not getattr(self, "recursion_", None)
                and len(self.classes_) > 1
            ):
                self._continue_from_optimum()
            return self._recurse(rows, known is not None and len(self.classes_) > 1)

    def _continue_from_optimum(self: Any) -> None:
        """The state of a recursion at the optimum of a fit on all rows."""
        if not hasattr(self, "posterior_covariance_"):
            raise SettingError(
                "this fit kept no covariance of its weights to go on from (too many columns, or"
                " columns that depend on each other): fit with solver='recursive'"
            )
        if self.fit_intercept:
            origin = self.mean_
        else:
            origin = np.zeros_like(self.mean_)
        theta = np.column_stack([self.coef_, self.intercept_ + self.coef_ @ origin])
        weight = self._class_weight
        state = Recursion(
            origin, theta, self.posterior_covariance_, self.mean_, weight, float(weight.sum()),
            -float(self.log_likelihood_),
        )  # fmt: skip
        self.recursion_ = asdict(state)
        self.history_: list[float] = []

    def _recurse(self: Any, rows: Rows, go_on: bool):
        """One pass over the rows in their order."""
        self.__dict__.pop("bound_", None)
        if len(self.classes_) == 1:
            self.recursion_, self.mean_ = {}, np.zeros(len(self.design_names))
            self._fit_one_class()
            return self
        if go_on:
            history = self.history_
            record = getattr(self, "record_", [])
        else:
            history = []
            record = []
        state, record = self._see(
            rows, Recursion(**self.recursion_) if go_on else None, list(record)
        )
        self.__dict__.pop("record_", None)
        if self.record:
            self.record_ = record
        self.history_ = [*history, state.loss]
        self.recursion_ = asdict(state)
        self._set_recursive_results(state)
        return self

    def _see(
        self: Any, rows: Rows, state: Recursion | None, record: list
    ) -> tuple[Recursion, list]:
        factors = self._class_factors(None)
        done = 0
        if is_watched():
            n_rows = rows.source.n_rows
        else:
            n_rows = None
        for block in dense_blocks(rows):
            done += len(block)
            report("rows", done, n_rows)
            if block.w is None:
                weighted = np.arange(len(block))
            else:
                weighted = np.flatnonzero(block.w > 0)
            if not len(weighted):
                continue
            if state is None:
                first = block.X[weighted[0]]
                K = len(self.classes_)
                state = Recursion.start(first, K, self.C, self.fit_intercept, self._reference)
            if not self.record:
                state.see(block, factors, None)
                continue
            before = state.loss
            trace = np.empty((1 + len(block), *state.theta.shape))
            trace[0] = state.theta
            state.see(block, factors, trace[1:])
            objectives = before + np.cumsum(_row_losses(block, factors, trace[:-1], state.origin))
            for theta, objective in zip(trace[1:], objectives.tolist()):
                coef, intercept = _at_zero(theta, state.origin)
                step = {"step": len(record) + 1, "coef": coef, "intercept": intercept}
                record.append(step | {"objective": objective})
        if state is None:
            raise DataError("no row has a weight above zero: there is nothing to learn from")
        return state, record

    def _set_recursive_results(self: Any, state: Recursion) -> None:
        self.coef_, self.intercept_ = _at_zero(state.theta, state.origin)
        self.mean_ = state.mean
        self.n_iter_ = len(self.history_)
        self.converged_ = True
        self.separated_ = False
        self.n_undetermined_ = 0  # the prior determines all
        self.objective_ = state.loss
        self.log_likelihood_ = -state.loss
        shares = state.class_weight / state.class_weight.sum()
        self.null_log_likelihood_ = float(state.class_weight @ np.log(np.maximum(shares, 1e-300)))
        self._forget_standard_errors()
        if self._wants_standard_errors(state.theta.size):
            self._set_standard_errors(state.covariance, state.origin)


def _row_losses(
    block: Block, factors: np.ndarray | None, before: np.ndarray, origin: np.ndarray
) -> np.ndarray:
    """w [-log P(y | x)] of every row under the weights before it, (n, outputs, d + 1)."""
    codes = np.asarray(block.y, dtype=np.intp)
    if factors is None:
        w = block.weights
    else:
        w = block.weights * factors[codes]
    scores = np.einsum("nkd,nd->nk", before[:, :, :-1], block.X - origin) + before[:, :, -1]
    if scores.shape[1] == 1:  # of the second of two classes
        scores = np.column_stack([np.zeros(len(scores)), scores])
    return w * (logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes])


def _at_zero(theta: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients, and intercepts at x = 0 instead of at the first row."""
    coef = np.ascontiguousarray(theta[:, :-1])
    return coef, theta[:, -1] - coef @ origin

"""What mixtures share: EM over rows from any source, memberships, densities, draws and criteria."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import (
    CATEGORICAL_FEATURES,
    Density,
    Learner,
    check_same_columns,
    finite_sums,
    undefined,
)
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum._core.probability import AGAINST_RUNNER_UP
from lyceum._core.solvers import EMOutcome, EMProblem, ExpectationMaximization
from lyceum._core.statistics import Moments
from lyceum._core.types import Data, Seed, Target, Weights
from lyceum.errors import DataError, SettingError
from lyceum.evaluate import information_criteria
from lyceum.mixtures.start import START_NAMES, ScaledCells, starts_of
from lyceum.report import Explanation, Summary, Table

MIXTURE_CONSTRAINTS: dict[str, list] = {
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "init_params": [StrOptions(set(START_NAMES))],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
    "record": ["boolean"],
    "categorical_features": CATEGORICAL_FEATURES,
}
_DRAWS = 100_000  # for the threshold of anomalies


class Mixture(Density, Learner):
    """A subclass defines the EM problem, its starts, the fitted attributes, and the log joint
    densities."""

    _parameter_docs: ClassVar[str] = """
    verbose_interval : int
        Iterations between two messages of scikit-learn; has no effect here, where `verbose` says
        how often progress is printed.
    n_components : int
        The number of components K.
    n_init : int
        How many starts are tried; the largest objective wins.
    weights_init : array of shape (n_components,) or None
        Weights to start from.
    tol : float
        Stop when an iteration gains at most this much per row.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}
        The start: clusters of k-means, the rows nearest to centers of k-means++ (one pass), random
        memberships, or the rows nearest to rows drawn at random.
    """

    _attribute_docs: ClassVar[str] = """
    lower_bounds_ : array of shape (n_iter_,)
        The objective per unit of weight after every iteration.
    """

    history_axes: ClassVar[tuple[str, str]] = ("iteration", "objective")

    n_components: int
    init_params: str
    n_init: int
    max_iter: int
    tol: float
    random_state: int | np.random.RandomState | None
    warm_start: bool
    record: bool
    weights_: np.ndarray

    def _em_problem(
        self, rows: Rows, moments: Moments
    ) -> tuple[EMProblem, Iterable[Any]]:
        """The problem, and the parameters to start from."""
        raise undefined(self, "_em_problem")

    def _improve_run(
        self,
        rows: Rows,
        problem: Any,
        solver: ExpectationMaximization,
        outcome: EMOutcome,
    ) -> EMOutcome:
        """The outcome of the best start after moves other than iterations."""
        return outcome

    def _keep(self, parameters: Any, problem: Any) -> None:
        """Set the fitted attributes."""
        raise undefined(self, "_keep")

    def _step_values(self, parameters: Any) -> dict[str, Any]:
        """The values that `record_` has of every step."""
        raise undefined(self, "_step_values")

    def _log_joint(self, block: Block) -> np.ndarray:
        """log π_k + log p(x | k), (n, K)."""
        raise undefined(self, "_log_joint")

    def _n_parameters(self) -> int:
        raise undefined(self, "_n_parameters")

    def _draw(self, k: int, n: int, random: np.random.RandomState) -> np.ndarray:
        """n rows of component k."""
        raise undefined(self, "_draw")

    def _column_terms(self, block: Block) -> np.ndarray:
        """The component of every row, the base, and what every column adds to its log-odds."""
        raise undefined(self, "_column_terms")

    def _component_table(self) -> list[Table]:
        raise undefined(self, "_component_table")

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """Find the components by expectation-maximization, one pass over the rows per iteration.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often every row counts; zero-weight rows are ignored.
        """
        # a warm start goes on from parameters that belong to these columns
        before = None
        if self.warm_start and hasattr(self, "weights_"):
            before = self.schema_
        rows = self._rows(X, None, sample_weight)
        if before is not None:
            check_same_columns(self, before, numbers=True)
        moments = finite_sums(rows.reduce(_moments))
        if not moments.weight.any():
            raise DataError(
                "every cell is missing or has weight zero: there is nothing to learn from"
            )
        problem, starts = self._em_problem(rows, moments)
        solver = ExpectationMaximization(self.max_iter, self.tol, self.record)
        outcome = solver.maximize_from(rows, problem, starts)
        outcome = self._improve_run(rows, problem, solver, outcome)
        self._finish(outcome, problem)
        self.labels_ = rows.collect(partial(_labels, self))
        return self

    def fit_predict(
        self, X: Data, y: Target = None, sample_weight: Weights = None
    ) -> Any:
        """`fit`, and the most probable component of every row.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        array of int of shape (n_samples,)
        """
        return self.fit(X, y, sample_weight).labels_

    def _finish(self, outcome: EMOutcome, problem: EMProblem) -> None:
        self._keep(outcome.parameters, problem)
        self.lower_bound_ = outcome.objective / outcome.weight
        self.lower_bounds_ = np.array(outcome.history[1:]) / outcome.weight
        self.n_iter_ = outcome.n_iter
        self.converged_ = outcome.converged
        self.history_ = outcome.history
        self.__dict__.pop("record_", None)
        if outcome.record is not None:
            self.record_ = [
                {
                    "step": step["step"],
                    "objective": step["objective"],
                    **self._step_values(step["parameters"]),
                }
                for step in outcome.record
            ]

    def _label_starts(
        self, rows: Rows, scaling: ScaledCells, how: str | None = None
    ) -> list:
        return starts_of(
            rows,
            how or self.init_params,
            K=int(self.n_components),
            n_init=int(self.n_init),
            random=check_random_state(self.random_state),
            scaling=scaling,
        )

    # -- use ---------------------------------------------------------------------------

    def predict(self, X: Data) -> Any:
        """The most probable component of every row.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(partial(_labels, self), X)

    def predict_proba(self, X: Data) -> Any:
        """The probability of every component given the row: its responsibility. Rows sum to 1.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._apply(self._memberships, X)

    def _memberships(self, block: Block) -> np.ndarray:
        joint = self._log_joint(block)
        native.posterior(joint)
        return joint

    def _log_density(self):
        return partial(_log_density, self)

    def score(self, X: Data, y: Target = None) -> float:
        """The mean log density of the rows.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        float
        """
        return float(np.asarray(self.score_samples(X)).mean())

    def bic(self, X: Data) -> float:
        """Bayesian information criterion of the rows, -2 ln L + k ln N; the smaller the better.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        float
        """
        return self._criteria(X).bic

    def aic(self, X: Data) -> float:
        """Akaike's information criterion of the rows, -2 ln L + 2 k; the smaller the better.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        float
        """
        return self._criteria(X).aic

    def _criteria(self, X: Data):
        log_density = np.asarray(self.score_samples(X))
        return information_criteria(
            float(log_density.sum()), self._n_parameters(), len(log_density)
        )

    def sample(
        self, n_samples: int = 1, random_state: Seed = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows drawn from the mixture, in design columns, and the component of each.

        Parameters
        ----------
        n_samples : int, default=1
            How many rows.
        random_state : int, RandomState or None, default=None
            The seed; None takes that of the learner.

        Returns
        -------
        X : array of shape (n_samples, n_columns)
        labels : array of int of shape (n_samples,)
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise SettingError(
                f"Invalid value for 'n_samples': {n_samples}; at least one row can be drawn"
            )
        random = check_random_state(
            self.random_state if random_state is None else random_state
        )
        counts = random.multinomial(n_samples, self.weights_ / self.weights_.sum())
        rows = [self._draw(k, count, random) for k, count in enumerate(counts)]
        return np.vstack(rows), np.repeat(np.arange(len(counts)), counts)

    def _threshold(self, quantile: float) -> float:
        # there is no closed form: the quantile of many draws, always the same ones
        drawn, _ = self.sample(_DRAWS, random_state=0)
        block = Block(drawn, None, None, 0, self._design.after)
        return float(np.quantile(_log_density(self, block), quantile))

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """The weight of every component, its columns, and how the iterations ended."""
        check_is_fitted(self)
        facts = {
            "components": len(self.weights_),
            "columns": len(self.design_names),
            "free parameters": self._n_parameters(),
            "objective per row": self.lower_bound_,
            "iterations": self.n_iter_,
            "converged": self.converged_,
        }
        return Summary(self._title(), facts, self._component_table())

    def explain(self, X: Data) -> Explanation:
        """Why a row is in its component and not in the next: what every column adds to the
        log-odds.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        labels = None
        if hasattr(self, "weights_"):
            labels = np.arange(len(self.weights_))
        return self._explain(X, self._column_terms, AGAINST_RUNNER_UP, labels=labels)


def _moments(block: Block) -> Moments:
    # zero-weight rows would count in the ranges of the columns
    return Moments.of(block.without_zero_weights())


def _labels(mixture: Mixture, block: Block) -> np.ndarray:
    labels = np.empty(len(block), dtype=np.int64)
    native.row_argmax(mixture._log_joint(block), labels)
    return labels


def _log_density(mixture: Mixture, block: Block) -> np.ndarray:
    # log Σ_k exp(joint), relative to the largest; -inf where every component is impossible
    joint = mixture._log_joint(block)
    best = joint.max(axis=1)
    best[np.isneginf(best)] = 0.0
    with np.errstate(divide="ignore"):
        return best + np.log(np.exp(joint - best[:, None]).sum(axis=1))

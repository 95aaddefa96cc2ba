"""What mixtures of Bernoullis and of multinomials share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import undefined
from lyceum._core.constraints import Interval
from lyceum._core.data import Block, Rows, dense_cells
from lyceum._core.probability import runner_up_odds
from lyceum._core.solvers import EMProblem
from lyceum._core.statistics import Moments
from lyceum.mixtures.base import MIXTURE_CONSTRAINTS, Mixture
from lyceum.mixtures.start import StartLabels, given_array, given_weights
from lyceum.mixtures.table_problem import (
    TableParameters,
    TableProblem,
    zeros_for_missing,
)
from lyceum.report import Table

TABLE_CONSTRAINTS: dict[str, list] = {
    **MIXTURE_CONSTRAINTS,
    "alpha": [Interval(Real, 0, None, closed="left")],
    "weights_init": ["array-like", None],
    "probabilities_init": ["array-like", None],
}


class TableMixture(Mixture):
    """A mixture whose components are tables of probabilities of design columns."""

    _parameter_docs: ClassVar[str] = """
    probabilities_init : array of shape (n_components, n_columns) or None
        Probabilities to start from, in place of k-means.
    """

    _counts = False

    alpha: float
    weights_init: Any
    probabilities_init: Any
    probabilities_: np.ndarray

    def _group(self) -> np.ndarray:
        """-1 for a design column of 0 and 1, else the number of the columns that sum to 1
        together."""
        raise undefined(self, "_group")

    def _start_scaling(self, moments: Moments) -> Any:
        raise undefined(self, "_start_scaling")

    # -- fit ---------------------------------------------------------------------------

    def _em_problem(
        self, rows: Rows, moments: Moments
    ) -> tuple[EMProblem, Iterable[Any]]:
        problem = TableProblem(self._group(), float(self.alpha), self._counts)
        if self.warm_start and hasattr(self, "probabilities_"):
            return problem, [self._parameters]
        if self.probabilities_init is not None:
            return problem, [self._given_start(problem)]
        starts = self._label_starts(rows, self._start_scaling(moments))
        return problem, [self._start_run(rows, problem, labels) for labels in starts]

    def _start_run(
        self, rows: Rows, problem: TableProblem, labels: StartLabels
    ) -> TableParameters:
        start = problem.maximization(
            rows.reduce(partial(problem.start_sums, labels=labels))
        )
        if self.weights_init is None:
            return start
        weights = given_weights(self.weights_init, int(self.n_components))
        return TableParameters.of(
            weights, start.probabilities, problem.group, self._counts
        )

    def _given_start(self, problem: TableProblem) -> TableParameters:
        K = int(self.n_components)
        shape = (K, len(self.design_names))
        P = given_array("probabilities_init", self.probabilities_init, shape)
        if self.weights_init is None:
            weights = np.full(K, 1.0 / K)
        else:
            weights = given_weights(self.weights_init, K)
        return TableParameters.of(
            weights, np.clip(P, 0.0, 1.0), problem.group, self._counts
        )

    def _keep(self, parameters: TableParameters, problem: TableProblem) -> None:
        self.weights_ = parameters.weights
        self.probabilities_ = parameters.probabilities

    def _step_values(self, parameters: TableParameters) -> dict[str, Any]:
        return {
            "weights": parameters.weights,
            "probabilities": parameters.probabilities,
        }

    # -- use ---------------------------------------------------------------------------

    @property
    def _parameters(self) -> TableParameters:
        return TableParameters.of(
            self.weights_, self.probabilities_, self._group(), self._counts
        )

    def _log_joint(self, block: Block) -> np.ndarray:
        return self._parameters.log_joint(block.X)

    def _column_terms(self, block: Block) -> np.ndarray:
        at = self._parameters
        X, known = zeros_for_missing(block.X)
        X = dense_cells(X)
        if known is None:
            known = np.ones(X.shape)
        terms = X[:, None, :] * at.slope + known[:, None, :] * at.base
        return runner_up_odds(terms, at.log_weights)

    # -- what was learned --------------------------------------------------------------

    def _n_parameters(self) -> int:
        group = self._group()
        K = len(self.weights_)
        free = int((group < 0).sum())
        free += sum(int((group == g).sum()) - 1 for g in np.unique(group[group >= 0]))
        return K - 1 + K * free

    def _component_table(self) -> list[Table]:
        names = [f"component {k}" for k in range(len(self.weights_))]
        weights = [*zip(names, self.weights_.tolist())]
        table = [
            (name, *column)
            for name, column in zip(self.design_names, self.probabilities_.T)
        ]
        return [
            Table("Components", ("component", "weight"), weights),
            Table("Probabilities", ("column", *names), table),
        ]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        K = len(self.weights_)
        d = len(self.design_names)
        return {"weights_": (K,), "probabilities_": (K, d)}

"""Missing cells predicted from the other columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval
from lyceum._core.data import Block, Rows, Schema, codes_of
from lyceum._core.statistics import Scatter
from lyceum._core.steps import StepColumn, StepKind
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.prepare.base import Transformer
from lyceum.prepare.chained_equations import (
    Chain,
    Equations,
    Layout,
    r_squared,
    score_change,
    solve,
)
from lyceum.prepare.imputer import FillRules, column_stats, fill_values
from lyceum.prepare.statistics import Stats
from lyceum.report import Summary, Table


class IterativeImputer(Transformer):
    """Fill the missing cells of every column with a prediction from the other columns.

    Continuous columns are predicted by a ridge regression on all others, categorical ones by a
    linear discriminant:

    .. math::
        \\hat x_j = a_j + b_j^T z_{-j}, \\qquad
        \\hat x_j = \\arg\\max_k \\; \\log \\hat p_k
            + \\delta_k^T W^{-1} (z_{-j} - \\bar z_{-j} - \\delta_k / 2)

    with z the one-of-C coded row, each learned on the rows where column j is not missing. As z has
    missing cells itself, the equations are chained: missing cells start at their column's mean or
    mode, every round learns all equations from the rows as they are filled now (one pass of sums,
    so it streams), and a row with several missing cells goes round its columns `max_iter` times,
    each predicted from the others' latest values. On the way a missing category stands for its
    posterior probabilities; in the end it is the most probable one. Nothing is random.

    A column without missing cells in `fit` has its equation too, for cells that are missing later.
    An unknown category is not missing and stays unknown. A column with nothing but missing cells is
    filled with 0 or a category as by `SimpleImputer`, with a warning.

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge on standardized columns; it weighs as much as this number of rows.
    max_iter : int, default=10
        The rounds of `fit` at most, and how often a row with several missing cells goes round them.
    tol : float, default=1e-3
        Stop when no equation's predictions move by more than this share of the column's standard
        deviation (of the scores' spread, for categories), as root mean square over the rows.

    Attributes
    ----------
    coef_ : array of shape (D, D)
        Coefficients over the D one-of-C columns, a column of the matrix for each that is predicted.
    intercept_ : array of shape (D,)
        The intercepts of the same equations.
    design_names_ : list of str
        The names of the D one-of-C columns.
    design_scale_ : array of shape (D,)
        The standard deviations of the one-of-C columns.
    filled_schema_ : Schema
        The columns after filling.
    start_ : array of shape (n_features,)
        The cells that missing cells start from, codes for categories.
    order_ : array of shape (n_features,)
        The order in which the missing cells of a row are predicted: columns with few missing cells
        first.
    missing_ : array of shape (n_features,)
        The share of every column that was missing.
    r2_ : array of shape (n_features,)
        The share of the variance that a continuous column's equation explains; NaN for
        categories.
    n_iter_ : int
        The number of rounds.
    history_ : list of float
        The largest move of an equation in every round.
    record_ : list of dict
        With `record=True` every round's `step`, `objective` (the largest move), `intercept` and
        `coef`.

    See Also
    --------
    SimpleImputer : one value per column instead.

    References
    ----------
    S. van Buuren, K. Groothuis-Oudshoorn, "mice: Multivariate Imputation by Chained Equations in
    R", Journal of Statistical Software 45(3), 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.prepare import IterativeImputer
    >>> x = np.arange(100.0)
    >>> X = np.c_[x, 2 * x + 1]
    >>> X[7, 1] = np.nan
    >>> IterativeImputer(alpha=1e-6).fit_transform(X)[7].round(3).tolist()
    [7.0, 15.0]
    """

    history_axes: ClassVar[tuple[str, str]] = ("round", "largest move")

    _step_kind = StepKind(
        "round",
        (
            StepColumn(
                "objective",
                "move",
                "the root mean square change of the predictions, of the column of the most change",
                unit="standard deviations",
            ),
            StepColumn(
                "intercept", "b₀", "of the prediction of every column", axes=("column",)
            ),
            StepColumn(
                "coef",
                "b",
                "of the prediction of every column",
                axes=("column", "column"),
            ),
        ),
    )
    _reads_rows = "many passes"
    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "record": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        max_iter: int = 10,
        tol: float = 1e-3,
        record: bool = False,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.record = record
        self.verbose = verbose
        self.categorical_features = categorical_features

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Learn the equations of all columns: one pass for the start, then one per round.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : ignored
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        self._start(rows)
        self._learn(rows)
        return self

    def _start(self, rows: Rows) -> None:
        statistic = rows.reduce(partial(column_stats, medians=False))
        counts = statistic.parts[0]
        self.filled_schema_, start = fill_values(
            self.schema_, statistic, FillRules("mean", "mode"), type(self).__name__
        )
        # codes also for categories that are numbers
        for j, column in enumerate(self.filled_schema_):
            if column.is_categorical and column.numeric:
                start[j] = codes_of(start[j : j + 1], column.categories)[0]  # type: ignore[arg-type]
        self.start_ = start
        self.missing_ = counts.missing / counts.weight
        self.order_ = np.argsort(self.missing_, kind="stable")

    def _learn(self, rows: Rows) -> None:
        layout = Layout(self.filled_schema_)
        schema = Schema(self.schema_.columns)
        self.design_names_ = list(layout.design.after.names)
        # columns with cells to predict and cells to learn from; others keep their equations
        incomplete = tuple(int(j) for j in self.order_ if 0 < self.missing_[j] < 1)
        equations = self._constants(layout)
        chain = self._chain(schema, None)
        self.history_: list[float] = []
        record: list[dict[str, Any]] = []
        for step in range(1, self.max_iter + 1):
            # sums over the rows as they are filled now, and the equations that follow from them
            scatters = partial(_scatters, chain=chain, columns=incomplete)
            sums = Sums(incomplete, rows.reduce(scatters).parts)
            before = equations
            equations = self._solve_columns(layout, sums, equations, incomplete)
            moves = [
                score_change(layout, j, sums[j], before, equations) for j in incomplete
            ]
            self.history_.append(max(moves, default=0.0))
            record.append(_round_record(step, self.history_[-1], equations))
            if self.history_[-1] <= self.tol:
                break
            chain = self._chain(schema, equations)
        else:
            self._warn_of_moves()
        self.n_iter_ = len(self.history_)
        complete = np.flatnonzero(self.missing_ == 0)
        self._finish(
            layout, sums, self._solve_columns(layout, sums, equations, complete)
        )
        if self.record:
            self.record_ = record

    def _constants(self, layout: Layout) -> Equations:
        """The start values as equations, which they stay for columns with nothing but missing
        cells."""
        # a category starts as certain: one of its one-of-C columns is 1
        intercept = np.zeros(len(self.design_names_))
        for j, own in enumerate(layout.own):
            if layout.schema[j].is_categorical:
                intercept[own] = np.eye(len(own))[int(self.start_[j])]
            else:
                intercept[own] = self.start_[j]
        return Equations(intercept, np.zeros((len(intercept), len(intercept))))

    def _solve_columns(
        self,
        layout: Layout,
        sums: Sums,
        equations: Equations,
        columns: Iterable[int],
    ) -> Equations:
        intercept = equations.intercept.copy()
        coef = equations.coef.copy()
        for j in columns:
            own = layout.own[j]
            intercept[own], coef[:, own] = solve(layout, j, sums[j], self.alpha)
        return Equations(intercept, coef)

    def _finish(
        self,
        layout: Layout,
        sums: Sums,
        equations: Equations,
    ) -> None:
        self.intercept_ = equations.intercept
        self.coef_ = equations.coef
        self.design_scale_ = np.sqrt(np.diag(sums[-1].scatter) / sums[-1].weight)
        self.r2_ = np.array(
            [r_squared(layout, j, sums[j], equations) for j in range(len(layout.own))]
        )

    def _warn_of_moves(self) -> None:
        warnings.warn(
            f"IterativeImputer: the equations still move by {self.history_[-1]:.2g} after"
            f" {self.max_iter} rounds: raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _chain(self, before: Schema, equations: Equations | None) -> Chain:
        return Chain(
            before,
            layout=Layout(self.filled_schema_),
            start=self.start_,
            equations=equations,
            order=tuple(self.order_.tolist()),
            sweeps=self.max_iter,
        )

    def _step(self, schema: Schema) -> Chain:
        return self._chain(schema, Equations(self.intercept_, self.coef_))

    def summary(self) -> Summary:
        """For every column, how much is missing, what predicts it best, and how well."""
        check_is_fitted(self)
        rows = []
        own_columns = Layout(self.filled_schema_).own
        for j, (column, own) in enumerate(zip(self.schema_, own_columns)):
            method = "regression"
            if column.is_categorical:
                method = "discriminant"
            # what a deviation of a one-of-C column changes
            strength = np.abs(self.coef_[:, own]).max(axis=1) * self.design_scale_
            best = ""
            if strength.any():
                best = self.design_names_[int(strength.argmax())]
            r2: Any = ""
            if np.isfinite(self.r2_[j]):
                r2 = float(self.r2_[j])
            rows.append((column.name, method, float(self.missing_[j]), r2, best))
        heads = ("column", "predicted by", "missing", "R²", "most from")
        facts = {"rounds": self.n_iter_, "last move": self.history_[-1]}
        return Summary(self._title(), facts, [Table("Columns", heads, rows)])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = self.n_features_in_
        D = len(self.design_names_)
        return {"start_": (d,), "order_": (d,), "intercept_": (D,), "coef_": (D, D)}


@dataclass(frozen=True, eq=False)
class Sums:
    """The scatter that the equation of a column follows from: of the rows where it is not
    missing."""

    incomplete: tuple[int, ...]
    parts: tuple[Scatter, ...]

    def __getitem__(self, j: int) -> Scatter:
        if j in self.incomplete:
            return self.parts[1 + self.incomplete.index(j)]
        return self.parts[0]


def _round_record(step: int, move: float, equations: Equations) -> dict[str, Any]:
    return {
        "step": step,
        "objective": move,
        "intercept": equations.intercept,
        "coef": equations.coef,
    }


def _scatters(block: Block, chain: Chain, columns: tuple[int, ...]) -> Stats:
    return chain.scatters(block.without_zero_weights(), columns)

"""permutation_importance: how much the score of a learner falls when a column is shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import target_of
from lyceum._core.data import ArraySource, Rows, other_target, refuse_beside_rows
from lyceum._core.types import Data, Estimator, Seed, Target, Weights
from lyceum.errors import DataError, SettingError, SourceError
from lyceum.report import Table


@dataclass(frozen=True, slots=True)
class PermutationImportance:
    """How much worse predictions become when a column is shuffled, so that it carries no
    information.

    Attributes
    ----------
    names : sequence of str
        The columns.
    score : float
        The score on the rows as they are.
    drops : ndarray of shape (d, n_repeats)
        How much the score fell in every shuffle of every column.
    mean : ndarray of shape (d,)
        The mean fall of the score, by column.
    sd : ndarray of shape (d,)
        The standard deviation (divisor n − 1) of the falls, by column; 0 for one shuffle.

    See Also
    --------
    permutation_importance : Computes it.
    lyceum.plot.importances : Draws means and standard deviations.

    References
    ----------
    L. Breiman, "Random forests", Machine Learning 45, 2001.

    Examples
    --------
    Shuffled ages give R² = -1 on average, 2 less than the line itself:

    >>> import pandas as pd
    >>> from lyceum.linear import LinearRegression
    >>> from lyceum.trees import permutation_importance
    >>> X = pd.DataFrame({"age": range(50), "digit": [i % 10 for i in range(50)]})
    >>> model = LinearRegression().fit(X, 2 * X["age"])
    >>> importance = permutation_importance(model, X, 2 * X["age"])
    >>> importance.names, round(importance.score, 6), importance.mean.round(1).tolist()
    (('age', 'digit'), 1.0, [2.0, 0.0])
    """

    names: Sequence[str]
    score: float
    drops: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean fall of the score, by column."""
        return self.drops.mean(axis=1)

    @property
    def sd(self) -> np.ndarray:
        """The standard deviation (divisor n − 1) of the falls, by column; 0 for one shuffle."""
        if self.drops.shape[1] < 2:
            return np.zeros(len(self.drops))
        return self.drops.std(axis=1, ddof=1)

    def table(self) -> Table:
        """The columns, the most important first."""
        order = np.argsort(-self.mean, kind="stable")
        names = [self.names[j] for j in order]
        mean = self.mean[order].tolist()
        sd = self.sd[order].tolist()
        rows = list(zip(names, mean, sd))
        title = f"fall of the score of {self.score:.4g} when a column is shuffled"
        return Table(title, ("column", "mean", "sd"), rows)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def permutation_importance(
    learner: Estimator,
    X: Data,
    y: Target = None,
    *,
    n_repeats: int = 5,
    scoring: Any = None,
    sample_weight: Weights = None,
    random_state: Seed = 0,
) -> PermutationImportance:
    """Shuffle one column at a time and see by how much the score of a fitted learner falls.

    Cells move among rows, so that a column keeps its values, categories and missing cells but loses
    its relation to the target. Rows held out of `fit` show what matters for prediction, those of
    `fit` what the learner relies on. Columns with the same information share their importance, or
    hide each other's.

    Parameters
    ----------
    learner : a fitted learner
    X : array, sparse array, frame or scanned rows
        Any frame that speaks Arrow; in memory.
    y : array of shape (n_samples,), optional
        The target; scanned rows carry their own.
    n_repeats : int, default=5
        How often each column is shuffled.
    scoring : str or callable, optional
        One of scikit-learn's scores, or (learner, X, y) to a number, larger is better; by default
        the learner's own: accuracy or R².
    sample_weight : array of shape (n_samples,), optional
        Weights in the score; scanned rows carry their own.
    random_state : int or RandomState, default=0

    Returns
    -------
    PermutationImportance

    References
    ----------
    Breiman, Random forests, Machine Learning 45 (2001).

    Examples
    --------
    >>> from lyceum.linear import LinearRegression
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = LinearRegression().fit(X, 3 * X[:, 0])
    >>> permutation_importance(model, X, 3 * X[:, 0]).mean.round(1).tolist()
    [1.9, 0.0]
    """
    check_is_fitted(learner)
    if not isinstance(n_repeats, Integral) or n_repeats < 1:
        raise SettingError(
            f"n_repeats must be a whole number of at least 1, not {n_repeats!r}"
        )
    random = check_random_state(random_state)
    if isinstance(X, Rows):
        refuse_beside_rows(other_target(X, y), sample_weight)
        y = target_of(X)
        # the learner's own score takes the weights from the rows
        sample_weight = None if scoring is None else X.sample_weight
        X = Rows(ArraySource.of_block(X.in_one_block("permutation_importance")))
    elif y is None:
        raise DataError(
            "give y, the target of every row of X; only scanned rows carry their own"
        )
    from sklearn.metrics import check_scoring  # takes long to import

    scorer = check_scoring(learner, scoring=scoring)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    table = _shuffled_table(X)
    score = float(scorer(learner, X, y, **weights))
    drops = np.empty((len(table.names), n_repeats))
    for j in range(len(table.names)):
        for r in range(n_repeats):
            shuffled = table.with_column(j, random.permutation(table.n_rows))
            drops[j, r] = score - float(scorer(learner, shuffled, y, **weights))
    return PermutationImportance(table.names, score, drops)


# -- tables with one column shuffled ---------------------------------------------------


def _shuffled_table(X: Data) -> Any:
    if isinstance(X, Rows):
        return _RowsTable(X)
    if sparse.issparse(X):
        return _SparseTable(X)
    if hasattr(X, "iloc"):
        return _PandasTable(X)
    if hasattr(X, "__arrow_c_stream__"):
        return _ArrowTable(X)
    array = np.asarray(X)
    if array.ndim != 2:
        raise SourceError(
            "shuffling a column needs a table in memory, an array or a frame, not a"
            f" {type(X).__name__}"
        )
    return _ArrayTable(array)


class _ArrayTable:
    def __init__(self, X: np.ndarray):
        self.X = X
        self.n_rows = len(X)
        self.names = tuple(f"x{j}" for j in range(X.shape[1]))

    def with_column(self, j: int, order: np.ndarray) -> np.ndarray:
        X = self.X.copy()
        X[:, j] = X[order, j]
        return X


class _SparseTable:
    def __init__(self, X: Any):
        self.X = X.tocsc()
        self.format = X.format
        self.n_rows = X.shape[0]
        self.names = tuple(f"x{j}" for j in range(X.shape[1]))

    def with_column(self, j: int, order: np.ndarray) -> Any:
        # row i gets the cell of row order[i]: the cell of row k moves to the i of order[i] = k
        X = self.X.copy()
        part = slice(X.indptr[j], X.indptr[j + 1])
        X.indices[part] = np.argsort(order)[X.indices[part]]
        X.has_sorted_indices = False
        return X.asformat(self.format)


class _RowsTable:
    def __init__(self, rows: Rows):
        assert isinstance(rows.source, ArraySource)  # gathered
        self.source = rows.source
        self.cells = _shuffled_table(self.source.X)
        self.n_rows = self.source.n_rows
        self.names = rows.schema.names

    def with_column(self, j: int, order: np.ndarray) -> Rows:
        return Rows(replace(self.source, X=self.cells.with_column(j, order)))


class _PandasTable:
    def __init__(self, X: Any):
        self.X = X
        self.n_rows = len(X)
        self.names = tuple(map(str, X.columns))

    def with_column(self, j: int, order: np.ndarray) -> Any:
        X = self.X.copy(deep=False)
        X.isetitem(j, X.iloc[:, j].array.take(order))
        return X


class _ArrowTable:
    """Any other frame; where its own kind can be made from Arrow, shuffled tables are of that
    kind."""

    def __init__(self, X: Any):
        from lyceum._core.lazy_arrow import pa

        self.X = pa.table(X)
        self.n_rows = len(self.X)
        self.names = tuple(self.X.column_names)
        is_polars = type(X).__module__.partition(".")[0] == "polars"
        self.make = type(X) if is_polars else None

    def with_column(self, j: int, order: np.ndarray) -> Any:
        shuffled = self.X.column(j).take(order)
        X = self.X.set_column(j, self.X.schema.field(j), shuffled)
        if self.make is None:
            return X
        return self.make(X)

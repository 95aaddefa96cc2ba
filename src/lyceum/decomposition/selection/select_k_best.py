"""Columns ranked by how much information each has on the target."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Recode, Rows, Step, target_task
from lyceum._core.text import show_count
from lyceum.decomposition.selection.column_measures import MEASURES, chi_square_p, measure_columns
from lyceum.decomposition.selection.keep_columns import ColumnSelector
from lyceum.decomposition.selection.relief import relief
from lyceum.errors import SettingError
from lyceum.report import Summary, Table


class SelectKBest(ColumnSelector):
    """Rank columns by how much each of them tells of the target, and keep the best.

    With H the entropy in bits of a column A and of the target Y, numbers in intervals of equal
    weight as `lyceum.prepare.KBinsDiscretizer` cuts them,

    - "information_gain": H(Y) - H(Y | A);
    - "gain_ratio": information gain / H(A), which does not favor many categories;
    - "symmetrical_uncertainty": 2 · information gain / (H(A) + H(Y)), from 0 to 1;
    - "chi2": Pearson's chi-square of independence, with p-values in `p_values_`;
    - "correlation": |r| of two numbers, η of a number and categories, Cramér's V of categories;
    - "relief": ReliefF (RReliefF for numbers): whether the column differs between near rows of
      different classes more than between near rows of one class; the only measure that sees columns
      together.

    Columns of numbers and of categories are taken as they are, targets of classes and of numbers
    too. Cells that are missing are left out of their column's measure. All measures but "relief",
    which compares rows in memory, take two passes over files and Dask collections of any size; the
    cuts of a column with more than 2,048 distinct numbers are then those of a sketch of its
    quantiles.

    Parameters
    ----------
    measure : str, default="symmetrical_uncertainty"
        "information_gain", "gain_ratio", "symmetrical_uncertainty", "chi2", "correlation" or
        "relief".
    n_features : int or None, default=None
        How many columns `transform` keeps; None keeps those with a score above `threshold`.
    threshold : float, default=0.0
        See `n_features`; the best column is always kept.
    n_bins : int, default=10
        The intervals of a column of numbers.
    n_neighbors : int, default=10
        The near rows per class of "relief".
    n_rows : int, default=500
        How many rows "relief" draws and compares with all others.
    random_state : int, RandomState or None, default=None
        The seed of the rows drawn.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns hold categories.

    Attributes
    ----------
    scores_ : array of shape (n_features_in_,)
        The measure of every column.
    ranking_ : array of int of shape (n_features_in_,)
        The places of the columns, the best first.
    p_values_ : array of shape (n_features_in_,)
        With "chi2": the probability of such a chi-square if column and target were independent.
    support_ : array of bool of shape (n_features_in_,)
        Which columns `transform` keeps.
    task_ : str
        "classes" or "numbers", the kind of the target.
    classes_ : array of shape (K,)
        The classes, if the target has them.
    schema_ : Schema
        The columns that were learned from.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, if they have names.

    See Also
    --------
    SequentialFeatureSelector : sets of columns that do well together.

    References
    ----------
    Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
    Robnik-Šikonja, M. and Kononenko, I. (2003). Theoretical and empirical analysis of ReliefF and
    RReliefF. Machine Learning 53.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.decomposition import SelectKBest
    >>> table = pa.table({"noise": [1.0, 2.0, 1.0, 2.0], "sky": ["sun", "sun", "rain", "rain"]})
    >>> ranking = SelectKBest("information_gain").fit(table, ["yes", "yes", "no", "no"])
    >>> ranking.scores_.tolist(), ranking.transform(table).column_names
    ([0.0, 1.0], ['sky'])
    """

    _reads_rows = "many passes"
    _parameter_constraints: ClassVar[dict] = {
        "measure": [StrOptions({*MEASURES, "relief"})],
        "n_features": [Interval(Integral, 1, None, closed="left"), None],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_rows": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        measure: str = "symmetrical_uncertainty",
        *,
        n_features: int | None = None,
        threshold: float = 0.0,
        n_bins: int = 10,
        n_neighbors: int = 10,
        n_rows: int = 500,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Any = "from_dtype",
    ):
        self.measure = measure
        self.n_features = n_features
        self.threshold = threshold
        self.n_bins = n_bins
        self.n_neighbors = n_neighbors
        self.n_rows = n_rows
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def _target_task(self) -> Any:
        return self.__dict__.get("task_")

    def _steps(self) -> list[Step]:
        return [Recode(), *super()._steps()]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Measure every column.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
            Classes or numbers.
        sample_weight : array of shape (n_samples,), optional
            How often every row counts.
        """
        self.task_ = target_task(X, y, type(self).__name__)
        rows = self._rows(X, y, sample_weight)
        if self.n_features is not None and self.n_features > len(self.schema_):
            raise SettingError(
                f"n_features={self.n_features}, but the table has"
                f" {show_count(len(self.schema_), 'column')}"
            )
        if self.task_ == "classes":
            n_classes = len(self.classes_)
        else:
            n_classes = 0
        self.__dict__.pop("p_values_", None)
        if self.measure == "relief":
            self.scores_ = self._relief(rows, n_classes)
        else:
            pairs = measure_columns(rows, n_classes, int(self.n_bins), self.measure)
            self.scores_ = np.array([MEASURES[self.measure](part) for part in pairs.parts])
            if self.measure == "chi2":
                self.p_values_ = chi_square_p(pairs)
        self.ranking_ = np.argsort(-self.scores_, kind="stable")
        self.support_ = self._support()
        return self

    def _relief(self, rows: Rows, n_classes: int) -> np.ndarray:
        block = rows.gathered(type(self).__name__, "another measure, which reads rows in passes")
        random = check_random_state(self.random_state)
        return relief(
            block.without_zero_weights(), n_classes, int(self.n_neighbors), int(self.n_rows), random
        )

    def _support(self) -> np.ndarray:
        if self.n_features is None:
            kept = self.scores_ > self.threshold
            kept[self.ranking_[0]] = True
            return kept
        kept = np.zeros(len(self.scores_), dtype=bool)
        kept[self.ranking_[: int(self.n_features)]] = True
        return kept

    def summary(self) -> Summary:
        """The columns in order, with their scores."""
        check_is_fitted(self)
        names = self.schema_.names
        p = getattr(self, "p_values_", None)
        head = ("rank", "column", self.measure, "kept", *(() if p is None else ("p-value",)))
        rows = [
            (
                rank,
                names[j],
                self.scores_[j],
                "yes" if self.support_[j] else "no",
                *(() if p is None else (p[j],)),
            )
            for rank, j in enumerate(self.ranking_, start=1)
        ]
        facts = {"columns": len(names), "kept": int(self.support_.sum()), "target": self.task_}
        return Summary(self._title(), facts, [Table("Columns", head, rows)])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.schema_)
        return {"support_": (d,), "scores_": (d,), "ranking_": (d,)}

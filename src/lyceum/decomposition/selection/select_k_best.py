"""Columns ranked by how much information each has on the target."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Recode, Rows, Step, target_task
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.decomposition.selection.column_measures import (
    MEASURES,
    chi_square_p,
    measure_columns,
)
from lyceum.decomposition.selection.keep_columns import ColumnSelector
from lyceum.decomposition.selection.relief import relief
from lyceum.report import Summary, Table


class SelectKBest(ColumnSelector):
    """Rank columns by how much each of them tells of the target, and keep the best.

    With H the entropy in bits of a column A and of the target Y, numbers in intervals of equal
    weight as `lyceum.prepare.KBinsDiscretizer` cuts them,

    - "information_gain": H(Y) - H(Y | A);
    - "gain_ratio": information gain / H(A), which does not favor many categories;
    - "symmetrical_uncertainty": 2 · information gain / (H(A) + H(Y)), from 0 to 1;
    - "chi2": Pearson's chi-square of independence, with p-values in `pvalues_`;
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
    score_func : str or callable, default="symmetrical_uncertainty"
        "information_gain", "gain_ratio", "symmetrical_uncertainty", "chi2", "correlation" or
        "relief"; or a function of X and y, as scikit-learn's `f_classif`, which gives a score for
        every column, or scores and p-values; it gets X as it is, also sparse, and y of any shape
        or none. Of equal scores it takes the last column, as scikit-learn does.
    k : int, "all" or None, default=10
        How many columns `transform` keeps, all if there are fewer, none of them with 0; None keeps
        those with a score above `threshold`.
    threshold : float, default=0.0
        See `k`; the best column is always kept.
    n_bins : int, default=10
        The intervals of a column of numbers.
    n_neighbors : int, default=10
        The near rows per class of "relief".
    max_samples : int, default=500
        How many rows "relief" draws and compares with all others.

    Attributes
    ----------
    scores_ : array of shape (n_features_in_,)
        The score of every column.
    ranking_ : array of int of shape (n_features_in_,)
        The indices of the columns, the best first.
    pvalues_ : array of shape (n_features_in_,)
        With "chi2": the probability of such a chi-square if column and target were independent; or
        what the function gives.
    support_ : array of bool of shape (n_features_in_,)
        Which columns `transform` keeps.
    task_ : str or None
        "classes" or "numbers", the kind of the target; None without one, or with a table of labels.
    classes_ : array of shape (K,)
        The classes, if the target has them.

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
    >>> ranking = SelectKBest("information_gain", k=1).fit(table, ["yes", "yes", "no", "no"])
    >>> ranking.scores_.tolist(), ranking.transform(table).column_names
    ([0.0, 1.0], ['sky'])
    """

    _reads_rows = "many passes"
    _takes_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "score_func": [StrOptions({*MEASURES, "relief"}), callable],
        "k": [StrOptions({"all"}), Interval(Integral, 0, None, closed="left"), None],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        score_func: str | Callable[..., Any] = "symmetrical_uncertainty",
        *,
        k: int | str | None = 10,
        threshold: float = 0.0,
        n_bins: int = 10,
        n_neighbors: int = 10,
        max_samples: int = 500,
        random_state: int | np.random.RandomState | None = None,
        categorical_features: Categories = "from_dtype",
    ):
        self.score_func = score_func
        self.k = k
        self.threshold = threshold
        self.n_bins = n_bins
        self.n_neighbors = n_neighbors
        self.max_samples = max_samples
        self.random_state = random_state
        self.categorical_features = categorical_features

    @property
    def _target_task(self) -> Any:
        return self.__dict__.get("task_")

    def _steps(self) -> list[Step]:
        return [Recode(), *super()._steps()]

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Measure every column.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
            Classes or numbers.
        sample_weight : array of shape (n_samples,), optional
            How often every row counts.
        """
        self.task_ = None
        ndim = getattr(y, "ndim", None) or np.asarray(y).ndim
        is_plain = y is not None and ndim == 1
        if is_plain or isinstance(X, Rows) or not callable(self.score_func):
            self.task_ = target_task(X, y, type(self).__name__)
        if self.task_ is None:  # nothing, or a table of labels, for a function alone
            rows = self._rows(X, None, sample_weight)
        else:
            rows = self._rows(X, y, sample_weight)
        n_classes = 0
        if self.task_ == "classes":
            n_classes = len(self.classes_)
        self.__dict__.pop("pvalues_", None)
        if callable(self.score_func):
            self._score_by_function(rows, y)
        elif self.score_func == "relief":
            self.scores_ = self._relief(rows, n_classes)
        else:
            pairs = measure_columns(rows, n_classes, int(self.n_bins), self.score_func)
            score = MEASURES[self.score_func]
            self.scores_ = np.array([score(part) for part in pairs.parts])
            if self.score_func == "chi2":
                self.pvalues_ = chi_square_p(pairs)
        # a column whose score is not defined comes last
        comparable = np.where(np.isnan(self.scores_), -np.inf, self.scores_)
        if callable(self.score_func):
            self.ranking_ = np.argsort(comparable, kind="stable")[::-1]
        else:
            self.ranking_ = np.argsort(-comparable, kind="stable")
        self.support_ = self._support()
        return self

    def _score_by_function(self, rows: Rows, given_y: Target) -> None:
        """Scores, and p-values if there are some, as scikit-learn's functions give them."""
        assert callable(self.score_func)
        block = rows.in_one_block(
            type(self).__name__, "a measure by name, which reads rows in passes"
        )
        targets: list[Any] = []
        if self.task_ == "classes":
            targets = [self.classes_[block.y]]
        elif self.task_ == "numbers":
            targets = [block.y]
        elif given_y is not None:
            targets = [given_y]
        scores = self.score_func(block.X, *targets)
        if isinstance(scores, tuple):
            scores, self.pvalues_ = scores
        self.scores_ = np.asarray(scores, dtype=np.float64)

    def _relief(self, rows: Rows, n_classes: int) -> np.ndarray:
        block = rows.in_one_block(
            type(self).__name__, "another measure, which reads rows in passes"
        )
        return relief(
            block=block.without_zero_weights(),
            n_classes=n_classes,
            n_neighbors=int(self.n_neighbors),
            n_rows=int(self.max_samples),
            random=check_random_state(self.random_state),
        )

    def _support(self) -> np.ndarray:
        if self.k is None:
            # at least the best column, even if none is above
            support = self.scores_ > self.threshold
            support[self.ranking_[0]] = True
            return support
        if self.k == "all":
            k = len(self.scores_)
        else:
            k = int(self.k)
        support = np.zeros(len(self.scores_), dtype=bool)
        support[self.ranking_[:k]] = True
        return support

    def summary(self) -> Summary:
        """The columns in order, with their scores."""
        check_is_fitted(self)
        names = self.schema_.names
        score = self.score_func
        if callable(score):
            score = getattr(score, "__name__", "score")
        columns: dict[str, Any] = {
            "rank": range(1, len(names) + 1),
            "column": [names[j] for j in self.ranking_],
            str(score): self.scores_[self.ranking_],
            "kept": np.where(self.support_, "yes", "no")[self.ranking_].tolist(),
        }
        if hasattr(self, "pvalues_"):
            columns["p-value"] = self.pvalues_[self.ranking_]
        rows = list(zip(*columns.values()))
        facts = {
            "columns": len(names),
            "kept": int(self.support_.sum()),
            "target": self.task_,
        }
        table = Table("Columns", tuple(columns), rows)
        return Summary(self._title(), facts, [table])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = not callable(self.score_func)
        return tags

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.schema_)
        return {"support_": (d,), "scores_": (d,), "ranking_": (d,)}

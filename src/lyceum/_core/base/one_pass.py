"""Learners whose parameters follow from one mergeable statistic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

from numpy.typing import ArrayLike

from lyceum._core import statistics
from lyceum._core.base.learner import Learner, Reading
from lyceum._core.base.posterior_classifier import PosteriorClassifier
from lyceum._core.data import Block, Rows, Schema, Statistic, design_change
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import DataError, SchemaError, undefined

Sums = TypeVar("Sums")


class OnePassLearner(Learner):
    """A method whose parameters follow from one mergeable statistic.

    A subclass defines `_statistic()`, the function that summarizes a block, and
    `_finish(statistic)`, which sets the fitted attributes. `fit` and `partial_fit` are there
    already.

    Attributes
    ----------
    statistic_ : Statistic
        The merged summary of all rows seen.

    See Also
    --------
    OnePassClassifier : The same for classifiers.
    Learner : Methods of several passes.
    lyceum.statistics : Statistics to choose from.

    Examples
    --------
    >>> from lyceum.base import OnePassLearner
    >>> from lyceum.statistics import Moments
    >>> class ColumnMeans(OnePassLearner):
    ...     def _statistic(self):
    ...         return Moments.of
    ...     def _finish(self, statistic):
    ...         self.mean_ = statistic.mean
    >>> ColumnMeans().fit([[1.0], [2.0], [6.0]]).mean_.tolist()
    [3.0]
    >>> ColumnMeans().partial_fit([[1.0], [2.0]]).partial_fit([[6.0]]).mean_.tolist()
    [3.0]
    """

    _reads_rows: ClassVar[Reading] = "one pass"

    statistic_: Any

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        values = [getattr(statistics, name) for name in dir(statistics)]
        kinds = [value for value in values if isinstance(value, type)]
        return (*super()._parts(), *kinds)

    def _statistic(self) -> Callable[[Block], Statistic]:
        """How a block of rows is summarized; must be picklable."""
        raise undefined(self, "_statistic")

    def _statistic_for(self, rows: Rows) -> Callable[[Block], Statistic]:
        """The same for the first rows, whose number and columns may decide on its form."""
        return self._statistic()

    def _finish(self, statistic: Any) -> None:
        """Set the fitted attributes from the merged statistic."""
        raise undefined(self, "_finish")

    def fit(self, X: Data, y: Target = None, sample_weight: Weights = None) -> Self:
        """Learn from all rows of X in one pass.

        Parameters
        ----------
        X : array, sparse array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        """
        rows = self._rows(X, y, sample_weight)
        self.statistic_ = finite_sums(rows.reduce(self._statistic_for(rows)))
        self._finish(self.statistic_)
        return self

    def partial_fit(
        self, X: Data, y: Target = None, sample_weight: Weights = None
    ) -> Self:
        """Learn from more rows: the result is that of one `fit` on all rows seen."""
        return self._partial_fit(X, y, sample_weight)

    def _partial_fit(self, *data: Any) -> Self:
        """Learn from more rows."""
        goes_on = hasattr(self, "statistic_")
        if goes_on:
            old_schema = self.schema_
            old_names = self.design_names
        rows = self._more_rows(*data)
        if goes_on and old_names != self.design_names:
            self._grow(old_schema)
        return self._continue_fit(rows)

    def _grow(self, known: Schema) -> None:
        """Bring the statistic to the design columns of categories that are new."""
        if not hasattr(self.statistic_, "map_columns"):
            column = next(
                new for old, new in zip(known, self.schema_) if not old.same_as(new)
            )
            raise SchemaError(
                f"column {column.name!r} has new categories, which {type(self).__name__} cannot"
                " add: name all categories from the start, e.g. by a category type, or fit on all"
                " rows at once"
            )
        change = design_change(known, self._design)
        self.statistic_ = self.statistic_.map_columns(*change)

    def _continue_fit(self, rows: Rows) -> Self:
        if hasattr(self, "statistic_"):
            more = finite_sums(rows.reduce(self._statistic()))
            self.statistic_ = self.statistic_.merge(more)
        else:
            self.statistic_ = finite_sums(rows.reduce(self._statistic_for(rows)))
        self._finish(self.statistic_)
        return self


def finite_sums(statistic: Sums) -> Sums:
    """The statistic, unless the squares of finite cells have overflowed in it."""
    if getattr(statistic, "is_finite", True):
        return statistic
    raise DataError(
        "the sums of squares overflow: some column holds numbers beyond 1e150; rescale it"
    )


class OnePassClassifier(PosteriorClassifier, OnePassLearner):
    """A classifier of one pass; `partial_fit` may name classes before their first row.

    A subclass defines `_statistic()` and `_finish(statistic)`, as for `OnePassLearner`, and
    `_log_joint(block)`.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, in the order of the columns of `predict_proba`.
    statistic_ : Statistic
        The merged summary of all rows seen.

    See Also
    --------
    OnePassLearner : The same without classes.
    PosteriorClassifier : How predictions follow from `_log_joint`.
    lyceum.bayes.NaiveBayes : One of them.

    Examples
    --------
    The class with the nearest mean:

    >>> from lyceum.base import OnePassClassifier
    >>> from lyceum.statistics import ClassMoments
    >>> class NearestMean(OnePassClassifier):
    ...     def _statistic(self):
    ...         return ClassMoments.of
    ...     def _finish(self, statistic):
    ...         self.mean_ = statistic.mean
    ...     def _log_joint(self, block):
    ...         return -((block.X[:, None, :] - self.mean_) ** 2).sum(axis=2)
    >>> model = NearestMean().fit([[1.0], [3.0], [8.0]], ["a", "a", "b"])  # means 2 and 8
    >>> model.predict([[4.5], [5.5]]).tolist()
    ['a', 'b']
    >>> model.partial_fit([[5.0]], ["a"]).predict([[5.4]]).tolist()  # means 3 and 8
    ['a']
    """

    # scikit-learn puts the classes before the weights
    def partial_fit(  # type: ignore[override]
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Learn from more rows: the result is that of one `fit` on all rows seen.

        New classes may come at any time; `classes` names those that will, so that they are in
        `classes_` at once.
        """
        return self._partial_fit(X, y, sample_weight, classes)

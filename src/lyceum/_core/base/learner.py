"""Learner: what every method shares, from any source of rows to scikit-learn's contract."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base.explanations import collect_explanation
from lyceum._core.base.finite_answers import arithmetic_in_words
from lyceum._core.base.model_parts import check_learner, n_fitted_numbers
from lyceum._core.base.n_jobs_verbose import (
    constrain_running,
    guard_public_methods,
    is_fitting,
    running_as_set,
    shown_progress,
)
from lyceum._core.base.one_record import Decision, count_fit, decide
from lyceum._core.base.parameter_docs import complete_docstring
from lyceum._core.base.row_names import without_row_names
from lyceum._core.base.state import learned_apart
from lyceum._core.constraints import StrOptions, make_constraint
from lyceum._core.data import (
    KINDS,
    ArraySource,
    Block,
    CheckCells,
    Column,
    Design,
    Inputs,
    Kind,
    Recode,
    Rows,
    Schema,
    Step,
    numbered_names,
)
from lyceum._core.report import Explanation, Summary
from lyceum._core.routing import Route, routed_through, router_of, routing
from lyceum._core.steps import StepKind, Steps, steps_of
from lyceum._core.types import Data, Estimator, Operation, Target, Weights
from lyceum.errors import cannot_export

Reading = Literal["one pass", "many passes", "in memory"]
Coding = Literal["codes", "one_hot", "reference", "every_category"]

# what the parameter `categorical_features` may be: names, numbers or flags of columns
CATEGORICAL_FEATURES = [StrOptions({"from_dtype"}), "array-like", "boolean", None]


def _keeps_steps(learner: Any) -> bool:
    return learner._step_kind is not None


class Learner(BaseEstimator):
    """The base of every method: any source of rows in, scikit-learn's contract out.

    A subclass writes `fit` over `self._rows(X, y, sample_weight)`, and `predict` or `transform` by
    `self._apply(function_of_block, X)`. Its class attributes say what it takes: `_coding` is how
    categories reach it ("codes" into tables, "one_hot" columns of which two categories share one,
    "reference" columns without the first category, or a column for "every_category", so that a
    mismatch counts the same whatever the number of categories: for distances), `_takes_missing`,
    `_takes_sparse`, `_takes_kinds` and `_takes_unlabeled` which rows it takes, `_reads_rows` how it
    reads them, and `_needs_scaling` whether the units of columns matter to it. The catalog shows
    these of a learner with its default settings. `fit` is all or nothing: where it fails or is
    cancelled, the learner stays as it was.

    Attributes
    ----------
    schema_ : Schema
        The columns of `fit`, with their kinds and categories, and the target.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        Their names, where the rows of `fit` have some.
    n_rows_ : int
        The number of rows learned from, by `fit` or by all calls of `partial_fit`, whatever their
        weights.
    design_names : tuple of str
        The names of the columns that the method computes with: of one-of-C columns for categories,
        unless it takes codes.
    history_axes : tuple of two str
        What the steps and the values of `history_` are, in a method that iterates and records.

    See Also
    --------
    OnePassLearner : Parameters from one statistic.
    Classifier, Regressor, PosteriorClassifier, Density, NewColumns : What to combine it with.
    lyceum.data.Rows : What `fit` works on.

    Examples
    --------
    >>> import numpy as np
    >>> from lyceum.base import Learner, Regressor
    >>> class MedianOnly(Regressor, Learner):
    ...     def fit(self, X, y=None, sample_weight=None):
    ...         rows = self._rows(X, y, sample_weight)
    ...         self.median_ = float(np.median(rows.y))
    ...         return self
    ...     def predict(self, X):
    ...         return self._apply(lambda block: np.full(len(block), self.median_), X)
    >>> model = MedianOnly().fit([[1.0], [2.0], [3.0]], [5.0, 7.0, 90.0])
    >>> model.predict([[4.0], [5.0]]).tolist(), model.n_features_in_
    ([7.0, 7.0], 1)
    """

    _coding: ClassVar[Coding] = "one_hot"
    _takes_missing: ClassVar[bool] = False
    _takes_sparse: ClassVar[bool] = False
    _takes_kinds: ClassVar[tuple[Kind, ...]] = KINDS
    _reads_rows: ClassVar[Reading] = "many passes"
    # a penalty or a distance compares columns in their units
    _needs_scaling: ClassVar[bool] = False
    # classes may be missing; their codes are -1
    _takes_unlabeled: ClassVar[bool] = False
    # columns of about one category per row are not looked at
    _blanks_row_names: ClassVar[bool] = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    # parameters of scikit-learn that are checked and can change nothing here, and why
    _without_effect: ClassVar[dict[str, str]] = dict.fromkeys(
        ("copy", "copy_X", "copy_x"), "the rows that are given are never changed"
    )

    # whether arrays may have NaN where there is no value
    _nan_means_none: ClassVar[bool] = False
    # `decision_function` gives logarithms, infinite where a probability or density is zero
    _scores_are_logs: ClassVar[bool] = False
    history_axes: ClassVar[tuple[str, str]] = ("iteration", "objective")
    # what `record_` holds of every step, for those that keep one
    _step_kind: ClassVar[StepKind | None] = None

    _attribute_docs: ClassVar[str] = """
    schema_ : Schema
        The columns that were learned from, with their kinds and categories, and the target.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, if they have names.
    n_rows_ : int
        The number of rows learned from, whatever their weights.
    """

    schema_: Schema
    n_features_in_: int
    n_rows_: int

    def __init_subclass__(cls, **options: Any) -> None:
        """In every subclass `fit` is all or nothing, threads, `n_jobs` and `verbose` are as set,
        and shared parameters are described."""
        super().__init_subclass__(**options)
        complete_docstring(cls)
        constrain_running(cls)
        guard_public_methods(cls, learning=_guard)

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # cached: reading the signature takes longer than copying a learner
        return super()._get_param_names()

    # -- rows in -----------------------------------------------------------------------

    def _rows(self, X: Data, y: Target = None, sample_weight: Weights = None) -> Rows:
        """The rows to fit on; learns the schema."""
        _check_parameters(self)
        rows = Inputs(self).for_fit(X, y, sample_weight)
        if hasattr(self, "predict"):
            rows = without_row_names(rows, type(self).__name__, self._blanks_row_names)
        return self._prepare_rows(rows)

    def _more_rows(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        classes: ArrayLike | None = None,
    ) -> Rows:
        """More rows for `partial_fit`; the schema grows by what is new in them."""
        _check_parameters(self)
        rows = Inputs(self).for_partial_fit(X, y, sample_weight, classes)
        return self._prepare_rows(rows)

    def rows_to_predict(self, X: Data, checked: bool = True) -> Rows:
        """Rows coded as in `fit`; unless `checked`, the caller looks for missing and infinite
        cells."""
        self._check_fitted()
        rows = Inputs(self).for_predict(X)
        if checked:
            return self._prepare_rows(rows)
        for step in self._steps():
            if not isinstance(step, CheckCells):
                rows = rows.then(step)
        return rows

    def _check_fitted(self) -> None:
        """Raise NotFittedError before `fit`; coefficients that were set by hand, as scikit-learn's
        own searches do, are those of the columns of an array."""
        if "schema_" in vars(self):
            return
        check_is_fitted(self)
        if hasattr(self, "coef_"):
            names = numbered_names(np.shape(self.coef_)[-1])
            self.schema_ = Schema.of_numbers(names)
            self.n_features_in_ = len(names)

    def _prepare_rows(self, rows: Rows) -> Rows:
        for step in self._steps():
            rows = rows.then(step)
        return rows

    def _steps(self) -> list[Step]:
        check = CheckCells(type(self).__name__, self._takes_missing)
        if self._coding == "codes":
            return [Recode(), check]
        return [check, self._design]

    @property
    def _design(self) -> Design:
        columns = Schema(self.schema_.columns)
        return Design(
            columns,
            reference=self._coding == "reference",
            every=self._coding == "every_category",
            sparse=self._takes_sparse,
        )

    @property
    def design_names(self) -> tuple[str, ...]:
        """The names of the columns that the method computes with."""
        if self._coding == "codes":
            return self.schema_.names
        return self._design.after.names

    def _apply(self, function: Callable[[Block], np.ndarray], X: Data) -> Any:
        """`function` of every block of X, one result per row (lazy on Dask)."""
        return self.rows_to_predict(X).collect(function)

    def _explain(
        self,
        X: Data,
        parts: Callable[[Block], np.ndarray],
        unit: str,
        labels: ArrayLike | None = None,
    ) -> Explanation:
        """What every table column adds to the predictions for X, in one pass.

        `parts(block)` gives, one row each, the prediction (a code where there are classes or
        `labels`), the base, and what every column of the block as the method sees it adds; design
        columns are added up. With `labels=False` the prediction is a number, whatever classes there
        are.
        """
        check_is_fitted(self)
        names: Any = labels
        if labels is None:
            names = getattr(self, "classes_", None)
        elif labels is False:
            names = None
        rows = Inputs(self).for_predict(X)
        return collect_explanation(rows, self._steps(), parts, unit, names)[0]

    def _explain_with_more(
        self, X: Data, parts: Callable[[Block], np.ndarray], unit: str
    ) -> tuple[Explanation, np.ndarray]:
        """As `_explain`, with the further columns that `parts` gives for every row."""
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        rows = Inputs(self).for_predict(X)
        return collect_explanation(rows, self._steps(), parts, unit, classes)

    def _explain_in_memory(
        self,
        X: Data,
        parts: Callable[[Block], np.ndarray],
        unit: str,
        labels: ArrayLike | None = None,
    ) -> tuple[Explanation, Block]:
        """As `_explain`, with the rows themselves as the method sees them, for further details."""
        caller = type(self).__name__
        block = Inputs(self).for_predict(X).in_one_block(caller)
        schema = Schema(self.schema_.columns)
        rows = Rows(ArraySource(block.X, None, None, schema, coded=True))
        explanation = self._explain(rows, parts, unit, labels)
        return explanation, self._prepare_rows(rows).in_one_block(caller)

    @available_if(lambda self: hasattr(self, "predict"))  # type: ignore[untyped-decorator]
    def decide(self, record: Any) -> Decision:
        """The prediction for one record: a dict of columns and values, or the values in order.

        It is that of `predict` and `predict_proba`, in a tenth of their time: what does not depend
        on the record is done once.
        """
        return decide(self, record)

    decide._is_guarded = True  # runs as set already, and the guard's time counts

    # -- metadata ----------------------------------------------------------------------

    # whether `sample_weight` is for the learner itself, beside what it hands on
    _uses_weights: ClassVar[bool] = True

    def _routes(self) -> list[Route]:
        """Those inside that may ask for metadata."""
        return []

    def get_metadata_routing(self) -> Any:
        """Who asks for which metadata: see scikit-learn's user guide.

        Returns
        -------
        MetadataRouter or MetadataRequest
        """
        routes = self._routes()
        if not routes:
            return super().get_metadata_routing()
        return router_of(self, routes, self._uses_weights)

    # -- what was learned --------------------------------------------------------------

    def summary(self) -> Summary:
        """What was learned, in the method's own quantities; prints as text, shows as tables in a
        notebook."""
        check_is_fitted(self)
        return Summary(self._title(), {"columns": self.n_features_in_})

    @available_if(_keeps_steps)  # type: ignore[untyped-decorator]
    def steps(self) -> Steps:
        """The steps of the fit as a table, with the formula of every column; needs `record=True`.

        Returns
        -------
        Steps
            Prints as text, shows as a table in a notebook; `to_latex()` and `as_dict()`.
        """
        check_is_fitted(self)
        return steps_of(self, self._title())

    def _step_records(self) -> Sequence[Mapping[str, Any]] | None:
        """The steps that were kept."""
        return getattr(self, "record_", None)

    def _title(self) -> str:
        """The title of the summary: the class, and the target if it learns one."""
        target = self.schema_.target
        name = type(self).__name__
        if target is None or not self.__sklearn_tags__().target_tags.required:
            return name
        return f"{name} of {target.name}"

    def complexity(self) -> int:
        """How many numbers a prediction needs: the sizes of the arrays that it reads.

        Of linear scores these are the coefficients that are not 0, and a constant per score.
        """
        check_is_fitted(self)
        shapes = self._shapes()
        if "coef_" in shapes:
            coef = np.atleast_2d(self.coef_)
            return int(np.count_nonzero(coef)) + len(coef)
        if shapes:
            return sum(map(math.prod, shapes.values()))
        return n_fitted_numbers(self)

    # -- model files and exported models -----------------------------------------------

    def _operations(self) -> list[Operation]:
        """From the prepared cells of a row to the answer, for exported models; see
        `lyceum.export`."""
        raise cannot_export(self)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays that prediction indexes, with their shapes; checked when a model file is
        loaded."""
        return {}

    @classmethod
    def _parts(cls) -> tuple[type, ...]:
        """The classes of values that a model file may hold, beside arrays and plain values."""
        return (Column, Schema)

    def _in_type_of_rows(self) -> tuple[str, ...]:
        """The arrays that an array of float32 leaves in float32, as scikit-learn's are: what is
        computed in doubles is rounded at the end of `fit`, unless that would cost digits."""
        return ()

    def _check_model(self) -> None:
        """Raise ModelFileError unless what came from a model file fits together."""
        check_learner(self)

    # -- tags --------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.categorical = True
        return tags


def _check_parameters(learner: Learner) -> None:
    """Raise scikit-learn's error if a parameter is not what it may be."""
    # scikit-learn's own check makes all constraints anew each time; here it is called only to raise
    kind: Any = type(learner)
    constraints = _constraints(kind)
    defaults = _allowed_defaults(kind)
    for name, value in learner.get_params(deep=False).items():
        if value is defaults.get(name, inspect.Parameter.empty):
            continue
        allowed = constraints.get(name)
        if allowed and not any(option.is_satisfied_by(value) for option in allowed):
            learner._validate_params()


@cache
def _allowed_defaults(learner: Any) -> dict[str, Any]:
    """The defaults of a class that are what they may be: they need no second look."""
    parameters = inspect.signature(learner.__init__).parameters
    return {
        name: parameters[name].default
        for name, allowed in _constraints(learner).items()
        if name in parameters
        and any(option.is_satisfied_by(parameters[name].default) for option in allowed)
    }


@cache
def _constraints(learner: Estimator) -> dict[str, list[Any]]:
    """What every parameter of a class may be, made from its declaration once."""
    declared = learner._parameter_constraints.items()
    return {
        name: [make_constraint(option) for option in options]
        for name, options in declared
        if options != "no_validation"
    }


def _round_to_rows(learner: Learner, X: Any) -> None:
    """Parameters in float32, if the rows of an array are."""
    if getattr(X, "dtype", None) != np.float32:
        return
    names = [name for name in learner._in_type_of_rows() if name in vars(learner)]
    if names and (sparse.issparse(X) or _is_near_zero(X)):
        for name in names:
            setattr(learner, name, np.float32(getattr(learner, name)))


def _is_near_zero(X: Any) -> bool:
    """Whether no column is farther from zero than a thousand of its deviations: rounding b_j to
    float32 changes the score b_j x by 6e-8 |x|, which then is 6e-5 of what the column tells."""
    if not isinstance(X, np.ndarray):
        return False
    some = X[:: max(1, len(X) // 1000)].astype(np.float64)
    spread = some.std(axis=0)
    return bool((np.abs(some.mean(axis=0)) <= 1000.0 * spread)[spread > 0].all())


def _guard(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that learns: all or nothing, in threads as set, with the progress of `verbose`."""

    @wraps(method)
    def guarded_method(self: Learner, *data: Any, **named: Any) -> Any:
        _check_parameters(self)
        with (
            _apart(self) as learner,
            running_as_set(learner),
            shown_progress(learner),
            arithmetic_in_words(learner, method.__name__),
            routing(learner, method, data, named) as (own, own_named),
        ):
            result = method(learner, *own, **own_named)
            if counter := learner.__dict__.pop("_row_counter", None):
                learner.n_rows_ = counter.total()
            _round_to_rows(learner, data[0] if data else named.get("X"))
        count_fit(self)
        if result is learner:
            return self
        return result

    return guarded_method


@contextmanager
def _apart(learner: Learner) -> Iterator[Learner]:
    """What learns in place of the learner, until it has learned; itself in `super().fit`."""
    if is_fitting(learner):
        yield learner
        return
    with learned_apart(learner) as apart, routed_through(learner, apart):
        yield apart

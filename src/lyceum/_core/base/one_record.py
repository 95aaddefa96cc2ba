"""One record at a time: what a server asks of a model, in microseconds.

`predict` takes tables, and most of its time for one row goes into what does not depend on the row:
comparing schemas, building steps, routing through a pipeline. Here this is done once per model. The
steps and the function of a block that `predict` itself would run are kept and applied to the cells
of each record, so that the answer is that of `predict` to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base.n_jobs_verbose import running_as_set
from lyceum._core.base.posterior_classifier import PosteriorClassifier
from lyceum._core.data import (
    EXACT,
    ArraySource,
    Block,
    Column,
    Rows,
    Schema,
    coded_source,
    is_beyond_floats,
    missing_columns,
)
from lyceum._core.lazy_arrow import pa
from lyceum._core.native import native
from lyceum._core.text import plain
from lyceum._core.types import Estimator
from lyceum.errors import DataError, LyceumError

Record = Mapping[str, Any] | Sequence[Any] | Any
_Function = Callable[[Block], np.ndarray]


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer of a model to one record.

    Attributes
    ----------
    predicted : label or float
        The class of largest posterior, or the value.
    probabilities : dict or None
        The posterior of every class; None for values and for classifiers without posteriors.
    action : label or None
        What to do under a loss matrix, for a model that has one.
    risk : float or None
        The expected loss of the action.
    rejected : bool
        Whether the action is to doubt, or names no class.
    unknown : tuple of str
        The columns with a category that the model has not seen.
    missing : tuple of str
        The columns without a value.

    See Also
    --------
    lyceum.base.Learner.decide : Gives it.
    lyceum.decision.MinimumRiskClassifier : Has actions and risks.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> model = NaiveBayes().fit(datasets.load("weather"))
    >>> record = {"outlook": "sunny", "temperature": "hot", "humidity": "high", "windy": False}
    >>> decision = model.decide(record)
    >>> decision.predicted, round(decision.probabilities["no"], 3), decision.missing
    ('no', 0.668, ())
    """

    predicted: Any
    probabilities: dict[Any, float] | None = None
    action: Any = None
    risk: float | None = None
    rejected: bool = False
    unknown: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Everything in JSON's own types."""
        probabilities = self.probabilities
        if probabilities is not None:
            probabilities = {str(label): p for label, p in probabilities.items()}
        return plain(
            {
                "predicted": self.predicted,
                "probabilities": probabilities,
                "action": self.action,
                "risk": self.risk,
                "rejected": self.rejected,
                "unknown": list(self.unknown),
                "missing": list(self.missing),
            }
        )


# -- cells -----------------------------------------------------------------------------


class RecordCoder:
    """The cells of one record as the coded row that a table of it would give.

    Numbers, text among known categories and missing cells are coded here; whatever else a cell may
    be (dates as text, unusual types) goes through the reader of tables, which knows all of it.
    """

    def __init__(self, schema: Schema):
        self.schema = schema
        self.names = schema.names
        self._codes = [_code_table(column) for column in schema]

    def cells(self, record: Record) -> tuple[np.ndarray, Schema]:
        """The cells, of shape (1, d), and their schema, which lists the texts of free text."""
        values = self.values(record)
        row = []
        for value, (types, codes) in zip(values, self._codes):
            if value is None or value != value:  # None or NaN
                row.append(np.nan)
            elif type(value) not in types:
                return self._by_table(values)
            elif codes is not None:
                row.append(codes.get(value, -1.0))
            elif -EXACT <= value <= EXACT or type(value) is float:
                row.append(float(value))
            else:  # a whole number that a float may not hold
                return self._by_table(values)
        return np.array([row], dtype=np.float64), self.schema

    def values(self, record: Record) -> Sequence[Any]:
        """The values in the order of the columns, from a dict, a struct or a sequence."""
        if isinstance(record, Mapping):
            try:
                return [record[name] for name in self.names]
            except KeyError:
                raise missing_columns(
                    [name for name in self.names if name not in record], list(record)
                ) from None
        fields = getattr(record, "__struct_fields__", None)
        if fields is not None:
            return self.values({name: getattr(record, name) for name in fields})
        if isinstance(record, str) or not isinstance(record, Sequence | np.ndarray):
            raise DataError(
                f"a record is a dict of columns and values, or their values in order, not"
                f" {type(record).__name__}"
            )
        if len(record) != len(self.names):
            raise DataError(
                f"the record has {len(record)} values for {len(self.names)} columns:"
                f" {', '.join(map(repr, self.names[:5]))}, ..."
            )
        return record

    def _by_table(self, values: Sequence[Any]) -> tuple[np.ndarray, Schema]:
        columns = [[value] for value in values]
        source = coded_source(pa.table(columns, names=self.names), self.schema)
        return source.X, source.schema


_Codes = tuple[tuple[type, ...], dict[Any, float] | None]


def _code_table(column: Column) -> _Codes:
    """The types of cells that are coded without a table, and their codes; no codes where a number
    stands for itself."""
    if column.is_free_text or column.is_time:
        return (), None
    if column.categories is None:
        return (float, int), None
    labels = column.categories.tolist()
    kind = column.categories.dtype.kind
    if column.numeric:
        return ((bool,) if kind == "b" else (float, int)), None
    codes = {label: float(code) for code, label in enumerate(labels)}
    if all(type(label) is str for label in labels):
        return (str,), codes
    if kind in "iuf" and not is_beyond_floats(column.categories):
        return (float, int), codes
    return (), None


# -- the way of a record through a model -----------------------------------------------


@dataclass(frozen=True, slots=True)
class _WatchedSource(ArraySource):
    """One row of a model's columns; lists what is computed of it."""

    collected: list[tuple[tuple[Any, ...], _Function, Any]] = field(
        default_factory=list
    )


class _WatchedRows(Rows):
    """Rows that keep the steps and the function of what is collected from them."""

    def collect(self, function: _Function) -> Any:
        result = super().collect(function)
        self.source.collected.append((self.steps, function, result))  # type: ignore[attr-defined]
        return result


@dataclass(frozen=True, slots=True)
class _Path:
    """The steps and the function of a block by which a method answers."""

    steps: tuple[Any, ...]
    function: _Function

    def __call__(self, block: Block) -> np.ndarray:
        for step in self.steps:
            block = step(block)
        return self.function(block)


class RecordModel:
    """A fitted learner, or a pipeline that ends in one, compiled for single records.

    Parameters
    ----------
    model : learner or pipeline
        Fitted on a table or a scan, so that it knows the names of its columns.
    """

    def __init__(self, model: Estimator):
        self.model = model
        steps = [model]
        if isinstance(model, Pipeline):
            steps = [
                step for _, step in model.steps if step not in (None, "passthrough")
            ]
        self.learner = steps[-1]
        check_is_fitted(self.learner)
        if not all(hasattr(step, "schema_") for step in steps):
            name = type(self.learner).__name__
            raise LyceumError(
                f"this {name} does not say which columns it was fitted on"
            )
        schema = Schema(steps[0].schema_.columns)
        self._fitted = [(step, step.schema_) for step in steps]
        self.coder = RecordCoder(schema)
        self._prepared = self._prepare(schema, steps[:-1])
        self.labels: list[Any] | None = None
        if hasattr(model, "classes_") and hasattr(model, "predict"):
            self.labels = model.classes_.tolist()
        self._predict = self._path("predict")
        self._posteriors = None
        if self.labels is not None and hasattr(model, "predict_proba"):
            self._posteriors = self._path("predict_proba")
        self._is_posterior_rule = (
            self._predict is not None
            and self._posteriors is not None
            and isinstance(self.learner, PosteriorClassifier)
            and self._predict.function == self.learner._most_probable
            and self._posteriors.function == self.learner._posteriors
            and len(self._predict.steps) == len(self._posteriors.steps)
        )

    def _prepare(self, schema: Schema, preparations: list[Any]) -> _WatchedRows | None:
        """A row after the steps of a pipeline; None where a step does not work block by block."""
        cells = np.array([[_some_cell(column) for column in schema]], dtype=np.float64)
        source = _WatchedSource(cells, None, None, schema, coded=True)
        rows: Any = _WatchedRows(source)
        for step in preparations:
            rows = step.transform(rows)
            if not isinstance(rows, _WatchedRows):
                return None
        return rows

    def _path(self, method: str) -> _Path | None:
        """What `method` computes of a block; None where it does more than that."""
        rows = self._prepared
        if rows is None or not hasattr(self.learner, method):
            return None
        collected = rows.source.collected  # type: ignore[attr-defined]
        collected.clear()
        answer = getattr(self.learner, method)(rows)
        # the answer itself was collected: nothing is done to it afterwards
        if len(collected) != 1 or collected[0][2] is not answer:
            return None
        steps, function, _ = collected[0]
        return _Path(steps, function)

    @property
    def is_stale(self) -> bool:
        """Whether the learner or a preparation has been fitted again."""
        return any(step.schema_ is not schema for step, schema in self._fitted)

    # -- answers -----------------------------------------------------------------------

    def decide(self, record: Record) -> Decision:
        """The prediction for one record, with posteriors where there are some."""
        X, schema = self.coder.cells(record)
        block = Block(X, None, None, 0, schema)
        with running_as_set(self.learner):
            if self._is_posterior_rule:
                code, posterior = self._by_posteriors(block)
                predicted = self.labels[code]  # type: ignore[index]
            else:
                predicted = self._answer("predict", self._predict, block).tolist()[0]
                posterior = None
                if self.labels is not None and hasattr(self.model, "predict_proba"):
                    posterior = self._answer("predict_proba", self._posteriors, block)
        probabilities = None
        if posterior is not None:
            probabilities = dict(zip(self.labels, posterior[0].tolist()))  # type: ignore[arg-type]
        unknown, missing = self._notes(X[0].tolist())
        return Decision(predicted, probabilities, unknown=unknown, missing=missing)

    def _by_posteriors(self, block: Block) -> tuple[int, np.ndarray]:
        """The code of the class and the posteriors from one pass: as `predict` does, the class is
        that of the largest log joint, if the learner has one."""
        for step in self._posteriors.steps:  # type: ignore[union-attr]
            block = step(block)
        _check_kept(block)
        if self.learner._has_posteriors:
            posterior = np.ascontiguousarray(self.learner._posteriors(block))
            scores = posterior
        else:
            scores = self.learner._log_joint(block)
        code = np.empty(1, dtype=np.int64)
        native.row_argmax(scores, code)
        if not self.learner._has_posteriors:
            native.posterior(scores)
        return int(code[0]), scores

    def _answer(self, method: str, path: _Path | None, block: Block) -> np.ndarray:
        if path is None:
            rows = Rows(ArraySource(block.X, None, None, block.schema, coded=True))
            answer = np.asarray(getattr(self.model, method)(rows))
        else:
            answer = path(block)
        _check_kept(answer)
        return answer

    def _notes(self, cells: list[float]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns with an unknown category, and those without a value."""
        unknown = ()
        missing = ()
        if -1.0 in cells:
            unknown = tuple(
                column.name
                for column, cell in zip(self.coder.schema, cells)
                if cell == -1.0 and not column.numeric
            )
        if any(cell != cell for cell in cells):
            named = zip(self.coder.names, cells)
            missing = tuple(name for name, cell in named if cell != cell)
        return unknown, missing


def _some_cell(column: Column) -> float:
    """A cell that every learner takes."""
    if column.numeric and column.categories is not None:
        return float(column.categories[0])
    return 0.0


def _check_kept(rows: Any) -> None:
    if len(rows) != 1:
        raise DataError(
            "the model drops rows with missing cells, and this record has some: fill them first, or"
            " fit a model with SimpleImputer"
        )


_compiled: WeakKeyDictionary[Any, RecordModel] = WeakKeyDictionary()


def decide_record(model: Estimator, record: Record) -> Decision:
    """The answer of a learner or pipeline to one record; what does not depend on the record is
    done at the first call after a fit."""
    compiled = _compiled.get(model)
    if compiled is None or compiled.is_stale:
        compiled = RecordModel(model)
        _compiled[model] = compiled
    return compiled.decide(record)

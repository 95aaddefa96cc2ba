"""One record at a time: what a server asks of a model, in microseconds.

`predict` takes tables, and most of its time for one row goes into what does not depend on the row:
comparing schemas, building steps, routing through a pipeline. Here this is done once per model. The
steps and the function of a block that `predict` itself would run are kept and applied to the cells
of each record, so that the answer is that of `predict` to the bit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import isfinite, isnan
from numbers import Number
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base.finite_answers import arithmetic_in_words
from lyceum._core.base.model_parts import pipeline_steps
from lyceum._core.base.n_jobs_verbose import running_as_set
from lyceum._core.base.posterior_classifier import PosteriorClassifier
from lyceum._core.data import (
    Align,
    ArraySource,
    Block,
    Column,
    Dense,
    Recode,
    Record,
    RecordCoder,
    Rows,
    Schema,
    WatchedRows,
    WatchedSource,
)
from lyceum._core.native import native
from lyceum._core.report import Explanation, Shown
from lyceum._core.text import plain
from lyceum._core.threads import in_this_thread
from lyceum._core.types import Estimator
from lyceum.errors import DataError, LyceumError

_METHODS = ("predict", "predict_proba", "decision_function", "predict_log_proba")
_Function = Callable[[Block], np.ndarray]


@dataclass(frozen=True, slots=True)
class Decision(Shown):
    """The answer of a model to one record.

    Attributes
    ----------
    predicted : label or float
        The class of largest posterior, or the value: what `predict` gives, unless there is an
        action.
    probabilities : dict or None
        The posterior of every class; None for values and for classifiers without posteriors.
    action : label or None
        What to do under a loss matrix, for a model that has one, which is what its `predict`
        gives.
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
    ('no', 0.688, ())
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


# -- the way of a record through a model -----------------------------------------------


@dataclass(frozen=True, slots=True)
class _Path:
    """The steps and the function of a block by which a method answers."""

    steps: tuple[Any, ...]
    function: _Function
    finish: Callable[[np.ndarray], Any] | None = None

    def __call__(self, block: Block) -> np.ndarray:
        for step in self.steps:
            block = step(block)
        return self.function(block)


def _steps_that_change(steps: Sequence[Any], schema: Schema) -> tuple[Any, ...]:
    """The steps without those that leave every dense row of these columns as it is."""
    kept = []
    for step in steps:
        after = step.schema(schema)
        is_idle = isinstance(step, Dense)
        if isinstance(step, Recode):
            is_idle = not schema.number_codes
        elif isinstance(step, Align):
            is_idle = _is_idle(step, schema)
        if not is_idle:
            kept.append(step)
        schema = after
    return tuple(kept)


def _is_idle(step: Align, before: Schema) -> bool:
    same = len(before) == len(step.after) and not before.has_free_text
    return same and all(map(Column.same_as, before, step.after))


class RecordModel:
    """A fitted learner, or a pipeline that ends in one, compiled for single records.

    A model that turns the posteriors of its `estimator_`, or of several `_voters`, into others says
    how by `_from_posteriors`; one that decides by them, by `_decide_posteriors`.

    Parameters
    ----------
    model : learner, pipeline, or a model that wraps one
        Fitted on a table or a scan, so that it knows the names of its columns.
    """

    def __init__(self, model: Estimator):
        check_is_fitted(model)
        self.model = model
        self._marks = _marks_of(model)
        self.inner: RecordModel | None = None
        if hasattr(model, "_from_posteriors"):
            self.inner = RecordModel(_thawed(model.estimator_))
            voters = getattr(model, "_voters", [])
            members = [RecordModel(_thawed(each.estimator_)) for each in voters]
            self._members = members or [self.inner]
        parts = _parts_of(model)
        self.learner = parts[-1]
        schema = Schema(_columns_of(parts[0], self.learner))
        self.coder = RecordCoder(schema)
        self.labels: list[Any] | None = None
        if hasattr(model, "classes_") and hasattr(model, "predict"):
            self.labels = np.asarray(model.classes_).tolist()
        self._has_posteriors = hasattr(model, "predict_proba")
        self._prepared = None
        if all(hasattr(part, "schema_") for part in parts):
            self._prepared = _prepare(schema, parts[:-1])
        self._steps: tuple[Any, ...] = ()
        if self._prepared is not None:
            self._steps = _steps_that_change(self._prepared.steps, schema)
        self._paths: dict[str, _Path | None] = {}
        self._predict = self._path("predict")
        self._posteriors = self._path("predict_proba") if self._has_posteriors else None
        self._shares_steps = self._prepares_alike()
        self._is_posterior_rule = self._decides_by_posteriors()

    def _prepares_alike(self) -> bool:
        """Whether classes and posteriors come from the same cells."""
        if self._predict is None or self._posteriors is None:
            return False
        kinds = [
            [(type(step), getattr(step, "allow_missing", None)) for step in path.steps]
            for path in (self._predict, self._posteriors)
        ]
        return kinds[0] == kinds[1]

    def _decides_by_posteriors(self) -> bool:
        """Whether one pass gives both the class and the posteriors."""
        return (
            self._shares_steps
            and isinstance(self.learner, PosteriorClassifier)
            and self._predict.function == self.learner._most_probable  # type: ignore[union-attr]
            and self._posteriors.function == self.learner._posteriors  # type: ignore[union-attr]
        )

    def _path(self, method: str) -> _Path | None:
        """What `method` computes of a block; None where it does more than that."""
        if method not in self._paths:
            self._paths[method] = self._watched(method)
        return self._paths[method]

    def _watched(self, method: str) -> _Path | None:
        rows = self._prepared
        if rows is None or not hasattr(self.learner, method):
            return None
        collected = rows.source.collected  # type: ignore[attr-defined]
        collected.clear()
        try:
            answer = getattr(self.learner, method)(rows)
        except LyceumError:  # the row is not that of the record, which may be taken
            return None
        # the answer itself was collected: nothing is done to it afterwards
        if len(collected) != 1 or collected[0].answer is not answer:
            return None
        steps = _steps_that_change(collected[0].steps, self.coder.schema)
        return _Path(steps, collected[0].function, collected[0].finish)

    @property
    def is_stale(self) -> bool:
        """Whether the model or a part of it has been fitted again."""
        return _marks_of(self.model) != self._marks

    # -- answers -----------------------------------------------------------------------

    def decide(self, record: Record) -> Decision:
        """The prediction for one record, with posteriors where there are some."""
        return self.decide_cells(*self.coder.cells(record))

    def decide_cells(self, X: np.ndarray, schema: Schema) -> Decision:
        """As `decide`, of cells that `coder.cells` gave."""
        block = Block(X, None, None, 0, schema)
        with running_as_set(self.learner), _answering():
            predicted, posterior = self._answer(block)
        unknown, missing = self._notes(X[0].tolist())
        if posterior is None:
            return Decision(predicted, unknown=unknown, missing=missing)
        shares = posterior[0].tolist()
        if not isfinite(sum(shares)):
            self.model.predict_proba(_as_rows(block))  # refuses them, too
        # clusters and components have numbers
        labels = range(len(shares)) if self.labels is None else self.labels
        probabilities = dict(zip(labels, shares))
        if not hasattr(self.model, "_decide_posteriors"):
            return Decision(predicted, probabilities, unknown=unknown, missing=missing)
        decided = self.model._decide_posteriors(posterior)
        return Decision(
            predicted,
            probabilities,
            action=decided.actions.tolist()[0],
            risk=float(decided.risk[0]),
            rejected=bool(decided.rejected[0]),
            unknown=unknown,
            missing=missing,
        )

    def _answer(self, block: Block) -> tuple[Any, np.ndarray | None]:
        """The prediction and, where there are some, the posteriors of shape (1, K)."""
        if self.inner is not None:
            insides = [member._answer(block)[1] for member in self._members]
            if any(inside is None for inside in insides):  # scores alone
                posterior = self.model.predict_proba(_as_rows(block))
            else:
                posterior = self.model._from_posteriors(*insides)
            return self.labels[int(posterior[0].argmax())], posterior  # type: ignore[index]
        if self._is_posterior_rule:
            code, posterior = self._by_posteriors(block)
            return self.labels[code], posterior  # type: ignore[index]
        if self._shares_steps:
            block = self._prepare_cells(block)
            predicted = self._predict.function(block).tolist()[0]  # type: ignore[union-attr]
            return predicted, np.asarray(self._posteriors.function(block))  # type: ignore[union-attr]
        predicted = self._output("predict", self._predict, block).tolist()[0]
        if isinstance(predicted, float) and not isfinite(predicted):
            self.model.predict(_as_rows(block))  # refuses it, if it is no answer
        if not self._has_posteriors:
            return predicted, None
        return predicted, self._output("predict_proba", self._posteriors, block)

    def _by_posteriors(self, block: Block) -> tuple[int, np.ndarray]:
        """The code of the class and the posteriors from one pass: as `predict` does, the class is
        that of the largest log joint, if the learner has one."""
        block = self._prepare_cells(block)
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

    def _prepare_cells(self, block: Block) -> Block:
        for step in self._posteriors.steps:  # type: ignore[union-attr]
            block = step(block)
        _check_kept(block)
        return block

    def answer_block(self, method: str, block: Block) -> np.ndarray:
        """What a method gives for one coded row of the model's columns."""
        return self._output(method, self._path(method), block)

    def predict_rows(self, X: np.ndarray, schema: Schema) -> np.ndarray | None:
        """What `predict` gives for coded rows of the model's columns, without looking at schemas
        again; None where it does more than to compute a function of the rows."""
        if self.inner is None:
            return self._rows_by(self._predict, X, schema)
        posterior = self.posterior_rows(X, schema)
        if posterior is None:
            return None
        if hasattr(self.model, "_decide_posteriors"):
            return np.asarray(self.model._decide_posteriors(posterior).actions)
        return np.asarray(self.model.classes_)[posterior.argmax(axis=1)]

    def posterior_rows(self, X: np.ndarray, schema: Schema) -> np.ndarray | None:
        """As `predict_rows`, of `predict_proba`."""
        if self.inner is None:
            return self._rows_by(self._posteriors, X, schema)
        insides = [member.posterior_rows(X, schema) for member in self._members]
        if any(inside is None for inside in insides):
            return None
        return self.model._from_posteriors(*insides)

    def _rows_by(
        self, path: _Path | None, X: np.ndarray, schema: Schema
    ) -> np.ndarray | None:
        if path is None:
            return None
        with running_as_set(self.learner):
            answer = np.asarray(path(Block(X, None, None, 0, schema)))
        return answer if len(answer) == len(X) else None

    def explain_cells(self, X: np.ndarray, schema: Schema) -> Explanation | None:
        """What `explain` of the learner says of the cells of one record, in the columns that it
        reads; None where the steps before it do not work block by block."""
        if self.inner is not None:
            return self.inner.explain_cells(X, schema)
        if self._prepared is None:
            return None
        block = Block(X, None, None, 0, schema)
        path = None if schema.has_free_text else self._path("explain")
        if path is not None and path.finish is not None:
            words = arithmetic_in_words(self.learner, "explain")
            with running_as_set(self.learner), in_this_thread(), words:
                explanation = path.finish(path(block))[0]
            # whether others are an answer is said by the learner's own method
            if np.isfinite(explanation.contributions).all():
                return explanation
        for step in self._steps:
            block = step(block)
        return self.learner.explain(_as_rows(block))

    def _output(self, method: str, path: _Path | None, block: Block) -> np.ndarray:
        if path is not None:
            answer = path(block)
        elif self._prepared is None:
            answer = getattr(self.model, method)(_as_rows(block))
        else:
            for step in self._steps:
                block = step(block)
            answer = getattr(self.learner, method)(_as_rows(block))
        answer = np.asarray(answer)
        _check_kept(answer)
        return answer

    def _notes(self, cells: list[float]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns with an unknown category, and those without a value."""
        unknown: tuple[str, ...] = ()
        missing: tuple[str, ...] = ()
        if -1.0 in cells:
            unknown = tuple(
                column.name
                for column, cell in zip(self.coder.schema, cells)
                if cell == -1.0 and not column.numeric
            )
        if isnan(sum(cells)):  # of infinities too: then the loop finds none
            named = zip(self.coder.names, cells)
            missing = tuple(name for name, cell in named if cell != cell)
        return unknown, missing


def _as_rows(block: Block) -> Rows:
    return Rows(ArraySource(block.X, None, None, block.schema, coded=True))


def _prepare(schema: Schema, preparations: list[Any]) -> WatchedRows | None:
    """A row after the steps of a pipeline; None where a step does not work block by block."""
    source = WatchedSource(plausible_cells(schema), None, None, schema, coded=True)
    rows: Any = WatchedRows(source)
    for step in preparations:
        rows = step.transform(rows)
        if not isinstance(rows, WatchedRows):
            return None
    return rows


def _parts_of(model: Estimator) -> list[Any]:
    """The steps of a pipeline; the model itself if it is none."""
    return [step for step in pipeline_steps(model) if step not in (None, "passthrough")]


def _thawed(model: Estimator) -> Estimator:
    """What scikit-learn's FrozenEstimator holds, without importing it."""
    if type(model).__name__ == "FrozenEstimator":
        return model.estimator
    return model


def _columns_of(model: Estimator, learner: Estimator) -> tuple[Column, ...]:
    """The columns that a model reads: its own, or those of what it wraps."""
    model = _parts_of(_thawed(model))[0]
    if hasattr(model, "schema_"):
        return model.schema_.columns
    calibrated = getattr(model, "calibrated_classifiers_", None)
    if calibrated:  # scikit-learn's
        return _columns_of(calibrated[0].estimator, learner)
    if hasattr(model, "estimator_"):
        return _columns_of(model.estimator_, learner)
    raise LyceumError(
        f"this {type(learner).__name__} does not say which columns it was fitted on: fit it by"
        " `lyceum fit`, or on lyceum.scan(...)"
    )


def plausible_cells(schema: Schema) -> np.ndarray:
    """One coded row that every learner takes, of shape (1, d)."""
    cells = np.zeros((1, len(schema)))
    for j, column in enumerate(schema):
        if column.numeric and column.categories is not None:
            cells[0, j] = column.categories[0]
    return cells


def _check_kept(rows: Any) -> None:
    if len(rows) != 1:
        raise DataError(
            "the model drops rows with missing cells, and this record has some: fill them first, or"
            " fit a model with SimpleImputer"
        )


# -- models that were compiled ---------------------------------------------------------

_compiled: WeakKeyDictionary[Any, RecordModel] = WeakKeyDictionary()
_thread = threading.local()


@contextmanager
def _answering() -> Iterator[None]:
    """Members of ensembles that are asked inside are compiled too, and answer in this thread."""
    before = getattr(_thread, "answers", None)
    # what members answered: classes and posteriors of an ensemble come from the same
    _thread.answers = {}
    try:
        with in_this_thread():
            yield
    finally:
        _thread.answers = before


def member_answer(member: Estimator, method: str, source: ArraySource) -> Any:
    """The answer of a member to the one row of a record, by its compiled way; None where a whole
    model was not asked for a record."""
    if getattr(_thread, "answers", None) is None or method not in _METHODS:
        return None
    if source.n_rows != 1 or source.schema.has_free_text:
        return None
    if not isinstance(source.X, np.ndarray):
        return None
    answer = partial(_compiled_answer, member, method, source)
    return once_per_record(member, method, source, answer)


def once_per_record(
    owner: Any, what: str, source: ArraySource | None, answer: Callable[[], Any]
) -> Any:
    """A copy of `answer()`, an array, which is kept while a record is decided: the classes and the
    posteriors of an ensemble come from the same sums."""
    answers = getattr(_thread, "answers", None)
    if answers is None or source is None or source.n_rows != 1:
        return answer()
    key = (id(owner), what, source.X.tobytes())
    if key not in answers:
        answers[key] = answer()
    kept = answers[key]
    return None if kept is None else kept.copy()


def _compiled_answer(member: Estimator, method: str, source: ArraySource) -> Any:
    compiled = _compiled.get(member)
    if compiled is None or compiled.is_stale:
        answers = _thread.answers
        _thread.answers = None  # what compiles is asked as tables are
        try:
            compiled = RecordModel(member)
        finally:
            _thread.answers = answers
        _compiled[member] = compiled
    schema = compiled.coder.schema
    # a member learned from these very columns
    if source.schema.columns is not schema.columns and (
        source.schema.names != schema.names
    ):
        return None
    answer = compiled.answer_block(method, Block(source.X, None, None, 0, schema))
    # whether other numbers are an answer is said by the member's own method
    numbers = answer.ravel().tolist() if answer.dtype.kind == "f" else []
    if not isfinite(sum(numbers)):
        return None
    return answer


_n_fits: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def count_fit(learner: Estimator) -> None:
    """Note that a learner was fitted: what was compiled of it before is out of date."""
    _n_fits[learner] = _n_fits.get(learner, 0) + 1


def _marks_of(model: Any) -> list[tuple[int, int]]:
    """What changes when a model or a part of it is fitted again."""
    marks = [(id(part), _n_fits.get(part, 0)) for part in _parts_of(model)]
    # that of a forest is a property, which makes a tree that is not fitted
    inside = vars(model).get("estimator_")
    if inside is None:
        return marks
    return marks + _marks_of(inside)


def decide(model: Estimator, record: Record) -> Decision:
    """The answer of a fitted model to one record, in microseconds.

    It is that of `predict` and `predict_proba` for a table of this row, to the bit; what does not
    depend on the record is done at the first call after a fit.

    Parameters
    ----------
    model : learner, pipeline of learners, or MinimumRiskClassifier
        Fitted on a frame or a scan.
    record : dict, sequence or msgspec struct
        Columns and values, or the values in the order of the columns; None or NaN where there is no
        value.

    Returns
    -------
    Decision

    See Also
    --------
    lyceum.base.Learner.decide : The same as a method.

    Examples
    --------
    >>> import lyceum
    >>> from lyceum import datasets
    >>> from lyceum.workflows import fit_file
    >>> model = fit_file(datasets.path("penguins"), "species", "LogisticRegression")  # a pipeline
    >>> record = dict(island="Dream", bill_length_mm=46.5, bill_depth_mm=17.9,
    ...               flipper_length_mm=192, body_mass_g=3500, sex=None, year=2007)
    >>> decision = lyceum.decide(model, record)
    >>> decision.predicted, decision.missing
    ('Chinstrap', ('sex',))
    """
    compiled = _compiled.get(model)
    if compiled is None or compiled.is_stale:
        compiled = RecordModel(model)
        _compiled[model] = compiled
    return compiled.decide(record)


def is_record(value: Any) -> bool:
    """Whether a value is one record rather than a table: a dict, a struct, or a flat sequence."""
    if isinstance(value, Mapping) or hasattr(value, "__struct_fields__"):
        return True
    if not isinstance(value, list | tuple) or not len(value):
        return False
    return all(cell is None or isinstance(cell, str | Number) for cell in value)

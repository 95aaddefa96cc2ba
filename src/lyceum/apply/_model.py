"""A fitted model as the functions of this room use it: what it reads, and its posteriors or values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.pipeline import Pipeline

from lyceum.apply._batches import Batches
from lyceum.data import Column, CsvFormat, Rows, Schema, TableCoder, coded_source
from lyceum.data._rows import Progress
from lyceum.decision import MinimumRiskClassifier
from lyceum.errors import DataError, LyceumError

__all__ = ["Fitted", "Outcomes"]


@dataclass(frozen=True)
class Fitted:
    """A learner or a pipeline that ends in one, fitted, perhaps with decisions by least risk around it."""

    whole: Any

    @property
    def model(self) -> Any:
        """The learner or pipeline without the decisions."""
        return self.whole.estimator_ if self._decides else self.whole

    @property
    def _decides(self) -> bool:
        return isinstance(self.whole, MinimumRiskClassifier)

    def costs(self, loss: Any, doubt: float | None) -> tuple[Any, float | None]:
        """The loss and the doubt that are given, or else those that the model was fitted with."""
        if loss is not None or doubt is not None or not self._decides:
            return loss, doubt
        return (None if self.whole.loss_.is_zero_one else self.whole.loss_), self.whole.doubt

    @cached_property
    def steps(self) -> list[Any]:
        """The preparations and the learner."""
        if not isinstance(self.model, Pipeline):
            return [self.model]
        return [step for _, step in self.model.steps if step not in (None, "passthrough")]

    @property
    def learner(self) -> Any:
        return self.steps[-1]

    @property
    def name(self) -> str:
        return type(self.learner).__name__

    @cached_property
    def schema(self) -> Schema:
        """The columns that the model reads."""
        if not all(hasattr(step, "schema_") for step in self.steps):
            raise LyceumError(
                f"this {self.name} does not say which columns it was fitted on: fit it by `lyceum fit`, or "
                "on lyceum.scan(...)"
            )
        return Schema(self.steps[0].schema_.columns)

    @property
    def target(self) -> Column:
        """What the model predicts."""
        target = getattr(self.learner, "schema_", self.schema).target
        if target is None or not hasattr(self.learner, "predict"):
            raise LyceumError(f"{self.name} predicts no target: give a classifier or a regressor")
        return target

    @property
    def classes(self) -> np.ndarray | None:
        return getattr(self.model, "classes_", None)

    def rows(self, table: pa.Table) -> Rows:
        return Rows(coded_source(table, self.schema))

    def predict(self, table: pa.Table) -> np.ndarray:
        return self._one_each(self.model.predict(self.rows(table)), table)

    def posterior(self, table: pa.Table) -> np.ndarray:
        """(n, K) posteriors; certain ones of the predicted class where the model has none of its own."""
        if hasattr(self.model, "predict_proba"):
            return self._one_each(self.model.predict_proba(self.rows(table)), table)
        labels = self.predict(table)
        return (labels[:, None] == np.asarray(self.classes)[None, :]).astype(np.float64)

    def output(self, table: pa.Table) -> np.ndarray:
        """Posteriors of a classifier, (n, K), or values of a regressor, (n,)."""
        return self.predict(table) if self.classes is None else self.posterior(table)

    def _one_each(self, result: np.ndarray, table: pa.Table) -> np.ndarray:
        if len(result) != table.num_rows:
            raise DataError(
                f"the model drops rows with missing cells, {table.num_rows - len(result)} of these: fill "
                "them first, or fit a model with FillMissing"
            )
        return result

    def over(
        self,
        data: Any,
        *,
        also: tuple[str, ...] = (),
        truth: str | None = None,
        form: CsvFormat | None = None,
        progress: Progress | None = None,
    ) -> Iterator[tuple[pa.Table, np.ndarray]]:
        """Every batch of the data with the model's output for it."""
        columns = self.schema.columns if truth is None else (*self.schema, replace(self.target, name=truth))
        batches = Batches(data, columns, also, form or CsvFormat(""))
        done, total = 0, batches.n_rows if progress else None
        for table in batches:
            yield table, self.output(table)
            done += table.num_rows
            if progress:
                progress(done, None if total is None else max(done, total))


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a model said of every row with a known truth.

    Attributes
    ----------
    truth : array of shape (n,)
        Numbers, or codes into the model's classes; -1 for a class that the model does not know.
    output : array of shape (n, K) or (n,)
        Posteriors, or values.
    n_missing : int
        Rows without a truth, which are left out.
    strange : tuple
        Some of the classes that the model does not know.
    """

    truth: np.ndarray
    output: np.ndarray
    n_missing: int
    strange: tuple[Any, ...]

    @classmethod
    def of(cls, fitted: Fitted, data: Any, truth: str | None, **options: Any) -> Outcomes:
        target = replace(fitted.target, name=truth or fitted.target.name)
        read = _classes if target.is_categorical and fitted.classes is not None else _values
        truths, outputs = [], []
        strange: dict[Any, None] = {}
        for table, output in fitted.over(data, truth=target.name, **options):
            truths.append(read(table, target, strange))
            outputs.append(output)
        truth_, output_ = np.concatenate(truths), np.concatenate(outputs)
        known = ~np.isnan(truth_)
        if not known.any():
            raise DataError(f"column {target.name!r} has no value in any row: there is nothing to measure by")
        truth_ = truth_[known] if fitted.classes is None else truth_[known].astype(np.intp)
        return cls(truth_, output_[known], int((~known).sum()), tuple(strange))


def _classes(table: pa.Table, target: Column, strange: dict[Any, None]) -> np.ndarray:
    coder = TableCoder(Schema((replace(target, kind="categorical"),)))
    codes = coder.features(table)[:, 0]
    for row in np.flatnonzero(codes == -1)[:3].tolist():
        strange[table.column(target.name)[row].as_py()] = None
    return codes


def _values(table: pa.Table, target: Column, strange: dict[Any, None]) -> np.ndarray:
    column = Column(target.name)
    return TableCoder(Schema((column,))).features(table)[:, 0].astype(np.float64)

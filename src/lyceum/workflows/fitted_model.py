"""A fitted model without what is around it: its steps, the columns it reads, and its
predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline

from lyceum._core import progress
from lyceum._core.base import Density
from lyceum._core.data import Column, FileFormat, Rows, Schema, coded_source
from lyceum._core.lazy_arrow import pa
from lyceum._core.types import Data, Loss
from lyceum.decision import CalibratedClassifierCV, MinimumRiskClassifier
from lyceum.errors import DataError, LyceumError
from lyceum.report import Explanation
from lyceum.workflows.batches import Batches

Output = TypeVar("Output", bound=Sized)
_OUTPUTS = {
    "predict": "predictions",
    "transform": "new columns",
    "score_samples": "scores",
}


@dataclass(frozen=True)
class FittedModel:
    """A fitted learner, or a pipeline that ends in one, perhaps inside a `MinimumRiskClassifier`.

    Parameters
    ----------
    given : fitted learner, pipeline or MinimumRiskClassifier
        As `lyceum.load` returns it.

    Attributes
    ----------
    model : learner or pipeline
        Without the minimum-risk decisions.
    steps : list
        The preparations and, last, the learner.
    learner : learner
        The last step.
    name : str
        The class name of the learner.
    schema : Schema
        The columns that the model reads.
    target : Column
        What the model predicts.
    classes : array or None
        None for regressors and whatever else predicts no classes.
    gives : {"predictions", "new columns", "scores"}
        What the output for every row is; a density's or detector's scores are `score_samples`.
    output_names : list of str
        The names of the new columns, or of the scores.

    See Also
    --------
    fit_file : Fits a model on a file.
    predict_file, evaluate_model, explain_rows : Use a fitted model on a file.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.workflows import fit_file
    >>> fitted = FittedModel(fit_file(datasets.path("penguins"), "species", "LogisticRegression"))
    >>> fitted.name, len(fitted.steps), fitted.target.name
    ('LogisticRegression', 3, 'species')
    """

    given: Any

    def __post_init__(self) -> None:
        if getattr(type(self.given), "_kept_in_files", False):
            raise LyceumError(
                f"the model is a {type(self.given).__name__}, which is queried, not asked to"
                " predict rows: lyceum bayesnet query, or its own methods in Python"
            )

    @property
    def model(self) -> Any:
        """The learner or pipeline without the minimum-risk decisions."""
        if self._decides:
            return self.given.estimator_
        return self.given

    @property
    def _inner(self) -> Any:
        """The learner or pipeline, also without a calibration of its posteriors."""
        if isinstance(self.model, CalibratedClassifierCV):
            return self.model.estimator_
        return self.model

    @property
    def _decides(self) -> bool:
        return isinstance(self.given, MinimumRiskClassifier)

    def costs(self, loss: Loss, doubt: float | None) -> tuple[Any, float | None]:
        """The given loss and doubt, or else those that the model was fitted with."""
        if loss is not None or doubt is not None or not self._decides:
            return loss, doubt
        return (
            None if self.given.loss_matrix_.is_zero_one else self.given.loss_matrix_
        ), self.given.doubt

    # -- parts -------------------------------------------------------------------------

    @cached_property
    def steps(self) -> list[Any]:
        """The preparations and, last, the learner."""
        if not isinstance(self._inner, Pipeline):
            return [self._inner]
        return [
            step for _, step in self._inner.steps if step not in (None, "passthrough")
        ]

    @property
    def learner(self) -> Any:
        """The last step."""
        return self.steps[-1]

    @property
    def name(self) -> str:
        """The class name of the learner."""
        return type(self.learner).__name__

    @cached_property
    def schema(self) -> Schema:
        """The columns that the model reads."""
        if not all(hasattr(step, "schema_") for step in self.steps):
            raise LyceumError(
                f"this {self.name} does not say which columns it was fitted on: fit it by `lyceum"
                " fit`, or on lyceum.scan(...)"
            )
        return Schema(self.steps[0].schema_.columns)

    @property
    def target(self) -> Column:
        """What the model predicts."""
        target = getattr(self.learner, "schema_", self.schema).target
        if target is None or not hasattr(self.learner, "predict"):
            raise LyceumError(
                f"{self.name} predicts no target: give a classifier or a regressor"
            )
        return target

    @property
    def classes(self) -> np.ndarray | None:
        """The classes of a classifier."""
        if self.gives == "predictions":
            return getattr(self.model, "classes_", None)
        return None

    @property
    def gives(self) -> str:
        """What the output for every row is: "predictions", "new columns" or "scores"."""
        for method, output in _OUTPUTS.items():
            if hasattr(self.learner, method):
                return output
        raise LyceumError(
            f"{self.name} has no output for new rows: it has none of {', '.join(_OUTPUTS)}"
        )

    @property
    def output_names(self) -> list[str]:
        """The names of the columns that are written, without those of a decision."""
        if self.gives == "new columns":
            return [str(name) for name in self.learner.get_feature_names_out()]
        if self.gives == "predictions":
            return ["predicted"]
        return ["log_density" if isinstance(self.learner, Density) else "score"]

    # -- predictions -------------------------------------------------------------------

    def rows(self, table: pa.Table) -> Rows:
        """The rows of a table, coded as the model reads them."""
        return Rows(coded_source(table, self.schema))

    def predict(self, table: pa.Table) -> np.ndarray:
        """The predictions for a table."""
        return self._check_length(self.model.predict(self.rows(table)), table)

    def posterior(self, table: pa.Table) -> np.ndarray:
        """(n, K) posteriors; 1 for the predicted class where the model has none of its own."""
        if hasattr(self.model, "predict_proba"):
            return self._check_length(self.model.predict_proba(self.rows(table)), table)
        labels = self.predict(table)
        return (labels[:, None] == np.asarray(self.classes)[None, :]).astype(np.float64)

    def output(self, table: pa.Table) -> Any:
        """Posteriors of a classifier, (n, K), values or scores of others, (n,), or a block of new
        columns."""
        if self.gives == "new columns":
            rows = self.model.transform(self.rows(table))
            return self._check_length(rows.in_one_block(self.name), table)
        if self.gives == "scores":
            return self._check_length(self.model.score_samples(self.rows(table)), table)
        if self.classes is None:
            return self.predict(table)
        return self.posterior(table)

    def _check_length(self, result: Output, table: pa.Table) -> Output:
        if len(result) != table.num_rows:
            raise DataError(
                f"the model drops rows with missing cells, {table.num_rows - len(result)} of these:"
                " fill them first, or fit a model with SimpleImputer"
            )
        return result

    def explain(self, rows: Rows) -> Explanation:
        """What every column adds to the predictions; `rows` are as the first step reads them."""
        for step in self.steps[:-1]:
            rows = step.transform(rows)
        return self.in_columns(self.learner.explain(rows))

    def in_columns(self, explanation: Explanation) -> Explanation:
        """An explanation by the learner in the columns that the first step reads."""
        return self._sources.add_up(explanation)

    @cached_property
    def _sources(self) -> _Sources:
        return _Sources.of_steps(self.steps)

    def outputs(
        self,
        data: Data,
        *,
        also: tuple[str, ...] = (),
        truth: str | None = None,
        file_format: FileFormat | None = None,
    ) -> Iterator[tuple[pa.Table, Any]]:
        """Every batch of the data with the model's output for it.

        Parameters
        ----------
        data : path, glob, list of paths, or frame
        also : tuple of str, default=()
            Columns that the batches have besides those of the model.
        truth : str, optional
            The column with the true target, which the batches then have too.
        file_format : FileFormat, optional
            How the file is written.
        """
        columns = self.schema.columns
        if truth is not None:
            columns = (*columns, replace(self.target, name=truth))
        batches = Batches(data, columns, also, file_format or FileFormat())
        # rows are counted only for someone who watches, as that reads the start of a file again
        n_rows = batches.n_rows if progress.is_watched() else None
        done = 0
        for table in batches:
            yield table, self.output(table)
            done += table.num_rows
            # the number of rows of a CSV file is an estimate, and may be too low
            progress.report("rows", done, None if n_rows is None else max(done, n_rows))


# -- explanations ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sources:
    """Which columns of the first step the columns of the last come from.

    One-of-C columns that a preparation made are added up to the column that they come from. Columns
    that are made of several, as principal components, keep their own names.
    """

    names: tuple[str, ...]
    indices: list[list[int]]
    made: Sequence[str]  # the columns of the last step

    @classmethod
    def of_steps(cls, steps: Sequence[Any]) -> _Sources:
        first = made = steps[0].schema_.names
        # for every column after a step the column of the first step that it comes from, -1 if it
        # is made of several
        sources = np.arange(len(first))
        for step in steps[:-1]:
            made = step.get_feature_names_out()
            if hasattr(step, "column_sources"):
                before = step.column_sources()
                sources = np.where(before < 0, -1, sources[before])
            else:
                sources = np.full(len(made), -1)
        groups: dict[str, list[int]] = {}
        for j, source in enumerate(sources.tolist()):
            name = first[source] if source >= 0 else str(made[j])
            groups.setdefault(name, []).append(j)
        return cls(tuple(groups), list(groups.values()), made)

    def add_up(self, explanation: Explanation) -> Explanation:
        """The explanation by source, as contributions are additive."""
        contributions = explanation.contributions
        values = explanation.values
        if len(self.indices) < contributions.shape[1]:
            added = [contributions[:, own].sum(axis=1) for own in self.indices]
            cells = [_cells_of(values, self.made, own) for own in self.indices]
            contributions = np.column_stack(added)
            values = np.column_stack(cells)
        return replace(
            explanation, names=self.names, contributions=contributions, values=values
        )


def _cells_of(values: Any, names: Sequence[str], indices: list[int]) -> np.ndarray:
    """The cells of one column; of several one-of-C columns the name of the one that is 1.

    Of the parts of a date those that have names are given: "November, Saturday".
    """
    cells = values[:, indices]
    if len(indices) == 1:
        return cells[:, 0]
    if any("=" not in names[j] for j in indices):
        joined = [
            ", ".join(cell for cell in row if isinstance(cell, str)) for row in cells
        ]
        return np.array(joined, dtype=object)
    labels = np.array([names[j].split("=", 1)[-1] for j in indices], dtype=object)
    # a row of zeros only is a category that the encoder does not know
    ones = cells.astype(np.float64) == 1.0
    return np.where(ones.any(axis=1), labels[ones.argmax(axis=1)], "")

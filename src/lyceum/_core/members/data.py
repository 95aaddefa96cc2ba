"""Rows in the form that members take, and the answers of members for them.

Lyceum's own learners, and pipelines of them, take coded rows: categories and missing cells reach
them as they are, from any source. Learners from elsewhere take what the user gave: an array, or a
frame with its own columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from lyceum._core.base import member_answer, takes_rows, without_names
from lyceum._core.data import ArraySource, Block, Column, Rows, Schema
from lyceum._core.routing import Routed
from lyceum._core.types import Estimator
from lyceum.errors import DataError, SchemaError


@dataclass(frozen=True, eq=False)
class MemberData:
    """Rows in memory, in the form that members take.

    Attributes
    ----------
    source : ArraySource or None
        Coded rows, for Lyceum's own learners.
    container : array or frame, default=None
        What learners of other libraries take; where both are there, each member is given its own.
    labels : array or None, default=None
        The targets, for learners of other libraries.
    named : bool, default=True
        Whether the columns have names; else they have numbers.
    metadata : mapping of method to arguments
        What else learners of other libraries are given, by their methods; arrays with a value per
        row are taken apart as rows are.

    See Also
    --------
    Ensemble : Gives it to its members.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> labels = np.array(["a", "a", "b", "b"])
    >>> data = MemberData(None, np.array([[0.0], [1.0], [4.0], [5.0]]), labels)
    >>> member = data.fit(KNeighborsClassifier(1), rows=[0, 1, 2])
    >>> data.predict_with(member, rows=[3]).tolist()
    ['b']
    """

    source: ArraySource | None
    container: Any = None
    labels: np.ndarray | None = None
    named: bool = True
    metadata: Routed = field(default_factory=dict)

    @classmethod
    def of_block(
        cls,
        block: Block,
        coded: bool,
        other: bool,
    ) -> MemberData:
        """The rows of a block: coded, for learners of other libraries, or both."""
        source = None
        if coded:
            source = ArraySource(block.X, None, None, block.schema, coded=True)
        if not other:
            return cls(source)
        refuse_codes(block.schema)
        return cls(source, block.X)

    @property
    def n_rows(self) -> int:
        if self.source is not None:
            return self.source.n_rows
        shape = getattr(self.container, "shape", None)
        if shape is None:
            return len(self.container)
        return shape[0]

    def takes_source(self, member: Estimator) -> bool:
        """Whether a member is given coded rows."""
        return self.container is None or (
            self.source is not None and takes_rows(member)
        )

    def with_target(
        self,
        target: np.ndarray,
        column: Column | None,
        labels: Any,
    ) -> MemberData:
        """The same rows with another target: coded, its column (None for that of before), and the
        labels that learners of other libraries learn from."""
        source = self.source
        if source is not None:
            schema = source.schema
            if column is not None:
                schema = schema.with_target(column)
            source = replace(source, y=target, schema=schema)
        return replace(self, source=source, labels=labels)

    def fit(
        self,
        member: Any,
        rows: Any = None,
        columns: Any = None,
        w: Any = None,
    ) -> Any:
        """The member fitted on some rows and columns with these weights."""
        if self.takes_source(member):
            source = replace(self._source(rows, columns), w=w, settled=True)
            member.fit(Rows(source), None)  # a subclass may want a y
            if self.named:
                return member
            return without_names(member)
        assert self.labels is not None
        y = self.labels if rows is None else self.labels[rows]
        X = _select(self.container, rows, columns)
        further = self.metadata_of("fit", rows)
        further.pop("sample_weight", None)
        if w is not None:
            further["sample_weight"] = w
        member.fit(X, y, **further)
        return member  # `fit` of others may return something else

    def inputs(
        self,
        member: Estimator,
        rows: Any = None,
        columns: object = None,
    ) -> Any:
        """Some rows and columns, as input of a member."""
        if self.takes_source(member):
            return Rows(replace(self._source(rows, columns), y=None, w=None))
        return _select(self.container, rows, columns)

    def predict_with(
        self,
        member: Estimator,
        method: str = "predict",
        rows: Any = None,
        columns: object = None,
    ) -> np.ndarray:
        """The answer of a method of a member for some rows and columns."""
        if rows is None and self.takes_source(member):
            known = member_answer(member, method, self._source(None, columns))
            if known is not None:
                return known
        answer = getattr(member, method)
        further = self.metadata_of(method, rows)
        return np.asarray(answer(self.inputs(member, rows, columns), **further))

    def metadata_of(self, method: str, rows: Any) -> dict[str, Any]:
        """The metadata of a method, of some rows."""
        further = dict(self.metadata.get(method, {}))
        if rows is None:
            return further
        for name, value in further.items():
            per_row = hasattr(value, "__len__") and not isinstance(value, str | dict)
            if per_row and len(value) == self.n_rows:
                further[name] = _safe_indexing(value, rows)
        return further

    def numbers(
        self,
        member: Estimator,
        rows: Any = None,
        columns: object = None,
    ) -> np.ndarray:
        """The numbers that a member predicts, (n,)."""
        predicted = self.predict_with(member, "predict", rows, columns)
        return np.ravel(predicted).astype(np.float64)

    def class_codes(
        self,
        member: Estimator,
        classes: np.ndarray,
        rows: Any = None,
        columns: object = None,
    ) -> np.ndarray:
        """The class that a member predicts, as its index among the classes of the ensemble."""
        labels = self.predict_with(member, "predict", rows, columns)
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        if (classes[codes] != labels).any():
            raise DataError(
                f"{type(member).__name__} predicted a label that is no class of its target"
            )
        return codes

    def posteriors(
        self,
        member: Estimator,
        classes: np.ndarray,
        rows: Any = None,
        columns: object = None,
    ) -> np.ndarray:
        """A member's posteriors, a column for every class of the ensemble; its votes where it has
        none."""
        if not hasattr(member, "predict_proba"):
            codes = self.class_codes(member, classes, rows, columns)
            return one_hot(codes, len(classes))
        seen = self.predict_with(member, "predict_proba", rows, columns)
        if len(getattr(member, "classes_", classes)) == len(classes):
            return seen
        # rows drawn for the member may lack a class of the ensemble: its posterior is 0
        proba = np.zeros((len(seen), len(classes)))
        proba[:, np.searchsorted(classes, member.classes_)] = seen
        return proba

    def _source(self, rows: Any, columns: Any) -> ArraySource:
        source = self.source
        assert source is not None
        if rows is not None:
            source = source.take(rows)
        if columns is None:
            return source
        drawn = [source.schema[j] for j in columns.tolist()]
        # Columns are in rising order; one that is drawn again is a column of its own, with a quote
        # after its name.
        for j in range(1, len(drawn)):
            if columns[j] == columns[j - 1]:
                drawn[j] = replace(drawn[j], name=f"{drawn[j - 1].name}'")
        if sparse.issparse(source.X):
            X = source.X[:, columns]
        else:
            X = source.X.take(columns, axis=1)
        schema = replace(source.schema, columns=tuple(drawn))
        return replace(source, X=X, schema=schema)


def _select(container: Any, rows: Any, columns: object) -> Any:
    if columns is not None:
        container = _safe_indexing(container, columns, axis=1)
    if rows is None:
        return container
    return _safe_indexing(container, rows)


def one_hot(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """One column per class, 1 for the row's own class."""
    votes = np.zeros((len(codes), n_classes))
    votes[np.arange(len(codes)), codes] = 1.0
    return votes


def refuse_codes(schema: Schema) -> None:
    for column in schema:
        if not column.numeric:
            raise SchemaError(
                f"column {column.name!r} holds categories ({column.why}), which a learner that is"
                " not Lyceum's takes in a frame only, if at all: give a frame, and a pipeline that"
                " encodes them"
            )

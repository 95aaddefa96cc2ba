"""One-of-C coding of categories."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Column, Design, Rows, Schema, Step
from lyceum._core.types import Categories, Data, Target
from lyceum.prepare.base import Transformer
from lyceum.prepare.steps import KnownOnly
from lyceum.report import Summary, Table


class OneHotEncoder(Transformer):
    """A 0/1 column for every category: x becomes the columns "x=a", "x=b", ... with a single 1
    among them.

    .. math:: z_k = [x = c_k], \\quad k = 1, \\ldots, C

    Continuous columns and free text stay as they are, and so do columns of two numbers or of true
    and false, which are numbers already; name such a column in `categorical_features` to have it
    coded. A missing cell is missing in all its columns.

    Parameters
    ----------
    drop : None or "first", default=None
        "first" leaves out the first category of every column, which is then all zeros: the columns
        are independent of an intercept.
    handle_unknown : "zeros" or "error", default="zeros"
        What a category that `fit` did not see becomes.

    Attributes
    ----------
    categories_ : list of arrays
        The categories of every coded column, in the order of their columns.

    See Also
    --------
    MissingCategory : a category for missing cells, before they are coded.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.prepare import OneHotEncoder
    >>> coder = OneHotEncoder().fit(pa.table({"age": [31, 45], "sex": ["male", "female"]}))
    >>> coder.get_feature_names_out().tolist()
    ['age', 'sex=female', 'sex=male']
    >>> coder.transform(pa.table({"age": [50], "sex": ["male"]})).to_pylist()
    [{'age': 50.0, 'sex=female': 0.0, 'sex=male': 1.0}]
    """

    _parameter_constraints: ClassVar[dict] = {
        "drop": [StrOptions({"first"}), None],
        "handle_unknown": [StrOptions({"zeros", "error"})],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    _takes_text = True

    def __init__(
        self,
        *,
        drop: Literal["first"] | None = None,
        handle_unknown: Literal["zeros", "error"] = "zeros",
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.drop = drop
        self.handle_unknown = handle_unknown
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None):
        """Learn the categories of every column.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
            A scan knows its categories already and is not read.
        y : ignored
        """
        _check_cells(self._rows(X))
        return self._finish()

    def partial_fit(self, X: Data, y: Target = None):
        """Learn the categories of more rows: new ones get columns too."""
        _check_cells(self._more_rows(X))
        return self._finish()

    def _finish(self):
        self.categories_ = [column.categories for column in self._coded_columns()]
        return self

    def _coded_columns(self) -> list[Column]:
        return [
            column
            for column in self.schema_
            if not column.numeric and not column.is_free_text
        ]

    def _step(self, schema: Schema) -> Step:
        design = Design(schema, reference=self.drop == "first", every=True)
        if self.handle_unknown == "error":
            return KnownOnly(design, type(self).__name__)
        return design

    def summary(self) -> Summary:
        """The coded columns and their categories."""
        check_is_fitted(self)
        rows = []
        for column in self._coded_columns():
            assert column.categories is not None
            rows.append((column.name, len(column.categories), list(column.categories)))
        facts = {
            "columns": self.n_features_in_,
            "columns after": len(self.get_feature_names_out()),
        }
        table = Table("Coded columns", ("column", "C", "categories"), rows)
        return Summary(self._title(), facts, [table])


def _check_cells(rows: Rows) -> None:
    """Refuse infinities at once where the rows are in memory; `transform` refuses those of
    files."""
    if rows.in_memory:
        for _ in rows.map(lambda _: np.empty(0)):  # reports its progress
            pass

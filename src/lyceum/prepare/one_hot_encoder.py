"""One-of-C coding of categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn import preprocessing
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Column, Design, Rows, Schema, Step
from lyceum._core.types import Categories, Data, Target, Weights
from lyceum.errors import SettingError
from lyceum.prepare.shared_transformer import SharedTransformer
from lyceum.prepare.steps import KnownOnly
from lyceum.report import Summary, Table


class OneHotEncoder(SharedTransformer, preprocessing.OneHotEncoder):
    """A 0/1 column for every category, with a single 1 among the columns of one cell.

    .. math:: z_k = [x = c_k], \\quad k = 1, \\ldots, C

    All columns of an array, of a pandas or of a Polars frame are coded, as scikit-learn does; the
    names are "x_a", "x_b", ..., and a missing cell is a category.

    Of rows of `scan(...)`, Dask collections and pyarrow tables, and of whatever
    `categorical_features` is given for, the columns of categories are coded: continuous columns
    and free text stay as they are, and so do columns of two numbers or of true and false, which are
    numbers already, unless `categorical_features` names them. The names are then "x=a", "x=b", ...,
    a missing cell is missing in all its columns, and an unknown category is all zeros unless
    `handle_unknown` is "error".

    Parameters
    ----------
    categories : "auto" or list of arrays, default="auto"
        The categories of every column, in the order of the new columns; "auto" learns them.
    drop : {"first", "if_binary"} or array of shape (n_features,), default=None
        The category of every column that has none: the first, the first of two, or the given one.
        The columns are then independent of an intercept.
    sparse_output : bool, default=True
        Whether an array is given back as a CSR matrix; frames and rows of a scan are dense.
    dtype : number type, default=float64
        The type of the new cells.
    handle_unknown : {"error", "ignore", "infrequent_if_exist", "warn"}, default="error"
        What a category that `fit` did not see becomes: an error, zeros, or the column of
        infrequent categories, with a warning if "warn".
    min_frequency : int or float, default=None
        Categories of fewer rows, or of a smaller share of them, are one column.
    max_categories : int, default=None
        The most columns that a column becomes; the rarest categories share one.
    feature_name_combiner : "concat" or function, default="concat"
        The name of a new column from that of the column and the category.
    categorical_features : str, bool, mask, indices, names, dict or Schema, default="auto"
        The columns to code: "auto" as said above, "from_dtype" by their types in frames too; a
        mask, indices or names; True for all; the kinds of some columns as a dict, or of all as a
        `Schema`.

    Attributes
    ----------
    categories_ : list of arrays
        The categories of every coded column, in the order of their columns.
    drop_idx_ : array of shape (n_features,) or None
        The places of the dropped categories.
    infrequent_categories_ : list of arrays or None
        The categories that share a column.

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

    _theirs = preprocessing.OneHotEncoder
    _usual_kinds = "auto"
    _parameter_constraints: ClassVar[dict] = {
        **preprocessing.OneHotEncoder._parameter_constraints,
        "dtype": [type, np.dtype, str],
        "categorical_features": [StrOptions({"auto"}), *CATEGORICAL_FEATURES],
    }

    _takes_text = True
    _takes_sparse = False

    def __init__(
        self,
        *,
        categories: Literal["auto"] | Sequence[Any] = "auto",
        drop: Any = None,
        sparse_output: bool = True,
        dtype: Any = np.float64,
        handle_unknown: Literal[
            "error", "ignore", "infrequent_if_exist", "warn"
        ] = "error",
        min_frequency: float | None = None,
        max_categories: int | None = None,
        feature_name_combiner: Literal["concat"] | Callable[..., str] = "concat",
        categorical_features: Categories = "auto",
    ) -> None:
        self.categories = categories
        self.drop = drop
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.feature_name_combiner = feature_name_combiner
        self.categorical_features = categorical_features

    def fit(self, X: Data, y: Target = None) -> Self:  # type: ignore[override]
        """Learn the categories of every column.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
            A scan knows its categories already and is not read.
        y : ignored
        """
        return super().fit(X, y)

    def _fit_by_kinds(self, X: Data, y: Target, sample_weight: Weights) -> None:
        self._check_plain("codes by the kinds of columns")
        _check_cells(self._rows(X))
        self._finish()

    def partial_fit(self, X: Data, y: Target = None) -> Self:
        """Learn the categories of more rows: new ones get columns too."""
        self._check_plain("learns in parts")
        _check_cells(self._more_rows(X))
        self._finish()
        self.by_kinds_ = True
        return self

    def _finish(self) -> None:
        self.categories_ = [column.categories for column in self._coded_columns()]

    def _check_plain(self, what: str) -> None:
        """Refuse the settings that only arrays have."""
        usual: dict[str, Any] = {
            "min_frequency": None,
            "max_categories": None,
            "feature_name_combiner": "concat",
        }
        if not isinstance(self.categories, str):
            usual["categories"] = "auto"
        if self.drop is not None and not _is_text(self.drop, "first"):
            usual["drop"] = "first"
        for name, value in usual.items():
            given = getattr(self, name)
            if given is not value and not _is_text(given, value):
                raise SettingError(
                    f"OneHotEncoder {what} with {name}={value!r} only, got {given!r}: give an"
                    " array or a pandas frame"
                )

    def _column(self, name: str, j: int) -> Column:
        return Column(name, "categorical", self.categories_[j])

    def _coded_columns(self) -> list[Column]:
        return [
            column
            for column in self.schema_
            if not column.numeric and not column.is_free_text
        ]

    def _step(self, schema: Schema) -> Step:
        if not self.by_kinds_:
            self._check_plain("codes rows of a scan")
        design = Design(schema, reference=_is_text(self.drop, "first"), every=True)
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


def _is_text(value: Any, text: Any) -> bool:
    """Whether a setting, which may be an array, is this text."""
    return isinstance(value, str) and value == text


def _check_cells(rows: Rows) -> None:
    """Refuse infinities at once where the rows are in memory; `transform` refuses those of
    files."""
    if rows.in_memory:
        for _ in rows.map(lambda _: np.empty(0)):  # reports its progress
            pass

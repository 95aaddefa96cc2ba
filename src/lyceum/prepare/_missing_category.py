"""Gaps as a category of their own."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from lyceum.base import CATEGORICAL_FEATURES
from lyceum.data import Column
from lyceum.prepare._filling import Filling, Ways

__all__ = ["MissingCategory"]


class MissingCategory(Filling):
    """A category of their own for the missing cells of every categorical column.

    The category is the last of the column; that a cell is missing can then tell something,

    .. math:: p(y \\mid x = \\mathrm{missing}) \\ne p(y).

    Categories that are numbers become words, so that "missing" can stand among them (in a plain array, which
    cannot hold words, such a column becomes its codes, "missing" the largest). A column without gaps in `fit`
    gains no category; a later gap in it gets its mode.

    Numbers have no categories. Their like is the pair of a filled value and a 0/1 column "<name> missing" for
    every continuous column with gaps in `fit`.

    Parameters
    ----------
    label : str, default="missing"
        The name of the category. A column that has it already keeps a single one.
    continuous : "mean", "median" or "keep", default="mean"
        What fills continuous columns beside the 0/1 column; "keep" leaves their gaps and adds no column.
    categorical_features : "from_dtype", True, mask, indices, names or None
        Columns of numbers that hold categories.

    Attributes
    ----------
    fill_ : array of shape (n_features,)
        The cells that fill the gaps: numbers, or codes into the categories of `filled_schema_`.
    missing_ : array of shape (n_features,)
        The share of every column that was missing.
    flagged_ : list of int
        The columns that have a 0/1 column.
    filled_schema_ : Schema
        The columns after filling.
    statistic_ : Together
        The merged statistic that the fit follows from.

    See Also
    --------
    FillMissing : One value per column for all missing cells.
    PredictMissing : Missing cells predicted from the other columns.
    DropMissing : Rows with missing cells dropped.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.prepare import MissingCategory
    >>> MissingCategory().fit_transform(pa.table({"smokes": [True, None, False]})).to_pydict()
    {'smokes': ['True', 'missing', 'False']}
    """

    _parameter_constraints: ClassVar[dict] = {
        "label": [str],
        "continuous": [StrOptions({"mean", "median", "keep"})],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self, *, label: str = "missing", continuous: str = "mean", categorical_features: Any = "from_dtype"
    ) -> None:
        self.label = label
        self.continuous = continuous
        self.categorical_features = categorical_features

    def _ways(self) -> Ways:
        return Ways(self.continuous, "constant", category=self.label)

    def _is_flagged(self, column: Column) -> bool:
        return not column.is_categorical and self.continuous != "keep"

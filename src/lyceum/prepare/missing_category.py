"""Missing cells as a category of their own."""

from __future__ import annotations

from typing import ClassVar, Literal

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Column
from lyceum._core.types import Categories
from lyceum.prepare.imputer import FillRules, FillTransformer


class MissingCategory(FillTransformer):
    """A category of their own for the missing cells of every categorical column.

    The category is the last of the column; that a cell is missing can then be informative,

    .. math:: p(y \\mid x = \\mathrm{missing}) \\ne p(y).

    Categories that are numbers become words, so that "missing" can stand among them (in a plain
    array, which cannot hold words, such a column becomes its codes, "missing" the largest). A
    column without missing cells in `fit` gains no category; a later missing cell in it gets its
    mode.

    A continuous column with missing cells in `fit` is filled instead, and gets a 0/1 column "<name>
    missing".

    Parameters
    ----------
    label : str, default="missing"
        The name of the category. A column that has it already keeps a single one.
    continuous : "mean", "median" or "keep", default="mean"
        What fills continuous columns beside the 0/1 column; "keep" leaves them missing and adds no
        column.

    See Also
    --------
    SimpleImputer : a mean, median, mode or constant instead.
    IterativeImputer : a prediction from the other columns instead.

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
        self,
        *,
        label: str = "missing",
        continuous: Literal["mean", "median", "keep"] = "mean",
        categorical_features: Categories = "from_dtype",
    ) -> None:
        self.label = label
        self.continuous = continuous
        self.categorical_features = categorical_features

    def _fill_rules(self) -> FillRules:
        return FillRules(self.continuous, "constant", category=self.label)

    def _is_flagged(self, column: Column) -> bool:
        return not column.is_categorical and self.continuous != "keep"

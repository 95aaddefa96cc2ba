"""Missing cells filled with a mean, a median, a mode or a constant."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Column
from lyceum.prepare.imputer import FillRules, FillTransformer


class SimpleImputer(FillTransformer):
    """Fill the missing cells of every column with one value of that column.

    The value minimizes a loss over the known cells: the mean the squared, the median the absolute
    error, the mode the number of wrong categories,

    .. math:: \\hat v = \\arg\\min_v \\sum_{i\\ \\mathrm{present}} w_i\\, L(x_i, v).

    A column without missing cells in `fit` is filled too when cells are missing later. A category
    that `fit` did not see is not missing and stays unknown. A column with nothing but missing cells
    is filled with 0, or with its first category or `fill_category`, and a warning names it.

    Parameters
    ----------
    continuous : "mean", "median" or "constant", default="mean"
        What fills continuous columns.
    categorical : "mode" or "constant", default="mode"
        What fills categorical columns, binary ones too. Of equally common categories the first is
        the mode.
    fill_number : float, default=0.0
        The constant of continuous columns.
    fill_category : str or number, default="missing"
        The constant of categorical columns. A column with missing cells that does not have it gains
        it, as a word; a column without missing cells in `fit` that does not have it is filled with
        its mode.
    indicator : bool, default=False
        Whether every column with missing cells in `fit` gets a 0/1 column "<name> missing".
    categorical_features : "from_dtype", bool, mask, indices, names, dict or Schema, default="from_dtype"
        Which columns of numbers hold categories: a mask, indices or names; True for all; the kinds
        of some columns as a dict, or of all as a `Schema`. By default columns go by their types.

    Attributes
    ----------
    fill_ : array of shape (n_features,)
        The cells that fill missing cells: numbers, or codes into the categories of
        `filled_schema_`.
    missing_ : array of shape (n_features,)
        The share of every column that was missing.
    flagged_ : list of int
        The columns that have a 0/1 column.
    filled_schema_ : Schema
        The columns after filling.
    statistic_ : Stats
        The merged statistics of the columns, which `partial_fit` adds to.

    See Also
    --------
    MissingCategory : missing cells as a category of their own.
    IterativeImputer : a prediction from the other columns instead.
    DropMissing : the rows with missing cells left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.prepare import SimpleImputer
    >>> table = pa.table({"age": [20.0, None, 40.0], "sex": ["f", "f", None]})
    >>> SimpleImputer().fit_transform(table).to_pydict()
    {'age': [20.0, 30.0, 40.0], 'sex': ['f', 'f', 'f']}
    """

    _parameter_constraints: ClassVar[dict] = {
        "continuous": [StrOptions({"mean", "median", "constant"})],
        "categorical": [StrOptions({"mode", "constant"})],
        "fill_number": [Real],
        "fill_category": [str, Real],
        "indicator": ["boolean"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
        *,
        continuous: Literal["mean", "median", "constant"] = "mean",
        categorical: Literal["mode", "constant"] = "mode",
        fill_number: float = 0.0,
        fill_category: str | float = "missing",
        indicator: bool = False,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.continuous = continuous
        self.categorical = categorical
        self.fill_number = fill_number
        self.fill_category = fill_category
        self.indicator = indicator
        self.categorical_features = categorical_features

    def _fill_rules(self) -> FillRules:
        return FillRules(
            self.continuous, self.categorical, float(self.fill_number), self.fill_category
        )

    def _is_flagged(self, column: Column) -> bool:
        return self.indicator

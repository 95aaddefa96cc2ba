"""Gaps filled with a mean, a median, a mode or a constant."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from lyceum.base import CATEGORICAL_FEATURES
from lyceum.data import Column
from lyceum.prepare._filling import Filling, Ways

__all__ = ["FillMissing"]


class FillMissing(Filling):
    """Fill the missing cells of every column with one value of that column.

    The value minimises a loss over the cells that are there: the mean the squared, the median the absolute
    error, the mode the number of wrong categories,

    .. math:: \\hat v = \\arg\\min_v \\sum_{i\\ \\mathrm{present}} w_i\\, L(x_i, v).

    A column without gaps in `fit` is filled all the same when they come later. A category that `fit` did not
    see is not missing and stays unknown. A column with nothing but gaps is filled with 0, or with its first
    category or `fill_category`, and a warning names it.

    Parameters
    ----------
    continuous : "mean", "median" or "constant", default="mean"
    categorical : "mode" or "constant", default="mode"
        For binary columns too, of numbers as well as of words. Of equally common categories the first is the
        mode.
    fill_number : float, default=0.0
        The constant of continuous columns.
    fill_category : str or number, default="missing"
        The constant of categorical columns. A column with gaps that does not have it gains it, as a word; a
        column without gaps in `fit` that does not have it is filled with its mode.
    indicator : bool, default=False
        Whether every column with gaps in `fit` gets a 0/1 column "<name> missing".
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
    MissingCategory : Missing as a category of its own.
    PredictMissing : Missing cells predicted from the other columns.
    DropMissing : Rows with missing cells dropped.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.prepare import FillMissing
    >>> table = pa.table({"age": [20.0, None, 40.0], "sex": ["f", "f", None]})
    >>> FillMissing().fit_transform(table).to_pydict()
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
        continuous: str = "mean",
        categorical: str = "mode",
        fill_number: float = 0.0,
        fill_category: Any = "missing",
        indicator: bool = False,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.continuous = continuous
        self.categorical = categorical
        self.fill_number = fill_number
        self.fill_category = fill_category
        self.indicator = indicator
        self.categorical_features = categorical_features

    def _ways(self) -> Ways:
        return Ways(self.continuous, self.categorical, float(self.fill_number), self.fill_category)

    def _is_flagged(self, column: Column) -> bool:
        return self.indicator
